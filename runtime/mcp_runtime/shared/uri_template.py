"""Matches URIs with URI templates (RFC 6570), in time linear in the length of the URI.

A template is a list of literals and variables. A literal stands between two variables, and only the
last variable may hold `/`. So there is only one way to match, without backtracking.

    Template("repo://{owner}/{name}/files/{+path}").match("repo://a/b/files/src/x.py")
    # {"owner": "a", "name": "b", "path": "src/x.py"}
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Final, NamedTuple, TypeAlias
from urllib.parse import unquote

from mcp_runtime.limits import DEFAULT, Limits
from mcp_runtime.shared.safe_path import path_fault

_EXPRESSION: Final = re.compile(r"\{([^{}]*)\}")
_NAME: Final = re.compile(r"[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*")
_IN_URIS: Final = frozenset(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789:/?#[]@!$&'()*+,;=%"
)
"""Characters which a URI holds unencoded, so a literal has only one form for them."""
_OCTETS: Final = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_URI: Final = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*"
)


def is_uri(text: str) -> bool:
    """True for an absolute URI with only the characters of RFC 3986."""
    return _URI.fullmatch(text) is not None and text.count("#") < 2


class TemplateError(ValueError):
    """An invalid or unsupported template; the text has the remedy."""


class _Variable(NamedTuple):
    name: str
    wide: bool
    """True if the value may hold `/`, `?` and `#`."""


class _Query(NamedTuple):
    """`{?a,b}`: any of these parameters, in any order."""

    names: tuple[str, ...]
    head: str


_Part: TypeAlias = str | _Variable | _Query


class Template:
    """A URI template; the variables in `any_path` may hold absolute paths.

    Raises TemplateError for a template that is too long, invalid or ambiguous.
    """

    def __init__(self, text: str, limits: Limits = DEFAULT, any_path: Collection[str] = ()) -> None:
        if len(text) > limits.template_chars:
            raise TemplateError(f"longer than {limits.template_chars} characters")
        self.text = text
        self._limit = limits.uri_chars
        self._any_path = any_path
        parts = [*_join(_parts(text))]
        variables = [part for part in parts if isinstance(part, _Variable)]
        queried = [name for part in parts if isinstance(part, _Query) for name in part.names]
        self._variables = [variable.name for variable in variables]
        self._wide = {*queried, *(variable.name for variable in variables if variable.wide)}
        self.names = (*self._variables, *queried)
        _require_one_way(parts, variables, self.names)
        self._pattern = re.compile("".join(_patterns(parts)), re.DOTALL)

    def match(self, uri: str) -> dict[str, str] | None:
        """Return the decoded values of the variables; None if the URI is unsafe or no match."""
        values = self.values(uri)
        return None if values is None or self.fault(values) else values

    def values(self, uri: str) -> dict[str, str] | None:
        """Return the decoded values of the variables, unchecked; None if the URI does not match."""
        matched = self._pattern.fullmatch(uri) if len(uri) <= self._limit else None
        if matched is None:
            return None
        values: dict[str, str] = dict(zip(self._variables, matched.groups(), strict=False))
        query = matched.groupdict().get("query")
        for item in () if query is None else query.split("&"):
            name, equals, value = item.partition("=")
            if not equals or name not in self.names or name in values:
                return None
            values[name] = value
        return {name: unquote(raw) for name, raw in values.items()}

    def fault(self, values: Mapping[str, str]) -> str | None:
        """Return the reason why a value is unsafe as a path; None if all values are safe."""
        for name, value in values.items():
            why = path_fault(value, any_path=name in self._any_path)
            if why is None and value == "." and name not in self._wide:
                why = "is the folder itself"
            if why is not None:
                return f"{{{name}}} {why}"
        return None


def _literal(text: str) -> Iterator[str]:
    """Yield a pattern per character; other characters than those of URIs may be percent-encoded.

    Source: RFC 6570, 3.1 "Literal Expansion".
    """
    for char in _OCTETS.sub(_decode, text):
        if char in _IN_URIS:
            yield re.escape(char)
        else:
            octets = "".join(f"%{octet:02X}" for octet in char.encode(errors="replace"))
            yield f"(?:{re.escape(char)}|(?i:{octets}))"


def _decode(octets: re.Match[str]) -> str:
    """Decode percent-encoded octets, unless they have a character which URIs hold unencoded."""
    text = unquote(octets[0], errors="replace")
    return octets[0] if "\ufffd" in text or _IN_URIS & {*text} else text


def _patterns(parts: Sequence[_Part]) -> Iterator[str]:
    """Yield a regular expression per part; none is tried a second time after it has matched.

    A value ends at the first occurrence of the following literal, or, if this is the last part, at
    the end of the URI.
    """
    for index, part in enumerate(parts):
        following = parts[index + 1 :]
        if isinstance(part, str):
            yield "".join(_literal(part))
        elif isinstance(part, _Query):
            yield f"(?:{re.escape(part.head)}(?P<query>.*))?"
        elif part.wide:
            yield "([^?]+)" if isinstance(parts[-1], _Query) else "(.+)"
        elif len(following) > 1 and isinstance(following[0], str):
            yield f"(?>([^/?#]+?)(?={''.join(_literal(following[0]))}))"
        else:
            yield "([^/?#]+)" if following and isinstance(following[0], str) else "([^/?#]++)"


# ---- reading templates


def _parts(text: str) -> Iterator[_Part]:
    for index, piece in enumerate(_EXPRESSION.split(text)):
        if index % 2:
            yield from _expression(piece)
        elif "{" in piece or "}" in piece:
            raise TemplateError("an unbalanced brace; write a literal one as %7B or %7D")
        else:
            yield piece


def _expression(text: str) -> Iterator[_Part]:
    operator = text[0] if text[:1] in {*"+#./;?&"} else ""
    names = text.removeprefix(operator).split(",")
    if operator in ("?", "&"):
        yield _Query(tuple(map(_name, names)), operator)
        return
    between = operator if operator in {*"./;"} else ","
    for index, name in enumerate(names):
        yield between if index else operator.removeprefix("+")
        if operator == ";":
            yield f"{_name(name.removesuffix('*'))}="
        yield _Variable(_name(name.removesuffix("*")), operator in ("+", "#") or name[-1:] == "*")


def _name(text: str) -> str:
    if not _NAME.fullmatch(text):
        remedy = "use letters, digits, `_` and dots; prefixes as in {a:3} are not supported"
        raise TemplateError(f"{text!r} is not the name of a variable: {remedy}")
    return text


def _join(parts: Iterator[_Part]) -> Iterator[_Part]:
    """Join neighbouring literals, and leave out empty ones."""
    for is_literal, group in groupby(parts, lambda part: isinstance(part, str)):
        if not is_literal:
            yield from group
        elif literal := "".join(map(str, group)):
            yield literal


def _require_one_way(
    parts: Sequence[_Part], variables: Sequence[_Variable], names: Sequence[str]
) -> None:
    if len(set(names)) != len(names):
        raise TemplateError("a variable occurs in it twice")
    for part, following in pairwise(parts):
        if isinstance(part, _Query):
            raise TemplateError("something follows {?…}; put the query at the end")
        if isinstance(part, _Variable) and isinstance(following, _Variable):
            pair = f"{{{part.name}}}{{{following.name}}}"
            raise TemplateError(f"{pair}: put a literal between them")
    for variable in variables[:-1]:
        if variable.wide:
            raise TemplateError(
                f"{{+{variable.name}}} may hold `/`, so no other variable comes after it"
            )
