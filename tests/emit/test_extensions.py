"""Bindings of the pinned extensions: classes of the core are the core's, tables say the rows."""

from __future__ import annotations

import importlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

import mcp_wire.ext
from mcp_bindgen.emit.text.packages import extension_package
from mcp_bindgen.errors import DecisionError
from mcp_bindgen.ir.lower.extensions import require_apart
from tests.support.judges import EXTENSIONS, FLAVOURS, flavour_of, schema_of
from tests.support.schemas import pinned

CORE: Final = "2026-07-28"
TASKS: Final = "tasks@draft-2026-08-21"
APPS: Final = "apps@2026-01-26"
TASK: Final = {"taskId": "t", "createdAt": "", "lastUpdatedAt": "", "ttlMs": None}
STATES: Final[dict[str, dict[str, Any]]] = {
    "working": {},
    "input_required": {"inputRequests": {"a": {"method": "roots/list"}}},
    "completed": {"result": {"content": []}},
    "failed": {"error": {"code": -32603, "message": "m"}},
    "cancelled": {},
}


def module(version: str, name: str) -> Any:
    return importlib.import_module(f"mcp_wire.{extension_package(version)}.{name}")


@pytest.mark.parametrize("flavour", FLAVOURS)
@pytest.mark.parametrize("version", EXTENSIONS)
def test_no_class_of_the_core_is_copied(version: str, flavour: str) -> None:
    core = flavour_of(CORE, flavour).module
    mine = flavour_of(version, flavour).module
    schema = schema_of(version)
    for name in schema.foreign:
        assert getattr(mine, name, getattr(core, name)) is getattr(core, name)
    for struct in schema.own_structs:
        assert getattr(mine, struct.name).__module__ == mine.__name__


@pytest.mark.parametrize("version", EXTENSIONS)
def test_the_newest_version_has_an_undated_name(version: str) -> None:
    name = extension_package(version).removeprefix("ext.")
    assert mcp_wire.ext.EXTENSIONS[version] == name
    for flavour in FLAVOURS:
        handlers = importlib.import_module(
            f"mcp_wire.ext.{name.partition('.')[0]}.handlers_{flavour}"
        )
        assert handlers.models is flavour_of(version, flavour).module
        assert handlers.calls is module(version, f"calls_{flavour}")


@pytest.mark.parametrize("flavour", FLAVOURS)
@pytest.mark.parametrize("status", STATES)
def test_a_polled_task_has_a_class_by_its_status(status: str, flavour: str) -> None:
    calls = module(TASKS, f"calls_{flavour}")
    wire = {**TASK, "status": status, "resultType": "complete", **STATES[status]}
    made = calls.decode_result("tasks/get", json.dumps(wire))
    title = status.title().replace("_", "")
    assert type(made).__name__ == f"GetTaskResult{title}"
    assert json.loads(calls.encode(made)) == wire
    notification = calls.decode_params("notifications/tasks", json.dumps({**wire, "x": 1}))
    assert type(notification).__name__ == f"TaskStatusNotificationParams{title}"


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_call_may_be_answered_by_a_task_and_by_nothing_less(flavour: str) -> None:
    calls = module(TASKS, f"calls_{flavour}")
    models, core = flavour_of(TASKS, flavour).module, flavour_of(CORE, flavour).module
    answers = {
        models.CreateTaskResult: {**TASK, "status": "working", "resultType": "task"},
        core.InputRequiredResult: {"resultType": "input_required", "requestState": "s"},
        core.CallToolResult: {"resultType": "complete", "content": []},
    }
    for of, wire in answers.items():
        assert type(calls.decode_result("tools/call", json.dumps(wire))) is of
    with pytest.raises(models.DecodeError):
        calls.decode_result("tools/call", '{"resultType":"task","taskId":"t"}')


def test_the_core_alone_takes_no_task() -> None:
    models = flavour_of(CORE, "msgspec").module
    wire = json.dumps({**TASK, "status": "working", "resultType": "task"})
    with pytest.raises(models.DecodeError):
        models.decode(models.CallToolResult, wire)


def test_the_methods_of_apps_are_tables_and_no_facade() -> None:
    methods = module(APPS, "methods")
    assert methods.ROLES == ("client", "server", "host", "view", "sandbox")
    assert len(methods.METHODS) == 17
    assert {each.direction for each in methods.METHODS.values()} == {
        *("view-to-host", "host-to-view", "sandbox-to-host", "host-to-sandbox"),
    }
    assert not [name for name in vars(module(APPS, "calls_msgspec")) if name.endswith("Handlers")]


def test_two_extensions_that_add_one_member_are_refused() -> None:
    tasks, apps = pinned(TASKS), pinned(APPS)
    require_apart([tasks, apps])
    assert tasks.extension is not None
    assert apps.extension is not None
    twin = replace(apps.extension, members=tasks.extension.members[:1])
    with pytest.raises(DecisionError, match=r"both add the member `SubscriptionFilter\.taskIds`"):
        require_apart([tasks, replace(apps, extension=twin)])


def test_what_the_oracle_lists_is_what_the_rows_say(root: Path) -> None:
    index = json.loads((root / "tests/oracle/ext/index.json").read_text("utf-8"))
    oracles = {"tasks-draft": TASKS, "apps-2026-01-26": APPS}
    oracles["tool-resolution"] = "tool-resolution@draft-2026-08-21"
    for name, version in oracles.items():
        protocol = index["extensions"][name]["protocol"]
        methods = module(version, "methods")
        assert protocol["identifier"] == methods.IDENTIFIER
        ways = {m["method"]: f"{m['from']}-to-{m['to']}" for m in protocol["methods"]}
        assert {n: each.direction for n, each in methods.METHODS.items()} == ways
