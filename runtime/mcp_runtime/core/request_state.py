"""The sealed `requestState` of the per-request era: what the client was asked, and its answers.

A handler that requests input runs again from its start when the answers come. `requestState` holds
the earlier answers, so that any process with the same keys can go on. The client can read it, since
the answers are its own; it cannot change it, use it for another request, or use it late.

Source: 2026-07-28 basic/patterns/mrtr, "Security".
"""

from __future__ import annotations

import hashlib
import hmac
from base64 import b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import msgspec

from mcp_runtime.core import refusals
from mcp_runtime.errors import RpcError, TooMuch
from mcp_runtime.limits import Limits
from mcp_runtime.revisions import UNSET, DecodeError, latest, latest_calls

_MIN_KEY: Final = 32
_FORM: Final = b"1"
_MAC: Final = 32
_HEAD: Final = len(_FORM) + 4 + 8
_dump: Final = msgspec.json.Encoder(order="deterministic").encode
_answers: Final = msgspec.json.Decoder(dict[str, Any])


class StateSealer(Protocol):
    """Seals bytes as a text that nobody else can make. Times are seconds since 1970."""

    def seal(self, state: bytes, bound: bytes, expires: float) -> str: ...

    def open(self, text: str, bound: bytes, now: float) -> bytes:
        """Raises RpcError if the text was changed, is bound to another request, or has expired."""
        ...


class KeyRing:
    """Seals by HMAC-SHA256 with the first key; opens with any.

    Keys are secret bytes, 32 or more, the same in all processes that serve one another's clients.
    To change them put the new key first, and drop the old one when the last state has expired.
    Raises ValueError for no key or a short one.
    """

    def __init__(self, keys: Sequence[bytes]) -> None:
        if not keys or min(map(len, keys)) < _MIN_KEY:
            raise ValueError(f"a key ring has one key or more, of at least {_MIN_KEY} bytes each")
        self._keys = {_key_id(key): key for key in keys}
        self._first = _key_id(keys[0])

    def seal(self, state: bytes, bound: bytes, expires: float) -> str:
        text = _FORM + self._first + int(expires).to_bytes(8, "big") + state
        return urlsafe_b64encode(text + self._mac(self._keys[self._first], text, bound)).decode()

    def open(self, text: str, bound: bytes, now: float) -> bytes:
        raw = _decoded(text)
        body, mac = raw[:-_MAC], raw[-_MAC:]
        key = self._keys.get(body[len(_FORM) : len(_FORM) + 4])
        fits = key is not None and hmac.compare_digest(mac, self._mac(key, body, bound))
        if len(body) < _HEAD or body[: len(_FORM)] != _FORM or not fits:
            raise _refused("was not made here for this request")
        if now >= int.from_bytes(body[_HEAD - 8 : _HEAD], "big"):
            raise _refused("has expired")
        return body[_HEAD:]

    @staticmethod
    def _mac(key: bytes, text: bytes, bound: bytes) -> bytes:
        return hmac.digest(key, hashlib.sha256(bound).digest() + text, "sha256")


def _key_id(key: bytes) -> bytes:
    return hashlib.sha256(b"name of a key" + key).digest()[:4]


def _decoded(text: str) -> bytes:
    try:
        return b64decode(text.encode("ascii"), altchars=b"-_", validate=True)
    except (Base64Error, ValueError):
        raise _refused("is not base64") from None


@dataclass(frozen=True, slots=True)
class BoundSealer:
    """Seals and opens the state of one request, within the limits of size and age.

    `now` is in seconds since 1970. Sealing raises TooMuch, opening RpcError.
    """

    sealer: StateSealer
    method: str
    params: Any
    principal: str
    now: float
    limits: Limits

    def seal(self, state: bytes) -> str:
        text = self.sealer.seal(state, self._bound, self.now + self.limits.request_state_age)
        if len(text) > (most := self.limits.request_state_bytes):
            raise TooMuch(f"requestState has over {most} bytes (Limits.request_state_bytes)")
        return text

    def open(self, text: str) -> bytes:
        if len(text) > (most := self.limits.request_state_bytes):
            raise _refused(f"has over {most} bytes")
        return self.sealer.open(text, self._bound, self.now)

    @property
    def _bound(self) -> bytes:
        """The request without the members that change from one attempt to the next."""
        params: Mapping[str, Any] = latest.to_wire(self.params)
        same = {key: value for key, value in params.items() if key not in _CHANGES}
        return _dump([self.method, same, self.principal])


_CHANGES: Final = frozenset({"_meta", "inputResponses", "requestState"})


def _refused(why: str) -> RpcError:
    return refusals.invalid_params(f"requestState {why}")


class InputRequests:
    """The input that one attempt of a handler requests: `answers` by key, and what is `open`."""

    __slots__ = ("_count", "_used", "answers", "open")

    def __init__(self, answers: dict[str, Any]) -> None:
        self.answers = answers
        self.open: dict[str, Any] = {}
        self._used: set[str] = set()
        self._count = 0

    def key(self, request: Any, name: str | None) -> str:
        """The key of the next request: its name, or its number with a digest of the request.

        A handler that requests something else than the last time does not get the old answer,
        unless it has given a name. Raises ValueError for a name that was used already.
        """
        if name is not None:
            if name in self.open or name in self._used:
                raise ValueError(f"{name!r} was asked already")
            return name
        self._count += 1
        digest = hashlib.sha256(latest.encode(request)).hexdigest()[:8]
        return f"{self._count}-{digest}"

    def answer(self, key: str, request: Any) -> Any:
        """The answer to a request, a model; None if there is none yet, or one of another kind."""
        try:
            answer = latest.from_wire(latest_calls.RESULTS[request.method], self.answers[key])
        except (KeyError, DecodeError):
            self.open[key] = request
            return None
        self._used.add(key)
        return answer

    def result(self, seal: Callable[[bytes], str]) -> latest.InputRequiredResult:
        """The result that requests the open input; `seal` seals the answers that were used."""
        used = {key: self.answers[key] for key in self._used}
        return latest.InputRequiredResult(
            input_requests=dict(self.open), request_state=seal(_dump(used))
        )

    @classmethod
    def from_params(cls, params: Any, unseal: Callable[[str], bytes]) -> InputRequests:
        """The input of an attempt, from the params of its request; `unseal` opens their state."""
        answers: dict[str, Any] = {}
        if params.request_state is not UNSET:
            answers |= _answers.decode(unseal(params.request_state))
        if params.input_responses is not UNSET:
            new = {key: latest.to_wire(value) for key, value in params.input_responses.items()}
            answers = new | answers
        return cls(answers)
