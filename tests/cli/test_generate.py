"""`mcp-bindgen generate`: its exit codes, its refusals, and that equal input gives equal bytes."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import pytest

from mcp_bindgen import emit, manifest, paths, pins
from mcp_bindgen.cli.generate.choices import Choices, Target, read_choices
from mcp_bindgen.cli.generate.files import make_files
from tests.support.command import checkout, invoke, run

MODELS: Final = ("--flavour", "dataclass")
REVISION: Final = "2024-11-05"
FOLDER: Final = "v2024_11_05"


def tree(out: Path) -> dict[str, bytes]:
    files = (path for path in sorted(out.rglob("*")) if path.is_file())
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in files}


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One revision, generated once; tests damage copies."""
    out = tmp_path_factory.mktemp("made") / "out"
    assert invoke("generate", REVISION, *MODELS, "--out", out).exit_code == 0
    return out


@pytest.fixture
def out(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "out")
    return tmp_path / "out"


def dog(folder: Path) -> tuple[str | Path, ...]:
    """A schema of one type, in that folder: its bindings are made and imported at once."""
    path = folder / "dog.ts"
    path.write_text("export interface Dog { name: string }\n", "utf-8")
    return "--schema", path, "--revision", "dogs-1"


def check(out: Path, *more: str) -> tuple[int, str]:
    result = invoke("generate", REVISION, *MODELS, "--out", out, "--check", *more)
    return result.exit_code, result.stdout


# ---- done, clean, findings


def test_what_was_just_written_passes_the_check(out: Path) -> None:
    assert check(out) == (0, "")
    assert {"MANIFEST.json", "_wire/text.py", "py.typed"} <= set(tree(out))


@pytest.mark.wide
def test_the_name_of_a_schema_file_may_be_no_text(tmp_path: Path) -> None:
    """As the bytes of an old disk, or in a locale that has no such letters."""
    schema = Path(os.fsdecode(bytes(tmp_path) + b"/\xe9.ts"))
    schema.write_text("export interface A { a: string }", "utf-8")
    out = tmp_path / "out"
    named = ("--schema", schema, "--revision", "next", *MODELS, "--out", out)
    assert run("generate", *named).returncode == 0
    assert run("generate", *named, "--check").returncode == 0
    assert b"\\udce9.ts" in b"".join(tree(out).values())


@pytest.mark.wide
def test_a_folder_may_be_named_by_way_of_one_that_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`new/../out` is `out`, and makes no `new`; where a link is, `..` leads out of its target."""
    (tmp_path / "here").mkdir()
    (tmp_path / "target/inner").mkdir(parents=True)
    (tmp_path / "link").symlink_to("target/inner")
    monkeypatch.chdir(tmp_path / "here")
    absolute = tmp_path / "new/../absolute"
    for out in ("../new/../out", "../link/../new/../out", absolute):
        words = ("generate", *dog(tmp_path / "target"), *MODELS, "--out", out)
        result = invoke(*words)
        assert (result.exit_code, result.stderr) == (0, "")
        assert invoke(*words, "--check").exit_code == 0
    new = ("new", "weather", "--revisions", "2026-07-28")
    assert invoke(*new, "--into", "../new/../weather", "--yes").exit_code == 0
    made = {"absolute", "here", "link", "out", "target", "weather"}
    assert {path.name for path in tmp_path.iterdir()} == made
    assert {path.name for path in (tmp_path / "target").iterdir()} == {"dog.ts", "inner", "out"}


@pytest.mark.wide
def test_a_run_removes_nothing_that_another_has_written_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("generate", *MODELS, "--out", tmp_path / "out")

    def slowly(target: Target, choices: Choices) -> dict[str, str]:
        monkeypatch.undo()
        assert invoke(*words, "2025-11-25").exit_code == 0
        return make_files(target, choices)

    monkeypatch.setattr("mcp_bindgen.cli.generate.command.make_files", slowly)
    ended = invoke(*words, REVISION)
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert "another mcp-bindgen has written into it meanwhile\nRun this one again." in ended.stderr
    assert invoke(*words, "2025-11-25", "--check").exit_code == 0
    assert invoke(*words, REVISION).exit_code == 0
    assert invoke(*words, "--check", "2025-11-25", REVISION).stdout == ""


def test_what_another_has_written_since_the_folder_was_read_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("generate", *MODELS, "--out", tmp_path / "out")

    def slowly(out: Path, given: Mapping[str, str | None], *, prune: bool) -> Choices:
        monkeypatch.undo()
        assert invoke(*words, "2025-11-25").exit_code == 0
        return read_choices(out, given, prune=prune)

    monkeypatch.setattr("mcp_bindgen.cli.generate.command.read_choices", slowly)
    ended = invoke(*words, REVISION)
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert invoke(*words, "2025-11-25", "--check").stdout == ""


def test_nothing_is_written_twice(out: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*")}
    result = invoke("generate", REVISION, *MODELS, "--out", out, "--report", "json")
    assert json.loads(result.stdout)["changed"] == []
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*")} == before


def byte_changed(out: Path) -> str:
    path = out / FOLDER / "models_dataclass.py"
    data = path.read_bytes()
    path.write_bytes(data[:900] + bytes([data[900] ^ 1]) + data[901:])
    return f"{FOLDER}/models_dataclass.py"


def file_missing(out: Path) -> str:
    (out / FOLDER / "models_dataclass.py").unlink()
    return f"{FOLDER}/models_dataclass.py"


def one_too_many(out: Path) -> str:
    shutil.copy(out / FOLDER / "models_dataclass.py", out / FOLDER / "models_older.py")
    return f"{FOLDER}/models_older.py"


def tail_added(out: Path) -> str:
    with (out / "_wire/text.py").open("a") as file:
        file.write("x = 1\n")
    return "_wire/text.py"


def manifest_changed(out: Path) -> str:
    path = out / "MANIFEST.json"
    path.write_text(path.read_text().replace('"py.typed": "', '"py.typed": "0'))
    return "MANIFEST.json"


DAMAGES: Final = [byte_changed, file_missing, one_too_many, tail_added, manifest_changed]


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_found_and_mended(out: Path, made: Path, damage: object) -> None:
    assert callable(damage)
    path = damage(out)
    code, diff = check(out)
    assert code == 1
    assert {f"--- {path}", f"+++ {path}"} & set(diff.splitlines())
    body = json.loads(check(out, "--report", "json")[1])
    assert len(body["drift"]) == 1
    assert invoke("generate", REVISION, *MODELS, "--out", out).exit_code == 0
    assert tree(out) == tree(made)


def remembers(args: Sequence[object]) -> None:
    """Runs `generate` into a folder that Python has imported, where it leaves its stamp."""
    Path(str(args[args.index("--out") + 1]), "__pycache__").mkdir(parents=True, exist_ok=True)
    assert invoke(*args).exit_code == 0


def test_unchanged_work_is_not_done_again(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    args = ("generate", REVISION, *MODELS, "--out", out)
    remembers(args)
    monkeypatch.setattr(emit, "generate", lambda *_: pytest.fail("generated again"))
    assert "nothing changed" in invoke(*args).stdout
    (out / manifest.STAMP).unlink()
    with pytest.raises(pytest.fail.Exception):
        invoke(*args)


@pytest.mark.parametrize("change", ["", "template", "templates", "options", "decisions", "source"])
def test_no_stamp_hides_a_change(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    copy = checkout(root, tmp_path / "copy")
    monkeypatch.setattr(paths, "schema", lambda: copy / "schema")
    templates = copy / "templates" / "bindings"
    args = ["generate", REVISION, *MODELS, "--out", tmp_path / "out", "--templates", templates]
    remembers(args)
    worked = list[str]()
    lower = pins.lower
    monkeypatch.setattr(pins, "lower", lambda *arguments: worked.append("") or lower(*arguments))
    match change:
        case "template":
            with (templates / "revision.py.jinja").open("a") as file:
                file.write("X = 1\n")
        case "templates":
            (templates / "more.jinja").write_text("")
        case "options":
            args += ["--unknown", "drop"]
        case "decisions":
            with (copy / "schema" / "decisions.toml").open("a") as file:
                file.write("# a word\n")
        case "source":
            parts = [*manifest.sources(), ("more.py", b"")]
            monkeypatch.setattr(manifest, "sources", lambda: iter(parts))
        case _:
            pass
    assert invoke(*args).exit_code == 0
    assert bool(worked) == bool(change)
    assert invoke(*args, "--check").stdout == ""


def test_check_writes_nothing(tmp_path: Path) -> None:
    assert check(tmp_path / "none")[0] == 1
    assert not (tmp_path / "none").exists()


def test_another_revision_joins_and_keeps_the_first(out: Path) -> None:
    before = tree(out)
    assert invoke("generate", "2025-03-26", *MODELS, "--out", out).exit_code == 0
    after = tree(out)
    assert all(after[path] == before[path] for path in before if path.startswith(FOLDER))
    assert any(path.startswith("v2025_03_26/") for path in after)
    assert invoke("generate", REVISION, "2025-03-26", *MODELS, "--out", out, "--check").stdout == ""
    assert check(out) == (0, "")


def test_a_named_revision_touches_its_folder_only(out: Path) -> None:
    assert invoke("generate", "2025-03-26", *MODELS, "--out", out).exit_code == 0
    tail_added(out)
    (out / "v2025_03_26" / "models_dataclass.py").unlink()
    damaged = tree(out)
    assert check(out) == (0, "")
    assert invoke("generate", REVISION, *MODELS, "--out", out).exit_code == 0
    assert tree(out) == damaged


def test_a_schema_of_its_own_becomes_bindings(tmp_path: Path) -> None:
    schema = tmp_path / "mine.ts"
    schema.write_text('export interface Dog { name: string; kind: "dog" }\n')
    args = ("generate", "--schema", schema, "--revision", "dogs-1", *MODELS)
    result = invoke(*args, "--out", tmp_path / "out")
    assert result.exit_code == 0
    text = (tmp_path / "out" / "vdogs_1" / "models_dataclass.py").read_text()
    assert "class Dog" in text
    assert str(tmp_path) not in text


def test_a_tag_that_binds_nothing_is_named_with_its_place(tmp_path: Path) -> None:
    schema = tmp_path / "mine.ts"
    schema.write_text("export interface Dog {\n  /** @minimun 3 */\n  age: number;\n}\n")
    args = ("--schema", schema, "--revision", "dogs-1", *MODELS, "--out", tmp_path / "out")
    result = invoke("generate", *args)
    assert result.exit_code == 0
    said = f"{schema}:3:3: Dog.age: `@minimun 3` is unknown and ignored\n"
    assert result.stderr == f"mcp-bindgen: {said}"
    assert invoke("generate", REVISION, *MODELS, "--out", tmp_path / "ours").stderr == ""


def test_a_generic_type_that_nothing_uses_is_named_with_its_place(tmp_path: Path) -> None:
    schema = tmp_path / "mine.ts"
    schema.write_text("export interface Dog { name: string }\ninterface Page<T> { items: T[] }\n")
    args = ("--schema", schema, "--revision", "dogs-1", *MODELS, "--out", tmp_path / "out")
    result = invoke("generate", *args)
    said = f"{schema}:2:1: Page: no type uses this generic one: left out\n"
    assert (result.exit_code, result.stderr) == (0, f"mcp-bindgen: {said}")


# ---- could not


def refused(*args: str | Path, said: str) -> None:
    result = invoke("generate", *args)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr
    assert "Traceback" not in result.stderr


def test_a_schema_that_does_not_parse(tmp_path: Path) -> None:
    schema = tmp_path / "bad.ts"
    schema.write_text("export interface {\n")
    args = ("--schema", schema, "--revision", "x", *MODELS, "--out", tmp_path / "out")
    refused(*args, said="bad.ts:1:")
    assert not (tmp_path / "out").exists()


def test_an_unknown_revision_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    refused("2099-01-01", "--out", tmp_path, said="Known revisions: 2024-11-05, 2025-03-26")


@pytest.mark.parametrize("damage", [byte_changed, one_too_many])
def test_a_folder_that_is_not_ours(out: Path, damage: object) -> None:
    assert callable(damage)
    damage(out)
    (out / "notes.txt").write_text("mine")
    before = tree(out)
    refused(REVISION, *MODELS, "--out", out, said="notes.txt was not written by mcp-bindgen")
    assert tree(out) == before
    assert invoke("generate", REVISION, *MODELS, "--out", out, "--force").exit_code == 0
    assert tree(out)["notes.txt"] == b"mine"


@pytest.mark.parametrize("other", ["notes.txt", "__pycache__/old.pyc"])
def test_bindings_beside_other_files_are_whole(other: str, made: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / other).parent.mkdir(parents=True)
    (out / other).write_text("mine")
    assert invoke("generate", REVISION, *MODELS, "--out", out, "--force").exit_code == 0
    assert tree(out).keys() - {manifest.STAMP} == {*tree(made), other}


def test_an_unreadable_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "dir.ts").mkdir()
    args = ("--schema", tmp_path / "dir.ts", "--revision", "x", *MODELS)
    refused(*args, "--out", tmp_path / "out", said="cannot be read")
    refused("--schema", tmp_path / "no.ts", "--revision", "x", said="neither a revision nor a file")


def test_a_file_that_declares_nothing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.ts").write_text("// later\n")
    args = ("--schema", tmp_path / "empty.ts", "--revision", "x", "--out", tmp_path / "out")
    refused(*args, said="empty.ts: declares nothing")
    assert not (tmp_path / "out").exists()


def test_a_version_of_an_extension_is_refused_with_where_its_bindings_are(tmp_path: Path) -> None:
    version = next(iter(pins.extensions()))
    refused(version, "--out", tmp_path, said="Its bindings are in mcp_wire.ext")


@pytest.mark.parametrize("more", [(), ("--check",), (REVISION,)])
def test_a_folder_of_a_schema_that_is_not_named_again_stays(
    tmp_path: Path, more: tuple[str, ...]
) -> None:
    (tmp_path / "mine.ts").write_text("export interface Dog { name: string }\n")
    args = ("--schema", tmp_path / "mine.ts", "--revision", "dogs-1", "--out", tmp_path / "out")
    assert invoke("generate", *args, *MODELS).exit_code == 0
    before = tree(tmp_path / "out")
    said = "holds dogs-1, which is not pinned\nName its file too: --schema FILE --revision dogs-1;"
    refused("--out", tmp_path / "out", *more, said=said)
    assert tree(tmp_path / "out") == before
    assert invoke("generate", *args, REVISION).exit_code == 0
    assert manifest.read(tmp_path / "out").revisions == (REVISION, "dogs-1")


def test_a_second_schema_of_ones_own_needs_a_folder_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "mine.ts").write_text("export interface Dog { name: string }\n")
    args = ("--schema", tmp_path / "mine.ts", *MODELS, "--out", tmp_path / "out", "--revision")
    assert invoke("generate", *args, "dogs-1").exit_code == 0
    said = "dogs-1, which is not pinned, beside which dogs-2 cannot be written\nChoose another"
    refused(*args, "dogs-2", said=said)
    assert manifest.read(tmp_path / "out").revisions == ("dogs-1",)


def test_a_colliding_name_is_refused_with_its_place(tmp_path: Path) -> None:
    schema = tmp_path / "twice.ts"
    schema.write_text(
        "export interface A { b: { c: string } }\nexport interface AB { d: string }\n"
    )
    args = ("--schema", schema, "--revision", "x", *MODELS, "--out", tmp_path / "out")
    refused(*args, said="twice.ts:1:")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("text", ["{{ nothing_of_that_name }}", "{% if %}"])
def test_a_failing_template_is_named_and_nothing_is_written(tmp_path: Path, text: str) -> None:
    templates = tmp_path / "templates"
    shutil.copytree(paths.templates() / "bindings", templates)
    (templates / "models_dataclass.py.jinja").write_text(text)
    args = (REVISION, *MODELS, "--templates", templates, "--out", tmp_path / "out")
    refused(*args, said="models_dataclass.py.jinja")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--schema", "x.ts"), "go together"),
        (("--revision", "x"), "go together"),
        (("--flavour", "dataclas"), "Known: dataclass"),
        (("--templates", "no-such-folder"), "is not a folder"),
        (("--format", "tabs"), "tabs"),
    ],
)
def test_arguments_that_cannot_be_used(args: tuple[str, ...], said: str) -> None:
    refused(*args, said=said)


def test_a_full_disk_leaves_the_old_files(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    byte_changed(out)
    before = tree(out)

    def full(self: Path, data: bytes) -> int:
        raise OSError(28, "No space left on device", str(self))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        refused(REVISION, *MODELS, "--out", out, said="No space left on device")
    assert tree(out) == before


def test_an_interrupt_exits_130(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    byte_changed(out)
    before = tree(out)

    def stopped(old: Path, new: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", stopped)
        assert invoke("generate", REVISION, *MODELS, "--out", out).exit_code == 130
    assert tree(out) == before


def test_an_installed_wheel_asks_where(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shutil.copytree(paths.schema(), tmp_path / "_schema")
    monkeypatch.setattr(paths, "schema", lambda: tmp_path / "_schema")
    refused(REVISION, said="--out DIR")


# ---- equal bytes, plain output


@pytest.mark.wide
@pytest.mark.drawn
@pytest.mark.parametrize("seed", ["0", "1", "4711"])
def test_the_hash_seed_changes_nothing(made: Path, tmp_path: Path, seed: str) -> None:
    env = {"PYTHONHASHSEED": seed, "LC_ALL": "C", "PYTHONUTF8": "0"}
    done = run("generate", REVISION, *MODELS, "--out", tmp_path / "out", env=env)
    assert done.returncode == 0, done.stderr
    assert tree(tmp_path / "out") == tree(made)


def test_the_line_ends_of_a_checkout_change_nothing(
    made: Path, tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = checkout(root, tmp_path / "copy", crlf=True)
    monkeypatch.setattr(paths, "schema", lambda: copy / "schema")
    monkeypatch.setattr(paths, "templates", lambda: copy / "templates")
    assert invoke("generate", REVISION, *MODELS, "--out", tmp_path / "out").exit_code == 0
    assert tree(tmp_path / "out") == tree(made)


def test_no_machine_path_is_written(made: Path, root: Path) -> None:
    for path, data in tree(made).items():
        assert str(root).encode() not in data, path
        assert str(made).encode() not in data, path


@pytest.mark.wide
def test_piped_output_is_plain(tmp_path: Path) -> None:
    env = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
    words = ("generate", *dog(tmp_path), *MODELS, "--out", tmp_path / "out")
    first = run(*words, env=env)
    assert first.stderr == b""
    assert b"\x1b" not in first.stdout
    tail_added(tmp_path / "out")
    second = run(*words, "--check", env=env)
    assert second.returncode == 1
    assert b"\x1b" not in second.stdout + second.stderr


# ---- for strangers: templates that differ, options that are remembered, flavours that stay


def test_templates_may_be_just_those_that_differ(tmp_path: Path) -> None:
    templates, out = tmp_path / "templates", tmp_path / "out"
    templates.mkdir()
    ours = (paths.templates() / "bindings" / "revision.py.jinja").read_text("utf-8")
    (templates / "revision.py.jinja").write_text(f"{ours}# Theirs.\n", "utf-8")
    args = ("generate", REVISION, *MODELS, "--out", out, "--templates", templates)
    assert invoke(*args).exit_code == 0
    options = json.loads((out / "MANIFEST.json").read_text("utf-8"))["options"]
    assert options["templates"] == "../templates"
    folder = next(path for path in out.iterdir() if path.name.startswith("v20"))
    assert (folder / "__init__.py").read_text("utf-8").endswith("# Theirs.\n")
    assert invoke("generate", REVISION, "--out", out, "--check").exit_code == 0


def test_headers_name_the_command_that_wrote_them(made: Path, root: Path) -> None:
    texts = [path.read_text("utf-8") for path in made.rglob("*.py")]
    assert all("make generate" not in text for text in texts)
    assert all("run `mcp-bindgen generate`" in text for text in texts)
    ours = (root / "generated" / "mcp_wire" / "__init__.py").read_text("utf-8")
    assert "run `make generate`" in ours


@pytest.mark.wide
def test_black_formats_what_templates_make(tmp_path: Path) -> None:
    templates = tmp_path / "templates"
    templates.mkdir()
    (templates / "package.py.jinja").write_text("REVISIONS = { 'a':1 }\n")
    args = ("generate", *dog(tmp_path), *MODELS, "--templates", templates, "--out")
    assert invoke(*args, tmp_path / "plain").exit_code == 0
    assert invoke(*args, tmp_path / "black", "--format", "black").exit_code == 0
    plain, black = (tree(tmp_path / name) for name in ("plain", "black"))
    changed = {path for path in plain if plain[path] != black[path]}
    assert changed == {"__init__.py", "MANIFEST.json"}
    assert b'REVISIONS = {"a": 1}\n' in black["__init__.py"]


def test_black_that_is_not_installed_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "black", None)
    args = (REVISION, *MODELS, "--format", "black", "--out", tmp_path / "out")
    refused(*args, said="--format black needs black\npip install black")
    assert not (tmp_path / "out").exists()


def test_options_are_remembered_until_others_are_given(tmp_path: Path) -> None:
    out = tmp_path / "out"
    options = ("--flavour", "dataclass", "--unknown", "reject", "--literals", "open")
    assert invoke("generate", REVISION, "--out", out, *options).exit_code == 0
    before = tree(out)
    assert json.loads((out / "MANIFEST.json").read_text("utf-8"))["options"] == {
        "flavours": "dataclass",
        "unknown": "reject",
        "literals": "open",
    }
    assert invoke("generate", REVISION, "--out", out, "--check").exit_code == 0
    assert invoke("generate", REVISION, "--out", out).exit_code == 0
    assert tree(out) == before
    other = invoke("generate", REVISION, "--out", out, "--unknown", "drop", "--check")
    assert other.exit_code == 1


def test_flavours_are_remembered_from_a_manifest_of_an_earlier_version(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert invoke("generate", REVISION, "--out", out, *MODELS).exit_code == 0
    before = tree(out)
    manifest = out / "MANIFEST.json"
    text = manifest.read_text("utf-8")
    manifest.write_text(text.replace('"flavours"', '"models"'), encoding="utf-8")
    assert manifest.read_text("utf-8") != text
    assert invoke("generate", REVISION, "--out", out).exit_code == 0
    assert tree(out) == before


@pytest.mark.wide
def test_flavours_stay_until_they_are_pruned(tmp_path: Path) -> None:
    def flavours() -> set[str]:
        return {path.stem for path in out.rglob("models_*.py")}

    out = tmp_path / "out"
    assert invoke("generate", REVISION, "--out", out, "--flavour", "dataclass").exit_code == 0
    assert invoke("generate", REVISION, "--out", out, "--flavour", "msgspec").exit_code == 0
    assert flavours() == {"models_dataclass", "models_msgspec"}
    args = ("generate", REVISION, "--out", out, "--flavour", "msgspec", "--prune")
    assert invoke(*args).exit_code == 0
    assert flavours() == {"models_msgspec"}


def test_lean_models_are_remembered_and_checked_until_exact_ones_are_asked_for(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.ts").write_text("export interface A { a?: string }\n", "utf-8")
    schema = ("--schema", tmp_path / "a.ts", "--revision", "a", "--out", tmp_path / "out")
    assert invoke("generate", *schema, "--lean", "--absent", "none").exit_code == 0
    assert set(tree(tmp_path / "out")) == {"MANIFEST.json", "__init__.py", "models.py", "py.typed"}
    assert "a: str | None = None" in (tmp_path / "out" / "models.py").read_text("utf-8")
    assert invoke("generate", *schema, "--check").exit_code == 0
    assert invoke("generate", *schema, "--absent", "missing", "--check").exit_code == 1
    assert invoke("generate", *schema, "--no-lean", *MODELS).exit_code == 0
    assert not (tmp_path / "out" / "models.py").exists()
    assert (tmp_path / "out" / "va" / "models_dataclass.py").exists()


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--lean",), "--lean writes one revision into a folder"),
        ((REVISION, "--lean", "--flavour", "msgspec"), "leave out --flavour"),
        ((REVISION, "--absent", "none"), "--absent goes with --lean"),
    ],
)
def test_options_that_lean_models_do_not_take_are_refused(
    args: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    refused(*args, "--out", tmp_path / "out", said=said)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("option", ["--flavour", "--flavours", "--models"])
def test_the_option_for_flavours_has_earlier_names_too(option: str) -> None:
    result = invoke("generate", option, "dataclas")
    assert (result.exit_code, "Known: dataclass" in result.stderr) == (2, True)
