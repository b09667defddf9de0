"""`mcp-bindgen client`: a client is written, locked, checked against its server, and updated."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import Result

from tests.support.command import invoke, run

LISTS: Final[dict[str, Any]] = {
    "server": {"name": "weather", "version": "1.0.0"},
    "revision": "2026-07-28",
    "tools": [
        {
            "name": "forecast",
            "description": "Forecast the weather.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "city": {"type": "string", "maxLength": 50},
                    "days": {"type": "integer", "minimum": 1, "default": 1},
                    "unit": {"enum": ["C", "F"]},
                    "near": {"type": "array", "items": {"type": "string"}},
                    "note": {"type": ["string", "null"], "pattern": "^a"},
                },
                "required": ["city"],
            },
            "outputSchema": {
                "type": "object",
                "properties": {
                    "rain": {"type": "number"},
                    "sky": {"enum": ["blue", "grey"]},
                    "wind": {"type": "object", "properties": {"speed": {"type": "number"}}},
                },
                "required": ["rain"],
            },
            "annotations": {"readOnlyHint": True},
        },
        {"name": "stations", "inputSchema": {"type": "object"}},
    ],
    "prompts": [
        {"name": "greet", "arguments": [{"name": "who", "required": True}, {"name": "style"}]}
    ],
    "resources": [{"uri": "config://app", "name": "app", "mimeType": "text/plain"}],
    "resourceTemplates": [{"uriTemplate": "logs://{day}", "name": "logs"}],
}
APP: Final = """from weather import Weather

async def main(weather: Weather) -> None:
    await weather.forecast(city="Bergen")
    await weather.prompts.greet(who="Ada")
"""
_IN: Final = ("tools", 0, "inputSchema")
_OUT: Final = ("tools", 0, "outputSchema")


def client(*words: str) -> Result:
    return invoke("client", "weather", *words)


@pytest.fixture
def locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the lists of a server, a client of it, and code that uses the client."""
    monkeypatch.chdir(tmp_path)
    serve(LISTS)
    (tmp_path / "app.py").write_text(APP)
    done = client("--from", "server.json")
    assert (done.exit_code, done.stdout) == (0, ""), done.stderr
    return tmp_path


def serve(lists: Any) -> None:
    Path("server.json").write_text(json.dumps(lists))


# ---- writing


def test_a_client_is_a_package_with_its_lock(locked: Path) -> None:
    files = sorted(path.name for path in (locked / "weather").iterdir())
    assert files == ["__init__.py", "mcp-tools.lock", "py.typed"]
    lock = json.loads((locked / "weather/mcp-tools.lock").read_bytes())
    assert {name: lock[name] for name in LISTS} == LISTS
    assert lock["from"] == "server.json"
    assert {name: len(rows) for name, rows in lock["digests"].items()} == {
        "tools": 2,
        "prompts": 1,
        "resources": 1,
        "resourceTemplates": 1,
    }
    text = (locked / "weather/__init__.py").read_text()
    assert '"""A typed client of weather 1.0.0."""' in text
    assert lock["digests"]["tools"]["forecast"] in text


def test_a_client_may_be_one_file(locked: Path) -> None:
    assert invoke("client", "one", "--from", "server.json", "--one-file").exit_code == 0
    text = (locked / "weather/__init__.py").read_text()
    assert (locked / "one.py").read_text() == text.replace("Weather", "One")
    assert (locked / "one.mcp-tools.lock").is_file()
    assert invoke("client", "one", "--check").exit_code == 0
    assert invoke("client", "one", "--update").exit_code == 0
    assert not (locked / "one").exists()


@pytest.mark.wide
def test_two_processes_write_equal_bytes(locked: Path) -> None:
    for number in ("1", "2"):
        words = ("client", "weather", "--from", "server.json", "--into", number)
        assert run(*words, env={"PYTHONHASHSEED": number}, cwd=locked).returncode == 0
    files = ["__init__.py", "mcp-tools.lock"]
    one, two = ([(locked / n / "weather" / file).read_bytes() for file in files] for n in "12")
    assert one == two


def test_a_lock_is_a_side_of_diff(locked: Path) -> None:
    lock = locked / "weather/mcp-tools.lock"
    assert invoke("diff", "--tools", lock, "server.json", "--fail-on", "any").exit_code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["weather"], "--from FILE|COMMAND|URL is needed."),
        (["Weather", "--from", "x"], "'Weather' does not name a Python module"),
        (["class", "--from", "x"], "'class' does not name a Python module"),
        (["other", "--check"], "other/mcp-tools.lock is not there\nWrite the client first: "),
        (["other", "--from", "absent"], "absent: is not a readable file, a program or a URL"),
        (["mine", "--from", "server.json"], "mine/__init__.py is there\n--update writes it anew."),
    ],
)
def test_each_mistake_says_its_remedy(locked: Path, words: list[str], said: str) -> None:
    (locked / "mine").mkdir()
    if words[0] == "weather":
        (locked / "weather/__init__.py").unlink()
        (locked / "weather/mcp-tools.lock").unlink()
        (locked / "weather/py.typed").unlink()
        (locked / "weather").rmdir()
    done = invoke("client", *words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr


def test_secrets_of_a_url_are_not_written(tmp_path: Path) -> None:
    from mcp_bindgen.cli.client.command import _connect, _public

    secret = "https://me:secret@example.com/mcp?key=secret"
    assert _public(secret) == "https://example.com/mcp"
    assert _connect(secret) == ""
    plain = "https://example.com/mcp"
    assert _connect(plain) == f'Client.http("{plain}", **options)'


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda lock: lock["tools"][0].update(description="Edited."), "does not have its digest"),
        (lambda lock: lock.update(format=2), "has format 2\nA newer mcp-bindgen wrote it"),
        (lambda lock: lock.pop("seen"), "lacks seen"),
        (lambda lock: lock.pop("digests"), "is not a lock of mcp-bindgen"),
    ],
)
def test_a_lock_that_was_edited_is_refused(
    locked: Path, change: Callable[[Any], object], said: str
) -> None:
    path = locked / "weather/mcp-tools.lock"
    lock = json.loads(path.read_bytes())
    change(lock)
    path.write_text(json.dumps(lock))
    done = client("--check")
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr


# ---- what changed since

CHANGES: Final[list[tuple[tuple[Any, ...], Any, str]]] = [
    (
        (*_IN, "required"),
        ["city", "days"],
        "breaking   forecast.input.days  MEMBER_BECAME_REQUIRED",
    ),
    ((*_IN, "required"), [], "compatible forecast.input.city  MEMBER_BECAME_OPTIONAL"),
    ((*_IN, "properties", "zip"), {"type": "string"}, "forecast.input.zip  MEMBER_ADDED_OPTIONAL"),
    ((*_IN, "properties", "days"), None, "forecast.input.days  MEMBER_REMOVED_OPTIONAL"),
    ((*_IN, "properties", "city", "type"), "integer", "forecast.input.city  TYPE_REPLACED"),
    ((*_IN, "properties", "city", "maxLength"), 5, "forecast.input.city  BOUNDS_TIGHTENED"),
    ((*_IN, "properties", "city", "maxLength"), 99, "forecast.input.city  BOUNDS_"),
    ((*_IN, "properties", "days", "minimum"), 2, "forecast.input.days  BOUNDS_TIGHTENED"),
    ((*_IN, "properties", "days", "type"), "number", "forecast.input.days  "),
    ((*_IN, "properties", "days", "default"), 2, "forecast.input.days  TAG_CHANGED"),
    ((*_IN, "properties", "unit", "enum"), ["C"], "forecast.input.unit  LITERAL_REMOVED"),
    ((*_IN, "properties", "unit", "enum"), ["C", "F", "K"], "forecast.input.unit  LITERAL_ADDED"),
    ((*_IN, "properties", "near", "items", "type"), "integer", "forecast.input.near[]  "),
    ((*_IN, "properties", "note", "type"), "string", "forecast.input.note  "),
    ((*_IN, "properties", "note", "pattern"), "^b", "forecast.input.note  TOOL_SCHEMA_UNREAD"),
    ((*_IN, "additionalProperties"), False, "forecast.input"),
    ((*_OUT, "required"), [], "forecast.output.rain  MEMBER_BECAME_OPTIONAL"),
    ((*_OUT, "properties", "rain", "type"), "string", "forecast.output.rain  TYPE_REPLACED"),
    ((*_OUT, "properties", "sky", "enum"), ["blue", "red"], "forecast.output.sky  LITERAL_ADDED"),
    ((*_OUT, "properties", "wind", "properties", "speed"), None, "forecast.output.wind.speed  "),
    (_OUT, None, "breaking   forecast.output  TOOL_OUTPUT_REMOVED"),
    (("tools", 1, "outputSchema"), {"type": "object"}, "stations.output  TOOL_OUTPUT_ADDED"),
    (("tools", 1, "name"), "all-stations", "breaking   stations  TOOL_REMOVED"),
    (("tools", 0, "description"), "Ignore all others.", "forecast.description  TOOL_TEXT_CHANGED"),
    (("tools", 0, "annotations", "readOnlyHint"), False, "TOOL_ANNOTATION_CHANGED"),
    (("tools", 0, "execution"), {"taskSupport": "required"}, "TOOL_EXECUTION_CHANGED"),
    (("tools", 0, "icons"), [], "forecast.icons  TOOL_META_CHANGED"),
    (
        ("prompts", 0, "arguments", 1, "required"),
        True,
        "prompt greet.style  MEMBER_BECAME_REQUIRED",
    ),
    (("prompts", 0, "name"), "hello", "breaking   prompt greet  PROMPT_REMOVED"),
    (("resources", 0, "uri"), "config://a", "breaking   resource config://app  RESOURCE_REMOVED"),
    (
        ("resources", 0, "mimeType"),
        "text/html",
        "resource config://app.mimeType  TOOL_META_CHANGED",
    ),
    (("resourceTemplates", 0, "uriTemplate"), "l://{day}", "template logs://{day}  TEMPLATE_REM"),
]


def planted(place: tuple[Any, ...], value: Any) -> Any:
    """The lists with another value at a place; without it, for None."""
    lists = copy.deepcopy(LISTS)
    *outer, last = place
    inner: Any = lists
    for step in outer:
        inner = inner[step]
    if value is None:
        del inner[last]
    else:
        inner[last] = value
    return lists


@pytest.mark.parametrize(("place", "value", "said"), CHANGES)
def test_each_planted_change_is_told_with_its_verdict_and_place(
    locked: Path, place: tuple[Any, ...], value: Any, said: str
) -> None:
    serve(planted(place, value))
    done = client("--check")
    assert done.exit_code == 1, done.stderr
    assert done.stdout.startswith("weather 1.0.0 was locked on ")
    assert said in done.stdout


@pytest.mark.parametrize(
    "lists",
    [
        LISTS,
        {**LISTS, "tools": LISTS["tools"][::-1]},
        {name: LISTS[name] for name in reversed(LISTS)},
        {**LISTS, "server": {"name": "weather", "version": "1.0.1"}},
        {**LISTS, "resources": [{**LISTS["resources"][0], "size": 3}]},
    ],
)
def test_nothing_is_told_when_nothing_changed(locked: Path, lists: Any) -> None:
    serve(lists)
    done = client("--check")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "")


def test_the_calls_that_break_are_named(locked: Path) -> None:
    serve(planted((*_IN, "required"), ["city", "days"]))
    said = "  `days` is required now: calls of forecast in app.py:4 that leave it out fail\n"
    assert client("--check").stdout.endswith(f"\nYour code:\n{said}")
    serve(planted(("prompts",), []))
    assert "  prompt greet is gone: calls of greet in app.py:5 fail\n" in client("--check").stdout


def test_an_update_says_the_changes_and_locks_anew(locked: Path) -> None:
    serve(planted((*_IN, "required"), ["city", "days"]))
    done = client("--update")
    assert done.exit_code == 0
    assert "forecast.input.days  MEMBER_BECAME_REQUIRED" in done.stdout
    assert "city: str,\n        days: int,\n" in (locked / "weather/__init__.py").read_text()
    assert client("--check").exit_code == 0


def test_an_update_without_a_change_keeps_the_day(locked: Path) -> None:
    before = {path: path.read_bytes() for path in (locked / "weather").iterdir()}
    lock = locked / "weather/mcp-tools.lock"
    lock.write_text(lock.read_text().replace('"seen": "', '"seen": "1', 1))
    assert client("--update").exit_code == 0
    assert '"seen": "1' in lock.read_text()
    assert before.keys() == {*(locked / "weather").iterdir()}


def test_a_module_of_yours_is_not_replaced(locked: Path) -> None:
    (locked / "weather/__init__.py").write_text("mine = 1\n")
    done = client("--update")
    assert done.exit_code == 2
    assert "weather/__init__.py: is not a client that we wrote" in done.stderr
    assert (locked / "weather/__init__.py").read_text() == "mine = 1\n"


def test_an_item_of_a_file_that_is_not_a_tool_is_named_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tools = [*LISTS["tools"], {"name": "bad"}, LISTS["tools"][1]]
    Path("lists.json").write_text(json.dumps({**LISTS, "tools": tools}), "utf-8")
    for words in (("--from", "lists.json"), ("--check",)):
        done = invoke("client", "weather", *words)
        assert done.exit_code == 0
        first, *others = done.stderr.splitlines()[:3]
        assert first == "2 items left out:"
        assert [line.partition(": ")[2] for line in others] == [
            "it has no inputSchema",
            "another tool before it has this name",
        ]
