"""Compare the tools of public servers under their own packages and under `mcp_runtime.compat`.

    python -m tests.adopt FOLDER        (make adopt)

FOLDER keeps everything that is fetched: the packages named in packages.txt, and environments with
`mcp` 1.x and `fastmcp`. A package was uploaded before the date behind its name, or before `BEFORE`.
Without a package index it says so.
Each module with a server is loaded twice, each time in a process of its own, with stubs for
libraries that are not installed. Its tools are compared by name, parameters, required parameters
and description; each difference is printed with its reason.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from configparser import ConfigParser
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from tests.adopt import beside

HERE: Final = Path(__file__).parent
BEFORE: Final = "2025-12-01"
"""Later versions of many packages are written for `mcp` 2.x."""
ENVIRONMENTS: Final = {
    "fastmcp2": ("fastmcp>=2.12,<3", "mcp>=1.20,<2"),
    "fastmcp3": ("fastmcp>=3,<4", "mcp>=1.20,<2"),
    "fastmcp4": ("fastmcp>=4,<5",),
}
"""The originals, by name of the environment; a module that the first cannot load has the next."""
OURS: Final = ("codegen", "runtime", "generated")
"""Folders of the project for the first environment, whose libraries both sides have."""
SECONDS: Final = 60
_SERVER: Final = re.compile(r"\b(?:FastMCP|(?<![.\w])Server)(?:\[[^]]*\])?\(")
_IMPORT: Final = re.compile(r"^\s*(?:from|import)\s+(mcp|fastmcp)\b", re.MULTILINE)
PER_PACKAGE: Final = 3
"""At most so many modules of a package are loaded, in the order of their names."""
BARS: Final = {"mcp": 0.98, "fastmcp": 0.95}


@dataclass(frozen=True)
class Case:
    """A module that makes a server, and the function of its package that starts one."""

    package: str
    folder: Path
    module: str
    function: str
    library: str
    """The library that it is written for: `mcp` or `fastmcp`."""


@dataclass
class Outcome:
    """Tools that are equal, and the differences of others, each with its reason."""

    case: Case
    equal: int = 0
    differences: list[str] = field(default_factory=list[str])
    unloaded: str = ""
    """The error of the original, for a module that it cannot load; such a module does not count."""
    error: str = ""
    """Our error."""
    note: str = ""
    """The error of an original that ended early, and the count of tools which are only here."""


# ---- fetching


def fetch(folder: Path) -> None:
    """Fetch the packages and make the environments. Raises CalledProcessError without an index."""
    wheels = folder / "packages"
    for name, packages in ENVIRONMENTS.items():
        python = folder / name / "bin" / "python"
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", folder / name], check=True)
            pip(python, "install", "-qq", "--upgrade", "pip", "msgspec", *packages)
    python = folder / next(iter(ENVIRONMENTS)) / "bin" / "python"
    wheels.mkdir(parents=True, exist_ok=True)
    absent = folder / "absent.txt"
    tried = {canonical(each.name) for each in wheels.iterdir()}
    tried |= set(absent.read_text("utf-8").split()) if absent.exists() else set()
    for line in (HERE / "packages.txt").read_text("utf-8").splitlines():
        name, _, before = line.partition(" ")
        if canonical(name) in tried:
            continue
        arguments = (
            "download", "-qq", "--no-deps", "--ignore-requires-python",
            "--uploaded-prior-to", before or BEFORE, "--dest", str(wheels), name,
        )  # fmt: skip
        if not pip(python, *arguments, check=False):
            with absent.open("a", encoding="utf-8") as names:
                names.write(f"{canonical(name)}\n")
    for archive in wheels.iterdir():
        unpack(archive, folder / "sources" / canonical(archive.name))


def pip(python: Path, *arguments: str, check: bool = True) -> bool:
    """Run pip; return True if it is content."""
    return subprocess.run([python, "-m", "pip", *arguments], check=check).returncode == 0


def canonical(name: str) -> str:
    """Return the name of a package, from its own name or that of its archive."""
    return re.split(r"-\d", name)[0].lower().replace("-", "_").replace(".", "_")


def unpack(archive: Path, folder: Path) -> None:
    if folder.is_dir():
        return
    if archive.suffix == ".whl":
        zipfile.ZipFile(archive).extractall(folder)
    else:
        with tarfile.open(archive) as opened:
            opened.extractall(folder, filter="data")


# ---- cases


def cases(sources: Path) -> Iterator[Case]:
    """Yield the modules of all packages that make a server, or start one as a command."""
    for package in sorted(sources.iterdir()):
        entries, libraries = entry_points(package), set[str]()
        for path in servers(package)[:PER_PACKAGE]:
            text = path.read_text("utf-8", "replace")
            parts = path.relative_to(package).with_suffix("").parts
            module = ".".join(parts).removesuffix(".__init__")
            library = "fastmcp" if "fastmcp" in _IMPORT.findall(text) else "mcp"
            libraries.add(library)
            function = start_of(text, module, entries)
            entries.pop(module, None)
            yield Case(package.name, package, module, function, library)
        if len(libraries) == 1:
            for module, function in entries.items():
                yield Case(package.name, package, module, function, *libraries)


def servers(package: Path) -> list[Path]:
    """Return the modules of a package that make a server, without tests and examples."""
    paths: list[Path] = []
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        if not any("test" in part or "example" in part or "-" in part for part in parts):
            text = path.read_text("utf-8", "replace")
            if _IMPORT.search(text) and _SERVER.search(text):
                paths.append(path)
    return paths


def entry_points(package: Path) -> dict[str, str]:
    """Return the functions of a package's commands, by module."""
    entries: dict[str, str] = {}
    for path in package.glob("*.dist-info/entry_points.txt"):
        config = ConfigParser(delimiters=("=",))
        config.read_string(path.read_text("utf-8"))
        for value in config["console_scripts"].values() if "console_scripts" in config else ():
            module, _, function = value.partition(":")
            entries[module.strip()] = function.partition("[")[0].strip()
    return entries


def start_of(text: str, module: str, entries: dict[str, str]) -> str:
    """Return the function that starts a module's server, or an empty text."""
    if module in entries:
        return entries[module]
    for name in ("create_server", "main", "serve", "run", "start"):
        if re.search(rf"^(?:async )?def {name}\(", text, re.MULTILINE):
            return name
    return ""


# ---- comparing


def probe(python: Path, case: Case, output: Path, *more: str) -> dict[str, Any]:
    """Load a module in a process of its own, and return its tools."""
    output.unlink(missing_ok=True)
    path = os.pathsep.join(str(beside.ROOT / each) for each in OURS)
    command = [
        str(python), str(HERE / "probe.py"), str(case.folder), case.module, case.function,
        str(output), *more,
    ]  # fmt: skip
    try:
        subprocess.run(
            command, timeout=SECONDS, capture_output=True, stdin=subprocess.DEVNULL, check=False,
            env={**os.environ, **({"PYTHONPATH": path} if more else {})},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return {"error": f"no end within {SECONDS} s", "tools": {}}
    if not output.exists():
        return {"error": "the process ended", "tools": {}}
    result: dict[str, Any] = json.loads(output.read_text("utf-8"))
    return result


def original_of(case: Case, folder: Path, output: Path) -> dict[str, Any]:
    """Return the tools under the first original that loads a module; they are kept in FOLDER."""
    if output.exists():
        kept: dict[str, Any] = json.loads(output.read_text("utf-8"))
        return kept
    original: dict[str, Any] = {"error": "no original", "tools": {}}
    for name in ENVIRONMENTS if case.library == "fastmcp" else (next(iter(ENVIRONMENTS)),):
        python, attempt = folder / name / "bin" / "python", output.with_suffix(f".{name}.json")
        original = probe(python, case, attempt)
        if original["tools"]:
            break
    output.write_text(json.dumps(original), encoding="utf-8")
    return original


def compare(case: Case, folder: Path) -> Outcome:
    output = folder / "outputs" / f"{case.package}-{case.module}.json"
    original = original_of(case, folder, output)
    outcome = Outcome(case)
    if not original["tools"]:
        outcome.unloaded = original["error"] or "no tools"
        return outcome
    python = folder / next(iter(ENVIRONMENTS)) / "bin" / "python"
    ours = probe(python, case, output.with_suffix(".ours.json"), "ours")
    outcome.error = ours["error"] or ""
    for name, tool in original["tools"].items():
        if name not in ours["tools"]:
            outcome.differences.append(f"{name}: missing here ({outcome.error or 'no error'})")
            continue
        there = {each for each in tool if tool[each] != ours["tools"][name][each]}
        for each in sorted(there):
            pair = f"{tool[each]!r:.200} there, {ours['tools'][name][each]!r:.200} here"
            outcome.differences.append(f"{name}: {each}: {pair}")
        outcome.equal += not there
    more = ours["tools"].keys() - original["tools"].keys()
    if original["error"]:  # it ended before its last tool
        outcome.note = f"{original['error']}; {len(more)} more here"
    else:
        outcome.differences += [f"{name}: not there" for name in sorted(more)]
    return outcome


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def main(folder: Path) -> int:
    """Fetch, compare and report; return 1 if a bar is missed."""
    folder = folder.resolve()
    (folder / "outputs").mkdir(parents=True, exist_ok=True)
    try:
        fetch(folder)
    except subprocess.CalledProcessError as error:
        say(f"the package index cannot be reached: {error}")
        return 2
    selected = list(cases(folder / "sources"))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        outcomes = list(pool.map(partial(compare, folder=folder), selected))
    is_missed = report(outcomes)
    for line in beside.run(folder):
        say(line)
        is_missed |= line.startswith("missed")
    return int(is_missed)


def report(outcomes: list[Outcome]) -> bool:
    """Print the differences and the figures; return True if a bar is missed."""
    for outcome in outcomes:
        for line in outcome.differences:
            say(f"{outcome.case.package} {outcome.case.module}: {line}")
        if outcome.note:
            say(f"ended early there: {outcome.case.package} {outcome.case.module}: {outcome.note}")
        if outcome.unloaded:
            say(f"not counted: {outcome.case.package} {outcome.case.module}: {outcome.unloaded}")
    is_missed = False
    for library, bar in BARS.items():
        counted = [each for each in outcomes if each.case.library == library and not each.unloaded]
        sums = Counter[str]()
        for each in counted:
            sums["tools"] += each.equal + len({line.partition(":")[0] for line in each.differences})
            sums["equal"] += each.equal
            sums["modules"] += not each.differences
        packages = len({each.case.package for each in counted})
        say(
            f"{library}: {len(counted)} modules of {packages} packages; {sums['modules']} modules"
            f" are equal; {sums['equal']} of {sums['tools']} tools are equal"
        )
        is_missed |= sums["equal"] < bar * sums["tools"]
    return is_missed


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
