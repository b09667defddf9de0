"""Measures steps: one alone, and `convert` beside the decoding that it contains.

The bars are seconds: 3 µs for a lossless step, 0.2 µs where the shape is the same, 12 µs for the
chain of all, and 3 µs of `convert` over the decode.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any, Final

from bench.messages import TEXTS

__all__ = ["CHAIN", "CONVERT", "JOBS", "STEPS"]

_REVISIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")
STEPS: Final = tuple(pairwise(_REVISIONS))
CHAIN: Final = (_REVISIONS[0], _REVISIONS[-1])
CONVERT: Final = (*STEPS, CHAIN)


def _result(revision: str) -> dict[str, Any]:
    """Three items, without what the revision lacks, so that the way up loses nothing."""
    body = json.loads(TEXTS["three items"][1])
    del body["resultType"]
    if revision < "2025-06-18":
        del body["structuredContent"]
    return dict(body)


def _step(from_: str, to: str) -> Callable[[], Any]:
    from mcp_wire.steps import Context, Trip, route

    run, result = route(from_, to, "tools/call", "result"), _result(from_)
    trip = Trip(Context())
    run(result, trip)
    assert not trip.losses
    return partial(run, result, trip)


def _message(revision: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "result": _result(revision)}


def _convert(from_: str, to: str) -> Callable[[], Any]:
    from mcp_wire.convert import convert

    return partial(convert, _message(from_), from_, to, method="tools/call")


def _decode(from_: str, to: str) -> Callable[[], Any]:
    """What convert does first: the envelope, then the result."""
    package = f"mcp_wire.v{from_.replace('-', '_')}"
    models: Any = importlib.import_module(f"{package}.models_msgspec")
    calls: Any = importlib.import_module(f"{package}.calls_msgspec")
    envelope = getattr(models, "JSONRPCResultResponse", models.JSONRPCResponse)
    message, type = _message(from_), calls.RESULTS["tools/call"]

    def run() -> None:
        models.from_wire(envelope, message)
        models.from_wire(type, message["result"])

    return run


JOBS: Final[dict[str, Callable[[], Callable[[], Any]]]] = {
    f"{name} {from_} {to}": partial(job, from_, to)
    for name, job in {"step": _step, "convert": _convert, "decode": _decode}.items()
    for from_, to in CONVERT
}
