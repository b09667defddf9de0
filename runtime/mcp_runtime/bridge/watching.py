"""The resources which clients of a bridge watch, at the servers which may have them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping

from mcp_runtime.bridge.link import Link
from mcp_runtime.bridge.links import Links
from mcp_runtime.limits import Limits


class Watching:
    """The URIs clients have subscribed to, at most `Limits.bridge_uris`."""

    def __init__(
        self, servers: Mapping[str, Links], is_watched: Callable[[str], bool], limits: Limits
    ) -> None:
        self._servers = servers
        self._is_watched = is_watched
        self._limits = limits
        self._watched: dict[str, None] = {}
        self._new_uris: set[str] = set()

    def uris_of(self, link: Link) -> Iterable[str]:
        """Return the URIs clients watch, by the own names of the link's server."""
        own = (link.upstream.names.own("resource", uri) for uri in self._watched)
        return [uri for uri in own if uri is not None]

    def watch(self, uri: str) -> bool:
        """Watch a resource for clients. Return False if no server has it, or too many are."""
        if uri in self._watched:
            return True
        links, most = [*self._own_uris(uri)], self._limits.bridge_uris
        if links and len(self._watched) >= most:
            self._unwatch_unused()
        if not links or len(self._watched) >= most:
            return False
        self._watched[uri] = None
        self._new_uris.add(uri)  # the client is subscribed a moment later
        asyncio.get_running_loop().call_soon(self._new_uris.discard, uri)
        for each, own in links:
            for link in each.open:
                link.watch([own])
        return True

    def _unwatch_unused(self) -> None:
        """End the subscriptions whose last client is gone, or has ended its own."""
        kept = {uri for uri in self._watched if self._is_watched(uri)} | self._new_uris
        for uri in self._watched.keys() - kept:
            del self._watched[uri]
            for each, own in self._own_uris(uri):
                for link in each.open:
                    link.unwatch(own)

    def _own_uris(self, uri: str) -> Iterator[tuple[Links, str]]:
        """Yield the servers which may have a resource, with its name there."""
        for links in self._servers.values():
            own = links.upstream.names.own("resource", uri)
            if own is not None:
                yield links, own
