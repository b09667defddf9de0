"""Prints for all verbs: colour and progress on a terminal only, and no foreign control
characters.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Final, TypeAlias

import click

from mcp_bindgen.errors import OutputError

__all__ = [
    "Step",
    "code",
    "columns",
    "heading",
    "in_one_line",
    "near",
    "progress",
    "safe",
    "safe_text",
    "say",
    "warn",
]

Step: TypeAlias = Callable[[str], None]
"""Announces the next step."""

_WIDEST: Final = 48
_COLOUR: Final = re.compile(r"(\x1b\[[0-9;]*m)")


@contextmanager
def progress(total: int) -> Generator[Step, None, None]:
    """A bar of `total` steps on stderr, gone when done; silent unless stderr is a terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (BarColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total)

        def step(what: str) -> None:
            bar.update(task, description=what, advance=1, refresh=True)

        yield step


def say(text: str, *, nl: bool = True, at_once: bool = True) -> None:
    """Write to standard output, whole lines unless `nl` is false; without foreign control
    characters.

    With `at_once` false, the text waits for the next write. Raises OutputError if writing fails,
    BrokenPipeError if the reader has gone.
    """
    text = _escape(text)
    try:
        sys.stdout.write(f"{text}\n") if not at_once else click.echo(text, nl=nl)
    except BrokenPipeError:
        raise
    except OSError as error:
        message = f"standard output cannot be written: {error.strerror or error}"
        raise OutputError(message) from None


def warn(text: str) -> None:
    """Write lines to standard error, without foreign control characters."""
    click.echo(_escape(text), err=True)


def _escape(text: str) -> str:
    """`text` with control characters as escapes; colours stay, unless NO_COLOR is set.

    Pass the words of a peer through `safe` first: their colours and line ends would stay too.
    """
    if text.isprintable():
        return text
    parts = _COLOUR.split(text)
    if os.environ.get("NO_COLOR"):
        return "".join(map(safe_text, parts[::2]))
    return "".join(part if at % 2 else safe_text(part) for at, part in enumerate(parts))


def near(path: Path) -> str:
    """`path` as seen from the working folder, where it lies below it."""
    absolute = Path(os.path.abspath(path))
    here = Path.cwd()
    return absolute.relative_to(here).as_posix() if absolute.is_relative_to(here) else str(path)


def safe(line: str) -> str:
    """`line` with control characters as escapes, line ends and tabs too.

    Text of a peer or a file passes through here, or through `safe_text`, before it is shown.
    """
    from mcp_bindgen.source.text import printable

    return printable(line)


def in_one_line(text: str) -> str:
    """`text` as `safe` makes it, for the middle of a sentence: its line ends become spaces."""
    return safe(" ".join(filter(None, map(str.strip, text.splitlines()))))


def safe_text(text: str) -> str:
    """The same for several lines or for written JSON: line ends and tabs stay."""
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join("\t".join(map(safe, line.split("\t"))) for line in lines)


def heading(text: str) -> tuple[str, ...]:
    return (click.style(safe(text), bold=True),)


def columns(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Rows as indented lines, each column as wide as its widest text (up to a limit)."""
    table = [[safe(cell) for cell in row] for row in rows]
    if not table:
        return
    columns = range(len(table[0]) - 1)
    widths = [min(_WIDEST, max(len(row[i]) for row in table)) for i in columns]
    for row in table:
        padded = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        yield f"  {'  '.join([*padded, row[-1]])}".rstrip()


def code(text: str, language: str) -> list[str]:
    """The lines of a program; coloured on a terminal."""
    lines = [safe(line) for line in text.split("\n")]
    if not sys.stdout.isatty():
        return lines
    from rich.console import Console
    from rich.style import Style
    from rich.syntax import ANSISyntaxTheme, Syntax

    # The terminal's own colours, of those that can be read on white and on black.
    tokens = import_module("pygments.token")
    theme = ANSISyntaxTheme(
        {
            tokens.Keyword: Style(color="magenta"),
            tokens.String: Style(color="green"),
            tokens.Comment: Style(color="cyan", italic=True),
        }
    )
    console = Console(width=2 * max(map(len, lines)) + 1)  # the terminal wraps, nothing is cut
    with console.capture() as captured:
        console.print(Syntax("\n".join(lines), language, theme=theme))
    return [line.rstrip() for line in captured.get().rstrip("\n").split("\n")]
