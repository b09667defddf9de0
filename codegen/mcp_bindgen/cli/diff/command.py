"""`mcp-bindgen diff`: shows what changed between two schemas, and whom it breaks."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any, Final

import click

from mcp_bindgen import pins
from mcp_bindgen.cli import FINDINGS, OK
from mcp_bindgen.cli.diff.sides import sides
from mcp_bindgen.cli.options import Network, imports_option, network_options
from mcp_bindgen.cli.show import columns, heading, safe, safe_text, say, warn
from mcp_bindgen.errors import OutputError

if TYPE_CHECKING:
    from mcp_bindgen.compare.judge.rules import Rule
    from mcp_bindgen.compare.report.report import Report
    from mcp_bindgen.compare.report.text import Role

__all__ = ["command"]

_FAIL_ON: Final = ("breaking", "dangerous", "any", "never")
_FOR: Final = ("client", "server", "host", "view", "sandbox", "bindings", "all")
_CHOICES: Final = ("text", "short", "json", "markdown", "github", "html")
_ALL_RULES: Final = "*"
_STYLES: Final[dict[Role, dict[str, Any]]] = {
    "heading": {"bold": True},
    "rule": {"dim": True},
    "breaking": {"fg": "red"},
    "dangerous": {"fg": "yellow"},
    "compatible": {},
    "docs": {"fg": "bright_black"},
}


@click.command("diff")
@click.argument("names", nargs=-1, metavar="OLD NEW")
@click.option(
    "--format",
    type=click.Choice(_CHOICES),
    default="text",
    help="Write the report in this form (default: text).",
)
@click.option(
    "--for",
    "audience",
    type=click.Choice(_FOR),
    default="all",
    help=(
        "Judge changes for old peers of this role (host, view, sandbox: of the extension "
        "Apps), or for code on the bindings (default: all)."
    ),
)
@click.option(
    "--extension",
    default="",
    metavar="NAME",
    help="Read files as versions of this extension (default: the extension of the other side).",
)
@click.option(
    "--fail-on",
    type=click.Choice(_FAIL_ON),
    default="breaking",
    help=(
        "Exit with status 1 if a change is at least this severe; a dangerous one breaks peers "
        "that use it (default: breaking)."
    ),
)
@click.option(
    "--explain",
    is_flag=False,
    flag_value=_ALL_RULES,
    metavar="[RULE]",
    help="Explain a rule, such as ARM_ADDED, and exit; without a RULE, list all rules.",
)
@imports_option
@click.option(
    "--tools",
    is_flag=True,
    help="Compare the lists of two servers: each a file (results of tools/list, a lock), "
    "git:REF:PATH, a command in quotes, a script, or a URL.",
)
@click.option(
    "--ignore",
    metavar="FILE",
    help="Hide the changes listed in the [[ignore]] tables of this TOML FILE (default: none).",
)
@click.option(
    "--history",
    is_flag=True,
    help=(
        "Show all pinned revisions side by side; with names in place of OLD and NEW, only "
        "those methods or declarations."
    ),
)
@click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="Show changes that break nobody too, in the text form (default: hide them).",
)
@click.option("--output", metavar="FILE", help="Write to FILE (default: write to standard output).")
@network_options
def command(
    names: tuple[str, ...],
    format: str,
    audience: str,
    extension: str,
    fail_on: str,
    explain: str | None,
    imports: tuple[str, ...],
    tools: bool,
    ignore: str | None,
    history: bool,
    verbose: bool,
    output: str | None,
    network: Network,
) -> int:
    """Compare OLD with NEW: each a revision, a version of an extension (tasks@draft-2026-08-21), a
    schema.ts file, or a folder with one; with --tools, each the lists of a server.
    """
    if explain is not None:
        say("\n".join(_explain(explain)))
        return OK
    if history:
        if tools or extension or ignore is not None or audience != "all":
            raise click.UsageError(
                "--history goes without --tools, --extension, --ignore and --for."
            )
        _say(_history(names, format), output)
        return OK
    if len(names) != 2:
        raise click.UsageError("OLD and NEW are needed: two revisions, files or folders.")
    if output is not None:
        imported = (row.rpartition("=")[2] for row in imports)
        _require_apart(Path(output), (*names, *imported, ignore))
    report = _of_tools(*names, network) if tools else _of_schemas(names, imports, extension)
    report = _narrow(report, audience)
    if ignore is not None:
        report = _without_ignored(report, ignore)
    shown = _FORMATS[format](report, _Manner(verbose, tools, _width() if output is None else None))
    _say(shown if format == "text" else safe_text(shown), output)
    return FINDINGS if _fails(report, fail_on) else OK


def _require_apart(output: Path, read: Iterable[str | None]) -> None:
    """Raise OutputError if the report would overwrite one of its inputs."""
    for name in filter(None, read):
        file = Path(name, "schema.ts") if Path(name).is_dir() else Path(name)
        if output.is_file() and file.is_file() and output.samefile(file):
            raise OutputError(
                f"{output}: is read for this comparison",
                remedy="Give --output another file.",
            )


def _narrow(report: Report, audience: str) -> Report:
    """The report for one audience. Raises click.UsageError if no finding can concern the role."""
    from dataclasses import replace

    if audience == "all":
        return report
    if report.findings and audience not in report.audiences:
        roles = ", ".join(report.audiences)
        raise click.UsageError(f"--for {audience}: this comparison is for {roles}.")
    return replace(report, audiences=(audience,))


def _of_schemas(names: Sequence[str], imports: Sequence[str], extension: str) -> Report:
    from mcp_bindgen.compare.report.report import compare

    return compare(*sides(names, imports, extension))


def _of_tools(old: str, new: str, network: Network) -> Report:
    from mcp_bindgen.cli.programs import is_url
    from mcp_bindgen.cli.server_lists import read_lists
    from mcp_bindgen.tools.compare import compare
    from mcp_bindgen.tools.surface import read_both

    names = old, new
    has_url = any(map(is_url, names))  # the network is for its side, or refused
    read = [read_lists(n, network if is_url(n) or not has_url else Network()) for n in names]
    return compare(*read_both(*read))


def _without_ignored(report: Report, path: str) -> Report:
    from datetime import date

    from mcp_bindgen.compare.report.ignore import apply, parse

    rows = parse(pins.read_text(Path(path)), path)
    return apply(report, rows, date.today())


def _say(text: str, output: str | None) -> None:
    if output is None:
        say(text.removesuffix("\n"))
        return
    plain = safe_text(click.unstyle(text)).removesuffix("\n")
    Path(output).write_text(f"{plain}\n", encoding="utf-8", newline="\n")
    warn(f"mcp-bindgen: {safe(output)} is written")


def _history(names: Sequence[str], format: str) -> str:
    from mcp_bindgen.cli.diff.history import FORMATS
    from mcp_bindgen.compare.report.history import history

    if format not in FORMATS:
        raise click.UsageError(f"--history is written as {', '.join(FORMATS)}, not as {format}.")
    return FORMATS[format](history(sides(pins.revisions())), names)


def _fails(report: Report, fail_on: str) -> bool:
    from mcp_bindgen.compare.judge.verdicts import SEVERITIES

    worst = {"never": 0, "breaking": 1, "dangerous": 2, "any": len(SEVERITIES)}[fail_on]
    return any(report.count(severity) for severity in SEVERITIES[:worst])


# ---- formats


@dataclass(frozen=True, slots=True)
class _Manner:
    """`tools`: lists of tools were compared, not schemas; `width`: the number of columns, None for
    unlimited.
    """

    verbose: bool
    tools: bool
    width: int | None


def _text(report: Report, manner: _Manner) -> str:
    from mcp_bindgen.compare.report.text import text

    return text(report, manner.verbose, _paint, manner.width)


def _width() -> int | None:
    """The columns of the terminal; None where a report goes elsewhere."""
    return get_terminal_size().columns if sys.stdout.isatty() else None


def _paint(text: str, role: Role) -> str:
    return click.style(text, **_STYLES[role])


def _short(report: Report, _: _Manner) -> str:
    from mcp_bindgen.compare.report.short import short

    return short(report)


def _json(report: Report, _: _Manner) -> str:
    from mcp_bindgen.compare.report.report import document

    return json.dumps(document(report), indent=2, ensure_ascii=False)


def _markdown(report: Report, _: _Manner) -> str:
    from mcp_bindgen.compare.report.markdown import markdown

    return markdown(report)


def _github(report: Report, _: _Manner) -> str:
    from mcp_bindgen.compare.report.github import workflow_commands

    return workflow_commands(report)


def _html(report: Report, manner: _Manner) -> str:
    from mcp_bindgen.compare.report.history import history
    from mcp_bindgen.compare.report.html import page

    if manner.tools:
        return page(report)
    both = report.old, report.new
    if report.old.is_extension:
        return page(report)
    revisions = pins.revisions()
    known = {side.name: side for side in both if all(s.name in revisions for s in both)}
    names = dict.fromkeys([*revisions, *(side.name for side in both)])
    more = [name for name in names if name not in known]
    known |= dict(zip(more, sides(more), strict=True))
    return page(report, history([known[name] for name in names]))


_FORMATS: Final[dict[str, Callable[[Report, _Manner], str]]] = {
    "text": _text,
    "short": _short,
    "json": _json,
    "markdown": _markdown,
    "github": _github,
    "html": _html,
}


# ---- rules


def _explain(id: str) -> Iterator[str]:
    from mcp_bindgen.compare.judge.rules import RULES, rule

    if id == _ALL_RULES:
        yield from columns((row.id, row.asks) for row in RULES.values())
    else:
        yield from _rule(rule(id))


def _rule(row: Rule) -> Iterator[str]:
    yield from heading(row.id)
    yield safe(row.asks)
    yield ""
    yield from columns(
        (
            ("a new reader refuses of what old writers send there", row.new_refuses),
            ("an old reader refuses of what new writers send there", row.old_refuses),
            ("Python source against the old bindings", row.source),
            ("why", row.why),
            ("what to do", row.hint or "nothing"),
            ("example", row.example),
        )
    )
