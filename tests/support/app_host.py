"""A host of pages in Chromium: it calls a tool of a server over HTTP, and shows the tool's page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse
from starlette.routing import Mount, Route

from tests.support.browser import Page
from tests.support.loopback import Loopback

__all__ = ["hosted", "passed", "shown"]

_HTML: Final = Path(__file__).with_name("app_host.html")


async def _host(request: Request) -> FileResponse:
    return FileResponse(_HTML)


@contextmanager
def hosted(browser: Page, loopback: Loopback, server: Any) -> Iterator[None]:
    """Opens the host, which is beside that server as an ASGI application."""
    with loopback.mounted(Starlette(routes=[Route("/", _host), Mount("/mcp", app=server)])) as url:
        browser.open(f"{url}/")
        yield


def shown(browser: Page, tool: str, arguments: dict[str, Any], until: str) -> str:
    """The frame of the tool's page, as soon as `until` is true there."""
    browser.run(f"show({tool!r}, {json.dumps(arguments)})")
    frame = browser.frame("about:srcdoc")
    browser.until(until, frame)
    return frame


def passed(browser: Page, to: str) -> list[dict[str, Any]]:
    """The messages that went to the page, or to the host, in order."""
    messages: list[dict[str, Any]] = browser.run(f"messages.filter((one) => one.to === {to!r})")
    return messages
