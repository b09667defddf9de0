"""Tasks as messages: of the extension, and of the core revisions with tasks."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple, cast

from mcp_runtime.core.wire import rpc_errors
from mcp_runtime.extensions.tasks.record import Record, Status
from mcp_runtime.revisions import DecodeError, parse, result_type
from mcp_runtime.revisions import latest as t
from mcp_wire.ext.tasks.handlers_msgspec import models as m

RELATED = "io.modelcontextprotocol/related-task"


def create_result(record: Record, poll: float) -> m.CreateTaskResult:
    """Return the answer to a call when the call became a task."""
    status = {"status": record.status, "resultType": "task"}
    return m.from_wire(m.CreateTaskResult, {**_members(record, poll), **status})


def get_result(record: Record, poll: float) -> Any:
    """Return the result of `tasks/get`."""
    return m.from_wire(m.GetTaskResult, {**_detail(record, poll), "resultType": "complete"})


def notice(record: Record, poll: float) -> Any:
    """Return the params of `notifications/tasks`."""
    return m.from_wire(m.TaskStatusNotificationParams, _detail(record, poll))


def _detail(record: Record, poll: float) -> dict[str, Any]:
    payload: dict[str, dict[str, Any]] = {
        "input_required": {"inputRequests": record.requests},
        "completed": {"result": record.result},
        "failed": {"error": record.error},
    }
    return {**_members(record, poll), "status": record.status, **payload.get(record.status, {})}


def _members(record: Record, poll: float) -> dict[str, Any]:
    members: dict[str, Any] = {
        "taskId": record.id,
        "createdAt": _time(record.created),
        "lastUpdatedAt": _time(record.updated),
        "ttlMs": round(record.ttl * 1000),
        "pollIntervalMs": round(poll * 1000),
    }
    return members | ({"statusMessage": record.message} if record.message else {})


def core_task(record: Record, poll: float) -> dict[str, Any]:
    """Return the members of a task of the core.

    If the tool reported an error, the task of the core has failed.
    Source: 2025-11-25 basic/utilities/tasks, "Task Execution Errors".
    """
    members = _members(record, poll)
    members["ttl"], members["pollInterval"] = members.pop("ttlMs"), members.pop("pollIntervalMs")
    status: Status = record.status
    if status == "completed" and (record.result or {}).get("isError"):
        status = "failed"
        members.setdefault("statusMessage", "the tool has reported an error; read the result")
    return {**members, "status": status}


def name_task(body: Mapping[str, Any], id: str) -> dict[str, Any]:
    """Return the body, with a `_meta` naming its task."""
    return {**body, "_meta": {**body.get("_meta", {}), RELATED: {"taskId": id}}}


def request_of(wire: Mapping[str, Any], id: str) -> Any:
    """A question of a task, as a request to its client."""
    models = {
        "elicitation/create": t.ElicitRequest,
        "sampling/createMessage": t.CreateMessageRequest,
        "roots/list": t.ListRootsRequest,
    }
    request = {**wire, "params": name_task(wire.get("params", {}), id)}
    return t.from_wire(models[wire["method"]], request)


def _time(seconds: float) -> str:
    text = datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


class Update(NamedTuple):
    """The params of `tasks/update`; an answer under an unknown key may be anything."""

    task_id: str
    responses: dict[str, Any]
    """Parsed JSON, by key."""


def read_update(raw: bytes) -> Update:
    """Read the params of `tasks/update`. Raises DecodeError."""
    body: Any = parse(raw)
    sent = cast("dict[str, Any]", body) if isinstance(body, dict) else {}
    responses: Any = sent.get("inputResponses")
    if isinstance(responses, dict):
        body = {**sent, "inputResponses": {}}
    params = m.from_wire(m.UpdateTaskRequestParams, body)
    return Update(params.task_id, cast("dict[str, Any]", responses))


def with_extra(tool: t.Tool, members: Mapping[str, Any]) -> t.Tool:
    """A tool with members the newest revision does not have."""
    return t.from_wire(t.Tool, {**t.to_wire(tool), **members})


def require_answer(method: str, response: Mapping[str, Any]) -> None:
    """Raise RpcError unless the answer fits the question."""
    try:
        t.from_wire(result_type(method), response)
    except DecodeError as error:
        raise rpc_errors.invalid_params(f"an answer to {method}: {error}") from None
