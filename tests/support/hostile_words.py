"""Hostile text for every field that the command shows, and the judge of what it shows."""

from __future__ import annotations

import re
import unicodedata
from functools import partial
from typing import Final

from click.testing import Result

from tests.support import command

__all__ = ["FAKE", "HOSTILE", "check", "invoke"]

HOSTILE: Final = "x\x1b[5m\x1b]0;title\x07\r\x7f\x9b31m\u202e\u2066\u2028y\nFAKE: all is well"
"""Escape sequences, controls of both kinds, text turned round, and a line that is not ours."""

invoke: Final = partial(command.invoke, color=True)
"""With colours, as on a terminal: ours are colours alone, and nothing blinks."""

OURS: Final = re.compile(r"\x1b\[([012]|[39][0-7])m")
FAKE: Final = re.compile(r"^ *FAKE", re.MULTILINE)


def steers(text: str) -> list[str]:
    """What of an output a terminal would obey or show elsewhere; a line end of our own is none."""
    plain = OURS.sub("", text)
    obeyed = [
        c for c in plain if unicodedata.category(c) in {"Cc", "Cf", "Zl", "Zp"} and c not in "\n\t"
    ]
    is_page = plain.startswith("<!doctype html>")  # where a line end means nothing
    return [*map(ascii, obeyed), *([] if is_page else FAKE.findall(plain))]


def check(result: Result, *, shown: bool = True) -> None:
    """Nothing steers; what is hostile is there as escapes where it is `shown` for sure."""
    assert steers(result.stdout) == [], result.stdout
    assert steers(result.stderr) == [], result.stderr
    assert not shown or "x\\u001b[5m" in result.output or "x\\x1b[5m" in result.output
