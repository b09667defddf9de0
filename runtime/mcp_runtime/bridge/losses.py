"""The losses of messages on a bridge, found by the steps between revisions."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import IO, Any, Final

from mcp_runtime.bridge.hooks import Crossing, Loss
from mcp_runtime.revisions import HANDLERS, Context, Position, StepError, Trip, revision, route
from mcp_runtime.revisions import latest as t

log: Final = logging.getLogger("mcp_runtime.bridge")

_NOTHING: Final = Context()


def losses(position: Position, method: str, model: Any, spoken: str) -> Iterator[Loss]:
    """Yield the parts of a model without a form in the revision `spoken`."""
    if spoken == HANDLERS or model is t.UNSET or method not in revision(spoken).methods:
        return
    trip = Trip(_NOTHING)
    try:
        step = route(HANDLERS, spoken, method, position, bare=True)
        step(t.to_wire(model), trip)
    except StepError as error:
        yield Loss("$", "the message", str(error))
        return
    for path, what, why in trip.losses:
        if not _is_bookkeeping(path):
            yield Loss(path, what, why)


_BOOKKEEPING: Final = (
    "ttlMs",
    "cacheScope",
    "resultType",
    "_meta['io.modelcontextprotocol",
    '_meta["io.modelcontextprotocol',
)


def _is_bookkeeping(path: str) -> bool:
    """Return True for members of the envelope of one era, which the other era does without."""
    rest = path.removeprefix("$").removeprefix(".")
    return rest.startswith(_BOOKKEEPING)


class LossFile:
    """Writes each crossing with a loss as a line of JSON to a text file; use it as `observe`."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def __call__(self, crossing: Crossing) -> None:
        if not crossing.losses:
            return
        line = {
            "method": crossing.method,
            "name": crossing.name,
            "upstream": crossing.upstream,
            "client": crossing.client,
            "server": crossing.server,
            "losses": [loss._asdict() for loss in crossing.losses],
        }
        self._file.write(f"{json.dumps(line, ensure_ascii=False)}\n")
        self._file.flush()


def tell(crossing: Crossing) -> None:
    """Write a line to the log for a crossing with losses."""
    for loss in crossing.losses:
        log.info(
            "%s %.200s (%s to %s): %s: %s. %s",
            crossing.method,
            crossing.name,
            crossing.server,
            crossing.client,
            *loss,
        )
