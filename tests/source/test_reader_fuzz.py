"""Damaged schemas are read or refused; nothing else comes out. Bounded in rounds."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Final

import pytest

from mcp_bindgen.errors import BindgenError
from mcp_bindgen.ir.export.json_schema import json_schema
from mcp_bindgen.ir.lower.lower import load
from tests.support.seeds import seed
from tests.support.wide import wide_but

REVISIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")
ROUNDS: Final = 300
TOKEN: Final = re.compile(r"\w+|\s+|/\*|\*/|[^\w\s]")
FOREIGN: Final = (
    *[
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        "<",
        ">",
        "|",
        "&",
        ";",
        ":",
        ",",
        "?",
        "=",
        "-",
        "+",
        "...",
        "'",
        '"',
        "`",
        "/*",
        "*/",
        "//",
        "<!--",
        "@a",
        "#",
        "\\",
        "\x00",
        "\u2028",
    ],
    *[
        "keyof",
        "typeof",
        "readonly",
        "unique",
        "as",
        "const",
        "enum",
        "namespace",
        "class",
        "this",
        "infer",
        "never",
        "null",
    ],
    *[
        "Omit",
        "Record",
        "Partial",
        "Array",
        "undefined",
        "extends",
        "import",
        "export",
        "default",
        "1e999",
        "0x1",
        "e5",
        "\\u{110000}",
    ],
)


def damaged(tokens: list[str], dice: random.Random) -> str:
    """A piece of `tokens` with a few of them gone, doubled, swapped, replaced or joined."""
    start = dice.randrange(len(tokens))
    tokens = tokens[start : start + dice.choice((30, 300, 1_500))]
    for _ in range(dice.randint(1, 6)):
        a, b = dice.randrange(len(tokens)), dice.randrange(len(tokens))
        match dice.randrange(5):
            case 0:
                tokens[a] = ""
            case 1:
                tokens[a] *= 2
            case 2:
                tokens[a], tokens[b] = tokens[b], tokens[a]
            case 3:
                tokens[a] = f" {dice.choice(FOREIGN)} "
            case _:
                tokens[a] += f" {dice.choice(FOREIGN)} "
    return "".join(tokens)


@pytest.mark.wide
@pytest.mark.parametrize("revision", wide_but({"2025-11-25", "2026-07-28"}, REVISIONS))
def test_a_damaged_schema_is_read_or_refused(root: Path, revision: str) -> None:
    text = (root / "schema" / revision / "schema.ts").read_text(encoding="utf-8")
    # Pieces between declarations, so that many damaged texts are still TypeScript.
    pieces = re.split(r"\n(?=export |/\*\*)", text)
    dice = random.Random(seed(revision))
    for _ in range(ROUNDS):
        some = dice.sample(pieces, dice.randint(1, 12))
        damage = damaged([t for piece in some for t in TOKEN.findall(f"{piece}\n")], dice)
        tried = damage if dice.random() < 0.5 else text.replace(some[0], damage)
        try:
            json_schema(load(tried.encode(), "a.ts"))
        except BindgenError:
            continue
        except Exception as error:
            raise AssertionError(f"{error!r} for\n{damage}") from error
