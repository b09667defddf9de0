"""Whatever a peer sends, a connection goes on, and answers what can be answered."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from itertools import count
from random import Random
from typing import Any, Final

import pytest

from mcp_runtime import Server
from mcp_runtime.revisions import ALL, revision
from tests.support.frames import deserved, frame, is_json
from tests.support.raw_peer import RawPeer, connected
from tests.support.seeds import seed
from tests.support.session_pair import HANDSHAKE, client_session, receive, written

BATCHES: Final = "2025-03-26"
SPOKEN: Final = (None, *ALL)
CODES: Final = {-32700, -32600, -32601, -32602, -32603, -32002, -32022, -32000}
AT_ONCE: Final = 250
LONG: Final = 1_000_000


def served() -> Server:
    server = Server("fuzzed", "1")

    @server.tool
    async def add(a: int, b: int) -> int:
        return a + b

    @server.resource("file://{name}")
    async def file(name: str) -> str:
        return name

    return server


async def fuzz(spoken: str | None, frames: int, random: Random) -> None:
    async with connected(served(), spoken) as peer:
        numbers = count(1000)
        for _ in range(frames // AT_ONCE):
            sent = [frame(random, next(numbers), spoken) for _ in range(AT_ONCE)]
            sent = [text.replace(b"\n", b" ") for text in sent]
            peer.say(*sent)
            await quiet(peer)
            judge(spoken, sent, peer.came)
            peer.came.clear()


async def quiet(peer: RawPeer) -> None:
    """Until all that was said is answered."""
    peer.say(b'{"jsonrpc":"2.0","id":"quiet","method":"quiet"}')
    await peer.hears(lambda message: isinstance(message, dict) and message.get("id") == "quiet")
    while peer.connection._tasks:
        await asyncio.wait(peer.connection._tasks.values())
    await asyncio.sleep(0)
    await asyncio.sleep(0)


def judge(spoken: str | None, sent: list[bytes], came: list[Any]) -> None:
    due = Counter[Any]()
    errors = loose = 0
    for text in sent:
        expected = deserved(text)
        due[key(expected.id)] += expected.what == "answer"
        errors += expected.what == "error"
        loose += expected.what == "any"
    answered = Counter(key(message["id"]) for message in came if "id" in message)
    assert not due - answered, f"no answer: {due - answered}"
    surplus = (answered - due).total()
    idless = sum("id" not in message for message in came)
    if may_lack_id(spoken):
        assert errors <= idless
    else:
        assert idless == 0
        errors = 0
    assert idless - errors + surplus <= loose
    for message in came:
        assert message["jsonrpc"] == "2.0"
        assert "result" in message or message["error"]["code"] in CODES, message
        if "id" not in message:
            assert message["error"]["code"] in {-32700, -32600}


def may_lack_id(spoken: str | None) -> bool:
    return spoken not in HANDSHAKE or revision(spoken).idless_errors


def key(id: Any) -> Any:
    return type(id).__name__, id


@pytest.mark.parametrize("spoken", [name for name in SPOKEN if name != BATCHES])
@pytest.mark.requirement("jsonrpc.error.same-id-if-readable", "jsonrpc.utf8")
async def test_a_server_answers_hostile_frames_as_they_deserve(
    spoken: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL, "mcp_runtime")
    await fuzz(spoken, 800, Random(seed("frames")))


@pytest.mark.long
@pytest.mark.parametrize("part", range(20))
async def test_a_server_answers_a_million_hostile_frames_as_they_deserve(
    part: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL, "mcp_runtime")
    spoken = [name for name in SPOKEN if name != BATCHES][part % 5]
    await fuzz(spoken, LONG // 20, Random(seed("frames")))


@pytest.mark.parametrize("spoken", [name for name in ALL if name != BATCHES])
def test_a_client_stands_hostile_frames_and_complains_only_of_requests_with_an_id(
    spoken: str,
) -> None:
    random = Random(seed("frames of a server"))
    session = client_session(spoken)
    for number in range(800):
        text = frame(random, number + 10, spoken).replace(b"\n", b" ")
        answers = written(receive(session, text))
        assert spoken in HANDSHAKE or answers == []
        assert len(answers) <= 1
        expected = deserved(text)
        if answers and expected.what != "any":
            assert key(answers[0]["id"]) == key(expected.id)


@pytest.mark.parametrize("role", ["server", "client"])
async def test_batches_of_hostile_frames_are_answered_in_one(role: str) -> None:
    random = Random(seed("batches"))

    async def main() -> None:
        async with connected(served(), BATCHES) as peer:
            for number in range(300):
                members = [
                    frame(random, 1000 + 10 * number + one, BATCHES)
                    for one in range(random.randrange(6))
                ]
                text = b"[" + b",".join(members).replace(b"\n", b" ") + b"]"
                peer.say(text)
                await quiet(peer)
                due = [deserved(member) for member in members]
                ids = Counter(key(expected.id) for expected in due if expected.what == "answer")
                if is_json(text):
                    assert len(peer.came) <= 1
                    answered = (
                        Counter(key(m["id"]) for m in peer.came[0]) if peer.came else Counter()
                    )
                    assert answered == ids
                peer.came.clear()

    if role == "server":
        await main()
    else:
        session = client_session(BATCHES)
        for number in range(1_000):
            members = [frame(random, 10 + number, BATCHES) for _ in range(random.randrange(5))]
            receive(session, b"[" + b",".join(members).replace(b"\n", b" ") + b"]")
