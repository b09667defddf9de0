"""A stream of changes ends with the token that opened it; a call that runs is not cut off."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from secrets import token_hex
from typing import Any, Final

import pytest

from mcp_runtime import Context, Server
from mcp_runtime.auth.server.bearer import BearerAuth
from mcp_runtime.auth.server.verifier import VerifiedToken
from tests.runtime.auth.test_ownership import Person, people, seen_by, text
from tests.runtime.auth.test_protected_server import Issuer, client
from tests.runtime.server.http.test_legacy_sse import Old, said_by
from tests.support.asgi_client import SHAKEN
from tests.support.authorization_server import ISSUER, SERVER
from tests.support.patience import until
from tests.support.uvicorn_served import served
from tests.support.virtual_time import elapse

LIFETIMES: Final = {"brief": 0.2, "hour": 3600.0, "lasting": None}


class Known:
    """Verifies tokens of one person, whose names say how long they are valid."""

    keeps = 0.0

    async def verify(self, token: str, /) -> VerifiedToken:
        return VerifiedToken(subject="ann", issuer=ISSUER, expires_at=LIFETIMES[token])


@asynccontextmanager
async def serving(*tokens: str) -> AsyncGenerator[tuple[Any, asyncio.Event, list[Person]]]:
    """The clock of the verifier stands still, so that a brief token opens a stream at any speed."""
    auth = BearerAuth(Known(), issuer=ISSUER, resource=SERVER, now=lambda: 0.0)
    server, go = Server("protected", "1", auth=auth), asyncio.Event()

    @server.tool
    async def wait(ctx: Context) -> str:
        await ctx.log("error", "begun")
        await go.wait()
        return "waited"

    app = server.asgi()
    try:
        async with people(app, *tokens) as asking:
            yield app, go, asking
    finally:
        await app.drain()


@pytest.mark.parametrize("revision", SHAKEN)
async def test_the_stream_of_a_session_ends_and_the_session_goes_on(revision: str) -> None:
    async with serving("brief", "lasting") as (_, go, (brief, lasting)):
        session = await brief.session(revision)
        call = await session.call("wait").until_events(1)
        stream = await session.get().until_over()
        assert (stream.over, stream.messages) == (True, [])
        assert b"retry: 1000\n" in stream.body
        again = await seen_by(lasting, session).get().until_begun()
        go.set()
        assert text(await call.until_over()) == "waited"
        assert (again.status, again.over) == (200, False)


async def test_a_subscription_breaks_off() -> None:
    """It has no result: that would say that the server wants no more of it."""

    async with serving("brief") as (_, _, (brief,)):
        wanted = {"notifications": {"toolsListChanged": True}}
        stream = await brief.request("subscriptions/listen", wanted).until_over()
        methods = [message.get("method") for message in stream.messages]
        assert (stream.over, methods) == (True, ["notifications/subscriptions/acknowledged"])


async def test_a_session_of_http_with_sse_ends_after_its_calls() -> None:
    async with serving("hour", "brief") as (app, go, (hour, brief)):
        old = await Old.connect(hour)
        await old.open()
        call = {"method": "tools/call", "params": {"name": "wait", "arguments": {}}}
        await Old(brief, old.stream, {}).post({"jsonrpc": "2.0", "id": 7, **call})
        (session,) = app.sse_sessions.values()
        await until(lambda: session._is_ending)
        assert not old.stream.over
        go.set()
        await old.stream.until_over()
        assert said_by(old.stream)[-1]["result"]["content"][0]["text"] == "waited"
        assert not app.sse_sessions


async def test_a_session_of_http_with_sse_lives_as_long_as_the_newest_token() -> None:
    async with serving("hour", "lasting") as (app, _, (hour, lasting)):
        old = await Old.connect(hour)
        (session,) = app.sse_sessions.values()
        first = session._expiry
        assert first.when() == session.loop.time() + 3600
        await Old(lasting, old.stream, {}).open()
        assert first.cancelled()
        assert session._expiry is first


class FirstIsBrief(Issuer):
    """Its first token expires soon; clients are not told."""

    def __init__(self, origin: str, resource: str) -> None:
        super().__init__(origin, resource)
        self.seen: dict[str, None] = {}

    async def verify(self, token: str, /) -> VerifiedToken:
        verified = await super().verify(token)
        self.seen.setdefault(token)
        return replace(verified, expires_at=0.5 if token == next(iter(self.seen)) else None)


@pytest.mark.parametrize("revision", ["2026-07-28", "2025-11-25"])
async def test_a_client_listens_on_with_its_next_token(revision: str) -> None:
    apps: dict[str, Any] = {}

    async def both(scope: Any, receive: Any, send: Any) -> None:
        is_ours = scope["path"] in ("/mcp", "/.well-known/oauth-protected-resource/mcp")
        await apps["server" if is_ours else "issuer"](scope, receive, send)

    async with served(both) as origin:
        issuer = apps["issuer"] = FirstIsBrief(origin, f"{origin}/mcp")
        auth = BearerAuth(
            issuer, issuer=origin, resource=issuer.world.resource, scopes=["read"], now=lambda: 0.0
        )
        server = Server("protected", "1", auth=auth, offers=["tools"])
        apps["server"] = server.asgi()
        who = client(issuer, revisions=[revision])
        async with who, who.listen(tools=True) as changes:
            issuer.world.valid.clear()
            await until(lambda: len(issuer.seen) == 2, 20)

            async def change_on() -> None:
                while True:
                    server.add_tool(lambda: "", name=token_hex(4))
                    await elapse(0.05)

            changing = asyncio.create_task(change_on())
            async with asyncio.timeout(20):
                assert await anext(changes) is not None
            changing.cancel()
        await apps["server"].drain()
