"""Each alias is read as its own type, though to Python its annotation may be that of another."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from mcp_bindgen.ir.lower.lower import load
from tests.support.constructs import FLAVOURS, write_package

SCHEMA: Final = b"""
/** @minimum 1 */ export type One = number;
/** @minimum 5 */ export type Five = number;
export type Plain = number;
export type Text = string;
export type X = `x${string}`;
export type Y = `y${string}`;
export type OfX = X;
export type Xs = X[];
export type Ys = Y[];
export type Pair = [string, number];
export type List = (string | number)[];
export interface Root { one: One }
"""
READ: Final = {
    "One": (b"2", b"0"),
    "Five": (b"5", b"2"),
    "Plain": (b"0", b"null"),
    "Text": (b'"q"', b"1"),
    "X": (b'"x"', b'"y"'),
    "Y": (b'"y"', b'"x"'),
    "OfX": (b'"x"', b'"y"'),
    "Xs": (b'["x"]', b'["y"]'),
    "Ys": (b'["y"]', b'["x"]'),
    "Pair": (b'["a",1]', b'["a"]'),
    "List": (b'["a"]', b"[null]"),
    "Root": (b'{"one":1}', b'{"one":0}'),
}


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_aliases_of_one_annotation_are_read_as_what_they_are(
    flavour: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = f"aliases_{flavour}"
    write_package([load(SCHEMA, "a.ts", "1")], tmp_path, package)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    module: Any = importlib.import_module(f"{package}.v1.models_{flavour}")
    for name, (right, wrong) in READ.items():
        of = getattr(module, name)
        assert module.encode(module.decode(of, right)) == right, name
        with pytest.raises(module.DecodeError):
            module.decode(of, wrong)
