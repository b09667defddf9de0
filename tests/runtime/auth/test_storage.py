"""Tokens are kept where only their owner can read them, by several processes at one time."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mcp_runtime.auth.client.storage import (
    FileStorage,
    KeyringStorage,
    MemoryStorage,
    TokenStorage,
)
from mcp_runtime.errors import TooMuch


class Keyring:
    """A keyring of the system, as its library offers it."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, key: str) -> str | None:
        return self.kept.get((service, key))

    def set_password(self, service: str, key: str, value: str) -> None:
        self.kept[service, key] = value

    def delete_password(self, service: str, key: str) -> None:
        del self.kept[service, key]


@pytest.fixture(params=["memory", "file", "keyring"])
def storage(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> TokenStorage:
    if request.param == "file":
        return FileStorage(tmp_path / "deep" / "tokens.json")
    if request.param == "keyring":
        monkeypatch.setitem(sys.modules, "keyring", Keyring())
        return KeyringStorage(locks=tmp_path)
    return MemoryStorage()


async def test_what_is_set_is_got_until_it_is_deleted(storage: TokenStorage) -> None:
    assert await storage.get("a") is None
    await storage.set("a", b'{"x": "\xc3\xa9"}')
    await storage.set("b", b"2")
    assert await storage.get("a") == b'{"x": "\xc3\xa9"}'
    await storage.delete("a")
    await storage.delete("a")
    assert (await storage.get("a"), await storage.get("b")) == (None, b"2")


@pytest.mark.requirement("auth.token.client-storage")
async def test_the_file_and_its_lock_are_the_owners_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        await FileStorage(tmp_path / "t" / "tokens.json").set("a", b"1")
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "t").iterdir()}
    assert modes == {"tokens.json": 0o600, "tokens.json.lock": 0o600}
    assert (tmp_path / "t").stat().st_mode & 0o777 == 0o700


async def test_a_file_that_is_not_ours_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    path.write_text("not JSON", "utf-8")
    with pytest.raises(ValueError, match="move it away"):
        await FileStorage(path).set("a", b"1")
    assert path.read_text("utf-8") == "not JSON"


async def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    path.write_bytes(b" " * (4 * 1024 * 1024 + 1))
    with pytest.raises(TooMuch):
        await FileStorage(path).get("a")


async def test_changes_at_one_time_are_all_kept(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    await asyncio.gather(*(FileStorage(path).set(f"k{n}", b"1") for n in range(30)))
    assert all([await FileStorage(path).get(f"k{n}") for n in range(30)])


async def test_processes_at_one_time_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    code = (
        "import asyncio, sys; from mcp_runtime.auth.client.storage import FileStorage\n"
        "async def main(path, name):\n"
        "    for n in range(20): await FileStorage(path).set(f'{name}{n}', b'1')\n"
        "asyncio.run(main(*sys.argv[1:]))"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, path, name]) for name in "abc"]
    assert [process.wait(60) for process in running] == [0, 0, 0]
    kept: list[Any] = [await FileStorage(path).get(f"{x}{n}") for x in "abc" for n in range(20)]
    assert None not in kept
