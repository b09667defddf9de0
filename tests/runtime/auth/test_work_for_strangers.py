"""Tokens of strangers cost a bounded amount of work, and nobody who is known waits for them."""

from __future__ import annotations

import asyncio
import json
from base64 import urlsafe_b64encode
from collections.abc import Callable
from typing import Any, Final

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from mcp_runtime.auth.messages import AuthRequest, AuthResponse
from mcp_runtime.auth.server.bearer import AccessDenied, BearerAuth
from mcp_runtime.auth.server.claims import read_claims
from mcp_runtime.auth.server.introspection import IntrospectionVerifier
from mcp_runtime.auth.server.jwt_verifier import JwtVerifier
from mcp_runtime.auth.server.proof import UsedProofs
from mcp_runtime.auth.server.verifier import (
    CachedVerifier,
    InvalidProof,
    InvalidToken,
    VerifiedToken,
)
from mcp_runtime.errors import Disconnected, TooMuch
from mcp_runtime.limits import Limits
from tests.support.authorization_server import ISSUER, SERVER, Clock, reply

KEY: Final = ec.generate_private_key(ec.SECP256R1())
OTHER: Final = ec.generate_private_key(ec.SECP256R1())


async def settle() -> None:
    """Lets everything run that waits for nothing."""
    for _ in range(50):
        await asyncio.sleep(0)


class Gate:
    """An introspection endpoint, or a key set, that answers when the test lets it."""

    def __init__(self, answer: Callable[[AuthRequest], Any]) -> None:
        self.answer = answer
        self.asked: list[str] = []
        self.open = asyncio.Event()
        self.open.set()

    async def __call__(self, request: AuthRequest, /) -> AuthResponse:
        self.asked.append(request.body.decode())
        await self.open.wait()
        answer = self.answer(request)
        if isinstance(answer, Exception):
            raise answer
        return reply(answer)

    async def close(self) -> None:
        """There is nothing to close."""


def knowing(*tokens: str) -> Gate:
    """An introspection endpoint that knows these tokens."""

    def answer(request: AuthRequest) -> dict[str, Any]:
        is_known = any(f"token={token}&" in request.body.decode() for token in tokens)
        return {"active": is_known, "sub": "ann", "aud": SERVER}

    return Gate(answer)


def introspection(endpoint: Gate, **limits: Any) -> IntrospectionVerifier:
    return IntrospectionVerifier(
        f"{ISSUER}/introspect",
        issuer=ISSUER,
        audience=SERVER,
        client_id="rs",
        client_secret="s3",
        fetch=endpoint,
        limits=Limits(**limits),
    )


# ---- one question for one token


@pytest.mark.parametrize("token", ["good", "made-up"])
async def test_requests_with_one_token_ask_one_question(token: str) -> None:
    endpoint = knowing("good")
    endpoint.open.clear()
    checks = CachedVerifier(introspection(endpoint), Clock())
    waiting = [asyncio.create_task(checks.verify(token)) for _ in range(20)]
    await settle()
    waiting[0].cancel()  # whoever asked first gives up; the question goes on
    endpoint.open.set()
    said = await asyncio.gather(*waiting, return_exceptions=True)
    kinds = {type(one) for one in said[1:]}
    assert kinds == {VerifiedToken if token == "good" else InvalidToken}
    assert len(endpoint.asked) == 1


async def test_a_refused_token_is_refused_for_a_while_without_a_question() -> None:
    clock, endpoint = Clock(), knowing("good")
    checks = CachedVerifier(introspection(endpoint), clock, Limits(refused_age=5.0))
    for _ in range(50):
        with pytest.raises(InvalidToken, match="not active"):
            await checks.verify("late")
    assert len(endpoint.asked) == 1
    endpoint.answer = knowing("late").answer
    clock.now += 5.0
    assert (await checks.verify("late")).subject == "ann"


async def test_nobody_is_refused_for_what_an_issuer_could_not_say() -> None:
    endpoint = Gate(lambda _: Disconnected("the issuer is silent"))
    checks = CachedVerifier(introspection(endpoint), Clock())
    for _ in range(2):
        with pytest.raises(Disconnected):
            await checks.verify("good")
    endpoint.answer = knowing("good").answer
    assert (await checks.verify("good")).subject == "ann"


async def test_a_token_over_the_limit_is_refused_without_a_question() -> None:
    endpoint = knowing("good")
    checks = CachedVerifier(introspection(endpoint), Clock(), Limits(token_chars=100))
    with pytest.raises(InvalidToken, match=r"Limits\.token_chars"):
        await checks.verify("x" * 101)
    assert not endpoint.asked


# ---- slots


async def test_a_known_token_does_not_wait_for_made_up_ones() -> None:
    clock, endpoint = Clock(), knowing("good")
    checks = CachedVerifier(introspection(endpoint, token_checks=2), clock)
    await checks.verify("good")
    clock.now += 61  # the verdict has to be renewed
    endpoint.open.clear()
    flood = [asyncio.create_task(checks.verify(f"made-up-{number}")) for number in range(100)]
    await settle()
    assert len(endpoint.asked) == 1 + 2, "two questions at one time, and no more"
    known = asyncio.create_task(checks.verify("good"))
    await settle()
    assert "token=good&" in endpoint.asked[-1], "it is asked about at once"
    endpoint.open.set()
    assert (await known).subject == "ann"
    assert not [one for one in await asyncio.gather(*flood, return_exceptions=True) if not one]


async def test_of_new_tokens_the_last_that_came_is_next() -> None:
    """A client that comes after a flood is not behind all of it."""
    endpoint = knowing("good")
    endpoint.open.clear()
    checks = introspection(endpoint, token_checks=1)
    flood = [asyncio.create_task(checks.verify(f"made-up-{number}")) for number in range(30)]
    await settle()
    new = asyncio.create_task(checks.verify("good"))
    await settle()
    endpoint.open.set()
    await new
    assert "token=good&" in endpoint.asked[1]
    await asyncio.gather(*flood, return_exceptions=True)


async def test_above_token_queue_the_one_that_waited_longest_is_given_up() -> None:
    endpoint = knowing("a", "b", "c", "d")
    endpoint.open.clear()
    checks = introspection(endpoint, token_checks=1, token_queue=2)
    waiting = [asyncio.create_task(checks.verify(token)) for token in "abcd"]
    await settle()
    with pytest.raises(TooMuch, match=r"Limits\.token_queue"):
        await waiting[1]
    endpoint.open.set()
    assert {one.subject for one in await asyncio.gather(*waiting[::2], waiting[3])} == {"ann"}


async def test_slots_come_back_from_those_who_give_up() -> None:
    endpoint = knowing("good")
    endpoint.open.clear()
    checks = introspection(endpoint, token_checks=1)
    waiting = [asyncio.create_task(checks.verify(f"made-up-{number}")) for number in range(5)]
    await settle()
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    endpoint.open.set()
    async with asyncio.timeout(60):
        assert (await checks.verify("good")).subject == "ann"


# ---- keys


def public(key: Any, kid: str | None = "k1", **members: Any) -> dict[str, Any]:
    whole = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(key.public_key()))
    return {**whole, **({} if kid is None else {"kid": kid}), **members}


def issued(clock: Clock, key: Any = KEY, kid: str | None = "k1", **changed: Any) -> str:
    claims = {"iss": ISSUER, "aud": SERVER, "sub": "ann", "exp": clock.now + 90_000, **changed}
    headers = {} if kid is None else {"kid": kid}
    return jwt.encode(claims, key, algorithm="ES256", headers=headers)


def verifier(clock: Clock, key_set: Gate, **settings: Any) -> JwtVerifier:
    settings = {"jwks_uri": f"{ISSUER}/jwks", "fetch": key_set, **settings}
    return JwtVerifier(issuer=ISSUER, audience=SERVER, now=clock, **settings)


async def test_a_known_key_is_used_while_a_silent_issuer_is_asked_anew() -> None:
    clock, keys = Clock(), Gate(lambda _: {"keys": [public(KEY)]})
    checks = CachedVerifier(verifier(clock, keys), clock)
    await checks.verify(issued(clock))
    clock.now += 3601
    keys.open.clear()
    for number in range(3):
        async with asyncio.timeout(60):
            await checks.verify(issued(clock, jti=str(number)))
        await settle()
    assert len(keys.asked) == 2, "one fetch, behind them all"
    keys.answer = lambda _: Disconnected("silent")
    keys.open.set()
    await settle()
    await checks.verify(issued(clock, jti="4"))
    await settle()
    assert len(keys.asked) == 2, "the pause begins when a fetch has ended"


async def test_a_withdrawn_key_ends_the_verdicts_that_were_kept() -> None:
    clock = Clock()
    published = [public(KEY), public(OTHER, "k2")]
    keys = Gate(lambda _: {"keys": published})
    checks = CachedVerifier(verifier(clock, keys), clock)
    first, second = issued(clock), issued(clock, OTHER, "k2")
    await checks.verify(first)
    await checks.verify(second)
    del published[0]
    clock.now += 3601
    await checks.verify(second)  # its use makes the keys be fetched anew
    await settle()
    with pytest.raises(InvalidToken, match="does not publish"):
        await checks.verify(first)
    assert (await checks.verify(second)).subject == "ann"


@pytest.mark.parametrize(
    "members",
    [
        {"use": "enc"},
        {"alg": "ES384"},
        {"key_ops": ["sign"]},
        {"key_ops": []},
        {"key_ops": "verify"},
        {"kty": "oct"},
        {"crv": "P-384"},
    ],
)
@pytest.mark.parametrize("are_given", [True, False])
async def test_a_key_is_used_for_what_it_says_alone(
    members: dict[str, Any], are_given: bool
) -> None:
    clock, jwk = Clock(), public(KEY, **members)
    keys = Gate(lambda _: {"keys": [jwk]})
    given = {"jwks_uri": None, "fetch": None, "keys": [jwk]} if are_given else {}
    with pytest.raises(InvalidToken):
        await verifier(clock, keys, **given).verify(issued(clock))


async def test_a_key_that_says_verify_verifies() -> None:
    clock = Clock()
    jwk = public(KEY, use="sig", alg="ES256", key_ops=["verify"])
    given = verifier(clock, Gate(lambda _: None), jwks_uri=None, fetch=None, keys=[jwk])
    assert (await given.verify(issued(clock))).subject == "ann"


@pytest.mark.parametrize("kid", [None, "same"])
async def test_a_token_costs_a_bounded_number_of_signature_checks(
    kid: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, checked = Clock(), 0
    every = [public(ec.generate_private_key(ec.SECP256R1()), "same") for _ in range(20)]
    checks = verifier(clock, Gate(lambda _: {"keys": every}), limits=Limits(key_checks=3))
    decode = jwt.decode

    def counted(*args: Any, **options: Any) -> Any:
        nonlocal checked
        checked += 1
        return decode(*args, **options)

    monkeypatch.setattr(jwt, "decode", counted)
    with pytest.raises(InvalidToken, match="signature"):
        await checks.verify(issued(clock, kid=kid))
    assert checked == 3


# ---- times


def raw(claims: str) -> str:
    """A signed token with these claims as they are written."""
    signer = jwt.algorithms.ECAlgorithm(jwt.algorithms.ECAlgorithm.SHA256)
    head, body = (
        urlsafe_b64encode(part.encode()).rstrip(b"=").decode()
        for part in ('{"alg":"ES256","kid":"k1"}', claims)
    )
    signature = urlsafe_b64encode(signer.sign(f"{head}.{body}".encode(), KEY)).rstrip(b"=")
    return f"{head}.{body}.{signature.decode()}"


NO_TIMES: Final = ("NaN", "Infinity", "-Infinity", "true", '"9999999999"', "1e400", "9" * 400, "[]")


@pytest.mark.parametrize("claim", ["exp", "nbf", "iat"])
@pytest.mark.parametrize("written", NO_TIMES)
async def test_a_time_that_is_none_is_refused(claim: str, written: str) -> None:
    clock = Clock()
    times = {"exp": str(clock.now + 60), claim: written}
    members = "".join(f',"{name}":{value}' for name, value in times.items())
    token = raw(f'{{"iss":"{ISSUER}","aud":"{SERVER}","sub":"ann"{members}}}')
    checks = CachedVerifier(verifier(clock, Gate(lambda _: {"keys": [public(KEY)]})), clock)
    with pytest.raises(InvalidToken):
        await checks.verify(token)
    sound = f'"exp":{clock.now + 60},"nbf":1,"iat":1'
    token = raw(f'{{"iss":"{ISSUER}","aud":"{SERVER}","sub":"ann",{sound}}}')
    assert (await checks.verify(token)).subject == "ann"


@pytest.mark.parametrize("exp", [1e300, 253_402_300_800.0, float("inf"), float("nan")])
def test_a_token_that_never_ends_is_refused(exp: float) -> None:
    with pytest.raises(InvalidToken, match="exp"):
        read_claims({"sub": "ann", "exp": exp})
    assert read_claims({"sub": "ann", "exp": 253_402_300_799.0}).exp


def test_a_verdict_cannot_end_at_no_time() -> None:
    with pytest.raises(ValueError, match="NaN"):
        VerifiedToken(subject="ann", issuer=ISSUER, expires_at=float("nan"))


class Bound:
    """Knows one token, which is bound to a key."""

    keeps = 0.0

    def __init__(self, thumbprint: str) -> None:
        self.thumbprint = thumbprint

    async def verify(self, token: str, /) -> VerifiedToken:
        return VerifiedToken(subject="ann", issuer=ISSUER, key_thumbprint=self.thumbprint)


@pytest.mark.parametrize("written", NO_TIMES)
async def test_a_proof_of_no_time_is_refused(written: str) -> None:
    from mcp_runtime.auth.client.flows.dpop import sha256_base64url, thumbprint

    jwk = public(KEY, None)
    guard = BearerAuth(Bound(thumbprint(jwk)), issuer=ISSUER, resource=SERVER, now=Clock())
    ath = sha256_base64url(b"t")
    header = json.dumps({"typ": "dpop+jwt", "alg": "ES256", "jwk": jwk})
    claims = f'{{"jti":"1","htm":"POST","htu":"{SERVER}","ath":"{ath}","iat":{written}}}'
    signer = jwt.algorithms.ECAlgorithm(jwt.algorithms.ECAlgorithm.SHA256)
    head, body = (urlsafe_b64encode(t.encode()).rstrip(b"=").decode() for t in (header, claims))
    signature = urlsafe_b64encode(signer.sign(f"{head}.{body}".encode(), KEY)).rstrip(b"=").decode()
    with pytest.raises(AccessDenied, match=r"five minutes|signature"):
        await guard.authenticate(
            {"authorization": "DPoP t", "dpop": f"{head}.{body}.{signature}"},
            method="POST",
            path="/mcp",
        )


# ---- proofs of possession


NOW: Final = 1_800_000_000.0


def test_the_proofs_of_one_key_push_out_none_of_another() -> None:
    used = UsedProofs(1000)
    used.add("honest", "captured", NOW, NOW)
    for number in range(5000):
        used.add("greedy", str(number), NOW + number / 100, NOW + number / 100)
    with pytest.raises(InvalidProof, match="used before"):
        used.add("honest", "captured", NOW, NOW + 50)
    used.add("honest", "another", NOW, NOW + 50)


def test_no_proof_is_accepted_again_however_many_keys_come() -> None:
    used, most = UsedProofs(Limits(proofs=100).proofs), 0
    used.add("honest", "captured", NOW, NOW)
    for number in range(1000):
        used.add(f"key-{number}", "1", NOW + number / 10, NOW + number / 10)
        most = max(most, sum(len(key.made_at) for key in used._keys.values()))
    assert most <= 100
    with pytest.raises(InvalidProof, match="older than those"):
        used.add("honest", "captured", NOW, NOW + 100)
    used.add("honest", "new", NOW + 100, NOW + 100)


def test_a_key_that_makes_too_many_proofs_replays_none() -> None:
    used = UsedProofs(10)
    for number in range(100):
        used.add("busy", str(number), NOW + number, NOW + number)
    for number in range(100):
        with pytest.raises(InvalidProof):
            used.add("busy", str(number), NOW + number, NOW + 100)
    used.add("busy", "new", NOW + 100, NOW + 100)


def test_what_is_outside_the_window_is_forgotten() -> None:
    used = UsedProofs(1000)
    for number in range(100):
        used.add(f"key-{number}", "1", NOW, NOW)
    used.add("last", "1", NOW + 601, NOW + 601)
    assert [*used._keys] == ["last"]


def test_a_fetch_of_an_event_loop_that_has_ended_is_not_waited_for() -> None:
    """A verifier lives as long as its module, and a test or a worker begins another loop."""
    clock, keys = Clock(), Gate(lambda _: {"keys": [public(KEY)]})
    checks = CachedVerifier(verifier(clock, keys), clock)

    async def first() -> None:
        keys.open.clear()
        waiting = asyncio.ensure_future(checks.verify(issued(clock)))
        await settle()
        waiting.cancel()

    async def second() -> VerifiedToken:
        keys.open = asyncio.Event()
        keys.open.set()
        return await checks.verify(issued(clock))

    loop = asyncio.new_event_loop()
    loop.run_until_complete(first())
    assert asyncio.run(second()).subject == "ann"
    for task in asyncio.all_tasks(loop):
        task.cancel()
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
