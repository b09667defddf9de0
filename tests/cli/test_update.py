"""`mcp-bindgen update`: newer templates into a project, and nothing of the user's lost."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from mcp_bindgen.cli.new import project as inputs
from mcp_bindgen.scaffold import record, render
from mcp_bindgen.scaffold.answers import Answers
from tests.support.command import invoke
from tests.support.projects import answers, made, write

CHOSEN = answers(revisions=answers().revisions[-1:])
SERVER = "src/my_server/server.py"
CODES = "src/my_server/_mcp/runtime/core/wire/error_codes.py"


def git(folder: Path, *args: str) -> str:
    user = ("-c", "user.name=t", "-c", "user.email=t@example.com")
    options = ("-c", "core.autocrlf=false", "-c", "maintenance.auto=false")
    command = ["git", *user, *options, *args]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


def committed(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "x")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project, committed, that is the working folder."""
    folder = write(made(CHOSEN), tmp_path / "project")
    git(folder, "init", "--quiet")
    committed(folder)
    monkeypatch.chdir(folder)
    newer(monkeypatch, {})
    return folder


def newer(monkeypatch: pytest.MonkeyPatch, changes: Mapping[str, str | None]) -> dict[str, str]:
    """Has the templates make other texts; None is a file that they make no more."""
    files = {path: text for path, text in made(CHOSEN).items() if path not in _OWN}
    files = {path: text for path, text in {**files, **changes}.items() if text is not None}
    text = record.render("0.1.0", CHOSEN, files)
    whole = {**files, record.NAME: text, record.BASE: record.pack(files)}

    def texts(chosen: Answers, tools: object, listed: str) -> dict[str, str]:
        assert chosen == CHOSEN
        return whole

    monkeypatch.setattr(inputs, "texts", texts)
    return whole


_OWN = (record.NAME, record.BASE)


def replaced(path: str, old: str, new: str) -> str:
    text = made(CHOSEN)[path]
    assert old in text
    return text.replace(old, new)


def on_disk(folder: Path) -> dict[str, str]:
    paths = (p for p in folder.rglob("*") if p.is_file() and ".git" not in p.parts)
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in paths}


def test_what_is_new_is_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the real templates, in a folder that git does not know."""
    folder = write(made(CHOSEN), tmp_path / "project")
    monkeypatch.chdir(folder)
    done = invoke("update", "--check")
    assert (done.exit_code, done.stdout) == (0, "up to date\n")


def test_nothing_to_do_changes_nothing(project: Path) -> None:
    (project / SERVER).write_text("mine = 1\n")
    committed(project)
    assert invoke("update").stdout == "up to date\n"
    assert git(project, "status", "--porcelain") == ""


OWN = """\
from typing import Final

from ._mcp.runtime import Context, Server

server = Server(
    "my-server",
    "0.1.0",
    instructions="Ask before you book.",
)


@server.tool
def book(flight: str) -> str:
    return flight
"""


@pytest.mark.parametrize("is_rewritten", [True, False], ids=["rewritten", "deleted"])
def test_the_sample_never_comes_back(
    is_rewritten: bool, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer(monkeypatch, {SERVER: replaced(SERVER, "return found[:limit]", "return found")})
    sample, gone, _ = made(CHOSEN)[SERVER].partition("@server.tool")
    assert gone
    mine = OWN if is_rewritten else sample
    (project / SERVER).write_text(mine, encoding="utf-8")
    committed(project)
    assert invoke("update").exit_code == 0
    assert (project / SERVER).read_text(encoding="utf-8") == mine


def test_check_tells_that_the_project_is_behind(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer(monkeypatch, {"Makefile": "all:\n"})
    (project / "mine").write_text("not committed")
    done = invoke("update", "--check")
    assert done.exit_code == 1, done.stderr
    assert "1 written" in done.stdout
    assert git(project, "status", "--porcelain") == "?? mine\n"


@pytest.mark.wide
def test_files_that_the_user_left_alone_become_new(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = newer(monkeypatch, {"Makefile": "all:\n", "LICENSE": "mine\n", ".dockerignore": None})
    done = invoke("update")
    assert done.exit_code == 0, done.stderr
    assert on_disk(project) == whole
    assert invoke("update", "--check").exit_code == 0


def test_a_dry_run_shows_and_writes_nothing(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    newer(monkeypatch, {"Makefile": "all:\n\techo \x1b[2J\n"})
    done = invoke("update", "--dry-run")
    assert done.exit_code == 0
    assert "+++ Makefile\n" in done.stdout
    assert "+\techo \\u001b[2J\n" in done.stdout
    assert git(project, "status", "--porcelain") == ""


def test_both_change_other_lines(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    newer(monkeypatch, {SERVER: replaced(SERVER, "return found[:limit]", "return found")})
    (project / SERVER).write_text(replaced(SERVER, '"0.1.0"', '"3.0.0"'))
    committed(project)
    done = invoke("update")
    assert done.exit_code == 0
    assert "merged" in done.stdout
    after = (project / SERVER).read_text()
    assert '"3.0.0"' in after
    assert "return found\n" in after


def test_both_change_the_same_line(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    newer(monkeypatch, {SERVER: replaced(SERVER, '"0.1.0"', '"2.0.0"')})
    (project / SERVER).write_text(replaced(SERVER, '"0.1.0"', '"3.0.0"'))
    committed(project)
    done = invoke("update")
    assert done.exit_code == 1, done.stderr
    assert f"conflict  {SERVER}" in done.stdout
    expected = '<<<<<<< yours\n    "3.0.0",\n=======\n    "2.0.0",\n>>>>>>> mcp-bindgen '
    assert expected in (project / SERVER).read_text()
    committed(project)
    assert invoke("update", "--check").exit_code == 0


def test_removed_files_stay_away_and_moved_ones_stay(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer(monkeypatch, {"Dockerfile": "FROM scratch\n", "README.md": "# New\n"})
    (project / "Dockerfile").unlink()
    (project / "README.md").rename(project / "READ.md")
    committed(project)
    done = invoke("update")
    assert done.exit_code == 0
    assert "left out  Dockerfile" in done.stdout
    assert not (project / "Dockerfile").exists()
    assert (project / "READ.md").read_text() == made(CHOSEN)["README.md"]


def test_an_edited_file_that_no_template_makes_stays(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer(monkeypatch, {"Dockerfile": None})
    (project / "Dockerfile").write_text("mine\n")
    committed(project)
    assert "kept      Dockerfile" in invoke("update").stdout
    assert (project / "Dockerfile").read_text() == "mine\n"


def test_the_protocol_is_brought_back(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / CODES).unlink()
    committed(project)
    assert invoke("update", "--check").exit_code == 1
    assert f"written   {CODES}" in invoke("update").stdout
    assert (project / CODES).read_text() == made(CHOSEN)[CODES]


def test_line_ends_of_the_user_stay(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    newer(monkeypatch, {SERVER: replaced(SERVER, '"0.1.0"', '"2.0.0"')})
    (project / SERVER).write_bytes(made(CHOSEN)[SERVER].replace("\n", "\r\n").encode())
    committed(project)
    assert invoke("update").exit_code == 0
    expected = replaced(SERVER, '"0.1.0"', '"2.0.0"').replace("\n", "\r\n").encode()
    assert (project / SERVER).read_bytes() == expected


def test_a_dirty_tree_is_refused(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    newer(monkeypatch, {"Makefile": "all:\n"})
    (project / "mine").write_text("x")
    done = invoke("update")
    assert done.exit_code == 2
    assert "not committed" in done.stderr
    assert (project / "Makefile").read_text() == made(CHOSEN)["Makefile"]


def test_a_folder_without_git_is_refused(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(project.parent))
    shutil.rmtree(project / ".git")
    done = invoke("update")
    assert done.exit_code == 2
    assert "git init" in done.stderr


def test_another_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = invoke("update")
    assert done.exit_code == 2
    assert "is not a project of mcp-bindgen" in done.stderr


def test_a_project_of_a_newer_version_is_refused(project: Path) -> None:
    place = project / record.NAME
    place.write_text(place.read_text().replace('version = "', 'version = "9'))
    done = invoke("update", "--check")
    assert done.exit_code == 2
    assert "Install that version" in done.stderr


def test_a_record_that_is_not_of_the_texts_is_refused(project: Path) -> None:
    place = project / record.BASE
    place.write_text(record.pack({"README.md": "other"}))
    assert "not of the same update" in invoke("update", "--check").stderr


def test_a_link_that_leads_out_is_refused(
    project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    newer(monkeypatch, {"Makefile": "all:\n"})
    (tmp_path / "outside").write_text(made(CHOSEN)["Makefile"])
    (project / "Makefile").unlink()
    (project / "Makefile").symlink_to(tmp_path / "outside")
    committed(project)
    done = invoke("update")
    assert done.exit_code == 2
    assert "leads out of the project" in done.stderr
    assert (tmp_path / "outside").read_text() == made(CHOSEN)["Makefile"]


@pytest.mark.wide
def test_a_project_edited_everywhere_loses_no_line(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both sides change lines of every file; each line of the user's is there afterwards."""
    seed = random.randrange(2**32)
    draw = random.Random(seed)
    paths = [path for path in made(CHOSEN) if path not in _OWN and made(CHOSEN)[path]]
    theirs = {path: scrawled(made(CHOSEN)[path], "theirs", draw) for path in paths}
    newer(monkeypatch, theirs)
    for path in paths:
        (project / path).write_text(scrawled(made(CHOSEN)[path], "mine", draw), "utf-8")
    committed(project)
    before = {path: mine(text) for path, text in on_disk(project).items()}
    assert invoke("update").exit_code in (0, 1)
    after = {path: mine(text) for path, text in on_disk(project).items()}
    assert after == before, f"seed {seed}"


def scrawled(text: str, word: str, draw: random.Random) -> str:
    """A text with some lines replaced by, or put before, lines of somebody."""
    lines = text.split("\n")
    for number in range(draw.randint(1, 5)):
        at = draw.randrange(len(lines))
        lines[at : at + draw.randint(0, 2)] = [f"# {word} {number} {draw.random()}"]
    return "\n".join(lines)


def mine(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.startswith("# mine ")]


def test_a_transport_that_the_record_names_is_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(made(CHOSEN), tmp_path / "project")
    git(folder, "init", "--quiet")
    monkeypatch.chdir(folder)
    place = folder / record.NAME
    place.write_text(place.read_text().replace('["stdio"]', '["stdio", "http"]'))
    committed(folder)
    assert invoke("update").exit_code == 0
    wanted = made(answers(revisions=CHOSEN.revisions, transports=("stdio", "http")))
    assert on_disk(folder) == wanted


STUB = 'raise NotImplementedError("get_sum is not written yet")'
WRITTEN = "return Output(sum=arguments.a + arguments.class_)"


@pytest.mark.wide
def test_tools_that_changed_are_typed_anew_around_what_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = answers(revisions=CHOSEN.revisions, tools=True)
    folder = write(made(chosen), tmp_path / "project")
    git(folder, "init", "--quiet")
    monkeypatch.chdir(folder)
    module, listed = (folder / f"src/my_server/tools/{n}" for n in ("get_sum.py", "tools.json"))
    module.write_text(module.read_text().replace(STUB, WRITTEN))
    body = json.loads(listed.read_bytes())
    body["tools"][0]["inputSchema"]["properties"]["c"] = {"type": "integer"}
    body["tools"].append({"name": "new", "inputSchema": {"type": "object"}})
    listed.write_text(json.dumps(body, indent=7))
    committed(folder)
    done = invoke("update")
    assert done.exit_code == 0, done.stdout
    after = module.read_text()
    assert WRITTEN in after
    assert "    c: int | UnsetType = UNSET\n" in after
    assert (folder / "src/my_server/tools/new.py").is_file()
    assert listed.read_text() == json.dumps(body, indent=7)
    assert invoke("update", "--check").exit_code == 0


def test_the_templates_of_today_are_what_is_asked_for() -> None:
    assert {"pyproject.toml.jinja", "Makefile.jinja"} <= render.templates(False).keys()
