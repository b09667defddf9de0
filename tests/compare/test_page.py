"""The page of a diff: it answers, filters and links in a browser, and runs nothing it shows."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tests.compare.test_grouping import schemas
from tests.support.browser import Page, chromium, opened
from tests.support.command import invoke

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u2028'\\\"&amp;"
BADGES = (
    "[...document.querySelectorAll('.finding')]"
    ".map((f) => [f.id, f.querySelector('.badge').textContent, f.className])"
)
MARK = "getComputedStyle(document.querySelector('.finding .badge'), '::before').content"
SHOWN = "[...document.querySelectorAll('.finding')].filter((f) => f.offsetParent)"


def written(folder: Path, *args: str | Path) -> Path:
    path = folder / "page.html"
    done = invoke("diff", *args, "--format", "html", "--output", path)
    assert done.exit_code in {0, 1}, done.stderr
    assert done.stdout == ""
    assert "page.html is written" in done.stderr
    return path


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    if chromium() is None:
        pytest.skip("needs chromium: apt-get install chromium")
    folder = tmp_path_factory.mktemp("browser")
    path = written(folder, "2025-11-25", "2026-07-28")
    with opened(folder / "profile") as browser:
        browser.open(path.as_uri())
        yield browser


def set_(page: Page, id: str, value: str) -> None:
    page.run(
        f"(() => {{ const e = document.getElementById({id!r}); e.value = {value!r};"
        "e.dispatchEvent(new Event('input', {bubbles: true})); })()"
    )


def shown(page: Page, what: str = "f.id") -> list[Any]:
    values: list[Any] = page.run(f"{SHOWN}.map((f) => {what})")
    return values


@pytest.fixture(autouse=True)
def _everything_shown(request: pytest.FixtureRequest) -> None:
    if "page" in request.fixturenames:
        request.getfixturevalue("page").run("document.getElementById('reset').click()")


def test_what_breaks_is_answered_above_the_fold(page: Page) -> None:
    page.look(1440, 900, "light")
    page.run("scrollTo(0, 0)")
    cards = page.run(
        "[...document.querySelectorAll('.card')].map((c) => [c.querySelector('h2').textContent,"
        " c.querySelector('.verdict').textContent, c.getBoundingClientRect().bottom])"
    )
    assert [(name, verdict) for name, verdict, _ in cards] == [
        ("My client", "breaks"),
        ("My server", "breaks"),
        ("My code on the bindings", "breaks"),
    ]
    assert all(bottom < 900 for *_, bottom in cards)


def test_what_breaks_is_answered_above_the_fold_of_a_phone(page: Page) -> None:
    page.look(390, 900, "light")
    page.run("scrollTo(0, 0)")
    bottoms = page.run(
        "[...document.querySelectorAll('.card')].map((c) => c.getBoundingClientRect().bottom)"
    )
    assert len(bottoms) == 3
    assert max(bottoms) < 900


def test_on_a_phone_the_history_shows_revisions_beside_the_names(page: Page) -> None:
    page.look(390, 900, "light")
    right = page.run(
        "(() => { const row = document.querySelector('#history tr[data-words]');"
        " row.scrollIntoView(); return row.querySelector('td').getBoundingClientRect().right; })()"
    )
    assert right < 390


def test_a_finding_shows_that_it_can_be_opened(page: Page) -> None:
    first = "document.querySelector('.finding')"
    marks = [page.run(f"{first}.open = {is_open}; {MARK}") for is_open in ("false", "true")]
    page.run(f"{first}.open = false")
    assert marks == ['"▸"', '"▾"']


def test_the_button_of_a_card_shows_as_many_findings_as_it_says(page: Page) -> None:
    page.look(1440, 900, "light")
    buttons = page.run("[...document.querySelectorAll('.all')].map((b) => b.textContent)")
    assert buttons
    for index, text in enumerate(buttons):
        page.run("document.getElementById('reset').click()")
        page.run(
            "(() => { const docs = document.querySelector('input[value=docs]');"
            " if (docs.checked) docs.click(); })()"
        )
        page.run(f"document.querySelectorAll('.all')[{index}].click()")
        assert text == f"all {len(shown(page))}"


def test_words_filter_the_findings_and_the_history(page: Page) -> None:
    every = shown(page)
    set_(page, "words", "ttlms member_added")
    assert 0 < len(shown(page)) < len(every)
    assert {*shown(page, "f.dataset.rule")} == {"MEMBER_ADDED_REQUIRED"}
    count = page.run("document.getElementById('count').textContent")
    assert count == f"{len(shown(page))} of {len(every)} findings"
    set_(page, "words", "tools/call")
    rows = page.run(
        "[...document.querySelectorAll('#history tr[data-words]')]"
        ".filter((r) => r.offsetParent).map((r) => r.dataset.words)"
    )
    assert rows == ["tools/call"]
    set_(page, "words", "no such thing")
    assert shown(page) == []
    assert page.run("!document.getElementById('nothing').hidden")


def test_severity_audience_and_rule_filter(page: Page) -> None:
    page.run("document.querySelector('input[value=breaking]').click()")
    assert "breaking" not in shown(page, "f.dataset.severity")
    page.run("document.querySelector('input[value=breaking]').click()")
    set_(page, "audience", "server")
    assert all("server" in breaks for breaks in shown(page, "f.dataset.breaks"))
    set_(page, "rule", "METHOD_REMOVED")
    assert {*shown(page, "f.dataset.rule")} == {"METHOD_REMOVED"}


@pytest.mark.parametrize("audience", ["client", "server", "bindings"])
def test_badges_are_those_of_the_audience_that_is_chosen(page: Page, audience: str) -> None:
    """A finding that is breaking for somebody else is not shown as breaking."""
    set_(page, "audience", audience)
    badges = page.run(BADGES)
    wanted = {id: row[audience] for id, row in severities(page).items()}
    assert {id: badge for id, badge, _ in badges} == wanted
    assert [classes for _, badge, classes in badges if badge not in classes.split()] == []
    overall = {id: row["severity"] for id, row in severities(page).items()}
    assert wanted != overall
    set_(page, "audience", "")
    assert {id: badge for id, badge, _ in page.run(BADGES)} == overall


def severities(page: Page) -> dict[str, dict[str, str]]:
    """What the page says of each finding: for all, and for each audience."""
    by_id: dict[str, dict[str, str]] = page.run(
        "Object.fromEntries([...document.querySelectorAll('.finding')].map((f) => [f.id,"
        " {severity: f.dataset.severity, client: f.dataset.client,"
        " server: f.dataset.server, bindings: f.dataset.bindings}]))"
    )
    return by_id


def test_severities_filter_as_the_audience_has_them(page: Page) -> None:
    set_(page, "audience", "client")
    page.run("document.querySelector('input[value=dangerous]').click()")
    kept = shown(page, "[f.id, f.querySelector('.badge').textContent]")
    page.run("document.querySelector('input[value=dangerous]').click()")
    assert {badge for _, badge in kept} == {"breaking"}


def test_cells_of_the_history_are_those_of_the_audience_that_is_chosen(page: Page) -> None:
    cells = (
        "[...document.querySelectorAll('#history td[data-severity]')]"
        ".map((c) => [c.textContent, c.dataset.{0}, c.classList.contains(c.textContent)])"
    )
    before = page.run(cells.replace("{0}", "severity"))
    assert all(text == wanted and classed for text, wanted, classed in before)
    set_(page, "audience", "client")
    after = page.run(cells.replace("{0}", "client"))
    assert all(text == wanted and classed for text, wanted, classed in after)
    assert [text for text, *_ in before] != [text for text, *_ in after]


def test_the_page_opens_with_the_news(page: Page) -> None:
    lines = page.run("[...document.querySelectorAll('.headlines li')].map((l) => l.textContent)")
    assert lines[0] == "The handshake is gone: initialize, notifications/initialized"


def test_a_link_opens_its_finding_whatever_the_filter(page: Page) -> None:
    id = shown(page)[3]
    set_(page, "words", "no such thing")
    page.run(f"location.hash = {id!r}")
    page.run("new Promise((done) => requestAnimationFrame(done))")
    assert page.run(f"document.getElementById({id!r}).open")
    assert id in shown(page)


def test_a_finding_shows_both_sides_and_its_witness(page: Page) -> None:
    inside = page.run(
        "(() => { const f = document.querySelector('[data-words^=\"requestparams._meta\"]');"
        " f.open = true; return [f.querySelectorAll('.excerpts pre mark').length,"
        " f.querySelector('.witness pre').textContent, f.querySelector('.refusal').textContent];"
        " })()"
    )
    assert inside[0] == 2
    assert '"method": "tools/list"' in inside[1]
    assert "$.params._meta" in inside[2]


def test_the_keyboard_finds_the_search(page: Page) -> None:
    page.call("Input.dispatchKeyEvent", type="keyDown", text="/", key="/")
    assert page.run("document.activeElement.id") == "words"


def test_light_and_dark_differ_and_the_button_turns_them(page: Page) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    light, dark = page.look(800, 600, "light"), page.look(800, 600, "dark")
    assert light != dark
    before = page.run(background)
    page.run("document.getElementById('theme').click()")
    assert page.run(background) != before
    page.run("delete document.documentElement.dataset.theme")


@pytest.mark.parametrize("width", [390, 768, 1440])
def test_no_width_needs_scrolling_sideways(page: Page, width: int) -> None:
    page.run("for (const f of document.querySelectorAll('.finding')) f.open = true")
    page.look(width, 900, "light")
    assert page.run("document.documentElement.scrollWidth") <= width
    page.run("for (const f of document.querySelectorAll('.finding')) f.open = false")


def test_the_page_asks_for_nothing_and_complains_of_nothing(page: Page) -> None:
    page.run("1")
    asked = [
        event["params"]["request"]["url"]
        for event in page.events
        if event["method"] == "Network.requestWillBeSent"
    ]
    assert len(asked) == 1
    assert asked[0].startswith("file:")
    complaints = {"Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled"}
    assert [event for event in page.events if event["method"] in complaints] == []


def test_a_hostile_schema_stays_text_in_the_browser(page: Page, tmp_path: Path) -> None:
    literal = HOSTILE.replace("\\", "\\\\").replace('"', '\\"')
    path = written(tmp_path, *schemas(tmp_path, f'"{literal}"', '"b"'))
    before, url = len(page.events), page.run("location.href")
    page.open(path.as_uri())
    try:
        assert page.run("document.querySelectorAll('img, script').length") == 1
        assert page.run("document.body.textContent").count("alert(1)") > 1
        bad = {"Log.entryAdded", "Runtime.exceptionThrown", "Page.javascriptDialogOpening"}
        assert [e for e in page.events[before:] if e["method"] in bad] == []
    finally:
        page.open(url)


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.mark.wide
def test_no_text_of_a_schema_becomes_markup(tmp_path: Path) -> None:
    literal = HOSTILE.replace("\\", "\\\\").replace('"', '\\"')
    plain = written(tmp_path, *schemas(tmp_path, '"a"', '"b"')).read_text("utf-8")
    hostile = written(tmp_path, *schemas(tmp_path, f'"{literal}"', '"b"')).read_text("utf-8")
    tags = [_Tags(), _Tags()]
    for parser, text in zip(tags, (plain, hostile), strict=True):
        parser.feed(text)
    names = [[tag for tag, _ in parser.found] for parser in tags]
    assert names[0] == names[1]
    assert not any(key.startswith("on") for _, attrs in tags[1].found for key in attrs)


@pytest.mark.wide
def test_nothing_in_the_page_comes_from_elsewhere(tmp_path: Path) -> None:
    text = written(tmp_path, "2025-06-18", "2025-11-25").read_text("utf-8")
    parser = _Tags()
    parser.feed(text)
    for tag, attrs in parser.found:
        assert tag not in {"link", "img", "iframe", "object", "base"}
        assert "src" not in attrs
        assert (attrs.get("href") or "#").startswith("#")
    assert "url(" not in re.sub(r"<pre.*?</pre>", "", text, flags=re.S)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    assert html.unescape(policy[1]).startswith("default-src 'none'; style-src 'sha256-")


@pytest.mark.wide
def test_two_lists_of_tools_have_a_page_too(tmp_path: Path) -> None:
    for name, kind in (("old.json", "string"), ("new.json", "number")):
        schema = f'{{"type": "object", "properties": {{"a": {{"type": "{kind}"}}}}}}'
        tool = f'{{"tools": [{{"name": "t", "inputSchema": {schema}}}]}}'
        (tmp_path / name).write_text(tool, encoding="utf-8")
    text = written(tmp_path, "--tools", tmp_path / "old.json", tmp_path / "new.json").read_text()
    assert "t.input.a" in text
    assert "All revisions" not in text
