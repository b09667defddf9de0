"""The corpus of small schemas: what each takes and refuses, and the modules made of it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct, convert

from mcp_bindgen import emit
from mcp_bindgen.ir.model import Schema

__all__ = ["CASES", "FLAVOURS", "Case", "write_package"]

CORPUS: Final = Path(__file__).parents[1] / "corpus" / "constructs"
FLAVOURS: Final = ("dataclass", "pydantic", "msgspec")


class Case(Struct, frozen=True, forbid_unknown_fields=True):
    """A schema with the type `Root`, and JSON texts that are a `Root` or are none.

    One that is refused has the words of the message instead; `illegal` says that TypeScript refuses
    it too. `imports` are other files, by the specifier that names them.
    """

    schema: str
    accepts: Sequence[str] = ()
    rejects: Sequence[str] = ()
    refused: str = ""
    illegal: bool = False
    imports: Mapping[str, str] = {}


def _cases() -> dict[str, Case]:
    cases: dict[str, Case] = {}
    for path in sorted(CORPUS.glob("*.toml")):
        tables = convert(tomllib.loads(path.read_text("utf-8")), dict[str, Case])
        cases |= {f"{path.stem}/{name}": case for name, case in tables.items()}
    return cases


CASES: Final = _cases()


def write_package(schemas: Sequence[Schema], folder: Path, name: str) -> None:
    """Write the bindings of schemas, each a revision of its own, as a package in `folder`."""
    for path, text in emit.generate(schemas, emit.Options()).items():
        file = folder / name / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
