"""How a client reaches a server: in this process, or as a child process.

A transport opens a new connection each time the client is entered or its server is restarted.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import TYPE_CHECKING, Any, Final, Protocol

from mcp_runtime.client.connection import ClientConnection, ClientWireConnection, ConnectionOwner
from mcp_runtime.errors import Disconnected, SessionError, counted
from mcp_runtime.transports.wire import Wire

if TYPE_CHECKING:
    from mcp_runtime.transports.child_process import Child, Stderr

_MAX_SHOWN: Final = 2000
_MAX_LINES: Final = 20
"""Characters and lines of a server's standard error in an error of ours."""


class TransportFactory(Protocol):
    """Connects to a server; the connection lives until `stack` is left."""

    async def __call__(self, stack: AsyncExitStack, owner: ConnectionOwner) -> ClientConnection: ...


class ServedClient(Protocol):
    """The server's side of a connection."""

    async def wait_until_gone(self) -> None: ...


class LocalServer(Protocol):
    """A `Server` of this process, as far as a client needs it."""

    def running(self) -> AbstractAsyncContextManager[Any]: ...

    def accept(self, wire: Wire) -> ServedClient: ...


def in_memory(server: LocalServer) -> TransportFactory:
    """Connect to a server of this process, through the bytes of real messages. Raises TypeError if
    `server` is no server.
    """
    if not hasattr(server, "accept"):
        other = "for a command write Client.stdio([...]), for a URL Client.http(...)"
        raise TypeError(f"{server!r:.80} is not a Server; {other}")

    async def connect(stack: AsyncExitStack, owner: ConnectionOwner) -> ClientConnection:
        from mcp_runtime.transports.memory import pair

        ours, theirs = pair(owner.settings.limits)
        await stack.enter_async_context(server.running())
        served = server.accept(theirs)

        async def close() -> None:
            try:
                await ours.close()
            finally:
                await served.wait_until_gone()

        stack.push_async_callback(close)
        return ClientWireConnection(owner, ours)

    return connect


def over_wire(connect_wire: Callable[[], Awaitable[Wire]]) -> TransportFactory:
    """Connect over a wire of the application: `connect_wire` opens one for each connection."""

    async def connect(stack: AsyncExitStack, owner: ConnectionOwner) -> ClientConnection:
        wire = await connect_wire()
        stack.push_async_callback(wire.close)
        return ClientWireConnection(owner, wire)

    return connect


def child_process(
    command: Sequence[str], *, env: Mapping[str, str] | None, cwd: str | None, stderr: Stderr
) -> TransportFactory:
    """Start a server as a child process, and talk to it over its standard input and output."""

    async def connect(stack: AsyncExitStack, owner: ConnectionOwner) -> ClientConnection:
        from mcp_runtime.transports.child_process import spawn

        limits = owner.settings.limits
        process = await spawn(command, env=env, cwd=cwd, stderr=stderr, limits=limits)
        stack.push_async_callback(process.close)
        key = ("command", *command, cwd)
        return ChildConnection(owner, process, key, quotes_stderr=not callable(stderr))

    return connect


class ChildConnection(ClientWireConnection):
    """A connection to a server the client has started.

    With `quotes_stderr` an error of opening it ends with the server's standard error.
    """

    def __init__(
        self, owner: ConnectionOwner, process: Child, key: Hashable, *, quotes_stderr: bool
    ) -> None:
        self.server_key = key
        self._quotes_stderr = quotes_stderr
        self._process = process
        super().__init__(owner, process)
        self.session.is_unread = process.is_unread

    @property
    def open_timeout(self) -> float:
        limits = self.settings.limits
        return limits.first_answer if self.settings.timeout is None else self.settings.timeout

    @property
    def restarts_after_probe(self) -> bool:
        """False if the server never read the probe: then something else has ended it."""
        return not self._process.is_unread()

    def diagnosis(self, error: SessionError) -> str:
        code = self._process.returncode
        has_ended = isinstance(error, Disconnected)  # by itself, before we closed its input
        ended = f" (exit code {code})" if has_ended and code is not None and code >= 0 else ""
        if code == 0 and self._process.is_unread():
            ended = " (exit code 0, having read nothing: does it serve on standard input?)"
        if self.ignored:
            what = "is not an answer" if self.ignored == 1 else "are not answers"
            ended += f"; {counted(self.ignored, 'line')} of its output {what}: does it print there?"
        if not self._quotes_stderr:
            return ended
        stderr = self._process.stderr.decode(errors="replace").strip()
        return f"{ended}; its standard error ends with:\n{_tail(stderr)}" if stderr else ended


def _tail(text: str) -> str:
    """The last lines of a text."""
    return "\n".join(text[-_MAX_SHOWN:].splitlines()[-_MAX_LINES:])
