"""Machines, workloads and employers get tokens without a person; keys make them worth little."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode
from typing import Any
from urllib.parse import parse_qsl

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from mcp_runtime.auth.client.authorization_server.client_authentication import KeyPair
from mcp_runtime.auth.client.flows.authorizer import Authorizer
from mcp_runtime.auth.client.grants import (
    ClientCredentials,
    EnterpriseManaged,
    Grant,
    WorkloadIdentity,
)
from mcp_runtime.auth.client.oauth import OAuth
from mcp_runtime.auth.client.storage import MemoryStorage
from mcp_runtime.auth.errors import AuthorizationError, OAuthError, RegistrationRefused
from mcp_runtime.auth.messages import AuthRequest, AuthResponse
from tests.support.authorization_server import ISSUER, SERVER, Clock, World, basic, refused, reply

KEY = ec.generate_private_key(ec.SECP256R1())
PEM = KEY.private_bytes(
    serialization.Encoding.PEM,
    serialization.PrivateFormat.PKCS8,
    serialization.NoEncryption(),
).decode()


async def token(world: World, clock: Clock | None = None, **settings: Any) -> str:
    settings = {"client_issuer": ISSUER, **settings}
    client = Authorizer(OAuth(now=clock or Clock(), **settings), SERVER, world)
    assert await client.recover(refused(scope="a"), SERVER, {})
    return (await client.headers("POST", SERVER))["Authorization"]


async def test_a_machine_has_a_secret() -> None:
    world = World()
    await token(world, grant=ClientCredentials(client_id="job", client_secret="s 1"))
    request = next(r for r in world.requests if r.url.endswith("/token"))
    assert basic(request) == ("job", "s 1")
    assert world.token_fields == [
        {
            "grant_type": "client_credentials",
            "scope": "a",
            "resource": SERVER,
            "client_id": "job",
        }
    ]


async def test_a_machine_signs_who_it_is() -> None:
    world, clock = World(), Clock()
    await token(world, clock, grant=ClientCredentials(client_id="job", key=KeyPair(PEM)))
    (fields,) = world.token_fields
    assertion = jwt.decode(
        fields["client_assertion"],
        KEY.public_key(),
        algorithms=["ES256"],
        audience=ISSUER,
        options={"verify_exp": False, "verify_iat": False},
    )
    assert assertion["iss"] == assertion["sub"] == "job"
    assert assertion["exp"] - assertion["iat"] <= 300
    assert fields["client_id"] == "job"


async def test_a_key_that_cannot_sign_says_so_without_itself() -> None:
    grant = ClientCredentials(client_id="job", key=KeyPair(PEM, algorithm="RS256"))
    with pytest.raises(ValueError, match="RS256") as caught:
        await token(World(), grant=grant)
    assert "PRIVATE" not in repr(grant) + str(caught.value)


@pytest.mark.parametrize(
    "grant",
    [
        ClientCredentials(client_id="job", client_secret="s 1"),
        WorkloadIdentity(jwt=lambda: "jwt"),
    ],
)
async def test_what_a_machine_shows_its_issuer_is_not_shown_to_another(grant: Grant) -> None:
    world = World()
    with pytest.raises(RegistrationRefused, match=r"https://other\.example"):
        await token(world, grant=grant, client_issuer="https://other.example")
    assert world.token_fields == []
    assert await token(world, grant=grant, client_issuer=ISSUER)


async def test_a_workload_shows_the_jwt_of_now() -> None:
    world, clock = World(refresh=False), Clock()
    jwts = iter(("first", "second"))
    grant = WorkloadIdentity(jwt=lambda: next(jwts), client_id="w")
    client = Authorizer(OAuth(now=clock, grant=grant, client_issuer=ISSUER), SERVER, world)
    await client.recover(refused(), SERVER, {})
    clock.now += 3600
    await client.headers("POST", SERVER)
    assert [fields["assertion"] for fields in world.token_fields] == ["first", "second"]
    assert world.token_fields[0]["grant_type"].endswith(":jwt-bearer")


async def test_a_workload_whose_jwt_is_refused_tries_nothing_else() -> None:
    world = World()
    world.places[f"{ISSUER}/token"] = lambda _: reply({"error": "invalid_grant"}, 400)
    with pytest.raises(OAuthError, match="invalid_grant"):
        await token(world, grant=WorkloadIdentity(jwt=lambda: "expired"))
    assert sum(url.endswith("/token") for url in world.asked) == 1


def employer(world: World, answer: dict[str, Any], status: int = 200) -> EnterpriseManaged:
    world.places["https://idp.example/token"] = lambda _: reply(answer, status)
    return EnterpriseManaged(
        client_id="c",
        client_secret="s",
        idp_token_endpoint="https://idp.example/token",
        idp_client_id="at-idp",
        id_token=lambda: "who-i-am",
    )


ID_JAG = "urn:ietf:params:oauth:token-type:id-jag"


async def test_an_employer_s_grant_becomes_a_token() -> None:
    world = World()
    answer = {"access_token": "the-grant", "issued_token_type": ID_JAG, "token_type": "N_A"}
    await token(world, grant=employer(world, answer))
    request = next(r for r in world.requests if "idp.example" in r.url)
    fields = dict(parse_qsl(request.body.decode()))
    assert fields["audience"] == ISSUER
    assert fields["resource"] == SERVER
    assert fields["subject_token"] == "who-i-am"
    assert fields["requested_token_type"] == ID_JAG
    assert world.token_fields[0]["assertion"] == "the-grant"
    final = next(r for r in world.requests if r.url == f"{ISSUER}/token")
    assert basic(final) == ("c", "s")


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ({"error": "access_denied"}, 403),
        ({"access_token": "x", "issued_token_type": "urn:other"}, 200),
        ({"issued_token_type": ID_JAG}, 200),
    ],
)
async def test_without_the_employer_s_grant_nothing_is_asked(
    answer: dict[str, Any], status: int
) -> None:
    world = World()
    with pytest.raises(AuthorizationError):
        await token(world, grant=employer(world, answer, status))
    assert world.token_fields == []


# ---- proofs of possession


def claims(request: AuthRequest | dict[str, str]) -> dict[str, Any]:
    headers = request if isinstance(request, dict) else request.headers
    part = headers["DPoP"].split(".")[1]
    payload: dict[str, Any] = json.loads(urlsafe_b64decode(part + "=="))
    return payload


def challenged(**parameters: str) -> AuthResponse:
    named = ", ".join(f'{name}="{value}"' for name, value in parameters.items())
    return AuthResponse(401, {"www-authenticate": f"DPoP {named}".strip()}, b"")


def prover(world: World, **settings: Any) -> Authorizer:
    settings = {"redirect": world.redirect, "now": Clock(), **settings}
    return Authorizer(OAuth(**settings), SERVER, world)


async def test_where_a_server_wants_proofs_each_request_has_its_own() -> None:
    world = World()
    client = prover(world)
    await client.recover(challenged(algs="ES256"), SERVER, {})
    first, second = [await client.headers("POST", f"{SERVER}?x=1") for _ in range(2)]
    assert first["Authorization"].startswith("DPoP ")
    assert claims(first)["jti"] != claims(second)["jti"]
    assert claims(first)["htu"] == SERVER
    assert claims(first)["ath"]
    at_token = next(r for r in world.requests if r.url.endswith("/token"))
    assert claims(at_token)["htu"] == f"{ISSUER}/token"
    assert "ath" not in claims(at_token)


async def test_a_nonce_is_used_once_it_is_demanded() -> None:
    world = World(nonce="n-1")
    client = prover(world, dpop=True)
    assert await client.recover(challenged(), SERVER, {})
    assert [claims(r).get("nonce") for r in world.requests if r.url.endswith("/token")] == [
        None,
        "n-1",
    ]
    sent = await client.headers("POST", SERVER)
    refusal = challenged(error="use_dpop_nonce")
    with_nonce = AuthResponse(401, {**refusal.headers, "dpop-nonce": "n-2"}, b"")
    assert await client.recover(with_nonce, SERVER, sent)
    assert claims(await client.headers("POST", SERVER))["nonce"] == "n-2"


async def test_a_server_that_repeats_a_nonce_is_not_asked_for_ever() -> None:
    world = World()
    client = prover(world, dpop=True)
    await client.recover(challenged(), SERVER, {})
    sent = await client.headers("POST", SERVER)
    same = AuthResponse(
        401, {"www-authenticate": 'DPoP error="use_dpop_nonce"', "dpop-nonce": "n"}, b""
    )
    assert await client.recover(same, SERVER, sent)
    with pytest.raises(AuthorizationError):
        await client.recover(same, SERVER, sent)


async def test_bound_tokens_are_not_stored_for_their_key_is_not() -> None:
    world, storage = World(), MemoryStorage()
    await prover(world, dpop=True, storage=storage).recover(refused(), SERVER, {})
    assert await storage.get(f"tokens {SERVER}") is None


async def test_a_bound_token_that_nobody_asked_for_is_refused() -> None:
    world = World()
    world.places[f"{ISSUER}/token"] = lambda _: reply({"access_token": "t", "token_type": "DPoP"})
    with pytest.raises(AuthorizationError, match="bound"):
        await prover(world, dpop=False).recover(refused(), SERVER, {})
