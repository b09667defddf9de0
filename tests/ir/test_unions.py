"""Unions: the order that decides, what tells arms apart, and which of them overlap."""

from __future__ import annotations

from mcp_bindgen.ir import unions
from mcp_bindgen.ir.lower.lower import load
from mcp_bindgen.ir.model import Lit, Prim, Ref, Schema
from mcp_bindgen.ir.walk import kinds

TEXT = """
type U = string | Wide | V | "a"; type V = Tagged | Other | null;
interface Wide { a?: string } interface Tagged { kind: "t"; a: string }
interface Other { kind: "o" }
"""


def schema(text: str = TEXT) -> Schema:
    return load(text.encode(), "a.ts")


def test_the_most_specific_arm_comes_first_and_nested_unions_are_opened() -> None:
    assert unions.arms(schema(), Ref("U")) == (
        Lit("a"),
        Ref("Tagged"),
        Ref("Other"),
        Ref("Wide"),
        Prim("string"),
        Prim("null"),
    )


def test_more_constants_go_before_more_required_members_and_those_before_more_members() -> None:
    """Every arm takes `{"kind": "n", "a": "", "b": ""}`, whose class is then the narrowest."""
    text = """
    type U = Loose | Plain | Tagged;
    interface Loose { a: string; b?: string; c?: string; d?: string }
    interface Plain { kind: string; a: string; b: string }
    interface Tagged { kind: "n"; a: string }
    """
    arms = unions.arms(schema(text), Ref("U"))
    assert arms == (Ref("Tagged"), Ref("Plain"), Ref("Loose"))


def test_a_tag_is_a_different_text_in_every_arm() -> None:
    assert unions.tag(schema(), (Ref("Tagged"), Ref("Other"))) == "kind"
    assert unions.tag(schema(), (Ref("Tagged"), Ref("Wide"))) is None


def test_arms_that_one_value_satisfies_are_named() -> None:
    overlaps = set(unions.overlaps(schema()))
    assert overlaps == {("U", "Tagged", "Wide"), ("U", "Other", "Wide")}


def test_unions_that_double_are_opened_once() -> None:
    pairs = "".join(
        f"type A{n} = A{n + 1} | B{n + 1}; type B{n} = B{n + 1} | A{n + 1};" for n in range(40)
    )
    doubled = schema(f"{pairs} type A40 = 1; type B40 = 2;")
    assert len(unions.arms(doubled, Ref("A0"))) == 2
    assert kinds(doubled, Ref("A0")) == {"number"}
