"""Lays out code as black does: on one line if it fits, else broken at brackets and at `|`.

A test checks that black finds nothing to change, so the layout follows black's rules without
depending on its version.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final, TypeAlias

from msgspec import Struct

__all__ = [
    "STEP",
    "WIDTH",
    "Code",
    "Group",
    "Or",
    "after_head",
    "as_tuple",
    "call",
    "docstring",
    "flat",
    "item",
    "lay",
    "literal",
    "member",
]

WIDTH: Final = 88
STEP: Final = "    "


class Group(Struct, frozen=True, gc=False):
    """`head` with its opening bracket, items between commas, and the closing bracket."""

    head: str
    items: tuple[Code, ...]
    close: str


class Or(Struct, frozen=True, gc=False):
    """Items between `|`, or between another operator."""

    items: tuple[Code, ...]
    operator: str = "|"


Code: TypeAlias = str | Group | Or


def call(name: str, *args: Code) -> Group:
    return Group(f"{name}(", args, ")")


def after_head(head: str, code: Code) -> Code:
    """`head` followed by `code`, breaking where `code` breaks."""
    if isinstance(code, Group):
        return Group(f"{head}{code.head}", code.items, code.close)
    return f"{head}{flat(code)}"


def as_tuple(items: Iterable[Code]) -> Code:
    """A tuple of `items`; a single item is never broken."""
    codes = tuple(items)
    return f"({flat(codes[0])},)" if len(codes) == 1 else Group("(", codes, ")")


def flat(code: Code) -> str:
    """`code` on one line."""
    if isinstance(code, str):
        return code
    if isinstance(code, Group):
        inside = [item if isinstance(item, str) else flat(item) for item in code.items]
        return f"{code.head}{', '.join(inside)}{code.close}"
    return f" {code.operator} ".join(map(flat, code.items))


def lay(indent: str, prefix: str, code: Code, suffix: str = "") -> list[str]:
    """The lines of `prefix code suffix`."""
    line = f"{indent}{prefix}{code if isinstance(code, str) else flat(code)}{suffix}"
    if len(line) <= WIDTH:
        return [line]
    match code:
        case Group(items=()) | str():
            return [line] if not prefix.endswith("= ") else _wrap(indent, prefix, code, suffix)
        case Group() if prefix.endswith("= ") and len(indent + prefix + code.head) > WIDTH:
            return _wrap(indent, prefix, code, suffix)
        case Group():
            inside = _inside(indent + STEP, code)
            return [f"{indent}{prefix}{code.head}", *inside, f"{indent}{code.close}{suffix}"]
        case Or():
            return _wrap(indent, prefix, code, suffix)


def _wrap(indent: str, prefix: str, code: Code, suffix: str) -> list[str]:
    return [f"{indent}{prefix}(", *_ors(indent + STEP, code), f"{indent}){suffix}"]


def _inside(indent: str, group: Group) -> list[str]:
    """The items of a broken group: on one line if a call's arguments fit there, else one a line.

    Collections always break to one item a line, and so does a definition's single parameter.
    """
    single = len(group.items) == 1
    line = f"{indent}{', '.join(map(flat, group.items))}"
    if len(line) <= WIDTH and (single or _is_call(group)):
        return [f"{line},"] if single and group.head.startswith("def ") else [line]
    if single:
        return _ors(indent, group.items[0])
    return [line for item in group.items for line in lay(indent, "", item, ",")]


def item(indent: str, code: Code) -> list[str]:
    """The lines of one item in a collection with one item a line."""
    lines = _ors(indent, code)
    return [*lines[:-1], f"{lines[-1]},"]


def _is_call(group: Group) -> bool:
    before = group.head[-2:-1]
    return before.isalnum() or before == "_"


def _ors(indent: str, code: Code) -> list[str]:
    """The lines of code standing alone in brackets, without brackets of its own."""
    line = f"{indent}{flat(code)}"
    if len(line) <= WIDTH or not isinstance(code, Or):
        return lay(indent, "", code)
    first, *rest = code.items
    return lay(indent, "", first) + [
        line for item in rest for line in lay(indent, f"{code.operator} ", item)
    ]


def member(indent: str, name: str, annotation: Code, default: Code = "") -> list[str]:
    """The lines of `name: annotation = default`."""
    if not default:
        return lay(indent, f"{name}: ", annotation)
    line = f"{indent}{name}: {flat(annotation)} = {flat(default)}"
    if len(line) <= WIDTH:
        return [line]
    head = f"{name}: {flat(annotation)} = "
    opened = default.head if isinstance(default, Group) else "("
    if len(indent + head + opened) <= WIDTH:
        return lay(indent, head, default)
    if len(f"{indent}{head}(") <= WIDTH and len(f"{indent}{STEP}{flat(default)}") <= WIDTH:
        return [f"{indent}{head}(", f"{indent}{STEP}{flat(default)}", f"{indent})"]
    if isinstance(annotation, Group):
        inside = _inside(indent + STEP, annotation)
        last = lay(indent, f"{annotation.close} = ", default)
        return [f"{indent}{name}: {annotation.head}", *inside, *last]
    return [f"{indent}{name}: (", *_ors(indent + STEP, annotation), f"{indent}) = {flat(default)}"]


# ---- text from a schema enters code through these two


@lru_cache(4096, typed=True)
def literal(value: str | int | float | bool | None) -> str:
    """A Python literal; strings in the quotes with fewer escapes, double quotes on a tie."""
    if not isinstance(value, str):
        return repr(value)
    body = _escape_text(value)
    quote = "'" if body.count('"') > body.count("'") else '"'
    return f"{quote}{body.replace(quote, chr(92) + quote)}{quote}"


def docstring(indent: str, text: str) -> list[str]:
    """The lines of a docstring; none for no text."""
    inside = text.rstrip('"')
    body = _escape_text(inside).replace('"""', '\\"\\"\\"') + '\\"' * (len(text) - len(inside))
    if not body.strip():
        return []
    line = f'{indent}"""{body}"""'
    if len(line) <= WIDTH:
        return [line]
    lines = [*_wrapped_words(indent, f'"""{body.rstrip()}')]
    return [*lines, f'{indent}"""'] if len(lines) > 1 else [line]


def _wrapped_words(indent: str, text: str) -> Iterator[str]:
    """Lines as long as they may be, broken at spaces; textwrap takes ten times as long."""
    most = WIDTH - 3 - len(indent)
    start = 0  # the rest is not copied for each line: a text may have a million of them
    while len(text) - start > most:
        at = text.rfind(" ", start, start + most + 1)
        at = at if at >= 0 else text.find(" ", start)
        if at < 0:
            break
        yield f"{indent}{text[start:at].rstrip()}"
        start = at
        while start < len(text) and text[start].isspace():
            start += 1
    yield f"{indent}{text[start:]}"


_ESCAPES: Final = str.maketrans({"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"})


def _escape_text(text: str) -> str:
    """`text` with backslashes and unprintable characters escaped."""
    if text.isprintable() and "\\" not in text:
        return text
    escaped = text.translate(_ESCAPES)
    return "".join(c if c.isprintable() else _escape(ord(c)) for c in escaped)


def _escape(code: int) -> str:
    return (
        f"\\U{code:08x}" if code > 0xFFFF else f"\\u{code:04x}" if code > 0xFF else f"\\x{code:02x}"
    )
