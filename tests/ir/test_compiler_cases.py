"""Values that the TypeScript compiler takes and refuses for a type, judged by the bindings of it.

Each row was tried with `tsc --strict`. All types stand in one schema, which is generated once.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from mcp_bindgen import emit
from mcp_bindgen.errors import SchemaError
from mcp_bindgen.ir.lower.lower import load
from mcp_bindgen.ir.model import Ref
from mcp_bindgen.ir.values.accepts import accepts


class Case(NamedTuple):
    """The text of `type Name = {name: …}` after the sign, and values of each verdict."""

    type: str
    good: tuple[Any, ...]
    bad: tuple[Any, ...]


HELPERS: Final = """
export type Key = "name" | string;
export interface Named { name: string }
export interface Bag { [key: string]: number }
export interface Numbered { [key: number]: string; a: string }
export interface Either { form?: string; url?: string }
export interface Form { form: string }
export interface Url { url: string }
export interface Twice { a: string }
export interface Twice { a: string; b?: number }
export interface Twice { c?: boolean }
export interface Heir extends Record<string, unknown> {}
export interface Held<T> { value: T }
export interface Held<T> { value: T; more?: T[] }
"""
NO_NULL: Final[tuple[tuple[Any, ...], tuple[Any, ...]]] = (
    (0, "", "x", True, [], {}, [None], {"a": None}),
    (None,),
)

CASES: Final = {
    # ---- keys: a literal beside the keyword that has it is no key of its own
    "RecordOpen": Case(
        'Record<"name" | string, string>', ({}, {"x": "a"}), ({"name": 1}, {"x": 1})
    ),
    "RecordAlias": Case("Record<Key, string>", ({}, {"name": "a"}), ({"name": 1},)),
    "RecordMapped": Case('{ [K in "a" | string]: number }', ({}, {"a": 1}), ({"a": ""}, {"b": ""})),
    "RecordSeveral": Case(
        'Record<string | "a" | "b", number>[]', ([{}], [{"b": 1}]), ([{"a": ""}],)
    ),
    "RecordNumber": Case('Record<"name" | number, string>', ({"name": "a"},), ({}, {"name": 1})),
    "RecordClosed": Case('Record<"a" | "b", string>', ({"a": "", "b": ""},), ({"a": ""}, {})),
    "RecordKeyof": Case("Record<keyof Bag, string>", ({}, {"x": "a"}), ({"x": 1},)),
    "PickOpen": Case('Pick<Bag, "a" | string>', ({}, {"a": 1}), ({"a": ""},)),
    "OmitNumber": Case("Omit<Named, number>", ({"name": ""},), ({}, {"name": 1})),
    # ---- keyof
    "KeyofBag": Case("keyof Bag", ("a", 1, 1.5), (True, None, {})),
    "KeyofRecord": Case("keyof Record<string, unknown>", ("a",), (0, None, [])),
    "KeyofMapped": Case("keyof { [K in string]: 1 }", ("a",), (0,)),
    "KeyofHeir": Case("keyof Heir", ("a", 0), (None,)),
    "KeyofNumbered": Case("keyof Numbered", ("a", 0), ("b", None)),
    "KeyofNamed": Case("keyof Named", ("name",), ("x", 1)),
    "KeyofText": Case("Exclude<keyof Bag, number>", ("a",), (1, None)),
    # ---- null
    "NotNull": Case("NonNullable<unknown>", *NO_NULL),
    "NotNullUnion": Case("NonNullable<string | unknown>", *NO_NULL),
    "NotNullText": Case("NonNullable<string | null | undefined>", ("",), (None, 1)),
    "NotNullAny": Case("NonNullable<any>", (None, 1, {}), ()),
    # ---- templates
    "Version": Case(
        "`v${number}`",
        ("v1", "v1.5", "v0x10", "v0b11", "v0o17", "v-1e3", "v.5", "v5."),
        ("v", "v1_0", "va", "v0x", "v0xg", "v-0x1", "v--1", "x1"),
    ),
    "Pair": Case("`${number}:${number}`", ("1:2", "0xff:1e3"), (":", "1:", "a:1")),
    "Flag": Case("`is-${boolean}`", ("is-true", "is-false"), ("is-1", "is-")),
    # ---- at least one of
    "AtLeast": Case(
        "Either & ({ form: string } | { url: string })",
        ({"form": ""}, {"url": ""}, {"form": "", "url": ""}),
        ({}, {"form": 1}),
    ),
    "AtLeastNamed": Case("Either & (Form | Url)", ({"form": ""}, {"url": ""}), ({}, {"url": 1})),
    "AtLeastWritten": Case(
        "{ a: string; b?: string } | { a?: string; b: string } | { a: string; b: string }",
        ({"a": ""}, {"b": ""}),
        ({}, {"a": 1}),
    ),
    "AtLeastItems": Case(
        "({ a: 1; b?: 2 } | { a?: 1; b: 2 })[]", ([{"a": 1}, {"b": 2}], []), ([{}], [{"a": 2}])
    ),
    "Optionals": Case("{ a?: string } | { a: string; b?: number[] }", ({}, {"a": ""}), ({"a": 1},)),
    "Deep": Case(
        "{ a: { x: string } } | { a: { y: string } }",
        ({"a": {"x": ""}}, {"a": {"y": ""}}),
        ({"a": {}}, {}),
    ),
    "Lists": Case(
        "{ a: string[] } | { a: number[] } | { a: (string | number)[] }",
        ({"a": [1]}, {"a": ["", 1]}),
        ({"a": [None]}, {}),
    ),
    "Alike": Case("{ a: string } | { a: string }", ({"a": ""},), ({}, {"a": 1})),
    # ---- declarations of one name
    "Merged": Case(
        "Twice",
        ({"a": ""}, {"a": "", "b": 1, "c": True}),
        ({}, {"a": "", "b": ""}, {"a": "", "c": 1}),
    ),
    "MergedGeneric": Case(
        "Held<number>",
        ({"value": 1}, {"value": 1, "more": [1]}),
        ({}, {"value": ""}, {"value": 1, "more": [""]}),
    ),
    # ---- names that JSON escapes
    "Quoted": Case(
        '{ "a\\"b"?: string; "c\\\\d": number }',
        ({"c\\d": 1}, {'a"b': "", "c\\d": 1}),
        ({}, {'a"b': 1, "c\\d": 1}),
    ),
    "Control": Case(
        '{ "a\\n": string; "b\\u0001c"?: 1; d: 2 }',
        ({"a\n": "", "d": 2},),
        ({"d": 2}, {"a\n": "", "b\x01c": 2, "d": 2}),
    ),
    "QuotedTag": Case(
        '{ "k\\"ind": "x"; a: string } | { "k\\"ind": "y"; b: string }',
        ({'k"ind': "x", "a": ""},),
        ({'k"ind': "z", "a": ""}, {'k"ind': "y"}),
    ),
    "TagText": Case(
        '{ kind: "a\\"\\\\\\n"; x: string } | { kind: "b"; y: string }',
        ({"kind": 'a"\\\n', "x": ""},),
        ({"kind": "a", "x": ""},),
    ),
}
"""By name of the type."""


def schema_text() -> str:
    types = "".join(
        f"export interface {name} {{ v: {case.type} }}\n" for name, case in CASES.items()
    )
    return HELPERS + types


@pytest.fixture(scope="module")
def flavours(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """The modules of models of each flavour."""
    folder = tmp_path_factory.mktemp("cases")
    schema = load(schema_text().encode(), "cases.ts", "r1")
    for path, text in emit.generate([schema], emit.Options()).items():
        file = folder / "compiler_cases" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    sys.path.insert(0, str(folder))
    names = {f: f"compiler_cases.vr1.models_{f}" for f in emit.FLAVOURS}
    yield {flavour: importlib.import_module(name) for flavour, name in names.items()}
    sys.path.remove(str(folder))


@pytest.mark.parametrize("name", CASES)
def test_bindings_take_what_the_compiler_takes(name: str, flavours: dict[str, Any]) -> None:
    for flavour, models in flavours.items():
        of = getattr(models, name)
        for value in CASES[name].good:
            text = json.dumps({"v": value})
            made = models.decode(of, text)
            assert json.loads(models.encode(made)) == {"v": value}, (flavour, text)
            assert models.from_wire(of, models.to_wire(made)) == made, (flavour, text)
        for value in CASES[name].bad:
            with pytest.raises(models.DecodeError):
                print(flavour, value, models.decode(of, json.dumps({"v": value})))  # noqa: T201


@pytest.mark.parametrize("name", CASES)
def test_the_meaning_takes_what_the_compiler_takes(name: str) -> None:
    schema = load(schema_text().encode(), "cases.ts", "r1")
    case = CASES[name]
    assert [v for v in case.good if not accepts(schema, Ref(name), {"v": v})] == []
    assert [v for v in case.bad if accepts(schema, Ref(name), {"v": v})] == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("interface A { a: string }\ninterface A { a: number }", "2:15: `A` is declared several"),
        ("interface A { a: string }\ninterface A { a?: string }", "2:15: `A` is declared several"),
        ("interface A { a: string }\ninterface A { readonly a: string }", "2:15: `A` is declared"),
        ("interface A { a: string; a: string }", "1:26: the member `a` stands twice"),
        ("type A = { a: string; a: string }", "1:23: the member `a` stands twice"),
        ("interface A { a: string }\ntype A = string", "2:1: `A` is declared twice"),
    ],
)
def test_what_the_compiler_does_not_merge_is_refused_at_its_place(text: str, said: str) -> None:
    with pytest.raises(SchemaError) as error:
        load(text.encode(), "a.ts")
    assert f"a.ts:{said}" in str(error.value)


def test_an_arm_without_its_own_members_is_read_as_the_plainer_one(
    flavours: dict[str, Any], tmp_path: Path
) -> None:
    """In every flavour, and where the arms are declared in either order."""
    del tmp_path
    for revision in ("v2025_11_25", "v2026_07_28"):
        for flavour in flavours:
            models = importlib.import_module(f"mcp_wire.{revision}.models_{flavour}")
            plain = {"type": "string", "enum": ["a"]}
            for value, name in (
                (plain, "UntitledSingleSelectEnumSchema"),
                ({**plain, "title": "t", "default": "a"}, "UntitledSingleSelectEnumSchema"),
                ({**plain, "other": 1}, "UntitledSingleSelectEnumSchema"),
                ({**plain, "enumNames": ["A"]}, "LegacyTitledEnumSchema"),
            ):
                for of in ("PrimitiveSchemaDefinition", "EnumSchema"):
                    made = models.decode(getattr(models, of), json.dumps(value))
                    assert type(made).__name__ == name, (revision, flavour, of, value)
                    assert models.to_wire(made) == value


def test_facts_have_the_comments_of_an_alias() -> None:
    from mcp_bindgen.ir.lower.facts import digest, facts
    from mcp_bindgen.ir.resolve.resolver import Resolver
    from mcp_bindgen.source import Source, link

    def resolved(text: str) -> Resolver:
        return Resolver(*link(Source(text.encode(), "a.ts"), {}))

    inside = '{\n  /** Its title.\n   * @minimum 1 */\n  title?: number;\n  "x-y"?: string }'
    for type in (inside, f"{inside}[]", f"Array<{inside}>", f"{inside} | {{ b: 1 }}"):
        module = resolved(f"export type Foo = {type};")
        (declared,) = facts(module)["declarations"]
        assert json.dumps(declared["type"]).count("description_sha256") == 1
        plain = resolved(f"export type Foo = {type.replace('@minimum 1', '')};")
        assert digest(module) != digest(plain)
        assert digest(plain) == digest(
            resolved(
                f"export type Foo = {type.replace('Its title.', '').replace('@minimum 1', '')};"
            )
        )
