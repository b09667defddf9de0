"""Measures `diff` where thousands of members have changed."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from bench.pairs import Row
from mcp_bindgen import pins
from mcp_bindgen.compare.judge.verdicts import Finding, judge
from mcp_bindgen.tools.compare import compare
from mcp_bindgen.tools.surface import read

__all__ = ["diff"]

_MEMBERS: Final = 5_000
_BAR: Final = 2.0
_TURNS: Final = 5
_SCHEMA: Final = """
export type JSONRPCMessage = ManyRequest;
export interface ManyRequest { jsonrpc: "2.0"; id: string; method: "many"; params: { %s } }
export interface EmptyResult {}
export type ClientRequest = ManyRequest;
"""


def diff() -> Iterator[Row]:
    """Reading and comparing two sides in which 5 000 members differ, in time of the processor."""
    names = [f"m{number}" for number in range(_MEMBERS)]
    string, number = _tool({"type": "string"}, []), _tool({"type": "integer"}, [])
    demanded = _tool({"type": "string"}, names), _tool({"type": "integer"}, names)
    yield _row("tools, types replaced", _tools, string, number)
    yield _row("tools, types of required members replaced", _tools, *demanded)
    yield _row("tools, members became required", _tools, string, demanded[0])
    yield _row("schemas, types replaced", _schemas, _schema("string"), _schema("number"))


def _row(name: str, job: Callable[[str, str], tuple[Finding, ...]], old: str, new: str) -> Row:
    return Row(name, min(_seconds(job, old, new) for _ in range(_TURNS)), None, _BAR)


def _seconds(job: Callable[[str, str], tuple[Finding, ...]], old: str, new: str) -> float:
    began = time.process_time()
    findings = job(old, new)
    seconds = time.process_time() - began
    if len(findings) != _MEMBERS:
        raise RuntimeError(f"{len(findings)} findings, expected {_MEMBERS}")
    return seconds


def _tool(member: Any, required: list[str]) -> str:
    members = {f"m{number}": member for number in range(_MEMBERS)}
    schema = {"type": "object", "properties": members, "required": required}
    return json.dumps([{"name": "many", "inputSchema": schema}])


def _tools(old: str, new: str) -> tuple[Finding, ...]:
    before, after = (read(text.encode(), "tools.json") for text in (old, new))
    return compare(before, after).findings


def _schema(member: str) -> str:
    return _SCHEMA % " ".join(f"m{number}: {member};" for number in range(_MEMBERS))


def _schemas(old: str, new: str) -> tuple[Finding, ...]:
    with tempfile.TemporaryDirectory() as folder:
        paths = Path(folder, "old.ts"), Path(folder, "new.ts")
        for path, text in zip(paths, (old, new), strict=True):
            path.write_text(text, encoding="utf-8")
        before, after = pins.lower_alike([pins.find(str(path)) for path in paths])
    return judge(before, after)
