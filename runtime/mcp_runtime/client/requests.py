"""How a client asks where one request is not enough, or none is needed: pages, input, the cache."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, structs

from mcp_runtime.client.cache import Cache, cache_key
from mcp_runtime.core import error_codes
from mcp_runtime.errors import BadAnswer, NotFound, RemoteError, TooMuch
from mcp_runtime.revisions import latest as t
from mcp_runtime.revisions import latest_calls
from mcp_runtime.shared.meta_names import require_meta

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp_runtime.client.client import Client
    from mcp_runtime.shared.connection import OnProgress

__all__ = ["Calls", "ClientRequests", "not_found", "require_known_type"]


class ClientRequests:
    """For one client, over its single requests."""

    def __init__(self, client: Client, cache: Cache) -> None:
        self._client = client
        self._cache = cache
        self._limits = client.limits
        self._tokens = count(1)

    def meta(
        self, on_progress: OnProgress | None = None, meta: Mapping[str, Any] | None = None
    ) -> Any:
        """Raises ValueError for names that `_meta` cannot have."""
        token = None if on_progress is None else next(self._tokens)
        require_meta(meta or {})
        return self._client.connection.session.meta(token=token, extra=meta or {})

    async def pages(self, method: str, member: str, *, again: bool = False) -> list[Any]:
        """Of every page. Raises TooMuch, BadAnswer for a cursor that comes again."""
        found: list[Any] = []
        cursor: Any = UNSET
        seen: set[str] = set()
        for _ in range(self._limits.pages):
            params = t.PaginatedRequestParams(cursor=cursor, meta=self.meta())
            try:
                page = await self._fetch(method, params)
            except RemoteError as refused:
                if again or cursor is UNSET or not self._is_stale(method, refused):
                    raise
                return await self.pages(method, member, again=True)
            found += getattr(page, member)
            cursor = page.next_cursor
            if cursor is UNSET:
                return found
            if cursor in seen:
                raise BadAnswer(f"{method}: the cursor {cursor[:80]!r} comes a second time")
            seen.add(cursor)
        raise TooMuch(f"{method}: over {self._limits.pages} pages (Limits.pages)")

    async def _fetch(
        self,
        method: str,
        params: Any,
        *,
        timeout: float | None = None,
        on_progress: OnProgress | None = None,
    ) -> Any:
        """The server's answer, or the one that is kept and fresh."""
        key, clock = cache_key(method, params), self._client.connection.loop.time
        kept = None if key is None else self._cache.get(method, key, clock())
        if kept is not None:
            return kept
        changes = self._cache.changes(method)
        result = await self._client.request(
            method, params, timeout=timeout, on_progress=on_progress
        )
        is_old = self._cache.changes(method) > changes
        if key is not None and not is_old and not isinstance(result, t.InputRequiredResult):
            self._cache.put(method, key, result, clock())
        return result

    def _is_stale(self, method: str, refused: RemoteError) -> bool:
        """Whether a cursor was refused that came from pages which were kept; these are given up.

        Source: 2026-07-28 server/utilities/caching, "Pagination".
        """
        return refused.code == error_codes.INVALID_PARAMS and self._cache.drop(method)

    async def answer(
        self,
        method: str,
        params: Any,
        *,
        timeout: float | None = None,
        on_progress: OnProgress | None = None,
    ) -> Any:
        """Until the result asks for no more input. Source: 2026-07-28 basic/patterns/mrtr."""
        first = params
        for _ in range(self._limits.input_rounds):
            result = await self._fetch(method, params, timeout=timeout, on_progress=on_progress)
            if not isinstance(result, t.InputRequiredResult):
                return result
            responses = await self._client.answering.responses(result)
            params = structs.replace(
                first,
                meta=self.meta(on_progress, first.meta.extra_),
                input_responses=responses,
                request_state=result.request_state,
            )
        raise TooMuch(f"{method}: over {self._limits.input_rounds} rounds (Limits.input_rounds)")


def not_found(refused: RemoteError, uri: str) -> RemoteError:
    """NotFound, if the error on reading `uri` says that.

    Up to 2025-11-25 it has a code of its own; after that it is told by its data.
    """
    told = refused.data == {"uri": uri} and refused.code == error_codes.INVALID_PARAMS
    is_it = told or refused.code == error_codes.RESOURCE_NOT_FOUND
    return NotFound(refused.code, refused.message, refused.data) if is_it else refused


def require_known_type(method: str, result: Any) -> Any:
    """Raises BadAnswer for a kind of result that is not known.

    Source: 2026-07-28 basic/index, "Result Types".
    """
    told = getattr(result, "result_type", "complete")
    if told != "complete" and not isinstance(result, t.InputRequiredResult):
        raise BadAnswer(f"{method}: a result of type {str(told)[:80]!r}")
    return result


class Calls(latest_calls.ClientCalls):
    """The single requests of a client, by method."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def request(self, method: str, params: object) -> object:
        return await self._client.request(method, params)

    async def notify(self, method: str, params: object) -> None:
        await self._client.connection.notify(method, UNSET if params is None else params)
