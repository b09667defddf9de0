"""What a stranger can make long costs no more than its length: steps are counted, not seconds."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcp_bindgen.compare.changes.assignable import Relation
from mcp_bindgen.compare.changes.pairing import pair
from mcp_bindgen.emit import Options, generate
from mcp_bindgen.emit.text.layout import docstring
from mcp_bindgen.errors import LimitExceeded
from mcp_bindgen.ir.lower.lower import load
from mcp_bindgen.ir.model import Ref
from mcp_bindgen.ir.values import accepts as judge
from mcp_bindgen.limits import MAX_UNION_TYPES
from mcp_bindgen.source.docs import parse
from mcp_bindgen.tools.compare import compare
from mcp_bindgen.tools.surface import Surface, read


class Counting(str):
    """A text that counts the characters that are copied out of it."""

    copied = 0

    def __getitem__(self, key: Any) -> str:
        part = super().__getitem__(key)
        Counting.copied += len(part)
        return part

    def rstrip(self, chars: str | None = None) -> Counting:
        return Counting(super().rstrip(chars))


def test_a_long_docstring_is_wrapped_in_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    from mcp_bindgen.emit.text import layout

    monkeypatch.setattr(Counting, "copied", 0)
    text = Counting("word " * 20_000)
    lines = list(vars(layout)["_wrapped_words"]("    ", text))
    assert " ".join(" ".join(lines).split()) == text.strip()
    assert all(len(line) <= layout.WIDTH for line in lines)
    assert Counting.copied <= 3 * len(text)


def test_words_that_are_longer_than_a_line_are_kept_whole() -> None:
    lines = docstring("", f"{'a' * 200} b {'c' * 200} {'d ' * 100}")
    assert "".join("".join(lines).split()) == f'"""{"a" * 200}b{"c" * 200}{"d" * 100}"""'


def test_a_tag_of_many_lines_keeps_them_all() -> None:
    lines = "".join(f"\n * line {n}" for n in range(3000))
    doc = parse(f"/** Words.\n * @deprecated{lines}\n */")
    assert doc.deprecated == " ".join(f"line {n}" for n in range(3000))


# ---- unions


def union(count: int) -> str:
    arms = "".join(f"export interface A{n} {{ k{n}: string }}\n" for n in range(count))
    return f"{arms}export type U = {' | '.join(f'A{n}' for n in range(count))};\n"


@pytest.mark.wide
def test_the_longest_union_is_python_and_a_longer_one_is_refused_at_its_place() -> None:
    schema = load(union(MAX_UNION_TYPES).encode(), "a.ts", "r1")
    for path, text in generate([schema], Options()).items():
        if path.endswith(".py"):
            compile(text, path, "exec")
    where = rf"a\.ts:{MAX_UNION_TYPES + 2}:17: a union of more than {MAX_UNION_TYPES} types"
    with pytest.raises(LimitExceeded, match=where):
        load(union(MAX_UNION_TYPES + 1).encode(), "a.ts", "r1")


def test_unions_in_a_union_count_and_literals_do_not() -> None:
    half = union(MAX_UNION_TYPES // 2 + 1)
    more = half.replace("A", "B").replace("type U", "type V").replace("k", "m")
    with pytest.raises(LimitExceeded, match="a union of more than"):
        load(f"{half}{more}export type W = U | V;".encode(), "a.ts", "r1")
    texts = " | ".join(f'"t{n}"' for n in range(3 * MAX_UNION_TYPES))
    schema = load(f"export type U = {texts};".encode(), "a.ts", "r1")
    assert judge.accepts(schema, Ref("U"), "t2999")


# ---- lists of tools


def surface(count: int, longest: int) -> Surface:
    arms = [
        {
            "type": "object",
            "properties": {f"p{n}": {"type": "string", "maxLength": longest}},
            "required": [f"p{n}"],
        }
        for n in range(count)
    ]
    schema = {"type": "object", "properties": {"a": {"anyOf": arms}}}
    return read(json.dumps({"tools": [{"name": "t", "inputSchema": schema}]}).encode(), "t.json")


def comparisons(count: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many types are compared member by member, for arms that have no member in common."""
    counted = [0]
    spread: Any = vars(Relation)["_spread"]

    def counting(self: Relation, *both: Any) -> bool:
        counted[0] += 1
        return bool(spread(self, *both))

    with monkeypatch.context() as patch:
        patch.setattr(Relation, "_spread", counting)
        report = compare(surface(count, 5), surface(count, 6))
    assert len(report.findings) == count
    return counted[0]


def test_the_arms_of_a_long_union_are_not_compared_each_with_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert comparisons(80, monkeypatch) <= 2.5 * comparisons(40, monkeypatch)


def test_arms_are_paired_with_those_that_share_a_member() -> None:
    old, new = surface(40, 5).side.schema, surface(40, 6).side.schema
    names = pair(old, new).names
    assert len(names) == len(old.types)
    for mine, theirs in names.items():
        if mine in old.structs:
            assert [f.wire for f in old.structs[mine].fields] == [
                f.wire for f in new.structs[theirs].fields
            ]
