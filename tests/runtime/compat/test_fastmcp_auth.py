"""Token verifiers and rate limits of `fastmcp` hold here too."""

from __future__ import annotations

import json
import time
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from mcp_runtime import Client as NativeClient
from mcp_runtime.auth.server.bearer import AccessDenied, BearerAuth
from mcp_runtime.auth.server.verifier import VerifiedToken
from mcp_runtime.compat.fastmcp import FastMCP
from mcp_runtime.compat.fastmcp.server.auth import (
    AccessToken,
    JWTVerifier,
    RemoteAuthProvider,
    StaticTokenVerifier,
    TokenVerifier,
)
from mcp_runtime.compat.fastmcp.server.middleware import Middleware, rate_limiting
from mcp_runtime.errors import RemoteError
from mcp_runtime.limits import DEFAULT

URL = "https://shop.example"
KEY = ec.generate_private_key(ec.SECP256R1())
PEM = (
    KEY.public_key()
    .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    .decode()
)


class Own(TokenVerifier):
    async def verify_token(self, token: str) -> AccessToken | None:
        return AccessToken(token, "me", ["read"]) if token == "right" else None


def protection(auth: Any) -> BearerAuth:
    made = FastMCP("shop", auth=auth).auth
    assert made is not None
    return made


async def verdict(auth: Any, token: str) -> VerifiedToken | str:
    """Return the token as the server reads it, or the challenge of its refusal."""
    headers = {"authorization": f"Bearer {token}"}
    try:
        return await protection(auth).authenticate(headers, method="POST", path="/mcp")
    except AccessDenied as denied:
        return f"{denied.status} {denied.challenge}"


async def test_fixed_tokens_say_who_asks_until_they_end() -> None:
    tokens: dict[str, dict[str, Any]] = {
        "a": {"client_id": "ann", "scopes": ["read"], "sub": "u1"},
        "b": {"client_id": "bob", "scopes": ["read"], "expires_at": 1},
        "c": {"client_id": "cid"},
    }
    auth = StaticTokenVerifier(tokens, required_scopes=["read"])
    verified = await verdict(auth, "a")
    assert isinstance(verified, VerifiedToken)
    assert (verified.client_id, verified.subject) == ("ann", "u1")
    for token, error in (("b", "invalid_token"), ("c", "insufficient_scope"), ("d", "invalid")):
        assert error in str(await verdict(auth, token))


async def test_a_servers_own_check_is_asked_and_its_metadata_names_the_issuer() -> None:
    auth = RemoteAuthProvider(Own(required_scopes=["read"]), ["https://issuer.example/"], URL)
    assert json.loads(protection(auth).metadata) == {
        "resource": f"{URL}/mcp",
        "authorization_servers": ["https://issuer.example"],
        "bearer_methods_supported": ["header"],
        "scopes_supported": ["read"],
    }
    assert isinstance(await verdict(auth, "right"), VerifiedToken)
    assert "401" in str(await verdict(auth, "wrong"))
    with pytest.raises(NotImplementedError, match="a subclass verifies tokens"):
        await verdict(TokenVerifier(), "right")


async def test_signed_tokens_are_checked_by_the_native_verifier() -> None:
    claims = {"iss": "https://i", "aud": "shop", "sub": "ann", "exp": time.time() + 600}
    auth = JWTVerifier(
        public_key=PEM, issuer=["https://j", "https://i"], audience="shop", algorithm="ES256"
    )
    verified = await verdict(auth, jwt.encode(claims, KEY, algorithm="ES256"))
    assert isinstance(verified, VerifiedToken)
    assert (verified.subject, verified.client_id) == ("ann", "ann")
    for wrong in ({**claims, "aud": "other"}, {**claims, "iss": "https://k"}):
        assert "401" in str(await verdict(auth, jwt.encode(wrong, KEY, algorithm="ES256")))


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"issuer": "https://i", "audience": "a"}, "either public_key or jwks_uri"),
        ({"public_key": PEM}, "needs the issuer and the audience"),
        ({"public_key": "s", "issuer": "i", "audience": "a", "algorithm": "HS256"}, "asymmetric"),
        ({"public_key": "no key", "issuer": "i", "audience": "a"}, "no public key in PEM"),
    ],
)
def test_a_verifier_without_a_check_is_refused(settings: dict[str, Any], error: str) -> None:
    with pytest.raises(ValueError, match=error):
        JWTVerifier(**settings)


async def answers(middleware: Middleware, era: str) -> list[str]:
    """Call a tool six times, then list the tools six times; return the first words of answers."""
    mcp = FastMCP("shop", middleware=[middleware])

    @mcp.tool
    def price() -> int:
        return 3

    texts: list[str] = []
    async with NativeClient(mcp.native, cache=False, validate=False, revisions=[era]) as client:
        for _ in range(6):
            result = await client.call_tool("price")
            texts.append(f"{result.is_error is True} {result.text}"[:24])
        for _ in range(6):
            try:
                await client.list_tools()
            except RemoteError as error:
                texts.append(error.message)
    return texts


@pytest.mark.parametrize(
    ("middleware", "era", "error"),
    [
        (
            rate_limiting.RateLimitingMiddleware(0.001, burst_capacity=4, global_limit=True),
            "2026-07-28",
            "Global rate limit exceeded",
        ),
        (
            rate_limiting.RateLimitingMiddleware(0.001, 4, lambda context: "ann"),
            "2025-06-18",
            "Rate limit exceeded for client: ann",
        ),
        (
            rate_limiting.SlidingWindowRateLimitingMiddleware(4),
            "2025-06-18",
            "Rate limit exceeded: 4 requests per 1 minutes for client: global",
        ),
    ],
)
async def test_above_the_limit_a_call_fails_and_other_requests_get_an_error(
    middleware: Middleware, era: str, error: str
) -> None:
    texts = await answers(middleware, era)
    assert texts[0] == "False 3"
    assert texts[5] == f"True {error}"[:24]
    assert texts[-1] == error


async def test_a_bucket_fills_and_a_window_slides(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    bucket = rate_limiting.TokenBucketRateLimiter(2, 0.5)
    window = rate_limiting.SlidingWindowRateLimiter(1, 3)
    assert [await bucket.consume(2), await bucket.consume(), await window.is_allowed()] == [
        True, False, True,
    ]  # fmt: skip
    now = 102.0
    assert [await bucket.consume(), await bucket.consume(), await window.is_allowed()] == [
        True, False, False,
    ]  # fmt: skip
    now = 103.0
    assert await window.is_allowed()


def test_no_more_clients_are_remembered_than_sessions() -> None:
    limits = rate_limiting.RateLimitingMiddleware(1)
    first = limits.limiter_of("0")
    for number in range(DEFAULT.sessions):
        limits.limiter_of(str(number))
    assert limits.limiter_of("0") is first
    limits.limiter_of("more")
    limits.limiter_of("and more")
    assert limits.limiter_of("0") is first
    assert limits.limiter_of("1") is not None
    assert len(limits._clients) == DEFAULT.sessions
