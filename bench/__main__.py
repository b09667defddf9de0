"""`python -m bench [NAME…]`: prints tables, by default all but `bearer` and `walk`.

`walk` counts calls, and with `-v` lists them; `size` counts code; `exponents` prints how the time
of the command grows with each input that a stranger can make long.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from bench import peers
from bench import steps as way
from bench.bearer import bearer
from bench.bridge import bridge
from bench.diff import diff
from bench.exponents import exponents
from bench.http import http
from bench.idle import idle
from bench.messages import TEXTS
from bench.pairs import PAIRS, Row, Side, chosen, interleaved, processes, show, turns
from bench.scaffold import scaffold
from bench.size import size
from bench.stdio import stdio
from bench.stores import stores
from bench.walk import walk

_FLAVOURS: Final = ("msgspec", "pydantic", "dataclass")

_BARS: Final[Mapping[tuple[str, str], Mapping[str, float]]] = {
    ("msgspec", "one text item"): {"decode": 10, "encode": 8},
    ("msgspec", "three items"): {"decode": 6, "encode": 5},
    ("msgspec", "small with nulls"): {"decode": 5, "encode": 2},
    ("msgspec", "50 rows with nulls"): {"decode": 1.8, "encode": 1.2},
    ("msgspec", "the word null"): {"encode": 5},
    ("msgspec", "50 tools"): {"decode": 1.5, "encode": 1.7},
    ("pydantic", "50 tools"): {"decode": 0.7},
    ("dataclass", "50 tools"): {"decode": 0.7},
    ("pydantic", "three items"): {"decode": 2.5, "encode": 0.9},
    ("dataclass", "three items"): {"decode": 1.8, "encode": 0.6, "from_wire": 3, "to_wire": 2.5},
}
_MADE: Final = {"msgspec": 1.5, "pydantic": 0.7, "dataclass": 0.7}
"""A result made by its constructor."""
_IMPORTS: Final = {"msgspec": 0.3, "dataclass": 0.6, "pydantic": 0.75}


def _ours(job: str) -> Side:
    return Side(sys.executable, "bench.ours", job)


def _theirs(job: str) -> Side:
    return Side(peers.python(), "bench.theirs", job)


def models() -> Iterator[Row]:
    """Decoding and encoding beside `mcp`, unknown members kept."""
    for text in TEXTS:
        for flavour in _FLAVOURS:
            bars = _BARS.get((flavour, text), {})
            for what in ("decode", "encode", "from_wire", "to_wire"):
                if flavour != "pydantic" or what in ("decode", "encode"):
                    name = f"{flavour}, {text}, {what}"
                    ours, peer = _ours(f"{flavour} {text} {what}"), _theirs(f"{text} {what}")
                    yield turns(name, ours, peer, bars.get(what))
        for what in ("decode", "encode"):
            job = _theirs(f"json {text} {what}"), _theirs(f"{text} {what}")
            yield turns(f"json of the standard library, {text}, {what}", *job, None)
    for flavour, bar in _MADE.items():
        yield turns(f"{flavour}, constructor", _ours(f"made {flavour}"), _theirs("made"), bar)


def imports() -> Iterator[Row]:
    """Import of one revision's models beside that of `mcp_types`, each less an empty process."""
    empty = processes("", [sys.executable, "-c", ""], [peers.python(), "-c", ""], None)
    for flavour, share in _IMPORTS.items():
        code = f"import mcp_wire.v2025_11_25.models_{flavour}"
        theirs = [peers.python(), "-c", "import mcp_types"]
        row = processes(f"import, {flavour}", [sys.executable, "-c", code], theirs, None)
        assert row.peer is not None
        assert empty.peer is not None
        yield Row(row.name, row.ours - empty.ours, row.peer - empty.peer, round(1 / share, 2))


def generation() -> Iterator[Row]:
    """Generation beside datamodel-code-generator, formatting off on both sides; then by itself."""
    for flavour in _FLAVOURS:
        job = f"generate {flavour}"
        yield turns(f"2025-11-25, {flavour}", _ours(job), _theirs(job), 4)
    with _ours("lower").at_work() as lower:
        least = min(lower.turn() for _ in range(9))
    yield Row("read and lower 2026-07-28", least, None, 0.06)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        command = [sys.executable, "-m", "mcp_bindgen", "generate", "--out", str(out)]
        clear = partial(shutil.rmtree, out, ignore_errors=True)
        yield processes("everything, into an empty folder", command, None, 3, clear)
        (out / "__pycache__").mkdir()  # as a folder has it whose package was imported once
        yield processes("everything, nothing changed", command, None, 0.3)


def steps() -> Iterator[Row]:
    """A `tools/call` result of three items, up, losing nothing; then `convert`, less its decode."""
    for from_, to in (*way.STEPS, way.CHAIN):
        name = "step, same shape" if (from_, to) == way.STEPS[0] else "step"
        bar = {way.STEPS[0]: 0.2e-6, way.CHAIN: 12e-6}.get((from_, to), 3e-6)
        yield Row(f"{name}, {from_} to {to}", _turn(f"step {from_} {to}"), None, bar)
    for from_, to in way.CONVERT:
        over = _over(_way(f"convert {from_} {to}"), _way(f"decode {from_} {to}"))
        yield Row(f"convert less decode, {from_} to {to}", over, None, _OVER.get((from_, to)))


def _way(job: str) -> Side:
    return Side(sys.executable, "bench.steps", job)


def _turn(job: str) -> float:
    with _way(job).at_work() as side:
        return statistics.median(side.turn() for _ in range(PAIRS))


def _over(ours: Side, part: Side) -> float:
    """What a turn takes more than a part of it: the median over interleaved rounds."""
    pairs, _ = chosen(interleaved(ours, part))
    return statistics.median(whole - less for whole, less in pairs)


_OVER: Final = dict.fromkeys(way.STEPS, 3e-6)


def over_http() -> Iterator[Row]:
    """A typed `add(a, b)` beside a bare ASGI echo and `mcp`, then with access tokens."""
    yield from http()
    yield from bearer()


BENCHES: Final = {
    "generation": generation,
    "models": models,
    "imports": imports,
    "scaffold": scaffold,
    "steps": steps,
    "stdio": stdio,
    "bridge": bridge,
    "http": over_http,
    "bearer": bearer,
    "idle": idle,
    "stores": stores,
    "diff": diff,
}


PRINTED: Final = {"exponents": exponents, "size": size, "walk": walk}
"""What has no bar: counts, and how times grow."""


def main() -> None:
    names = [name for name in sys.argv[1:] if name != "-v"]
    known = {*BENCHES, *PRINTED}
    if unknown := [name for name in names if name not in known]:
        sys.exit(f"bench: nothing is called {unknown[0]!r}; there is {', '.join(sorted(known))}")
    for name in names or (*filter("bearer".__ne__, BENCHES), "size"):
        if name in PRINTED:
            PRINTED[name]()
            continue
        show(f"{name}: {(BENCHES[name].__doc__ or '').strip()}", BENCHES[name]())


if __name__ == "__main__":
    main()
