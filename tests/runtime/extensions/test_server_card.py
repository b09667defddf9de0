"""Server Cards: what they hold, what they refuse, and where clients find them."""

from __future__ import annotations

import asyncio
import signal
import socket
from typing import Any, Final

import httpx2
import pytest

from mcp_runtime import Client, Server, types
from mcp_runtime.extensions import server_card
from mcp_runtime.extensions.server_card import Remote, Repository, ServerCard, card, models
from mcp_runtime.revisions import ALL, DecodeError
from mcp_runtime.server.http.uvicorn import serve
from tests.support import asgi_client

SCHEMA: Final = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"
SMALLEST: Final = {
    "$schema": SCHEMA,
    "name": "com.example/weather",
    "version": "1.0.0",
    "description": "Forecasts the weather.",
}
CARD: Final = "application/mcp-server-card+json"
CATALOG: Final = "/.well-known/ai-catalog.json"
URL: Final = "https://example.com/mcp"


def weather(**options: Any) -> Server:
    return Server("com.example/weather", "1.0.0", **{"description": "Forecasts.", **options})


def written(made: ServerCard) -> dict[str, Any]:
    whole: dict[str, Any] = models.to_wire(made)
    return whole


# ---- what a card holds


def test_a_card_says_what_the_server_says() -> None:
    icon = types.Icon(src="https://example.com/icon.png", sizes=["48x48"], theme="dark")
    server = weather(title="Weather", website_url="https://example.com", icons=[icon])
    assert written(card(server, URL)) == {
        "$schema": SCHEMA,
        "name": "com.example/weather",
        "version": "1.0.0",
        "description": "Forecasts.",
        "title": "Weather",
        "websiteUrl": "https://example.com",
        "icons": [{"src": "https://example.com/icon.png", "sizes": ["48x48"], "theme": "dark"}],
        "remotes": [
            {"type": "streamable-http", "url": URL, "supportedProtocolVersions": list(ALL)}
        ],
    }


def test_a_card_names_the_revisions_that_the_server_speaks() -> None:
    made = card(weather(revisions=ALL[-2:]), URL)
    assert made.remotes
    (remote,) = made.remotes
    assert remote.supported_protocol_versions == list(ALL[-2:])


def test_what_the_server_does_not_say_is_given() -> None:
    made = card(
        Server("weather", "2"),
        Remote(type="sse", url="https://{tenant}.example.com/sse"),
        name="com.example/weather",
        description="Forecasts.",
        repository=Repository(url="https://example.com/git/weather", source="example"),
        meta={"com.example/team": "sky"},
    )
    assert written(made) == {
        **SMALLEST,
        "version": "2",
        "description": "Forecasts.",
        "repository": {"url": "https://example.com/git/weather", "source": "example"},
        "remotes": [{"type": "sse", "url": "https://{tenant}.example.com/sse"}],
        "_meta": {"com.example/team": "sky"},
    }


@pytest.mark.parametrize(
    ("options", "place", "expected"),
    [
        ({"name": "weather"}, "$.name", "text that matches"),
        ({"name": "a/b/c"}, "$.name", "text that matches"),
        ({"name": "/" * 2}, "$.name", "at least 3 characters"),
        ({"name": f"com.example/{'w' * 189}"}, "$.name", "at most 200 characters"),
        ({"description": ""}, "$.description", "at least 1 character"),
        ({"description": "x" * 101}, "$.description", "at most 100 characters"),
        ({"title": "x" * 101}, "$.title", "at most 100 characters"),
        ({"version": "1" * 256}, "$.version", "at most 255 characters"),
    ],
)
def test_what_a_card_cannot_hold_is_refused(
    options: dict[str, Any], place: str, expected: str
) -> None:
    members = {"name": "com.example/weather", "version": "1", "description": "x", **options}
    server = Server(**members)
    with pytest.raises(DecodeError) as caught:
        card(server, URL)
    assert caught.value.path == place
    assert expected in caught.value.expected


def test_a_server_without_a_description_has_no_card() -> None:
    with pytest.raises(DecodeError, match=r"^\$.description: expected string, found nothing$"):
        card(Server("com.example/weather", "1"), URL)


@pytest.mark.parametrize("url", ["ftp://example.com", "example.com/mcp", "https://a b", "{1}/mcp"])
def test_a_remote_is_at_a_url_or_a_template_of_one(url: str) -> None:
    with pytest.raises(DecodeError, match=r"^\$.remotes\[0\].url: expected text that matches"):
        card(weather(), url)


# ---- cards of others, read and judged as the schema says


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"$schema": SCHEMA.replace("/v1/", "/2025-11-25/")},
        {"$schema": SCHEMA.replace("server-card", "server")},
        {"$schema": None},
        {"name": "no-slash"},
        {"name": None},
        {"version": None},
        {"description": None},
        {"remotes": [{"type": "stdio", "url": URL}]},
        {"remotes": [{"type": "streamable-http"}]},
        {"remotes": [{"type": "sse", "url": "mcp.example.com"}]},
        {"remotes": [{"type": "sse", "url": URL, "headers": [{"value": "x"}]}]},
        {"remotes": [{"type": "sse", "url": URL, "variables": {"a": {"format": "date"}}}]},
        {"repository": {"url": URL}},
        {"icons": [{"src": URL, "theme": "blue"}]},
    ],
)
def test_cards_are_judged_as_the_schema_says(change: dict[str, Any]) -> None:
    """None leaves the member out. All but the first change make the card invalid."""
    changed = {key: value for key, value in {**SMALLEST, **change}.items() if value is not None}
    if not change:
        assert written(models.from_wire(ServerCard, changed)) == SMALLEST
        return
    with pytest.raises(DecodeError):
        models.from_wire(ServerCard, changed)


# ---- where clients find it


def served(made: ServerCard, **options: Any) -> asgi_client.Client:
    documents = server_card.documents(made, path=options.get("path", "/mcp"))
    return asgi_client.Client(weather().asgi(documents=documents, **options))


@pytest.mark.parametrize(
    ("path", "place"),
    [("/mcp", "/mcp/server-card"), ("/", "/server-card"), ("/a/", "/a/server-card")],
)
async def test_the_card_is_below_the_endpoint(path: str, place: str) -> None:
    made = card(weather(), URL)
    headers = {"host": "example.com", "accept": CARD}
    response = await served(made, path=path).ask("GET", place, headers)
    assert (response.status, response.headers["content-type"]) == (200, CARD)
    assert models.decode(ServerCard, response.body) == made


async def test_a_domain_lists_its_card() -> None:
    response = await served(card(weather(), URL)).ask("GET", CATALOG, {"host": "example.com"})
    assert response.headers["content-type"] == "application/ai-catalog+json"
    assert response.json == {
        "specVersion": "1.0",
        "entries": [
            {
                "identifier": "urn:air:example.com:mcp:weather",
                "type": CARD,
                "url": "https://example.com/mcp/server-card",
            }
        ],
    }


@pytest.mark.parametrize("url", ["https://{tenant}.example.com/mcp", f"{URL}?tenant=a"])
def test_a_catalog_holds_a_card_that_has_no_place_of_its_own(url: str) -> None:
    made = card(weather(), url)
    (entry,) = server_card.catalog(made)["entries"]
    assert entry["data"] == written(made)
    assert "url" not in entry


def test_a_catalog_lists_several_servers() -> None:
    names = ("com.example/weather", "com.example.sky/tides")
    made = server_card.catalog(*(card(weather(), URL, name=name) for name in names))
    assert [entry["identifier"] for entry in made["entries"]] == [
        "urn:air:example.com:mcp:weather",
        "urn:air:sky.example.com:mcp:tides",
    ]


@pytest.mark.real_time
async def test_a_client_that_knows_a_domain_finds_the_server() -> None:
    """From the catalog to the card, from the card to the server, in each revision that it names."""
    server = weather()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        origin = f"http://127.0.0.1:{listening.getsockname()[1]}"
        documents = server_card.documents(card(server, f"{origin}/mcp"))
        started = asyncio.get_running_loop().create_future()
        app = server.asgi(documents=documents)
        serving = asyncio.create_task(serve(app, listening, started.set_result))
        await asyncio.wait({serving, started}, return_when=asyncio.FIRST_COMPLETED)
        if serving.done():
            serving.result()
        assert started.result() == f"{origin}/mcp"
        async with httpx2.AsyncClient() as http:
            (entry,) = (await http.get(origin + CATALOG)).json()["entries"]
            response = await http.get(entry["url"], headers={"Accept": entry["type"]})
        read = models.decode(ServerCard, response.content)
        assert read.remotes
        (remote,) = read.remotes
        for revision in remote.supported_protocol_versions or ():
            async with Client.http(remote.url, revisions=[revision]) as client:
                assert client.revision == revision
        signal.raise_signal(signal.SIGTERM)
        await serving
