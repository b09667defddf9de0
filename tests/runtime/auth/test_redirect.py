"""A person comes back from the sign-in page to a socket that takes one answer, and closes."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from urllib.parse import urlsplit

import pytest

from mcp_runtime.auth.client import browser, redirect
from mcp_runtime.auth.client.redirect import LoopbackRedirect, PastedRedirect
from mcp_runtime.auth.errors import DiscoveryFailed, LoginAbandoned
from tests.support.patience import PATIENCE

pytestmark = pytest.mark.real_time

PAGE = "https://as.example/authorize?state=s"


async def fetch(uri: str, target: str, method: str = "GET") -> str:
    """A browser's request, by hand."""
    port = urlsplit(uri).port
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"{method} {target} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    await writer.drain()
    answer = await asyncio.wait_for(reader.read(), PATIENCE)
    writer.close()
    return answer.decode()


async def test_the_redirect_comes_back_as_it_was_asked_for() -> None:
    shown: list[tuple[str, str]] = []
    async with LoopbackRedirect(lambda url, host: shown.append((url, host)))(None) as visit:
        waiting = asyncio.create_task(visit(PAGE, "as.example"))
        page = await fetch(visit.uri, "/callback?code=c&state=s")
        assert await waiting == f"{visit.uri}?code=c&state=s"
    assert shown == [(PAGE, "as.example")]
    assert "200" in page.splitlines()[0]
    assert "default-src 'none'" in page
    assert "code=c" not in page


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/callback", "//evil.example/callback?code=c&state=s"),
        ("/callback", "http://evil.example/callback?code=c&state=s"),
        ("/back", "/back?code=c&state=s"),
    ],
)
async def test_what_comes_back_is_at_the_redirect_uri(path: str, target: str) -> None:
    async with LoopbackRedirect(lambda *_: None, path=path)(None) as visit:
        waiting = asyncio.create_task(visit(PAGE, "as.example"))
        await fetch(visit.uri, target)
        assert visit.uri.endswith(path)
        assert await waiting == f"{visit.uri}?code=c&state=s"


async def test_nothing_listens_after_the_answer() -> None:
    async with LoopbackRedirect(lambda *_: None)(None) as visit:
        uri = visit.uri
    with pytest.raises(ConnectionRefusedError):
        await fetch(uri, "/callback?state=s")


async def test_a_connection_without_a_request_ends_with_the_sign_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Browsers open such connections in advance."""
    monkeypatch.setattr(redirect, "_READ_SECONDS", 3600.0)
    async with asyncio.timeout(60):
        async with LoopbackRedirect(lambda *_: None)(None) as visit:
            port = urlsplit(visit.uri).port
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            await fetch(visit.uri, "/")  # the connection before it was accepted
        assert await reader.read() == b""
    writer.close()


@pytest.mark.parametrize(
    ("method", "target"),
    [("GET", "/"), ("GET", "/favicon.ico"), ("GET", "/callback"), ("POST", "/callback?state=s")],
)
async def test_another_request_is_not_the_answer(method: str, target: str) -> None:
    async with LoopbackRedirect(lambda *_: None)(None) as visit:
        waiting = asyncio.create_task(visit(PAGE, "as.example"))
        assert "404" in (await fetch(visit.uri, target, method)).splitlines()[0]
        assert "410" not in await fetch(visit.uri, "/callback?state=s&code=1")
        assert (await waiting).endswith("code=1")


async def test_a_request_of_no_url_is_passed_over(caplog: pytest.LogCaptureFixture) -> None:
    async with LoopbackRedirect(lambda *_: None)(None) as visit:
        waiting = asyncio.create_task(visit(PAGE, "as.example"))
        assert await fetch(visit.uri, "//[x/callback?state=s&code=1") == ""
        await fetch(visit.uri, "/callback?state=s&code=2")
        assert (await waiting).endswith("code=2")
    assert caplog.records == []


async def test_a_second_answer_changes_nothing() -> None:
    async with LoopbackRedirect(lambda *_: None)(None) as visit:
        waiting = asyncio.create_task(visit(PAGE, "as.example"))
        await fetch(visit.uri, "/callback?state=s&code=1")
        assert "410" in (await fetch(visit.uri, "/callback?state=s&code=2")).splitlines()[0]
        assert (await waiting).endswith("code=1")


async def test_the_answer_to_another_sign_in_is_passed_over() -> None:
    """Of another web page, or of a tab that the browser opens again."""
    async with LoopbackRedirect(lambda *_: None)(None) as visit:
        early = await fetch(visit.uri, "/callback?state=s&code=1")
        waiting = asyncio.create_task(visit(PAGE, "as.example"))
        old = await fetch(visit.uri, "/callback?state=old&code=2")
        await fetch(visit.uri, "/callback?state=s&code=3")
        assert (await waiting).endswith("code=3")
    for answer in (early, old):
        assert "404" in answer.splitlines()[0]
        assert "Another sign-in" in answer


async def test_a_request_without_end_is_cut_off() -> None:
    async with LoopbackRedirect(lambda *_: None)(None) as visit:
        port = urlsplit(visit.uri).port
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /callback?state=" + b"x" * 200_000)
        with suppress(ConnectionResetError):
            assert await asyncio.wait_for(reader.read(), PATIENCE) == b""
        writer.close()


async def test_a_person_who_does_not_come_back_is_not_waited_for_for_ever() -> None:
    redirect = LoopbackRedirect(lambda *_: None, seconds=0.05)
    async with redirect(None) as visit:
        with pytest.raises(LoginAbandoned, match="sign in again"):
            await visit(PAGE, "as.example")


async def test_the_registered_port_is_used_again_if_it_is_free() -> None:
    async with LoopbackRedirect(lambda *_: None)(None) as visit:
        uri = visit.uri
        async with LoopbackRedirect(lambda *_: None)(uri) as other:
            assert other.uri != uri
    async with LoopbackRedirect(lambda *_: None)(uri) as again:
        assert again.uri == uri


async def test_without_a_browser_the_redirect_is_pasted() -> None:
    shown: list[str] = []
    redirect = PastedRedirect(lambda url, host: shown.append(host), lambda: " http://x/?code=1 \n")
    async with redirect(None) as visit:
        assert await visit(PAGE, "as.example") == "http://x/?code=1"
    assert shown == ["as.example"]


async def test_a_person_who_pastes_nothing_has_given_up() -> None:
    async with PastedRedirect(lambda *_: None, lambda: "\n")(None) as visit:
        with pytest.raises(LoginAbandoned):
            await visit(PAGE, "as.example")


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "file:///etc/passwd", "http://as.example/", "calc.exe", "-x"]
)
@pytest.mark.requirement("security.url.dangerous-refused")
def test_only_a_secure_page_is_opened_in_a_browser(url: str) -> None:
    with pytest.raises(DiscoveryFailed):
        browser.open_browser(url)


@pytest.mark.requirement("security.url.no-shell")
@pytest.mark.requirement("security.url.platform-opener")
def test_a_url_is_an_argument_that_no_shell_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser.shutil, "which", lambda name: f"/bin/{name}")
    url = "https://as.example/?a=$(id)&b=`id`;x"
    command = browser.browser_command(url)
    assert command is not None
    assert command[1:] == [url]
