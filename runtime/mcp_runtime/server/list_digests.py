"""Digests of the server's lists, in revisions that have them: a server declares the digest of a
list, and names the lists whose digests a client knows and which have changed since.

A request with such a digest is served as it would be without: the digests are hints.

Source: the draft "Definition Digests" of 2026-09-04, "Handling known digests".
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias, cast

from msgspec import UNSET, structs

from mcp_runtime.errors import RpcError
from mcp_runtime.revisions import latest as t
from mcp_runtime.revisions import list_digest
from mcp_runtime.server.context import Context

_Handler: TypeAlias = Callable[[Any, Context], Awaitable[Any]]

HAS_DIGESTS: Final = hasattr(t.ListToolsResult, "digest")
"""True if the handlers' revision has digests of lists."""
CHECKED: Final = ("tools/call", "prompts/get", "resources/read")
"""The requests that use an item of a list."""


class ListDigests:
    """The digest of each list as a client sees it; `lists` have the models, by method."""

    def __init__(self, lists: Mapping[str, Callable[[Context], Sequence[Any]]]) -> None:
        self._lists = lists
        self._last: dict[str, tuple[Sequence[Any], str]] = {}
        """The models that were digested last, with their digest, by method."""

    def digest(self, method: str, ctx: Context) -> str:
        """Return the digest of the whole list that this client sees."""
        models = self._lists[method](ctx)
        before, digest = self._last.get(method, ((), ""))
        is_same = len(before) == len(models) and all(map(_is, before, models))
        if not (digest and is_same):
            digest = list_digest(map(t.to_wire, models))
            self._last[method] = models, digest
        return digest

    def stale(self, known: Mapping[str, Any], ctx: Context) -> list[str]:
        """Return the methods of `known` whose list has another digest now; others are ignored."""
        return [
            method
            for method, digest in known.items()
            if method in self._lists
            and isinstance(digest, str)
            and digest != self.digest(method, ctx)
        ]

    def signal(self, handler: _Handler) -> _Handler:
        """Return a handler that adds the stale lists to the result, or to the data of the error."""

        async def handle(params: Any, ctx: Context) -> Any:
            known = params.meta.known_digests
            stale = [] if known is UNSET else self.stale(t.to_wire(known), ctx)
            if not stale:
                return await handler(params, ctx)
            try:
                return _with_stale(await handler(params, ctx), stale)
            except RpcError as error:
                data: Any = error.data or {}
                if isinstance(data, dict):
                    error.data = {**cast("dict[str, Any]", data), "staleDigests": stale}
                raise

        return handle


def _is(one: object, other: object) -> bool:
    return one is other


def _with_stale(result: Any, stale: list[str]) -> Any:
    """Return a result with the names of the stale lists in its `_meta`."""
    meta: dict[str, Any] = {} if result.meta is UNSET else t.to_wire(result.meta)
    meta = {**meta, "io.modelcontextprotocol/staleDigests": stale}
    return structs.replace(result, meta=t.from_wire(t.ResultMetaObject, meta))
