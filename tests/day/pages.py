"""The pages of a new revision's day: the entry for users, and the list of rules to write."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from typing import Any, Final, cast

__all__ = ["changelog", "ledger"]

_PEERS: Final = (
    ("old_client_new_server", "a client of yours that stays as it is"),
    ("new_client_old_server", "a server of yours that stays as it is"),
    ("bindings", "Python code on the bindings"),
)
_TOLD: Final = ("breaking", "dangerous")
_NEWS: Final = {
    "METHOD_ADDED": "the method",
    "ERROR_CODE_CHANGED": "the error",
    "ARM_ADDED": "the new arms of",
    "MEMBER_ADDED_REQUIRED": "the required member",
    "MEMBER_BECAME_REQUIRED": "the required member",
}
_LOSSES: Final = ("drop", "degrade", "refuse")
_MOST: Final = 6


def changelog(before: str, revision: str, head: str, findings: list[Any], rows: str) -> str:
    """The entry for users: `head` is the news of the diff, `findings` are its own, `rows` the text
    of decisions.toml.
    """
    parts = [
        f"# {revision}, for those who speak {before}",
        "\n".join(f"- {line.strip()}" for line in head.splitlines() if line.strip()),
        "## Whom it breaks\n\n" + "\n".join(_whom(findings)),
        "## To do\n\n" + ("\n".join(_hints(findings)) or "- Nothing."),
        "## Lost on the way to the older revision\n\n"
        + ("\n".join(_lost(rows, f"{before}..{revision}")) or "- Nothing."),
    ]
    return "\n\n".join(parts) + "\n"


def _whom(findings: Iterable[Any]) -> Iterator[str]:
    rows = list(findings)
    for key, whom in _PEERS:
        counts = {v: sum(row[key] == v for row in rows) for v in ("breaks", "if used")}
        effects = [f"{counts['breaks']} changes break it"] * bool(counts["breaks"])
        effects += [f"{counts['if used']} break it if the feature is used"] * bool(
            counts["if used"]
        )
        yield f"- {whom}: {', '.join(effects) or 'no change breaks it'}"


def _hints(findings: Iterable[Any]) -> Iterator[str]:
    """The remedy of each rule, with the places that it is for."""
    places: dict[tuple[str, str], list[str]] = {}
    for row in findings:
        if row["severity"] in _TOLD and row["hint"]:
            places.setdefault((row["rule"], row["hint"]), []).append(row["path"])
    for (rule, hint), paths in places.items():
        listed = ", ".join(f"`{path}`" for path in dict.fromkeys(paths[:_MOST]))
        more = f" and {len(paths) - _MOST} more" if len(paths) > _MOST else ""
        yield f"- {hint} ({rule}: {listed}{more})"


def _lost(rows: str, pair: str) -> Iterator[str]:
    for kind, row in _rows(rows):
        if kind == "step" and row["pair"] == pair and row.get("down") in _LOSSES:
            yield f"- `{row['path']}` ({row['down']}): {row['why']}"


def ledger(revision: str, findings: list[Any], rows: str, pulled: str) -> str:
    """The rules to write: for each piece of news a test, for each page that answered a reading."""
    pages: dict[str, list[str]] = {}
    for kind, row in _rows(rows):
        if revision in (*row.get("revisions", ()), *str(row.get("pair", "")).split("..")):
            pages.setdefault(row["page"], []).append(f"[[{kind}]] `{row['path']}`")
    news = [row for row in findings if row["rule"] in _NEWS]
    comments = [line for line in pulled.splitlines() if line.startswith("schema/")]
    parts = [
        f"# Rules to write for {revision}",
        "## News that a test must hold\n\n" + (_boxes(map(_news, news)) or "- nothing"),
        "## Pages to read for requirements\n\n"
        + (_boxes(f"{page}: {', '.join(of[:3])}" for page, of in pages.items()) or "- nothing"),
        "## Comments to write in our words\n\n" + (_boxes(comments) or "- nothing"),
    ]
    return "\n\n".join(parts) + "\n"


def _rows(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The kind and the values of each row."""
    for kind, rows in tomllib.loads(text).items():
        if isinstance(rows, list):
            yield from ((kind, row) for row in cast("list[dict[str, Any]]", rows))


def _news(row: Any) -> str:
    return f"{_NEWS[row['rule']]} `{row['path']}`"


def _boxes(lines: Iterable[str]) -> str:
    return "\n".join(f"- [ ] {line}" for line in dict.fromkeys(lines))
