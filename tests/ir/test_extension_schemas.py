"""The schemas of extensions, with the core that they import: facts, and what is taken."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from mcp_bindgen import pins
from mcp_bindgen.errors import InputError
from mcp_bindgen.ir.lower.facts import facts
from mcp_bindgen.ir.resolve.resolver import Resolver
from mcp_bindgen.source import Source, link
from tests.support.constructs import FLAVOURS, write_package
from tests.support.extensions import ORACLES

SECTIONS: Final = "declared,resolved,tags,methods,order"

TASK: Final = '"taskId": "a", "createdAt": "", "lastUpdatedAt": "", "ttlMs": null'
RESULT: Final = f'{{"resultType": "complete", {TASK}'
TOOL: Final = '"io.modelcontextprotocol/tool-resolution"'
PRESENT: Final = '"protocolVersion": "1", "hostInfo": {"name": "h", "version": "1"}'
CONTEXT: Final = f'{{{PRESENT}, "hostCapabilities": {{}}, "hostContext": {{"containerDimensions"'
CARD: Final = (
    '{"$schema": "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",'
    ' "description": "d", "version": "1", "name"'
)

EXAMPLES: Final = [
    ("tasks", "GetTaskResult", f'{RESULT}, "status": "working"}}', True),
    ("tasks", "GetTaskResult", f'{RESULT}, "status": "completed", "result": {{}}}}', True),
    ("tasks", "GetTaskResult", f'{RESULT}, "status": "completed"}}', False),
    ("tasks", "GetTaskResult", f'{RESULT}, "status": "working", "result": 5}}', True),
    ("tasks", "GetTaskResult", f'{{"resultType": "task", {TASK}, "status": "working"}}', False),
    ("tasks", "CreateTaskResult", f'{{"resultType": "task", {TASK}, "status": "working"}}', True),
    ("tasks", "CreateTaskResult", f'{RESULT}, "status": "working"}}', False),
    ("tasks", "TasksExtensionCapability", "{}", True),
    ("tasks", "TasksExtensionCapability", '{"a": 1}', False),
    ("apps", "McpUiInitializeResult", f'{CONTEXT}: {{"height": 1}}}}}}', True),
    ("apps", "McpUiInitializeResult", f"{CONTEXT}: {{}}}}}}", True),
    ("apps", "McpUiInitializeResult", f"{CONTEXT}: 1}}}}", False),
    ("apps", "McpUiStyles", '{"--font-sans": "Arial"}', True),
    ("apps", "McpUiStyles", '{"--font-sans": null}', False),
    ("apps", "McpUiToolMeta", '{"resourceUri": "ui://a"}', True),
    ("apps", "McpUiToolMeta", '{"csp": {}}', False),
    ("tool-resolution", "ToolResolutionExtensions", f"{{{TOOL}: {{}}}}", True),
    ("tool-resolution", "ToolResolutionExtensions", f'{{{TOOL}: {{"a": 1}}}}', False),
    ("tool-resolution", "ToolResolutionExtensions", f'{{{TOOL}: {{}}, "x": 1}}', False),
    ("tool-resolution", "ToolResolutionToolMetadata", '{"resolvable": true}', True),
    ("tool-resolution", "ToolResolutionToolMetadata", '{"resolvable": false}', False),
    ("server-card", "ServerCard", f'{CARD}: "com.example/a"}}', True),
    ("server-card", "ServerCard", f'{CARD}: "no slash"}}', False),
]


def test_every_version_has_a_file_and_every_file_a_pin(root: Path) -> None:
    files = {path.parent for path in root.glob("schema/ext/*/*/schema.ts")}
    assert {f"{path.parent.name}@{path.name}" for path in files} == set(pins.extensions())
    assert set(ORACLES) == set(pins.extensions())


@pytest.mark.parametrize(("name", "oracle"), ORACLES.items())
def test_a_pin_names_the_official_file_of_the_oracle(root: Path, name: str, oracle: str) -> None:
    index = json.loads((root / "tests/oracle/ext/index.json").read_text("utf-8"))
    source, pin = index["extensions"][oracle]["source"], pins.extensions()[name]
    theirs = source["repo"], source["path"], source["commit"]
    assert (pin.repository, pin.path, pin.commit) == theirs
    keys = ("git_blob", "sha256", "bytes")
    whole = {key: source[key] if source["exact"] else type(source[key])() for key in keys}
    assert {key: getattr(pin, key) for key in keys} == whole
    assert pin.core in pins.revisions()


@pytest.mark.parametrize("name", ORACLES)
def test_ours_has_the_pinned_structure(name: str) -> None:
    schema = pins.resolve(name)
    assert (schema.revision, schema.digest) == (name, pins.extensions()[name].structure)
    assert pins.find(str(pins.schema_path(name))).revision == name


def test_a_name_stands_for_its_only_version() -> None:
    assert pins.find_extension("tasks") == pins.find_extension("tasks@draft-2026-08-21")
    with pytest.raises(InputError, match="no extension is called 'task'") as refused:
        pins.find_extension("task")
    assert "tasks@draft-2026-08-21" in str(refused.value)


def test_an_unknown_version_names_those_there_are() -> None:
    for read in (pins.find, pins.load):
        with pytest.raises(InputError) as refused:
            read("tasks@2020-01-01")
        assert "tasks@draft-2026-08-21" in str(refused.value)


@pytest.mark.parametrize(("name", "oracle"), ORACLES.items())
def test_the_facts_of_an_extension_are_the_compilers(
    root: Path, tmp_path: Path, name: str, oracle: str
) -> None:
    file = pins.find(name)
    resolver = Resolver(*link(Source(file.data, file.path), file.imports))
    files = {"ours": facts(resolver), "theirs": without_descriptions(root, oracle)}
    for side, value in files.items():
        (tmp_path / f"{side}.json").write_text(json.dumps(value), "utf-8")
    compare = [str(root / "tests/oracle/compare.py"), "theirs.json", "ours.json"]
    command = [sys.executable, *compare, "--sections", SECTIONS]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def without_descriptions(root: Path, oracle: str) -> Any:
    """Facts without the tag `@description`, which holds prose: ours stands before the tags."""
    text = (root / f"tests/oracle/ext/{oracle}.json").read_text("utf-8")
    return json.loads(text, object_hook=without_description)


def without_description(value: dict[str, Any]) -> dict[str, Any]:
    if "tags" in value:
        value["tags"] = [tag for tag in value["tags"] if tag["name"] != "description"]
    return value


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The package of each extension's bindings, by its name."""
    folder = tmp_path_factory.mktemp("extensions")
    sys.path.insert(0, str(folder))
    made: dict[str, str] = {}
    for name in ORACLES:
        extension, _, version = name.partition("@")
        package = f"extension_{extension.replace('-', '_')}"
        write_package([pins.lower(pins.find(name), version)], folder, package)
        made[extension] = f"{package}.v{version.replace('-', '_')}"
    return made


@pytest.mark.parametrize("flavour", FLAVOURS)
@pytest.mark.parametrize(("extension", "type", "text", "wanted"), EXAMPLES)
def test_an_extension_takes_what_its_types_take(
    packages: dict[str, str], flavour: str, extension: str, type: str, text: str, wanted: bool
) -> None:
    models = importlib.import_module(f"{packages[extension]}.models_{flavour}")
    try:
        value = models.decode(getattr(models, type), text)
    except models.DecodeError:
        assert not wanted
    else:
        assert wanted
        assert json.loads(models.encode(value)) == json.loads(text)
