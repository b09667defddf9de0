"""A server behind a bridge: how to reach it, and under which names its features are offered."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeAlias, cast

from mcp_runtime.bridge.names import Names
from mcp_runtime.client.client import Client
from mcp_runtime.client.transports import LocalServer, TransportFactory
from mcp_runtime.transports.stderr import StderrView

Target: TypeAlias = "LocalServer | Client | TransportFactory | str | Sequence[str] | Upstream"
"""A server of this process, a client's server, a URL, the words of a command, or a transport."""

_SCHEMES: Final = ("http://", "https://")


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """A server behind a bridge.

    `connect` makes a client of it from the options of `Client`. `names` say how its features are
    offered. `where` is how the server is named in a log: it holds no secret.
    """

    connect: Callable[..., Client]
    names: Names = field(default_factory=Names)
    where: str = ""

    @classmethod
    def of(cls, target: Target, names: Names | None = None, **options: Any) -> Upstream:
        """Return the server at `target`; `options` are those of `Client.http` or `Client.stdio`.

        Raises TypeError for any other target.
        """
        if isinstance(target, Upstream):
            return target
        connect, where = _connection(target, options)
        return cls(connect=connect, names=names or Names(), where=where)


def _connection(target: Any, options: dict[str, Any]) -> tuple[Callable[..., Client], str]:
    if isinstance(target, str):
        if not target.startswith(_SCHEMES):
            raise TypeError(f"{target[:80]!r} is not a URL; write a command as a list of its words")
        return partial(Client.http, target, **options), target.partition("?")[0]
    if isinstance(target, Sequence):
        words = cast("Sequence[str]", target)
        return partial(_start, words, **options), words[0] if words else ""
    if isinstance(target, Client):
        return partial(Client, target.transport, **options), "client"
    if not hasattr(target, "accept") and not callable(target):
        raise TypeError(f"{target!r:.80} is no server, client, URL, list of words or transport")
    return partial(Client, target, **options), type(target).__name__


def _start(words: Sequence[str], **options: Any) -> Client:
    """Return a client of a command; its standard error is shown, so no failure quotes it again."""
    shown: dict[str, Any] = {"stderr": StderrView(), **options}
    return Client.stdio(words, **shown)


def prefix_of(name: str) -> str:
    """Return the prefix of a server: its name, with `-` for characters which no tool may have.

    It has no `_`, which ends a prefix: so no prefix begins another.
    """
    return re.sub(r"[^A-Za-z0-9.-]+", "-", name).strip("-") or "server"


def upstreams(given: Target | Mapping[str, Target]) -> dict[str, Upstream]:
    """Return servers by name; each of several without a prefix gets its name as its prefix."""
    if not isinstance(given, Mapping):
        return {"upstream": Upstream.of(given)}
    known: dict[str, Upstream] = {}
    for name, target in given.items():
        names = Names(prefix=prefix_of(name) if len(given) > 1 else "")
        known[name] = Upstream.of(target, names)
    return known
