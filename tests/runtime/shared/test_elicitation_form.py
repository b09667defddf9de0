"""The answer to a form is checked against it."""

from __future__ import annotations

from datetime import date
from enum import Enum
from typing import Any, Literal

import pytest

from mcp_runtime.errors import BadAnswer
from mcp_runtime.revisions import latest
from mcp_runtime.shared.elicitation_form import form

COLOURS = {"type": "string", "enum": ["red", "green", "blue"]}
SEVERAL = {"type": "array", "items": COLOURS, "minItems": 1, "maxItems": 2}


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ([], "expected minItems 1"),
        (["red", "green", "blue"], "expected maxItems 2"),
        (["red", "grey"], "of the choices"),
        ("red", "expected array"),
        ([1], "expected array"),
    ],
)
def test_a_choice_of_several_is_as_many_as_the_form_says(answer: object, fault: str) -> None:
    read = form({"type": "object", "properties": {"colours": SEVERAL}}).read
    assert read({"colours": ["red", "blue"]}) == {"colours": ["red", "blue"]}
    with pytest.raises(BadAnswer, match=f"'colours': .*{fault}"):
        read({"colours": answer})


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@pytest.mark.parametrize(
    ("kind", "answer", "value"),
    [
        (bool, True, True),
        (int, 3, 3),
        (float, 0.5, 0.5),
        (str, "x", "x"),
        (Literal["a", "b"], "b", "b"),
        (Colour, "blue", Colour.BLUE),
        (list[Colour], ["red"], [Colour.RED]),
        (date, "2026-11-28", date(2026, 11, 28)),
    ],
)
def test_a_form_of_one_value_reads_that_value(kind: Any, answer: Any, value: Any) -> None:
    of_one = form(kind)
    wire = latest.to_wire(of_one.schema)
    assert list(wire["properties"]) == wire["required"] == ["value"]
    assert "$defs" not in wire["properties"]["value"]
    assert of_one.read({"value": answer}) == value
    for bad in ({}, {"value": None}, None, {"other": answer}):
        with pytest.raises(BadAnswer, match="does not fit the form"):
            of_one.read(bad)


@pytest.mark.parametrize("kind", [list[str], dict[str, int], None, list[dict[str, int]]])
def test_a_type_of_no_simple_value_is_no_form(kind: Any) -> None:
    with pytest.raises(TypeError, match="cannot be a form"):
        form(kind)
