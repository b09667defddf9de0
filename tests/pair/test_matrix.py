"""Every client beside every server: the revision they agree on, or the precise error."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from mcp_runtime import Client
from mcp_runtime.core.codes import HEADER_MISMATCH, INVALID_PARAMS, UNSUPPORTED_VERSION
from mcp_runtime.errors import NoCommonRevision
from mcp_runtime.revisions import ALL, revision
from tests.pair import served
from tests.pair.judged import Wire, faults, official_faults
from tests.pair.over_http import serving
from tests.pair.scenario import Host, expected, told

HANDSHAKE: Final = tuple(name for name in ALL if revision(name).era == "handshake")
PER_REQUEST: Final = tuple(name for name in ALL if revision(name).era == "per-request")
SETS: Final = {
    **{name: (name,) for name in ALL},
    "all": ALL,
    "handshake": HANDSHAKE,
    "per-request": PER_REQUEST,
}
PROGRAM: Final = str(Path(served.__file__))


def common(client: Sequence[str], server: Sequence[str]) -> str | None:
    """The newest revision that both speak."""
    return max(set(client) & set(server), default=None)


def pairs(agree: bool) -> list[Any]:
    return [
        pytest.param(client, server, id=f"{one}-to-{other}")
        for one, client in SETS.items()
        for other, server in SETS.items()
        if (common(client, server) is not None) == agree
    ]


ROUTES: Final = {"http": "/mcp", "http+sse": "/sse"}


@asynccontextmanager
async def peer(
    transport: str, server: Sequence[str], options: dict[str, Any]
) -> AsyncGenerator[Client]:
    """A client that is open, and the server behind it."""
    if transport in ROUTES:
        async with (
            serving(served.make(server)) as origin,
            Client.http(origin + ROUTES[transport], **options) as client,
        ):
            yield client
        return
    command = [sys.executable, PROGRAM, ",".join(server)]
    stdio = Client.stdio(command, stderr="drop", **options)
    async with Client(served.make(server), **options) if transport == "memory" else stdio as client:
        yield client


def on_wires(agree: bool) -> list[Any]:
    return [
        pytest.param(transport, *each.values, id=f"{transport}-{each.id}")
        for transport in ("memory", "stdio")
        for each in pairs(agree)
    ]


def over_http(agree: bool) -> list[Any]:
    """Each client beside a server of all revisions, and the other way round."""
    found = [each for each in pairs(agree) if ALL in each.values or not agree]
    plain = [pytest.param("http", *each.values, id=f"http-{each.id}") for each in found]
    old = [
        pytest.param("http+sse", *each.values, id=f"http+sse-{each.id}")
        for each in found
        if agree and common(*each.values) in HANDSHAKE
    ]
    return plain + old


def shown(transport: str, client: Sequence[str], server: Sequence[str]) -> tuple[Any, Wire]:
    """What the client saw, and the wire."""
    host = Host()

    async def main() -> Any:
        async with peer(transport, server, host.options(client)) as opened:
            return await told(opened, host)

    return asyncio.run(main()), host.wire


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
@pytest.mark.parametrize(("transport", "client", "server"), on_wires(True) + over_http(True))
def test_a_pair_agrees_on_its_newest_revision_and_has_all_its_features(
    transport: str, client: Sequence[str], server: Sequence[str], shared: Path
) -> None:
    agreed = common(client, server)
    assert agreed is not None
    seen, wire = shown(transport, client, server)
    wanted = expected(agreed)
    assert {name: seen[name] for name in wanted} == wanted
    assert seen.keys() == wanted.keys()
    assert list(faults(wire, agreed)) == []
    assert list(official_faults(shared, wire, agreed)) == []
    assert list(repeated(wire)) == []
    assert agreed in HANDSHAKE or not any(asks for d, asks, _ in _requests(wire) if d == "received")


@pytest.mark.parametrize(("transport", "client", "server"), on_wires(False) + over_http(False))
def test_a_pair_without_a_common_revision_says_what_each_speaks(
    transport: str, client: Sequence[str], server: Sequence[str]
) -> None:
    host = Host()

    async def main() -> None:
        async with peer(transport, server, host.options(client)):
            pass

    with pytest.raises(NoCommonRevision) as raised:
        asyncio.run(main())
    assert raised.value.ours == _newest_first(client)
    answers_handshakes = common(client, HANDSHAKE) is not None and common(server, HANDSHAKE)
    theirs = (max(set(server) & set(HANDSHAKE)),) if answers_handshakes else _newest_first(server)
    assert raised.value.theirs == theirs
    assert list(_precise(host.wire, client, server, transport)) == []


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


def _precise(wire: Wire, client: Sequence[str], server: Sequence[str], transport: str) -> Any:
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
        wanted, data = HEADER_MISMATCH, {"supported": data["supported"]}
    if error["code"] != wanted or error["data"] != data:
        yield f"{error}: not {wanted} with {data}"
