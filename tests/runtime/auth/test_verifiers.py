"""A server takes tokens that were issued for it, and no others, whatever they claim."""

from __future__ import annotations

import asyncio
import json
from base64 import urlsafe_b64encode
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from mcp_runtime.auth.errors import DiscoveryFailed
from mcp_runtime.auth.messages import AuthRequest, AuthResponse
from mcp_runtime.auth.server.introspection import IntrospectionVerifier
from mcp_runtime.auth.server.jwt_verifier import JwtVerifier
from mcp_runtime.auth.server.verifier import (
    CachedVerifier,
    InvalidToken,
    StaticVerifier,
    VerifiedToken,
)
from tests.support.authorization_server import ISSUER, SERVER, Clock, basic, reply

KEY = ec.generate_private_key(ec.SECP256R1())
OTHER = ec.generate_private_key(ec.SECP256R1())


def public(key: Any, kid: str = "k1", **members: str) -> dict[str, Any]:
    kind = jwt.algorithms.ECAlgorithm if hasattr(key, "curve") else jwt.algorithms.RSAAlgorithm
    return {**json.loads(kind.to_jwk(key.public_key())), "kid": kid, **members}


def claims(clock: Clock, **changed: Any) -> dict[str, Any]:
    whole = {
        "iss": ISSUER,
        "aud": SERVER,
        "sub": "ann",
        "exp": clock.now + 60,
        "scope": "a b",
        "client_id": "c",
        **changed,
    }
    return {name: value for name, value in whole.items() if value is not None}


def issued(
    clock: Clock,
    key: Any = KEY,
    algorithm: str = "ES256",
    headers: Mapping[str, Any] | None = None,
    **changed: Any,
) -> str:
    named = {"kid": "k1", **(headers or {})}
    return jwt.encode(claims(clock, **changed), key, algorithm=algorithm, headers=named)


class Keys:
    """The key set of the issuer, which counts how often it is asked."""

    def __init__(self, *keys: dict[str, Any]) -> None:
        self.keys = list(keys)
        self.asked = 0
        self.status = 200

    async def __call__(self, request: AuthRequest, /) -> AuthResponse:
        self.asked += 1
        return reply({"keys": self.keys}, self.status)

    async def close(self) -> None:
        """There is nothing to close."""


def verifier(clock: Clock, keys: Keys | None = None, **settings: Any) -> JwtVerifier:
    keys = keys or Keys(public(KEY))
    given = {"jwks_uri": f"{ISSUER}/jwks", "fetch": keys, **settings}
    return JwtVerifier(issuer=ISSUER, audience=SERVER, now=clock, **given)


async def refusal(verify: Any, token: str) -> str:
    with pytest.raises(InvalidToken) as caught:
        await verify.verify(token)
    return str(caught.value)


# ---- signed tokens


@pytest.mark.requirement("auth.token.validated")
async def test_a_token_of_ours_says_who_asks() -> None:
    clock = Clock()
    verified = await verifier(clock).verify(issued(clock))
    assert (verified.subject, verified.client_id) == ("ann", "c")
    assert verified.scopes == {"a", "b"}
    assert verified.claims["aud"] == SERVER


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"aud": "https://other.example"}, "another server"),
        ({"aud": f"{SERVER}/"}, f"another server than {SERVER}"),
        ({"aud": None}, "claims of the token lack aud"),
        ({"iss": "https://evil.example"}, "another issuer"),
        ({"iss": f"{ISSUER}/"}, f"another issuer than {ISSUER}"),
        ({"sub": None}, "claims"),
        ({"exp": None}, "claims"),
        ({"exp": 1.0}, "expired"),
        ({"exp": "tomorrow"}, "read"),
        ({"nbf": 9e12}, "not valid yet"),
        ({"cnf": {"x5t#S256": "…"}}, "read"),
        ({"sub": 3}, "claims|read"),
    ],
)
@pytest.mark.requirement(
    "auth.token.audience",
    "auth.token.audience-refused",
    "auth.token.server-own-resources",
    "auth.token.no-other",
    "auth.token.expiry-enforced",
)
async def test_claims_that_do_not_fit_are_refused(changed: dict[str, Any], why: str) -> None:
    clock = Clock()
    said = await refusal(verifier(clock), issued(clock, **changed))
    assert any(part in said for part in why.split("|")), said


async def test_an_audience_may_be_one_of_several() -> None:
    clock = Clock()
    assert await verifier(clock).verify(issued(clock, aud=["https://x.example", SERVER]))


async def test_the_clocks_may_differ_by_the_leeway() -> None:
    clock = Clock()
    token, checks = issued(clock), verifier(clock, leeway=30)
    clock.now += 89
    assert await checks.verify(token)
    clock.now += 2
    assert "expired" in await refusal(checks, token)


async def test_a_token_of_another_key_is_refused() -> None:
    clock = Clock()
    assert "is wrong" in await refusal(verifier(clock), issued(clock, OTHER))


@pytest.mark.parametrize("algorithm", ["none", "HS256"])
async def test_an_unsigned_or_symmetric_token_is_refused(algorithm: str) -> None:
    """The key confusion attack: the public key as the secret of an HMAC."""
    clock = Clock()
    head = urlsafe_b64encode(json.dumps({"alg": algorithm, "kid": "k1"}).encode()).rstrip(b"=")
    body = urlsafe_b64encode(json.dumps(claims(clock)).encode()).rstrip(b"=")
    pem = KEY.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    import hashlib
    import hmac

    mac = urlsafe_b64encode(hmac.digest(pem, head + b"." + body, hashlib.sha256)).rstrip(b"=")
    signature = b"" if algorithm == "none" else mac
    token = b".".join((head, body, signature)).decode()
    assert "algorithm" in await refusal(verifier(clock), token)


async def test_symmetric_algorithms_cannot_even_be_configured() -> None:
    for algorithms in (["none"], ["ES256", "HS256"], []):
        with pytest.raises(ValueError, match="asymmetric"):
            verifier(Clock(), algorithms=algorithms)


async def test_a_key_that_travels_in_the_token_is_not_used() -> None:
    """The header's `jwk`, `jku` and `x5u` are an attacker's word."""
    clock = Clock()
    headers = {"jwk": public(OTHER), "jku": "https://evil.example/jwks", "kid": "k1"}
    assert "is wrong" in await refusal(verifier(clock), issued(clock, OTHER, headers=headers))


async def test_a_symmetric_key_in_the_key_set_is_not_used() -> None:
    clock = Clock()
    secret = {"kty": "oct", "k": "AAAA", "kid": "k1"}
    assert "publish" in await refusal(verifier(clock, Keys(secret)), issued(clock))


async def test_a_key_for_another_algorithm_is_not_used() -> None:
    clock = Clock()
    big = rsa.generate_private_key(65537, 2048)
    keys = Keys(public(big, alg="RS512"))
    assert "publish" in await refusal(verifier(clock, keys), issued(clock, big, "RS256"))


async def test_a_key_that_is_not_for_signatures_is_not_used() -> None:
    clock = Clock()
    keys = Keys(public(KEY, use="enc"))
    assert "publish" in await refusal(verifier(clock, keys), issued(clock))
    assert await verifier(clock, Keys(public(KEY, use="sig"))).verify(issued(clock))


@pytest.mark.parametrize("token", ["", "x", "a.b.c", "." * 3, "é", "x" * 20_000, "\ud800.a.b"])
async def test_what_is_no_jwt_is_refused(token: str) -> None:
    assert await refusal(verifier(Clock()), token)


@pytest.mark.parametrize("headers", [{"crit": ["b64"]}, {"typ": "dpop+jwt"}, {"typ": "id_token"}])
async def test_another_kind_of_jwt_is_no_access_token(headers: dict[str, Any]) -> None:
    clock = Clock()
    assert await refusal(verifier(clock), issued(clock, headers=headers))


async def test_an_extension_that_the_library_knows_is_refused_too() -> None:
    """PyJWT itself takes `b64` (RFC 7797) in `crit`; it writes no such header, so we do."""
    clock = Clock()
    header = {"alg": "ES256", "kid": "k1", "crit": ["b64"], "b64": True}
    whole = (json.dumps(part).encode() for part in (header, claims(clock)))
    signed = b".".join(urlsafe_b64encode(part).rstrip(b"=") for part in whole)
    es256 = jwt.algorithms.ECAlgorithm(jwt.algorithms.ECAlgorithm.SHA256)
    signature = urlsafe_b64encode(es256.sign(signed, KEY)).rstrip(b"=")
    token = f"{signed.decode()}.{signature.decode()}"
    assert "extension" in await refusal(verifier(clock), token)


# ---- keys that rotate


async def test_keys_are_fetched_once_and_again_when_one_is_new() -> None:
    clock, keys = Clock(), Keys(public(KEY))
    checks = verifier(clock, keys)
    await checks.verify(issued(clock))
    await checks.verify(issued(clock, scope="c"))
    assert keys.asked == 1
    keys.keys = [public(OTHER, "k2")]
    clock.now += 31
    assert await checks.verify(issued(clock, OTHER, headers={"kid": "k2"}))
    assert keys.asked == 2


async def test_unknown_key_ids_do_not_make_us_ask_without_end() -> None:
    clock, keys = Clock(), Keys(public(KEY))
    checks = verifier(clock, keys)
    await checks.verify(issued(clock))
    for number in range(100):
        await refusal(checks, issued(clock, OTHER, headers={"kid": f"x{number}"}))
        clock.now += 0.1
    assert keys.asked == 1


@asynccontextmanager
async def publishing(document: Mapping[str, Any]) -> AsyncGenerator[str]:
    """The URL of a document on the loopback, whose reader must close the connection."""
    end = asyncio.Event()

    async def publish(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        body = json.dumps(document).encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        while await reader.read(1024):
            pass  # the body of the request
        end.set()
        writer.close()
        await writer.wait_closed()

    async with await asyncio.start_server(publish, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with asyncio.timeout(60):
            await end.wait()


@pytest.mark.real_time
async def test_keys_in_the_network_of_whoever_named_them_are_fetched() -> None:
    """The URL of the keys is the operator's own word, so a private network is no attack."""
    clock = Clock()
    async with publishing({"keys": [public(KEY)]}) as url:
        checks = verifier(clock, jwks_uri=f"{url}/jwks", fetch=None)
        assert (await checks.verify(issued(clock))).subject == "ann"


async def test_many_at_one_time_ask_for_the_keys_once() -> None:
    clock, keys = Clock(), Keys(public(KEY))
    checks = verifier(clock, keys)
    await asyncio.gather(*(checks.verify(issued(clock)) for _ in range(20)))
    assert keys.asked == 1


async def test_who_gives_up_does_not_end_the_fetch_that_others_wait_for() -> None:
    """Else new keys would stay unknown for the whole pause between two fetches."""
    published = asyncio.Event()

    class SlowKeys(Keys):
        async def __call__(self, request: AuthRequest, /) -> AuthResponse:
            answer = await super().__call__(request)
            await published.wait()
            return answer

    clock, keys = Clock(), SlowKeys(public(KEY))
    checks = verifier(clock, keys)
    first, second = (asyncio.create_task(checks.verify(issued(clock))) for _ in range(2))
    while not keys.asked:
        await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    published.set()
    assert (await second).subject == "ann"
    assert keys.asked == 1


async def test_keys_that_cannot_be_fetched_anew_are_used_for_longer() -> None:
    clock, keys = Clock(), Keys(public(KEY))
    checks = verifier(clock, keys)
    await checks.verify(issued(clock))
    keys.status = 500
    clock.now += 3601
    assert await checks.verify(issued(clock))


async def test_a_key_is_not_called_unknown_while_keys_cannot_be_fetched() -> None:
    clock, keys = Clock(), Keys(public(KEY))
    checks, rotated = verifier(clock, keys), {"kid": "k2"}
    keys.status = 500
    tried = (checks.verify(issued(clock)) for _ in range(8))
    failures = await asyncio.gather(*tried, return_exceptions=True)
    assert {str(failure) for failure in failures} == {"the key set answers HTTP 500"}
    keys.status = 200
    await checks.verify(issued(clock))
    keys.status = 503
    clock.now += 31
    for _ in range(2):  # the second is within the pause
        with pytest.raises(DiscoveryFailed, match="HTTP 503"):
            await checks.verify(issued(clock, OTHER, headers=rotated))
    assert await checks.verify(issued(clock))
    keys.status = 200
    clock.now += 31
    assert "not publish" in await refusal(checks, issued(clock, OTHER, headers=rotated))


# ---- opaque tokens


class Endpoint:
    """An introspection endpoint."""

    def __init__(self, **answer: Any) -> None:
        self.answer: dict[str, Any] = {"active": True, "sub": "ann", "aud": SERVER, **answer}
        self.requests: list[AuthRequest] = []

    async def __call__(self, request: AuthRequest, /) -> AuthResponse:
        self.requests.append(request)
        return reply(self.answer)

    async def close(self) -> None:
        """There is nothing to close."""


def introspection(
    endpoint: Endpoint | None, url: str = ISSUER, **settings: Any
) -> IntrospectionVerifier:
    return IntrospectionVerifier(
        f"{url}/introspect",
        issuer=ISSUER,
        audience=SERVER,
        client_id="rs",
        client_secret="s3",
        fetch=endpoint,
        **settings,
    )


async def test_an_opaque_token_is_asked_about_with_our_credentials() -> None:
    endpoint = Endpoint(scope="a", client_id="c")
    verified = await introspection(endpoint).verify("opaque")
    assert verified.scopes == {"a"}
    assert basic(endpoint.requests[0]) == ("rs", "s3")
    assert b"token=opaque" in endpoint.requests[0].body


@pytest.mark.real_time
async def test_an_introspection_endpoint_is_asked_without_a_fetch_of_ones_own() -> None:
    async with publishing({"active": True, "sub": "ann", "aud": SERVER}) as url:
        verified = await introspection(None, url).verify("opaque")
    assert verified.subject == "ann"


@pytest.mark.parametrize(
    "answer",
    [
        {"active": False},
        {"active": "true"},
        {"aud": "https://other.example"},
        {"aud": []},
        {"iss": "https://evil.example"},
        {"sub": None},
    ],
)
async def test_an_answer_that_is_not_for_us_is_refused(answer: dict[str, Any]) -> None:
    assert await refusal(introspection(Endpoint(**answer)), "opaque")


async def test_a_revoked_token_is_refused_after_a_minute_at_most() -> None:
    clock, endpoint = Clock(), Endpoint()
    checks = CachedVerifier(introspection(endpoint), clock)
    await checks.verify("opaque")
    endpoint.answer = {"active": False}
    clock.now += 59
    await checks.verify("opaque")
    clock.now += 1
    await refusal(checks, "opaque")
    assert len(endpoint.requests) == 2


def test_a_verdict_cannot_be_kept_for_longer_than_a_minute() -> None:
    with pytest.raises(ValueError, match="60"):
        introspection(Endpoint(), keeps=61)


# ---- verdicts that are kept


class Counting:
    keeps = 1e9

    def __init__(self, expires_at: float | None) -> None:
        self.asked = 0
        self.expires_at = expires_at

    async def verify(self, token: str, /) -> VerifiedToken:
        self.asked += 1
        return VerifiedToken(subject=token, issuer=ISSUER, expires_at=self.expires_at)


async def test_a_verdict_is_kept_until_the_token_expires() -> None:
    clock = Clock()
    counting = Counting(clock.now + 100)
    checks = CachedVerifier(counting, clock)
    for _ in range(5):
        assert (await checks.verify("t")).subject == "t"
    assert counting.asked == 1
    clock.now += 100
    await refusal(checks, "t")


async def test_no_more_verdicts_are_kept_than_there_is_room_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("mcp_runtime.auth.server.verifier._CACHED", 2)
    counting = Counting(None)
    checks = CachedVerifier(counting, Clock())
    for token in ("a", "b", "c", "b", "c", "a"):
        await checks.verify(token)
    assert counting.asked == 4


@pytest.mark.requirement("auth.token.storage")
async def test_a_cache_holds_no_token() -> None:
    checks = CachedVerifier(Counting(None), Clock())
    await checks.verify("a-secret-token")
    kept = [value for name, value in vars(checks).items() if name == "_known"]
    assert "a-secret-token" not in repr([list(known) for known in kept])


# ---- fixed tokens


async def test_fixed_tokens_say_that_they_are_for_development(
    capsys: pytest.CaptureFixture[str],
) -> None:
    ann = VerifiedToken(subject="ann", issuer=ISSUER)
    checks = StaticVerifier({"t0": ann})
    assert "development" in capsys.readouterr().err
    assert await checks.verify("t0") is ann
    await refusal(checks, "t1")


def test_principals_of_two_issuers_never_are_the_same() -> None:
    one = VerifiedToken(subject="b:c", issuer="a")
    two = VerifiedToken(subject="c", issuer="a:b")
    assert one.principal != two.principal


def test_the_scopes_of_a_verified_token_may_be_any_list_but_no_text() -> None:
    listed: Any = ["a", "b"]
    assert VerifiedToken(subject="s", issuer=ISSUER, scopes=listed).scopes == frozenset("ab")
    text: Any = "a b"
    with pytest.raises(ValueError, match="scopes is a list"):
        VerifiedToken(subject="s", issuer=ISSUER, scopes=text)
