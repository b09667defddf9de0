"""What `diff` writes to a file, and where nothing changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command import invoke

PAIR = ("2025-03-26", "2025-06-18")


@pytest.mark.parametrize("format", ["text", "short", "markdown", "github"])
def test_a_report_in_a_file_is_the_one_of_a_pipe_without_colours(
    tmp_path: Path, format: str
) -> None:
    piped = invoke("diff", *PAIR, "--format", format)
    written = invoke("diff", *PAIR, "--format", format, "--output", tmp_path / "report")
    assert (written.exit_code, written.stdout) == (piped.exit_code, "")
    assert (tmp_path / "report").read_text("utf-8") == piped.stdout
    assert "\x1b" not in piped.stdout


def test_a_revision_has_not_changed_since_itself() -> None:
    result = invoke("diff", PAIR[0], PAIR[0])
    assert (result.exit_code, result.stdout.splitlines()[1:]) == (0, ["No changes."])


def test_a_method_of_both_sides_is_shown_as_one_of_two_ways() -> None:
    report = invoke("diff", "2025-11-25", "2026-07-28", "--format", "markdown").stdout
    assert "was PingRequest (two-way request)" in report
