"""Tasks that another process runs again from their start, when their process is gone."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from mcp_runtime.auth.server.current import written_token
from mcp_runtime.core.events import Called
from mcp_runtime.extensions.tasks.record import Call, Record, run_again
from mcp_runtime.extensions.tasks.table import TaskTable, lost
from mcp_runtime.limits import Limits
from mcp_runtime.revisions import latest as t
from mcp_runtime.server.context import Context
from mcp_runtime.server.registry import Features


class Reruns:
    """Which tasks may be run again, by the tools of this process."""

    def __init__(self, features: Features, limits: Limits, table: TaskTable) -> None:
        self._features: Final = features
        self._limits: Final = limits
        self._table: Final = table

    def call_of(self, params: t.CallToolRequestParams, ctx: Context) -> Call | None:
        """What another process needs to run a call again; None if it may not."""
        if params.name not in self._features.reruns or not self._table.is_shared:
            return None
        if len(t.encode(params)) > self._limits.rerun_bytes:
            return None
        return Call(t.to_wire(params), written_token(), ctx.called.terms.token)

    def may_run(self, record: Record) -> bool:
        """Whether a process with the tools of this one may run the task once more."""
        call = record.call
        if call is None or call.count >= self._limits.reruns:
            return False
        return call.params["name"] in self._features.reruns

    def if_lost(self, record: Record, now: float) -> Record:
        """Has this process run the task from now on if that is allowed; else it has failed."""
        if not self.may_run(record):
            return lost(record, now)
        return run_again(record, now, self._table.process)


def context_of(call: Call, ctx: Context) -> Context:
    """The context of a call that is run again; `ctx` is that of the request for its task."""
    terms = replace(ctx.called.terms, token=call.progress_token)
    return Context(ctx.server, ctx.peer, Called(ctx.request_id, "tools/call", b"", terms))
