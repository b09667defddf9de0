"""Refuses text that would lead a handler out of its folder, were the text taken for a path.

path_fault("/etc/passwd")   # "is an absolute path"
path_fault("notes/a.txt")   # None
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePath
from typing import Final, NamedTuple, cast

from mcp_runtime.json_schema.to_json import PLAIN, Step, children, place


@dataclasses.dataclass(frozen=True, slots=True)
class AnyPath:
    """In `Annotated[str, AnyPath()]`: the parameter takes absolute, drive and network paths too.

    A `..` segment and control characters stay refused.
    """


class _Refusal(NamedTuple):
    """Text in which `pattern` is found is refused; `lifted` if `AnyPath` takes it."""

    why: str
    pattern: re.Pattern[str]
    lifted: bool


_UPWARD: Final = re.compile(r"(?:\A|[/\\])\.\.(?: [ .]*)?(?:[/\\]|\Z)")
"""Windows ignores dots and spaces at the end of a name, so `.. ` is `..` there."""

_REFUSALS: Final = (
    _Refusal("has a control character", re.compile(r"[\x00-\x1f\x7f]"), lifted=False),
    _Refusal("has a `..` segment", _UPWARD, lifted=False),
    _Refusal("is a network path", re.compile(r"\A[/\\]{2}"), lifted=True),
    _Refusal("is an absolute path", re.compile(r"\A[/\\]"), lifted=True),
    _Refusal("is a path on a drive", re.compile(r"\A[A-Za-z]:"), lifted=True),
    _Refusal("has a backslash", re.compile(r"\\"), lifted=True),
)
"""The same on every system: a server that is developed on one may run on another."""


def path_fault(text: str, *, any_path: bool = False) -> str | None:
    """Why a text may not be used as a path below some folder; None if it may."""
    for refusal in _REFUSALS:
        if not (any_path and refusal.lifted) and refusal.pattern.search(text):
            return refusal.why
    return None


def paths_in(value: object, steps: tuple[Step, ...] = ()) -> Iterator[tuple[str, PurePath]]:
    """The paths in a value that was read from JSON, with their places (`$.a[0]`)."""
    if isinstance(value, PurePath):
        yield place(steps), value
        return
    for key in _keys(value):
        yield from paths_in(key, steps)
    for step, each in () if value.__class__ in PLAIN else children(value):
        yield from paths_in(each, (*steps, step))


def _keys(value: object) -> Iterable[object]:
    return cast("Mapping[object, object]", value) if isinstance(value, Mapping) else ()
