"""Runs the command line: each verb is a module or a folder here, imported on use.

Exit status: 0 done or clean, 1 findings, 2 failed, 130 interrupted. A verb returns it; an error is
one message on standard error.
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
"""Our output was closed by its reader; shells use this status too."""

VERBS: Final[Mapping[str, str]] = {
    "adopt": "Move a server written for mcp 1.x or fastmcp to mcp_runtime.",
    "bridge": "Serve any client in front of any server, or of several servers.",
    "call": "Call a tool of a server, or list its tools, prompts and resources.",
    "client": "Write a typed client of a server, and check it against the server.",
    "convert": "Convert a message from one revision to another, and report what is lost.",
    "diff": "Compare two schemas, or two servers; report which peers each change breaks.",
    "export": "Write the meaning of each revision as JSON, for other languages.",
    "generate": "Write the bindings of every revision, or of some.",
    "inspect": "Show the declarations of a schema: as text, JSON or JSON Schema.",
    "install": "Add a server to the settings of a host.",
    "new": "Write the project of a new server.",
    "pull": "Fetch an official schema file into schema/.",
    "replay": "Serve a recorded trace as a server, to test a client.",
    "run": "Serve a server that is written in Python.",
    "trace": "Show or check the messages of a trace file.",
    "uninstall": "Remove a server from the settings of a host.",
    "update": "Bring a project up to date, and keep what was changed in it.",
    "validate": "Check messages against a revision: JSON, JSON lines, or Markdown.",
}
"""Each verb with its line in `--help`; `cli/<verb>.py` or `cli/<verb>/command.py` defines it."""


class _Verbs(click.Group):
    """The verbs by name. Turns every error and interrupt into one message and an exit status."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        verb = import_module(f"{__name__}.{cmd_name}")
        is_folder = hasattr(verb, "__path__")
        command: click.Command = (
            import_module(f"{verb.__name__}.command").command if is_folder else verb.command
        )
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        verb = args[0]
        if verb not in VERBS and not verb.startswith("-"):
            from mcp_bindgen.source.text import close_to

            remedy = close_to(verb.lower(), VERBS, f"Verbs: {', '.join(VERBS)}.", most=1)
            ctx.fail(f"There is no verb {verb!r}. {remedy}")
        return super().resolve_command(ctx, args)

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
            _show_usage(error)
            code = COULD_NOT
        except OSError as error:
            code = _fail(error)
        sys.exit(code)

    def invoke(self, ctx: click.Context) -> int:
        try:
            code = super().invoke(ctx)
            _flush()
            return code if isinstance(code, int) else OK
        except BindgenError as error:
            return _could_not(str(error))
        except BrokenPipeError:
            return _close()
        except OSError as error:
            return _fail(error)


def _speak_utf8() -> None:
    """Make output the same bytes in every locale; discard output to a closed stream."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _fail(error: OSError) -> int:
    from mcp_bindgen.cli.show import safe

    place = f"{error.filename}: " if error.filename else ""
    return _could_not(safe(f"{place}{error.strerror or error}"))


def _show_usage(error: click.ClickException) -> None:
    """Show the error as click does, but on one line, since the message may quote user input."""
    from mcp_bindgen.cli.show import safe

    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        return error.show()
    message = error.format_message().replace("\n\t", " ")  # so does click list choices
    click.UsageError(safe(message), getattr(error, "ctx", None)).show()


def _could_not(message: str) -> int:
    from mcp_bindgen.cli.show import safe_text, warn

    warn(f"mcp-bindgen: {safe_text(message)}")
    try:
        sys.stdout.flush()
    except OSError:
        _let_go()
    return COULD_NOT


def _close() -> int:
    _let_go()
    return CLOSED


def _flush() -> None:
    """Flush the output buffered by a verb."""
    from mcp_bindgen.cli.show import say

    say("", nl=False)


def _let_go() -> None:
    """Let the interpreter's last flush write to nowhere."""
    with contextlib.suppress(OSError, ValueError):  # not a real stream
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@click.group(
    cls=_Verbs,
    subcommand_metavar="VERB [ARGS]...",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="mcp-bindgen", message="%(prog)s %(version)s")
def main() -> None:
    """Python bindings for the Model Context Protocol, generated from its schema.ts.

    A REVISION is a date, such as 2025-11-25. `VERB --help` shows the options of a verb.
    """
