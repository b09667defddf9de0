"""Every client beside every server: the revision they agree on, or the precise error."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from mcp_runtime import Client
from mcp_runtime.core.wire.error_codes import HEADER_MISMATCH, INVALID_PARAMS, UNSUPPORTED_VERSION
from mcp_runtime.errors import NoCommonRevision, RemoteError
from mcp_runtime.revisions import ALL, revision
from tests.support import pair_server
from tests.support.judged_wire import Wire, faults, official_faults
from tests.support.pair_scenario import Host, expected, observed
from tests.support.uvicorn_served import served

HANDSHAKE: Final = tuple(name for name in ALL if revision(name).era == "handshake")
PER_REQUEST: Final = tuple(name for name in ALL if revision(name).era == "per-request")
SETS: Final = {
    **{name: (name,) for name in ALL},
    "all": ALL,
    "handshake": HANDSHAKE,
    "per-request": PER_REQUEST,
}
PROGRAM: Final = str(Path(pair_server.__file__))


SPOKEN: Final = {"memory": ALL, "stdio": ALL, "http": ALL, "http+sse": HANDSHAKE}
"""What each transport carries."""
ROUTES: Final = {"http": "/mcp", "http+sse": "/sse"}


def common(transport: str, client: Sequence[str], server: Sequence[str]) -> str | None:
    """The newest revision that both speak over it."""
    return max(set(client) & set(server) & set(SPOKEN[transport]), default=None)


def marks(transport: str, one: str, other: str, *, agree: bool) -> list[pytest.MarkDecorator]:
    """`make test` plays a share of the pairs in memory, elsewhere of those with "all" on a side.

    It plays all in memory that are cheap or of equals, and both with "all" on every transport.
    """
    real = [pytest.mark.real_time] if transport == "stdio" else []
    if one == other == "all" or (transport == "memory" and (one == other or not agree)):
        return real
    is_drawn = transport == "memory" or "all" in (one, other)
    return [*real, pytest.mark.drawn if is_drawn else pytest.mark.wide]


def pairs(agree: bool) -> list[Any]:
    return [
        pytest.param(
            transport,
            client,
            server,
            id=f"{transport}-{one}-to-{other}",
            marks=marks(transport, one, other, agree=agree),
        )
        for transport in SPOKEN
        for one, client in SETS.items()
        for other, server in SETS.items()
        if (common(transport, client, server) is not None) == agree
    ]


@asynccontextmanager
async def peer(transport: str, server: Sequence[str]) -> AsyncGenerator[Callable[..., Client]]:
    """Makes clients of that server."""
    if transport == "memory":
        yield partial(Client, pair_server.make(server))
    elif transport == "stdio":
        yield partial(Client.stdio, [sys.executable, PROGRAM, ",".join(server)], stderr="drop")
    else:
        async with served(pair_server.make(server).asgi(), lifespan="on") as origin:
            yield partial(Client.http, origin + ROUTES[transport])


@pytest.mark.requirement(
    "jsonrpc.conform",
    "jsonrpc.notification.no-id",
    "jsonrpc.request.id-not-null",
    "jsonrpc.request.id-type",
    "jsonrpc.request.id-unique-in-flight",
    "jsonrpc.request.id-unique-in-session",
    "jsonrpc.result.member",
    "lifecycle.version.respect",
    "pattern.server-no-requests",
    "transport.stdio.server-no-requests",
    "mrtr.only-way",
)
@pytest.mark.parametrize(("transport", "client", "server"), pairs(agree=True))
async def test_a_pair_agrees_on_its_newest_revision_and_has_all_its_features(
    transport: str, client: Sequence[str], server: Sequence[str]
) -> None:
    agreed, host = common(transport, client, server), Host()
    assert agreed is not None
    async with peer(transport, server) as make, make(**host.options(client)) as opened:
        seen = await observed(opened, host)
    wire, wanted = host.wire, expected(agreed)
    assert {name: seen[name] for name in wanted} == wanted
    assert seen.keys() == wanted.keys()
    assert list(faults(wire, agreed)) == []
    assert list(official_faults(wire, agreed)) == []
    assert list(repeated(wire)) == []
    assert agreed in HANDSHAKE or not any(asks for d, asks, _ in _requests(wire) if d == "received")


@pytest.mark.parametrize(("transport", "client", "server"), pairs(agree=False))
async def test_a_pair_without_a_common_revision_says_what_each_speaks(
    transport: str, client: Sequence[str], server: Sequence[str]
) -> None:
    host = Host()
    async with peer(transport, server) as make:
        with pytest.raises((NoCommonRevision, RemoteError)) as raised:
            async with make(**host.options(client)):
                pass
    if transport == "http+sse" and not _handshakes(server):
        assert "HTTP 404" in str(raised.value) or "nothing at this path" in str(raised.value)
        return
    assert isinstance(raised.value, NoCommonRevision)
    assert raised.value.ours == _newest_first(client)
    assert raised.value.theirs == _theirs(transport, client, server)
    if transport != "http+sse" or _handshakes(client):
        assert list(_precise(transport, host.wire, client, server)) == []


def _handshakes(names: Sequence[str]) -> set[str]:
    return {*names} & {*HANDSHAKE}


def _theirs(transport: str, client: Sequence[str], server: Sequence[str]) -> tuple[str, ...]:
    """What the client learns of what the server speaks."""
    if _handshakes(client) and _handshakes(server):
        return (max(_handshakes(server)),)
    return ("a handshake only",) if transport == "http+sse" else _newest_first(server)


def _requests(wire: Wire) -> list[tuple[str, str, Any]]:
    """Direction, method and id of each."""
    messages = [(direction, json.loads(data)) for direction, data in wire]
    return [(d, m["method"], m["id"]) for d, m in messages if "method" in m and "id" in m]


def repeated(wire: Wire) -> list[Any]:
    """Ids that a side has used twice."""
    counts = Counter((direction, repr(id)) for direction, _, id in _requests(wire))
    return [used for used, count in counts.items() if count > 1]


def _newest_first(names: Sequence[str]) -> tuple[str, ...]:
    of = {era: sorted(set(names) & set(era), reverse=True) for era in (PER_REQUEST, HANDSHAKE)}
    return (*of[PER_REQUEST], *of[HANDSHAKE])


def _precise(transport: str, wire: Wire, client: Sequence[str], server: Sequence[str]) -> Any:
    """What is wrong with the last answer of the server."""
    direction, data = wire[-1]
    answer = json.loads(data)
    assert direction == "received"
    if "result" in answer:
        if answer["result"]["protocolVersion"] not in server:
            yield f"{answer}: not spoken here"
        return
    asked = json.loads(wire[-2][1])
    probes = asked["method"] == "server/discover"
    error = answer["error"]
    wanted = UNSUPPORTED_VERSION if probes else INVALID_PARAMS
    version = PER_REQUEST[-1] if probes else asked["params"]["protocolVersion"]
    data = {"supported": [*_newest_first(server)], "requested": version}
    if transport == "http" and not probes:
        wanted = HEADER_MISMATCH
        del data["requested"]
    if error["code"] != wanted or error["data"] != data:
        yield f"{error}: not {wanted} with {data}"
