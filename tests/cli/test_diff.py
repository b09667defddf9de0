"""What `diff` writes to a file, and where nothing changed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from mcp_bindgen import paths
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


@pytest.mark.wide
@pytest.mark.parametrize("format", ["text", "html"])
def test_a_side_may_be_a_pipe(tmp_path: Path, format: str) -> None:
    """As `<(git show HEAD:schema.ts)` is; the page reads it beside all revisions."""
    text = (paths.schema() / "2026-07-28/schema.ts").read_text("utf-8")
    file = tmp_path / "next.ts"
    file.write_text(text.replace("  content: ContentBlock[];", "", 1), "utf-8")
    diff = f"{sys.executable} -m mcp_bindgen diff 2026-07-28 /dev/stdin --format {format}"
    done = subprocess.run(
        f"cat {file} | {diff}", shell=True, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert "MEMBER_REMOVED_REQUIRED" in done.stdout


def test_a_report_is_not_written_over_what_was_read(tmp_path: Path) -> None:
    """Named in another way too: from elsewhere, by a link, by its folder."""
    file = tmp_path / "schema.ts"
    text = (paths.schema() / f"{PAIR[1]}/schema.ts").read_text("utf-8")
    file.write_text(text, "utf-8")
    link = tmp_path / "link.ts"
    link.symlink_to(file)
    other = tmp_path / "sub/../schema.ts"
    (tmp_path / "sub").mkdir()
    for new, output in ((file, file), (file, other), (file, link), (link, file), (tmp_path, file)):
        result = invoke("diff", PAIR[0], new, "--output", output)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.startswith(f"mcp-bindgen: {output}: is read for this comparison")
    assert file.read_text("utf-8") == text


def test_a_report_is_not_written_over_rows_or_imports(tmp_path: Path) -> None:
    rows = tmp_path / "rows.toml"
    rows.write_text("", "utf-8")
    for option in (("--ignore", rows), ("--import", f"./x.js={rows}")):
        result = invoke("diff", *PAIR, *option, "--output", rows)
        assert (result.exit_code, rows.read_text("utf-8")) == (2, "")
        assert "is read for this comparison" in result.stderr


def test_a_report_replaces_the_one_before(tmp_path: Path) -> None:
    for _ in range(2):
        assert invoke("diff", PAIR[0], PAIR[0], "--output", tmp_path / "report").exit_code == 0
