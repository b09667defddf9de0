"""How the time of the command grows with each input that a stranger can make long.

An exponent of 1 is a time in proportion to the size, 2 one in proportion to its square. It is the
slope between a size and four times that size, in processor time; small sizes give too small ones.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from mcp_bindgen.emit import Options, generate
from mcp_bindgen.ir.lower.lower import load
from mcp_bindgen.tools.compare import compare
from mcp_bindgen.tools.surface import read

__all__ = ["exponents"]

_TIMES: Final = 4
"""How many times longer the second input is."""


def _schema(text: str) -> None:
    generate([load(text.encode(), "bench.ts", "r1")], Options())


def _tools(schema: Callable[[int], Any]) -> None:
    """Compares a tool with itself, changed by a number that is in its schema."""
    old, new = (
        read(
            json.dumps({"tools": [{"name": "t", "inputSchema": schema(number)}]}).encode(), "t.json"
        )
        for number in (5, 6)
    )
    compare(old, new)


def _interfaces(count: int, member: str = "k{n}: string") -> str:
    rows = (f"export interface A{n} {{ {member.format(n=n)} }}\n" for n in range(count))
    union = " | ".join(f"A{n}" for n in range(count))
    return f"{''.join(rows)}export type U = {union};\n"


def _any_of(size: int, longest: int) -> dict[str, Any]:
    texts = ({f"p{n}": {"type": "string", "maxLength": longest}} for n in range(size))
    arms = [{"type": "object", "properties": each, "required": list(each)} for each in texts]
    return {"type": "object", "properties": {"a": {"anyOf": arms}}}


_INPUTS: Final[Mapping[str, tuple[int, Callable[[int], None]]]] = {
    "words of a comment": (
        100_000,
        lambda n: _schema(f"/** {'word ' * n}*/\nexport type A = string;"),
    ),
    "lines of a @deprecated": (
        10_000,
        lambda n: _schema("/** A.\n * @deprecated" + "\n * word" * n + "\n */\nexport type A = 1;"),
    ),
    "members of an interface": (
        500,
        lambda n: _schema(
            f"export interface A {{ {' '.join(f'a{i}: string;' for i in range(n))} }}"
        ),
    ),
    "literals of a union": (
        1000,
        lambda n: _schema(
            f"export type A = {' | '.join(f'{chr(34)}a{i}{chr(34)}' for i in range(n))};"
        ),
    ),
    "types of a union": (200, lambda n: _schema(_interfaces(n))),
    "types of a union with a tag": (
        200,
        lambda n: _schema(_interfaces(n, 'kind: "a{n}"; x: string')),
    ),
    "arms without a name": (
        200,
        lambda n: _schema(
            f"export type A = {' | '.join(f'{{ a{i}: string; b?: number }}' for i in range(n))};"
        ),
    ),
    "declarations": (
        500,
        lambda n: _schema("".join(f"export interface A{i} {{ a: {i} }}\n" for i in range(n))),
    ),
    "diff --tools: objects of an anyOf": (50, lambda n: _tools(lambda k: _any_of(n, k))),
    "diff --tools: required members": (
        2000,
        lambda n: _tools(
            lambda k: {"type": "object", "required": [f"p{i}" for i in range(n if k == 5 else 0)]}
        ),
    ),
    "diff --tools: members": (
        500,
        lambda n: _tools(
            lambda k: {
                "type": "object",
                "properties": {f"p{i}": {"type": "string", "maxLength": k} for i in range(n)},
            }
        ),
    ),
    "diff --tools: characters of a description": (
        100_000,
        lambda n: _tools(lambda k: {"type": "object", "description": f"{k}" * n}),
    ),
}


def _seconds(work: Callable[[int], None], size: int) -> float:
    start = time.process_time()
    work(size)
    return time.process_time() - start


def exponents() -> None:
    """Prints a row for each input: the sizes, both times and the exponent."""
    print("\nexponents: processor time over the size of an input")
    for name, (size, work) in _INPUTS.items():
        work(10)
        first, second = (_seconds(work, each) for each in (size, _TIMES * size))
        slope = math.log(second / first) / math.log(_TIMES)
        sizes = f"{size:,} and {_TIMES * size:,}"
        print(f"  {name:<44} {sizes:>22}  {first:8.3f} s {second:8.3f} s  {slope:5.2f}")
