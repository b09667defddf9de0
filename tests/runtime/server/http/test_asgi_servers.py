"""What is served is the same on uvicorn, hypercorn and granian."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from functools import cache
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest

from mcp_runtime import Client
from mcp_runtime.revisions import latest
from tests.support.asgi_client import POST, initialize, mirrors, request
from tests.support.patience import PATIENCE
from tests.support.ports import kept_port, until_listening

Ports: TypeAlias = Callable[[str], int]
ROOT: Final = Path(__file__).resolve().parents[4]
APP: Final = "tests.support.asgi_app:app"
COMMANDS: Final[Mapping[str, tuple[str, ...]]] = {
    "uvicorn": ("uvicorn", "--host", "127.0.0.1", "--port", "PORT", APP),
    "hypercorn": ("hypercorn", "--bind", "127.0.0.1:PORT", APP),
    "granian": ("granian", "--interface", "asgi", "--host", "127.0.0.1", "--port", "PORT", APP),
}


@contextmanager
def serving(name: str) -> Iterator[int]:
    with kept_port() as port:
        command = [word.replace("PORT", str(port)) for word in COMMANDS[name]]
        process = subprocess.Popen(
            [sys.executable, "-m", *command],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        try:
            until_listening(port)
            yield port
        finally:
            process.terminate()
            try:
                process.communicate(timeout=PATIENCE)
            finally:
                process.kill()


def _asked(port: int, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> Any:
    with closing(HTTPConnection("127.0.0.1", port, timeout=PATIENCE)) as connection:
        connection.request(method, path, body, {**headers, "host": "localhost"})
        with connection.getresponse() as answer:
            text = re.sub(rb"[0-9]{2,}", b"0", answer.read())
            names = ("content-type", "allow", "retry-after")
            return answer.status, text, {name: answer.headers[name] for name in names}


def _answers(port: int) -> list[Any]:
    call = request("tools/call", {"name": "who", "arguments": {}})
    tools = request("tools/list", {})
    wrong = {**POST, "content-type": "text/plain"}
    return [
        _asked(port, "POST", "/mcp", json.dumps(call).encode(), {**POST, **mirrors(call)}),
        _asked(port, "POST", "/mcp", json.dumps(tools).encode(), {**POST, **mirrors(tools)}),
        _asked(port, "POST", "/mcp", json.dumps(initialize("2025-11-25")).encode(), POST),
        _asked(port, "POST", "/mcp", b"{", POST),
        _asked(port, "POST", "/mcp", b"{}", wrong),
        _asked(port, "PUT", "/mcp", b"", POST),
        _asked(port, "GET", "/nowhere", b"", {}),
        _asked(port, "POST", "/mcp", b" " * 5_000_000, POST),
    ]


@pytest.fixture(scope="module")
def ports() -> Iterator[Ports]:
    """The port of each server, which is started when it is first asked for."""
    with ExitStack() as stack:
        yield cache(lambda name: stack.enter_context(serving(name)))


@pytest.fixture(scope="module")
def by_uvicorn(ports: Ports) -> list[Any]:
    return _answers(ports("uvicorn"))


@pytest.mark.parametrize("name", ["hypercorn", "granian"])
def test_requests_are_answered_as_on_uvicorn(
    name: str, by_uvicorn: list[Any], ports: Ports
) -> None:
    answers = _answers(ports(name))
    assert [status for status, _, _ in answers] == [200, 200, 200, 400, 415, 405, 404, 413]
    assert answers == by_uvicorn


async def _yes(params: Any) -> latest.ElicitResult:
    return latest.ElicitResult(action="accept", content={"yes": True})


@pytest.mark.real_time
@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
@pytest.mark.parametrize("name", COMMANDS)
async def test_a_client_is_served_streams_and_questions(
    name: str, revision: str, ports: Ports
) -> None:
    logged: list[Any] = []
    client = Client.http(
        f"http://127.0.0.1:{ports(name)}/mcp",
        revisions=[revision],
        on_elicit=_yes,
        on_log=lambda params: logged.append(params.data["number"]),
        log_level="debug",
    )
    async with client:
        confirmed = await client.call_tool("confirm", {})
        assert "Sure(yes=True)" in confirmed.content[0].text
        await client.call_tool("tell", {"count": 3, "every": 0})
    assert logged == [0, 1, 2]
