"""The record of a task, and its changes; an ended task never changes again.

A function here takes a record, and returns it after the change named by the function.

Source: the Tasks extension, "Task Status"; 2025-11-25 basic/utilities/tasks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from mcp_runtime.core.wire.jsonrpc import Id

Status: TypeAlias = Literal["working", "input_required", "completed", "failed", "cancelled"]
NAMES: Final[Mapping[str, str]] = dict.fromkeys(
    ("tasks/get", "tasks/update", "tasks/cancel"), "taskId"
)
"""The member of params that the header Mcp-Name repeats."""
_OVER: Final = frozenset({"completed", "failed", "cancelled"})


class Call(msgspec.Struct, frozen=True, omit_defaults=True):
    """The call of a task, kept where another process may run it again."""

    params: dict[str, Any]
    token: str = ""
    """The content of the request's token, as JSON; empty without authorization."""
    progress_token: Id | None = None
    progress: float = -math.inf
    """The last progress; it must not go back."""
    count: int = 0
    """How often the task was run again."""


class Record(msgspec.Struct, frozen=True, omit_defaults=True):
    """One task. Times are seconds since 1970; questions and answers are parsed JSON."""

    id: str
    process: str
    """The process running the task."""
    created: float
    updated: float
    """The time when the status changed last."""
    ttl: float
    """The seconds for which the task is kept after its creation."""
    status: Status = "working"
    message: str = ""
    """A text about the status, for a person."""
    requests: dict[str, Any] = {}
    """The open questions to the client."""
    answers: dict[str, Any] = {}
    """The client's answers, kept after the handler has read them."""
    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    call: Call | None = None
    """The call of a task that may run again; None if it may not, or is over."""

    @property
    def run(self) -> tuple[str, int]:
        """Which run of the task this is."""
        return self.process, 0 if self.call is None else self.call.count

    @property
    def is_over(self) -> bool:
        return self.status in _OVER

    def seconds_to_keep(self, now: float) -> float:
        """Return the seconds for which the task is still kept."""
        return self.created + self.ttl - now


def cancel(record: Record, now: float) -> Record:
    return end(record, now, "cancelled")


def add_question(record: Record, now: float, key: str, request: Mapping[str, Any]) -> Record:
    """Return the record with a new question of the handler to the client."""
    if record.is_over or key in record.answers:
        return record
    requests = {**record.requests, key: request}
    return replace(record, status="input_required", requests=requests, updated=now)


def add_answers(record: Record, now: float, responses: Mapping[str, Any]) -> Record:
    """Return the record with the client's answers; answers without an open question are ignored."""
    known = {key: value for key, value in responses.items() if key in record.requests}
    if record.is_over or not known:
        return record
    open = {key: value for key, value in record.requests.items() if key not in known}
    answers = {**record.answers, **known}
    status: Status = "input_required" if open else "working"
    return replace(record, status=status, requests=open, answers=answers, updated=now)


def withdraw_question(record: Record, now: float, key: str) -> Record:
    """Return the record without the question, as the handler no longer waits for an answer."""
    return add_answers(record, now, {key: None})


def add_report(record: Record, now: float, message: str, progress: float) -> Record:
    """Return the record with the handler's progress."""
    if record.is_over:
        return record
    call = None if record.call is None else replace(record.call, progress=progress)
    return replace(record, message=message, call=call, updated=now)


def run_again(record: Record, now: float, process: str) -> Record:
    """Return the record for a new run in another process, from the start. The client's answers are
    kept.
    """
    if record.is_over or record.call is None:
        return record
    answers = {key: value for key, value in record.answers.items() if value is not None}
    call = replace(record.call, count=record.call.count + 1)
    return replace(record, process=process, answers=answers, call=call)


def end(
    record: Record,
    now: float,
    status: Status,
    *,
    message: str = "",
    result: dict[str, Any] | None = None,
    error: dict[str, Any] | None = None,
) -> Record:
    """Return the record of an ended task. An outcome after a cancellation is dropped."""
    if record.is_over:
        return record
    outcome = {"status": status, "message": message, "result": result, "error": error}
    return replace(record, requests={}, answers={}, call=None, updated=now, **outcome)
