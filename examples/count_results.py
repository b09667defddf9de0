"""Counts the tool results in a recorded session, with nothing but the standard library.

    python -I -S examples/count_results.py bindings session.jsonl

The first argument is the folder that `mcp_wire` is in; nothing is installed.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp_wire.v2025_11_25.models_dataclass import CallToolResult


def read(line: str) -> CallToolResult | None:
    """The tool result that a line of the recording holds; None for other messages."""
    from mcp_wire.v2025_11_25.models_dataclass import (
        CallToolResult,
        DecodeError,
        JSONRPCResultResponse,
        decode,
        from_wire,
        to_wire,
    )

    try:
        response = decode(JSONRPCResultResponse, line)
        return from_wire(CallToolResult, to_wire(response.result))
    except DecodeError:
        return None


def short(result: CallToolResult) -> CallToolResult:
    """A result with its first block alone."""
    return replace(result, content=result.content[:1])


def main(folder: str, recording: str) -> None:
    sys.path.insert(0, folder)
    from mcp_wire.v2025_11_25.models_dataclass import encode

    lines = Path(recording).read_text("utf-8").splitlines()
    results = [result for line in lines if (result := read(line)) is not None]
    errors = sum(result.is_error is True for result in results)
    print(f"{len(results)} results, {errors} errors")
    for result in results:
        print(encode(short(result)).decode())


if __name__ == "__main__":
    main(*sys.argv[1:])
