"""Opening a connection to servers of any age: how they take the probe, and how long they have."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from mcp_runtime import Client
from mcp_runtime.client.server_memory import OF_PROCESS, ServerMemory
from mcp_runtime.errors import (
    BadAnswer,
    Disconnected,
    NoCommonRevision,
    SessionError,
    TimedOut,
)
from mcp_runtime.limits import DEFAULT, REMEMBERED_SERVERS, Limits
from tests.support.json_peers import NEWEST

pytestmark = pytest.mark.real_time

OLD_SERVER: Final = '''
import json, os, sys, time
behaviour, log, wait = sys.argv[1:]
started = time.time()
def say(message):
    print(message if isinstance(message, str) else json.dumps(message), flush=True)
def note(what):
    with open(log, "a") as file:
        file.write(what + "\\n")
def error(code, id, **data):
    say({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": "no", **data}})
def spoiled(id):
    """What this server does of a first request that it does not know, or exits."""
    kind, _, code = behaviour.partition(" ")
    if kind == "dies":
        sys.exit(int(code or 1))
    if kind == "slow":
        os._exit(1)
    if kind == "closes":
        os.close(1)
    if kind == "says":
        say(code)
    if kind == "idless":
        error(int(code), None)
    if kind == "refuses":
        error(int(code), id)
        return False
    return kind not in ("idless", "logs")
note("start")
if behaviour == "slow":
    time.sleep(float(wait))
if behaviour == "logs":
    say("INFO: starting")
    say("[1, 2")
dead = False
for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    note(method)
    if dead:
        continue
    if method == "initialize":
        result = {"protocolVersion": "2024-11-05", "capabilities": {"tools": {}}}
        result["serverInfo"] = {"name": "old", "version": "1"}
        say({"jsonrpc": "2.0", "id": message["id"], "result": result})
    elif method == "tools/list":
        say({"jsonrpc": "2.0", "id": message["id"], "result": {"tools": []}})
    elif method == "server/discover":
        if behaviour == "logs":
            say("ERROR: unknown method server/discover")
            error(-32601, message["id"])
        else:
            dead = spoiled(message["id"])
'''
QUICK: Final = Limits(probe=0.6, close_wait=0.1)


class OldServer:
    """A program that speaks 2024-11-05; what it is sent after each start is in its log."""

    def __init__(self, folder: Path, behaviour: str, *, wait: float = 0) -> None:
        self.log = folder / "log"
        script = folder / "server.py"
        script.write_text(OLD_SERVER, "utf-8")
        self.command = [sys.executable, "-S", str(script), behaviour, str(self.log), str(wait)]

    def starts(self) -> list[list[str]]:
        """By start, the methods that came."""
        starts: list[list[str]] = []
        for line in self.log.read_text("utf-8").split("\n")[:-1]:
            starts.append([]) if line == "start" else starts[-1].append(line)
        return starts

    def client(self, **options: Any) -> Client:
        return Client.stdio(self.command, **({"limits": QUICK} | options))


HANDSHAKE: Final = ["initialize", "notifications/initialized", "tools/list"]
SPOILED: Final = {
    "death": "dies",
    "death with status 0": "dies 0",
    "a closed stream": "closes",
    "silence": "is silent",
    "garbage": "says Traceback (most recent call last):",
    "null": "says null",
    "HTML": "says <html><body>Bad request</body></html>",
    "half an answer": 'says {"jsonrpc":"2.0","id":1,"result":',
}
REFUSED: Final = ("-32602", "-32601", "-32022", "-32020", "-32600", "0")


@pytest.mark.parametrize("behaviour", SPOILED.values(), ids=SPOILED)
async def test_a_server_that_does_not_survive_the_probe_is_started_once_more(
    behaviour: str, tmp_path: Path
) -> None:
    server = OldServer(tmp_path, behaviour)
    async with server.client() as client:
        assert client.revision == "2024-11-05"
        assert await client.list_tools() == []
    assert server.starts() == [["server/discover"], HANDSHAKE]


async def test_a_server_that_starts_slowly_and_dies_of_the_probe_is_started_once_more(
    tmp_path: Path,
) -> None:
    server = OldServer(tmp_path, "slow", wait=1.5)
    async with server.client() as client:
        assert await client.list_tools() == []
    assert server.starts() == [["server/discover"], HANDSHAKE]


@pytest.mark.parametrize("code", REFUSED)
@pytest.mark.parametrize("answer", ["refuses", "idless"])
async def test_a_server_that_refuses_the_probe_shakes_hands_at_once(
    answer: str, code: str, tmp_path: Path
) -> None:
    server = OldServer(tmp_path, f"{answer} {code}")
    async with server.client() as client:
        assert await client.list_tools() == []
    assert server.starts() == [["server/discover", *HANDSHAKE]]


async def test_log_lines_before_the_answer_are_no_answer(tmp_path: Path) -> None:
    server = OldServer(tmp_path, "logs")
    async with server.client(limits=Limits()) as client:
        assert await client.list_tools() == []
    assert server.starts() == [["server/discover", *HANDSHAKE]]


async def test_a_slow_server_is_neither_restarted_nor_asked_twice(tmp_path: Path) -> None:
    script = (
        f"import sys, time; time.sleep(1.5); sys.path.insert(0, {sys.path[0]!r})\n"
        "from mcp_runtime import Server\n"
        "print('once', file=sys.stderr)\n"
        "Server('s', '1').run()"
    )
    said: list[bytes] = []
    command = [sys.executable, "-c", script]
    async with Client.stdio(command, limits=Limits(probe=0.3), stderr=said.append) as client:
        assert client.revision == NEWEST
    assert b"".join(said).count(b"once") == 1


async def test_what_a_command_speaks_is_remembered_for_the_process(tmp_path: Path) -> None:
    server = OldServer(tmp_path, "dies")
    for _ in range(2):
        async with server.client() as client:
            await client.list_tools()
    assert server.starts() == [["server/discover"], HANDSHAKE, HANDSHAKE]


@pytest.mark.parametrize("options", [{"revisions": ["2024-11-05"]}, {"era": "handshake"}])
async def test_a_command_with_which_a_client_shook_hands_unasked_is_asked_by_the_next(
    options: dict[str, Any], tmp_path: Path
) -> None:
    server = OldServer(tmp_path, "dies")
    for each in (options, {}):
        async with server.client(**each) as client:
            await client.list_tools()
    assert server.starts() == [HANDSHAKE, ["server/discover"], HANDSHAKE]


async def test_what_is_remembered_wrongly_is_found_out_again(tmp_path: Path) -> None:
    script = tmp_path / "server.py"
    command = [sys.executable, str(script)]
    OF_PROCESS.remember(("command", *command, None), "handshake")
    script.write_text(
        "import json, os, sys\n"
        "if json.loads(sys.stdin.readline())['method'] == 'initialize': os._exit(1)\n"
        "print(json.dumps({'jsonrpc': '2.0', 'id': 1, 'result': {'resultType': 'complete',"
        f" 'supportedVersions': [{NEWEST!r}], 'capabilities': {{}}, 'ttlMs': 0,"
        " 'cacheScope': 'private'}}), flush=True)\n"
        "sys.stdin.read()\n"
    )
    async with Client.stdio(command, limits=QUICK) as client:
        assert client.revision == NEWEST


def test_no_more_servers_are_remembered_than_the_limit() -> None:
    memory = ServerMemory()
    for number in range(REMEMBERED_SERVERS + 5):
        memory.remember(number, "handshake")
    assert [memory.recall(0), memory.recall(4), memory.recall(5)] == [None, None, "handshake"]
    memory.remember(5, None)
    assert memory.recall(5) is None


async def test_with_the_handshake_era_no_server_is_probed(tmp_path: Path) -> None:
    server = OldServer(tmp_path, "dies")
    async with server.client(era="handshake") as client:
        await client.list_tools()
    assert server.starts() == [HANDSHAKE]


async def test_a_server_that_dies_in_any_case_is_started_twice_at_most(
    tmp_path: Path,
) -> None:
    log = tmp_path / "log"
    script = f"open({str(log)!r}, 'a').write('start '); input(); 1 / 0"
    with pytest.raises(Disconnected, match="ZeroDivisionError"):
        async with Client.stdio([sys.executable, "-c", script], stderr="capture"):
            pass
    assert log.read_text() == "start start "


async def test_a_server_that_never_read_the_probe_did_not_die_of_it(tmp_path: Path) -> None:
    log = tmp_path / "log"
    script = f"open({str(log)!r}, 'a').write('start '); import nowhere"
    with pytest.raises(Disconnected, match="No module named 'nowhere'"):
        async with Client.stdio([sys.executable, "-c", script], stderr="capture"):
            pass
    assert log.read_text() == "start "


async def test_a_client_without_handshakes_does_not_try_one(tmp_path: Path) -> None:
    server = OldServer(tmp_path, "dies")
    with pytest.raises(SessionError):
        async with server.client(revisions=[NEWEST]):
            pass
    assert server.starts() == [["server/discover"]]


async def test_a_server_that_names_its_versions_is_believed(tmp_path: Path) -> None:
    script = (
        "import json, sys\n"
        "id = json.loads(sys.stdin.readline())['id']\n"
        "error = {'code': -32022, 'message': '', 'data': {'supported': ['2030-01-01']}}\n"
        "print(json.dumps({'jsonrpc': '2.0', 'id': id, 'error': error}), flush=True)\n"
        "sys.stdin.read()\n"
    )
    with pytest.raises(NoCommonRevision, match="2030-01-01"):
        async with Client.stdio([sys.executable, "-S", "-c", script]):
            pass


# ---- time


SILENT: Final = [
    sys.executable,
    "-S",
    "-c",
    "import sys; print('busy', file=sys.stderr); sys.stdin.read()",
]


async def test_the_timeout_is_for_opening_too(tmp_path: Path) -> None:
    with pytest.raises(TimedOut, match="busy") as raised:
        async with Client.stdio(SILENT, timeout=2, stderr="capture", limits=QUICK):
            pass
    assert raised.value.method == "initialize"


async def test_a_started_command_has_a_minute_for_its_first_answer() -> None:
    assert DEFAULT.first_answer == 60
    limits = Limits(first_answer=1.2, deadline=0.1, probe=0.1, close_wait=0.1)
    with pytest.raises(TimedOut, match=r"within (?!0\.1 s)"):
        async with Client.stdio(SILENT, stderr="drop", limits=limits):
            pass


async def test_a_slow_command_has_as_long_as_the_timeout(tmp_path: Path) -> None:
    server = OldServer(tmp_path, "slow", wait=1.5)
    async with server.client(limits=Limits(first_answer=0.5), timeout=20) as client:
        await client.list_tools()


async def test_only_a_server_that_ended_by_itself_has_an_exit_code_in_the_error() -> None:
    script = """
import sys
for line in sys.stdin:
    print('{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}', flush=True)
"""
    with pytest.raises(BadAnswer, match=r"protocolVersion`$"):
        async with Client.stdio([sys.executable, "-S", "-c", script], era="handshake"):
            pass


async def test_what_a_server_said_before_it_ended_is_in_the_error() -> None:
    script = "import sys; print('a\\x1b[31m', *range(100), sep='\\n', file=sys.stderr); sys.exit(3)"
    with pytest.raises(Disconnected) as raised:
        async with Client.stdio([sys.executable, "-S", "-c", script], stderr="capture"):
            pass
    text = str(raised.value)
    assert text.startswith("the server has ended before it said what it speaks (exit code 3); its ")
    assert text.endswith("\n98\n99")
    assert len(text.split("\n")) <= 21
    assert "\x1b" not in text


async def test_what_a_server_says_on_its_standard_error_is_shown_without_escapes(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    script = tmp_path / "server.py"
    script.write_text(
        f"import sys; sys.path.insert(0, {sys.path[0]!r})\n"
        "from mcp_runtime import Server\n"
        "sys.stderr.buffer.write('\\x1b]0;x\\x07 h\u00e9 \u202e \\x9b'.encode() + b'\\xff\\r\\n')\n"
        "Server('s', '1').run()\n",
        "utf-8",
    )
    async with Client.stdio([sys.executable, str(script)]):
        pass
    assert capsys.readouterr().err == "\\u001b]0;x\\u0007 h\u00e9 \\u202e \\u009b\ufffd\n"


async def test_a_restart_for_the_handshake_is_logged(
    caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    with caplog.at_level(logging.INFO, "mcp_runtime.client"):
        async with OldServer(tmp_path, "dies").client():
            pass
    assert [record.getMessage() for record in caplog.records] == [
        "the server has ended before it said what it speaks; "
        "starting the server once more, with initialize"
    ]
