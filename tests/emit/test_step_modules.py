"""The files of the steps: which are written, and that text of a schema stays text in them."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from mcp_bindgen.convert import plan
from mcp_bindgen.emit import Options, generate
from mcp_bindgen.emit.steps.parts import arm_name
from mcp_bindgen.ir.decisions.decisions import Decisions, Row
from mcp_bindgen.ir.lower.lower import load
from mcp_bindgen.ir.model import Arr, Bounded, Limits, Lit, Prim, Ref
from tests.support.command import invoke

NASTY: Final = "\\\"\\n'''{{ x }}\\\\"

FRAME: Final = f"""
interface Request {{ method: string; params?: {{ [key: string]: any }} }}
interface JSONRPCRequest extends Request {{ jsonrpc: "2.0"; id: string }}
interface JSONRPCErrorResponse {{ jsonrpc: "2.0"; error: {{ code: number; message: string }} }}
type JSONRPCMessage = JSONRPCRequest | JSONRPCErrorResponse;
interface FooRequest extends JSONRPCRequest {{ method: "{NASTY}²/x"; params?: P }}
interface FooResult {{ "{NASTY}": "{NASTY}" | P; }}
type ClientRequest = FooRequest;
"""


def test_an_arm_is_called_as_the_schema_calls_it() -> None:
    numbers = Bounded(Prim("number"), Limits(minimum=0))
    arms = (Prim("string"), numbers, Arr(numbers), Ref("Tool"), Lit(1))
    assert [arm_name(arm) for arm in arms] == ["string", "number", "array", "Tool", "`1`"]


def steps(folder: Path) -> set[str]:
    return {path.name for path in (folder / "steps").glob("v*.py")}


@pytest.mark.wide
def test_steps_are_written_for_neighbours_that_are_both_chosen(tmp_path: Path) -> None:
    out = tmp_path / "three"
    chosen = ("2024-11-05", "2025-03-26", "2025-11-25")
    assert invoke("generate", *chosen, "--flavour", "dataclass", "--out", out).exit_code == 0
    assert steps(out) == {"v2024_11_05__v2025_03_26.py"}
    assert (
        invoke("generate", *chosen, "--flavour", "dataclass", "--out", out, "--check").exit_code
        == 0
    )


def test_one_revision_alone_has_no_steps(tmp_path: Path) -> None:
    out = tmp_path / "one"
    assert invoke("generate", "2025-11-25", "--flavour", "dataclass", "--out", out).exit_code == 0
    assert not (out / "steps").exists()


@pytest.mark.wide
def test_a_file_that_is_no_pinned_revision_has_no_steps(root: Path, tmp_path: Path) -> None:
    out, file = tmp_path / "out", tmp_path / "mine.ts"
    text = (root / "schema" / "2026-07-28" / "schema.ts").read_text("utf-8")
    file.write_text(f"{text}\nexport interface Mine {{ a: string }}\n", "utf-8")
    asked = ("--schema", file, "--revision", "2026-09-01", "--flavour", "dataclass", "--out", out)
    made = invoke("generate", "2026-07-28", *asked)
    assert made.exit_code == 0, made.stderr
    assert not (out / "steps").exists()


USE: Final = """
import sys
sys.path.insert(0, {folder!r})
sys.modules["msgspec"] = None
from {package}.convert import UnknownRevision, convert
ask = {{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}}
assert convert(ask, "2025-06-18", "2025-11-25").message is ask
assert "msgspec" not in {{name.rpartition("_")[2] for name in sys.modules if "models_" in name}}
for to in ("2024-11-05", "2026-07-28"):
    try:
        convert(ask, "2025-06-18", to)
    except UnknownRevision:
        continue
    raise AssertionError(to)
"""


@pytest.mark.wide
@pytest.mark.parametrize("models", ["dataclass", "dataclass,msgspec"])
def test_messages_are_judged_by_a_flavour_that_is_installed(tmp_path: Path, models: str) -> None:
    out = tmp_path / "mine"
    chosen = ("2025-06-18", "2025-11-25")
    assert invoke("generate", *chosen, "--flavour", models, "--out", out).exit_code == 0
    code = USE.format(folder=str(tmp_path), package="mine")
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


def test_text_of_a_schema_stays_text(tmp_path: Path) -> None:
    one, two = f'"{NASTY}a"?: string', f'"{NASTY}b": "{NASTY}" | string'
    old = load(f"{FRAME} interface P {{ {one} }}".encode(), "a.ts", "a")
    new = load(f"{FRAME} interface P {{ {one}; {two} }}".encode(), "b.ts", "b")
    path = f"P.{new.structs['P'].fields[1].wire}"
    values = {"up": "default", "down": "drop", "value": 'x"""\n', "why": '"""\n\\', "page": "p"}
    row = Row("step", "a..b", path, values)
    rows = {("step", "a..b", f"{way} {path}"): row for way in ("up", "down")}
    pair = plan(old, new, Decisions(rows, "table"))
    files = generate([old, new], Options(flavours=("dataclass",)), [pair])
    for name in (name for name in files if name.startswith("steps/")):
        ast.parse(files[name])
    module = tmp_path / "made"
    for name, text in files.items():
        (module / name).parent.mkdir(parents=True, exist_ok=True)
        (module / name).write_text(text, "utf-8")
    sys.path.insert(0, str(tmp_path))
    try:
        step = importlib.import_module("made.steps.va__vb")
    finally:
        sys.path.remove(str(tmp_path))
    assert {method for method in step.UP if method} == {new.methods[0].name}
