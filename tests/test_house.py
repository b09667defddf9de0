"""The house keeps its own laws: who may import whom, and how the project is laid out.

The imports are read, not run. A law is a function from a module's imports to sentences about what
is wrong; every law is also shown a module that breaks it.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any, Final

import pytest

import mcp_bindgen
from tests.support.imports import (
    Edges,
    Module,
    circles,
    edges,
    longest_chain,
    modules,
    read_module,
)
from tests.support.public_names import defined, listed

pytestmark = pytest.mark.sources

SOURCE_ROOTS: Final = {
    "mcp_bindgen": "codegen",
    "mcp_wire": "generated",
    "mcp_runtime": "runtime",
}

# A part of mcp_bindgen may import the parts with a smaller number, and the floor (0).
LAYERS: Final = {
    "": 0,
    "download": 1,
    "errors": 0,
    "json_values": 0,
    "limits": 0,
    "paths": 0,
    "source": 1,
    "hosts": 1,
    "ir": 2,
    "compare": 3,
    "tools": 4,
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

# The rooms inside a part of mcp_bindgen, from the top down; "" is the modules of the part itself.
INNER_RANKS: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "cli": (
        ("uninstall", "update"),
        ("client", "install", "new"),
        ("adopt", "call", "diff", "generate", "run"),
        ("",),
    ),
    "compare": (("report",), ("judge",), ("messages",), ("changes",), ("",)),
    "emit": (("",), ("models", "steps"), ("codec",), ("support", "text")),
    "ir": (("lower",), ("export", "resolve"), ("decisions", "values"), ("",)),
}

# The module that ends in a flavour's name may import that flavour's library.
FLAVOURS: Final = re.compile(r"(?:^|_)(msgspec|pydantic)$")
LIBRARIES: Final = {"msgspec": ("msgspec",), "pydantic": ("pydantic", "pydantic_core")}

# The rooms of mcp_runtime from the top down, "" for its package: a room may import those below it.
RANKS: Final = (
    ("", "trace", "types"),
    ("compat",),
    ("bridge",),
    ("extensions", "telemetry"),
    ("client.client", "server.server"),
    ("client.http", "server.http"),
    ("client", "server"),
    ("server.functions",),
    ("auth", "shared"),
    ("json_schema", "stores", "transports"),
    ("core",),
    ("doors", "errors", "limits", "option_checks", "revisions"),
)
RANK: Final = {room: -rank for rank, rooms in enumerate(RANKS) for room in rooms}
# The rooms inside a room of mcp_runtime, from the top down; "" is the modules of the room itself.
RUNTIME_INNER_RANKS: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "auth.client": (("flows",), ("",), ("authorization_server",)),
    "core": (("session",), ("http", "terms"), ("wire",), ("",)),
    "server.http": (("",), ("sessions",), ("cluster",), ("asgi",)),
}
MAX_CHAIN: Final = 14
MAX_CHAIN_ABOVE: Final = 8
DATE: Final = re.compile(r"20\d\d[-_]\d\d[-_]\d\d")

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


Law = Callable[[Module], Iterator[str]]


def bindgen_stands_alone(module: Module) -> Iterator[str]:
    """mcp_bindgen runs without what it writes; the command line's verbs may reach for it."""
    in_cli = module.parts[1:2] == ["cli"]
    for imported in module.imports:
        unseen = imported.lazy or imported.typing
        if imported.within("mcp_wire", "mcp_runtime") and not (in_cli and unseen):
            yield f"{module.name}:{imported.line}: imports {imported.name}"


def layer(name: str) -> str:
    """The part of mcp_bindgen that a dotted name is in; the floor for names of the package."""
    part = (*name.split("."), "")[1]
    return part if part in LAYERS else ""


def bindgen_looks_left(module: Module) -> Iterator[str]:
    """source → ir → compare, convert → tools, emit → scaffold → cli. Siblings are strangers."""
    here = (*module.parts, "")[1]
    if here not in LAYERS:
        yield f"{module.name}: {here!r} has no place in LAYERS of tests/test_house.py"
        return
    for imported in module.imports:
        there = layer(imported.name)
        if not imported.within("mcp_bindgen") or there == here or LAYERS[there] == 0:
            continue
        only_types = imported.typing and LAYERS[here] == 0
        if LAYERS[there] >= LAYERS[here] and not only_types:
            place = f"{module.name}:{imported.line}"
            yield f"{place}: imports {imported.name}, which is not to its left"


def bindgen_rooms_look_down(module: Module) -> Iterator[str]:
    """Inside a part of mcp_bindgen, a room imports only the rooms below it in INNER_RANKS."""
    part = (*module.parts, "")[1]
    yield from inner_rooms_look_down(module, f"mcp_bindgen.{part}", INNER_RANKS.get(part, ()))


def inner_rooms_look_down(
    module: Module, hall: str, rooms_by_rank: tuple[tuple[str, ...], ...]
) -> Iterator[str]:
    """Yield the imports inside the package `hall` that lead to no lower room of its ranks."""
    ranks = {room: -rank for rank, rooms in enumerate(rooms_by_rank) for room in rooms}
    here = inner_room(module.name, hall, ranks)
    for imported in module.imports:
        there = inner_room(imported.name, hall, ranks)
        if ranks and imported.within(hall) and there != here and ranks[there] >= ranks[here]:
            yield f"{module.name}:{imported.line}: imports {imported.name}, which is not below it"


def inner_room(name: str, hall: str, rooms: Container[str]) -> str:
    """The room of a dotted name inside the package `hall`; "" for a module of `hall` itself."""
    room = name.removeprefix(hall).removeprefix(".").partition(".")[0]
    return room if room in rooms else ""


def wire_needs_nothing(module: Module) -> Iterator[str]:
    """mcp_wire imports the standard library, itself, and in a flavour's module that library."""
    flavour = FLAVOURS.search(module.parts[-1])
    admitted = {"mcp_wire", *sys.stdlib_module_names, *(LIBRARIES[flavour[1]] if flavour else ())}
    for imported in module.imports:
        library = imported.name.partition(".")[0]
        # Type checkers carry typing_extensions themselves; nothing is imported when it runs.
        known_to_checkers = imported.typing and library == "typing_extensions"
        if library not in admitted and not known_to_checkers:
            yield f"{module.name}:{imported.line}: imports {imported.name}"


def runtime_has_one_door(module: Module) -> Iterator[str]:
    """Only mcp_runtime/revisions.py imports mcp_wire; nothing here imports the generator.

    An extension imports the bindings of extensions itself, so that nobody else has to load them.
    """
    for imported in module.imports:
        at_the_door = imported.within("mcp_wire") and module.name == "mcp_runtime.revisions"
        extends = imported.within("mcp_wire.ext") and module.parts[1:2] == ["extensions"]
        if imported.within("mcp_wire", "mcp_bindgen") and not (at_the_door or extends):
            yield f"{module.name}:{imported.line}: imports {imported.name}"


def room(name: str) -> str | None:
    """The room of a module of mcp_runtime, the closest; None for a module without a room."""
    path = name.removeprefix("mcp_runtime").removeprefix(".")
    if not path:
        return ""
    return max((each for each in RANK if each and _is_within(path, each)), key=len, default=None)


def _is_within(path: str, room: str) -> bool:
    return f"{path}.".startswith(f"{room}.")


def runtime_looks_down(module: Module) -> Iterator[str]:
    """The order of RANKS, for type checkers and inside functions too; siblings are strangers."""
    here = room(module.name)
    if here is None:
        yield f"{module.name} has no room in RANKS of tests/test_house.py"
        return
    for imported in module.imports:
        there = (room(imported.name) or "") if imported.within("mcp_runtime") else here
        if there != here and RANK[there] >= RANK[here]:
            yield f"{module.name}:{imported.line}: imports {imported.name}, which is not below it"


def runtime_inner_rooms_look_down(module: Module) -> Iterator[str]:
    """Inside a room of mcp_runtime, the inner rooms keep the order of RUNTIME_INNER_RANKS."""
    for hall, rooms_by_rank in RUNTIME_INNER_RANKS.items():
        if _is_within(module.name, f"mcp_runtime.{hall}"):
            yield from inner_rooms_look_down(module, f"mcp_runtime.{hall}", rooms_by_rank)


def runtime_imports_in_sight(module: Module) -> Iterator[str]:
    """Only the package itself, its doors, and the aliases of packages import by a string."""
    if module.name not in ("mcp_runtime", "mcp_runtime.doors", "mcp_runtime.compat.aliases"):
        for line in module.by_name:
            yield f"{module.name}:{line}: imports what a string names"


def runtime_names_no_revision(module: Module) -> Iterator[str]:
    """Which revisions there are is a matter of mcp_wire's tables; docstrings may name sources."""
    dated = [text for text in module.texts if DATE.search(text)]
    yield from (f"{module.name}: names a revision in {text[:80]!r}" for text in dated)
    for imported in module.imports:
        if DATE.search(imported.name):
            yield f"{module.name}:{imported.line}: imports {imported.name}"


def core_is_pure(module: Module) -> Iterator[str]:
    """mcp_runtime/core does no I/O, tells no time and draws nothing."""
    if module.parts[1:2] != ["core"]:
        return
    for imported in module.imports:
        if imported.within(*IMPURE):
            yield f"{module.name}:{imported.line}: imports {imported.name}"


LAWS: Final[tuple[tuple[str, Law], ...]] = (
    ("mcp_bindgen", bindgen_stands_alone),
    ("mcp_bindgen", bindgen_looks_left),
    ("mcp_bindgen", bindgen_rooms_look_down),
    ("mcp_wire", wire_needs_nothing),
    ("mcp_runtime", runtime_has_one_door),
    ("mcp_runtime", runtime_looks_down),
    ("mcp_runtime", runtime_inner_rooms_look_down),
    ("mcp_runtime", runtime_imports_in_sight),
    ("mcp_runtime", runtime_names_no_revision),
    ("mcp_runtime", core_is_pure),
)


LAWS_ALONE: Final = [law for _, law in LAWS]


@pytest.mark.parametrize(("package", "law"), LAWS, ids=[law.__name__ for _, law in LAWS])
def test_imports_keep_the_law(root: Path, package: str, law: Law) -> None:
    read = modules(root / SOURCE_ROOTS[package], package)
    assert [problem for module in read for problem in law(module)] == []


Row = tuple[Law, str, str]
"""A law, the name of a module, and its text."""

BROKEN: Final[tuple[Row, ...]] = (
    (bindgen_stands_alone, "mcp_bindgen.emit.tree", "import mcp_wire"),
    (bindgen_stands_alone, "mcp_bindgen.cli.run.command", "from mcp_runtime import client"),
    (bindgen_stands_alone, "mcp_bindgen.ir.model", "def f():\n    import mcp_wire.steps"),
    (bindgen_stands_alone, "mcp_bindgen.cli.run.command", "class A:\n    import mcp_wire"),
    (bindgen_looks_left, "mcp_bindgen.source.parse", "from mcp_bindgen.ir import model"),
    (bindgen_looks_left, "mcp_bindgen.source.parse", "from ..ir.model import Struct"),
    (bindgen_looks_left, "mcp_bindgen.source.parse", "from mcp_bindgen import ir"),
    (bindgen_looks_left, "mcp_bindgen.source.parse", "from .. import cli"),
    (bindgen_looks_left, "mcp_bindgen.ir.lower.lower", "def f():\n    import mcp_bindgen.emit"),
    (
        bindgen_looks_left,
        "mcp_bindgen.compare.judge.verdicts",
        "from mcp_bindgen.convert import plan",
    ),
    (bindgen_looks_left, "mcp_bindgen.errors", "from mcp_bindgen.source import syntax"),
    (bindgen_looks_left, "mcp_bindgen.stray", "import json"),
    (
        bindgen_rooms_look_down,
        "mcp_bindgen.ir.model",
        "from mcp_bindgen.ir.resolve import resolver",
    ),
    (
        bindgen_rooms_look_down,
        "mcp_bindgen.ir.resolve.keys",
        "if TYPE_CHECKING:\n    from ..lower import lower",
    ),
    (
        bindgen_rooms_look_down,
        "mcp_bindgen.cli.generate.files",
        "def f():\n    import mcp_bindgen.cli.new.project",
    ),
    (wire_needs_nothing, "mcp_wire.v1.models_dataclass", "import typing_extensions"),
    (wire_needs_nothing, "mcp_wire.v1.models_dataclass", "import pydantic"),
    (wire_needs_nothing, "mcp_wire.v1.models_msgspec", "from pydantic import BaseModel"),
    (wire_needs_nothing, "mcp_wire.v1.methods", "try:\n    import orjson\nexcept E: pass"),
    (runtime_has_one_door, "mcp_runtime.server.server", "from mcp_wire import v2025_11_25"),
    (runtime_has_one_door, "mcp_runtime.revisions", "import mcp_bindgen"),
    (runtime_has_one_door, "mcp_runtime.server.server", "from mcp_wire.ext import apps"),
    (runtime_has_one_door, "mcp_runtime.extensions.apps", "import mcp_wire.steps"),
    (core_is_pure, "mcp_runtime.core.session.session", "import asyncio"),
    (core_is_pure, "mcp_runtime.core.session.session", "from time import monotonic"),
    (core_is_pure, "mcp_runtime.core.session.session", "import os.path"),
    (core_is_pure, "mcp_runtime.core.session.session", "from urllib import request"),
    (
        core_is_pure,
        "mcp_runtime.core.session.session",
        "def f():\n    from secrets import token_hex",
    ),
    (core_is_pure, "mcp_runtime.core.session.session", "import select"),
    (runtime_looks_down, "mcp_runtime.stray", "import json"),
    (runtime_looks_down, "mcp_runtime.core.session.session", "from mcp_runtime import Server"),
    (
        runtime_looks_down,
        "mcp_runtime.core.session.session",
        "from ...shared.threads import Threads",
    ),
    (runtime_looks_down, "mcp_runtime.server.registry", "from .http.app import HttpApp"),
    (
        runtime_looks_down,
        "mcp_runtime.client.requests",
        "if TYPE_CHECKING:\n    from mcp_runtime.client.client import Client",
    ),
    (
        runtime_looks_down,
        "mcp_runtime.client.client",
        "def f():\n    from mcp_runtime.server.server import Server",
    ),
    (
        runtime_inner_rooms_look_down,
        "mcp_runtime.core.wire.jsonrpc",
        "from mcp_runtime.core.session import pending",
    ),
    (
        runtime_inner_rooms_look_down,
        "mcp_runtime.core.terms.negotiation",
        "from ..http.http_rules import accepts",
    ),
    (
        runtime_inner_rooms_look_down,
        "mcp_runtime.server.http.sessions.per_request",
        "if TYPE_CHECKING:\n    from mcp_runtime.server.http.app import HttpApp",
    ),
    (
        runtime_inner_rooms_look_down,
        "mcp_runtime.auth.client.authorization_server.tokens",
        "def f():\n    import mcp_runtime.auth.client.flows.dpop",
    ),
    (
        runtime_imports_in_sight,
        "mcp_runtime.server.server",
        "from importlib import import_module\nimport_module('mcp_runtime.server.http.app')",
    ),
    (
        runtime_imports_in_sight,
        "mcp_runtime.server.server",
        "def f(name):\n    return importlib.import_module(name)",
    ),
    (runtime_imports_in_sight, "mcp_runtime.server.server", "__import__('socket')"),
    (runtime_names_no_revision, "mcp_runtime.core.session.session", "NEW = {'2026-07-28'}"),
    (runtime_names_no_revision, "mcp_runtime.core.session.session", "f'{x} since 2026-07-28'"),
    (
        runtime_names_no_revision,
        "mcp_runtime.revisions",
        "from mcp_wire.v2026_07_28 import methods",
    ),
)
KEPT: Final[tuple[Row, ...]] = (
    (
        bindgen_stands_alone,
        "mcp_bindgen.cli.run.command",
        "def f():\n    import mcp_runtime.client.client",
    ),
    (bindgen_stands_alone, "mcp_bindgen.cli.run.command", "import mcp_wired"),
    (bindgen_looks_left, "mcp_bindgen.cli", "from mcp_bindgen import __version__, emit"),
    (bindgen_looks_left, "mcp_bindgen.emit.tree", "from ..errors import BindgenError"),
    (bindgen_looks_left, "mcp_bindgen.emit.tree", "from . import layout\nimport jinja2"),
    (
        bindgen_looks_left,
        "mcp_bindgen.errors",
        "if TYPE_CHECKING:\n    from mcp_bindgen.source.syntax import Span",
    ),
    (bindgen_rooms_look_down, "mcp_bindgen.ir.lower.tags", "from ..resolve import keys"),
    (bindgen_rooms_look_down, "mcp_bindgen.ir.lower.tags", "from mcp_bindgen.ir import model"),
    (bindgen_rooms_look_down, "mcp_bindgen.tools.exact", "from mcp_bindgen.ir.lower import lower"),
    (wire_needs_nothing, "mcp_wire.v1.models_pydantic", "import json, pydantic"),
    (wire_needs_nothing, "mcp_wire.v1.calls_msgspec", "from . import models_msgspec"),
    (
        wire_needs_nothing,
        "mcp_wire.v1.calls_dataclass",
        "import typing\nif typing.TYPE_CHECKING:\n    from typing_extensions import deprecated",
    ),
    (runtime_has_one_door, "mcp_runtime.revisions", "import mcp_wire"),
    (
        runtime_has_one_door,
        "mcp_runtime.extensions.apps",
        "from mcp_wire.ext.apps.handlers_msgspec import models",
    ),
    (core_is_pure, "mcp_runtime.core.session.session", "from urllib.parse import urlsplit"),
    (runtime_looks_down, "mcp_runtime.core.session.session", "from mcp_runtime import limits"),
    (runtime_looks_down, "mcp_runtime", "from mcp_runtime.server.server import Server"),
    (runtime_looks_down, "mcp_runtime.server.http.app", "from . import outbox"),
    (
        runtime_inner_rooms_look_down,
        "mcp_runtime.core.session.session",
        "from mcp_runtime.core.wire import jsonrpc\nfrom . import pending",
    ),
    (
        runtime_inner_rooms_look_down,
        "mcp_runtime.server.http.app",
        "from mcp_runtime.server.http.asgi.request import HttpRequest",
    ),
    (
        runtime_inner_rooms_look_down,
        "mcp_runtime.stores.memory",
        "from mcp_runtime.core.session.session import Session",
    ),
    (runtime_imports_in_sight, "mcp_runtime", "import_module(name)"),
    (
        runtime_names_no_revision,
        "mcp_runtime.core.session.session",
        '"""2025-11-25."""\ndef f():\n    """Source: 2026-07-28."""\nA = 1\n"""2025-11-25."""',
    ),
    (runtime_imports_in_sight, "mcp_runtime.core.session.session", "from importlib import util"),
    (core_is_pure, "mcp_runtime.transports.stdio", "import asyncio"),
)


def problems_of(rows: tuple[Row, ...], law: Law) -> dict[str, list[str]]:
    """What a law says about each module of its rows, by the module's name and text."""
    shown = [(name, text) for each, name, text in rows if each is law]
    assert shown, f"no row shows {law.__name__} a module"
    return {f"{name}: {text}": list(law(read_module(name, text))) for name, text in shown}


@pytest.mark.parametrize("law", LAWS_ALONE, ids=lambda law: law.__name__)
def test_a_broken_law_is_seen(law: Law) -> None:
    assert {
        module: said for module, said in problems_of(BROKEN, law).items() if len(said) != 1
    } == {}


@pytest.mark.parametrize("law", LAWS_ALONE, ids=lambda law: law.__name__)
def test_a_kept_law_is_silent(law: Law) -> None:
    assert {module: said for module, said in problems_of(KEPT, law).items() if said} == {}


NAMES: Final = {room: f"mcp_runtime.{room}".removesuffix(".") for rooms in RANKS for room in rooms}


def test_each_direction_is_judged() -> None:
    """Every room imports every other: seen where it is not below, and only there."""
    misjudged = [
        f"{importer or 'the package'} imports {imported or 'the package'}: {problems}"
        for importer, imported in product(RANK, RANK)
        for problems in [problems_of_import(NAMES[importer], NAMES[imported])]
        if len(problems) != (importer != imported and RANK[imported] >= RANK[importer])
    ]
    assert misjudged == []


def problems_of_import(importer: str, imported: str) -> list[str]:
    module = read_module(importer, f"from {imported} import x", is_package=True)
    return list(runtime_looks_down(module))


PLANTED: Final = """
from mcp_runtime.shared.connection import Connection
from mcp_runtime.server.connection import ServerConnection
from mcp_runtime.server.methods import ProtocolMethods
import mcp_runtime.server.registry
from mcp_runtime.client.http import connection
from mcp_runtime.client.connection import ClientConnection
from mcp_runtime import trace
def adapters():
    from mcp_runtime.json_schema.type_adapter import adapter
if TYPE_CHECKING:
    from mcp_runtime.shared.threads import Threads
"""


def test_nine_imports_planted_in_core_are_all_seen() -> None:
    planted = read_module("mcp_runtime.core.session.session", PLANTED)
    assert len(list(runtime_looks_down(planted))) == 9


# ---- packages as faces


def imports_through_a_face(read: Iterable[Module]) -> Iterator[str]:
    """A module takes a name from a package around it whose `__init__` imports modules inside.

    Such an `__init__` is half done while the module is imported: name the sibling in full.
    """
    modules_by_name = {module.name: module for module in read}
    faces = {
        name
        for name, module in modules_by_name.items()
        for each in module.imports
        if each.within(name) and not each.lazy and not each.typing and each.name != name
        if each.source in modules_by_name and each.source != name
    }
    for name, module in modules_by_name.items():
        for each in module.imports:
            is_around = f"{name}.".startswith(f"{each.source}.") and each.source != name
            if is_around and each.source in faces and not each.lazy and not each.typing:
                yield f"{name}:{each.line}: takes {each.name} from its own package"


@pytest.mark.parametrize("package", SOURCE_ROOTS)
def test_no_module_imports_through_the_face_of_its_own_package(root: Path, package: str) -> None:
    assert [*imports_through_a_face(modules(root / SOURCE_ROOTS[package], package))] == []


def test_an_import_through_a_face_is_seen() -> None:
    face = read_module("p.q", "from p.q.server import Server", is_package=True)
    through = "from p.q import messages"
    assert len([*imports_through_a_face([face, *_inside("p.q", server=through)])]) == 1
    lazily = "def f():\n    from p.q import messages"
    assert [*imports_through_a_face([face, *_inside("p.q", server=lazily)])] == []
    in_full = "from p.q.messages import read"
    assert [*imports_through_a_face([face, *_inside("p.q", server=in_full)])] == []
    empty = read_module("p.q", "", is_package=True)
    assert [*imports_through_a_face([empty, *_inside("p.q", server=through)])] == []


def _inside(package: str, **texts: str) -> list[Module]:
    return [read_module(f"{package}.{name}", text) for name, text in texts.items()]


# ---- the whole graph


def test_the_runtime_has_no_circle(root: Path) -> None:
    assert circles(edges(modules(root / "runtime", "mcp_runtime"))) == []


def lists_its_own(text: str) -> bool:
    """Whether a module has an `__all__` that hands on no name of another module."""
    tree = ast.parse(text)
    names = listed(tree)
    return names is not None and defined(tree).issuperset(names)


def test_a_module_of_the_runtime_lists_only_what_it_hands_on(root: Path) -> None:
    """A package lists its names; inside, an underscore says what is private."""
    sources = (root / "runtime" / "mcp_runtime").rglob("[!_]*.py")
    assert [str(each) for each in sources if lists_its_own(each.read_text("utf-8"))] == []


def test_a_list_of_own_names_is_seen() -> None:
    assert lists_its_own('__all__ = ["a"]\ndef a(): ...')
    assert not lists_its_own('from b import a\n__all__ = ["a"]')
    assert not lists_its_own("def a(): ...")


def test_no_chain_of_the_runtime_is_long(root: Path) -> None:
    # compat has the modules of other packages, whatever their chains are; what stands above the
    # facades has a chain of its own.
    read = modules(root / "runtime", "mcp_runtime")
    above = [each for each in read if each.parts[1:2] == ["bridge"]]
    ours = [each for each in read if each.parts[1:2] not in (["compat"], ["bridge"])]
    for rooms, most in ((ours, MAX_CHAIN), (above, MAX_CHAIN_ABOVE)):
        chain = longest_chain(edges(rooms))
        assert len(chain) <= most, chain


def graph(**texts: str) -> Edges:
    return edges([read_module(f"p.{name}", text) for name, text in texts.items()])


@pytest.mark.parametrize(
    ("back", "is_circle"),
    [
        ("from p.a import A", True),
        ("from p import a", True),
        ("from . import a", True),
        ("def f():\n    import p.a", True),
        ("if TYPE_CHECKING:\n    from p.a import A", True),
        ("import json", False),
    ],
)
def test_a_planted_circle_is_seen(back: str, is_circle: bool) -> None:
    through = graph(a="from p.b import B", b="import p.c", c=back, d="import p.a")
    assert circles(through) == ([["p.a", "p.b", "p.c"]] if is_circle else [])


def test_a_planted_chain_is_seen() -> None:
    through = graph(a="import p.b, p.c", b="import p.c", c="import p.d", d="import p.e", e="")
    assert longest_chain(through) == ("p.a", "p.b", "p.c", "p.d", "p.e")


# ---- core, imported


HOOK: Final = """
import builtins, sys, types

IMPURE = {"asyncio", "os", "random", "secrets", "socket", "subprocess", "threading", "time"}
real = builtins.__import__

def refusing(name, globals=None, locals=None, fromlist=(), level=0):
    importer = str((globals or {}).get("__name__"))
    if level == 0 and importer.startswith("mcp_runtime.core.") and name.split(".")[0] in IMPURE:
        raise ImportError(f"{importer} imports {name}")
    return real(name, globals, locals, fromlist, level)

builtins.__import__ = refusing
import pkgutil
import mcp_runtime.core

mcp_runtime.core.__path__ += sys.argv[1:]
refused = []
for module in pkgutil.walk_packages(mcp_runtime.core.__path__, "mcp_runtime.core."):
    try:
        __import__(module.name)
        print(module.name)
    except ImportError as error:
        refused.append(str(error))
sys.exit("\\n".join(refused) or 0)
"""


def imported_core(*planted: Path) -> subprocess.CompletedProcess[str]:
    """The whole of core, imported under the hook, with what stands in other folders."""
    return subprocess.run(
        [sys.executable, "-c", HOOK, *map(str, planted)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_core_is_imported_without_io_clock_and_randomness(root: Path) -> None:
    ran = imported_core()
    assert ran.returncode == 0, ran.stderr
    source = root / "runtime"
    files = (source / "mcp_runtime/core").rglob("*.py")
    names = {".".join(path.relative_to(source).with_suffix("").parts) for path in files}
    inside = {name.removesuffix(".__init__") for name in names} - {"mcp_runtime.core"}
    assert inside == {*ran.stdout.split()}


PLANTED_IN_CORE: Final = (
    "import time",
    "from os import path",
    "import socket as s",
    "try:\n    import asyncio.events\nfinally:\n    pass",
    "class A:\n    from secrets import token_hex",
    "from random import random",
    "import threading",
    "import subprocess",
)


def test_the_hook_refuses_what_is_planted(tmp_path: Path) -> None:
    for number, text in enumerate(PLANTED_IN_CORE):
        (tmp_path / f"planted_{number}.py").write_text(text, "utf-8")
    ran = imported_core(tmp_path)
    refused = re.findall(r"(?m)^mcp_runtime\.core\.planted_(\d) imports", ran.stderr)
    assert ran.returncode == 1
    assert [int(number) for number in refused] == [*range(len(PLANTED_IN_CORE))], ran.stderr


# ---- the rest of the house


def test_relative_imports_start_at_the_package() -> None:
    module = read_module(
        "mcp_bindgen.ir", "from . import model\nfrom .. import errors", is_package=True
    )
    assert [imported.name for imported in module.imports] == [
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


@pytest.mark.wide
def test_no_extra_without_code(root: Path) -> None:
    """Each library of an extra of the runtime is imported somewhere in the two packages.

    uvicorn imports httptools by itself where that is installed.
    """
    names = {
        "httptools": "uvicorn",
        "jsonschema-rs": "jsonschema_rs",
        "opentelemetry-api": "opentelemetry",
        "pyjwt": "jwt",
    }
    _, runtime = projects(root)
    libraries = {
        re.split(r"[\[<>=]", row)[0]
        for rows in runtime["optional-dependencies"].values()
        for row in rows
    }
    imported = {
        each.name.partition(".")[0]
        for package in ("mcp_wire", "mcp_runtime")
        for module in modules(root / SOURCE_ROOTS[package], package)
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
