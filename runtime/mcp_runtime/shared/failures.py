"""Reports of unexpected exceptions: everything to the log, a reference to the peer."""

from __future__ import annotations

import logging
import secrets
from types import TracebackType
from typing import Final, cast

_OURS: Final = frozenset(("mcp_runtime", "mcp_wire", "asyncio", "concurrent", "threading"))
"""Packages whose frames do not help to find the fault of a handler."""
_PARTS: Final = 10
"""The most exceptions of a group named in a text."""


def record_failure(log: logging.Logger, what: str, error: BaseException) -> str:
    """Log an exception with its traceback, without our own frames, and return its reference.

    The reference stands in the log. It is a random number and so may be sent to the peer.
    """
    reference = secrets.token_hex(4)
    _cut_frames(error, set())
    log.error("%s (reference %s): %s", what, reference, describe(error), exc_info=error)
    return reference


def describe(error: BaseException) -> str:
    """Return the class and the text of an exception; for a group, of its parts too."""
    try:
        text = f"{type(error).__name__}: {error}"
    except Exception:  # its `__str__` is the application's
        text = type(error).__name__
    if parts := parts_of(error):
        named = [*map(describe, parts[:_PARTS]), *(["…"] if len(parts) > _PARTS else [])]
        text = f"{text}: {'; '.join(named)}"
    return text


def parts_of(error: BaseException) -> tuple[BaseException, ...]:
    """Return the exceptions of a group; none for another exception."""
    if not isinstance(error, BaseExceptionGroup):
        return ()
    return cast("BaseExceptionGroup[BaseException]", error).exceptions


def alone(error: BaseException) -> BaseException:
    """Return the exception inside groups of one, as task groups raise them."""
    while len(parts := parts_of(error)) == 1:
        error = parts[0]
    return error


def _cut_frames(error: BaseException | None, seen: set[int]) -> None:
    """Remove our frames from the tracebacks of an exception, its causes and its parts.

    A traceback with our frames only stays as it is: the fault is ours.
    """
    if error is None or id(error) in seen:
        return
    seen.add(id(error))
    cut = _cut(error.__traceback__)
    if cut is not None:
        error.__traceback__ = cut
    for inner in (error.__cause__, error.__context__, *parts_of(error)):
        _cut_frames(inner, seen)


def _cut(traceback: TracebackType | None) -> TracebackType | None:
    steps: list[TracebackType] = []
    while traceback is not None:
        package = str(traceback.tb_frame.f_globals.get("__name__")).partition(".")[0]
        if package not in _OURS:
            steps.append(traceback)
        traceback = traceback.tb_next
    cut: TracebackType | None = None
    for step in reversed(steps):
        cut = TracebackType(cut, step.tb_frame, step.tb_lasti, step.tb_lineno)
    return cut
