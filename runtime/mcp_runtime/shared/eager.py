"""Runs a coroutine up to its first wait, so that one without a wait needs no task."""

from __future__ import annotations

from collections.abc import Coroutine, Generator
from typing import Any, Generic, TypeVar

_T = TypeVar("_T")


class Waiting(Generic[_T]):
    """The rest of a coroutine already begun. Only the task in which it began may await it."""

    __slots__ = ("_waits_for", "_work")

    def __init__(self, work: Coroutine[Any, Any, _T], waits_for: object) -> None:
        self._work = work
        self._waits_for = waits_for

    def __await__(self) -> Generator[Any, Any, _T]:
        try:
            while True:
                try:
                    sent = yield self._waits_for
                except BaseException as error:
                    self._waits_for = self._work.throw(error)
                else:
                    self._waits_for = self._work.send(sent)
        except StopIteration as end:
            result: _T = end.value
            return result


def begin(work: Coroutine[Any, Any, _T]) -> _T | Waiting[_T]:
    """Run `work` up to its first wait; return its result, or an awaitable for the rest."""
    try:
        return Waiting(work, work.send(None))
    except StopIteration as end:
        result: _T = end.value
        return result
