"""What README.md and docs/ name is there: commands, options, members, files, tests, links."""

from __future__ import annotations

import inspect
import re
import shlex
import subprocess
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import click
import pytest

from bench import peers
from mcp_bindgen.cli import main
from mcp_runtime import Client, Context, Server
from mcp_runtime.server.other_names import CONTEXT_NAMES, SERVER_NAMES
from tests.support.pages import Page, pages

pytestmark = pytest.mark.sources

ROOT: Final = Path(__file__).parents[1]
PAGES: Final = {page.path.relative_to(ROOT).as_posix(): page for page in pages(ROOT)}
PROGRAMS: Final = {"export", "git", "make", "mcp-bindgen", "npx", "pip", "python", "uvicorn", "uvx"}
PLACE: Final = re.compile(
    r"(?:bench|codegen|docs|examples|generated|runtime|schema|templates|tests)/[\w./:-]*$"
)
"""Names of files between backticks; those with `<revision>` or `*` in them are patterns."""
OURS: Final = {"client": Client, "ctx": Context, "server": Server}
PEERS: Final = {"client": "Client", "ctx": "Context", "server": "MCPServer"}
MEMBER: Final = re.compile(r"(?<![\w./])(client|ctx|server)\.(?!(?:py|json)\b)(\w+)")
MACHINE: Final = re.compile(r"(?<![\w.])/(?:home|root|tmp|Users|work)/")


def commands(page: Page) -> Iterator[list[str]]:
    """Commands that a page names, in blocks of shell and between backticks."""
    for block in page.blocks:
        if block.language == "sh":
            for line in block.lines:
                yield shlex.split(line)
    for code in page.code:
        program = code.partition(" ")[0]
        if program in ("mcp-bindgen", "make") and " " in code:
            yield code.replace("'", "").split()


@pytest.mark.parametrize("name", PAGES)
def test_commands_that_a_page_names_are_there(name: str) -> None:
    assert [problem for words in commands(PAGES[name]) for problem in faults(words)] == []


def faults(words: list[str]) -> Iterator[str]:
    match words:
        case ["mcp-bindgen", *rest] | ["uvx", "mcp-bindgen", *rest]:
            yield from unknown_options(rest)
        case ["make", target, *_] if not target.startswith("-"):
            if f"\n{target}:" not in (ROOT / "Makefile").read_text("utf-8"):
                yield f"make {target}: no such target"
        case ["pip", "install", *packages]:
            yield from (package for package in packages if not is_ours(package))
        case [program, *_]:
            if program not in PROGRAMS:
                yield f"{program}: no program that a page may name"
        case _:
            yield "no command"


def unknown_options(words: list[str]) -> Iterator[str]:
    """What `mcp-bindgen` would not know of these words."""
    context = click.Context(main)
    verb = next((word for word in words if not word.startswith("-")), None)
    command = main if verb is None else main.get_command(context, verb)
    if command is None:
        yield f"mcp-bindgen {verb}: no such verb"
        return
    options = {name for option in command.get_params(context) for name in option.opts}
    if verb == "run" and "--" in words:  # the rest are arguments of the program that is run
        words = words[: words.index("--")]
    asked = [word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)]
    yield from (f"{verb} {word}" for word in asked if word not in {*options, "-h", "--help"})


def is_ours(package: str) -> bool:
    """A distribution of this repository, with extras that it has."""
    name, _, extras = package.strip("'\"").rstrip("]").partition("[")
    for path in (ROOT / "pyproject.toml", ROOT / "runtime/pyproject.toml"):
        project = tomllib.loads(path.read_text("utf-8"))["project"]
        known = project.get("optional-dependencies", {})
        if project.get("name") == name and set(filter(None, extras.split(","))) <= known.keys():
            return True
    return False


@pytest.mark.parametrize("name", PAGES)
def test_what_a_page_installs_has_the_command_that_it_uses_next(name: str) -> None:
    for block in PAGES[name].blocks:
        text = "\n".join(block.lines)
        if "pip install" in text and "\nmcp-bindgen " in text:
            assert re.search(r"pip install '?mcp-bindgen(?!-)", text), text


@pytest.mark.parametrize(
    ("words", "count"),
    [
        (["mcp-bindgen", "generate", "--check"], 0),
        (["mcp-bindgen", "generate", "--chek"], 1),
        (["mcp-bindgen", "generat"], 1),
        (["make", "test"], 0),
        (["make", "tests"], 1),
        (["pip", "install", "mcp-bindgen[http]"], 0),
        (["pip", "install", "mcp-bindgen[htp]"], 1),
        (["rm", "-rf"], 1),
    ],
)
def test_a_command_that_is_not_there_is_seen(words: list[str], count: int) -> None:
    assert len(list(faults(words))) == count


@pytest.mark.parametrize("name", PAGES)
def test_members_that_a_page_names_are_there(name: str) -> None:
    codes = [code for code in PAGES[name].code if code not in theirs()]
    assert [member for member in members(codes) if not has(OURS, member)] == []


@pytest.mark.parametrize(("page", "of"), [("SERVER.md", Server), ("CLIENT.md", Client)])
def test_a_page_has_every_option_of_its_class(page: str, of: type) -> None:
    options = list(inspect.signature(of).parameters)
    assert len(options) > 15
    codes = " ".join(PAGES[f"docs/{page}"].code)
    assert [name for name in options if not re.search(rf"\b{name}\b", codes)] == []


async def test_each_public_name_of_a_server_and_of_a_context_stands_on_a_page() -> None:
    server, seen = Server("s", "1"), list[Context]()

    @server.tool
    async def look(ctx: Context) -> None:
        seen.append(ctx)

    async with Client(server) as client:
        await client.call_tool("look")
    public = {"server": names_of(server) - {*SERVER_NAMES}}
    public["ctx"] = names_of(seen[0]) - {*CONTEXT_NAMES}
    assert {who: untold(who, names) for who, names in public.items()} == {"server": [], "ctx": []}


def names_of(value: object) -> set[str]:
    return {name for name in dir(value) if not name.startswith("_")}


def untold(who: str, names: Iterable[str]) -> list[str]:
    text = "".join(page.text for page in PAGES.values())
    named = rf"(?<!\w){who}\.{{0}}\b|`{{0}}[`(]"
    return sorted(name for name in names if not re.search(named.format(name), text))


def test_a_public_name_on_no_page_is_seen() -> None:
    assert untold("server", ["tool", "no_such_name"]) == ["no_such_name"]


@pytest.mark.parametrize("code", ["ctx.infos('x')", "client.list_tools().tols, server.nothing"])
def test_a_member_that_is_not_there_is_seen(code: str) -> None:
    assert any(not has(OURS, member) for member in members([code]))


@pytest.mark.wide
@pytest.mark.peers
def test_members_of_the_official_sdk_that_a_page_names_are_there() -> None:
    if not peers.ready():
        pytest.skip("`make peers` has not set up the peers")
    named = [(PEERS[variable], member) for variable, member in members(theirs())]
    assert len(named) > 10
    program = f"""if True:
        from mcp import Client
        from mcp.server import MCPServer
        from mcp.server.mcpserver import Context
        print([name for name in {named!r} if not hasattr(globals()[name[0]], name[1])])
    """
    done = subprocess.run(
        [peers.python(), "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def members(codes: Iterable[str]) -> set[tuple[str, str]]:
    """What is named of `server`, `ctx` and `client`."""
    return {(owner, name) for code in codes for owner, name in MEMBER.findall(code)}


def has(owners: Mapping[str, type], member: tuple[str, str]) -> bool:
    """Whether a class has a member, declares it, or is given it by its constructor."""
    owner, name = owners[member[0]], member[1]
    given = re.findall(r"self\.(\w+)(?:: \S+)? = ", inspect.getsource(owner))
    return hasattr(owner, name) or name in owner.__annotations__ or name in given


def theirs() -> list[str]:
    """Code in the left columns of FROM-MCP.md, which is about the official SDK."""
    lines = PAGES["docs/FROM-MCP.md"].text.splitlines()
    left = (line.split(" | ")[0] for line in lines if line.startswith("| `"))
    return [code for cell in left for code in re.findall(r"`([^`]+)`", cell)]


@pytest.mark.parametrize("name", PAGES)
def test_links_of_a_page_lead_somewhere(name: str) -> None:
    page = PAGES[name]
    assert [link for link in page.links if not leads(page, link)] == []


@pytest.mark.parametrize("link", ["NO.md", "#no", "docs/CLI.md#no", "../elsewhere.md"])
def test_a_link_that_leads_nowhere_is_seen(link: str) -> None:
    assert not leads(PAGES["README.md"], link)


def leads(page: Page, link: str) -> bool:
    if link.startswith(("https://", "http://")):
        return True
    file, _, anchor = link.partition("#")
    path = (page.path.parent / file).resolve() if file else page.path
    if not path.exists() or not path.is_relative_to(ROOT):
        return False
    return not anchor or anchor in Page(path, path.read_text("utf-8")).anchors


@pytest.mark.parametrize("name", PAGES)
def test_files_and_tests_that_a_page_names_are_there(name: str) -> None:
    assert [code for code in PAGES[name].code if PLACE.match(code) and not is_there(code)] == []


def is_there(code: str) -> bool:
    """A file or folder of the checkout, or `FILE::TEST`."""
    file, _, test = code.partition("::")
    path = ROOT / file
    return path.exists() and (not test or f"def {test}(" in path.read_text("utf-8"))


@pytest.mark.parametrize("code", ["tests/no.py", "tests/test_readme.py::test_no", "codegen/no/"])
def test_a_file_or_test_that_is_not_there_is_seen(code: str) -> None:
    assert PLACE.match(code)
    assert not is_there(code)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_names_no_place_of_one_machine(name: str) -> None:
    assert MACHINE.findall(PAGES[name].text) == []
