"""Tasks over HTTP: each is its owner's alone, and the sessions of 2025-11-25 have them too."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_runtime.stores.memory import MemoryStore
from tests.support.asgi_client import Client, Session, run
from tests.support.task_server import Place
from tests.support.wires import until

FORMS: Any = {"elicitation": {}}
CORE = "2025-11-25"


def _client(place: Place, **options: Any) -> Client:
    return Client(place.server.asgi(principal=lambda scope: scope.get("who", ""), **options))


async def _answer(session: Session, method: str, id: str) -> Any:
    return (await session.request(method, {"taskId": id}).until_over()).json


async def _begun(session: Session, name: str) -> str:
    """The id of a new task."""
    begun = await session.call(name, more={"task": {}}).until_over()
    id: str = begun.json["result"]["task"]["taskId"]
    return id


@pytest.mark.requirement(
    "tasks.security.bind",
    "tasks.security.foreign",
    "tasks.security.list-own",
)
@pytest.mark.parametrize("shares", [False, True])
def test_a_task_of_another_owner_is_unknown(shares: bool) -> None:
    async def main() -> None:
        place = Place()
        place.tasks._lists = True
        client = _client(place, **({"store": MemoryStore()} if shares else {}))
        ann, eve = await client.session(CORE, who="ann"), await client.session(CORE, who="eve")
        id = await _begun(ann, "slow")
        for method in ("tasks/get", "tasks/result", "tasks/cancel"):
            refused = (await _answer(eve, method, id))["error"]
            assert (refused["code"], refused["message"]) == (-32602, f"Unknown task: {id}")
        assert (await _answer(ann, "tasks/get", id))["result"]["status"] == "working"
        for session, count in ((ann, 1), (eve, 0)):
            listed = (await session.request("tasks/list").until_over()).json
            assert len(listed["result"]["tasks"]) == count
        again = await client.session(CORE, who="ann")
        assert (await _answer(again, "tasks/cancel", id))["result"]["status"] == "cancelled"
        await place.is_idle()
        await client.app.drain()

    run(main)


@pytest.mark.requirement(
    "tasks.http.rules-stand",
)
def test_a_task_of_the_core_asks_on_the_stream_of_its_result() -> None:
    async def main() -> None:
        place = Place()
        session = await _client(place).session(CORE, capabilities=FORMS)
        id = await _begun(session, "twice")
        result = session.request("tasks/result", {"taskId": id})
        for number, message in enumerate(("first?", "second?")):
            await until(lambda number=number: len(result.messages) > number)  # type: ignore[misc]
            question = result.messages[number]
            assert question["params"]["message"] == message
            answer = {"action": "accept", "content": {"name": "Bo"}}
            said = {"jsonrpc": "2.0", "id": question["id"], "result": answer}
            assert (await session.post(said).until_over()).status == 202
        await result.until_over()
        expected = "Name(name='Bo') Name(name='Bo')"
        assert result.messages[-1]["result"]["content"][0]["text"] == expected

    run(main)
