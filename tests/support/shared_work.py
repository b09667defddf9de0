"""Lets commands in this process do equal work once in each worker, instead of once in each test.

For tests whose claim is not the work. What is equal is told by all that the work depends on: texts
are lowered, planned and written anew if one byte of them or of the rows is another, and a trial is
left out only where the same texts could be imported before. Work that failed is done each time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar

import pytest

from mcp_bindgen import convert, emit, paths, pins
from mcp_bindgen.cli.new import project
from mcp_bindgen.emit import tree, trial
from mcp_bindgen.errors import BindgenError
from mcp_bindgen.ir.decisions import decisions
from mcp_bindgen.ir.lower import lower
from mcp_bindgen.scaffold import record, render

__all__ = ["RememberingTrial", "shared_work"]


class RememberingTrial(trial.Trial):
    """Starts a process only for texts and modules that no trial before has imported."""

    imported: ClassVar = set[bytes]()

    def __init__(self, libraries: Sequence[str] = ()) -> None:
        self._libraries, self._started = libraries, False

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._started:
            super().__exit__(kind, error, trace)

    def require_modules(self, root: Path, modules: Collection[str]) -> None:
        digest = _digest(root, modules)
        if digest not in self.imported:
            super().__init__(self._libraries)
            self._started = True
            super().require_modules(root, modules)
            self.imported.add(digest)


def _digest(root: Path, modules: Collection[str]) -> bytes:
    """That of the modules' names and of each text that they can import below `root`."""
    digest = hashlib.sha256("\0".join(sorted(modules)).encode())
    for path in sorted(root.rglob("*.py")):
        data = path.read_bytes()
        name = path.relative_to(root).as_posix()
        digest.update(f"\0{name}\0{len(data)}\0".encode() + data)
    return digest.digest()


@contextmanager
def shared_work() -> Iterator[None]:
    """Let the verbs of the command line share what they make, until this ends."""
    ours = paths.schema(), paths.templates()

    def is_ours(*_: object) -> bool:
        return (paths.schema(), paths.templates()) == ours

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trial, "Trial", RememberingTrial)
        patch.setattr(tree, "symtable", _once(tree.symtable, lambda *given: given))
        patch.setattr(record, "_PRESET", 0)  # a fifth longer, for a third of the work
        pack = _once(record.pack, lambda files: frozenset(files.items()))
        patch.setattr(record, "pack", pack)
        patch.setattr(render, "pack", pack)
        patch.setattr(decisions, "load", _read_once(decisions.load))
        patch.setattr(lower, "load", _lowered_once(lower.load))
        patch.setattr(convert, "plan", _planned_once(convert.plan))
        patch.setattr(emit, "generate", _written_once(emit.generate, is_ours))
        patch.setattr(pins, "load", _once(pins.load, lambda name: name, is_ours))
        wire = _once(project._wire, lambda chosen: (chosen.revisions, chosen.ui), is_ours)
        patch.setattr(project, "_wire", lambda chosen: dict(wire(chosen)))
        yield


def _once(
    work: Callable[..., Any],
    key: Callable[..., object],
    holds: Callable[..., bool] = lambda *_: True,
) -> Callable[..., Any]:
    """`work`, done once for each key of arguments of which that `holds`."""
    done = dict[object, Any]()

    def once(*given: Any) -> Any:
        if not holds(*given):
            return work(*given)
        if (chosen := key(*given)) not in done:
            done[chosen] = work(*given)
        return done[chosen]

    return once


def _written_once(
    generate: Callable[..., dict[str, str]], is_ours: Callable[[], bool]
) -> Callable[..., dict[str, str]]:
    """Schemas and plans are the same objects where their texts are the same: they are kept."""
    kept = list[object]()

    def key(schemas: Any, options: Any, pairs: Any = None, handlers: Any = None) -> object:
        kept.append((schemas, pairs))
        every = None if pairs is None else tuple(map(id, pairs))
        return tuple(map(id, schemas)), options, every, handlers

    def holds(schemas: object, options: Any, *_: object) -> bool:
        return options.templates is None and is_ours()

    once = _once(generate, key, holds)
    return lambda *given: dict(once(*given))


def _read_once(load: Callable[[Path], decisions.Decisions]) -> Callable[[Path], Any]:
    """Rows of equal text; which of them are used, each reader notes for itself."""
    done = dict[tuple[str, bytes], decisions.Decisions]()

    def once(path: Path) -> decisions.Decisions:
        if not path.is_file():
            return load(path)
        key = str(path), path.read_bytes()
        if key not in done:
            done[key] = load(path)
        return _unasked(done[key])

    return once


def _unasked(rows: decisions.Decisions) -> decisions.Decisions:
    return replace(rows, used=set(), missing=[], asked=[], subjects={}, confirmations=[])


def _lowered_once(load: Callable[..., Any]) -> Callable[..., Any]:
    def key(
        data: bytes,
        path: str,
        revision: str,
        imports: Mapping[str, Any] | None = None,
        lenient: bool = False,
    ) -> object:
        texts = [(name, each.path, each.data, each.part) for name, each in (imports or {}).items()]
        return data, path, revision, tuple(texts), lenient

    once = _answered_once(
        lambda rows, data, path, revision, imports=None, lenient=False: load(
            data, path, revision, rows, imports, lenient=lenient
        ),
        key,
    )

    def lowered(
        data: bytes,
        path: str,
        revision: str = "",
        decisions: Any = None,
        imports: Any = None,
        *,
        lenient: bool = False,
    ) -> Any:
        return once(decisions, data, path, revision, imports, lenient)

    return lowered


def _planned_once(plan: Callable[..., Any]) -> Callable[..., Any]:
    kept = list[object]()

    def key(old: object, new: object, texts: Any) -> object:
        kept.append((old, new))
        return id(old), id(new), tuple(texts.items())

    once = _answered_once(lambda rows, old, new, texts: plan(old, new, rows, texts), key)
    return lambda old, new, rows, texts: once(rows, old, new, texts)


def _answered_once(work: Callable[..., Any], key: Callable[..., object]) -> Callable[..., Any]:
    """`work` with rows, done once for equal arguments and rows if these answer all that is asked.

    Which of the rows it used is noted each time, as if it were done.
    """
    done = dict[object, tuple[Any, decisions.Decisions | None]]()

    def once(rows: decisions.Decisions | None, *given: Any) -> Any:
        asked = None if rows is None else (rows.source, rows.text, rows.deferred)
        chosen = key(*given), asked
        if chosen not in done:
            own = None if rows is None else _unasked(rows)
            try:
                made = work(own, *given)
            except BindgenError:
                return work(rows, *given)
            if own is not None and (own.missing or own.confirmations):
                return work(rows, *given)
            done[chosen] = made, own
        made, own = done[chosen]
        if rows is not None and own is not None:
            rows.used |= own.used
            rows.subjects |= own.subjects
            rows.asked += own.asked
        return made

    return once
