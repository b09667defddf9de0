"""`mcp-bindgen inspect`: what it says to people and to machines."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mcp_bindgen import pins
from mcp_bindgen.pins import table
from tests.support.command import invoke, run_here
from tests.support.schemas import pinned


def inspected(*args: str | Path) -> str:
    result = invoke("inspect", *args)
    assert result.exit_code == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize("revision", pins.revisions())
def test_the_overview_names_everything(revision: str) -> None:
    text = inspected(revision)
    schema = pinned(revision)
    lines = {line.split()[0] for line in text.splitlines() if line.startswith("  ")}
    assert {d.name for d in schema.declarations} <= lines
    assert {m.name for m in schema.methods} <= lines


def test_overlapping_arms_are_named() -> None:
    text = inspected("2025-11-25")
    assert "EmptyResult" in next(
        line for line in text.splitlines() if line.startswith("    overlap: CallToolResult with")
    )


def test_tags_that_nobody_knows_are_listed_with_their_places(tmp_path: Path) -> None:
    file = tmp_path / "a.ts"
    file.write_text("/** @internal */\ninterface A {\n  /** @minimun 5 */\n  v: number\n}\n")
    text = inspected(file)
    assert "Unknown tags (1), which bind nothing" in text
    assert f"{file}:4:3  A.v  @minimun 5" in text
    assert "Unknown tags" not in inspected("2026-07-28")


def test_generic_types_that_nothing_uses_are_listed_with_their_places(tmp_path: Path) -> None:
    file = tmp_path / "a.ts"
    file.write_text(
        "interface Used<T> { items: Inner<T>[] }\n"
        "interface Inner<T> { of: T }\n"
        "interface Base<T> { next?: T }\n"
        "interface A extends Base<string> { v: Used<A> }\n"
        "interface Lost<T> { of: Other<T> }\n"
        "type Other<T> = T | Lost<T>;\n"
    )
    text = inspected(file)
    assert "Generic types (2) that no type uses, left out" in text
    assert text.endswith(f"  {file}:5:1  Lost\n  {file}:6:1  Other\n")


def test_a_name_has_typescript_python_and_revisions() -> None:
    text = inspected("2026-07-28", "CallToolResult")
    assert "export interface CallToolResult" in text
    assert "class CallToolResult" in text
    assert text.endswith(f"in {', '.join(pins.revisions())}\n")


def test_the_typescript_is_that_statement_alone(tmp_path: Path) -> None:
    schema = tmp_path / "s.ts"
    schema.write_text(
        "/** First. */\nexport interface A { b: { c: string } } // tail\n\n"
        "// between\n/** Second. */\nexport type Two = A | string;\n",
    )
    text = inspected(schema, "A")
    assert "/** First. */\nexport interface A { b: { c: string } }" in text
    assert "between" not in text
    assert "/** Second. */\nexport type Two = A | string;\n" in inspected(schema, "Two")
    assert "/** First. */\nexport interface A { b: { c: string } }" in inspected(schema, "AB")
    assert inspected(schema, "Two").endswith("in no pinned revision\n")


def test_a_method_is_a_name_too() -> None:
    text = inspected("2025-11-25", "tools/call")
    assert text.startswith("tools/call  request, client-to-server")
    assert "interface CallToolRequest" in text


@pytest.mark.parametrize("revision", pins.revisions())
def test_json_names_what_the_schema_has(revision: str) -> None:
    body = json.loads(inspected(revision, "--format", "json"))
    schema = pinned(revision)
    assert [d["name"] for d in body["declarations"]] == [d.name for d in schema.declarations]
    assert [m["name"] for m in body["methods"]] == [m.name for m in schema.methods]
    assert body["structure"] == schema.digest == pins.pins()[revision].structure


@pytest.mark.parametrize("format", ["json", "facts"])
def test_a_name_narrows_what_machines_read(format: str) -> None:
    body = json.loads(inspected("2025-11-25", "CallToolRequest", "--format", format))
    assert [d["name"] for d in body["declarations"]] == ["CallToolRequest"]
    assert [m["type"] for m in body["methods"]] == ["CallToolRequest"]


@pytest.mark.parametrize("revision", pins.revisions())
def test_facts_agree_with_the_typescript_compiler(
    revision: str, root: Path, tmp_path: Path
) -> None:
    oracle = root / "tests" / "oracle"
    (tmp_path / "facts.json").write_text(inspected(revision, "--format", "facts"))
    compared = subprocess.run(
        [
            *(sys.executable, oracle / "compare.py"),
            *(tmp_path / "facts.json", oracle / f"{revision}.json"),
            *("--sections", "declared,resolved,tags,methods,order"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert compared.returncode == 0, compared.stdout


def test_a_folder_stands_for_its_schema(root: Path) -> None:
    assert inspected(root / "schema" / "2025-11-25") == inspected("2025-11-25")


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (("2099-01-01",), "Known revisions: 2024-11-05"),
        (("2025-11-25", "CallToolResults"), "Did you mean CallToolResult"),
        (("2025-11-25", "Xyzzy", "--format", "json"), "declares no 'Xyzzy'"),
        (("2025-11-25", "--format", "yaml"), "yaml"),
        ((), "Missing argument"),
    ],
)
def test_what_cannot_be_inspected(args: tuple[str, ...], text: str) -> None:
    result = invoke("inspect", *args)
    assert (result.exit_code, result.stdout) == (2, "")
    assert text in result.stderr


def test_a_file_without_an_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "MAX_PROJECT_BYTES", 100_000)
    (tmp_path / "long.ts").write_text("type A = 1;\n".ljust(100_001))
    (tmp_path / "endless.ts").symlink_to("/dev/zero")
    for name in ("long.ts", "endless.ts"):
        done = invoke("inspect", tmp_path / name)
        assert (done.exit_code, done.stdout) == (2, "")
        assert f"{name}: has more than 100000 bytes" in done.stderr


def test_a_reader_that_has_gone_is_no_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)  # before anything is written: how much a pipe holds differs
    command = [sys.executable, "-m", "mcp_bindgen", "inspect", "2025-11-25", "--format", "facts"]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, timeout=60, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


def test_an_unknown_verb_and_the_version() -> None:
    assert run_here("inspct").returncode == 2
    assert run_here("--version").stdout.startswith(b"mcp-bindgen ")
    help_text = run_here("--help").stdout.decode()
    assert all(verb in help_text for verb in ("generate", "inspect", "pull"))


# ---- extensions


def test_the_overview_of_an_extension_says_what_it_adds_to_the_core() -> None:
    text = inspected("tasks@draft-2026-08-21")
    for line in (
        "extension io.modelcontextprotocol/tasks",
        "roles client, server",
        "tools/call may be answered by CreateTaskResult",
        "SubscriptionFilter.taskIds is SubscriptionFilterTaskIds",
    ):
        assert line in text.splitlines()
    assert "RequestMetaObject " not in text


@pytest.mark.parametrize(
    ("name", "path", "where"),
    [
        ("Task", "// schema/ext/tasks/draft-2026-08-21/schema.ts", "in tasks@draft-2026-08-21"),
        ("RequestMetaObject", "// schema/2026-07-28/schema.ts", "in 2026-07-28"),
        (
            "SubscriptionFilterTaskIds",
            "// schema/ext/decisions.toml",
            "in tasks@draft-2026-08-21",
        ),
    ],
)
def test_a_name_of_an_extension_is_shown_where_it_is_written(
    name: str, path: str, where: str
) -> None:
    text = inspected("tasks@draft-2026-08-21", name)
    assert text.startswith(path)
    assert where in text.splitlines()[-1]


@pytest.mark.parametrize("name", pins.extensions())
def test_an_extension_has_every_form(name: str) -> None:
    for form in ("json", "facts", "json-schema"):
        assert json.loads(inspected(name, "--format", form))
    facts = json.loads(inspected(name, "--format", "facts"))
    assert {d["name"] for d in facts["declarations"]} <= {d.name for d in pinned(name).own}


def test_an_unknown_version_says_which_there_are() -> None:
    refused = invoke("inspect", "tasks@2020-01-01")
    assert refused.exit_code == 2
    assert "Known versions: apps@2026-01-26" in refused.stderr
