"""`generate --extension`: a made-up extension of two files, from its schema to its bindings."""

from __future__ import annotations

import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.command import invoke

CORPUS: Final = Path(__file__).parents[1] / "corpus" / "acme"
CORE: Final = "2026-07-28"
FLAVOURS: Final = ("dataclass", "pydantic", "msgspec")

META: Final = (
    '{"io.modelcontextprotocol/protocolVersion":"2026-07-28",'
    '"io.modelcontextprotocol/clientCapabilities":{}}'
)
QUEUED: Final = (
    '{"resultType":"queued","ticket":"t","note":{"block":{"type":"text","text":"wait"},'
    '"at":{"ahead":2}}}'
)


def command(folder: Path, *more: str, core: str = CORE) -> list[str | Path]:
    imports = [f"core={CORE}", f"./common={folder / 'common.ts'}"]
    mapped = [f"--import={each}" for each in imports]
    files = ["--extension", folder / "schema.ts", "--decisions", folder / "decisions.toml"]
    return ["generate", *files, "--core", core, *mapped, *more, "--out", folder / "acme_wire"]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    shutil.copytree(CORPUS, tmp_path / "acme")
    return tmp_path / "acme"


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def refusal(folder: Path, **options: str) -> str:
    result = invoke(*command(folder, **options))
    assert result.exit_code == 2, result.output
    assert not (folder / "acme_wire").exists()
    return result.stderr


# ---- from schema to bindings


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The name of the package, which can be imported while these tests run."""
    folder = tmp_path_factory.mktemp("extension") / "acme"
    shutil.copytree(CORPUS, folder)
    assert invoke(*command(folder)).exit_code == 0
    sys.path.insert(0, str(folder))
    yield "acme_wire"
    sys.path.remove(str(folder))
    for name in [name for name in sys.modules if name.partition(".")[0] == "acme_wire"]:
        del sys.modules[name]


@pytest.fixture(params=FLAVOURS)
def calls(request: pytest.FixtureRequest, package: str) -> Any:
    return importlib.import_module(f"{package}.calls_{request.param}")


@pytest.fixture
def models(calls: Any) -> Any:
    return importlib.import_module(calls.__name__.replace("calls_", "models_"))


@pytest.fixture
def core(calls: Any) -> Any:
    flavour = calls.__name__.rpartition("_")[2]
    return importlib.import_module(f"mcp_wire.v2026_07_28.models_{flavour}")


def test_a_widened_result_is_one_of_both(calls: Any, models: Any, core: Any) -> None:
    queued = calls.decode_result("tools/call", QUEUED)
    assert isinstance(queued, models.QueuedResult)
    assert isinstance(queued.note.block, core.TextContent)
    assert isinstance(queued.note.at, models.Position)
    assert calls.encode(queued) == QUEUED.encode()
    done = calls.decode_result("tools/call", '{"resultType":"complete","content":[]}')
    assert isinstance(done, core.CallToolResult)
    assert {"tools/call": (models.QueuedResult,)} == calls.WIDENED


def test_what_is_made_by_hand_holds_models_of_the_core(models: Any, core: Any) -> None:
    note = models.Note(block=core.TextContent(text="a"))
    made = models.QueuedResult(ticket="t", note=note)
    assert models.from_wire(models.QueuedResult, models.to_wire(made)) == made
    with pytest.raises((TypeError, ValueError), match="block"):
        models.Note(block=core.Tool(name="a", input_schema=core.ToolInputSchema()))


def test_a_fault_inside_a_type_of_the_core_has_its_path(models: Any) -> None:
    with pytest.raises(models.DecodeError) as caught:
        models.decode(models.Note, '{"block":{"type":"text","text":1}}')
    assert (caught.value.path, caught.value.expected) == ("$.block.text", "string")


def test_the_tables_say_what_the_rows_say(calls: Any, models: Any, package: str) -> None:
    methods = importlib.import_module(f"{package}.methods")
    assert (methods.IDENTIFIER, methods.VERSION, methods.CORE) == (
        "com.example/queue",
        "1.0",
        (CORE,),
    )
    assert methods.ROLES == ("client", "server")
    ways = {name: each.direction for name, each in methods.METHODS.items()}
    assert ways == {
        "acme/position": "client-to-server",
        "acme/waiting": "client-to-server",
        "notifications/acme/moved": "server-to-client",
        "notifications/acme/done": "server-to-client",
    }
    assert methods.WIDENED == {"tools/call": ("QueuedResult",)}
    assert methods.MEMBERS == {("Tool", "_meta", "queue"): "QueueHints"}
    assert {("Tool", "_meta", "queue"): models.QueueHints} == calls.MEMBERS
    assert set(calls.PARAMS) == {*ways}
    assert set(calls.RESULTS) == {"acme/position", "acme/waiting", "tools/call"}


def test_params_and_results_may_be_types_of_the_core(calls: Any, models: Any, core: Any) -> None:
    tool = '{"name":"t","inputSchema":{"type":"object"}}'
    page = f'{{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{tool}]}}'
    bodies = {
        calls.RESULTS["acme/waiting"]: page,
        calls.PARAMS["notifications/acme/done"]: '{"resultType":"complete","content":[]}',
    }
    assert {T.__module__ for T in bodies} == {core.__name__}
    for type, body in bodies.items():
        for made in (models.decode(type, body), models.from_wire(type, json.loads(body))):
            assert made == core.decode(type, body)
            assert json.loads(models.encode(made)) == models.to_wire(made) == json.loads(body)
        with pytest.raises(models.DecodeError, match="object"):
            models.decode(type, "1")
    with pytest.raises(TypeError, match="not a type of this module"):
        models.decode(int, "1")


def test_requests_may_have_the_meta_that_the_core_demands(calls: Any, core: Any) -> None:
    with_meta = calls.decode_params("acme/position", f'{{"ticket":"t","_meta":{META}}}')
    assert isinstance(with_meta.meta, core.RequestMetaObject)
    without = calls.decode_params("acme/position", '{"ticket":"t"}')
    assert calls.encode(without) == b'{"ticket":"t"}'


# ---- drift


def test_the_package_is_clean_until_it_is_changed(files: Path) -> None:
    assert invoke(*command(files)).exit_code == 0
    clean = invoke(*command(files, "--check"))
    assert (clean.exit_code, clean.stdout) == (0, "")
    methods = files / "acme_wire" / "methods.py"
    edit(methods, "com.example/queue", "com.example/other")
    drift = invoke(*command(files, "--check"))
    assert drift.exit_code == 1
    assert "com.example/other" in drift.stdout
    (files / "acme_wire" / "stray.py").write_text(methods.read_text("utf-8"), encoding="utf-8")
    assert "stray.py" in invoke(*command(files, "--check")).stdout


def test_headers_name_the_file_and_no_path(files: Path) -> None:
    assert invoke(*command(files)).exit_code == 0
    for path in (files / "acme_wire").rglob("*.py"):
        text = path.read_text("utf-8")
        assert text.startswith("# Generated by mcp-bindgen from schema.ts. Do not edit;")
        assert str(files) not in text


# ---- refusals


def test_without_rows_each_is_asked_for_with_its_place(files: Path) -> None:
    (files / "decisions.toml").unlink()
    args = [each for each in command(files) if each != "--decisions"]
    args.remove(files / "decisions.toml")
    asked = invoke(*args, "--revision", "acme@1.0").stderr
    assert "6 rows are missing" in asked
    assert f"{files / 'schema.ts'}:11:1: `acme/position`: which way does it travel?" in asked
    row = '[[method]]\nrevisions = ["acme@1.0"]\npath = "acme/position"\ndirection = '
    assert row in asked
    assert "`QueuedResult` answers no method" in asked
    assert '[[extension]]\nrevisions = ["acme@1.0"]\npath = "acme"\nidentifier = ""' in asked


@pytest.mark.wide
def test_one_file_has_the_rows_of_two_versions(files: Path) -> None:
    assert "add acme@1.1 to that row" in invoke(*command(files, "--revision", "acme@1.1")).stderr
    edit(files / "decisions.toml", '["acme@1.0"]', '["acme@1.0", "acme@1.1"]')
    for version in ("acme@1.1", "acme@1.0"):
        assert invoke(*command(files, "--revision", version)).exit_code == 0
    edit(files / "decisions.toml", '"acme@1.1"]', '"emca@1.1"]')
    assert "emca@1.1" in invoke(*command(files, "--revision", "acme@1.0")).stderr


def test_a_row_of_a_version_that_lacks_what_this_one_asks_for_is_shown_to_complete(
    files: Path,
) -> None:
    rows = files / "decisions.toml"
    rows.write_text(re.sub(r"(?m)^identifier = .*\n", "", rows.read_text("utf-8")), "utf-8")
    said = invoke(*command(files, "--revision", "acme@1.1"))
    assert said.exit_code == 2
    assert "add acme@1.1 to that row" in said.stderr


ROWS: Final = {
    "the way of a method": ('path = "acme/position"\ndirection', "[[method]]", "travel?"),
    "the meta": ('[[meta]]\nrevisions = ["acme@1.0"]\n', "[[meta]]", "what `_meta` may"),
    "the widened result": ("[[widen]]", "[[widen]]", "answers no method"),
}


@pytest.mark.parametrize("what", ROWS)
def test_a_missing_row_is_shown_ready_to_paste(files: Path, what: str) -> None:
    mark, row, question = ROWS[what]
    path = files / "decisions.toml"
    rows = path.read_text("utf-8").split("\n\n")
    kept = [each for each in rows if mark not in each]
    assert len(kept) == len(rows) - 1
    path.write_text("\n\n".join(kept), encoding="utf-8")
    asked = refusal(files)
    assert "a row is missing" in asked
    assert row in asked
    assert question in asked


@pytest.mark.wide
def test_a_request_without_a_result_of_its_name_asks_for_one(files: Path) -> None:
    edit(files / "schema.ts", "GetPositionResult", "PlaceResult")
    asked = refusal(files)
    assert "`acme/position`: which way does it travel? Which types answer it" in asked
    assert re.search(r"# in the row at line \d+\nresult = \[\]", asked)
    way = 'path = "acme/position"\ndirection = "client-to-server"\n'
    edit(files / "decisions.toml", way, f'{way}result = ["PlaceResult"]\n')
    assert invoke(*command(files)).exit_code == 0
    methods = (files / "acme_wire" / "methods.py").read_text("utf-8")
    assert 'results=("PlaceResult",)' in methods


WRONG: Final = {
    "a result that the rule finds": (
        (
            'path = "acme/position"\ndirection',
            'path = "acme/position"\nresult = ["GetPositionResult"]\ndirection',
        ),
        "says what the rule finds: `GetPositionRequest` has its result",
    ),
    "a method that is not there": (
        ('path = "acme/position"\ndirection', 'path = "acme/other"\ndirection'),
        "`acme/position`: which way does it travel?",
    ),
    "roles that it does not have": (
        ('direction = "client-to-server"', 'direction = "host-to-view"'),
        "Directions between its roles: client-to-server, server-to-client.",
    ),
    "a request that the core lacks": (
        ('path = "tools/call"', 'path = "tools/cancel"'),
        "2026-07-28 has no such request",
    ),
    "a type that is not there": (
        ('type = "QueueHints"', 'type = "Hints"'),
        "no type Hints in acme@1.0",
    ),
    "a member that the core has": (
        ('path = "Tool._meta.queue"', 'path = "Tool.title"'),
        "2026-07-28 has no such type, or has this member",
    ),
    "another core": (
        (f'core = ["{CORE}"]', 'core = ["2025-11-25"]'),
        "made for 2025-11-25, not for 2026-07-28",
    ),
    "a member of a pinned extension": (
        ('path = "Tool._meta.queue"', 'path = "Tool._meta.ui"'),
        "acme and apps both add the member `Tool._meta.ui` to 2026-07-28",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_row_is_refused(files: Path, what: str) -> None:
    (old, new), words = WRONG[what]
    edit(files / "decisions.toml", old, new)
    assert words in refusal(files)


def test_a_row_that_nothing_needs_is_refused(files: Path) -> None:
    extra = '\n[[method]]\nrevisions = ["acme@1.0"]\npath = "a/b"\ndirection = "client-to-server"\n'
    with (files / "decisions.toml").open("a", encoding="utf-8") as file:
        file.write(f'{extra}page = "p"\nwhy = "w"\n')
    assert "nothing in acme@1.0 needs [[method]] `a/b`" in refusal(files)


def test_an_import_that_is_not_mapped_is_refused(files: Path) -> None:
    args = [each for each in command(files) if each != f"--import=core={CORE}"]
    refused = invoke(*args)
    assert refused.exit_code == 2
    assert "no file stands for the import of 'core'" in refused.stderr


def test_a_core_that_lacks_an_imported_name_is_refused(files: Path) -> None:
    edit(files / "schema.ts", "  CallToolResult,", "  InputRequests,")
    args = [str(each).replace(f"core={CORE}", "core=2025-11-25") for each in command(files)]
    args[args.index(CORE)] = "2025-11-25"
    refused = invoke(*args)
    assert refused.exit_code == 2
    assert "'core' declares no `InputRequests`" in refused.stderr


def test_an_import_of_another_core_is_refused(files: Path) -> None:
    words = "the import of 'core' is mapped to 2026-07-28, the core is 2025-11-25"
    assert words in refusal(files, core="2025-11-25")


def test_a_name_of_a_type_of_the_core_is_refused(files: Path) -> None:
    edit(files / "schema.ts", "QueueHints", "ResultMetaObject")
    edit(files / "decisions.toml", "QueueHints", "ResultMetaObject")
    refused = refusal(files)
    assert "`ResultMetaObject` is also the name of a type of the core" in refused
    assert f"{files / 'schema.ts'}:" in refused


def test_an_extension_goes_alone_and_names_its_core(files: Path) -> None:
    assert "goes alone" in invoke(*command(files, "--unknown", "drop")).stderr
    args = [each for each in command(files) if each not in ("--core", CORE)]
    assert "needs --core" in invoke(*args).stderr
    assert "go with --extension" in invoke("generate", "--core", CORE).stderr


# ---- the pinned ones, elsewhere and otherwise

USE: Final = """
from mcp_wire.ext.tasks.handlers_msgspec import calls, models
from mcp_wire.v2026_07_28 import models_msgspec as core

task = '{"taskId":"t","createdAt":"","lastUpdatedAt":"","ttlMs":null,"x":1'
made = calls.decode_result("tools/call", task + ',"status":"new","resultType":"task"}')
assert type(made) is models.CreateTaskResult and made.status == "new"
failed = '"status":"failed","resultType":"complete","error":{"code":1,"message":"m","x":1}}'
failed = calls.decode_result("tasks/get", f"{task},{failed}")
assert type(failed.error) is core.Error
assert b'"x"' not in calls.encode(failed.error)
"""


@pytest.mark.wide
def test_extensions_follow_the_options_of_their_core(tmp_path: Path) -> None:
    options = ("--unknown", "drop", "--literals", "open", "--flavour", "msgspec")
    out = tmp_path / "mcp_wire"
    assert invoke("generate", *options, "--out", out).exit_code == 0
    assert invoke("generate", "--out", out, "--check").stdout == ""
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", USE], env=env, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
