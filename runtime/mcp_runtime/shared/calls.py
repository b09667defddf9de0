"""Calls and sessions as hooks see them: for telemetry, metrics and audit logs.

A hook gets a `Call`, or the `Link` of a session, and returns a context manager: it is entered in
the task of the call before anything else, and left when the outcome is known. A hook cannot change
an answer, and its exceptions are logged.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Literal, Protocol, TypeAlias, cast

from mcp_runtime.core.session.events import Called
from mcp_runtime.core.terms.translation import Terms
from mcp_runtime.core.wire.jsonrpc import Id
from mcp_runtime.revisions import UNSET, DecodeError, EncodeError, parse
from mcp_runtime.revisions import latest as t
from mcp_runtime.shared.request_headers import Headers, current_headers

log: Final = logging.getLogger("mcp_runtime")

Role: TypeAlias = Literal["client", "server"]
Transport: TypeAlias = Literal["http", "stream"]


def _nothing() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Link:
    """A session with a peer, as one side sees it. A `stream` is stdio, or a wire of your own.

    `session_id` is empty where the transport has none. `address` is the host and the port that a
    client has connected to, None on a stream and on a server.
    """

    role: Role
    revision: str
    transport: Transport
    session_id: str = ""
    address: tuple[str, int | None] | None = None


@dataclass(slots=True, eq=False)
class Call:
    """One request, which this side has `received` or has `sent`.

    `params` is the JSON of the request. A hook that is entered for a sent request may set `meta`,
    members for its `_meta`, and `headers` for its HTTP request; a received request has the headers
    that it came with. `result`, a model, or `error` is set when the hook is left.
    """

    link: Link
    direction: Literal["received", "sent"]
    method: str
    params: Mapping[str, Any]
    id: Id | None = None
    headers: Mapping[str, str] = field(default_factory=_nothing)
    meta: Mapping[str, Any] = field(default_factory=_nothing)
    result: Any = UNSET
    error: BaseException | None = None

    def with_meta(self, params: Any) -> Any:
        """Return `params` with the members of `meta` in its `_meta`.

        Absent params, and a model of an older revision, are returned as they are.
        """
        kind: Any = params.__class__
        if not self.meta or (kind is not dict and kind.__module__ != t.__name__):
            return params
        meta = {**self.params.get("_meta", {}), **self.meta}
        wire: Any = {**self.params, "_meta": meta}
        return wire if params.__class__ is dict else cast("Any", t.from_wire(kind, wire))


OnCall: TypeAlias = Callable[[Call], AbstractContextManager[object]]
OnSession: TypeAlias = Callable[[Link], AbstractContextManager[object]]


class Linked(Protocol):
    """The part of a connection that a `Link` tells."""

    role: Role
    transport: Transport

    @property
    def session_id(self) -> str: ...
    @property
    def address(self) -> tuple[str, int | None] | None: ...


def link(connection: Linked, terms: Terms | None) -> Link:
    """Return the link of a connection; its revision is empty before the session is open."""
    revision = "" if terms is None else terms.translation.revision.name
    where = connection.transport, connection.session_id, connection.address
    return Link(connection.role, revision, *where)


def incoming_call(connection: Linked, called: Called) -> Call:
    """Return the call of a request of the peer, whose params were not decoded yet."""
    headers, params = Headers(current_headers()), _json(called.params)
    where = link(connection, called.terms)
    return Call(where, "received", called.method, params, called.id, headers)


def outgoing_call(connection: Linked, terms: Terms | None, method: str, params: Any) -> Call:
    """Return the call of a request of ours, which has no id yet."""
    return Call(link(connection, terms), "sent", method, _wire(params))


def _json(raw: bytes) -> Mapping[str, Any]:
    """Return the object in `raw`; an empty one for other JSON, and for a text that is none."""
    try:
        value = parse(raw) if raw else None
    except DecodeError:
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _wire(params: Any) -> Mapping[str, Any]:
    if params is UNSET:
        return {}
    try:
        return cast("Mapping[str, Any]", t.to_wire(params))
    except EncodeError:  # which the request will raise
        return {}


class Watch:
    """The entered hooks of one call or session. A hook that fails is logged and left out."""

    __slots__ = ("_entered",)

    def __init__(self, hooks: Iterable[Callable[[Any], Any]], subject: Any) -> None:
        entered = [_enter(hook, subject) for hook in hooks]
        self._entered = tuple(each for each in entered if each is not None)

    def leave(self) -> None:
        """Leave the hooks, the last one first."""
        for entered in reversed(self._entered):
            try:
                entered.__exit__(None, None, None)
            except Exception:
                log.exception("a hook failed as it was left")
        self._entered = ()


def _enter(hook: Callable[[Any], Any], subject: Any) -> AbstractContextManager[object] | None:
    try:
        manager: AbstractContextManager[object] = hook(subject)
        manager.__enter__()
    except Exception:
        log.exception("a hook failed as it was entered")
        return None
    return manager
