"""What is vendored: exactly what is needed, with imports that stay inside."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from mcp_bindgen.errors import TemplateError
from mcp_bindgen.scaffold.answers import COMMON, TRANSPORTS
from mcp_bindgen.scaffold.vendor import vendored
from tests.support.projects import ALL, WAYS, answers, environment, made, run, write

NEEDED: Final = {f"{root.replace('.', '/')}.py": "" for root in (*COMMON, *TRANSPORTS["stdio"])}
PROBE: Final = """
import asyncio, contextlib, importlib, pathlib, pkgutil, socket, sys

package, *ways = sys.argv[1:]
runtime = importlib.import_module(f"{package}._mcp.runtime")
for name in runtime.__all__:
    getattr(runtime, name)
server = importlib.import_module(f"{package}.server").server
server.on_call(lambda call: contextlib.nullcontext())
revisions = importlib.import_module(f"{package}._mcp.runtime.revisions").ALL

async def ask(client):
    async with client:
        for tool in await client.list_tools():
            await client.call_tool(tool.name, {})

async def ask_over_http():
    import uvicorn
    asgi = uvicorn.Server(uvicorn.Config(server.asgi(), log_level="warning"))
    with socket.create_server(("127.0.0.1", 0)) as place:
        serving = asyncio.create_task(asgi.serve(sockets=[place]))
        url = f"http://127.0.0.1:{place.getsockname()[1]}/mcp"
        for revision in revisions:
            await ask(runtime.Client.http(url, revisions=[revision]))
        asgi.should_exit = True
        await serving

for revision in revisions:
    asyncio.run(ask(runtime.Client(server, revisions=[revision])))
if "stdio" in ways:
    asyncio.run(ask(runtime.Client.stdio([sys.executable, "-m", package])))
    importlib.import_module(f"{package}._mcp.runtime.transports.stdio")
if "http" in ways:
    asyncio.run(ask_over_http())
    for name in ("auth", "client.http", "server.http", "stores"):
        room = importlib.import_module(f"{package}._mcp.runtime.{name}")
        for module in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
            importlib.import_module(module.name)

home = pathlib.Path(runtime.__file__).parents[1]
for module in [m for name, m in sys.modules.items() if name.startswith(f"{package}._mcp")]:
    print(pathlib.Path(module.__file__).relative_to(home).as_posix())
"""
"""Speaks every revision, and prints the files that this needed."""


def runtime(**files: str) -> dict[str, str]:
    """A runtime of the modules that are asked for, each empty but for those given."""
    given = {f"{name.replace('__', '/')}.py": text for name, text in files.items()}
    return {"__init__.py": "", "transports/__init__.py": "", **NEEDED, **given}


def moved(line: str, module: str = "server__server") -> str:
    """An import of a module, as it is vendored."""
    files = vendored(answers(), {}, runtime(**{module: f"{line}\n"}))
    return files[f"runtime/{module.replace('__', '/')}.py"].split("\n")[1]


@pytest.mark.parametrize(
    ("line", "becomes"),
    [
        ("import mcp_wire", "from ... import wire as mcp_wire"),
        ("import mcp_wire as w", "from ... import wire as w"),
        ("from mcp_wire import LATEST", "from ...wire import LATEST"),
        ("from mcp_wire.steps import route", "from ...wire.steps import route"),
        ("from mcp_runtime import limits", "from .. import limits"),
        (
            "from mcp_runtime.core.wire.error_codes import X",
            "from ..core.wire.error_codes import X",
        ),
        (
            "def f(): from mcp_runtime.shared.uri_template import X",
            "def f(): from ..shared.uri_template import X",
        ),
        ("from ..core import error_codes", "from ..core import error_codes"),
        ("import msgspec", "import msgspec"),
        ("x = 'from mcp_wire import y'", "x = 'from mcp_wire import y'"),
    ],
)
def test_imports_become_relative(line: str, becomes: str) -> None:
    assert moved(line) == becomes


def test_imports_of_a_deeper_module_lead_further_up() -> None:
    files = runtime(
        server__server="from mcp_runtime.server.functions import content",
        server__functions__content="from mcp_wire.steps import route\n",
    )
    files = vendored(answers(), {}, {**files, "server/functions/__init__.py": ""})
    text = files["runtime/server/functions/content.py"]
    assert text.split("\n")[1] == "from ....wire.steps import route"
    wire = "from mcp_runtime.transports.wire import Wire"
    assert moved(wire, "transports__stdio") == "from .wire import Wire"


@pytest.mark.parametrize("line", ["import mcp_wire, os", "import mcp_wire.steps"])
def test_an_import_that_cannot_be_relative_is_refused(line: str) -> None:
    with pytest.raises(TemplateError, match="cannot be made relative"):
        moved(line)


def test_a_runtime_without_a_transport_is_refused() -> None:
    with pytest.raises(TemplateError, match=r"mcp_runtime\.client\.client is not there"):
        vendored(answers(), {}, {"__init__.py": "", "server/server.py": ""})


def test_only_what_is_imported_comes_along() -> None:
    imports = "from mcp_runtime.a import x\ndef f():\n    from .. import b\n"
    files = vendored(
        answers(), {}, runtime(server__server=imports, a="", b="", c="import mcp_runtime.a")
    )
    assert {"runtime/a.py", "runtime/b.py"} <= files.keys()
    assert "runtime/c.py" not in files


def test_what_only_another_transport_needs_stays_away() -> None:
    files = runtime(
        server__server="def f(): from mcp_runtime.server.http import app", server__http__app=""
    )
    assert "runtime/server/http/app.py" not in vendored(answers(), {}, files)


def test_a_transport_s_own_modules_come_with_it_alone() -> None:
    stdio, http, both = (vendored_files(made(answers(transports=ways))).keys() for ways in WAYS)
    assert stdio | http == both
    assert {
        f"runtime/transports/{name}.py" for name in ("child_process", "pipes", "stdio")
    } <= stdio - http
    assert {"runtime/client/http/connection.py", "runtime/server/http/app.py"} <= http - stdio


def vendored_files(files: Mapping[str, str]) -> dict[str, str]:
    head = "src/my_server/_mcp/"
    return {p.removeprefix(head): text for p, text in files.items() if p.startswith(head)}


@pytest.mark.wide
def test_nothing_of_ours_is_imported_by_name() -> None:
    for path, text in vendored_files(made(answers())).items():
        for node in ast.walk(ast.parse(text if path.endswith(".py") else "")):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            assert not any(re.match(r"mcp_(wire|runtime|bindgen)\b", name) for name in names), path


def test_no_extra_of_ours_is_named_where_a_library_is_missing() -> None:
    files = vendored_files(made(answers()))
    assert "pip install '{package}'" in files["runtime/errors.py"]
    assert not any("mcp-bindgen-runtime[" in text for text in files.values())


def test_each_file_says_whose_it_is() -> None:
    for path, text in vendored_files(made(answers())).items():
        named = "run `mcp-bindgen update`" in text.split("\n")[0]
        assert named or path in ("LICENSE", "NOTICE"), path


def test_the_license_and_the_notice_of_the_protocol_come_along(root: Path) -> None:
    files = vendored_files(made(answers()))
    assert files["LICENSE"] == (root / "LICENSE").read_text("utf-8")
    assert files["NOTICE"] == (root / "schema/NOTICE").read_text("utf-8")


@pytest.mark.wide
@pytest.mark.drawn
@pytest.mark.parametrize(("count", "ways"), [(1, WAYS[0]), (1, WAYS[1]), (len(ALL), WAYS[2])])
def test_every_file_is_needed(count: int, ways: tuple[str, ...], tmp_path: Path) -> None:
    """Each is imported where every revision is spoken, so without it that could not be."""
    files = made(answers(revisions=ALL[-count:], transports=ways))
    project = write(files, tmp_path / "project")
    python = environment(tmp_path / "venv", project)
    done = run(python, "-c", PROBE, "my_server", *ways, cwd=project)
    assert done.stderr == ""
    modules = {path for path in vendored_files(files) if path.endswith(".py")}
    idle = modules - set(done.stdout.split())
    assert idle == set(), "a transport's own modules are named in OWNED of scaffold/answers.py"


WHOLE: Final = (
    "runtime/auth/",
    "runtime/client/http/",
    "runtime/server/http/",
    "runtime/stores/",
)
"""Packages that come whole, with what a server calls for only once it is changed."""


@pytest.mark.long
def test_each_file_that_is_removed_is_missed(tmp_path: Path) -> None:
    files = made(answers(transports=WAYS[-1]))
    project = write(files, tmp_path / "project")
    python = environment(tmp_path / "venv", project)
    modules = {p: t for p, t in vendored_files(files).items() if p.endswith(".py")}
    for path, text in modules.items():
        if path.startswith(WHOLE):
            continue
        place = project / "src/my_server/_mcp" / path
        place.unlink()
        done = run(python, "-c", PROBE, "my_server", *WAYS[-1], cwd=project)
        assert done.returncode != 0, path
        place.write_text(text, "utf-8")
