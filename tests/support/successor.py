"""A made-up revision after the newest one, and the answers to what generation asks about it."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

__all__ = ["BEFORE", "NAME", "Asked", "answers", "asked", "text"]

NAME: Final = "2027-03-11"
BEFORE: Final = "2026-07-28"

Asked = tuple[str, str]
"""The line that says where and why, and the row to paste."""

_NEW: Final = """
/** Parameters that name a resource to sum up. */
export interface ChecksumRequestParams extends RequestParams {
  uri: string;
}

/** Asks for the checksum of a resource. */
export interface ChecksumRequest extends JSONRPCRequest {
  method: "checksum/get";
  params: ChecksumRequestParams;
}

/** The checksum of a resource. */
export interface ChecksumResult extends Result {
  sum: string;
}

export interface ChecksumResultResponse extends JSONRPCResultResponse {
  result: ChecksumResult;
}

/** Content block with moving pictures. */
export interface VideoContent {
  type: "video";
  data: string;
  mimeType: string;
}

/** Sent when a client asks too often. */
export const RATE_LIMITED = -32023;
"""

_EDITS: Final = (
    (f'LATEST_PROTOCOL_VERSION = "{BEFORE}"', f'LATEST_PROTOCOL_VERSION = "{NAME}"'),
    ("  | DiscoverRequest\n", "  | DiscoverRequest\n  | ChecksumRequest\n"),
    ("  | DiscoverResult\n", "  | DiscoverResult\n  | ChecksumResult\n"),
    ("AudioContent | ResourceLink", "AudioContent | VideoContent | ResourceLink"),
    ('"accept" | "decline" | "cancel"', '"accept" | "decline" | "dismiss"'),
    ("  lastModified?: string;", "  changedAt?: string;"),
)


def text(schema: Path) -> str:
    """Its schema.ts: a method, an arm and a constant more; a member required, a literal changed,
    a type and a member renamed."""
    found = (schema / BEFORE / "schema.ts").read_text("utf-8")
    for old, new in _EDITS:
        assert found.count(old) == 1, old
        found = found.replace(old, new)
    found = re.sub(r"\bAnnotations\b", "Hints", found)
    prompt = found.index("export interface Prompt extends")
    found = found[:prompt] + found[prompt:].replace("description?:", "description:", 1)
    return found + _NEW


# ---- what a maintainer answers

_VIDEO: Final = {"down": "degrade", "as": "media"}
STEPS: Final[Mapping[str, Mapping[str, Any]]] = {
    "Prompt.description": {"up": "default", "value": "", "down": "drop"},
    "Hints.changedAt": {"down": "rename", "to": "lastModified"},
    "Annotations.lastModified": {"up": "rename", "to": "changedAt"},
    "ElicitResult.action:cancel": {"up": "rename", "to": "dismiss"},
    "ElicitResult.action:dismiss": {"down": "rename", "to": "cancel"},
    "CallToolResult.content:VideoContent": _VIDEO,
    "PromptMessage.content:VideoContent": _VIDEO,
    "ToolResultContent.content:VideoContent": _VIDEO,
    "checksum/get": {"down": "refuse", "code": -32601, "message": "no checksums"},
    "RATE_LIMITED": {"down": "rename", "to": -32603},
}
"""The rows of the step, by path."""

EXTRA: Final = frozenset({"Annotations.lastModified"})
"""What no proof needs, as the member would be carried unknown; but it means the same."""

NARROWED: Final = "InputRequiredResult.resultType"
"""Asked about, because the [[narrow]] row does not name the new revision yet."""


def asked(stderr: str) -> list[Asked]:
    """The rows to paste that an error lists."""
    return re.findall(r'^# (.*)\n(\[\[\w+\]\]\n(?:.*\n)*?why = "")$', stderr, re.MULTILINE)


def answers(rows: list[Asked], table: str) -> str:
    """decisions.toml with the answers: known methods by their lists, the rest by rows."""
    before = tomllib.loads(table)
    known = {
        row["path"]
        for kind in ("method", "http", "tolerance")
        for row in before[kind]
        if BEFORE in row["revisions"]
    }
    known |= {NARROWED}
    for path in sorted(known & {_path(row) for row in rows}):
        table = _extended(table, path)
    paths = [path for path in map(_path, rows) if path in STEPS]
    new = [_row(path) for path in dict.fromkeys([*paths, *EXTRA])]
    new += [
        row.replace('page = ""', 'page = "p"').replace('why = ""', f'why = "{_path((_, row))}"')
        for _, row in rows
        if row.startswith("[[method]]") and _path((_, row)) not in known
    ]
    return "\n\n".join([table, *new]) + "\n"


def _path(row: Asked) -> str:
    found = re.search(r'^path = "(.*)"$', row[1], re.MULTILINE)
    assert found
    return found[1].partition(":")[0] if found[1].startswith(NARROWED) else found[1]


def _extended(table: str, path: str) -> str:
    """The newest row for `path`, its list of revisions with the new one."""
    head = f'"{BEFORE}"]\npath = "{path}"'
    assert table.count(head) == 1, path
    return table.replace(head, f'"{BEFORE}", "{NAME}"]\npath = "{path}"')


def _row(path: str) -> str:
    return "\n".join(["[[step]]", f'pair = "{BEFORE}..{NAME}"', *_lines(path)])


def _lines(path: str) -> Iterator[str]:
    yield f"path = {json.dumps(path)}"
    for key, value in STEPS[path].items():
        yield f"{key} = {json.dumps(value)}"
    yield 'page = "p"'
    yield f'why = "{path} is made up."'
