"""A client that sends a body which is refused reads the answer: the rest is read and dropped."""

from __future__ import annotations

import asyncio
import http.client
import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest

from mcp_runtime.limits import Limits
from tests.support.asgi_client import POST, plain, serving
from tests.support.loopback import Loopback
from tests.support.patience import PATIENCE

MEGABYTE: Final = 1024 * 1024
TRIES: Final = 5


@pytest.fixture(scope="module")
def loopback() -> Iterator[Loopback]:
    with Loopback() as served:
        yield served


def answered(
    url: str, path: str, headers: Mapping[str, str], megabytes: int
) -> tuple[int, dict[str, Any]]:
    """What a client that sends its whole body before it reads is told."""
    host, _, mounted = url.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection(host, timeout=PATIENCE)
    try:
        body = b" " * (megabytes * MEGABYTE)
        connection.request("POST", f"/{mounted}{path}", body, dict(headers))
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


CASES: Final[dict[str, tuple[str, dict[str, str], int, int]]] = {
    "413": ("/mcp", {}, 5, 413),
    "413 of 20 MB": ("/mcp", {}, 20, 413),
    "404": ("/nothing", {}, 2, 404),
    "405": ("/sse", {}, 2, 405),
    "406": ("/mcp", {"accept": "text/event-stream"}, 2, 406),
    "415": ("/mcp", {"content-type": "text/plain"}, 2, 415),
    "403": ("/mcp", {"origin": "https://evil.example"}, 2, 403),
    "404 of a session": ("/mcp", {"mcp-session-id": "none"}, 2, 404),
}


@pytest.mark.parametrize("case", CASES)
def test_a_body_that_is_refused_early_does_not_lose_the_answer(
    loopback: Loopback, case: str
) -> None:
    path, headers, megabytes, status = CASES[case]
    with loopback.mounted(plain().asgi()) as url:
        for _ in range(TRIES):
            answered_status, body = answered(url, path, {**POST, **headers}, megabytes)
            assert answered_status == status
            assert body["error"]["message"]


async def test_no_more_than_the_limit_is_read() -> None:
    limits = Limits(discarded_bytes=1000)
    async with serving(plain(limits=limits)) as client:
        parts = [b" " * 100] * 50
        chunked = {**POST, "transfer-encoding": "chunked"}
        response = client.begin("POST", "/nothing", chunked, parts)
        assert (await response.until_over()).status == 404
        assert response.parts.qsize() == 40
        assert response.headers["connection"] == "close"
        long = {**POST, "content-length": "1001"}
        response = client.begin("POST", "/nothing", long, parts)
        assert (await response.until_over()).status == 404
        assert (response.parts.qsize(), response.headers["connection"]) == (50, "close")


async def test_a_body_that_does_not_come_is_not_waited_for_longer_than_any() -> None:
    async with serving() as client:
        headers = {**POST, "content-length": "100"}
        response = client.begin("POST", "/nothing", headers, [b" "], ends=False)
        assert (await response.until_over()).status == 404
        assert asyncio.get_running_loop().time() == Limits().body_seconds


async def test_a_client_that_waits_to_be_asked_for_its_body_is_answered_at_once() -> None:
    async with serving() as client:
        headers = {**POST, "content-length": "100", "expect": "100-continue"}
        response = client.begin("POST", "/nothing", headers, [], ends=False)
        assert (await response.until_over()).status == 404
        assert response.headers["connection"] == "close"


async def test_a_client_that_leaves_meanwhile_is_not_answered() -> None:
    async with serving() as client:
        headers = {**POST, "content-length": "100"}
        response = client.begin("POST", "/nothing", headers, [b" "], ends=False)
        await asyncio.sleep(0)
        response.disconnect()
        assert (await response.until_over()).status == 0


async def test_a_body_whose_last_part_is_too_much_is_refused_without_waiting_for_more() -> None:
    async with serving() as client:
        parts = [b" " * 4 * MEGABYTE, b" "]
        chunked = {**POST, "transfer-encoding": "chunked"}
        response = client.begin("POST", "/mcp", chunked, parts)
        assert (await response.until_over()).status == 413
        assert "connection" not in response.headers  # it is whole: the next request can follow
