"""The day a revision appears, played: what is asked, and that the answers are all it takes."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.support import successor
from tests.support.successor import BEFORE, NAME, NARROWED, STEPS

PROJECT: Final = ("codegen", "generated", "runtime", "schema", "templates", "tests")
PACKAGES: Final = ("codegen", "generated", "runtime")


class Copy:
    """A copy of the project, and what runs in it."""

    def __init__(self, root: Path, at: Path) -> None:
        self.at = at
        ignored = shutil.ignore_patterns("__pycache__")
        for folder in PROJECT:
            shutil.copytree(root / folder, at / folder, ignore=ignored)
        shutil.copy(root / "pyproject.toml", at)
        self.env = {**os.environ, "PYTHONPATH": os.pathsep.join(str(at / p) for p in PACKAGES)}

    def run(self, *args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", *args],
            cwd=self.at,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def python(self) -> dict[str, str]:
        """The digest of every Python source that is written by hand."""
        return {
            str(path.relative_to(self.at)): hashlib.sha256(path.read_bytes()).hexdigest()
            for folder in ("codegen", "runtime", "templates")
            for path in sorted((self.at / folder).rglob("*"))
            if path.is_file() and "__pycache__" not in path.parts
        }


@pytest.fixture(scope="module")
def copy(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """A copy into which the successor was pulled."""
    made = Copy(root, tmp_path_factory.mktemp("project"))
    (made.at / "official.ts").write_text(successor.text(root / "schema"), "utf-8")
    pulled = made.run("mcp_bindgen", "pull", NAME, "--from", "official.ts")
    assert pulled.returncode == 0, pulled.stderr
    return made


@pytest.fixture(scope="module")
def answered(copy: Copy) -> tuple[Copy, list[successor.Asked], dict[str, str]]:
    """The copy with everything answered and generated, what was asked, and the sources before."""
    before = copy.python()
    refused = copy.run("mcp_bindgen", "generate")
    assert refused.returncode == 2, refused.stdout
    rows = successor.asked(refused.stderr)
    table = copy.at / "schema" / "decisions.toml"
    table.write_text(successor.answers(rows, table.read_text("utf-8")), "utf-8")
    made = copy.run("mcp_bindgen", "generate")
    assert made.returncode == 0, made.stderr
    return copy, rows, before


def test_every_decision_is_asked_for_at_once_with_its_place(
    answered: tuple[Copy, list[successor.Asked], dict[str, str]],
) -> None:
    _, rows, _ = answered
    steps = [row for row in rows if row[1].startswith("[[step]]")]
    paths = {path for _, row in steps for path in re.findall(r'^path = "(.*)"$', row, re.M)}
    assert paths == (STEPS.keys() - successor.EXTRA) | {
        f"{NARROWED}:complete",
        f"{NARROWED}:string",
    }
    methods = {path for _, row in rows for path in re.findall(r'^path = "(\w+/\w+)"$', row, re.M)}
    assert "checksum/get" in methods
    places = [re.match(rf"schema/({NAME}|{BEFORE})/schema\.ts:", question) for question, _ in rows]
    assert all(places), [row for row, place in zip(rows, places, strict=True) if place is None]


def test_bindings_methods_steps_and_diff_work(
    answered: tuple[Copy, list[successor.Asked], dict[str, str]],
) -> None:
    copy, _, before = answered
    assert copy.python() == before
    assert copy.run("mcp_bindgen", "generate", "--check").returncode == 0
    found = copy.run("mcp_bindgen", "diff", BEFORE, NAME, "--format", "json")
    assert found.returncode == 1, found.stderr
    assert "checksum/get" in found.stdout
    told = copy.run("mcp_bindgen", "inspect", NAME, "VideoContent")
    assert "class VideoContent" in told.stdout


SCRIPT: Final = """
from mcp_wire import LATEST, load
from mcp_wire.steps import Context, convert

told = Context(client_info={"name": "c", "version": "1"}, client_capabilities={})
ask = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
up = convert(ask, "2024-11-05", LATEST, context=told)
meta = up.message["params"]["_meta"]
assert meta["io.modelcontextprotocol/protocolVersion"] == LATEST == "2027-03-11", meta
assert convert(up.message, LATEST, "2024-11-05", context=told) == (ask, ())

video = {"type": "video", "data": "", "mimeType": "video/mp4"}
hints = {"type": "text", "text": "a", "annotations": {"changedAt": "now"}}
body = {"resultType": "complete", "content": [video, hints]}
type = load(LATEST, "calls_msgspec").RESULTS["tools/call"]
load(LATEST, "models_msgspec").from_wire(type, body)
result = {"jsonrpc": "2.0", "id": 1, "result": body}
down = convert(result, LATEST, "2026-07-28", method="tools/call")
assert down.message["result"]["content"] == [
    {"type": "text", "text": "[video: video/mp4]"},
    {"type": "text", "text": "a", "annotations": {"lastModified": "now"}},
], down
assert [loss.path for loss in down.losses] == ["$.result.content[0]"]

asked = "elicitation/create"
left = convert({"action": "dismiss"}, LATEST, "2025-11-25", method=asked)
assert left == ({"action": "cancel"}, ())
assert load(LATEST).METHODS["checksum/get"].results == ("ChecksumResult",)
"""


def test_messages_travel_to_it_and_back(
    answered: tuple[Copy, list[successor.Asked], dict[str, str]],
) -> None:
    copy, _, _ = answered
    (copy.at / "messages.py").write_text(SCRIPT, "utf-8")
    ran = copy.run("messages")
    assert ran.returncode == 0, ran.stderr


def test_its_tests_pass(answered: tuple[Copy, list[successor.Asked], dict[str, str]]) -> None:
    """The laws of the models and of the steps find the new revision by themselves."""
    copy, _, _ = answered
    tests = ("tests/laws/test_steps.py", "tests/laws/test_differential.py")
    options = ("-q", "-p", "no:cacheprovider", "-m", "not long", "-k", NAME)
    ran = copy.run("pytest", *options, *tests)
    assert ran.returncode == 0, ran.stdout[-3000:]
    passed = re.search(r"(\d+) passed", ran.stdout)
    assert passed, ran.stdout
    assert int(passed[1]) > 10
