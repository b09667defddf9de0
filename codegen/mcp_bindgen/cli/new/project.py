"""Makes the files of a project for `new` and `update`, and reads the tools it is made for."""

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
from importlib.metadata import distribution
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from mcp_bindgen import manifest, paths, pins
from mcp_bindgen.cli.held_errors import HeldErrors
from mcp_bindgen.errors import InputError
from mcp_bindgen.scaffold.answers import Answers

if TYPE_CHECKING:
    from mcp_bindgen.cli.options import Network
    from mcp_bindgen.scaffold.tools import Tool
    from mcp_runtime.client.client import Client

__all__ = ["texts", "tools", "tools_of"]

_URL: Final = re.compile(r"https?://", re.IGNORECASE)


def texts(answers: Answers, tools: Sequence[Tool] = (), listed: str = "") -> dict[str, str]:
    """Every file of a project by path; `listed` is its existing list of tools, if any.

    Raises BindgenError.
    """
    from mcp_bindgen.scaffold.render import project, templates
    from mcp_bindgen.scaffold.vendor import vendored

    files = {**vendored(answers, _wire(answers), _runtime()), **_terms()}
    handlers = pins.decisions().handlers
    return project(answers, templates(answers.tools), files, tools, listed, handlers)


def tools(
    source: str, network: Network, *, strict: bool = False, left_out: list[str] | None = None
) -> list[Tool]:
    """The tools in a file with a result of `tools/list`, of a server started by a command, or of a
    server at a URL, reached as `network` says. See `tools_of`.
    """
    chosen = partial(tools_of, strict=strict, left_out=left_out)
    if _URL.match(source):
        return chosen(asyncio.run(_list_at(source, network)), source)
    if network.is_asked_for:
        raise InputError("--proxy, --cacert and --ignore-environment are for tools at a URL")
    path = Path(source)
    words = _words(source)
    if path.is_file() and not _is_program(path):
        return chosen(pins.read_bytes(path), source)
    if len(words) > 1 or (words and shutil.which(words[0])):
        return chosen(asyncio.run(_list_by(words)), words[0])
    raise InputError(
        f"{source}: is not a readable file, a program or a URL",
        remedy="Give a file with a tools/list result, a server's command in quotes, or its URL.",
    )


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


def tools_of(
    data: bytes, path: str, *, strict: bool = False, left_out: list[str] | None = None
) -> list[Tool]:
    """The tools of a list which a server can offer; the others are named in `left_out`.

    Raises InputError, also for the others if `strict` or without `left_out`; SchemaError.
    """
    from mcp_bindgen.scaffold.tools import read

    return read(data, path, strict=strict, refusal=_refusal, left_out=left_out)


def _refusal(tool: object) -> str:
    """The reason why the runtime refuses a tool, given in its JSON form; empty if it accepts it.

    The tool is registered with a server of the runtime, as in the project.
    """
    from mcp_runtime import Server
    from mcp_runtime.json_schema.validator import BadSchema

    async def answer(arguments: object, context: object) -> None:
        del arguments, context

    try:
        Server("trial", "1").raw_tool(cast("dict[str, Any]", tool), arguments=dict)(answer)
    except (BadSchema, TypeError, ValueError) as error:
        return str(error)
    return ""


async def _list_by(command: Sequence[str]) -> bytes:
    """Start a server and list its tools. Raises InputError if it does not start or answer."""
    from mcp_runtime.client.client import Client

    remedy = "Does the command start a server that talks on its stdin and stdout?"
    errors = HeldErrors()
    try:
        return await _list(partial(Client.stdio, command, stderr=errors), command[0], remedy)
    except InputError:
        errors.show_end()
        raise


async def _list_at(url: str, network: Network) -> bytes:
    """List the tools of the server at a URL. Raises InputError."""
    from mcp_runtime.client.client import Client

    make = partial(Client.http, url, **network.of_client(url))
    return await _list(make, url, "Does a server of MCP answer there?")


async def _list(make: Callable[[], Client], name: str, remedy: str) -> bytes:
    from mcp_runtime.errors import NotInstalled, SessionError
    from mcp_runtime.revisions import latest

    try:
        async with make() as client:
            listed = [latest.to_wire(tool) for tool in await client.list_tools()]
    except NotInstalled as error:
        raise InputError(str(error)) from None
    except (SessionError, ValueError) as error:
        first, *others = f"{name!r} lists no tools: {error}".splitlines()
        rows = [f"| {line}" for line in others]
        raise InputError(first, rows=rows, remedy=remedy) from None
    return json.dumps({"tools": listed}).encode()


def _wire(answers: Answers) -> dict[str, str]:
    from mcp_bindgen.cli.generate.files import bindings
    from mcp_bindgen.emit import Options

    schemas = {revision: pins.find(revision) for revision in answers.revisions}
    apps = [name for name in pins.extensions() if name.startswith("apps@")]
    pages = [max(apps, key=lambda name: name.replace("draft-", ""))] if answers.ui else []
    return bindings(schemas, Options(flavours=("msgspec",)), steps=True, extensions=pages)


def _terms() -> Mapping[str, str]:
    """The licences of the vendored files, and the authors of the declarations."""
    license = distribution("mcp-bindgen-runtime").read_text("licenses/LICENSE")
    if license is None:
        remedy = "Install it again: pip install --force-reinstall mcp-bindgen-runtime"
        raise InputError("mcp-bindgen-runtime is installed without its license", remedy=remedy)
    return {"LICENSE": license, "NOTICE": pins.read_text(paths.schema() / "NOTICE")}


def _runtime() -> Mapping[str, str]:
    return {path: data.decode() for path, data in manifest.texts(paths.runtime(), ".py")}
