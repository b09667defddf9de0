"""The exported JSON Schema is a valid 2020-12 document that accepts what the types accept."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import jsonschema_rs
import pytest

from mcp_bindgen.errors import InputError
from mcp_bindgen.ir.export.json_schema import DIALECT, json_schema
from mcp_bindgen.ir.lower.lower import load

REVISIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")


def exported(text: str, root: str | None = None) -> dict[str, Any]:
    return json_schema(load(text.encode(), "a.ts"), root)


def check_definition(text: str, expected: Any) -> None:
    """The definition of `A` in a schema text."""
    document = exported(text)
    jsonschema_rs.meta.validate(document)
    assert document["$defs"]["A"] == expected


def check_type(type: str, expected: Any) -> None:
    check_definition(f"type A = {type}; interface R {{ r: 1 }}", expected)


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_export_of_a_revision_is_valid_2020_12(root: Path, revision: str) -> None:
    schema = load((root / "schema" / revision / "schema.ts").read_bytes(), "a.ts")
    for name in schema.types:
        document = json_schema(schema, name)
        assert document["$schema"] == DIALECT
        assert document["$ref"] == f"#/$defs/{name}"
    document = json_schema(schema)
    jsonschema_rs.meta.validate(document)
    assert document["$defs"].keys() == schema.types.keys()
    for name in schema.types:
        jsonschema_rs.Draft202012Validator(document | {"$ref": f"#/$defs/{name}"})


@pytest.mark.parametrize(
    ("type", "expected"),
    [
        ("string", {"type": "string"}),
        ("number", {"type": "number"}),
        ("null", {"type": "null"}),
        ("object", {"type": "object"}),
        ("unknown", True),
        ("any", True),
        ('"a"', {"const": "a"}),
        ("string | null", {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        ('"a" | "b"', {"enum": ["a", "b"]}),
        ('"a" | "b" | string', {"anyOf": [{"enum": ["a", "b"]}, {"type": "string"}]}),
        (
            "R | R[]",
            {"anyOf": [{"$ref": "#/$defs/R"}, {"type": "array", "items": {"$ref": "#/$defs/R"}}]},
        ),
        (
            "{ [key: string]: number }",
            {"type": "object", "additionalProperties": {"type": "number"}},
        ),
        ("Record<string, unknown>", {"type": "object", "additionalProperties": True}),
        ("{}", {"type": "object"}),
        ("unknown[]", {"type": "array", "items": True}),
        (
            "[string, number?, ...R[]]",
            {
                "type": "array",
                "prefixItems": [{"type": "string"}, {"type": "number"}],
                "minItems": 1,
                "items": {"$ref": "#/$defs/R"},
            },
        ),
        (
            "[string]",
            {"type": "array", "prefixItems": [{"type": "string"}], "minItems": 1, "items": False},
        ),
    ],
)
def test_a_type_becomes_its_schema(type: str, expected: Any) -> None:
    check_type(type, expected)


def test_a_struct_keeps_its_index_type_constants_and_notes() -> None:
    check_definition(
        """/** An A. @x
         * @deprecated gone */
        interface A {
          /** It is
           * one. */
          kind: "one";
          /** @format uri
           * @default "a" */
          uri?: string;
          /** @minimum 0
           * @TJS-type integer */
          size?: number;
          [key: string]: string | number | undefined;
        }""".replace(" | undefined", ""),
        {
            "description": "An A. @x",
            "deprecated": True,
            "type": "object",
            "properties": {
                "kind": {"description": "It is one.", "const": "one"},
                "uri": {"format": "uri", "default": "a", "type": "string"},
                "size": {"type": "integer", "minimum": 0},
            },
            "required": ["kind"],
            "additionalProperties": {"anyOf": [{"type": "string"}, {"type": "number"}]},
        },
    )


ACCEPTED: Final[list[tuple[str, list[Any], list[Any]]]] = [
    (
        "interface A { a: number }",
        [{"a": 1.0}, {"a": 1, "b": None}],
        [{"a": True}, {}, [], {"a": "1"}],
    ),
    ("type A = 1 | true;", [1, True, 1.0], [False, 0, "1"]),
    (
        "interface A {\n/** @minimum 1 */ a: number | string }",
        [{"a": 1}, {"a": ""}],
        [{"a": 0}],
    ),
    (
        "interface A {\n/** @minItems 1 */ a: [string?, ...number[]] }",
        [{"a": ["x", 2]}],
        [{"a": []}, {"a": [1]}],
    ),
    (
        "interface A {\n/** @minItems 2 */ a: [string, ...number[]] }",
        [{"a": ["x", 2]}],
        [{"a": ["x"]}, {"a": [1, 2]}],
    ),
    ("interface A {\n/** @format uri */ a: string }", [{"a": "no uri"}], [{"a": 1}]),
    (
        "interface A { [key: string]: number; a: 1 }",
        [{"a": 1, "b": 2}],
        [{"a": 1, "b": "2"}, {"a": 2}],
    ),
    ("interface A { a: A | null }", [{"a": {"a": None}}], [{"a": {}}, {"a": {"a": 1}}]),
]


@pytest.mark.parametrize(("text", "good", "bad"), ACCEPTED)
def test_the_export_accepts_what_the_types_accept(
    text: str, good: list[Any], bad: list[Any]
) -> None:
    judge = jsonschema_rs.Draft202012Validator(exported(text, "A"))
    assert [value for value in good if not judge.is_valid(value)] == []
    assert [value for value in bad if judge.is_valid(value)] == []


def test_a_root_that_is_no_type_is_refused() -> None:
    for root in ("B", "C"):
        with pytest.raises(InputError, match=f"has no type `{root}`"):
            exported("interface A { a: 1 } const C = 1;", root)
