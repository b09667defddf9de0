"""A tool asks for headers by `x-mcp-header`, below `properties` alone."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_runtime.json_schema.header_annotations import BadParamHeader
from mcp_runtime.json_schema.header_annotations import param_headers as headers


def schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


@pytest.mark.requirement("transport.http.param-headers.designated")
@pytest.mark.requirement("transport.http.param-headers.header-name")
def test_annotations_are_found_along_properties() -> None:
    text = {"type": "string", "x-mcp-header": "Region"}
    deep = schema(inner=schema(count={"type": "integer", "x-mcp-header": "Count"}))
    assert headers(schema(region=text, query={"type": "string"})) == {"Region": ("region",)}
    assert headers(schema(outer=deep)) == {"Count": ("outer", "inner", "count")}
    assert headers(schema(a={"type": ["boolean", "null"], "x-mcp-header": "A"})) == {"A": ("a",)}
    assert headers({"type": "object"}) == {}


def test_what_is_no_schema_has_no_headers() -> None:
    data = {"x-mcp-header": ""}
    assert headers(schema(**{"x-mcp-header": {"type": "string"}})) == {}
    assert (
        headers(schema(a={"default": data, "const": data, "enum": [data], "examples": [data]}))
        == {}
    )
    assert headers({"properties": [data], "items": True, "allOf": {}, "$defs": []}) == {}


TEXT = {"type": "string", "x-mcp-header": "A"}


@pytest.mark.requirement("transport.http.param-headers.reject-tool")
@pytest.mark.requirement("tools.x-mcp-header.not-empty", "tools.x-mcp-header.token-syntax")
@pytest.mark.requirement("tools.x-mcp-header.unique", "tools.x-mcp-header.primitive-types")
@pytest.mark.requirement("tools.x-mcp-header.client-rejects-invalid")
@pytest.mark.parametrize(
    ("marked", "why"),
    [
        *[
            (schema(a={"type": "string", "x-mcp-header": name}), "a: .* is not a header name")
            for name in ("", "a b", "a:", "\u00e4", "a\r\n", "a\n", 1, None, ["A"])
        ],
        *[
            (schema(a={"type": kind, "x-mcp-header": "A"}), "a: .* needs the type string")
            for kind in ("number", "object", "array", "null", ["null"], ["string", "number"], None)
        ],
        (schema(a={"x-mcp-header": "A"}), "needs the type string"),
        (schema(a=TEXT, b=TEXT), "b: .* 'A' is there a second time"),
        (
            schema(a=TEXT, b=schema(c={**TEXT, "x-mcp-header": "a"})),
            "b.c: .* a second time",
        ),
        (TEXT, "the schema itself: "),
        (schema(a={"items": TEXT}), "a.items: .* below `properties` alone"),
        (schema(a={"items": schema(b=TEXT)}), r"a.items.b: .* below `properties` alone"),
        (schema(a={"prefixItems": [TEXT]}), "below `properties` alone"),
        ({"anyOf": [schema(a=TEXT)]}, "anyOf.a: .* below `properties` alone"),
        ({"if": schema(a=TEXT)}, "below `properties` alone"),
        ({"not": TEXT}, "below `properties` alone"),
        ({"$defs": {"d": TEXT}}, r"\$defs.d: .* below `properties` alone"),
        ({"patternProperties": {".": TEXT}}, "below `properties` alone"),
        ({"additionalProperties": TEXT}, "below `properties` alone"),
    ],
)
def test_an_annotation_that_breaks_a_rule_is_refused(marked: dict[str, Any], why: str) -> None:
    with pytest.raises(BadParamHeader, match=why):
        headers(marked)
