"""Where the templates, the schemas and the runtime lie: in the installed package or in a checkout.

A wheel carries the first two inside this package as `_templates` and `_schema`; an editable install
runs from a checkout, where they stand beside `codegen/`.
"""

from pathlib import Path
from typing import Final

__all__ = ["runtime", "schema", "templates"]

_PACKAGE: Final = Path(__file__).resolve().parent


def templates() -> Path:
    """The folder of our templates, with `bindings/` and `project/` in it."""
    return _place("templates")


def schema() -> Path:
    """The folder of our schemas: `PINS.toml`, `decisions.toml`, `<revision>/schema.ts`."""
    return _place("schema")


def runtime() -> Path:
    """The folder of mcp_runtime: beside this package, or beside `codegen/`."""
    beside = _PACKAGE.parent / "mcp_runtime"
    return beside if beside.is_dir() else _PACKAGE.parents[1] / "runtime" / "mcp_runtime"


def _place(name: str) -> Path:
    carried = _PACKAGE / f"_{name}"
    return carried if carried.is_dir() else _PACKAGE.parents[1] / name
