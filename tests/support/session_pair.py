"""Opens both roles of a session in any revision, and makes their events comparable."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count, pairwise
from typing import Any, Final

from mcp_runtime.core.session.client_session import ClientSession
from mcp_runtime.core.session.events import (
    Answered,
    Called,
    Event,
    Failed,
    Opened,
    Progressed,
    Write,
)
from mcp_runtime.core.session.held import OF_PROCESS
from mcp_runtime.core.session.server_session import ServerSession
from mcp_runtime.core.session.session import Session
from mcp_runtime.core.terms.negotiation import ClientOffer, ServerOffer
from mcp_runtime.limits import DEFAULT, Limits
from mcp_runtime.revisions import ALL, revision
from mcp_runtime.revisions import latest as t

INFO: Final = t.Implementation(name="a peer", version="1")
CAPABILITIES: Final[dict[str, Any]] = {"roots": {}, "sampling": {}, "elicitation": {}}
HANDSHAKE: Final = tuple(name for name in ALL if revision(name).era == "handshake")
NEWEST: Final = ALL[-1]


def server_session(spoken: str | None, limits: Limits = DEFAULT, **more: Any) -> ServerSession:
    """A server's side that has agreed on a revision; None: nothing was said yet."""
    capabilities = t.ServerCapabilities(
        tools=t.ServerCapabilitiesTools(list_changed=True),
        resources=t.ServerCapabilitiesResources(list_changed=True, subscribe=True),
        logging={},
    )
    offer = ServerOffer(info=INFO, capabilities=capabilities, **more)
    session = ServerSession(lambda: offer, next_id=count(1).__next__, limits=limits)
    if spoken in HANDSHAKE:
        events = receive(session, request("opens", "initialize", initialize(spoken)))
        assert [message["id"] for message in written(events)] == ["opens"]
        receive(session, notification("notifications/initialized"))
    return session


def client_session(spoken: str, limits: Limits = DEFAULT) -> ClientSession:
    """A client's side that has agreed on a revision."""
    session = newborn(spoken, limits=limits)
    opening = json.loads(session.open(0.0))
    answer = answered(opening["id"], _welcome(spoken))
    assert any(isinstance(event, Opened) for event in receive(session, answer))
    return session


def newborn(*revisions: str, limits: Limits = DEFAULT) -> ClientSession:
    """A client's side that has said nothing yet."""
    offer = ClientOffer(
        info=INFO,
        revisions=revisions or ALL,
        capabilities=t.from_wire(t.ClientCapabilities, CAPABILITIES),
        roots_change=True,
    )
    return ClientSession(offer, next_id=count(1).__next__, limits=limits)


def _welcome(spoken: str) -> dict[str, Any]:
    info = {"name": "a peer", "version": "1"}
    if spoken in HANDSHAKE:
        return {
            "protocolVersion": spoken,
            "capabilities": {"tools": {}, "logging": {}},
            "serverInfo": info,
        }
    return {
        "resultType": "complete",
        "supportedVersions": [spoken],
        "capabilities": {"tools": {}},
        "ttlMs": 0,
        "cacheScope": "private",
    }


def initialize(spoken: str) -> dict[str, Any]:
    info = {"name": "a peer", "version": "1"}
    return {"protocolVersion": spoken, "capabilities": {}, "clientInfo": info}


# ---- frames


def frame(**members: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **members}).encode()


def request(id: Any, method: str, params: Any = None) -> bytes:
    return frame(id=id, method=method, **({} if params is None else {"params": params}))


def notification(method: str, params: Any = None) -> bytes:
    return frame(method=method, **({} if params is None else {"params": params}))


def answered(id: Any, result: Any) -> bytes:
    return frame(id=id, result=result)


def refused(id: Any, code: int = -32603) -> bytes:
    return frame(id=id, error={"code": code, "message": "no"})


def cancelled(id: Any) -> bytes:
    return notification("notifications/cancelled", {"requestId": id})


def with_meta(spoken: str | None, params: Mapping[str, Any], token: Any = None) -> dict[str, Any]:
    """The params of a request as that revision has them."""
    meta: dict[str, Any] = {} if token is None else {"progressToken": token}
    if spoken == NEWEST:
        meta["io.modelcontextprotocol/protocolVersion"] = spoken
        meta["io.modelcontextprotocol/clientCapabilities"] = {}
    return {**params, "_meta": meta} if meta else dict(params)


# ---- what comes of them


def held_by_process() -> int:
    """Bytes that the process holds for its peers, less what only garbage of other tests holds."""
    gc.collect()
    return OF_PROCESS.count


def receive(session: Session, message: bytes, now: float = 0.0) -> list[Event]:
    return list(session.receive(message + b"\n", now))


def writes(events: Iterable[Event]) -> list[bytes]:
    return [event.data for event in events if isinstance(event, Write)]


def written(events: Iterable[Event]) -> list[Any]:
    """What is to be sent, parsed."""
    return [json.loads(data) for data in writes(events)]


def of(kind: type, events: Iterable[Event]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def codes(events: Iterable[Event]) -> list[Any]:
    return [message["error"]["code"] for message in written(events)]


def shown(event: Event) -> tuple[Any, ...]:
    """What can be compared of an event."""
    match event:
        case Called(id=id, method=method, params=params):
            return "called", id, method, params
        case Opened(terms=terms):
            return "opened", terms.translation.revision.name
        case Answered(sent=sent, result=result):
            return "answered", sent.id, t.encode(result)
        case Failed(sent=sent, error=error):
            return "failed", sent.id, repr(error)
        case Progressed(sent=sent, params=params):
            return "progressed", sent.id, params.progress
        case _:
            return type(event).__name__, repr(event)


def cut(stream: bytes, places: Sequence[int]) -> Iterator[bytes]:
    """The stream in pieces that end at these places."""
    edges = [0, *sorted(places), len(stream)]
    for start, end in pairwise(edges):
        yield stream[start:end]
