"""Projects that depend on the runtime, where others have a copy of it."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Final

import pytest
from packaging.requirements import Requirement

from mcp_bindgen import __version__
from mcp_bindgen.cli.new import project as inputs
from mcp_bindgen.errors import InputError
from mcp_bindgen.scaffold import render
from mcp_bindgen.scaffold.answers import Answers
from mcp_bindgen.scaffold.record import BASE, NAME, parse
from tests.support.command import invoke
from tests.support.projects import ALL, WAYS, answers, environment, made, run, write

CHOSEN: Final = {
    "": answers(runtime="dependency"),
    "http": answers(runtime="dependency", transports=("http",), tools=True),
    "auth,http": answers(runtime="dependency", transports=WAYS[-1], auth="bearer", ui=True),
    "http,redis": answers(runtime="dependency", transports=WAYS[1], scale=True),
}
"""By the extras of the runtime that the project needs."""


@pytest.mark.parametrize("extras", CHOSEN)
def test_the_runtime_is_a_dependency_and_nowhere_copied(extras: str) -> None:
    files = dict(made(CHOSEN[extras]))
    assert 'runtime = "dependency"' in files.pop(NAME)
    del files[BASE]
    assert not any(
        "_mcp" in words or "vendored" in words for pair in files.items() for words in pair
    )
    assert all(name in files["src/my_server/server.py"] for name in ("mcp_runtime", "Server"))
    assert sum(text.count("\n") for text in files.values()) < 1500
    listed = tomllib.loads(files["pyproject.toml"])["project"]["dependencies"]
    runtime = Requirement(listed[0])
    assert (runtime.name, ",".join(sorted(runtime.extras))) == ("mcp-bindgen-runtime", extras)
    assert runtime.specifier.contains(__version__)
    assert not runtime.specifier.contains("1.0.0")


def test_what_is_written_pleases_ruff(tmp_path: Path) -> None:
    for number, chosen in enumerate(CHOSEN.values()):
        write(made(chosen), tmp_path / str(number))
    for command in (["check"], ["format", "--check"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--no-cache", "."],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout


@pytest.mark.wide
@pytest.mark.parametrize("extras", CHOSEN)
def test_it_passes_its_own_tests_and_pyright(extras: str, root: Path, tmp_path: Path) -> None:
    project = write(made(CHOSEN[extras]), tmp_path / "project")
    python = environment(project / ".venv", project, root / "runtime", root / "generated")
    done = run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=project)
    assert done.returncode == 0, done.stdout + done.stderr
    typed = run(Path(sys.executable), "-m", "basedpyright", cwd=project)
    assert typed.returncode == 0, typed.stdout


class Installed:
    """A distribution, which was installed from an index or from elsewhere."""

    def __init__(self, direct_url: str | None) -> None:
        self._direct_url = direct_url

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return self._direct_url


@pytest.mark.parametrize(
    ("direct_url", "revisions", "runtime"),
    [
        (None, ALL, "dependency"),
        (None, ALL[1:], "vendored"),
        ('{"dir_info": {"editable": true}, "url": "file:///src"}', ALL, "vendored"),
    ],
)
def test_the_default_is_the_dependency_where_an_index_has_it(
    direct_url: str | None,
    revisions: tuple[str, ...],
    runtime: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = list[Answers]()

    def distribution(name: str) -> Installed:
        if name != "mcp-bindgen-runtime":
            raise PackageNotFoundError(name)
        return Installed(direct_url)

    def texts(chosen: Answers, tools: object) -> dict[str, str]:
        seen.append(chosen)
        return {}

    monkeypatch.setattr(inputs, "distribution", distribution)
    monkeypatch.setattr(inputs, "texts", texts)
    options = ["--yes", "--dry-run", "--revisions", ",".join(revisions)]
    assert invoke("new", "weather", *options).exit_code == 0
    assert [each.runtime for each in seen] == [runtime]


def test_a_dependency_has_all_revisions() -> None:
    done = invoke("new", "w", "--yes", "--runtime", "dependency", "--revisions", ",".join(ALL[1:]))
    assert done.exit_code != 0
    assert "Server(revisions=[...])" in done.stderr


def test_the_record_of_an_older_project_says_that_it_has_a_copy() -> None:
    text = made(CHOSEN[""])[NAME]
    older = text.replace('runtime = "dependency"\n', "")
    assert older != text
    assert parse(older, ALL).answers.runtime == "vendored"
    with pytest.raises(InputError, match="'elsewhere' is not a place of the runtime"):
        parse(text.replace('"dependency"', '"elsewhere"'), ALL)


def small(chosen: Answers, tools: object = (), listed: str = "") -> dict[str, str]:
    """A project whose copy of the runtime is a single module."""
    copy = {"__init__.py": "", "runtime/__init__.py": "Server = None\n"}
    copied = copy if chosen.runtime == "vendored" else {}
    return render.project(chosen, render.templates(False), copied)


def git(folder: Path, *args: str) -> None:
    user = ("-c", "user.name=t", "-c", "user.email=t@example.com")
    subprocess.run(["git", *user, *args], cwd=folder, check=True, capture_output=True)


def moved(folder: Path, before: str, after: str) -> str:
    """Change the record, commit, and update; return the words of the command."""
    text = (folder / NAME).read_text("utf-8")
    line = f'runtime = "{before}"'
    assert line in text
    (folder / NAME).write_text(text.replace(line, f'runtime = "{after}"'), "utf-8")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "x")
    done = invoke("update")
    assert done.exit_code == 0, done.stdout + done.stderr
    assert invoke("update", "--check").stdout == "up to date\n"
    return done.stdout


def test_an_update_moves_a_project_to_the_dependency_and_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "texts", small)
    folder = write(small(answers()), tmp_path / "project")
    git(folder, "init", "--quiet")
    monkeypatch.chdir(folder)
    server, own = folder / "src/my_server/server.py", folder / "src/my_server/db.py"
    written, added = server.read_text("utf-8"), "\n\n# mine\nfrom ._mcp.runtime import Client\n"
    server.write_text(written + added, "utf-8")
    own.write_text("def later():\n    from ._mcp.runtime import Context\n    return Context\n")
    test = folder / "tests/test_stdio.py"
    test.write_text("from my_server._mcp.runtime import Client\n", "utf-8")

    words = moved(folder, "vendored", "dependency")
    assert "moved     src/my_server/db.py (its imports name the runtime where it is now)" in words
    assert not [*(folder / "src").rglob("_mcp/**/*.py")]
    assert "    from mcp_runtime import Context\n" in own.read_text("utf-8")
    assert test.read_text("utf-8") == "from mcp_runtime import Client\n"
    sample = small(answers(runtime="dependency"))["src/my_server/server.py"]
    assert server.read_text("utf-8") == sample + added.replace("._mcp.runtime", "mcp_runtime")

    moved(folder, "dependency", "vendored")
    assert (folder / "src/my_server/_mcp/runtime/__init__.py").is_file()
    assert "    from my_server._mcp.runtime import Context\n" in own.read_text("utf-8")
    assert test.read_text("utf-8") == "from my_server._mcp.runtime import Client\n"
    text = server.read_text("utf-8")
    assert text == written + added.replace("._mcp", "my_server._mcp")
