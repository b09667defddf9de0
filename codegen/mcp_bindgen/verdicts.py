"""What a JSON text is, as a message of one revision: its type, and where it is at fault.

The bindings of that revision are asked; what they are is an argument. A request or notification is
recognised by its method, a result by the request with its id that came before it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, Final, Protocol, TypeAlias

from mcp_bindgen.limits import MAX_MESSAGE_BYTES, MAX_OPEN_REQUESTS
from mcp_bindgen.messages import Text

__all__ = ["Bindings", "Fault", "Judge", "Method", "Verdict"]


@dataclass(frozen=True, slots=True)
class Fault:
    """A JSON path, what was expected there, and what was found."""

    path: str
    expected: str
    found: str


class Method(Protocol):
    """What is asked of a row of the method table."""

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
        """Why parsed JSON is not of a type; None if it is."""
        ...


@dataclass(frozen=True, slots=True)
class Verdict:
    """`valid` is None for what is no message and need not be one. `type` is None if unknown."""

    line: int
    valid: bool | None
    type: str | None = None
    fault: Fault | None = None


_Named: TypeAlias = tuple[str | None, Fault | None]

_REQUEST: Final = "JSONRPCRequest"
_NOTIFICATION: Final = "JSONRPCNotification"
_RESULT: Final = ("JSONRPCResultResponse", "JSONRPCResponse")
_ERROR: Final = ("JSONRPCErrorResponse", "JSONRPCError")
_BATCH: Final = {True: "JSONRPCBatchRequest", False: "JSONRPCBatchResponse"}


class Judge:
    """Judges the texts of one file in turn; with `type`, each as that type."""

    def __init__(self, bindings: Bindings, type: str | None = None) -> None:
        self._bindings = bindings
        self._type = type
        self._asked: OrderedDict[tuple[str, Any], list[str]] = OrderedDict()

    def judge(self, text: Text) -> Verdict:
        if text.data is None:
            return Verdict(text.line, False, None, _TOO_LARGE)
        value, fault = self._bindings.parse(text.data)
        if fault is not None:
            return Verdict(text.line, False, None, fault)
        if self._type is not None:
            return _verdict(text, self._typed(self._type, value))
        if text.loose and not _is_message(value):
            return Verdict(text.line, None)
        return _verdict(text, self._message(value))

    def _typed(self, type: str, value: Any) -> _Named:
        if type in self._bindings.types:
            return type, self._bindings.fault(type, value)
        near = get_close_matches(type, self._bindings.types, n=3)
        close = f", as {' or '.join(near)}" if near else ""
        return None, Fault("$", f"a type of {self._bindings.revision}{close}", type)

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
            return self._as(self._declared(_ERROR), message)
        expected = "a message, which has `method`, `result` or `error`"
        return None, Fault("$", expected, "an object without them")

    # ---- requests and notifications

    def _call(self, message: Mapping[str, Any]) -> _Named:
        name = message["method"]
        method = self._bindings.methods.get(name) if isinstance(name, str) else None
        if method is None:
            envelope = _REQUEST if "id" in message else _NOTIFICATION
            fault = self._bindings.fault(envelope, message)
            unknown = Fault("$.method", f"a method of {self._bindings.revision}", f'"{name}"')
            return envelope, fault or unknown
        self._remember(message, name)
        envelope = _REQUEST if method.kind == "request" else _NOTIFICATION
        bare = method.direction == "input-request" and "jsonrpc" not in message
        faults = (
            None if bare else self._bindings.fault(envelope, message),
            _surplus(method, message),
            self._bindings.fault(method.message, message),
        )
        return method.message, next((fault for fault in faults if fault), None)

    def _remember(self, message: Mapping[str, Any], method: str) -> None:
        if "id" in message:
            self._asked.setdefault(_key(message["id"]), []).append(method)
            if len(self._asked) > MAX_OPEN_REQUESTS:
                self._asked.popitem(last=False)

    # ---- responses

    def _result(self, message: Mapping[str, Any]) -> _Named:
        envelope = self._declared(_RESULT)
        fault = self._bindings.fault(envelope, message)
        if fault is None and "error" in message:
            fault = Fault("$.error", "no error beside a result", _kind(message["error"]))
        asked = self._asked.pop(_key(message.get("id")), [])
        if fault is not None or not asked:
            return envelope, fault
        types = [type for name in reversed(asked) for type in self._bindings.methods[name].results]
        return self._first_that_fits(types, message["result"])

    def _first_that_fits(self, types: Iterable[str], result: Any) -> _Named:
        faults = {type: self._bindings.fault(type, result) for type in dict.fromkeys(types)}
        fits = [type for type, fault in faults.items() if fault is None]
        if fits or not faults:
            return (fits[0] if fits else self._declared(_RESULT)), None
        type, fault = next(iter(faults.items()))
        assert fault is not None
        return type, _below("$.result", fault)

    def _declared(self, names: Iterable[str]) -> str:
        return next(name for name in names if name in self._bindings.types)

    def _as(self, type: str, value: Any) -> _Named:
        return type, self._bindings.fault(type, value)

    # ---- batches

    def _batch(self, messages: list[Any]) -> _Named:
        calls = any("method" in (_members(message) or ()) for message in messages)
        type = _BATCH[calls or not messages]
        if type not in self._bindings.types:
            return None, Fault(
                "$", f"one message: {self._bindings.revision} has no batches", "array"
            )
        return type, next(self._faults_in(messages), None)

    def _faults_in(self, messages: list[Any]) -> Iterator[Fault]:
        for number, message in enumerate(messages):
            place = f"$[{number}]"
            if message.__class__ is list:
                yield Fault(place, "a message", "array")
            elif fault := self._message(message)[1]:
                yield _below(place, fault)


_TOO_LARGE: Final = Fault("$", f"at most {MAX_MESSAGE_BYTES} bytes", "more")
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
    """Whether it is meant as one."""
    return not _MEMBERS.isdisjoint(_members(value) or ())


def _surplus(method: Method, message: Mapping[str, Any]) -> Fault | None:
    if method.kind == "notification" and "id" in message:
        return Fault("$.id", "no id, as in every notification", _kind(message["id"]))
    return None


def _below(place: str, fault: Fault) -> Fault:
    return replace(fault, path=place + fault.path.removeprefix("$"))


def _key(id: Any) -> tuple[str, Any]:
    return _kind(id), id if isinstance(id, str | int | float) else None


def _kind(value: Any) -> str:
    return _KINDS.get(value.__class__, "null")
