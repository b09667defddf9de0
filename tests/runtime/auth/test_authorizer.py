"""A client gets tokens, renews them and answers challenges, and gives nothing to the wrong side."""

from __future__ import annotations

import asyncio
from email.utils import formatdate
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from mcp_runtime.auth.client.flows.authorizer import Authorizer, tokens_key
from mcp_runtime.auth.client.flows.clock_difference import clock_difference
from mcp_runtime.auth.client.grants import ClientCredentials
from mcp_runtime.auth.client.oauth import OAuth
from mcp_runtime.auth.client.storage import MemoryStorage
from mcp_runtime.auth.errors import (
    AuthorizationError,
    DiscoveryFailed,
    LoginNeeded,
    OAuthError,
    RedirectRefused,
    RegistrationRefused,
    TokenRefused,
)
from mcp_runtime.auth.messages import AuthResponse
from tests.support.authorization_server import (
    ISSUER,
    SERVER,
    Clock,
    World,
    basic,
    refused,
    reply,
)


def authorizer(world: World, clock: Clock | None = None, **settings: Any) -> Authorizer:
    auth = OAuth(**{"redirect": world.redirect, "now": clock or Clock(), **settings})
    return Authorizer(auth, SERVER, world)


async def signed_in(client: Authorizer, **challenge: str) -> str:
    """The token after a first 401."""
    sent = await client.headers("POST", SERVER)
    assert await client.recover(refused(**challenge), SERVER, sent)
    return await token(client)


async def token(client: Authorizer) -> str:
    """The token of now, which the server takes."""
    headers = await client.headers("POST", SERVER)
    client.accepted(headers)
    return headers["Authorization"].partition(" ")[2]


async def test_nothing_is_sent_before_the_server_asks() -> None:
    world = World()
    assert await authorizer(world).headers("POST", SERVER) == {}
    assert world.requests == []


@pytest.mark.requirement(
    "auth.token.bearer-header", "auth.token.every-request", "auth.registration.client-id-needed"
)
async def test_a_person_signs_in_and_the_token_goes_with_each_request() -> None:
    world = World()
    client = authorizer(world)
    first = await signed_in(client)
    assert first in world.valid
    assert await token(client) == first
    assert len(world.visited) == 1


@pytest.mark.requirement(
    "auth.pkce.used",
    "auth.pkce.s256",
    "auth.resource.in-both",
    "auth.resource.rfc8707",
    "auth.resource.always",
    "auth.resource.names-server",
    "auth.resource.canonical",
    "auth.resource.specific",
    "auth.resource.no-trailing-slash",
)
async def test_the_authorization_request_has_pkce_state_and_resource() -> None:
    world = World()
    await signed_in(authorizer(world), scope="a b")
    (asked,) = world.visited
    assert asked["code_challenge_method"] == "S256"
    assert len(asked["code_challenge"]) == 43
    assert len(asked["state"]) >= 43
    assert asked["resource"] == SERVER == world.token_fields[0]["resource"]
    assert asked["scope"] == "a b"
    assert asked["response_type"] == "code"


async def test_each_request_has_its_own_state_and_verifier() -> None:
    world = World(refresh=False)
    for _ in range(2):
        await signed_in(authorizer(world))
    first, second = world.visited
    assert first["state"] != second["state"]
    assert first["code_challenge"] != second["code_challenge"]


@pytest.mark.requirement(
    "auth.pkce.refuse-oauth",
    "auth.pkce.refuse-oidc",
    "auth.pkce.support-verified",
    "auth.pkce.by-metadata",
)
async def test_an_authorization_server_without_pkce_is_refused() -> None:
    world = World(metadata={"code_challenge_methods_supported": None})
    with pytest.raises(DiscoveryFailed, match="PKCE"):
        await signed_in(authorizer(world))
    assert world.visited == []


@pytest.mark.parametrize(
    ("challenge", "protected", "asked"),
    [
        ({"scope": "a"}, {"scopes_supported": ["b"]}, "a"),
        ({}, {"scopes_supported": ["b", "c"]}, "b c"),
        ({}, {}, None),
        ({}, {"scopes_supported": []}, None),
    ],
)
@pytest.mark.requirement(
    "auth.scope.first-choice",
    "auth.scope.second-choice",
    "auth.scope.challenge-binding",
    "auth.scope.no-assumed-relation",
    "auth.scope.least",
)
async def test_scopes_come_from_the_challenge_then_from_the_metadata(
    challenge: dict[str, str], protected: dict[str, Any], asked: str | None
) -> None:
    world = World(protected=protected)
    await signed_in(authorizer(world), **challenge)
    assert world.visited[0].get("scope") == asked


async def test_offline_access_is_asked_for_only_where_it_exists() -> None:
    for supported, asked in ((["offline_access"], "a offline_access"), (["a"], "a")):
        world = World(metadata={"scopes_supported": supported})
        await signed_in(authorizer(world), scope="a")
        assert world.visited[0]["scope"] == asked


async def test_what_the_endpoint_has_in_its_query_stays_but_does_not_replace_ours() -> None:
    """Else metadata could fix the state of every sign-in, or its PKCE."""
    urls: list[str] = []

    class Watched(World):
        def visit(self, url: str) -> str:
            urls.append(url)
            return super().visit(url)

    query = "tenant=t&state=fixed&code_challenge=theirs"
    world = Watched(metadata={"authorization_endpoint": f"{ISSUER}/authorize?{query}"})
    await signed_in(authorizer(world))
    parameters = parse_qs(urlsplit(urls[0]).query)
    assert parameters["tenant"] == ["t"]
    assert all(len(values) == 1 for values in parameters.values()), parameters
    assert parameters["state"] != ["fixed"]
    assert parameters["code_challenge"] != ["theirs"]


# ---- the redirect


@pytest.mark.parametrize("iss", [f"{ISSUER}/", "https://evil.example", "HTTPS://AS.EXAMPLE", ""])
@pytest.mark.requirement(
    "auth.iss.present",
    "auth.iss.no-normalization",
    "auth.iss.checked-before-token",
    "auth.iss.recorded",
)
async def test_a_redirect_of_another_issuer_ends_the_flow(iss: str) -> None:
    """The mix-up attack: the code never reaches a token endpoint."""
    world = World(iss=iss)
    with pytest.raises(RedirectRefused, match="`iss`"):
        await signed_in(authorizer(world))
    assert world.token_fields == []


@pytest.mark.requirement("auth.iss.missing-announced")
async def test_a_promised_issuer_that_is_missing_ends_the_flow() -> None:
    world = World(iss=None)
    with pytest.raises(RedirectRefused, match="promises"):
        await signed_in(authorizer(world))
    assert world.token_fields == []


async def test_an_issuer_that_nobody_promised_may_be_missing_but_not_wrong() -> None:
    lax = {"authorization_response_iss_parameter_supported": False}
    assert await signed_in(authorizer(World(iss=None, metadata=lax)))
    with pytest.raises(RedirectRefused):
        await signed_in(authorizer(World(iss="https://evil.example", metadata=lax)))


@pytest.mark.parametrize(
    "change",
    [
        lambda url: url.replace("state=", "state=x"),
        lambda url: url.partition("&state")[0],
        lambda url: f"{url}&code=another",
        lambda url: url.replace("code=", "kode="),
        lambda _: "http://[::1",
        lambda url: url.replace("state=", "state=\udcff"),
    ],
)
@pytest.mark.requirement("auth.state")
async def test_a_redirect_that_is_not_ours_is_refused(change: Any) -> None:
    world = World()
    visit = world.visit
    world.visit = lambda url: change(visit(url))
    with pytest.raises(RedirectRefused):
        await signed_in(authorizer(world))
    assert world.token_fields == []


@pytest.mark.requirement("auth.iss.errors-too")
async def test_an_error_in_the_redirect_is_believed_only_from_the_right_issuer() -> None:
    world = World(iss="https://evil.example")
    visit = world.visit
    world.visit = lambda url: visit(url).replace("code=", "error=access_denied&x=")
    with pytest.raises(RedirectRefused):
        await signed_in(authorizer(world))
    world.iss = ISSUER
    with pytest.raises(OAuthError, match="access_denied"):
        await signed_in(authorizer(world))


# ---- who the client is


@pytest.mark.requirement(
    "auth.dcr.application-type",
    "auth.dcr.native",
    "auth.dcr.advised",
    "auth.refresh.grant-type",
    "auth.redirect.registered",
)
async def test_a_client_registers_itself_as_native() -> None:
    world = World()
    await signed_in(authorizer(world))
    registration = next(r for r in world.requests if r.url.endswith("/register"))
    assert b'"application_type":"native"' in registration.body
    assert b'"refresh_token"' in registration.body


@pytest.mark.requirement("auth.binding.by-issuer")
@pytest.mark.requirement("auth.binding.separate-state")
async def test_a_registration_is_kept_by_issuer_and_used_again() -> None:
    world, storage = World(refresh=False), MemoryStorage()
    for _ in range(2):
        client = authorizer(world, storage=storage)
        await storage.delete(tokens_key(SERVER))
        await signed_in(client)
    assert sum(url.endswith("/register") for url in world.asked) == 1


@pytest.mark.requirement(
    "auth.binding.no-reuse",
    "auth.binding.re-register",
    "auth.binding.no-cross-trust",
    "auth.token.right-issuer-only",
)
async def test_another_issuer_never_sees_the_first_ones_client_id() -> None:
    world, storage = World(), MemoryStorage()
    client = authorizer(world, storage=storage)
    before = await signed_in(client)
    first = world.visited[0]["client_id"]
    world.issuer = world.iss = "https://second.example"
    world.publish()
    sent = {"Authorization": f"Bearer {before}"}
    assert await client.recover(refused(error="invalid_token"), SERVER, sent)
    assert first not in [visit["client_id"] for visit in world.visited[1:]]
    assert first not in [fields.get("client_id") for fields in world.token_fields[1:]]


@pytest.mark.requirement("auth.binding.preregistered-mismatch")
@pytest.mark.requirement("auth.registration.static-option")
async def test_a_given_client_id_is_not_shown_to_another_issuer() -> None:
    world = World()
    client = authorizer(world, client_id="given", client_issuer="https://other.example")
    with pytest.raises(RegistrationRefused, match=r"https://other\.example"):
        await signed_in(client)
    assert world.visited == []


@pytest.mark.requirement(
    "auth.cimd.client-checks", "auth.cimd.supported", "auth.registration.order"
)
async def test_a_metadata_document_is_preferred_to_registering() -> None:
    world = World(metadata={"client_id_metadata_document_supported": True})
    document = "https://app.example/client.json"
    await signed_in(authorizer(world, client_metadata_url=document))
    assert world.visited[0]["client_id"] == document
    assert not any(url.endswith("/register") for url in world.asked)


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post", "none"])
@pytest.mark.requirement("auth.oauth21.both")
async def test_the_token_endpoint_is_authenticated_to_as_it_wants(method: str) -> None:
    world = World(metadata={"token_endpoint_auth_methods_supported": [method]})
    await signed_in(authorizer(world))
    request = next(r for r in world.requests if r.url.endswith("/token"))
    fields = world.token_fields[0]
    secret = "s3cret/with:signs"
    assert fields["client_id"] == world.visited[0]["client_id"]
    if method == "client_secret_basic":
        assert basic(request) == (world.visited[0]["client_id"], secret)
        assert "client_secret" not in fields
    else:
        assert "Authorization" not in request.headers
        assert fields.get("client_secret") == (secret if method == "client_secret_post" else None)


@pytest.mark.requirement("auth.dcr.refusal-handled")
@pytest.mark.requirement("auth.dcr.refusal-shown")
async def test_a_refused_registration_says_what_the_server_said() -> None:
    with pytest.raises(RegistrationRefused, match="invalid_redirect_uri"):
        await signed_in(authorizer(World(registers=False)))


async def test_without_a_way_to_ask_a_person_nothing_is_registered() -> None:
    world = World()
    with pytest.raises(LoginNeeded, match="--login"):
        await signed_in(authorizer(world, redirect=None))
    assert not any(url.endswith("/register") for url in world.asked)


# ---- renewing


async def test_a_token_is_refreshed_before_it_ends() -> None:
    world, clock = World(), Clock()
    client = authorizer(world, clock)
    first = await signed_in(client)
    clock.now += 3600 - 31
    assert await token(client) == first
    clock.now += 2
    assert await token(client) != first
    assert [fields["grant_type"] for fields in world.token_fields] == [
        "authorization_code",
        "refresh_token",
    ]
    assert len(world.visited) == 1


async def test_after_a_401_the_token_is_refreshed_once_for_all_who_wait() -> None:
    world = World()
    client = authorizer(world)
    before = {"Authorization": f"Bearer {await signed_in(client)}"}
    refusal = refused(error="invalid_token")
    again = await asyncio.gather(*(client.recover(refusal, SERVER, before) for _ in range(50)))
    assert all(again)
    assert len(world.token_fields) == 2


async def test_a_caller_that_is_cancelled_does_not_lose_the_new_refresh_token() -> None:
    world = World()
    client = authorizer(world)
    before = {"Authorization": f"Bearer {await signed_in(client)}"}
    waiting = asyncio.create_task(client.recover(refused(), SERVER, before))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    newest = await token(client)
    assert newest in world.valid
    assert newest not in before["Authorization"]
    assert len(world.visited) == 1


@pytest.mark.requirement("auth.refresh.not-assumed")
async def test_a_refresh_token_that_is_used_up_leads_to_a_new_sign_in() -> None:
    world, clock = World(), Clock()
    client = authorizer(world, clock)
    before = {"Authorization": f"Bearer {await signed_in(client)}"}
    world.refresh_tokens.clear()
    assert await client.recover(refused(error="invalid_token"), SERVER, before)
    assert len(world.visited) == 2


async def test_a_refresh_token_that_is_not_replaced_stays() -> None:
    world, clock = World(), Clock()
    client = authorizer(world, clock)
    await signed_in(client)
    kept = set(world.refresh_tokens)
    world.refresh = False
    for _ in range(2):
        world.refresh_tokens |= kept
        clock.now += 3600
        await token(client)
    assert [f["refresh_token"] for f in world.token_fields[1:]] == [*kept, *kept]


async def test_tokens_survive_in_their_storage() -> None:
    world, storage = World(), MemoryStorage()
    first = await signed_in(authorizer(world, storage=storage))
    assert await token(authorizer(world, storage=storage)) == first


async def test_tokens_that_were_deleted_from_the_storage_are_gone() -> None:
    world, storage = World(), MemoryStorage()
    await signed_in(authorizer(world, storage=storage))
    await storage.delete(tokens_key(SERVER))
    assert await authorizer(world, storage=storage).headers("POST", SERVER) == {}


async def test_a_storage_with_nonsense_is_one_without_tokens() -> None:
    world, storage = World(), MemoryStorage()
    await storage.set(f"tokens {SERVER}", b'{"access_token": 3}')
    assert await authorizer(world, storage=storage).headers("POST", SERVER) == {}


async def test_a_token_that_is_refused_at_once_is_not_asked_for_again_and_again() -> None:
    world = World()
    client = authorizer(world)
    sent = await client.headers("POST", SERVER)
    assert await client.recover(refused(), SERVER, sent)
    sent = await client.headers("POST", SERVER)
    why = {"error": "invalid_token", "error_description": "the token is from another issuer"}
    with pytest.raises(TokenRefused, match=r"just issued.*: invalid_token, 'the token is from an"):
        await client.recover(refused(**why), SERVER, sent)
    assert len(world.visited) == 1


@pytest.mark.parametrize(
    ("ahead", "said"),
    [
        (301, "; our clock is 301 s ahead of the one of the host that refused: set it"),
        (-301, "; our clock is 301 s behind the one of the host that refused: set it"),
        (29, ""),
        (None, ""),
    ],
)
async def test_a_refusal_says_that_the_clocks_differ(ahead: int | None, said: str) -> None:
    """As they must where a proof, an assertion or an expiry is judged."""
    world, clock = World(), Clock()
    date = {} if ahead is None else {"date": formatdate(clock.now - ahead, usegmt=True)}
    client = authorizer(world, clock)
    sent = await client.headers("POST", SERVER)
    assert await client.recover(refused(), SERVER, sent)
    refusal = AuthResponse(401, {**refused(error="invalid_token").headers, **date}, b"")
    with pytest.raises(TokenRefused) as raised:
        await client.recover(refusal, SERVER, await client.headers("POST", SERVER))
    assert str(raised.value).endswith(f"invalid_token{said}")
    job = ClientCredentials(client_id="job")
    other = authorizer(world, clock, grant=job, client_issuer=ISSUER, redirect=None)
    answer = reply({"error": "invalid_client"}, 401, date)
    world.places[f"{ISSUER}/token"] = lambda _: answer
    with pytest.raises(OAuthError) as at_issuer:
        await other.recover(refused(), SERVER, {})
    assert str(at_issuer.value).endswith(f"invalid_client{said}")


@pytest.mark.parametrize("date", ["", "yesterday", "Mon, 99 Jan 2026 00:00:00 GMT", "x" * 5000])
async def test_a_date_that_is_none_says_nothing(date: str) -> None:
    assert clock_difference({"date": date}, 0.0) == ""


# ---- step-up


@pytest.mark.requirement("auth.scope.keep-granted")
@pytest.mark.requirement("auth.step-up.respond")
@pytest.mark.requirement("auth.step-up.user")
async def test_missing_scopes_are_asked_for_beside_those_granted() -> None:
    world = World(grants=("a",))
    client = authorizer(world)
    sent = {"Authorization": f"Bearer {await signed_in(client, scope='a')}"}
    world.grants = ("a", "b")
    challenge = refused(403, error="insufficient_scope", scope="b")
    assert await client.recover(challenge, SERVER, sent)
    assert world.visited[1]["scope"] == "a b"


@pytest.mark.requirement("auth.step-up.limits")
@pytest.mark.requirement("auth.step-up.tracked")
@pytest.mark.requirement("security.scope.remember-refusal")
@pytest.mark.requirement("security.scope.fewer-issued")
async def test_scopes_that_are_not_granted_are_not_asked_for_for_ever() -> None:
    world = World(grants=("a",))
    client = authorizer(world)
    await signed_in(client, scope="a")

    async def asked_again() -> None:
        for number in range(10):
            sent = {"Authorization": f"Bearer {await token(client)}"}
            challenge = refused(403, error="insufficient_scope", scope=f"b{number % 3}")
            assert await client.recover(challenge, SERVER, sent)

    with pytest.raises(AuthorizationError, match="does not grant"):
        await asked_again()
    assert len(world.visited) == 3


async def test_any_other_403_is_the_callers() -> None:
    client = authorizer(World())
    sent = {"Authorization": f"Bearer {await signed_in(client)}"}
    assert not await client.recover(refused(403), SERVER, sent)
    assert not await client.recover(reply({}, 500), SERVER, sent)


# ---- secrets


@pytest.mark.requirement("auth.refresh.confidential")
@pytest.mark.requirement("auth.token.storage")
async def test_secrets_stay_out_of_reports_and_representations() -> None:
    reports: list[str] = []
    world = World(metadata={"token_endpoint_auth_methods_supported": ["client_secret_post"]})
    storage = MemoryStorage()
    client = authorizer(world, report=reports.append, storage=storage)
    first = await signed_in(client)
    sent = {"Authorization": f"Bearer {first}"}
    await client.recover(refused(error="invalid_token"), SERVER, sent)
    secrets = [first, await token(client), "s3cret/with:signs", *world.refresh_tokens]
    secrets += [world.visited[0]["state"], world.token_fields[0]["code"]]
    secrets += [world.token_fields[0]["code_verifier"], world.token_fields[1]["refresh_token"]]
    text = "\n".join(reports) + repr(client) + "".join(map(repr, world.requests))
    assert [secret for secret in secrets if secret in text] == []
    assert any("exchanges the code" in line for line in reports)
    assert any("HTTP 200" in line for line in reports)
