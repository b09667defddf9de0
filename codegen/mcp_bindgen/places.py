"""Where the templates and the schemas lie: in the installed package, or at the root of a checkout.

A wheel carries both folders inside this package as `_templates` and `_schema`; an editable install
runs from a checkout, where they stand beside `codegen/`.
"""

from pathlib import Path
from typing import Final

__all__ = ["schema", "templates"]

_PACKAGE: Final = Path(__file__).resolve().parent


def templates() -> Path:
    """The folder of our templates, with `bindings/` and `project/` in it."""
    return _place("templates")


def schema() -> Path:
    """The folder of our schemas: `PINS.toml`, `decisions.toml`, `<revision>/schema.ts`."""
    return _place("schema")


def _place(name: str) -> Path:
    carried = _PACKAGE / f"_{name}"
    return carried if carried.is_dir() else _PACKAGE.parents[1] / name
