"""`mcp-bindgen diff`: what changed between two schemas, and whom it breaks."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

import click

from mcp_bindgen import pins
from mcp_bindgen.cli import FINDINGS, OK
from mcp_bindgen.cli.show import columns, heading, safe
from mcp_bindgen.errors import InputError

if TYPE_CHECKING:
    from mcp_bindgen.diff.judge import Finding
    from mcp_bindgen.diff.report import Report, Side
    from mcp_bindgen.diff.rules import Rule

__all__ = ["command"]

_FAIL_ON: Final = ("breaking", "dangerous", "any", "never")
_FOR: Final = ("client", "server", "bindings", "all")
_ALL_RULES: Final = "*"


@click.command("diff")
@click.argument("old", required=False, metavar="OLD")
@click.argument("new", required=False, metavar="NEW")
@click.option("--format", type=click.Choice(("text", "json")), default="text", help="How.")
@click.option("--for", "whom", type=click.Choice(_FOR), default="all", help="Whom it may break.")
@click.option("--fail-on", type=click.Choice(_FAIL_ON), default="breaking", help="Exit 1 from.")
@click.option(
    "--explain",
    is_flag=False,
    flag_value=_ALL_RULES,
    metavar="[RULE]",
    help="Say what a rule means; without one, list all.",
)
def command(
    old: str | None, new: str | None, format: str, whom: str, fail_on: str, explain: str | None
) -> int:
    """Compare OLD with NEW, each a revision, a schema.ts file or a folder with one."""
    if explain is not None:
        click.echo("\n".join(_explained(explain)))
        return OK
    if old is None or new is None:
        raise click.UsageError("OLD and NEW are needed: two revisions, files or folders.")
    report = _compared(old, new, whom)
    click.echo(_FORMATS[format](report))
    return FINDINGS if _fails(report, fail_on) else OK


def _compared(old: str, new: str, whom: str) -> Report:
    from dataclasses import replace

    from mcp_bindgen.diff.judge import AUDIENCES
    from mcp_bindgen.diff.report import compare

    audiences = AUDIENCES if whom == "all" else tuple(a for a in AUDIENCES if a == whom)
    return replace(compare(_side(old), _side(new)), audiences=audiences)


def _side(text: str) -> Side:
    from mcp_bindgen.diff.report import Side
    from mcp_bindgen.source import Source

    found = pins.find(text)
    schema = pins.lower(found)
    if not schema.methods:
        raise InputError(
            f"{found.path}: declares no method, so nothing says what travels",
            remedy="Give a schema.ts of the protocol.",
        )
    return Side(found.revision or text, schema, Source(found.data, found.path))


def _fails(report: Report, fail_on: str) -> bool:
    from mcp_bindgen.diff.judge import SEVERITIES

    worst = {"never": 0, "breaking": 1, "dangerous": 2, "any": len(SEVERITIES)}[fail_on]
    return any(report.count(severity) for severity in SEVERITIES[:worst])


# ---- formats


def _json(report: Report) -> str:
    from mcp_bindgen.diff.report import document

    return json.dumps(document(report), indent=2, ensure_ascii=False)


def _text(report: Report) -> str:
    return "\n".join(_lines(report))


_FORMATS: Final[dict[str, Callable[[Report], str]]] = {"text": _text, "json": _json}


def _lines(report: Report) -> Iterator[str]:
    from mcp_bindgen.diff.judge import SEVERITIES

    yield from heading(f"{report.old.name} → {report.new.name}")
    for severity in SEVERITIES:
        found = [f for f in report.findings if report.severity(f) == severity]
        if found:
            yield ""
            yield from heading(f"{severity} ({len(found)})")
            yield from columns(_row(finding) for finding in found)


def _row(finding: Finding) -> tuple[str, ...]:
    change = finding.change
    return change.path, finding.rule.id, f"{change.old.text} → {change.new.text}"


# ---- rules


def _explained(id: str) -> Iterator[str]:
    from mcp_bindgen.diff.rules import RULES, rule

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
