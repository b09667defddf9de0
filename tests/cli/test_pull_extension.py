"""`mcp-bindgen pull --extension`: like pull of the core, from the repository that its pin names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from mcp_bindgen import download, pins
from tests.support.command import invoke

OFFICIAL: Final = """// Licence line.
import type { Result } from "./spec.types.js";

/** Official prose about a lead, of which nothing may stay. */
export interface Lead {
  /** Official prose about its length. @description More official prose. */
  length: number;
}

export type GetLeadResult = Result & { lead: Lead };
"""
PINS: Final = """["leads@draft"]
repository = "acme/ext-leads"
path = "schema/draft/schema.ts"
commit = "0123456789abcdef0123456789abcdef01234567"
structure = "unknown"
core = "2026-07-28"
modules = {"./spec.types.js" = "2026-07-28"}
"""
COMMIT: Final = "f" * 40


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "schema"
    (path / "ext").mkdir(parents=True)
    (path / "ext" / "PINS.toml").write_text(PINS, "utf-8")
    return path


@pytest.fixture
def official(tmp_path: Path) -> Path:
    path = tmp_path / "official.ts"
    path.write_text(OFFICIAL, "utf-8")
    return path


def pulled(folder: Path, origin: Path, *words: str, code: int = 0) -> str:
    result = invoke("pull", *words, "--from", origin, "--into", folder)
    assert result.exit_code == code, result.stderr
    return result.stdout


def test_a_version_is_written_with_its_pin_and_without_prose(folder: Path, official: Path) -> None:
    out = pulled(folder, official, "v2", "--extension", "leads", "--commit", COMMIT)
    assert out.startswith("leads@v2 is new\n")
    assert "2 comments to write" in out
    assert "schema/ext/leads/v2/schema.ts:" in out
    text = (folder / "ext/leads/v2/schema.ts").read_text("utf-8")
    assert "fficial" not in text
    assert "Licence" not in text
    pin = pins.extensions(folder)["leads@v2"]
    assert (pin.repository, pin.path) == ("acme/ext-leads", "schema/draft/schema.ts")
    assert (pin.commit, pin.core, pin.bytes) == (COMMIT, "2026-07-28", len(OFFICIAL))
    assert dict(pin.modules) == {"./spec.types.js": "2026-07-28"}
    assert "leads@draft" in pins.extensions(folder)
    assert not (folder / "PINS.toml").exists()


def test_pulled_again_it_is_unchanged_and_our_sentences_stay(folder: Path, official: Path) -> None:
    pulled(folder, official, "v2", "--extension", "leads")
    path = folder / "ext/leads/v2/schema.ts"
    ours = path.read_text("utf-8").replace("  length:", "  /** Ours: metres. */\n  length:")
    path.write_text(ours, "utf-8")
    assert pulled(folder, official, "v2", "--extension", "leads").startswith(
        "leads@v2 is unchanged"
    )
    assert "Ours: metres." in path.read_text("utf-8")
    assert "Ours: metres." in _pulled_as(folder, official, "v3")


def _pulled_as(folder: Path, official: Path, version: str) -> str:
    pulled(folder, official, version, "--extension", "leads")
    return (folder / f"ext/leads/{version}/schema.ts").read_text("utf-8")


def test_facts_that_changed_are_named_with_the_digests_that_differ(
    folder: Path, official: Path
) -> None:
    pulled(folder, official, "v2", "--extension", "leads")
    official.write_text(OFFICIAL.replace("length: number", "length: string"), "utf-8")
    out = pulled(folder, official, "v2", "--extension", "leads", code=1)
    assert "~ Lead" in out
    for digest in ("git_blob", "sha256", "structure"):
        assert f"{digest} differs from the pinned one" in out
    official.write_text(OFFICIAL.replace("prose", "words").replace("number", "string"), "utf-8")
    out = pulled(folder, official, "v2", "--extension", "leads", "--format", "json")
    assert json.loads(out)["digests"] == ["git_blob", "sha256"]


def test_the_only_version_needs_no_name(folder: Path, official: Path) -> None:
    assert pulled(folder, official, "--extension", "leads", code=1).startswith(
        "leads@draft changed"
    )
    assert pulled(folder, official, "--extension", "leads").startswith("leads@draft is unchanged")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "has no declarations"),
        ('export const LATEST_PROTOCOL_VERSION = "v9";', "is of revision v9, not leads@v2"),
        (OFFICIAL.replace("./spec.types.js", "./core.js"), "stands for the import of './core.js'"),
        (OFFICIAL.replace("{ Result }", "{ Outcome }"), "declares no `Outcome`"),
    ],
)
def test_what_is_no_such_version_overwrites_nothing(
    folder: Path, official: Path, text: str, error: str
) -> None:
    pulled(folder, official, "v2", "--extension", "leads")
    before = {path: path.read_bytes() for path in folder.rglob("*.*")}
    official.write_text(text, "utf-8")
    words = ("pull", "v2", "--extension", "leads", "--from", official, "--into", folder)
    refused = invoke(*words)
    assert refused.exit_code == 2
    assert error in refused.stderr
    assert {path: path.read_bytes() for path in folder.rglob("*.*")} == before


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("--extension", "dogs"), "Known extensions: leads@draft"),
        (("v2", "--extension", "dogs"), "schema/ext/PINS.toml"),
        ((), "REVISION is needed, or --extension NAME."),
        (("--extension", "leads", "--remove", "v9"), "Known versions: leads@draft"),
    ],
)
def test_what_cannot_be_pulled_says_what_to_do(
    folder: Path, words: tuple[str, ...], error: str
) -> None:
    refused = invoke("pull", *words, "--into", folder)
    assert refused.exit_code == 2
    assert error in refused.stderr


def test_a_removed_version_leaves_the_others(folder: Path, official: Path) -> None:
    pulled(folder, official, "v2", "--extension", "leads")
    pulled(folder, official, "v3", "--extension", "leads")
    removed = invoke("pull", "v2", "--extension", "leads", "--remove", "--into", folder)
    assert removed.exit_code == 0, removed.stderr
    assert not (folder / "ext/leads/v2").exists()
    assert (folder / "ext/leads/v3/schema.ts").exists()
    assert set(pins.extensions(folder)) == {"leads@draft", "leads@v3"}


def test_it_is_fetched_from_its_own_repository(
    folder: Path, official: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def read(place: str, way: download.Way) -> bytes:
        del way
        asked.append(place)
        return official.read_bytes()

    monkeypatch.setattr(download, "read", read)
    done = invoke("pull", "v2", "--extension", "leads", "--commit", COMMIT, "--into", folder)
    assert done.exit_code == 0, done.stderr
    public = download.address("schema/draft/schema.ts", COMMIT, "acme/ext-leads")
    assert asked == [public]
    assert public.endswith(f"/acme/ext-leads/{COMMIT}/schema/draft/schema.ts")
