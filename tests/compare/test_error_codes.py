"""An error with another code: told in every form, and no alarm where any reader takes it."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Final

import pytest

from mcp_bindgen import pins
from mcp_bindgen.compare.judge.verdicts import judge
from mcp_bindgen.paths import schema as schema_folder
from tests.support.command import invoke

PAIR: Final = list(pairwise(pins.revisions()))[-1]


@pytest.mark.parametrize("format", ["text", "json", "markdown", "html", "github", "short"])
def test_the_code_of_one_method_is_in_every_form(format: str) -> None:
    shown = invoke("diff", *PAIR, "--format", format).stdout
    assert "resources/read error" in shown
    assert "ERROR_CODE_CHANGED" in shown
    if format in ("text", "json", "markdown", "html"):
        assert "-32602" in shown


@pytest.mark.parametrize(("old", "new"), [PAIR, (pins.revisions()[0], PAIR[1]), PAIR[::-1]])
def test_it_is_told_once_whatever_revisions_lie_between(old: str, new: str) -> None:
    findings = json.loads(invoke("diff", old, new, "--format", "json").stdout)["findings"]
    (finding,) = (row for row in findings if row["path"] == "resources/read error")
    codes = finding["old"]["text"], finding["new"]["text"]
    assert codes == (("-32602", "-32002") if old > new else ("-32002", "-32602"))
    assert finding["old_client_new_server"] == "if used"
    assert finding["methods"] == ["resources/read"]


def test_revisions_with_the_same_code_have_no_such_finding() -> None:
    for old, new in list(pairwise(pins.revisions()))[:-1]:
        assert pins.error_codes(old) == pins.error_codes(new) == {"resources/read": -32002}
        assert "ERROR_CODE_CHANGED" not in invoke("diff", old, new, "--verbose").stdout
    assert pins.error_codes("") == {}


def test_a_declared_error_with_another_code_breaks_no_reader(tmp_path: Path) -> None:
    newest = pins.revisions()[-1]
    text = (schema_folder() / newest / "schema.ts").read_text("utf-8")
    draft = tmp_path / "draft.ts"
    draft.write_text(text.replace("= -32020;", "= -32030;"), "utf-8")
    old, new = pins.lower_alike([pins.find(newest), pins.find(str(draft))])
    findings = judge(old, new)
    verdicts = {(f.rule.id, f.change.path): (f.client, f.server) for f in findings}
    assert verdicts == {
        ("ERROR_CODE_CHANGED", "HEADER_MISMATCH"): ("if used", "if used"),
        ("TYPE_REPLACED", "HeaderMismatchError.error.code"): ("holds", "holds"),
    }
    assert [finding.witnesses for finding in findings] == [(), ()]


def test_the_data_of_a_declared_error_still_counts(tmp_path: Path) -> None:
    newest = pins.revisions()[-1]
    text = (schema_folder() / newest / "schema.ts").read_text("utf-8")
    draft = tmp_path / "draft.ts"
    draft.write_text(text.replace("supported: string[];", "supported: number[];"), "utf-8")
    old, new = pins.lower_alike([pins.find(newest), pins.find(str(draft))])
    (finding,) = judge(old, new)
    assert finding.client != "holds"
