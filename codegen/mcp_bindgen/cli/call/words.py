"""Splits the words behind `call` into the server, the name of the tool or prompt, and arguments."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any, Final

from mcp_bindgen.cli.programs import is_url, launched
from mcp_bindgen.cli.show import safe
from mcp_bindgen.errors import InputError

__all__ = ["Words", "parse", "require_tool"]

_PAIR: Final = re.compile(r"(?P<name>[^\W\d][\w.-]*)=(?P<value>.*)", re.S)
_PROGRAM: Final = re.compile(
    r"\.(?:py|pyz|js|cjs|mjs|ts|mts|sh|rb|jar|exe|bat|cmd|ps1|dll|php)$", re.I
)
_OBJECT: Final = """For instance: '{"city": "Bergen"}', or city=Bergen."""
_VERSION: Final = re.compile(r"[\d.]+$")
_LAUNCHERS: Final = {
    **dict.fromkeys(("python", "python3", "pypy", "py", "node", "bun", "sh", "bash"), 0),
    **dict.fromkeys(("npx", "uvx", "bunx", "deno", "ruby", "php", "perl", "env", "java"), 0),
    **dict.fromkeys(("uv", "docker", "podman", "pipx", "npm", "pnpm", "yarn", "poetry"), 1),
    **dict.fromkeys(("go", "cargo", "dotnet", "hatch", "pdm", "mcp-bindgen", "conda"), 1),
}
"""Launchers such as `uv run`, each with the number of words before the launched program."""


@dataclass(frozen=True, slots=True)
class Words:
    """A server's URL or command, the name of a tool (empty if none is called), and its arguments.

    Arguments are a JSON object (`document`), or texts by name (`given`) in the order of the words:
    a name may occur twice.
    """

    server: tuple[str, ...]
    tool: str = ""
    document: Mapping[str, Any] | None = None
    given: Sequence[tuple[str, str]] = field(default_factory=tuple[tuple[str, str], ...])


def parse(
    words: Sequence[str], *, tool: bool = True, arguments: bool = True, document: str | None = None
) -> Words:
    """Split the words. `tool` and `arguments`: whether they stand in them; `document`: arguments
    in JSON from elsewhere. Raises InputError.
    """
    rest, given = list(words), list[tuple[str, str]]()
    while arguments and len(rest) > 1 and (match := _PAIR.fullmatch(rest[-1])):
        given.insert(0, (match["name"], match["value"]))
        rest.pop()
    if arguments and len(rest) > 1 and document is None and rest[-1].lstrip().startswith("{"):
        document = rest.pop()
    if document is not None and given:
        raise InputError("the arguments are JSON or name=value, not both", remedy="Leave one out.")
    named = None if document is None else _object(document)
    if not tool:
        return Words(launched(rest), "", named, given)
    if len(rest) < 2:
        require_tool((), rest[0])
        remedy = "For instance: mcp-bindgen call server.py add a=1 b=2"
        raise InputError("a call has a file, command or URL, and a tool", remedy=remedy)
    require_tool(rest[:-1], rest[-1])
    return Words(launched(rest[:-1]), rest[-1], named, given)


def _object(text: str) -> Mapping[str, Any]:
    try:
        arguments: dict[str, Any] = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"the arguments are not JSON: {error}", remedy=_OBJECT) from None
    if arguments.__class__ is not dict:
        raise InputError("the arguments are not a JSON object", remedy=_OBJECT)
    return arguments


def require_tool(command: Sequence[str], tool: str) -> None:
    """Raise InputError where `tool` is plainly the server, or part of the command for it.

    Otherwise a program without its script would wait for input, and nothing would be said for as
    long as a server may take to start.
    """
    if tool.startswith(("[", '"')):
        raise InputError("the arguments are not a JSON object", remedy=_OBJECT)
    if is_url(tool) or _is_program(tool) or (command and _is_bare(command)):
        words = safe(shlex.join((*command, tool)))
        server = f"-- {words}" if command else words
        raise InputError(
            f"no TOOL is named: {tool!r} belongs to the command of the server"
            if command
            else f"no TOOL is named: {tool!r} is the server",
            remedy=f"Name one behind it, or list them: mcp-bindgen call --list {server}",
        )


def _is_program(word: str) -> bool:
    has_form = "/" in word or "\\" in word or "." in word
    return bool(_PROGRAM.search(word)) or (has_form and Path(word).is_file())


def _is_bare(command: Sequence[str]) -> bool:
    """Return whether a command has nothing but a launcher with its own words and options."""
    name = PurePath(command[0].replace("\\", "/")).name.lower().removesuffix(".exe")
    own = _LAUNCHERS.get(name, _LAUNCHERS.get(_VERSION.sub("", name)))
    words = [word for word in command[1:] if not word.startswith("-")]
    return own is not None and len(words) <= own
