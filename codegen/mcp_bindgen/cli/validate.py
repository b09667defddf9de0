"""`mcp-bindgen validate`: tells whether messages are valid in a revision, with place and fault."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from importlib import import_module
from typing import IO, TYPE_CHECKING, Any, Final

import click

from mcp_bindgen import pins
from mcp_bindgen.cli import COULD_NOT, FINDINGS, OK
from mcp_bindgen.cli.options import STDIN, open_input
from mcp_bindgen.cli.show import safe, say, warn
from mcp_bindgen.errors import InputError
from mcp_bindgen.limits import MAX_MESSAGE_BYTES
from mcp_bindgen.source.text import close_to
from mcp_bindgen.validate.members import added
from mcp_bindgen.validate.messages import numbered, texts
from mcp_bindgen.validate.verdicts import Fault, Judge, Method, Verdict, below

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["Bindings", "command"]

_WORDS: Final = {True: "valid", False: "invalid", None: "not judged"}
_COLOURS: Final = {True: "green", False: "red", None: None}


@click.command("validate")
@click.option(
    "--revision",
    metavar="REVISION",
    help="Check by the schema of this revision (default: none; with --extension, its core).",
)
@click.option(
    "--extension",
    "extensions",
    multiple=True,
    metavar="NAME",
    help=(
        "Check by this extension too, such as tasks or tasks@draft-2026-08-21; repeatable "
        "(default: the core alone)."
    ),
)
@click.option(
    "--type",
    metavar="NAME",
    help="Check each message as this type of the schema, such as Tool (default: by its method).",
)
@click.option(
    "--format",
    type=click.Choice(("text", "json")),
    default="text",
    help="Write verdicts as text, or as JSON, one object on a line (default: text).",
)
@click.argument("files", nargs=-1, required=True, metavar="FILE|-...")
def command(
    revision: str | None,
    extensions: tuple[str, ...],
    type: str | None,
    format: str,
    files: tuple[str, ...],
) -> int:
    """Check messages against a revision: JSON, JSON lines, or the JSON blocks of Markdown.

    A request or notification is recognized by its method, a result by the earlier request with its
    id, an error by its code. `-` is standard input. Exit status 0: all valid; 1: findings; 2:
    nothing could be read.
    """
    bindings = _bindings(revision, [pins.find_extension(name) for name in extensions])
    if type is not None:
        _require_type(type, bindings)
    counts: Counter[bool | None] = Counter()
    unread = 0
    for file in files:
        at_once = not os.path.isfile(file)
        try:
            for verdict in _verdicts(file, bindings, type):
                counts[verdict.valid] += 1
                say(_LINES[format](file, verdict, len(files) > 1), at_once=at_once)
        except BrokenPipeError:
            raise
        except OSError as error:
            unread += 1
            warn(f"mcp-bindgen: {safe(file)}: {safe(error.strerror or str(error))}")
    if format == "text":
        say(_summary(counts))
    if not counts:
        warn(f"mcp-bindgen: {', '.join(map(safe, files))}: no message was found")
        warn("Give JSON, JSON lines, or Markdown whose messages are in blocks of JSON (```json).")
        return COULD_NOT
    return FINDINGS if counts[False] or unread else OK


def _bindings(revision: str | None, extensions: Sequence[str]) -> Bindings:
    """The bindings of the revision, or of the core of the first extension, with all extensions."""
    if revision is None and not extensions:
        raise click.UsageError("--revision is needed, or --extension.")
    return Bindings(revision or pins.extensions()[extensions[0]].core, extensions)


def _require_type(name: str, bindings: Bindings) -> None:
    """Raise InputError if the name is no type of the revision."""
    if name in bindings.types:
        return
    lists = f"`mcp-bindgen inspect {bindings.revision}` lists the types."
    raise InputError(
        f"{bindings.revision} has no type called {name!r}",
        remedy=close_to(name, bindings.types, lists),
    )


def _verdicts(file: str, bindings: Bindings, type: str | None) -> Iterator[Verdict]:
    judge = Judge(bindings, type)
    with open_input(file) as stream:
        for text in texts(numbered(_lines(stream)), "" if file == STDIN else file):
            yield judge.judge(text)


def _lines(stream: IO[bytes]) -> Iterator[bytes | None]:
    """The lines; None for a line above the limit."""
    while line := stream.readline(MAX_MESSAGE_BYTES + 1):
        if len(line) <= MAX_MESSAGE_BYTES or line.endswith(b"\n"):
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = stream.readline(MAX_MESSAGE_BYTES)
        yield None


# ---- bindings


class Bindings:
    """The msgspec models of a revision, and of versions of extensions.

    Raises InputError if they are unknown, or if an extension has another core.
    """

    def __init__(self, revision: str, extensions: Sequence[str] = ()) -> None:
        import mcp_wire

        if revision not in mcp_wire.REVISIONS:
            raise InputError(
                f"no revision is called {revision!r}",
                remedy=f"Known revisions: {', '.join(mcp_wire.REVISIONS)}.",
            )
        from mcp_wire._wire.faults import DecodeError
        from mcp_wire._wire.text import parse

        self.revision = revision
        self.methods: dict[str, Method] = dict(mcp_wire.load(revision).METHODS)
        models: ModuleType = mcp_wire.load(revision, "models_msgspec")
        self._models = dict.fromkeys(models.__all__, models)
        self._parse, self._error = parse, DecodeError
        self._members: dict[tuple[str, ...], str] = {}
        for name in extensions:
            self._extend(name)
        self.types: Collection[str] = frozenset(filter(self._reads, self._models))

    def _extend(self, name: str) -> None:
        """Add the methods and types of an extension, and its results to methods of the core."""
        from mcp_wire.ext import EXTENSIONS

        package = f"mcp_wire.ext.{EXTENSIONS[name]}"
        rows, models = (import_module(f"{package}.{m}") for m in ("methods", "models_msgspec"))
        core = self.revision.partition(" ")[0]
        if core not in rows.CORE:
            raise InputError(
                f"{name} does not extend {core}",
                remedy=f"It extends {', '.join(rows.CORE)}: say --revision {rows.CORE[-1]}.",
            )
        self.revision += f" with {name}"
        for method, types in rows.WIDENED.items():
            row: Any = self.methods[method]
            self.methods[method] = row._replace(results=(*types, *row.results))
        self.methods |= rows.METHODS
        self._members |= rows.MEMBERS
        self._models |= dict.fromkeys(models.__all__, models)

    def _reads(self, name: str) -> bool:
        """Return whether it is a type, and neither a constant nor a function."""
        try:
            self.fault(name, None)
        except TypeError:
            return False
        return True

    def parse(self, data: bytes) -> tuple[Any, Fault | None]:
        try:
            return self._parse(data), None
        except self._error as error:
            return None, Fault(error.path, error.expected, error.found)

    def fault(self, type: str, value: Any) -> Fault | None:
        models = self._models[type]
        try:
            model = models.from_wire(getattr(models, type), value)
        except self._error as error:
            return Fault(error.path, error.expected, error.found)
        members = added(model, value, self._members) if self._members else ()
        faults = (below(each.path, self.fault(each.type, each.value)) for each in members)
        return next(filter(None, faults), None)


# ---- words


def _text(file: str, verdict: Verdict, _: bool) -> str:
    place = f"{'stdin' if file == STDIN else safe(file)}:{verdict.line}"
    word = _WORDS[verdict.valid]
    if sys.stdout.isatty():
        word = click.style(word, fg=_COLOURS[verdict.valid])
    type = f" {verdict.type}" if verdict.type else ""
    fault = verdict.fault
    where = f" at {fault.path}: expected {fault.expected}, found {fault.found}" if fault else ""
    return f"{place}: {word}{safe(type + where)}"


def _json(file: str, verdict: Verdict, several: bool) -> str:
    fault = verdict.fault
    row = {
        "line": verdict.line,
        "valid": verdict.valid,
        "type": verdict.type,
        "path": fault.path if fault else None,
        "expected": fault.expected if fault else None,
        "found": fault.found if fault else None,
    }
    shown = {"file": file, **row} if several else row
    return json.dumps(shown, ensure_ascii=sys.stdout.isatty())


_LINES: Final = {"text": _text, "json": _json}


def _summary(counts: Counter[bool | None]) -> str:
    parts = [f"{counts[valid]} {_WORDS[valid]}" for valid in _WORDS if counts[valid]]
    total = counts.total()
    head = "1 message" if total == 1 else f"{total} messages"
    return head + (f": {', '.join(parts)}" if parts else "")
