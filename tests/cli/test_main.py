"""The command as a whole: how it starts, and every way to end."""

from __future__ import annotations

import ast
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from mcp_bindgen import __version__, cli, pins
from mcp_bindgen.errors import BindgenError
from tests.support.command import invoke, run
from tests.support.wide import wide_but

COMMAND: Final = [sys.executable, "-m", "mcp_bindgen"]
FULL: Final = Path("/dev/full")
NEWEST: Final = pins.revisions()[-1]
HEAVY: Final = {"jinja2", "rich", "tree_sitter", "urllib.request", "mcp_bindgen.emit"}


def test_the_version_is_said() -> None:
    assert invoke("--version").stdout == f"mcp-bindgen {__version__}\n"


@pytest.mark.parametrize("verb", cli.VERBS)
def test_every_verb_has_help(verb: str) -> None:
    assert invoke(verb, "--help").stdout.startswith("Usage:")
    assert verb in invoke("--help").stdout


def test_help_loads_no_verb() -> None:
    code = (
        "import sys\nfrom mcp_bindgen.cli import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        f"print(sorted(m for m in sys.modules if m in {HEAVY!r} or '.cli.' in m), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stderr == "[]\n"


@pytest.mark.parametrize("arguments", [["fetch"], ["generate", "--fast"], ["inspect"], []])
def test_wrong_usage_ends_with_2(arguments: list[str]) -> None:
    result = invoke(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr


def test_an_error_is_one_message_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise BindgenError("it \x1b[31mbroke\u202e\r", remedy="Mend it.")

    monkeypatch.setattr(pins, "find", fail)
    result = invoke("inspect", "2025-11-25")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "mcp-bindgen: it \\u001b[31mbroke\\u202e\\r\nMend it.\n"


def test_a_fault_of_the_system_is_said_without_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise PermissionError(13, "Permission denied", "schema.ts")

    monkeypatch.setattr(pins, "find", fail)
    result = invoke("inspect", "2025-11-25")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "mcp-bindgen: schema.ts: Permission denied\n"


def test_an_interrupt_ends_with_130(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(pins, "lower", interrupted)
    assert invoke("generate", "--out", tmp_path / "out").exit_code == cli.INTERRUPTED
    assert not (tmp_path / "out").exists()


TELLS_OF_ITS_WORK: Final = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored where tests are run
from mcp_bindgen import emit
from mcp_bindgen.cli import main
generate = emit.generate
def tell(*args):
    print("at work", flush=True)
    return generate(*args)
emit.generate = tell
main()
"""


@pytest.mark.wide
def test_a_signal_leaves_the_old_files(tmp_path: Path) -> None:
    assert invoke("generate", "2024-11-05", "--out", tmp_path / "out").exit_code == cli.OK
    held = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*.py")}
    arguments = ["generate", "2024-11-05", "--unknown", "drop", "--out", str(tmp_path / "out")]
    command = [sys.executable, "-c", TELLS_OF_ITS_WORK, *arguments]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"at work\n"
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=60)
    assert child.returncode in (130, 0)
    now = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*.py")}
    assert child.returncode == 0 or now == held
    assert not list((tmp_path / "out").rglob(".mcp-bindgen-*"))


def test_a_closed_pipe_is_no_fault() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    arguments = [*COMMAND, "inspect", "2025-11-25"]
    done = subprocess.run(arguments, stdout=writer, stderr=subprocess.PIPE, timeout=60)
    os.close(writer)
    assert (done.returncode, done.stderr) == (cli.CLOSED, b"")


@pytest.mark.drawn
@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    "arguments",
    [
        ("inspect", "2025-11-25"),
        ("inspect", "2025-11-25", "Tool"),
        ("inspect", "2025-11-25", "Tool", "--format", "json"),
        ("diff", "--explain", "MEMBER_MOVED"),
        ("validate", "--revision", "2025-11-25", "{message}"),
        ("validate", "--revision", "2025-11-25", "--format", "json", "{message}"),
        ("validate", "--revision", "2025-11-25", "--format", "json", "-"),
    ],
    ids=" ".join,
)
def test_output_that_cannot_be_written_is_code_2(
    arguments: tuple[str, ...], unbuffered: str, tmp_path: Path
) -> None:
    message = tmp_path / "message.json"
    message.write_text('{"jsonrpc": "2.0", "id": 1, "method": "ping"}')
    with FULL.open("wb") as full, message.open("rb") as stdin:
        done = subprocess.run(
            [*COMMAND, *(argument.format(message=message) for argument in arguments)],
            stdin=stdin,
            stdout=full,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            timeout=60,
        )
    expected = b"mcp-bindgen: standard output cannot be written: No space left on device\n"
    assert (done.returncode, done.stderr) == (cli.COULD_NOT, expected)


def test_verbs_write_by_one_function_to_each_stream(root: Path) -> None:
    calls = [
        f"{path.name}:{node.lineno}"
        for path in (root / "codegen" / "mcp_bindgen" / "cli").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("click.echo", "print")
    ]
    assert [call.partition(":")[0] for call in calls] == ["show.py", "show.py"], calls


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("arguments", [("--version",), ("--help",), ("inspect", "--help")])
def test_help_that_cannot_be_written_is_code_2(arguments: tuple[str, ...]) -> None:
    with FULL.open("wb") as full:
        done = subprocess.run(
            [*COMMAND, *arguments], stdout=full, stderr=subprocess.PIPE, timeout=60
        )
    message = b"mcp-bindgen: No space left on device\n"
    assert (done.returncode, done.stderr) == (cli.COULD_NOT, message)


WRITERS: Final = [
    "generate 2024-11-05 --out {}",
    f"new weather --revisions {NEWEST} --into {{}}",
]


@pytest.mark.wide
def test_standard_output_may_be_closed() -> None:
    shell = f"{sys.executable} -m mcp_bindgen inspect 2025-11-25 Tool >&-"
    done = subprocess.run(shell, shell=True, stderr=subprocess.PIPE, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (cli.OK, b"")


@pytest.mark.wide
@pytest.mark.parametrize("words", wide_but(WRITERS[:1], WRITERS))
def test_standard_error_may_be_closed(words: str, tmp_path: Path) -> None:
    shell = f"{sys.executable} -m mcp_bindgen {words.format(tmp_path / 'out')} 2>&-"
    done = subprocess.run(shell, shell=True, stdout=subprocess.PIPE, timeout=60, check=False)
    assert done.returncode == cli.OK
    assert any((tmp_path / "out").iterdir())


def test_a_message_for_a_closed_standard_error_goes_nowhere() -> None:
    shell = f"{sys.executable} -m mcp_bindgen inspect nowhere 2>&-"
    done = subprocess.run(shell, shell=True, stdout=subprocess.PIPE, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (cli.COULD_NOT, b"")


@pytest.mark.wide
@pytest.mark.drawn
@pytest.mark.parametrize("locale", ["C", "POSIX", "C.UTF-8"])
def test_output_is_the_same_in_every_locale(locale: str) -> None:
    plain = run("inspect", "2025-11-25", "Tool", env={"PYTHONIOENCODING": "utf-8"})
    variables = {"LC_ALL": locale, "PYTHONIOENCODING": "ascii"}
    other = run("inspect", "2025-11-25", "Tool", env=variables)
    assert plain.returncode == other.returncode == 0
    assert other.stdout == plain.stdout
    assert other.stderr == b""


@pytest.mark.wide
def test_a_terminal_sees_progress_and_a_pipe_only_the_result(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [*COMMAND, "generate", "2024-11-05", "--out", str(tmp_path / "out")],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "80"},
    )
    os.close(theirs)
    said, _ = child.communicate(timeout=60)
    shown = b""
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:
            break
        if not chunk:
            break
        shown += chunk
    os.close(ours)
    assert child.returncode == 0
    assert b"\x1b" in shown
    assert b"2024-11-05" in shown
    assert b"\x1b" not in said
    assert said.count(b"\n") == 1
