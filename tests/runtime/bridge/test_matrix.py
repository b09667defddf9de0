"""Each client in front of each server, with a bridge between: what both can say crosses."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from mcp_runtime import Client
from mcp_runtime.bridge import Bridge, Upstream
from mcp_runtime.revisions import ALL, revision
from mcp_runtime.transports.memory import pair
from tests.support import pair_server
from tests.support.judged_wire import Wire, faults, official_faults
from tests.support.pair_scenario import PARTS, PATIENCE, Host, expected
from tests.support.raw_peer import RawPeer
from tests.support.session_pair import initialize, notification
from tests.support.tapped import check_traces, tapped
from tests.support.uvicorn_served import served

HANDSHAKE: Final = [name for name in ALL if revision(name).era == "handshake"]


def pairs(transport: str, mark: pytest.MarkDecorator) -> list[Any]:
    return [
        pytest.param(transport, client, server, id=f"{transport}-{client}-{server}", marks=mark)
        for client in ALL
        for server in ALL
    ]


@asynccontextmanager
async def reached(transport: str, server: Any) -> AsyncGenerator[Callable[..., Client]]:
    """Make clients of a server."""
    if transport == "memory":
        yield partial(Client, server)
        return
    async with served(server.asgi(), lifespan="on") as origin:
        yield partial(Client.http, f"{origin}/mcp")


@pytest.mark.parametrize(
    ("transport", "client", "server"),
    [*pairs("memory", pytest.mark.drawn), *pairs("http", pytest.mark.wide)],
)
async def test_whatever_both_revisions_have_crosses_in_valid_messages(
    transport: str, client: str, server: str
) -> None:
    host, behind = Host(), list[Wire]()
    async with reached(transport, pair_server.make([server])) as make_upstream:

        def connect(**options: Any) -> Client:
            wire: Wire = []
            behind.append(wire)

            def trace(direction: str, data: bytes) -> None:
                wire.append((direction, data))

            return make_upstream(**options, trace=trace)

        bridge = Bridge(Upstream(connect=connect), revisions=[client])
        wanted = crossing(client, server)
        async with (
            reached(transport, bridge.server) as make,
            make(**host.options([client])) as opened,
        ):
            seen = {"revision": opened.revision, "instructions": opened.instructions}
            for name in wanted.keys() - seen.keys():
                async with asyncio.timeout(PATIENCE):
                    seen[name] = await PARTS[name](opened, host)
    assert {name: seen[name] for name in wanted} == wanted
    assert [*faults(host.wire, client), *official_faults(host.wire, client)] == []
    for wire in behind:
        assert [*faults(wire, server), *official_faults(wire, server)] == []


@pytest.mark.wide
@pytest.mark.real_time
@pytest.mark.parametrize(("client", "server"), [(ALL[0], ALL[-1]), (ALL[-1], ALL[0])])
async def test_over_stdio_whatever_both_revisions_have_crosses_from_process_to_process(
    client: str, server: str, tmp_path: Path
) -> None:
    host, behind, wanted = Host(), tmp_path / "behind", crossing(client, server)
    program = [sys.executable, pair_server.__file__, server]
    bridge = [sys.executable, "-m", "mcp_bindgen", "bridge", "--", *tapped(behind, program)]
    async with Client.stdio(bridge, stderr="drop", **host.options([client])) as opened:
        seen = {"revision": opened.revision, "instructions": opened.instructions}
        for name in wanted.keys() - seen.keys():
            async with asyncio.timeout(PATIENCE):
                seen[name] = await PARTS[name](opened, host)
    assert {name: seen[name] for name in wanted} == wanted
    assert [*faults(host.wire, client), *official_faults(host.wire, client)] == []
    check_traces(behind)


@pytest.mark.parametrize("server", [ALL[0], ALL[-1]])
async def test_a_client_may_probe_and_then_shake_hands_as_hosts_do(server: str) -> None:
    bridge = Bridge(pair_server.make([server]))
    meta = {
        "io.modelcontextprotocol/protocolVersion": ALL[-1],
        "io.modelcontextprotocol/clientInfo": {"name": "host", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    call = {"name": "add", "arguments": {"a": 2, "b": 3}}
    near, far = pair()
    async with bridge.server.running():
        connection = bridge.server.accept(far)
        peer = RawPeer(near, connection)
        offer = await peer.asks(0, "server/discover", {"_meta": meta})
        assert set(offer["result"]["supportedVersions"]) == set(ALL)
        shaken = await peer.asks(1, "initialize", initialize(ALL[3]))
        assert shaken["result"]["protocolVersion"] == ALL[3]
        peer.say(notification("notifications/initialized"))
        answer = await peer.asks(2, "tools/call", call)
        assert answer["result"]["content"][0]["text"] == '{"total":5}'
        await near.close()
        await connection.wait_until_gone()


def crossing(client: str, server: str) -> dict[str, Any]:
    """What a client sees through a bridge: what both revisions have."""
    both, shaken = expected(min(client, server)), client in HANDSHAKE
    from_server = server in HANDSHAKE
    wanted = {
        **both,
        "revision": client,
        "plain": [[server], *both["plain"][1:]],
        "errors": expected(client)["errors"],
        "questions": answers(client, server),
        "sampling with tools": [
            ["m assistant"] if min(client, server) >= ALL[3] else cannot(server, "sampling.tools")
        ],
        "roots": [both["roots"][0], [f'{{"result":{int(shaken and from_server)}}}']],
        "hurry": [["given up" if from_server else "in time"], int(shaken and from_server)],
        "pings": [None if shaken else "NotOffered", ["pong" if from_server else "NotOpen"]],
    }
    if shaken and not from_server:
        del wanted["hurry"]  # the server gives nothing up, and the bridge waits as long as it may
    return wanted


def answers(client: str, server: str) -> list[Any]:
    """The results of the tools that ask: of both sides, one may lack forms or pages."""
    if min(client, server) >= ALL[3]:
        return [*expected(ALL[3])["questions"]]
    lacking = "elicitation" if client < ALL[2] else "elicitation.url"
    oldest = server < ALL[2]
    no_url = expected(server)["questions"][1] if oldest else cannot(server, lacking)
    has_forms = client >= ALL[2] and not oldest
    form, both = expected(ALL[2])["questions"][0], expected(ALL[2])["questions"][4]
    no_form = no_url if oldest else cannot(server, "elicitation")
    return [
        form if has_forms else no_form,
        no_url if client < ALL[3] or oldest else cannot(server, "elicitation.url"),
        ["m assistant"],
        ["2 m m"],
        both if has_forms else no_form,
    ]


def cannot(server: str, capability: str) -> list[str]:
    """What the model reads of a capability that the client lacks, or cannot declare there."""
    if server not in HANDSHAKE:
        return ["failed", f"the client does not declare `{capability}`"]
    method = "sampling/createMessage" if "sampling" in capability else "elicitation/create"
    return ["failed", f"{method}: the client does not offer {capability}"]
