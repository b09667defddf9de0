"""The pair of streams of a client's transport: here a handle of the native transport."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcp_runtime.client.transports import TransportFactory


class Connection:
    """A transport, opened by a `ClientSession`."""

    def __init__(self, factory: TransportFactory) -> None:
        self.factory = factory


SessionId = Callable[[], Any]


def no_session_id() -> str | None:
    return None
