"""Measures what access tokens cost a server over HTTP, beside the same server without them."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from itertools import count
from operator import attrgetter
from typing import Any, Final, TypeAlias

from bench.http import COUNTS, OURS, SERVERS, Served, paired, rounds_of
from bench.pairs import Row, row
from bench.stdio import ERAS

__all__ = ["bearer"]

_ISSUER: Final = "https://as.example"
_RESOURCE: Final = "http://127.0.0.1:8000/mcp"
_BAR: Final = 1 / 1.15
"""A token that was seen before costs at most 15 % more than none."""

_Headers: TypeAlias = Callable[[], Mapping[str, str]]


class Issuer:
    """Signs tokens and proofs, as an authorization server and a client would."""

    def __init__(self) -> None:
        from cryptography.hazmat.primitives.asymmetric import ec

        from mcp_runtime.auth.client.flows.dpop import DpopKey

        self._numbers = count()
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._proofs = DpopKey(now=time.time, draw=lambda: f"proof-{next(self._numbers)}")

    @property
    def jwk(self) -> str:
        """The public key."""
        from jwt.algorithms import ECAlgorithm

        return json.dumps(ECAlgorithm.to_jwk(self._key.public_key(), as_dict=True))

    def token(self, **more: Any) -> str:
        import jwt

        claims = {
            "iss": _ISSUER,
            "aud": _RESOURCE,
            "sub": "ann",
            "client_id": "bench",
            "scope": "add",
            "exp": int(time.time()) + 3600,
            "jti": str(next(self._numbers)),
            **more,
        }
        return jwt.encode(claims, self._key, "ES256")

    def seen(self) -> _Headers:
        """The same token with every request."""
        headers = {"Authorization": f"Bearer {self.token()}"}
        return lambda: headers

    def new(self) -> Mapping[str, str]:
        """Another token with every request."""
        return {"Authorization": f"Bearer {self.token()}"}

    def proved(self) -> _Headers:
        """The same bound token, and another proof with every request."""
        bound = self.token(cnf={"jkt": self._proofs.thumbprint})
        shown = {"Authorization": f"DPoP {bound}"}
        return lambda: {**shown, "DPoP": self._proofs.proof("POST", _RESOURCE, token=bound)}


def _sides(era: str, servers: ExitStack) -> dict[str, Served]:
    issuer = Issuer()
    protected = (sys.executable, str(SERVERS / "protected.py"), issuer.jwk)
    authorized: dict[str, _Headers] = {
        "a token seen before": issuer.seen(),
        "a token first seen": issuer.new,
        "a proof": issuer.proved(),
    }
    sides = {"without": Served(OURS, era)}
    sides |= {name: Served(protected, era, extra=extra) for name, extra in authorized.items()}
    return {name: servers.enter_context(closing(side)) for name, side in sides.items()}


def bearer() -> Iterator[Row]:
    """A typed `add(a, b)` with access tokens, beside the same server that demands none."""
    for era in ERAS:
        with ExitStack() as servers:
            sides = _sides(era, servers)
            for connections in COUNTS:
                measured = rounds_of(sides, connections)
                without = measured.pop("without")
                for name, ours in measured.items():
                    bar = _BAR if name == "a token seen before" else None
                    each = paired(ours, without, attrgetter("each"))
                    yield row(f"{era}, {connections} at a time, {name}", each, bar)
