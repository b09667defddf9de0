"""`mcp-bindgen diff --ignore`: rows that hide findings on purpose."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import invoke

PAIR = ("2024-11-05", "2025-03-26")
ROW = '[[ignore]]\nrule = "{}"\npath = "{}"\nreason = "known"\n'


def compared(path: Path, text: str, *more: str) -> tuple[int, dict[str, Any]]:
    path.write_text(text)
    result = invoke("diff", *PAIR, "--ignore", path, "--format", "json", *more)
    return result.exit_code, json.loads(result.stdout)


def test_hidden_findings_are_counted_and_fail_nothing(tmp_path: Path) -> None:
    code, body = compared(tmp_path / "i.toml", ROW.format("*", "*"))
    whole = json.loads(invoke("diff", *PAIR, "--format", "json").stdout)
    assert (code, body["findings"], body["hidden"]) == (0, [], len(whole["findings"]))


def test_a_row_that_hides_nothing_fails_where_any_finding_does(tmp_path: Path) -> None:
    path = tmp_path / "i.toml"
    code, body = compared(path, ROW.format("*", "*") + ROW.format("TAG_CHANGED", "None"))
    assert code == 0
    assert [f["rule"] for f in body["findings"]] == ["IGNORE_UNUSED"]
    assert body["findings"][0]["note"] == f"{path}:5: known"
    assert invoke("diff", *PAIR, "--ignore", path, "--fail-on", "any").exit_code == 1


def test_today_is_asked_of_the_clock(tmp_path: Path) -> None:
    _, body = compared(tmp_path / "i.toml", ROW.format("*", "*") + "until = 2001-01-01\n")
    assert "IGNORE_EXPIRED" in {f["rule"] for f in body["findings"]}
    _, body = compared(tmp_path / "i.toml", ROW.format("*", "*") + "until = 9999-12-31\n")
    assert body["findings"] == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (ROW.format("NO_RULE", "a").encode(), "i.toml:1: no rule is called 'NO_RULE'"),
        (b"[[ignore]", "at line 1"),
        (b"\xff", "is not UTF-8"),
    ],
)
def test_what_is_no_row_could_not_be_compared(tmp_path: Path, text: bytes, said: str) -> None:
    path = tmp_path / "i.toml"
    path.write_bytes(text)
    result = invoke("diff", *PAIR, "--ignore", path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr


def test_a_missing_file_could_not_be_compared(tmp_path: Path) -> None:
    result = invoke("diff", *PAIR, "--ignore", tmp_path / "none.toml")
    assert (result.exit_code, result.stdout) == (2, "")
