"""Tells whether the last words of `call` name a tool, or belong to the server's command."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Final

from mcp_bindgen.cli.show import safe
from mcp_bindgen.errors import InputError

__all__ = ["require_tool"]

_PROGRAM: Final = re.compile(
    r"\.(?:py|pyz|js|cjs|mjs|ts|mts|sh|rb|jar|exe|bat|cmd|ps1|dll|php)$", re.I
)
_VERSION: Final = re.compile(r"[\d.]+$")
_LAUNCHERS: Final = {
    **dict.fromkeys(("python", "python3", "pypy", "py", "node", "bun", "sh", "bash"), 0),
    **dict.fromkeys(("npx", "uvx", "bunx", "deno", "ruby", "php", "perl", "env", "java"), 0),
    **dict.fromkeys(("uv", "docker", "podman", "pipx", "npm", "pnpm", "yarn", "poetry"), 1),
    **dict.fromkeys(("go", "cargo", "dotnet", "hatch", "pdm", "mcp-bindgen", "conda"), 1),
}
"""Launchers such as `uv run`, each with the number of words before the launched program."""


def require_tool(command: Sequence[str], tool: str) -> None:
    """Raise InputError where `tool` is plainly the server, or part of the command for it.

    Otherwise a program without its script would wait for input, and nothing would be said for as
    long as a server may take to start.
    """
    if tool.startswith(("[", '"')):
        raise InputError("the arguments are not a JSON object")
    if _is_program(tool) or _is_bare(command):
        words = safe(shlex.join((*command, tool)))
        raise InputError(
            f"no TOOL is named: {tool!r} belongs to the command of the server",
            remedy=f"Name one behind the command, or list them: mcp-bindgen call --list -- {words}",
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
