"""What a peer or a file says is shown without the characters that steer a terminal."""

from __future__ import annotations

import json
import re
import sys

import pytest

from mcp_bindgen.cli.show import code, heading, in_one_line, safe, safe_text, say
from tests.support.terminal import HOSTILE, is_inert


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_nothing_that_steers_a_terminal_is_shown(text: str) -> None:
    assert not is_inert(text)
    for show in (safe, safe_text):
        assert is_inert(show(f"before {text} after"))
        assert show(f"before {text} after").startswith("before ")


def test_one_line_stays_one_line() -> None:
    assert safe("a\nb\tc") == "a\\u000ab\\u0009c"
    assert safe_text("a\r\nb\tc\n") == "a\nb\tc\n"
    assert safe_text("a\rb") == "a\\u000db"


@pytest.mark.parametrize("text", ["bo\r\nom", "bo\nom\n", "\n bo \n\n om", "bo\rom", "bo\u2028om"])
def test_lines_in_a_sentence_are_one_line(text: str) -> None:
    assert in_one_line(text) == "bo om"
    assert is_inert(in_one_line(f"{text}\x1b[31m"))


def test_every_control_character_of_unicode_is_an_escape() -> None:
    for point in (*range(0x20), *range(0x7F, 0xA0)):
        assert is_inert(safe(chr(point)))
    assert safe("naïve – 漢字 🏳️‍🌈 \u00a0") == "naïve – 漢字 🏳️‍🌈 \u00a0"


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_json_keeps_its_meaning(text: str) -> None:
    written = json.dumps({"text": text}, ensure_ascii=False, indent=2)
    assert is_inert(safe_text(written))
    assert json.loads(safe_text(written)) == {"text": text}


def test_code_can_be_read_on_white_and_on_black_and_is_not_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of a terminal's own colours only those that are dark on white and light on black."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.delenv("NO_COLOR", raising=False)
    text = f'class A:  # note\n    b: str = "{"x" * 100}"'
    lines = code(text, "python")
    colours = {part for line in lines for part in re.findall(r"\x1b\[([0-9;]*)m", line)}
    assert colours - {"0"}
    assert colours <= {"0", "35", "32", "36", "3;36"}
    assert [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in lines] == text.split("\n")


@pytest.mark.parametrize(("wish", "shown"), [("1", "bold"), ("", "\x1b[1mbold\x1b[0m")])
def test_our_own_colours_are_left_out_where_nobody_wants_any(
    wish: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[str] = []
    monkeypatch.setenv("NO_COLOR", wish)
    monkeypatch.setattr("click.echo", lambda text, **_: lines.append(text))
    say("\n".join(heading("bold")))
    assert lines == [shown]
