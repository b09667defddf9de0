"""Names that nobody declares: each with its place and the nearest name, all at once."""

from __future__ import annotations

import pytest

from mcp_bindgen.errors import SchemaMeaningError
from mcp_bindgen.ir.lower.lower import load
from mcp_bindgen.source import Source


def said(*lines: str, **imports: str) -> list[str]:
    """What is said of a file of these lines, without the excerpts."""
    files = {f"./{name}.js": Source(text.encode(), f"{name}.ts") for name, text in imports.items()}
    with pytest.raises(SchemaMeaningError) as caught:
        load("\n".join(lines).encode(), "a.ts", imports=files)
    return [line for line in str(caught.value).splitlines() if not line.startswith("    ")]


def test_all_names_that_nobody_declares_are_shown_at_once_with_the_nearest() -> None:
    assert said(
        "export interface Annotations { a: strin }",
        "export interface Text extends Anotations { b?: Partal<Text>; c: Wholly }",
        "export type Either = Text | { d: Array<Tex> };",
    ) == [
        "a.ts:1:35: `strin` is not declared; did you mean `string`?",
        "and at a.ts:2:31: `Anotations` is not declared; did you mean `Annotations`?",
        "and at a.ts:2:48: `Partal` is not declared; did you mean `Partial`?",
        "and at a.ts:2:65: `Wholly` is not declared",
        "and at a.ts:3:40: `Tex` is not declared; did you mean `Text`?",
        "Declare it in this file, or import it.",
    ]


@pytest.mark.parametrize(
    ("misspelt", "meant"), [("Strng", "string"), ("Nmber", "number"), ("Objct", "object")]
)
def test_what_is_suggested_is_accepted(misspelt: str, meant: str) -> None:
    """`String` would be nearer, and is refused."""
    head = f"a.ts:1:21: `{misspelt}` is not declared; did you mean `{meant}`?"
    assert said(f"interface Root {{ a: {misspelt} }}")[0] == head


def test_each_place_has_its_line() -> None:
    with pytest.raises(SchemaMeaningError) as caught:
        load(b"type A = B1;\ntype C = D1;", "a.ts")
    rows = str(caught.value).splitlines()
    assert rows[1:3] == ["    type A = B1;", "             ^"]
    assert rows[4:6] == ["    type C = D1;", "             ^"]


def test_type_parameters_and_keys_of_mapped_types_are_declared_where_they_stand() -> None:
    assert said(
        "interface Page<Item> { items: Item[]; next: Itm }",
        "type Keyed<T> = { [Key in 'a' | 'b']: [Key, T, Ky] };",
        "interface Root { page: Page<string>; keyed: Keyed<string>; other: Item }",
    )[:-1] == [
        "a.ts:1:45: `Itm` is not declared",
        "and at a.ts:2:48: `Ky` is not declared",
        "and at a.ts:3:67: `Item` is not declared",
    ]


def test_names_of_imported_files_are_declared_and_their_faults_have_their_file() -> None:
    assert said(
        "import { Tool } from './core.js';",
        "export interface Root { tool: Tool; other: Tol }",
        core="export interface Tool { icon: Icom }\nexport interface Icon { a: string }",
    )[:-1] == [
        "a.ts:2:44: `Tol` is not declared; did you mean `Tool`?",
        "and at core.ts:1:31: `Icom` is not declared",
    ]


def test_an_imported_name_that_is_misspelt_is_told_the_right_one() -> None:
    core = "export interface Tool { a: string }"
    assert said("import { Tol } from './core.js';", "type A = Tol;", core=core) == [
        "a.ts:1:1: './core.js' declares no `Tol`; did you mean `Tool`?",
        "Import a name that it has, or map the import to another file.",
    ]


def test_no_more_names_are_shown_than_one_reads() -> None:
    lines = said(*(f"type A{n} = Unknown{n};" for n in range(50)))
    assert len([line for line in lines if line.startswith("and at")]) == 9
    assert lines[-1] == "Declare it in this file, or import it. These are 10 of 50."
