"""A server's cookies are said to it again, and are few and small whatever it sets."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from mcp_runtime.limits import Limits
from tests.support.raw_http_server import Asked, Reply, Server, answer


async def cookies_sent(cookies: Iterable[str], limits: Limits) -> list[str]:
    """What the client says after a server has set these, each in the answer to a call."""
    server = Server()
    left = iter(cookies)

    async def setting(asked: Asked, reply: Reply) -> None:
        cookie = next(left, "")
        headers = {"Set-Cookie": cookie} if cookie else {}
        await reply.send(200, answer(asked, server.called()), **headers)

    server.acts["tools/call"] = setting
    async with server.running(), server.client(limits=limits) as client:
        for _ in range(len(tuple(cookies)) + 1):
            await client.call_tool("t")
    sent = server.asked[-1].headers.get("cookie", "")
    return sorted(sent.split("; ")) if sent else []


async def test_what_a_server_sets_last_is_said_again() -> None:
    assert await cookies_sent(["a=1", "b=2; Path=/mcp", "a=3"], Limits()) == ["a=3", "b=2"]
    assert await cookies_sent(["a=1", "b=2", "b=; Max-Age=0"], Limits()) == ["a=1"]


async def test_a_cookie_of_another_host_or_path_is_not_said() -> None:
    assert await cookies_sent(["a=1; Domain=server.example", "b=2; Path=/other"], Limits()) == []


async def test_no_more_cookies_are_kept_than_the_limit() -> None:
    cookies = [f"c{number}=1" for number in range(5)]
    assert await cookies_sent([*cookies, "c0=2"], Limits(cookies=3)) == ["c0=2", "c1=1", "c2=1"]
    with_room = [*cookies, "c0=; Max-Age=0", "c9=1"]
    assert await cookies_sent(with_room, Limits(cookies=3)) == ["c1=1", "c2=1", "c9=1"]


@pytest.mark.parametrize("large", ["a={}", "{}=1", "a=1; Unknown={}"])
async def test_a_cookie_over_the_limit_is_not_kept(large: str) -> None:
    limits = Limits(cookie_bytes=1000)
    assert len(await cookies_sent(["b=1", large.format("x" * 1000)], limits)) == 1
    assert await cookies_sent(["b=1", "a=" + "x" * 500], limits) == ["a=" + "x" * 500, "b=1"]
