"""Rewrites an official schema file: same declarations and machine tags, comments of our own.

Official prose stays outside the project. The sentences we already have for a declaration or member
are inserted in its place.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, TypeAlias

import mcp_bindgen.source.syntax as syntax
from mcp_bindgen.source.text import Source

__all__ = ["PROSE_TAGS", "Prose", "Sentence", "paths_of_nodes", "rewrite", "sentences"]

PROSE_TAGS: Final = frozenset(
    {"description", "example", "link", "param", "remarks", "returns", "see"}
)
"""Tags for prose; all other tags are facts and are kept."""

_WIDTH: Final = 96
_BLANKS: Final = re.compile(r"\n{3,}")
_OPENED: Final = re.compile(r"\{\n\n")
_CLOSE: Final = re.compile(r"(?<=[^\n{])\n(?=[ \t]*/\*\*)")
_TRAILING: Final = re.compile(r"[ \t]+$", re.MULTILINE)


class Sentence(NamedTuple):
    """Our sentence for a path and its deprecation; empty if there is none."""

    prose: str
    deprecated: str


Prose: TypeAlias = Callable[[str], Sentence]
"""The sentence of a path (`Tool.inputSchema`, `A.b.c`)."""

_Documented: TypeAlias = syntax.Declaration | syntax.Member


def paths_of_nodes(module: syntax.Module) -> Iterator[tuple[str, _Documented]]:
    """Each declaration and member with its path: wire names, nested by dots, in source order."""
    for declaration in module.declarations:
        yield declaration.name, declaration
        if isinstance(declaration, syntax.Interface):
            for member in declaration.members:
                yield from _member(declaration.name, member)
        elif isinstance(declaration, syntax.Alias):
            yield from _inside(declaration.name, declaration.type)


def _member(owner: str, member: syntax.Member) -> Iterator[tuple[str, _Documented]]:
    path = f"{owner}.{member.name}"
    yield path, member
    yield from _inside(path, member.type)


def _inside(path: str, type: syntax.Type) -> Iterator[tuple[str, _Documented]]:
    match type:
        case syntax.Inline():
            for member in type.members:
                yield from _member(path, member)
            for index in type.index:
                yield from _inside(path, index.type)
        case syntax.Array():
            yield from _inside(path, type.of)
        case syntax.Union() | syntax.Intersection():
            for part in type.of:
                yield from _inside(path, part)
        case syntax.Ref():
            for arg in type.args:
                yield from _inside(path, arg)
        case syntax.Tuple():
            for element in type.of:
                yield from _inside(path, element.of)
        case _:
            return


def sentences(module: syntax.Module) -> dict[str, Sentence]:
    """The sentences in one of our own files, by path."""
    return {
        path: Sentence(node.doc.description, node.doc.deprecated or "")
        for path, node in paths_of_nodes(module)
        if node.doc is not None
    }


def rewrite(source: Source, module: syntax.Module, prose: Prose) -> str:
    """The text of `module` with its comments removed and our doc comments inserted.

    Rewriting a file of ours with its own sentences changes nothing.
    """
    cuts = [(*_whole(source.data, start, end), "") for end, start in source.comments.items()]
    for path, node in paths_of_nodes(module):
        comment = _comment(source, node, prose(path))
        if comment:
            cuts.append((node.at, node.at, comment))
    text: list[str] = []
    position = 0
    for start, end, new in sorted(cuts):
        text += [source.slice(position, start), new]
        position = end
    text.append(source.slice(position, len(source.data)))
    tidy = _BLANKS.sub("\n\n", _TRAILING.sub("", "".join(text)))
    return _CLOSE.sub("\n\n", _OPENED.sub("{\n", tidy)).strip("\n") + "\n"


def _whole(data: bytes, start: int, end: int) -> tuple[int, int]:
    """A comment with the rest of its lines, where it has them to itself."""
    line = data.rfind(b"\n", 0, start) + 1
    if data[line:start].strip(b" \t"):
        return start, end
    after = end
    while data[after : after + 1] in (b" ", b"\t"):
        after += 1
    return (line, after + 1) if data[after : after + 1] == b"\n" else (start, after)


def _wrapped(text: str, indent: str) -> list[str]:
    """Lines that are broken at spaces alone, since their reader joins them by spaces."""
    width = _WIDTH - len(indent)
    return textwrap.wrap(text, width, break_on_hyphens=False, break_long_words=False)


def _comment(source: Source, node: _Documented, sentence: Sentence) -> str:
    tags = [
        f"@{tag.name} {sentence.deprecated if tag.name == 'deprecated' else tag.rest}".rstrip()
        for tag in (node.doc.tags if node.doc else ())
        if tag.name not in PROSE_TAGS
    ]
    line_start = source.data.rfind(b"\n", 0, node.at) + 1
    before = source.slice(line_start, node.at)
    own = not before.strip()
    indent = before if own else before[: -len(before.lstrip())] + "  "
    # After code on its line a comment would belong to that code.
    start = "" if own else f"\n{indent}"
    lines = [line for text in (sentence.prose, *tags) for line in _wrapped(text, indent)]
    if not lines:
        return ""
    if len(lines) == 1 and len(lines[0]) + len(indent) + 7 <= _WIDTH:
        return f"{start}/** {lines[0]} */\n{indent}"
    body = "".join(f"{indent} * {line}\n" for line in lines)
    return f"{start}/**\n{body}{indent} */\n{indent}"
