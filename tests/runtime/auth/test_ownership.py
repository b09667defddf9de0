"""What one person's requests have begun is nothing to another person with a valid token."""

from __future__ import annotations

import asyncio
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from contextvars import Context as Variables
from dataclasses import dataclass
from secrets import token_hex
from typing import Any, Final

import pytest

from mcp_runtime import Context, Server
from mcp_runtime.auth.client.flows.dpop import DpopKey
from mcp_runtime.auth.server.bearer import BearerAuth
from mcp_runtime.auth.server.verifier import InvalidToken, VerifiedToken
from mcp_runtime.limits import Limits
from mcp_runtime.server.decorators import Decorators
from mcp_runtime.server.http.cluster.cluster import Forwarded
from mcp_runtime.stores.memory import MemoryBus, MemoryStore
from tests.runtime.server.http.test_legacy_sse import Old, said_by
from tests.support.asgi_client import (
    SHAKEN,
    Client,
    Headers,
    Response,
    Session,
    request,
)
from tests.support.authorization_server import ISSUER, SERVER

TOKENS: Final = {
    "ann-token": ("ann", "read"),
    "ann-next": ("ann", "read"),
    "ann-writes": ("ann", "read write"),
    "eve-token": ("eve", "read write"),
}


TOKEN_OF_ANN: Final = VerifiedToken(subject="ann", issuer=ISSUER)


class Known:
    """Verifies the tokens of the table."""

    keeps = 0.0

    async def verify(self, token: str, /) -> VerifiedToken:
        if token not in TOKENS:
            raise InvalidToken("the token is not known")
        subject, scopes = TOKENS[token]
        return VerifiedToken(subject=subject, issuer=ISSUER, scopes=frozenset(scopes.split()))


@dataclass
class Confirmed:
    yes: bool


def known() -> BearerAuth:
    return BearerAuth(Known(), issuer=ISSUER, resource=SERVER, scopes=("read",))


def protected(go: asyncio.Event) -> Server:
    server = Server("protected", "1", auth=known())

    @server.tool
    async def whoami(ctx: Context) -> str:
        assert ctx.token is not None
        assert ctx.principal == ctx.token.principal
        return f"{ctx.token.subject} {' '.join(sorted(ctx.token.scopes))}"

    @server.tool
    async def wait(ctx: Context) -> str:
        await ctx.log("error", "begun")
        await go.wait()
        return "a secret of ann"

    @server.tool(scopes=["write"], rerun=True)
    async def publish(ctx: Context) -> str:
        await ctx.log("error", "begun")
        await go.wait()
        assert ctx.token is not None
        return f"{ctx.token.subject} {' '.join(sorted(ctx.token.scopes))}"

    @server.tool
    async def confirm(ctx: Context) -> str:
        return str((await ctx.elicit("sure?", Confirmed)).content)

    @server.tool(scopes=["write"])
    async def change() -> str:
        return "changed"

    return server


class Person(Client):
    """Asks with a token."""

    def __init__(self, app: Any, token: str) -> None:
        super().__init__(app)
        self.token = token

    def begin(self, method: str, path: str, headers: Headers, *more: Any, **scope: Any) -> Response:
        shown = {"authorization": f"Bearer {self.token}", **headers}
        return super().begin(method, path, shown, *more, **scope)


@asynccontextmanager
async def serving(store: MemoryStore | None = None) -> AsyncGenerator[tuple[Any, asyncio.Event]]:
    """An application, and what lets its calls of `wait` end."""
    go = asyncio.Event()
    app = protected(go).asgi(store=store)
    try:
        yield app, go
    finally:
        go.set()
        await app.drain()


@asynccontextmanager
async def people(app: Any, *tokens: str) -> AsyncGenerator[list[Person]]:
    asking = [Person(app, token) for token in tokens]
    try:
        yield asking
    finally:
        for person in asking:
            for response in person.open:
                response.disconnect()
            await asyncio.gather(*(response.task for response in person.open))


def seen_by(person: Client, session: Session) -> Session:
    """The same session, which another person has learned the id of."""
    return Session(person, session.id, session.revision)


def text(response: Response) -> str:
    message = response.messages[-1] if response.is_stream else response.json
    return str(message["result"]["content"][0]["text"])


# ---- sessions

ATTACKS: Final[dict[str, Callable[[Session], Response]]] = {
    "a call": lambda session: session.call("whoami"),
    "a notification": lambda session: session.post(
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    ),
    "a response": lambda session: session.post({"jsonrpc": "2.0", "id": 0, "result": {}}),
    "the stream of the session": lambda session: session.get(),
    "an event stream": lambda session: session.get("1"),
    "its end": lambda session: session.delete(),
}


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("revision", SHAKEN)
async def test_another_person_has_no_use_for_the_id_of_a_session(
    attack: str, revision: str
) -> None:
    async with serving() as (app, go), people(app, "ann-token", "eve-token") as (ann, eve):
        session = await ann.session(revision)
        waiting = await session.call("wait").until_events(1)
        stolen = ATTACKS[attack](seen_by(eve, session))
        assert (await stolen.until_over()).status == 404
        assert b"secret" not in stolen.body
        go.set()
        await waiting.until_over()
        assert text(waiting) == "a secret of ann"
        assert text(await session.call("whoami").until_over()) == "ann read"


async def test_a_newer_token_of_the_same_person_goes_on_with_the_session() -> None:
    async with serving() as (app, _), people(app, "ann-token", "ann-writes") as (ann, newer):
        session = await ann.session()
        again = seen_by(newer, session)
        assert text(await again.call("whoami").until_over()) == "ann read write"
        assert text(await again.call("change").until_over()) == "changed"
        assert (await session.call("change").until_over()).status == 403


async def test_a_batch_asks_for_no_more_than_its_token_may() -> None:
    def called(tool: str, id: int) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool}}

    async with serving() as (app, _), people(app, "ann-token", "ann-writes") as (ann, writer):
        session = await ann.session("2025-03-26")
        batch = [called("whoami", 1), called("change", 2)]
        refused = await session.post(batch).until_over()
        assert (refused.status, b"lacks scope write" in refused.body) == (403, True)
        assert b"changed" not in refused.body
        allowed = await seen_by(writer, session).post(batch).until_over()
        assert b"changed" in allowed.body


async def test_another_person_cannot_resume_an_event_stream() -> None:
    async with serving() as (app, go), people(app, "ann-token", "eve-token") as (ann, eve):
        session = await ann.session()
        waiting = await session.call("wait").until_events(2)
        last = waiting.events[-1].id
        await waiting.drop()
        go.set()
        stolen = await seen_by(eve, session).get(last).until_over()
        assert (stolen.status, b"secret" in stolen.body) == (404, False)
        resumed = await session.get(last).until_over()
        assert text(resumed) == "a secret of ann"


async def test_another_person_cannot_answer_a_question() -> None:
    async with serving() as (app, _), people(app, "ann-token", "eve-token") as (ann, eve):
        session = await ann.session(capabilities={"elicitation": {}})
        asking = await session.call("confirm").until_events(2)
        question = asking.messages[0]["id"]
        result = {"action": "accept", "content": {"yes": True}}
        answer = {"jsonrpc": "2.0", "id": question, "result": result}
        assert (await seen_by(eve, session).post(answer).until_over()).status == 404
        result["content"] = {"yes": False}
        assert (await session.post(answer).until_over()).status == 202
        assert text(await asking.until_over()) == "Confirmed(yes=False)"


async def test_another_person_cannot_post_to_a_session_of_http_with_sse() -> None:
    async with serving() as (app, _), people(app, "ann-token", "eve-token") as (ann, eve):
        old = await Old.connect(ann)
        await old.open()
        thief = Old(eve, old.stream, {})
        assert (await thief.post(request("tools/list"))).status == 404
        answer = await old.ask("tools/call", {"name": "whoami", "arguments": {}}, 7)
        assert answer["result"]["content"][0]["text"] == "ann read"


async def test_no_cache_keeps_what_one_client_was_refused() -> None:
    """A proxy that caches refusals would give them to the owner of the session too."""

    async with serving() as (app, _), people(app, "ann-token", "eve-token", "") as asking:
        ann, eve, nobody = asking
        session = await ann.session()
        for response, status in (
            (seen_by(eve, session).get(), 404),
            (seen_by(nobody, session).get(), 401),
            (ann.begin("GET", "/nothing", {"host": "localhost"}), 404),
            (ann.begin("PUT", "/mcp", {"host": "localhost"}), 405),
        ):
            await response.until_over()
            assert (response.status, response.headers["cache-control"]) == (status, "no-store")


# ---- changes


async def test_another_person_does_not_hear_of_a_change_that_is_for_one() -> None:
    store = shared()
    async with serving(store) as (one, _), serving(store) as (other, _):
        for app in (one, other):
            Decorators(app._service.server).resource("notes://{who}")(lambda who: who)
        async with people(one, "ann-token") as (ann,), people(other, "eve-token") as (eve,):
            heard = list[Response]()
            for person in (ann, eve):
                wanted = {"notifications": {"resourceSubscriptions": ["notes://ann"]}}
                heard.append(person.request("subscriptions/listen", wanted))
                session = await person.session()
                watch = session.request("resources/subscribe", {"uri": "notes://ann"})
                assert (await watch.until_over()).json["result"] == {}
                heard.append(session.get())
                await heard[-2].until_events(1)
                await heard[-1].until_begun()
            updated = one._service.server.resource_updated
            updated("notes://ann", principal=TOKEN_OF_ANN.principal)
            updated("notes://ann")
            counts = [2, 2, 1, 1]  # what is for all comes after what is for one
            for stream, count in zip(heard, counts, strict=True):
                await stream.until(lambda it, count=count: len(_updates(it)) >= count)
            assert [len(_updates(stream)) for stream in heard] == counts


def _updates(stream: Response) -> list[Any]:
    method = "notifications/resources/updated"
    return [message for message in stream.messages if message["method"] == method]


# ---- request states


async def test_another_person_cannot_go_on_with_the_state_of_a_request() -> None:
    async with serving() as (app, _), people(app, "ann-token", "eve-token") as (ann, eve):
        able: dict[str, Any] = {"capabilities": {"elicitation": {}}}
        asked = await ann.call("confirm", **able).until_over()
        result = asked.json["result"] if not asked.is_stream else asked.messages[-1]["result"]
        (key,) = result["inputRequests"]
        answer = {"action": "accept", "content": {"yes": True}}
        more = {"requestState": result["requestState"], "inputResponses": {key: answer}}
        stolen = await eve.call("confirm", more=more, **able).until_over()
        refusal = stolen.messages[-1] if stolen.is_stream else stolen.json
        assert "requestState was not made here" in refusal["error"]["message"]
        assert text(await ann.call("confirm", more=more, **able).until_over()) == (
            "Confirmed(yes=True)"
        )


# ---- processes that share a store


class ElsewhereBus(MemoryBus):
    """Delivers as a bus between processes does: nothing of who published goes along."""

    @asynccontextmanager
    async def subscribed(
        self, topic: str, receive: Callable[[bytes], None]
    ) -> AsyncGenerator[None]:
        async with super().subscribed(topic, lambda data: Variables().run(receive, data)):
            yield


def shared() -> MemoryStore:
    store = MemoryStore()
    store.bus = ElsewhereBus()
    return store


async def test_another_process_knows_whose_a_session_is() -> None:
    store = shared()
    async with serving(store) as (one, _), serving(store) as (other, _):
        async with people(one, "ann-token") as (ann,):
            session = await ann.session()
        async with people(other, "ann-next", "eve-token") as (ann, eve):
            stolen = await seen_by(eve, session).call("whoami").until_over()
            assert stolen.status == 404
            assert text(await seen_by(ann, session).call("whoami").until_over()) == "ann read"


async def test_a_call_that_another_process_handles_has_the_token_of_its_request() -> None:
    store = shared()
    async with (
        serving(store) as (one, _),
        serving(store) as (other, _),
        people(one, "ann-token") as (ann,),
    ):
        old = await Old.connect(ann)
        await old.open()
        async with people(other, "ann-next", "ann-writes", "eve-token") as others:
            elsewhere, writes, eve = (Old(each, old.stream, {}) for each in others)
            call = {"name": "whoami", "arguments": {}}
            answer = await writes.ask("tools/call", call, 7)
            assert answer["result"]["content"][0]["text"] == "ann read write"
            change = {"method": "tools/call", "params": {"name": "change"}}
            denied = await elsewhere.post({"jsonrpc": "2.0", "id": 8, **change})
            assert denied.status == 403
            await eve.post({"jsonrpc": "2.0", "id": 9, **change})
            answer = await writes.ask("tools/call", {**call, "name": "change"}, 10)
            assert answer["result"]["content"][0]["text"] == "changed"
            assert [message["id"] for message in said_by(old.stream)[1:]] == [7, 10]


async def test_a_call_that_is_run_again_has_the_token_of_its_request() -> None:
    store = shared()
    async with serving(store) as (one, _), serving(store) as (other, go):
        async with people(one, "ann-writes") as (ann,):
            session = await ann.session()
            called = await session.call("publish").until_events(2)
            await called.drop()

        async def is_held(name: str) -> bool:
            return name != f"process:{one._cluster.number}"

        store.leases.is_held = is_held
        async with people(other, "ann-next") as (ann,):
            rest = seen_by(ann, session).get(called.events[-1].id)
            await rest.until(lambda rest: rest.messages)
            go.set()
            await rest.until_over()
            assert rest.messages[-1]["result"]["content"][0]["text"] == "ann read write"


async def test_a_forwarded_call_without_a_token_is_not_run(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with serving(shared()) as (app, _), people(app, "ann-token") as (ann,):
        old = await Old.connect(ann)
        await old.open()
        (session,) = app.sse_sessions.values()
        call = b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"change"}}'
        who = session.principal
        message = Forwarded(1, session.id, 1, body=call.decode(), principal=who)
        Variables().run(app._receive_forwarded, message)
        answer = await old.ask("tools/call", {"name": "whoami", "arguments": {}}, 8)
        assert answer["result"]["content"][0]["text"] == "ann read"
        assert [message["id"] for message in said_by(old.stream)[1:]] == [8]
    assert "a token is needed" in caplog.text


class Bound(Known):
    """Knows one token, which is bound to a key."""

    def __init__(self, key: DpopKey) -> None:
        self.key = key

    async def verify(self, token: str, /) -> VerifiedToken:
        return VerifiedToken(subject="ann", issuer=ISSUER, key_thumbprint=self.key.thumbprint)


def otherwise(proof: str) -> str:
    """The same proof with another signature of ES256, which anyone can make of the first."""
    order = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
    signed, _, signature = proof.rpartition(".")
    raw = urlsafe_b64decode(signature + "==")
    raw = raw[:32] + (order - int.from_bytes(raw[32:], "big")).to_bytes(32, "big")
    return f"{signed}.{urlsafe_b64encode(raw).rstrip(b'=').decode()}"


@pytest.mark.parametrize(("tasks", "statuses"), [(1, [200, 401, 200]), (0, [200, 200, 200])])
async def test_a_proof_is_taken_once_by_all_processes(tasks: int, statuses: list[int]) -> None:
    """The signature is written in another way the second time: the proof is still the same."""

    key, store = DpopKey(now=time.time, draw=token_hex), MemoryStore(Limits(tasks=tasks))
    apps = [
        Server(
            "s", "1", auth=BearerAuth(Bound(key), issuer=ISSUER, resource=SERVER, dpop=True)
        ).asgi(store=store, hosts=["mcp.example"])
        for _ in range(2)
    ]
    first, second = (key.proof("POST", SERVER, token="bound") for _ in range(2))
    seen: list[int] = []
    for app, proof in ((apps[0], first), (apps[1], otherwise(first)), (apps[1], second)):
        shown = {"authorization": "DPoP bound", "dpop": proof, "host": "mcp.example"}
        answer = await Client(app).request("server/discover", {}, shown).until_over()
        seen.append(answer.status)
    assert seen == statuses
    for app in apps:
        await app.drain()
