"""Changes one member of JSON with comments, and leaves all other characters where they are.

Hosts accept `//` and `/* */` comments and commas behind the last member in their settings. No
library that we know writes such a text without losing one or the other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from mcp_bindgen.errors import InputError

__all__ = ["loads", "with_member", "without_member"]

_DEEPEST: Final = 100
_SPACE: Final = re.compile(r"(?:[ \t\r\n\ufeff]|//[^\n]*|/\*.*?\*/)*", re.S)
_SAME_LINE: Final = re.compile(r"(?:[ \t]|//[^\n\r]*|/\*[^\n]*?\*/)*")
_SCALAR: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"|[-+.\w]+')


@dataclass(slots=True)
class _Member:
    """Places in the text: of the key, of the value, and behind the comma (0 without one)."""

    start: int
    value: _Value
    comma: int = 0


@dataclass(slots=True)
class _Value:
    """A value from `start` to `end`; `members` of an object by name, in their order."""

    start: int
    end: int
    data: Any
    members: dict[str, _Member] | None = None


def loads(text: str) -> Any:
    """Return the value of a text; an empty one is an object. Raises InputError with the place."""
    return _read(text).data


def with_member(text: str, path: Sequence[str], value: Any) -> str:
    """Return the text with `value` at `path`, whose objects are added where they are missing.

    Raises InputError for a text that is no JSON with comments, and for a value on the way which is
    no object.
    """
    if not text.strip():
        text = "{}\n"
    root = at = _read(text)
    for depth, name in enumerate(path):
        if at.members is None:
            where = ".".join(path[:depth]) or "the file"
            raise InputError(f"{where} is not an object", remedy="Correct the settings by hand.")
        if name not in at.members:
            for inner in reversed(path[depth + 1 :]):
                value = {inner: value}
            return _add_member(text, root, at, name, value)
        at = at.members[name].value
    return text[: at.start] + _render(text, root, at.start, value) + text[at.end :]


def without_member(text: str, path: Sequence[str]) -> str:
    """Return the text without the member at `path`. Raises KeyError if there is none."""
    at = _read(text)
    for name in path[:-1]:
        at = (at.members or {})[name].value
    members = at.members or {}
    gone = members[path[-1]]
    names = list(members)
    before = names.index(path[-1]) - 1
    start, end = gone.start, gone.comma or gone.value.end
    line = text.rfind("\n", 0, start) + 1
    if not text[line:start].strip():
        start = line
        rest = re.compile(r"[ \t]*\r?\n").match(text, end)
        end = rest.end() if rest else end
    else:
        end += len(text[end:]) - len(text[end:].lstrip(" "))
    text = text[:start] + text[end:]
    if not gone.comma and before >= 0:  # now the last one: its comma separates nothing any more
        comma = members[names[before]].comma
        text = text[: comma - 1] + text[comma:]
    return text


def _add_member(text: str, root: _Value, at: _Value, name: str, value: Any) -> str:
    members = list((at.members or {}).values())
    end = "\r\n" if "\r\n" in text else "\n"
    key = json.dumps(name, ensure_ascii=False)
    if not members:
        indent = _indent(text, at.start)
        inner = indent + _unit(text, root)
        text_of = f"{key}: {_json(value, inner, _unit(text, root), end)}"
        rest = text[at.start + 1 : at.end - 1]
        tail = rest if rest.strip() else f"{end}{indent}"
        return f"{text[: at.start + 1]}{end}{inner}{text_of}{tail}{text[at.end - 1 :]}"
    last = members[-1]
    behind = last.comma or last.value.end
    if "\n" not in text[at.start : members[0].start]:
        inline = f"{key}: {json.dumps(value, ensure_ascii=False)}"
        more = f" {inline}," if last.comma else f", {inline}"
        return f"{text[:behind]}{more}{text[behind:]}"
    indent = _indent(text, members[0].start)
    written = f"{end}{indent}{key}: {_json(value, indent, _unit(text, root), end)}"
    place = _SAME_LINE.match(text, behind)
    to = place.end() if place else behind
    if last.comma:
        return f"{text[:to]}{written},{text[to:]}"
    return f"{text[: last.value.end]},{text[last.value.end : to].rstrip()}{written}{text[to:]}"


def _render(text: str, root: _Value, start: int, value: Any) -> str:
    end = "\r\n" if "\r\n" in text else "\n"
    return _json(value, _indent(text, start), _unit(text, root), end)


def _json(value: Any, indent: str, unit: str, end: str) -> str:
    lines = json.dumps(value, indent=unit, ensure_ascii=False).split("\n")
    return f"{end}{indent}".join(lines)


def _indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip())]


def _unit(text: str, root: _Value) -> str:
    """The indent of the first member of the whole, or two spaces."""
    for member in (root.members or {}).values():
        return _indent(text, member.start) or "  "
    return "  "


# ---- reading


def _read(text: str) -> _Value:
    reader = _Reader(text)
    if (start := reader.space(0)) == len(text):
        return _Value(start, start, {}, {})
    value = reader.value(start, 0)
    if (rest := reader.space(value.end)) != len(text):
        reader.wrong(rest, "the end of the text")
    return value


@dataclass(slots=True)
class _Reader:
    text: str

    def space(self, at: int) -> int:
        match = _SPACE.match(self.text, at)
        return match.end() if match else at

    def wrong(self, at: int, expected: str) -> NoReturn:
        line = self.text.count("\n", 0, at) + 1
        column = at - self.text.rfind("\n", 0, at)
        raise InputError(
            f"{line}:{column}: expected {expected}", remedy="Correct the settings by hand."
        )

    def value(self, at: int, depth: int) -> _Value:
        if depth > _DEEPEST:
            self.wrong(at, f"at most {_DEEPEST} levels")
        if self.text.startswith(("{", "["), at):
            return self.object(at, depth) if self.text[at] == "{" else self.array(at, depth)
        match = _SCALAR.match(self.text, at)
        if match is None:
            self.wrong(at, "a value")
        try:
            return _Value(at, match.end(), json.loads(match[0], strict=False))
        except ValueError:
            self.wrong(at, "a value")

    def object(self, start: int, depth: int) -> _Value:
        members: dict[str, _Member] = {}
        at, comma = self.space(start + 1), True
        while not self.text.startswith("}", at):
            if not comma:
                self.wrong(at, "`,` or `}`")
            if not self.text.startswith('"', at):
                self.wrong(at, "a name in double quotes")
            key = self.value(at, depth)
            colon = self.space(key.end)
            if not self.text.startswith(":", colon):
                self.wrong(colon, "`:`")
            if key.data in members:
                self.wrong(at, f"a name which is not there yet, as {key.data!r} is")
            member = _Member(at, self.value(self.space(colon + 1), depth + 1))
            members[key.data] = member
            at = self.space(member.value.end)
            comma = self.text.startswith(",", at)
            if comma:
                member.comma = at + 1
                at = self.space(at + 1)
        data = {name: member.value.data for name, member in members.items()}
        return _Value(start, at + 1, data, members)

    def array(self, start: int, depth: int) -> _Value:
        items: list[Any] = []
        at, comma = self.space(start + 1), True
        while not self.text.startswith("]", at):
            if not comma:
                self.wrong(at, "`,` or `]`")
            value = self.value(at, depth + 1)
            items.append(value.data)
            at = self.space(value.end)
            comma = self.text.startswith(",", at)
            at = self.space(at + 1) if comma else at
        return _Value(start, at + 1, items)
