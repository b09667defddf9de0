"""`mcp.types` of `mcp` 1.x: the messages of the protocol with camelCase members."""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias

from mcp_runtime.compat import models
from mcp_runtime.compat.elsewhere import missing_name
from mcp_runtime.compat.models import Model, Wrapped
from mcp_runtime.revisions import ALL, revision

SUPPORTED_PROTOCOL_VERSIONS: Final = [each for each in ALL if revision(each).era == "handshake"]
LATEST_PROTOCOL_VERSION: Final = SUPPORTED_PROTOCOL_VERSIONS[-1]
DEFAULT_NEGOTIATED_VERSION: Final = SUPPORTED_PROTOCOL_VERSIONS[1]
JSONRPC_VERSION: Final = "2.0"

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
URL_ELICITATION_REQUIRED: Final = -32042
CONNECTION_CLOSED: Final = -32000
REQUEST_TIMEOUT: Final = 408

AnyFunction: TypeAlias = Any
Cursor: TypeAlias = str
LoggingLevel: TypeAlias = Literal[
    "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"
]
IncludeContext: TypeAlias = Literal["none", "thisServer", "allServers"]
Role: TypeAlias = Literal["user", "assistant"]
RequestId: TypeAlias = str | int
ProgressToken: TypeAlias = str | int
StopReason: TypeAlias = str
_UNIONS: Final = {
    "ContentBlock": (
        "TextContent", "ImageContent", "AudioContent", "ResourceLink", "EmbeddedResource",
    ),
    "Content": (
        "TextContent", "ImageContent", "AudioContent", "ResourceLink", "EmbeddedResource",
    ),
    "SamplingContent": ("TextContent", "ImageContent", "AudioContent"),
    "SamplingMessageContentBlock": (
        "TextContent", "ImageContent", "AudioContent", "ToolUseContent", "ToolResultContent",
    ),
    "ElicitRequestParams": ("ElicitRequestURLParams", "ElicitRequestFormParams"),
}  # fmt: skip
"""Types of several messages."""


class ClientRequest(Wrapped):
    """A request of a client."""


class ClientNotification(Wrapped):
    """A notification of a client."""


class ClientResult(Wrapped):
    """A result of a client."""


class ServerRequest(Wrapped):
    """A request of a server."""


class ServerNotification(Wrapped):
    """A notification of a server."""


class ServerResult(Wrapped):
    """A result of a server."""


class JSONRPCMessage(Wrapped):
    """A message of JSON-RPC."""


class LoggingCapability(Model):
    """The server sends log messages."""


class CompletionsCapability(Model):
    """The server completes arguments."""


class SamplingContextCapability(Model):
    """The client includes context in sampling."""


class SamplingToolsCapability(Model):
    """The client supports tools in sampling."""


def __getattr__(name: str) -> Any:
    if name in _UNIONS:
        union: Any = models.model(_UNIONS[name][0])
        for each in _UNIONS[name][1:]:
            union = union | models.model(each)
        return union
    if name == "AnyUrl":
        return str
    try:
        return models.model(name)
    except KeyError:
        raise missing_name("mcp.types", name) from None


def __dir__() -> list[str]:
    return [*globals(), *_UNIONS, *models.names()]
