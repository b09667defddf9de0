"""Judges one JSON text as a message of a revision: its type, and its first fault.

The revision's bindings are an argument. A request or notification is recognized by its method, an
error by its code, and a result by the earlier request with its id: an open request first, then an
answered one.
"""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, Protocol, TypeAlias

from mcp_bindgen.limits import MAX_ID_CHARS, MAX_MESSAGE_BYTES, MAX_OPEN_REQUESTS
from mcp_bindgen.validate.messages import Text

__all__ = ["Bindings", "Fault", "Judge", "Method", "Verdict", "below"]


@dataclass(frozen=True, slots=True)
class Fault:
    """A JSON path, the expected text and the found text."""

    path: str
    expected: str
    found: str


class Method(Protocol):
    """A row of the method table."""

    @property
    def kind(self) -> str: ...
    @property
    def direction(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def results(self) -> tuple[str, ...]: ...


class Bindings(Protocol):
    """The bindings of one revision."""

    @property
    def revision(self) -> str: ...
    @property
    def types(self) -> Collection[str]: ...
    @property
    def methods(self) -> Mapping[str, Method]: ...
    def parse(self, data: bytes) -> tuple[Any, Fault | None]:
        """JSON text as Python values, or why it is none."""
        ...

    def fault(self, type: str, value: Any) -> Fault | None:
        """The reason why parsed JSON is not of a type; None if it is."""
        ...


@dataclass(frozen=True, slots=True)
class Verdict:
    """`valid` is None for text which need not be a message. `type` is None if unknown."""

    line: int
    valid: bool | None
    type: str | None = None
    fault: Fault | None = None


_Named: TypeAlias = tuple[str | None, Fault | None]
_Id: TypeAlias = tuple[str, Any]

_REQUEST: Final = "JSONRPCRequest"
_NOTIFICATION: Final = "JSONRPCNotification"
_RESULT: Final = ("JSONRPCResultResponse", "JSONRPCResponse")
_CORE_WAYS: Final = frozenset(("client-to-server", "server-to-client", "both", "input-request"))
_ERROR: Final = ("JSONRPCErrorResponse", "JSONRPCError")
_BATCH: Final = {True: "JSONRPCBatchRequest", False: "JSONRPCBatchResponse"}


@dataclass(slots=True)
class _Asked:
    """A request, and its state: open or answered."""

    method: Method
    answered: bool = False


class _Requests:
    """The requests of one file by id: for each side, the newest request with an id."""

    def __init__(self) -> None:
        self._by_id: OrderedDict[_Id | None, dict[str, _Asked]] = OrderedDict()

    def add(self, message: Mapping[str, Any], method: Method) -> None:
        if (id := _id(message)) is None:
            return
        sides = self._by_id.setdefault(id, {})
        sides.pop(method.direction, None)
        sides[method.direction] = _Asked(method)
        self._by_id.move_to_end(id)
        if len(self._by_id) > MAX_OPEN_REQUESTS:
            self._by_id.popitem(last=False)

    def of(self, response: Mapping[str, Any]) -> list[_Asked]:
        """The requests a response may answer: open requests first, then newest first."""
        newest_first = reversed(self._by_id.get(_id(response), {}).values())
        return sorted(newest_first, key=lambda asked: asked.answered)


class Judge:
    """Judges the texts of one file in turn; if `type` is given, each as a value of this type."""

    def __init__(self, bindings: Bindings, type: str | None = None) -> None:
        self._bindings = bindings
        self._type = type
        self._asked = _Requests()

    def judge(self, text: Text) -> Verdict:
        if text.data is None:
            return Verdict(text.line, False, None, _TOO_LARGE)
        value, fault = self._bindings.parse(text.data)
        if fault is not None:
            return Verdict(text.line, False, None, fault)
        if self._type is not None:
            return _verdict(text, self._as_type(self._type, value))
        if text.loose and not _is_message(value):
            return Verdict(text.line, None)
        return _verdict(text, self._message(value))

    def _as_type(self, type: str, value: Any) -> _Named:
        return type, self._bindings.fault(type, value)

    def _message(self, value: Any) -> _Named:
        if value.__class__ is list:
            return self._batch(value)
        message = _members(value)
        if message is None:
            return None, Fault("$", "a message, which is an object", _kind(value))
        if "method" in message:
            return self._call(message)
        if "result" in message:
            return self._result(message)
        if "error" in message:
            return self._error(message)
        expected = "a message, which has `method`, `result` or `error`"
        if message.keys() >= _TRACED:
            return None, Fault("$", expected, "a line of a trace, for `mcp-bindgen trace --check`")
        return None, Fault("$", expected, "an object without them")

    # ---- requests and notifications

    def _call(self, message: Mapping[str, Any]) -> _Named:
        name = message["method"]
        method = self._bindings.methods.get(name) if isinstance(name, str) else None
        if method is None:
            envelope = _REQUEST if "id" in message else _NOTIFICATION
            fault = self._bindings.fault(envelope, message)
            unknown = Fault("$.method", f"a method of {self._bindings.revision}", _lookup(name))
            return envelope, fault or unknown
        if method.kind == "request":
            self._asked.add(message, method)
        envelope = _REQUEST if method.kind == "request" else _NOTIFICATION
        bare = method.direction == "input-request" and "jsonrpc" not in message
        faults = (
            None if bare else self._bindings.fault(envelope, message),
            _surplus(method, message),
            self._bindings.fault(method.message, message),
        )
        return method.message, next((fault for fault in faults if fault), None)

    # ---- responses

    def _result(self, message: Mapping[str, Any]) -> _Named:
        envelope = self._declares(_RESULT)
        fault = self._bindings.fault(envelope, message)
        if fault is not None and fault.path.startswith("$.result") and self._is_elsewhere(message):
            fault = None
        if fault is None and "error" in message:
            fault = Fault("$.error", "no error beside a result", _lookup(message["error"]))
        asked = self._asked.of(message) if fault is None else []
        answers = [(each, *self._answer(each.method, message["result"])) for each in asked]
        if not answers:
            return envelope, fault
        fits = [answer for answer in answers if answer[-1] is None]
        request, type, fault = fits[0] if fits else max(answers, key=_nearness)
        request.answered = True
        return type or envelope, fault

    def _is_elsewhere(self, response: Mapping[str, Any]) -> bool:
        """Return whether it answers a request between other roles, not by a result of the core."""
        return any(each.method.direction not in _CORE_WAYS for each in self._asked.of(response))

    def _answer(self, method: Method, result: Any) -> _Named:
        """Judge a result as the first result type it satisfies, else as the type its `resultType`
        names.

        If the name is missing or ambiguous, take the type whose fault lies deepest.
        """
        faults = [(type, self._bindings.fault(type, result)) for type in method.results]
        fits = [(type, None) for type, fault in faults if fault is None]
        if fits or not faults:
            return fits[0] if fits else (None, None)
        named = [(type, fault) for type, fault in faults if self._is_named(type, fault, result)]
        type, fault = max(named if len(named) == 1 else faults, key=lambda of: _reach(of[1]))
        return type, below("$.result", fault)

    def _is_named(self, type: str, fault: Fault | None, result: Any) -> bool:
        """Return whether the `resultType` of a result is the constant of this type."""
        if "resultType" not in (_members(result) or ()) or (fault and fault.path == _RESULT_TYPE):
            return False
        other = self._bindings.fault(type, {**result, "resultType": ""})
        return other is not None and other.path == _RESULT_TYPE

    def _error(self, message: Mapping[str, Any]) -> _Named:
        envelope = self._declares(_ERROR)
        if len(still_open := [each for each in self._asked.of(message) if not each.answered]) == 1:
            still_open[0].answered = True
        fault = self._bindings.fault(envelope, message)
        if fault is None:
            for type in self._types_of_code:
                problem = self._bindings.fault(type, message)
                if problem is None or problem.path != _CODE:
                    return type, problem
        return envelope, fault

    @cached_property
    def _types_of_code(self) -> tuple[str, ...]:
        """The types of error responses with a code; used if no type fits."""
        types = sorted(self._bindings.types)
        faults = ((type, self._bindings.fault(type, _NO_ERROR)) for type in types)
        return tuple(type for type, fault in faults if fault and fault.path == _CODE)

    def _declares(self, names: Iterable[str]) -> str:
        return next(name for name in names if name in self._bindings.types)

    # ---- batches

    def _batch(self, messages: list[Any]) -> _Named:
        calls = any("method" in (_members(message) or ()) for message in messages)
        type = _BATCH[calls or not messages]
        if type not in self._bindings.types:
            return None, Fault(
                "$", f"one message: {self._bindings.revision} has no batches", "array"
            )
        faults = [*self._faults_in(messages)]
        return type, faults[0] if faults else self._bindings.fault(type, messages)

    def _faults_in(self, messages: list[Any]) -> Iterator[Fault]:
        for number, message in enumerate(messages):
            place = f"$[{number}]"
            if message.__class__ is list:
                yield Fault(place, "a message", "array")
            elif fault := self._message(message)[1]:
                yield replace(fault, path=place + fault.path.removeprefix("$"))


_TOO_LARGE: Final = Fault("$", f"at most {MAX_MESSAGE_BYTES} bytes", "more")
_CODE: Final = "$.error.code"
_RESULT_TYPE: Final = "$.resultType"
_NO_ERROR: Final = {"jsonrpc": "2.0", "id": 0, "error": {"code": 0, "message": ""}}
_SHORT: Final = 40
_STEP: Final = re.compile(r"\.\w+|\[\d+\]|\[\"(?:[^\"\\]|\\.)*\"\]")
_TRACED: Final = frozenset(("direction", "message"))
_MEMBERS: Final = frozenset(("jsonrpc", "method", "result", "error"))
_KINDS: Final[Mapping[type, str]] = {
    dict: "object",
    list: "array",
    str: "string",
    int: "number",
    float: "number",
    bool: "boolean",
}


def _verdict(text: Text, named: _Named) -> Verdict:
    type, fault = named
    return Verdict(text.line, fault is None, type, fault)


def _members(value: Any) -> dict[str, Any] | None:
    return value if value.__class__ is dict else None


def _is_message(value: Any) -> bool:
    """Return whether a value is meant as a message or a batch."""
    if value.__class__ is list:
        return any(_is_message(item) for item in value)
    return not _MEMBERS.isdisjoint(_members(value) or ())


def _surplus(method: Method, message: Mapping[str, Any]) -> Fault | None:
    if method.kind == "notification" and "id" in message:
        return Fault("$.id", "no id, as in every notification", _lookup(message["id"]))
    return None


def below(place: str, fault: Fault | None) -> Fault | None:
    """A fault inside of `place`, with its path from the root."""
    return fault and replace(fault, path=place + fault.path.removeprefix("$"))


def _nearness(answer: tuple[_Asked, str | None, Fault | None]) -> tuple[bool, object]:
    """Sort key: how likely a result without a matching request answers this request."""
    request, _, fault = answer
    return not request.answered, _reach(fault)


def _reach(fault: Fault | None) -> tuple[int, bool, bool]:
    """Sort key: how deep a value got before its fault. A wrong constant counts least."""
    if fault is None:
        return 0, False, False
    depth = len(_STEP.findall(fault.path))
    return depth, not fault.expected.startswith('"'), fault.found != "nothing"


def _id(message: Mapping[str, Any]) -> _Id | None:
    """The id of a message, typed: 1 is not "1". None if it is no id, or too long to remember."""
    id = message.get("id")
    if isinstance(id, str) and len(id) > MAX_ID_CHARS:
        return None
    return (_kind(id), id) if _kind(id) in {"string", "number"} else None


def _kind(value: Any) -> str:
    return _KINDS.get(value.__class__, "null")


def _lookup(value: Any) -> str:
    """Short text as it is, all else by its kind."""
    short = isinstance(value, str) and len(value) <= _SHORT
    return json.dumps(value) if short else _kind(value)
