"""Measure the wording of docstrings, function names and pages: `python -m tests.wording`.

Without arguments: print the figures of each room and page, and exit with status 1 if one exceeds
its limit. With names of installed packages: print their figures, to compare with ours.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

from tests.support.verbs import VERBS

__all__ = [
    "LIMITS",
    "NO_CODE",
    "PAGE_LIMITS",
    "REFERENCES",
    "Figures",
    "Page",
    "figures",
    "has_effect",
    "is_participle",
    "main",
    "page",
    "page_problems",
    "pages",
    "problems",
    "rooms",
]

PACKAGES: Final = ("codegen/mcp_bindgen", "runtime/mcp_runtime")
DIVIDED: Final = frozenset({"auth", "client", "extensions", "server"})
"""Folders of a package whose inner folders count as rooms of their own."""

GENERATED_PAGES: Final = re.compile(r"CHANGES-.*|CONVERSION|COMPATIBILITY|CLI|DIFF-JSON")


class Figures(NamedTuple):
    """`what` and `that` per 1 000 words of docstrings, participles per 100 function names, and
    docstrings of functions with effects that do not begin with a verb, per 100."""

    what: float
    that: float
    participles: float
    no_verb: float


class Page(NamedTuple):
    """`what` and `you` per 1 000 words of a page, code left out.

    `tables` is the share of words inside tables, in per cent; `snippet` the words for each fenced
    block, on a reference page without those inside tables.
    """

    what: float
    you: float
    tables: float = 0.0
    snippet: float = 0.0


LIMITS: Final = Figures(what=4, that=14, participles=4, no_verb=0)
PAGE_LIMITS: Final = Page(what=4, you=5, tables=15, snippet=170)
REFERENCES: Final[Mapping[str, str]] = {
    "docs/ARCHITECTURE.md": "the laws with their tests, and the code map",
    "docs/CONFORMANCE.md": "a row for each command of an auditor",
    "docs/FROM-MCP.md": "a row for each name of the official SDK",
    "docs/LIMITS.md": "a row for each limit",
    "docs/THREATS.md": "a row for each threat, with its tests",
}
"""Pages that are looked up, where a table is the form that helps, and its rows."""
NO_CODE: Final[Mapping[str, str]] = {
    "docs/index.md": "a list of links",
}
"""Pages on which a snippet for each 170 words would show nothing."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WORD: Final = re.compile(r"[A-Za-z][A-Za-z']*")
_CODE: Final = re.compile(r"``?[^`]*``?|^ *(?:>>>|\.\.\.) .*$|^    \S.*$|\bhttps?://\S+", re.M)
_FENCED: Final = re.compile(r"^```.*?^```|<!--.*?-->|`[^`]*`|\]\([^)]*\)|<[^>]*>", re.M | re.S)
_UNSEEN: Final = re.compile(r"^```.*?^```|<!--.*?-->|\]\([^)]*\)|<[^>]*>", re.M | re.S)
_OPENS: Final = re.compile(r"^```\w", re.M)
_IRREGULAR: Final = _words(
    """
    begun bound broken brought built chosen done drawn driven dropt fallen felt forgotten found
    given gone grown heard held hidden kept known laid led left lent lost made meant met paid said
    seen sent shown sold spelt spent spoken stood sunk taken taught thought thrown told understood
    woken won worn wound written
    """
)
_NO_PARTICIPLE: Final = _words("bed embed exceed feed need red seed shed speed succeed")
_PREPOSITIONS: Final = _words("as at by for from in into of on out over to up with")
_ASKS: Final = _words("are can has have is may must needs should was")
_MUTATORS: Final = _words(
    """
    add append appendleft clear close discard extend insert pop popleft put put_nowait remove send
    set set_result update write
    """
)
_PURE: Final = frozenset({"property", "cached_property", "overload", "abstractmethod"})

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(slots=True)
class _Counts:
    words: int = 0
    what: int = 0
    that: int = 0
    names: int = 0
    participles: int = 0
    effects: int = 0
    no_verb: int = 0


# ---- docstrings and names


def figures(texts: Iterable[str]) -> Figures:
    """Measure modules by their texts."""
    sums = _Counts()
    for text in texts:
        _count(ast.parse(text), sums)
    return Figures(
        _per(1000, sums.what, sums.words),
        _per(1000, sums.that, sums.words),
        _per(100, sums.participles, sums.names),
        _per(100, sums.no_verb, sums.effects),
    )


def _per(unit: int, count: int, whole: int) -> float:
    return round(unit * count / whole, 1) if whole else 0.0


def _count(tree: ast.Module, sums: _Counts) -> None:
    for text in docstrings(tree):
        words = [word.lower() for word in _WORD.findall(_CODE.sub(" ", text))]
        sums.words += len(words)
        sums.what += words.count("what")
        sums.that += words.count("that")
    for function in _functions(tree):
        sums.names += 1
        sums.participles += is_participle(function.name)
        if (word := effect_word(function)) is not None:
            sums.effects += 1
            sums.no_verb += word not in VERBS


def docstrings(tree: ast.AST) -> Iterator[str]:
    """Yield each string that stands alone: docstrings, and the texts below constants and fields."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else ():
            match statement:
                case ast.Expr(value=ast.Constant(value=str() as text)):
                    yield text
                case _:
                    pass


def _functions(tree: ast.AST) -> Iterator[Function]:
    return (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))


def is_participle(name: str) -> bool:
    """Is a function named by a participle: `kept`, `joined_with`?

    A question (`is_kept`) or a verb before it (`read_tagged`) makes it none.
    """
    words = [word for word in name.lower().split("_") if word]
    if not words or words[0] in _ASKS or name.startswith("__"):
        return False
    if len(words) > 1 and words[0] in VERBS:
        return False
    while len(words) > 1 and words[-1] in _PREPOSITIONS:
        words.pop()
    head = words[-1]
    return head in _IRREGULAR or (head.endswith("ed") and head not in _NO_PARTICIPLE)


def effect_word(function: Function) -> str | None:
    """Return the first word of the docstring of a function with effects, in lower case.

    None if the function has no docstring or no effect.
    """
    text = ast.get_docstring(function)
    if not text or not has_effect(function):
        return None
    first = re.match(r"[^\w]*([\w'-]+)", text)
    return first[1].lower() if first else ""


def has_effect(function: Function) -> bool:
    """Does a function do something beside returning a value?

    It does if it returns None by its annotation, or sets, deletes or mutates a member of `self`.
    Special methods, properties, abstract methods and nested functions do not count.
    """
    decorators = {_last_name(each) for each in function.decorator_list}
    if function.name.startswith("__") or decorators & _PURE or "setter" in decorators:
        return False
    returns = function.returns
    if isinstance(returns, ast.Constant) and returns.value is None:
        return not _is_stub(function)
    return any(_mutates(node) for node in ast.walk(function))


def _is_stub(function: Function) -> bool:
    last = function.body[-1]
    return isinstance(last, ast.Expr) and isinstance(last.value, ast.Constant)


def _last_name(node: ast.expr) -> str:
    match node:
        case ast.Call(func=func):
            return _last_name(func)
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
        case _:
            return ""


def _mutates(node: ast.AST) -> bool:
    match node:
        case ast.Assign(targets=targets) | ast.Delete(targets=targets):
            return any(map(_is_of_self, targets))
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
            return _is_of_self(target)
        case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in _MUTATORS:
            return _is_of_self(value)
        case _:
            return False


def _is_of_self(node: ast.AST) -> bool:
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            return node.value.id == "self"
        node = node.value
    return False


# ---- rooms and pages


def rooms(package: Path) -> dict[str, list[Path]]:
    """Group the modules of a package by room: a folder, or `.` for modules beside the folders."""
    grouped: dict[str, list[Path]] = {}
    for path in sorted(package.rglob("*.py")):
        folders = path.relative_to(package).parts[:-1]
        depth = 2 if folders and folders[0] in DIVIDED else 1
        grouped.setdefault("/".join(folders[:depth]) or ".", []).append(path)
    return grouped


def page(text: str, *, reference: bool = False) -> Page:
    """Measure a page of Markdown. Of a reference, `you` and snippets are counted outside tables."""
    words = _words_of(_FENCED.sub(" ", text))
    shown = [line for line in _UNSEEN.sub(" ", text).splitlines() if line.strip()]
    prose = [line for line in shown if not line.startswith("|")]
    whole, outside = _words_of("\n".join(shown)), _words_of("\n".join(prose))
    read = _words_of(_FENCED.sub(" ", "\n".join(prose))) if reference else words
    return Page(
        _per(1000, words.count("what"), len(words)),
        _per(1000, sum(map(read.count, ("you", "your", "yours", "you're"))), len(read)),
        _per(100, len(whole) - len(outside), len(whole)),
        round(len(outside if reference else whole) / max(len(_OPENS.findall(text)), 1), 1),
    )


def _words_of(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def pages(root: Path) -> dict[str, Page]:
    """Measure README and the pages of docs/ that are written by hand."""
    by_hand = [
        path
        for path in sorted((root / "docs").glob("*.md"))
        if not GENERATED_PAGES.match(path.stem)
    ]
    named = {str(path.relative_to(root)): path for path in (root / "README.md", *by_hand)}
    return {
        name: page(path.read_text("utf-8"), reference=name in REFERENCES)
        for name, path in named.items()
    }


def room_figures(root: Path) -> dict[str, Figures]:
    """Measure each room of both packages."""
    return {
        f"{Path(package).name}/{room}": figures(path.read_text("utf-8") for path in paths)
        for package in PACKAGES
        for room, paths in rooms(root / package).items()
    }


def problems(measured: Mapping[str, Figures], limits: Figures = LIMITS) -> Iterator[str]:
    """Yield a sentence for each figure above its limit."""
    for place, own in measured.items():
        for name, figure, limit in zip(Figures._fields, own, limits, strict=True):
            if figure > limit:
                yield f"{place}: {name} is {figure}, above {limit}"


def page_problems(measured: Mapping[str, Page]) -> Iterator[str]:
    """Yield a sentence for each figure of a page beyond its limit."""
    for place, own in measured.items():
        for name, figure, most in zip(Page._fields, own, PAGE_LIMITS, strict=True):
            if name != "you" and figure > most and not _is_free(place, name):
                yield f"{place}: {name} is {figure}, above {most}"
        if own.you < PAGE_LIMITS.you:
            yield f"{place}: you is {own.you}, below {PAGE_LIMITS.you}"


def _is_free(place: str, figure: str) -> bool:
    return place in {"tables": REFERENCES, "snippet": NO_CODE}.get(figure, {})


# ---- the command


def main(arguments: list[str]) -> int:
    """Print the figures of our rooms, or of the packages named in `arguments`."""
    if arguments:
        _show({name: _installed(name) for name in arguments})
        return 0
    root = Path(__file__).resolve().parents[1]
    measured, read = room_figures(root), pages(root)
    _show(measured)
    print()
    for place, own in read.items():
        figures = "  ".join(f"{n} {figure:6}" for n, figure in zip(Page._fields, own, strict=True))
        print(f"{place:34} {figures}")
    said = [*problems(measured), *page_problems(read)]
    for sentence in said:
        print(f"wording: {sentence}")
    return 1 if said else 0


def _show(measured: Mapping[str, Figures]) -> None:
    print(f"{'':34} " + "  ".join(f"{name:>11}" for name in Figures._fields))
    for place, own in measured.items():
        print(f"{place:34} " + "  ".join(f"{figure:11}" for figure in own))


def _installed(name: str) -> Figures:
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"{name} is not installed here")
    paths = sorted(Path(spec.submodule_search_locations[0]).rglob("*.py"))
    return figures(path.read_text("utf-8") for path in paths)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
