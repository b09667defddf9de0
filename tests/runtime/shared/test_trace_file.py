"""A trace has what was said, without what its names call secret."""

from __future__ import annotations

import io
import json
from typing import Any, cast

import pytest

from mcp_runtime.trace import TraceFile


@pytest.mark.parametrize(
    "name", ["token", "Token", "password", "api_key", "accessToken", "secrets"]
)
def test_what_a_name_calls_secret_is_left_out(name: str) -> None:
    assert written({name: "abc"}) == {name: "[redacted]"}


@pytest.mark.parametrize("name", ["progressToken", "next_token", "tokens", "keyboard"])
def test_other_members_stay(name: str) -> None:
    assert written({name: "abc"}) == {name: "abc"}


def test_a_file_of_text_is_refused_at_once() -> None:
    with pytest.raises(TypeError, match='"wb"'):
        TraceFile(cast("Any", io.StringIO()))


def written(message: dict[str, str]) -> Any:
    file = io.BytesIO()
    TraceFile(file)("sent", json.dumps(message).encode())
    return json.loads(file.getvalue())["message"]
