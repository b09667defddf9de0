"""Reads what `mcp-bindgen generate` is asked for: the schemas, the folder and the options."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from mcp_bindgen import manifest, paths, pins
from mcp_bindgen.errors import InputError

__all__ = [
    "FORMATS",
    "LITERALS",
    "UNKNOWN",
    "Beside",
    "Choices",
    "Target",
    "choose_target",
    "find_schemas",
    "is_default",
    "kept_options",
    "out_folder",
    "read_choices",
]

UNKNOWN: Final = ("keep", "drop", "reject")
LITERALS: Final = ("closed", "open")
FORMATS: Final = ("off", "black")


@dataclass(frozen=True, slots=True)
class Choices:
    """The options of what is written. `models` None is every flavour."""

    models: tuple[str, ...] | None
    unknown: str
    literals: str
    format: str
    templates: Path | None


@dataclass(frozen=True, slots=True)
class Beside:
    """What an extension is generated beside: a revision of the core, and its own rows."""

    core: str
    decisions: Path | None


@dataclass(frozen=True, slots=True)
class Target:
    """Which schemas, by revision name, go where.

    `only` are the revisions whose folders alone are written; None means the whole folder. With
    `beside` the one schema is that of an extension, whose package the folder is.
    """

    out: Path
    schema_files: Mapping[str, pins.Found]
    only: frozenset[str] | None
    beside: Beside | None = None


def read_choices(out: Path, given: Mapping[str, str | None], *, prune: bool) -> Choices:
    """What is given, else what the folder was made with, else the defaults."""
    there = manifest.read(out)
    kept: Mapping[str, str] = there.options if there else {}
    said = {name: value or kept.get(name) for name, value in given.items()}
    flavours = _flavours(said["models"])
    if flavours is not None and there is not None and not prune:
        flavours = _flavours(",".join([*flavours, *_flavours_in(there)]))
    templates = given["templates"] or (str(out / said["templates"]) if said["templates"] else "")
    return Choices(
        flavours,
        said["unknown"] or UNKNOWN[0],
        said["literals"] or LITERALS[0],
        said["format"] or FORMATS[0],
        _folder(Path(templates) if templates else None),
    )


def _flavours_in(there: manifest.Manifest) -> list[str]:
    from mcp_bindgen.emit import FLAVOURS

    names = {Path(path).name for path in there.files}
    return [flavour for flavour in FLAVOURS if f"handlers_{flavour}.py" in names]


def kept_options(out: Path, choices: Choices) -> dict[str, str]:
    """The options that are not the defaults; the folder of templates is said from the output's."""
    values = {
        "models": ",".join(choices.models or ()),
        "unknown": choices.unknown.removeprefix(UNKNOWN[0]),
        "literals": choices.literals.removeprefix(LITERALS[0]),
        "format": choices.format.removeprefix(FORMATS[0]),
        "templates": _seen_from(out, choices.templates),
    }
    return {name: value for name, value in values.items() if value}


def _seen_from(out: Path, folder: Path | None) -> str:
    return "" if folder is None else Path(os.path.relpath(folder, out)).as_posix()


def _flavours(models: str | None) -> tuple[str, ...] | None:
    if models is None:
        return None
    from mcp_bindgen.emit import FLAVOURS, Options

    named = [name.strip() for name in models.split(",")]
    unknown = [name for name in named if name not in FLAVOURS]
    if unknown:
        raise InputError(
            f"no models are called {', '.join(map(repr, unknown))}",
            remedy=f"Known: {', '.join(FLAVOURS)}.",
        )
    chosen = tuple(name for name in FLAVOURS if name in named)
    return None if chosen == Options().models else chosen


def _folder(templates: Path | None) -> Path | None:
    if templates is not None and not templates.is_dir():
        raise InputError(f"{templates}: is not a folder", remedy="Give a folder of templates.")
    return templates


def out_folder(out: Path | None) -> Path:
    if out is not None:
        return out
    schema = paths.schema()
    if schema.name != "schema":
        raise InputError(
            "an installed mcp-bindgen has no folder of its own to write to",
            remedy="Say where: --out DIR.",
        )
    return schema.parent / "generated" / "mcp_wire"


def find_schemas(
    revisions: tuple[str, ...], schema: str | None, name: str | None, imports: tuple[str, ...]
) -> dict[str, pins.Found]:
    """The schemas that were named, by revision; empty for none."""
    if (schema is None) != (name is None):
        raise click.UsageError("--schema FILE and --revision NAME go together")
    if versions := [revision for revision in revisions if "@" in revision]:
        raise InputError(
            f"{versions[0]} is a version of an extension, and no revision",
            remedy="Its bindings are in mcp_wire.ext; for those of a file, say --extension FILE.",
        )
    schema_files = {revision: _pinned(revision) for revision in sorted(set(revisions))}
    if schema is not None and name is not None:
        if name in schema_files:
            raise click.UsageError(f"{name} is named twice")
        schema_files[pins.require_name(name)] = pins.find(schema, imports)
    return schema_files


def _pinned(revision: str) -> pins.Found:
    pins.schema_path(revision)  # refuses an unknown one
    return pins.find(revision)


def _require_pinned(out: Path, pinned: Sequence[str], named: Sequence[str] = ()) -> None:
    """Refuses a folder that holds a revision of the user's own, which would be removed.

    The user may name one file. If `named` has it already, the remedy is another folder.
    """
    there = manifest.read(out)
    own = [name for name in named if name not in pinned]
    for revision in there.revisions if there and not is_default(out) else ():
        if revision not in (*pinned, *named):
            option = "extension" if "@" in revision else "schema"
            raise InputError(
                f"{out}: holds {revision}, which is not pinned"
                + (f", beside which {own[0]} cannot be written" if own else ""),
                remedy="Choose another folder (--out), or remove this one."
                if own
                else f"Name its file too: --{option} FILE --revision {revision};"
                " or choose another folder (--out).",
            )


def is_default(out: Path) -> bool:
    """Whether a folder is that of the checkout, to which every pinned revision is written."""
    return out.resolve() == (paths.schema().parent / "generated" / "mcp_wire").resolve()


def choose_target(out: Path, named: Mapping[str, pins.Found]) -> Target:
    pinned = pins.revisions()
    if not named:
        _require_pinned(out, pinned)
        return Target(out, {revision: _pinned(revision) for revision in pinned}, None)
    there = manifest.read(out)
    have = set(there.revisions) if there else set[str]()
    others = have - set(named)
    if others and set(named) - have:
        _require_pinned(out, pinned, list(named))
        both = {**named, **{revision: _pinned(revision) for revision in others & set(pinned)}}
        return Target(out, dict(sorted(both.items())), None)
    alone = there is None and not any(out.glob("*/methods.py"))
    whole = alone or (there is not None and not others)
    return Target(out, named, None if whole else frozenset(named))
