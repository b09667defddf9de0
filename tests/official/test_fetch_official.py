"""`make official`, against a server on this machine that has or has not the pinned files."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from mcp_bindgen import download, pins
from mcp_bindgen.errors import InputError
from tests.official.__main__ import Wanted, fetch, wanted
from tests.support.loopback import Loopback

TEXT = b"interface A { a: string }"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
PLACE = f"{download.REPOSITORY}/{COMMIT}/schema/2025-11-25/schema.ts"
FILE = Wanted("2025-11-25", "schema/2025-11-25/schema.ts", COMMIT, hashlib.sha256(TEXT).hexdigest())


class Repository:
    """Serves texts by path, and counts what it was asked for."""

    def __init__(self, texts: Mapping[str, bytes]) -> None:
        self.texts = texts
        self.asked: list[str] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            for name in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{name}.complete"})
            return
        path = scope["path"].removeprefix(scope["root_path"] + "/")
        self.asked.append(path)
        status = 200 if path in self.texts else 404
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": self.texts.get(path, b"")})


def test_a_file_is_fetched_once_at_its_commit(loopback: Loopback, tmp_path: Path) -> None:
    repository = Repository({PLACE: TEXT})
    with loopback.mounted(repository) as url:
        places = [fetch(FILE, url, tmp_path) for _ in range(2)]
    assert places == [tmp_path / "2025-11-25" / "schema.ts"] * 2
    assert places[0].read_bytes() == TEXT
    assert len(repository.asked) == 1


def test_another_text_is_refused_and_not_kept(loopback: Loopback, tmp_path: Path) -> None:
    repository = Repository(
        {f"{download.REPOSITORY}/{COMMIT}/schema/2025-11-25/schema.ts": TEXT + b"\n"}
    )
    with loopback.mounted(repository) as url, pytest.raises(InputError, match="is pinned"):
        fetch(FILE, url, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_absent_file_is_an_error(loopback: Loopback, tmp_path: Path) -> None:
    with loopback.mounted(Repository({})) as url, pytest.raises(InputError, match="404"):
        fetch(FILE, url, tmp_path)


def test_every_official_file_is_wanted() -> None:
    files = {(file.revision, file.name) for file in wanted()}
    core = {(r, n) for r in pins.revisions() for n in ("schema.ts", "schema.json")}
    assert files == core | {(name, "schema.ts") for name in pins.extensions()}
    assert all(len(file.commit) == 40 for file in wanted())
    without = {file.revision for file in wanted() if len(file.sha256) != 64}
    assert without == {"apps@2026-01-26", "tool-resolution@draft-2026-08-21"}
