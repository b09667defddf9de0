"""README.md and docs/: what they show runs as it stands, and what they name is there."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final

import click
import pytest

from mcp_bindgen.cli import main
from tests.support.pages import Block, Page, pages

ROOT: Final = Path(__file__).parents[1]
PAGES: Final = {page.path.relative_to(ROOT).as_posix(): page for page in pages(ROOT)}
RUN: Final = [name for name, page in PAGES.items() if page.blocks]
SHOWN: Final = {"console", "json", "python", "sh", "text", "toml", "typescript"}
PROGRAMS: Final = {"git", "make", "mcp-bindgen", "npx", "pip", "python", "uvicorn", "uvx"}
PRINTED: Final = re.compile(r"^ *print\(.*\) +# (.*)$", re.M)
FRONT_PAGE: Final = 145
PLACE: Final = re.compile(
    r"(?:bench|codegen|docs|examples|generated|runtime|schema|templates|tests)/[\w./:-]*$"
)
"""Names of files between backticks; those with `<revision>` or `*` in them are patterns."""
MACHINE: Final = re.compile(r"(?<![\w.])/(?:home|root|tmp|Users|work)/")


@pytest.mark.parametrize("name", RUN)
def test_what_a_page_shows_runs_in_order_and_prints_what_it_says(name: str, tmp_path: Path) -> None:
    walk(PAGES[name], tmp_path)


def walk(page: Page, folder: Path) -> None:
    """All blocks of a page share a folder; its Python is one program, in the order of the page."""
    for block in page.blocks:
        if block.file:
            (folder / block.file).write_text(block.text, encoding="utf-8")
        for step in block.steps if block.language == "console" else ():
            if step.command.startswith("cat "):
                (folder / step.command.removeprefix("cat ")).write_text(step.output, "utf-8")
            else:
                assert printed(step.command, folder) == step.output, step.command
    program = "\n".join(block.text for block in snippets(page))
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == PRINTED.findall(program)


@pytest.mark.parametrize(
    "text",
    [
        "```python\nprint(1)  # 2\n```\n",
        "```python\nprint(1)\n```\n",
        "```python\nraise ValueError\n```\n",
        "```console\n$ mcp-bindgen --version\nmcp-bindgen 0\n```\n",
        "```console\n$ rm file\n```\n",
    ],
)
def test_a_page_that_shows_something_else_is_seen(text: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        walk(Page(tmp_path / "page.md", text), tmp_path)


def snippets(page: Page) -> Iterator[Block]:
    """The Python of a page that is neither a file of its own nor made from TypeScript."""
    for before, block in pairwise([Block("", ""), *page.blocks]):
        is_generated = before.language == "typescript"
        if block.language == "python" and block.file is None and not is_generated:
            yield block


def printed(command: str, folder: Path) -> str:
    program, *args = shlex.split(command)
    assert program in ("mcp-bindgen", "python")
    start = ["-m", "mcp_bindgen"] if program == "mcp-bindgen" else []
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path}
    line = [sys.executable, *start, *args]
    done = subprocess.run(line, cwd=folder, env=env, capture_output=True, text=True, check=False)
    return done.stdout


@pytest.mark.parametrize("name", RUN)
def test_every_block_of_a_page_is_of_a_kind_that_is_checked(name: str) -> None:
    blocks = PAGES[name].blocks
    assert {block.language for block in blocks} <= SHOWN
    assert all(block.steps for block in blocks if block.language == "console")
    assert len(blocks) * 2 == len(re.findall(r"^```", PAGES[name].text, re.M))


@pytest.mark.parametrize("name", RUN)
def test_a_file_that_a_page_shows_is_used_there(name: str) -> None:
    blocks = PAGES[name].blocks
    commands = [step.command for block in blocks for step in block.steps] + [
        line for block in blocks if block.language == "sh" for line in block.lines
    ]
    used = "\n".join((*commands, *(block.text for block in snippets(PAGES[name]))))
    assert [block.file for block in blocks if block.file and block.file[:-3] not in used] == []


@pytest.mark.parametrize("name", RUN)
def test_typescript_stands_in_a_schema_and_the_python_below_is_what_is_made_of_it(
    name: str,
) -> None:
    blocks = PAGES[name].blocks
    for block, python in pairwise(blocks):
        if block.language == "typescript":
            place = re.match(r"// schema/([\d-]+)/schema\.ts\n", block.text)
            declared = re.search(r"^export (?:interface|type) (\w+)", block.text, re.M)
            assert place
            assert declared
            shown = printed(f"mcp-bindgen inspect {place[1]} {declared[1]}", ROOT)
            assert block.text.partition("\n")[2] in shown
            assert python.text in shown


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
    return path.exists() and (not test or f"\ndef {test}(" in path.read_text("utf-8"))


@pytest.mark.parametrize("code", ["tests/no.py", "tests/test_readme.py::test_no", "codegen/no/"])
def test_a_file_or_test_that_is_not_there_is_seen(code: str) -> None:
    assert PLACE.match(code)
    assert not is_there(code)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_names_no_place_of_one_machine(name: str) -> None:
    assert MACHINE.findall(PAGES[name].text) == []


def test_readme_is_a_front_page() -> None:
    """Short, with the commands for a fresh clone, and a link to every other page."""
    readme = PAGES["README.md"]
    assert len(readme.text.splitlines()) <= FRONT_PAGE
    shown = [line for block in readme.blocks if block.language == "sh" for line in block.lines]
    assert {"make generate", "make test"} <= set(shown)
    linked = {(ROOT / link.partition("#")[0]).resolve() for link in readme.links}
    assert [name for name in PAGES if name != "README.md" and ROOT / name not in linked] == []
