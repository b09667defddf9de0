"""Names of `mcp` 1.x and `fastmcp` that are missing here, each with the way to do the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

PREFIX: Final = "mcp_runtime.compat."

_TOKENS: Final = "FastMCP(auth=...) with a token verifier of mcp_runtime (docs/AUTH.md)"
_ISSUED: Final = "RemoteAuthProvider: a server here checks tokens, and issues none"
_NOT_ISSUED: Final = "TokenVerifier: a server here checks tokens, and issues none"
_SIGN_IN: Final = "Client.http(url, auth=OAuth(...)) of mcp_runtime (docs/AUTH.md)"
_TASKS: Final = "Tasks of mcp_runtime.extensions.tasks (docs/TASKS.md)"
_APPS: Final = "mcp_runtime.extensions.apps (docs/APPS.md)"
_NOT_2: Final = "mcp 2.x is not spoken here, but 1.x"
_RUN: Final = "the command mcp-bindgen run"
_OPENAPI: Final = "a function for each operation, or mcp-bindgen new --from-tools"
_SEVERAL: Final = "a Client for each server, or the command mcp-bindgen bridge (docs/BRIDGE.md)"
_TRACES: Final = "mcp_runtime.telemetry (docs/DEPLOY.md)"
_MIDDLEWARE: Final = "a Middleware of your own"
_METHODS: Final = "the methods of FastMCP"
_OWN_COPY: Final = "a function of your own: helpers of fastmcp are not here"
_PROCESS: Final = "stdio_client, which starts and ends the process"
_STREAMS: Final = "streamablehttp_client, which resumes and repeats by itself"
_LIMITS: Final = "nothing: bodies and sessions have limits (docs/LIMITS.md)"
_FUNCTION: Final = "FunctionResource with a function that reads it"
_STDIO: Final = "StdioTransport(COMMAND, ARGUMENTS)"

_MODULES_BY_WAY: Final[Mapping[str, str]] = {
    _RUN: "mcp.cli fastmcp.cli fastmcp.utilities.cli",
    _SIGN_IN: "mcp.client.auth mcp.shared.auth mcp.shared.auth_utils fastmcp.client.auth"
    " fastmcp.client.oauth_callback",
    _TASKS: "mcp.client.experimental mcp.server.experimental mcp.server.lowlevel.experimental"
    " mcp.shared.experimental mcp.shared.response_router fastmcp.client.tasks"
    " fastmcp.server.tasks fastmcp.utilities.tasks",
    _SEVERAL: "mcp.client.session_group fastmcp.mcp_config fastmcp.utilities.mcp_config"
    " fastmcp.utilities.mcp_server_config",
    _PROCESS: "mcp.os",
    _NOT_ISSUED: "mcp.server.auth.errors mcp.server.auth.handlers mcp.server.auth.json_response"
    " mcp.server.auth.routes mcp.server.auth.middleware.client_auth",
    _ISSUED: "fastmcp.server.auth.oauth_proxy fastmcp.server.auth.oidc_proxy"
    " fastmcp.server.auth.handlers fastmcp.server.auth.jwt_issuer fastmcp.server.auth.cimd"
    " fastmcp.server.auth.redirect_validation fastmcp.server.auth.providers.in_memory",
    _TOKENS: "mcp.server.auth.middleware.bearer_auth fastmcp.server.auth.middleware"
    " fastmcp.server.auth.registry fastmcp.server.auth.ssrf fastmcp.utilities.auth"
    " fastmcp.utilities.token_cache",
    _METHODS: "mcp.server.fastmcp.prompts.manager mcp.server.fastmcp.resources.resource_manager"
    " mcp.server.fastmcp.tools.tool_manager fastmcp.prompts.prompt_manager fastmcp.decorators"
    " fastmcp.resources.resource_manager fastmcp.tools.tool_manager fastmcp.server.mixins",
    _OPENAPI: "fastmcp.server.openapi fastmcp.experimental fastmcp.utilities.openapi",
    _APPS: "fastmcp.apps fastmcp.server.app fastmcp.server.apps fastmcp.utilities.ui",
    _TRACES: "fastmcp.telemetry fastmcp.client.telemetry fastmcp.server.telemetry",
    _MIDDLEWARE: "fastmcp.server.middleware.authorization fastmcp.server.middleware.caching"
    " fastmcp.server.middleware.dereference fastmcp.server.middleware.ping"
    " fastmcp.server.middleware.response_limiting fastmcp.server.middleware.tool_injection",
    "inspect.signature": "mcp.server.lowlevel.func_inspection fastmcp.tools.function_parsing"
    " fastmcp.utilities.docstring_parsing",
    "FastMCP(lifespan=...)": "fastmcp.server.lifespan fastmcp.utilities.lifespan",
    _OWN_COPY: "fastmcp.utilities.async_utils fastmcp.utilities.authorization"
    " fastmcp.utilities.components fastmcp.utilities.exceptions fastmcp.utilities.http"
    " fastmcp.utilities.json_schema fastmcp.utilities.json_schema_type fastmcp.utilities.mime"
    " fastmcp.utilities.pagination fastmcp.utilities.skills fastmcp.utilities.timeout"
    " fastmcp.utilities.version_check fastmcp.utilities.versions",
    "a parameter of Client, such as log_handler=": "fastmcp.client.elicitation"
    " fastmcp.client.logging fastmcp.client.messages fastmcp.client.progress fastmcp.client.roots"
    " fastmcp.client.sampling",
    "ctx.sample(...)": "fastmcp.server.sampling",
}
_PROVIDERS: Final = (
    "auth0 aws azure bearer clerk descope discord github google huggingface keycloak oci propelauth"
    " scalekit supabase workos"
)
"""Modules of sign-in services."""

_TRANSPORT_MODULES: Final = (
    "fastmcp.client.transports.base fastmcp.client.transports.config fastmcp.client.transports.http"
    " fastmcp.client.transports.inference fastmcp.client.transports.memory"
    " fastmcp.client.transports.sse fastmcp.client.transports.stdio"
)

MODULES: Final[Mapping[str, str]] = {
    name: way for way, names in _MODULES_BY_WAY.items() for name in names.split()
} | {f"fastmcp.server.auth.providers.{name}": _TOKENS for name in _PROVIDERS.split()} | {
    "mcp.client.websocket": "streamablehttp_client; the protocol has no WebSocket transport",
    "mcp.server.websocket": "streamable_http_app(); the protocol has no WebSocket transport",
    "mcp.server.mcpserver": f"mcp.server.fastmcp: {_NOT_2}",
    "mcp.server.context": f"mcp.server.fastmcp.Context: {_NOT_2}",
    "mcp.client._transport": f"mcp.client.stdio or mcp.client.streamable_http: {_NOT_2}",
    "mcp.server.fastmcp.resources.base": "mcp.server.fastmcp.resources",
    "mcp.server.fastmcp.resources.templates": "@mcp.resource(URI) above a function",
    "mcp.server.fastmcp.utilities.context_injection": "a parameter annotated Context",
    "mcp.server.fastmcp.utilities.func_metadata": "inputSchema of a tool in mcp.list_tools()",
    "mcp.server.validation": "nothing: ctx.session.create_message checks its messages",
    "mcp.shared.progress": "ctx.report_progress(PROGRESS, TOTAL)",
    "mcp.shared.tool_name_validation": "nothing: a tool's name is checked when it is registered",
    "mcp.shared.version": "SUPPORTED_PROTOCOL_VERSIONS of mcp.types",
    **dict.fromkeys(_TRANSPORT_MODULES.split(), "fastmcp.client.transports"),
    "fastmcp.client.dependencies": "fastmcp.Client",
    "fastmcp.client.mixins": "fastmcp.Client",
    "fastmcp.contrib.bulk_tool_caller": "asyncio.gather with client.call_tool",
    "fastmcp.contrib.component_manager": "FastMCP.enable and FastMCP.disable",
    "fastmcp.contrib.mcp_mixin.mcp_mixin": "fastmcp.contrib.mcp_mixin",
    "fastmcp.resources.function_resource": "fastmcp.resources",
    "fastmcp.server.auth.authorization": "get_access_token() in the tool, and its scopes",
    "fastmcp.server.auth.providers.debug": "StaticTokenVerifier of fastmcp.server.auth",
    "fastmcp.server.auth.providers.introspection": "IntrospectionVerifier (docs/AUTH.md)",
    "fastmcp.server.event_store": "nothing: streams are resumed without it (docs/SCALING.md)",
    "fastmcp.server.http": "FastMCP.http_app()",
    "fastmcp.server.low_level": "mcp.server.lowlevel.Server",
    "fastmcp.server.providers": "FastMCP.mount, fastmcp.Client in a tool, or functions",
    "fastmcp.server.proxy": "fastmcp.Client in a tool",
    "fastmcp.server.transforms": "FastMCP.mount, FastMCP.enable and FastMCP.disable",
    "fastmcp.settings": "the object settings of fastmcp",
    "fastmcp.tools.tool_transform": "a tool that calls the function of the other",
    "fastmcp.types": "mcp.types",
    "fastmcp.utilities.inspect": "the command mcp-bindgen call --list",
    "fastmcp.utilities.tests": "fastmcp.Client(server), in the same process",
}  # fmt: skip
"""By missing module, the way to do the same; it holds for the modules below it, too."""

_TASK_TYPES: Final = (
    "ClientTasksRequestsCapability ServerTasksRequestsCapability TASK_FORBIDDEN TASK_OPTIONAL"
    " TASK_REQUIRED TASK_STATUS_CANCELLED TASK_STATUS_COMPLETED TASK_STATUS_FAILED"
    " TASK_STATUS_INPUT_REQUIRED TASK_STATUS_WORKING TaskExecutionMode TaskStatus"
    " TasksCallCapability TasksCancelCapability TasksListCapability TasksToolsCapability"
    " TasksCreateElicitationCapability TasksCreateMessageCapability TasksElicitationCapability"
    " TasksSamplingCapability"
)
_ISSUERS: Final = (
    "OAuthAuthorizationServerProvider AuthorizationCode AuthorizationParams RefreshToken"
    " AuthorizeError RegistrationError TokenError construct_redirect_uri"
)
_ENDS: Final = (
    "get_windows_executable_command create_windows_process terminate_posix_process_tree"
    " terminate_windows_process_tree FallbackProcess PROCESS_TERMINATION_TIMEOUT"
)
_TRANSPORTS: Final[Mapping[str, str]] = {
    _STDIO: "NodeStdioTransport NpxStdioTransport UvStdioTransport UvxStdioTransport",
    "StreamableHttpTransport; the protocol has no WebSocket transport": "WSTransport",
}
_BY_MODULE: Final[Mapping[str, Mapping[str, str]]] = {
    "mcp": {
        f"ClientSession with stdio_client or streamablehttp_client: {_NOT_2}": "Client",
        _SEVERAL: "ClientSessionGroup",
        "CreateMessageResult": "CreateMessageResultWithTools",
        "mcp.types.Role": "SamplingRole",
    },
    "mcp.client": {f"mcp.ClientSession: {_NOT_2}": "Client"},
    "mcp.client.session": {f"mcp.ClientSession: {_NOT_2}": "ClientRequestContext"},
    "mcp.client.stdio": {_PROCESS: _ENDS},
    "mcp.client.streamable_http": {
        _STREAMS: "StreamableHTTPTransport StreamableHTTPError ResumptionError RequestContext"
        " GetSessionIdCallback",
    },
    "mcp.server": {
        f"mcp.server.fastmcp.FastMCP: {_NOT_2}": "MCPServer",
        f"mcp.server.fastmcp.Context: {_NOT_2}": "ServerRequestContext",
    },
    "mcp.server.auth.middleware.auth_context": {
        "get_access_token()": "AuthContextMiddleware auth_context_var"
    },
    "mcp.server.auth.provider": {_NOT_ISSUED: _ISSUERS, "TokenVerifier": "ProviderTokenVerifier"},
    "mcp.server.elicitation": {
        "ctx.elicit(MESSAGE, SCHEMA)": "elicit_with_validation",
        "ctx.elicit_url(...)": "elicit_url",
    },
    "mcp.server.fastmcp.resources": {
        _FUNCTION: "BinaryResource DirectoryResource HttpResource",
        "@mcp.resource(URI) above a function": "ResourceTemplate",
    },
    "mcp.server.fastmcp.resources.types": {
        _FUNCTION: "BinaryResource DirectoryResource HttpResource"
    },
    "mcp.server.fastmcp.server": {
        "FastMCP.streamable_http_app()": "StreamableHTTPASGIApp",
        "FastMCP(lifespan=...)": "lifespan_wrapper",
    },
    "mcp.server.lowlevel.server": {
        "the property request_context of the server": "request_ctx",
        "Server(lifespan=...)": "lifespan",
    },
    "mcp.server.session": {
        "ServerSession of the request": "InitializationState ServerRequestResponder"
    },
    "mcp.server.streamable_http": {
        "StreamableHTTPSessionManager(app)": "StreamableHTTPServerTransport"
    },
    "mcp.server.streamable_http_manager": {_LIMITS: "RequestBodyLimitMiddleware"},
    "mcp.server.transport_security": {
        "TransportSecuritySettings: the runtime checks Host and Origin": (
            "TransportSecurityMiddleware"
        ),
        _LIMITS: "RequestBodyLimitMiddleware",
    },
    "mcp.shared.memory": {
        "create_connected_server_and_client_session(SERVER)": "create_client_server_memory_streams"
    },
    "mcp.shared.message": {
        _STREAMS: "ClientMessageMetadata ServerMessageMetadata MessageMetadata",
    },
    "mcp.types": {
        _TASKS: _TASK_TYPES,
        "CreateMessageResult": "CreateMessageResultWithTools",
        "ElicitationCompleteNotification": "ElicitCompleteNotification",
        "ElicitationCapability": "FormElicitationCapability UrlElicitationCapability",
        "ResourceTemplateReference": "ResourceReference",
        "a dict with the JSON Schema": "ElicitRequestedSchema",
    },
    "fastmcp": {_APPS: "FastMCPApp", "DeprecationWarning": "FastMCPDeprecationWarning"},
    "fastmcp.client": {
        **_TRANSPORTS,
        _SIGN_IN: "BearerAuth OAuth",
        "Client(SERVER)": "FastMCPTransport",
    },
    "fastmcp.client.transports": {
        **_TRANSPORTS,
        _STDIO: _TRANSPORTS[_STDIO] + " FastMCPStdioTransport",
        _SEVERAL: "MCPConfigTransport",
        "Client(SERVER)": "infer_transport",
    },
    "fastmcp.dependencies": {
        "CurrentAccessToken()": "TokenClaim",
        "CurrentContext() and its report_progress": "Progress",
        _TASKS: "CurrentDocket CurrentWorker",
    },
    "fastmcp.server.dependencies": {
        "CurrentAccessToken()": "TokenClaim",
        "CurrentContext() and its report_progress": "Progress",
        _TASKS: "CurrentDocket CurrentWorker get_task_context get_task_session",
    },
    "fastmcp.prompts": {_METHODS: "PromptManager"},
    "fastmcp.tools": {
        _METHODS: "ToolManager",
        "a tool that calls the function of the other": "forward forward_raw",
    },
    "fastmcp.resources": {
        _FUNCTION: "BinaryResource DirectoryResource HttpResource",
        _METHODS: "ResourceManager",
    },
    "fastmcp.resources.types": {_FUNCTION: "BinaryResource DirectoryResource HttpResource"},
    "fastmcp.server": {"fastmcp.Client in a tool": "create_proxy"},
    "fastmcp.server.server": {
        "fastmcp.Client in a tool": "create_proxy",
        "FastMCP.mount": "MountedServer add_resource_prefix remove_resource_prefix",
    },
    "fastmcp.server.auth": {
        _ISSUED: "OAuthProvider OAuthProxy OIDCProxy MultiAuth",
        "StaticTokenVerifier": "DebugTokenVerifier",
        "get_access_token() in the tool, and its scopes": "AuthCheck AuthContext require_scopes"
        " restrict_tag run_auth_checks",
    },
    "fastmcp.server.auth.auth": {_ISSUED: "OAuthProvider MultiAuth"},
    "fastmcp.server.auth.providers.jwt": {
        "StaticTokenVerifier, for tests": "RSAKeyPair",
        "JWTVerifier": "JWTVerifierSettings",
    },
    "fastmcp.server.middleware": {_MIDDLEWARE: "AuthMiddleware PingMiddleware"},
    "fastmcp.server.middleware.error_handling": {_MIDDLEWARE: "RetryMiddleware"},
    "fastmcp.server.middleware.logging": {"LoggingMiddleware": "BaseLoggingMiddleware"},
}
NAMES: Final[Mapping[str, str]] = {
    f"{module}.{name}": way
    for module, ways in _BY_MODULE.items()
    for way, names in ways.items()
    for name in names.split()
}
"""By missing name of a module that is here, the way to do the same."""


def missing(name: str) -> str:
    """Return the text of the error for a missing module or name, with the way to do the same."""
    text = f"{name} is not in mcp_runtime.compat"
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        part = ".".join(parts[:end])
        if instead := NAMES.get(part) or MODULES.get(part):
            return f"{text}; instead use {instead}"
    return text


def missing_name(module: str, name: str) -> Exception:
    """Return the error for a name that a module lacks: an ImportError, if there is another way."""
    if f"{module}.{name}" in NAMES:
        return ImportError(missing(f"{module}.{name}"), name=module)
    return AttributeError(f"module {module!r} has no attribute {name!r}")


def lacking(module: str) -> Callable[[str], Any]:
    """Return the `__getattr__` of a module, by its full name: it raises `missing_name`."""

    def lack(name: str) -> Any:
        raise missing_name(module.removeprefix(PREFIX), name)

    return lack
