"""Reads schema/decisions.toml: answers which no rule can find. Each is demanded, and must be
used.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

from mcp_bindgen.errors import DecisionError, UnansweredError
from mcp_bindgen.ir.decisions.edits import Confirmation, as_diff

__all__ = ["Decisions", "Row", "load", "paste"]

_PATH: Final = re.compile(r'^path = "([^"]*)"$', re.MULTILINE)
"""The path in a row to paste."""
_KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "method": ("path",),
    "union": ("path", "order"),
    "narrow": ("path", "type"),
    "name": ("path", "name"),
    "step": ("path",),
    "http": ("path", "value"),
    "tolerance": ("path", "reader", "forgives"),
    "extension": ("path", "core", "roles"),
    "widen": ("path", "result"),
    "member": ("path", "type"),
    "meta": ("path", "type"),
    "wire": ("path",),
}
"""The required keys of each kind of row, beside `revisions` (or `pair`), `page` and `why`."""

_STEP_ACTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "default": ("value", "context"),
    "drop": (),
    "rename": ("to",),
    "degrade": ("as", "to"),
    "compose": ("parts",),
    "refuse": ("message",),
    "keep": (),
    "stamp": (),
}
"""The actions for `up` and `down` of a [[step]] row, each with keys of which one is required."""

_Key: TypeAlias = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Row:
    """One row for one revision or pair: `values` are its other keys, `line` is its first line."""

    kind: str
    revision: str
    path: str
    values: Mapping[str, Any]
    line: int = 0


@dataclass
class Decisions:
    """The rows, with a record of the used and the missing ones; missing ones are ready to paste.

    `source` is the file's name in errors, `text` its contents. Missing and unused rows are reported
    at the end of a revision or pair, or all together by `settle` if `deferred`.
    """

    rows: Mapping[_Key, Row]
    source: str
    text: str = ""
    used: set[_Key] = field(default_factory=set[_Key])
    deferred: bool = False
    missing: list[str] = field(default_factory=list[str])
    asked: list[str] = field(default_factory=list[str])
    subjects: dict[_Key, str] = field(default_factory=dict[_Key, str])
    confirmations: list[Confirmation] = field(default_factory=list[Confirmation])
    handlers: str | None = None
    """The revision whose types handlers are written against; None for the newest."""

    def get(self, kind: str, revision: str, path: str) -> Row | None:
        """Return the row for `path`, and count it as used; None if there is none."""
        key = (kind, revision, path)
        if key in self.rows:
            self.used.add(key)
        return self.rows.get(key)

    def paths(self, kind: str, revision: str) -> list[str]:
        """The paths in rows of a kind, those of the revision first, then those of the previous
        one.
        """
        revisions = (revision, self.previous(revision))
        paths = [path for of in revisions for path in self._paths.get((kind, of), ())]
        return list(dict.fromkeys(paths))

    @cached_property
    def _paths(self) -> dict[tuple[str, str], list[str]]:
        """The paths in rows, by kind and revision."""
        paths: dict[tuple[str, str], list[str]] = {}
        for row in self.rows.values():
            paths.setdefault((row.kind, row.revision), []).append(row.path)
        return paths

    def previous(self, revision: str) -> str:
        """The newest earlier revision named by a row; empty without one.

        For `tasks@…` it is a version of the same extension.
        """
        of = _extension(revision)
        named = (name for kind, name in self._paths if kind != "step")
        older = (name for name in named if name < revision and _extension(name) == of)
        return max(older, default="")

    def before(self, kind: str, revision: str, path: str) -> Row | None:
        """The row for `path` of the previous revision."""
        return self.rows.get((kind, self.previous(revision), path))

    def renamed_from(self, revision: str, method: str) -> str:
        """The name of a method in the revision before, if a [[step]] row renames it; else empty."""
        return self._renamed.get((revision, method), "")

    @cached_property
    def _renamed(self) -> dict[tuple[str, str], str]:
        """The name before, by revision and new name, in rows that rename anything upwards."""
        return {
            (row.revision.rpartition("..")[2], to): row.path.removeprefix("up ")
            for row in self.rows.values()
            if row.values.get("up") == "rename" and isinstance(to := row.values["to"], str)
        }

    def ask(
        self,
        kind: str,
        revision: str,
        path: str,
        subject: object,
        question: str,
        values: Mapping[str, Any],
    ) -> Row | None:
        """Return the row for `path`; if it is missing, record it with `values` for the row to
        paste.

        If the previous revision has a row for the same `subject`, it is used instead, and recorded
        as waiting for confirmation.
        """
        key = (kind, revision, path)
        self.subjects[key] = repr(subject)
        if (row := self.get(*key)) is not None:
            return row
        older = self.before(kind, revision, path)
        if older is None:
            self.miss(question, paste(kind, revision, path, values))
            return None
        if self.subjects.get((kind, older.revision, path)) == repr(subject):
            self.confirmations.append(Confirmation(kind, path, revision, older.line))
            return replace(older, revision=revision)
        answer = (
            f"line {older.line} answers it for {older.revision}: add {revision} to that row, or"
        )
        answer = f"{question}\n#   {answer} give one of its own."
        shared = {key: older.values[key] for key in values.keys() & older.values.keys()}
        self.miss(answer, paste(kind, revision, path, {**values, **shared}))
        return None

    def miss(self, question: str, row: str) -> None:
        """Record a missing row: the question it answers, and the row to paste."""
        self.missing.append(f"# {question}\n{row}")

    def require_all(self, where: str) -> None:
        """Raise DecisionError if rows of a revision or pair are missing or unused."""
        self.asked.append(where)
        if not self.deferred:
            self.settle()

    def settle(self) -> None:
        """Raise DecisionError listing every missing row, else every unused one."""
        wheres, self.asked = self.asked, []
        rows, self.missing = self.missing, []
        unconfirmed, self.confirmations = self.confirmations, []
        idle = [r for k, r in self.rows.items() if r.revision in wheres and k not in self.used]
        if rows or unconfirmed:
            to_do = [*_to_add(rows), *_idle_words(idle, rows), *self._to_confirm(unconfirmed)]
            raise UnansweredError(
                f"{self.source}: {_count_words(len(rows), len(unconfirmed))}",
                remedy="\n\n".join(to_do),
            )
        if idle:
            names = "; ".join(
                f"{row.revision} needs [[{row.kind}]] `{row.path}` (line {row.line})"
                for row in idle
            )
            raise DecisionError(
                f"{self.source}: nothing in {names}",
                remedy="Take it out, or the revision out of its list.",
            )

    def _to_confirm(self, unconfirmed: list[Confirmation]) -> Iterator[str]:
        if unconfirmed:
            yield (
                "What these rows answer is as it was in the revision before. If the answers still"
                " hold, run `mcp-bindgen generate --confirm`, or apply this edit:\n\n"
                + as_diff(self.source, self.text, unconfirmed)
            )

    def require_known(self, revisions: Iterable[str], pairs: Iterable[str]) -> None:
        """Raise DecisionError for rows of an unknown revision or pair."""
        known = {*revisions, *pairs}
        rows = [row for row in self.rows.values() if row.revision not in known]
        if rows:
            names = dict.fromkeys(f"{row.revision} (line {row.line})" for row in rows)
            raise DecisionError(
                f"{self.source}: rows for what is not pinned: {', '.join(names)}",
                remedy=f"Known: {', '.join(sorted(known))}. Mend the name, or take the row out.",
            )
        if self.handlers is not None and self.handlers not in known:
            raise DecisionError(
                f"{self.source}: [handlers] names {self.handlers}, which is not pinned",
                remedy="Name a pinned revision, or leave the table out for the newest.",
            )


def _extension(revision: str) -> str:
    """The extension of `tasks@…`; empty for a revision of the core."""
    return revision.rpartition("@")[0]


def _count_words(rows: int, unconfirmed: int) -> str:
    counts: list[str] = []
    if rows:
        counts.append(f"{rows} rows are missing" if rows > 1 else "a row is missing")
    if unconfirmed:
        counts.append(f"{unconfirmed} {'answers wait' if unconfirmed > 1 else 'answer waits'}")
        counts[-1] += " to be confirmed"
    return ", ".join(counts)


def _to_add(rows: list[str]) -> Iterator[str]:
    if rows:
        yield "\n\n".join(["Add, with your answers:", *rows])


def _idle_words(idle: list[Row], missing: list[str]) -> Iterator[str]:
    """The rows which nothing has asked for so far, each with the missing row that it resembles."""
    paths = [path for row in missing for path in _PATH.findall(row)]
    if idle:
        yield "\n".join(
            [
                "So far nothing asks for these rows:",
                *(f"line {r.line}: [[{r.kind}]] `{r.path}`{_suggest(r, paths)}" for r in idle),
            ]
        )


def _suggest(row: Row, paths: list[str]) -> str:
    path = row.path.partition(" ")[2] or row.path
    tail = [each for each in paths if each.rpartition(".")[2] == path.rpartition(".")[2]]
    near = tail or get_close_matches(path, paths, n=1)
    return f"; is it for `{near[0]}`?" if near else ""


def paste(kind: str, revision: str, path: str, values: Mapping[str, Any]) -> str:
    """A row as the file writes it."""
    where = f'pair = "{revision}"' if kind == "step" else f'revisions = ["{revision}"]'
    lines = [where, f"path = {json.dumps(path)}"]
    lines += [f"{key} = {_toml(value)}" for key, value in values.items()]
    return "\n".join([f"[[{kind}]]", *lines, 'page = ""', 'why = ""'])


def _toml(value: Any) -> str:
    """A value as TOML: JSON, but for the members of an object."""
    if not isinstance(value, dict):
        return json.dumps(value)
    members = cast("dict[str, Any]", value).items()
    return "{" + ", ".join(f"{json.dumps(key)} = {_toml(of)}" for key, of in members) + "}"


def load(path: Path) -> Decisions:
    """Read the file. Raises DecisionError if it is not TOML or has wrong rows."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        data = tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise DecisionError(f"{path}: {error}", remedy="Mend the file.") from None
    rows: dict[_Key, Row] = {}
    handlers = _handlers(path, data.pop("handlers", None))
    for kind, value in data.items():
        entries: Any = value
        if kind not in _KINDS or not isinstance(value, list):
            raise DecisionError(
                f"{path}: `{kind}` is not a kind of row", remedy=f"Kinds: {', '.join(_KINDS)}."
            )
        for entry, line in zip(entries, _lines(text, kind, len(entries)), strict=True):
            for row in _rows(path, kind, entry, line):
                key = (kind, row.revision, row.path)
                if key in rows:
                    raise DecisionError(
                        f"{path}: two [[{kind}]] rows for `{row.path}` of {row.revision}"
                    )
                rows[key] = row
    return Decisions(rows, str(path), text, handlers=handlers)


def _lines(text: str, kind: str, count: int) -> list[int]:
    """The line of each `[[kind]]` heading of the file; 0 for rows written in another way."""
    heads = re.finditer(rf"^\[\[{kind}\]\]", text, re.MULTILINE)
    lines = [text.count("\n", 0, head.start()) + 1 for head in heads]
    return lines if len(lines) == count else [0] * count


def _handlers(path: Path, entry: Any) -> str | None:
    """The revision in `[handlers]`; None without this table."""
    if entry is None:
        return None
    named = cast("dict[str, Any]", entry) if isinstance(entry, dict) else {}
    if not all(isinstance(named.get(key), str) and named[key] for key in ("revision", "why")):
        raise DecisionError(f"{path}: [handlers] lacks revision or why", remedy="Give both.")
    return str(named["revision"])


def _rows(path: Path, kind: str, entry: Any, line: int) -> list[Row]:
    if not isinstance(entry, dict):
        raise DecisionError(f"{path}: [[{kind}]] is not a table", remedy=f"Write [[{kind}]].")
    rows = _row_per_revision(path, kind, cast("dict[str, Any]", entry))
    return [replace(row, line=line) for row in rows]


def _row_per_revision(path: Path, kind: str, entry: Mapping[str, Any]) -> list[Row]:
    missing = [k for k in (*_KINDS[kind], "page", "why") if entry.get(k) in (None, "")]
    where = entry.get("revisions") or [entry[k] for k in ("pair",) if k in entry]
    if missing or not where:
        raise DecisionError(
            f"{path}: a [[{kind}]] row lacks {', '.join(missing) or 'revisions'}: {dict(entry)}",
            remedy="Every row names its revisions, a page of the protocol and a why.",
        )
    _require_keys(str(path), kind, entry)
    values = {k: v for k, v in entry.items() if k not in ("path", "revisions", "pair")}
    if kind == "step":
        return list(_row_per_direction(path, entry, values))
    return [Row(kind, revision, entry["path"], values) for revision in where]


def _row_per_direction(
    path: Path, entry: Mapping[str, Any], values: Mapping[str, Any]
) -> Iterator[Row]:
    """A [[step]] row for each direction it decides; its path begins with the direction."""
    decided = [direction for direction in ("up", "down") if direction in entry]
    for direction in decided:
        needed = _STEP_ACTIONS.get(entry[direction]) if isinstance(entry[direction], str) else None
        if needed is None or (needed and not any(key in entry for key in needed)):
            raise DecisionError(
                f"{path}: [[step]] `{entry['path']}`: {direction} = {entry[direction]!r} "
                + ("is no action" if needed is None else f"lacks {' or '.join(needed)}"),
                remedy=f"Give {' or '.join(needed)} in the same row."
                if needed
                else f"Actions: {', '.join(_STEP_ACTIONS)}.",
            )
        yield Row("step", entry["pair"], f"{direction} {entry['path']}", values)
    if not decided or not isinstance(entry.get("pair"), str):
        raise DecisionError(
            f"{path}: [[step]] `{entry['path']}` names no pair, or decides nothing",
            remedy='Give pair = "OLDER..NEWER", and up or down.',
        )


# ---- the keys of a row

_Check: TypeAlias = Callable[[object], bool]


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _is_list(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_name, cast("list[object]", value)))


def _is_tables(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(each, dict) for each in cast("list[object]", value)
    )


def _is_texts(value: object) -> bool:
    return isinstance(value, dict) and all(map(_is_text, cast("dict[str, Any]", value).values()))


def _is_anything(value: object) -> bool:
    return True


_WORDS: Final[Mapping[_Check, str]] = {
    _is_text: "a text",
    _is_name: "a text, and not empty",
    _is_list: 'a list of texts, such as ["…"]',
    _is_tables: "a list of tables, such as [{ … }]",
    _is_texts: 'a table of texts, such as { id = "string" }',
}
_COMMON_KEYS: Final[Mapping[str, _Check]] = {"path": _is_name, "page": _is_name, "why": _is_name}
_KEYS: Final[Mapping[str, Mapping[str, _Check]]] = {
    "method": {"capability": _is_text, "result": _is_list, "direction": _is_text},
    "union": {"order": _is_list},
    "narrow": {"type": _is_name},
    "name": {"name": _is_name},
    "step": {
        "pair": _is_anything,
        "up": _is_anything,
        "down": _is_anything,
        "value": _is_anything,
        "context": _is_name,
        "to": _is_anything,
        "as": _is_name,
        "data": _is_name,
        "alone": _is_name,
        "parts": _is_tables,
        "message": _is_name,
        "code": _is_anything,
        "runtime": _is_name,
        "unless": _is_name,
    },
    "http": {"value": _is_anything},
    "tolerance": {"reader": _is_name, "value": _is_anything, "forgives": _is_list},
    "extension": {
        "identifier": _is_text,
        "core": _is_list,
        "roles": _is_list,
        "stage": _is_name,
        "revision": _is_name,
    },
    "widen": {"result": _is_list},
    "member": {"type": _is_name},
    "meta": {"type": _is_name},
    "wire": {"as": _is_name, "places": _is_texts, "adds": _is_texts},
}
"""The optional keys of each kind of row, with checks of their values; other values are checked
where they are used.
"""


def _require_keys(where: str, kind: str, entry: Mapping[str, Any]) -> None:
    """Raise DecisionError for an unknown key of the kind, or a value of a wrong type.

    `where` names the file.
    """
    known = {**_COMMON_KEYS, **({} if kind == "step" else {"revisions": _is_list}), **_KEYS[kind]}
    for key, value in entry.items():
        check = known.get(key)
        if check is None or not check(value):
            raise DecisionError(
                f"{where}: [[{kind}]] `{entry['path']}`: "
                + (f"`{key}` is not a key" if check is None else f"{key} = {value!r} does not fit"),
                remedy=f"Keys: {', '.join(known)}." if check is None else f"Give {_WORDS[check]}.",
            )
