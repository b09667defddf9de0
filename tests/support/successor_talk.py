"""A pair server of one copy of the project, and a client of another that tries all it has.

python -m tests.support.successor_talk serve COUNT [REVISIONS]   serves HTTP until its input ends
python -m tests.support.successor_talk stdio [REVISIONS]         serves stdio
python -m tests.support.successor_talk ask [PLACE REVISIONS]...
python -m tests.support.successor_talk each                      asks a server in memory

REVISIONS, by commas, are all that the copy has unless others are given. A place is a URL, or the
command of a stdio server as a JSON array. For each, a client that speaks the REVISIONS prints a
line of JSON: the revision agreed on, what it saw that this revision does not promise, and each
message with its direction. `each` has a client for every revision that the copy knows.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from mcp_runtime import Client, Server
from mcp_runtime.revisions import ALL, revision
from tests.support import pair_server
from tests.support.loopback import Loopback
from tests.support.pair_scenario import Host, expected, observed

NEW_METHOD = "checksum/get"
NEWEST = revision(ALL[-1])


def made(revisions: Sequence[str] = ALL) -> Server:
    """The pair server; it answers the successor's own method where that is known."""
    server = pair_server.make(revisions)
    if NEW_METHOD in NEWEST.methods:

        @server.on(NEW_METHOD)
        async def checksum(params: Any, context: Any) -> Any:
            return NEWEST.models.ChecksumResult(result_type="complete", sum=f"sum of {params.uri}")

    return server


def serve(count: int, revisions: Sequence[str] = ALL) -> None:
    """Print the URL of each of `count` servers of these revisions."""
    with ExitStack() as stack:
        loopback = stack.enter_context(Loopback())
        for _ in range(count):
            url = stack.enter_context(loopback.mounted(made(revisions).asgi()))
            sys.stdout.write(f"{url}/mcp\n")
        sys.stdout.flush()
        sys.stdin.read()


Talk = tuple[str | None, dict[str, Any], list[tuple[str, str]]]


def client_of(place: str | Server, options: dict[str, Any]) -> Client:
    if isinstance(place, Server):
        return Client(place, **options)
    if place.startswith("["):
        return Client.stdio(json.loads(place), stderr="drop", **options)
    return Client.http(place, **options)


async def ask(revisions: Sequence[str], place: str | Server) -> Talk:
    """The revision agreed on, what was not as that revision promises, and the messages."""
    host = Host()
    async with client_of(place, host.options(revisions)) as client:
        agreed = str(client.revision)
        seen = await observed(client, host)
        wanted = expected(agreed)
        if NEW_METHOD in revision(agreed).methods:
            asked = ({"uri": "a"}, {"uri": "b", "_meta": client.meta()})
            seen["new"] = [(await client.request(NEW_METHOD, params)).sum for params in asked]
            wanted["new"] = ["sum of a", "sum of b"]
        if revision(agreed).era == "per-request":
            listed = await client.request("tools/list", {})
            seen["site"] = listed.meta.server_info.website_url
            wanted["site"] = "https://example.com"
    wire = [(way, data.decode()) for way, data in host.wire if way in ("sent", "received")]
    return agreed, {name: seen[name] for name in seen if seen[name] != wanted.get(name)}, wire


async def ask_all(places: Sequence[str | Server], offers: Sequence[str]) -> None:
    """One conversation with each place, in each offer's revisions, all at once."""
    for answer in await asyncio.gather(
        *(ask(offer.split(","), place) for offer, place in zip(offers, places, strict=True))
    ):
        sys.stdout.write(json.dumps(answer) + "\n")


def main(verb: str, *args: str) -> None:
    if verb == "stdio":
        made(args[0].split(",") if args else ALL).run()
    elif verb == "serve":
        serve(int(args[0]), args[1].split(",") if args[1:] else ALL)
    elif verb == "each":
        asyncio.run(ask_all([made() for _ in ALL], ALL))
    else:
        asyncio.run(ask_all(args[0::2], args[1::2]))


if __name__ == "__main__":
    main(*sys.argv[1:])
