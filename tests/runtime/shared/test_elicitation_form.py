"""The answer to a form is checked against it."""

from __future__ import annotations

import pytest

from mcp_runtime.errors import BadAnswer
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
