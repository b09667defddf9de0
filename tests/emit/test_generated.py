"""Generated code: laid out as black would, honest about Any, named by rule, the same every time."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest

from mcp_bindgen import emit, pins
from mcp_bindgen.ir.lower.lower import load
from mcp_bindgen.ir.model import JSON_PRIMS, Arr, Bounded, Map, Prim, Ref, Schema, Struct, Type, Uni
from tests.support.schemas import pinned

REVISIONS: Final = pins.revisions()
FILES: Final = sorted((Path(__file__).parents[2] / "generated" / "mcp_wire").rglob("*.py"))


ALONE: Final = b"""
export interface Alone {
  pair: [string];
  choice: ["a"] | ["b", number?];
  rest: [Alone, ...string[]];
  open: [Alone | string | null];
  word: 1 | "a" | true;
}
"""


@pytest.mark.wide
def test_black_finds_nothing_to_change_in_tuples_of_one_item(tmp_path: Path) -> None:
    for path, text in emit.generate([load(ALONE, "a.ts", "a")], emit.Options()).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, "utf-8")
    black = [sys.executable, "-m", "black", "--check", "--diff", "--target-version", "py311"]
    result = subprocess.run([*black, tmp_path], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout


# ---- imports


def idle_imports(text: str) -> list[str]:
    """What a module imports and never names; its annotations may be strings."""
    tree = ast.parse(text)
    named = set(_names(tree))
    imported = [
        alias.asname or alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module != "__future__"
        for alias in node.names
    ]
    return [name for name in imported if name not in named]


def _names(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            with suppress(SyntaxError, ValueError):
                yield from _names(ast.parse(node.value, mode="eval"))


@pytest.mark.wide
def test_generated_modules_name_all_that_they_import() -> None:
    for file in FILES:
        assert not idle_imports(file.read_text("utf-8")), file


WORDS: Final = b"""
/** Any, ClassVar, Field, Mapping, Literal, With[Meta], Discriminator, ORDERED, Maybe, cast. */
export interface Words {
  /** Number, EMPTY, Late, Rest, Open, Checked[T], ConfigDict, deprecated, is_number. */
  text: string;
}
"""


@pytest.mark.parametrize("unknown", ["keep", "reject"])
def test_words_of_a_comment_import_nothing(unknown: str) -> None:
    files = emit.generate([load(WORDS, "a.ts", "a")], emit.Options(unknown=unknown))
    for path, text in files.items():
        assert not idle_imports(text), path


# ---- Any


def any_classes(tree: ast.Module) -> Iterator[tuple[str, str, str]]:
    """Class, member and annotation, of members that have Any (or Value, its pydantic form)."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            for line in node.body:
                if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
                    text = ast.unparse(line.annotation)
                    if re.search(r"\b(Any|Value)\b", text) and line.target.id != "extra_":
                        yield node.name, line.target.id, text


def unknown(schema: Schema, type: Type) -> bool:
    """Whether unknown, any, object or JSON is written in a type, its aliases not followed."""
    match type:
        case Prim():
            return type.name in JSON_PRIMS or type.name == "object"
        case Arr() | Map() | Bounded():
            return unknown(schema, type.of)
        case Uni():
            return any(unknown(schema, arm) for arm in type.arms)
        case _:
            return False


@pytest.mark.drawn
@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("flavour", emit.FLAVOURS)
def test_every_any_of_a_member_stands_for_unknown_any_object_or_json(
    revision: str, flavour: str
) -> None:
    schema = pinned(revision)
    text = emit.generate([schema], emit.Options(flavours=(flavour,)))
    tree = ast.parse(text[f"{emit.package(revision)}/models_{flavour}.py"])
    members = list(any_classes(tree))
    assert members
    for owner, name, written in members:
        field = next(f for f in schema.structs[owner].fields if f.name == name)
        assert unknown(schema, field.type), f"{owner}.{name}: {written}"


# ---- annotations that pydantic has to compile


@pytest.mark.drawn
@pytest.mark.parametrize("revision", REVISIONS)
def test_an_annotation_is_text_only_where_it_names_what_comes_later(revision: str) -> None:
    schema = pinned(revision)
    path = f"{emit.package(revision)}/models_pydantic.py"
    tree = ast.parse(emit.generate([schema], emit.Options(flavours=("pydantic",)))[path])
    later, texts = set(schema.types), 0
    for node in filter(lambda node: isinstance(node, ast.ClassDef), tree.body):
        assert isinstance(node, ast.ClassDef)
        for text in annotation_texts(node):
            texts += 1
            assert later & set(re.findall(r"\w+", text)), f"{node.name}: {text}"
        later.remove(node.name)
    assert texts


def annotation_texts(node: ast.ClassDef) -> Iterator[str]:
    """The parts of a class's annotations that are text, but for literals and the names of tags."""
    for line in node.body:
        if isinstance(line, ast.AnnAssign):
            plain = re.sub(
                r"Literal\[[^\]]*\]|Discriminator\(.*?\)", "0", ast.unparse(line.annotation)
            )
            for part in ast.walk(ast.parse(plain)):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.value


# ---- no reflection


@pytest.mark.parametrize("name", ["inspect", "get_type_hints", "get_annotations", "eval", "exec"])
def test_codecs_reflect_on_nothing(name: str) -> None:
    for file in FILES:
        shared = file.parent.name == "_wire" and file.name != "signature.py"  # what tools ask for
        if shared or file.name in {"codec.py", "models_dataclass.py"}:
            assert not re.search(rf"\b{name}\b", file.read_text("utf-8")), file


# ---- names


@pytest.mark.parametrize("revision", REVISIONS)
def test_no_name_is_numbered_and_none_collides(revision: str) -> None:
    schema = pinned(revision)
    names = [d.name for d in schema.declarations]
    assert len(names) == len(set(names))
    assert [name for name in names if re.search(r"[0-9]$", name)] == []
    for struct in schema.structs.values():
        fields = [f.name for f in struct.fields]
        assert len(fields) == len(set(fields))


def test_all_lists_what_a_module_makes_public() -> None:
    for file in FILES:
        if file.name.startswith("models_"):
            tree = ast.parse(file.read_text("utf-8"))
            listed = next(n for n in tree.body if isinstance(n, ast.Assign))
            names = set(ast.literal_eval(listed.value))
            made = {n.name for n in tree.body if isinstance(n, ast.ClassDef | ast.FunctionDef)}
            made |= {
                n.target.id
                for n in tree.body
                if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)
            }
            public = {name for name in made if not name.startswith("_")}
            errors = {"DecodeError", "EncodeError"}
            errors |= set() if file.stem == "models_pydantic" else {"MemberError"}
            hooks = {"Checked", "Open"} if file.stem == "models_msgspec" else set[str]()
            assert names == public | {"UNSET", "Unset"} | errors | hooks, file


@pytest.mark.wide
def test_every_struct_is_a_class_and_every_alias_an_assignment() -> None:
    schema = pinned(REVISIONS[-1])
    for name, declaration in schema.types.items():
        excerpt = emit.excerpt(schema, name)
        start = f"class {name}(" if isinstance(declaration, Struct) else f"{name}: TypeAlias"
        assert excerpt.startswith(start)
        assert isinstance(declaration, Struct) or Ref(name)


# ---- determinism

_DIGEST: Final = """
import hashlib, sys
from mcp_bindgen import emit, pins
from mcp_bindgen.ir.lower.lower import load
schemas = [pins.load(revision) for revision in sys.argv[1:]]
files = emit.generate(schemas, emit.Options(), handlers=max(sys.argv[1:]))
text = "".join(f"{path} {files[path]}" for path in sorted(files) if path != "__init__.py")
print(hashlib.sha256(text.encode()).hexdigest())
"""


def digest(*order: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", _DIGEST, *order],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.mark.wide
def test_output_depends_on_no_hash_seed_locale_or_order() -> None:
    first = digest(*REVISIONS, PYTHONHASHSEED="0", LC_ALL="C.UTF-8")
    other = {"PYTHONHASHSEED": "12345", "LC_ALL": "C", "TZ": "Asia/Tokyo"}
    assert first == digest(*reversed(REVISIONS), **other)
