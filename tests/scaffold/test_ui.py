"""A project with --ui: its page, as a host in Chromium shows it beside the project's own server."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.support.app_host import hosted, passed, shown
from tests.support.browser import Page, chromium, opened
from tests.support.loopback import Loopback
from tests.support.projects import ALL, answers, made, write

WORDS: Final = "[...document.querySelectorAll('dt')].map((word) => word.innerText)"
STATUS: Final = "document.querySelector('[role=status]').innerText"


@pytest.fixture
def page(tmp_path: Path, loopback: Loopback, monkeypatch: pytest.MonkeyPatch) -> Iterator[Page]:
    if chromium() is None:
        pytest.skip("needs chromium: apt-get install chromium")
    project = write(
        made(answers("paged-server", ALL[-1:], transports=("http",), ui=True)), tmp_path / "project"
    )
    monkeypatch.syspath_prepend(project / "src")
    server = importlib.import_module("paged_server.server").server
    with (
        opened(tmp_path / "browser") as browser,
        hosted(browser, loopback, server.asgi(path="/")),
    ):
        yield browser


@pytest.mark.wide
def test_the_page_of_a_new_project_shows_what_its_tool_finds_and_finds_more(page: Page) -> None:
    frame = shown(page, "search", {"text": "uri"}, "document.querySelector('dt') !== null")
    assert page.run(WORDS, frame) == ["resource", "template"]
    assert page.run("document.getElementById('text').value", frame) == "uri"
    page.run("document.getElementById('text').value = 'model'", frame)
    page.run("document.getElementById('search').click()", frame)
    page.until(f"{WORDS}[0] === 'tool'", frame)
    page.run("document.getElementById('text').value = 'nowhere'", frame)
    enter = "new KeyboardEvent('keydown', { key: 'Enter' })"
    page.run(f"document.getElementById('text').dispatchEvent({enter})", frame)
    page.until(f"{STATUS} === 'Nothing is found.'", frame)
    assert page.run(WORDS, frame) == []
    calls = [one for one in passed(page, "host") if one.get("method") == "tools/call"]
    assert [call["params"]["arguments"]["text"] for call in calls] == ["model", "nowhere"]
