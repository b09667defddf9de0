"""What `new` and `update` share: a project's texts from its answers, and their inputs from disk."""

from __future__ import annotations

import asyncio
import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_bindgen import manifest, paths, pins
from mcp_bindgen.errors import InputError
from mcp_bindgen.scaffold.answers import Answers

if TYPE_CHECKING:
    from mcp_bindgen.scaffold.tools import Tool

__all__ = ["texts", "tools", "tools_of"]


def texts(answers: Answers, tools: Sequence[Tool] = (), listed: str = "") -> dict[str, str]:
    """Every file of a project by path; `listed` is its list of tools, where it has one already.

    Raises BindgenError.
    """
    from mcp_bindgen.scaffold.render import project, templates
    from mcp_bindgen.scaffold.vendor import vendored

    files = vendored(answers, _wire(answers.revisions), _runtime())
    return project(answers, templates(answers.tools), files, tools, listed)


def tools(source: str) -> list[Tool]:
    """The tools of a file with a result of `tools/list`, or of the server that a command starts.

    Raises InputError, SchemaError.
    """
    path = Path(source)
    words = shlex.split(source)
    if path.is_file() or len(words) < 2:
        return tools_of(pins.read_bytes(path), source)
    return tools_of(asyncio.run(_listed(words)), words[0])


def tools_of(data: bytes, path: str) -> list[Tool]:
    """The tools of a list, which the runtime would offer. Raises InputError, SchemaError."""
    from mcp_bindgen.scaffold.tools import read
    from mcp_runtime.json_schema.header_annotations import BadParamHeader, param_headers
    from mcp_runtime.server.registry import require_tool_name

    found = read(data, path)
    for tool in found:
        try:
            require_tool_name(tool.name)
            param_headers(tool.declared["inputSchema"])
        except (BadParamHeader, ValueError) as error:
            raise InputError(
                f"{path}: {json.dumps(tool.name)} cannot be offered: {error}",
                remedy="Mend it in the file, or take this tool out of it.",
            ) from None
    return found


async def _listed(command: Sequence[str]) -> bytes:
    """What a server lists. Raises InputError for one that does not start or does not answer."""
    from mcp_runtime.client.client import Client
    from mcp_runtime.errors import SessionError
    from mcp_runtime.revisions import latest

    try:
        async with Client.stdio(command) as client:
            listed = [latest.to_wire(tool) for tool in await client.list_tools()]
    except (SessionError, ValueError) as error:
        raise InputError(
            f"{command[0]!r} lists no tools: {error}",
            remedy="Does the command start a server that talks on its stdin and stdout?",
        ) from None
    return json.dumps({"tools": listed}).encode()


def _wire(revisions: tuple[str, ...]) -> dict[str, str]:
    from mcp_bindgen.cli.generate import bindings
    from mcp_bindgen.emit import Options

    found = {revision: pins.find(revision) for revision in revisions}
    return bindings(found, Options(models=("msgspec",)), steps=True)


def _runtime() -> Mapping[str, str]:
    return {path: data.decode() for path, data in manifest.texts(paths.runtime(), ".py")}
