"""Reads the arguments of `mcp-bindgen generate`: the schemas, the folder and the options."""

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
    "ABSENT",
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
    "require_one_revision",
]

UNKNOWN: Final = ("keep", "drop", "reject")
LITERALS: Final = ("closed", "open")
FORMATS: Final = ("off", "black")
ABSENT: Final = ("missing", "none")
_FORMERLY: Final = "models"
"""The name of the option `flavours` in manifests of earlier versions."""


@dataclass(frozen=True, slots=True)
class Choices:
    """The options of the output. `flavours` None means every flavour."""

    flavours: tuple[str, ...] | None
    unknown: str
    literals: str
    format: str
    templates: Path | None
    lean: bool
    absent: str


@dataclass(frozen=True, slots=True)
class Beside:
    """The context of an extension: a revision of the core, and the extension's rows."""

    core: str
    decisions: Path | None


@dataclass(frozen=True, slots=True)
class Target:
    """The schemas by revision name, and the folder to write.

    `only` are the revisions to write, each in its folder; None means the whole folder. With
    `beside`, the one schema is an extension, and the folder is its package.
    """

    out: Path
    schema_files: Mapping[str, pins.Found]
    only: frozenset[str] | None
    beside: Beside | None = None


def read_choices(out: Path, given: Mapping[str, str | None], *, prune: bool) -> Choices:
    """The given options, else those recorded in the folder, else the defaults."""
    there = manifest.read(out)
    kept: Mapping[str, str] = there.options if there else {}
    said = {name: value or kept.get(name) for name, value in given.items()}
    lean = _is_lean(said, given)
    flavours = _flavours(said["flavours"] or kept.get(_FORMERLY))
    if flavours is not None and there is not None and not prune:
        flavours = _flavours(",".join([*flavours, *_flavours_in(there)]))
    templates = given["templates"] or (str(out / said["templates"]) if said["templates"] else "")
    return Choices(
        flavours,
        said["unknown"] or UNKNOWN[0],
        said["literals"] or LITERALS[0],
        said["format"] or FORMATS[0],
        _folder(Path(templates) if templates else None),
        lean,
        said["absent"] if lean and said["absent"] else ABSENT[0],
    )


def _is_lean(said: Mapping[str, str | None], given: Mapping[str, str | None]) -> bool:
    """Return whether lean models are asked for; refuse the options that do not go with them."""
    lean = said["lean"] == "yes"
    if given["absent"] and not lean:
        raise click.UsageError("--absent goes with --lean: other models tell absent from null")
    if lean and given["flavours"] not in (None, "pydantic"):
        raise click.UsageError("--lean models are pydantic models: leave out --flavour")
    return lean


def _flavours_in(there: manifest.Manifest) -> list[str]:
    from mcp_bindgen.emit import FLAVOURS

    names = {Path(path).name for path in there.files}
    return [flavour for flavour in FLAVOURS if f"handlers_{flavour}.py" in names]


def kept_options(out: Path, choices: Choices) -> dict[str, str]:
    """The options with other values than their defaults; paths are relative to the output
    folder.
    """
    values = {
        "flavours": ",".join(choices.flavours or ()),
        "unknown": choices.unknown.removeprefix(UNKNOWN[0]),
        "literals": choices.literals.removeprefix(LITERALS[0]),
        "format": choices.format.removeprefix(FORMATS[0]),
        "templates": _relative(out, choices.templates),
        "lean": "yes" if choices.lean else "",
        "absent": choices.absent.removeprefix(ABSENT[0]),
    }
    return {name: value for name, value in values.items() if value}


def _relative(out: Path, folder: Path | None) -> str:
    return "" if folder is None else Path(os.path.relpath(folder, out)).as_posix()


def _flavours(listed: str | None) -> tuple[str, ...] | None:
    if listed is None:
        return None
    from mcp_bindgen.emit import FLAVOURS, Options

    named = [name.strip() for name in listed.split(",")]
    unknown = [name for name in named if name not in FLAVOURS]
    if unknown:
        raise InputError(
            f"no flavour is called {' or '.join(map(repr, unknown))}",
            remedy=f"Known: {', '.join(FLAVOURS)}.",
        )
    chosen = tuple(name for name in FLAVOURS if name in named)
    return None if chosen == Options().flavours else chosen


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
    """The schemas named in the arguments, by revision; empty if none are named."""
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
    """Refuse a folder with a revision of the user's own, which would be removed.

    The user may name one file. If it is already in `named`, the remedy is another folder.
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
    """Return whether the folder is `generated/` of the checkout, the target of pinned revisions."""
    return out.resolve() == (paths.schema().parent / "generated" / "mcp_wire").resolve()


def require_one_revision(target: Target) -> None:
    """Refuse lean models of several revisions, whose names would be the same, and of extensions."""
    if target.beside is not None:
        raise InputError("--lean writes no extension", remedy="Leave out --lean.")
    if len(target.schema_files) != 1 or target.only is not None:
        raise InputError(
            f"--lean writes one revision into a folder, not {', '.join(target.schema_files)}",
            remedy="Name one, and give each a folder of its own (--out).",
        )


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
