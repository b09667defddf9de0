"""Refuses text which would lead a handler out of its folder if it were used as a path.

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
    """Write `Annotated[str, AnyPath()]` to allow absolute, home, drive and network paths.

    A `..` segment and control characters stay refused.
    """


class _Refusal(NamedTuple):
    """Text with a match of `pattern` is refused; if `lifted`, `AnyPath` allows it."""

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
"""Names opened by Windows as a device in every folder, whatever their suffix. On other systems they
are ordinary names, and words of some languages."""

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
"""The rows apply on every system, so that a server behaves the same where it is developed and where
it runs. Only device names, ordinary words elsewhere, are refused on Windows alone."""


def path_fault(
    text: str, *, any_path: bool = False, on_windows: bool = os.name == "nt"
) -> str | None:
    """Return the reason why a text is no safe path below a folder; None if it is safe."""
    for refusal in _REFUSALS:
        if (any_path and refusal.lifted) or (refusal.windows_only and not on_windows):
            continue
        if refusal.pattern.search(text):
            return refusal.why
    return None


def paths_in(value: object, steps: tuple[Step, ...] = ()) -> Iterator[tuple[str, PurePath]]:
    """Yield each path in a value read from JSON, with its place (`$.a[0]`)."""
    if isinstance(value, PurePath):
        yield place(steps), value
        return
    for key in _keys(value):
        yield from paths_in(key, steps)
    for step, each in () if value.__class__ in PLAIN else children(value):
        yield from paths_in(each, (*steps, step))


def _keys(value: object) -> Iterable[object]:
    return cast("Mapping[object, object]", value) if isinstance(value, Mapping) else ()
