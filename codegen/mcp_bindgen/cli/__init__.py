"""The command line: one file a verb, imported when it is asked for.

Exit codes: 0 done or clean, 1 findings, 2 could not, 130 interrupted. A verb returns its code; what
went wrong is one message on stderr.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Final, NoReturn

import click

from mcp_bindgen import __version__
from mcp_bindgen.errors import BindgenError

__all__ = ["CLOSED", "COULD_NOT", "FINDINGS", "INTERRUPTED", "OK", "VERBS", "main"]

OK: Final = 0
FINDINGS: Final = 1
COULD_NOT: Final = 2
INTERRUPTED: Final = 130
CLOSED: Final = 141
"""Whoever reads our output has closed it; the shell's own code for that."""

VERBS: Final[Mapping[str, str]] = {
    "call": "Start a server and call a tool of it, or list what it has.",
    "convert": "Carry a message from one revision to another, and say what is lost.",
    "diff": "Say what changed between two schemas, and whom it breaks.",
    "generate": "Write the bindings of every revision, or of those named.",
    "inspect": "Say what a schema declares: as text, JSON, facts or JSON Schema.",
    "new": "Write the project of a new server.",
    "pull": "Bring an official schema file into schema/.",
    "run": "Serve a server that is written in Python.",
    "trace": "Show a recorded wire, or judge its messages.",
    "update": "Bring a project up to date, and keep what was changed in it.",
    "validate": "Judge messages of a revision: JSON, JSON lines, or blocks of Markdown.",
}
"""Each verb with its line in `--help`; `cli/<verb>.py` has it as `command`."""


class _Verbs(click.Group):
    """Verbs by name; every way to end leads through here."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        command: click.Command = import_module(f"{__name__}.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> NoReturn:
        _speak_utf8()
        code: Any
        try:
            code = super().main(
                args,
                prog_name,
                complete_var,
                standalone_mode=False,
                windows_expand_args=windows_expand_args,
                **extra,
            )
        except click.Abort:
            code = INTERRUPTED
        except click.ClickException as error:
            error.show()
            code = COULD_NOT
        except OSError as error:
            code = _failed(error)
        sys.exit(code)

    def invoke(self, ctx: click.Context) -> int:
        try:
            code = super().invoke(ctx)
            _say_the_rest()
            return code if isinstance(code, int) else OK
        except BindgenError as error:
            return _could_not(str(error))
        except BrokenPipeError:
            return _closed()
        except OSError as error:
            return _failed(error)


def _speak_utf8() -> None:
    """The same bytes in every locale; to where nothing is kept, if standard output is closed."""
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _failed(error: OSError) -> int:
    place = f"{error.filename}: " if error.filename else ""
    return _could_not(f"{place}{error.strerror or error}")


def _could_not(message: str) -> int:
    from mcp_bindgen.cli.show import safe

    lines = [safe(line) for line in message.split("\n")]
    click.echo("mcp-bindgen: " + "\n".join(lines), err=True)
    try:
        sys.stdout.flush()
    except OSError:
        _let_go()
    return COULD_NOT


def _closed() -> int:
    _let_go()
    return CLOSED


def _say_the_rest() -> None:
    """Writes what a verb did not say at once."""
    from mcp_bindgen.cli.show import say

    say("", nl=False)


def _let_go() -> None:
    """Gives the interpreter's last flush a place to go."""
    with contextlib.suppress(OSError, ValueError):  # not a real stream
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="mcp-bindgen", message="%(prog)s %(version)s")
def main() -> None:
    """Python bindings for the Model Context Protocol, generated from its schema.ts."""
