"""What a project remembers: read as it was written, and refused where it is damaged."""

from __future__ import annotations

import base64
import json
import lzma
from typing import Final

import pytest

from mcp_bindgen import limits
from mcp_bindgen.errors import InputError
from mcp_bindgen.scaffold import record
from mcp_bindgen.scaffold.answers import Answers
from tests.support.projects import ALL, WAYS, answers, made

KNOWN = ("1", "2", "3")
FILES = {"README.md": "# ä\n", 'tests/odd "name".py': "", "src/my_server/b.py": "x = 1\n"}
ANSWERS = Answers(name="my-server", revisions=("2", "3"), tools=True)


def written() -> str:
    return record.render("0.1.0", ANSWERS, FILES)


AWAY: Final = (
    *("a\0b", "a\nb", "\x1b", ".GIT/config", "src/.Git/x", "src/.git./x", "src/.git /x", "GIT~1/x"),
    *("src/... /x", "C:/x", "src/a:b", "src\\x", "/x", "", ".", ".."),
)
"""Paths that lead out of a project, or into git's folder, on some file system."""

FOREIGN: Final = (
    *AWAY,
    *("mine.py", "src/mine.py", "src/other/x.py", "src/my_server", "docs/x.md", "README.md/x"),
    *("package.json", ".git", "tests", "src/my_server2/x.py", "src//x"),
)
"""Paths at which a project has nothing from us."""


@pytest.mark.wide
def test_every_file_of_a_project_is_one_that_we_write() -> None:
    for ways in WAYS:
        chosen = answers(transports=ways, tools=True)
        files = {p: t for p, t in made(chosen).items() if p not in (record.NAME, record.BASE)}
        text = record.render("0.1.0", chosen, files)
        assert set(record.parse(text, chosen.revisions).files) == set(files)


@pytest.mark.parametrize("path", AWAY)
def test_a_base_with_a_path_that_leads_away_is_refused(path: str) -> None:
    with pytest.raises(InputError, match="leads out of the project"):
        record.unpack(packed({"README.md": "", path: ""}))


@pytest.mark.parametrize("path", FOREIGN)
def test_a_record_with_a_path_that_is_not_ours_is_refused(path: str) -> None:
    text = record.render("0.1.0", ANSWERS, {**FILES, path: ""})
    with pytest.raises(InputError, match=r"leads out of the project|not a file that mcp-bindgen"):
        record.parse(text, KNOWN)


def test_what_is_written_is_read() -> None:
    read = record.parse(written(), KNOWN)
    digests = {path: record.digest(text) for path, text in FILES.items()}
    assert read == record.Record("0.1.0", ANSWERS, digests)


@pytest.mark.wide
@pytest.mark.parametrize(
    "chosen", [answers(transports=("http",), scale=True), answers(ui=True)], ids=str
)
def test_a_project_of_every_choice_can_be_updated(chosen: Answers) -> None:
    """Its record names no file that an update would refuse."""
    assert record.parse(made(chosen)[record.NAME], ALL).answers == chosen


def test_a_record_from_before_there_was_authorization_is_read() -> None:
    older = written().replace('auth = "none"\nscale = false\nui = false\n', "")
    assert older != written()
    assert record.parse(older, KNOWN).answers == ANSWERS


def test_a_revision_that_came_since_is_spoken_too() -> None:
    assert record.parse(written(), (*KNOWN, "4")).answers.revisions == ("2", "3", "4")


def test_a_project_of_unknown_revisions_is_refused() -> None:
    with pytest.raises(InputError, match="no revision is called '2'"):
        record.parse(written(), ("9",))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('version = "0.1.0"', "version = 1"),
        ("tools = true", ""),
        ("tools = true", "tools = 1"),
        ('auth = "none"', 'auth = "bearer"'),
        ("[answers]", "[answer]"),
        ("[answers]", "[answers]\nport = 80"),
        ('["2", "3"]', "[2, 3]"),
        ('["2", "3"]', "[]"),
        ('"my-server"', '"../up"'),
        ('"README.md"', '"../README.md"'),
        ('"README.md"', '"/README.md"'),
        ('"README.md"', '".git/config"'),
        ("[files]", "[files"),
    ],
)
def test_a_damaged_record_is_refused(old: str, new: str) -> None:
    text = written()
    assert old in text
    with pytest.raises(InputError):
        record.parse(text.replace(old, new, 1), KNOWN)


def test_comments_of_the_user_are_kept() -> None:
    mine = f"# mine\n{written()}# at the end\n"
    kept = record.with_comments(written(), mine)
    assert kept == f"{written()}# mine\n# at the end\n"
    assert record.with_comments(written(), kept) == kept
    assert record.parse(kept, KNOWN).answers == ANSWERS


def test_what_is_packed_is_unpacked() -> None:
    packed = record.pack(FILES)
    assert record.unpack(packed) == FILES
    assert record.unpack(packed.replace("\n", "\r\n")) == FILES
    assert max(map(len, packed.split("\n"))) <= 100


def packed(body: object) -> str:
    return base64.b85encode(lzma.compress(json.dumps(body).encode())).decode()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "cannot be read"),
        ("not base85 \x00", "cannot be read"),
        (base64.b85encode(b"no archive").decode(), "cannot be read"),
        (packed([]), "holds no files"),
        (packed({"../up": ""}), "leads out of the project"),
        (packed({"a\\b": ""}), "leads out of the project"),
    ],
)
def test_a_damaged_archive_is_refused(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        record.unpack(text)


def test_an_archive_beyond_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert limits.MAX_PROJECT_BYTES == record.MAX_PROJECT_BYTES
    monkeypatch.setattr(record, "MAX_PROJECT_BYTES", 100)
    with pytest.raises(InputError, match="more than 100 bytes"):
        record.unpack(packed({"a": "x" * 101}))
