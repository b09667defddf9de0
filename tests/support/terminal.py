"""Text that would steer a terminal, and the judge of what is shown."""

from __future__ import annotations

import unicodedata
from typing import Final

HOSTILE: Final = {
    "ESC": "\x1b[2J",
    "OSC": "\x1b]0;title\x07",
    "C1": "\x9b31m",
    "CR": "a\rb",
    "DEL": "\x7f",
    "bidi override": "\u202e",
    "bidi mark": "\u200f",
    "Arabic letter mark": "\u061c",
    "isolate": "\u2066",
    "line separator": "\u2028",
    "tag": "\U000e0041",
    "surrogate": "\udc80",
}


def is_inert(text: str) -> bool:
    """Whether no character steers a terminal, but for line ends and tabs."""
    bidi = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    return not any(
        unicodedata.category(c) in {"Cc", "Cs", "Zl", "Zp"}
        or unicodedata.bidirectional(c) in bidi
        or c in "\u061c\u200e\u200f\ufeff"
        or 0xE0000 <= ord(c) <= 0xE007F
        for c in text
        if c not in "\n\t"
    )
