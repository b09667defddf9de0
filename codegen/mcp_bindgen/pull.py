"""Brings an official schema into the project: its declarations, our sentences, its pin.

Official prose is read and never kept. The written files must have the structure digest of the
official ones.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Final

from mcp_bindgen import pins
from mcp_bindgen.emit import tree
from mcp_bindgen.errors import InputError
from mcp_bindgen.ir.decisions import edits
from mcp_bindgen.ir.lower.facts import digest as structure_digest
from mcp_bindgen.ir.lower.facts import structure
from mcp_bindgen.ir.resolve.resolver import Resolver
from mcp_bindgen.source import Source, link, read, read_source, syntax
from mcp_bindgen.source.rewrite import Sentence, paths_of_nodes, rewrite, sentences
from mcp_bindgen.source.siblings import stored_name

__all__ = [
    "COMMENTS",
    "Official",
    "Pulled",
    "comments",
    "extend_pins",
    "pull",
    "remove",
]

COMMENTS: Final = "comments.json"
"""Beside each schema.ts: a digest of the official comment at each path, never its text."""

_DIGESTS: Final = ("git_blob", "sha256", "structure")
_COMMIT: Final = re.compile(r"[0-9a-f]{40}\Z")
_NOTHING: Final = Sentence("", "")
_MAIN: Final = "schema.ts"


@dataclass(frozen=True, slots=True)
class Official:
    """An official file beside the first; `path` leads to it from there, such as `../common.ts`."""

    data: bytes
    path: str


_NO_FILES: Final[Mapping[str, Official]] = {}
_NO_MODULES: Final[Mapping[str, str]] = {}


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


def extend_pins(extension: str, version: str, folder: Path) -> tuple[str, pins.Pin]:
    """The `name@version` of an extension to pull, and its pin: of a new version, made from the
    extension's pin in `folder`. Nothing is written.

    `version` may be empty if one version of the extension is pinned. Raises InputError.
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
    revision: str,
    data: bytes,
    folder: Path,
    commit: str = "",
    like: pins.Pin | None = None,
    modules: Mapping[str, str] = _NO_MODULES,
    beside: Mapping[str, Official] = _NO_FILES,
) -> Pulled:
    """Write the schema.ts of `revision`, and its pin, from the official text `data`.

    Its imports are of pinned `modules`, by specifier, or of files `beside` it, which are written
    and pinned with it. For an extension, `name@version`, repository, core and modules come from the
    pin `like`. Raises InputError, SchemaError, or OutputError.
    """
    pins.require_name(revision)
    if commit and not _COMMIT.match(commit):
        raise InputError(f"{commit!r} is not a commit", remedy="Give all 40 digits of its hash.")
    table, known = _table(folder, revision)
    where = f"schema/{pins.place(revision)}"
    names = _stored_names(beside)
    modules = {**(like.modules if like else {}), **modules, **{s: names[s] for s in beside}}
    files = _sources(where, {_MAIN: data, **{names[s]: file.data for s, file in beside.items()}})
    linking = _Linking(revision, where, modules, frozenset(names.values()))
    official = linking.resolve(files)
    _require_revision(official, revision)
    said = {k: v for file in files.values() for k, v in comments(read_source(file)).items()}
    sentences = _Sentences(folder, revision, said)
    written, unsaid = _rewrite(files, sentences)
    linking.require(official, written)
    old = known.get(revision)
    pin = pins.official(data, path=where, commit=commit, structure=structure_digest(official))
    pin = _with_files(pin, like, names, beside)
    pin = replace(pin, modules=modules)
    digests = tuple(row for row in _DIGESTS if old and getattr(old, row) != getattr(pin, row))
    if old and not commit and (_is_equal(old, pin) or _is_the_same(old, pin)):
        pin = old
    texts = {path.removeprefix("schema/"): text for path, text in written.items()}
    texts[pins.place(revision).replace(_MAIN, COMMENTS)] = sentences.digests()
    texts[table] = pins.render({**known, revision: pin}, table)
    differs = tuple(_differences(folder, revision, official, old)) if old else ()
    changed = tuple(tree.write(folder, texts, force=True, within=()))
    _drop_files(folder / pins.place(revision), old.files if old else {}, pin.files)
    status = _status(old, pin, differs)
    return Pulled(revision, status, pin, differs, changed, unsaid, digests)


def _sources(where: str, texts: Mapping[str, bytes]) -> dict[str, Source]:
    """The official files, by the place of each in the project."""
    places = {where.replace(_MAIN, name): data for name, data in texts.items()}
    return {place: Source(data, f"official {place}") for place, data in places.items()}


def _with_files(
    pin: pins.Pin,
    like: pins.Pin | None,
    names: Mapping[str, str],
    beside: Mapping[str, Official],
) -> pins.Pin:
    """`pin` with the repository of the pin `like`, and the official files beside the first."""
    if like:
        pin = replace(pin, repository=like.repository, path=like.path, core=like.core)
    home = PurePosixPath(pin.path).parent
    files = {
        names[s]: pins.official_file(file.data, path=os.path.normpath(home / file.path))
        for s, file in beside.items()
    }
    return replace(pin, files=files)


def _drop_files(main: Path, old: Iterable[str], new: Container[str]) -> None:
    """Remove the files beside a schema which it no longer imports."""
    for name in old:
        if name not in new:
            main.with_name(name).unlink(missing_ok=True)


def _stored_names(beside: Mapping[str, Official]) -> dict[str, str]:
    """For each specifier the name of its file in the folder of the revision."""
    names: dict[str, str] = {}
    paths: dict[str, str] = {}
    for specifier, file in beside.items():
        if file.path not in paths.values():
            name = stored_name(file.path, paths)
            paths[name] = file.path
        names[specifier] = next(name for name, path in paths.items() if path == file.path)
    return names


@dataclass(frozen=True, slots=True)
class _Linking:
    """The way from the files of a revision to one module: `own` are the files beside the first."""

    revision: str
    where: str
    modules: Mapping[str, str]
    own: frozenset[str]

    def resolve(self, files: Mapping[str, Source]) -> Resolver:
        """The module of the files, which are called by their places."""
        foreign = {s: target for s, target in self.modules.items() if target not in self.own}
        imports = pins.imported_files(pins.Pin(path=self.where, modules=foreign), self.revision)
        texts = {target: files[self.where.replace(_MAIN, target)] for target in sorted(self.own)}
        parts = {t: Source(file.data, file.path, part=True) for t, file in texts.items()}
        imports |= {s: parts[target] for s, target in self.modules.items() if target in self.own}
        if "@" in self.revision:
            imports = pins.apart(imports)
        return Resolver(*link(files[self.where], imports))

    def require(self, official: Resolver, written: Mapping[str, str]) -> None:
        """Raise InputError if the written files have other facts than the official ones."""
        ours = self.resolve({path: Source(text.encode(), path) for path, text in written.items()})
        if structure_digest(official) != structure_digest(ours):
            raise InputError(
                f"{self.where}: its facts would change when our sentences are set in",
                remedy="This is a fault of mcp-bindgen; keep the file and report it.",
            )


def _rewrite(
    files: Mapping[str, Source], sentences: _Sentences
) -> tuple[dict[str, str], tuple[str, ...]]:
    """The texts of the files in our words, and the places that lack a sentence."""
    texts: dict[str, str] = {}
    places: list[str] = []
    for path, source in files.items():
        first = len(sentences.unsaid)
        texts[path] = rewrite(source, read_source(source), sentences)
        places += _places(texts[path], path, sentences.unsaid[first:])
    return texts, tuple(places)


def _table(folder: Path, revision: str) -> tuple[str, dict[str, pins.Pin]]:
    """The PINS.toml for a revision or `name@version`, and its tables."""
    if "@" in revision:
        return pins.EXTENSIONS, pins.extensions(folder)
    return pins.CORE, pins.pins(folder)


def _is_equal(old: pins.Pin, new: pins.Pin) -> bool:
    """Return whether both pin the same texts with the same imports."""
    sums = [{name: row["sha256"] for name, row in pin.files.items()} for pin in (old, new)]
    return (old.sha256, old.modules, sums[0]) == (new.sha256, new.modules, sums[1])


def _is_the_same(old: pins.Pin, new: pins.Pin) -> bool:
    """Return whether a pin without checksums matches the file by its facts alone."""
    return not old.sha256 and old.structure == new.structure


def remove(revision: str, folder: Path) -> tuple[str, ...]:
    """Remove a revision: its folder, its row in PINS.toml, its rows in decisions.toml.

    Return the paths of the changed files. Raises InputError or DecisionError.
    """
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
    for name in (place.name, COMMENTS, *known[revision].files):
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
    return "unchanged" if _is_equal(old, new) else "prose"


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

    def digests(self) -> str:
        """The text of COMMENTS: for each path the digest of the comment behind our sentence."""
        kept = {path: self.known.get(path, digest) for path, digest in self._comments.items()}
        said = {path: digest for path, digest in kept.items() if digest}
        return json.dumps(said, indent=1) + "\n"

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
    """For each revision of ours: whether it is this one, its sentences, and the digests of its
    comments.

    A path without a sentence is a decision too.
    """
    version = revision.rpartition("@")[2]
    siblings = {p.parent for p in (folder / pins.place(revision)).parents[1].glob(f"*/{_MAIN}")}
    newest_first = sorted(siblings, key=lambda p: p.name, reverse=True)
    for home in sorted(newest_first, key=lambda p: p.name != version):
        digests = home / COMMENTS
        known: dict[str, str] = json.loads(pins.read_text(digests)) if digests.exists() else {}
        said = {
            at: Sentence(node.doc.description, node.doc.deprecated or "") if node.doc else _NOTHING
            for path in sorted(home.glob("*.ts"))
            for at, node in paths_of_nodes(
                read(pins.read_bytes(path), f"schema/{path.relative_to(folder).as_posix()}")
            )
        }
        yield home.name == version, said, known


def _places(text: str, where: str, paths: list[str]) -> Iterator[str]:
    """`FILE:LINE: PATH` for each path."""
    data = text.encode()
    nodes = dict(paths_of_nodes(read(data, where)))
    for path in paths:
        line = data.count(b"\n", 0, nodes[path].at) + 1
        yield f"{where}:{line}: {path}"


def _differences(folder: Path, revision: str, official: Resolver, pin: pins.Pin) -> Iterator[str]:
    place = pins.place(revision)
    path = folder / place
    if not path.exists():
        return
    imports = pins.imported_files(pin, revision, folder=folder)
    imports = pins.apart(imports) if "@" in revision else imports
    ours = structure(Resolver(*link(Source(pins.read_bytes(path), f"schema/{place}"), imports)))
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
