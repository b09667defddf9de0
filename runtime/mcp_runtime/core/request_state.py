"""Questions to the user that travel inside results: what was asked and answered, sealed.

A handler that asks is run again from its start when the answers come. `requestState` holds what was
answered before, so that any process with the same keys can go on. It can be read by the client,
whose answers they are; it cannot be changed, used for another request, or used late.

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

from mcp_runtime.core import error_codes
from mcp_runtime.errors import RpcError, TooMuch
from mcp_runtime.limits import Limits
from mcp_runtime.revisions import UNSET, DecodeError, latest, latest_calls

__all__ = ["Inputs", "KeyRing", "Seal", "SingleUse", "StateSealer"]

_MIN_KEY: Final = 32
_FORM: Final = b"1"
_MAC: Final = 32
_MARK: Final = 16
_HEAD: Final = len(_FORM) + 4 + 8
_dump: Final = msgspec.json.Encoder(order="deterministic").encode
_answers: Final = msgspec.json.Decoder(dict[str, Any])


class StateSealer(Protocol):
    """Makes a text of bytes that only it can have made. Times are seconds since 1970."""

    def seal(self, state: bytes, bound: bytes, expires: float) -> str: ...

    def open(self, text: str, bound: bytes, now: float) -> bytes:
        """Raises RpcError for what was changed, bound to something else, or has expired."""
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
        self._keys = {_name(key): key for key in keys}
        self._first = _name(keys[0])

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


class SingleUse:
    """Opens each state once, in this process: for requests that must not be finished twice.

    `age` is how long a state is good for, in seconds; `draw` gives so many random bytes.
    """

    def __init__(self, sealer: StateSealer, age: float, draw: Callable[[int], bytes]) -> None:
        self._sealer = sealer
        self._age = age
        self._draw = draw
        self._used: dict[bytes, float] = {}

    def seal(self, state: bytes, bound: bytes, expires: float) -> str:
        return self._sealer.seal(self._draw(_MARK) + state, bound, expires)

    def open(self, text: str, bound: bytes, now: float) -> bytes:
        raw = self._sealer.open(text, bound, now)
        self._forget(now)
        if raw[:_MARK] in self._used:
            raise _refused("may be used once")
        self._used[raw[:_MARK]] = now + self._age
        return raw[_MARK:]

    def _forget(self, now: float) -> None:
        """Those that have expired: the oldest come first."""
        while self._used and next(iter(self._used.values())) <= now:
            del self._used[next(iter(self._used))]


def _name(key: bytes) -> bytes:
    return hashlib.sha256(b"name of a key" + key).digest()[:4]


def _decoded(text: str) -> bytes:
    try:
        return b64decode(text.encode("ascii"), altchars=b"-_", validate=True)
    except (Base64Error, ValueError):
        raise _refused("is not base64") from None


@dataclass(frozen=True, slots=True)
class Seal:
    """Seals and opens the state of one request: bound to it, of a size and an age.

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
        """The request without what changes from one attempt to the next."""
        told: Mapping[str, Any] = latest.to_wire(self.params)
        same = {key: value for key, value in told.items() if key not in _CHANGES}
        return _dump([self.method, same, self.principal])


_CHANGES: Final = frozenset({"_meta", "inputResponses", "requestState"})


def _refused(why: str) -> RpcError:
    return RpcError(error_codes.INVALID_PARAMS, f"Invalid params: requestState {why}")


class Inputs:
    """Of one attempt: what is answered, by key, and what the handler asked that is not."""

    __slots__ = ("_count", "_used", "answered", "asked")

    def __init__(self, answered: dict[str, Any]) -> None:
        self.answered = answered
        self.asked: dict[str, Any] = {}
        self._used: set[str] = set()
        self._count = 0

    def key(self, request: Any, name: str | None) -> str:
        """Of the next question: its name, or its number and a mark of what it asks.

        A handler that asks something else than the last time does not get the old answer, unless
        it has given a name. Raises ValueError for a name that has been asked already.
        """
        if name is not None:
            if name in self.asked or name in self._used:
                raise ValueError(f"{name!r} was asked already")
            return name
        self._count += 1
        mark = hashlib.sha256(latest.encode(request)).hexdigest()[:8]
        return f"{self._count}-{mark}"

    def answer(self, key: str, request: Any) -> Any:
        """The answer to a question, a model; None if there is none yet, or one of another kind."""
        try:
            found = self.answered[key]
            answer = latest.from_wire(latest_calls.RESULTS[request.method], found)
        except (KeyError, DecodeError):
            self.asked[key] = request
            return None
        self._used.add(key)
        return answer

    def result(self, sealed: Callable[[bytes], str]) -> latest.InputRequiredResult:
        """What asks the client for the rest; `sealed` seals what was answered so far."""
        kept = {key: self.answered[key] for key in self._used}
        return latest.InputRequiredResult(
            input_requests=dict(self.asked), request_state=sealed(_dump(kept))
        )

    @classmethod
    def of(cls, params: Any, opened: Callable[[str], bytes]) -> Inputs:
        """Those of an attempt, from the params of its request; `opened` opens its state."""
        answered: dict[str, Any] = {}
        if params.request_state is not UNSET:
            answered |= _answers.decode(opened(params.request_state))
        if params.input_responses is not UNSET:
            told = {key: latest.to_wire(value) for key, value in params.input_responses.items()}
            answered |= {key: value for key, value in told.items() if key not in answered}
        return cls(answered)
