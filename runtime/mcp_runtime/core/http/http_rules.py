"""The rules of HTTP as pure functions: allowed hosts, era, status.

Source: 2026-07-28 and 2025-11-25 basic/transports, "Streamable HTTP"; RFC 9110.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from mcp_runtime.core.wire import error_codes, jsonrpc, peek
from mcp_runtime.revisions import ALL, revision

JSON: Final = "application/json"
EVENT_STREAM: Final = "text/event-stream"
VERSION: Final = "mcp-protocol-version"
LOOPBACK: Final = ("localhost", "127.0.0.1", "[::1]")
_LONGEST_HOST: Final = 300
"""No host name with its port has so many characters."""

_PER_REQUEST: Final = frozenset(name for name in ALL if revision(name).era == "per-request")
_NAMES: Final = b"io.modelcontextprotocol/protocolVersion"
_HOST: Final = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::(?P<port>[0-9]{1,5}))?")
_ORIGIN: Final = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<host>[^/?#@\s]+)", re.IGNORECASE)
_WEB: Final = frozenset({"http", "https"})
_RANGE: Final = re.compile(r'(?:[^,"]|"(?:\\.?|[^"\\])*+"?)++', re.DOTALL)
_PARAMETER: Final = re.compile(r';((?:[^;"]|"(?:\\.?|[^"\\])*+"?)*+)', re.DOTALL)
_NEVER: Final = re.compile(r"\s*q=0(?:\.0*)?\s*", re.IGNORECASE)
_STATUS: Final[Mapping[int, int]] = {
    error_codes.PARSE_ERROR: 400,
    error_codes.INVALID_REQUEST: 400,
    error_codes.METHOD_NOT_FOUND: 404,
    error_codes.HEADER_MISMATCH: 400,
    error_codes.MISSING_CLIENT_CAPABILITY: 400,
    error_codes.UNSUPPORTED_VERSION: 400,
    error_codes.BUSY: 503,
}


# ---- hosts


@dataclass(frozen=True, slots=True)
class Hosts:
    """The hosts allowed in `Host` and `Origin`, with a port or without; `*` allows all.

    Protects a server against web pages whose host names point at it (DNS rebinding). Raises
    ValueError for an invalid host or origin.
    """

    hosts: Collection[str] = LOOPBACK
    origins: Collection[str] = ()

    def __post_init__(self) -> None:
        for name in self.hosts:
            if name != "*" and _split(name) is None:
                raise ValueError(f"{name!r} is not a host, such as example.com, [::1]:8000 or *")
        for name in self.origins:
            if name not in ("*", "null") and not _ORIGIN.fullmatch(name):
                raise ValueError(f"{name!r} is not an origin, such as https://example.com or *")
        object.__setattr__(self, "hosts", frozenset(map(_plain_host, self.hosts)))
        object.__setattr__(self, "origins", frozenset(map(str.lower, self.origins)))

    def admits_host(self, header: str | None) -> bool:
        return "*" in self.hosts or (header is not None and self._admits(header))

    def admits_origin(self, header: str | None) -> bool:
        """True if an origin may connect, by itself or by its host, or if there is no header.

        Only web pages have an `Origin`.
        """
        if header is None or "*" in self.origins or header.lower() in self.origins:
            return True
        match = _ORIGIN.fullmatch(header.lower())
        return match is not None and match["scheme"] in _WEB and self._admits(match["host"])

    def _admits(self, text: str) -> bool:
        parts = _split(text) if len(text) <= _LONGEST_HOST else None
        return parts is not None and (parts[0] in self.hosts or ":".join(parts) in self.hosts)


@lru_cache(32)
def _split(text: str) -> tuple[str, str] | None:
    """Return the name and the port of a host, the port empty for none; None for an invalid host."""
    match = _HOST.fullmatch(text.lower())
    return None if match is None else (match["name"].removesuffix("."), match["port"] or "")


def _plain_host(text: str) -> str:
    parts = _split(text)
    return text if parts is None else ":".join(parts).removesuffix(":")


# ---- media types


def media_type(header: str | None) -> str:
    """Return a media type without its parameters, in lower case; empty for none."""
    return (header or "").partition(";")[0].strip().lower()


def accepts(header: str | None, wanted: str) -> bool:
    """True if an `Accept` header allows a media type, or if there is no header.

    Of several matching ranges the most specific decides. Source: RFC 9110, section 12.5.1.
    """
    if header is None:
        return True
    parts = {media_type(part): part for part in _RANGE.findall(header)}
    ranges = (wanted, f"{wanted.partition('/')[0]}/*", "*/*")
    closest = next((parts[name] for name in ranges if name in parts), None)
    return closest is not None and not _has_zero_quality(closest)


def _has_zero_quality(part: str) -> bool:
    return any(map(_NEVER.fullmatch, _PARAMETER.findall(part)))


# ---- requests


def is_per_request(headers: Mapping[str, str], body: bytes) -> bool:
    """True if the headers or the body name a revision of the per-request era.

    Source: 2026-07-28 basic/versioning, "Backward Compatibility".
    """
    if headers.get(VERSION) in _PER_REQUEST:
        return True
    if _NAMES not in body and b"\\" not in body:  # an escape could hide the name
        return False
    return peek.http_message(body).names_version


# ---- responses


def status(data: bytes, at_once: bool) -> int:
    """Return the HTTP status of a single response of the per-request era.

    `at_once` is True if the session refused the request itself, before any handler.
    """
    if b'"error":{"code":' not in data:
        return 200
    frame = jsonrpc.read(data)
    code = frame.code if isinstance(frame, jsonrpc.ErrorResponse) else 0
    is_unfit = at_once and code == error_codes.INVALID_PARAMS
    return 400 if is_unfit else _STATUS.get(code, 200)


def join_headers(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return headers by name, which is in lower case; repeated headers are joined to one list."""
    headers: dict[str, str] = {}
    for raw_name, raw_value in raw:
        name, value = raw_name.decode("latin-1"), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers
