"""Reads single members of a body before its revision is known; other members stay undecoded.

Functions raise the errors of `jsonrpc.UNREADABLE`, unless their docstring names another result.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, field

from mcp_runtime.core.wire.jsonrpc import UNREADABLE, Id
from mcp_runtime.core.wire.text_repairs import repair


class RequestMeta(Struct):
    """The members of a request's `_meta` which the session reads.

    In the handshake era the last four names are reserved, and their values have no meaning.
    """

    progress_token: Id | UnsetType = field(default=UNSET, name="progressToken")
    protocol_version: Any = field(default=UNSET, name="io.modelcontextprotocol/protocolVersion")
    client_info: Any = field(default=UNSET, name="io.modelcontextprotocol/clientInfo")
    client_capabilities: Any = field(
        default=UNSET, name="io.modelcontextprotocol/clientCapabilities"
    )
    log_level: Any = field(default=UNSET, name="io.modelcontextprotocol/logLevel")


class Cancellation(Struct):
    """The params of `notifications/cancelled`."""

    request_id: Id = field(name="requestId")
    reason: str = ""


class RequestParams(Struct):
    """The params read for any request, by the session and for HTTP headers; `arguments` is JSON."""

    meta: RequestMeta = field(default_factory=RequestMeta, name="_meta")
    name: Any = None
    uri: Any = None
    arguments: Raw = Raw(b"null")


class SessionParams(Struct):
    """The params read for any message, as a type for its repair."""

    meta: RequestMeta | UnsetType = field(default=UNSET, name="_meta")


class _VersionMeta(Struct):
    protocol_version: Any = field(default=None, name="io.modelcontextprotocol/protocolVersion")


class _VersionParams(Struct):
    meta: _VersionMeta | None = field(default=None, name="_meta")


class HttpMessage(Struct):
    """The members by which an HTTP server chooses the session of a message."""

    method: str = ""
    params: _VersionParams | None = None

    @property
    def names_version(self) -> bool:
        """True if `_meta` names a revision, as in each request of the per-request era."""
        meta = None if self.params is None else self.params.meta
        return meta is not None and meta.protocol_version is not None


request_params: Final = msgspec.json.Decoder(RequestParams).decode
"""Read the params of any request."""


cancellation: Final = msgspec.json.Decoder(Cancellation).decode
"""Read the params of `notifications/cancelled`."""


def protocol_version(body: bytes) -> str:
    """Return the revision named by params or result of `initialize`; empty for none."""
    return _initialize.decode(body).protocol_version


def proposed_version(body: bytes) -> str:
    """Return the result of `protocol_version`; empty if it raises."""
    with suppress(*UNREADABLE):
        return protocol_version(body)
    return ""


def named_version(params: bytes) -> object:
    """Return the revision named by the `_meta` of params; None if absent or unreadable."""
    with suppress(*UNREADABLE):
        meta = _named.decode(params).meta
        return None if meta is None else meta.protocol_version
    return None


def supported_versions(data: bytes) -> list[str]:
    """Return the revisions named by the data of an error; none if unreadable."""
    with suppress(*UNREADABLE):
        return _error_data.decode(data).supported
    return []


def http_message(body: bytes) -> HttpMessage:
    """Read the body of a POST, repaired if needed; an unreadable body has no method."""
    with suppress(*UNREADABLE):
        return _message.decode(body)
    with suppress(*UNREADABLE):
        return _message.decode(repair(body))
    return HttpMessage()


ANOTHER: Final = object()
"""The result of `response_id` for a message other than a response."""


def response_id(head: bytes, tail: bytes | None) -> Id | object | None:
    """Return the id of the request answered by a message with more bytes than the limit.

    `head` is its beginning, `tail` its end, None before it has come. None if they do not show the
    id.
    """
    members = _first_members(head)
    if members is None or b"method" in members:
        return ANOTHER
    return _id_of(members, tail)


def request_id(head: bytes, tail: bytes | None, *, needs_id: bool) -> tuple[Id | None, bool]:
    """Return the id of a message with more bytes than the limit, and whether to report it now.

    A message is reported once: at its beginning, or with `tail`, its end, if the id is needed and
    only there.
    """
    members = _first_members(head)
    if members is None or b"result" in members or b"error" in members:
        return None, not needs_id and tail is None
    early = _id_of(members, None)
    if tail is None:
        return early, early is not None or not needs_id
    late = _id_of(members, tail) if early is None and needs_id else None
    return late, late is not None


def _first_members(head: bytes) -> dict[bytes, bytes] | None:
    """Return the short first members, and the name of the next one; None for another value."""
    members: dict[bytes, bytes] = {}
    if (start := _START.match(head)) is None:
        return None
    at: re.Match[bytes] | None = start if start[1] == b"{" else None
    while at is not None and (member := _MEMBER.match(head, at.end())):
        members[member[1]] = member[2]
        at = _COMMA.match(head, member.end())
    if at is not None and (long := _NAME.match(head, at.end())):
        members[long[1]] = b""
    return members


def _id_of(members: dict[bytes, bytes], tail: bytes | None) -> Id | None:
    raw = members.get(b"id")
    if raw is None and tail is not None and (last := _LAST.search(tail)):
        raw = last[1]
    with suppress(*UNREADABLE):
        return None if raw is None else _id.decode(raw)
    return None


_STRING: Final = rb'"(?:[^"\\]|\\.){0,256}+"'
_NUMBER: Final = rb"-?[0-9]{1,32}+"
_START: Final = re.compile(rb"\s*([{\[])")
_MEMBER: Final = re.compile(rb'\s*"(\w{1,32})"\s*:\s*(%b|%b)(?=\s*[,}])' % (_STRING, _NUMBER))
_NAME: Final = re.compile(rb'\s*"(\w{1,32})"\s*:')
_COMMA: Final = re.compile(rb"\s*,")
# The last member of the whole message: only the closing brace comes after it.
_LAST: Final = re.compile(rb'[{,]\s*"id"\s*:\s*(%b|%b)\s*\}\s*\Z' % (_STRING, _NUMBER))
_id: Final[msgspec.json.Decoder[Id]] = msgspec.json.Decoder(Id)


class _Initialize(Struct):
    protocol_version: str = field(default="", name="protocolVersion")


class _ErrorData(Struct):
    supported: list[str] = []


_initialize: Final = msgspec.json.Decoder(_Initialize)
_error_data: Final = msgspec.json.Decoder(_ErrorData)
_named: Final = msgspec.json.Decoder(_VersionParams)
_message: Final = msgspec.json.Decoder(HttpMessage)
