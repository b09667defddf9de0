"""A handler prints and logs what the console has no characters for, and nothing fails."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mcp_runtime import Client, types
from mcp_runtime.transports.printing import printable_output

SERVER = """
import logging, sys
from mcp_runtime import Server

logging.basicConfig(stream=sys.stdout, force=True)
server = Server("s", "1")

@server.tool
async def loop() -> str:
    return spoken()

@server.tool
def thread() -> str:
    return spoken()

@server.tool
def written() -> str:
    sys.__stdout__.write("caf\\u00e9 \\u2705\\n")
    return "done"

def spoken() -> str:
    print("\\u2705 printed")
    print("\\u2705 printed", file=sys.stderr)
    logging.warning("\\u2705 logged")
    return "done"

server.run(**OPTIONS)
"""
TOOLS = ("loop", "thread", "written")
ENCODINGS = ["cp1252", "ascii", "cp850", "latin-1:strict"]


@contextmanager
def written(folder: Path, options: str) -> Iterator[str]:
    path = folder / "server.py"
    path.write_text(SERVER.replace("**OPTIONS", options), "utf-8")
    yield str(path)


def require_done(result: types.CallToolResult) -> None:
    assert result.is_error is not True, result.content
    assert result.content == [types.TextContent(text="done")]


@pytest.mark.drawn
@pytest.mark.real_time
@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_a_tool_prints_what_the_code_page_of_a_pipe_has_not(
    encoding: str, tmp_path: Path
) -> None:
    with written(tmp_path, "") as path:
        errors = bytearray()
        command = [sys.executable, path]
        env = {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
        async with Client.stdio(command, env=env, stderr=errors.extend, timeout=60) as client:
            for tool in TOOLS:
                require_done(await client.call_tool(tool, {}))
    text = errors.decode("ascii", "replace")
    assert text.count("\\u2705 printed") == 4
    assert text.count("\\u2705 logged") == 2
    assert "Logging error" not in text


@pytest.mark.real_time
async def test_a_tool_over_http_prints_what_the_console_has_not(tmp_path: Path) -> None:
    pytest.importorskip("uvicorn")
    options = 'http="127.0.0.1:0", started=lambda url: print(url, file=sys.stderr, flush=True)'
    env = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    with (
        written(tmp_path, options) as path,
        subprocess.Popen(
            [sys.executable, path],
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process,
    ):
        try:
            assert process.stderr is not None
            url = next(line for line in process.stderr if line.startswith("http://")).strip()
            async with Client.http(url, timeout=60) as client:
                for tool in TOOLS:
                    require_done(await client.call_tool(tool, {}))
        finally:
            process.terminate()
            out, _ = process.communicate(timeout=60)
    assert out.count("\\u2705 printed") == 2


def test_standard_output_is_as_it_was_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    with printable_output():
        stream.write("\u2705")
    assert stream.errors == "strict"
    with pytest.raises(UnicodeEncodeError):
        stream.write("\u2705")
    kept = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="replace")
    monkeypatch.setattr(sys, "stdout", kept)
    with printable_output():
        assert kept.errors == "replace"


def test_a_stream_that_is_no_text_file_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for stream in (io.StringIO(), None):
        monkeypatch.setattr(sys, "stdout", stream)
        with printable_output(line_buffering=True):
            assert sys.stdout is stream
