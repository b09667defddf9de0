"""The options of a `Client` and of its requests, and the settings its connections need."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, TypedDict

from mcp_runtime.client.callbacks import Approve, ClientCallbacks, OnElicit, OnSample, Roots
from mcp_runtime.client.server_memory import OF_PROCESS, ServerMemory
from mcp_runtime.core.terms.extension import Extension
from mcp_runtime.core.terms.log_levels import require_level
from mcp_runtime.core.terms.negotiation import ClientOffer
from mcp_runtime.limits import Limits
from mcp_runtime.option_checks import require_seconds, texts
from mcp_runtime.revisions import latest as t
from mcp_runtime.shared.connection import Hooks, OnProgress, Trace

OnLog: TypeAlias = Callable[[t.LoggingMessageNotificationParams], object]
OnElicitationComplete: TypeAlias = Callable[[str], object]


class ClientOptions(TypedDict, total=False):
    """The keyword arguments of `Client`, which documents them."""

    name: str
    version: str
    revisions: Sequence[str]
    era: Literal["auto", "handshake"]
    on_sample: OnSample | None
    sample_tools: bool
    on_elicit: OnElicit | None
    elicit_modes: Sequence[Literal["form", "url"]]
    elicit_schemes: Sequence[str]
    roots: Roots | None
    extensions: Sequence[Extension]
    approve: Approve | None
    on_log: OnLog | None
    on_elicitation_complete: OnElicitationComplete | None
    log_level: str | None
    timeout: float | None
    validate: bool | Literal["strict"]
    strict: bool | Collection[str]
    cache: bool
    ping_every: float | None
    restarts: int
    message_bytes: int | None
    limits: Limits
    trace: Trace | None


class RequestOptions(TypedDict, total=False):
    """The options of one request: the time to wait for its answer, and a function called with
    progress.

    `timeout` is in seconds; None stands for the client's own.
    """

    timeout: float | None
    on_progress: OnProgress | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSettings:
    """The settings of a client its connections need.

    Times are in seconds; `restarts` is how often a server may be started again. `timeout` is None
    if the client's user named none.
    """

    offer: ClientOffer
    era: Literal["auto", "handshake"]
    callbacks: ClientCallbacks
    limits: Limits
    timeout: float | None
    log_level: str | None
    ping_every: float | None
    restarts: int
    trace: Trace | None
    memory: ServerMemory = OF_PROCESS
    hooks: Hooks = field(default_factory=Hooks)

    def __post_init__(self) -> None:
        texts("era", [self.era], ("auto", "handshake"))
        if self.log_level is not None:
            require_level(self.log_level)
        for option, seconds in (("timeout", self.timeout), ("ping_every", self.ping_every)):
            if seconds is not None:
                require_seconds(option, seconds)

    @property
    def finds_out(self) -> bool:
        """True if the client asks a server for its revisions before a handshake."""
        return self.era == "auto" and bool(self.offer.per_request)

    @property
    def answer_timeout(self) -> float:
        """The seconds to wait for an answer once the connection is open."""
        return self.limits.deadline if self.timeout is None else self.timeout
