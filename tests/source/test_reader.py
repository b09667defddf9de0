"""Each construct becomes the node that says the same, and no node of the tree goes unread."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
import tree_sitter_typescript
from tree_sitter import Language, Node, Parser

from mcp_bindgen.source import Source, read, rewrite, syntax
from mcp_bindgen.source.preprocess import preprocess

REVISIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")

EVERYTHING: Final = """
/* heading */
/** Doc. @nothing */
// remark
export interface A<T extends string = "a", U = {}> extends Base<T>, Omit<Base<U>, "x" | 'y'> {
  /** One.
   * @minimum 1 */
  readonly a: string; // after
  "b-c"?: number | null | undefined,
  3: boolean
  list: readonly string[]; more: Array<{ x: unknown }>; pairs: (A | any)[];
  tuple: [string, number?, ...object[]]; named: [first: string, second?: number, ...rest: X[]];
  readonly [key: string]: unknown;
}
interface Base<T> { t: T }
interface Vary<in out T, out U extends T, in V = 1> { in: T; out: [U, V] }
export type Key = keyof A; type Get = A["a"]["b"] & typeof C & (never | void | symbol);
type Literals = | "a\\n\\u0041\\x41\\u{41}\\
b" | -1 | 1.5 | .5 | 1_000 | true | false | undefined;
type One = & A;
type Far = import("./a.js").A | import( './b.js' ).B<import("./c.js").C<1>, "export type *">;
export type * from "./d.js";
const C = "x" as const;
const S = { a: [1] } as const satisfies Record<string, unknown>;
const T = -1 satisfies number;
export const D: number = -32700, E = "y"
export const enum F { G = "g", "h i" = 'h', }
;
""".replace(", E =", ";\nconst E =")


def named_nodes(data: bytes) -> int:
    """The named nodes of the tree that are not comments."""
    root = (
        Parser(Language(tree_sitter_typescript.language_typescript()))
        .parse(preprocess(data))
        .root_node
    )
    assert not root.has_error
    count, queue = 0, [root]
    while queue:
        node: Node = queue.pop()
        count += node.type not in ("comment", "empty_statement")
        queue += node.named_children
    return count


@pytest.mark.parametrize("revision", REVISIONS)
def test_every_node_of_a_schema_is_read_once(root: Path, revision: str) -> None:
    data = (root / "schema" / revision / "schema.ts").read_bytes()
    assert read(data, "a.ts").nodes == named_nodes(data)


@pytest.mark.parametrize("text", ["// <in T>", "/** a, out B, c */", 'type A = "<out T>";'])
def test_variance_in_a_comment_or_a_text_stays(text: str) -> None:
    assert preprocess(text.encode()) == text.encode()


def test_every_node_of_every_construct_is_read_once() -> None:
    data = EVERYTHING.encode()
    assert read(data, "a.ts").nodes == named_nodes(data)


# A type as TypeScript, and how `shown` writes the node.
TYPES: Final = [
    ("string", "string"),
    ("unknown", "unknown"),
    ("null", "null"),
    ("undefined", "undefined"),
    ("never", "never"),
    ('"a"', "'a'"),
    (r"'\n\u0041\x41\u{42}\q'", "'\\nAABq'"),
    (r"'😀\ud83d\ude00'", "'😀😀'"),
    ("-32700", "-32700"),
    ("1_000", "1000"),
    ("1.5", "1.5"),
    ("2.0", "2"),
    ("true", "True"),
    ("Foo", "Foo"),
    ("Foo<string, Bar<1>>", "Foo<string, Bar<1>>"),
    ("string[]", "string[]"),
    ("Array<string>", "Array<string>"),
    ("readonly string[]", "readonly string[]"),
    ("(A | B)[]", "(A | B)[]"),
    ("| A | (B | C)", "(A | (B | C))"),
    ("| A", "A"),
    ("A & B & C", "(A & B & C)"),
    ("{ }", "{}"),
    ("{ a?: string; 'b c': 1 }", "{a?: string, 'b c': 1}"),
    ("{ readonly a: 1; [key: string]: any }", "{readonly a: 1, [string]: any}"),
    ("[string, number?, ...A[]]", "[string, number?, ...A[]]"),
    ("[a: string, b?: number, ...c: A[]]", "[string, number?, ...A[]]"),
    ("readonly [A]", "readonly [A]"),
    ("typeof A", "typeof A"),
    ("keyof A", "keyof A"),
    ('A["b"]["c"]', "A['b']['c']"),
    ("((A))", "A"),
]


def shown(type: syntax.Type) -> str:
    match type:
        case syntax.Keyword():
            return type.name
        case syntax.Literal():
            return repr(type.value)
        case syntax.Ref():
            return type.name + (f"<{', '.join(map(shown, type.args))}>" if type.args else "")
        case syntax.Array():
            return f"{'readonly ' * type.readonly}{shown(type.of)}[]"
        case syntax.Tuple():
            of = [f"{'...' * e.rest}{shown(e.of)}{'?' * e.optional}" for e in type.of]
            return f"{'readonly ' * type.readonly}[{', '.join(of)}]"
        case syntax.Union():
            return f"({' | '.join(map(shown, type.of))})"
        case syntax.Intersection():
            return f"({' & '.join(map(shown, type.of))})"
        case syntax.Inline():
            members = [
                f"{'readonly ' * m.readonly}{repr(m.name) if m.quoted else m.name}"
                f"{'?' * m.optional}: {shown(m.type)}"
                for m in type.members
            ]
            index = [f"[{shown(i.key)}]: {shown(i.type)}" for i in type.index]
            return f"{{{', '.join([*members, *index])}}}"
        case syntax.TypeOf():
            return f"typeof {type.name}"
        case syntax.KeyOf():
            return f"keyof {shown(type.of)}"
        case syntax.Indexed():
            return f"{shown(type.object)}[{shown(type.index)}]"


@pytest.mark.parametrize(("text", "expected"), TYPES)
def test_a_type_is_read_as_written(text: str, expected: str) -> None:
    (declaration,) = read(f"type A = {text};".encode(), "a.ts").declarations
    assert isinstance(declaration, syntax.Alias)
    assert shown(declaration.type) == expected


def test_a_declaration_knows_its_kind_and_whether_it_is_exported() -> None:
    declarations = read(EVERYTHING.encode(), "a.ts").declarations
    assert [(type(d).__name__, d.name, d.exported) for d in declarations] == [
        ("Interface", "A", True),
        ("Interface", "Base", False),
        ("Interface", "Vary", False),
        ("Alias", "Key", True),
        ("Alias", "Get", False),
        ("Alias", "Literals", False),
        ("Alias", "One", False),
        ("Alias", "Far", False),
        ("Const", "C", False),
        ("Const", "S", False),
        ("Const", "T", False),
        ("Const", "D", True),
        ("Const", "E", False),
        ("Enum", "F", True),
    ]


def test_type_parameters_keep_constraint_and_default() -> None:
    declaration = read(EVERYTHING.encode(), "a.ts").declarations[0]
    assert isinstance(declaration, syntax.Interface)
    limits = [
        (p.name, p.constraint and shown(p.constraint), p.default and shown(p.default))
        for p in declaration.params
    ]
    assert limits == [("T", "string", "'a'"), ("U", None, "{}")]


def test_an_enum_keeps_names_and_values() -> None:
    declaration = read(EVERYTHING.encode(), "a.ts").declarations[-1]
    assert isinstance(declaration, syntax.Enum)
    assert declaration.members == (("G", "g"), ("h i", "h"))


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends_and_a_byte_order_mark_make_no_difference(end: str) -> None:
    plain = read(EVERYTHING.encode(), "a.ts")
    assert read(EVERYTHING.replace("\n", end).encode("utf-8-sig"), "a.ts") == plain


# ---- comments


def doc(text: str) -> str | None:
    """The description of the last declaration's doc."""
    declaration = read(text.encode(), "a.ts").declarations[-1]
    return declaration.doc.description if declaration.doc else None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/** A. */\ntype A = 1;", "A."),
        ("/** A. */ export type A = 1;", "A."),
        ("/** A. */\n// eslint\n/* more */\ntype A = 1;", "A."),
        ("/* Heading */\ntype A = 1;", None),
        ("/** Old. */\n/** New. */\ntype A = 1;", "New."),
        ("/** Old. */\n/* Heading */\n\n\ntype A = 1;", "Old."),
        ("/**/\ntype A = 1;", None),
        ("// A.\ntype A = 1;", None),
        ("type B = 1; /** of B */\ntype A = 1;", None),
        ("type B = 1; // of B\n/** A. */\ntype A = 1;", "A."),
        ("/**\n * One\n *   two.\n *\n * Three.\n */\ntype A = 1;", "One two. Three."),
        ("/** A.\r\n * B. */\r\ntype A = 1;", "A. B."),
        (
            "/** A {@link B}.\n * {@includeCode x}\n */\ntype A = 1;",
            "A {@link B}. {@includeCode x}",
        ),
    ],
)
def test_a_doc_comment_belongs_to_what_follows_it(text: str, expected: str | None) -> None:
    assert doc(text) == expected


@pytest.mark.parametrize(
    ("comment", "sentence"),
    [
        ("/** Before. @description not a tag */", "Before. @description not a tag"),
        ("/** Before.\n * @description After. */", "Before."),
        ("/** @description One\n *  and two.\n * @minimum 1 */", "One and two."),
        ("/** @minimum 1\n * @description One. */", "One."),
        ("/** @minimum 1 */", ""),
    ],
)
def test_a_sentence_stands_before_the_tags_or_in_description(comment: str, sentence: str) -> None:
    doc_comment = read(f"{comment}\ntype A = 1;".encode(), "a.ts").declarations[0].doc
    assert doc_comment is not None
    assert doc_comment.sentence == sentence


def test_tags_hold_hyphens_and_two_of_them_run_on() -> None:
    text = """/** A.
     * @TJS-type number
     * @category `a/b`
     * more
     * @deprecated since
     *   then.
     * @internal
     * @example
     * ```json
     * @not a tag
     * ```
     * @minimum 1
     */
    type A = 1;"""
    doc_comment = read(text.encode(), "a.ts").declarations[0].doc
    assert doc_comment is not None
    assert [(tag.name, tag.rest) for tag in doc_comment.tags] == [
        ("TJS-type", "number"),
        ("category", "`a/b`"),
        ("deprecated", "since"),
        ("internal", ""),
        ("example", ""),
        ("minimum", "1"),
    ]
    assert doc_comment.deprecated == "since then."
    assert doc_comment.tag("category") == "`a/b`"


def test_a_comment_after_a_member_is_not_of_the_next() -> None:
    text = "interface A { a: 1; // of a\n /** B. */ b: 2; /** of b */\n c: 3 }"
    (declaration,) = read(text.encode(), "a.ts").declarations
    assert isinstance(declaration, syntax.Interface)
    assert [m.doc and m.doc.description for m in declaration.members] == [None, "B.", None]


# ---- writing anew


def rewritten(text: str, ours: dict[str, str]) -> str:
    source = Source(text.encode(), "a.ts")

    def sentence(path: str) -> rewrite.Sentence:
        return rewrite.Sentence(ours.get(path, ""), "old." if path == "A" else "")

    return rewrite.rewrite(source, read(text.encode(), "a.ts"), sentence)


THEIRS: Final = """/* Heading */
/** Theirs.
 * @deprecated theirs
 * @category a
 * @see theirs
 * @example
 * theirs
 */
export interface A { // theirs
  /** Theirs. @minimum 1
   * @minimum 1 */
  a: { /* theirs */ b: number };
}
"""


def test_rewriting_drops_prose_and_keeps_tags() -> None:
    text = rewritten(THEIRS, {"A": "Ours.", "A.a.b": "Ours too."})
    assert "heirs" not in text
    for kept in ("@category a", "@deprecated old.", "@minimum 1", "Ours.", "Ours too."):
        assert kept in text
    for dropped in ("Heading", "@see", "@example"):
        assert dropped not in text


def test_rewriting_twice_changes_nothing() -> None:
    ours = {"A": "Ours.", "A.a.b": "Ours too."}
    once = rewritten(THEIRS, ours)
    assert rewritten(once, ours) == once


@pytest.mark.parametrize("revision", REVISIONS)
def test_rewriting_ours_with_its_own_sentences_changes_nothing(root: Path, revision: str) -> None:
    data = (root / "schema" / revision / "schema.ts").read_bytes()
    source, module = Source(data, "a.ts"), read(data, "a.ts")
    ours = rewrite.sentences(module)
    nothing = rewrite.Sentence("", "")
    assert rewrite.rewrite(source, module, lambda path: ours.get(path, nothing)) == data.decode()
