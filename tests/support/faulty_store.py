"""A store whose operations wait or fail when a test says so."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from mcp_runtime.stores import Store

__all__ = ["Fault", "FaultyStore"]

Fault: TypeAlias = Callable[[], Awaitable[None]]


class FaultyStore:
    """Another store; each of its operations awaits `fault` first. The bus has no faults."""

    def __init__(self, store: Store, fault: Fault) -> None:
        self._store = store
        self.events: Any = _Part(store.events, fault)
        self.sessions: Any = _Part(store.sessions, fault)
        self.tasks: Any = _Part(store.tasks, fault)
        self.leases: Any = _Part(store.leases, fault)
        self.bus = store.bus

    async def __aenter__(self) -> object:
        return await self._store.__aenter__()

    async def __aexit__(self, *raised: object) -> None:
        await self._store.__aexit__(*raised)


class _Part:
    """One of the parts of a store."""

    def __init__(self, part: object, fault: Fault) -> None:
        self._part = part
        self._fault = fault

    def __getattr__(self, name: str) -> Any:
        async def operation(*arguments: Any) -> Any:
            await self._fault()
            return await getattr(self._part, name)(*arguments)

        return operation
