"""`mcp-bindgen diff`: what changed between two schemas, and whom it breaks."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from mcp_bindgen import pins
from mcp_bindgen.cli import FINDINGS, OK
from mcp_bindgen.cli.show import columns, heading, safe, say
from mcp_bindgen.errors import InputError

if TYPE_CHECKING:
    from mcp_bindgen.compare.judge.rules import Rule
    from mcp_bindgen.compare.report.report import Report, Side

__all__ = ["command"]

_FAIL_ON: Final = ("breaking", "dangerous", "any", "never")
_FOR: Final = ("client", "server", "bindings", "all")
_CHOICES: Final = ("text", "json", "markdown", "github", "html")
_ALL_RULES: Final = "*"


@click.command("diff")
@click.argument("names", nargs=-1, metavar="OLD NEW")
@click.option("--format", type=click.Choice(_CHOICES), default="text", help="How.")
@click.option("--for", "whom", type=click.Choice(_FOR), default="all", help="Whom it may break.")
@click.option("--fail-on", type=click.Choice(_FAIL_ON), default="breaking", help="Exit 1 from.")
@click.option(
    "--explain",
    is_flag=False,
    flag_value=_ALL_RULES,
    metavar="[RULE]",
    help="Say what a rule means; without one, list all.",
)
@click.option("--tools", is_flag=True, help="OLD and NEW are results of tools/list, as JSON.")
@click.option("--ignore", metavar="FILE", help="Hide the findings that the rows of FILE name.")
@click.option("--history", is_flag=True, help="Every revision in a row; with names, theirs alone.")
@click.option("-v", "--verbose", is_flag=True, help="As text: show what breaks nobody, too.")
@click.option("--output", metavar="FILE", help="Write to FILE instead of standard output.")
def command(
    names: tuple[str, ...],
    format: str,
    whom: str,
    fail_on: str,
    explain: str | None,
    tools: bool,
    ignore: str | None,
    history: bool,
    verbose: bool,
    output: str | None,
) -> int:
    """Compare OLD with NEW, each a revision, a schema.ts file or a folder with one."""
    if explain is not None:
        say("\n".join(_explained(explain)))
        return OK
    if history:
        if tools or ignore is not None or whom != "all":
            raise click.UsageError("--history goes without --tools, --ignore and --for.")
        _say(_history(names, format), output)
        return OK
    if len(names) != 2:
        raise click.UsageError("OLD and NEW are needed: two revisions, files or folders.")
    report = _compared(*names, whom, tools)
    if ignore is not None:
        report = _without_ignored(report, ignore)
    _say(_FORMATS[format](report, _Manner(verbose, tools)), output)
    return FINDINGS if _fails(report, fail_on) else OK


def _compared(old: str, new: str, whom: str, tools: bool) -> Report:
    from dataclasses import replace

    from mcp_bindgen.compare.judge.verdicts import AUDIENCES

    audiences = AUDIENCES if whom == "all" else tuple(a for a in AUDIENCES if a == whom)
    report = _of_tools(old, new) if tools else _of_schemas(old, new)
    return replace(report, audiences=audiences)


def _of_schemas(old: str, new: str) -> Report:
    from mcp_bindgen.compare.report.report import compare

    before, after = _sides([old, new])
    return compare(before, after)


def _of_tools(old: str, new: str) -> Report:
    from mcp_bindgen.tools.surface import compare, read

    data = [(pins.read_bytes(Path(path)), path) for path in (old, new)]
    before, after = (read(found, path) for found, path in data)
    return compare(before, after)


def _without_ignored(report: Report, path: str) -> Report:
    from datetime import date

    from mcp_bindgen.compare.report.ignore import apply, parse

    rows = parse(pins.read_text(Path(path)), path)
    return apply(report, rows, date.today())


def _say(text: str, output: str | None) -> None:
    if output is None:
        say(text.removesuffix("\n"))
        return
    Path(output).write_text(text.removesuffix("\n") + "\n", encoding="utf-8", newline="\n")
    click.echo(f"mcp-bindgen: {safe(output)} is written", err=True)


def _history(names: Sequence[str], format: str) -> str:
    from mcp_bindgen.cli.diff_history import FORMATS
    from mcp_bindgen.compare.report.history import history

    if format not in FORMATS:
        raise click.UsageError(f"--history is told as {', '.join(FORMATS)}, not as {format}.")
    found = history(_sides(pins.revisions()))
    return FORMATS[format](found, names)


def _sides(names: Sequence[str]) -> list[Side]:
    from mcp_bindgen.compare.report.report import Side
    from mcp_bindgen.source import Source

    found = [pins.find(name) for name in names]
    schemas = pins.lower_alike(found)
    for each, schema in zip(found, schemas, strict=True):
        if not schema.methods:
            raise InputError(
                f"{each.path}: declares no method, so nothing says what travels",
                remedy="Give a schema.ts of the protocol.",
            )
    return [
        Side(each.revision or name, schema, Source(each.data, each.path))
        for name, each, schema in zip(names, found, schemas, strict=True)
    ]


def _fails(report: Report, fail_on: str) -> bool:
    from mcp_bindgen.compare.judge.verdicts import SEVERITIES

    worst = {"never": 0, "breaking": 1, "dangerous": 2, "any": len(SEVERITIES)}[fail_on]
    return any(report.count(severity) for severity in SEVERITIES[:worst])


# ---- formats


@dataclass(frozen=True, slots=True)
class _Manner:
    """`tools` says that lists of tools were compared, not schemas."""

    verbose: bool
    tools: bool


def _text(report: Report, manner: _Manner) -> str:
    from mcp_bindgen.compare.report.text import text

    return text(report, manner.verbose)


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
    revisions, both = pins.revisions(), (report.old, report.new)
    known = {side.name: side for side in both if all(s.name in revisions for s in both)}
    names = dict.fromkeys([*revisions, *(side.name for side in both)])
    more = [name for name in names if name not in known]
    known |= dict(zip(more, _sides(more), strict=True))
    return page(report, history([known[name] for name in names], proofs=False))


_FORMATS: Final[dict[str, Callable[[Report, _Manner], str]]] = {
    "text": _text,
    "json": _json,
    "markdown": _markdown,
    "github": _github,
    "html": _html,
}


# ---- rules


def _explained(id: str) -> Iterator[str]:
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
            ("example", row.example),
        )
    )
