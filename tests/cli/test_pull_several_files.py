"""`mcp-bindgen pull` of a schema in several files: all are brought, pinned and read as one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from mcp_bindgen import paths, pins
from mcp_bindgen.limits import MAX_SCHEMA_FILES
from tests.support.command import invoke
from tests.support.schema_server import serving

MODEL: Final = """// A comment that is not kept.

export interface Metadata { meta?: { [key: string]: unknown } }

/** Official prose about a message, of which nothing may stay. */
export interface Message<P = unknown, M extends Metadata = Metadata> {
  method: string;
  metadata: M;
  payload: P;
}
"""
LINES: Final = """import { Message } from "../model.js";

export interface Line extends Message { id?: string }
"""
SCHEMA: Final = """import type { Message, Metadata } from "./model.js";
export * from "./wire/lines.js";

export interface GetRequest extends Message<{ name: string }> {
  method: "things/get";
  /** Official prose about params. */
  params: { name: string };
}
export interface GetResult { thing: string }
export type ClientRequest = GetRequest;
export type ServerResult = GetResult;
"""
IMPORTS: Final = (
    'import type { Message, Metadata } from "./model.js";\n',
    'export * from "./wire/lines.js";\n',
    'import { Message } from "../model.js";\n',
)


@pytest.fixture
def official(tmp_path: Path) -> Path:
    folder = tmp_path / "official"
    (folder / "wire").mkdir(parents=True)
    (folder / "model.ts").write_text(MODEL, "utf-8")
    (folder / "wire" / "lines.ts").write_text(LINES, "utf-8")
    (folder / "schema.ts").write_text(SCHEMA, "utf-8")
    return folder


@pytest.fixture
def one_file(tmp_path: Path) -> Path:
    """The same schema in one file, as a person would paste it."""
    text = MODEL + LINES + SCHEMA
    for line in IMPORTS:
        text = text.replace(line, "")
    path = tmp_path / "one.ts"
    path.write_text(text, "utf-8")
    return path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A schema folder that stands for ours."""
    path = tmp_path / "schema"
    (path / "ext").mkdir(parents=True)
    for table in ("PINS.toml", "ext/PINS.toml", "decisions.toml"):
        (path / table).write_text("", "utf-8")
    monkeypatch.setattr(paths, "schema", lambda: path)
    return path


def pulled(folder: Path, origin: Path | str, *more: str, code: int = 0) -> str:
    result = invoke("pull", "things", "--from", origin, "--into", folder, *more)
    assert result.exit_code == code, result.stderr
    return result.stdout


def test_the_files_beside_a_schema_come_with_it_and_are_pinned(
    folder: Path, official: Path
) -> None:
    out = pulled(folder, official / "schema.ts")
    assert out.startswith("things is new\n")
    names = sorted(path.name for path in (folder / "things").iterdir())
    assert names == ["comments.json", "lines.ts", "model.ts", "schema.ts"]
    assert "prose" not in "".join((folder / "things" / name).read_text() for name in names)
    places = [line.split(":")[0::2] for line in out.splitlines()[-2:]]
    assert places == [
        ["schema/things/schema.ts", " GetRequest.params"],
        ["schema/things/model.ts", " Message"],
    ]
    pin = pins.pins(folder)["things"]
    assert pin.modules == {
        "./model.js": "model.ts",
        "./wire/lines.js": "lines.ts",
        "../model.js": "model.ts",
    }
    assert {name: row["path"] for name, row in pin.files.items()} == {
        "lines.ts": "schema/things/wire/lines.ts",
        "model.ts": "schema/things/model.ts",
    }
    assert pin.files["model.ts"]["bytes"] == len(MODEL)


def test_they_read_as_if_they_stood_in_one(folder: Path, official: Path, one_file: Path) -> None:
    pulled(folder, official / "schema.ts")
    alone = pins.resolve(str(one_file))
    assert alone.digest == pins.pins(folder)["things"].structure
    for text in ("things", str(folder / "things"), str(official / "schema.ts")):
        read = pins.by_facts(pins.find(text))
        assert read.digest == alone.digest
        assert [d.name for d in read.declarations] == [d.name for d in alone.declarations]
        assert [m.name for m in read.methods] == ["things/get"]


def test_a_place_is_named_in_the_file_where_it_is(folder: Path, official: Path) -> None:
    text = LINES.replace("id?: string", "id?: Missing")
    (official / "wire" / "lines.ts").write_text(text, "utf-8")
    refused = invoke("pull", "things", "--from", official, "--into", folder)
    assert "official schema/things/lines.ts:3:46: `Missing` is not declared" in refused.stderr
    assert not (folder / "things").exists()


def test_diff_compares_several_files_with_one(official: Path, one_file: Path) -> None:
    compared = invoke("diff", one_file, official / "schema.ts")
    assert (compared.exit_code, "1 finding" in compared.stdout) == (0, False), compared.stdout
    (official / "model.ts").write_text(MODEL.replace("payload: P", "payload?: P"), "utf-8")
    compared = invoke("diff", one_file, official / "schema.ts", "--format", "json")
    rules = {(row["rule"], row["path"]) for row in json.loads(compared.stdout)["findings"]}
    assert ("MEMBER_BECAME_OPTIONAL", "GetRequest.payload") in rules


def test_a_file_can_be_named_where_none_is_beside_the_schema(folder: Path, official: Path) -> None:
    (official / "model.ts").rename(official / "renamed.ts")
    refused = invoke("pull", "things", "--from", official, "--into", folder)
    assert refused.exit_code == 2
    assert "--import ./model.js=FILE" in refused.stderr
    assert not (folder / "things").exists()
    file = official / "renamed.ts"
    options = [f"--import={name}={file}" for name in ("./model.js", "../model.js")]
    pulled(folder, official, *options)
    assert set(pins.pins(folder)["things"].files) == {"renamed.ts", "lines.ts"}


def test_a_server_is_asked_for_the_files_beside_the_schema(
    folder: Path, official: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    files = {f"/v/{file.relative_to(official)}": file for file in official.rglob("*.ts")}
    texts = {path: file.read_bytes() for path, file in files.items()}
    with serving(b"", texts) as address:
        pulled(folder, f"{address}/v/schema.ts")
    assert pins.pins(folder)["things"].files["lines.ts"]["path"] == "schema/things/wire/lines.ts"


def test_a_change_in_one_of_them_is_found(folder: Path, official: Path) -> None:
    pulled(folder, official)
    before = {path: path.read_bytes() for path in folder.rglob("*.*")}
    assert pulled(folder, official).startswith("things is unchanged\n")
    assert {path: path.read_bytes() for path in folder.rglob("*.*")} == before
    (official / "model.ts").write_text(MODEL.replace("about a message", "about it"), "utf-8")
    assert "the same facts" in pulled(folder, official)
    (official / "wire" / "lines.ts").write_text(LINES.replace("id?", "id"), "utf-8")
    assert "~ Line" in pulled(folder, official, code=1).splitlines()
    assert "id: string" in (folder / "things" / "lines.ts").read_text("utf-8")


def test_a_file_that_is_no_longer_imported_goes_and_so_do_all_when_removed(
    folder: Path, official: Path
) -> None:
    pulled(folder, official)
    (official / "schema.ts").write_text(SCHEMA.replace(IMPORTS[1], ""), "utf-8")
    pulled(folder, official, code=1)
    assert not (folder / "things" / "lines.ts").exists()
    assert invoke("pull", "things", "--remove", "--into", folder).exit_code == 0
    assert not (folder / "things").exists()


def test_one_specifier_for_two_files_is_refused(folder: Path, official: Path) -> None:
    (official / "wire" / "lines.ts").write_text('export * from "./model.js";\n', "utf-8")
    (official / "wire" / "model.ts").write_text("export interface Other { x: 1 }\n", "utf-8")
    refused = invoke("pull", "things", "--from", official, "--into", folder)
    assert refused.exit_code == 2
    assert "'./model.js' means" in refused.stderr
    assert "--import ./model.js=FILE" in refused.stderr


def test_an_import_option_without_a_target_is_refused(folder: Path, official: Path) -> None:
    option = "--import=./model.js"
    refused = invoke("pull", "things", "--from", official, "--into", folder, option)
    assert refused.exit_code == 2
    assert "maps no import" in refused.stderr


def test_a_schema_in_too_many_files_is_refused_before_they_are_read(
    folder: Path, official: Path
) -> None:
    imports = [f'import type {{ A{n} }} from "./m{n}.js";\n' for n in range(MAX_SCHEMA_FILES)]
    (official / "schema.ts").write_text("".join(imports) + SCHEMA, "utf-8")
    result = invoke("pull", "things", "--from", official / "schema.ts", "--into", folder)
    assert result.exit_code == 2
    assert f"imports more than {MAX_SCHEMA_FILES - 1} files" in result.stderr
    assert not (folder / "things").exists()


def test_two_files_that_import_each_other_are_read_once(folder: Path, official: Path) -> None:
    text = f'import type {{ Line }} from "./wire/lines.js";\n{MODEL}export type Lines = Line[];\n'
    (official / "model.ts").write_text(text, "utf-8")
    pulled(folder, official)
    names = [d.name for d in pins.by_facts(pins.find("things")).declarations]
    assert sorted(names) == sorted(set(names))
    assert {"Line", "Lines", "GetRequest"} <= set(names)


IDLE: Final = """
export interface Traced extends GetRequest { trace: string }
export interface Hook { method: "POST"; url: string }
export interface Unused<T> { value: T }
"""


def test_text_without_effect_is_told_of(folder: Path, official: Path) -> None:
    (official / "schema.ts").write_text(SCHEMA + IDLE, "utf-8")
    result = invoke("pull", "things", "--from", official, "--into", folder)
    lines = [line.partition(": ")[2].split(":", 3)[-1] for line in result.stderr.splitlines()]
    assert [line.strip() for line in lines] == [
        "Unused: no type uses this generic one: left out",
        "Hook: names the method POST, but no union lists it as a message",
        "Traced: names the method things/get, but no union lists it as a message",
    ]
    shown = invoke("inspect", folder / "things").stdout
    assert "Types (2) that name a method without being its message" in shown
