"""The house keeps its own laws: who may import whom, and that a skipped test is no pass.

The imports are read, not run. A law is a function from a module's imports to sentences about what
is wrong; every law is also shown a module that breaks it.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

import mcp_bindgen

SOURCE_ROOTS: Final = {
    "mcp_bindgen": "codegen",
    "mcp_wire": "generated",
    "mcp_runtime": "runtime",
}

# A part of mcp_bindgen may import the parts with a smaller number, and the floor (0).
LAYERS: Final = {
    "": 0,
    "errors": 0,
    "limits": 0,
    "paths": 0,
    "source": 1,
    "ir": 2,
    "compare": 4,
    "tools": 3,
    "convert": 3,
    "pins": 3,
    "validate": 3,
    "emit": 4,
    "manifest": 5,
    "pull": 5,
    "scaffold": 5,
    "cli": 6,
    "__main__": 7,
}

# The module that ends in a flavour's name may import that flavour's library.
FLAVOURS: Final = re.compile(r"(?:^|_)(msgspec|pydantic)$")
LIBRARIES: Final = {"msgspec": ("msgspec",), "pydantic": ("pydantic", "pydantic_core")}

# Inside mcp_runtime: what stands to the right of core.
SHELLS: Final = ("auth", "bridge", "client", "context", "io", "server", "stores")

# What does I/O, tells the time, draws randomness, or does two things at once.
# fmt: off
IMPURE: Final = frozenset(
    {
        "anyio", "asyncio", "concurrent", "contextvars", "datetime", "fcntl", "ftplib", "getpass",
        "glob", "http.client", "http.server", "httpcore2", "httpx2", "logging", "mmap",
        "multiprocessing", "os", "pathlib", "queue", "random", "redis", "sched", "secrets",
        "select", "selectors", "shutil", "signal", "smtplib", "socket", "socketserver", "sqlite3",
        "ssl", "starlette", "subprocess", "tempfile", "threading", "time", "trio",
        "urllib.request", "uuid", "uvicorn",
    }
)
# fmt: on


@dataclass(frozen=True, slots=True)
class Import:
    """One imported name. `from a import b` reads as `a.b`: b may be a module."""

    name: str
    line: int
    lazy: bool  # inside a function
    typing: bool  # under `if TYPE_CHECKING:`

    def within(self, *packages: str) -> bool:
        return any(f"{self.name}.".startswith(f"{package}.") for package in packages)


@dataclass(frozen=True, slots=True)
class Module:
    name: str
    imports: tuple[Import, ...]

    @property
    def parts(self) -> list[str]:
        return self.name.split(".")


Law = Callable[[Module], Iterator[str]]


def read_module(name: str, text: str, *, is_package: bool = False) -> Module:
    package = name.split(".") if is_package else name.split(".")[:-1]
    return Module(name, tuple(_imports(ast.parse(text), package, lazy=False, typing=False)))


def _imports(node: ast.AST, package: list[str], *, lazy: bool, typing: bool) -> Iterator[Import]:
    match node:
        case ast.Import():
            for alias in node.names:
                yield Import(alias.name, node.lineno, lazy, typing)
        case ast.ImportFrom():
            parents = package[: len(package) - node.level + 1] if node.level else []
            for alias in node.names:
                path = [*parents, *filter(None, [node.module]), alias.name]
                yield Import(".".join(path), node.lineno, lazy, typing)
        case ast.If(test=ast.Name("TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")):
            for guarded in node.body:
                yield from _imports(guarded, package, lazy=lazy, typing=True)
            for other in node.orelse:
                yield from _imports(other, package, lazy=lazy, typing=typing)
        case _:
            inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            for child in ast.iter_child_nodes(node):
                yield from _imports(child, package, lazy=lazy or inside, typing=typing)


def modules(root: Path, package: str) -> Iterator[Module]:
    top = root / SOURCE_ROOTS[package]
    for path in sorted((top / package).rglob("*.py")):
        parts = path.relative_to(top).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if is_package else parts)
        yield read_module(name, path.read_text("utf-8"), is_package=is_package)


def bindgen_stands_alone(module: Module) -> Iterator[str]:
    """mcp_bindgen runs without what it writes; the command line's verbs may reach for it."""
    in_cli = module.parts[1:2] == ["cli"]
    for found in module.imports:
        unseen = found.lazy or found.typing
        if found.within("mcp_wire", "mcp_runtime") and not (in_cli and unseen):
            yield f"{module.name}:{found.line}: imports {found.name}"


def layer(name: str) -> str:
    """The part of mcp_bindgen that a dotted name is in; the floor for names of the package."""
    part = (*name.split("."), "")[1]
    return part if part in LAYERS else ""


def bindgen_looks_left(module: Module) -> Iterator[str]:
    """source → ir → diff, convert → emit → scaffold → cli. Siblings do not know each other."""
    here = (*module.parts, "")[1]
    if here not in LAYERS:
        yield f"{module.name}: {here!r} has no place in LAYERS of tests/test_house.py"
        return
    for found in module.imports:
        there = layer(found.name)
        if not found.within("mcp_bindgen") or there == here or LAYERS[there] == 0:
            continue
        only_types = found.typing and LAYERS[here] == 0
        if LAYERS[there] >= LAYERS[here] and not only_types:
            yield f"{module.name}:{found.line}: imports {found.name}, which is not to its left"


def wire_needs_nothing(module: Module) -> Iterator[str]:
    """mcp_wire imports the standard library, itself, and in a flavour's module that library."""
    flavour = FLAVOURS.search(module.parts[-1])
    admitted = {"mcp_wire", *sys.stdlib_module_names, *(LIBRARIES[flavour[1]] if flavour else ())}
    for found in module.imports:
        library = found.name.partition(".")[0]
        # Type checkers carry typing_extensions themselves; nothing is imported when it runs.
        known_to_checkers = found.typing and library == "typing_extensions"
        if library not in admitted and not known_to_checkers:
            yield f"{module.name}:{found.line}: imports {found.name}"


def runtime_has_one_door(module: Module) -> Iterator[str]:
    """Only mcp_runtime/revisions.py imports mcp_wire; nothing here imports the generator."""
    for found in module.imports:
        at_the_door = found.within("mcp_wire") and module.name == "mcp_runtime.revisions"
        if found.within("mcp_wire", "mcp_bindgen") and not at_the_door:
            yield f"{module.name}:{found.line}: imports {found.name}"


def core_is_pure(module: Module) -> Iterator[str]:
    """mcp_runtime/core does no I/O, tells no time, draws nothing, and knows no shell."""
    if module.parts[1:2] != ["core"]:
        return
    shells = [f"mcp_runtime.{shell}" for shell in SHELLS]
    for found in module.imports:
        if found.within(*IMPURE, *shells):
            yield f"{module.name}:{found.line}: imports {found.name}"


LAWS: Final[tuple[tuple[str, Law], ...]] = (
    ("mcp_bindgen", bindgen_stands_alone),
    ("mcp_bindgen", bindgen_looks_left),
    ("mcp_wire", wire_needs_nothing),
    ("mcp_runtime", runtime_has_one_door),
    ("mcp_runtime", core_is_pure),
)


@pytest.mark.parametrize(("package", "law"), LAWS, ids=[law.__name__ for _, law in LAWS])
def test_imports_keep_the_law(root: Path, package: str, law: Law) -> None:
    assert [problem for module in modules(root, package) for problem in law(module)] == []


@pytest.mark.parametrize(
    ("law", "name", "text"),
    [
        (bindgen_stands_alone, "mcp_bindgen.emit.tree", "import mcp_wire"),
        (bindgen_stands_alone, "mcp_bindgen.cli.run", "from mcp_runtime import client"),
        (bindgen_stands_alone, "mcp_bindgen.ir.model", "def f():\n    import mcp_wire.steps"),
        (bindgen_stands_alone, "mcp_bindgen.cli.run", "class A:\n    import mcp_wire"),
        (bindgen_looks_left, "mcp_bindgen.source.parse", "from mcp_bindgen.ir import model"),
        (bindgen_looks_left, "mcp_bindgen.source.parse", "from ..ir.model import Struct"),
        (bindgen_looks_left, "mcp_bindgen.source.parse", "from mcp_bindgen import ir"),
        (bindgen_looks_left, "mcp_bindgen.source.parse", "from .. import cli"),
        (bindgen_looks_left, "mcp_bindgen.ir.lower", "def f():\n    import mcp_bindgen.emit"),
        (
            bindgen_looks_left,
            "mcp_bindgen.compare.judge.verdicts",
            "from mcp_bindgen.convert import plan",
        ),
        (bindgen_looks_left, "mcp_bindgen.errors", "from mcp_bindgen.source import syntax"),
        (bindgen_looks_left, "mcp_bindgen.stray", "import json"),
        (wire_needs_nothing, "mcp_wire.v1.models_dataclass", "import typing_extensions"),
        (wire_needs_nothing, "mcp_wire.v1.models_dataclass", "import pydantic"),
        (wire_needs_nothing, "mcp_wire.v1.models_msgspec", "from pydantic import BaseModel"),
        (wire_needs_nothing, "mcp_wire.v1.methods", "try:\n    import orjson\nexcept E: pass"),
        (runtime_has_one_door, "mcp_runtime.server.server", "from mcp_wire import v2025_11_25"),
        (runtime_has_one_door, "mcp_runtime.revisions", "import mcp_bindgen"),
        (core_is_pure, "mcp_runtime.core.session", "import asyncio"),
        (core_is_pure, "mcp_runtime.core.session", "from time import monotonic"),
        (core_is_pure, "mcp_runtime.core.session", "import os.path"),
        (core_is_pure, "mcp_runtime.core.session", "from urllib import request"),
        (core_is_pure, "mcp_runtime.core.session", "def f():\n    from secrets import token_hex"),
        (core_is_pure, "mcp_runtime.core.session", "import select"),
        (core_is_pure, "mcp_runtime.core.session", "from mcp_runtime.server.server import Server"),
    ],
)
def test_a_broken_law_is_seen(law: Law, name: str, text: str) -> None:
    assert len(list(law(read_module(name, text)))) == 1


@pytest.mark.parametrize(
    ("law", "name", "text"),
    [
        (
            bindgen_stands_alone,
            "mcp_bindgen.cli.run",
            "def f():\n    import mcp_runtime.client.client",
        ),
        (bindgen_stands_alone, "mcp_bindgen.cli.run", "import mcp_wired"),
        (bindgen_looks_left, "mcp_bindgen.cli", "from mcp_bindgen import __version__, emit"),
        (bindgen_looks_left, "mcp_bindgen.emit.tree", "from ..errors import BindgenError"),
        (bindgen_looks_left, "mcp_bindgen.emit.tree", "from . import layout\nimport jinja2"),
        (
            bindgen_looks_left,
            "mcp_bindgen.errors",
            "if TYPE_CHECKING:\n    from mcp_bindgen.source.syntax import Span",
        ),
        (wire_needs_nothing, "mcp_wire.v1.models_pydantic", "import json, pydantic"),
        (wire_needs_nothing, "mcp_wire.v1.calls_msgspec", "from . import models_msgspec"),
        (
            wire_needs_nothing,
            "mcp_wire.v1.calls_dataclass",
            "import typing\nif typing.TYPE_CHECKING:\n    from typing_extensions import deprecated",
        ),
        (runtime_has_one_door, "mcp_runtime.revisions", "import mcp_wire"),
        (core_is_pure, "mcp_runtime.core.session", "from urllib.parse import urlsplit"),
        (core_is_pure, "mcp_runtime.core.session", "from mcp_runtime import limits"),
        (core_is_pure, "mcp_runtime.transports.stdio", "import asyncio"),
    ],
)
def test_a_kept_law_is_silent(law: Law, name: str, text: str) -> None:
    assert list(law(read_module(name, text))) == []


def test_relative_imports_start_at_the_package() -> None:
    module = read_module(
        "mcp_bindgen.ir", "from . import model\nfrom .. import errors", is_package=True
    )
    assert [found.name for found in module.imports] == [
        "mcp_bindgen.ir.model",
        "mcp_bindgen.errors",
    ]


def projects(root: Path) -> list[dict[str, Any]]:
    """The tables [project] of the generator and of the runtime."""
    files = [root / "pyproject.toml", root / "runtime/pyproject.toml"]
    return [tomllib.loads(path.read_text("utf-8"))["project"] for path in files]


def test_both_distributions_have_one_version_and_are_pinned_to_it(root: Path) -> None:
    generator, runtime = projects(root)
    extras = [row for rows in generator["optional-dependencies"].values() for row in rows]
    demands = [row for row in (*generator["dependencies"], *extras) if "-runtime" in row]
    assert {table["version"] for table in (generator, runtime)} == {mcp_bindgen.__version__}
    assert f"mcp-bindgen-runtime=={mcp_bindgen.__version__}" in demands
    assert {row.partition("==")[2] for row in demands} == {mcp_bindgen.__version__}


def test_both_distributions_have_one_license_and_notice(root: Path) -> None:
    assert (root / "runtime/LICENSE").read_text("utf-8") == (root / "LICENSE").read_text("utf-8")
    notice = (root / "schema/NOTICE").read_text("utf-8")
    assert (root / "runtime/NOTICE").read_text("utf-8") == notice


def test_no_extra_without_code(root: Path) -> None:
    """Each library of an extra of the runtime is imported somewhere in the two packages."""
    names = {"jsonschema-rs": "jsonschema_rs"}
    _, runtime = projects(root)
    libraries = {
        re.split(r"[\[<>=]", row)[0]
        for rows in runtime["optional-dependencies"].values()
        for row in rows
    }
    imported = {
        each.name.partition(".")[0]
        for package in ("mcp_wire", "mcp_runtime")
        for module in modules(root, package)
        for each in module.imports
    }
    assert {names.get(library, library) for library in libraries} <= imported


def test_every_package_is_typed(root: Path) -> None:
    for package, source_root in SOURCE_ROOTS.items():
        assert (root / source_root / package / "py.typed").is_file()


def test_constraints_are_exact_pins_without_addresses(root: Path) -> None:
    pin = re.compile(r"[A-Za-z0-9._-]+==[A-Za-z0-9.!+]+")
    lines = (root / "constraints.txt").read_text("utf-8").splitlines()
    assert [line for line in lines if not pin.fullmatch(line)] == []


def test_the_packages_for_node_are_exact_pins_with_hashes_and_without_addresses(root: Path) -> None:
    folder = root / "tests/interop/node"
    pins = json.loads((folder / "package.json").read_text("utf-8"))["dependencies"]
    lock = json.loads((folder / "package-lock.json").read_text("utf-8"))["packages"]
    assert lock.pop("")["dependencies"] == pins
    assert all(lock[f"node_modules/{name}"]["version"] == pin for name, pin in pins.items())
    assert [name for name, package in lock.items() if "integrity" not in package] == []
    assert [name for name, package in lock.items() if "resolved" in package] == []


PASSES: Final = "import pytest\n\n\ndef test_passes():\n    pass\n"
SKIPS: Final = "\n\ndef test_skips():\n    pytest.skip({!r})\n"
ABSENT: Final = "pytest.importorskip('absent')\n"
MARKED: Final = "@pytest.mark.skip\ndef test_marked():\n    pass\n"


@pytest.mark.parametrize(
    ("workers", "text", "status", "said"),
    [
        ("0", PASSES, 0, "1 passed"),
        ("0", PASSES + SKIPS.format("../shared is absent"), 0, "1 passed, 1 skipped"),
        (
            "0",
            PASSES + SKIPS.format("no network"),
            1,
            "test_skips: Skipped: no network",
        ),
        (
            "2",
            PASSES + SKIPS.format("no network"),
            1,
            "test_skips: Skipped: no network",
        ),
        ("0", PASSES + ABSENT, 1, "could not import 'absent'"),
        ("2", PASSES + ABSENT, 1, "could not import 'absent'"),
        ("0", PASSES + MARKED, 1, "unconditional skip"),
        ("0", "import pytest" + SKIPS.format("../shared is absent"), 1, "no test ran"),
        ("2", "", 1, "no test ran"),
    ],
)
def test_a_skip_is_not_a_pass(
    tmp_path: Path, root: Path, workers: str, text: str, status: int, said: str
) -> None:
    shutil.copy(root / "tests/conftest.py", tmp_path)
    (tmp_path / "test_it.py").write_text(text, "utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", "utf-8")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", workers, "--strict-skips", "--no-header", "."],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == status, run.stdout + run.stderr
    assert said in run.stdout
