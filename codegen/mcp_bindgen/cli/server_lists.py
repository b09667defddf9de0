"""Reads the lists of a server: from a file, a commit, a command that starts it, or its URL."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import shutil
from codecs import BOM_UTF8
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mcp_bindgen import pins
from mcp_bindgen.cli.held_errors import HeldErrors
from mcp_bindgen.cli.programs import is_script, launched
from mcp_bindgen.errors import InputError

if TYPE_CHECKING:
    from mcp_bindgen.cli.options import Network
    from mcp_runtime.client.client import Client

__all__ = ["read_lists", "served_command"]

_URL: Final = re.compile(r"https?://", re.IGNORECASE)
_GIT: Final = "git:"
_LISTS: Final = {
    "tools": ("tools", "list_tools"),
    "prompts": ("prompts", "list_prompts"),
    "resources": ("resources", "list_resources"),
    "resourceTemplates": ("resources", "list_resource_templates"),
}
"""The lists of a server, each with its capability and the client's method."""
_METHOD_NOT_FOUND: Final = -32601


def read_lists(source: str, network: Network, *, only_tools: bool = False) -> tuple[bytes, str]:
    """Return JSON with the lists of a server, and the name by which messages call it.

    `source` is a file with them, `git:REF:PATH`, a command or a script that starts the server, or
    its URL, reached as `network` says; the last three are asked for all lists, or for their tools.
    Raises InputError.
    """
    if _URL.match(source):
        return asyncio.run(_list_at(source, network, only_tools)), source
    if network.is_asked_for:
        raise InputError("--proxy, --cacert and --ignore-environment are for tools at a URL")
    if source.startswith(_GIT):
        return _committed(source.removeprefix(_GIT)), source
    if (command := served_command(source)) is not None:
        name = command[-1] if Path(source).is_file() else command[0]
        return asyncio.run(_list_by(command, name, only_tools)), name
    if not Path(source).exists():
        raise InputError(
            f"{source}: is not a readable file, a program or a URL",
            remedy="Give a file with a tools/list result, a server's command in quotes, or its "
            "URL.",
        )
    return pins.read_bytes(Path(source)), source


def served_command(source: str) -> Sequence[str] | None:
    """Return the command that starts a server, or None for a file with lists and for a URL."""
    path = Path(source)
    if path.is_file():
        if is_script(source):
            return launched([source])
        return [str(path.absolute())] if _is_program(path) else None
    if path.exists() or _URL.match(source) or source.startswith(_GIT):
        return None
    words = _words(source)
    return words if len(words) > 1 or (words and shutil.which(words[0])) else None


def _words(command: str) -> list[str]:
    """The words of a command, as a shell parts them; none where a quote is not closed."""
    try:
        return shlex.split(command)
    except ValueError:
        return []


def _is_program(path: Path) -> bool:
    """Return whether a file is a program to start: it is executable, and not JSON."""
    if not os.access(path, os.X_OK):
        return False
    with path.open("rb") as file:
        return file.read(1024).removeprefix(BOM_UTF8).lstrip()[:1] not in (b"{", b"[")


def _committed(spec: str) -> bytes:
    """The contents of a file in a commit, given as REF:PATH. Raises InputError."""
    from mcp_bindgen.cli.git import file_at

    ref, _, path = spec.partition(":")
    if not path:
        raise InputError(f"git:{spec} names no file", remedy="For instance: git:main:tools.json")
    return file_at(ref, path)


# ---- what is asked of a server


async def _list_by(command: Sequence[str], name: str, only_tools: bool) -> bytes:
    """Start a server and list its tools. Raises InputError if it does not start or answer."""
    from mcp_runtime.client.client import Client

    remedy = "Does the command start a server that talks on its stdin and stdout?"
    errors = HeldErrors()
    try:
        make = partial(Client.stdio, command, stderr=errors)
        return await _list(make, name, remedy, only_tools)
    except InputError:
        errors.show_end()
        raise


async def _list_at(url: str, network: Network, only_tools: bool) -> bytes:
    """List the tools of the server at a URL. Raises InputError."""
    from mcp_runtime.client.client import Client

    make = partial(Client.http, url, **network.of_client(url))
    return await _list(make, url, "Does a server of MCP answer there?", only_tools)


async def _list(make: Callable[[], Client], name: str, remedy: str, only_tools: bool) -> bytes:
    from mcp_runtime.errors import NotInstalled, SessionError

    try:
        async with make() as client:
            listed = await (_tools(client) if only_tools else _all_lists(client, name))
    except NotInstalled as error:
        raise InputError(str(error)) from None
    except (SessionError, ValueError) as error:
        first, *others = f"{name!r} lists no tools: {error}".splitlines()
        rows = [f"| {line}" for line in others]
        raise InputError(first, rows=rows, remedy=remedy) from None
    return json.dumps(listed).encode()


async def _tools(client: Client) -> Mapping[str, Any]:
    from mcp_runtime.revisions import latest

    return {"tools": [latest.to_wire(tool) for tool in await client.list_tools()]}


async def _all_lists(client: Client, name: str) -> Mapping[str, Any]:
    """All lists, and who the server is. A list that the server does not offer is empty.

    Raises InputError for a list with items that had to be left out, which proves nothing.
    """
    from mcp_runtime.revisions import latest

    info = client.server_info
    said = None if info is None else latest.to_wire(info)
    listed: dict[str, Any] = {"server": said, "revision": client.revision}
    for member, (capability, method) in _LISTS.items():
        offered = capability in client.server_capabilities
        listed[member] = await _items(client, method) if offered else []
    if client.problems:
        rows = [f"| {problem}" for problem in client.problems]
        raise InputError(f"{name!r} lists invalid items", rows=rows, remedy="Mend the server.")
    return listed


async def _items(client: Client, method: str) -> list[Any]:
    """One list; empty where the server does not know the method."""
    from mcp_runtime.errors import RemoteError
    from mcp_runtime.revisions import latest

    try:
        return [latest.to_wire(item) for item in await getattr(client, method)()]
    except RemoteError as error:
        if error.code != _METHOD_NOT_FOUND:
            raise
        return []
