"""Versions of extensions: every change is found, judged for the right role, and named once."""

from __future__ import annotations

import json
import random
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from mcp_bindgen import pins
from mcp_bindgen.cli.diff.sides import sides
from mcp_bindgen.compare.judge.verdicts import Finding
from mcp_bindgen.compare.report.report import Report, compare
from mcp_bindgen.errors import InputError
from tests.support.command import invoke
from tests.support.mutations import MUTATIONS, mutated
from tests.support.refutation import check_mutation, varied
from tests.support.schemas import side_of
from tests.support.seeds import seed

CORPUS: Final = Path(__file__).parents[1] / "corpus" / "ext"
TASKS: Final = "tasks@draft-2026-08-21"
APPS: Final = "apps@2026-01-26"
OLDER: Final = ("@modelcontextprotocol/sdk/types.js=2025-11-25",)
"""What the first versions of both import."""
ROUNDS: Final = 4


def stored(name: str) -> str:
    """Declarations of a state of the official file, by its commit or release."""
    return str(CORPUS / f"{name}.ts")


@cache
def report(old: str, new: str, extension: str = "") -> Report:
    before, after = sides([old, new], OLDER, extension)
    return compare(before, after)


def rows(report: Report) -> dict[tuple[str, str], Finding]:
    return {(f.rule.id, f.change.path): f for f in report.findings}


def broken(finding: Finding) -> dict[str, str]:
    """Whom it breaks."""
    return {role: verdict for role, verdict in finding.peers.items() if verdict != "holds"}


# ---- versions that there were


def test_a_state_of_tasks_that_adds_one_type_has_one_change() -> None:
    comparison = report(TASKS, stored("tasks-b30c477"))
    assert list(rows(comparison)) == [("DECLARATION_ADDED", "RelatedTaskIds")]
    assert broken(comparison.findings[0]) == {}


CHANGES: Final[list[tuple[str, str, str, str, dict[str, str]]]] = [
    ("tasks-0b65dc6", "tasks-29f83d5", "METHOD_ADDED", "tasks/update", {"server": "if used"}),
    (
        "tasks-0b65dc6",
        "tasks-29f83d5",
        "METHOD_ADDED",
        "notifications/tasks",
        {"client": "if used"},
    ),
    (
        "tasks-0b65dc6",
        "tasks-29f83d5",
        "MEMBER_REMOVED_REQUIRED",
        "CreateTaskResult.task",
        {"client": "breaks"},
    ),
    (
        "tasks-0b65dc6",
        "tasks-29f83d5",
        "MEMBER_ADDED_REQUIRED",
        "CreateTaskResult.ttlMs",
        {"server": "breaks"},
    ),
    (
        "tasks-29f83d5",
        TASKS,
        "MEMBER_ADDED_CONST",
        "CancelTaskResult.resultType",
        {"server": "breaks"},
    ),
    (
        "tasks-29f83d5",
        TASKS,
        "MEMBER_ADDED_CONST",
        "CreateTaskResult.resultType",
        {"server": "breaks"},
    ),
    ("apps-1.0.0", "apps-2.0.4", "METHOD_ADDED", "ui/download-file", {"host": "if used"}),
    ("apps-2.0.4", "apps-1.0.0", "METHOD_REMOVED", "ui/download-file", {"view": "breaks"}),
    ("apps-2.0.4", "apps-1.0.0", "MEMBER_REMOVED_OPTIONAL", "McpUiToolMeta.csp", {}),
]


@pytest.mark.parametrize(("old", "new", "rule", "path", "wanted"), CHANGES)
def test_a_change_breaks_the_role_that_sends_or_reads_it(
    old: str, new: str, rule: str, path: str, wanted: dict[str, str]
) -> None:
    files = [name if "@" in name else stored(name) for name in (old, new)]
    changes = rows(report(files[0], files[1], old.partition("-")[0]))
    assert broken(changes[rule, path]) == wanted


def test_a_change_of_the_core_is_named_once_as_the_cores() -> None:
    comparison = report(stored("apps-1.0.0"), stored("apps-2.0.4"), "apps")
    change = rows(comparison)["MEMBER_ADDED_REQUIRED", "Result.resultType"]
    assert change.change.note == "a change of the core, not of the extension"
    assert change.methods == ("ui/notifications/tool-result",)
    assert broken(change) == {"host": "breaks"}
    named = [f.change.path for f in comparison.findings if f.change.path.endswith(".resultType")]
    assert named == ["Result.resultType"]


def test_what_is_flattened_into_many_types_is_one_change(tmp_path: Path) -> None:
    text = pins.schema_path(TASKS).read_text("utf-8")
    (tmp_path / "next.ts").write_text(text.replace("pollIntervalMs?:", "pollIntervalMs:"), "utf-8")
    comparison = report(TASKS, str(tmp_path / "next.ts"))
    assert list(rows(comparison)) == [("MEMBER_BECAME_REQUIRED", "Task.pollIntervalMs")]
    (finding,) = comparison.findings
    assert broken(finding) == {"server": "breaks"}
    assert set(finding.methods) == {"tools/call", "tasks/get", "notifications/tasks"}


@pytest.mark.parametrize(
    ("name", "old", "new", "path", "wanted"),
    [
        (APPS, "resourceUri?:", "resourceUri:", "McpUiToolMeta.resourceUri", {"server": "breaks"}),
        (
            APPS,
            "  html: string",
            "  html: string; page: string",
            "McpUiSandboxResourceReadyNotification.params.page",
            {"host": "breaks"},
        ),
        (
            TASKS,
            "taskIds?: string[]",
            "taskIds: string[]",
            "TaskSubscriptionNotifications.taskIds",
            {"client": "breaks", "server": "breaks"},
        ),
        (
            "server-card@draft-2026-07-24",
            "  websiteUrl?: string",
            "  websiteUrl: string",
            "ServerCard.websiteUrl",
            {"server": "breaks"},
        ),
    ],
)
def test_what_only_rows_say_that_it_travels_is_judged(
    tmp_path: Path, name: str, old: str, new: str, path: str, wanted: dict[str, str]
) -> None:
    text = pins.schema_path(name).read_text("utf-8")
    assert old in text
    (tmp_path / "next.ts").write_text(text.replace(old, new, 1), "utf-8")
    comparison = report(name, str(tmp_path / "next.ts"))
    (finding,) = (f for f in comparison.findings if f.change.path == path)
    assert broken(finding) == wanted
    assert finding.witnesses


@pytest.mark.wide
def test_a_result_of_the_core_s_method_that_goes_breaks_who_sends_it(tmp_path: Path) -> None:
    text = pins.schema_path(TASKS).read_text("utf-8")
    start = text.index("export type CreateTaskResult")
    end = text.index("/**", text.index("};", start))
    (tmp_path / "next.ts").write_text(text[:start] + text[end:], "utf-8")
    there, back = (TASKS, str(tmp_path / "next.ts")), (str(tmp_path / "next.ts"), TASKS)
    gone = rows(report(*there))["ARM_REMOVED", "tools/call result"]
    came = rows(report(*back))["ARM_ADDED", "tools/call result"]
    assert (broken(gone), broken(came)) == ({"server": "if used"}, {"client": "if used"})
    (witness,) = gone.witnesses
    assert (witness.path, witness.expected) == ("$.result", "a result that it knows")
    assert witness.message["result"]["resultType"] == "task"


# ---- versions that there were not


PLACELESS: Final = {
    "server-card@draft-2026-07-24": {
        "change constant",
        "remove constant",
        "remove method",
        "turn method",
        "remove arm",
        "nest",
    },
    "tool-resolution@draft-2026-08-21": {"change constant", "remove constant"},
}
"""The kinds of mutation that have no place in a version: it lacks what they change."""


@pytest.mark.parametrize("name", pins.extensions())
def test_a_kind_of_mutation_without_a_place_has_none(name: str) -> None:
    """A schema without constants has no place for a mutation of one, and so on."""
    schema = side_of(name).schema
    lacking = set() if schema.consts else {"change constant", "remove constant"}
    if not schema.methods:  # a document: no method, no alias
        lacking |= {"remove method", "turn method", "remove arm", "nest"}
    assert PLACELESS.get(name, set()) == lacking


@pytest.mark.drawn
@pytest.mark.parametrize(
    ("name", "kind"),
    [(n, k) for n in pins.extensions() for k in MUTATIONS if k not in PLACELESS.get(n, ())],
)
def test_a_mutation_is_found_and_judged_for_the_right_role(name: str, kind: str) -> None:
    dice = random.Random(number := seed(f"{name} {kind}"))
    side = side_of(name)
    for round in range(ROUNDS):
        mutation = mutated(dice, side.schema, kind)
        where = f"seed {number}, {name}, round {round}"
        check_mutation(mutation, side.schema, dice, where, side.inside, varied)


# ---- the command


@pytest.mark.parametrize("format", ["text", "short", "json", "markdown", "github", "html"])
def test_every_form_of_the_report_names_the_roles(format: str, tmp_path: Path) -> None:
    text = pins.schema_path(APPS).read_text("utf-8")
    (tmp_path / "next.ts").write_text(text.replace("appInfo:", "application:"), "utf-8")
    shown = invoke("diff", APPS, tmp_path / "next.ts", "--format", format)
    assert shown.exit_code == 1, shown.stderr
    assert "McpUiInitializeRequest.params.appInfo" in shown.stdout
    assert "host" in shown.stdout
    if format == "json":
        document: dict[str, Any] = json.loads(shown.stdout)
        assert {"host", "view", "sandbox"} <= set(document["audiences"])
        assert document["findings"][0]["peers"]["host"] == "breaks"


def test_for_asks_for_a_role_of_the_extension(tmp_path: Path) -> None:
    text = pins.schema_path(APPS).read_text("utf-8")
    (tmp_path / "next.ts").write_text(text.replace("appInfo:", "application?:"), "utf-8")
    codes = {
        role: invoke("diff", APPS, tmp_path / "next.ts", "--for", role).exit_code
        for role in ("host", "view", "sandbox")
    }
    assert codes == {"host": 1, "view": 0, "sandbox": 0}
    refused = invoke("diff", "2025-06-18", "2025-11-25", "--for", "host")
    assert refused.exit_code == 2
    assert "client, server, bindings" in refused.stderr


def test_an_import_that_nothing_stands_for_says_how_to_name_it() -> None:
    refused = invoke("diff", APPS, stored("apps-1.0.0"))
    assert refused.exit_code == 2
    assert "--import @modelcontextprotocol/sdk/types.js=FILE" in refused.stderr


def test_a_core_that_lacks_an_imported_name_is_named() -> None:
    old = "./spec.types.js=2025-11-25"
    with pytest.raises(Exception, match="declares no `InputRequests`"):
        sides([TASKS, stored("tasks-b30c477")], [old])


@pytest.mark.parametrize(
    ("names", "extension"),
    [((TASKS, APPS), ""), ((TASKS, "2026-07-28"), ""), ((APPS, APPS), "tasks")],
)
def test_versions_of_one_extension_are_compared(names: tuple[str, str], extension: str) -> None:
    with pytest.raises(InputError, match="is not a version of"):
        sides(names, (), extension)


def test_an_unknown_extension_names_those_there_are() -> None:
    refused = invoke(
        "diff", "--extension", "task", stored("tasks-29f83d5"), stored("tasks-b30c477")
    )
    assert refused.exit_code == 2
    assert TASKS in refused.stderr


OWN: Final = """
export interface JSONRPCRequest { jsonrpc: "2.0"; id: string; method: string }
export interface PutRequest extends JSONRPCRequest { method: "queue/put"; params: { job: string } }
export interface PutResult { position: number }
export interface QueuedResult { resultType: "queued" }
"""


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ("position: number", "position: string", "PutResult.position"),
        ('"queued"', '"waiting"', "QueuedResult.resultType"),
        ("job: string", "job: string; priority: number", "PutRequest.params.priority"),
    ],
)
def test_what_travels_in_a_file_that_no_rows_are_about_breaks_both_sides(
    tmp_path: Path, old: str, new: str, path: str
) -> None:
    (tmp_path / "a.ts").write_text(OWN, "utf-8")
    (tmp_path / "b.ts").write_text(OWN.replace(old, new), "utf-8")
    comparison = report(str(tmp_path / "a.ts"), str(tmp_path / "b.ts"))
    (finding,) = (f for f in comparison.findings if f.change.path == path)
    assert broken(finding) == {"client": "breaks", "server": "breaks"}
    assert finding.witnesses
