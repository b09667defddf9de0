"""Brings an official schema file into the project: its declarations, our sentences, its pin.

Official prose is read, never kept. What is written must have the structure digest of what was read.
"""

from __future__ import annotations

import hashlib
import json
import re
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import IO, Final

from mcp_bindgen import pins
from mcp_bindgen.emit import tree
from mcp_bindgen.errors import InputError
from mcp_bindgen.ir import removal
from mcp_bindgen.ir.facts import digest as structure_digest
from mcp_bindgen.ir.facts import structure
from mcp_bindgen.ir.resolve import Resolver
from mcp_bindgen.limits import MAX_SCHEMA_BYTES
from mcp_bindgen.source import Source, read, syntax
from mcp_bindgen.source.rewrite import Prose, Sentence, documented, rewrite, sentences

__all__ = [
    "COMMENTS",
    "DEADLINE",
    "REPOSITORY",
    "Pulled",
    "address",
    "comments",
    "fetch",
    "pull",
    "remove",
]

COMMENTS: Final = "comments.json"
"""Beside each schema.ts: a digest of the official comment at each path, never its text."""

REPOSITORY: Final = "https://raw.githubusercontent.com/modelcontextprotocol/modelcontextprotocol"
DEADLINE: Final = 60.0
"""Seconds that one download may take."""

_SILENCE: Final = 20.0
"""Seconds that a server may say nothing."""

_COMMIT: Final = re.compile(r"[0-9a-f]{40}\Z")
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
_NOTHING: Final = Sentence("", "")


@dataclass(frozen=True, slots=True)
class Pulled:
    """What became of a revision: `status` is new, unchanged, prose or changed.

    `prose` means that the official file changed, and its facts did not. `differs` names each
    declaration, or `methods`, whose facts changed, with `+`, `-` or `~` before it. `unsaid` are the
    places, with their paths, that need a sentence of ours: the official comment there is new, or
    says something else than where ours was written.
    """

    revision: str
    status: str
    pin: pins.Pin
    differs: tuple[str, ...]
    written: tuple[str, ...]
    unsaid: tuple[str, ...]


def address(revision: str, commit: str = "") -> str:
    """Where the official file is published."""
    return f"{REPOSITORY}/{commit or 'main'}/schema/{revision}/schema.ts"


def fetch(revision: str, origin: str, commit: str = "") -> bytes:
    """The official file from a FILE, a DIR, a URL, or where it is published. Raises InputError."""
    scheme = _SCHEME.match(origin)
    if not origin or scheme:
        if scheme and scheme[1].lower() not in ("http", "https"):
            raise InputError(
                f"{origin}: addresses begin with http:// or https://, not {scheme[1]}://",
                remedy="Download the file and give its path: --from FILE.",
            )
        return _download(origin or address(revision, commit))
    path = Path(origin)
    if path.is_dir():
        path = _inside(path, revision)
    with _opened(path) as file:
        return _limited(file, origin)


def _opened(path: Path) -> IO[bytes]:
    try:
        return path.open("rb")
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read: {error.strerror}",
            remedy="Give a file that exists and that you may read (--from).",
        ) from None


def _inside(folder: Path, revision: str) -> Path:
    tried = [f"schema/{revision}/schema.ts", f"{revision}/schema.ts", "schema.ts"]
    for path in tried:
        if (folder / path).is_file():
            return folder / path
    raise InputError(
        f"{folder}: has none of {', '.join(tried)}", remedy="Give the file itself (--from FILE)."
    )


def _download(url: str) -> bytes:
    """What a URL answers. Raises InputError, after DEADLINE seconds at the latest.

    A thread of its own downloads: no timeout of a socket bounds a server that says a byte a second,
    a slow name server or a proxy. It ends with the process if it is given up.
    """
    done: Queue[bytes | InputError] = Queue()

    def download() -> None:
        try:
            done.put(_answer(url))
        except InputError as error:
            done.put(error)

    Thread(target=download, daemon=True).start()
    try:
        answer = done.get(timeout=DEADLINE)
    except Empty:
        raise InputError(
            f"{url}: not finished after {DEADLINE:.0f} s",
            remedy="Download the file elsewhere and give its path: --from FILE.",
        ) from None
    if isinstance(answer, InputError):
        raise answer
    return answer


def _answer(url: str) -> bytes:
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPRedirectHandler(),
        urllib.request.HTTPErrorProcessor(),
    ):
        opener.add_handler(handler)
    try:
        request = urllib.request.Request(url, headers={"User-Agent": "mcp-bindgen"})
        answer: IO[bytes] | None = opener.open(request, timeout=_SILENCE)
        if answer is None:  # a redirect to what no handler opens
            raise urllib.error.URLError("the address cannot be opened")
        with answer:
            return _limited(answer, url)
    except urllib.error.HTTPError as error:
        error.close()
        reason, remedy = f"the server answers {error.code}", "Check the revision or the address."
    except (OSError, HTTPException, ValueError) as error:
        reason = str(getattr(error, "reason", "")) or str(error) or type(error).__name__
        remedy = "Check the network, or download the file elsewhere and give its path: --from FILE."
    raise InputError(f"{url}: cannot be fetched: {reason}", remedy=remedy)


def _limited(file: IO[bytes], name: str) -> bytes:
    """All of `file`; refused when it is too large."""
    data = file.read(MAX_SCHEMA_BYTES + 1)
    if len(data) > MAX_SCHEMA_BYTES:
        raise InputError(
            f"{name}: more than {MAX_SCHEMA_BYTES} bytes",
            remedy="A schema of that size is a mistake; look at the file.",
        )
    return data


def pull(revision: str, data: bytes, folder: Path, commit: str = "") -> Pulled:
    """Writes `folder`/`revision`/schema.ts and PINS.toml from the official text `data`.

    Raises InputError, SchemaError, or OutputError.
    """
    pins.require_name(revision)
    if commit and not _COMMIT.match(commit):
        raise InputError(f"{commit!r} is no commit", remedy="Give all 40 digits of its hash.")
    known = pins.pins(folder)
    where = f"schema/{revision}/schema.ts"
    official = _resolved(data, f"official {where}")
    _require_revision(official, revision)
    digests = comments(read(data, where))
    sentences = _Sentences(folder, revision, digests)
    text = _written(official, sentences, where)
    old = known.get(revision)
    structure = structure_digest(official)
    pin = pins.official(data, path=where, commit=commit, structure=structure)
    if old and not commit and old.sha256 == pin.sha256:
        pin = old
    files = {
        f"{revision}/schema.ts": text,
        f"{revision}/{COMMENTS}": json.dumps(digests, indent=1) + "\n",
        "PINS.toml": pins.render({**known, revision: pin}),
    }
    differs = tuple(_differences(folder, revision, official)) if old else ()
    written = tuple(tree.write(folder, files, force=True, within=()))
    unsaid = tuple(_places(text, where, sentences.unsaid))
    return Pulled(revision, _status(old, pin, differs), pin, differs, written, unsaid)


def remove(revision: str, folder: Path) -> tuple[str, ...]:
    """Takes a revision out: its folder, its pin, its rows. Raises InputError or DecisionError."""
    known = pins.pins(folder)
    if revision not in known:
        raise InputError(
            f"no revision is called {revision!r}", remedy=f"Known revisions: {', '.join(known)}."
        )
    files = {
        "PINS.toml": pins.render({name: pin for name, pin in known.items() if name != revision})
    }
    rows = folder / "decisions.toml"
    if rows.exists():
        files[rows.name] = removal.without(pins.read_text(rows), revision)
    written = tree.write(folder, files, force=True, within=())
    for name in ("schema.ts", COMMENTS):
        (folder / revision / name).unlink(missing_ok=True)
    if not any((folder / revision).iterdir()):
        (folder / revision).rmdir()
    return (*written, f"{revision}/schema.ts")


def _require_revision(official: Resolver, revision: str) -> None:
    """Raises InputError for a file without declarations, or one of another revision."""
    if not official.declared:
        raise InputError(
            "the official file has no declarations", remedy="Look at the file; nothing was written."
        )
    const = official.declared.get("LATEST_PROTOCOL_VERSION")
    value = const.value if isinstance(const, syntax.Const) else None
    name = value.value if isinstance(value, syntax.Literal) else None
    if name is not None and name != revision:
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


def _resolved(data: bytes, path: str) -> Resolver:
    return Resolver(Source(data, path), read(data, path))


def _written(official: Resolver, prose: Prose, where: str) -> str:
    text = rewrite(official.source, read(official.source.data, official.source.path), prose)
    if structure_digest(_resolved(text.encode(), where)) != structure_digest(official):
        raise InputError(
            f"{where}: its facts would change when our sentences are set in",
            remedy="This is a fault of mcp-bindgen; keep the file and report it.",
        )
    return text


def comments(module: syntax.Module) -> dict[str, str]:
    """A digest of the official comment at each path, by which a change of its meaning is seen."""
    return {
        path: hashlib.sha256(" ".join(sentence).encode()).hexdigest()[:12]
        for path, sentence in sentences(module).items()
        if any(sentence)
    }


class _Sentences:
    """What we say of each path: the revision's own file first, then the newest that knows it.

    A sentence of another revision is only taken where the official comment is the same, or there is
    none; `unsaid` are the paths where it is not.
    """

    def __init__(self, folder: Path, revision: str, comments: Mapping[str, str]) -> None:
        self.unsaid: list[str] = []
        self._comments = comments
        self._tables = list(_tables(folder, revision))

    def __call__(self, path: str) -> Sentence:
        comment = self._comments.get(path)
        for is_own, table, known in self._tables:
            if path in table:
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
    """For each file we have: whether it is the revision's own, its sentences and comments' digests.

    A path without a sentence is a decision too.
    """
    others = sorted((path.parent.name for path in folder.glob("*/schema.ts")), reverse=True)
    for name in sorted(others, key=lambda other: other != revision):
        path = f"{name}/schema.ts"
        module = read(pins.read_bytes(folder / path), f"schema/{path}")
        digests = folder / name / COMMENTS
        known: dict[str, str] = json.loads(pins.read_text(digests)) if digests.exists() else {}
        said = {
            at: Sentence(node.doc.description, node.doc.deprecated or "") if node.doc else _NOTHING
            for at, node in documented(module)
        }
        yield name == revision, said, known


def _places(text: str, where: str, paths: list[str]) -> Iterator[str]:
    """`FILE:LINE: PATH` for each path."""
    data = text.encode()
    nodes = dict(documented(read(data, where)))
    for path in paths:
        line = data.count(b"\n", 0, nodes[path].at) + 1
        yield f"{where}:{line}: {path}"


def _differences(folder: Path, revision: str, official: Resolver) -> Iterator[str]:
    path = folder / revision / "schema.ts"
    if not path.exists():
        return
    ours = structure(_resolved(pins.read_bytes(path), f"schema/{revision}/schema.ts"))
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
