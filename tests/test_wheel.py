"""Both wheels, built, installed into empty environments, and used there as their users do."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path
from typing import Final

import pytest

from tests.support import wheels as support
from tests.support.wheels import Environment, run, wheel

VERSION: Final = "0.2.0"
RUNTIME_INFO: Final = f"mcp_bindgen_runtime-{VERSION}.dist-info"
GENERATOR_INFO: Final = f"mcp_bindgen-{VERSION}.dist-info"


@pytest.fixture(scope="session")
def wheels(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return support.wheels(root, tmp_path_factory)


@pytest.fixture(scope="session")
def runtime(wheels: Path) -> Environment:
    return support.environment(wheels, "runtime")


@pytest.fixture(scope="session")
def generator(wheels: Path) -> Environment:
    return support.environment(wheels, "generator")


def _tops(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name.partition("/")[0] for name in archive.namelist()}


# What travels


@pytest.mark.wide
def test_each_wheel_carries_its_packages_and_nothing_else(
    runtime: Environment, generator: Environment
) -> None:
    assert _tops(runtime.wheel) == {"mcp_wire", "mcp_runtime", RUNTIME_INFO}
    assert _tops(generator.wheel) == {"mcp_bindgen", GENERATOR_INFO}


def test_templates_and_schema_travel_inside_the_generator(
    generator: Environment, root: Path
) -> None:
    with zipfile.ZipFile(generator.wheel) as archive:
        names = set(archive.namelist())
    for source, target in (("templates", "_templates"), ("schema", "_schema")):
        files = [path for path in (root / source).rglob("*") if path.is_file()]
        carried = {f"mcp_bindgen/{target}/{p.relative_to(root / source).as_posix()}" for p in files}
        assert files
        assert carried <= names


@pytest.mark.parametrize("name", ["mcp_wire", "mcp_runtime"])
def test_every_file_of_the_checkout_travels_with_the_runtime(
    runtime: Environment, root: Path, name: str
) -> None:
    folder = root / {"mcp_wire": "generated", "mcp_runtime": "runtime"}[name] / name
    files = {p for p in folder.rglob("*") if p.is_file() and p.parent.name != "__pycache__"}
    expected = {path.relative_to(folder.parent).as_posix() for path in files}
    with zipfile.ZipFile(runtime.wheel) as archive:
        carried = {path for path in archive.namelist() if path.startswith(f"{name}/")}
    assert carried == expected
    assert f"{name}/py.typed" in carried


@pytest.mark.parametrize("name", ["runtime", "generator"])
def test_license_and_notice_travel(wheels: Path, name: str) -> None:
    distribution = {"runtime": "mcp_bindgen_runtime", "generator": "mcp_bindgen"}[name]
    info = {"runtime": RUNTIME_INFO, "generator": GENERATOR_INFO}[name]
    with zipfile.ZipFile(wheel(wheels, distribution)) as archive:
        assert b"License-Expression: Apache-2.0" in archive.read(f"{info}/METADATA")
        texts = {p.rpartition("/")[2]: archive.read(p) for p in archive.namelist() if info in p}
    assert b"Apache License" in texts["LICENSE"]
    assert b"Model Context Protocol" in texts["NOTICE"]


def test_the_generator_demands_the_runtime_of_its_own_version(generator: Environment) -> None:
    with zipfile.ZipFile(generator.wheel) as archive:
        lines = archive.read(f"{GENERATOR_INFO}/METADATA").decode().splitlines()
    demands = [line for line in lines if line.startswith("Requires-Dist: mcp-bindgen-runtime")]
    assert f"Requires-Dist: mcp-bindgen-runtime=={VERSION}" in demands
    assert all(f"=={VERSION}" in line for line in demands)


@pytest.mark.parametrize(
    ("project", "folders"), [(".", ["codegen"]), ("runtime", ["generated", "runtime"])]
)
def test_an_editable_install_names_the_folders_and_copies_nothing(
    root: Path, tmp_path: Path, project: str, folders: list[str]
) -> None:
    code = "import sys; from hatchling.build import build_editable; build_editable(sys.argv[1])"
    run([sys.executable, "-c", code, str(tmp_path)], cwd=root / project)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (path,) = (name for name in archive.namelist() if ".dist-info/" not in name)
        lines = archive.read(path).decode().splitlines()
    assert path.endswith(".pth")
    assert lines == [str(root / folder) for folder in folders]


# The runtime alone

SERVER: Final = '''\
from mcp_runtime import Context, Server

server = Server("adder", "1.0")


@server.tool()
async def add(a: int, b: int, ctx: Context) -> int:
    """Adds two numbers."""
    await ctx.progress(1, 1)
    return a + b


server.run()
'''
CLIENT: Final = """\
import asyncio
import sys

from mcp_runtime import Client


async def main() -> None:
    async with Client.stdio([sys.executable, sys.argv[1]]) as client:
        result = await client.call_tool("add", {"a": 2, "b": 3})
        print(result.structured_content, sorted({m.partition(".")[0] for m in sys.modules}))


asyncio.run(main())
"""


def test_the_runtime_needs_msgspec_alone(runtime: Environment) -> None:
    assert runtime.distributions() == {"mcp-bindgen-runtime", "msgspec"}


def test_a_server_and_a_client_converse_with_the_runtime_alone(
    runtime: Environment, tmp_path: Path
) -> None:
    (tmp_path / "server.py").write_text(SERVER)
    (tmp_path / "client.py").write_text(CLIENT)
    printed = runtime.run("python", str(tmp_path / "client.py"), str(tmp_path / "server.py"))
    assert printed.startswith("{'result': 5}")
    assert "mcp_bindgen" not in printed


def test_the_models_decode_without_other_libraries(runtime: Environment) -> None:
    code = (
        "import mcp_wire.v2025_11_25.models_dataclass as m\n"
        """tool = m.decode(m.Tool, b'{"name": "add", "inputSchema": {"type": "object"}}')\n"""
        "print(tool.name, m.encode(tool).decode())"
    )
    name, _, wire = runtime.python(code).partition(" ")
    assert name == "add"
    assert '"inputSchema"' in wire


# The generator


@pytest.mark.parametrize("package", ["mcp_bindgen", "mcp_wire", "mcp_runtime"])
def test_packages_import_from_the_environment(generator: Environment, package: str) -> None:
    place = generator.python(f"import {package}; print({package}.__file__)").strip()
    assert Path(place).is_relative_to(generator.home)


def test_templates_schema_and_runtime_are_found(generator: Environment) -> None:
    code = "from mcp_bindgen import paths as p; print(p.templates(), p.schema(), p.runtime())"
    for place in generator.python(code).split():
        assert Path(place).is_relative_to(generator.home)
        assert any(Path(place).iterdir())


def test_the_command_says_its_version_and_lists_the_verbs(generator: Environment) -> None:
    assert generator.run("mcp-bindgen", "--version") == f"mcp-bindgen {VERSION}\n"
    printed = generator.run("mcp-bindgen", "--help")
    for verb in ("generate", "inspect", "pull"):
        assert verb in printed


@pytest.mark.wide
def test_inspect_shows_a_type_in_both_languages(generator: Environment) -> None:
    printed = generator.run("mcp-bindgen", "inspect", "2025-11-25", "Tool")
    assert "interface Tool " in printed
    assert "class Tool" in printed
    assert "2026-07-28" in printed  # among the revisions that have it


@pytest.mark.wide
def test_generate_writes_what_the_runtime_carries(generator: Environment, tmp_path: Path) -> None:
    out = tmp_path / "out"
    generator.run("mcp-bindgen", "generate", "2025-06-18", "--out", str(out))
    (written,) = out.rglob("v2025_06_18/models_dataclass.py")
    carried = generator.python(
        "import mcp_wire.v2025_06_18.models_dataclass as m; print(m.__file__)"
    )
    ours = Path(carried.strip()).read_bytes()
    assert written.read_bytes() == ours.replace(b"`make generate`", b"`mcp-bindgen generate`", 1)
    generator.run("mcp-bindgen", "generate", "2025-06-18", "--out", str(out), "--check")


def test_diff_finds_what_changed(generator: Environment) -> None:
    options = ["--fail-on", "never", "--format", "json"]
    printed = generator.run("mcp-bindgen", "diff", "2025-03-26", "2025-06-18", *options)
    assert json.loads(printed)["findings"]


REVISIONS: Final = ("--revisions", "2026-07-28")


@pytest.mark.wide
def test_new_writes_a_project_whose_server_answers(generator: Environment, tmp_path: Path) -> None:
    project = tmp_path / "adder"
    generator.run("mcp-bindgen", "new", "adder", "--into", str(project), "--yes", *REVISIONS)
    source = project / "src"
    tools = generator.python(
        f"import sys; sys.path.insert(0, {str(source)!r})\n"
        "import adder._mcp.runtime as runtime, asyncio, os\n"
        "assert 'mcp_runtime' not in sys.modules\n"
        f"os.environ['PYTHONPATH'] = {str(source)!r}\n"
        "async def main():\n"
        "    command = [sys.executable, '-m', 'adder']\n"
        f"    async with runtime.Client.stdio(command, cwd={str(source)!r}) as client:\n"
        "        print([tool.name for tool in await client.list_tools()])\n"
        "asyncio.run(main())\n"
    )
    assert tools == "['search']\n"
