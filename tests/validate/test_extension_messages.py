"""`validate --extension`: methods of extensions, and their results of the core's methods."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.command import invoke

META: Final[dict[str, Any]] = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
TASK: Final[dict[str, Any]] = {"taskId": "t", "createdAt": "", "lastUpdatedAt": "", "ttlMs": None}
CREATED: Final[dict[str, Any]] = {"resultType": "task", **TASK, "status": "working"}
DONE: Final[dict[str, Any]] = {
    "resultType": "complete",
    **TASK,
    "status": "completed",
    "result": {},
}
VIEW: Final[dict[str, Any]] = {
    "protocolVersion": "2026-01-26",
    "appInfo": {"name": "view", "version": "1"},
    "appCapabilities": {},
}


def request(id: int, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def result(id: int, **members: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "result": members}


def judged(folder: Path, *options: str, messages: list[Any]) -> list[tuple[str | None, str | None]]:
    """The type of each message, and where it is at fault."""
    file = folder / "messages.jsonl"
    file.write_text("\n".join(map(json.dumps, messages)), "utf-8")
    shown = invoke("validate", *options, "--format", "json", file)
    assert shown.exit_code in (0, 1), shown.stderr
    rows = [json.loads(line) for line in shown.stdout.splitlines()]
    return [(row["type"], row["path"]) for row in rows]


def test_a_conversation_with_a_task_is_valid(tmp_path: Path) -> None:
    conversation = [
        request(1, "tools/call", name="slow", arguments={}, _meta=META),
        result(1, **CREATED),
        request(2, "tasks/get", taskId="t", _meta=META),
        result(2, **DONE),
        request(3, "tasks/cancel", taskId="t", _meta=META),
        result(3, resultType="complete"),
        {
            "jsonrpc": "2.0",
            "method": "notifications/tasks",
            "params": {**TASK, "status": "failed", "error": {"code": 1, "message": "m"}},
        },
    ]
    assert judged(tmp_path, "--extension", "tasks", messages=conversation) == [
        ("CallToolRequest", None),
        ("CreateTaskResult", None),
        ("GetTaskRequest", None),
        ("GetTaskResult", None),
        ("CancelTaskRequest", None),
        ("CancelTaskResult", None),
        ("TaskStatusNotification", None),
    ]


def test_without_the_extension_none_of_it_is(tmp_path: Path) -> None:
    messages = [
        request(1, "tools/call", name="slow", arguments={}, _meta=META),
        result(1, **CREATED),
        request(2, "tasks/get", taskId="t", _meta=META),
    ]
    rows = judged(tmp_path, "--revision", "2026-07-28", messages=messages)
    assert [path is None for _, path in rows] == [True, False, False]


@pytest.mark.parametrize(
    ("answer", "path"),
    [
        ({**CREATED, "createdAt": 5}, "$.result.createdAt"),
        ({**CREATED, "status": "asleep"}, "$.result.status"),
        ({**CREATED, "status": "asleep", "content": [{"type": "smell"}]}, "$.result.status"),
        ({k: v for k, v in CREATED.items() if k != "ttlMs"}, "$.result.ttlMs"),
    ],
)
def test_a_task_at_fault_is_named_with_its_place(
    tmp_path: Path, answer: dict[str, Any], path: str
) -> None:
    messages = [
        request(1, "tools/call", name="slow", arguments={}, _meta=META),
        result(1, **answer),
    ]
    assert judged(tmp_path, "--extension", "tasks", messages=messages)[1] == (
        "CreateTaskResult",
        path,
    )


@pytest.mark.parametrize(
    ("answer", "type", "path"),
    [
        ({"resultType": "asleep", "content": [5]}, "CallToolResult", "$.result.content[0]"),
        (
            {**TASK, "resultType": "complete", "status": "asleep"},
            "CallToolResult",
            "$.result.content",
        ),
        (
            {"resultType": "input_required", "inputRequests": 5, "content": [5]},
            "InputRequiredResult",
            "$.result.inputRequests",
        ),
    ],
)
def test_the_type_of_a_result_at_fault_is_the_one_that_it_names(
    tmp_path: Path, answer: dict[str, Any], type: str, path: str
) -> None:
    messages = [request(1, "tools/call", name="slow", arguments={}, _meta=META)]
    messages.append(result(1, **answer))
    assert judged(tmp_path, "--extension", "tasks", messages=messages)[1] == (type, path)


def test_a_task_with_the_status_of_another_is_at_fault(tmp_path: Path) -> None:
    failed = {**DONE, "status": "failed"}
    messages = [request(1, "tasks/get", taskId="t", _meta=META), result(1, **failed)]
    assert judged(tmp_path, "--extension", "tasks", messages=messages)[1] == (
        "GetTaskResult",
        "$.result.error",
    )


def test_messages_of_a_view_have_results_of_their_own(tmp_path: Path) -> None:
    host = {
        "protocolVersion": "2026-01-26",
        "hostInfo": {"name": "host", "version": "1"},
        "hostCapabilities": {},
        "hostContext": {},
    }
    messages = [
        request(1, "ui/initialize", **VIEW),
        result(1, **host),
        {"jsonrpc": "2.0", "method": "ui/notifications/initialized"},
        request(2, "ui/open-link", url=5),
    ]
    assert judged(tmp_path, "--extension", "apps", messages=messages) == [
        ("McpUiInitializeRequest", None),
        ("McpUiInitializeResult", None),
        ("McpUiInitializedNotification", None),
        ("McpUiOpenLinkRequest", "$.params.url"),
    ]


@pytest.mark.parametrize(
    ("ids", "path"), [(["t"], None), ("t", "$.params.notifications.taskIds"), (["t", 5], "[1]")]
)
def test_a_member_that_is_added_to_a_type_of_the_core_is_judged(
    tmp_path: Path, ids: Any, path: str | None
) -> None:
    listen = request(1, "subscriptions/listen", notifications={"taskIds": ids}, _meta=META)
    ((type, place),) = judged(tmp_path, "--extension", "tasks", messages=[listen])
    assert type == "SubscriptionsListenRequest"
    assert (place is None) == (path is None)
    assert place is None or place.endswith(str(path))
    assert judged(tmp_path, "--revision", "2026-07-28", messages=[listen])[0][1] is None


def test_a_member_inside_of_meta_is_judged_in_every_item(tmp_path: Path) -> None:
    good: dict[str, Any] = {"name": "a", "inputSchema": {"type": "object"}, "_meta": {"ui": {}}}
    bad = {**good, "_meta": {"ui": {"resourceUri": 5}}}
    page: dict[str, Any] = {
        "resultType": "complete",
        "tools": [good, bad],
        "ttlMs": 0,
        "cacheScope": "public",
    }
    messages = [request(1, "tools/list", _meta=META), result(1, **page)]
    assert judged(tmp_path, "--extension", "apps", messages=messages)[1] == (
        "ListToolsResult",
        "$.result.tools[1]._meta.ui.resourceUri",
    )


def test_several_extensions_are_judged_together(tmp_path: Path) -> None:
    messages = [
        request(1, "tasks/get", taskId="t", _meta=META),
        request(2, "ui/open-link", url="https://example.com"),
    ]
    options = ("--revision", "2026-07-28", "--extension", "tasks", "--extension", "apps")
    assert judged(tmp_path, *options, messages=messages) == [
        ("GetTaskRequest", None),
        ("McpUiOpenLinkRequest", None),
    ]


def test_a_document_is_judged_as_a_type(tmp_path: Path) -> None:
    card = {
        "$schema": "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
        "name": "no slash",
        "description": "d",
        "version": "1",
    }
    options = ("--extension", "server-card", "--type", "ServerCard")
    assert judged(tmp_path, *options, messages=[card, {**card, "name": "com.example/a"}]) == [
        ("ServerCard", "$.name"),
        ("ServerCard", None),
    ]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (("--extension", "task"), "Known extensions: apps@2026-01-26"),
        (("--extension", "tasks@1"), "Known extensions: apps@2026-01-26"),
        (
            ("--revision", "2025-11-25", "--extension", "tasks"),
            "It extends 2026-07-28: say --revision 2026-07-28.",
        ),
        ((), "--revision is needed, or --extension."),
    ],
)
def test_what_cannot_be_judged_says_what_to_write(
    tmp_path: Path, options: tuple[str, ...], error: str
) -> None:
    (tmp_path / "a.json").write_text("{}", "utf-8")
    refused = invoke("validate", *options, tmp_path / "a.json")
    assert refused.exit_code == 2
    assert error in refused.stderr
