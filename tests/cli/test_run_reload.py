"""`run --reload`: a process that serves is replaced when a file of the server changes."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType

import pytest

import mcp_runtime
from mcp_bindgen.cli.run.reload import Reloader
from mcp_bindgen.cli.run.target import file_of, server_of
from mcp_bindgen.cli.run.watched import Watched, failed_files, imported_files
from mcp_bindgen.errors import InputError
from tests.support.command import run, run_here


def write(file: Path, text: str = "", second: int = 1) -> str:
    """Write a file as if at this second since the epoch."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    os.utime(file, (second, second))
    return str(file)


def edit(file: Path, second: int = 2) -> None:
    write(file, second=second)


# ---- the files


def test_a_file_is_changed_that_is_written_made_or_removed(tmp_path: Path) -> None:
    folder = tmp_path / "app"
    kept, written, removed = (write(folder / f"{name}.py") for name in ("k", "w", "r"))
    elsewhere = write(tmp_path / "lib" / "e.py")
    watched = Watched(folder)
    watched.add([elsewhere, kept])
    assert watched.changed() == []
    write(Path(written), second=2)
    Path(removed).unlink()
    made = write(folder / "made.py")
    write(folder / "notes.txt")
    write(tmp_path / "lib" / "other.py")
    assert watched.changed() == sorted([made, removed, written])
    assert watched.changed() == []
    write(Path(elsewhere), second=2)
    assert watched.changed() == [elsewhere]


def test_a_file_that_is_named_again_keeps_its_change(tmp_path: Path) -> None:
    file = write(tmp_path / "lib" / "e.py")
    watched = Watched(tmp_path)
    watched.add([file])
    write(Path(file), second=2)
    watched.add([file])
    assert watched.changed() == [file]


def test_local_modules_are_watched_and_no_libraries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    local = str(tmp_path / "lib" / "local.py")
    installed = str(tmp_path / "site-packages" / "installed.py")
    for name, file in {"local_": local, "installed_": installed}.items():
        module = ModuleType(name)
        module.__file__ = file
        monkeypatch.setitem(sys.modules, name, module)
    imported = imported_files()
    assert local in imported
    assert not imported & {installed, os.__file__, pytest.__file__, mcp_runtime.__file__}


@pytest.mark.parametrize("text", ["def f(:\n", "raise LookupError('no settings')\n"])
def test_a_module_that_fails_is_watched_with_those_that_import_it(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = write(tmp_path / "lib" / "broken_settings.py", text)
    server = write(tmp_path / "app" / "imports_settings.py", "import broken_settings\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "lib"), *sys.path])
    monkeypatch.delitem(sys.modules, "imports_settings", raising=False)
    with pytest.raises(InputError) as failed:
        server_of(server)
    sys.modules.pop("imports_settings", None)
    assert {server, broken} <= failed_files(failed.value)


def test_the_file_of_a_server_is_found_without_importing_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "never" / "__init__.py", "raise LookupError")
    file = write(tmp_path / "never" / "imported.py", "raise LookupError")
    for target in ("never.imported", "never.imported:server", file, "never/imported.py:server"):
        assert file_of(target) == Path(file)
    assert file_of("never") == tmp_path / "never" / "__init__.py"
    for target in ("never.absent", "absent.module", "absent.py", "never/imported", "sys"):
        with pytest.raises(InputError):
            file_of(target)


# ---- the processes


Step = Callable[[], Iterable[str] | None]
"""Return the files which are imported by then, if there are new ones."""


class Processes:
    """Starts processes of no operating system: each look at one does the next step."""

    def __init__(self, folder: Path, *steps: Step) -> None:
        self.events = list[str]()
        self.exit_status: int | None = None
        self.while_ending: Callable[[], None] = lambda: None
        self.reloader = Reloader(self._start, Watched(folder))
        self._steps = [*steps, self.signal]

    def signal(self) -> None:
        """End the supervisor, as a signal does."""
        self.reloader.end(signal.SIGTERM, None)

    def _start(self) -> Processes:
        self.events.append("start")
        return self

    def imported(self, seconds: float) -> Iterable[str]:
        return self._steps.pop(0)() or ()

    def status(self) -> int | None:
        return self.exit_status

    def end(self) -> None:
        self.events.append("end")
        self.while_ending()

    def kill(self) -> None:
        self.events.append("kill")


def test_a_change_ends_the_process_before_the_next_one_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "server.py"
    write(file)
    processes = Processes(tmp_path, lambda: None, lambda: edit(file), lambda: None)
    assert processes.reloader.run() == 0
    assert processes.events == ["start", "end", "start", "end"]
    assert capsys.readouterr().err == "server.py changed: the server starts again\n"


def test_a_module_that_is_imported_late_is_watched(tmp_path: Path) -> None:
    late = tmp_path / "lib" / "late.py"
    app = tmp_path / "app"
    app.mkdir()
    processes = Processes(app, lambda: [write(late)], lambda: edit(late))
    processes.reloader.run()
    assert processes.events == ["start", "end", "start", "end"]


def test_a_change_while_a_process_ends_starts_one_process(tmp_path: Path) -> None:
    file = tmp_path / "server.py"
    write(file)
    processes = Processes(tmp_path, lambda: edit(file), lambda: None)
    processes.while_ending = lambda: edit(file, 3)
    processes.reloader.run()
    assert processes.events == ["start", "end", "start", "end"]


def test_a_server_that_has_ended_starts_again_when_a_file_changes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "server.py"
    write(file)
    processes = Processes(
        tmp_path,
        lambda: setattr(processes, "exit_status", 2),
        lambda: None,
        lambda: edit(file),
        lambda: setattr(processes, "exit_status", None),
    )
    assert processes.reloader.run() == 0
    assert processes.events == ["start", "end", "start", "end"]
    assert capsys.readouterr().err == (
        "the server has ended (2); it starts again when a file changes\n"
        "server.py changed: the server starts again\n"
    )


def test_a_second_signal_does_not_wait_for_calls(tmp_path: Path) -> None:
    processes = Processes(tmp_path)
    processes.while_ending = processes.signal
    assert processes.reloader.run() == 0
    assert processes.events == ["start", "end", "kill"]


# ---- the command


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "--reload goes with --http. On standard input and output a session ends with its"),
        (["--http", ":0", "--workers", "2"], "--reload goes with one worker"),
        (["--http", ":0", "--inspect"], "--inspect goes without --http and --reload"),
    ],
)
def test_reload_is_refused_where_a_session_cannot_be_opened_anew(
    server: str, options: list[str], said: str
) -> None:
    done = run_here("run", "--reload", *options, server)
    assert (done.returncode, done.stdout) == (2, b"")
    assert said in done.stderr.decode()


def test_a_server_that_is_not_there_is_not_waited_for(tmp_path: Path) -> None:
    done = run_here("run", "--reload", "--http", "127.0.0.1:0", tmp_path / "absent.py")
    assert done.returncode == 2
    assert b"there is no file" in done.stderr


SERVER = """
from mcp_runtime import Server
server = Server("s", "1")
@server.tool
def answer() -> str:
    return "{}"
"""


def line_of(process: subprocess.Popen[str], pattern: str) -> str:
    assert process.stderr is not None
    for line in process.stderr:
        if match := re.search(pattern, line):
            return match[0]
    raise AssertionError("the server has ended")


@pytest.mark.wide
@pytest.mark.real_time
def test_the_address_stays_while_a_server_is_changed_broken_and_mended(tmp_path: Path) -> None:
    file = tmp_path / "s.py"
    write(file, SERVER.format("first"))
    serve = ("run", "--reload", "--http", "127.0.0.1:0", str(file))
    command = [sys.executable, "-m", "mcp_bindgen", *serve]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        url = line_of(process, r"http://\S+")
        assert run("call", url, "answer").stdout == b"first\n"
        write(file, "def f(:", second=2)
        assert line_of(process, "s.py changed")
        assert line_of(process, "SyntaxError")
        assert line_of(process, r"has ended \(2\)")
        write(file, SERVER.format("second"), second=3)
        assert line_of(process, r"http://\S+") == url
        assert run("call", url, "answer").stdout == b"second\n"
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        assert process.returncode == 0
    finally:
        process.kill()
        process.communicate()
