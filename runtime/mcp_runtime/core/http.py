"""The rules of HTTP as functions of headers and bodies: who may ask, and what headers must repeat.

Header names are in lower case, as ASGI has them.

Source: 2026-07-28 and 2025-11-25 basic/transports, "Streamable HTTP"; RFC 9110.
"""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, cast

import msgspec

from mcp_runtime.core import codes
from mcp_runtime.errors import Refuse

__all__ = [
    "EVENT_STREAM",
    "JSON",
    "LOOPBACK",
    "NAMED",
    "Hosts",
    "accepts",
    "check_mirrors",
    "decoded",
    "marked",
    "media_type",
    "primes",
    "status_of",
]

JSON: Final = "application/json"
EVENT_STREAM: Final = "text/event-stream"
LOOPBACK: Final = ("localhost", "127.0.0.1", "[::1]")

NAMED: Final[Mapping[str, str]] = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
}
"""The member of params that `Mcp-Name` repeats."""

_PRIMED: Final = frozenset({"2025-11-25"})
_HOST: Final = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::(?P<port>[0-9]{1,5}))?")
_ORIGIN: Final = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<host>[^/?#@\s]+)", re.IGNORECASE)
_WEB: Final = frozenset({"http", "https"})
_RANGE: Final = re.compile(r'(?:[^,"]|"(?:\\.?|[^"\\])*+"?)++', re.DOTALL)
_QUALITY: Final = re.compile(r";\s*q=([0-9.]+)", re.IGNORECASE)
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?")
_DIGITS: Final = 64
_PLAIN: Final = re.compile(r"[\x20-\x7e\t]*")
_BASE64: Final = re.compile(r"=\?base64\?(.*)\?=", re.DOTALL)
_STATUS: Final[Mapping[int, int]] = {
    codes.PARSE_ERROR: 400,
    codes.INVALID_REQUEST: 400,
    codes.METHOD_NOT_FOUND: 404,
    codes.HEADER_MISMATCH: 400,
    codes.MISSING_CLIENT_CAPABILITY: 400,
    codes.UNSUPPORTED_VERSION: 400,
    codes.BUSY: 503,
}


# ---- who may ask


@dataclass(frozen=True, slots=True)
class Hosts:
    """Who may be named by `Host` and `Origin`: names, with a port or with any; `*` is everyone.

    Guards a server against web pages whose names were made to point at it (DNS rebinding).
    Raises ValueError for what no header could say.
    """

    hosts: Collection[str] = LOOPBACK
    origins: Collection[str] = ()

    def __post_init__(self) -> None:
        for name in self.hosts:
            if name != "*" and _split(name) is None:
                raise ValueError(f"{name!r} is no host; one is example.com, [::1]:8000 or *")
        for name in self.origins:
            if name not in ("*", "null") and not _ORIGIN.fullmatch(name):
                raise ValueError(f"{name!r} is no origin; one is https://example.com or *")
        object.__setattr__(self, "hosts", frozenset(map(_plain_host, self.hosts)))
        object.__setattr__(self, "origins", frozenset(map(str.lower, self.origins)))

    def admits_host(self, header: str | None) -> bool:
        return "*" in self.hosts or (header is not None and self._known(header))

    def admits_origin(self, header: str | None) -> bool:
        """No origin is no web page. An origin is admitted as such, or by its host."""
        if header is None or "*" in self.origins or header in self.origins:
            return True
        match = _ORIGIN.fullmatch(header)
        return match is not None and match["scheme"] in _WEB and self._known(match["host"])

    def _known(self, text: str) -> bool:
        parts = _split(text)
        return parts is not None and (parts[0] in self.hosts or ":".join(parts) in self.hosts)


def _split(text: str) -> tuple[str, str] | None:
    """Name and port of a host, the port empty for none; None for what is no host."""
    match = _HOST.fullmatch(text.lower())
    return None if match is None else (match["name"].removesuffix("."), match["port"] or "")


def _plain_host(text: str) -> str:
    parts = _split(text)
    return text if parts is None else ":".join(parts).removesuffix(":")


# ---- media types


def media_type(header: str | None) -> str:
    """Without its parameters, in lower case; empty for none."""
    return (header or "").partition(";")[0].strip().lower()


def accepts(header: str | None, wanted: str) -> bool:
    """Whether an `Accept` header has a media type; none at all has every one.

    Of several ranges that fit, the closest decides. Source: RFC 9110, section 12.5.1.
    """
    if header is None:
        return True
    parts = {media_type(part): part for part in _RANGE.findall(header)}
    ranges = (wanted, f"{wanted.partition('/')[0]}/*", "*/*")
    closest = next((parts[name] for name in ranges if name in parts), None)
    return closest is not None and not _refused(closest)


def _refused(part: str) -> bool:
    quality = _QUALITY.search(part)
    return quality is not None and not quality[1].strip("0.")


# ---- what headers repeat


def check_mirrors(
    headers: Mapping[str, str],
    method: str,
    params: Mapping[str, Any],
    version: str,
    marks: Iterable[tuple[str, tuple[str, ...]]],
) -> None:
    """Raises Refuse (HeaderMismatch) where a header does not say what the body does.

    `marks` are those of the tool that is called (see `marked`).
    Source: 2026-07-28 basic/transports/streamable-http, "Server Validation".
    """
    _require_equal(headers, "MCP-Protocol-Version", version, coded=False)
    _require_equal(headers, "Mcp-Method", method, coded=False)
    if method in NAMED:
        _require_equal(headers, "Mcp-Name", params.get(NAMED[method]), coded=True)
    for name, path in marks:
        _require_argument(headers, f"Mcp-Param-{name}", _at(params.get("arguments"), path))


def _require_equal(headers: Mapping[str, str], name: str, told: Any, *, coded: bool) -> None:
    found = headers.get(name.lower())
    if found is None:
        raise _mismatch(f"{name} is missing")
    if not isinstance(told, str):
        return  # the body is at fault, and says so itself
    value = decoded(name, found) if coded else found.strip(" \t")
    if value != told:
        raise _mismatch(f"{name} is {found[:100]!r}, the body says {told[:100]!r}")


def _require_argument(headers: Mapping[str, str], name: str, told: Any) -> None:
    found = headers.get(name.lower())
    if told is None and found is None:
        return
    if found is None:
        raise _mismatch(f"{name} is missing, the body has {_text(told)[:100]!r}")
    value = decoded(name, found)
    if told is None:
        raise _mismatch(f"{name} is {found[:100]!r}, the body has no such argument")
    if value != _text(told) and not _is_number(value, told):
        raise _mismatch(f"{name} is {found[:100]!r}, the body says {_text(told)[:100]!r}")


def decoded(name: str, header: str) -> str:
    """The value that a header holds, which may be in base64. Raises Refuse (HeaderMismatch).

    Source: 2026-07-28 basic/transports/streamable-http, "Value Encoding".
    """
    value = header.strip(" \t")
    if not _PLAIN.fullmatch(value):
        raise _mismatch(f"{name} has characters that no header has")
    match = _BASE64.fullmatch(value)
    if match is None:
        return value
    try:
        return b64decode(match[1], validate=True).decode()
    except (Base64Error, ValueError):
        raise _mismatch(f"{name} is no base64 of UTF-8") from None


def marked(schema: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The headers that an input schema asks for, each with the path of its argument."""
    yield from _marked(schema, ())


def _marked(
    schema: Mapping[str, Any], path: tuple[str, ...]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    properties = schema.get("properties")
    for name, found in cast("dict[str, Any]", properties or {}).items():
        if isinstance(found, dict):
            inner = cast("dict[str, Any]", found)
            if isinstance(header := inner.get("x-mcp-header"), str):
                yield header, (*path, name)
            yield from _marked(inner, (*path, name))


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        value = cast("dict[str, Any]", value).get(name) if isinstance(value, dict) else None
    return value


def _text(value: Any) -> str:
    """As a header says it."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _is_number(text: str, told: Any) -> bool:
    if isinstance(told, bool) or not isinstance(told, int | float):
        return False
    return len(text) <= _DIGITS and bool(_NUMBER.fullmatch(text)) and Decimal(text) == told


def _mismatch(why: str) -> Refuse:
    return Refuse(codes.HEADER_MISMATCH, f"Header mismatch: {why}")


# ---- what is answered


def status_of(code: int) -> int:
    """The status of an answer that is nothing but this error, in the per-request era."""
    return _STATUS.get(code, 200)


def primes(version: str) -> bool:
    """Whether a stream begins with an event that has nothing but an id.

    Source: 2025-11-25 basic/transports, "Sending Messages to the Server".
    """
    return version in _PRIMED
