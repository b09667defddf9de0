"""`export`: each revision as JSON of a documented form, which its own schema accepts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from mcp_bindgen.ir.export.dump import FORMAT
from mcp_runtime.revisions import ALL
from tests.support.command import run_here


def read(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exported") / "new"
    done = run_here("export", folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("revision", ALL)
def test_the_exported_meaning_fits_the_schema_beside_it(exported: Path, revision: str) -> None:
    judge = jsonschema_rs.Draft202012Validator(read(exported / "ir.schema.json"))
    meaning = read(exported / revision / "ir.json")
    assert [*judge.iter_errors(meaning)] == []
    assert (meaning["format"], meaning["revision"]) == (FORMAT, revision)
    call = next(m for m in meaning["methods"] if m["name"] == "tools/call")
    assert (call["direction"], call["capability"]) == ("client-to-server", "tools")
    types = read(exported / revision / "schema.json")
    names = {d["name"] for d in meaning["declarations"] if d["kind"] != "const"}
    assert names == types["$defs"].keys()


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("format",), "mcp-bindgen-ir/2"),
        (("methods", 0, "direction"), "sideways"),
        (("declarations", 0, "kind"), "enum"),
        (("declarations", 0, "surplus"), True),
    ],
)
def test_the_schema_refuses_another_form(
    exported: Path, path: tuple[str | int, ...], value: object
) -> None:
    judge = jsonschema_rs.Draft202012Validator(read(exported / "ir.schema.json"))
    meaning = read(exported / ALL[-1] / "ir.json")
    *outer, last = path
    inner = meaning
    for step in outer:
        inner = inner[step]
    inner[last] = value
    assert not judge.is_valid(meaning)


def test_one_revision_is_exported_and_an_unknown_one_is_refused(tmp_path: Path) -> None:
    done = run_here("export", "--revision", ALL[0], tmp_path)
    assert done.returncode == 0
    assert sorted(each.name for each in tmp_path.iterdir()) == [ALL[0], "ir.schema.json"]
    done = run_here("export", "--revision", "1999-01-01", tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
