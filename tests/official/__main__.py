"""Fetches the official schema.ts and schema.json of every revision into tests/official/files.

`python -m tests.official`, or `make official`. Each file is that of the commit in schema/PINS.toml,
and must have the digest that is pinned there or, for schema.json, in PINS.toml beside this module.
"""

from __future__ import annotations

import hashlib
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mcp_bindgen import pins, pull
from mcp_bindgen.errors import InputError
from tests.support.official_files import FETCHED

__all__ = ["Wanted", "fetch", "wanted"]

PINS: Final = Path(__file__).with_name("PINS.toml")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file at `path` of the protocol's repository, as of `commit`."""

    revision: str
    path: str
    commit: str
    sha256: str

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


def wanted() -> Iterator[Wanted]:
    """Both files of every pinned revision."""
    documents = tomllib.loads(PINS.read_text("utf-8"))
    for revision, pin in pins.pins().items():
        yield Wanted(revision, pin.path, pin.commit, pin.sha256)
        path = pin.path.removesuffix(".ts") + ".json"
        yield Wanted(revision, path, pin.commit, documents[revision]["sha256"])


def fetch(file: Wanted, repository: str = pull.REPOSITORY, into: Path = FETCHED) -> Path:
    """Downloads one file, unless it is there already. Raises InputError for another digest."""
    place = into / file.revision / file.name
    if place.is_file() and _digest(place.read_bytes()) == file.sha256:
        return place
    data = pull.fetch(file.revision, f"{repository}/{file.commit}/{file.path}")
    if _digest(data) != file.sha256:
        raise InputError(
            f"{file.path}: has the digest {_digest(data)}, and {file.sha256} is pinned",
            remedy="Something between here and the protocol's repository changed the file.",
        )
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)
    return place


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


if __name__ == "__main__":
    try:
        for each in wanted():
            print(fetch(each).relative_to(Path.cwd()))
    except InputError as error:
        sys.exit(f"{error}")
