"""A protected server lets in who has a token for it, and tells others where to get one."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from math import inf, nan
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm

from mcp_runtime.auth.challenge import challenges
from mcp_runtime.auth.client.flows.dpop import DpopKey, sha256_base64url, thumbprint
from mcp_runtime.auth.errors import DiscoveryFailed
from mcp_runtime.auth.server.bearer import AccessDenied, BearerAuth
from mcp_runtime.auth.server.verifier import InvalidToken, VerifiedToken
from tests.support.authorization_server import ISSUER, SERVER, Clock


class Fixed:
    """Knows tokens by name."""

    keeps = 0.0

    def __init__(self, **tokens: VerifiedToken) -> None:
        self.tokens = tokens

    async def verify(self, token: str, /) -> VerifiedToken:
        if token not in self.tokens:
            raise InvalidToken("the token is not known")
        return self.tokens[token]


def ann(**changed: Any) -> VerifiedToken:
    return VerifiedToken(
        **{"subject": "ann", "issuer": ISSUER, "scopes": frozenset("a"), **changed}
    )


def auth(clock: Clock | None = None, **settings: Any) -> BearerAuth:
    tokens = settings.pop("tokens", {"good": ann()})
    given = {"issuer": ISSUER, "resource": SERVER, "scopes": ("a",), **settings}
    return BearerAuth(Fixed(**tokens), now=clock or Clock(), **given)


async def let_in(guard: BearerAuth, **headers: str) -> VerifiedToken:
    return await guard.authenticate(headers, method="POST", path="/mcp")


async def denied(guard: BearerAuth, **headers: str) -> AccessDenied:
    with pytest.raises(AccessDenied) as caught:
        await let_in(guard, **headers)
    return caught.value


async def test_a_good_token_is_let_in() -> None:
    assert (await let_in(auth(), authorization="Bearer good")).subject == "ann"
    assert (await let_in(auth(), authorization="bearer  good")).subject == "ann"


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer ", "Basic Z29vZA==", "good"])
@pytest.mark.requirement(
    "auth.status.unauthorized",
    "auth.prm.header-only",
    "auth.prm.header-or-well-known",
    "auth.scope.in-challenge",
)
async def test_without_a_token_the_client_is_told_where_to_get_one(header: str) -> None:
    error = await denied(auth(), authorization=header)
    (challenge,) = challenges(error.challenge)
    assert error.status == 401
    assert (
        challenge.resource_metadata
        == "https://mcp.example/.well-known/oauth-protected-resource/mcp"
    )
    assert challenge.scopes == ("a",)
    assert not challenge.error


@pytest.mark.requirement(
    "auth.status.invalid-token", "auth.token.error-form", "auth.token.oauth-resource-rules"
)
async def test_a_bad_token_is_said_to_be_one() -> None:
    error = await denied(auth(), authorization="Bearer bad")
    (challenge,) = challenges(error.challenge)
    assert (error.status, challenge.error) == (401, "invalid_token")


@pytest.mark.requirement(
    "auth.status.forbidden",
    "auth.scope.insufficient-status",
    "auth.scope.insufficient-header",
    "auth.scope.insufficient-enough",
    "auth.scope.insufficient-all-at-once",
)
@pytest.mark.requirement("security.scope.precise-challenge")
async def test_missing_scopes_are_403_and_named() -> None:
    guard = auth(tokens={"good": ann(scopes=frozenset())}, scopes=("a", "b"))
    error = await denied(guard, authorization="Bearer good")
    (challenge,) = challenges(error.challenge)
    assert (error.status, challenge.error) == (403, "insufficient_scope")
    assert challenge.scopes == ("a", "b")


async def test_what_a_verifier_says_cannot_break_the_header() -> None:
    class Hostile:
        keeps = 0.0

        async def verify(self, token: str, /) -> VerifiedToken:
            raise InvalidToken('no "quotes"\r\nSet-Cookie: é')

    guard = BearerAuth(Hostile(), issuer=ISSUER, resource=SERVER)
    error = await denied(guard, authorization="Bearer x")
    assert not set("\r\né") & set(error.challenge)


@pytest.mark.requirement("auth.prm.authorization-servers")
@pytest.mark.requirement("auth.prm.server")
def test_the_metadata_says_who_issues_tokens() -> None:
    guard = auth(scopes_supported=("a", "b"))
    assert json.loads(guard.metadata) == {
        "resource": SERVER,
        "authorization_servers": [ISSUER],
        "bearer_methods_supported": ["header"],
        "scopes_supported": ["a", "b"],
    }
    assert guard.metadata_paths == (
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-protected-resource",
    )


@pytest.mark.parametrize("resource", ["http://mcp.example/mcp", "mcp", "https://x/#a"])
def test_a_server_that_tokens_cannot_be_issued_for_is_refused(resource: str) -> None:
    with pytest.raises(DiscoveryFailed):
        auth(resource=resource)


# ---- proofs of possession


def bound(clock: Clock, **settings: Any) -> tuple[BearerAuth, DpopKey]:
    numbers = iter(range(1000))
    key = DpopKey(now=clock, draw=lambda: f"jti-{next(numbers)}")
    tokens = {"good": ann(key_thumbprint=key.thumbprint)}
    return auth(clock, tokens=tokens, **settings), key


async def test_a_bound_token_comes_with_a_proof() -> None:
    guard, key = bound(Clock())
    proof = key.proof("POST", SERVER, token="good")
    assert await let_in(guard, authorization="DPoP good", dpop=proof)


async def test_a_bound_token_without_its_proof_is_worth_nothing() -> None:
    guard, key = bound(Clock())
    proof = key.proof("POST", SERVER, token="good")
    assert (await denied(guard, authorization="Bearer good")).status == 401
    assert (await denied(guard, authorization="Bearer good", dpop=proof)).status == 401
    assert (await denied(guard, authorization="DPoP good")).status == 401


async def test_a_proof_is_taken_once() -> None:
    """The replay attack."""
    guard, key = bound(Clock())
    proof = key.proof("POST", SERVER, token="good")
    await let_in(guard, authorization="DPoP good", dpop=proof)
    error = await denied(guard, authorization="DPoP good", dpop=proof)
    assert 'error="invalid_dpop_proof"' in error.challenge
    assert error.challenge.startswith("DPoP ")


@pytest.mark.parametrize(
    ("method", "url", "token"),
    [
        ("GET", SERVER, "good"),
        ("POST", "https://mcp.example/other", "good"),
        ("POST", "https://evil.example/mcp", "good"),
        ("POST", SERVER, "another"),
        ("POST", SERVER, ""),
    ],
)
async def test_a_proof_for_something_else_is_refused(method: str, url: str, token: str) -> None:
    guard, key = bound(Clock())
    proof = key.proof(method, url, token=token)
    await denied(guard, authorization="DPoP good", dpop=proof)


async def test_a_proof_of_another_key_is_refused() -> None:
    clock = Clock()
    guard, _ = bound(clock)
    thief = DpopKey(now=clock, draw=lambda: "jti")
    await denied(guard, authorization="DPoP good", dpop=thief.proof("POST", SERVER, token="good"))


async def test_a_proof_is_of_the_last_five_minutes() -> None:
    for seconds, fits in ((299, True), (301, False), (-299, True), (-301, False)):
        clock = Clock()
        guard, key = bound(clock)
        proof = key.proof("POST", SERVER, token="good")
        clock.now += seconds
        if fits:
            assert await let_in(guard, authorization="DPoP good", dpop=proof)
        else:
            refusal = await denied(guard, authorization="DPoP good", dpop=proof)
            way = "behind" if seconds > 0 else "ahead of"
            assert f"it was made 301 s {way} our clock" in str(refusal)


async def test_a_proof_made_ahead_of_our_clock_is_taken_once_too() -> None:
    """It is fresh for ten minutes of ours, and so long it must be remembered."""
    clock = Clock()
    guard, key = bound(clock)
    clock.now += 299
    proof = key.proof("POST", SERVER, token="good")
    clock.now -= 299
    await let_in(guard, authorization="DPoP good", dpop=proof)
    clock.now += 598
    error = await denied(guard, authorization="DPoP good", dpop=proof)
    assert "used before" in error.challenge


def signed(made_at: float, **members: str) -> tuple[BearerAuth, str]:
    """A server, and a proof that its one token's holder says to have made at that time.

    `members` are added to the key in the proof.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    public = ECAlgorithm.to_jwk(key.public_key(), as_dict=True)
    tokens = {"good": ann(key_thumbprint=thumbprint(public))}
    claims = {"jti": "1", "htm": "POST", "htu": SERVER, "ath": sha256_base64url(b"good")}
    headers = {"typ": "dpop+jwt", "jwk": {**public, **members}}
    proof = jwt.encode({**claims, "iat": made_at}, key, "ES256", headers=headers)
    return auth(Clock(), tokens=tokens), proof


async def test_a_proof_of_no_time_is_refused() -> None:
    guard, proof = signed(Clock()())
    assert await let_in(guard, authorization="DPoP good", dpop=proof)
    for made_at in (nan, inf, -inf, 10**400, -(10**400)):
        guard, proof = signed(made_at)
        await denied(guard, authorization="DPoP good", dpop=proof)


async def test_a_proof_that_gives_its_private_key_away_is_refused() -> None:
    """Source: RFC 9449 section 4.3, item 7."""
    private = urlsafe_b64encode(bytes(31) + b"\1").decode().rstrip("=")
    guard, proof = signed(Clock()(), d=private)
    error = await denied(guard, authorization="DPoP good", dpop=proof)
    assert "no public key" in error.challenge


@pytest.mark.parametrize("kind", [["EC"], {}, None])
async def test_a_proof_whose_key_is_of_no_kind_is_refused(kind: object) -> None:
    guard, _ = bound(Clock())
    header = {"typ": "dpop+jwt", "alg": "ES256", "jwk": {"kty": kind}}
    proof = f"{urlsafe_b64encode(json.dumps(header).encode()).decode().rstrip('=')}.e30.AAAA"
    await denied(guard, authorization="DPoP good", dpop=proof)


@pytest.mark.parametrize("proof", ["", "x", "a.b.c", "e30.e30.", "x" * 10_000])
async def test_a_proof_that_is_none_is_refused(proof: str) -> None:
    guard, _ = bound(Clock())
    await denied(guard, authorization="DPoP good", dpop=proof)


async def test_a_bearer_token_cannot_be_passed_off_as_bound() -> None:
    key = DpopKey(now=Clock(), draw=lambda: "jti")
    proof = key.proof("POST", SERVER, token="good")
    await denied(auth(), authorization="DPoP good", dpop=proof)


async def test_a_server_may_take_bound_tokens_alone() -> None:
    guard = auth(dpop=True)
    error = await denied(guard, authorization="Bearer good")
    assert error.challenge.startswith("DPoP ")
    assert json.loads(guard.metadata)["dpop_bound_access_tokens_required"] is True


@pytest.mark.requirement("auth.scope.hierarchy")
async def test_a_broad_scope_stands_for_narrow_ones() -> None:
    tokens = {"good": ann(scopes=frozenset({"files"}))}
    narrow = {"scopes": ("files:read",), "tokens": tokens}
    assert await let_in(
        auth(includes={"files": ["files:read"]}, **narrow), authorization="Bearer good"
    )
    assert (await denied(auth(**narrow), authorization="Bearer good")).status == 403


async def test_a_handler_sees_the_narrow_scopes_of_a_broad_one() -> None:
    tokens = {"good": ann(scopes=frozenset({"a", "files"}))}
    guard = auth(includes={"files": ["files:read"], "mail": ["mail:read"]}, tokens=tokens)
    token = await let_in(guard, authorization="Bearer good")
    assert token.scopes == {"a", "files", "files:read"}


@pytest.mark.requirement("auth.refresh.not-in-challenge")
@pytest.mark.requirement("auth.refresh.not-in-metadata")
@pytest.mark.parametrize("where", ["scopes", "scopes_supported"])
def test_a_server_asks_for_no_offline_access(where: str) -> None:
    with pytest.raises(ValueError, match="offline_access"):
        auth(**{where: ("a", "offline_access")})
