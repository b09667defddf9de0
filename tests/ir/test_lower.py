"""What schema text means, by rule, and what has no meaning and is refused."""

from __future__ import annotations

import pytest

from mcp_bindgen.errors import LimitExceeded, SchemaError, SchemaMeaningError
from mcp_bindgen.ir.lower.lower import load
from mcp_bindgen.ir.model import (
    Alias,
    Arr,
    Bounded,
    Const,
    Declaration,
    Lit,
    Map,
    Prim,
    Ref,
    Schema,
    Struct,
    Tup,
    Type,
)
from mcp_bindgen.ir.resolve import intersect as meet
from mcp_bindgen.ir.resolve import keys
from mcp_bindgen.ir.resolve.equality import same
from mcp_bindgen.ir.resolve.scope import Resolving
from mcp_bindgen.limits import (
    MAX_ARMS,
    MAX_DEPTH,
    MAX_INSTANCES,
    MAX_MEMBERS,
    MAX_TYPE_NAME_CHARS,
    MAX_UNIONS,
)
from mcp_bindgen.source import syntax


def lowered(text: str) -> Schema:
    return load(text.encode(), "a.ts")


def shown(type: Type) -> str:
    match type:
        case Prim() | Ref():
            return type.name
        case Lit():
            return repr(type.value)
        case Arr():
            return f"[{shown(type.of)}]"
        case Map():
            return f"{{{shown(type.of)}}}"
        case Tup():
            places = [f"{shown(place.type)}{'?' * place.optional}" for place in type.of]
            rest = [f"...{shown(type.rest)}"] if type.rest else []
            return f"({', '.join([*places, *rest])})"
        case Bounded():
            return f"bounded {shown(type.of)}"
        case _:
            return " | ".join(map(shown, type.arms))


def lines(declaration: Declaration) -> list[str]:
    match declaration:
        case Const():
            return [f"const {declaration.name} = {declaration.value!r}"]
        case Alias():
            return [f"alias {declaration.name} = {shown(declaration.type)}"]
        case Struct():
            fields = [
                f"  {f.wire}{'' if f.required else '?'}: {shown(f.type)}"
                for f in declaration.fields
            ]
            index = [f"  ...{shown(declaration.index)}"] if declaration.index else []
            return [f"struct {declaration.name}", *fields, *index]


def check_ir(text: str, expected: str) -> None:
    """The declarations of a schema text, one line each and one for each field."""
    written = [line for d in lowered(text).declarations for line in lines(d)]
    assert "\n".join(written) == expected


def check_refused(text: str, words: str, kind: type[SchemaError] = SchemaMeaningError) -> None:
    with pytest.raises(kind) as caught:
        lowered(text)
    assert words in str(caught.value)
    assert caught.value.place.startswith("a.ts:")
    assert caught.value.excerpt.endswith("^")


BASE = "interface B { x: string; y?: number; z: 1 } "
B = "struct B\n  x: string\n  y?: number\n  z: 1\n"


@pytest.mark.parametrize(
    ("type", "expected"),
    [
        ('Omit<B, "x" | "y">', "  z: 1"),
        ('Pick<B, "x" | "y">', "  x: string\n  y?: number"),
        ("Partial<B>", "  x?: string\n  y?: number\n  z?: 1"),
        ("Required<B>", "  x: string\n  y: number\n  z: 1"),
        ("Readonly<B>", "  x: string\n  y?: number\n  z: 1"),
        ('Record<"a" | "b", number>', "  a: number\n  b: number"),
        ('Omit<B, "z"> & { y: 2 }', "  x: string\n  y: 2"),
        ('Partial<Omit<B, "x">>', "  y?: number\n  z?: 1"),
    ],
)
def test_a_utility_type_is_worked_out(type: str, expected: str) -> None:
    check_ir(f"{BASE}type A = {type};", f"{B}struct A\n{expected}")


@pytest.mark.parametrize(
    ("type", "expected"),
    [
        ('B["x"]', "string"),
        ('B["x" | "z"]', "string | 1"),
        ("keyof B", "'x' | 'y' | 'z'"),
        ("Record<string, B>", "{B}"),
        ("{ [key: string]: B[] }", "{[B]}"),
        ("Array<B>", "[B]"),
        ("ReadonlyArray<B>", "[B]"),
        ("readonly B[]", "[B]"),
        ("[B, string?, ...number[]]", "(B, string?, ...number)"),
        ('"a" | "b" | string', "'a' | 'b' | string"),
        ("B | B | (null | B)", "B | null"),
        ("object | unknown", "object | unknown"),
    ],
)
def test_a_type_is_worked_out(type: str, expected: str) -> None:
    check_ir(f"{BASE}type A = {type};", f"{B}alias A = {expected}")


def test_nullable_is_not_optional() -> None:
    check_ir("interface A { a: number | null }", "struct A\n  a: number | null")


def test_a_member_that_may_be_undefined_is_optional() -> None:
    check_ir("interface A { a: number | undefined }", "struct A\n  a?: number")


def test_typeof_is_the_constants_value() -> None:
    check_ir("const C = -1; interface A { a: typeof C }", "const C = -1\nstruct A\n  a: -1")


def test_an_enum_is_the_union_of_its_strings() -> None:
    check_ir("enum A { B = 'b', C = 'c' }", "alias A = 'b' | 'c'")


def test_a_derived_member_wins_and_an_index_signature_is_inherited() -> None:
    check_ir(
        "interface A extends B { a: 1 } interface B { a?: string; b: 2; [k: string]: unknown }",
        "struct A\n  a: 1\n  b: 2\n  ...unknown\nstruct B\n  a?: string\n  b: 2\n  ...unknown",
    )


@pytest.mark.parametrize(
    "text",
    [
        "interface A { a: 1 } interface A extends B { b: 2; [k: string]: unknown }",
        "interface A extends B { a: 1; [k: string]: unknown } interface A { b: 2 }",
    ],
)
def test_interfaces_of_one_name_give_members_bases_and_index_signatures_to_one(text: str) -> None:
    check_ir(
        f"{text} interface B {{ c?: string }}",
        "struct A\n  a: 1\n  b: 2\n  c?: string\n  ...unknown\nstruct B\n  c?: string",
    )


def test_an_intersection_merges_members() -> None:
    check_ir(
        "interface A { a: B & { c: { d: 1 } } } interface B { b?: string; c?: unknown }",
        "struct A\n  a: AA\nstruct AA\n  b?: string\n  c: AAC\nstruct AAC\n  d: 1\n"
        "struct B\n  b?: string\n  c?: unknown",
    )


def test_a_generic_is_declared_for_each_argument_with_its_default() -> None:
    check_ir(
        "interface P<T, U = T[]> { t: T; u?: U } interface A { a: P<string>; b: P<number, 1> }",
        "struct PStringStringList\n  t: string\n  u?: [string]\n"
        "struct PNumber1\n  t: number\n  u?: 1\n"
        "struct A\n  a: PStringStringList\n  b: PNumber1",
    )


def test_json_is_recognised_by_its_recursion() -> None:
    check_ir(
        "type J = string | number | boolean | null | O | L; type O = { [k: string]: J };"
        "type L = J[];",
        "alias J = json\nalias O = {J}\nalias L = [J]",
    )


def test_structs_may_contain_themselves() -> None:
    check_ir(
        "interface A { a?: A; b: B[] } interface B { a: A }",
        "struct A\n  a?: A\n  b: [B]\nstruct B\n  a: A",
    )


def test_an_anonymous_shape_is_named_by_its_place() -> None:
    names = [
        d.name
        for d in lowered(
            "interface A { a: { b?: { c: 1 } }; l: { c: 1 }[]; m: { [k: string]: { c: 1 } };"
            ' _meta: { d: 1 }; "x/y-z": { e: 1 }; u: { kind: "k"; f: 1 } | { g: 1 } }'
        ).declarations
    ]
    assert names == ["A", "AA", "AAB", "ALItem", "AMValue", "AMeta", "AYZ", "AUK", "AUG"]


def test_a_reserved_name_gets_an_underscore() -> None:
    schema = lowered("interface Model { list: 1; class: 2; _meta: 3; $schema: 4; 'a/b-c': 5 }")
    assert [f.name for f in schema.structs["Model_"].fields] == [
        "list_",
        "class_",
        "meta",
        "schema_",
        "b_c",
    ]


def aliases(count: int) -> str:
    """As many aliases, each of the one before it, and an interface that uses the last."""
    lines = (f"type A{i} = A{i - 1};" for i in range(1, count))
    return "\n".join(["type A0 = string;", *lines, f"interface X {{ a: A{count - 1} }}"])


def test_many_aliases_in_a_row_are_too_deep_and_no_circle() -> None:
    assert lowered(aliases(MAX_DEPTH - 1)).structs["X"].fields[0].type == Ref(f"A{MAX_DEPTH - 2}")
    for count in (MAX_DEPTH + 1, 100, 300):
        with pytest.raises(LimitExceeded, match=f"more than {MAX_DEPTH} .* build on one another"):
            lowered(aliases(count))


def test_a_method_may_have_a_reserved_name() -> None:
    schema = lowered(
        'interface Struct { method: "a/b" } interface StructResult { a: 1 } '
        "type ClientRequest = Struct;"
    )
    assert [(m.name, m.type) for m in schema.methods] == [("a/b", "Struct_")]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("type A = A;", "A"),
        ("type A = B; type B = A;", "→"),
        ("type A = string | A;", "built on itself"),
        ("interface A extends A { }", "A → A"),
        ("interface A extends B { } interface B extends A { }", "→"),
        ("interface A { } type A = 1;", "declared twice"),
        ("interface A { a: 1; a: 2 }", "stands twice"),
        ("interface A { maxTokens: 1; max_tokens: 2 }", "`max_tokens`"),
        ("interface A { 'x/b': 1; 'y/b': 2 }", "`b`"),
        ("interface A { '_': 1 }", "no Python name"),
        ("interface A { b: { c: 1 } } interface AB { }", "`AB`"),
        ("type A = B;", "`B` is not declared"),
        ("type A = C; const C = 1;", "typeof"),
        ("type A = typeof B; interface B { }", "not a constant"),
        ("type A = Omit<B>; interface B { }", "takes 2 arguments"),
        ("type A = B<1>; interface B { }", "takes 0 arguments"),
        ("type A = B; interface B<T> { t: T }", "lacks its argument T"),
        ("type A = B['x']; interface B { a: 1 }", "no member `x`"),
        ("type A = Pick<B, 'a' | 'x'>; interface B { a: 1 }", "no member `x`"),
        ("type A = Omit<K, A2>; interface K { a: 1 } type A2 = A2;", ""),
        ("type A = string & number;", "nothing satisfies"),
        ("type A = void;", "`void`"),
        ("interface A { a: void }", "`void`"),
        ("interface A { [a: string]: 1; [b: string]: 2 }", "second index signature"),
        ("interface A { [a: B]: 1; [b: B]: 2 } type B = `b${string}`;", "second index signature"),
        ("interface A { [a: B]: 1 } type B = boolean;", "not by string"),
        ("type A = [...string[], number];", "tuple"),
        ("interface A extends B, C { } interface B { x: 1 } interface C { x: 2 }", "disagree"),
        ("interface A { a: { b: `x${string}` } | { b: `x-${string}` } }", "tells apart"),
        ("interface A extends B { } type B = string;", "not one object"),
        ("interface Ä { a: 1 }", "cannot be a Python class"),
    ],
)
def test_what_has_no_meaning_is_refused(text: str, words: str) -> None:
    check_refused(text, words)


@pytest.mark.parametrize("type", ["Partial<A>", "keyof A"])
def test_a_member_that_is_made_of_all_of_its_owner_needs_a_name(type: str) -> None:
    check_refused(f"interface A {{ a?: {type}; b: 1 }}", "a name by an alias")
    named = lowered(f"interface A {{ a?: Of; b: 1 }} type Of = {type};")
    assert [d.name for d in named.declarations] == ["A", "Of"]


@pytest.mark.parametrize(("arm", "said"), [(" | 0", "more than 64"), (" & { }", "deeper than 64")])
def test_aliases_build_on_one_another_to_a_limit(arm: str, said: str) -> None:
    """A longer chain of unions exceeds the limit of unions first."""
    assert MAX_DEPTH == 64
    chain = "".join(f"type A{n} = A{n + 1}{arm};" for n in range(MAX_DEPTH + 1))
    check_refused(f"{chain}type A{MAX_DEPTH + 1} = 1;", said, LimitExceeded)


def test_interfaces_extend_one_another_to_a_limit() -> None:
    chain = "".join(f"interface A{n} extends A{n + 1} {{ }}" for n in range(500))
    check_refused(f"{chain}interface A500 {{ }}", f"more than {MAX_DEPTH}", LimitExceeded)


def test_there_is_a_limit_to_types() -> None:
    many = "".join(f"interface A{n} {{ }}" for n in range(MAX_INSTANCES + 1))
    check_refused(many, f"more than {MAX_INSTANCES} types", LimitExceeded)


def test_there_is_a_limit_to_the_name_of_a_generic_with_its_arguments() -> None:
    long = " | ".join(f'"{"x" * 50}{n}"' for n in range(MAX_TYPE_NAME_CHARS // 50))
    text = f"interface Box<X> {{ v: X }} interface Root {{ v: Box<{long}> }}"
    check_refused(text, f"more than {MAX_TYPE_NAME_CHARS} characters", LimitExceeded)


def test_there_is_a_limit_to_members_that_are_inherited() -> None:
    wide = "".join(f"m{n}?: 1; " for n in range(100))
    many = "".join(f"interface A{n} extends B {{ }} " for n in range(MAX_MEMBERS // 100))
    check_refused(
        f"interface B {{ {wide} }} {many}", f"more than {MAX_MEMBERS} members", LimitExceeded
    )


@pytest.mark.wide
def test_there_is_a_limit_to_the_unions_of_one_union() -> None:
    doubling = "".join(f"type T{n}<A> = T{n + 1}<A | {n}> | T{n + 1}<A>; " for n in range(40))
    check_refused(
        f"{doubling} type T40<A> = A; interface A {{ a: T0<50> }}",
        f"more than {MAX_UNIONS} unions",
        LimitExceeded,
    )


@pytest.mark.wide
def test_mapped_types_in_mapped_types_are_refused_before_all_are_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[object] = []

    def counted(scope: Resolving, type: syntax.Type, at: int) -> keys.Keys:
        made.append(type)
        return plain(scope, type, at)

    plain = keys.Keys
    monkeypatch.setattr(keys, "Keys", counted)
    names = " | ".join(f'"k{number}"' for number in range(1000))
    check_refused(
        f"type K = {names}; type M = {{ [P in K]: {{ [Q in K]: string }} }};",
        "nodes",
        LimitExceeded,
    )
    assert len(made) < 200


@pytest.mark.parametrize("sign", ["|", "&"])
def test_there_is_a_limit_to_the_types_of_one_union(sign: str) -> None:
    many = f" {sign} ".join(["string"] * (MAX_ARMS + 2))
    check_refused(f"type A = {many};", f"more than {MAX_ARMS} types in one", LimitExceeded)


def test_a_product_of_unions_is_refused_before_it_costs_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared: list[object] = []

    def counted(a: syntax.Type, b: syntax.Type) -> bool:
        compared.append(a)
        return same(a, b)

    monkeypatch.setattr(meet, "same", counted)
    product = " & ".join(f"({{ a{n}: 1 }} | {{ b{n}: 2 }})" for n in range(24))
    check_refused(f"type A = {product};", f"more than {MAX_INSTANCES} alternatives", LimitExceeded)
    assert len(compared) < 10 * MAX_INSTANCES


def test_a_type_that_doubles_is_refused_by_its_weight() -> None:
    doubling = "".join(
        f"type A{n} = Omit<{{ a: Omit<A{n + 1}, ''>; b: Omit<A{n + 1}, ''>; c: 1 }}, ''>;"
        for n in range(18)
    )
    check_refused(f"{doubling}interface A18 {{ a: 1 }}", "nodes", LimitExceeded)


@pytest.mark.parametrize("hostile", ['"""', "\\", "{{ x }}", "{% x %}", "\r", "\u2028", "__init__"])
def test_hostile_text_is_data_in_every_position(hostile: str) -> None:
    quoted = hostile.replace("\\", "\\\\").replace('"', '\\"').replace("\r", "\\r")
    schema = lowered(f'interface A {{ "a{quoted}": "{quoted}" }} const C = "{quoted}";')
    (field,) = schema.structs["A"].fields
    assert (field.wire, field.const) == (f"a{hostile}", hostile)
    assert field.name.isidentifier()
    assert schema.consts["C"].value == hostile


def test_what_the_tag_description_says_is_the_doc() -> None:
    schema = lowered("/** @description Both. */\ninterface A {\n/** @description One. */\na: 1 }")
    struct = schema.structs["A"]
    assert (struct.doc, struct.fields[0].doc) == ("Both.", "One.")
