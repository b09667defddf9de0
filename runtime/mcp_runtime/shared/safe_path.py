"""Refuses text that would lead a handler out of its folder, were the text taken for a path.

path_fault("/etc/passwd")   # "is an absolute path"
path_fault("notes/a.txt")   # None
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePath
from typing import Final, NamedTuple, cast

from mcp_runtime.json_schema.to_json import PLAIN, Step, children, place


@dataclasses.dataclass(frozen=True, slots=True)
class AnyPath:
    """In `Annotated[str, AnyPath()]`: the parameter takes absolute, home, drive and network paths.

    A `..` segment and control characters stay refused.
    """


class _Refusal(NamedTuple):
    """Text in which `pattern` is found is refused; `lifted` if `AnyPath` takes it."""

    why: str
    pattern: re.Pattern[str]
    lifted: bool
    windows_only: bool = False


_UPWARD: Final = re.compile(r"(?:\A|[/\\])\.\.(?: [ .]*)?(?:[/\\]|\Z)")
"""Windows ignores dots and spaces at the end of a name, so `.. ` is `..` there."""

_DEVICE: Final = re.compile(
    r"(?:\A|[/\\])(?:CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(?:COM|LPT)[0-9\u00b9\u00b2\u00b3])"
    r" *(?:[.:/\\]|\Z)",
    re.IGNORECASE,
)
"""Names that Windows opens as a device in every folder, whatever their suffix. Elsewhere they are
names as others are, and words of some languages."""

_REFUSALS: Final = (
    _Refusal("has a control character", re.compile(r"[\x00-\x1f\x7f]"), lifted=False),
    _Refusal("has a `..` segment", _UPWARD, lifted=False),
    _Refusal("is a network path", re.compile(r"\A[/\\]{2}"), lifted=True),
    _Refusal("is an absolute path", re.compile(r"\A[/\\]"), lifted=True),
    _Refusal("is a path on a drive", re.compile(r"\A[A-Za-z]:"), lifted=True),
    _Refusal("is a path in a home folder", re.compile(r"\A~"), lifted=True),
    _Refusal("is a file URI", re.compile(r"\Afile:", re.IGNORECASE), lifted=True),
    _Refusal("has a backslash", re.compile(r"\\"), lifted=True),
    _Refusal("names a device", _DEVICE, lifted=True, windows_only=True),
)
"""The same on every system, but for names that lead out of a folder on Windows alone: a server that
is developed on one may run on another."""


def path_fault(
    text: str, *, any_path: bool = False, on_windows: bool = os.name == "nt"
) -> str | None:
    """Why a text may not be used as a path below some folder; None if it may."""
    for refusal in _REFUSALS:
        if (any_path and refusal.lifted) or (refusal.windows_only and not on_windows):
            continue
        if refusal.pattern.search(text):
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
