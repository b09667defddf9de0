"""Errors go from one process to another, as those of a process pool do."""

from __future__ import annotations

import copy
import pickle

import pytest

from mcp_runtime import errors
from mcp_runtime.auth import errors as auth_errors

EACH: list[Exception] = [
    errors.NotOffered("tools/call", "tools", "server"),
    errors.NotOpen("the client is not open"),
    errors.TimedOut("ping", 1.5),
    errors.NotReached("no connection"),
    errors.NotStarted(["no-such-program", "x"], "no such file", "name another"),
    errors.NotInstalled("a client over HTTP", "httpx2", "http"),
    errors.NoCommonRevision(["2025-11-25"], []),
    errors.TooMuch("Limits.batch"),
    errors.RemoteError(-32602, "Unknown tool", {"name": "x"}),
    errors.NotFound(-32002, "no such resource"),
    errors.BadAnswer("$.tools: expected array"),
    errors.BadStatus("initialize", 500, "Internal Server Error"),
    errors.Unauthorized("initialize", refused=True),
    errors.RpcError(1, "the bank is closed"),
    errors.ToolError("there is no account"),
    auth_errors.LoginNeeded("example.com"),
    auth_errors.IssuerMismatch("https://a.example/", "https://a.example"),
    auth_errors.ResourceMismatch("https://a.example", "https://b.example"),
    auth_errors.OAuthError("the token endpoint", "invalid_grant"),
    auth_errors.IssuerUnavailable("the token endpoint", "HTTP 503"),
]


def explained() -> errors.Disconnected:
    error = errors.Disconnected("the server has ended")
    error.explain(" (exit code 1)")
    return error


@pytest.mark.parametrize("error", [*EACH, explained()], ids=lambda error: type(error).__name__)
def test_an_error_is_pickled_and_copied_with_its_text_and_members(error: Exception) -> None:
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert (type(other), str(other), vars(other)) == (type(error), str(error), vars(error))


def test_a_missing_package_is_still_named() -> None:
    error = errors.NotInstalled("a client over HTTP", "httpx2", "http")
    assert pickle.loads(pickle.dumps(error)).name == "httpx2"
