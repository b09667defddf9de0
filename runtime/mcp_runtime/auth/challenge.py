"""The header `WWW-Authenticate`: read by clients, written by servers.

Source: RFC 9110 section 11.6.1; RFC 6750 section 3; RFC 9728 section 5.1.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

_TOKEN: Final = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_QUOTED: Final = r'"(?:[^"\\]|\\.)*"'
_PART: Final = re.compile(
    rf"[\s,]*(?:(?P<name>{_TOKEN})\s*=\s*(?P<value>{_QUOTED}|{_TOKEN})(?=\s*(?:,|$))"
    rf"|(?P<scheme>{_TOKEN}+)(?!\s*=)(?:[ \t]+(?P<token68>[A-Za-z0-9._~+/-]+=*)(?=\s*(?:,|$)))?)"
)
_MAX_HEADER: Final = 8192
_ESCAPED: Final = re.compile(r"\\(.)")


@dataclass(frozen=True, slots=True)
class Challenge:
    """One challenge. `scheme` and the names of `parameters` are in lower case."""

    scheme: str
    parameters: Mapping[str, str]

    @property
    def scopes(self) -> tuple[str, ...]:
        return tuple(self.parameters.get("scope", "").split())

    @property
    def error(self) -> str:
        return self.parameters.get("error", "")

    @property
    def description(self) -> str:
        return self.parameters.get("error_description", "")

    @property
    def resource_metadata(self) -> str | None:
        return self.parameters.get("resource_metadata")


def challenges(header: str | None) -> tuple[Challenge, ...]:
    """Parse the challenges of a header, in their order, up to the first unreadable one.

    >>> challenges('Bearer scope="a b", error=invalid_token')[0].scopes
    ('a', 'b')
    """
    text, at = (header or "")[:_MAX_HEADER], 0
    named: list[tuple[str, dict[str, str]]] = []
    while (part := _PART.match(text, at)) is not None:
        at = part.end()
        if part["scheme"] is not None:
            named.append((part["scheme"].lower(), {}))
        elif named:
            named[-1][1].setdefault(part["name"].lower(), _unquote(part["value"]))
    return tuple(Challenge(scheme, parameters) for scheme, parameters in named)


def _unquote(value: str) -> str:
    return _ESCAPED.sub(r"\1", value[1:-1]) if value.startswith('"') else value


def write_challenge(scheme: str, parameters: Mapping[str, str]) -> str:
    """Return a challenge as a header's value. Raises ValueError for characters no header can
    hold.
    """
    for value in parameters.values():
        if not all(" " <= character <= "~" for character in value):
            raise ValueError(f"a challenge holds visible ASCII only, not {value!r}")
    parts = (
        '{}="{}"'.format(name, value.replace("\\", "\\\\").replace('"', '\\"'))
        for name, value in parameters.items()
    )
    return f"{scheme} {', '.join(parts)}".rstrip()
