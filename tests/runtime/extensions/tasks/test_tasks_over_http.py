"""Tasks over HTTP: each is its owner's alone, and the sessions of 2025-11-25 have them too."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_runtime import Context
from mcp_runtime.auth.server.bearer import BearerAuth
from mcp_runtime.stores.memory import MemoryStore
from mcp_wire.ext.tasks.handlers_msgspec import calls
from tests.runtime.auth.test_ownership import known, people
from tests.support.asgi_client import Client, Session, initialize, mirrors, request
from tests.support.patience import until
from tests.support.task_server import Place

FORMS: Any = {"elicitation": {}}
CORE = "2025-11-25"


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
async def test_a_task_of_another_owner_is_unknown(shares: bool) -> None:
    place = Place(server={"auth": known()})
    app = place.server.asgi(**({"store": MemoryStore()} if shares else {}))
    async with people(app, "ann-token", "ann-next", "eve-token") as (ann, newer, eve):
        id = await _begun(await ann.session(CORE), "slow")
        thief = await eve.session(CORE)
        for method in ("tasks/get", "tasks/result", "tasks/cancel"):
            assert (await _answer(thief, method, id))["error"] == _unknown(id)
        assert (await _extended(eve, "tasks/get", id))["error"] == _unknown(id)
        update = await _extended(eve, "tasks/update", id, inputResponses={})
        assert update["error"] == _unknown(id)
        again = await newer.session(CORE)
        assert (await _answer(again, "tasks/get", id))["result"]["status"] == "working"
        assert await _listed(again) == [id]
        assert await _listed(thief) == []
        own = await _begun(thief, "slow")
        assert (await _listed(again), await _listed(thief)) == ([id], [own])
        assert (await _answer(again, "tasks/cancel", id))["result"]["status"] == "cancelled"
        assert (await _answer(thief, "tasks/get", own))["result"]["status"] == "working"
        assert (await _extended(eve, "tasks/cancel", own))["result"]
        await place.is_idle()
        await app.drain()


def _unknown(id: str) -> dict[str, object]:
    return {"code": -32602, "message": f"Unknown task: {id}"}


async def test_a_task_may_report_progress_when_its_session_has_ended() -> None:
    async def main() -> None:
        place = Place(server={"auth": known()})

        @place.server.tool(options=[place.tasks.optional])
        async def patient(ctx: Context) -> str:
            await place.go.wait()
            await ctx.progress(1)
            return "done"

        app = place.server.asgi()
        async with people(app, "ann-token", "ann-next", "eve-token") as (ann, newer, _):
            session = await ann.session(CORE)
            more = {"task": {}, "_meta": {"progressToken": "its own"}}
            begun = await session.call("patient", more=more).until_over()
            await session.delete().until_over()
            place.go.set()
            await place.is_idle()
            id = begun.json["result"]["task"]["taskId"]
            answer = await _answer(await newer.session(CORE), "tasks/get", id)
            assert answer["result"]["status"] == "completed"
            await app.drain()

    await main()


async def _listed(session: Session) -> list[str]:
    listed = (await session.request("tasks/list").until_over()).json["result"]
    return [task["taskId"] for task in listed["tasks"]]


async def test_tasks_are_not_listed_to_clients_of_an_application_without_auth() -> None:
    place = Place(server={"auth": known()})
    app = place.server.asgi(auth=None)
    async with people(app, "ann-token", "eve-token") as (ann, eve):
        id = await _begun(await ann.session(CORE), "slow")
        anyone = await eve.session(CORE)
        refused = (await anyone.request("tasks/list").until_over()).json["error"]
        assert (refused["code"], "authenticate" in refused["message"]) == (-32601, True)
        assert (await _answer(anyone, "tasks/cancel", id))["result"]["status"] == "cancelled"
        await place.is_idle()
        await app.drain()


@pytest.mark.parametrize("auth", [known(), None], ids=["auth", "anonymous"])
async def test_tasks_list_is_declared_to_those_whom_it_is_served(auth: BearerAuth | None) -> None:
    app = Place(server={"auth": known()}).server.asgi(auth=auth)
    async with people(app, "ann-token") as (ann,):
        opened = (await ann.post(initialize(CORE)).until_over()).json["result"]
        assert ("list" in opened["capabilities"]["tasks"]) == (auth is not None)
        await app.drain()


async def _extended(client: Client, method: str, id: str, **more: Any) -> Any:
    """The answer to a request of the extension."""
    declared: dict[str, Any] = {"extensions": {calls.IDENTIFIER: {}}}
    said = request(method, {"taskId": id, **more}, capabilities=declared)
    return (await client.post(said, {**mirrors(said), "Mcp-Name": id}).until_over()).json


@pytest.mark.requirement(
    "tasks.http.rules-stand",
)
async def test_a_task_of_the_core_asks_on_the_stream_of_its_result() -> None:
    place = Place()
    session = await Client(place.server.asgi()).session(CORE, capabilities=FORMS)
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
