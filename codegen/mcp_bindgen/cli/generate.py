"""`mcp-bindgen generate`: schemas to the files of a bindings package, or what differs from them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from mcp_bindgen import manifest, paths, pins
from mcp_bindgen.cli import FINDINGS, OK
from mcp_bindgen.cli.options import imports_option
from mcp_bindgen.cli.show import near, progress, safe, safe_text, say
from mcp_bindgen.errors import InputError, OutputError

if TYPE_CHECKING:
    from mcp_bindgen.convert.model import Pair
    from mcp_bindgen.emit.options import Options
    from mcp_bindgen.ir.decisions import Decisions
    from mcp_bindgen.ir.model import Schema

__all__ = ["bindings", "command"]

_UNKNOWN: Final = ("keep", "drop", "reject")
_LITERALS: Final = ("closed", "open")
_FORMATS: Final = ("off", "black")
_COMMAND: Final = ("run `make generate`", "run `mcp-bindgen generate`")
"""What headers name in this project, and in every other."""


@dataclass(frozen=True, slots=True)
class _Choices:
    """What was asked for. `models` None is every flavour."""

    models: tuple[str, ...] | None
    unknown: str
    literals: str
    format: str
    templates: Path | None


@dataclass(frozen=True, slots=True)
class _Target:
    """Which schemas, by revision name, go where.

    `only` are the revisions whose folders alone are written; None means the whole folder.
    """

    out: Path
    schema_files: Mapping[str, pins.Found]
    only: frozenset[str] | None


@dataclass(frozen=True, slots=True)
class _Outcome:
    """`files` is how many there should be; None where nothing had to be made to know."""

    changed: Sequence[str]
    diffs: Sequence[str]
    files: int


@click.command("generate")
@click.argument("revisions", nargs=-1, metavar="[REVISION]...")
@click.option(
    "--schema",
    metavar="FILE",
    help="Read this schema file, which is no pinned revision (default: the pinned ones).",
)
@imports_option
@click.option(
    "--revision",
    metavar="NAME",
    help="Call the revision of --schema by this NAME (default: none; --schema needs one).",
)
@click.option(
    "--models", metavar="LIST", help="Write these flavours, separated by commas (default: all)."
)
@click.option(
    "--out",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Write into this folder (default: generated/mcp_wire in a checkout).",
)
@click.option(
    "--unknown",
    type=click.Choice(_UNKNOWN),
    help="Keep, drop or reject unknown members (default: keep).",
)
@click.option(
    "--literals",
    type=click.Choice(_LITERALS),
    help="Take other texts than a union of literals lists, or refuse them (default: closed).",
)
@click.option(
    "--format",
    type=click.Choice(_FORMATS),
    help="Have this formatter lay out what is written (default: off).",
)
@click.option(
    "--templates",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Use the templates in DIR in place of ours of the same names (default: none).",
)
@click.option(
    "--prune", is_flag=True, help="Remove the flavours in the folder that --models lacks."
)
@click.option("--check", is_flag=True, help="Write nothing; show what differs, and exit 1 if any.")
@click.option(
    "--confirm",
    is_flag=True,
    help="Add new revisions to the rows that answer unchanged questions, first.",
)
@click.option("--force", is_flag=True, help="Write into a folder that holds other files too.")
@click.option(
    "--report",
    type=click.Choice(("text", "json")),
    default="text",
    help="Report what was done in this form (default: text).",
)
def command(
    revisions: tuple[str, ...],
    schema: str | None,
    imports: tuple[str, ...],
    revision: str | None,
    models: str | None,
    out: Path | None,
    unknown: str | None,
    literals: str | None,
    format: str | None,
    templates: Path | None,
    prune: bool,
    check: bool,
    confirm: bool,
    force: bool,
    report: str,
) -> int:
    """Write the bindings of every revision, or of those named.

    Where revisions are named, only their folders are written and compared. Options are kept in
    MANIFEST.json, and stand until others are given.
    """
    target = _target(_out(out), _found(revisions, schema, revision, imports))
    choices = _choices(
        target.out,
        {
            "models": models,
            "unknown": unknown,
            "literals": literals,
            "format": format,
            "templates": None if templates is None else str(templates),
        },
        prune=prune,
    )
    if confirm:
        _confirm(target)
    outcome = _check(target, choices) if check else _write(target, choices, force)
    say(_report(report, target, outcome, check), nl=False)
    return FINDINGS if outcome.diffs else OK


# ---- what was asked for


def _choices(out: Path, given: Mapping[str, str | None], *, prune: bool) -> _Choices:
    """What is given, else what the folder was made with, else the defaults."""
    there = manifest.read(out)
    kept: Mapping[str, str] = there.options if there else {}
    said = {name: value or kept.get(name) for name, value in given.items()}
    flavours = _flavours(said["models"])
    if flavours is not None and there is not None and not prune:
        flavours = _flavours(",".join([*flavours, *_flavours_in(there)]))
    templates = given["templates"] or (str(out / said["templates"]) if said["templates"] else "")
    return _Choices(
        flavours,
        said["unknown"] or _UNKNOWN[0],
        said["literals"] or _LITERALS[0],
        said["format"] or _FORMATS[0],
        _folder(Path(templates) if templates else None),
    )


def _flavours_in(there: manifest.Manifest) -> list[str]:
    from mcp_bindgen.emit import FLAVOURS

    names = {Path(path).name for path in there.files}
    return [flavour for flavour in FLAVOURS if f"handlers_{flavour}.py" in names]


def _kept(out: Path, choices: _Choices) -> dict[str, str]:
    """The options that are not the defaults; the folder of templates is said from the output's."""
    values = {
        "models": ",".join(choices.models or ()),
        "unknown": choices.unknown.removeprefix(_UNKNOWN[0]),
        "literals": choices.literals.removeprefix(_LITERALS[0]),
        "format": choices.format.removeprefix(_FORMATS[0]),
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
        raise InputError(f"{templates}: is no folder", remedy="Give a folder of templates.")
    return templates


def _out(out: Path | None) -> Path:
    if out is not None:
        return out
    schema = paths.schema()
    if schema.name != "schema":
        raise InputError(
            "an installed mcp-bindgen has no folder of its own to write to",
            remedy="Say where: --out DIR.",
        )
    return schema.parent / "generated" / "mcp_wire"


def _found(
    revisions: tuple[str, ...], schema: str | None, name: str | None, imports: tuple[str, ...]
) -> dict[str, pins.Found]:
    """The schemas that were named, by revision; empty for none."""
    if (schema is None) != (name is None):
        raise click.UsageError("--schema FILE and --revision NAME go together")
    schema_files = {revision: _pinned(revision) for revision in sorted(set(revisions))}
    if schema is not None and name is not None:
        if name in schema_files:
            raise click.UsageError(f"{name} is named twice")
        schema_files[pins.require_name(name)] = pins.find(schema, imports)
    return schema_files


def _pinned(revision: str) -> pins.Found:
    pins.schema_path(revision)  # refuses an unknown one
    return pins.find(revision)


def _target(out: Path, named: Mapping[str, pins.Found]) -> _Target:
    pinned = pins.revisions()
    if not named:
        return _Target(out, {revision: _pinned(revision) for revision in pinned}, None)
    there = manifest.read(out)
    have = set(there.revisions) if there else set[str]()
    others = have - set(named)
    if others and set(named) - have and others <= set(pinned):
        both = {**named, **{revision: _pinned(revision) for revision in others}}
        return _Target(out, dict(sorted(both.items())), None)
    alone = there is None and not (out.is_dir() and any(out.iterdir()))
    whole = alone or (there is not None and not others)
    return _Target(out, named, None if whole else frozenset(named))


# ---- the work


def _inputs(target: _Target, choices: _Choices) -> str:
    """The digest of all that the output depends on."""
    return manifest.digest(_parts(target, choices))


def _parts(target: _Target, choices: _Choices) -> Iterator[tuple[str, bytes]]:
    yield from manifest.sources()
    for revision, file in target.schema_files.items():
        yield f"schema {revision} {_shown(file)} {file.revision}", file.data
        for specifier, source in file.imports.items():
            yield f"import {revision} {specifier}", source.data
    yield "decisions", pins.read_bytes(paths.schema() / "decisions.toml")
    for folder in (choices.templates, paths.templates() / "bindings"):
        for path, data in manifest.texts(folder) if folder else ():
            yield f"template {path}", data
    models = "all" if choices.models is None else ",".join(choices.models)
    options = (models, choices.unknown, choices.literals, choices.format)
    yield "options", " ".join(options).encode()
    if choices.format == "black":
        from importlib.metadata import version

        yield "black", version("black").encode()


def _shown(file: pins.Found) -> str:
    """What headers say of a file: no more of its path than that."""
    ours = file.path == f"schema/{file.revision}/schema.ts"
    return file.path if ours else Path(file.path).name


def _options(choices: _Choices) -> Options:
    from mcp_bindgen.emit import Options

    models = Options().models if choices.models is None else choices.models
    return Options(models, choices.unknown, choices.literals, choices.format, choices.templates)


def _make(target: _Target, choices: _Choices) -> dict[str, str]:
    """Every file, by path; the manifest too where the whole folder is written."""
    files = bindings(target.schema_files, _options(choices))
    if target.out.resolve() != (paths.schema().parent / "generated" / "mcp_wire").resolve():
        files = {path: text.replace(*_COMMAND, 1) for path, text in files.items()}
    if target.only is None:
        options = _kept(target.out, choices)
        files[manifest.NAME] = manifest.made(list(target.schema_files), files, options).text()
    return files


def bindings(
    schema_files: Mapping[str, pins.Found], options: Options, *, steps: bool = False
) -> dict[str, str]:
    """The text of every file, by path; with `steps` those of a revision without neighbours too."""
    from mcp_bindgen.emit import generate

    with progress(len(schema_files) + 1) as step:
        schemas: list[Schema] = []
        rows = replace(pins.decisions(), deferred=True)
        rows.require_known(*_pinned_names())
        for revision, each in schema_files.items():
            step(f"reading {revision}")
            schemas.append(pins.lower(each, revision, rows))
        pairs = _pairs(schema_files, schemas, rows)
        rows.settle()
        step("writing")
        return generate(schemas, options, pairs if pairs or steps else None, rows.handlers)


def _confirm(target: _Target) -> None:
    """Adds each new revision to the rows that answer for it unchanged."""
    from mcp_bindgen.ir.confirmation import confirmed

    rows = replace(pins.decisions(), deferred=True)
    for revision, each in target.schema_files.items():
        pins.lower(each, revision, rows)
    if rows.confirmations:
        path = paths.schema() / "decisions.toml"
        path.write_text(confirmed(rows.text, rows.confirmations), encoding="utf-8")


def _pinned_names() -> tuple[list[str], list[str]]:
    """The pinned revisions, and what rows call each pair of neighbours."""
    from mcp_bindgen.convert.plan import pair_name

    pinned = pins.revisions()
    return pinned, [pair_name(old, new) for old, new in pairwise(pinned)]


def _pairs(
    schema_files: Mapping[str, pins.Found], schemas: Sequence[Schema], rows: Decisions
) -> list[Pair]:
    """The plans of pinned neighbours that are both written; others are no business of rows."""
    from mcp_bindgen.convert import plan

    chosen = {s.revision: s for s in schemas if schema_files[s.revision].revision == s.revision}
    pinned = pins.revisions()
    both = [(chosen.get(a), chosen.get(b)) for a, b in pairwise(pinned)]
    texts = {revision: each.data for revision, each in schema_files.items()}
    return [plan(old, new, rows, texts) for old, new in both if old and new]


def _within(target: _Target) -> frozenset[str] | None:
    """The folders that are written alone; two revisions of one name are refused."""
    from mcp_bindgen.emit.generate import package

    names = [package(revision) for revision in target.schema_files]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise OutputError(
            f"two revisions would be the package {', '.join(sorted(twice))}",
            remedy="Call one of them otherwise (--revision).",
        )
    return None if target.only is None else frozenset(map(package, target.only))


def _check(target: _Target, choices: _Choices) -> _Outcome:
    from mcp_bindgen.emit import tree

    within = _within(target)
    files = _scoped(_make(target, choices), within)
    return _Outcome((), tree.compare(target.out, files, within=within), len(files))


def _scoped(files: Mapping[str, str], within: frozenset[str] | None) -> dict[str, str]:
    return {
        path: text
        for path, text in files.items()
        if within is None or path.partition("/")[0] in within
    }


def _write(target: _Target, choices: _Choices, force: bool) -> _Outcome:
    there = manifest.read(target.out)
    inputs = _inputs(target, choices) if target.only is None else ""
    same = there is not None and there.revisions == tuple(target.schema_files)
    if there and inputs and same and manifest.fresh(target.out, there, inputs):
        return _Outcome((), (), len(there.files) + 1)
    from mcp_bindgen.emit import tree

    within = _within(target)
    files = _make(target, choices)
    chosen = _scoped(files, within)
    for path in set(files) - set(chosen):  # what all revisions share, where it is not there yet
        if not (target.out / path).exists() and "/" not in path:
            chosen[path] = files[path]
    changed = tree.write(target.out, dict(sorted(chosen.items())), force=force, within=within)
    made = manifest.read(target.out)
    if made and inputs:
        tree.remember(target.out, manifest.STAMP, manifest.stamp(made, inputs))
    return _Outcome(changed, (), len(chosen))


# ---- the result


def _report(kind: str, target: _Target, outcome: _Outcome, check: bool) -> str:
    if kind == "json":
        body = {
            "out": near(target.out),
            "revisions": list(target.schema_files),
            "files": outcome.files,
            **({"drift": list(outcome.diffs)} if check else {"changed": list(outcome.changed)}),
        }
        return json.dumps(body, indent=2, ensure_ascii=False) + "\n"
    if check:
        return safe_text("".join(outcome.diffs))
    count = len(outcome.changed)
    return f"{safe(near(target.out))}: {count or 'nothing'} changed, {outcome.files} files\n"
