"""The official schema.ts of every revision and extension, where `make official` has fetched it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mcp_bindgen import pins
from mcp_bindgen.ir.lower.facts import facts
from mcp_bindgen.ir.resolve.resolver import Resolver
from mcp_bindgen.pull import pull
from mcp_bindgen.source import Source, link
from tests.support.extensions import ORACLES
from tests.support.official_files import require

pytestmark = pytest.mark.parametrize("revision", [*pins.revisions(), *pins.extensions()])


def official(revision: str) -> bytes:
    return require(revision, "schema.ts").read_bytes()


def words_in_comments(data: bytes) -> list[str]:
    source = Source(data, "schema.ts")
    comments = (source.slice(start, end) for end, start in sorted(source.comments.items()))
    text = re.sub(r"@(?:pattern|format) [^\n]*", "", " ".join(comments))  # facts, not prose
    return re.findall(r"[a-z0-9_$]+", text.lower())


def test_its_facts_are_the_compilers_prose_and_all(
    root: Path, tmp_path: Path, revision: str
) -> None:
    data = official(revision)
    imports = pins.find(revision).imports
    read_facts = facts(Resolver(*link(Source(data, "schema.ts"), imports)))
    (tmp_path / "facts.json").write_text(json.dumps(read_facts), "utf-8")
    oracle = root / "tests" / "oracle"
    theirs = f"ext/{ORACLES[revision]}.json" if "@" in revision else f"{revision}.json"
    arguments = [oracle / "compare.py", oracle / theirs, tmp_path / "facts.json"]
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_it_is_the_pinned_one_and_ours_follows_from_it(
    root: Path, tmp_path: Path, revision: str
) -> None:
    shutil.copytree(root / "schema", tmp_path / "schema")
    like = pins.extensions().get(revision)
    pulled = pull(revision, official(revision), tmp_path / "schema", like=like)
    assert pulled.status == "unchanged"
    assert pulled.written == ()


def test_none_of_its_prose_is_ours(root: Path, revision: str) -> None:
    theirs = words_in_comments(official(revision))
    ours = words_in_comments((root / "schema" / pins.place(revision)).read_bytes())
    known = {tuple(theirs[at : at + 8]) for at in range(len(theirs) - 7)}
    runs = (tuple(ours[at : at + 8]) for at in range(len(ours) - 7))
    assert [run for run in runs if run in known] == []
