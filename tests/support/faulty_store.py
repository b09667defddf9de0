"""A store whose operations wait or fail when a test says so."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from mcp_runtime.stores import Store

__all__ = ["Fault", "FaultyStore"]

Fault: TypeAlias = Callable[[], Awaitable[None]]


class FaultyStore:
    """Another store; each of its operations awaits `fault`, or `reply_fault` when it is done.

    The bus has no faults.
    """

    def __init__(
        self, store: Store, fault: Fault | None = None, reply_fault: Fault | None = None
    ) -> None:
        self._store = store
        faults = fault or _no_fault, reply_fault or _no_fault
        self.events: Any = _Part(store.events, *faults)
        self.sessions: Any = _Part(store.sessions, *faults)
        self.tasks: Any = _Part(store.tasks, *faults)
        self.leases: Any = _Part(store.leases, *faults)
        self.bus = store.bus

    async def __aenter__(self) -> object:
        return await self._store.__aenter__()

    async def __aexit__(self, *raised: object) -> None:
        await self._store.__aexit__(*raised)


async def _no_fault() -> None: ...


class _Part:
    """One of the parts of a store."""

    def __init__(self, part: object, fault: Fault, reply_fault: Fault) -> None:
        self._part = part
        self._fault = fault
        self._reply_fault = reply_fault

    def __getattr__(self, name: str) -> Any:
        async def operation(*arguments: Any) -> Any:
            await self._fault()
            result = await getattr(self._part, name)(*arguments)
            await self._reply_fault()
            return result

        return operation
