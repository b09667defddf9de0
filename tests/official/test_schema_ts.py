"""The official schema.ts of every revision, where `make official` has fetched it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mcp_bindgen import pins
from mcp_bindgen.ir.facts import facts
from mcp_bindgen.ir.resolve import Resolver
from mcp_bindgen.pull import pull
from mcp_bindgen.source import Source, read
from tests.support.official_files import require

pytestmark = pytest.mark.parametrize("revision", pins.revisions())


def official(revision: str) -> bytes:
    return require(revision, "schema.ts").read_bytes()


def words_in_comments(data: bytes) -> list[str]:
    source = Source(data, "schema.ts")
    comments = (source.slice(start, end) for end, start in sorted(source.comments.items()))
    return re.findall(r"[a-z0-9_$]+", " ".join(comments).lower())


def test_its_facts_are_the_compilers_prose_and_all(
    root: Path, tmp_path: Path, revision: str
) -> None:
    data = official(revision)
    read_facts = facts(Resolver(Source(data, "schema.ts"), read(data, "schema.ts")))
    (tmp_path / "facts.json").write_text(json.dumps(read_facts), "utf-8")
    oracle = root / "tests" / "oracle"
    arguments = [oracle / "compare.py", oracle / f"{revision}.json", tmp_path / "facts.json"]
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_it_is_the_pinned_one_and_ours_follows_from_it(
    root: Path, tmp_path: Path, revision: str
) -> None:
    shutil.copytree(root / "schema", tmp_path / "schema")
    pulled = pull(revision, official(revision), tmp_path / "schema")
    assert pulled.status == "unchanged"
    assert pulled.written == ()


def test_none_of_its_prose_is_ours(root: Path, revision: str) -> None:
    theirs = words_in_comments(official(revision))
    ours = words_in_comments((root / "schema" / revision / "schema.ts").read_bytes())
    known = {tuple(theirs[at : at + 8]) for at in range(len(theirs) - 7)}
    runs = (tuple(ours[at : at + 8]) for at in range(len(ours) - 7))
    assert [run for run in runs if run in known] == []
