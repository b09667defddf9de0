"""Run public servers for real, under their own packages and under ours, and compare results.

Each server is started as its command starts it, with the libraries that it needs. It answers the
same calls in revisions before and after 2026-07-28, which only ours speaks: there the original's
results of 2025-06-18 are expected. Start, CPU time and memory are measured in turns.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from statistics import median
from typing import IO, Any, Final, cast

ROOT: Final = Path(__file__).parents[2]
ORIGINAL: Final = ("fastmcp>=2.12,<3", "mcp>=1.20,<2")
OURS: Final = ("msgspec", "click>=8.2", "jinja2", "rich>=14", "pydantic>=2.14", "jsonschema-rs")
LIBRARIES: Final = ("chardet", "openpyxl", "tzdata", "tzlocal")
REVISIONS: Final = ("2024-11-05", "2025-06-18")
MODERN: Final = "2026-07-28"
TURNS: Final = 5
START_BAR, MEMORY_BAR = 1 / 4, 1 / 2
META: Final = "io.modelcontextprotocol/"
_OURS_ALONE: Final = ("_meta", "resultType", "ttlMs", "cacheScope")


@dataclass(frozen=True)
class Row:
    """A server that is run: its package, the function that starts it, and calls of its tools.

    `{folder}` in arguments is a new folder with the file `text.txt`.
    """

    package: str
    start: str
    calls: tuple[tuple[str, Mapping[str, Any]], ...]
    arguments: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict[str, str])


ROWS: Final = (
    Row(
        "mcp_server_time",
        "mcp_server_time:main",
        (
            ("convert_time", {"source_timezone": "UTC", "time": "12:00", "target_timezone": "UTC"}),
            ("convert_time", {"source_timezone": "UTC", "time": "99", "target_timezone": "UTC"}),
            ("no_such_tool", {}),
        ),
        ("--local-timezone", "UTC"),
    ),
    Row(
        "mcp_server_calculator",
        "mcp_server_calculator:main",
        (
            ("calculate", {"expression": "2 * 21"}),
            ("calculate", {"expression": "nonsense"}),
            ("calculate", {}),
        ),
    ),
    Row(
        "mcp_server_sqlite",
        "mcp_server_sqlite:main",
        (
            ("create_table", {"query": "CREATE TABLE notes (id INTEGER, name TEXT)"}),
            ("write_query", {"query": "INSERT INTO notes VALUES (1, 'tea')"}),
            ("read_query", {"query": "SELECT * FROM notes"}),
            ("describe_table", {"table_name": "notes"}),
            ("read_query", {"query": "SELECT * FROM nowhere"}),
        ),
        ("--db-path", "{folder}/notes.db"),
    ),
    Row(
        "mcp_server_math",
        "mcp_server_math:main",
        (
            ("sum", {"numbers": [1, 2.5]}),
            ("divide", {"numbers": [1, 0]}),
            ("median", {"numbers": ["x"]}),
        ),
    ),
    Row(
        "mcp_text_editor",
        "mcp_text_editor:run",
        (
            (
                "get_text_file_contents",
                {"files": [{"file_path": "{folder}/text.txt", "ranges": [{"start": 1}]}]},
            ),
            ("get_text_file_contents", {}),
        ),
    ),
    Row(
        "mcp_shell_server",
        "mcp_shell_server:main",
        (
            ("shell_execute", {"command": ["cat", "text.txt"], "directory": "{folder}"}),
            ("shell_execute", {"command": ["rm", "text.txt"], "directory": "{folder}"}),
        ),
        settings={"ALLOW_COMMANDS": "cat"},
    ),
    Row(
        "fastmcp_calculator",
        "fastmcp_calculator.calculator:main",
        (("add", {"a": 1, "b": 2}), ("divide", {"a": 1, "b": 0}), ("add", {"a": "x", "b": 2})),
    ),
    Row(
        "calculator_service",
        "calculator_service.server:main",
        (("sqrt", {"number": 2}), ("factorial", {"n": "5"}), ("divide", {"a": 1, "b": 0})),
    ),
    Row(
        "base64mcp",
        "base64mcp.main:main_cli",
        (("encode", {"data": "tea"}), ("decode", {"data": "dGVh"}), ("decode", {"data": "é"})),
        settings={"TO_LOW": "false", "TO_UPPER": "true"},
    ),
    Row(
        "xlsx_mcp_server",
        "xlsx_mcp_server:main",
        (
            ("create_workbook", {"workbook_id": "w", "sheets": ["a", "b"]}),
            ("write_cell", {"workbook_id": "w", "sheet_name": "a", "cell": "A1", "value": 3}),
            ("read_range", {"workbook_id": "w", "sheet_name": "a", "range_ref": "A1:B2"}),
            ("read_cell", {"workbook_id": "none", "sheet_name": "a", "cell": "A1"}),
        ),
    ),
    Row(
        "mcp_mathematics",
        "mcp_mathematics.__main__:main",
        (
            ("calculate_expression", {"expr": "sin(0) + 2"}),
            ("calculate_statistics", {"data": [1, 2, 3], "operation": "mean"}),
            ("convert_units", {"value": 1, "from_unit": "km", "to_unit": "m"}),
        ),
    ),
    Row(
        "credential_manager_mcp",
        "credential_manager_mcp:main",
        (
            ("list_credentials", {}),
            ("get_credential_details", {"credential_id": "none"}),
            ("get_credential_details", {}),
        ),
    ),
)


@dataclass(frozen=True)
class Side:
    """An interpreter with one of the packages, and the words that start a server with it."""

    name: str
    python: Path
    settings: Mapping[str, str]
    is_ours: bool

    def command(self, row: Row) -> list[str]:
        if self.is_ours:
            return [
                str(self.python), "-m", "mcp_bindgen", "run", "--compat", row.start, "--",
                *row.arguments,
            ]  # fmt: skip
        module, _, function = row.start.partition(":")
        program = f"from {module} import {function} as start; start()"
        return [str(self.python), "-c", program, *row.arguments]


class Process:
    """A server that runs, and answers one request at a time."""

    def __init__(self, side: Side, row: Row, sources: Path, revision: str) -> None:
        self.revision = revision
        self._ids = count(1)
        self._folder = tempfile.TemporaryDirectory()
        (Path(self._folder.name) / "text.txt").write_text("a line\n", encoding="utf-8")
        path = os.pathsep.join([str(sources / row.package), side.settings.get("PYTHONPATH", "")])
        self.began = time.perf_counter()
        self._process = subprocess.Popen(
            [each.format(folder=self._folder.name) for each in side.command(row)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=self._folder.name,
            env={**_inherited(), **row.settings, "PYTHONPATH": path},
            text=True,
            encoding="utf-8",
        )

    def initialize(self) -> Any:
        """Open the session; in 2026-07-28 ask for the server's offer. Return the result."""
        if self.revision == MODERN:
            return self.request("server/discover", {})
        client = {"name": "adopt", "version": "1"}
        params = {"protocolVersion": self.revision, "capabilities": {}, "clientInfo": client}
        result = self.request("initialize", params)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return result

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Any:
        folder = self._folder.name
        given = json.loads(json.dumps(arguments).replace("{folder}", folder))
        answer = self.request("tools/call", {"name": tool, "arguments": given})
        return json.loads(json.dumps(answer).replace(folder, "FOLDER"))

    def request(self, method: str, params: dict[str, Any]) -> Any:
        """Return the result or the error of a request. Raises RuntimeError if the server ends."""
        if self.revision == MODERN:
            params["_meta"] = {
                f"{META}protocolVersion": MODERN,
                f"{META}clientInfo": {"name": "adopt", "version": "1"},
                f"{META}clientCapabilities": {},
            }
        number = next(self._ids)
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        for line in _open(self._process.stdout):
            message: dict[str, Any] = json.loads(line) if line.startswith("{") else {}
            if message.get("id") == number:
                answer: Any = message.get("result", message.get("error"))
                return plain(answer, self.revision)
        raise RuntimeError("the server has ended")

    def _send(self, message: dict[str, Any]) -> None:
        _open(self._process.stdin).write(json.dumps(message) + "\n")
        _open(self._process.stdin).flush()

    def end(self) -> tuple[float, int]:
        """End the server; return its CPU time in seconds, and its peak memory in KiB."""
        _open(self._process.stdin).close()
        _, status, usage = os.wait4(self._process.pid, 0)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        _open(self._process.stdout).close()
        self._folder.cleanup()
        return usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def _inherited() -> dict[str, str]:
    """Return our environment without the variables that keep Python from reading compiled files.

    Installers compile the original; without its own compiled files ours would be compiled at each
    start, which costs it 0.8 s of CPU and 25 MB.
    """
    omitted = ("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX")
    return {name: value for name, value in os.environ.items() if name not in omitted}


def _open(pipe: IO[str] | None) -> IO[str]:
    """Return a pipe of a process that has one."""
    if pipe is None:
        raise ValueError("the process has no pipe")
    return pipe


def plain(answer: dict[str, Any], revision: str) -> dict[str, Any]:
    """Return an answer without members unknown to the original or to the revision."""
    unknown = _OURS_ALONE if revision > REVISIONS[0] else (*_OURS_ALONE, "structuredContent")
    rest = {name: each for name, each in answer.items() if name not in unknown}
    return rest if rest.get("isError") else {**rest, "isError": False}


def sides(folder: Path) -> list[Side]:
    """Make both environments; the original comes first. Raises CalledProcessError."""
    made: list[Side] = []
    for name, packages in (("original", ORIGINAL), ("ours", OURS)):
        home = folder / "beside" / name
        python = home / "bin" / "python"
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", home], check=True)
            pip = [python, "-m", "pip", "install", "-qq", *packages, *LIBRARIES]
            subprocess.run(pip, check=True)
        parts = [str(ROOT / each) for each in ("codegen", "runtime", "generated")]
        settings = {"PYTHONPATH": os.pathsep.join(parts)} if name == "ours" else {}
        made.append(Side(name, python, settings, name == "ours"))
    return made


def answers(side: Side, row: Row, sources: Path, revision: str) -> dict[str, Any]:
    """Return the tools of a server and the results of its calls, by what was asked."""
    process = Process(side, row, sources, revision)
    try:
        process.initialize()
        tools = process.request("tools/list", {})["tools"]
        results: dict[str, Any] = {"tools/list": sorted(each["name"] for each in tools)}
        for tool, arguments in row.calls:
            results[f"{tool}({json.dumps(arguments)})"] = process.call(tool, arguments)
        return results
    except RuntimeError as error:
        return {"error": str(error)}
    finally:
        process.end()


def differences(row: Row, both: list[Side], sources: Path) -> Iterator[str]:
    """Yield a line for each answer that is not that of the original."""
    original, ours = both
    expected: dict[str, Any] = {}
    for revision in REVISIONS:
        expected = answers(original, row, sources, revision)
        yield from unequal(revision, expected, answers(ours, row, sources, revision))
    yield from unequal(MODERN, expected, answers(ours, row, sources, MODERN))


def unequal(revision: str, theirs: dict[str, Any], ours: dict[str, Any]) -> Iterator[str]:
    for asked in theirs.keys() | ours.keys():
        there, here = theirs.get(asked), ours.get(asked)
        if there != here and not (is_refused(there) and here and here.get("isError")):
            yield f"{revision}: {asked}: {there!r:.300} there, {here!r:.300} here"


def is_refused(answer: Any) -> bool:
    """Return True for arguments that the original refused; the words for them are our own."""
    if not isinstance(answer, dict) or not cast("dict[str, Any]", answer).get("isError"):
        return False
    text = str(cast("dict[str, Any]", answer).get("content"))
    return "validation error" in text or "Input validation" in text


@dataclass
class Measured:
    """Medians of one side, for one server: seconds, seconds of CPU, KiB."""

    starts: list[float] = field(default_factory=list[float])
    cpu: list[float] = field(default_factory=list[float])
    memory: list[int] = field(default_factory=list[int])

    def median(self) -> tuple[float, float, float]:
        return median(self.starts), median(self.cpu), median(self.memory)


def measure(row: Row, both: list[Side], sources: Path) -> list[Measured]:
    """Start both sides in turns; each opens a session and lists its tools."""
    measured = [Measured() for _ in both]
    for _ in range(TURNS):
        for side, into in zip(both, measured, strict=True):
            process = Process(side, row, sources, REVISIONS[-1])
            process.initialize()
            into.starts.append(time.perf_counter() - process.began)
            process.request("tools/list", {})
            cpu, memory = process.end()
            into.cpu.append(cpu)
            into.memory.append(memory)
    return measured


def run(folder: Path) -> Iterator[str]:
    """Yield the report; its last line begins with `missed` if a bar is missed."""
    both, sources = sides(folder), folder / "sources"
    ratios: list[tuple[float, ...]] = []
    equal = 0
    for row in ROWS:
        lines = list(differences(row, both, sources))
        yield from (f"{row.package}: {line}" for line in lines)
        equal += not lines
        theirs, ours = (each.median() for each in measure(row, both, sources))
        ratios.append(tuple(here / there for here, there in zip(ours, theirs, strict=True)))
        yield (
            f"{row.package}: start {theirs[0]:.2f} s there, {ours[0]:.2f} s here; CPU"
            f" {theirs[1]:.2f} s, {ours[1]:.2f} s; memory {theirs[2] / 1024:.0f} MB,"
            f" {ours[2] / 1024:.0f} MB"
        )
    start, cpu, memory = (median(each) for each in zip(*ratios, strict=True))
    load = os.getloadavg()[0]
    yield (
        f"{equal} of {len(ROWS)} servers answer the same in {', '.join((*REVISIONS, MODERN))};"
        f" median of start {start:.2f}, of CPU {cpu:.2f}, of memory {memory:.2f} of the original;"
        f" load {load:.1f}"
    )
    if start > START_BAR or memory > MEMORY_BAR:
        yield f"missed: start above {START_BAR} or memory above {MEMORY_BAR}"
