"""Runs git: checks for a clean tree, merges three texts, reads a committed file."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Final

from mcp_bindgen.errors import InputError
from mcp_bindgen.scaffold.merge import Merge, Merged

__all__ = ["file_at", "merging", "require_clean"]

_MOST_CONFLICTS: Final = 127
"""git's exit status is the number of conflicts up to this; above it, git could not."""
_TIMEOUT: Final = 60.0


def require_clean(project: Path) -> None:
    """Raise InputError where something is not committed, or git does not know the folder."""
    run = _git("status", "--porcelain", "--untracked-files=all", "--", ".", cwd=project)
    if run.returncode != 0:
        raise InputError(
            "the project is not in git, so an update could not be taken back",
            remedy="git init && git add --all && git commit",
        )
    if run.stdout:
        first = run.stdout.decode(errors="replace").splitlines()[0]
        raise InputError(
            f"the project has changes that are not committed: {first}",
            remedy="Commit or stash them first; --dry-run shows what an update would do.",
        )


def merging(theirs: str) -> Merge:
    """Merge as git does; `theirs` labels the new text in conflicts."""

    def merge(yours: str, old: str, new: str) -> Merged:
        with tempfile.TemporaryDirectory(prefix="mcp-bindgen-") as folder:
            paths = [Path(folder, name) for name in ("yours", "old", "new")]
            for path, text in zip(paths, (yours, old, new), strict=True):
                path.write_bytes(text.encode())
            labels = (part for label in ("yours", "old", theirs) for part in ("-L", label))
            run = _git("merge-file", "--stdout", *labels, *map(str, paths))
        if not 0 <= run.returncode <= _MOST_CONFLICTS:
            message = run.stderr.decode(errors="replace").strip()
            raise InputError(f"git merge-file: {message}", remedy="Is one of the files no text?")
        return Merged(run.stdout.decode(), run.returncode > 0)

    return merge


def file_at(ref: str, path: str) -> bytes:
    """The contents of a file in a commit; `path` is relative to the root of the repository, or to
    the current folder if it begins with `./`. Raises InputError.
    """
    run = _git("cat-file", "blob", "--end-of-options", f"{ref}:{path}")
    if run.returncode != 0:
        said = run.stderr.decode(errors="replace").strip().removeprefix("fatal: ")
        remedy = "`git fetch` brings a commit that is not here."
        raise InputError(f"git:{ref}:{path} cannot be read: {said}", remedy=remedy)
    return run.stdout


def _git(*args: str, cwd: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            ["git", "-c", "core.fsmonitor=false", *args],
            cwd=cwd,
            capture_output=True,
            timeout=_TIMEOUT,
            check=False,
        )
    except FileNotFoundError:
        raise InputError("git is not there", remedy="Install git.") from None
    except subprocess.TimeoutExpired:
        raise InputError(f"git {args[0]} took longer than {_TIMEOUT:.0f} s") from None
