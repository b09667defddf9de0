"""The headers of the HTTP request whose handler is running now."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from typing import Final, Protocol

_NONE: Final[Mapping[str, str]] = {}


class HasHeaders(Protocol):
    """A request with its headers, by name in lower case."""

    @property
    def headers(self) -> Mapping[str, str]: ...


current_request: Final[ContextVar[Callable[[], HasHeaders | None]]] = ContextVar(
    "request", default=lambda: None
)
"""A weak reference to the HTTP request: timers keep the context in which they were started, and
must not keep headers of any length with it."""

sending_headers: Final[ContextVar[Mapping[str, str]]] = ContextVar("sending", default=_NONE)
"""The headers that hooks add to the HTTP request of the call that is sent here."""


def current_headers() -> Mapping[str, str]:
    """Return the headers; empty on other transports, and once the request is over."""
    request = current_request.get()()
    return _NONE if request is None else request.headers


_SECRET: Final = frozenset(("authorization", "cookie", "dpop", "proxy-authorization", "x-api-key"))


class Headers(Mapping[str, str]):
    """Headers by name, in lower case. `repr`, and so a log, does not show secrets."""

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values

    def __getitem__(self, name: str) -> str:
        """Return a header; the case of its name does not matter. Raises KeyError."""
        return self._values[name.lower()]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        shown = {name: "***" if name in _SECRET else value for name, value in self.items()}
        return f"Headers({shown})"
