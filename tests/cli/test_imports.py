"""`--import`: inspect, generate and diff read what a schema imports from named files."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Final

import pytest

from mcp_bindgen import pins
from mcp_bindgen.errors import InputError
from tests.support.command import invoke

CORE: Final = """
export interface Error { code: number; message: string }
export interface Failure { error: Error }
"""
SCHEMA: Final = """
import type { Error as JsonError } from "./core.js";
export interface GetRequest { method: "x/get"; params: { id: string } }
export interface GetResult { error?: JsonError }
export type ClientRequest = GetRequest;
export type ServerResult = GetResult;
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "core.ts").write_text(CORE)
    (tmp_path / "schema.ts").write_text(SCHEMA)
    (tmp_path / "next.ts").write_text(SCHEMA.replace("error?:", "error:"))
    return tmp_path


def mapped(folder: Path) -> str:
    return f"--import=./core.js={folder / 'core.ts'}"


def test_inspect_shows_what_is_imported_with_its_own_text(files: Path) -> None:
    shown = invoke("inspect", mapped(files), files / "schema.ts", "Error")
    assert shown.exit_code == 0, shown.stderr
    assert f"// {files / 'core.ts'}" in shown.stdout
    assert "class Error(Record):" in shown.stdout


def test_an_import_may_stand_for_a_pinned_revision(files: Path) -> None:
    option = "--import=./core.js=2026-07-28"
    shown = invoke("inspect", option, files / "schema.ts", "Error")
    assert "// schema/2026-07-28/schema.ts" in shown.stdout
    facts = json.loads(invoke("inspect", "--format=facts", option, files / "schema.ts").stdout)
    assert facts["imports"] == [
        {"module": "./core.js", "names": [{"name": "Error", "as": "JsonError"}]}
    ]
    assert "Error" not in [declaration["name"] for declaration in facts["declarations"]]


@pytest.mark.parametrize("named", [True, False])
def test_a_file_that_is_imported_belongs_to_the_schema(files: Path, named: bool) -> None:
    options = [mapped(files)] if named else []
    shown = invoke("inspect", "--format=facts", *options, files / "schema.ts")
    facts = json.loads(shown.stdout)
    assert "imports" not in facts
    names = [declaration["name"] for declaration in facts["declarations"]]
    own = ["GetRequest", "GetResult", "ClientRequest", "ServerResult"]
    assert names == ["Error", "Failure", *own]


def test_diff_compares_with_the_imports_of_both(files: Path) -> None:
    compared = invoke("diff", mapped(files), files / "schema.ts", files / "next.ts")
    assert compared.exit_code == 1, compared.stderr
    assert "GetResult.error" in compared.stdout


def test_generate_writes_what_is_imported_too(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = files / "with_imports"
    options = ("--schema", files / "schema.ts", "--revision", "one", "--out", out)
    assert invoke("generate", mapped(files), *options).exit_code == 0
    monkeypatch.setattr(sys, "path", [str(files), *sys.path])
    models = importlib.import_module("with_imports.vone.models_msgspec")
    result = models.decode(models.GetResult, '{"error": {"code": 1, "message": ""}}')
    assert type(result.error) is models.Error
    assert invoke("generate", mapped(files), *options, "--check").exit_code == 0


def test_an_import_without_a_file_says_how_to_name_one(files: Path) -> None:
    (files / "core.ts").rename(files / "kernel.ts")
    refused = invoke("inspect", files / "schema.ts")
    assert refused.exit_code == 2
    assert "--import ./core.js=FILE, or =REVISION for a pinned one" in refused.stderr


@pytest.mark.parametrize("row", ["./core.js", "=core.ts", "./core.js="])
def test_an_option_that_maps_nothing_is_refused(files: Path, row: str) -> None:
    with pytest.raises(InputError, match="maps no import"):
        pins.find(str(files / "schema.ts"), [row])


def test_a_pin_has_the_revisions_of_its_imports() -> None:
    pin = pins.Pin(path="p", commit="c", structure="d", modules={"./core.js": "2026-07-28"})
    text = pins.render({"x": pin})
    assert 'modules = {"./core.js" = "2026-07-28"}' in text
    assert pins.parse(text, "PINS.toml")["x"].modules == {"./core.js": "2026-07-28"}
    assert "modules" not in pins.render({"x": pins.Pin(path="p", commit="c", structure="d")})
