"""What is written can be imported: modules that cannot are refused before anything is in place."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

import pytest

from mcp_bindgen import pins
from mcp_bindgen.emit import trial as trials
from mcp_bindgen.emit.trial import Trial
from mcp_bindgen.errors import OutputError
from tests.support.command import invoke

REVISION: Final = "2025-11-25"
ARGS: Final = ("generate", REVISION, "--flavour", "dataclass")


def require(files: dict[str, str], *changed: str) -> None:
    with Trial() as trial:
        trial.require_package(files, changed or [*files])


def refused(files: dict[str, str], *changed: str) -> str:
    with pytest.raises(OutputError) as error:
        require(files, *changed)
    return error.value.message


GOOD: Final = {"__init__.py": "", "a.py": "from .b import x\n", "b.py": "x = 1\n"}


def test_modules_that_import_each_other_are_taken() -> None:
    require(GOOD)
    require({"__init__.py": "", "v1/__init__.py": "", "v1/a.py": "from ..b import x\n", **GOOD})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = (\n", "a.py:1: what would be written is not Python: "),
        ("x = 1\0\n", "a.py"),
        ("def f(:\n", "a.py:1: what would be written is not Python: "),
        ("from .b import y\n", "a.py:1: what would be written cannot be imported: ImportError"),
        ("from .c import y\n", "cannot be imported: ModuleNotFoundError"),
        ("x = 1\n\n1 / 0\n", "a.py:3: what would be written cannot be imported: ZeroDivisionError"),
        (
            "import sys\nsys.exit(0)\n",
            "a.py:2: what would be written cannot be imported: SystemExit",
        ),
        ("raise KeyboardInterrupt\n", "a.py:1: what would be written cannot be imported: Keyboard"),
        ("import os\nos._exit(0)\n", "ended Python with status 0"),
        (
            "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n",
            "ended Python with status -9",
        ),
        (
            "def f(): return f()\nf()\n",
            "a.py:1: what would be written cannot be imported: Recursion",
        ),
    ],
)
def test_a_module_of_no_use_is_refused_at_its_line(text: str, said: str) -> None:
    assert said in refused({**GOOD, "a.py": text})


def test_the_line_is_that_of_the_module_at_fault() -> None:
    assert refused({**GOOD, "b.py": "\nraise ValueError(1)\n"}, "a.py").startswith("b.py:2: ")


def test_a_library_that_is_not_here_says_nothing_of_a_module() -> None:
    require({**GOOD, "a.py": "import no_such_library\nfrom no_such_library.part import x\n"})
    assert "is not Python" in refused({**GOOD, "a.py": "import no_such_library\nx = (\n"})


def test_what_a_module_prints_is_no_answer(capfd: pytest.CaptureFixture[str]) -> None:
    require({**GOOD, "b.py": 'x = 1\nprint("null")\n'})
    assert capfd.readouterr() == ("", "")


def test_the_environment_and_the_working_folder_are_not_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "typing.py").write_text("raise ValueError\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    require({**GOOD, "b.py": "import typing\nx = typing\n"})
    assert os.listdir(tmp_path) == ["typing.py"]


def test_a_module_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "MAX_IMPORT_SECONDS", 1)
    assert "is not imported within 1 s" in refused({**GOOD, "b.py": "while True: pass\n"})


# ---- generate and new


def templates(folder: Path, name: str, text: str) -> Path:
    folder.mkdir()
    (folder / name).write_text(text)
    return folder


def test_generate_writes_nothing_that_cannot_be_imported(tmp_path: Path) -> None:
    mine = templates(tmp_path / "mine", "revision.py.jinja", "{{ header }}\nx = 1 / 0\n")
    result = invoke(*ARGS, "--templates", mine, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert (
        "v2025_11_25/__init__.py:3: what would be written cannot be imported: Zero" in result.stderr
    )
    assert not (tmp_path / "out").exists()


def test_a_folder_that_was_good_stays_as_it_was(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert invoke(*ARGS, "--out", out).exit_code == 0
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    mine = templates(tmp_path / "mine", "revision.py.jinja", "{{ header }}\nimport .\n")
    assert invoke(*ARGS, "--templates", mine, "--out", out).exit_code == 2
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


def test_a_fresh_folder_has_no_cache_and_its_files_are_new(tmp_path: Path) -> None:
    out = tmp_path / "out"
    said = invoke(*ARGS, "--out", out).stdout
    assert not [path for path in out.rglob("*") if "__pycache__" in path.parts]
    count = sum(path.is_file() for path in out.rglob("*"))
    assert said == f"{out}: {count} new, {count} files\n"
    (out / "__init__.py").unlink()
    (out / "v2025_11_25" / "__init__.py").write_text("# Generated by mcp-bindgen\n")
    assert invoke(*ARGS, "--out", out).stdout == f"{out}: 1 new, 1 changed, {count} files\n"
    assert invoke(*ARGS, "--out", out).stdout == f"{out}: nothing changed, {count} files\n"


def test_new_writes_no_project_whose_server_cannot_be_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mcp_bindgen.cli.new import project

    real = project.texts

    def broken(*args: Any) -> dict[str, str]:
        return {**real(*args), "src/weather/server.py": "raise TypeError('no server')\n"}

    monkeypatch.setattr(project, "texts", broken)
    options = ("--revisions", pins.revisions()[-1], "--into", tmp_path / "weather", "--yes")
    result = invoke("new", "weather", *options)
    assert result.exit_code == 2
    assert (
        "weather/server.py:1: what would be written cannot be imported: TypeError" in result.stderr
    )
    assert os.listdir(tmp_path) == []
