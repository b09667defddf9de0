"""Schema text never becomes code: whatever it holds, the output has the shape of our own."""

from __future__ import annotations

import ast
import json
import keyword
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from symtable import symtable
from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mcp_bindgen import emit, pins
from mcp_bindgen.emit.text.layout import docstring, literal
from mcp_bindgen.errors import BindgenError
from mcp_bindgen.ir.lower.lower import load
from mcp_bindgen.ir.model import Schema
from mcp_bindgen.ir.names import RESERVED_MEMBERS, RESERVED_TYPES
from tests.support.schemas import pinned

HOSTILE: Final = (
    '"""); import os; os.system("x") #',
    "'''); import os #",
    'ends with a quote"',
    'ends with three quotes"""',
    'ends with more \\"""""',
    '"""',
    "ends with a backslash\\",
    "\\N{BULLET} \\x41 \\u0041 %s {0} ${x}",
    "{{ 7 * 7 }} {% for x in y %} {# note #} {%- raw -%}",
    "line\rfeed\ntab\tnul\0bell\x07",
    "\u2028\u2029\x85\u202e\ufeff\U0001f600",
    "a" * 300,
    "word " * 80,
    " leading and trailing ",
)
NAMES: Final = sorted(
    {*RESERVED_MEMBERS, "o", "at", "get", "x", "held", "made", "fill", "wrong", "merge"}
    | {"__class__", "__init__", "__dict__", "_private", "a-b", "1st", "const_", "match", "type"}
    | {"read_string", "is_number", "is_string", "DecodeError", "faults", "fault", "UNSET"}
    | {"value", "wire_"}
)
TOGETHER: Final = 25
"""Names that have a revision each in one package."""


def source(text: str) -> str:
    """A schema with `text` wherever text can stand."""
    quoted = json.dumps(text)
    comment = text.replace("*/", "* /").replace("\0", "")
    return f"""
    /** {comment}
     * @category {comment}
     * @deprecated {comment} */
    export interface Thing {{
      /** {comment}
       * @format {comment}
       * @default {comment} */
      "plain{quoted[1:-1]}"?: string;
      kind: {quoted};
      other?: {quoted} | "b";
      open?: {quoted} | string;
      inner?: {{ {json.dumps("deep" + text)}: number; [key: string]: unknown }};
      [key: string]: unknown;
    }}
    /** {comment} */
    export const VALUE = {quoted};
    /** {comment} */
    export enum Choice {{ {json.dumps("a" + text)} = {quoted}, B = "b" }}
    /** {comment} */
    export interface CallRequest {{ method: {quoted}; params?: {{ a: Thing }} }}
    export interface CallResult {{ thing: Thing | Other }}
    export interface Other {{ kind: "other"; choice: Choice }}
    export type ClientRequest = CallRequest;
    """


def shape(files: dict[str, str]) -> Iterator[tuple[str, str]]:
    """The kinds of nodes, the names called and the modules imported, of every file."""
    for text in files.values():
        for node in ast.walk(ast.parse(text)):
            yield "node", type(node).__name__
            if isinstance(node, ast.Call):
                called = node.func.value if isinstance(node.func, ast.Subscript) else node.func
                yield "call", ast.unparse(called)
            if isinstance(node, ast.ImportFrom):
                yield "import", f"{'.' * node.level}{node.module or ''}"
            if isinstance(node, ast.Import):
                yield from (("import", alias.name) for alias in node.names)


@cache
def ours() -> frozenset[tuple[str, str]]:
    schemas = [pinned(revision) for revision in pins.revisions()]
    return frozenset(shape(emit.generate(schemas, emit.Options())))


def check_shape(files: dict[str, str], declared: set[str]) -> None:
    """No kind of node, no call and no import that the pinned revisions do not have."""
    packages = {f".{path.partition('/')[0]}" for path in files if "/" in path}
    for what, name in shape(files):
        is_package = what == "import" and name in packages
        is_declared = what == "call" and is_own(name, declared)
        known = (what, name) in ours() or is_package or is_declared
        assert known, f"{what} {name}"


def is_own(name: str, declared: set[str]) -> bool:
    variable, _, method = name.partition(".")
    return (
        name in declared
        or name.startswith(("_read_", "_write_", "read_", "check_", "write_"))
        or (name.startswith("_") and name.endswith("_tags"))
        or (variable.isidentifier() and method == "isascii")
    )


def check_runs(files: dict[str, str], folder: Path) -> None:
    """The package imports, every module of it."""
    for path, text in files.items():
        (folder / "pkg" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "pkg" / path).write_text(text, encoding="utf-8")
    modules = [f"pkg.{path[:-3].replace('/', '.')}" for path in files if path.endswith(".py")]
    names = [name for name in modules if not name.endswith("__init__")]
    code = f"import importlib\nfor name in {names!r}: importlib.import_module(name)"
    subprocess.run([sys.executable, "-c", code], cwd=folder, check=True, timeout=60)


AWKWARD: Final = st.text(st.sampled_from("\"'\\ \n\t\r\0ab{%#\u2028\u202e\x85"), max_size=40)


def words(text: str) -> list[str]:
    return text.split()


@given(AWKWARD | st.text(max_size=200), st.sampled_from(["", "    ", "        "]))
@example('Text that ends in three quotes"""', "")
@example('"""', "    ")
@example('\\"', "")
def test_a_docstring_is_one_string_of_its_words(text: str, indent: str) -> None:
    body = "\n".join(docstring(indent, text))
    (statement,) = ast.parse(textwrap.dedent(body)).body or [ast.Expr(ast.Constant(""))]
    assert isinstance(statement, ast.Expr)
    assert isinstance(statement.value, ast.Constant)
    assert "".join(words(statement.value.value)) == "".join(words(text))


@given(AWKWARD | st.text())
def test_a_literal_is_its_text(text: str) -> None:
    assert ast.literal_eval(literal(text)) == text


@pytest.mark.wide
@pytest.mark.drawn
@pytest.mark.parametrize("texts", [HOSTILE[:5], HOSTILE[5:10], HOSTILE[10:]], ids=range(3))
def test_hostile_text_stays_text(texts: Sequence[str], tmp_path: Path) -> None:
    """Each text is that of a revision: a package of many is written and imported sooner."""
    schemas = [load(source(text).encode(), "hostile.ts", str(n)) for n, text in enumerate(texts)]
    files = emit.generate(schemas, emit.Options())
    check_shape(files, {d.name for schema in schemas for d in schema.declarations})
    check_runs(files, tmp_path)
    for number, text in enumerate(texts):
        tree = ast.parse(files[f"v{number}/models_dataclass.py"])
        strings = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
        assert text in strings


@pytest.mark.wide
@pytest.mark.drawn
@pytest.mark.parametrize("start", range(0, len(NAMES), TOGETHER))
def test_any_member_name_gives_code_that_runs(start: int, tmp_path: Path) -> None:
    schemas = [
        schema
        for number, name in enumerate(NAMES[start : start + TOGETHER])
        if (schema := schema_of_member(name, str(number))) is not None
    ]
    files = emit.generate(schemas, emit.Options())
    check_shape(files, {"A", "AOther"})
    check_runs(files, tmp_path)


def schema_of_member(name: str, revision: str) -> Schema | None:
    """A schema with members of that name; None if it is rightly refused."""
    quoted = json.dumps(name)
    inner = f"{{ {quoted}?: A[]; maxTokens?: number }}"
    text = f"export interface A {{ {quoted}: string; other?: {inner} | string }}"
    try:
        return load(text.encode(), "names.ts", revision)
    except BindgenError:
        assert not any(c.isalpha() for c in name)
        return None


ROUND_TRIP: Final = """
from pkg.v%(name)s import models_dataclass, models_msgspec, models_pydantic
for models in (models_dataclass, models_msgspec, models_pydantic):
    text = b'{"b":{"%(name)s":1,"c":"x","d":2}}'
    a = models.decode(models.A, text)
    assert models.encode(a) == text, (models.__name__, models.encode(a))
    assert repr(a.b) and models.B(%(name)s_=1.5, c="y") != a.b
"""


ATTRIBUTES: Final = ("wire_", "consts", "extra_", "field", "self")


def test_a_member_called_like_an_attribute_of_ours_is_read_and_written(tmp_path: Path) -> None:
    """Each name is that of a revision, too."""
    text = """
    export interface A { b: B }
    export interface B { %s: number; c: string; [key: string]: unknown }
    """
    schemas = [load((text % name).encode(), "names.ts", name) for name in ATTRIBUTES]
    check_runs(emit.generate(schemas, emit.Options()), tmp_path)
    code = "".join(ROUND_TRIP % {"name": name} for name in ATTRIBUTES)
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, timeout=60)


def globals_of(text: str) -> Iterator[str]:
    """The names that a module defines, imports, or reads without defining them."""
    tables = [symtable(text, "module.py", "exec")]
    for table in tables:
        tables += table.get_children()
        whole = table.get_type() == "module"
        yield from (s.get_name() for s in table.get_symbols() if whole or s.is_global())


@pytest.mark.wide
def test_every_name_that_modules_of_types_use_is_reserved() -> None:
    schemas = [pinned(revision) for revision in pins.revisions()[-2:]]
    extensions = [pinned(version) for version in pins.extensions()]
    variants = (emit.Options(), emit.Options(unknown="drop", literals="open"))
    files = {path: text for o in variants for path, text in emit.generate(schemas, o).items()}
    files |= emit.extensions(extensions, emit.Options())
    declared = {d.name for schema in (*schemas, *extensions) for d in schema.declarations}
    texts = [t for p, t in files.items() if re.search(r"/(models_|calls\.|codec\.)", p)]
    used = {n for text in texts for n in globals_of(text) if not n.startswith("_")}
    used.remove("new")  # which no type can be called in TypeScript
    assert {n for n in used - declared - RESERVED_TYPES if not n.endswith("Answer")} == set()
    assert len(texts) > 12


@pytest.mark.wide
def test_reserved_type_names_give_code_that_runs(tmp_path: Path) -> None:
    names = sorted(RESERVED_TYPES - {*keyword.kwlist})
    text = "\n".join(f"export interface {n}x {{ a: string }}" for n in names)
    renamed = "\n".join(
        f"export interface {n} {{ a: string; b?: {n}[]; c: {n}x | {n} }}"
        for n in names
        if n != "object"
    )
    schema = load(f"{text}\n{renamed}".encode(), "types.ts", "types")
    files = emit.generate([schema], emit.Options())
    check_shape(files, {d.name for d in schema.declarations})
    check_runs(files, tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "export interface A { a: " + "{ b: " * 10_000 + "string" + " }" * 10_000 + " }",
        "export type A = " + "(" * 10_000 + "string" + ")" * 10_000 + ";",
        "export type A = A;",
        "export type A = B; export type B = A | string;",
        "export interface A extends A { a: string }",
        "export type A<T> = { a: A<A<T>> }; export interface B { a: A<string> }",
    ],
    ids=["braces", "parentheses", "itself", "each other", "extends itself", "growing generic"],
)
def test_depth_and_recursion_are_refused_clearly(text: str) -> None:
    with pytest.raises(BindgenError) as caught:
        load(text.encode(), "deep.ts", "deep")
    assert str(caught.value).startswith("deep.ts:1:")
    assert str(caught.value).isprintable() or "\n" in str(caught.value)


def test_a_comment_of_ten_megabytes_is_read() -> None:
    text = f"/** {'word ' * 2_000_000} */ export interface A {{ a: string }}"
    schema = load(text.encode(), "long.ts", "long")
    assert len(schema.structs["A"].doc) > 9_000_000
