"""Shows on a terminal what `call` waits for, for how long, and the progress; prints log messages.

All of it goes to stderr. If stderr is not a terminal, log messages alone are printed.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from mcp_bindgen.cli.show import in_one_line, warn

if TYPE_CHECKING:
    from rich.progress import Progress

__all__ = ["Activity"]

_DELAY: Final = 0.5
"""Seconds without an answer before anything is shown: short waits do not flicker."""


class Activity:
    """One line at the end of the terminal, as long as something is waited for."""

    def __init__(self) -> None:
        self._bar: Progress | None = None
        self._hidden = 0

    @contextmanager
    def waiting(self, what: str) -> Generator[None]:
        """Show `what` and the time since the start of the block, until its end."""
        if not sys.stderr.isatty():
            yield
            return
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        class Bar(BarColumn):
            def render(self, task: Any) -> Any:
                return "" if task.total is None else super().render(task)

        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            Bar(),
            TimeElapsedColumn(),
        )
        bar = Progress(*columns, console=Console(stderr=True), transient=True)
        bar.add_task(in_one_line(what), total=None)
        self._bar = bar
        soon = asyncio.get_running_loop().call_later(_DELAY, self._start)
        try:
            yield
        finally:
            soon.cancel()
            self._bar = None
            bar.stop()

    def _start(self) -> None:
        if self._bar is not None and not self._hidden:
            self._bar.start()

    @contextmanager
    def hidden(self) -> Generator[None]:
        """Take the line away inside the block, while a person is asked."""
        self._hidden += 1
        if self._bar is not None:
            self._bar.stop()
        try:
            yield
        finally:
            self._hidden -= 1
            self._start()

    def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Show the progress of the call."""
        if self._bar is not None:
            task = self._bar.tasks[0]
            said = in_one_line(message) if message else task.description
            self._bar.update(task.id, completed=progress, total=total, description=said)

    def log(self, params: Any) -> None:
        """Print a log message of the server."""
        data = params.data if isinstance(params.data, str) else json.dumps(params.data, default=str)
        logger = f" {params.logger}" if isinstance(params.logger, str) else ""
        warn(in_one_line(f"{params.level}{logger}: {data}"))
