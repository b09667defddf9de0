"""Fetches the official schema.ts and schema.json of every revision into tests/official/files.

`python -m tests.official`, or `make official`. Each file is that of the commit in schema/PINS.toml,
and must have the digest that is pinned there or, for schema.json, in PINS.toml beside this module.
So are the files of extensions, by schema/ext/PINS.toml, which has no digest for some.
"""

from __future__ import annotations

import hashlib
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mcp_bindgen import download, pins
from mcp_bindgen.cli.options import Network
from mcp_bindgen.errors import InputError
from tests.support.official_files import FETCHED

__all__ = ["Wanted", "fetch", "wanted"]

PINS: Final = Path(__file__).with_name("PINS.toml")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file at `path` of a repository, as of `commit`; without a digest where none is pinned."""

    revision: str
    path: str
    commit: str
    sha256: str
    repository: str = download.REPOSITORY

    @property
    def name(self) -> str:
        return f"schema{Path(self.path).suffix}"


def wanted() -> Iterator[Wanted]:
    """Both files of every pinned revision, and the file of every version of an extension."""
    documents = tomllib.loads(PINS.read_text("utf-8"))
    for revision, pin in pins.pins().items():
        yield Wanted(revision, pin.path, pin.commit, pin.sha256)
        path = pin.path.removesuffix(".ts") + ".json"
        yield Wanted(revision, path, pin.commit, documents[revision]["sha256"])
    for name, pin in pins.extensions().items():
        yield Wanted(name, pin.path, pin.commit, pin.sha256, pin.repository)


def fetch(file: Wanted, host: str = download.HOST, into: Path = FETCHED) -> Path:
    """Downloads one file, unless it is there already. Raises InputError for another digest."""
    place = into / file.revision / file.name
    if place.is_file() and file.sha256 in ("", _digest(place.read_bytes())):
        return place
    data = download.fetch(
        file.path, f"{host}/{file.repository}/{file.commit}/{file.path}", "", "", Network()
    )
    if file.sha256 not in ("", _digest(data)):
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
