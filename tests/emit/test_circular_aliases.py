"""An alias that names itself can be resolved by Python, and is fully known to type checkers."""

from __future__ import annotations

import importlib
import subprocess
import sys
import typing
from pathlib import Path
from typing import Any, Final

import pytest
from pydantic import create_model

from mcp_bindgen.ir.lower.lower import load
from tests.support.constructs import FLAVOURS, write_package

SCHEMA: Final = b"""
export type Tree = string | Tree[] | { [key: string]: Tree };
export interface Root { tree?: Tree; trees: Tree[] }
"""
USE: Final = """
from {package}.v1 import models_{flavour} as m

tree = m.decode(m.Tree, b'["a"]')
if isinstance(tree, list):
    first: m.Tree = tree[0]
    print(first)
root = m.Root(trees=["a", ["b"]], tree=tree)
"""


def write(flavour: str, folder: Path) -> str:
    package = f"circular_{flavour}"
    write_package([load(SCHEMA, "a.ts", "1")], folder, package)
    return package


@pytest.fixture
def models(flavour: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    package = write(flavour, tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    return importlib.import_module(f"{package}.v1.models_{flavour}")


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_type_hints_of_a_class_with_one_are_resolved(models: Any) -> None:
    assert set(typing.get_type_hints(models.Root)) >= {"tree", "trees"}


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_it_is_read_like_any_other(models: Any) -> None:
    assert models.decode(models.Tree, b'[{"a":["b"]}]') == [{"a": ["b"]}]
    with pytest.raises(models.DecodeError, match=r"\$\[0\]\.a\[0\]"):
        models.decode(models.Tree, b'[{"a":[1]}]')


@pytest.mark.parametrize("flavour", ["pydantic"])
def test_a_model_of_the_users_own_may_have_it(models: Any) -> None:
    mine = create_model("Mine", tree=(models.Tree, ...))
    assert mine.model_validate_json('{"tree":[["a"]]}').model_dump() == {"tree": [["a"]]}


@pytest.mark.wide
@pytest.mark.parametrize("checker", ["mypy --strict", "basedpyright --level error"])
def test_type_checkers_know_what_is_in_it(checker: str, tmp_path: Path) -> None:
    for flavour in FLAVOURS:
        text = USE.format(package=write(flavour, tmp_path), flavour=flavour)
        (tmp_path / f"use_{flavour}.py").write_text(text, "utf-8")
    settings = '{"typeCheckingMode": "strict", "include": ["use_*.py"]}'
    (tmp_path / "pyrightconfig.json").write_text(settings, "utf-8")
    command = [sys.executable, "-m", *checker.split()]
    command += sorted(map(str, tmp_path.glob("use_*.py"))) if "mypy" in checker else []
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout
