"""Verifies DPoP proofs: the sender of a token must hold the key the token is bound to.

Source: RFC 9449 section 4.3; the extension "DPoP Profile for MCP" (draft, the version without a
digest of the body).
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from hmac import compare_digest
from itertools import islice
from typing import Any, Final, TypeGuard

from mcp_runtime.auth.addresses import origin
from mcp_runtime.auth.client.flows.dpop import proof_url, sha256_base64url, thumbprint
from mcp_runtime.auth.errors import DiscoveryFailed
from mcp_runtime.auth.server.verifier import PROOF_AGE, InvalidProof
from mcp_runtime.errors import NotInstalled
from mcp_runtime.limits import DEFAULT, Limits

try:
    import jwt
    from cryptography.exceptions import UnsupportedAlgorithm
except ModuleNotFoundError:
    raise NotInstalled("verifying DPoP proofs", "pyjwt[crypto]", "auth") from None

ALGORITHMS: Final = ("ES256", "ES384", "EdDSA", "PS256", "RS256")
_MAX_PROOF: Final = 8192
_MEMBERS: Final = {
    "EC": ("crv", "kty", "x", "y"),
    "OKP": ("crv", "kty", "x"),
    "RSA": ("e", "kty", "n"),
}
"""The members of a key in its thumbprint. Source: RFC 7638 section 3.2; RFC 8037 section 2."""
_PRIVATE: Final = frozenset(("d", "p", "q", "dp", "dq", "qi", "k"))


class ProofVerifier:
    """Takes each proof once within five minutes of its time. `now` gives seconds since 1970."""

    def __init__(self, now: Callable[[], float], limits: Limits = DEFAULT) -> None:
        self._now = now
        self._used = UsedProofs(limits.proofs)

    def verify(self, proof: str, *, method: str, url: str, token: str, thumbprint: str) -> None:
        """Verify a proof. Raise InvalidProof. `thumbprint` is of the key the token is bound to."""
        header = _header(proof)
        key = header["jwk"]
        claims = _claims(proof, key, str(header["alg"]))
        if not compare_digest(_thumbprint(key).encode(), thumbprint.encode()):
            raise InvalidProof("the proof is made with another key than the token is bound to")
        if claims.get("htm") != method or not _same_url(claims.get("htu"), url):
            raise InvalidProof("the proof is for another request")
        expected = sha256_base64url(token.encode())
        if not compare_digest(str(claims.get("ath", "")).encode(), expected.encode()):
            raise InvalidProof("the proof is for another token")
        self._require_fresh(claims, thumbprint)

    def _require_fresh(self, claims: Mapping[str, Any], thumbprint: str) -> None:
        now, made_at, name = self._now(), claims.get("iat"), claims.get("jti")
        first, last = now - PROOF_AGE, now + PROOF_AGE  # NaN is not between them
        if not _is_number(made_at) or not first <= made_at <= last:
            raise InvalidProof(f"the proof is not of the last five minutes{_apart(made_at, now)}")
        if not isinstance(name, str) or not name:
            raise InvalidProof("the proof has no id")
        self._used.add(thumbprint, name, made_at, now)


_LAST_TIME: Final = 1e12
"""Seconds since 1970; a later time is none, and may not fit a float."""


def _apart(made_at: Any, now: float) -> str:
    """Say how far the time of a proof is from our clock; empty for a proof without a time."""
    if not _is_number(made_at) or not abs(made_at) < _LAST_TIME:
        return ""
    how = "ahead of" if made_at > now else "behind"
    return f": it was made {abs(made_at - now):.0f} s {how} our clock"


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


@dataclass(slots=True)
class _KeyProofs:
    """The proofs of one key by the hash of their id: when each was made, oldest arrival first.

    Proofs made up to `forgotten` may have been used and are not remembered any more.
    """

    seen_at: float
    made_at: dict[bytes, float] = field(default_factory=dict[bytes, float])
    forgotten: float = -math.inf

    def forget(self, count: int) -> None:
        for name in list(islice(self.made_at, max(0, count))):
            self.forgotten = max(self.forgotten, self.made_at.pop(name))


class UsedProofs:
    """Remembers at most `most` proofs, in a list for each key. Times are seconds since 1970.

    A proof forgotten early is not accepted again: its key, or any forgotten key, has to bring a
    later proof.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._keys: OrderedDict[str, _KeyProofs] = OrderedDict()
        self._count = 0
        self._forgotten = -math.inf
        """The time of the latest proof forgotten early, whose key was forgotten."""

    def add(self, thumbprint: str, name: str, made_at: float, now: float) -> None:
        """Remember a proof. Raise InvalidProof if it was used, or may have been."""
        self._drop_old(now)
        proofs = self._keys.get(thumbprint)
        if made_at <= (self._forgotten if proofs is None else proofs.forgotten):
            raise InvalidProof("the proof is older than those that are remembered")
        mark = sha256(name.encode("utf-8", "surrogatepass")).digest()
        if proofs is not None and mark in proofs.made_at:
            raise InvalidProof("the proof was used before")
        if self._count >= self._most:
            self._make_room()
            proofs = self._keys.get(thumbprint)
        if proofs is None:
            proofs = self._keys[thumbprint] = _KeyProofs(now, forgotten=self._forgotten)
        proofs.seen_at = now
        proofs.made_at[mark] = made_at
        self._count += 1
        self._keys.move_to_end(thumbprint)

    def _drop_old(self, now: float) -> None:
        """Drop keys whose proofs are all outside the window by now."""
        while self._keys:
            thumbprint, proofs = next(iter(self._keys.items()))
            if proofs.seen_at >= now - 2 * PROOF_AGE:
                return
            self._drop(thumbprint, proofs)

    def _drop(self, thumbprint: str, proofs: _KeyProofs) -> None:
        del self._keys[thumbprint]
        self._count -= len(proofs.made_at)

    def _make_room(self) -> None:
        """Shorten the longest lists to half of an equal share, then drop the oldest keys."""
        share = max(1, self._most // (2 * len(self._keys))) if self._keys else 0
        for proofs in self._keys.values():
            before = len(proofs.made_at)
            proofs.forget(before - share)
            self._count -= before - len(proofs.made_at)
        while self._keys and self._count > self._most // 2:
            thumbprint, proofs = next(iter(self._keys.items()))
            self._drop(thumbprint, proofs)
            self._forgotten = max(self._forgotten, proofs.forgotten, *proofs.made_at.values())


def _header(proof: str) -> Mapping[str, Any]:
    if len(proof) > _MAX_PROOF or not proof.isascii():
        raise InvalidProof(f"the proof is not ASCII, or has over {_MAX_PROOF} characters")
    try:
        header = jwt.get_unverified_header(proof)
    except jwt.PyJWTError:
        raise InvalidProof("the proof is not a JWT") from None
    key: dict[str, Any] | None = header.get("jwk")
    if header.get("typ") != "dpop+jwt" or header.get("alg") not in ALGORITHMS:
        raise InvalidProof("the proof is not of type dpop+jwt, or its algorithm is not allowed")
    if not isinstance(key, dict) or str(key.get("kty")) not in _MEMBERS or _PRIVATE & key.keys():
        raise InvalidProof("the proof has no public key")
    return header


def _claims(proof: str, key: dict[str, Any], algorithm: str) -> Mapping[str, Any]:
    try:
        return jwt.decode(
            proof,
            jwt.PyJWK(key, algorithm=algorithm),
            algorithms=[algorithm],
            options={"verify_aud": False, "verify_iat": False, "verify_exp": False},
        )
    except (jwt.PyJWTError, UnsupportedAlgorithm, ValueError, TypeError):
        raise InvalidProof("the signature of the proof is wrong") from None


def _thumbprint(key: Mapping[str, Any]) -> str:
    return thumbprint({name: key.get(name) for name in _MEMBERS[key["kty"]]})


def _same_url(stated: Any, ours: str) -> bool:
    """Return True if two URLs have the same scheme, host, port and path. The case of the host is
    ignored.
    """
    if not isinstance(stated, str):
        return False
    try:
        return _place(stated) == _place(ours)
    except DiscoveryFailed:
        return False


def _place(url: str) -> tuple[str, str]:
    plain = proof_url(url)
    host = origin(plain)
    _, _, path = plain.partition("//")[2].partition("/")
    return host, path
