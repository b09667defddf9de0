"""Every container that lives on an object is in the account of bytes, or here with its bound."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import mcp_runtime

ROOT: Final = Path(mcp_runtime.__path__[0])
KINDS: Final = frozenset(
    {"dict", "list", "set", "deque", "OrderedDict", "Counter", "defaultdict", "bytearray"}
    | {"WeakValueDictionary", "WeakKeyDictionary", "WeakSet", "SimpleQueue", "Queue"}
)

STATEMENTS: Final = (ast.Assign, ast.AnnAssign)

IN_THE_ACCOUNT: Final = """
    client/cache.py:Cache._entries
    core/session/running_requests.py:BatchResponses.responses
    core/session/session.py:Session.running
    core/session/subscriptions.py:Subscriptions._added
    core/session/subscriptions.py:Subscriptions._streams
    server/http/sessions/legacy_sse.py:LegacySseEndpoint.sessions
    server/http/asgi/outbox.py:Outbox._waiting
    server/http/sessions/per_request.py:PerRequestEndpoint.open
    server/http/sessions/session_table.py:SessionTable.open
    stores/memory.py:MemoryEvents._sessions
    stores/memory.py:MemoryTasks._owners
    stores/memory.py:_Events.events
    stores/memory.py:_Events.notes
"""
BOUNDED: Final = {
    "one entry for each request or session that is in the account": """
        core/session/running_requests.py:BatchResponses.open
        core/session/request_state.py:InputRequests._used
        core/session/request_state.py:InputRequests.open
        extensions/tasks/server.py:Tasks._running
        extensions/tasks/table.py:TaskTable._cancelling
        extensions/tasks/table.py:TaskTable._watchers
        server/broadcast.py:ChangeBroadcaster.connections
        server/http/sessions/per_request.py:PerRequestEndpoint._counts
        server/http/asgi/service.py:HttpService._held
        server/http/sessions/http_session.py:HttpSession._by_request
        server/http/sessions/http_session.py:HttpSession.streams
        shared/connection.py:Connection._loose
        shared/connection.py:Connection._tasks
        shared/places.py:Places._waiting
        shared/places.py:Room._rooms
        shared/places.py:Room._waiters
        shared/threads.py:Threads._jobs
        shared/threads.py:Threads._places
        shared/threads.py:Threads._rooms
        stores/batches.py:Batches._waiting
        extensions/tasks/record.py:Record.answers
        extensions/tasks/record.py:Record.requests
    """,
    "the account itself: one entry for each peer that holds something": """
        core/session/held.py:Process._shares
        core/session/held.py:Process.givers
    """,
    "Limits.sessions, and then the oldest is forgotten": """
        compat/fastmcp/server/middleware/rate_limiting.py:_Limiting._clients
        server/http/sessions/per_request.py:PerRequestEndpoint._rates
        server/http/asgi/service.py:HttpService._shares
        stores/memory.py:MemorySessions._kept
        stores/memory.py:MemorySessions._unused
    """,
    "REMEMBERED_SERVERS, and then the oldest is forgotten": """
        client/server_memory.py:ServerMemory._modes
    """,
    "twice the tasks that are kept, and no bytes of theirs": """
        stores/memory.py:MemoryTasks._ends
    """,
    "one message that arrives: Limits.line_bytes, Limits.answer_bytes": """
        core/wire/lines.py:Lines._held
        core/wire/sse.py:Events._data
        json_schema/argument_repairs.py:_Repair.absent
        json_schema/argument_repairs.py:_Repair.parsed
        core/wire/sse.py:Events._line
        client/http/http.py:HttpResponse._body
        core/wire/peek.py:_ErrorData.supported
    """,
    "Limits.outgoing_bytes and Limits.held_bytes of the one peer of a stream": """
        transports/memory.py:_Side._queue
        transports/pipes.py:Outlet._queue
        transports/pipes.py:_Cork.flushes
        bridge/first_message.py:FirstMessage._early
        bridge/first_message.py:_RequestMeta.capabilities
        transports/pipes.py:_Worker._work
    """,
    "Limits.bus_bytes": """
        stores/queued_bus.py:QueuedBus._waiting
    """,
    "4,096 pairs of a topic and a process": """
        server/http/cluster/cluster.py:Cluster._last
    """,
    "64 combinations of short headers": """
        server/http/app.py:HttpApp._known
    """,
    "requests of ours: Limits.in_flight": """
        core/session/pending.py:Pending._sent
        core/session/pending.py:Pending._tokens
    """,
    "PROBLEMS of one peer, each shown in 200 characters": """
        core/terms/tolerances.py:Tolerances._problems
    """,
    "one body, while it is repaired": """
        core/terms/tolerances.py:_Repair._body
        core/terms/tolerances.py:_Repair._problems
        core/terms/tolerances.py:_Repair._used
    """,
    "two limits on a rate": """
        server/connection.py:ServerConnection._rates
    """,
    "the four histograms of the conventions": """
        telemetry.py:_Recorder._durations
    """,
    "names of the bindings' tables and of what the server offers, never of a peer": """
        client/cache.py:Cache.digests
        server/list_digests.py:ListDigests._last
        core/terms/extension.py:Extension.methods
        core/terms/extension.py:Extensions.kept
        core/terms/extension.py:Extensions.names
        core/terms/tolerances.py:Tolerances._counts
        server/dispatcher.py:ServerDispatcher.forgiven
        core/terms/translation.py:ExtendedTranslation._owners
        core/terms/translation.py:ExtendedTranslation.methods
        core/terms/translation.py:Translation._steps
        core/terms/translation.py:Translation.admitted
        core/terms/translation.py:Translations._known
        server/dispatcher.py:ServerDispatcher.routes
        server/functions/signature.py:Signature.choices
        server/http/cluster/session_record.py:SessionRecord.lists
        server/http/sessions/shared_session.py:SharedSession.lists
    """,
    "a few metas, each of a few hundred bytes (core/terms/repeated_meta.py)": """
        core/terms/repeated_meta.py:RepeatedMeta._known
    """,
    "what the author of the server or the client has written": """
        client/callbacks.py:ClientCallbacks.handlers
        client/client.py:Client._on_notification
        compat/auth.py:AccessToken.claims
        compat/auth.py:AccessToken.scopes
        compat/fastmcp/client/client.py:Client._options
        compat/fastmcp/server/auth/auth.py:AuthProvider.required_scopes
        compat/fastmcp/server/auth/providers/jwt.py:JWTVerifier.natives
        compat/fastmcp/server/auth/providers/jwt.py:StaticTokenVerifier.tokens
        compat/fastmcp/server/middleware/rate_limiting.py:SlidingWindowRateLimiter.requests
        compat/fastmcp/server/registrar.py:Registrar._children
        compat/fastmcp/server/registrar.py:Registrar._components
        compat/fastmcp/server/registrar.py:Registrar._exclude
        compat/fastmcp/server/registrar.py:Registrar._parents
        compat/fastmcp/server/server.py:FastMCP.middleware
        compat/functions.py:Callee.injected
        compat/http.py:Settings.allowed_hosts
        compat/http.py:Settings.allowed_origins
        compat/http.py:Settings.others
        compat/mcp/client/stdio/__init__.py:StdioServerParameters.args
        compat/mcp/server/fastmcp/features.py:Manager.items
        compat/mcp/server/fastmcp/server.py:FastMCP.dependencies
        compat/mcp/server/lowlevel/server.py:Server._checks
        compat/mcp/server/lowlevel/server.py:Server._listed
        compat/mcp/server/transport_security.py:TransportSecuritySettings.allowed_hosts
        compat/mcp/server/transport_security.py:TransportSecuritySettings.allowed_origins
        compat/models.py:Model.constants_
        compat/models.py:Model.defaults_
        compat/models.py:Model.members_
        compat/models.py:Model.parts_
        compat/routes.py:RoutedApp._routes
        compat/tools.py:Component.meta
        compat/tools.py:Component.tags
        core/terms/negotiation.py:ServerOffer.filters
        core/terms/negotiation.py:ServerOffer.passed
        server/registry.py:Features.filters
        server/visibility.py:Registry._reserved
        core/session/client_session.py:ClientSession._opening
        core/session/client_session.py:ClientSession._proposed
        core/session/request_state.py:KeyRing._keys
        transports/shutdown.py:Shutdown._waits
        extensions/tasks/table.py:TaskTable._stores
        server/dispatcher.py:ServerDispatcher.handlers
        server/dispatcher.py:ServerDispatcher.middleware
        server/dispatcher.py:ServerDispatcher.notification_handlers
        server/dispatcher.py:ServerDispatcher.shared_parts
        server/http/app.py:HttpApp._public
        server/http/draining_server.py:DrainingServer.servers
        server/http/asgi/service.py:HttpService._sessions
        server/methods.py:ProtocolMethods._hints
        server/methods.py:ProtocolMethods.methods
        server/registry.py:Features._of_methods
        server/visibility.py:Registry.registered
        server/visibility.py:Registry.tags
        server/registry.py:Features.completers
        server/registry.py:Features.kinds
        server/registry.py:Features.options
        server/registry.py:Features.reruns
        server/registry.py:Features.scopes
        shared/threads.py:_pools
        shared/uri_template.py:Template._variables
        shared/uri_template.py:Template._wide
        stores/memory.py:MemoryBus._receivers
        stores/queued_bus.py:QueuedBus._receivers
        stores/queued_bus.py:QueuedBus._tasks
        stores/redis.py:RedisBus._heard
        transports/process_group.py:PosixGroup._members
        transports/process_group.py:PosixGroup.popen_options
        transports/process_group.py:WindowsJob.popen_options
    """,
    "what the author's handlers keep, for as long as a request or a session lives": """
        compat/fastmcp/server/context.py:Context._own_state
        compat/fastmcp/server/context.py:_of_sessions
    """,
    "one count for each type of error and each method that the server has": """
        compat/fastmcp/server/middleware/error_handling.py:ErrorHandlingMiddleware.error_counts
    """,
    "one lease for each process": """
        stores/memory.py:MemoryLeases._until
    """,
    "Limits.stderr_bytes": """
        transports/child_process.py:Child._tail
    """,
    "a schema's own size, while one value is checked (json_schema/validation_cost.py)": """
        json_schema/validation_cost.py:_Count._known
        json_schema/validation_cost.py:_Document._places
        json_schema/validation_cost.py:_Document._sizes
        json_schema/validation_cost.py:_Document._unfollowed
        json_schema/validation_cost.py:_Document.nodes
        json_schema/validation_cost.py:_Node.in_place
        json_schema/validation_cost.py:_Node.of_arrays
        json_schema/validation_cost.py:_Node.of_objects
    """,
    "a client's: what it has asked its one server for": """
        client/cache.py:Cache._changes
        client/connection.py:ClientConnection.subscriptions
        client/http/connection.py:HttpConnection._renewals
        client/http/exchange.py:Exchanges._exchanges
        client/http/exchange.py:Exchanges._posts
        client/http/server_facts.py:ServerFacts.marks
        client/output_schemas.py:OutputSchemas._outputs
        client/progress.py:ProgressCalls._waiting
        client/subscription.py:Subscription._changes
        extensions/tasks/client.py:TaskHandle._answered
    """,
    "a bridge's: what the author has written, and one entry for each open session or link": """
        bridge/engine.py:Engine._described
        bridge/engine.py:Engine._expected
        bridge/engine.py:Engine._links
        bridge/engine.py:Engine._peers
        bridge/engine.py:Engine._instructions
        bridge/names.py:Names.renamed
    """,
    "a bridge's: Limits.bridge_links, bridge_uris and parked (tests/runtime/bridge)": """
        bridge/backoff.py:Backoff._waits
        bridge/link.py:Link._watching
        bridge/links.py:Links.open
        bridge/ongoing.py:Parked._waiting
        bridge/param_headers.py:WantedHeaders._known
        bridge/watching.py:Watching._new_uris
        bridge/watching.py:Watching._watched
    """,
    "a bridge's: requests in the account, with the questions of each": """
        bridge/link.py:Link.running
        bridge/ongoing.py:Ongoing._asked
        bridge/ongoing.py:Ongoing._open
        bridge/sending.py:Sending._losses
    """,
    "authorization: bounds of their own, with tests in tests/runtime/auth": """
        auth/client/*
        auth/fetch.py:*
        auth/messages.py:*
        auth/server/*
    """,
}


def _is_container(value: ast.expr | None) -> bool:
    if isinstance(value, ast.Dict | ast.List | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp):
        return True
    if not isinstance(value, ast.Call):
        return False
    if _name(value.func) == "field":
        return any(
            each.arg == "default_factory" and _name(each.value) in KINDS for each in value.keywords
        )
    return _name(value.func) in KINDS


def _name(function: ast.expr) -> str:
    while isinstance(function, ast.Subscript):
        function = function.value
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _assigned(tree: ast.AST) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            targets = [each for one in node.targets for each in _parts(one)]
            yield from ((target, node.value) for target in targets)
        elif isinstance(node, ast.AnnAssign):
            yield node.target, node.value


def _parts(target: ast.expr) -> list[ast.expr]:
    return target.elts if isinstance(target, ast.Tuple) else [target]


def containers(text: str) -> set[str]:
    """The containers that a module's objects have, and those that it fills itself."""
    tree, containers = ast.parse(text), set[str]()
    for owner in (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
        own = {
            id(target)
            for body in owner.body
            if not isinstance(body, ast.FunctionDef | ast.AsyncFunctionDef)
            for target, _ in _assigned(body)
        }
        for target, value in _assigned(owner):
            if not _is_container(value):
                continue
            if isinstance(target, ast.Attribute) and _name(target.value) == "self":
                containers.add(f"{owner.name}.{target.attr}")
            elif isinstance(target, ast.Name) and id(target) in own:
                containers.add(f"{owner.name}.{target.id}")
    for node in tree.body:
        for target, value in _assigned(node) if isinstance(node, STATEMENTS) else ():
            is_filled_later = isinstance(value, ast.Call) and not value.args and not value.keywords
            if is_filled_later and _is_container(value) and isinstance(target, ast.Name):
                containers.add(target.id)
    return containers


@cache
def all_containers() -> set[str]:
    return {
        f"{path.relative_to(ROOT).as_posix()}:{name}"
        for path in ROOT.rglob("*.py")
        for name in containers(path.read_text("utf-8"))
    }


def listed() -> set[str]:
    return {row for rows in (IN_THE_ACCOUNT, *BOUNDED.values()) for row in rows.split()}


def test_each_container_is_in_the_account_or_has_a_bound() -> None:
    wholes = tuple(row.rstrip("*") for row in listed() if row.endswith("*"))
    assert sorted(row for row in all_containers() - listed() if not row.startswith(wholes)) == []


def test_each_row_is_of_a_container() -> None:
    names = all_containers()
    rows = {row for row in listed() if not row.endswith("*")}
    assert sorted(rows - names) == []
    for whole in (row.rstrip("*") for row in listed() if row.endswith("*")):
        assert any(name.startswith(whole) for name in names), whole


def test_a_container_is_found_however_it_is_written() -> None:
    text = """
_seen = set()
LIMITS = {"a": 1}
class A:
    rows: list[int] = []
    field_: dict[str, int] = field(default_factory=dict[str, int])
    none: int = 5
    def __init__(self):
        self.a, self.b = {}, 5
        self.c: Final[deque[bytes]] = deque()
        self._d = OrderedDict[str, int]()
        local = []
    def later(self):
        self.e = [x for x in ()]
"""
    names = {"_seen", "A.rows", "A.field_", "A.c", "A._d", "A.e"}
    assert containers(text) == names
