"""Tokens are renewed beside other clients of a storage, and after the issuer forgot the client."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qsl

import pytest

from mcp_runtime.auth.client import storage as storage_module
from mcp_runtime.auth.client.flows.authorizer import Authorizer, tokens_key
from mcp_runtime.auth.client.oauth import OAuth
from mcp_runtime.auth.client.storage import (
    FileStorage,
    KeyringStorage,
    MemoryStorage,
    SharedStorage,
    TokenStorage,
)
from mcp_runtime.auth.errors import (
    AuthorizationError,
    IssuerUnavailable,
    LoginAbandoned,
    OAuthError,
)
from mcp_runtime.auth.messages import AuthRequest, AuthResponse
from mcp_runtime.errors import Disconnected
from tests.runtime.auth.test_authorizer import authorizer, signed_in, token
from tests.runtime.auth.test_storage import Keyring
from tests.support.authorization_server import ISSUER, SERVER, Clock, World, refused, reply
from tests.support.virtual_time import elapse


async def answered(client: Authorizer, refusal: AuthResponse) -> str:
    """The token after one more refusal."""
    sent = await client.headers("POST", SERVER)
    assert await client.recover(refusal, SERVER, sent)
    return await token(client)


async def two_clients(world: World, clock: Clock) -> tuple[Authorizer, Authorizer]:
    """Two clients of one storage, with the tokens of one sign-in."""
    storage = MemoryStorage()
    first, second = (authorizer(world, clock, storage=storage) for _ in range(2))
    assert await signed_in(first) == await token(second)
    return first, second


def grants(world: World) -> list[str]:
    return [fields["grant_type"] for fields in world.token_fields]


async def test_a_refresh_token_that_another_client_used_up_is_not_used_again() -> None:
    world = World()
    first, second = await two_clients(world, Clock())
    newer = await answered(first, refused())
    assert await answered(second, refused()) == newer
    assert grants(world) == ["authorization_code", "refresh_token"]


async def test_a_token_that_another_client_renewed_before_its_end_is_used() -> None:
    world, clock = World(lasts=100), Clock()
    first, second = await two_clients(world, clock)
    clock.now += 90
    assert await token(first) == await token(second)
    assert grants(world) == ["authorization_code", "refresh_token"]


async def test_a_token_of_another_client_that_has_expired_is_refreshed_before_it_is_sent() -> None:
    world, clock = World(lasts=100), Clock()
    first, second = await two_clients(world, clock)
    clock.now += 90
    renewed = await token(first)
    clock.now += 110
    assert await token(second) not in ("", renewed)
    assert grants(world) == ["authorization_code", "refresh_token", "refresh_token"]


class Slow:
    """A way to the world on which the other client has its turn meanwhile."""

    def __init__(self, world: World) -> None:
        self.world = world

    async def __call__(self, request: AuthRequest, /) -> AuthResponse:
        await elapse(0.01)
        return await self.world(request)

    async def close(self) -> None:
        """There is nothing to close."""


class Never(Slow):
    """A way to the world on which no answer comes; `reached` once something was asked."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.reached = asyncio.Event()

    async def __call__(self, request: AuthRequest, /) -> AuthResponse:
        self.reached.set()
        await asyncio.Event().wait()
        raise AssertionError


def slow_client(world: World, storage: TokenStorage, clock: Clock | None = None) -> Authorizer:
    auth = OAuth(redirect=world.redirect, now=clock or Clock(), storage=storage)
    return Authorizer(auth, SERVER, Slow(world))


@pytest.fixture(params=["memory", "file", "keyring"])
def opened(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], TokenStorage]:
    """Opens a storage that is shared: in one process the object, else what it stands for."""
    memory = MemoryStorage()
    monkeypatch.setitem(sys.modules, "keyring", Keyring())
    return {
        "memory": lambda: memory,
        "file": lambda: FileStorage(tmp_path / "tokens.json"),
        "keyring": lambda: KeyringStorage(locks=tmp_path),
    }[request.param]


async def test_clients_that_refresh_at_one_time_use_a_refresh_token_once(
    opened: Callable[[], TokenStorage],
) -> None:
    world = World()
    clients = [slow_client(world, opened()) for _ in range(4)]
    await signed_in(clients[0])
    issued = await asyncio.gather(*(answered(one, refused()) for one in clients))
    assert len(set(issued)) == 1
    assert grants(world) == ["authorization_code", "refresh_token"]


async def test_clients_that_first_sign_in_together_open_one_page(
    opened: Callable[[], TokenStorage],
) -> None:
    world = World()
    clients = [slow_client(world, opened()) for _ in range(4)]
    issued = await asyncio.gather(*map(signed_in, clients))
    assert len(set(issued)) == 1
    assert grants(world) == ["authorization_code"]
    assert len(world.visited) == 1


async def test_clients_whose_refresh_token_is_used_up_open_one_page() -> None:
    world, storage = World(), MemoryStorage()
    clients = [slow_client(world, storage) for _ in range(3)]
    await asyncio.gather(*map(signed_in, clients))
    world.refresh_tokens.clear()
    issued = await asyncio.gather(*(answered(one, refused()) for one in clients))
    assert len(set(issued)) == 1
    assert len(world.visited) == 2


async def test_after_a_sign_in_that_fails_the_next_client_asks_the_person(
    opened: Callable[[], TokenStorage],
) -> None:
    """Whichever of the two comes first."""
    world = World()
    visit = world.visit

    def page(url: str) -> str:
        world.visit = visit
        raise LoginAbandoned("nobody came back")

    world.visit = page
    clients = [slow_client(world, opened()) for _ in range(2)]
    ended = await asyncio.gather(*map(signed_in, clients), return_exceptions=True)
    assert [type(one) for one in ended if isinstance(one, Exception)] == [LoginAbandoned]
    assert world.valid.intersection(one for one in ended if isinstance(one, str))
    assert len(world.visited) == 1


async def test_a_person_who_refuses_is_not_asked_again_by_those_that_waited(
    opened: Callable[[], TokenStorage],
) -> None:
    world, clock = World(), Clock()
    visit = world.visit
    world.visit = lambda url: visit(url).replace("code=", "error=access_denied&code=")
    clients = [slow_client(world, opened(), clock) for _ in range(3)]
    ended = await asyncio.gather(*map(signed_in, clients), return_exceptions=True)
    assert [getattr(one, "code", one) for one in ended] == ["access_denied"] * 3
    assert sum("for all waiting clients" in str(one) for one in ended) == 2
    assert len(world.visited) == 1
    clock.now += 1
    with pytest.raises(OAuthError, match="does not authorize this client"):
        await signed_in(clients[1])
    assert len(world.visited) == 2
    world.visit = visit
    clock.now += 1
    assert await signed_in(clients[0]) in world.valid


async def test_after_a_sign_in_that_is_cancelled_the_next_client_asks_the_person(
    opened: Callable[[], TokenStorage],
) -> None:
    world = World()
    way, storage = Never(world), opened()
    auth = OAuth(redirect=world.redirect, now=Clock(), storage=storage)
    first, second = Authorizer(auth, SERVER, way), slow_client(world, opened())
    cancelled = asyncio.create_task(signed_in(first))
    await way.reached.wait()
    waits = asyncio.create_task(signed_in(second))
    for _ in range(5):
        await asyncio.sleep(0)
    await first.close()
    with pytest.raises(asyncio.CancelledError):
        await cancelled
    assert await waits in world.valid
    assert len(world.visited) == 1


async def test_a_client_that_is_closed_waits_for_no_other(
    opened: Callable[[], TokenStorage],
) -> None:
    client = slow_client(World(), storage := opened())
    assert isinstance(storage, SharedStorage)
    async with storage.renewing(tokens_key(SERVER)), asyncio.timeout(60):
        waits = asyncio.create_task(signed_in(client))
        await elapse(0.1)
        await client.close()
        with pytest.raises(asyncio.CancelledError):
            await waits


async def test_the_tokens_of_another_server_are_not_waited_for(
    opened: Callable[[], TokenStorage],
) -> None:
    storage = opened()
    assert isinstance(storage, SharedStorage)
    async with storage.renewing(tokens_key("https://other.example")), asyncio.timeout(60):
        assert await signed_in(slow_client(World(), storage))


async def test_clients_that_miss_one_scope_open_one_page() -> None:
    world, storage = World(grants=("a",)), MemoryStorage()
    clients = [slow_client(world, storage) for _ in range(3)]
    await asyncio.gather(*map(signed_in, clients))
    world.grants = ("a", "b")
    missing = refused(403, error="insufficient_scope", scope="b")
    issued = await asyncio.gather(*(answered(one, missing) for one in clients))
    assert len(set(issued)) == 1
    assert len(world.visited) == 2


async def test_clients_that_miss_different_scopes_ask_for_those_of_the_others_too() -> None:
    world, storage = World(grants=("a",)), MemoryStorage()
    clients = [slow_client(world, storage) for _ in range(2)]
    await asyncio.gather(*map(signed_in, clients))
    visit = world.visit

    def page(url: str) -> str:
        redirected = visit(url)
        world.grants = tuple(world.visited[-1]["scope"].split())
        return redirected

    world.visit = page
    lacking = (refused(403, error="insufficient_scope", scope=scope) for scope in "bc")
    await asyncio.gather(*map(answered, clients, lacking))
    assert [asked["scope"] for asked in world.visited[1:]] == ["a b", "a b c"]


async def test_clients_whose_tokens_are_bound_to_a_key_do_not_wait_for_each_other() -> None:
    world, storage = World(), MemoryStorage()
    auth = OAuth(redirect=world.redirect, now=Clock(), storage=storage, dpop=True)
    async with storage.renewing(tokens_key(SERVER)), asyncio.timeout(60):
        assert await signed_in(Authorizer(auth, SERVER, world))


async def test_a_token_that_still_lasts_is_sent_while_another_client_signs_in() -> None:
    world, clock, storage = World(lasts=100), Clock(), MemoryStorage()
    client = authorizer(world, clock, storage=storage)
    issued = await signed_in(client)
    clock.now += 90
    async with storage.renewing(tokens_key(SERVER)), asyncio.timeout(30):
        assert await token(client) == issued
    assert await token(client) != issued


async def test_a_client_that_holds_a_refresh_up_is_not_waited_for_for_ever(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(storage_module, "_LONGEST_WAIT", 0.01)
    for storage in (MemoryStorage(), FileStorage(tmp_path / "tokens.json")):
        async with storage.renewing(tokens_key(SERVER)), asyncio.timeout(60):
            async with storage.renewing(tokens_key(SERVER)):
                pass
            client = authorizer(World(), storage=storage)
            await signed_in(client)
            assert await answered(client, refused())


class Unlocked:
    """A storage that a user wrote, which cannot say who refreshes."""

    def __init__(self) -> None:
        kept = MemoryStorage()
        self.get, self.set, self.delete = kept.get, kept.set, kept.delete


class Overtaken:
    """A way to the world on which another client's refresh overtakes the first one of ours."""

    def __init__(self, world: World, other: Authorizer) -> None:
        self.world, self.other = world, other
        self.newer = ""

    async def __call__(self, request: AuthRequest, /) -> AuthResponse:
        if request.url.endswith("/token") and not self.newer:
            self.newer = await answered(self.other, refused())
        return await self.world(request)

    async def close(self) -> None:
        """There is nothing to close."""


async def test_a_client_that_loses_the_race_for_a_refresh_uses_what_the_other_got() -> None:
    world, storage, clock = World(), Unlocked(), Clock()
    first = authorizer(world, clock, storage=storage)
    await signed_in(first)
    way = Overtaken(world, first)
    second = Authorizer(OAuth(redirect=world.redirect, now=clock, storage=storage), SERVER, way)
    assert await answered(second, refused()) == way.newer
    assert len(world.visited) == 1


async def test_a_client_that_the_authorization_server_forgot_registers_anew() -> None:
    world = World()
    client = authorizer(world)
    await signed_in(client)
    place = f"{ISSUER}/token"
    endpoint = world.places[place]

    def forgetful(request: AuthRequest) -> AuthResponse:
        who = dict(parse_qsl(request.body.decode()))["client_id"]
        is_known = who != world.visited[0]["client_id"]
        return endpoint(request) if is_known else reply({"error": "invalid_client"}, 401)

    world.places[place] = forgetful
    assert await answered(client, refused())
    assert world.visited[1]["client_id"] != world.visited[0]["client_id"]


async def test_a_client_whom_the_sign_in_page_does_not_know_registers_anew_the_next_time() -> None:
    """The page of an unknown client leads nowhere: the person gives up."""
    world = World(refresh=False)
    client = authorizer(world)
    await signed_in(client)
    visit, dead = world.visit, world.visited[0]["client_id"]

    def page(url: str) -> str:
        if f"client_id={dead}" in url:
            raise LoginAbandoned("nobody came back")
        return visit(url)

    world.visit = page
    with pytest.raises(LoginAbandoned):
        await answered(client, refused())
    assert await answered(client, refused())
    assert world.visited[-1]["client_id"] != dead


async def given_up(client: Authorizer, world: World, refusal: AuthResponse) -> None:
    """A sign-in that the person ends on the page."""
    visit = world.visit

    def page(url: str) -> str:
        world.visit = visit
        raise LoginAbandoned("nobody came back")

    world.visit = page
    with pytest.raises(LoginAbandoned):
        await answered(client, refusal)


async def test_a_sign_in_that_a_person_ends_costs_no_refresh_token() -> None:
    world = World(grants=("a",))
    client = authorizer(world)
    await signed_in(client)
    missing = refused(403, error="insufficient_scope", scope="b")
    await given_up(client, world, missing)
    assert await answered(client, refused())
    assert grants(world) == ["authorization_code", "refresh_token"]
    world.refresh_tokens.clear()
    await answered(client, refused())
    assert world.visited[-1]["client_id"] == world.visited[0]["client_id"]


async def test_a_person_is_asked_once_for_one_request() -> None:
    world, clock = World(lasts=100), Clock()
    client = authorizer(world, clock)
    await signed_in(client)
    world.refresh_tokens.clear()
    clock.now += 90
    await given_up(client, world, refused())
    assert len(world.visited) == 1


async def test_a_folder_that_cannot_be_written_to_still_lets_tokens_be_refreshed(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").touch()  # no lock can be opened there
    async with FileStorage(tmp_path / "file" / "tokens.json").renewing("a"):
        pass


async def test_an_error_of_a_token_endpoint_counts_whatever_its_status() -> None:
    """Some answer 200 with an error, and with null where there is none."""
    world = World()
    client = authorizer(world)
    await signed_in(client)
    place = f"{ISSUER}/token"
    endpoint = world.places[place]

    def odd(request: AuthRequest) -> AuthResponse:
        if b"refresh_token" in request.body:
            return reply({"error": "bad_refresh_token"})
        return reply({**(endpoint(request).members() or {}), "error": None})

    world.places[place] = odd
    assert await answered(client, refused())
    assert len(world.visited) == 2


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (500, {}),
        (503, {"error": "a word that OAuth does not have"}),
        (429, {}),
        (400, {"error": "temporarily_unavailable"}),
        (500, {"error": "server_error"}),
    ],
)
async def test_a_fault_of_the_authorization_server_costs_no_refresh_token(
    status: int, body: dict[str, str]
) -> None:
    world = World()
    client = authorizer(world)
    await signed_in(client)
    place = f"{ISSUER}/token"
    endpoint = world.places[place]
    world.places[place] = lambda _: reply(body, status)
    with pytest.raises(IssuerUnavailable, match="try again later"):
        await answered(client, refused())
    world.places[place] = endpoint
    assert await answered(client, refused())
    assert len(world.visited) == 1


async def test_a_refresh_token_that_is_refused_is_used_up_whatever_the_status() -> None:
    world = World()
    client = authorizer(world)
    await signed_in(client)
    place = f"{ISSUER}/token"
    endpoint = world.places[place]

    def odd(request: AuthRequest) -> AuthResponse:
        is_refresh = b"refresh_token" in request.body
        return reply({"error": "invalid_grant"}, 500) if is_refresh else endpoint(request)

    world.places[place] = odd
    assert await answered(client, refused())
    assert len(world.visited) == 2


@pytest.mark.parametrize("lasts", [0, -1])
async def test_a_token_of_no_lifetime_lasts_until_the_server_says_otherwise(lasts: int) -> None:
    world = World(lasts=lasts)
    client = authorizer(world)
    issued = await signed_in(client)
    assert await token(client) == issued
    assert grants(world) == ["authorization_code"]


async def test_an_authorization_server_that_is_away_costs_no_call_while_the_token_lasts() -> None:
    world, clock = World(lasts=100), Clock()

    class Away(Slow):
        is_away = False

        async def __call__(self, request: AuthRequest, /) -> AuthResponse:
            if self.is_away:
                raise Disconnected("the authorization server is away")
            return await super().__call__(request)

    way = Away(world)
    client = Authorizer(OAuth(redirect=world.redirect, now=clock), SERVER, way)
    issued = await signed_in(client)
    clock.now += 90
    way.is_away = True
    assert await token(client) == issued
    way.is_away = False
    assert await token(client) != issued


# ---- step-up


async def test_each_scope_that_is_granted_may_be_followed_by_another() -> None:
    world = World(grants=("a",))
    client = authorizer(world)
    await signed_in(client, scope="a")
    for scope in "bcde":
        world.grants = (*(world.grants or ()), scope)
        assert await answered(client, refused(403, error="insufficient_scope", scope=scope))
    assert world.visited[-1]["scope"] == "a b c d e"


async def test_a_scope_that_was_lost_with_its_token_is_asked_for_again() -> None:
    world = World(grants=("a", "b"))
    client = authorizer(world)
    missing = refused(403, error="insufficient_scope", scope="b")
    world.grants = ("a",)
    await signed_in(client, scope="a")
    world.grants = ("a", "b")
    await answered(client, missing)
    world.refresh_tokens.clear()
    world.grants = ("a",)
    await answered(client, refused(scope="a"))
    world.grants = ("a", "b")
    await answered(client, missing)
    assert world.visited[-1]["scope"] == "a b"


async def test_a_scope_that_was_granted_and_is_still_wanted_is_not_asked_for_again() -> None:
    world = World(grants=("a", "b"))
    client = authorizer(world)
    await signed_in(client, scope="a")
    with pytest.raises(AuthorizationError, match="'b'"):
        await answered(client, refused(403, error="insufficient_scope", scope="b"))
    assert len(world.visited) == 1
