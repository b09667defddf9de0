"""The options of a client: the same for each way to make one, with their types."""

from __future__ import annotations

import inspect
from typing import Any, get_type_hints

import pytest

from mcp_runtime import Client, Server
from mcp_runtime.client.options import ClientOptions
from mcp_runtime.errors import LocalError


def test_stdio_and_http_take_the_keyword_arguments_of_the_class() -> None:
    parameters = inspect.signature(Client.__init__).parameters
    keywords = [name for name, each in parameters.items() if each.kind is each.KEYWORD_ONLY]
    assert keywords == list(ClientOptions.__annotations__)
    hints = get_type_hints(Client.__init__, include_extras=True)
    options = get_type_hints(ClientOptions, include_extras=True)
    assert {name: hints[name] for name in keywords} == options


def test_an_unknown_option_is_refused_before_anything_is_started() -> None:
    unknown: dict[str, Any] = {"timeouts": 1}
    for make in (
        lambda: Client.stdio(["true"], **unknown),
        lambda: Client(Server("s", "1"), **unknown),
    ):
        with pytest.raises(TypeError, match="timeouts"):
            make()


def test_a_client_under_another_event_loop_than_that_of_asyncio_starts_nothing() -> None:
    """As `trio.run` does: it drives the coroutine itself."""
    for client in (Client.stdio(["no-such-program"]), Client(Server("s", "1"))):
        with pytest.raises(LocalError, match="asyncio"):
            client.__aenter__().send(None)
