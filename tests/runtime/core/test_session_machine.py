"""Two sessions, and each beside a peer that keeps no rule: ids, answers and cancellations."""

from __future__ import annotations

import json
from collections.abc import Collection
from math import inf
from typing import Any, ClassVar, Final

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from mcp_runtime.core.session.client_session import ClientSession
from mcp_runtime.core.session.events import (
    Answered,
    Called,
    Cancelled,
    Event,
    Failed,
    Progressed,
    Write,
)
from mcp_runtime.core.session.pending import Timeout
from mcp_runtime.core.session.server_session import ServerSession
from mcp_runtime.core.session.session import Session
from mcp_runtime.revisions import ALL, UNSET
from mcp_runtime.revisions import latest as t
from tests.support.session_pair import (
    HANDSHAKE,
    answered,
    cancelled,
    client_session,
    newborn,
    notification,
    of,
    refused,
    request,
    server_session,
    with_meta,
    writes,
)

IDS: Final = (0, "0", "", -1, "-1", 1, "1", 2, 3, 2**53, 2**53 + 1, 2**64, "é\u2028", "x" * 1000)
ids = st.sampled_from(IDS)
data = st.data()
PATIENCE: Final = 10.0
TOOLS: Final = t.ListToolsResult(tools=[], ttl_ms=0, cache_scope="private", result_type="complete")
ROOTS: Final = t.ListRootsResult(roots=[])


def key(id: Any) -> tuple[str, Any]:
    return type(id).__name__, id


class Hostile(RuleBasedStateMachine):
    """One session. What the peer says and what we do come in any order, under any id."""

    role: ClassVar[str]
    spoken: ClassVar[str]

    @initialize()
    def begin(self) -> None:
        self.session: Session = (
            server_session(self.spoken) if self.role == "server" else client_session(self.spoken)
        )
        self.is_shaken = self.spoken in HANDSHAKE
        self.serves = self.role == "server" or self.is_shaken
        self.asks = self.role == "client" or self.is_shaken
        self.now = 0.0
        self.running: dict[tuple[str, Any], Any] = {}
        self.open: dict[Any, str | None] = {}
        self.used: set[Any] = set()
        self.reported: dict[tuple[str, Any], float] = {}

    def hear(self, message: bytes) -> list[Event]:
        return list(self.session.receive(message + b"\n", self.now))

    def sent(self, events: list[Event]) -> list[Any]:
        return [json.loads(data) for data in writes(events)]

    def id_of(self, data: st.DataObject, known: Collection[Any]) -> Any:
        """One that is known, as often as one that need not be."""
        if known and data.draw(st.booleans()):
            return data.draw(st.sampled_from(list(known)))
        return data.draw(ids)

    # ---- the peer asks

    @property
    def method(self) -> str:
        return "tools/list" if self.role == "server" else "sampling/createMessage"

    @rule(id=ids, token=st.sampled_from((None, 0, "", "t", -1)))
    def peer_asks(self, id: Any, token: Any) -> None:
        params = {} if self.role == "server" else {"messages": [], "maxTokens": 1}
        events = self.hear(request(id, self.method, with_meta(self.spoken, params, token)))
        if not self.serves:
            assert not of(Called, events) + writes(events)
        elif key(id) in self.running:
            (answer,) = self.sent(events)
            assert (key(answer["id"]), answer["error"]["code"]) == (key(id), -32600)
        else:
            (called,) = events
            assert isinstance(called, Called)
            assert key(called.id) == key(id)
            self.running[key(id)] = called
            self.reported.pop(key(id), None)

    @rule(id=ids, method=st.sampled_from(("nope", "ping", "tools/call", "roots/list", "")))
    def peer_asks_what_is_answered_at_once(self, id: Any, method: str) -> None:
        if method in {"tools/call", "roots/list"}:
            return self.peer_asks_badly(id)
        events = self.hear(request(id, method, with_meta(self.spoken, {})))
        assert not of(Called, events)
        answers = self.sent(events)
        assert [key(answer["id"]) for answer in answers] == ([key(id)] if self.serves else [])
        return None

    def peer_asks_badly(self, id: Any) -> None:
        answers = self.sent(self.hear(request(id, self.method, [])))
        assert [key(answer["id"]) for answer in answers] == ([key(id)] if self.serves else [])
        assert all("error" in answer for answer in answers)

    @rule(data=data)
    def peer_cancels(self, data: st.DataObject) -> None:
        id = self.id_of(data, self.session.running)
        events = self.hear(cancelled(id))
        assert writes(events) == []
        gave_up = self.running.pop(key(id), None)
        assert [key(event.id) for event in of(Cancelled, events)] == ([key(id)] if gave_up else [])

    @rule(data=data)
    def we_answer(self, data: st.DataObject) -> None:
        id = self.id_of(data, self.session.running)
        answer = self.session.refuse(id, 5, "no") if data.draw(st.booleans()) else self.result(id)
        if self.running.pop(key(id), None) is None:
            assert answer == b""
        else:
            assert key(json.loads(answer)["id"]) == key(id)

    def result(self, id: Any) -> bytes:
        result: Any = TOOLS
        if self.role == "client":
            content = t.TextContent(text="")
            result = t.CreateMessageResult(role="assistant", content=content, model="m")
        return self.session.answer(id, result)

    @rule(data=data, progress=st.integers(-2, 5))
    def we_report(self, data: st.DataObject, progress: float) -> None:
        id = self.id_of(data, self.session.running)
        called = self.running.get(key(id))
        notification = self.session.report(id, progress)
        if called is None or called.terms.token is None:
            assert notification == b""
            return
        last = self.reported.get(key(id), -inf)
        assert bool(notification) == (progress > last)
        if notification:
            self.reported[key(id)] = progress
            assert key(json.loads(notification)["params"]["progressToken"]) == key(
                called.terms.token
            )

    # ---- we ask

    @precondition(lambda self: self.asks)
    @rule(token=st.sampled_from((None, 0, "", "t", "0")))
    def we_ask(self, token: Any) -> None:
        if token is not None and token in self.open.values():
            with pytest.raises(ValueError, match="progress token"):
                self.ask(token)
            return
        sent, data = self.ask(token)
        assert json.loads(data)["id"] == sent.id
        assert sent.id not in self.used
        self.used.add(sent.id)
        self.open[sent.id] = token

    def ask(self, token: Any) -> Any:
        method, params = "ping", UNSET
        if isinstance(self.session, ClientSession):
            method = "tools/list"
            params = t.PaginatedRequestParams(meta=self.session.meta(token=token))
        timeout = Timeout(PATIENCE)
        return self.session.call(method, params, now=self.now, timeout=timeout, token=token)

    def result_of_ours(self) -> dict[str, Any]:
        if self.role == "server":
            return {}
        return {"tools": [], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}

    @rule(data=data, kind=st.sampled_from(("good", "bad", "error", "both", "no text")))
    def peer_answers(self, data: st.DataObject, kind: str) -> None:
        id = self.id_of(data, self.open)
        message = {
            "good": answered(id, self.result_of_ours()),
            "bad": answered(id, 5),
            "error": refused(id),
            "both": answered(id, {})[:-1] + b',"error":{"code":1,"message":""}}',
            "no text": answered(id, {})[:-1] + b',"result":"\xff"}',
        }[kind]
        events = self.hear(message)
        assert writes(events) == []
        settled = [event.sent.id for event in of((Answered, Failed), events)]
        assert settled == ([id] if self.is_open(id) else [])
        if self.is_open(id):
            assert isinstance(events[0], Answered if kind == "good" else Failed)
            del self.open[id]

    def is_open(self, id: Any) -> bool:
        return any(key(id) == key(other) for other in self.open)

    @rule(token=st.sampled_from((0, "0", "", "t", 5)), progress=st.floats(-1, 3))
    def peer_reports(self, token: Any, progress: float) -> None:
        params = {"progressToken": token, "progress": progress}
        events = self.hear(notification("notifications/progress", params))
        assert writes(events) == []
        ids = [event.sent.id for event in of(Progressed, events)]
        assert ids in ([], [id for id, of_it in self.open.items() if key(of_it) == key(token)])

    @rule(data=data)
    def we_cancel(self, data: st.DataObject) -> None:
        id = self.id_of(data, self.open)
        was_open = self.is_open(id)
        data = self.session.cancel(id, "because")
        assert bool(data) == was_open
        if was_open:
            del self.open[id]
            assert key(json.loads(data)["params"]["requestId"]) == key(id)

    @rule(seconds=st.floats(0, PATIENCE * 1.5))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds
        events = self.session.expire(self.now)
        late = [event.sent.id for event in of(Failed, events)]
        assert [message["params"]["requestId"] for message in self.sent(events)] == late
        for id in late:
            del self.open[id]

    @rule(
        text=st.sampled_from((b"[]", b"{}", b"nonsense", b'{"jsonrpc":"2.0","id":1}', b"\xff", b""))
    )
    def peer_talks_nonsense(self, text: bytes) -> None:
        events = self.hear(text)
        assert all("error" in message for message in self.sent(events))
        assert not of(Called, events)

    @rule(method=st.sampled_from(("notifications/nope", "tools/list", "ping", "")))
    def peer_notifies(self, method: str) -> None:
        events = self.hear(notification(method, with_meta(self.spoken, {})))
        assert not of((Called, Write), events)

    # ---- what always holds

    @invariant()
    def the_tables_are_what_was_said(self) -> None:
        assert {key(id) for id in self.session.running} == self.running.keys()
        assert len(self.session.pending) == len(self.open)

    def teardown(self) -> None:
        if not hasattr(self, "session"):
            return
        if self.serves:
            assert (
                len(self.sent(self.hear(request("alive", "nope", with_meta(self.spoken, {}))))) == 1
            )
        events = self.session.lost()
        assert {key(event.id) for event in of(Cancelled, events)} == self.running.keys()
        assert {event.sent.id for event in of(Failed, events)} == self.open.keys()
        assert not self.session.running
        assert len(self.session.pending) == 0
        assert self.session.pending.due is None


class Both(RuleBasedStateMachine):
    """A client and a server; bytes arrive in pieces, as late as may be."""

    spoken: ClassVar[str]

    @initialize()
    def begin(self) -> None:
        self.server: ServerSession = server_session(None)
        self.client: ClientSession = newborn(self.spoken)
        self.wires = {"to server": bytearray(), "to client": bytearray()}
        self.called: dict[str, dict[Any, Called]] = {"server": {}, "client": {}}
        self.outcomes: dict[tuple[str, Any], int] = {}
        self.post("server", self.client.open(0.0))
        self.settle()
        assert self.client.agreed is not None

    def post(self, to: str, data: bytes) -> None:
        if data:
            self.wires[f"to {to}"] += data + b"\n"

    def deliver(self, to: str, count: int) -> None:
        wire = self.wires[f"to {to}"]
        chunk = bytes(wire[:count])
        del wire[:count]
        session: Session = self.server if to == "server" else self.client
        for event in session.receive(chunk, 0.0):
            self.record(to, event)

    def record(self, side: str, event: Event) -> None:
        other = {"server": "client", "client": "server"}[side]
        match event:
            case Write(data=data):
                self.post(other, data)
            case Called(id=id):
                assert id not in self.called[side]
                self.called[side][id] = event
            case Cancelled(id=id):
                del self.called[side][id]
            case Answered(sent=sent) | Failed(sent=sent):
                self.outcomes[side, sent.id] += 1
            case _:
                pass

    def settle(self) -> None:
        while any(self.wires.values()):
            for to in ("server", "client"):
                self.deliver(to, 1 << 20)

    @rule(to=st.sampled_from(("server", "client")), count=st.integers(1, 400))
    def bytes_arrive(self, to: str, count: int) -> None:
        self.deliver(to, count)

    @rule()
    def the_client_asks(self) -> None:
        params = t.PaginatedRequestParams(meta=self.client.meta())
        sent, data = self.client.call("tools/list", params, now=0.0)
        self.outcomes["client", sent.id] = 0
        self.post("server", data)

    @rule()
    def the_server_asks(self) -> None:
        if self.spoken in HANDSHAKE and self.server.state.value == "open":
            sent, data = self.server.call("roots/list", UNSET, now=0.0)
            self.outcomes["server", sent.id] = 0
            self.post("client", data)

    @rule(side=st.sampled_from(("server", "client")), number=st.integers(0, 50))
    def one_answers(self, side: str, number: int) -> None:
        waiting = list(self.called[side])
        if waiting:
            id = waiting[number % len(waiting)]
            del self.called[side][id]
            session: Session = self.server if side == "server" else self.client
            data = session.answer(id, TOOLS if side == "server" else ROOTS)
            self.post("client" if side == "server" else "server", data)

    @rule(side=st.sampled_from(("server", "client")), number=st.integers(0, 50))
    def one_gives_up(self, side: str, number: int) -> None:
        asked = [id for of_side, id in self.outcomes if of_side == side]
        if asked:
            id = asked[number % len(asked)]
            session: Session = self.server if side == "server" else self.client
            data = session.cancel(id)
            self.outcomes[side, id] += bool(data)
            self.post("client" if side == "server" else "server", data)

    @invariant()
    def each_request_has_one_outcome_at_most(self) -> None:
        assert all(count <= 1 for count in self.outcomes.values())

    def teardown(self) -> None:
        if not hasattr(self, "client"):
            return
        self.settle()
        for side in ("server", "client"):
            while self.called[side]:
                self.one_answers(side, 0)
        self.settle()
        assert all(count == 1 for count in self.outcomes.values())
        for session in (self.server, self.client):
            assert not session.running
            assert len(session.pending) == 0


HOSTILE: Final = [(role, spoken) for role in ("server", "client") for spoken in ALL]


def run(machine: type[RuleBasedStateMachine], **members: Any) -> None:
    case = type(machine.__name__, (machine,), members).TestCase
    case.settings = settings(max_examples=examples(), stateful_step_count=50)
    case().runTest()


def examples() -> int:
    """A tenth of the profile's, for each example is a whole session."""
    return max(settings().max_examples // 10, 15)


@pytest.mark.drawn
@pytest.mark.parametrize(("role", "spoken"), HOSTILE)
@pytest.mark.requirement(
    "cancel.in-progress",
    "cancel.same-direction",
    "jsonrpc.notification.no-response",
    "progress.active-only",
    "progress.increases",
    "progress.stops",
    "progress.token.type",
)
def test_a_session_keeps_the_rules_beside_a_peer_that_keeps_none(role: str, spoken: str) -> None:
    run(Hostile, role=role, spoken=spoken)


@pytest.mark.drawn
@pytest.mark.parametrize("spoken", ALL)
@pytest.mark.requirement("cancel.race")
def test_two_sessions_settle_every_request_once(spoken: str) -> None:
    run(Both, spoken=spoken)
