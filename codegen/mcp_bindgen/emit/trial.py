"""Imports the generated modules in a separate process, before anything is written.

The process starts while the texts are still being made, and loads their libraries; then it gets a
folder, and imports its modules one by one. A missing or outdated library says nothing about the
texts: a module which needs it is only compiled.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import traceback
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Final

from mcp_bindgen.errors import OutputError
from mcp_bindgen.limits import MAX_IMPORT_SECONDS

__all__ = ["Trial"]

_PACKAGE: Final = "written"
"""The name of a package on trial: its modules import each other by relative names."""
_LONGEST: Final = 2000
"""Characters shown of an error."""
_REMEDY: Final = (
    "Nothing was written. Mend your templates, or report this with what it was made from."
)


class Trial:
    """A process which imports modules. `libraries` are loaded at once."""

    def __init__(self, libraries: Sequence[str] = ()) -> None:
        # -I: nothing of the working folder or of the user's environment; -B: no cache is written
        command = [sys.executable, "-I", "-B", __file__, *libraries]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )

    def __enter__(self) -> Trial:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def require_package(self, files: Mapping[str, str], changed: Collection[str]) -> None:
        """Raise OutputError if a changed module cannot be imported; `files` are all texts by
        path.
        """
        with TemporaryDirectory(prefix="mcp-bindgen-") as folder:
            for path, text in files.items():
                file = Path(folder, _PACKAGE, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(text.encode())
            self.require_modules(Path(folder), [f"{_PACKAGE}/{path}" for path in changed])

    def require_modules(self, root: Path, modules: Collection[str]) -> None:
        """Raise OutputError if one of these modules, by path below `root`, cannot be imported."""
        task = json.dumps({"root": str(root), "modules": sorted(modules)}) + "\n"
        try:
            answer, _ = self._process.communicate(task.encode(), timeout=MAX_IMPORT_SECONDS)
        except subprocess.TimeoutExpired:
            raise OutputError(
                f"what would be written is not imported within {MAX_IMPORT_SECONDS} s",
                remedy=_REMEDY,
            ) from None
        status = self._process.returncode
        if status or not answer:
            raise OutputError(
                f"importing what would be written ended Python with status {status}",
                remedy=_REMEDY,
            )
        fault: Any = json.loads(answer)
        if fault is not None:
            path = str(fault["path"]).removeprefix(f"{_PACKAGE}/")
            line = f":{fault['line']}" if fault["line"] else ""
            message = f"{path}{line}: what would be written {fault['what']}: {fault['why']}"
            raise OutputError(message, remedy=_REMEDY)


# ---- in the process


def _main(libraries: Sequence[str]) -> None:
    for library in libraries:
        try:
            importlib.import_module(library)
        except ImportError:
            continue
    task: Any = json.loads(sys.stdin.readline())
    out, sys.stdout = sys.stdout, sys.stderr  # a module that prints says nothing to us
    fault = next(_faults(Path(task["root"]), task["modules"]), None)
    out.write(json.dumps(fault))
    out.flush()


def _faults(root: Path, modules: Sequence[str]) -> Iterator[dict[str, object]]:
    sys.path.insert(0, str(root))
    ours = {PurePosixPath(path).parts[0] for path in modules}
    for path in modules:
        name = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        try:
            importlib.import_module(name)
        except ImportError as error:
            if (error.name or "").partition(".")[0] in {*ours, ""}:
                yield _fault(root, path, error)
        except BaseException as error:
            yield _fault(root, path, error)


def _fault(root: Path, path: str, error: BaseException) -> dict[str, object]:
    """The fault of a module, at the last line below `root` which led to it."""
    places = [(f.filename, f.lineno) for f in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError):
        places.append((error.filename or "", error.lineno))
    inside = [(Path(file), line) for file, line in places if Path(file).is_relative_to(root)]
    file, line = inside[-1] if inside else (root / path, None)
    parsed = bool(inside) and not isinstance(error, SyntaxError)
    what = "cannot be imported" if parsed else "is not Python"
    why = str(error) if isinstance(error, SyntaxError) else f"{error.__class__.__name__}: {error}"
    place = file.relative_to(root).as_posix()
    return {"path": place, "line": line, "what": what, "why": why[:_LONGEST]}


if __name__ == "__main__":
    _main(sys.argv[1:])
