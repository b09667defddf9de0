"""README.md and docs/: what they show runs as it stands, in the order of the page."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final

import pytest

from bench.peers import PINS
from hatch_readme import portable
from tests.conformance import others
from tests.conformance.run import REQUIRED
from tests.interop import exactness, node, test_peer_typescript
from tests.laws import test_peer_mcp
from tests.spec.areas import Area, rule_of
from tests.spec.ledger import held, rows
from tests.support.command import invoke
from tests.support.page_programs import run_command, run_program
from tests.support.pages import Block, Page, pages

ROOT: Final = Path(__file__).parents[1]
PAGES: Final = {page.path.relative_to(ROOT).as_posix(): page for page in pages(ROOT)}
RUN: Final = [name for name, page in PAGES.items() if page.blocks]
SHOWN: Final = {"console", "json", "python", "sh", "text", "toml", "typescript", "yaml"}
PRINTED: Final = re.compile(r"^ *print\(.*\)(?: +|\n *)# (.*)$", re.M)
"""What a line prints stands behind it, or below it if it is long."""
FRONT_PAGE: Final = 120


@pytest.mark.drawn
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.pinned) if n == "README.md" else n for n in RUN],
)
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
    assert run_program(program, folder).splitlines() == PRINTED.findall(program)


@pytest.mark.parametrize(
    "text",
    [
        "```python\nprint(1)  # 2\n```\n",
        "```python\nprint(1)\n# 2\n```\n",
        "```python\nprint(1)\n```\n",
        "```python\nraise ValueError\n```\n",
        "```console\n$ mcp-bindgen --version\nmcp-bindgen 0\n```\n",
        "```console\n$ rm file\n```\n",
    ],
)
def test_a_page_that_shows_something_else_is_seen(text: str, tmp_path: Path) -> None:
    with pytest.raises((AssertionError, ValueError)):
        walk(Page(tmp_path / "page.md", text), tmp_path)


def snippets(page: Page) -> Iterator[Block]:
    """The Python of a page that is neither a file of its own nor made from TypeScript."""
    for before, block in pairwise([Block("", ""), *page.blocks]):
        is_generated = before.language == "typescript"
        if block.language == "python" and block.file is None and not is_generated:
            yield block


def printed(command: str, folder: Path) -> str:
    program, *args = shlex.split(command)
    assert program in ("mcp-bindgen", "python"), command
    if program == "mcp-bindgen":
        return run_command(args, folder)
    (file,) = args
    return run_program((folder / file).read_text("utf-8"), folder, file)


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


def test_readme_is_a_front_page() -> None:
    """Short, with the commands for a fresh clone."""
    readme = PAGES["README.md"]
    assert len(readme.text.splitlines()) <= FRONT_PAGE
    shown = [line for block in readme.blocks if block.language == "sh" for line in block.lines]
    assert {"make generate", "make test"} <= set(shown)


def test_the_front_page_and_the_start_page_of_docs_link_to_every_page() -> None:
    fronts = [PAGES["README.md"], PAGES["docs/index.md"]]
    linked = {
        (page.path.parent / link.partition("#")[0]).resolve()
        for page in fronts
        for link in page.links
    }
    known = {page.path for page in fronts}
    assert [name for name in PAGES if ROOT / name not in linked | known] == []


def test_the_table_of_readme_is_measured() -> None:
    """Scenarios that are passed, requirements that are held, kinds of disagreement, by column."""
    readme = PAGES["README.md"].text
    kinds = [test_peer_mcp.ROWS, test_peer_typescript.ROWS]
    cells = [f"{len(rows.accepts)} · {len(rows.refuses)}" for rows in kinds]
    assert f"| 0 · 0 | {' | '.join(cells)} |" in readme
    due = {
        f"{role} {revision}": set(table["scenarios"])
        for role, revisions in REQUIRED.items()
        for revision, table in revisions.items()
    }
    total = sum(map(len, due.values()))
    passed = [total - sum(map(len, row["failed"].values())) for row in others.scores().values()]
    cells = [f"{number} of {total}" for number in (total, *passed)]
    assert f"| {' | '.join(cells)} |" in readme
    musts = [row for row in rows().values() if row.level in ("MUST", "MUST NOT")]
    ours = [row for row in musts if row.id in held() or rule_of(row).area is Area.NOW]
    kept = sum(row.id in held() for row in ours)
    assert f"| {kept} of {len(ours)} |" in readme


def test_the_columns_of_readme_are_of_the_releases_that_were_measured() -> None:
    scores = others.scores()
    versions = {name: scores[name]["version"] for name in ("mcp", "typescript")}
    package = json.loads((node.PROGRAMS / "package.json").read_text("utf-8"))
    assert f"mcp=={versions['mcp']}" in PINS
    assert package["dependencies"]["@modelcontextprotocol/core"] == versions["typescript"]
    head = f"| `mcp` {versions['mcp']} | TypeScript SDK {versions['typescript']} |"
    assert head in PAGES["README.md"].text


def test_the_scenarios_that_both_sdks_miss_are_of_extensions() -> None:
    """README says so of all that they miss."""
    for score in others.scores().values():
        for run, missed in score["failed"].items():
            role, revision = run.split()
            assert set(missed) <= set(REQUIRED[role][revision]["scenarios"])
            extensions = ("tasks-", "auth/dpop", "auth/wif-jwt-bearer")
            assert [name for name in missed if not name.startswith(extensions)] == []


def test_the_page_on_exactness_tells_the_kinds_and_the_counts() -> None:
    text = PAGES["docs/exactness.md"].text
    for name, row in exactness.counts().items():
        for revision, n in row.items():
            cells = f"{n.refused} of {n.valid} | {n.accepted} of {n.invalid}"
            assert f"| `{name}` {revision} | {cells} |" in text
    for heading, peer in (("`mcp`", test_peer_mcp), ("TypeScript", test_peer_typescript)):
        section = text.partition(f"### {heading}")[2].partition("\n#")[0]
        listed = re.findall(r"^- ", section, re.M)
        assert len(listed) == len(peer.ROWS.accepts) + len(peer.ROWS.refuses)


def test_the_diff_of_readme_fails_a_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (console,) = (b for b in PAGES["README.md"].blocks if "diff --tools" in b.text)
    *files, diff = console.steps
    for step in files:
        Path(step.command.removeprefix("cat ")).write_text(step.output, "utf-8")
    assert invoke(*shlex.split(diff.command)[1:]).exit_code == 1


@pytest.mark.parametrize(
    ("home", "text"),
    [
        ("", "See a and b.\n\n"),
        ("https://x.example/", "See [a](https://x.example/docs/A.md) and b.\n"),
    ],
)
def test_a_link_of_the_description_leads_somewhere_outside_of_the_repository(
    home: str, text: str
) -> None:
    shown = "See [a](docs/A.md) and b.\n![picture](docs/img/p.png)\n\n"
    assert portable(shown, home).startswith(text)
    assert portable("[b](https://x.example)", home) == "[b](https://x.example)"


def test_the_description_of_the_runtime_names_its_packages_and_leads_to_addresses_only() -> None:
    described = PAGES["runtime/README.md"]
    packages = {path.parent.name for path in (ROOT / "runtime").glob("*/__init__.py")}
    assert packages | {"mcp_wire", "mcp-runtime"} <= set(described.code)
    assert described.links
    assert all(link.startswith("https://") for link in described.links)
    settings = tomllib.loads((ROOT / "runtime" / "pyproject.toml").read_text("utf-8"))
    assert set(settings["project"]["optional-dependencies"]) <= set(described.code)


def test_the_description_of_the_wheel_has_no_relative_link() -> None:
    described = Page(ROOT / "README.md", portable(PAGES["README.md"].text))
    assert described.links
    assert all(link.startswith("https://") for link in described.links)
    assert described.blocks == PAGES["README.md"].blocks
