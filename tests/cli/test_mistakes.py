"""The worst mistakes at the command line: what was typed, the one message, the exit status.

Each message names the place and says what to do, and none is a traceback.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from tests.support.command import invoke

TOOLS: Final = {"tools": [{"name": "add", "inputSchema": {"type": "object"}}]}
FILES: Final = {
    "tools.json": json.dumps(TOOLS),
    "empty.json": "",
    "broken.json": "{",
    "list.json": "[1]",
    "no_tools.json": "{}",
    "page.json": json.dumps({**TOOLS, "nextCursor": "2"}),
    "error.json": '{"error": {"code": 1, "message": "x"}}',
    "broken.ts": "export interface A {",
    "empty.ts": "",
    "notes.txt": "hello",
    "server.py": "print('not a server'",
    "message.json": '{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}',
    "ignore.toml": "[[ignore",
    "mcp.json": "{",
}
MISTAKES: Final[list[tuple[str, str]]] = [
    # ---- verbs and options
    ("cal server.py add", "There is no verb 'cal'. Did you mean call?"),
    ("LIST", "There is no verb 'LIST'."),
    ("call", "Missing argument"),
    ("call --lst server.py", "No such option '--lst'. (Did you mean one of: '--list'"),
    ("call --timeout soon server.py add", "'soon' is not a valid number of seconds"),
    ("call --timeout 0 server.py add", "0 is not in the range"),
    ("call --format yaml server.py add", "'yaml' is not one of"),
    ("call --list --read x://y server.py", "--list and --read cannot go together."),
    ("call --exact server.py add", "--exact goes with --revision."),
    # ---- call
    ("call server.py", "no TOOL is named"),
    ("call python server.py", "no TOOL is named"),
    ("call absent.py add a=1", "there is no file absent.py\nName a script"),
    ("call absent-program add a=1", "absent-program"),
    ("call tools.json add a=1", "tools.json is a file, and not a program\nName a script"),
    ("call server.py add {a:1}", "the arguments are not JSON: Expecting property name"),
    ("call server.py add [1]", "the arguments are not a JSON object"),
    ("call --json [1] server.py add", "the arguments are not a JSON object"),
    (
        "call --json {} server.py add a=1",
        "the arguments are JSON or name=value, not both\nLeave one out.",
    ),
    ("call http://127.0.0.1:1/mcp add b", "after a URL come a tool and its arguments"),
    ("call --list http://127.0.0.1:1/mcp", "check the host and the port"),
    ("call --list ftp://example.com", "begins with http:// or https://, not as 'ftp://example"),
    ("call --header Token --list http://127.0.0.1:1/", "a header is a name, a colon and a value"),
    ("call --header A:b --list -- absent-program", "a header is for a server that has a URL"),
    ("call --login --list -- absent-program", "one signs in to a server that has a URL"),
    ("call --logout server.py", "one signs in to, and out of, a server that has a URL"),
    ("call --proxy nonsense --list http://127.0.0.1:1/", "--proxy is not the URL of a proxy"),
    ("call --cacert absent.pem --list https://127.0.0.1:1/", "absent.pem: cannot be read"),
    ("call --cacert notes.txt --list https://127.0.0.1:1/", "holds no certificate in PEM"),
    ("call --revision 2020-01-01 --list -- absent-program", "2020-01-01"),
    ("call --trace notes.txt --list -- absent-program", "holds something other than a trace"),
    ("call --complete greet --format yaml server.py", "'yaml' is not one of"),
    # ---- diff
    ("diff", "OLD and NEW are needed"),
    ("diff 2025-06-18", "OLD and NEW are needed"),
    ("diff 2025-06-18 2025-06-19", "2025-06-19"),
    ("diff 2025-06-18 absent.ts", "absent.ts"),
    ("diff 2025-06-18 broken.ts", "broken.ts:1"),
    ("diff 2025-06-18 empty.ts", "empty.ts"),
    ("diff tools.json tools.json", "mcp-bindgen diff --tools OLD NEW"),
    ("diff --tools tools.json absent.json", "absent.json: is not a readable file, a program or"),
    ("diff --tools tools.json empty.json", "empty.json: is empty"),
    ("diff --tools tools.json broken.json", "broken.json:1:2: is not JSON"),
    ("diff --tools tools.json list.json", "expected the result of `tools/list`"),
    ("diff --tools tools.json no_tools.json", "expected the result of `tools/list`"),
    ("diff --tools tools.json page.json", "the list of tools goes on"),
    ("diff --tools tools.json error.json", "is an error response, which lists no tools"),
    ("diff --tools tools.json git:HEAD", "git:HEAD names no file"),
    ("diff --explain NO_SUCH_RULE", "no rule is called 'NO_SUCH_RULE'"),
    ("diff 2025-06-18 2025-11-25 --ignore ignore.toml", "ignore.toml"),
    ("diff 2025-06-18 2025-11-25 --output absent/report.html", "absent/report.html"),
    # ---- generate, inspect, convert, validate
    ("generate 2020-01-01", "2020-01-01"),
    ("generate 2025-11-25 --flavour attr", "attr"),
    ("inspect 2025-11-25 Tol", "Tol"),
    ("inspect 2020-01-01", "2020-01-01"),
    ("convert message.json --from 2025-11-25", "--to"),
    ("convert absent.json --from 2025-11-25 --to 2025-06-18", "absent.json"),
    ("convert broken.json --from 2025-11-25 --to 2025-06-18", "broken.json"),
    ("validate --revision 2020-01-01 message.json", "2020-01-01"),
    ("validate message.json", "--revision is needed, or --extension."),
    # ---- projects, hosts and clients
    ("new 1st --yes", "1st"),
    ("new a --from-tools absent.json --yes", "absent.json: is not a readable file, a program or"),
    ("new a --transports smtp --yes", "smtp"),
    ("update", "this is not a project of mcp-bindgen\nGo to the folder"),
    ("run absent.py", "absent.py"),
    ("run server.py", "server.py"),
    ("trace absent.jsonl", "absent.jsonl"),
    ("install server.py --client notepad", "notepad"),
    ("client Weather --from tools.json", "'Weather' does not name a Python module"),
    ("client weather --check", "weather/mcp-tools.lock is not there"),
    ("bridge", "bridge"),
    ("adopt absent.py", "absent.py"),
]


def test_there_are_sixty_mistakes() -> None:
    assert len({typed for typed, _ in MISTAKES}) == len(MISTAKES) >= 60


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("typed", "said"), MISTAKES, ids=[typed for typed, _ in MISTAKES])
def test_a_mistake_has_one_message_and_status_2(typed: str, said: str, folder: Path) -> None:
    before = sorted(folder.rglob("*"))
    done = invoke(*typed.split())
    assert done.exit_code == 2, done.output
    assert done.stdout == ""
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) <= 8
    assert sorted(folder.rglob("*")) == before
