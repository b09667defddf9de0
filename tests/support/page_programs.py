"""Runs programs and commands of pages in this process, as if each were one of its own."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from mcp_bindgen.cli import main

__all__ = ["run_command", "run_program"]


def run_program(text: str, folder: Path, name: str = "page.py") -> str:
    """Run Python as `__main__` in `folder` and return its standard output. Raises its errors."""
    module = ModuleType("__main__")
    module.__file__ = str(folder / name)
    with _apart(folder) as output:
        sys.modules["__main__"] = module
        exec(compile(text, name, "exec"), module.__dict__)
    return output.getvalue()


def run_command(arguments: list[str], folder: Path) -> str:
    """Run `mcp-bindgen` with these arguments and return its standard output."""
    with _apart(folder) as output:
        try:
            main.main(arguments, prog_name="mcp-bindgen", standalone_mode=False)
        except click.ClickException as error:
            error.show(output)
        except SystemExit:
            pass
    return output.getvalue()


@contextlib.contextmanager
def _apart(folder: Path) -> Iterator[io.StringIO]:
    """Enter a folder; afterwards forget modules that were imported from it, and its settings."""
    output = io.StringIO()
    known = {*sys.modules}
    before: dict[str, Any] = {"main": sys.modules["__main__"], "path": list(sys.path)}
    place, path = Path.cwd(), os.environ["PATH"]
    os.chdir(folder)
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{path}"
    sys.path.insert(0, str(folder))
    try:
        with contextlib.redirect_stdout(output):
            yield output
    finally:
        os.chdir(place)
        os.environ["PATH"] = path
        sys.modules["__main__"], sys.path[:] = before["main"], before["path"]
        for name, module in [row for row in sys.modules.items() if row[0] not in known]:
            if (file := getattr(module, "__file__", None)) and folder in Path(file).parents:
                del sys.modules[name]
