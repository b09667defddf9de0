"""Questions of a server at the terminal: the prompts, the texts that fit, and the answers."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from mcp_bindgen.cli.call.questions import Questions
from mcp_runtime.revisions import latest as t
from tests.support.patience import PATIENCE

FIELDS: Final[dict[str, dict[str, Any]]] = {
    "name": {"type": "string", "title": "Your name", "minLength": 2},
    "size": {"type": "integer", "minimum": 1, "description": "in persons"},
    "price": {"type": "number"},
    "quiet": {"type": "boolean", "default": True},
    "table": {"type": "string", "enum": ["w", "d"], "enumNames": ["window", "door"]},
    "day": {"type": "string", "oneOf": [{"const": "mo", "title": "Monday"}], "default": "mo"},
    "dishes": {"type": "array", "items": {"type": "string", "enum": ["soup", "fish"]}},
}


class Person:
    """Types the lines, and keeps the prompts; the end of the lines is the end of the input."""

    def __init__(self, *lines: str) -> None:
        self.lines = list(lines)
        self.prompts: list[str] = []

    async def __call__(self, prompt: str) -> str:
        self.prompts.append(prompt)
        if not self.lines:
            raise EOFError
        return self.lines.pop(0)


def form(*names: str, required: Sequence[str] = ()) -> t.ElicitRequestFormParams:
    properties = {name: FIELDS[name] for name in names}
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return t.ElicitRequestFormParams(
        message="Which?",
        requested_schema=t.from_wire(t.ElicitRequestFormParamsRequestedSchema, schema),
    )


@pytest.mark.parametrize(
    ("name", "typed", "value"),
    [
        ("name", ["Al"], "Al"),
        ("name", ["A", "Al"], "Al"),
        ("size", ["two", "0", "2.5", "3"], 3),
        ("price", ["2.5"], 2.5),
        ("quiet", ["n"], False),
        ("quiet", ["perhaps", "YES"], True),
        ("quiet", [""], True),
        ("table", ["2"], "d"),
        ("table", ["w"], "w"),
        ("table", ["3", "0", "door", "1"], "w"),
        ("day", [""], "mo"),
        ("dishes", ["1, fish"], ["soup", "fish"]),
    ],
)
async def test_a_text_is_read_as_the_field_asks_and_asked_again_until_it_fits(
    name: str, typed: list[str], value: object
) -> None:
    person = Person("y", *typed)
    answer = await Questions(read=person)(form(name, required=[name]))
    assert (answer.action, answer.content) == ("accept", {name: value})
    assert person.lines == []


async def test_an_optional_field_may_be_left_out_and_a_required_one_not() -> None:
    person = Person("", "", "Al", "")
    answer = await Questions(read=person)(form("name", "size", required=["name"]))
    assert answer.content == {"name": "Al"}


@pytest.mark.parametrize(
    ("typed", "action"),
    [(["n"], "decline"), (["what", "c"], "cancel"), ([], "cancel"), (["y"], "cancel")],
)
async def test_a_person_may_decline_or_cancel(typed: list[str], action: str) -> None:
    answer = await Questions(read=Person(*typed))(form("name"))
    assert (answer.action, answer.content) == (action, t.UNSET)


async def test_a_form_without_fields_asks_for_consent_alone() -> None:
    person = Person("y")
    answer = await Questions(read=person)(form())
    assert (answer.action, answer.content) == ("accept", {})


async def test_a_prompt_shows_choices_type_and_default() -> None:
    person = Person("y", "", "", "", "", "")
    await Questions(read=person)(form("name", "size", "quiet", "table", "day"))
    assert person.prompts[1:] == [
        "  Your name [may be empty]: ",
        "  size (in persons) [integer, may be empty]: ",
        "  quiet [y/n, default true]: ",
        "  table\n    1 window\n    2 door\n  table [may be empty]: ",
        "  day\n    1 Monday\n  day [default mo]: ",
    ]


@pytest.mark.parametrize(
    ("typed", "action", "visited"),
    [("y", "accept", ["https://h/pay"]), ("n", "decline", []), ("c", "cancel", [])],
)
async def test_a_page_is_opened_after_consent_alone(
    typed: str, action: str, visited: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    opened: list[str] = []
    params = t.ElicitRequestURLParams(message="Pay", url="https://h/pay")
    questions = Questions(read=Person(typed), browse=lambda url: not opened.append(url))
    assert (await questions(params)).action == action
    assert opened == visited
    assert "https://h/pay" in capsys.readouterr().err


SERVER: Final = """
from dataclasses import dataclass
from mcp_runtime import Context, Server
server = Server("s", "1")
@dataclass
class Party:
    size: int
@server.tool
async def book(ctx: Context) -> str:
    return repr(await ctx.elicit("Which table?", Party))
server.run()
"""


@pytest.mark.wide
@pytest.mark.real_time
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals of POSIX")
@pytest.mark.parametrize(
    ("typed", "said"),
    [("y\n3\n", "Elicited(action='accept', content=Party(size=3))"), ("\x04", "action='cancel'")],
)
def test_a_person_at_a_terminal_is_asked(typed: str, said: str, tmp_path: Path) -> None:
    import pty

    (tmp_path / "server.py").write_text(SERVER)
    command = [sys.executable, "-m", "mcp_bindgen", "call", str(tmp_path / "server.py"), "book"]
    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.executable, command)
    shown = b""
    try:
        while select.select([terminal], [], [], PATIENCE)[0]:
            try:
                more = os.read(terminal, 65_536)
            except OSError:  # Linux says so when the other side is closed
                break
            if not more:
                break
            shown += more
            if typed and b"[c]ancel: " in shown:
                os.write(terminal, typed.encode())
                typed = ""
    finally:
        os.close(terminal)
        os.waitpid(child, 0)
    assert said in shown.decode()
