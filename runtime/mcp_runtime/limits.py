"""The limits of a session and of its transports: each has a name, a default and a test.

Those of `Limits` are each client's or server's own; THREADS is the whole process's, SCHEMA_VISITS
of each value.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final

__all__ = ["DEFAULT", "SCHEMA_VISITS", "THREADS", "Limits"]

THREADS: Final = min(32, (os.cpu_count() or 1) + 4)
"""Plain functions that run beside the event loop at one time; the next waits.

All servers and clients of a process share these threads, for they share its processors.
"""

SCHEMA_VISITS: Final = 10_000_000
"""Visits of subschemas that a validator may make to check one value by a peer's JSON Schema."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Sizes in bytes or characters, times in seconds. What crosses one is refused, and told so."""

    line_bytes: int = 4 * 1024 * 1024
    """One message. A longer line is skipped to its end, and answered with an error."""
    batch: int = 64
    """Messages of one batch, where the revision has batches."""
    in_flight: int = 1024
    """Requests of the peer that are worked on at one time; the next is answered -32000 "busy"."""
    outgoing_bytes: int = 8 * 1024 * 1024
    """What waits to be written. Over it senders wait, and nothing more is read."""
    deadline: float = 30.0
    """For the answer to a request of ours, if its caller names no other."""
    total: float = 300.0
    """For that answer however much progress is reported."""
    probe: float = 5.0
    """For the answer to the first `server/discover`; then a handshake is tried."""
    page_size: int = 100
    """Items of one page of a list."""
    cached: int = 256
    """Answers that a client keeps for as long as the server says that they hold."""
    pages: int = 1000
    """Pages that are fetched for one list."""
    tool_rounds: int = 32
    """How often a model may be given the results of tools in one conversation."""
    input_rounds: int = 16
    """How often one request may be answered with a request for more input."""
    request_state_bytes: int = 16 * 1024
    """A sealed `requestState`."""
    request_state_age: float = 900.0
    """How old a `requestState` may be when it comes back."""
    body_seconds: float = 30.0
    """For the whole body of an HTTP request."""
    sessions: int = 10_000
    """Sessions over HTTP at one time, and as many requests without one."""
    session_idle: float = 1800.0
    """How long a session over HTTP may be unused."""
    unread_bytes: int = 64 * 1024
    """Of changes that wait on one stream for its client; those above are dropped."""
    event_bytes: int = 1024 * 1024
    """What is kept of one session's streams, so that they can be resumed."""
    drain_wait: float = 5.0
    """For what is worked on when a server over HTTP goes down; then it is cancelled."""
    keep_alive: float = 15.0
    """Between comments on a stream where nothing else is sent."""
    subscriptions: int = 256
    """Subscriptions of one peer that are open at one time, and URIs it may watch."""
    template_chars: int = 8192
    """A URI template."""
    uri_chars: int = 65_536
    """A URI that a peer asks for."""
    completions: int = 100
    """Values of one completion."""
    call_rate: float = 100_000.0
    """Calls of tools a second on one connection, in the mean of a second; more are refused.

    Requests over HTTP without a session count together."""
    completion_rate: float = 1000.0
    """The same for completions."""
    log_rate: float = 1000.0
    """Log messages a second to one peer, in the mean of a second; those above are dropped."""
    progress_rate: float = 100.0
    """Progress messages a second for one request; those above are dropped but for the last."""
    authorization_bytes: int = 256 * 1024
    """A response of an authorization server, and metadata that it takes to find it."""
    posts: int = 64
    """Messages that a client over HTTP posts at one time; over it nothing more is read."""
    redirects: int = 5
    """Redirections that one HTTP request follows, all within its origin."""
    cookies: int = 64
    """Cookies that a client over HTTP keeps; those above are dropped."""
    cookie_bytes: int = 4096
    """One of them, with all its attributes; a larger one is dropped."""
    resume_attempts: int = 5
    """How often in a row a broken HTTP stream is taken up again without an event from it."""
    resume_wait: float = 1.0
    """Before that, if the server names no time; it doubles from attempt to attempt."""
    stream_wait: float = 1.0
    """For the server's own HTTP stream to open, before a client makes its first call."""
    close_wait: float = 1.0
    """For a server to end after its standard input was closed; then it is told to terminate."""
    terminate_wait: float = 1.0
    """For a server to end after that; then it is killed."""
    kill_wait: float = 1.0
    """For a killed server to be gone; then it is given up."""
    stderr_bytes: int = 64 * 1024
    """What is kept of a server's standard error: the end."""


DEFAULT: Final = Limits()
