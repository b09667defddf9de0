"""Compares the tools of a server before and after it was adopted."""

from __future__ import annotations

from mcp_bindgen.cli import FINDINGS, OK
from mcp_bindgen.cli.options import Network
from mcp_bindgen.cli.server_lists import read_lists, served_command
from mcp_bindgen.cli.show import safe_text, say, warn
from mcp_bindgen.errors import InputError

__all__ = ["compare_after", "tools_of"]


def tools_of(command: str) -> bytes:
    """Start a server and list its tools. Raises InputError if it does not start or answer."""
    if served_command(command) is None:
        remedy = 'Give the command that starts the server: --tools "python server.py".'
        raise InputError(f"--tools {command!r} starts no server", remedy=remedy)
    lists, _ = read_lists(command, Network(), only_tools=True)
    return lists


def compare_after(before: bytes, command: str) -> int:
    """Start a server whose files were written, and report how its tools differ from `before`.

    Return the exit status: 1 for breaking differences, and for a server that does not answer.
    """
    try:
        after = tools_of(command)
    except InputError as error:
        warn(safe_text(f"The server listed its tools before, and does not after: {error}"))
        return FINDINGS
    return _compare(before, after)


def _compare(before: bytes, after: bytes) -> int:
    """Report how two lists of tools differ; return the exit status: 1 for breaking differences."""
    from mcp_bindgen.compare.judge.verdicts import SEVERITIES
    from mcp_bindgen.compare.report.short import short
    from mcp_bindgen.tools.compare import compare
    from mcp_bindgen.tools.surface import read_both

    report = compare(*read_both((before, "before"), (after, "after")))
    if not any(report.count(severity) for severity in SEVERITIES):
        warn("The tools are the same before and after.")
        return OK
    warn("The tools differ before and after:")
    say(short(report).removesuffix("\n"))
    return FINDINGS if report.count(SEVERITIES[0]) else OK
