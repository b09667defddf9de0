"""What headers repeat is compared with the body, after decoding; a mismatch has its own error.

Source: 2026-07-28 basic/transports/streamable-http, "Server Validation".
"""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Annotated, Any, Final

import pytest

from mcp_runtime import Context, Header, Server, types
from mcp_runtime.core.http.header_checks import ParamHeaders, check_headers
from mcp_runtime.core.wire import error_codes
from mcp_runtime.core.wire.peek import request_params
from mcp_runtime.errors import RpcError
from mcp_runtime.json_schema.header_annotations import param_headers
from mcp_runtime.server.decorators import dispatcher_of
from tests.support.asgi_client import (
    LATEST,
    Client,
    Headers,
    mirrors,
    request,
    serving,
)

SCHEMA: Final = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "x-mcp-header": "Text"},
        "number": {"type": "integer", "x-mcp-header": "Number"},
        "flag": {"type": "boolean", "x-mcp-header": "Flag"},
        "deep": {
            "type": "object",
            "properties": {"text": {"type": "string", "x-mcp-header": "Deep"}},
        },
        "unmarked": {"type": "string"},
    },
}


def coded(text: str) -> str:
    return f"=?base64?{b64encode(text.encode()).decode()}?="


def compared(arguments: Any, headers: dict[str, str]) -> str:
    """What is wrong with them; empty for nothing."""
    body = json.dumps({"name": "tool", "arguments": arguments}).encode()
    standard = {"mcp-protocol-version": LATEST, "mcp-method": "tools/call", "mcp-name": "tool"}
    try:
        params = request_params(body)
        check_headers({**standard, **headers}, "tools/call", params, LATEST, _param_headers)
    except RpcError as refusal:
        return f"{refusal.message} ({refusal.code})"
    return ""


def _param_headers(tool: object) -> ParamHeaders:
    return param_headers(SCHEMA)


@pytest.mark.requirement(
    "transport.http.encoding.decoded",
    "transport.http.encoding.decoded-first",
    "transport.http.headers.integers-compared",
    "transport.http.param-headers.exact-path",
)
@pytest.mark.parametrize(
    ("arguments", "headers"),
    [
        ({"text": "a b"}, {"mcp-param-text": "a b"}),
        ({"text": "a b"}, {"mcp-param-text": " \t a b \t"}),
        ({"text": "a\tb"}, {"mcp-param-text": "a\tb"}),
        ({"text": ""}, {"mcp-param-text": ""}),
        ({"text": ""}, {"mcp-param-text": "=?base64??="}),
        ({"text": "a"}, {"mcp-param-text": coded("a")}),
        ({"text": "ab"}, {"mcp-param-text": coded("ab")}),
        ({"text": "abc"}, {"mcp-param-text": coded("abc")}),
        ({"text": " a "}, {"mcp-param-text": coded(" a ")}),
        ({"text": "grüße, 世界 🌍"}, {"mcp-param-text": coded("grüße, 世界 🌍")}),
        ({"text": "a\r\nb\0"}, {"mcp-param-text": coded("a\r\nb\0")}),
        ({"text": "=?base64?YQ==?="}, {"mcp-param-text": coded("=?base64?YQ==?=")}),
        ({"text": "=?BASE64?YQ==?="}, {"mcp-param-text": "=?BASE64?YQ==?="}),
        ({"text": "=?base64?YQ=="}, {"mcp-param-text": "=?base64?YQ=="}),
        ({"text": "x=?base64?YQ==?="}, {"mcp-param-text": "x=?base64?YQ==?="}),
        ({"text": "???>>>"}, {"mcp-param-text": "=?base64?Pz8/Pj4+?="}),
        ({"text": "42"}, {"mcp-param-text": "42"}),
        ({"text": "true"}, {"mcp-param-text": "true"}),
        ({"number": 42}, {"mcp-param-number": "42"}),
        ({"number": 42}, {"mcp-param-number": "42.0"}),
        ({"number": 42.0}, {"mcp-param-number": "42"}),
        ({"number": 42}, {"mcp-param-number": "4.2e1"}),
        ({"number": -7}, {"mcp-param-number": "-7"}),
        ({"number": 0}, {"mcp-param-number": "-0"}),
        ({"number": 42}, {"mcp-param-number": coded("42")}),
        ({"number": 2**53 - 1}, {"mcp-param-number": str(2**53 - 1)}),
        ({"flag": True}, {"mcp-param-flag": "true"}),
        ({"flag": False}, {"mcp-param-flag": "false"}),
        ({"flag": False}, {"mcp-param-flag": coded("false")}),
        ({"deep": {"text": "a"}}, {"mcp-param-deep": "a"}),
        ({"deep": {"other": "a"}}, {}),
        ({"deep": None}, {}),
        ({"deep": "a"}, {}),
        ({"text": None}, {}),
        ({"unmarked": "a"}, {}),
        ({"unmarked": "a"}, {"mcp-param-unmarked": "b"}),
        ({}, {"mcp-param-unknown": "a"}),
        ({}, {}),
        (None, {}),
        ([], {}),
    ],
)
def test_headers_that_say_what_the_body_says_are_admitted(
    arguments: Any, headers: dict[str, str]
) -> None:
    assert compared(arguments, headers) == ""


@pytest.mark.requirement(
    "errors.code.header-mismatch",
    "transport.http.headers.bad-characters",
    "transport.http.headers.checked",
    "transport.http.headers.values-case-aware",
    "transport.http.param-headers.bad-characters",
    "transport.http.param-headers.demanded",
    "transport.http.param-headers.matched",
)
@pytest.mark.parametrize(
    ("arguments", "headers"),
    [
        ({"text": "a"}, {}),
        ({"text": ""}, {}),
        ({"number": 0}, {}),
        ({"flag": False}, {}),
        ({"deep": {"text": "a"}}, {}),
        ({"text": "a"}, {"mcp-param-text": ""}),
        ({"text": "a"}, {"mcp-param-text": "A"}),
        ({"text": "a"}, {"mcp-param-text": "a, a"}),
        ({"text": "a"}, {"mcp-param-text": '"a"'}),
        ({"text": "ä"}, {"mcp-param-text": "ä"}),
        ({"text": "ä"}, {"mcp-param-text": "Ã¤"}),
        ({"text": "a\x7f"}, {"mcp-param-text": "a\x7f"}),
        ({"text": "a\0"}, {"mcp-param-text": "a\0"}),
        ({"text": "a\nb"}, {"mcp-param-text": "a\nb"}),
        ({"text": " a"}, {"mcp-param-text": " a"}),
        ({"text": "a"}, {"mcp-param-text": "=?base64?YR==?=x"}),
        ({"text": "a"}, {"mcp-param-text": "=?base64?YQ?="}),
        ({"text": "a"}, {"mcp-param-text": "=?base64?YQ=?="}),
        ({"text": "a"}, {"mcp-param-text": "=?base64?YQ====?="}),
        ({"text": "a"}, {"mcp-param-text": "=?base64?Y Q==?="}),
        ({"text": "a"}, {"mcp-param-text": "=?base64?YQ==\n?="}),
        ({"text": "a"}, {"mcp-param-text": "=?BASE64?YQ==?="}),
        ({"text": "???>>>"}, {"mcp-param-text": "=?base64?Pz8_Pj4-?="}),
        ({"text": "\ufffd"}, {"mcp-param-text": "=?base64?/w==?="}),
        ({"text": "=?base64?YQ==?="}, {"mcp-param-text": "=?base64?YQ==?="}),
        ({"number": 42}, {"mcp-param-number": "43"}),
        ({"number": 42}, {"mcp-param-number": "4_2"}),
        ({"number": 42}, {"mcp-param-number": "+42"}),
        ({"number": 42}, {"mcp-param-number": "042"}),
        ({"number": 42}, {"mcp-param-number": "0x2a"}),
        ({"number": 42}, {"mcp-param-number": "42."}),
        ({"number": 42}, {"mcp-param-number": "4 2"}),
        ({"number": 1}, {"mcp-param-number": "true"}),
        ({"number": 2**53}, {"mcp-param-number": str(2**53 + 1)}),
        ({"number": 10**15}, {"mcp-param-number": "1000000000000000.01"}),
        ({"number": 1}, {"mcp-param-number": "1e999999999999"}),
        ({"number": 1}, {"mcp-param-number": "nan"}),
        ({"number": 1}, {"mcp-param-number": "1" * 5000}),
        ({"flag": True}, {"mcp-param-flag": "True"}),
        ({"flag": True}, {"mcp-param-flag": "1"}),
        ({"flag": True}, {"mcp-param-flag": "false"}),
        ({"deep": {"text": "a"}, "text": "b"}, {"mcp-param-deep": "b", "mcp-param-text": "b"}),
        ({"text": None}, {"mcp-param-text": "null"}),
        ({"text": None}, {"mcp-param-text": ""}),
        ({}, {"mcp-param-text": "a"}),
        ({}, {"mcp-param-text": "ä"}),
        (None, {"mcp-param-deep": "a"}),
        ({"text": {"a": 1}}, {"mcp-param-text": "a"}),
    ],
)
def test_headers_that_contradict_the_body_are_refused(
    arguments: Any, headers: dict[str, str]
) -> None:
    assert compared(arguments, headers).endswith("(-32020)")


# ---- through the application


def marked() -> Server:
    server = Server("marked", "1")

    region = {"type": ["string", "null"], "x-mcp-header": "Region"}
    schema = types.from_wire(
        types.ToolInputSchema, {"type": "object", "properties": {"region": region}}
    )

    @server.raw_tool(types.Tool(name="query", input_schema=schema))
    async def query(arguments: dict[str, Any], ctx: Context) -> str:
        return arguments.get("region") or "nowhere"

    @server.prompt
    async def greet(name: str = "") -> str:
        return name

    @server.prompt(name="grüße")
    async def german() -> str:
        return "Guten Tag"

    @server.resource("text://a")
    async def text() -> str:
        return "text"

    return server


async def refused(client: Client, said: Any, headers: Headers) -> str:
    """The error that tells of the headers."""
    response = await client.post(said, headers).until_over()
    assert response.status == 400, response.body
    assert response.headers["content-type"] == "application/json"
    assert response.json["id"] == said["id"]
    assert response.error["code"] == error_codes.HEADER_MISMATCH == -32020
    message: str = response.error["message"]
    return message


@pytest.mark.requirement(
    "transport.http.headers.missing",
    "transport.http.headers.refusal-error",
    "transport.http.headers.refusal-status",
    "transport.http.version-header.mismatch",
)
@pytest.mark.parametrize("name", ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"])
@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {"name": "query"}),
        ("prompts/get", {"name": "greet"}),
        ("resources/read", {"uri": "text://a"}),
    ],
)
async def test_each_standard_header_is_required_and_compared(
    name: str, method: str, params: dict[str, Any]
) -> None:
    said = request(method, params)
    headers = mirrors(said)
    async with serving(marked()) as client:
        for wrong in ({}, {name: ""}, {name: "x"}, {name: headers[name].upper() + "X"}):
            less = {key: value for key, value in headers.items() if key != name}
            assert name in await refused(client, said, {**less, **wrong})
        twice = {**headers, name: [headers[name], headers[name]]}
        assert name in await refused(client, said, twice)


@pytest.mark.requirement("transport.http.headers.names-case-blind")
async def test_a_name_may_be_coded_and_stand_in_a_header_of_any_case() -> None:
    async with serving(marked()) as client:
        said = request("prompts/get", {"name": "grüße"})
        headers = {"mCP-pROTOCOL-vERSION": LATEST, "MCP-METHOD": "prompts/get"}
        response = client.post(said, {**headers, "mcp-NAME": coded("grüße")})
        assert "result" in (await response.until_over()).json
        assert "Mcp-Name" in await refused(client, said, {**headers, "mcp-name": "grüße"})


@pytest.mark.requirement(
    "transport.http.param-headers.mismatch", "transport.http.param-headers.not-expected"
)
@pytest.mark.parametrize("absent", [{}, {"region": None}])
async def test_a_header_is_demanded_for_a_marked_argument_that_is_there(
    absent: dict[str, Any],
) -> None:
    async with serving(marked()) as client:
        region = {"Mcp-Param-Region": "north"}
        response = await client.call("query", {"region": "north"}, region).until_over()
        assert response.json["result"]["content"][0]["text"] == "north"
        response = await client.call("query", absent).until_over()
        assert response.json["result"]["content"][0]["text"] == "nowhere"
        said = request("tools/call", {"name": "query", "arguments": {"region": "north"}})
        for wrong in ({}, {"Mcp-Param-Region": "south"}, {"Mcp-Param-Region": "n\u00f6rth"}):
            assert "Mcp-Param-Region" in await refused(client, said, {**mirrors(said), **wrong})
        said = request("tools/call", {"name": "query", "arguments": absent})
        assert "Region" in await refused(client, said, {**mirrors(said), **region})


@pytest.mark.requirement("meta.request.missing.status")
@pytest.mark.parametrize("lacks", ["protocolVersion", "clientCapabilities"])
async def test_a_request_without_what_each_must_tell_is_a_bad_one(lacks: str) -> None:
    async with serving(marked()) as client:
        said = request("tools/list")
        headers = mirrors(said)
        del said["params"]["_meta"][f"io.modelcontextprotocol/{lacks}"]
        response = await client.post(said, headers).until_over()
        assert (response.status, response.error["code"]) == (400, error_codes.INVALID_PARAMS)


@pytest.mark.requirement("transport.http.version-header.unsupported", "versioning.unsupported")
@pytest.mark.parametrize("version", ["2099-01-01", "2025-11-25", "x"])
async def test_a_version_that_is_not_spoken_is_told_with_those_that_are(version: str) -> None:
    async with serving(Server("new", "1", revisions=[LATEST])) as client:
        said = request("tools/list", version=version)
        response = await client.post(said, mirrors(said)).until_over()
        assert (response.status, response.error["code"]) == (
            400,
            error_codes.UNSUPPORTED_VERSION,
        )
        assert response.error["data"] == {"supported": [LATEST], "requested": version}


@pytest.mark.requirement(
    "tools.x-mcp-header.not-empty",
    "tools.x-mcp-header.no-control-characters",
    "tools.x-mcp-header.primitive-types",
    "tools.x-mcp-header.statically-reachable",
    "tools.x-mcp-header.token-syntax",
    "tools.x-mcp-header.unique",
    "transport.http.param-headers.no-control",
    "transport.http.param-headers.no-detour",
    "transport.http.param-headers.not-empty",
    "transport.http.param-headers.primitive",
    "transport.http.param-headers.reachable",
    "transport.http.param-headers.stray-mark",
    "transport.http.param-headers.token",
    "transport.http.param-headers.unique",
)
@pytest.mark.parametrize(
    "properties",
    [
        {"a": {"type": "string", "x-mcp-header": ""}},
        {"a": {"type": "string", "x-mcp-header": "A B"}},
        {"a": {"type": "string", "x-mcp-header": "A\r\nB"}},
        {"a": {"type": "string", "x-mcp-header": "A\x01"}},
        {"a": {"type": "string", "x-mcp-header": "Ä"}},
        {"a": {"type": "string", "x-mcp-header": 1}},
        {"a": {"type": "number", "x-mcp-header": "A"}},
        {"a": {"type": "object", "x-mcp-header": "A"}},
        {"a": {"type": "array", "x-mcp-header": "A"}},
        {"a": {"x-mcp-header": "A"}},
        {"a": {"type": "array", "items": {"type": "string", "x-mcp-header": "A"}}},
        {"a": {"anyOf": [{"type": "string", "x-mcp-header": "A"}]}},
        {"a": {"if": {"properties": {"b": {"type": "string", "x-mcp-header": "A"}}}}},
        {
            "a": {"type": "string", "x-mcp-header": "Same"},
            "b": {"type": "string", "x-mcp-header": "sAME"},
        },
    ],
)
def test_a_tool_with_a_mark_that_clients_would_refuse_cannot_be_offered(
    properties: dict[str, Any],
) -> None:
    server = Server("marked", "1")
    schema = types.from_wire(types.ToolInputSchema, {"type": "object", "properties": properties})
    with pytest.raises(ValueError, match="x-mcp-header"):

        @server.raw_tool(types.Tool(name="raw", input_schema=schema))
        async def raw(arguments: Any, ctx: Any) -> str:
            raise AssertionError

    assert dispatcher_of(server).offer().capabilities.tools is types.UNSET


@pytest.mark.requirement(
    "tools.x-mcp-header.safe-integers", "transport.http.param-headers.safe-integer"
)
@pytest.mark.parametrize("number", [2**53, -(2**53)])
async def test_an_integer_that_not_every_peer_reads_exactly_is_no_argument(number: int) -> None:
    server = Server("marked", "1")

    @server.tool
    async def read(number: Annotated[int, Header("Number")]) -> int:
        return number

    async with serving(server) as client:
        for sign, fails in ((0, True), (-1 if number > 0 else 1, False)):
            value = number + sign
            headers = {"Mcp-Param-Number": str(value)}
            response = await client.call("read", {"number": value}, headers).until_over()
            assert response.json["result"].get("isError", False) is fails
