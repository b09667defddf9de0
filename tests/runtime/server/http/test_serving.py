"""An application where it is served: by uvicorn on a socket, with its lifespan."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pytest

from mcp_runtime import Context, Server
from mcp_runtime.errors import LocalError
from mcp_runtime.server.http.uvicorn import address
from tests.support.asgi_client import (
    POST,
    Client,
    mirrors,
    request,
)
from tests.support.async_tests import run
from tests.support.patience import PATIENCE, until

ROOT: Final = Path(__file__).resolve().parents[4]
SERVED: Final = """
import asyncio, sys
from contextlib import asynccontextmanager
from mcp_runtime import Context, Server
from mcp_runtime.limits import Limits

@asynccontextmanager
async def lifespan(server):
    yield
    if sys.argv[3]:
        raise RuntimeError(sys.argv[3])

drain_wait, body_seconds, _, eof_wait = sys.argv[1:]
limits = Limits(
    drain_wait=float(drain_wait), body_seconds=float(body_seconds), eof_wait=float(eof_wait)
)
server = Server("served", "1", limits=limits, lifespan=lifespan)

@server.tool
async def echo(text: str = "") -> str:
    return text

@server.tool
async def stuck(ctx: Context) -> str:
    await ctx.log("info", "begun")
    try:
        await asyncio.Event().wait()
    finally:
        print("ended", flush=True)

@server.tool
async def slow() -> str:
    print("started", flush=True)
    await asyncio.sleep(1)
    return "slept"

@server.tool
async def large() -> str:
    return "x" * 20_000_000

server.run(http="127.0.0.1:0", started=lambda url: print(url, flush=True))
"""


_EACH: Final = pytest.mark.parametrize("plain", [False, True], ids=["uvloop", "asyncio"])


def loops(test: Any) -> Any:
    """Run a test on uvloop or on asyncio: `make test` draws one of them, `make wide` does both."""
    return pytest.mark.drawn(_EACH(test))


PLAIN: Final = "import sys; sys.modules.update({'uvloop': None, 'httptools': None})\n"
LONG: Final = 3600.0
"""Seconds that no test waits: what ends before has not waited for them."""
ANOTHER_SIGNAL: Final = 0.6
"""Seconds after which a signal is not the one before once more."""


@asynccontextmanager
async def served(
    drain_wait: float = LONG,
    fault: str = "",
    *,
    plain: bool = False,
    listens: bool = False,
    body_seconds: float = LONG,
    eof_wait: float = LONG,
) -> AsyncGenerator[tuple[asyncio.subprocess.Process, int]]:
    """A process that serves, and its port. It is killed at the end if it has not ended.

    With a `fault` its lifespan is left by an exception. A `plain` one runs without uvloop and
    httptools. With `listens` its standard error is a pipe.
    """
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        (PLAIN if plain else "") + SERVED,
        str(drain_wait),
        str(body_seconds),
        fault,
        str(eof_wait),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE if fault or listens else None,
        env={"PYTHONPATH": str(ROOT / "runtime")},
    )
    try:
        assert child.stdout is not None
        async with asyncio.timeout(PATIENCE):
            url = urlsplit((await child.stdout.readline()).decode())
            assert url.port is not None
            yield child, url.port
    finally:
        if child.returncode is None:
            child.kill()
        await child.wait()


async def refuses(port: int) -> None:
    """Wait until nobody listens at the port any more."""

    async def is_refused() -> bool:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            return True
        writer.close()
        return False

    await until(is_refused)


class Exchange:
    """One connection to a server: what was said, and the `answer` as far as it was read."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self.answer = b""

    async def until(self, text: bytes) -> bytes:
        """The answer, read up to this text at least."""
        while text not in self.answer:
            chunk = await self._reader.read(65_536)
            assert chunk, f"the answer has ended without {text!r}: {self.answer!r}"
            self.answer += chunk
        return self.answer

    async def until_over(self) -> bytes:
        """The answer, read until the server ends the connection."""
        self.answer += await self._reader.read()
        return self.answer

    def half_close(self) -> None:
        """Send nothing more; the answer can still be read."""
        self._writer.write_eof()

    def close(self) -> None:
        self._writer.close()


async def say(port: int, head: str, *parts: bytes) -> Exchange:
    exchange = Exchange(*await asyncio.open_connection("127.0.0.1", port))
    exchange._writer.write(head.replace("\n", "\r\n").encode() + b"\r\n" + b"".join(parts))
    return exchange


async def exchange(port: int, head: str, *parts: bytes, until: bytes = b"") -> bytes:
    """What the server says to that, until the connection ends or `until` has come."""
    said = await say(port, head, *parts)
    with closing(said):
        return await (said.until(until) if until else said.until_over())


def posted(body: bytes, **headers: str) -> str:
    sent = {**POST, "host": "localhost", "content-length": str(len(body)), **headers}
    lines = "".join(f"{name.replace('_', '-')}: {value}\n" for name, value in sent.items())
    return f"POST /mcp HTTP/1.1\n{lines}"


def call(name: str, **more: Any) -> tuple[bytes, dict[str, str]]:
    message = request("tools/call", {"name": name, **more})
    return json.dumps(message).encode(), mirrors(message)


async def begin(port: int, name: str, **more: Any) -> Exchange:
    """A call of a tool that is not answered yet."""
    body, headers = call(name, **more)
    return await say(port, posted(body, **headers), body)


LOGGED: Final = {"_meta": {"io.modelcontextprotocol/logLevel": "info"}}


def chunked(head: str) -> str:
    return head.replace("content-length", "x-length") + "transfer-encoding: chunked\n"


@pytest.mark.real_time
@loops
async def test_a_client_that_closes_its_side_behind_its_request_is_answered(plain: bool) -> None:
    """As by `nc -N`: it can still read."""
    async with served(plain=plain) as (_, port):
        for name in ("echo", "slow"):
            said = await begin(port, name)
            said.half_close()
            with closing(said):
                answer = await said.until_over()
            assert answer.startswith(b"HTTP/1.1 200")
        assert b"slept" in answer


@pytest.mark.real_time
@loops
@pytest.mark.parametrize("half", [True, False])
async def test_a_client_that_is_gone_has_its_call_cancelled_after_a_while(
    plain: bool, half: bool
) -> None:
    async with served(plain=plain, eof_wait=0.01) as (child, port):
        stuck = await begin(port, "stuck", **LOGGED)
        await stuck.until(b"HTTP/1.1 200")
        stuck.half_close() if half else stuck.close()
        assert child.stdout is not None
        assert await child.stdout.readline() == b"ended\n"
        stuck.close()


@pytest.mark.real_time
@loops
async def test_a_server_on_a_socket_answers_and_refuses_what_is_too_large(plain: bool) -> None:
    async with served(plain=plain) as (_, port):
        body, headers = call("echo", arguments={"text": "hello"})
        answer = await exchange(port, posted(body, **headers), body, until=b"hello")
        assert answer.startswith(b"HTTP/1.1 200 ")
        head = chunked(posted(body, **headers))
        parts = [b"%x\r\n%b\r\n" % (len(body), body), b"0\r\n\r\n"]
        assert b"hello" in await exchange(port, head, *parts, until=b"hello")
        huge = [b"100000\r\n" + b" " * 0x100000 + b"\r\n"] * 4 + [b"1\r\n \r\n0\r\n\r\n"]
        answer = await exchange(port, head, *huge, until=b"\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 413 ")


@pytest.mark.real_time
@loops
async def test_a_server_on_a_socket_cuts_a_body_that_does_not_come(plain: bool) -> None:
    async with served(plain=plain, body_seconds=0.1) as (_, port):
        body, headers = call("echo")
        head = chunked(posted(body, **headers))
        answer = await exchange(port, head, b"%x\r\n%b\r\n" % (len(body), body))
        assert answer.startswith(b"HTTP/1.1 408 ")
        answer = await exchange(port, posted(body, **{**headers, "host": "evil.com"}), until=b"}}")
        assert answer.startswith(b"HTTP/1.1 403 ")
        assert b"connection: close" in answer


@pytest.mark.real_time
async def test_a_request_for_a_websocket_is_answered_as_any_other() -> None:
    async with served() as (_, port):
        upgrade = "connection: upgrade\nupgrade: websocket\nsec-websocket-version: 13\n"
        head = f"GET /mcp HTTP/1.1\nhost: localhost\n{upgrade}sec-websocket-key: {'A' * 22}==\n"
        answer = await exchange(port, head, until=b"}}")
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert b"Mcp-Session-Id is missing" in answer


@pytest.mark.real_time
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@loops
async def test_a_signal_ends_streams_in_good_order_and_then_the_process(
    number: signal.Signals, plain: bool
) -> None:
    async with served(drain_wait=0.5, plain=plain) as (child, port):
        message = request("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
        body = json.dumps(message).encode()
        listening = await say(port, posted(body, **mirrors(message)), body)
        calling = await begin(port, "stuck", **LOGGED)
        await listening.until(b"acknowledged")
        await calling.until(b"begun")
        child.send_signal(number)
        assert b'"resultType":"complete"' in await listening.until_over()
        assert (await calling.until_over()).endswith(b"0\r\n\r\n")
        assert await child.wait() == 0
        assert child.stdout is not None
        assert await child.stdout.read() == b"ended\n"
        listening.close()
        calling.close()


@pytest.mark.real_time
@loops
async def test_a_second_signal_does_not_wait_for_what_is_worked_on(plain: bool) -> None:
    async with served(drain_wait=LONG, plain=plain) as (child, port):
        calling = await begin(port, "stuck", **LOGGED)
        await calling.until(b"begun")
        child.send_signal(signal.SIGINT)
        await refuses(port)
        await asyncio.sleep(ANOTHER_SIGNAL)
        assert child.returncode is None
        child.send_signal(signal.SIGINT)
        assert await child.wait() == 0
        calling.close()


@pytest.mark.real_time
@loops
async def test_a_signal_that_comes_twice_at_once_is_one(plain: bool) -> None:
    """To a worker: from a terminal or systemd, and from its supervisor."""
    async with served(drain_wait=LONG, plain=plain) as (child, port):
        calling = await begin(port, "slow")
        assert child.stdout is not None
        assert await child.stdout.readline() == b"started\n"
        child.send_signal(signal.SIGSTOP)  # it goes on with both signals, however late they come
        child.send_signal(signal.SIGTERM)
        child.send_signal(signal.SIGINT)
        child.send_signal(signal.SIGCONT)
        assert b"slept" in await calling.until_over()
        assert await child.wait() == 0
        calling.close()


@pytest.mark.real_time
@loops
async def test_a_client_that_does_not_read_does_not_hold_the_end_of_the_process(
    plain: bool,
) -> None:
    async with served(drain_wait=0.1, plain=plain, listens=True) as (child, port):
        calling = await begin(port, "large")
        await calling.until(b"\r\n\r\n")
        child.send_signal(signal.SIGTERM)
        _, errors = await child.communicate()
        # uvicorn would wait for it, then cancel the response and log a traceback
        assert (child.returncode, errors) == (0, b"")
        calling.close()


@pytest.mark.real_time
@loops
async def test_a_lifespan_that_cannot_be_left_ends_the_process_all_the_same(plain: bool) -> None:
    async with served(fault="still locked", plain=plain) as (child, port):
        body, headers = call("echo")
        await exchange(port, posted(body, **headers), body, until=b"content")
        child.send_signal(signal.SIGTERM)
        _, errors = await child.communicate()
        assert child.returncode == 1
        assert b"RuntimeError: still locked" in errors


# ---- the lifespan


def lived(log: list[str], *, fails: bool = False) -> Server:
    @asynccontextmanager
    async def lifespan(server: Server) -> AsyncGenerator[str]:
        if fails:
            raise RuntimeError("no database")
        log.append("entered")
        yield "state"
        log.append("left")

    server = Server("lived", "1", lifespan=lifespan)

    @server.tool
    async def state(ctx: Context) -> str:
        return str(ctx.lifespan)

    return server


def test_an_application_that_has_ended_can_be_started_again() -> None:
    """As a host does in its tests, on a loop of its own each time."""
    log: list[str] = []
    app = lived(log).asgi()

    async def main() -> None:
        events: asyncio.Queue[Any] = asyncio.Queue()
        sent: asyncio.Queue[Any] = asyncio.Queue()
        life = asyncio.ensure_future(app({"type": "lifespan"}, events.get, sent.put))
        events.put_nowait({"type": "lifespan.startup"})
        assert (await sent.get())["type"] == "lifespan.startup.complete"
        response = await Client(app).call("state").until_over()
        assert response.status == 200
        events.put_nowait({"type": "lifespan.shutdown"})
        await life

    for _ in range(2):
        run(main)
    assert log == ["entered", "left"] * 2


async def test_the_lifespan_is_entered_and_left_with_that_of_the_application() -> None:
    log: list[str] = []
    app = lived(log).asgi()
    events: asyncio.Queue[Any] = asyncio.Queue()
    sent: asyncio.Queue[Any] = asyncio.Queue()
    life = asyncio.ensure_future(app({"type": "lifespan"}, events.get, sent.put))
    events.put_nowait({"type": "lifespan.startup"})
    assert (await sent.get())["type"] == "lifespan.startup.complete"
    response = await Client(app).call("state").until_over()
    assert response.json["result"]["content"][0]["text"] == "state"
    assert log == ["entered"]
    events.put_nowait({"type": "lifespan.shutdown"})
    assert (await sent.get())["type"] == "lifespan.shutdown.complete"
    await life
    assert log == ["entered", "left"]


async def test_without_that_the_lifespan_is_entered_once_at_the_first_request() -> None:
    log: list[str] = []
    app = lived(log).asgi()
    client = Client(app)
    responses = [client.call("state") for _ in range(5)]
    for each in responses:
        assert (await each.until_over()).json["result"]["content"][0]["text"] == "state"
    assert log == ["entered"]
    await app.drain()
    assert log == ["entered", "left"]


async def test_a_lifespan_that_fails_is_told() -> None:
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "lifespan.startup"}

    async def send(message: Any) -> None:
        sent.append(message)

    with pytest.raises(RuntimeError, match="no database"):
        await lived([], fails=True).asgi()({"type": "lifespan"}, receive, send)
    assert sent == [{"type": "lifespan.startup.failed", "message": "RuntimeError: no database"}]


def test_another_event_loop_than_that_of_asyncio_is_refused_at_the_start() -> None:
    """As the trio worker of hypercorn: it drives the application itself."""
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "lifespan.startup"}

    async def send(message: Any) -> None:
        sent.append(message)

    with pytest.raises(LocalError, match="asyncio"):
        lived([]).asgi()({"type": "lifespan"}, receive, send).send(None)
    assert [message["type"] for message in sent] == ["lifespan.startup.failed"]


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("127.0.0.1:8000", ("127.0.0.1", 8000)),
        ("[::1]:8000", ("::1", 8000)),
        (":8000", ("127.0.0.1", 8000)),
        ("localhost:0", ("localhost", 0)),
    ],
)
def test_an_address_is_a_host_and_a_port(text: str, parsed: tuple[str, int]) -> None:
    assert address(text) == parsed


@pytest.mark.parametrize("text", ["", "8000", "localhost", "localhost:", "a:b", "a:65536", "a:-1"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not an address"):
        address(text)
