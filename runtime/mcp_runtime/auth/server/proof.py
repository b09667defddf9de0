"""Verifies DPoP proofs: that whoever presents a token holds the key it is bound to.

Source: RFC 9449 section 4.3; the extension "DPoP Profile for MCP" (draft, the version without a
digest of the body).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from hashlib import sha256
from hmac import compare_digest
from typing import Any, Final

from mcp_runtime.auth.addresses import origin
from mcp_runtime.auth.client.dpop import proof_url, sha256_base64url, thumbprint
from mcp_runtime.auth.errors import DiscoveryFailed
from mcp_runtime.auth.server.verifier import PROOF_AGE, InvalidProof
from mcp_runtime.errors import NotInstalled

try:
    import jwt
    from cryptography.exceptions import UnsupportedAlgorithm
except ModuleNotFoundError:
    raise NotInstalled("verifying DPoP proofs", "pyjwt[crypto]", "auth") from None

ALGORITHMS: Final = ("ES256", "ES384", "EdDSA", "PS256", "RS256")
_MOST_IDS: Final = 100_000
"""Proofs remembered so that none is accepted twice; over it the oldest is forgotten."""
_MAX_PROOF: Final = 8192
_MEMBERS: Final = {
    "EC": ("crv", "kty", "x", "y"),
    "OKP": ("crv", "kty", "x"),
    "RSA": ("e", "kty", "n"),
}
"""What a thumbprint is made of. Source: RFC 7638 section 3.2; RFC 8037 section 2."""
_PRIVATE: Final = frozenset(("d", "p", "q", "dp", "dq", "qi", "k"))


class ProofVerifier:
    """Takes each proof once within five minutes of its time. `now` gives seconds since 1970."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._used: OrderedDict[bytes, float] = OrderedDict()

    def verify(self, proof: str, *, method: str, url: str, token: str, thumbprint: str) -> None:
        """Raises InvalidProof. `thumbprint` is that of the key which the token is bound to."""
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
        if not isinstance(made_at, int | float) or not first <= made_at <= last:
            raise InvalidProof("the proof is not of the last five minutes")
        if not isinstance(name, str) or not name:
            raise InvalidProof("the proof has no id")
        while self._used and next(iter(self._used.values())) < now - 2 * PROOF_AGE:
            self._used.popitem(last=False)
        mark = sha256(f"{thumbprint} {name}".encode("utf-8", "surrogatepass")).digest()
        if mark in self._used:
            raise InvalidProof("the proof was used before")
        if len(self._used) >= _MOST_IDS:
            self._used.popitem(last=False)
        self._used[mark] = now


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
    """Whether both name one place; hosts are compared without case, query and fragment not."""
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
