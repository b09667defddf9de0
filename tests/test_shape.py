"""Functions are short, names say what they hold, and the tests mirror the rooms."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Final

import pytest

from tests.shape import ACCEPTED, FOLDERS, functions, long_places, sources
from tests.support.portable import PORTABLE

pytestmark = pytest.mark.sources

MEDIAN: Final = 8
LONGEST: Final = 60
ROOTS: Final = ("codegen", "runtime")
SAYS_NOTHING: Final = frozenset({"found", "heed", "take", "told"})
"""Names that say what was done to a value, and not what it is."""
_MAY_BIND: Final = re.compile(rf"\b(?:{'|'.join(sorted(SAYS_NOTHING))})\b")
"""A text without such a word is not parsed."""


def vague_names(text: str) -> Iterator[str]:
    """Locals, parameters and functions with such a name; a method or a field may have one.

    So may a parameter beside `expected`: an error says what was expected and what was found.
    """
    if not _MAY_BIND.search(text):
        return
    tree = ast.parse(text)
    fields = {id(node) for cls in ast.walk(tree) for node in _fields(cls)}
    for node in ast.walk(tree):
        if id(node) not in fields:
            yield from sorted(_bound(node) & SAYS_NOTHING)


def _fields(node: ast.AST) -> Iterator[ast.AST]:
    for statement in node.body if isinstance(node, ast.ClassDef) else ():
        yield statement
        yield from getattr(statement, "targets", ())
        yield getattr(statement, "target", statement)


def _bound(node: ast.AST) -> set[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Store()):
            return {name}
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return {name}
        case ast.arguments():
            every = (*node.posonlyargs, *node.args, node.vararg, *node.kwonlyargs, node.kwarg)
            names = {arg.arg for arg in every if arg is not None}
            return names - {"found"} if "expected" in names else names
        case _:
            return set()


@pytest.mark.parametrize("source_root", ROOTS)
def test_functions_are_short(root: Path, source_root: str) -> None:
    sizes = [
        (size, f"{path}: {name}")
        for path, text in sources(root, source_root).items()
        for name, size in functions(text)
    ]
    assert len(sizes) > 1000
    assert median(size for size, _ in sizes) <= MEDIAN
    assert [where for size, where in sizes if size > LONGEST] == []


def test_a_long_place_is_named_until_it_is_accepted(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n" * 401, "utf-8")
    (tmp_path / "b.py").write_text("def f():\n" + "    g()\n" * 36, "utf-8")
    assert [*long_places(tmp_path, ["."])] == [
        ("a.py", "401 lines"),
        ("b.py: f", "36 lines"),
    ]


def test_each_accepted_place_is_long_and_has_a_reason(root: Path) -> None:
    long = dict(long_places(root, FOLDERS))
    assert {place for place in ACCEPTED if place not in long} == set()
    assert all(len(reason.split()) > 3 for reason in ACCEPTED.values())


def test_signatures_and_docstrings_are_not_counted() -> None:
    text = 'def f():\n    """One.\n\n    Two.\n    """\n    return 1\n\nasync def g(): ...\n'
    assert dict(functions(text)) == {"f": 1, "g": 1}


@pytest.mark.parametrize("folder", ["bench", "codegen", "docs", "examples", "runtime", "tests"])
def test_names_say_what_they_hold(root: Path, folder: str) -> None:
    vague = {path: [*vague_names(text)] for path, text in sources(root, folder).items()}
    assert vague
    assert {path: names for path, names in vague.items() if names} == {}


def test_a_name_that_says_nothing_is_seen_wherever_it_is_bound() -> None:
    for text in (
        "found = 1",
        "(a, told), b = c",
        "[heed for heed in x]",
        "def f():\n    with a as found: pass",
        "async def take(): ...",
        "def f(a, *, told=None): ...",
        "def f(*found): ...",
        "lambda told: told",
        "if (found := f()): ...",
        "class A:\n    def f(self):\n        def take(): ...",
    ):
        assert len([*vague_names(text)]) == 1, text
    for text in (
        "class A:\n    found: str\n    take = 1\n    def told(self): ...",
        "def f(path, expected, found): ...",
        "a.found = 1",
        "findings = found",
    ):
        assert [*vague_names(text)] == [], text


def rooms(package: Path) -> set[str]:
    folders = {path.parent.relative_to(package) for path in package.rglob("*.py")}
    return {str(folder) for folder in folders} - {"."}


def test_the_tests_mirror_the_rooms(root: Path) -> None:
    tested, runtime = rooms(root / "tests" / "runtime"), rooms(root / "runtime" / "mcp_runtime")
    assert tested - {"attacks"} <= runtime  # hostile peers meet the whole runtime
    assert {room for room in runtime if "/" not in room} <= tested
    bindgen = {room.partition("/")[0] for room in rooms(root / "codegen" / "mcp_bindgen")}
    assert bindgen - rooms(root / "tests") == {"pins"}


def test_the_page_says_what_is_in_every_folder(root: Path) -> None:
    page = (root / "tests" / "README.md").read_text("utf-8")
    folders = {room.partition("/")[0] for room in rooms(root / "tests")}
    assert sorted(re.findall(r"`([a-z]+)/`", page)) == sorted(folders | {"corpus"})


def test_each_place_that_depends_on_python_is_there(root: Path) -> None:
    assert [place for place in PORTABLE if not (root / "tests" / place).exists()] == []


NO_CLAIM: Final = re.compile(
    r"^ *(?:async )?def (test_(?:row|case|issue)_\d+\w*|test_(?:it|it_works|basic|simple))\(", re.M
)


def test_a_test_s_name_is_a_claim_and_no_number(root: Path) -> None:
    texts = sources(root, "tests")
    assert [name for text in texts.values() for name in NO_CLAIM.findall(text)] == []
    assert NO_CLAIM.findall("def test_row_22_call(): ...") == ["test_row_22_call"]
