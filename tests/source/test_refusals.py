"""What is not read is refused by name, with its place, the line with a caret, and what to do."""

from __future__ import annotations

import pytest

from mcp_bindgen.errors import LimitExceeded, SchemaError, SchemaSyntaxError, UnsupportedSyntax
from mcp_bindgen.limits import MAX_DEPTH, MAX_SCHEMA_BYTES
from mcp_bindgen.source import read
from mcp_bindgen.source.nodes import REFUSED

# By kind of node: a schema that has it, and the column where it begins on its only line.
CASES = {
    "abstract_class_declaration": ("abstract class A { }", 1),
    "call_signature": ("interface A { (): void }", 15),
    "class_declaration": ("class A { }", 1),
    "conditional_type": ('type A = string extends "a" ? 1 : 2;', 10),
    "construct_signature": ("interface A { new (): string }", 15),
    "constructor_type": ("type A = new () => string;", 10),
    "expression_statement": ("f();", 1),
    "function_declaration": ("function f() {}", 1),
    "function_signature": ("function f(): void;", 1),
    "function_type": ("type A = () => void;", 10),
    "import_require_clause": ('import a = require("b");', 8),
    "import_statement": ('import "b";', 1),
    "infer_type": ("type A = infer B;", 10),
    "internal_module": ("namespace A { }", 1),
    "method_signature": ("interface A { f(): string }", 15),
    "module": ("module A { }", 1),
    "namespace_export": ('export * as a from "b";', 8),
    "namespace_import": ('import * as a from "b";', 8),
    "this_type": ("interface A { a: this }", 18),
    "variable_declaration": ("var a = 1;", 1),
}

# What has no row of its own, by rule: the schema, the column, and words of the message.
OTHERS = [
    ("type A = unique symbol;", 10, "unique symbol"),
    ('import a from "b";', 8, "a default import"),
    ("type A = const;", 1, "an alias without a type"),
    ("declare const a;", 9, "a constant without one value"),
    ("type A = B.C.D;", 10, "a name in a namespace"),
    ("export default A;", 8, "default"),
    ("type A = { [K in B as C]: string };", 13, "a mapped type with `as`"),
    ("interface A { [a]: string }", 15, "a computed member name"),
    ("interface A { #a: string }", 15, "a computed member name"),
    ("interface A { a }", 15, "a member without a type"),
    ("interface A { static a: string }", 15, "static"),
    ("enum A { B = 'b', C }", 19, "an enum member without a value"),
    ("enum A { B = true }", 10, "an enum member of a truth value"),
    ("enum A { B = 1 << 2 }", 14, "a value that is not a literal"),
    ("enum A { B = 'b', B = 'c' }", 19, "stands twice"),
    ("enum A { }", 1, "an enum without members"),
    ("let a = 1;", 1, "let"),
    ("const a = 1, b = 2;", 12, ","),
    ("const a: string;", 1, "a constant without one value"),
    ("const a = f();", 11, "a value that is not a literal"),
    ("const a = `${b}`;", 11, "a value that is not a literal"),
    ("const a = [...b];", 12, "a value that is not a literal"),
    ("const a = { b };", 13, "not a name and a value"),
    ("const a = -e5;", 11, "a value that is not a literal"),
    ("const a = 'x' as string;", 11, "a value that is not a literal"),
    ("const a = 'x' as const as const;", 11, "a value that is not a literal"),
    ("const a = { b: 1 } satisfies A;", 11, "a value that is not a literal"),
    ("const a = [1] satisfies A as const;", 11, "a value that is not a literal"),
    ("const a = 1n;", 11, "a number that is not decimal"),
    ("const a = 1e400;", 11, "too large"),
    (r"const a = '\ud800';", 11, "a lone surrogate"),
    (r"const a = '\u{110000}';", 12, "beyond Unicode"),
    ("type A = typeof import('a');", 10, "typeof of more than a constant"),
    ("type A = a.B<1>;", 10, "nested_type_identifier"),
    ("type A = typeof import('a').B<1>;", 10, "typeof of more than a constant"),
    ("type A = readonly string;", 10, "readonly before what is not an array"),
    ("type A<const T> = T;", 8, "const"),
    ("type A = ?string;", 10, "flow_maybe_type"),
    ("<!-- a", 1, "html_comment"),
    ("#!/bin/a", 1, "hash_bang_line"),
    ("if (a) { }", 1, "if_statement"),
]


def refusal(text: str | bytes, kind: type[SchemaError] = UnsupportedSyntax) -> SchemaError:
    data = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(kind) as caught:
        read(data, "a.ts")
    assert type(caught.value) is kind
    return caught.value


def check_refused(text: str, column: int, words: str) -> None:
    error = refusal(text)
    assert error.place == f"a.ts:1:{column}"
    assert words in error.message or words in str(error)
    assert error.excerpt == f"    {text}\n    {' ' * (column - 1)}^"
    assert error.remedy
    assert str(error).startswith(error.place)
    assert str(error).endswith(error.remedy)


def test_every_refused_kind_has_a_case() -> None:
    assert CASES.keys() == REFUSED.keys()


@pytest.mark.parametrize("kind", sorted(CASES))
def test_a_refused_kind_is_named_with_its_place_and_remedy(kind: str) -> None:
    text, column = CASES[kind]
    name, remedy = REFUSED[kind]
    check_refused(text, column, f"{name} is not read here")
    assert refusal(text).remedy == remedy


@pytest.mark.parametrize(("text", "column", "words"), OTHERS)
def test_what_changes_the_meaning_is_never_skipped(text: str, column: int, words: str) -> None:
    check_refused(text, column, words)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("type A = ", "a.ts:1"),
        ("interface A { a: string", "a.ts:1"),
        ("type A = 1;\n\ntype A 2;", "a.ts:3"),
        ("const a = 'b;\n", "a.ts:1:11"),
        ('type A = "b;\n', "a.ts:1:10"),
        ("/* a", "a.ts:1:1"),
        ("type A = 1; /** a", "a.ts:1:13"),
        ("type A = `a", "a.ts:1:10"),
    ],
)
def test_what_is_no_typescript_is_refused_with_its_place(text: str, place: str) -> None:
    assert refusal(text, SchemaSyntaxError).place.startswith(place)


def test_a_column_counts_characters_not_bytes() -> None:
    assert refusal("/* é😀 */ var a = 1;").place == "a.ts:1:10"


def test_a_long_line_is_cut_around_the_caret() -> None:
    error = refusal(f"/* {'x' * 500} */ var a = 1; // {'y' * 500}")
    line, caret = error.excerpt.split("\n")
    assert len(line) <= 100
    assert line[caret.index("^") :].startswith("var a")


def test_control_characters_do_not_reach_the_message() -> None:
    error = refusal("/* \x1b[2J\u202e\x07 */ class A { }")
    assert not any(c in str(error) for c in "\x1b\u202e\x07")
    assert "\\u001b[2J\\u202e" in error.excerpt


def test_a_file_name_does_not_steer_the_terminal() -> None:
    with pytest.raises(SchemaError) as caught:
        read(b"class A { }", "a\x1b[2J.ts")
    assert "\x1b" not in str(caught.value)


def test_text_that_is_not_utf8_is_refused_at_its_line() -> None:
    error = refusal(b"type A = 1;\n// \xff\n", SchemaSyntaxError)
    assert error.place == "a.ts:2"
    assert "0xff" in str(error)


@pytest.mark.wide
def test_a_file_may_be_as_large_as_the_limit_and_no_larger() -> None:
    read(b" " * MAX_SCHEMA_BYTES, "a.ts")
    assert str(MAX_SCHEMA_BYTES) in str(refusal(b" " * (MAX_SCHEMA_BYTES + 1), LimitExceeded))


def test_brackets_may_nest_as_deep_as_the_limit_and_no_deeper() -> None:
    read(f"interface A {{ a: {nested(MAX_DEPTH - 1)} }}".encode(), "a.ts")
    refusal(f"interface A {{ a: {nested(MAX_DEPTH)} }}", LimitExceeded)


def nested(levels: int) -> str:
    return "{ a: " * (levels - 1) + "{}" + " }" * (levels - 1)


@pytest.mark.parametrize(
    "text",
    [
        "type A = " + "(" * 10_000 + "string" + ")" * 10_000,
        "type A = " + "{ a: " * 10_000,
        "type A = " + "Array<" * 10_000,
        "type A = string" + "[]" * 10_000,
        "type A = B" + '["a"]' * 10_000,
        "type A = " + "keyof " * 10_000 + "B",
        "type A = " + "readonly " * 10_000 + "B[]",
    ],
    ids=lambda text: text[9:21],
)
def test_ten_thousand_levels_are_refused_not_a_crash(text: str) -> None:
    refusal(text, LimitExceeded)


def test_ten_thousand_arms_are_no_levels() -> None:
    module = read(f"type A = {'| 1 ' * 10_000}; type B = {'A & ' * 10_000} A;".encode(), "a.ts")
    assert len(module.declarations) == 2


@pytest.mark.wide
def test_a_comment_of_ten_megabytes_is_read() -> None:
    text = b"/** " + b"* a@b {\n" * 1_300_000 + b"*/\ntype A = 1;\n" + b"// x\n" * 100_000
    assert [d.name for d in read(text, "a.ts").declarations] == ["A"]


def faults(*lines: str) -> list[str]:
    return str(refusal("\n".join(lines), SchemaSyntaxError)).splitlines()


def test_the_faults_of_several_declarations_are_shown_at_once() -> None:
    assert faults(
        "export interface A { a: string; }",
        "export interface B { b: string |; }",
        "// between",
        "export type C = string;",
        "export interface D { d:: string; }",
        "export type E = ;",
    ) == [
        "a.ts:2:32: not TypeScript",
        "    export interface B { b: string |; }",
        f"    {' ' * 31}^",
        "and at a.ts:5:23: not TypeScript",
        "    export interface D { d:: string; }",
        f"    {' ' * 22}^",
        "and at a.ts:6:16: `type_identifier` is missing",
        "    export type E = ;",
        f"    {' ' * 15}^",
        "Mend the file.",
    ]


def test_what_follows_a_lost_brace_is_no_fault_of_its_own() -> None:
    said = faults(
        "export interface A {",
        "export interface B { b: string; }",
        "export interface C { c: string; }",
    )
    assert [line for line in said if line.startswith("and at")] == []


def test_no_more_faults_are_shown_than_one_reads() -> None:
    said = faults(*(f"export interface A{n} {{ a:: string; }}" for n in range(50)))
    assert len([line for line in said if line.startswith("and at")]) == 9


def test_a_file_that_is_one_fault_is_refused_at_its_begin() -> None:
    assert faults("( export :")[0] == "a.ts:1:1: not TypeScript"
