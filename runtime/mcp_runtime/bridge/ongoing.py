"""A request passed on by a bridge, with the questions its server asks on the way.

In the handshake era the server's question becomes a request to the client at once. In the
per-request era it becomes the result `input_required`; the passed request waits meanwhile, and goes
on when the client comes back with the answer.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from secrets import token_urlsafe
from typing import Any, Final, Protocol

from mcp_runtime.core.wire import error_codes
from mcp_runtime.errors import NotOffered, RemoteError, RpcError, TooMuch
from mcp_runtime.limits import Limits
from mcp_runtime.revisions import latest as t
from mcp_runtime.server.asking import InputNeeded
from mcp_runtime.server.context import Context

_CHANGES: Final = frozenset({"_meta", "inputResponses", "requestState"})
"""Members of params which differ between the attempts of one request."""


@dataclass(frozen=True, slots=True, eq=False)
class _Question:
    """A request of the server, and the future of its answer."""

    key: str
    method: str
    params: Any
    answer: asyncio.Future[Any]


class Running(Protocol):
    """A request under way at an upstream server, as far as its link knows it."""

    @property
    def ctx(self) -> Context: ...
    @property
    def is_driven(self) -> bool: ...
    async def ask(self, method: str, params: Any, /) -> Any:
        """Ask the client, as `Ongoing.ask` does."""
        ...


def identity(method: str, params: Any, principal: str) -> bytes:
    """Return a digest of a request without the members of a single attempt."""
    body: dict[str, Any] = {} if params is t.UNSET else t.to_wire(params)
    same = {name: value for name, value in body.items() if name not in _CHANGES}
    return hashlib.sha256(t.encode([method, principal, same])).digest()


class Ongoing:
    """A request running at an upstream server; `run` sends it and returns its result."""

    def __init__(self, id: str, of: Callable[[], bytes], ctx: Context) -> None:
        self.id: Final = id
        self.of: Final = of
        """Returns the identity of the request; most requests end without a need for it."""
        self.ctx: Context = ctx
        """The client's current attempt, or its last one while the request waits for an answer."""
        self.is_driven = True
        """True while an attempt of the client waits for the result."""
        self.spoken = ""
        """The server's revision, once it is known."""
        self.is_task = False
        """True once the server has made a task of the request."""
        self._asked: Counter[str] = Counter()
        self._open: dict[str, _Question] = {}
        self._news = asyncio.Event()

    def start(self, run: Callable[[], Awaitable[Any]]) -> asyncio.Task[Any]:
        """Send the request in a task of its own, which outlives the client's attempt."""

        async def work() -> Any:
            return await run()

        self.task = asyncio.get_running_loop().create_task(work())
        self.task.add_done_callback(lambda _: self._news.set())
        self.task.add_done_callback(_retrieve)
        return self.task

    def cancel(self) -> None:
        self.task.cancel()

    # ---- the server's side

    def become_task(self) -> None:
        """Note that the server has made a task of the request: the client need not wait."""
        self.is_task = True
        self._news.set()

    async def report(self, progress: float, total: float | None, message: str | None) -> None:
        """Pass progress on, if the client waits for the result."""
        if self.is_driven:
            await self.ctx.progress(progress, total, message)

    async def ask_each(self, requests: Any, limits: Limits) -> dict[str, Any]:
        """Ask the client each question of a result, and return the answers by the same keys.

        Raises TooMuch for too many, and as `ask` does.
        """
        most = limits.input_requests
        if len(requests) > most:
            why = f"{len(requests)} requests for input, over {most} (Limits.input_requests)"
            raise TooMuch(why)
        asked = [
            self.ask(request.method, getattr(request, "params", t.UNSET))
            for request in requests.values()
        ]
        return dict(zip(requests, await asyncio.gather(*asked), strict=True))

    async def ask(self, method: str, params: Any) -> Any:
        """Ask the client, and return its answer, a model.

        Raises RpcError if the client refuses, or offers no such feature.
        """
        if self.ctx.era == "handshake":
            return await ask_client(self.ctx, method, params, None)
        key = self._key(method, params)
        question = _Question(key, method, params, asyncio.get_running_loop().create_future())
        self._open[key] = question
        self._news.set()
        try:
            return await question.answer
        finally:
            del self._open[key]

    def _key(self, method: str, params: Any) -> str:
        """Return the key of a question: the same for the same question when the request is sent
        anew.
        """
        body = None if params is t.UNSET else params
        text = hashlib.sha256(t.encode([method, body])).hexdigest()[:16]
        self._asked[text] += 1
        return f"{self.id}.{text}.{self._asked[text]}"

    # ---- the client's side

    async def drive(self, ctx: Context, *, leaves: bool = False) -> Any:
        """Return the result, after the client has answered the server's questions.

        With `leaves`, return the request itself once it is a task; drive it then for the task.

        Raises InputNeeded if the client must answer first: then the request goes on. If the client
        cancels, so is the request. Raises the exceptions of sending it.
        """
        self.ctx, self.is_driven = ctx, True
        try:
            while not self.task.done():
                if leaves and self.is_task:
                    return self
                self._news.clear()
                await self._put_questions(ctx)
                await self._news.wait()
            if self.task.cancelled():
                raise RpcError(error_codes.INTERNAL_ERROR, "the bridge has ended the request")
            return self.task.result()
        except InputNeeded:
            raise
        except BaseException:
            self.task.cancel()
            raise
        finally:
            self.is_driven = False

    async def _put_questions(self, ctx: Context) -> None:
        """Settle the questions the client has answered; raise InputNeeded for the rest."""
        needed: InputNeeded | None = None
        for question in [*self._open.values()]:
            if question.answer.done():
                continue
            try:
                answer = await ask_client(ctx, question.method, question.params, question.key)
            except InputNeeded as missing:
                needed = missing
            except RpcError as error:
                question.answer.set_exception(error)
            else:
                question.answer.set_result(answer)
        if needed is not None:
            raise needed


async def ask_client(ctx: Context, method: str, params: Any, key: str | None) -> Any:
    """Ask the client and return its answer, a model.

    Raises RpcError if the client refuses, or offers no such feature.
    """
    try:
        return await ctx.ask(method, params, key=key)
    except RemoteError as error:
        raise RpcError(error.code, error.message, error.data) from None
    except NotOffered as error:
        raise RpcError(error_codes.METHOD_NOT_FOUND, str(error)) from None


def _retrieve(task: asyncio.Task[Any]) -> None:
    """Take the exception of a task nobody may await any more."""
    if not task.cancelled():
        task.exception()


class Parked:
    """Requests that wait for their client's next attempt, by a name known to that client alone.

    At most `Limits.parked` wait, each for `Limits.request_state_age` seconds; above it the oldest
    one is cancelled.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._waiting: dict[tuple[str, bytes], tuple[Ongoing, asyncio.TimerHandle]] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def park(self, ongoing: Ongoing) -> None:
        """Keep a request until its client comes back."""
        key, loop = (ongoing.id, ongoing.of()), asyncio.get_running_loop()
        timer = loop.call_later(self._limits.request_state_age, self._give_up, key)
        self._waiting[key] = ongoing, timer
        while len(self._waiting) > self._limits.parked:
            self._give_up(next(iter(self._waiting)))

    def _give_up(self, key: tuple[str, bytes]) -> None:
        ongoing, timer = self._waiting.pop(key)
        timer.cancel()
        ongoing.cancel()

    def take(self, id: str, of: bytes) -> Ongoing | None:
        """Return the request parked under this name; None if it is gone, or another's."""
        ongoing, timer = self._waiting.pop((id, of), (None, None))
        if timer is not None:
            timer.cancel()
        return ongoing

    def close(self) -> None:
        """Cancel all."""
        for key in [*self._waiting]:
            self._give_up(key)


def new_id() -> str:
    return token_urlsafe(16)


def resumed_id(params: Any) -> str | None:
    """Return the name under which the request of an attempt is parked; None for a first attempt."""
    responses = getattr(params, "input_responses", t.UNSET)
    keys = () if responses is t.UNSET else [*responses]
    return next((key.split(".")[0] for key in keys if key.count(".") == 2), None)
