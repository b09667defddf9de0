"""Tests that can depend on the Python that runs them: `make portable` runs these on any Python."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import Final

import pytest

PORTABLE: Final = {
    "laws": "generated code of three flavours meets dataclasses, pydantic, msgspec and annotations",
    "emit/test_alias_identity.py": "aliases are compared by Python's own identity of types",
    "emit/test_circular_aliases.py": "Python resolves the annotations",
    "emit/test_extensions.py": "the bindings of extensions are imported and used",
    "emit/test_options.py": "bindings with other options are imported and used",
    "pair": "client and server talk over the event loop, pipes and sockets of this Python",
    "runtime/client/http": "asyncio's streams, its TLS and its cancellation are this Python's",
    "runtime/client/test_event_loops.py": "event loops are opened, closed and left in other ways",
    "runtime/json_schema": "schemas are made of annotations, which `typing` reads",
    "runtime/server/functions": "`inspect` and `typing` read signatures and annotations",
    "runtime/server/http": "asyncio's servers, signals and cancellation are this Python's",
    "runtime/shared": "threads, tasks and their ends are this Python's",
    "runtime/stores": "sqlite3 comes with this Python",
    "runtime/transports": "processes, pipes and event loops are this Python's",
    "cli/test_run.py": "a process of this Python serves and ends",
    "scaffold/test_project.py": "a written project runs on this Python",
    "test_wheel.py": "the wheels are installed into an environment of this Python",
    "test_examples.py": "the examples run on this Python",
    "test_readme.py": "the README's commands run on this Python",
}
"""Folders and files below tests/, each with what may differ.

Of the runtime, what does no I/O and reads no annotation is left out: its core, authorization,
extensions, and the requirements of `spec`. Those are imported and used by `pair` on every Python.
"""


def mark(items: Iterable[pytest.Item], tests: Path) -> None:
    """Add the marker `portable` to each test at one of these places."""
    for path, tests_of_file in groupby(items, lambda item: item.path):
        place = path.relative_to(tests) if path.is_relative_to(tests) else Path()
        if any(place.is_relative_to(each) for each in PORTABLE):
            for item in tests_of_file:
                item.add_marker(pytest.mark.portable)
