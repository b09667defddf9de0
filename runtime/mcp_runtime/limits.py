"""The limits of a session and of its transports: each has a name, a default and a test.

Each client or server has `Limits` of its own. THREADS is for all clients of the process,
SCHEMA_VISITS for each validated value, PROBLEMS for each connection of a client.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final

THREADS: Final = min(32, (os.cpu_count() or 1) + 4)
"""Results checked by JSON Schemas at one time by all clients of a process, each in a thread."""

SCHEMA_VISITS: Final = 10_000_000
"""Visits of subschemas to validate one value by a peer's JSON Schema."""


PROBLEMS: Final = 100
"""Items left out of lists of one server, and remembered by a client. More are only counted."""

REMEMBERED_SERVERS: Final = 1000
"""Servers whose revision a process remembers; the oldest is forgotten first."""

DIGEST_CHARS: Final = 1000
"""Length of a list's digest that a client keeps and repeats; it ignores a longer one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Sizes in bytes or characters, times in seconds; the error for a crossed limit names it.

    Raises ValueError for a negative value, and for NaN.
    """

    line_bytes: int = 4 * 1024 * 1024
    """One message received by a server; a longer line is skipped and answered with an error.

    Up to 2025-06-18 an error needs the id: it is looked for at both ends of the line."""
    initialize_bytes: int = 64 * 1024
    """The `initialize` of a client, of which its session keeps the info and the capabilities."""
    answer_bytes: int = 16 * 1024 * 1024
    """One message received by a client; a larger answer fails its request."""
    batch: int = 64
    """Messages in one batch, in revisions with batches."""
    id_chars: int = 4096
    """Length of the id of a peer's request, if it is a text."""
    in_flight: int = 1024
    """Requests of the peer in flight at one time; the next gets the error "busy".

    Its code is -32000, and -32603 from 2026-07-28 on, where -32000 is taken."""
    outgoing_bytes: int = 8 * 1024 * 1024
    """Bytes waiting to be written; above it senders wait, and nothing more is read."""
    held_bytes: int = 64 * 1024 * 1024
    """Of one session, or of one request without: unanswered requests and unsent answers, with those
    waiting for the rest of their batch.

    While there are more, requests and answers over 4 KiB become the error "busy". The bodies
    being sent by one principal count together, where clients authenticate."""
    process_bytes: int = 512 * 1024 * 1024
    """All bytes held for peers by the process: arrived parts of bodies, requests, answers, kept
    events, ended tasks, subscriptions, caches of clients, and 16 KiB for each HTTP session.

    A peer is a principal, a network address where clients do not authenticate, or the one of a
    stream. It may hold as much as is left for all others; then the largest peer loses bytes
    it does not read or is still sending, and bytes kept for it, the oldest first. A
    message without room becomes the error "busy"; one of up to 4 KiB may use a quarter more."""
    threads: int = 64
    """Plain functions of one server running at one time, each in a thread; the next one waits.

    A peer has a place for one of them in any case; its further ones share three quarters with those
    of other peers, in turn. A function another one waits for, as a tool does for a resource, does
    not count."""
    session_threads: int = 16
    """Plain functions running at one time for one session, or for one client on a stream."""
    principal_threads: int = 48
    """The same, of all sessions and requests of one principal, or of one network address.

    Addresses count where clients do not authenticate."""
    deadline: float = 30.0
    """Wait for the response to a request of ours, unless its caller names another."""
    total: float = 300.0
    """Wait for the response in all, however much progress is reported."""
    probe: float = 5.0
    """Wait for the response to the first `server/discover`; then a handshake is tried.

    It is never more than a quarter of the time for opening the connection."""
    first_answer: float = 60.0
    """Wait for the first response of a started server, unless the client names another."""
    page_size: int = 1000
    """Items on one page of a list, of which many clients read only the first.

    A page of tasks has at most 100."""
    cached: int = 256
    """Responses in the cache of a client."""
    cached_bytes: int = 64 * 1024 * 1024
    """Size of the responses in the cache of a client; a page of a list, parsed, counts eight times.

    Responses no longer fresh are dropped first, then those not used for longest. They
    count towards `process_bytes`."""
    pages: int = 1000
    """Pages of one list fetched by a client."""
    list_bytes: int = 64 * 1024 * 1024
    """Size of the pages of one list together, without the first, which `answer_bytes` bounds."""
    tool_rounds: int = 32
    """How often one sampling conversation may go on with results of tools."""
    input_requests: int = 64
    """Requests for input in one result."""
    input_callbacks: int = 16
    """Callbacks of a client running at one time for one result; the next waits."""
    input_rounds: int = 16
    """How often a server may request more input for one request."""
    request_state_bytes: int = 16 * 1024
    """Size of a sealed `requestState`."""
    request_state_age: float = 900.0
    """Age of a `requestState` when it comes back."""
    body_seconds: float = 30.0
    """Wait for the whole body of an HTTP request."""
    unread_wait: float = 30.0
    """Wait for an HTTP client to read the next 64 KiB of a response; then it is disconnected."""
    discarded_bytes: int = 128 * 1024 * 1024
    """Bytes of a refused HTTP body read and dropped, so the client reads why."""
    sessions: int = 10_000
    """HTTP sessions at one time, and as many requests without a session.

    A new session takes the place of one without an open response, of the peer with most: of a
    session never used after it was begun, or of the one unused for longest. A request takes the
    place of the oldest request of the peer with most, which is answered "busy"."""
    principal_sessions: int = 1000
    """Of these sessions and requests, those of one principal, where clients authenticate.

    A new session takes the place of another of the same principal. Clients without authentication
    are one principal together."""
    session_idle: float = 1800.0
    """How long an HTTP session may be unused."""
    tasks: int = 1024
    """Tasks of one owner, ended ones included until their time is over.

    A new one takes the place of those ended first, and is refused where none has ended. Clients
    without authentication are one owner together."""
    task_bytes: int = 1024 * 1024
    """Size of one task, with its result, its questions to the client, and the answers."""
    task_ttl: float = 86_400.0
    """How long a task is kept after its creation; the server and its clients may name less."""
    lease: float = 6.0
    """How long a process of several counts as alive after it has said so in their store."""
    reruns: int = 1
    """How often a call or task of a tool with `rerun=True` is run again whose process has died."""
    rerun_bytes: int = 64 * 1024
    """Size of a message or a task's call kept to be run again; a larger one is run once."""
    store_wait: float = 5.0
    """Wait for one operation of a store."""
    bus_bytes: int = 8 * 1024 * 1024
    """Bytes for other processes waiting until their store is back; more are dropped.

    A file of SQLite keeps as many sent bytes; the oldest make room."""
    unread_bytes: int = 64 * 1024
    """Bytes of change notifications waiting on one stream; more are dropped."""
    event_bytes: int = 1024 * 1024
    """Bytes kept of one session's streams, for clients to resume them.

    A larger event is not kept, and resuming before it says so."""
    drain_wait: float = 5.0
    """Wait for open requests when an HTTP server shuts down; then they are cancelled.

    On a stream: wait for cancelled handlers when the client is gone; then they are left behind."""
    eof_wait: float = 0.5
    """Wait for running requests when the input of a stdio server ends; then they are cancelled.

    Only answers are sent in this time, and nothing after it. `run` waits as long for answers to an
    HTTP client which has closed its side of the connection, and may still read."""
    keep_alive: float = 15.0
    """Time between comments on an idle stream."""
    subscriptions: int = 256
    """Open subscriptions of one client, and URIs it may subscribe to."""
    template_chars: int = 8192
    """Length of a URI template."""
    uri_chars: int = 65_536
    """Length of a URI requested by a peer."""
    ui_bytes: int = 4 * 1024 * 1024
    """Size of a page of an MCP App; a larger one cannot be registered."""
    completions: int = 100
    """Values in one completion."""
    call_rate: float = 100_000.0
    """Tool calls per second on one connection, on average; more are refused.

    HTTP requests without a session count together, those of each principal by themselves."""
    completion_rate: float = 1000.0
    """Completions per second on one connection, counted as `call_rate`; more are refused."""
    log_rate: float = 1000.0
    """Log messages per second to one peer, on average; more are dropped."""
    progress_rate: float = 100.0
    """Progress messages per second for one request; more are dropped, except the last."""
    progress_calls: int = 64
    """Calls of a client's async `on_progress` waiting for their turn; the oldest is dropped."""
    progress_wait: float = 5.0
    """Wait for these calls when their request is over; then they are cancelled."""
    authorization_bytes: int = 256 * 1024
    """Size of a response of an authorization server, or of metadata leading to it."""
    token_chars: int = 16 * 1024
    """Length of an access token checked by a server; a longer one is refused."""
    token_checks: int = 4
    """Questions to an introspection endpoint at one time, about tokens valid before.

    As many are asked about other tokens."""
    token_queue: int = 1000
    """Tokens waiting for such a question; the one waiting longest is answered 503."""
    refused_age: float = 5.0
    """How long a refused access token is refused again without a check."""
    key_checks: int = 8
    """Keys tried with the signature of one access token, if it names none of them."""
    proofs: int = 100_000
    """DPoP proofs remembered by a server, so each is accepted once.

    Above it the keys with most proofs forget their oldest, and accept only newer ones."""
    posts: int = 64
    """Messages posted by an HTTP client at one time; above it nothing more is read."""
    redirects: int = 5
    """Redirects followed by one HTTP request, all within its origin."""
    cookies: int = 64
    """Cookies kept by an HTTP client; more are dropped."""
    cookie_bytes: int = 4096
    """Size of one cookie with its attributes; a larger one is dropped."""
    resume_attempts: int = 5
    """How often in a row a broken HTTP stream is resumed without receiving an event."""
    resume_wait: float = 1.0
    """Wait before resuming, if the server names no time; it doubles with each attempt."""
    stream_wait: float = 1.0
    """Wait for the server's own HTTP stream to open, before the first call of a client."""
    close_wait: float = 1.0
    """Wait for a server process to end when its input is closed; then it is terminated."""
    terminate_wait: float = 1.0
    """Wait for a terminated server process to end; then it is killed."""
    kill_wait: float = 1.0
    """Wait for a killed server process to be gone."""
    stderr_bytes: int = 64 * 1024
    """Bytes kept of a server's standard error, from its end."""
    bridge_wait: float = 10.0
    """Wait for the servers behind a bridge when it starts; it goes on as soon as one is there."""
    bridge_links: int = 64
    """Connections of a bridge to one server; a request waits for a free one for `deadline`."""
    bridge_backoff: float = 60.0
    """The longest time until a bridge starts a failed server again; it doubles from 0.5."""
    bridge_uris: int = 1024
    """Resources watched by the clients of a bridge together; more are refused."""
    parked: int = 256
    """Requests of a bridge waiting for answers of their clients, each for at most
    `request_state_age`; above it the one waiting for longest is cancelled."""

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if not isinstance(value, int | float) or not value >= 0:
                raise ValueError(f"Limits.{name} is {value!r}: give 0 or more")


DEFAULT: Final = Limits()
