"""Tools of a list as types: importable, round-tripping, or refused by name; never code."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from symtable import symtable
from typing import Any, Final

import msgspec
import pytest

from mcp_bindgen.errors import InputError
from mcp_bindgen.scaffold import structs
from mcp_bindgen.scaffold import typed as typing_
from mcp_bindgen.scaffold.answers import Answers
from mcp_bindgen.scaffold.handlers import tool_view
from mcp_bindgen.scaffold.render import project, templates
from mcp_bindgen.scaffold.tools import Tool, listing, read
from mcp_bindgen.scaffold.typed import Untyped, typed
from tests.support import tool_lists
from tests.support.projects import write

ANSWERS: Final = Answers(name="my-server", revisions=("2026-07-28",), tools=True)
HOME: Final = "src/my_server/tools"


@pytest.fixture(scope="module")
def fifty() -> list[Tool]:
    return read(tool_lists.listing(*tool_lists.FIFTY), "fifty.json")


@pytest.fixture(scope="module")
def files(fifty: list[Tool]) -> dict[str, str]:
    return project(ANSWERS, templates(True), {}, fifty)


@pytest.mark.wide
def test_there_are_fifty_tools(fifty: list[Tool]) -> None:
    assert len(fifty) >= 50
    assert len({tool.module for tool in fifty}) == len(fifty)


def test_each_tool_has_a_module_and_a_test(fifty: list[Tool], files: dict[str, str]) -> None:
    for tool in fifty:
        assert f"{HOME}/{tool.module}.py" in files
        assert f"tests/tools/test_{tool.module}.py" in files


def test_the_types_are_imported_and_give_values_back(
    fifty: list[Tool], files: dict[str, str], tmp_path: Path
) -> None:
    """As files, without the runtime: in a process, for a schema's text might do anything."""
    for tool in fifty:
        text = files[f"{HOME}/{tool.module}.py"]
        alone = text.replace("from .._mcp.runtime import Context", "Context = object")
        (tmp_path / f"{tool.module}_.py").write_text(alone, "utf-8")
    samples = msgspec.json.encode({f"{tool.module}_": tool.sample for tool in fifty})
    (tmp_path / "samples.json").write_bytes(samples)
    code = """
import importlib, msgspec
for name, sample in msgspec.json.decode(open("samples.json", "rb").read()).items():
    model = importlib.import_module(name).Input
    value = msgspec.convert(sample, model)
    again = msgspec.json.encode(value)
    assert msgspec.json.decode(again, type=model) == value, name
    given = msgspec.json.decode(again)
    assert {key: given[key] for key in sample} == sample, name
"""
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert run.stderr == ""


def _strings_aside(text: str) -> Iterator[ast.AST]:
    return (node for node in ast.walk(ast.parse(text)) if not isinstance(node, ast.Constant))


def test_nothing_of_a_schema_is_code(files: dict[str, str]) -> None:
    for path, text in files.items():
        if path.startswith((f"{HOME}/", "tests/tools/")) and path.endswith(".py"):
            for node in _strings_aside(text):
                assert not (isinstance(node, ast.Name) and node.id in ("os", "system", "eval")), (
                    path
                )
                assert not isinstance(node, ast.Import) or "os" not in ast.unparse(node), path


def test_no_character_is_hidden(files: dict[str, str]) -> None:
    for path, text in files.items():
        if path.endswith(".py"):
            assert [c for c in text if not c.isprintable() and c != "\n"] == [], path


@pytest.mark.wide
def test_the_list_is_read_again_as_it_was(fifty: list[Tool]) -> None:
    again = read(listing(fifty).encode(), "tools.json")
    assert [tool.declared for tool in again] == [tool.declared for tool in fifty]
    assert again == fifty


def test_what_no_type_says_is_told() -> None:
    (tool,) = read(
        tool_lists.listing(
            {"name": "t", "inputSchema": {"type": "object", "not": {"required": ["a"]}}}
        ),
        "f",
    )
    assert tool.unsaid == ("input: not",)


GOOD: Final = {"name": "good", "inputSchema": {"type": "object"}}


@pytest.mark.drawn
@pytest.mark.parametrize("name", tool_lists.UNTYPED)
def test_what_cannot_be_typed_is_any_at_its_place(name: str) -> None:
    schema, place, why = tool_lists.UNTYPED[name]
    good, tool = read(tool_lists.listing(GOOD, {"name": name, "inputSchema": schema}), "f.json")
    assert good.loose == ()
    (loose,) = tool.loose
    assert loose.place == f"input{place}"
    assert why in loose.why
    body = "\n".join(structs.lines(tool.input.types))
    ast.parse(body)
    assert "Any" in body
    view = tool_view(tool)
    assert f"{loose.place}: all of it" in " ".join(" ".join(view["docstring"]).split())


@pytest.mark.drawn
@pytest.mark.parametrize("name", tool_lists.UNTYPED)
def test_strict_refuses_it_by_name(name: str) -> None:
    schema, place, why = tool_lists.UNTYPED[name]
    listing = tool_lists.listing(GOOD, {"name": name, "inputSchema": schema})
    with pytest.raises(InputError) as refused:
        read(listing, "f.json", strict=True)
    assert "f.json: 1 of 2 tools cannot be typed in full" in str(refused.value)
    assert f'"{name}": input{place}: ' in str(refused.value)
    assert why in str(refused.value)


@pytest.mark.parametrize(
    ("member", "written"),
    [
        ({"type": "array", "items": {"type": "string"}, "default": []}, "list[str]"),
        ({"type": "object", "default": {}}, "dict[str, Any]"),
        (
            {"type": "object", "additionalProperties": {"type": "integer"}, "default": {}},
            "dict[str, int]",
        ),
    ],
)
def test_an_empty_default_is_one(member: dict[str, Any], written: str) -> None:
    schema = {"type": "object", "properties": {"x": member}}
    (tool,) = read(tool_lists.listing({"name": "t", "inputSchema": schema}), "f", strict=True)
    line = f"    x: {written} = field(default_factory={written.partition('[')[0]})"
    assert line in structs.lines(tool.input.types)


def test_a_default_with_a_reference_is_left_out() -> None:
    """A generator of types would follow it."""
    member = {"type": "object", "default": {"$ref": "https://example.com"}}
    schema = {"type": "object", "properties": {"x": member}}
    (tool,) = read(tool_lists.listing({"name": "t", "inputSchema": schema}), "f", strict=True)
    assert "    x: dict[str, Any] | UnsetType = UNSET" in structs.lines(tool.input.types)


@pytest.mark.wide
def test_the_tools_of_real_servers_are_written_as_they_are_linted(
    shared: Path, tmp_path: Path
) -> None:
    """Whatever lists them: nothing is refused, and ruff finds nothing to change."""
    vendored = {"__init__.py": "", "runtime/__init__.py": ""}
    lists = sorted((shared / "tool-lists").glob("*.json"))
    assert len(lists) > 20
    for path in lists:
        tools = read(path.read_bytes(), path.name)
        write(project(ANSWERS, templates(True), vendored, tools), tmp_path / path.stem)
    for command in (["format", "--check"], ["check", "--no-cache"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "."],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout


def test_a_tool_may_be_called_as_what_the_joining_module_defines() -> None:
    def joining(*names: str) -> ast.Module:
        schema = {"type": "object"}
        tools = read(tool_lists.listing(*({"name": n, "inputSchema": schema} for n in names)), "f")
        return ast.parse(project(ANSWERS, templates(True), {}, tools)[f"{HOME}/__init__.py"])

    module = joining("a")
    loops = [each.target for each in ast.walk(module) if isinstance(each, ast.comprehension)]
    inner = {name.id for loop in loops for name in ast.walk(loop) if isinstance(name, ast.Name)}
    names = {*symtable(ast.unparse(module), "tools", "exec").get_identifiers()}
    names -= {"a", *inner}  # Python 3.12 counts what stands inside with the module's
    lower = sorted(name for name in names if name == name.lower() and name[0] != "_")
    assert {"json", "offer", "types"} <= set(lower)
    imports = [node for node in joining(*lower).body if isinstance(node, ast.ImportFrom)]
    (modules,) = ([alias.name for alias in node.names] for node in imports if node.module is None)
    assert sorted(modules) == [f"{name}_" for name in lower]


@pytest.mark.wide
def test_a_tool_may_be_called_as_a_test_of_the_project_is(tmp_path: Path) -> None:
    tools = read(tool_lists.listing({"name": "server", "inputSchema": {"type": "object"}}), "f")
    files = project(ANSWERS, templates(True), {}, tools)
    tests = [path for path in files if path.startswith("tests/") and path.endswith(".py")]
    assert {"tests/test_server.py", "tests/tools/test_server.py"} <= set(tests)
    write({**files, **dict.fromkeys(tests, "def test_it() -> None: ...\n")}, tmp_path)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["a", "a"], "another tool before it has this name"),
        (["get-sum", "get_sum"], "so would that of 'get-sum'"),
        (["getSum", "get_sum"], "its module would be get_sum"),
        (["日本"], "no module can be named after it"),
        ([], "lists no tools"),
    ],
)
def test_names_that_do_not_make_modules_are_refused(names: list[str], said: str) -> None:
    tools = [{"name": name, "inputSchema": {"type": "object"}} for name in names]
    with pytest.raises(InputError, match=said):
        read(tool_lists.listing(*tools), "f.json")


# ---- the output of datamodel-code-generator, had it been taken in

HEAD: Final = """
from __future__ import annotations
from typing import Annotated, Any, Literal, TypeAlias
from msgspec import Meta, Struct, UNSET, UnsetType, convert, field
"""


def check(text: str, monkeypatch: pytest.MonkeyPatch) -> structs.Models:
    def generated(schema: Mapping[str, Any], name: str) -> str:
        return f"{HEAD}{text}"

    monkeypatch.setattr(typing_, "_generate", generated)
    return typed({}, "Input")


@pytest.mark.parametrize(
    "text",
    [
        "import os\nclass Input(Struct):\n    pass",
        "from os import system\nclass Input(Struct):\n    pass",
        "from typing import cast\nclass Input(Struct):\n    pass",
        "from .x import Struct\nclass Input(Struct):\n    pass",
        "print()\nclass Input(Struct):\n    pass",
        "@print\nclass Input(Struct):\n    pass",
        "class Input(print):\n    pass",
        "class Input(Struct, metaclass=print):\n    pass",
        "class Input(Struct, tag=print()):\n    pass",
        "class Input(Struct):\n    print()",
        "class Input(Struct):\n    def f(self): ...",
        "class Input(Struct):\n    a: print()",
        "class Input(Struct):\n    a: str.x",
        "class Input(Struct):\n    a: unknown",
        "class Input(Struct):\n    a: 'print()'",
        "class Input(Struct):\n    a: list[print()]",
        "class Input(Struct):\n    a: Literal[print()]",
        "class Input(Struct):\n    a: Literal[1.5j]",
        "class Input(Struct):\n    a: Annotated[str, print()]",
        "class Input(Struct):\n    a: Annotated[str, Meta(pattern='a')]",
        "class Input(Struct):\n    a: Annotated[str, Meta(ge=print())]",
        "class Input(Struct):\n    a: Annotated[str, Meta(description=print())]",
        "class Input(Struct):\n    a: str = print()",
        "class Input(Struct):\n    a: str = f'{print()}'",
        "class Input(Struct):\n    a: str = field(default_factory=print)",
        "class Input(Struct):\n    a: str = field(default_factory=lambda: print())",
        "class Input(Struct):\n    a: str = field(default_factory=lambda x=print(): [])",
        "class Input(Struct):\n    a: str = field(name=print())",
        "class Input(Struct):\n    a: str = field(**{})",
        "class Input(Struct):\n    a.b: str = 'x'",
        "Input: TypeAlias = print()",
        "Input = list[str]",
        "class Other(Struct):\n    pass",
        "class Input(Struct):\n    pass"
        "\nclass A(Struct):\n    pass\nclass InputA(Struct):\n    pass",
        "class Input(Struct:\n",
        "class Input(Struct):\n    a: str = '\0'",
    ],
)
def test_what_is_not_understood_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Untyped):
        check(text, monkeypatch)


def test_what_is_understood_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    text = """
class Any_(Struct, tag_field='k', tag='a'):
    '''Text.'''
    a: Annotated[int, Meta(ge=-1, description='d')] | UnsetType = field(name='A', default=-1)
class Input(Any_):
    b: list[Any_ | None] | UnsetType = field(default_factory=lambda: [{'x': [1]}])
    c: tuple[str, ...] | dict[str, Any]
"""
    models = check(text, monkeypatch)
    assert (
        "\n".join(structs.lines(models.types)).strip()
        == """\
class InputAny_(Struct, tag_field="k", tag="a", kw_only=True):
    a: Annotated[int, Meta(ge=-1)] = field(name="A", default=-1)
    \"\"\"d\"\"\"


class Input(InputAny_, kw_only=True):
    b: list[InputAny_ | None] = field(default_factory=lambda: [{"x": [1]}])
    c: tuple[str, ...] | dict[str, Any]"""
    )
