"""Pages of tools: who is offered them, what is said of them, and what cannot be one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from mcp_runtime import Client, Context, Limits, Server, types
from mcp_runtime.extensions import Extension, apps
from mcp_runtime.revisions import ALL, DecodeError
from mcp_runtime.server.decorators import dispatcher_of

UI: Final = "ui://votes/page"
HTML: Final = "text/html;profile=mcp-app"
PAGE: Final = "<!doctype html><title>Votes</title>"
UNKNOWN: Final[Any] = ["everything"]
WITH_META: Final = ALL[-3:]
"""The revisions in which a tool has `_meta`."""


class Host(Extension):
    """A client's declaration, with settings of its own."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(apps.extension.bindings, settings=settings)


HOSTS: Final = {
    "that names the type": Host(mimeTypes=[HTML]),
    "that names no type": Host(),
    "that shows something else": Host(mimeTypes=["text/uri-list"]),
}


def server(**limits: int) -> Server:
    made = Server("votes", "1", extensions=[apps.extension], limits=replace(Limits(), **limits))

    @made.tool(options=[apps.page(UI)], meta={"example.com/kind": "poll"})
    async def votes(ctx: Context) -> str:
        """Shows the votes."""
        return "on a page" if apps.shows_pages(ctx) else "3 for tea"

    @made.tool(options=[apps.page(UI, visibility=["app"])])
    async def vote() -> str:
        return "counted"

    @made.tool
    async def plain() -> str:
        return "plain"

    return made


async def listed(made: Server, *extensions: Extension, revision: str = ALL[-1]) -> dict[str, Any]:
    async with Client(made, extensions=extensions, revisions=[revision]) as client:
        tools = await client.list_tools()
        return {tool.name: types.to_wire(tool).get("_meta") for tool in tools}


# ---- who is offered a page


@pytest.mark.parametrize("revision", WITH_META)
async def test_a_host_of_pages_is_told_which_page_a_tool_has(revision: str) -> None:
    assert await listed(server(), HOSTS["that names the type"], revision=revision) == {
        "votes": {"example.com/kind": "poll", "ui": {"resourceUri": UI}},
        "vote": {"ui": {"resourceUri": UI, "visibility": ["app"]}},
        "plain": None,
    }


@pytest.mark.parametrize("revision", WITH_META)
async def test_another_client_gets_the_tools_without_pages(revision: str) -> None:
    """And no tool that is for pages alone."""
    tools = await listed(server(), revision=revision)
    assert tools == {"votes": {"example.com/kind": "poll"}, "plain": None}


@pytest.mark.parametrize(
    ("host", "shows"),
    [
        ("that names the type", True),
        ("that names no type", True),
        ("that shows something else", False),
    ],
)
async def test_the_type_of_pages_is_negotiated(host: str, shows: bool) -> None:
    async with Client(server(), extensions=[HOSTS[host]]) as client:
        names = [tool.name for tool in await client.list_tools()]
        (content,) = (await client.call_tool("votes")).content
    assert ("vote" in names) == shows
    assert isinstance(content, types.TextContent)
    assert content.text == ("on a page" if shows else "3 for tea")


async def test_a_list_shared_by_two_clients_is_right_for_both() -> None:
    made = server()
    host = HOSTS["that names the type"]
    assert "vote" in await listed(made, host)
    assert "vote" not in await listed(made)
    assert "vote" in await listed(made, host)


# ---- the page itself


async def test_a_page_is_read_with_what_the_host_must_know() -> None:
    made = server()
    apps.resource(
        made,
        UI,
        PAGE,
        title="Votes",
        description="Buttons and bars.",
        csp=apps.Csp(connect_domains=["https://api.example.com"]),
        permissions=["clipboardWrite"],
        domain="votes.example.com",
        prefers_border=False,
    )
    ui = {
        "csp": {"connectDomains": ["https://api.example.com"]},
        "permissions": {"clipboardWrite": {}},
        "domain": "votes.example.com",
        "prefersBorder": False,
    }
    async with Client(made, extensions=[HOSTS["that names the type"]]) as client:
        (resource,) = await client.list_resources()
        (content,) = await client.read_resource(UI)
    assert types.to_wire(resource) == {
        "uri": UI,
        "name": "votes/page",
        "title": "Votes",
        "description": "Buttons and bars.",
        "mimeType": HTML,
        "size": len(PAGE),
        "_meta": {"ui": ui},
    }
    assert types.to_wire(content) == {
        "uri": UI,
        "mimeType": HTML,
        "text": PAGE,
        "_meta": {"ui": ui},
    }


async def test_a_page_may_be_a_file(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<!doctype html><p>café", "utf-8")
    made = server()
    apps.resource(made, UI, tmp_path / "page.html", name="page")
    async with Client(made) as client:
        (content,) = await client.read_resource(UI)
        (resource,) = await client.list_resources()
    assert isinstance(content, types.TextResourceContents)
    assert content.text == "<!doctype html><p>café"
    assert (resource.name, resource.size) == ("page", 23)


# ---- what cannot be a page


@pytest.mark.parametrize(
    "uri", ["https://example.com/page", "file:///page.html", "UI://page", "ui:page", "ui://a b", ""]
)
def test_a_page_of_another_scheme_is_refused(uri: str) -> None:
    for register in (apps.page, lambda uri: apps.resource(server(), uri, PAGE)):
        with pytest.raises(
            ValueError, match="is not the URI of a page, such as ui://weather/forecast"
        ):
            register(uri)


def test_a_page_at_the_limit_is_registered_and_one_byte_more_is_not() -> None:
    apps.resource(server(ui_bytes=4), UI, "é" * 2)
    made = server(ui_bytes=4)
    with pytest.raises(ValueError, match=r"the page has 5 bytes, more than 4 \(Limits.ui_bytes\)"):
        apps.resource(made, UI, "éé!")
    assert len(dispatcher_of(made).features.resources) == 0


def test_a_server_that_does_not_declare_pages_cannot_have_one() -> None:
    with pytest.raises(ValueError, match=r"Server\(extensions=\[apps.extension\]\)"):
        apps.resource(Server("votes", "1"), UI, PAGE)


def test_a_file_that_is_not_there_is_no_page(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        apps.resource(server(), UI, tmp_path / "page.html")


def test_a_permission_that_nobody_knows_is_refused() -> None:
    with pytest.raises(ValueError, match="no permission is called 'everything'"):
        apps.resource(server(), UI, PAGE, permissions=UNKNOWN)


def test_a_visibility_that_nobody_knows_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"\$.visibility\[0\]: expected .*model.*found .*everything"
    ):
        apps.page(UI, visibility=UNKNOWN)


# ---- what view and host say to each other is typed


@pytest.mark.parametrize(
    ("type_", "wire"),
    [
        ("McpUiSizeChangedNotification", {"method": "ui/notifications/size-changed", "params": {}}),
        ("McpUiOpenLinkRequest", {"method": "ui/open-link", "params": {"url": "https://a.b"}}),
    ],
)
def test_messages_of_view_and_host_have_types(type_: str, wire: dict[str, Any]) -> None:
    model = getattr(apps.models, type_)
    assert apps.models.to_wire(apps.models.from_wire(model, wire)) == wire
    with pytest.raises(DecodeError):
        apps.models.from_wire(model, {**wire, "method": "ui/other"})
