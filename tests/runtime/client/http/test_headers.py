"""What a tool's schema marks is mirrored in the headers of its calls, or the tool is left out."""

from __future__ import annotations

import logging
from contextlib import suppress

import pytest

from mcp_runtime import Client
from mcp_runtime import types as t
from mcp_runtime.client.http import exchange
from mcp_runtime.errors import LocalError, RemoteError, TooMuch
from tests.support.raw_http_server import Asked, Reply, Server, answer, error, tool

REGION = {"type": "string", "x-mcp-header": "Region"}
COUNT = {"type": "integer", "x-mcp-header": "Count"}


@pytest.mark.requirement("transport.http.param-headers.mirrored")
@pytest.mark.requirement("transport.http.param-headers.supported")
async def test_marked_arguments_are_mirrored() -> None:
    async with Server().running() as server, server.client() as client:
        server.tools = [tool("t", region=REGION, count=COUNT, query={"type": "string"})]
        await client.list_tools()
        await client.call_tool("t", {"region": "Z\u00fcrich", "count": 3, "query": "q"})
        await client.call_tool("t", {"region": None})
    first, second = (asked.headers for asked in server.of("tools/call"))
    params = {name: value for name, value in first.items() if name.startswith("mcp-param-")}
    assert params == {"mcp-param-region": "=?base64?WsO8cmljaA==?=", "mcp-param-count": "3"}
    assert not any(name.startswith("mcp-param-") for name in second)


@pytest.mark.requirement("transport.http.param-headers.hide-tool")
@pytest.mark.requirement("transport.http.param-headers.log-rejection")
@pytest.mark.requirement("tools.x-mcp-header.client-excludes-tool")
@pytest.mark.requirement("tools.x-mcp-header.client-logs-rejection")
async def test_a_tool_whose_marks_break_a_rule_is_left_out_with_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with Server().running() as server, server.client() as client:
        server.tools = [tool("good", region=REGION), tool("bad\n", a=REGION, b=REGION), tool("t")]
        with caplog.at_level(logging.WARNING, "mcp_runtime"):
            assert [each.name for each in await client.list_tools()] == ["good", "t"]
        params = t.PaginatedRequestParams(meta=client.meta())
        page = await client.request("tools/list", params)
        assert [each.name for each in page.tools] == ["good", "t"]
        await client.call_tool("good", {"region": "eu"})
    (called,) = server.of("tools/call")
    assert called.headers["mcp-param-region"] == "eu"
    (warning, _) = [record.getMessage() for record in caplog.records]
    assert warning == (
        "leaving out the tool 'bad\\n': b: x-mcp-header 'Region' is there a second time"
    )


@pytest.mark.parametrize("revision", ["2025-03-26", "2025-11-25"])
async def test_marks_mean_nothing_in_older_revisions(revision: str) -> None:
    async with Server(revision).running() as server, server.client() as client:
        server.tools = [tool("t", a=REGION, b=REGION)]
        assert [each.name for each in await client.list_tools()] == ["t"]
        await client.call_tool("t", {"a": "x"})
    (called,) = server.of("tools/call")
    assert not any(name.startswith(("mcp-param", "mcp-name")) for name in called.headers)


class Strict(Server):
    """Refuses a call without the header of its region."""

    def __init__(self) -> None:
        super().__init__()
        self.tools = [tool("t", region=REGION)]
        self.acts["tools/call"] = self._checked

    async def _checked(self, asked: Asked, reply: Reply) -> None:
        if asked.headers.get("mcp-param-region") != "eu":
            await reply.send(400, error(None, -32020))
        else:
            await reply.send(200, answer(asked, self.called()))


@pytest.mark.requirement("transport.http.param-headers.refresh")
async def test_a_mismatch_lists_the_tools_and_repeats_the_call() -> None:
    async with Strict().running() as server, server.client() as client:
        await client.call_tool("t", {"region": "eu"})
        with pytest.raises(RemoteError, match="-32020"):
            await client.call_tool("t", {"region": "us"})
    calls = ["tools/call", "tools/list", "tools/call"]
    assert server.whats() == ["server/discover", *calls, *calls]
    ids = [asked.id for asked in server.of("tools/call")]
    assert len(set(ids)) == 4


class Keeping(Server):
    """Says of its list that it holds for an hour, and refuses calls without these headers."""

    def __init__(self, *headers: str) -> None:
        super().__init__()
        self.required = headers
        self.tools = [tool("t", region=REGION)]
        self.acts |= {"tools/list": self._kept, "tools/call": self._checked}

    async def _kept(self, asked: Asked, reply: Reply) -> None:
        hints = {"ttlMs": 3_600_000, "cacheScope": "private"}
        await reply.send(200, answer(asked, self.result(tools=self.tools, **hints)))

    async def _checked(self, asked: Asked, reply: Reply) -> None:
        if all(name in asked.headers for name in self.required):
            await reply.send(200, answer(asked, self.called()))
        else:
            await reply.send(400, error(None, -32020))


async def test_a_mismatch_lists_the_tools_anew_though_the_list_is_fresh() -> None:
    async with Keeping("mcp-param-zone").running() as server, server.client() as client:
        await client.list_tools()
        server.tools = [tool("t", region=REGION | {"x-mcp-header": "Zone"})]
        await client.call_tool("t", {"region": "eu"})
    assert len(server.of("tools/list")) == 2


async def test_marks_are_kept_as_long_as_the_list_that_has_them() -> None:
    async with Keeping("mcp-param-region").running() as server:
        client = server.client()
        for _ in range(2):
            async with client:
                await client.list_tools()
                await client.call_tool("t", {"region": "eu"})
    assert len(server.of("tools/list")) == 1
    assert len(server.of("tools/call")) == 2


async def test_an_integer_that_no_header_can_hold_fails_its_call_alone() -> None:
    async with Server().running() as server, server.client() as client:
        server.tools = [tool("t", count=COUNT)]
        await client.list_tools()
        with pytest.raises(TooMuch, match="goes into a header"):
            await client.call_tool("t", {"count": 2**53})
        await client.call_tool("t", {"count": 2**53 - 1})
    assert len(server.of("tools/call")) == 1


@pytest.mark.requirement("transport.http.post.refused-body")
@pytest.mark.parametrize(("status", "code"), [(404, -32601), (400, -32021), (500, -32603)])
@pytest.mark.parametrize("id", [None, "server-error", 7])
async def test_an_error_of_the_protocol_counts_whatever_its_status_and_id(
    status: int, code: int, id: object
) -> None:
    async def refuse(asked: Asked, reply: Reply) -> None:
        await reply.send(status, error(id, code))

    async with Server().running() as server, server.client() as client:
        server.acts["tools/call"] = refuse
        with pytest.raises(RemoteError) as raised:
            await client.call_tool("t")
    assert raised.value.code == code


def test_a_client_over_http_is_made_without_reaching_for_the_server() -> None:
    assert isinstance(Client.http("http://server.example/mcp"), Client)


async def test_a_name_that_is_not_a_text_has_no_header() -> None:
    async with Server().running() as server, server.client() as client:
        server.tools = [tool("t")]
        with suppress(RemoteError):
            await client.request("tools/call", {"name": 5})
    (called,) = server.of("tools/call")
    assert "mcp-name" not in called.headers


async def test_an_unforeseen_fault_in_a_request_is_raised_to_its_caller(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> dict[str, str]:
        raise ZeroDivisionError("planted")

    async with Server().running() as server, server.client() as client:
        monkeypatch.setattr(exchange, "request_headers", fail)
        with pytest.raises(LocalError, match="ZeroDivisionError: planted"):
            await client.list_tools()
    assert "tools/list failed in this client" in caplog.text
