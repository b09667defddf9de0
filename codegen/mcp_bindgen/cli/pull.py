"""`mcp-bindgen pull`: brings an official schema file into schema/, and compares it with its pin."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mcp_bindgen import paths, pins
from mcp_bindgen.cli import FINDINGS, OK
from mcp_bindgen.cli.ignored import idle_text
from mcp_bindgen.cli.options import FOLDER, Network, network_options
from mcp_bindgen.cli.show import near, progress, safe, say, warn
from mcp_bindgen.errors import InputError, count_of

if TYPE_CHECKING:
    from mcp_bindgen.pull import Official, Pulled

__all__ = ["command"]

_SAID = {
    "new": "is new",
    "unchanged": "is unchanged",
    "prose": "has the same facts; the official file changed in other ways",
    "changed": "changed",
}


@click.command("pull")
@click.argument("revision", default="")
@click.option(
    "--extension",
    default="",
    metavar="NAME",
    help="Fetch this extension; REVISION is its version (default: the pinned one).",
)
@click.option(
    "--from",
    "origin",
    default="",
    metavar="FILE|DIR|URL",
    help="Fetch from this file, folder or URL (default: the public repository).",
)
@click.option(
    "--commit",
    default="",
    metavar="SHA",
    help="Fetch the file at this commit, and record it (default: the newest, unrecorded).",
)
@click.option("--remove", is_flag=True, help="Take the revision out: its files, pin and rows.")
@click.option(
    "--into",
    metavar="DIR",
    type=FOLDER,
    help="Write below this schema folder (default: schema/ of the checkout).",
)
@click.option(
    "--format",
    type=click.Choice(("text", "json")),
    default="text",
    help="Report what was done in this form (default: text).",
)
@click.option(
    "--import",
    "imports",
    multiple=True,
    metavar="SPECIFIER=FILE|URL|REVISION",
    help="Take what the schema imports from SPECIFIER from this file, which is pinned with it, or "
    "from this pinned revision; repeatable (default: files beside it, and as the pin says).",
)
@network_options
def command(
    revision: str,
    extension: str,
    origin: str,
    commit: str,
    remove: bool,
    into: Path | None,
    format: str,
    imports: tuple[str, ...],
    network: Network,
) -> int:
    """Fetch an official schema into schema/.

    Its declarations are kept, its prose is not. The files beside it which it imports, such as
    ./common.js, come with it. Exit status 0: done; 1: the declarations differ from the pinned ones;
    2: nothing was written.
    """
    from mcp_bindgen import download, pull

    if not (revision or extension):
        raise click.UsageError("REVISION is needed, or --extension NAME.")
    like = None
    if extension:
        revision, like = pull.extend_pins(extension, revision, _into(into))
    pins.require_name(revision)
    if remove:
        changed = pull.remove(revision, _into(into))
        say("\n".join([f"{revision} is removed", *(f"changed   {path}" for path in changed)]))
        return OK
    with progress(2) as step:
        step("fetching")
        path = like.path if like else f"schema/{revision}/schema.ts"
        repository = like.repository if like else ""
        place = download.locate(path, origin, commit, repository)
        data = download.read(place, network)
        pinned, named = _split(imports)
        modules = {**(like.modules if like else {}), **pinned}
        beside = _beside(data, place, modules, named, network)
        step("reading")
        pulled = pull.pull(revision, data, _into(into), commit, like, modules, beside)
    folder = _into(into)
    say(_json(pulled) if format == "json" else _text(pulled, folder))
    for line in idle_text(_file(pulled, folder)) if pulled.status in ("new", "changed") else ():
        warn(f"mcp-bindgen: {safe(line)}")
    return FINDINGS if pulled.status == "changed" else OK


def _file(pulled: Pulled, folder: Path) -> pins.Found:
    """The written files of a revision."""
    place = pins.place(pulled.revision)
    imports = pins.imported_files(pulled.pin, pulled.revision, folder=folder)
    imports = pins.apart(imports) if "@" in pulled.revision else imports
    data = pins.read_bytes(folder / place)
    return pins.Found(data, f"schema/{place}", pulled.revision, imports)


def _split(rows: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    """The targets of SPECIFIER=TARGET, by specifier: those that are pinned, and the others."""
    targets: dict[str, str] = {}
    for row in rows:
        specifier, separator, target = row.rpartition("=")
        if not (separator and specifier and target):
            raise InputError(
                f"{row!r} maps no import", remedy="Write SPECIFIER=FILE, =URL or =REVISION."
            )
        targets[specifier] = target
    known = {*pins.pins(), *pins.extensions()}
    pinned = {specifier: target for specifier, target in targets.items() if target in known}
    return pinned, {s: target for s, target in targets.items() if s not in pinned}


def _beside(
    data: bytes, place: str, modules: Mapping[str, str], named: Mapping[str, str], network: Network
) -> dict[str, Official]:
    """The official files that a schema at `place` imports, by specifier: `named`, or beside it."""
    from mcp_bindgen import download
    from mcp_bindgen.pull import Official
    from mcp_bindgen.source import Source
    from mcp_bindgen.source.siblings import file_names, siblings

    read: dict[str, Source] = {}

    def fetch(where: str) -> Source:
        if where not in read:
            read[where] = Source(download.read(where, network), where, part=True)
        return read[where]

    def look(file: Source, specifier: str) -> Source | None:
        for name in file_names(specifier):
            try:
                return fetch(download.beside(file.path, name))
            except download.Missing:
                continue
        return None

    main = Source(data, place)
    files = {specifier: fetch(where) for specifier, where in named.items()}
    known = {**dict.fromkeys(modules, main), **files}
    files |= siblings(main, known, look)
    return {s: Official(each.data, _from(place, each.path)) for s, each in files.items()}


def _from(place: str, path: str) -> str:
    """The way from one file to another: a relative path, or a name if they share no folder."""
    home = place.rpartition("/")[0]
    if "://" in place or "://" in path:
        way = path.removeprefix(f"{home}/")
        return way if way != path else path.rpartition("/")[2]
    return Path(os.path.relpath(path, home or ".")).as_posix()


def _into(into: Path | None) -> Path:
    folder = into or paths.schema()
    if into is None and folder.name != "schema":
        raise InputError(
            "an installed mcp-bindgen has no schema folder of its own to write to",
            remedy="Say where: --into DIR.",
        )
    return folder


def _json(pulled: Pulled) -> str:
    return json.dumps(asdict(pulled), indent=2, ensure_ascii=False)


def _text(pulled: Pulled, folder: Path) -> str:
    lines = [
        f"{pulled.revision} {_SAID[pulled.status]}",
        *pulled.differs,
        *(f"{digest} differs from the pinned one" for digest in pulled.digests),
        f"sha256    {pulled.pin.sha256}",
        f"structure {pulled.pin.structure}",
        f"commit    {pulled.pin.commit or 'unknown: say it with --commit'}",
        *(f"wrote     {safe(near(folder / path))}" for path in pulled.written),
        *_unsaid(pulled.unsaid),
    ]
    return "\n".join(lines)


def _unsaid(places: tuple[str, ...]) -> list[str]:
    if not places:
        return []
    comments = count_of(len(places), "comment")
    head = f"{comments} to write in our words, as the official ones are new or changed:"
    return ["", head, *places]
