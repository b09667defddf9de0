"""The exceptions of `mcp` 1.x and `fastmcp`, which the native server understands."""

from __future__ import annotations

import logging
from typing import Any

from mcp_runtime.compat import models
from mcp_runtime.compat.models import Model
from mcp_runtime.errors import RpcError
from mcp_runtime.errors import ToolError as NativeToolError


class McpError(RpcError):
    """An error of JSON-RPC, raised by a handler or received from the peer."""

    def __init__(self, error: Model) -> None:
        super().__init__(error.code, error.message, error.data)
        self.error = error

    def __str__(self) -> str:
        return self.message


class MCPError(McpError):
    """The same by the name of later versions, which take its members one by one."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(models.model("ErrorData")(code=code, message=message, data=data))


class UrlElicitationRequiredError(McpError):
    """The client has to send its user to the given pages before it repeats the request."""

    def __init__(self, elicitations: list[Model], message: str | None = None) -> None:
        plural = "s" if len(elicitations) > 1 else ""
        data = {"elicitations": [models.wire(each) for each in elicitations]}
        super().__init__(
            models.model("ErrorData")(
                code=models.value("URL_ELICITATION_REQUIRED"),
                message=message or f"URL elicitation{plural} required",
                data=data,
            )
        )
        self.elicitations = elicitations


class FastMCPError(Exception):
    """Any error of a server."""

    def __init__(self, *args: object, log_level: int = logging.ERROR) -> None:
        super().__init__(*args)
        self.log_level = log_level


class ValidationError(FastMCPError):
    """Arguments or a result do not fit."""


class ResourceError(FastMCPError):
    """A resource could not be read."""


class PromptError(FastMCPError):
    """A prompt could not be rendered."""


class ToolError(FastMCPError, NativeToolError):
    """A tool failed; the text is for the model."""


class InvalidSignature(Exception):
    """A function cannot be a tool, a resource or a prompt."""


class ClientError(Exception):
    """An operation of a client failed."""


class NotFoundError(Exception):
    """The server has no such feature."""


class DisabledError(Exception):
    """The feature is disabled."""


class AuthorizationError(FastMCPError):
    """The client may not use the feature."""


def mcp_error(code: int, message: str, data: Any = None) -> McpError:
    """Build an McpError from its members."""
    return McpError(models.model("ErrorData")(code=code, message=message, data=data))
