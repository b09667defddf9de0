"""Starts the official inspector, which starts the server over stdio and shows it in a browser."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Final

from mcp_bindgen.cli import COULD_NOT, OK
from mcp_bindgen.cli.run.serving import Program
from mcp_bindgen.cli.run.target import file_of
from mcp_bindgen.cli.show import warn
from mcp_bindgen.errors import InputError

__all__ = ["inspector_command", "run_inspector"]

_PACKAGE: Final = "@modelcontextprotocol/inspector"
_REMEDY: Final = (
    "Install Node.js, which brings npx. Without it, look at the server here: "
    "mcp-bindgen call --list -- mcp-bindgen run MODULE"
)


def run_inspector(
    program: Program,
    which: Callable[[str], str | None] = shutil.which,
    execute: Callable[[Sequence[str]], int] = subprocess.call,
) -> int:
    """Run the inspector until it ends. Return the exit status: 0, or 2 if it has failed.

    Raises InputError if there is no such module or file, or no npx.
    """
    file_of(program.target)
    npx = which("npx")
    if npx is None:
        raise InputError("the inspector needs npx, which is not found", remedy=_REMEDY)
    status = execute([npx, *inspector_command(program)])
    if status:
        warn(f"mcp-bindgen: the inspector ended with exit code {status}")
    return COULD_NOT if status else OK


def inspector_command(program: Program) -> list[str]:
    """Return the words for npx: the inspector, and behind them the command of the server."""
    flags = {"--compat": program.compat, "--show-errors": program.show_errors}
    words = ["-m", "mcp_bindgen", "run", *(flag for flag, is_set in flags.items() if is_set)]
    if program.trace is not None:
        words.append(f"--trace={program.trace}")
    words.append(program.target)
    if program.arguments:
        words += ["--", *program.arguments]
    return [_PACKAGE, sys.executable, "--", *words]
