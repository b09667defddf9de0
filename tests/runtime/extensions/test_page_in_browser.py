"""A page of a real server, shown by a host in Chromium: what it says, and what a click does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from mcp_runtime.extensions import apps
from tests.support.app_host import hosted, passed, shown
from tests.support.browser import Page, chromium, opened
from tests.support.loopback import Loopback
from tests.test_examples import example

ROWS: Final = "[...document.querySelectorAll('li')].map((row) => row.innerText.split(/\\s+/))"
TYPES: Final = {
    "ui/initialize": apps.models.McpUiInitializeRequest,
    "ui/notifications/initialized": apps.models.McpUiInitializedNotification,
    "ui/notifications/size-changed": apps.models.McpUiSizeChangedNotification,
    "ui/notifications/tool-input": apps.models.McpUiToolInputNotification,
    "ui/notifications/tool-result": apps.models.McpUiToolResultNotification,
}


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    if chromium() is None:
        pytest.skip("needs chromium: apt-get install chromium")
    with opened(tmp_path_factory.mktemp("browser")) as page:
        yield page


@pytest.fixture
def page(browser: Page, loopback: Loopback, root: Path) -> Iterator[Page]:
    """The host of pages, beside the example's server."""
    with hosted(browser, loopback, example(root, "votes").server.asgi(path="/")):
        yield browser


def voted(page: Page, question: str = "Tea or coffee?") -> str:
    """The frame of the page, which shows the votes."""
    return shown(page, "votes", {"question": question}, "document.querySelector('li') !== null")


def test_a_page_shows_the_result_of_its_tool(page: Page) -> None:
    frame = voted(page)
    assert page.run("document.querySelector('h1').innerText", frame) == "Tea or coffee?"
    assert page.run(ROWS, frame) == [["tea", "0"], ["coffee", "0"]]
    assert page.run("document.querySelector('[role=status]').innerText", frame) == "0 votes"


def test_a_click_calls_the_server_through_the_host(page: Page, root: Path) -> None:
    frame = voted(page)
    for times, choice in enumerate(("tea", "tea", "coffee"), start=1):
        buttons = "[...document.querySelectorAll('button')]"
        page.run(f"{buttons}.find((one) => one.innerText === {choice!r}).click()", frame)
        page.until(f"document.querySelector('[role=status]').innerText.startsWith({times})", frame)
    assert page.run(ROWS, frame) == [["tea", "2"], ["coffee", "1"]]
    calls = [each for each in passed(page, "host") if each.get("method") == "tools/call"]
    assert [call["params"]["arguments"]["choice"] for call in calls] == ["tea", "tea", "coffee"]


def test_page_and_host_speak_in_order_and_by_the_schema(page: Page) -> None:
    voted(page)
    page.until("messages.some((one) => one.method === 'ui/notifications/size-changed')")
    to_host, to_page = passed(page, "host"), passed(page, "page")
    assert [each["method"] for each in to_host][:2] == list(TYPES)[:2]
    assert [each.get("method") for each in to_page] == [None, *list(TYPES)[-2:]]
    (answer, *_) = to_page
    apps.models.from_wire(apps.models.McpUiInitializeResult, answer["result"])
    for each in (*to_host, *to_page[1:]):
        body = {key: each[key] for key in ("method", "params")}
        apps.models.from_wire(TYPES[each["method"]], body)


def test_a_page_has_the_colours_of_its_host_and_grows_with_what_it_shows(page: Page) -> None:
    frame = voted(page)
    colour = "getComputedStyle(document.body).color"
    assert page.run(colour, frame) == "rgb(230, 231, 232)"
    assert page.run("getComputedStyle(document.documentElement).colorScheme", frame) == "dark"
    whole = page.run("document.documentElement.getBoundingClientRect().height", frame)
    page.until(f"Math.abs(document.querySelector('iframe').clientHeight - {whole}) < 2")


def test_a_refusal_is_shown_on_the_page(page: Page) -> None:
    """The host lets no page call a tool that is for the model alone."""
    frame = voted(page)
    page.run("tools.find((one) => one.name === 'vote')._meta.ui.visibility = ['model']")
    page.run("document.querySelector('button').click()", frame)
    status = "document.querySelector('[role=status]').innerText"
    page.until(f"{status}.includes('not for pages: vote')", frame)
    assert page.run(ROWS, frame) == [["tea", "0"], ["coffee", "0"]]


@pytest.mark.wide
def test_what_a_page_does_not_know_is_answered_with_an_error(page: Page) -> None:
    voted(page)
    page.run("send({ id: 'x', method: 'ui/unheard-of' }), send({ id: 'y', method: 'ping' })")
    page.until("messages.some((one) => one.to === 'host' && one.id === 'y')")
    unknown, pong = [each for each in passed(page, "host") if each.get("id") in ("x", "y")]
    assert unknown["error"]["code"] == -32601
    assert pong["result"] == {}


@pytest.mark.wide
def test_a_page_shows_text_of_a_server_as_text(page: Page) -> None:
    frame = voted(page, "<img src=x onerror=alert(1)>")
    assert page.run("document.querySelector('h1').innerText", frame).startswith("<img")
    assert page.run("document.images.length", frame) == 0
