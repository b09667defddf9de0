"""`mcp-bindgen new`: a project of a new server, written whole or not at all."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mcp_bindgen import pins
from mcp_bindgen.cli import OK
from mcp_bindgen.cli.options import FOLDER, Network, network_options
from mcp_bindgen.cli.show import near, safe, say, warn
from mcp_bindgen.errors import OutputError, count_of
from mcp_bindgen.scaffold.answers import (
    AUTHS,
    RUNTIMES,
    TRANSPORTS,
    Answers,
    require_auth,
    require_name,
    require_revisions,
    require_runtime,
    require_scale,
    require_transports,
    require_ui,
)

if TYPE_CHECKING:
    from mcp_bindgen.scaffold.tools import Tool

__all__ = ["command"]


@click.command("new")
@click.argument("name", required=False)
@click.option(
    "--into",
    metavar="DIR",
    type=FOLDER,
    help="Write the project into DIR (default: ./NAME).",
)
@click.option(
    "--revisions",
    metavar="LIST",
    help="Speak these revisions, separated by commas (default: all).",
)
@click.option(
    "--transports",
    metavar="LIST",
    help=f"Serve over {' or '.join(TRANSPORTS)}, or both: {','.join(TRANSPORTS)} (default: stdio).",
)
@click.option(
    "--auth",
    type=click.Choice(AUTHS),
    default=AUTHS[0],
    help="Over HTTP, demand an access token of your authorization server (default: none).",
)
@click.option(
    "--scale",
    is_flag=True,
    help=(
        "With --transports http, add a compose file: two replicas that share a store, behind nginx."
    ),
)
@click.option(
    "--ui",
    is_flag=True,
    help="Show the sample tool's result as a page, in hosts that support MCP Apps.",
)
@click.option(
    "--from-tools",
    metavar="FILE|COMMAND|URL",
    help=(
        "Write a typed handler for each tool in FILE (a tools/list result), or of the server "
        "started by COMMAND or at URL (default: one sample tool)."
    ),
)
@click.option(
    "--strict",
    is_flag=True,
    help=(
        "Fail if a tool cannot be offered or fully typed, instead of leaving it out or writing Any."
    ),
)
@click.option(
    "--runtime",
    type=click.Choice(RUNTIMES),
    help=(
        "Copy the runtime into the project, or depend on mcp-bindgen-runtime (default: dependency "
        "if it was installed from an index of packages, or else vendored)."
    ),
)
@click.option("--dry-run", is_flag=True, help="Write nothing; list the files.")
@click.option("--yes", is_flag=True, help="Use the defaults without asking.")
@network_options
def command(
    name: str | None,
    into: Path | None,
    revisions: str | None,
    transports: str | None,
    auth: str,
    scale: bool,
    ui: bool,
    from_tools: str | None,
    strict: bool,
    runtime: str | None,
    dry_run: bool,
    yes: bool,
    network: Network,
) -> int:
    """Write the project of a new MCP server, called NAME: code, tests, settings for clients."""
    asks = not yes and all(s is not None and s.isatty() for s in (sys.stdin, sys.stderr))
    answers = _answers(name, revisions, transports, asks)
    answers = replace(
        answers,
        auth=require_auth(auth, answers.transports),
        scale=require_scale(scale, answers.transports),
        ui=require_ui(ui, from_tools is not None),
        tools=from_tools is not None,
        runtime=_runtime(runtime, answers),
    )
    folder = _folder(answers.name, into, asks)
    _require_free(folder)
    from mcp_bindgen.cli.new.project import texts, tools

    left_out: list[str] = []
    if from_tools is None:
        typed = []
    else:
        typed = tools(from_tools, network, strict=strict, left_out=left_out)
    files = texts(answers, typed)
    _warn(typed, left_out)
    if dry_run:
        say("\n".join(files))
        return OK
    _write(folder, files, answers.package)
    warn(_done(folder, len(files)))
    return OK


def _warn(tools: Sequence[Tool], left_out: Sequence[str]) -> None:
    """Say which tools were left out, and which places of the others' types became `Any`."""
    if left_out:
        warn("mcp-bindgen: these tools are left out, as no server can offer them:")
        for row in left_out:
            warn(f"  {safe(row)}")
    if any(tool.loose for tool in tools):
        from mcp_bindgen.scaffold.tools import loose_places

        warn(
            "mcp-bindgen: these places have no type of their own, and take any value of their kind:"
        )
        for place in loose_places(tools):
            warn(f"  {safe(place)}")


# ---- what was asked for


def _answers(
    name: str | None, revisions: str | None, transports: str | None, asks: bool
) -> Answers:
    if name is None and not asks:
        raise click.UsageError("NAME is needed.")
    chosen = require_name(name if name is not None else _ask("Name of the project"))
    known = pins.revisions()
    listed = _list("Revisions", revisions, ",".join(known), asks)
    spoken = require_revisions(listed, known, pins.decisions().handlers)
    ways = require_transports(_list("Transports", transports, "stdio", asks))
    return Answers(name=chosen, revisions=spoken, transports=ways)


def _runtime(said: str | None, answers: Answers) -> str:
    from mcp_bindgen.cli.new.project import default_runtime

    known = pins.revisions()
    has_all = len(answers.revisions) == len(known)
    return require_runtime(
        said or (default_runtime() if has_all else RUNTIMES[0]), answers.revisions, known
    )


def _list(what: str, said: str | None, default: str, asks: bool) -> list[str]:
    if said is None:
        said = _ask(f"{what}, by commas", default) if asks else default
    return [each.strip() for each in said.split(",")]


def _folder(name: str, into: Path | None, asks: bool) -> Path:
    if into is not None:
        return into
    return Path(_ask("Folder", name) if asks else name)


def _ask(question: str, default: str | None = None) -> str:
    answer: str = click.prompt(question, default=default, err=True)
    return answer


def _require_free(folder: Path) -> None:
    remedy = "Choose another folder (--into), or move it away."
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise OutputError(f"{folder}: is there, and is not a folder", remedy=remedy)
    if folder.is_dir() and any(folder.iterdir()):
        raise OutputError(f"{folder}: is not empty", remedy=remedy)
    for parent in folder.absolute().parents:
        if parent.exists():
            if not parent.is_dir():
                raise OutputError(f"{near(parent)}: is not a folder", remedy=remedy)
            return


# ---- the work


def _write(folder: Path, files: Mapping[str, str], package: str) -> None:
    """Write all into a folder beside it, which then takes its name. Raises OutputError, also if
    the server cannot be imported from there."""
    from mcp_bindgen.emit import tree
    from mcp_bindgen.emit.trial import Trial

    made = _make_parents(folder.absolute().parent)
    beside = Path(tempfile.mkdtemp(prefix=".mcp-bindgen-", dir=folder.absolute().parent))
    try:
        with Trial(["msgspec"]) as trial:
            tree.write(beside, files, force=True)
            trial.require_modules(beside / "src", list(_modules(files, package)))
        beside.chmod(0o777 & ~_umask())
        if folder.is_dir():
            folder.rmdir()
        beside.rename(folder)
    except OSError as error:
        shutil.rmtree(beside, ignore_errors=True)
        for parent in made:
            with suppress(OSError):
                parent.rmdir()
        raise _unwritten(error, folder) from None
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _unwritten(error: OSError, folder: Path) -> OutputError:
    return OutputError(
        f"{error.filename or folder}: {error.strerror or error}",
        remedy="Nothing was written. Make room or choose another folder (--into).",
    )


def _make_parents(folder: Path) -> list[Path]:
    """Make a folder and its parents; return the missing ones, innermost first."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritten(error, folder) from None
    return missing


def _modules(files: Mapping[str, str], package: str) -> Iterator[str]:
    """The server's own modules below `src`, which import `_mcp`."""
    for path in files:
        below = path.removeprefix("src/")
        is_own = below.startswith(f"{package}/") and not below.startswith(f"{package}/_mcp/")
        if path != below and is_own and path.endswith(".py") and not path.endswith("__main__.py"):
            yield below


def _umask() -> int:
    """The permission bits removed by this process's umask; `mkdtemp` removes all but the
    owner's.
    """
    umask = os.umask(0)
    os.umask(umask)
    return umask


def _done(folder: Path, count: int) -> str:
    place = near(folder)
    next_step = f"make -C {shlex.quote(place)} try"
    return (
        f"mcp-bindgen: {safe(place)} is written, {count_of(count, 'file')}. Next: {safe(next_step)}"
    )
