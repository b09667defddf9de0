"""`mcp-bindgen install`: adds a server to the settings of a host, such as Claude Code or Cursor."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any, Final
from urllib.parse import urlsplit

import click

from mcp_bindgen.cli import COULD_NOT, OK
from mcp_bindgen.cli.call.words import parse
from mcp_bindgen.cli.install.change import confirm, read_settings, show_change, write_settings
from mcp_bindgen.cli.programs import is_url
from mcp_bindgen.cli.show import safe, say, warn
from mcp_bindgen.errors import InputError
from mcp_bindgen.hosts.settings import servers, with_server, without_server
from mcp_bindgen.hosts.table import HOSTS, Host, Launch

__all__ = ["command", "host_options", "uninstall"]

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_VARIABLE: Final = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?:=(?P<value>.*))?", re.S)


def host_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options which both verbs share."""
    for option in (
        click.option(
            "--file",
            "by_file",
            is_flag=True,
            help="Edit the settings file, even if the host has a command for it.",
        ),
        click.option(
            "--dry-run", "dry", is_flag=True, help="Show what would change, and change nothing."
        ),
        click.option("-y", "--yes", is_flag=True, help="Change without asking."),
        click.option(
            "--project",
            is_flag=True,
            help="Change the settings of the project in this folder, not your own.",
        ),
        click.option(
            "--client",
            "host",
            type=click.Choice(tuple(HOSTS)),
            required=True,
            help="Choose the host.",
        ),
    ):
        command = option(command)
    return command


@click.command("install")
@host_options
@click.option(
    "--name",
    metavar="NAME",
    help="Use this name for the server (default: that of its file, program or host).",
)
@click.option(
    "--env",
    "variables",
    metavar="NAME[=VALUE]",
    multiple=True,
    help=(
        "Give the server this variable; without VALUE a reference is written, and no secret; "
        "repeatable (default: none)."
    ),
)
@click.argument("words", nargs=-1, required=True, metavar="FILE|URL|-- COMMAND...")
def command(
    host: str,
    project: bool,
    yes: bool,
    dry: bool,
    by_file: bool,
    name: str | None,
    variables: tuple[str, ...],
    words: tuple[str, ...],
) -> int:
    """Add a server to the settings of a host.

    The server is a file such as server.py, a command behind `--`, or a URL. The change is shown and
    asked for; comments and other settings stay, and a copy of the file is kept. Exit status 0:
    done, or nothing to do; 2: not done.
    """
    to, launch = HOSTS[host], _launch(words, variables)
    called = _require_name(name or _name_of(words))
    entry = to.entry(launch)
    if (own := _own_command(to, launch, called, project, by_file)) is not None:
        return _run(own, yes=yes, dry=dry)
    path = _path(to, project)
    old = read_settings(path)
    try:
        if servers(to, old).get(called) == entry:
            say(f"{to.title} has {called} already")
            return OK
        new = with_server(to, old, called, entry)
    except InputError as error:
        raise InputError(f"{path}: {error.message}", remedy=error.remedy) from None
    done = _change(path, old, new, yes=yes, dry=dry)
    if done:
        say(f"{to.title} has {called} after its next start")
    return OK if done or dry else COULD_NOT


@click.command("uninstall")
@host_options
@click.argument("name", metavar="NAME")
def uninstall(host: str, project: bool, yes: bool, dry: bool, by_file: bool, name: str) -> int:
    """Remove a server from the settings of a host.

    The change is shown and asked for; comments and other settings stay, and a copy of the file is
    kept. Exit status 0: done; 2: not done, or no such server.
    """
    to = HOSTS[host]
    if not by_file and _has_command(to.remove, project):
        filled = _fill(to.remove, Launch(), _require_name(name), project)
        return _run(filled, yes=yes, dry=dry)
    path = _path(to, project)
    old = read_settings(path)
    try:
        known = servers(to, old)
        if name not in known:
            named = ", ".join(map(safe, known)) or "none"
            raise InputError(f"has no server {name!r}", remedy=f"Servers there: {named}.")
        new = without_server(to, old, name)
    except InputError as error:
        raise InputError(f"{path}: {error.message}", remedy=error.remedy) from None
    done = _change(path, old, new, yes=yes, dry=dry)
    return OK if done or dry else COULD_NOT


def _launch(words: Sequence[str], variables: Sequence[str]) -> Launch:
    """The server with full paths: a host starts it in another folder. Raises InputError."""
    server = [*parse(words, tool=False, arguments=False).server]
    values, references = dict[str, str](), list[str]()
    for text in variables:
        if (match := _VARIABLE.fullmatch(text)) is None:
            raise InputError("a variable is NAME or NAME=VALUE", remedy="For instance: API_KEY")
        if match["value"] is None:
            references.append(match["name"])
        else:
            values[match["name"]] = match["value"]
    if is_url(server[0]):
        if not server[0].startswith(("http://", "https://")) or len(server) > 1:
            raise InputError("the URL of a server begins with http:// or https://, and is one word")
        if variables:
            raise InputError("variables are for a command, not for a URL")
        return Launch(url=server[0])
    program = shutil.which(server[0])
    if program is None:
        raise InputError(f"there is no program {safe(server[0])}")
    command = [os.path.abspath(program), *(_full(word) for word in server[1:])]
    return Launch(command=command, values=values, references=references)


def _full(word: str) -> str:
    return os.path.abspath(word) if Path(word).is_file() else word


def _name_of(words: Sequence[str]) -> str:
    """A name for the server: of its file, its program or its host."""
    if is_url(words[0]):
        return (urlsplit(words[0]).hostname or "").replace(".", "-")
    scripts = [word for word in words if PurePath(word).suffix]
    return PurePath(scripts[0] if scripts else words[-1]).stem


def _require_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise InputError(
            f"{safe(name)!r} cannot be the name of a server",
            remedy="--name takes letters, digits, `-` and `_`, at most 64.",
        )
    return name


def _path(host: Host, project: bool) -> Path:
    if not project:
        return Path.home() / host.files.get(sys.platform, host.files["linux"])
    if not host.project:
        raise InputError(f"{host.title} has no settings of a project", remedy="Omit --project.")
    return Path.cwd() / host.project


def _own_command(
    host: Host, launch: Launch, name: str, project: bool, by_file: bool
) -> list[str] | None:
    """The command of the host which adds the server; None to change the file."""
    words = host.add_url if launch.url else host.add
    can_say = host.reference or not launch.references
    if by_file or not can_say or not _has_command(words, project):
        return None
    return _fill(words, launch, name, project, host.reference)


def _has_command(words: Sequence[str], project: bool) -> bool:
    if not words or (project and "{scope}" not in words):
        return False
    return shutil.which(words[0]) is not None


def _fill(
    words: Sequence[str], launch: Launch, name: str, project: bool, reference: str = ""
) -> list[str]:
    variables: Mapping[str, str] = {
        **(launch.values or {}),
        **{each: reference.format(each) for each in launch.references},
    }
    values: dict[str, Sequence[str]] = {
        "{name}": (name,),
        "{url}": (launch.url,),
        "{scope}": ("project" if project else "user",),
        "{command}": launch.command,
        "{env}": [word for k, v in variables.items() for word in ("--env", f"{k}={v}")],
    }
    return [part for word in words for part in values.get(word, (word,))]


def _run(words: Sequence[str], *, yes: bool, dry: bool) -> int:
    say(safe(shlex.join(words)))
    if dry:
        return OK
    if not confirm("Run this?", yes=yes):
        return COULD_NOT
    program = shutil.which(words[0]) or words[0]
    done = subprocess.run([program, *words[1:]], check=False)
    if done.returncode:
        warn(f"mcp-bindgen: it ended with exit code {done.returncode}")
    return OK if done.returncode == 0 else COULD_NOT


def _change(path: Path, old: str, new: str, *, yes: bool, dry: bool) -> bool:
    """Show the change, and write it if it is agreed to; return whether it was written."""
    show_change(path, old, new)
    if dry or not confirm("Write this?", yes=yes):
        return False
    write_settings(path, old, new)
    return True
