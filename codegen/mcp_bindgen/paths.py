"""Finds the templates, the schemas and the runtime: in the installed package or in a checkout.

A wheel carries the first two inside this package as `_templates` and `_schema`; an editable install
runs from a checkout, where they stand beside `codegen/`. The runtime is a distribution of its own.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import Final

from mcp_bindgen.errors import InputError

__all__ = ["runtime", "schema", "templates"]

_PACKAGE: Final = Path(__file__).resolve().parent


def templates() -> Path:
    """The folder of our templates, with `bindings/` and `project/` in it."""
    return _place("templates")


def schema() -> Path:
    """The folder of our schemas: `PINS.toml`, `decisions.toml`, `<revision>/schema.ts`."""
    return _place("schema")


def runtime() -> Path:
    """The folder of the installed `mcp_runtime`. Raises InputError without it."""
    spec = find_spec("mcp_runtime")
    if spec is None or spec.origin is None:
        raise InputError(
            "the package mcp_runtime is not installed",
            remedy="Install mcp-bindgen again; mcp-bindgen-runtime comes with it.",
        )
    return Path(spec.origin).parent


def _place(name: str) -> Path:
    carried = _PACKAGE / f"_{name}"
    return carried if carried.is_dir() else _PACKAGE.parents[1] / name
