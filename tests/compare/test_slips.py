"""A tag that cannot be bound: `diff` compares the rest, and says which declaration it left out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from mcp_bindgen import pins
from mcp_bindgen.paths import schema as schema_folder
from tests.support.command import invoke

NEWEST: Final = pins.revisions()[-1]
SLIPS: Final = {
    "on a type without such values": "  /** @minimum 0 */\n  supportedVersions: string[];",
    "malformed": "  /** @minItems many */\n  supportedVersions: string[];",
    "inside a line": "  /** At least one: @minItems 1 */\n  supportedVersions: string[];",
    "of items": "  /** @items.minimum x */\n  supportedVersions: string[];",
}


@pytest.fixture(params=SLIPS)
def draft(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    text = (schema_folder() / NEWEST / "schema.ts").read_text("utf-8")
    line = "  supportedVersions: string[];"
    assert text.count(line) == 1
    text = text.replace(line, SLIPS[request.param])
    path = tmp_path / "draft.ts"
    path.write_text(text.replace("requestState?: string;", "requestState: string;"), "utf-8")
    return path


@pytest.mark.parametrize("backwards", [False, True])
def test_a_slip_refuses_its_declaration_and_not_the_diff(draft: Path, backwards: bool) -> None:
    sides = [str(draft), NEWEST] if backwards else [NEWEST, str(draft)]
    done = invoke("diff", *sides, "--format", "json")
    assert done.exit_code == 1, done.stderr
    findings = json.loads(done.stdout)["findings"]
    (slip,) = (row for row in findings if row["rule"] == "DECLARATION_NOT_COMPARED")
    assert slip["path"] == "DiscoverResult"
    assert slip["methods"] == ["server/discover"]
    assert slip["severity"] == "dangerous"
    assert slip["old" if backwards else "new"]["place"].startswith(f"{draft}:")
    assert [row for row in findings if row["path"].endswith("requestState")]


def test_the_other_commands_refuse_the_file(draft: Path, tmp_path: Path) -> None:
    assert invoke("inspect", draft).exit_code == 2
    options = ("--schema", draft, "--revision", "mine", "--out", tmp_path / "out")
    assert invoke("generate", *options).exit_code == 2
