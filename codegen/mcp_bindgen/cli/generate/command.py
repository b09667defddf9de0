"""`mcp-bindgen generate`: writes bindings, or shows where a folder differs from its schemas."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import click

from mcp_bindgen import manifest
from mcp_bindgen.cli import FINDINGS, OK
from mcp_bindgen.cli.generate.choices import (
    ABSENT,
    FORMATS,
    LITERALS,
    UNKNOWN,
    Choices,
    Target,
    choose_target,
    find_schemas,
    out_folder,
    read_choices,
    require_one_revision,
)
from mcp_bindgen.cli.generate.extension import extension_target
from mcp_bindgen.cli.generate.files import confirm_rows, folders_to_write, input_digest, make_files
from mcp_bindgen.cli.ignored import idle_text
from mcp_bindgen.cli.options import FOLDER, imports_option
from mcp_bindgen.cli.show import near, safe, safe_text, say, warn
from mcp_bindgen.errors import OutputError

__all__ = ["command"]


_YES_OR_NO: Final[Mapping[bool | None, str | None]] = {None: None, True: "yes", False: "no"}


@dataclass(frozen=True, slots=True)
class _Outcome:
    """The files written or removed, the differences from the schemas, the number of files, and the
    files which are new.
    """

    changed: Sequence[str]
    diffs: Sequence[str]
    files: int
    new: frozenset[str] = frozenset()


@click.command("generate")
@click.argument("revisions", nargs=-1, metavar="[REVISION]...")
@click.option(
    "--schema",
    metavar="FILE",
    help="Read this schema file instead of a pinned revision (default: all pinned ones).",
)
@imports_option
@click.option(
    "--revision",
    metavar="NAME",
    help=(
        "Name the revision of --schema, or the extension as NAME@VERSION (default: none; "
        "--schema needs one, --extension takes that of --decisions)."
    ),
)
@click.option(
    "--extension",
    metavar="FILE",
    help="Write the package of the extension that this schema file declares (default: none).",
)
@click.option(
    "--core",
    metavar="REVISION",
    help=(
        "Import the core's types from the bindings of this revision (default: none; "
        "--extension needs one)."
    ),
)
@click.option(
    "--decisions",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Read the decisions for --extension from FILE, written as decisions.toml (default: none).",
)
@click.option(
    "--flavour",
    "flavours",
    metavar="LIST",
    help=(
        "Write only these flavours: dataclass, pydantic, msgspec, separated by commas "
        "(default: all)."
    ),
)
@click.option("--models", "--flavours", "formerly_models", hidden=True)
@click.option(
    "--lean/--no-lean",
    default=None,
    help=(
        "Write one revision as one module of plain pydantic models, laxer than the exact ones "
        "(default: --no-lean)."
    ),
)
@click.option(
    "--absent",
    type=click.Choice(ABSENT),
    help=("Give absent members of --lean models pydantic's MISSING, or None (default: missing)."),
)
@click.option(
    "--out",
    metavar="DIR",
    type=FOLDER,
    help="Write into this folder (default: generated/mcp_wire in a checkout).",
)
@click.option(
    "--unknown",
    type=click.Choice(UNKNOWN),
    help="Keep, drop or reject members not in the schema (default: keep).",
)
@click.option(
    "--literals",
    type=click.Choice(LITERALS),
    help=(
        "Refuse a text not listed in a union of literals (closed), or keep it (open) "
        "(default: closed)."
    ),
)
@click.option(
    "--format",
    type=click.Choice(FORMATS),
    help="Format the files with this formatter (default: off).",
)
@click.option(
    "--templates",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help=(
        "Use the Jinja templates in DIR instead of built-in ones of the same names (default: none)."
    ),
)
@click.option(
    "--prune", is_flag=True, help="Remove from the folder the flavours not named in --flavour."
)
@click.option(
    "--check",
    is_flag=True,
    help="Write nothing; show what differs, and exit with status 1 if anything does.",
)
@click.option(
    "--confirm",
    is_flag=True,
    help=(
        "Before writing, add new revisions to the rows of decisions.toml whose answers still hold."
    ),
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
    extension: str | None,
    core: str | None,
    decisions: Path | None,
    flavours: str | None,
    formerly_models: str | None,
    lean: bool | None,
    absent: str | None,
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
    """Write the bindings of every revision, or of the named ones.

    If revisions are named, only their folders are written and compared. Options are saved in
    MANIFEST.json and reused until you change them.
    """
    if extension is None:
        if core or decisions:
            raise click.UsageError("--core and --decisions go with --extension FILE")
        target = choose_target(out_folder(out), find_schemas(revisions, schema, revision, imports))
    elif revisions or schema or unknown or literals or confirm:
        raise click.UsageError(
            "--extension FILE goes alone: without REVISION, --schema, --unknown, --literals"
            " and --confirm"
        )
    else:
        target = extension_target(extension, core, out, revision, imports, decisions)
    there = manifest.read(target.out)
    choices = read_choices(
        target.out,
        {
            "flavours": flavours or formerly_models,
            "unknown": unknown,
            "literals": literals,
            "format": format,
            "templates": None if templates is None else str(templates),
            "lean": _YES_OR_NO[lean],
            "absent": absent,
        },
        prune=prune,
    )
    if choices.lean:
        require_one_revision(target)
    if confirm:
        confirm_rows(target)
    outcome = _check(target, choices) if check else _write(target, choices, force, there)
    _warn_of_idle_text(target)
    say(_report(report, target, outcome, check), nl=False)
    return FINDINGS if outcome.diffs else OK


# ---- the work


def _check(target: Target, choices: Choices) -> _Outcome:
    from mcp_bindgen.emit import tree

    within = folders_to_write(target)
    files = _scope(make_files(target, choices), within)
    return _Outcome((), tree.compare(target.out, files, within=within), len(files))


def _scope(files: Mapping[str, str], within: frozenset[str] | None) -> dict[str, str]:
    return {
        path: text
        for path, text in files.items()
        if within is None or path.partition("/")[0] in within
    }


def _write(
    target: Target, choices: Choices, force: bool, there: manifest.Manifest | None
) -> _Outcome:
    """Write the missing or changed files; `there` is the manifest read when the target was
    chosen.
    """
    inputs = input_digest(target, choices) if target.only is None else ""
    same = there is not None and there.revisions == tuple(target.schema_files)
    if there and inputs and same and manifest.fresh(target.out, there, inputs):
        return _Outcome((), (), len(there.files) + 1)
    from mcp_bindgen.emit import tree
    from mcp_bindgen.emit.trial import Trial

    within = folders_to_write(target)
    with Trial(_libraries(choices)) as trial:
        files = make_files(target, choices)
        _require_alone(target, there, files)
        chosen = _scope(files, within)
        for path in set(files) - set(chosen):  # what all revisions share, where it is not there yet
            if not (target.out / path).exists() and "/" not in path:
                chosen[path] = files[path]
        new = [path for path in chosen if not (target.out / path).exists()]
        changed = tree.write(
            target.out,
            dict(sorted(chosen.items())),
            force=force,
            within=within,
            require=partial(trial.require_package, files),
        )
    made = manifest.read(target.out)
    if made and inputs:
        tree.remember(target.out, manifest.STAMP, manifest.stamp(made, inputs))
    return _Outcome(changed, (), len(chosen), frozenset(new))


def _libraries(choices: Choices) -> Sequence[str]:
    """The libraries imported by the chosen flavours."""
    chosen = ("pydantic",) if choices.lean else choices.flavours
    return [name for name in ("msgspec", "pydantic") if chosen is None or name in chosen]


def _require_alone(
    target: Target, there: manifest.Manifest | None, files: Mapping[str, str]
) -> None:
    """Raise OutputError if a concurrent run has written files which this run would remove."""
    now = manifest.read(target.out) if target.only is None else there
    if now is not None and now != there and not files.keys() >= now.files.keys():
        raise OutputError(
            f"{target.out}: another mcp-bindgen has written into it meanwhile",
            remedy="Run this one again.",
        )


def _warn_of_idle_text(target: Target) -> None:
    """Warn of text without effect in a user's own files."""
    for file in target.schema_files.values():
        if file.revision:
            continue
        for line in idle_text(file):
            warn(f"mcp-bindgen: {safe(line)}")


# ---- the result


def _report(kind: str, target: Target, outcome: _Outcome, check: bool) -> str:
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
    new = sum(path in outcome.new for path in outcome.changed)
    counted = {"new": new, "changed": len(outcome.changed) - new}
    news = ", ".join(f"{n} {what}" for what, n in counted.items() if n) or "nothing changed"
    return f"{safe(near(target.out))}: {news}, {outcome.files} files\n"
