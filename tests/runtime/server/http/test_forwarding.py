"""A process forwards to others what they can use, in a size of its own, and nothing else."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from mcp_runtime import Limits, Server
from mcp_runtime.core.wire import jsonrpc
from mcp_runtime.limits import DEFAULT
from mcp_runtime.server.http.cluster.cluster import Cluster
from mcp_runtime.stores import Store
from mcp_runtime.stores.memory import MemoryStore
from mcp_runtime.stores.sqlite import SQLiteStore
from tests.support.asgi_client import serving

LONG: Final = "x" * 100_000
OTHER: Final = (1 << 31 | 7) << 20 | 5
"""The id of a request that another process may have chosen."""


def forwarded(message: dict[str, Any], limits: Limits = DEFAULT) -> list[tuple[str, bytes]]:
    """What is published of a message: topics, and the bodies."""
    store, published = MemoryStore(), list[tuple[str, bytes]]()
    store.bus.publish = lambda topic, data: published.append((topic, data))  # type: ignore[method-assign]
    cluster = Cluster(store, limits, lambda message: None)
    cluster.number = 1 << 31 | 1
    cluster.forward("session", jsonrpc.read(json.dumps(message).encode(), max_batch=64))
    return published


def notification(method: str, params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "params": params}


USELESS: Final = {
    "a notification of no method": notification("notifications/made-up", {"x": LONG}),
    "a log message": notification("notifications/message", {"level": "info", "data": LONG}),
    "a cancellation without an id": notification("notifications/cancelled", {"reason": LONG}),
    "a cancellation of a long id": notification("notifications/cancelled", {"requestId": LONG}),
    "progress of nobody": notification("notifications/progress", {"progressToken": "a"}),
    "progress of our own": notification(
        "notifications/progress", {"progressToken": (1 << 31 | 1) << 20 | 1, "progress": 1}
    ),
    "an answer to nobody": {"jsonrpc": "2.0", "id": "a", "result": {"x": LONG}},
    "an answer to this process": {"jsonrpc": "2.0", "id": (1 << 31 | 1) << 20 | 1, "result": {}},
}


@pytest.mark.parametrize("message", USELESS.values(), ids=USELESS)
def test_what_no_other_process_can_use_is_not_forwarded(message: dict[str, Any]) -> None:
    assert forwarded(message) == []


@pytest.mark.parametrize(
    ("method", "params", "passed_on"),
    [
        ("notifications/initialized", {"_meta": {"x": LONG}}, None),
        ("notifications/roots/list_changed", {"_meta": {"x": LONG}}, None),
        (
            "notifications/cancelled",
            {"requestId": 1, "reason": LONG, "x": LONG},
            {"requestId": 1, "reason": LONG[:1000]},
        ),
        (
            "notifications/progress",
            {"progressToken": OTHER, "progress": 0.5, "message": LONG, "x": LONG},
            {"progressToken": OTHER, "progress": 0.5, "message": LONG[:1000]},
        ),
    ],
)
def test_what_is_forwarded_has_a_size_of_ours(method: str, params: Any, passed_on: Any) -> None:
    ((topic, data),) = forwarded(notification(method, params))
    is_for_all = method != "notifications/progress"
    assert topic == ("processes" if is_for_all else f"process:{OTHER >> 20}")
    sent = json.loads(msgspec.json.decode(data)["body"])
    assert (sent["method"], sent.get("params")) == (method, passed_on)
    assert len(data) < 2000


def test_an_answer_goes_to_the_process_that_has_asked() -> None:
    ((topic, _),) = forwarded({"jsonrpc": "2.0", "id": OTHER, "result": {"x": LONG}})
    assert topic == f"process:{OTHER >> 20}"


# ---- records that no process of ours has written


@asynccontextmanager
async def stored(path: Path) -> AsyncGenerator[tuple[Any, Store]]:
    store = SQLiteStore(str(path / "store.db"))
    async with serving(Server("s", "1", keys=[bytes(32)]), store=store) as client:
        yield client, store


def _record(**changed: Any) -> Callable[[dict[str, Any]], bytes]:
    return lambda record: json.dumps({**record, **changed}).encode()


@pytest.mark.parametrize(
    ("version", "spoil"),
    [
        ("abc", _record()),
        (None, _record()),
        (7, lambda record: None),
        (7, lambda record: json.dumps(record)),
        (7, lambda record: b"{"),
        (7, _record(begun="")),
        (7, _record(begun="{}")),
        (7, _record(begun='{"jsonrpc":"2.0","id":1,"method":"ping"}')),
        (7, _record(watched=5)),
    ],
)
async def test_a_session_of_odd_form_is_404(version: object, spoil: Any, tmp_path: Path) -> None:
    async with stored(tmp_path) as (client, store):
        session = await client.session()
        ((record,),) = await store._database.run(
            lambda db: db.execute("select record from sessions").fetchall()
        )
        client.app._table.open.clear()  # as in another process
        row = version, spoil(json.loads(record))
        sql = "update sessions set version = ?, record = ?"
        await store._database.run(lambda db: db.execute(sql, row))
        assert (await session.request("ping").until_over()).status == 404
        assert (await session.get().until_over()).status == 404
        assert (await (await client.session()).request("ping").until_over()).status == 200


async def test_an_unknown_log_level_in_a_record_is_no_level(tmp_path: Path) -> None:
    async with stored(tmp_path) as (client, store):
        session = await client.session()
        ((record,),) = await store._database.run(
            lambda db: db.execute("select record from sessions").fetchall()
        )
        client.app._table.open.clear()
        odd = _record(log_level="loud")(json.loads(record))
        sql = "update sessions set version = 7, record = ?"
        await store._database.run(lambda db: db.execute(sql, (odd,)))
        assert (await session.request("ping").until_over()).status == 200
        assert client.app.sessions[session.id].server_session.log_level is None
