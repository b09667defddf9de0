"""Shows a change of a host's settings, asks for it, and writes it in one step, with a copy kept."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from typing import Final

import click

from mcp_bindgen.cli.show import near, safe, say, warn
from mcp_bindgen.errors import InputError, OutputError

__all__ = ["confirm", "read_settings", "show_change", "write_settings"]

_LARGEST: Final = 4 << 20
"""The largest settings file that is read, in bytes."""


def read_settings(path: Path) -> str:
    """The text of a settings file; empty if there is none. Raises InputError."""
    try:
        if path.stat().st_size > _LARGEST:
            raise InputError(f"{path} is larger than {_LARGEST} bytes")
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None


def show_change(path: Path, old: str, new: str) -> None:
    """Print the changed lines alone: other lines of the file may hold secrets."""
    say(f"{near(path)}:")
    for line in _changed(old, new):
        say(safe(line))


def _changed(old: str, new: str) -> Iterator[str]:
    lines = unified_diff(old.splitlines(), new.splitlines(), n=0, lineterm="")
    return (line for line in lines if not line.startswith(("---", "+++", "@@")))


def confirm(question: str, *, yes: bool) -> bool:
    """Ask at the terminal, unless `yes`. Raises InputError where nobody can answer."""
    if yes:
        return True
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise InputError("nobody can be asked here", remedy="--yes agrees; --dry-run shows alone.")
    return click.confirm(question, err=True)


def write_settings(path: Path, old: str, new: str) -> None:
    """Replace the file in one step, and keep a copy of the old one beside it.

    Raises OutputError, and InputError if the file is not `old` any more.
    """
    path = path.resolve()  # a link to a file elsewhere stays a link
    if read_settings(path) != old:
        raise InputError(f"{path} was changed meanwhile", remedy="Run the command again.")
    copy = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            copy = _free(path)
            shutil.copy2(path, copy)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(new.encode())
            if path.exists():
                shutil.copymode(path, name)
            os.replace(name, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror}") from None
    if copy is not None:
        warn(f"the file as it was: {near(copy)}")


def _free(path: Path) -> Path:
    """The first name of a copy which is not taken."""
    number = 1
    while (copy := path.with_name(f"{path.name}.bak{'' if number == 1 else number}")).exists():
        number += 1
    return copy
