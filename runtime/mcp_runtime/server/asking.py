"""Ways in which the questions of a handler reach the client, other than a request of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from mcp_runtime.core.session.request_state import InputRequests


class InputNeeded(BaseException):
    """Ends a run of a handler whose question the client must answer first. Do not catch it."""


class Asker(Protocol):
    """Asks the client in place of a request; `answers` are those it has given so far, by key."""

    @property
    def answers(self) -> Mapping[str, Any]: ...

    async def ask(self, request: Any, key: str | None, timeout: float | None) -> Any:
        """Return the answer to `request`. `timeout` is in seconds; None stands for the default."""


class InResult:
    """Asks in the result of the request: the client sends the request again, with its answers.

    Source: 2026-07-28 basic/patterns/mrtr.
    """

    inputs: InputRequests | None = None
    """Questions and answers of this run of the handler; None if it has none so far."""

    @property
    def answers(self) -> Mapping[str, Any]:
        return {} if self.inputs is None else self.inputs.answers

    async def ask(self, request: Any, key: str | None, timeout: float | None) -> Any:
        """Return the answer that came with the request. Raises InputNeeded if there is none."""
        inputs = self.inputs = self.inputs or InputRequests({})
        answer = inputs.answer(inputs.key(request, key), request)
        if answer is None:
            raise InputNeeded(request.method)
        return answer
