"""Measures a new server from its start to its first answer, beside the hello-world of `mcp`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from bench import peers
from bench.pairs import PAIRS, Row
from bench.stdio import ERAS, INITIALIZE, paired

__all__ = ["scaffold"]

_NAME: Final = "hello"
_BAR: Final = 4
_SEARCH: Final = {"name": "search", "arguments": {"text": "URI", "limit": 1}}
_ADD: Final = {"name": "add", "arguments": {"a": 2, "b": 3}}


def scaffold() -> Iterator[Row]:
    """`mcp-bindgen new`, its server as its client settings start it; first call of a tool."""
    theirs = [peers.python(), str(Path(__file__).parent / "servers" / "theirs.py")]
    with tempfile.TemporaryDirectory() as folder:
        ours = _made(Path(folder))
        for era in ERAS:
            sides = partial(_start, ours, era, _SEARCH), partial(_start, theirs, era, _ADD)
            for side in sides:
                side()  # its bytecode is written
            yield paired(f"{era}, start to first answer", PAIRS, *sides, _BAR)


def _made(folder: Path) -> Sequence[str]:
    """The command of a new project, in an environment of its own."""
    new = [sys.executable, "-m", "mcp_bindgen", "new", _NAME, "--yes"]
    subprocess.run(new, cwd=folder, check=True, stderr=subprocess.DEVNULL)
    python = folder / "venv" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", python.parents[1]], check=True)
    (site,) = (folder / "venv" / "lib").glob("python*/site-packages")
    _link("msgspec", site)
    (site / "made.pth").write_text(f"{folder / _NAME / 'src'}\n")
    return [str(python), "-m", _NAME]


def _link(package: str, site: Path) -> None:
    """Takes a package of this environment into another."""
    import msgspec

    (site / package).symlink_to(Path(msgspec.__file__).parent)


def _start(command: Sequence[str], era: str, call: dict[str, Any]) -> float:
    """Seconds from the start of a process to the answer of its first call."""
    handshake, carried = ERAS[era]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    begin = time.perf_counter()
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def tell(**members: Any) -> None:
            assert process.stdin is not None
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **members}).encode() + b"\n")
            process.stdin.flush()

        if handshake:
            tell(id=0, method="initialize", params=INITIALIZE)
            process.stdout.readline()
            tell(method="notifications/initialized")
        tell(id=1, method="tools/call", params={**call, **carried})
        answer = process.stdout.readline()
        seconds = time.perf_counter() - begin
        process.stdin.close()
    if "structuredContent" not in json.loads(answer)["result"]:
        raise RuntimeError(f"{command!r} answered {answer[:1000]!r}")
    return seconds
