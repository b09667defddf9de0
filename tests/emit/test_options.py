"""`--unknown` and `--literals`: what they choose, in every flavour."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mcp_bindgen import emit
from mcp_bindgen.ir.lower.lower import load

SCHEMA = b"""
export interface Closed { name: string; level?: "low" | "high"; kind: "closed" }
export interface Loose { name: string; [key: string]: unknown }
export interface Numbers { name: string; [key: string]: string | number }
"""
TEXT = b'{"name":"a","kind":"closed","more":[1]}'


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Makes a package of the schema with the options given, and imports one flavour of it."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def make(flavour: str, **options: str) -> Any:
        name = "_".join(["made", flavour, *options.values()])
        files = emit.generate([load(SCHEMA, "a.ts", "a")], emit.Options((flavour,), **options))
        for path, text in files.items():
            (tmp_path / name / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name / path).write_text(text)
        importlib.invalidate_caches()
        return importlib.import_module(f"{name}.va.models_{flavour}")

    yield make
    for name in [name for name in sys.modules if name.startswith("made_")]:
        del sys.modules[name]


@pytest.mark.parametrize("flavour", emit.FLAVOURS)
def test_unknown_members_are_kept_by_default(flavour: str, package: Any) -> None:
    made = package(flavour)
    value = made.decode(made.Closed, TEXT)
    assert value.extra_ == {"more": [1]}
    assert made.decode(made.Closed, made.encode(value)) == value


@pytest.mark.parametrize("flavour", emit.FLAVOURS)
def test_unknown_members_are_dropped_on_demand(flavour: str, package: Any) -> None:
    made = package(flavour, unknown="drop")
    value = made.decode(made.Closed, TEXT)
    assert made.to_wire(value) == {"name": "a", "kind": "closed"}
    assert made.from_wire(made.Closed, {"name": "a", "kind": "closed", "x": 1}) == value


@pytest.mark.parametrize("bad", [float("nan"), (1,), {1: 2}], ids=repr)
@pytest.mark.parametrize("flavour", emit.FLAVOURS)
def test_what_is_dropped_is_json_all_the_same(flavour: str, bad: Any, package: Any) -> None:
    made = package(flavour, unknown="drop")
    for level in ({}, {"level": "low"}):
        with pytest.raises(made.DecodeError) as caught:
            made.from_wire(made.Closed, {"name": "a", "kind": "closed", **level, "more": [bad]})
        assert caught.value.path == "$.more[0]"
    with pytest.raises(made.DecodeError):
        made.decode(made.Closed, b'{"name":"a","kind":"closed","more":[NaN]}')


@pytest.mark.parametrize("flavour", emit.FLAVOURS)
def test_unknown_members_are_rejected_on_demand(flavour: str, package: Any) -> None:
    made = package(flavour, unknown="reject")
    with pytest.raises(ValueError, match="more") as caught:
        made.decode(made.Closed, TEXT)
    assert caught.value.path == "$.more"
    assert made.decode(made.Closed, b'{"name":"a","kind":"closed"}').name == "a"


@pytest.mark.parametrize("unknown", ["keep", "drop", "reject"])
@pytest.mark.parametrize("flavour", emit.FLAVOURS)
def test_an_unknown_argument_is_a_type_error(flavour: str, unknown: str, package: Any) -> None:
    made = package(flavour, unknown=unknown)
    assert made.Closed(name="a") == made.decode(made.Closed, b'{"name":"a","kind":"closed"}')
    with pytest.raises(TypeError, match="more"):
        made.Closed(name="a", more=1)


@pytest.mark.parametrize("unknown", ["keep", "drop", "reject"])
@pytest.mark.parametrize("flavour", emit.FLAVOURS)
def test_an_index_signature_keeps_its_members_whatever_is_chosen(
    flavour: str, unknown: str, package: Any
) -> None:
    made = package(flavour, unknown=unknown)
    assert made.decode(made.Loose, b'{"name":"a","more":[1]}').extra_ == {"more": [1]}
    assert made.decode(made.Numbers, b'{"name":"a","more":1}').extra_ == {"more": 1}
    with pytest.raises(ValueError, match="more") as caught:
        made.decode(made.Numbers, b'{"name":"a","more":[1]}')
    assert caught.value.path == "$.more"


@pytest.mark.parametrize("flavour", emit.FLAVOURS)
def test_literals_are_closed_unless_opened(flavour: str, package: Any) -> None:
    text = b'{"name":"a","kind":"closed","level":"medium"}'
    closed, opened = package(flavour), package(flavour, literals="open")
    with pytest.raises(ValueError, match="level"):
        closed.decode(closed.Closed, text)
    assert opened.decode(opened.Closed, text).level == "medium"
    with pytest.raises(ValueError, match="kind"):
        opened.decode(opened.Closed, b'{"name":"a","kind":"other"}')
