"""`new --from-tools` takes the tools that the runtime offers, by the runtime's own rule."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from mcp_bindgen import pins
from mcp_bindgen.cli.new.project import tools_of
from mcp_bindgen.errors import InputError
from tests.support.command import invoke

GOOD: Final[dict[str, Any]] = {
    "name": "good",
    "inputSchema": {"type": "object", "properties": {"a": {}}},
}
HALF: Final = "half \ud83d"


def tool(**members: Any) -> dict[str, Any]:
    return {"name": "odd", "inputSchema": {"type": "object"}, **members}


ODD: Final = {
    "no type": tool(inputSchema={}),
    "a dialect alone": tool(
        inputSchema={"$schema": "https://json-schema.org/draft/2020-12/schema"}
    ),
    "another type": tool(inputSchema={"type": "string"}),
    "a schema that is none": tool(inputSchema=True),
    "null for a schema": tool(inputSchema=None),
    "no schema": {"name": "odd"},
    "a null description": tool(description=None),
    "a null hint": tool(annotations={"title": None, "readOnlyHint": True}),
    "a hint that is no truth value": tool(annotations={"readOnlyHint": "yes"}),
    "a name with a space": tool(name="odd one"),
    "a header of odd form": tool(
        inputSchema={
            "type": "object",
            "properties": {"a": {"type": "string", "x-mcp-header": "a b"}},
        }
    ),
    "half a character in the description": tool(description=HALF),
    "half a character in the title": tool(title=HALF),
    "half a character in the name": tool(name="odd\ud83d"),
    "half a character in a member's name": tool(
        inputSchema={"type": "object", "properties": {HALF: {"type": "string"}}}
    ),
    "half a character in a value": tool(
        inputSchema={"type": "object", "properties": {"a": {"enum": [HALF]}}}
    ),
    "half a character in a text below": tool(
        inputSchema={"type": "object", "properties": {"a": {"description": HALF}}}
    ),
}


def names(listed: list[Any], **options: Any) -> list[str]:
    data = json.dumps({"tools": listed}).encode()
    return [each.name for each in tools_of(data, "t.json", **options)]


@pytest.mark.parametrize("odd", ODD)
def test_a_tool_that_the_runtime_refuses_is_left_out_by_name(odd: str) -> None:
    left_out = list[str]()
    assert names([GOOD, ODD[odd]], left_out=left_out) == ["good"]
    (row,) = left_out
    assert row.startswith(json.dumps(ODD[odd]["name"]) + " (t.json:1:")
    assert row.rpartition("): ")[2]


@pytest.mark.parametrize("odd", ODD)
def test_it_is_refused_where_all_must_be_offered(odd: str) -> None:
    every: list[dict[str, Any]] = [{}, {"strict": True, "left_out": []}]
    for options in every:
        with pytest.raises(InputError, match="1 of 2 tools cannot be offered") as error:
            names([GOOD, ODD[odd]], **options)
        assert json.dumps(ODD[odd]["name"]) in str(error.value)
    with pytest.raises(InputError, match="1 of 1 tools cannot be offered"):
        names([ODD[odd]], left_out=[])


@pytest.mark.parametrize(
    ("item", "row"),
    [
        (3, "$.tools[1] (t.json:1:65): it is no object"),
        (None, "$.tools[1] (t.json:1:65): it is no object"),
        ({"inputSchema": {"type": "object"}}, "$.tools[1] (t.json:1:65): it has no name"),
        ({"name": "", "inputSchema": {}}, "$.tools[1] (t.json:1:65): it has no name"),
        ({"name": 3, "inputSchema": {}}, "$.tools[1] (t.json:1:65): it has no name"),
        ({"name": "odd"}, '"odd" (t.json:1:65): it has no inputSchema'),
        (
            {"name": "good", "inputSchema": {"type": "object"}},
            '"good" (t.json:1:65): another tool before it has this name',
        ),
        (
            {"name": "odd", "inputSchema": {"type": "object", "required": None}},
            '"odd" (t.json:1:65): $.tools[1].inputSchema.required:'
            " expected a list of names, found null",
        ),
        (
            {"name": "odd", "inputSchema": {"type": "object", "allOf": [{"$ref": "#/nowhere"}]}},
            '"odd" (t.json:1:65): $.tools[1].inputSchema.allOf[0]: "#/nowhere" leads nowhere',
        ),
    ],
)
def test_an_item_that_is_no_tool_hides_no_other(item: Any, row: str) -> None:
    left_out = list[str]()
    plain = {"name": "good", "inputSchema": {"type": "object"}}
    last = {**plain, "name": "last"}
    assert names([plain, item, last], left_out=left_out) == ["good", "last"]
    assert left_out == [row]
    with pytest.raises(InputError):
        names([plain, item, last])


NEWEST: Final = ("--yes", "--revisions", pins.revisions()[-1])


@pytest.mark.wide
def test_the_project_of_what_is_left_starts(tmp_path: Path) -> None:
    listed: list[dict[str, Any]] = [
        GOOD,
        *({**each, "name": f"{each['name']}_{n}"} for n, each in enumerate(ODD.values())),
    ]
    file, project = tmp_path / "t.json", tmp_path / "weather"
    file.write_text(json.dumps({"tools": listed}))
    result = invoke("new", "weather", *NEWEST, "--into", project, "--from-tools", file)
    assert result.exit_code == 0
    assert result.stderr.count("\n  ") == len(ODD)
    assert "these tools are left out, as no server can offer them" in result.stderr
    code = "import weather.server"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=project / "src",
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    strict = invoke(
        "new", "other", "--into", tmp_path / "o", "--yes", "--from-tools", file, "--strict"
    )
    assert strict.exit_code == 2
    assert not (tmp_path / "o").exists()
