"""`replay`: the recorded server answers again, and another request is no recorded one."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any, Final

import pytest

from mcp_runtime import Client, Context, Server
from mcp_runtime.revisions import ALL
from mcp_runtime.trace import TraceFile
from tests.support.command import invoke


def server() -> Server:
    server, calls = Server("counting", "1"), list[int]()

    @server.tool
    async def count(ctx: Context, by: int, password: str = "") -> int:
        calls.append(by)
        await ctx.progress(1, 2, "halfway")
        return sum(calls)

    return server


async def recorded(revision: str) -> bytes:
    """A trace of a client that counts by 2, by 2 and by 3."""
    file = io.BytesIO()
    async with Client(server(), revisions=[revision], trace=TraceFile(file)) as client:
        await client.list_tools()
        for by in (2, 2, 3):
            arguments = {"by": by, "password": "hunter2"}
            await client.call_tool("count", arguments, on_progress=print)
    return file.getvalue()


def sent_in(trace: bytes) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in trace.splitlines()]
    return [line["message"] for line in lines if line["direction"] == "sent"]


def played(file: Path, messages: list[dict[str, Any]], *options: str) -> tuple[int, list[Any]]:
    text = "".join(f"{json.dumps(message)}\n" for message in messages)
    result = invoke("replay", *options, file, input=text)
    return result.exit_code, [json.loads(line) for line in result.stdout.splitlines()]


@pytest.mark.parametrize("revision", [ALL[0], ALL[-1]])
async def test_the_same_requests_get_the_same_answers_with_their_own_ids(
    revision: str, tmp_path: Path
) -> None:
    file = tmp_path / "wire.jsonl"
    file.write_bytes(await recorded(revision))
    messages = sent_in(file.read_bytes())
    for message in messages:
        if "id" in message:
            message["id"] = f"new {message['id']}"
        if message.get("method") == "tools/call":
            message["params"]["_meta"]["progressToken"] = "token"
            message["params"]["arguments"]["password"] = "another one"
    for options in ((), ("--strict",)):
        code, answers = played(file, messages, *options)
        results = [each for each in answers if "result" in each]
        assert code == 0
        assert [each["id"] for each in results] == [m["id"] for m in messages if "id" in m]
        texts = [each["result"]["content"][0]["text"] for each in results[-3:]]
        assert [json.loads(text)["result"] for text in texts] == [2, 4, 7]
        tokens = {each["params"]["progressToken"] for each in answers if "method" in each}
        assert tokens == {"token"}


async def test_a_request_that_was_not_recorded_gets_an_error(tmp_path: Path) -> None:
    file = tmp_path / "wire.jsonl"
    file.write_bytes(await recorded(ALL[0]))
    messages = sent_in(file.read_bytes())
    other = {**messages[-1], "params": {"name": "count", "arguments": {"by": 9}}}
    code, answers = played(file, [other])
    assert (code, answers[0]["error"]["code"]) == (1, -32603)
    code, answers = played(file, [messages[-1]], "--strict")  # the handshake comes first
    assert (code, "error" in answers[0]) == (1, True)


FOREIGN: Final = ["", "{}", '{"direction": "sent"}', "[1]", "no JSON"]


@pytest.mark.parametrize("text", FOREIGN)
def test_a_file_without_exchanges_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "wire.jsonl"
    file.write_text(text, encoding="utf-8")
    result = invoke("replay", file)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "wire.jsonl" in result.stderr
