"""Conversations and conversions on the day of a successor that renames four methods.

python -m tests.support.successor_methods runs in a copy of the project that knows the successor.
Handlers are registered once under the old names and once under the new ones.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator
from typing import Any, cast

import pytest

from mcp_runtime import Client, Context, Server, types
from mcp_wire.convert import Context as Told
from mcp_wire.convert import Refused, convert
from tests.support import asgi_client
from tests.support.successor import BEFORE, NAME, RENAMED_METHODS

OLDER = "2025-11-25"
CALL, COMPLETE, ELICIT, UPDATED = RENAMED_METHODS
MESSAGES: dict[str, dict[str, Any]] = {
    CALL: {"name": "greet", "arguments": {}},
    COMPLETE: {
        "ref": {"type": "ref/prompt", "name": "p"},
        "argument": {"name": "a", "value": "x"},
    },
}


def made(method: str) -> Server:
    """A server whose completions are registered under `method`."""
    server = Server("s", "1")

    @server.tool
    async def greet(ctx: Context) -> str:
        answer = await ctx.elicit("Who?", {"type": "object", "properties": {}})
        return f"{ctx.method} {answer.action}"

    @server.resource("a://b")
    def text() -> str:
        return "text"

    @server.prompt
    def p(a: str) -> str:
        return a

    @server.on(method, capability="completions")
    async def complete(params: Any, context: Context) -> Any:
        values = [f"{params.argument.value} {context.method}"]
        completion = types.CompleteResultCompletion(values=values)
        return types.CompleteResult(result_type="complete", completion=completion)

    return server


async def talk(server: Server, revision: str, names: dict[str, str]) -> set[str]:
    """Use all four methods, by `names` where the caller names one; return the names on the wire."""
    sent: set[str] = set()
    changed = asyncio.Event()

    def note(way: str, data: bytes) -> None:
        if way in ("sent", "received"):
            sent.update(_names(json.loads(data)))

    async def elicit(params: Any) -> types.ElicitResult:
        return types.ElicitResult(action="decline")

    client = Client(server, revisions=[revision], on_elicit=elicit, trace=note)

    @client.on(names[UPDATED])
    def updated(params: types.ResourceUpdatedNotificationParams) -> None:
        assert params.uri == "a://b"
        changed.set()

    async with client:
        result = await client.call_tool("greet")
        assert isinstance(result.content[0], types.TextContent)
        completed = await client.request(names[COMPLETE], dict(MESSAGES[COMPLETE]))
        assert result.content[0].text.partition(" ")[2] == "decline", result
        seen = completed.completion.values[0].split()
        assert seen[0] == "x"
        assert seen[1] == COMPLETE
        ref = types.PromptReference(name="p")
        assert (await client.complete(ref, "a", "x")).values == completed.completion.values
        async with client.listen(uris=["a://b"]):
            server.resource_updated("a://b")
            await changed.wait()
    return sent


def _names(message: Any) -> Iterator[str]:
    """The methods in a message, those of requests inside of it too."""
    inner: Iterable[Any] = ()
    if isinstance(message, dict):
        members = cast("dict[str, Any]", message)
        inner = members.values()
        if isinstance(method := members.get("method"), str):
            yield method
    elif isinstance(message, list):
        inner = cast("list[Any]", message)
    for value in inner:
        yield from _names(value)


async def post(server: Server, version: str, named: str, header: str) -> Any:
    """The answer to a call over HTTP, in which body and header name a method."""
    meta: dict[str, Any] = {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    }
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": named,
        "params": {**MESSAGES[CALL], "_meta": meta},
    }
    headers = {"mcp-protocol-version": version, "mcp-method": header, "mcp-name": "greet"}
    response = asgi_client.Client(server.asgi()).post(body, headers)
    return (await response.until_over()).json


def convert_each_way() -> None:
    context = Told(client_info={"name": "c", "version": "1"}, client_capabilities={})
    for method, params in MESSAGES.items():
        new = RENAMED_METHODS[method]
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        up = convert(request, OLDER, NAME, context=context)
        assert (up.message["method"], up.losses) == (new, ()), up
        assert convert(up.message, NAME, OLDER, context=context) == (request, ())
        for revision, unknown in ((NAME, method), (BEFORE, new)):
            there = BEFORE if revision == NAME else NAME
            with pytest.raises(Refused, match=unknown):
                convert({**up.message, "method": unknown}, revision, there)
    ask = {"method": ELICIT, "params": {"message": "?", "requestedSchema": _SCHEMA}}
    asked = {"resultType": "input_required", "inputRequests": {"1": ask}}
    result = {"jsonrpc": "2.0", "id": 1, "result": asked}
    up = convert(result, BEFORE, NAME, method=CALL)
    assert up.message["result"]["inputRequests"]["1"]["method"] == RENAMED_METHODS[ELICIT]
    assert convert(up.message, NAME, BEFORE, method=RENAMED_METHODS[CALL]) == (result, ())


_SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}


async def main() -> None:
    old_names = dict.fromkeys(RENAMED_METHODS)
    new_names = set(RENAMED_METHODS.values())
    for method in (COMPLETE, RENAMED_METHODS[COMPLETE]):
        for names in ({name: name for name in old_names}, RENAMED_METHODS):
            for revision in (NAME, BEFORE, OLDER):
                sent = await talk(made(method), revision, names)
                wanted, other = new_names, {*old_names}
                wanted, other = (wanted, other) if revision == NAME else (other, wanted)
                assert (wanted & sent, other & sent) == (wanted, set()), (revision, sent)
    server = made(COMPLETE)
    for version, method in ((NAME, RENAMED_METHODS[CALL]), (BEFORE, CALL)):
        other = CALL if version == NAME else RENAMED_METHODS[CALL]
        answer = await post(server, version, method, method)
        assert answer["result"]["resultType"] == "input_required", answer
        assert "Mcp-Method" in (await post(server, version, method, other))["error"]["message"]
        refused = (await post(server, version, other, other))["error"]
        assert (refused["code"], other in refused["message"]) == (-32601, True), refused


if __name__ == "__main__":
    convert_each_way()
    asyncio.run(main())
