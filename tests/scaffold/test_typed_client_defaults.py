"""Members that were left out: a typed client sends none of them, and reads none in an answer."""

from __future__ import annotations

import inspect
from typing import Any, Final

import msgspec

from mcp_runtime import types
from tests.scaffold.test_typed_client import EMPTY, lists_of, load, text_of

FIT: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "tall": {"type": "integer", "default": 1, "description": "Pages."},
        "tags": {"type": "array", "items": {"type": "string"}, "default": ["a"]},
        "notes": {"type": "array", "default": []},
        "inner": {
            "type": "object",
            "properties": {"deep": {"type": "integer", "default": 4}},
            "default": {"deep": 5},
        },
        "a-b": {"enum": ["x", "y"], "default": "x"},
        "again": {"type": "array", "items": {"$ref": "#/$defs/fit"}, "default": [{}]},
    },
}
PLACES: Final[dict[str, Any]] = {
    "one": {"$ref": "#/$defs/fit"},
    "many": {"type": "array", "items": FIT},
    "by": {"type": "object", "additionalProperties": FIT},
    "either": {"anyOf": [FIT, {"type": "string"}, {"type": "null"}]},
    "days": {"type": "integer", "default": 2},
}


async def test_members_that_are_left_out_are_absent_in_what_is_sent_and_read() -> None:
    """At each depth: in a member, in a list, in a map, in a union, and in itself."""
    schema: dict[str, Any] = {**EMPTY, "properties": PLACES, "$defs": {"fit": FIT}}
    declared = {"name": "t", "inputSchema": schema, "outputSchema": schema}
    sent: list[Any] = []

    class Echo:
        async def call_tool(self, name: str, arguments: Any, **options: Any) -> Any:
            sent.append(arguments)
            return types.CallToolResult(
                content=[], structured_content=arguments, result_type="complete"
            )

    text = text_of(tools=[declared])
    module = load(text)
    assert lists_of(tools=[declared]).places == []
    fits = (module.TInputFit, module.TInputManyItem, module.TInputBy, module.TInputEither)
    one, many, by, either = (fit() for fit in fits)
    answer = await module.Weather(Echo()).t(one=one, many=[many], by={"k": by}, either=either)
    assert sent == [{"one": {}, "many": [{}], "by": {"k": {}}, "either": {}}]
    assert msgspec.to_builtins(answer) == sent[0]
    assert (answer.days, answer.one.tall) == (msgspec.UNSET, msgspec.UNSET)
    await module.Weather(Echo()).t(one=module.TInputFit(tall=3, again=[module.TInputFit()]))
    assert sent[1] == {"one": {"tall": 3, "again": [{}]}}
    for said in ("Pages. Default: 1.", 'Default: ["a"].', "Default: [].", 'Default: {"deep": 5}.'):
        assert text.count(f'"""{said}"""') == 8  # four places of the arguments, and of the answer
    assert inspect.getdoc(module.Weather.t) == "days: Default: 2."
