"""Checks the user's own members of `_meta`: names by their grammar, traces by the W3C formats.

Source: 2026-07-28 basic/index, "_meta", and basic/versioning, "Extensions"; W3C Trace Context and
Baggage.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

_LABEL: Final = r"[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_PREFIX: Final = re.compile(rf"{_LABEL}(?:\.{_LABEL})*/")
_NAME: Final = re.compile(r"(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?")

_CORE: Final = "io.modelcontextprotocol/"
_RESERVED: Final = frozenset(
    {
        "progressToken",
        f"{_CORE}protocolVersion",
        f"{_CORE}clientInfo",
        f"{_CORE}clientCapabilities",
        f"{_CORE}logLevel",
        f"{_CORE}serverInfo",
        f"{_CORE}subscriptionId",
    }
)

_PARENT: Final = re.compile(
    r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}"
)
_STATE_KEY: Final = (
    r"(?:[a-z][a-z0-9_*/-]{0,255}|[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13})"
)
_STATE: Final = re.compile(rf"{_STATE_KEY}=[ -+\--<>-~]{{0,255}}[!-+\--<>-~]")
_MAX_STATES: Final = 32
_TOKEN: Final = r"[A-Za-z0-9!#$%&'*+.^_`|~-]+"
_OCTETS: Final = r"[!#-+\--:<-\[\]-~]*"
_PAIR: Final = rf"{_TOKEN}[ \t]*=[ \t]*{_OCTETS}"
_BAGGAGE: Final = re.compile(rf"{_PAIR}(?:[ \t]*;[ \t]*(?:{_PAIR}|{_TOKEN}))*")
_MAX_BAGGAGE: Final = 8192


def require_meta(meta: Mapping[str, Any]) -> None:
    """Raise ValueError for an invalid or reserved name, and for a malformed trace."""
    for key, value in meta.items():
        if key in _RESERVED:
            raise ValueError(f"`_meta`: {key!r} is reserved: the runtime writes it itself")
        prefix, name = _parts(key)
        if not (_PREFIX.fullmatch(prefix) or not prefix) or not _NAME.fullmatch(name):
            raise ValueError(f"`_meta`: {key[:80]!r} is not a valid name: use {_REMEDY}")
        if key in _TRACES and not (isinstance(value, str) and _TRACES[key](value)):
            raise ValueError(f"`_meta`: {str(value)[:80]!r} is not a {key} in the format of W3C")


def require_extensions(names: Iterable[str]) -> None:
    """Raise ValueError for an invalid extension name, or one without a prefix."""
    for key in names:
        prefix, name = _parts(key)
        if not _PREFIX.fullmatch(prefix) or not name or not _NAME.fullmatch(name):
            raise ValueError(f"{key[:80]!r} is not a valid name of an extension: use {_REMEDY}")


_REMEDY: Final = "labels of letters, digits and hyphens, joined by dots, a slash, and a name"


def _parts(key: str) -> tuple[str, str]:
    head, slash, tail = key.rpartition("/")
    return head + slash, tail


def _is_state(value: str) -> bool:
    members = [member.strip(" \t") for member in value.split(",")]
    entries = [member for member in members if member]
    names = {entry.partition("=")[0] for entry in entries}
    is_list = bool(entries) and len(entries) == len(names) and len(members) <= _MAX_STATES
    return is_list and all(map(_STATE.fullmatch, entries))


def _is_baggage(value: str) -> bool:
    members = (member.strip(" \t") for member in value.split(","))
    return len(value) <= _MAX_BAGGAGE and all(map(_BAGGAGE.fullmatch, members))


_TRACES: Final[Mapping[str, Callable[[str], object]]] = {
    "traceparent": _PARENT.fullmatch,
    "tracestate": _is_state,
    "baggage": _is_baggage,
}
