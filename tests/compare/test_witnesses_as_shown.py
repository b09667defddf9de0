"""Every witness that a report shows, in each form, is right for its writer, wrong for its reader.

The models that `generate` writes judge both sides: those of the revisions, and for tools those of
`tools/call` together with a validator of the tools' own schemas.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import jsonschema_rs
import pytest

import mcp_wire
from mcp_bindgen import pins
from mcp_bindgen.compare.judge.witness import Witness
from tests.compare.test_mutations import agree, carries, reads
from tests.support.command import invoke
from tests.support.schemas import pinned

FORMS: Final = ("text", "json", "markdown", "html", "github")
PAIRS: Final = list(pairwise(pins.revisions()))
CUT: Final = "…"
REVISION: Final = "2025-11-25"

NAMED: Final = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1}},
}
OLD: Final = [
    {"name": "gone", "inputSchema": {"type": "object"}},
    {"name": "to_do.list", "inputSchema": {"type": "object"}},
    {"name": "forecast", "inputSchema": NAMED, "outputSchema": NAMED},
    {"name": "method", "inputSchema": NAMED},
]
NEW: Final = [
    {"name": "came", "inputSchema": {**NAMED, "required": ["city"]}},
    {"name": "todo_list", "inputSchema": {"type": "object"}},
    {
        "name": "forecast",
        "inputSchema": {**NAMED, "required": ["days"]},
        "outputSchema": {"type": "object", "properties": {"city": {"type": "integer"}}},
    },
    {"name": "method", "inputSchema": {**NAMED, "additionalProperties": False}},
]


def shown(form: str, *args: str | Path) -> list[str]:
    """The messages of a report, as the form writes them; the text form cuts long ones."""
    said = invoke("diff", *args, "--format", form, *(["--verbose"] * (form == "text"))).stdout
    return list(_messages(form, said))


def _messages(form: str, said: str) -> Iterator[str]:
    if form == "text":
        yield from re.findall(r"^ +(?:old|new) \w+ → (?:old|new) \w+: (.*)$", said, re.M)
    elif form == "json":
        for finding in json.loads(said)["findings"]:
            yield from (json.dumps(w["message"], ensure_ascii=False) for w in finding["witnesses"])
    elif form == "markdown":
        yield from re.findall(
            r"^  (?:old|new) \w+ → (?:old|new) \w+: `+(.*?)`+ is refused", said, re.M
        )
    elif form == "html":
        figures = re.findall(r'<figure class="witness">.*?<pre[^>]*>(.*?)</pre>', said, re.S)
        yield from map(html.unescape, figures)


def judged(*args: str | Path) -> list[dict[str, Any]]:
    """The witnesses of the JSON document, which has them whole."""
    document = json.loads(invoke("diff", *args, "--format", "json").stdout)
    return [witness for finding in document["findings"] for witness in finding["witnesses"]]


def require_known(form: str, messages: list[str], known: list[dict[str, Any]]) -> None:
    """What a form shows are whole witnesses, or the beginnings of some."""
    whole = {json.dumps(each["message"], ensure_ascii=False) for each in known}
    for message in messages:
        if message.endswith(CUT):
            assert any(each.startswith(message[:-1]) for each in whole), (form, message)
        else:
            assert json.dumps(json.loads(message), ensure_ascii=False) in whole, (form, message)


# ---- two revisions


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_a_revision_decodes_the_witnesses_that_it_writes_and_the_other_refuses_them(
    old: str, new: str
) -> None:
    known = judged(old, new)
    assert len(known) > 5
    for each in known:
        witness = Witness(**each)
        writer, reader = (
            pinned(s) for s in ((old, new) if witness.writer == "old" else (new, old))
        )
        assert reads(writer, witness) is None, each
        if witness.path == "$.method" and not carries(reader, witness):
            continue
        refused = reads(reader, witness)
        assert refused is not None, each
        assert agree(refused, witness.path), each


@pytest.mark.drawn
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_every_form_shows_witnesses_of_the_document(old: str, new: str, form: str) -> None:
    messages = shown(form, old, new)
    assert bool(messages) == (form != "github")  # annotations have no room for messages
    require_known(form, messages, judged(old, new))


# ---- two lists of tools


@pytest.fixture
def lists(tmp_path: Path) -> tuple[Path, Path]:
    for name, tools in (("old", OLD), ("new", NEW)):
        (tmp_path / f"{name}.json").write_text(json.dumps({"tools": tools}))
    return tmp_path / "old.json", tmp_path / "new.json"


@cache
def models() -> Any:
    return mcp_wire.load(REVISION, "models_msgspec")


def takes(tools: list[dict[str, Any]], witness: dict[str, Any]) -> bool:
    """Whether a server, or client, of these tools takes a message."""
    by_name = {tool["name"]: tool for tool in tools}
    message = witness["message"]
    if witness["part"] == "result":
        result = models().from_wire(models().CallToolResult, message["result"])
        schema, value = (
            by_name[witness["method"]].get("outputSchema", {}),
            result.structured_content,
        )
        given: Any = {} if schema == {} else models().to_wire(result)["structuredContent"]
        return jsonschema_rs.is_valid(schema, given if schema else value)
    call = models().from_wire(models().CallToolRequest, message)
    assert call.method == "tools/call"
    tool = by_name.get(call.params.name)
    return tool is not None and jsonschema_rs.is_valid(
        tool["inputSchema"], models().to_wire(call)["params"]["arguments"]
    )


def test_a_call_is_taken_by_the_tools_that_write_it_and_refused_by_the_others(
    lists: tuple[Path, Path],
) -> None:
    known = judged("--tools", *lists)
    assert {each["method"] for each in known} >= {"gone", "came", "forecast", "method"}
    for each in known:
        mine, other = (OLD, NEW) if each["writer"] == "old" else (NEW, OLD)
        assert takes(mine, each), each
        assert not takes(other, each), each


def test_a_tool_that_comes_or_goes_is_shown_by_a_call_of_it(lists: tuple[Path, Path]) -> None:
    document = json.loads(invoke("diff", "--tools", *lists, "--format", "json").stdout)
    lone = [f for f in document["findings"] if f["rule"] in ("TOOL_ADDED", "TOOL_REMOVED")]
    assert len(lone) == 4
    for finding in lone:
        (witness,) = finding["witnesses"]
        assert witness["message"]["method"] == "tools/call"
        assert witness["message"]["params"]["name"] == finding["path"]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_shows_calls_of_the_document(lists: tuple[Path, Path], form: str) -> None:
    messages = shown(form, "--tools", *lists)
    assert bool(messages) == (form != "github")
    require_known(form, messages, judged("--tools", *lists))


# ---- the text form on a terminal


def words(said: str) -> str:
    return "".join(said.split())


@pytest.mark.parametrize("columns", [72, 80, 100])
def test_a_long_line_goes_on_below_its_own_beginning(
    monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    whole = invoke("diff", *PAIRS[-1], "--verbose").stdout
    monkeypatch.setattr("mcp_bindgen.cli.diff.command._width", lambda: columns)
    said = invoke("diff", *PAIRS[-1], "--verbose").stdout
    assert words(said) == words(whole)
    headings = {line for line in whole.splitlines() if line and not line.startswith(" ")}
    for line in said.splitlines():
        assert line.startswith((" ", "Not shown")) or not line or line in headings
        if len(line) > columns:  # then one word, or one text in quotes, leaves no room for another
            rest = re.sub(r"^  (breaking|dangerous|compatible|docs) +", "", line).strip()
            pieces = re.findall(r'(?:"(?:[^"\\]|\\.)*"?|[^\s"])+', rest)
            assert len(pieces) == 1, line


def test_a_member_that_may_be_left_out_now_is_said_in_words() -> None:
    said = invoke("diff", "2025-06-18", "2025-11-25").stdout
    assert "required → optional: RequestId" in said
    assert "?:" not in said.split("CancelledNotificationParams.requestId")[1].split("refused")[0]


def test_what_surely_breaks_is_told_from_what_breaks_when_it_is_used() -> None:
    said = invoke("diff", "2025-06-18", "2025-11-25").stdout
    assert "breaks Python source; old clients and old servers only if the changed feature" in said
    assert "if it is used" not in said


def test_a_headline_names_the_declaration_of_a_member() -> None:
    said = invoke("diff", "2025-11-25", "2026-07-28").stdout
    (line,) = (line for line in said.splitlines() if "Now required" in line)
    assert "Result.resultType (in " in line
    assert "ttlMs of ListResourcesResult and 4 more (in " in line


# ---- a list that is not whole


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("around", ["", "[]", "result"])
def test_a_list_with_errors_is_no_list(lists: tuple[Path, Path], side: int, around: str) -> None:
    page: dict[str, Any] = {
        "revision": REVISION,
        "tools": [],
        "errors": {"tools": "no answer within 5 s"},
    }
    wrapped: dict[str, Any] = {"": page, "[]": [page], "result": {"result": page}}
    lists[side].write_text(json.dumps(wrapped[around]))
    result = invoke("diff", "--tools", *lists)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "errors: this list is not whole" in result.stderr
    lists[side].write_text(json.dumps({**page, "errors": {}}))
    assert invoke("diff", "--tools", *lists, "--fail-on", "never").exit_code == 0
