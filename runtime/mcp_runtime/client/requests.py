"""The messages of a client: single requests, all pages of a list, rounds of input, cached
answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any, Unpack

from msgspec import UNSET, structs

from mcp_runtime.client.cache import Cache, cache_key
from mcp_runtime.client.digests import (
    HAS_STALE,
    stale_of_error,
    stale_of_result,
    with_known_digests,
)
from mcp_runtime.client.extension import ClientExtension, ClientView
from mcp_runtime.client.options import RequestOptions
from mcp_runtime.client.reconnect import Reconnector
from mcp_runtime.core.terms.meta_names import require_meta
from mcp_runtime.core.wire import error_codes
from mcp_runtime.errors import BadAnswer, NotFound, RemoteError, TooMuch
from mcp_runtime.revisions import HANDLERS, first_name, latest_calls, revision
from mcp_runtime.revisions import latest as t
from mcp_runtime.shared.connection import OnProgress


class ClientRequests:
    """The requests of one client, over whichever connection it has at the time."""

    def __init__(self, reconnector: Reconnector, cache: Cache) -> None:
        self._reconnector = reconnector
        self._callbacks = reconnector.settings.callbacks
        self._limits = reconnector.settings.limits
        self._cache = cache
        self._tokens = count(1)

    def meta(
        self, on_progress: OnProgress | None = None, meta: Mapping[str, Any] | None = None
    ) -> Any:
        """Return the `_meta` of a request. Raises ValueError for names it cannot have."""
        token = None
        if on_progress is not None:
            token = next(self._tokens)
        require_meta(meta or {})
        made = self._reconnector.connection.session.meta(token=token, extra=meta or {})
        return with_known_digests(made, self._cache.digests) if self._cache.digests else made

    async def request(self, method: str, params: Any, **options: Unpack[RequestOptions]) -> Any:
        """Send one request and return its result. Restart a server that is gone, if it may be."""
        await self._reconnector.ensure()
        token, on_progress = None, options.get("on_progress")
        if params.__class__ is dict:
            params = self._with_meta(method, params, on_progress)
            token = params.get("_meta", {}).get("progressToken")
        elif params is not UNSET and on_progress is not None:
            token = params.meta.progress_token
            token = None if token is UNSET else token
        try:
            result = await self._reconnector.connection.ask(method, params, token=token, **options)
        except RemoteError as error:
            self._cache.drop_lists(stale_of_error(error))
            raise
        self._require_known_type(method, result)
        if HAS_STALE:
            self._cache.drop_lists(stale_of_result(result))
        return result

    def _require_known_type(self, method: str, result: Any) -> None:
        """Raise BadAnswer for a result of an unknown type.

        Source: 2026-07-28 basic/index, "Result Types".
        """
        result_type = getattr(result, "result_type", "complete")
        if result_type == "complete" or isinstance(result, t.InputRequiredResult):
            return
        extensions = self._reconnector.connection.terms.translation.extensions
        if not any(method in one.methods or one.is_own(method, result) for one in extensions):
            raise BadAnswer(f"{method}: a result of the unknown type {str(result_type)[:80]!r}")

    def _with_meta(
        self, method: str, params: Mapping[str, Any], on_progress: OnProgress | None
    ) -> Mapping[str, Any]:
        """Return params as JSON, with a `_meta` if the request needs one. A model as `_meta` is
        converted to JSON.
        """
        spoken = self._reconnector.connection.terms.translation.revision
        is_stateless = spoken.era == "per-request"
        if "_meta" not in params and not is_stateless and method not in revision(HANDLERS).methods:
            return params
        return {**params, "_meta": t.to_wire(params.get("_meta") or self.meta(on_progress))}

    async def pages(self, method: str, member: str, *, is_retry: bool = False) -> list[Any]:
        """Return the items of every page. Raises TooMuch, and BadAnswer for a repeated cursor."""
        items: list[Any] = []
        size, limit = 0, self._limits.list_bytes
        cursor: Any = UNSET
        digest: Any = UNSET
        seen: set[str] = set()
        for _ in range(self._limits.pages):
            params = t.PaginatedRequestParams(cursor=cursor, meta=self.meta())
            try:
                page = await self._fetch(method, params)
            except RemoteError as error:
                if is_retry or cursor is UNSET or not self._drop_stale_pages(method, error):
                    raise
                return await self.pages(method, member, is_retry=True)
            if cursor is not UNSET and getattr(page, "digest", digest) != digest:
                self._cache.drop(method)
                if is_retry:
                    raise BadAnswer(f"{method}: the list changes while its pages are read")
                return await self.pages(method, member, is_retry=True)
            digest = getattr(page, "digest", UNSET)
            size += 0 if cursor is UNSET else len(t.encode(page))
            if size > limit:
                raise TooMuch(f"{method}: pages of over {limit} bytes (Limits.list_bytes)")
            items += getattr(page, member)
            cursor = page.next_cursor
            if cursor is UNSET:
                return items
            if cursor in seen:
                raise BadAnswer(f"{method}: the cursor {cursor[:80]!r} comes a second time")
            seen.add(cursor)
        raise TooMuch(f"{method}: over {self._limits.pages} pages (Limits.pages)")

    async def _fetch(self, method: str, params: Any, **options: Unpack[RequestOptions]) -> Any:
        """Return the cached answer if it is still fresh, else the server's."""
        key, clock = cache_key(method, params), self._reconnector.connection.loop.time
        cached = None if key is None else self._cache.get(method, key, clock())
        if cached is not None:
            return cached
        changes = self._cache.changes(method)
        result = await self.request(method, params, **options)
        is_stale = self._cache.changes(method) > changes
        if key is not None and not is_stale and not isinstance(result, t.InputRequiredResult):
            self._cache.put(method, key, result, clock())
        return result

    def _drop_stale_pages(self, method: str, error: RemoteError) -> bool:
        """Drop cached pages if the server refused a cursor from them; return True if it did.

        Source: 2026-07-28 server/utilities/caching, "Pagination".
        """
        return error.code == error_codes.INVALID_PARAMS and self._cache.drop(method)

    async def answer(self, method: str, params: Any, **options: Unpack[RequestOptions]) -> Any:
        """Give the server the input it asks for, until it asks for no more.

        Source: 2026-07-28 basic/patterns/mrtr.
        """
        first = params
        for _ in range(self._limits.input_rounds):
            result = await self._fetch(method, params, **options)
            if not isinstance(result, t.InputRequiredResult):
                return result
            wanted = result.input_requests
            responses = UNSET if wanted is UNSET else await self._callbacks.responses(wanted)
            params = structs.replace(
                first,
                meta=self.meta(options.get("on_progress"), first.meta.extra_),
                input_responses=responses,
                request_state=result.request_state,
            )
        raise TooMuch(f"{method}: over {self._limits.input_rounds} rounds (Limits.input_rounds)")

    async def call_tool(
        self, client: ClientView, params: t.CallToolRequestParams, **options: Unpack[RequestOptions]
    ) -> t.CallToolResult:
        """Return the result of a tool, which an extension may have to finish."""
        result = await self.answer("tools/call", params, **options)
        for one in self._reconnector.settings.offer.extensions:
            if one.is_own("tools/call", result):
                finisher = one if isinstance(one, ClientExtension) else ClientExtension()
                return await finisher.finish(client, params, result, **options)
        final: t.CallToolResult = result
        return final


def narrow_to_not_found(error: RemoteError, uri: str) -> RemoteError:
    """Return the error as a NotFound if it means that the resource does not exist, else as it is.

    Up to 2025-11-25 it has a code of its own; later revisions put the URI into its data.
    """
    names_it = error.data == {"uri": uri} and error.code == error_codes.INVALID_PARAMS
    if names_it or error.code == error_codes.RESOURCE_NOT_FOUND:
        return NotFound(error.code, error.message, error.data)
    return error


class Calls(latest_calls.ClientCalls):
    """Every method of the newest revision as a single request."""

    def __init__(self, requests: ClientRequests, reconnector: Reconnector) -> None:
        self._requests = requests
        self._reconnector = reconnector

    async def request(self, method: str, params: object) -> object:
        return await self._requests.request(first_name(method), params)

    async def notify(self, method: str, params: object) -> None:
        connection = self._reconnector.connection
        await connection.notify(method, UNSET if params is None else params)
