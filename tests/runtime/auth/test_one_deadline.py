"""The time that a client gives a request covers all that machines do for it, authorization too.

Only while a person is at the sign-in page the clock stands still.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final, cast

import httpx2
import pytest

from mcp_runtime import Client
from mcp_runtime.auth.client.flows.authorizer import Authorizer
from mcp_runtime.auth.client.grants import ClientCredentials, WorkloadIdentity
from mcp_runtime.auth.client.oauth import OAuth
from mcp_runtime.auth.client.redirect import Visit
from mcp_runtime.auth.client.storage import MemoryStorage
from mcp_runtime.auth.messages import AuthRequest, AuthResponse
from mcp_runtime.client.connection import ClientConnection, ConnectionOwner
from mcp_runtime.client.http.authorized import AuthorizedHttpClient
from mcp_runtime.client.http.connection import HttpConnection
from mcp_runtime.client.http.http import HttpResponse
from mcp_runtime.client.http.server_facts import ServerFacts
from mcp_runtime.errors import TimedOut
from mcp_runtime.limits import DEFAULT
from tests.support.authorization_server import ISSUER, SERVER, World
from tests.support.virtual_time import elapse, now

NEWEST: Final = "2026-07-28"
JOB: Final = ClientCredentials(client_id="job", client_secret="s")


class Protected:
    """A protected server of the newest revision, without a socket."""

    url = httpx2.URL(SERVER)

    def __init__(self, world: World) -> None:
        self.world = world
        self.methods: list[str] = []

    @asynccontextmanager
    async def send(
        self, method: str, url: httpx2.URL, headers: Mapping[str, str], content: bytes = b""
    ) -> AsyncGenerator[HttpResponse]:
        token = headers.get("Authorization", "").partition(" ")[2]
        if token not in self.world.valid:
            yield self._response(401, b"", {"WWW-Authenticate": "Bearer"})
            return
        message = json.loads(content)
        self.methods.append(message["method"])
        result: dict[str, Any] = {"resultType": "complete", "content": []}
        if message["method"] == "server/discover":
            result = {
                "resultType": "complete",
                "supportedVersions": [NEWEST],
                "capabilities": {"tools": {}},
                "ttlMs": 0,
                "cacheScope": "private",
            }
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        yield self._response(200, json.dumps(answer).encode(), {"Content-Type": "application/json"})

    def _response(self, status: int, body: bytes, headers: Mapping[str, str]) -> HttpResponse:
        response = httpx2.Response(
            status,
            headers=[*headers.items()],
            stream=httpx2.ByteStream(body),
            request=httpx2.Request("POST", SERVER),
        )
        return HttpResponse(response, DEFAULT)

    async def close(self) -> None:
        """There is nothing to close."""


class Slow:
    """The world as a `Fetch`; each place whose URL has a word of `seconds` takes so long."""

    def __init__(self, world: World, seconds: Mapping[str, float]) -> None:
        self.world, self.seconds = world, seconds

    async def __call__(self, request: AuthRequest, /) -> AuthResponse:
        for word, seconds in self.seconds.items():
            if word in request.url:
                await elapse(seconds)
        return await self.world(request)

    async def close(self) -> None:
        """There is nothing to close."""


def client(
    world: World, seconds: Mapping[str, float], timeout: float = 3.0, **settings: Any
) -> tuple[Client, Protected]:
    settings = {"grant": JOB, "client_issuer": ISSUER, **settings}
    auth = OAuth(now=lambda: 1_800_000_000 + asyncio.get_running_loop().time(), **settings)
    server = Protected(world)

    async def connect(stack: AsyncExitStack, owner: ConnectionOwner) -> ClientConnection:
        def pause() -> Any:
            return connection.deadlines_paused()

        authorizer = Authorizer(auth, SERVER, Slow(world, seconds), pause)
        http = AuthorizedHttpClient(server, authorizer, lambda: connection.authorizing())
        connection = HttpConnection(owner, http, ServerFacts())
        stack.push_async_callback(connection.close)
        return connection

    return Client(cast("Any", connect), timeout=timeout), server


SLOW: Final[dict[str, Mapping[str, float]]] = {
    "metadata of the server": {"oauth-protected-resource": 28.0},
    "metadata of the authorization server": {"oauth-authorization-server": 28.0},
    "every place": {"": 28.0},
    "the token endpoint": {"/token": 28.0},
    "each step a little": {"": 1.6},
}


@pytest.mark.parametrize("seconds", SLOW.values(), ids=SLOW.keys())
async def test_what_a_machine_takes_to_get_a_token_counts(seconds: Mapping[str, float]) -> None:
    who, _ = client(World(), seconds)
    with pytest.raises(TimedOut):
        async with who:
            pass
    assert now() == 3.0


async def test_places_that_answer_404_one_after_the_other_count_together() -> None:
    world = World()
    world.places.clear()
    who, _ = client(world, {"": 28.0}, timeout=60.0)
    with pytest.raises(TimedOut):
        async with who:
            pass
    assert now() == 60.0


async def test_a_token_that_comes_in_time_opens_the_newest_revision() -> None:
    """The probe's own deadline, a quarter of the whole, is for servers that do not answer it."""
    who, server = client(World(), {"/token": 2.5})
    async with who:
        assert who.revision == NEWEST
        assert now() == 2.5
    assert server.methods == ["server/discover"]


@pytest.mark.parametrize("grant", [JOB, WorkloadIdentity(jwt=lambda: "j", client_id="w")])
async def test_a_call_whose_token_is_renewed_has_its_own_deadline(grant: Any) -> None:
    world = World(refresh=False)
    seconds: dict[str, float] = {}
    who, _ = client(world, seconds, grant=grant)
    async with who:
        await who.call_tool("t")
        world.valid.clear()
        seconds["/token"] = 28.0
        started = now()
        with pytest.raises(TimedOut):
            await who.call_tool("t", timeout=2.0)
        assert now() - started == 2.0


async def test_a_renewal_goes_on_behind_and_the_next_call_uses_it() -> None:
    world = World(refresh=False)
    seconds: dict[str, float] = {}
    who, _ = client(world, seconds)
    async with who:
        world.valid.clear()
        seconds["/token"] = 4.0
        with pytest.raises(TimedOut):
            await who.call_tool("t")
        await who.call_tool("t")
    assert len(world.token_fields) == 2


# ---- a person


def taking(world: World, seconds: float) -> Callable[[str | None], Any]:
    """A person who takes so long."""

    @asynccontextmanager
    async def redirect(preferred: str | None, /) -> AsyncGenerator[Visit]:
        async with world.redirect(preferred) as visit:

            class Slowly:
                uri = visit.uri

                async def __call__(self, url: str, host: str, /) -> str:
                    await elapse(seconds)
                    return await visit(url, host)

            yield Slowly()

    return redirect


async def test_a_person_may_take_their_time() -> None:
    world = World()
    who, _ = client(world, {}, grant=None, client_issuer=None, redirect=taking(world, 200.0))
    async with who:
        assert now() == 200.0
        await who.call_tool("t")


@pytest.mark.parametrize("word", ["oauth-protected-resource", "/register", "/token"])
async def test_beside_a_person_machines_have_the_time_of_the_request_alone(word: str) -> None:
    """Before and after the person's 200 s it goes on where it stood."""
    world = World()
    settings = {"grant": None, "client_issuer": None, "redirect": taking(world, 200.0)}
    who, _ = client(world, {word: 28.0, "oauth-authorization-server": 1.0}, **settings)
    with pytest.raises(TimedOut):
        async with who:
            pass
    assert now() == (203.0 if word == "/token" else 3.0)


async def test_opening_the_way_back_counts_for_nobody_is_asked_yet() -> None:
    world = World()

    @asynccontextmanager
    async def redirect(preferred: str | None, /) -> AsyncGenerator[Visit]:
        await elapse(28.0)
        async with world.redirect(preferred) as visit:
            yield visit

    who, _ = client(world, {}, grant=None, client_issuer=None, redirect=redirect)
    with pytest.raises(TimedOut):
        async with who:
            pass
    assert now() == 3.0


@pytest.mark.parametrize("seconds", [301.0, 500.0])
async def test_two_clients_of_a_storage_ask_a_slow_person_once(seconds: float) -> None:
    """However long `Limits.total` is: the page of a second sign-in would come in between."""
    world, storage = World(), MemoryStorage()
    settings = {"grant": None, "client_issuer": None, "redirect": taking(world, seconds)}
    first, _ = client(world, {}, storage=storage, **settings)
    second, _ = client(world, {}, storage=storage, **settings)

    async def opened(who: Client) -> float:
        async with who:
            return now()

    times = await asyncio.gather(opened(first), opened(second))
    assert times == pytest.approx([seconds, seconds], abs=1.0)
    assert len(world.visited) == 1


async def test_two_pauses_that_overlap_count_once() -> None:
    """Each request that waits stops the clock; it stands still from the first to the last."""
    world = World()
    who, _ = client(world, {})
    async with who:
        connection = who.connection

        async def pause(begin: float, end: float) -> None:
            await elapse(begin)
            with connection.deadlines_paused():
                await elapse(end - begin)

        async with asyncio.TaskGroup() as group:
            group.create_task(pause(0.0, 10.0))
            group.create_task(pause(5.0, 12.0))
            waiting = group.create_task(_never(who))
        assert await waiting == 15.0


async def _never(who: Client) -> float:
    """When a request gives up that takes 3 s and has no answer."""
    started = now()
    http = cast("Any", who.connection)._http

    @asynccontextmanager
    async def silent(*_: Any) -> AsyncGenerator[Any]:
        await asyncio.Event().wait()
        yield None

    http.send = silent
    with pytest.raises(TimedOut):
        await who.request("tools/list", {}, timeout=3.0)
    return now() - started


async def test_a_wait_for_something_else_stands_still_with_the_clock() -> None:
    """Such as for the first event of a stream that has to be authorized first."""
    who, _ = client(World(), {})
    async with who:
        connection = who.connection

        async def pause() -> None:
            await elapse(1.0)
            with connection.deadlines_paused():
                await elapse(200.0)

        paused = asyncio.create_task(pause())
        with pytest.raises(TimeoutError):
            await connection.in_time(asyncio.Future(), 3.0)
        assert now() == 203.0
        await paused
        answered: asyncio.Future[int] = asyncio.Future()
        asyncio.get_running_loop().call_later(2.0, answered.set_result, 5)
        assert await connection.in_time(answered, 3.0) == 5
