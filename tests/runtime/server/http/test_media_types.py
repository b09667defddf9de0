"""Media types are parsed, not searched."""

from __future__ import annotations

import pytest

from mcp_runtime.core.http.http_rules import EVENT_STREAM, JSON, accepts, media_type
from tests.support.asgi_client import BOTH, GET, POST, request, serving


@pytest.mark.parametrize(
    ("header", "kind"),
    [
        ("application/json", JSON),
        ("application/json; charset=utf-8", JSON),
        ("application/json;charset=utf-8", JSON),
        (" Application/JSON ; x=y", JSON),
        ("text/plain;application/json", "text/plain"),
        ("text/plain; x=application/json", "text/plain"),
        ("application/jsonp", "application/jsonp"),
        ("application/json, text/plain", "application/json, text/plain"),
        ("application/json text/plain", "application/json text/plain"),
        ("", ""),
        (None, ""),
    ],
)
def test_a_media_type_is_what_stands_before_the_parameters(header: str | None, kind: str) -> None:
    assert media_type(header) == kind


@pytest.mark.parametrize(
    ("header", "json", "stream"),
    [
        (None, True, True),
        ("", False, False),
        (BOTH, True, True),
        ("text/event-stream,application/json", True, True),
        ("APPLICATION/json ,\tText/Event-Stream", True, True),
        ("application/json; q=0.5, text/event-stream;q=1.0", True, True),
        ("*/*", True, True),
        ("*/*;q=0.1", True, True),
        ("application/*, text/*", True, True),
        ("application/*", True, False),
        ("text/*", False, True),
        (JSON, True, False),
        (EVENT_STREAM, False, True),
        ("application/json;q=0, text/event-stream", False, True),
        ("application/json;q=0.000, text/event-stream", False, True),
        ("application/json; Q=0, text/event-stream", False, True),
        ("application/json;q=0.001, text/event-stream", True, True),
        ("application/json;q=0, */*", False, True),
        ("*/*, application/json;q=0", False, True),
        ("application/*;q=0, */*", False, True),
        ("*/*;q=0", False, False),
        ("*/*;q=0, application/json", True, False),
        ('application/json;x=";q=0", text/event-stream', True, True),
        ('application/json;x="a;q=0;b";y, text/event-stream', True, True),
        ('application/json;x=",";q=0, text/event-stream', False, True),
        ("application/json; q=0. ;x, text/event-stream", False, True),
        ("application/json;xq=0, text/event-stream", True, True),
        ("text/plain;application/json", False, False),
        ('text/plain;x="application/json,text/event-stream"', False, False),
        ('text/plain;x="a,application/json,text/event-stream,b"', False, False),
        ('text/plain;x="\\",application/json,text/event-stream,', False, False),
        ("application/jsonx, text/event-streams", False, False),
        ("application/json text/event-stream", False, False),
        (",,application/json,,", True, False),
    ],
)
def test_the_closest_range_of_an_accept_header_decides(
    header: str | None, json: bool, stream: bool
) -> None:
    assert (accepts(header, JSON), accepts(header, EVENT_STREAM)) == (json, stream)


@pytest.mark.parametrize(
    "header",
    [
        "application/json;" * 20_000 + "q=0",
        '"' * 200_000,
        '\\"' * 100_000,
        '"\\' * 100_000,
        "," * 200_000,
    ],
)
def test_a_hostile_accept_header_is_read_to_its_end(header: str) -> None:
    """In time that grows with its length: were it the square of it, this would take an hour."""
    assert not accepts(header, JSON)


@pytest.mark.parametrize(
    ("headers", "status", "names"),
    [
        ({"content-type": "application/json; charset=utf-8"}, 200, ""),
        ({"content-type": "text/plain;application/json"}, 415, "application/json"),
        ({"content-type": "text/plain"}, 415, "application/json"),
        ({"content-type": ""}, 415, "application/json"),
        ({"accept": "*/*"}, 200, ""),
        ({"accept": "application/json"}, 200, ""),
        ({"accept": "text/event-stream"}, 406, "application/json"),
        ({"accept": "application/json;q=0, text/event-stream"}, 406, "application/json"),
        ({"accept": ["application/json", "text/event-stream"]}, 200, ""),
    ],
)
async def test_a_post_in_another_type_is_refused(
    headers: dict[str, str], status: int, names: str
) -> None:
    async with serving() as client:
        response = await client.request("server/discover", headers=headers).until_over()
        assert response.status == status
        assert names in response.json.get("error", {"message": ""})["message"]


async def test_a_post_without_types_needs_the_one_and_not_the_other() -> None:
    async with serving() as client:
        for less, status in (("content-type", 415), ("accept", 400)):
            headers = {key: value for key, value in POST.items() if key != less}
            assert (await client.ask("POST", "/mcp", headers)).status == status


@pytest.mark.parametrize("accept", ["application/json", "text/plain", "text/event-stream;q=0"])
async def test_a_get_has_to_accept_a_stream(accept: str) -> None:
    async with serving() as client:
        response = await client.ask("GET", "/mcp", {**GET, "accept": accept})
        assert (response.status, "text/event-stream" in response.error["message"]) == (
            406,
            True,
        )


async def test_messages_of_http_with_sse_are_json_too() -> None:
    async with serving() as client:
        headers = {**POST, "content-type": "text/plain"}
        body = [b"%r" % request("ping")]
        assert (await client.ask("POST", "/messages", headers, body)).status == 415
