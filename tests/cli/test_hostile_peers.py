"""What a server says reaches no terminal and no log raw: every field of every answer to `call`."""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from mcp_bindgen.cli.show import safe_text
from mcp_runtime.errors import printable
from tests.support.hostile_words import FAKE, HOSTILE, check, invoke
from tests.support.scripted_server import raw
from tests.support.terminal import is_inert

ONE_LINE: Final = HOSTILE.replace("\n", "")
FEATURE: Final = {
    "name": HOSTILE,
    "title": HOSTILE,
    "description": HOSTILE,
    "mimeType": HOSTILE,
    "uri": f"a:{HOSTILE}",
    "inputSchema": {"type": "object"},
}
SAID: Final[dict[str, dict[str, Any]]] = {
    "names": {"info": {"name": HOSTILE, "version": HOSTILE}},
    "features": {
        "answers": {
            "tools/list": {"result": {"tools": [FEATURE]}},
            "resources/list": {"result": {"resources": [FEATURE]}},
            "resources/templates/list": {
                "result": {"resourceTemplates": [{**FEATURE, "uriTemplate": HOSTILE}]}
            },
            "prompts/list": {"error": {"code": 1, "message": HOSTILE, "data": HOSTILE}},
        }
    },
    "blocks": {
        "answers": {
            "tools/call": {
                "result": {
                    "content": [
                        {"type": "text", "text": ONE_LINE},
                        {"type": "image", "mimeType": HOSTILE, "data": ""},
                        {"type": "resource", "resource": {"uri": HOSTILE, "text": ONE_LINE}},
                        {"type": "resource", "resource": {"uri": HOSTILE, "blob": ""}},
                    ],
                    "structuredContent": {HOSTILE: HOSTILE},
                }
            }
        }
    },
    "error": {
        "answers": {
            method: {"error": {"code": 1, "message": HOSTILE, "data": {HOSTILE: HOSTILE}}}
            for method in ("tools/call", "tools/list", "resources/list", "prompts/list")
        }
    },
    "revision": {"speaks": HOSTILE},
    "odd": {"answers": {"tools/call": {"result": {"content": [{"type": HOSTILE, HOSTILE: 1}]}}}},
    "messages": {
        "before": {
            "tools/call": [
                ONE_LINE,
                *(
                    json.dumps({"jsonrpc": "2.0", "method": method, "params": params})
                    for method, params in (
                        ("notifications/cancelled", {"requestId": HOSTILE, "reason": HOSTILE}),
                        ("notifications/cancelled", {"requestId": 9, "reason": HOSTILE}),
                        ("notifications/progress", {"progressToken": HOSTILE, "progress": 1}),
                        ("notifications/message", {"level": HOSTILE, "data": HOSTILE}),
                        (HOSTILE, {HOSTILE: HOSTILE}),
                    )
                ),
                json.dumps({"jsonrpc": "2.0", "id": HOSTILE, "result": {}}),
                json.dumps({"jsonrpc": "2.0", "id": 8, "error": {"code": 1, "message": HOSTILE}}),
                json.dumps({"jsonrpc": "2.0", "id": HOSTILE, "method": HOSTILE}),
            ]
        }
    },
    "stderr": {"stderr": ONE_LINE, "ends": "tools/call"},
    "dies": {"stderr": ONE_LINE, "ends": "initialize"},
}


@pytest.mark.parametrize("field", SAID)
@pytest.mark.parametrize("format", ["text", "json"])
def test_call_shows_what_a_server_says_without_escapes(
    field: str, format: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server = raw(tmp_path, **{"speaks": "2025-11-25", **SAID[field]})
    caplog.set_level(logging.DEBUG)
    for words in (["--list", "--", *server], ["--", *server, "t"]):
        trace = tmp_path / "trace.jsonl"
        done = invoke("call", "--format", format, "--trace", trace, *words)
        check(done, shown=False)
    assert is_inert(caplog.text)
    assert FAKE.findall(caplog.text) == []


def test_call_names_what_is_not_there_without_escapes() -> None:
    check(invoke("call", "--", HOSTILE, "t"))
    check(invoke("call", f"http://127.0.0.1:1/{HOSTILE}", "t"), shown=False)
    check(invoke("call", "--header", HOSTILE, "http://127.0.0.1:1", "t"), shown=False)
    check(invoke("call", "--revision", HOSTILE, "--exact", "--", sys.executable, "s", "t"))
    check(invoke("call", "--", sys.executable, HOSTILE))
    check(invoke("call", "--", sys.executable, "s", "t", f"{{{HOSTILE}"), shown=False)


@pytest.mark.wide
def test_both_distributions_escape_every_character_that_steers() -> None:
    for plane in range(17):
        text = "".join(map(chr, range(plane << 16, (plane + 1) << 16)))
        assert is_inert(safe_text(text))
        assert is_inert(printable(text))
