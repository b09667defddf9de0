"""Nothing that a generation made waits for the collector; docstrings break as textwrap has it."""

from __future__ import annotations

import gc
import random
import textwrap

from mcp_bindgen import emit
from mcp_bindgen.emit.text.layout import WIDTH, docstring
from mcp_bindgen.ir.lower.lower import load

SCHEMA = "".join(f"export interface A{n} {{ a: string; b?: A0[]; c: 1 | 2 }}\n" for n in range(99))


def _generate() -> None:
    emit.generate([load(SCHEMA.encode(), "a.ts", "a")], emit.Options())


def test_a_generation_leaves_little_to_the_garbage_collector() -> None:
    _generate()  # compiles the templates
    gc.collect()
    gc.disable()
    try:
        _generate()
        assert gc.collect() < 100
    finally:
        gc.enable()


def test_a_docstring_breaks_where_textwrap_breaks_it() -> None:
    chance = random.Random(7)
    for _ in range(500):
        words = (chance.choice("ab-") * chance.choice((1, 5, 9, 90)) for _ in range(40))
        text = "".join(word + " " * chance.choice((1, 1, 1, 2)) for word in words)
        lines = textwrap.wrap(
            f'"""{text}',
            WIDTH - 3,
            initial_indent="    ",
            subsequent_indent="    ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        assert docstring("    ", text) == [*lines, '    """']
