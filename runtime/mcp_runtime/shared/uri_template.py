"""Matches URIs with URI templates (RFC 6570), in time linear in the length of the URI.

A template is a list of literals and variables. Between two variables stands a literal, and only
the last variable may hold `/`; so there is only one way to match, without backtracking.

    Template("repo://{owner}/{name}/files/{+path}").match("repo://a/b/files/src/x.py")
    # {"owner": "a", "name": "b", "path": "src/x.py"}
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final
from urllib.parse import unquote

from mcp_runtime.limits import DEFAULT, Limits

__all__ = ["Template", "TemplateError", "is_uri"]

_EXPRESSION: Final = re.compile(r"\{([^{}]*)\}")
_NAME: Final = re.compile(r"[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*")
_STOPS: Final = re.compile(r"[/?#]")
_UNSAFE: Final = re.compile(r"[\x00-\x1f\x7f]")


_URI: Final = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*"
)


def is_uri(text: str) -> bool:
    """Whether it is an absolute URI with only the characters of RFC 3986."""
    return _URI.fullmatch(text) is not None and text.count("#") < 2


class TemplateError(ValueError):
    """An invalid or unsupported template; the text says what to write instead."""


@dataclass(frozen=True, slots=True)
class _Variable:
    name: str
    wide: bool
    """Whether its value may hold `/`, `?` and `#`."""


@dataclass(frozen=True, slots=True)
class _Query:
    """`{?a,b}`: any of these parameters, in any order."""

    names: tuple[str, ...]
    head: str


_Part = str | _Variable | _Query

_FIRST: Final = {"": "", "+": "", "#": "#", ".": ".", "/": "/", ";": ";", "?": "?", "&": "&"}
_BETWEEN: Final = {"": ",", "+": ",", "#": ",", ".": ".", "/": "/", ";": ";"}


class Template:
    """Raises TemplateError for a template that is too long, invalid or ambiguous."""

    def __init__(self, text: str, limits: Limits = DEFAULT) -> None:
        if len(text) > limits.template_chars:
            raise TemplateError(f"longer than {limits.template_chars} characters")
        self.text = text
        self._limit = limits.uri_chars
        self._parts = tuple(_joined(_parts(text)))
        self.names = tuple(_names(self._parts))
        _require_one_way(self._parts, self.names)

    def match(self, uri: str) -> dict[str, str] | None:
        """The decoded values of the variables; None if the URI does not match.

        A value with a `..` segment, an encoded slash, a backslash or a control character does not
        match, since it may lead elsewhere.
        """
        if len(uri) > self._limit:
            return None
        raw_values = self._split(uri)
        if raw_values is None:
            return None
        values = {name: unquote(raw) for name, raw in raw_values.items()}
        is_safe = all(_is_safe(value, name in self._wide) for name, value in values.items())
        return values if is_safe else None

    @property
    def _wide(self) -> frozenset[str]:
        wide = {part.name for part in self._parts if isinstance(part, _Variable) and part.wide}
        queried = {n for part in self._parts if isinstance(part, _Query) for n in part.names}
        return frozenset(wide | queried)

    def _split(self, uri: str) -> dict[str, str] | None:
        values: dict[str, str] = {}
        at = 0
        for index, part in enumerate(self._parts):
            if isinstance(part, str):
                if not uri.startswith(part, at):
                    return None
                at += len(part)
            elif isinstance(part, _Query):
                return _parse_query(part, uri[at:], values)
            else:
                end = _end(uri, at, part, self._parts[index + 1 :])
                if end < at + 1:
                    return None
                values[part.name] = uri[at:end]
                at = end
        return values if at == len(uri) else None


def _end(uri: str, at: int, variable: _Variable, rest: tuple[_Part, ...]) -> int:
    """Where the variable's value ends; -1 if it does not match."""
    if variable.wide:
        tail = "".join(part for part in rest if isinstance(part, str))
        head = uri.find("?", at) if any(isinstance(part, _Query) for part in rest) else -1
        end = (head if head >= 0 else len(uri)) - len(tail)
        return end if uri.startswith(tail, max(end, 0)) else -1
    stop = _STOPS.search(uri, at)
    most = stop.start() if stop else len(uri)
    following = rest[0] if rest else ""
    if not isinstance(following, str) or not following:
        return most
    if len(rest) == 1:
        end = len(uri) - len(following)
        return end if end <= most else -1
    end = uri.find(following, at + 1)
    return end if end <= most else -1


def _parse_query(query: _Query, text: str, values: dict[str, str]) -> dict[str, str] | None:
    """`values` with the parameters of the query; None if it does not match."""
    if not text:
        return values
    if not text.startswith(query.head):
        return None
    for item in text[1:].split("&"):
        name, equals, value = item.partition("=")
        if not equals or name not in query.names or name in values:
            return None
        values[name] = value
    return values


def _is_safe(value: str, wide: bool) -> bool:
    if _UNSAFE.search(value) or "\\" in value:
        return False
    return ".." not in value.split("/") if wide else "/" not in value and value not in (".", "..")


def _parts(text: str) -> Iterator[_Part]:
    at = 0
    for match in _EXPRESSION.finditer(text):
        yield from _literal(text[at : match.start()])
        yield from _expression(match[1])
        at = match.end()
    yield from _literal(text[at:])


def _literal(text: str) -> Iterator[str]:
    if "{" in text or "}" in text:
        raise TemplateError("an unbalanced brace; write a literal one as %7B or %7D")
    if text:
        yield text


def _expression(text: str) -> Iterator[_Part]:
    operator = text[:1] if text[:1] in "+#./;?&" else ""
    names = text.removeprefix(operator).split(",")
    if operator and operator in "?&":
        yield _Query(tuple(_name(name) for name in names), operator)
        return
    for index, name in enumerate(names):
        yield _BETWEEN[operator] if index else _FIRST[operator]
        if operator == ";":
            yield f"{_name(name.removesuffix('*'))}="
        yield _Variable(_name(name.removesuffix("*")), operator in ("+", "#") or name[-1:] == "*")


def _name(text: str) -> str:
    if not _NAME.fullmatch(text):
        remedy = "use letters, digits, `_` and dots; prefixes as in {a:3} are not supported"
        raise TemplateError(f"{text!r} is no name of a variable: {remedy}")
    return text


def _joined(parts: Iterator[_Part]) -> Iterator[_Part]:
    """Joins neighbouring literals, and leaves out empty ones."""
    held = ""
    for part in parts:
        if isinstance(part, str):
            held += part
            continue
        if held:
            yield held
        held = ""
        yield part
    if held:
        yield held


def _names(parts: tuple[_Part, ...]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, _Variable):
            yield part.name
        elif isinstance(part, _Query):
            yield from part.names


def _require_one_way(parts: tuple[_Part, ...], names: tuple[str, ...]) -> None:
    if len(set(names)) != len(names):
        raise TemplateError("a variable stands in it twice")
    for part, following in pairwise(parts):
        if isinstance(part, _Query):
            raise TemplateError("something follows {?…}; put the query at the end")
        if isinstance(part, _Variable) and isinstance(following, _Variable):
            pair = f"{{{part.name}}}{{{following.name}}}"
            raise TemplateError(f"{pair}: put a literal between them")
    wide = [part.name for part in parts if isinstance(part, _Variable) and part.wide]
    variables = [part.name for part in parts if isinstance(part, _Variable)]
    if wide and (len(wide) > 1 or variables[-1] != wide[0]):
        raise TemplateError(f"{{+{wide[0]}}} may hold `/`, so no other variable comes after it")
