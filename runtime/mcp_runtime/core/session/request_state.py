"""The sealed `requestState` of the per-request era: earlier answers of the client.

A handler with questions runs again from its start when the client sends the answers. `requestState`
holds all earlier answers, so any process with the same keys can continue. The client can read it,
as the answers are its own; it cannot change it, use it for another request, or use it late.

Source: 2026-07-28 basic/patterns/mrtr, "Security".
"""

from __future__ import annotations

import hashlib
import hmac
from base64 import b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

import msgspec
from msgspec import Struct

from mcp_runtime.core.wire import rpc_errors
from mcp_runtime.errors import RpcError, TooMuch
from mcp_runtime.limits import Limits
from mcp_runtime.revisions import UNSET, DecodeError, latest, result_type

_MIN_KEY: Final = 32
_FORM: Final = b"1"
_MAC: Final = 32
_HEAD: Final = len(_FORM) + 4 + 8
_dump: Final = msgspec.json.Encoder(order="deterministic").encode
_answers: Final = msgspec.json.Decoder(dict[str, Any])


class StateSealer(Protocol):
    """Seals bytes as a text which nobody else can make. Times are seconds since 1970."""

    def seal(self, state: bytes, bound: bytes, expires: float) -> str: ...

    def open(self, text: str, bound: bytes, now: float) -> bytes:
        """Return the sealed bytes.

        Raises RpcError if the text was changed, is bound to another request, or has expired.
        """
        ...


class KeyRing:
    """Seals by HMAC-SHA256 with the first key; opens with any of the keys.

    Keys are 32 secret bytes or more, the same in all processes with common clients. To change keys
    put the new key first, and drop the old key when the last state sealed with it has expired.
    Raises ValueError for an empty ring or a short key.
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
        raw = _decode(text)
        body, mac = raw[:-_MAC], raw[-_MAC:]
        key = self._keys.get(body[len(_FORM) : len(_FORM) + 4])
        fits = key is not None and hmac.compare_digest(mac, self._mac(key, body, bound))
        if len(body) < _HEAD or body[: len(_FORM)] != _FORM or not fits:
            raise _refusal("was not made here for this request")
        if now >= int.from_bytes(body[_HEAD - 8 : _HEAD], "big"):
            raise _refusal("has expired")
        return body[_HEAD:]

    @staticmethod
    def _mac(key: bytes, text: bytes, bound: bytes) -> bytes:
        return hmac.digest(key, hashlib.sha256(bound).digest() + text, "sha256")


def _key_id(key: bytes) -> bytes:
    return hashlib.sha256(b"name of a key" + key).digest()[:4]


def _decode(text: str) -> bytes:
    try:
        return b64decode(text.encode("ascii"), altchars=b"-_", validate=True)
    except (Base64Error, ValueError):
        raise _refusal("is not base64") from None


class BoundSealer(Struct, frozen=True):
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
        text = self.sealer.seal(
            state, self._bound_members, self.now + self.limits.request_state_age
        )
        if len(text) > (most := self.limits.request_state_bytes):
            raise TooMuch(f"requestState has over {most} bytes (Limits.request_state_bytes)")
        return text

    def open(self, text: str) -> bytes:
        if len(text) > (most := self.limits.request_state_bytes):
            raise _refusal(f"has over {most} bytes")
        return self.sealer.open(text, self._bound_members, self.now)

    @property
    def _bound_members(self) -> bytes:
        """The request without the members which change from one attempt to the next."""
        params: Mapping[str, Any] = latest.to_wire(self.params)
        same = {key: value for key, value in params.items() if key not in _CHANGES}
        return _dump([self.method, same, self.principal])


_CHANGES: Final = frozenset({"_meta", "inputResponses", "requestState"})


def _refusal(why: str) -> RpcError:
    return rpc_errors.invalid_params(f"requestState {why}")


class InputRequests:
    """The questions of one attempt of a handler: `answers` by key, and the `open` requests."""

    __slots__ = ("_count", "_used", "answers", "open")

    def __init__(self, answers: dict[str, Any]) -> None:
        self.answers = answers
        self.open: dict[str, Any] = {}
        self._used: set[str] = set()
        self._count = 0

    def key(self, request: Any, name: str | None) -> str:
        """Return the key of the next question: its name, or its number and a digest of its text.

        The digest keeps a handler from getting an old answer to a new question, unless it names the
        question. Raises ValueError for a name used twice.
        """
        if name is not None:
            if name in self.open or name in self._used:
                raise ValueError(f"a request named {name!r} was asked already")
            return name
        self._count += 1
        digest = hashlib.sha256(latest.encode(request)).hexdigest()[:8]
        return f"{self._count}-{digest}"

    def answer(self, key: str, request: Any) -> Any:
        """Return the answer to a request, a model.

        Without a valid answer, add the request to `open` and return None.
        """
        try:
            answer = latest.from_wire(result_type(request.method), self.answers[key])
        except (KeyError, DecodeError):
            self.open[key] = request
            return None
        self._used.add(key)
        return answer

    def result(self, seal: Callable[[bytes], str]) -> latest.InputRequiredResult:
        """Return the result with the open requests; `seal` seals the answers already used."""
        used = {key: self.answers[key] for key in self._used}
        return latest.InputRequiredResult(
            input_requests=dict(self.open), request_state=seal(_dump(used))
        )

    @classmethod
    def from_params(cls, params: Any, unseal: Callable[[str], bytes]) -> InputRequests:
        """Read the answers of an attempt from its params; `unseal` opens the sealed state."""
        answers: dict[str, Any] = {}
        if params.request_state is not UNSET:
            answers |= _answers.decode(unseal(params.request_state))
        if params.input_responses is not UNSET:
            new = {key: latest.to_wire(value) for key, value in params.input_responses.items()}
            answers = new | answers
        return cls(answers)
