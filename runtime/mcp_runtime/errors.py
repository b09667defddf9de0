"""The exceptions of the runtime, by who must act.

    SessionError
      LocalError             ours
        NotOffered           a capability was not negotiated; nothing was sent
        NotOpen              the session is not open yet, or closed
        TimedOut             no answer in time; the request was cancelled
        Disconnected         the peer is gone
          NotReached         no connection to it could be made
        NotStarted           the peer's process could not be started
        NotInstalled         a package of an extra is not installed
        NoCommonRevision     no revision that both sides speak
        NotApproved          the `approve` hook refused
        CallbackError        a callback of the client answered what cannot be sent
        TooMuch              a limit of `limits.py` was reached
      PeerError              theirs
        RemoteError              the peer answered with an error
          NotFound           it has no such resource
        BadAnswer            the peer's answer is not what its revision says
        BadStatus            the peer's HTTP status is an error
          Unauthorized       it is 401: the server wants a token

A handler raises `RpcError` to answer with an error of its own; a tool raises `ToolError` to tell
the model what went wrong.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, cast


def printable(text: str) -> str:
    """Lines of text of a peer, safe for a terminal and a log: what steers or hides is an escape."""
    text = text.replace("\r\n", "\n")
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else _escape(c) for c in text)


def counted(count: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless it is one: "1 line", "2 lines"."""
    return f"{count} {noun if count == 1 else f'{noun}s'}"


def _escape(character: str) -> str:
    """A character as JSON escapes it: one hexadecimal escape for each UTF-16 code unit."""
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


class _Portable(Exception):
    """An error that can be pickled, although its constructor does not accept its `args`."""

    def __reduce__(self) -> tuple[Any, ...]:
        kind, args, *state = cast("tuple[Any, ...]", super().__reduce__())
        return _restore, (kind, *args), *state


def _restore(kind: type[Exception], *args: object) -> Exception:
    return kind.__new__(kind, *args)


class SessionError(_Portable):
    """Any error of a session: a LocalError or a PeerError.

    Its text may quote the peer, and is safe for a terminal and a log.
    """

    def __str__(self) -> str:
        return printable(super().__str__())

    def explain(self, more: str) -> None:
        """Add more to the text."""
        self.args = (f"{self}{more}", *self.args[1:])


class LocalError(SessionError):
    """The error is on our side; the peer may never have seen the request."""


class NotOffered(LocalError):
    """The side `who` did not offer `capability`, which `method` needs. Nothing was sent.

    `capability` is empty if the method is not part of the revision spoken, and `missing` then says
    so.
    """

    def __init__(
        self, method: str, capability: str, who: Literal["client", "server"], *, missing: str = ""
    ) -> None:
        super().__init__(f"{method}: the {who} does not offer {missing or capability}")
        self.method = method
        self.capability = capability
        self.who = who


class NotOpen(LocalError):
    """The session is not open yet, or closed."""


class TimedOut(LocalError):
    """No answer to `method` in time. The peer was told that the request is cancelled."""

    def __init__(self, method: str, seconds: float) -> None:
        super().__init__(f"{method}: no answer within {seconds:g} s")
        self.method = method
        self.seconds = seconds


class Disconnected(LocalError):
    """The peer is gone; open requests will have no answer."""


class NotReached(Disconnected):
    """No connection to the peer could be made: nothing was sent."""


class NotStarted(LocalError):
    """The process of `command` could not be started. Arguments may be secret: the text has none."""

    def __init__(self, command: Iterable[str], reason: str, remedy: str) -> None:
        self.command = tuple(command)
        super().__init__(f"cannot start {next(iter(self.command), '')!r}: {reason}; {remedy}")


class NotInstalled(LocalError, ModuleNotFoundError):
    """`what` needs `package`, which comes with an extra of mcp-bindgen-runtime."""

    def __init__(self, what: str, package: str, extra: str) -> None:
        text = f"{what} needs {package}: pip install 'mcp-bindgen-runtime[{extra}]'"
        super().__init__(text, name=package)
        self.package = package
        self.extra = extra


class NoCommonRevision(LocalError):
    """No revision is spoken by both sides; `why` we think so, if the peer has not said it."""

    def __init__(self, ours: Iterable[str], theirs: Iterable[str], why: str = "") -> None:
        self.ours, self.theirs = tuple(ours), tuple(theirs)
        super().__init__(
            f"we speak {', '.join(self.ours)}; the peer speaks {', '.join(self.theirs) or 'none'}"
            + (f": {why}" if why else "")
        )


class NotApproved(LocalError):
    """The `approve` hook refused."""


class CallbackError(LocalError, TypeError, ValueError):
    """A callback of the client (`on_elicit`, `on_sample`, `roots`, `approve`) answered wrongly.

    The answer does not fit the server's request, or is no answer at all, and was not sent. The
    error is a TypeError and a ValueError too, as earlier versions raised those. `for_server` is the
    text for the server.
    """

    def __init__(
        self, message: str, for_server: str = "the client's answer cannot be used"
    ) -> None:
        super().__init__(message)
        self.for_server = for_server


class TooMuch(LocalError):
    """A limit was reached; the text names it."""


class _ErrorObject(_Portable):
    """The code, the message and the data of an error of JSON-RPC."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code
        self.message = message
        self.data = data


class PeerError(SessionError):
    """The error is on the peer's side."""


class RemoteError(PeerError, _ErrorObject):
    """The peer answered with an error. `data` is parsed JSON, None for none."""


class NotFound(RemoteError):
    """The server has no resource of that URI."""


class BadAnswer(PeerError):
    """The peer's answer is not what its revision says; the text has the place."""


class BadStatus(PeerError):
    """The status of an HTTP response is an error, and its body is not JSON-RPC."""

    def __init__(self, what: str, status: int, reason: str = "") -> None:
        super().__init__(f"{what}: HTTP {status} {reason}".rstrip())
        self.status = status


class Unauthorized(BadStatus):
    """The server asks for a token, or refuses the one in a header that the client was given."""

    def __init__(self, what: str, *, refused: bool = False) -> None:
        asks = "refuses the token that was sent" if refused else "asks for a token"
        remedy = "with the command, --login, or --header 'Authorization: Bearer TOKEN'"
        super().__init__(what, 401, f"the server {asks}: give `auth`; {remedy}")


class RpcError(_ErrorObject):
    """Raised in a handler: the request is answered with this error.

    An application's own codes lie outside of -32768 to -32000. `data` is what JSON can say.
    """


class ToolError(Exception):
    """Raised in a tool, or a middleware of a call: its text becomes a result that `isError`."""
