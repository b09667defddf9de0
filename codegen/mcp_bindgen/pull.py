"""Brings an official schema file into the project: its declarations, our sentences, its pin.

Official prose is read and never kept. The written file must have the structure digest of the
official one.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from mcp_bindgen import pins
from mcp_bindgen.emit import tree
from mcp_bindgen.errors import InputError
from mcp_bindgen.ir.decisions import edits
from mcp_bindgen.ir.lower.facts import digest as structure_digest
from mcp_bindgen.ir.lower.facts import structure
from mcp_bindgen.ir.resolve.resolver import Resolver
from mcp_bindgen.source import Source, link, read, syntax
from mcp_bindgen.source.rewrite import Prose, Sentence, paths_of_nodes, rewrite, sentences

__all__ = [
    "COMMENTS",
    "Pulled",
    "comments",
    "extended",
    "pull",
    "remove",
]

COMMENTS: Final = "comments.json"
"""Beside each schema.ts: a digest of the official comment at each path, never its text."""

_DIGESTS: Final = ("git_blob", "sha256", "structure")
_COMMIT: Final = re.compile(r"[0-9a-f]{40}\Z")
_NOTHING: Final = Sentence("", "")


@dataclass(frozen=True, slots=True)
class Pulled:
    """The outcome for a revision: `status` is new, unchanged, prose or changed.

    `prose`: the official comments changed, the facts did not. `differs` names each declaration (or
    `methods`) with changed facts, after `+`, `-` or `~`. `unsaid` are the places, with their paths,
    which need a sentence of ours, since the official comment is new or changed. `digests` are the
    changed rows of the pin.
    """

    revision: str
    status: str
    pin: pins.Pin
    differs: tuple[str, ...]
    written: tuple[str, ...]
    unsaid: tuple[str, ...]
    digests: tuple[str, ...] = ()


def extended(extension: str, version: str, folder: Path) -> tuple[str, pins.Pin]:
    """The `name@version` to pull, and a pin with the extension's repository, core and imports.

    The version may be omitted if only one is pinned. Raises InputError.
    """
    if not version:
        name = pins.find_extension(extension, folder)
        return name, pins.extensions(folder)[name]
    known = pins.extensions(folder)
    mine = [name for name in known if name.partition("@")[0] == extension.partition("@")[0]]
    if not mine:
        raise InputError(
            f"no extension is called {extension!r}",
            remedy=f"Known extensions: {', '.join(known) or 'none'}. Pin another by a table of its"
            " own in schema/ext/PINS.toml, with repository, path, core and modules.",
        )
    name = f"{extension.partition('@')[0]}@{version}"
    return name, known[name if name in known else mine[-1]]


def pull(
    revision: str, data: bytes, folder: Path, commit: str = "", like: pins.Pin | None = None
) -> Pulled:
    """Write the schema.ts of `revision`, and its pin, from the official text `data`.

    For an extension, `name@version`, repository, core and imports come from the pin `like`. Raises
    InputError, SchemaError, or OutputError.
    """
    pins.require_name(revision)
    if commit and not _COMMIT.match(commit):
        raise InputError(f"{commit!r} is not a commit", remedy="Give all 40 digits of its hash.")
    table, known = _table(folder, revision)
    where = f"schema/{pins.place(revision)}"
    imports = pins.imported(like.modules) if like else {}
    official = _resolve(data, f"official {where}", imports)
    _require_revision(official, revision)
    said = comments(read(data, where))
    sentences = _Sentences(folder, revision, said)
    text = _write(Source(data, f"official {where}"), official, sentences, where, imports)
    kept = {path: sentences.known.get(path, digest) for path, digest in said.items()}
    said = {path: digest for path, digest in kept.items() if digest}
    old = known.get(revision)
    structure = structure_digest(official)
    pin = pins.official(data, path=where, commit=commit, structure=structure)
    if like:
        pin = replace(
            pin, repository=like.repository, path=like.path, core=like.core, modules=like.modules
        )
    digests = tuple(row for row in _DIGESTS if old and getattr(old, row) != getattr(pin, row))
    if old and not commit and (old.sha256 == pin.sha256 or _is_the_same(old, pin)):
        pin = old
    place = pins.place(revision)
    files = {
        place: text,
        place.replace("schema.ts", COMMENTS): json.dumps(said, indent=1) + "\n",
        table: pins.render({**known, revision: pin}, table),
    }
    differs = tuple(_differences(folder, revision, official, imports)) if old else ()
    written = tuple(tree.write(folder, files, force=True, within=()))
    unsaid = tuple(_places(text, where, sentences.unsaid))
    status = _status(old, pin, differs)
    return Pulled(revision, status, pin, differs, written, unsaid, digests)


def _table(folder: Path, revision: str) -> tuple[str, dict[str, pins.Pin]]:
    """The PINS.toml for a revision or `name@version`, and its tables."""
    if "@" in revision:
        return pins.EXTENSIONS, pins.extensions(folder)
    return pins.CORE, pins.pins(folder)


def _is_the_same(old: pins.Pin, new: pins.Pin) -> bool:
    """Return whether a pin without checksums matches the file by its facts alone."""
    return not old.sha256 and old.structure == new.structure


def remove(revision: str, folder: Path) -> tuple[str, ...]:
    """Take a revision out: its folder, its pin, its rows. Raises InputError or DecisionError."""
    table, known = _table(folder, revision)
    if revision not in known:
        kind = "version" if "@" in revision else "revision"
        raise InputError(
            f"no {kind} is called {revision!r}", remedy=f"Known {kind}s: {', '.join(known)}."
        )
    kept = {name: pin for name, pin in known.items() if name != revision}
    files = {table: pins.render(kept, table)}
    rows = table.replace("PINS.toml", "decisions.toml")
    if (folder / rows).exists():
        files[rows] = edits.without(pins.read_text(folder / rows), revision)
    written = tree.write(folder, files, force=True, within=())
    place = folder / pins.place(revision)
    for name in (place.name, COMMENTS):
        place.with_name(name).unlink(missing_ok=True)
    for parent in (place.parent, place.parents[1]):
        if parent != folder and not any(parent.iterdir()):
            parent.rmdir()
    return (*written, pins.place(revision))


def _require_revision(official: Resolver, revision: str) -> None:
    """Raise InputError for a file without declarations, or of another revision."""
    if not official.declared:
        raise InputError(
            "the official file has no declarations", remedy="Look at the file; nothing was written."
        )
    const = official.declared.get("LATEST_PROTOCOL_VERSION")
    value = const.value if isinstance(const, syntax.Const) else None
    name = value.value if isinstance(value, syntax.Literal) else None
    if name is not None and name != revision.rpartition("@")[2]:
        raise InputError(
            f"the official file is of revision {name}, not {revision}",
            remedy=f"Pull it as what it is: mcp-bindgen pull {name}.",
        )


def _status(old: pins.Pin | None, new: pins.Pin, differs: tuple[str, ...]) -> str:
    if old is None:
        return "new"
    if old.structure != new.structure or differs:
        return "changed"
    return "unchanged" if old.sha256 == new.sha256 else "prose"


def _resolve(data: bytes, path: str, imports: Mapping[str, Source]) -> Resolver:
    return Resolver(*link(Source(data, path), imports))


def _write(
    source: Source, official: Resolver, prose: Prose, where: str, imports: Mapping[str, Source]
) -> str:
    text = rewrite(source, read(source.data, source.path), prose)
    if structure_digest(_resolve(text.encode(), where, imports)) != structure_digest(official):
        raise InputError(
            f"{where}: its facts would change when our sentences are set in",
            remedy="This is a fault of mcp-bindgen; keep the file and report it.",
        )
    return text


def comments(module: syntax.Module) -> dict[str, str]:
    """A digest of the official comment at each path, by which a change of its meaning is seen."""
    said = sentences(module).items()
    return {path: _comment_digest(sentence) for path, sentence in said if any(sentence)}


def _comment_digest(sentence: Sentence) -> str:
    return hashlib.sha256(" ".join(sentence).encode()).hexdigest()[:12]


class _Sentences:
    """Our sentence for each path: from the revision's own file, else from the newest with the path.

    A sentence of another revision is used only if the official comment is the same or missing;
    otherwise the path goes to `unsaid`. An official comment equal to our sentence, as in a copy of
    our file, is kept. `known` maps each path to the digest of the official comment behind our
    sentence, empty for none.
    """

    def __init__(self, folder: Path, revision: str, comments: Mapping[str, str]) -> None:
        self.unsaid: list[str] = []
        self.known: dict[str, str] = {}
        self._comments = comments
        self._tables = list(_tables(folder, revision))

    def __call__(self, path: str) -> Sentence:
        comment = self._comments.get(path)
        for is_own, table, known in self._tables:
            if path in table:
                if comment is not None and comment == _comment_digest(table[path]):
                    self.known |= {path: known.get(path, "")} if known else {}
                    return table[path]
                if comment is not None and known.get(path, "" if known else comment) != comment:
                    self.unsaid.append(path)
                    return table[path] if is_own else _NOTHING
                return table[path]
        if comment is not None:
            self.unsaid.append(path)
        return _NOTHING


def _tables(
    folder: Path, revision: str
) -> Iterator[tuple[bool, Mapping[str, Sentence], Mapping[str, str]]]:
    """For each schema file of ours: whether it is of this revision, its sentences, and the digests
    of its comments.

    A path without a sentence is a decision too.
    """
    version = revision.rpartition("@")[2]
    siblings = (folder / pins.place(revision)).parents[1].glob("*/schema.ts")
    for path in sorted(sorted(siblings, reverse=True), key=lambda p: p.parent.name != version):
        name = path.parent.name
        module = read(pins.read_bytes(path), f"schema/{path.relative_to(folder).as_posix()}")
        digests = path.with_name(COMMENTS)
        known: dict[str, str] = json.loads(pins.read_text(digests)) if digests.exists() else {}
        said = {
            at: Sentence(node.doc.description, node.doc.deprecated or "") if node.doc else _NOTHING
            for at, node in paths_of_nodes(module)
        }
        yield name == version, said, known


def _places(text: str, where: str, paths: list[str]) -> Iterator[str]:
    """`FILE:LINE: PATH` for each path."""
    data = text.encode()
    nodes = dict(paths_of_nodes(read(data, where)))
    for path in paths:
        line = data.count(b"\n", 0, nodes[path].at) + 1
        yield f"{where}:{line}: {path}"


def _differences(
    folder: Path, revision: str, official: Resolver, imports: Mapping[str, Source]
) -> Iterator[str]:
    place = pins.place(revision)
    path = folder / place
    if not path.exists():
        return
    ours = structure(_resolve(pins.read_bytes(path), f"schema/{place}", imports))
    theirs = structure(official)
    old, new = ({d["name"]: d for d in facts["declarations"]} for facts in (ours, theirs))
    yield from (f"- {name}" for name in old if name not in new)
    for name, declaration in new.items():
        if name not in old:
            yield f"+ {name}"
        elif old[name] != declaration:
            yield f"~ {name}"
    if ours["methods"] != theirs["methods"]:
        yield "~ methods"
    if ours != theirs and [n for n in old if n in new] != [n for n in new if n in old]:
        yield "~ order"
