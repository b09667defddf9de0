"""The types of a typed client accept and refuse what a validator of the tool's schemas does."""

from __future__ import annotations

import random
from collections import Counter
from types import ModuleType
from typing import Any, Final, get_type_hints

import jsonschema_rs
import msgspec
import pytest

from mcp_bindgen.scaffold.client_model import ToolMethod
from mcp_bindgen.scaffold.client_text import ClientText, write_client
from tests.scaffold.test_typed_client import lists_of, load
from tests.scaffold.test_typed_values import EXACT, member
from tests.support.schema_pairs import pair
from tests.support.schema_values import values_near
from tests.support.seeds import seed

FEW: Final = 40
"""Values of a schema."""
DRAWN: Final = 12
"""Schemas by chance."""


def tools_of(schemas: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"name": f"t{n}", "inputSchema": schema, "outputSchema": schema}
        for n, schema in enumerate(schemas)
    ]


def judged(tool: ToolMethod, module: ModuleType) -> tuple[Any, Any]:
    """The types by which a client's method takes arguments and gives the structured content.

    The arguments are made one type. Its bounds are not in the method's signature, which is wider.
    """
    hints = get_type_hints(getattr(module.Weather, tool.name), include_extras=True)
    answer = hints.pop("return")
    if tool.params is None:
        return hints["arguments"], answer
    required = {each.name for each in tool.params if each.required}
    fields = [
        (name, kind) if name in required else (name, kind, msgspec.UNSET)
        for name, kind in hints.items()
    ]
    renamed = {each.name: each.wire for each in tool.params}
    return msgspec.defstruct("Arguments", fields, kw_only=True, rename=renamed), answer


def accepts(kind: Any, value: Any) -> bool:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return True


def compare(schemas: list[dict[str, Any]], where: str) -> Counter[tuple[bool, bool]]:
    """Compare all values; return their number by the verdict, and whether the types are exact."""
    lists = lists_of(tools=tools_of(schemas))
    module = load(write_client(ClientText("weather", lists, "weather 1", {}, "2026-11-29")))
    seen: Counter[tuple[bool, bool]] = Counter()
    for tool, schema in zip(lists.tools, schemas, strict=True):
        judge = jsonschema_rs.validator_for(schema, validate_formats=False)
        exact = not tool.loose and not tool.unsaid
        arguments, answer = judged(tool, module)
        for value in values_near(schema, 1, FEW):
            right = judge.is_valid(value)
            seen[right, exact] += 1
            assert not right or accepts(arguments, value), (where, "takes", schema, value)
            given = accepts(answer, value)
            assert given == right or (given and not exact), (where, "gives", schema, value)
    return seen


def test_types_are_exact_where_nothing_is_said_to_be_wider() -> None:
    number = seed("typed client by hand")
    drawn = random.Random(number).sample([*EXACT.values()], DRAWN)
    seen = compare(drawn, number)
    assert min(seen[True, True], seen[False, True]) > 50


@pytest.mark.wide
@pytest.mark.parametrize("part", range(5))
def test_types_of_more_drawn_schemas_are_exact_too_or_say_where_they_are_wider(part: int) -> None:
    compare_drawn(f"typed client, part {part}", 5 * DRAWN)


def test_types_of_drawn_schemas_are_exact_too_or_say_where_they_are_wider() -> None:
    compare_drawn("typed client", DRAWN)


def compare_drawn(name: str, count: int) -> None:
    number = seed(name)
    dice = random.Random(number)
    drawn = (pair(dice)[0] for _ in range(count))
    schemas = [member({**each}) if isinstance(each, dict) else member(each) for each in drawn]
    seen = compare(schemas, number)
    assert min(seen[True, True], seen[False, True]) > 0
