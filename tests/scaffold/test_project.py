"""The project that is written: it runs, passes its own tests, and is in order as it stands."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from bench import peers
from mcp_bindgen.scaffold.answers import Answers
from tests.support.projects import ALL, WAYS, answers, environment, made, run, write

MOST_FILES: Final = 30
SHORT, LONG = "a", "x" * 40
EXTREMES: Final = (
    answers(),
    answers(revisions=ALL[-1:], tools=True),
    answers(revisions=ALL[-1:], transports=("http",)),
    answers(tools=True, transports=("stdio", "http")),
    answers(revisions=ALL[-1:], transports=("http",), auth="bearer"),
)
EVERY: Final = tuple(
    answers(revisions=ALL[n:], tools=t, transports=w)
    for n in range(len(ALL))
    for t in (False, True)
    for w in WAYS
)
OPTIONAL: Final = (
    *(answers(tools=t, transports=w, auth="bearer") for t in (False, True) for w in WAYS[1:]),
    answers(transports=("http",), scale=True),
    answers(transports=WAYS[-1], auth="bearer", scale=True),
    answers(ui=True),
    answers(transports=("http",), auth="bearer", ui=True),
)


LAID_OUT: Final = (
    *(
        answers(name, tools=t, transports=w)
        for name, t in ((SHORT, False), (LONG, True))
        for w in WAYS
    ),
    *OPTIONAL,
)


def outside(chosen: Answers) -> list[str]:
    return [path for path in made(chosen) if "/_mcp/" not in path]


@pytest.mark.wide
def test_there_are_few_files_beside_the_protocol() -> None:
    counts = [len(outside(answers(transports=ways))) for ways in WAYS]
    assert max(counts) <= MOST_FILES
    protected = answers(transports=WAYS[-1], auth="bearer")
    assert len(outside(protected)) == counts[-1] + 2


@pytest.mark.wide
@pytest.mark.drawn
@pytest.mark.parametrize("chosen", [*(answers(transports=w) for w in WAYS), *OPTIONAL], ids=str)
def test_dependencies_have_upper_bounds(chosen: Answers) -> None:
    body = tomllib.loads(made(chosen)["pyproject.toml"])
    wanted = [*body["project"]["dependencies"], *body["build-system"]["requires"]]
    wanted += [row for rows in body["project"]["optional-dependencies"].values() for row in rows]
    assert [row for row in wanted if ",<" not in row] == []
    served = ["uvicorn"] if "http" in chosen.transports else []
    verified = ["pyjwt[crypto]", "httpx2"] if chosen.auth == "bearer" else []
    shared = ["redis"] if chosen.scale else []
    needed = ["msgspec", *served, *shared, *verified]
    assert [row.partition(">")[0] for row in body["project"]["dependencies"]] == needed


def test_no_path_of_this_machine_is_written(root: Path) -> None:
    for path, text in made(answers()).items():
        assert str(root) not in text, path
        assert str(Path.home()) + "/" not in text, path


@pytest.mark.parametrize("path", [".mcp.json", ".vscode/mcp.json", ".cursor/mcp.json"])
def test_settings_of_clients_start_the_script(path: str) -> None:
    ((servers),) = json.loads(made(answers())[path]).values()
    assert servers["my-server"]["command"].endswith(".venv/bin/my-server")
    ((servers),) = json.loads(made(answers(transports=("http",)))[path]).values()
    assert servers["my-server"] == {"type": "http", "url": "http://127.0.0.1:8000/mcp"}


def test_the_image_runs_as_no_root() -> None:
    lines = made(answers())["Dockerfile"].splitlines()
    assert lines.index("USER server") < lines.index('ENTRYPOINT ["my-server"]')


def test_a_change_of_the_code_installs_nothing_anew_in_the_image() -> None:
    for ways in WAYS:
        text = made(answers(transports=ways))["Dockerfile"]
        before, _, after = text.partition("COPY src ./src")
        assert "--requirement needed.txt" in before
        assert "--no-deps ." in after
        command = before.partition('RUN python -c "')[2].partition('" >')[0]
        ast.parse(command)


def test_what_we_write_is_kept_out_of_diffs() -> None:
    lines = made(answers())[".gitattributes"].splitlines()
    assert ".mcp-bindgen.base -diff linguist-generated" in lines
    assert "src/my_server/_mcp/** linguist-generated" in lines


EDITED: Final = """
from my_server._mcp.runtime import Server

server = Server("my-server", "0.2.0")


@server.tool
def today() -> str:
    return "Sunday"
"""


@pytest.mark.wide
@pytest.mark.parametrize("ways", WAYS[:2], ids=",".join)
def test_make_try_survives_another_tool(ways: tuple[str, ...], tmp_path: Path) -> None:
    project = write(made(answers(transports=ways, revisions=ALL[-1:])), tmp_path / "project")
    (project / "src/my_server/server.py").write_text(EDITED)
    done = run(environment(tmp_path / "venv", project), "examples/try_it.py", cwd=project)
    assert (done.stdout, done.returncode) == ("today\n", 0), done.stderr


def test_the_image_of_a_server_over_http_is_asked_whether_it_lives() -> None:
    stdio, *others = (made(answers(transports=ways))["Dockerfile"] for ways in WAYS)
    assert "EXPOSE" not in stdio
    for text in others:
        assert "EXPOSE 8000\n" in text
        command = text.partition("HEALTHCHECK")[2].partition("CMD ")[2].partition("\n")[0]
        *start, code = json.loads(command)
        assert start == ["python", "-c"]
        ast.parse(code)
        assert "http://127.0.0.1:8000/health" in code


@pytest.mark.wide
def test_the_readme_is_laid_out() -> None:
    for chosen in LAID_OUT:
        text = made(chosen)["README.md"]
        assert "\n\n\n" not in text
        assert ("--http" in text) == ("http" in chosen.transports)
        assert ("/sse" in text) == ("--http" in text and ALL[0] in chosen.revisions)
        assert ("does not ask who calls" in text) == ("--http" in text and chosen.auth == "none")
        assert ("MCP_AUTH_ISSUER" in text) == (chosen.auth == "bearer")
        assert ("--env MCP_AUTH_ISSUER --env" in text) == (chosen.auth == "bearer")


@pytest.fixture(scope="module")
def laid_out(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A project of each kind; each is judged by its own settings."""
    home = tmp_path_factory.mktemp("projects")
    return [write(made(chosen), home / f"{number}") for number, chosen in enumerate(LAID_OUT)]


@pytest.mark.wide
@pytest.mark.parametrize("command", [("check",), ("format", "--check")], ids=" ".join)
def test_what_is_written_pleases_ruff(laid_out: list[Path], command: Sequence[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ruff", *command, *laid_out],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.wide
def test_what_is_written_pleases_black(laid_out: list[Path]) -> None:
    import black  # where it is used: each worker would wait for it

    judged = set[tuple[str, str]]()
    for project in laid_out:
        settings = str(tomllib.loads((project / "pyproject.toml").read_text("utf-8"))["tool"])
        paths = [path for path in sorted(project.rglob("*.py")) if "_mcp" not in path.parts]
        texts = {path: (settings, path.read_text("utf-8")) for path in paths}
        new = [str(path) for path, text in texts.items() if text not in judged]
        judged |= {*texts.values()}
        shown = CliRunner().invoke(black.main, ["--check", "--workers", "1", *new])
        assert shown.exit_code == 0, shown.output


def check_its_own_tests(chosen: Answers, home: Path) -> None:
    project = write(made(chosen), home / "project")
    python = environment(home / "venv", project)
    done = run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=project)
    assert done.returncode == 0, done.stdout + done.stderr
    tried = run(python, "examples/try_it.py", cwd=project)
    assert ("get-sum" if chosen.tools else "completion") in tried.stdout, tried.stderr


@pytest.mark.wide
@pytest.mark.parametrize("chosen", EXTREMES, ids=str)
def test_it_passes_its_own_tests(chosen: Answers, tmp_path: Path) -> None:
    check_its_own_tests(chosen, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("chosen", [*EVERY, *OPTIONAL], ids=str)
def test_every_choice_passes_its_own_tests(chosen: Answers, tmp_path: Path) -> None:
    check_its_own_tests(chosen, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize(
    "chosen",
    [*(answers(tools=t, transports=w) for t in (False, True) for w in WAYS), *OPTIONAL],
    ids=str,
)
def test_pyright_reports_nothing(chosen: Answers, tmp_path: Path) -> None:
    project = write(made(chosen), tmp_path / "project")
    python = environment(project / ".venv", project)
    done = run(Path(sys.executable), "-m", "basedpyright", "--pythonpath", str(python), cwd=project)
    assert done.returncode == 0, done.stdout


BESIDE: Final = """
import asyncio
from my_server._mcp.runtime import Client
from my_server.server import server
from my_server.tools import HANDLERS, get_sum

@server.tool
def extra(a: int) -> int:
    return a + 1

async def main():
    async with Client(server) as client:
        print([tool.name for tool in await client.list_tools()])
        print((await client.call_tool("extra", {"a": 1})).structured_content)
        unfit = await client.call_tool("get-sum", {"a": 1})
        print(unfit.is_error, unfit.content[0].text)
        print((await client.call_tool("get-sum", {"a": 1, "class": 2})).structured_content)

asyncio.run(main())
"""


@pytest.mark.wide
def test_tools_of_the_list_and_one_s_own_are_offered_together(tmp_path: Path) -> None:
    files = dict(made(answers(revisions=ALL[-1:], tools=True)))
    module = "src/my_server/tools/get_sum.py"
    stub = 'raise NotImplementedError("get_sum is not written yet")'
    assert stub in files[module]
    files[module] = files[module].replace(stub, "return Output(sum=arguments.a + arguments.class_)")
    project = write(files, tmp_path / "project")
    done = run(environment(tmp_path / "venv", project), "-c", BESIDE, cwd=project)
    assert done.stdout.splitlines() == [
        "['get-sum', 'extra']",
        "{'result': 2}",
        "True Object missing required field `class`",
        "{'sum': 3.0}",
    ], done.stderr


@pytest.mark.wide
def test_an_edit_of_the_protocol_is_seen(tmp_path: Path) -> None:
    project = write(made(answers()), tmp_path / "project")
    python = environment(tmp_path / "venv", project)
    drift = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_vendored.py")
    assert run(python, *drift, cwd=project).returncode == 0
    codes = project / "src/my_server/_mcp/runtime/core/wire/error_codes.py"
    codes.write_text(codes.read_text("utf-8") + "\n", "utf-8")
    assert run(python, *drift, cwd=project).returncode == 1


@pytest.mark.long
def test_from_nothing_to_an_answer_are_two_commands(tmp_path: Path) -> None:
    """As the README says it: with a network, an empty environment and make."""
    bindgen = shutil.which("mcp-bindgen", path=str(Path(sys.executable).parent))
    assert bindgen is not None
    for command in ([bindgen, "new", "hello"], ["make", "-C", "hello", "try"]):
        done = run(Path(command[0]), *command[1:], cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
    assert '"word": "client"' in done.stdout
    checked = run(Path("make"), "-C", "hello", "check", "test", cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout + checked.stderr


DRIVE: Final = """
import asyncio, sys
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

async def main():
    command = StdioServerParameters(command=sys.argv[1], args=["-m", "my_server"])
    async with Client(stdio_client(command)) as client:
        print([tool.name for tool in (await client.list_tools()).tools])
        print((await client.call_tool("search", {"text": "URI", "limit": 1})).structured_content)

asyncio.run(main())
"""


@pytest.mark.wide
@pytest.mark.peers
@pytest.mark.parametrize("revisions", [ALL, ALL[-1:]], ids=len)
def test_the_package_mcp_calls_its_tool(revisions: tuple[str, ...], tmp_path: Path) -> None:
    if not peers.ready():
        pytest.skip("needs the peer in an environment of its own: make peers")
    project = write(made(answers(revisions=revisions)), tmp_path / "project")
    python = environment(tmp_path / "venv", project)
    done = run(Path(peers.python()), "-c", DRIVE, str(python), cwd=tmp_path)
    assert done.stdout.startswith("['search']\n{'result': [{'word': 'resource'"), done.stderr
