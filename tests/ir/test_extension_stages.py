"""The life of an extension, as rows: experimental, beta, stable, and at last a part of the core."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from mcp_bindgen import pins
from mcp_bindgen.errors import DecisionError
from mcp_bindgen.ir.decisions import decisions
from mcp_bindgen.ir.lower import extensions
from mcp_bindgen.ir.model import Extension
from mcp_bindgen.source import Source
from tests.support.command import run

CORE: Final = "2026-07-28"
TEXT: Final = b"export interface Stamp { text: string }\n"
ROW: Final = f"""[[extension]]
revisions = ["stamps@1"]
path = "stamps"
identifier = "com.example/stamps"
core = ["{CORE}"]
roles = ["client", "server"]
page = "p"
why = "w"
"""


def lowered(folder: Path, more: str) -> Extension:
    table = folder / "rows.toml"
    table.write_text(ROW + more, "utf-8")
    source = Source(TEXT, "stamps.ts")
    schema = extensions.load(source, "stamps@1", {}, pins.load(CORE), decisions.load(table))
    assert schema.extension is not None
    return schema.extension


def test_a_row_says_the_stage_and_the_revision_of_the_settings(tmp_path: Path) -> None:
    without = lowered(tmp_path, "")
    assert (without.stage, without.settings_revision) == ("", "")
    for stage in extensions.STAGES:
        made = lowered(tmp_path, f'stage = "{stage}"\nrevision = "2"\n')
        assert (made.stage, made.settings_revision) == (stage, "2")
    with pytest.raises(DecisionError) as caught:
        lowered(tmp_path, 'stage = "alpha"\n')
    assert "'alpha' is no stage" in str(caught.value)
    assert caught.value.remedy == "Stages: experimental, beta, stable, core."


def test_the_bindings_and_inspect_say_the_stage(root: Path) -> None:
    """The stage is that of the repository's name, but for the tasks, which become beta again."""
    stages = {name.partition("@")[0]: pins.load(name).extension for name in pins.extensions()}
    assert {name: one.stage for name, one in stages.items() if one is not None} == {
        "apps": "stable",
        "server-card": "experimental",
        "tasks": "beta",
        "tool-resolution": "experimental",
    }
    shown = run("inspect", "tasks@draft-2026-08-21", cwd=root)
    assert b"\nstage beta\n" in shown.stdout


def test_an_extension_that_the_core_has_taken_up_is_for_older_revisions(tmp_path: Path) -> None:
    """From that revision on the core says how it works: the row does not name it."""
    older = lowered(tmp_path, 'stage = "core"\n')
    assert older.cores == (CORE,)
    table = tmp_path / "rows.toml"
    newer = "2025-11-25"
    with pytest.raises(DecisionError, match=f"made for {CORE}, not for {newer}"):
        extensions.load(
            Source(TEXT, "stamps.ts"), "stamps@1", {}, pins.load(newer), decisions.load(table)
        )
