"""The walk of types: what is inside them, and how few modules must know every kind."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Final

import pytest
from mypy import api

from mcp_bindgen.ir import walk
from mcp_bindgen.ir.lower.lower import load
from mcp_bindgen.ir.model import (
    Arr,
    Bounded,
    Element,
    Limits,
    Lit,
    Map,
    Prim,
    Ref,
    Tup,
    Type,
    Uni,
)

STRING: Final = Prim("string")
NUMBER: Final = Prim("number")
SCHEMA: Final = load(
    b"""
    interface S { a: string }
    type A = S; type B = A[]; type C = { [key: string]: B };
    /** @minimum 1 */ type D = number;
    type U = "a" | "b" | null; type J = unknown; type P = [string, D?, ...S[]];
    """,
    "a.ts",
)

MADE_UP: Final = """
@dataclass(frozen=True, slots=True)
class Made:
    of: Type


Type: TypeAlias = Made | """
MOST: Final = 8
"""Modules that may have to know a new kind of type, the one that declares it included."""


@pytest.mark.parametrize(
    ("type", "inside"),
    [
        (STRING, ()),
        (Lit(1), ()),
        (Ref("S"), ()),
        (Arr(STRING), (STRING,)),
        (Map(NUMBER), (NUMBER,)),
        (Bounded(NUMBER, Limits(minimum=1)), (NUMBER,)),
        (Uni((STRING, NUMBER)), (STRING, NUMBER)),
        (
            Tup((Element(STRING, False), Element(NUMBER, True)), Ref("S")),
            (STRING, NUMBER, Ref("S")),
        ),
        (Tup((Element(STRING, False),), None), (STRING,)),
    ],
)
def test_what_is_inside_a_type_is_what_a_change_replaces(
    type: Type, inside: tuple[Type, ...]
) -> None:
    assert walk.children(type) == inside
    seen: list[Type] = []
    changed = walk.map_children(type, lambda child: seen.append(child) or Prim("null"))
    assert tuple(seen) == inside
    assert walk.children(changed) == (Prim("null"),) * len(inside)
    assert walk.map_children(type, lambda child: child) == type


def test_types_of_one_head_differ_inside_alone() -> None:
    assert walk.head(Arr(STRING)) == walk.head(Arr(NUMBER)) != walk.head(Map(STRING))
    low, high = (Bounded(NUMBER, Limits(minimum=m)) for m in (1, 2))
    assert walk.head(low) != walk.head(high)
    assert walk.head(Uni((STRING, NUMBER))) != walk.head(Uni((STRING,)))


def test_an_alias_is_opened_to_its_end_and_bounds_stay_unless_they_are_set_aside() -> None:
    assert walk.resolve_aliases(SCHEMA, Ref("A")) == Ref("S")
    assert isinstance(walk.resolve_aliases(SCHEMA, Ref("D")), Bounded)
    assert walk.strip_bounds(SCHEMA, Ref("D")) == NUMBER
    struct = walk.struct_of(SCHEMA, Ref("A"))
    assert struct is not None
    assert struct.name == "S"
    assert walk.struct_of(SCHEMA, Ref("B")) is None


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("A", {"object"}),
        ("B", {"array"}),
        ("C", {"object"}),
        ("D", {"number"}),
        ("U", {"string", "null"}),
        ("P", {"array"}),
        ("J", {"object", "array", "string", "number", "boolean", "null"}),
    ],
)
def test_the_kinds_of_json_that_a_type_takes(name: str, kinds: set[str]) -> None:
    assert walk.kinds(SCHEMA, Ref(name)) == kinds


def test_a_struct_is_seen_at_any_depth() -> None:
    assert [n for n in "ABCDUJP" if walk.holds_struct(SCHEMA, Ref(n))] == list("ABCP")
    assert [n for n in "ABCDUJP" if walk.is_any(SCHEMA, Ref(n))] == ["J"]
    assert list(walk.references(Uni((Arr(Ref("S")), Ref("D"))))) == ["S", "D"]


@pytest.mark.wide
def test_few_modules_must_know_a_new_kind_of_type(root: Path, tmp_path: Path) -> None:
    """A kind is made up; what no longer type-checks has to say what that kind means there."""
    shutil.copytree(root / "codegen/mcp_bindgen", tmp_path / "mcp_bindgen")
    model = tmp_path / "mcp_bindgen/ir/model.py"
    declared = re.subn(r"\nType: TypeAlias = ", MADE_UP, model.read_text("utf-8"))
    assert declared[1] == 1
    model.write_text(declared[0], "utf-8")
    options = ["--strict", "--no-error-summary", "--config-file=", "--cache-dir", str(tmp_path)]
    output, errors, _ = api.run([*options, str(tmp_path / "mcp_bindgen")])
    assert errors == ""
    modules = {line.partition(":")[0].rpartition("mcp_bindgen/")[2] for line in output.splitlines()}
    assert modules
    assert len(modules | {"ir/model.py"}) <= MOST, output
    assert modules >= {"ir/walk.py", "ir/values/accepts.py", "ir/export/json_schema.py"}, output
