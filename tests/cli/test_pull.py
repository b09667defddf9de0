"""`mcp-bindgen pull`: from files, folders and a server on this machine, into a schema folder."""

from __future__ import annotations

import hashlib
import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from mcp_bindgen import download, limits, pins, pull
from tests.support.command import invoke
from tests.support.schema_server import serving

OFFICIAL: Final = b"""// Licence line.

/**
 * Official prose about a dog, of which nothing may stay.
 * @category Animals
 */
export interface Dog {
  /** Official prose about its age. @see {@link Cat} */
  age: number; // trailing prose
  name?: string;
}

/** @internal */
export type Dogs = Dog[];
"""
COMMIT: Final = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "schema"
    path.mkdir()
    return path


@pytest.fixture
def official(tmp_path: Path) -> Path:
    path = tmp_path / "official.ts"
    path.write_bytes(OFFICIAL)
    return path


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serving(OFFICIAL) as address:
        yield address


def pulled(folder: Path, origin: str | Path, *more: str, code: int = 0) -> str:
    result = invoke("pull", "dogs", "--from", origin, "--into", folder, *more)
    assert result.exit_code == code, result.stderr
    return result.stdout


def test_a_new_revision_is_written_without_its_comments_and_pinned(
    folder: Path, official: Path
) -> None:
    assert pulled(folder, official, "--commit", COMMIT).startswith("dogs is new\n")
    text = (folder / "dogs" / "schema.ts").read_text("utf-8")
    assert "prose" not in text
    assert "Licence" not in text
    assert "@category Animals" in text
    assert "@internal" in text
    pin = pins.pins(folder)["dogs"]
    assert pin.path == "schema/dogs/schema.ts"
    assert pin.commit == COMMIT
    assert pin.bytes == len(OFFICIAL)
    assert pin.sha256 == hashlib.sha256(OFFICIAL).hexdigest()
    blob = b"blob %d\0" % len(OFFICIAL) + OFFICIAL
    assert pin.git_blob == hashlib.sha1(blob).hexdigest()
    assert pin.structure == pins.resolve(str(folder / "dogs")).digest


@pytest.mark.parametrize("path", ["dripping", "headers"])
def test_a_server_that_drips_does_not_hold_it_beyond_its_deadline(
    server: str, folder: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr(download, "DEADLINE", 0.5)
    result = invoke("pull", "dogs", "--from", f"{server}/{path}", "--into", folder)
    assert result.exit_code == 2
    assert "not finished after 0 s" in result.stderr
    assert list(folder.iterdir()) == []


def test_pulled_twice_is_unchanged(folder: Path, official: Path) -> None:
    pulled(folder, official, "--commit", COMMIT)
    before = {path: path.read_bytes() for path in folder.rglob("*.t*")}
    assert pulled(folder, official).startswith("dogs is unchanged\n")
    assert {path: path.read_bytes() for path in folder.rglob("*.t*")} == before


def test_our_sentences_are_carried(folder: Path, official: Path) -> None:
    for revision, sentence in (("dogs", "Ours."), ("older", "Older."), ("x-newest", "Newest.")):
        (folder / revision).mkdir()
        name = (
            "  name?: string;" if revision == "dogs" else f"  /** {sentence} */\n  name?: string;"
        )
        text = f"/** {sentence} */\nexport interface Dog {{\n  age: number;\n{name}\n}}\n"
        if revision != "dogs":
            text += f"/** {sentence} */\nexport type Dogs = Dog[];\n"
        (folder / revision / "schema.ts").write_text(text)
    pulled(folder, official)
    text = (folder / "dogs" / "schema.ts").read_text()
    assert " * Ours.\n" in text
    assert " * Newest.\n * @internal\n" in text
    assert "Older." not in text
    assert "  age: number;\n  name?: string;\n" in text


def test_changed_facts_are_findings(folder: Path, official: Path) -> None:
    pulled(folder, official)
    changed = OFFICIAL.replace(b"age: number", b"age: string").replace(b"Dogs", b"Pack")
    official.write_bytes(changed)
    body = json.loads(pulled(folder, official, "--format", "json", code=1))
    assert body["status"] == "changed"
    assert body["differs"] == ["- Dogs", "~ Dog", "+ Pack"]
    assert "age: string" in (folder / "dogs" / "schema.ts").read_text()
    assert pulled(folder, official).startswith("dogs is unchanged\n")


def test_changed_prose_is_no_finding(folder: Path, official: Path) -> None:
    pulled(folder, official)
    official.write_bytes(OFFICIAL.replace(b"a dog", b"dogs"))
    assert "the same facts" in pulled(folder, official)
    assert pins.pins(folder)["dogs"].bytes == len(OFFICIAL) - 1


@pytest.mark.parametrize("inside", ["schema/dogs/schema.ts", "dogs/schema.ts", "schema.ts"])
def test_a_folder_may_hold_the_schema_at_several_places(
    folder: Path, tmp_path: Path, inside: str
) -> None:
    path = tmp_path / "repository" / inside
    path.parent.mkdir(parents=True)
    path.write_bytes(OFFICIAL)
    assert pulled(folder, tmp_path / "repository").startswith("dogs is new\n")


@pytest.mark.parametrize("path", ["/schema.ts", "/moved"])
def test_a_server_gives_the_schema_also_after_a_redirect(
    folder: Path, server: str, path: str
) -> None:
    assert pulled(folder, server + path).startswith("dogs is new\n")


def test_without_from_the_public_repository_is_asked(
    server: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = "schema/2025-11-25/schema.ts"
    public = download.address(path)
    assert public.endswith(f"modelcontextprotocol/modelcontextprotocol/main/{path}")
    asked: list[str] = []

    def address(path: str, commit: str, repository: str) -> str:
        asked.append(f"{path} {commit}{repository}")
        return f"{server}/schema.ts"

    monkeypatch.setattr(download, "address", address)
    result = invoke("pull", "dogs", "--commit", COMMIT, "--into", folder)
    assert (result.exit_code, asked) == (0, [f"schema/dogs/schema.ts {COMMIT}"])


def unused_port(_: str) -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}/schema.ts"


@pytest.mark.parametrize(
    ("origin", "said"),
    [
        (lambda url: f"{url}/none", "the server answers 404"),
        (lambda url: f"{url}/large", "more than 1000 bytes"),
        (lambda url: f"{url}/short", "cannot be fetched: IncompleteRead"),
        (lambda url: f"{url}/away", "cannot be fetched"),
        (unused_port, "--from FILE"),
        (lambda _: "file:///etc/hostname", "not file://"),
        (lambda _: "ftp://127.0.0.1/schema.ts", "not ftp://"),
        (lambda _: "http://", "cannot be fetched"),
        (lambda _: "http://[", "cannot be fetched"),
        (lambda _: "/no/such/file", "cannot be read"),
        (lambda _: "/", "has none of"),
    ],
)
def test_what_cannot_be_pulled(
    folder: Path,
    server: str,
    monkeypatch: pytest.MonkeyPatch,
    origin: Callable[[str], str],
    said: str,
) -> None:
    monkeypatch.setattr(download, "MAX_SCHEMA_BYTES", 1000)
    result = invoke("pull", "dogs", "--from", origin(server), "--into", folder)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr
    assert list(folder.iterdir()) == []


def test_the_limit_is_the_schema_s() -> None:
    assert download.MAX_SCHEMA_BYTES == limits.MAX_SCHEMA_BYTES


@pytest.mark.parametrize(
    ("text", "said"),
    [(b"export interface {", "official schema/dogs/schema.ts:1:"), (b"\xff", "UTF")],
)
def test_a_file_that_is_no_schema(folder: Path, official: Path, text: bytes, said: str) -> None:
    official.write_bytes(text)
    result = invoke("pull", "dogs", "--from", official, "--into", folder)
    assert result.exit_code == 2
    assert said in result.stderr
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("../dogs",), "cannot name a revision"),
        (("dogs", "--commit", "main"), "is not a commit"),
    ],
)
def test_arguments_that_cannot_be_used(
    folder: Path, official: Path, args: tuple[str, ...], said: str
) -> None:
    result = invoke("pull", *args, "--from", official, "--into", folder)
    assert result.exit_code == 2
    assert said in result.stderr
    assert list(folder.iterdir()) == []


def test_every_revision_has_the_structure_of_its_pin(root: Path) -> None:
    for revision, pin in pins.pins().items():
        data = (root / "schema" / revision / "schema.ts").read_bytes()
        assert pins.lower(pins.Found(data, "x", ""), revision).digest == pin.structure
    assert pins.render(pins.pins()) == (root / "schema" / "PINS.toml").read_text("utf-8")


# ---- pins are not lost, sentences are not reused where they may be false, and all can be undone

VERSION: Final = b'export const LATEST_PROTOCOL_VERSION = "%s";\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "has no declarations"),
        (b"// Nothing but a comment.\n", "has no declarations"),
        (OFFICIAL + VERSION % b"cats", "is of revision cats, not dogs"),
    ],
)
@pytest.mark.parametrize("known", [True, False])
def test_an_empty_file_or_one_of_another_revision_is_not_taken(
    folder: Path, official: Path, text: bytes, words: str, known: bool
) -> None:
    if known:
        pulled(folder, official)
    before = {path: path.read_bytes() for path in folder.rglob("*.*")}
    official.write_bytes(text)
    result = invoke("pull", "dogs", "--from", official, "--into", folder)
    assert result.exit_code == 2
    assert words in result.stderr
    assert {path: path.read_bytes() for path in folder.rglob("*.*")} == before


def test_a_file_that_names_its_revision_is_taken(folder: Path, official: Path) -> None:
    official.write_bytes(OFFICIAL + VERSION % b"dogs")
    assert pulled(folder, official).startswith("dogs is new\n")


def said(folder: Path, revision: str) -> str:
    """Gives each declaration and member of the revision a sentence of ours."""
    path = folder / revision / "schema.ts"
    text = path.read_text("utf-8").replace("  age:", "  /** Ours: age. */\n  age:")
    text = text.replace("  name?", "  /** Ours: name. */\n  name?")
    path.write_text(text, "utf-8")
    return text


def test_comments_that_are_new_or_changed_are_listed_and_not_guessed(
    folder: Path, official: Path
) -> None:
    pulled(folder, official)
    said(folder, "dogs")
    text = OFFICIAL.replace(b"prose about its age", b"words in years").replace(
        b"  name?", b"  /** Official prose, which is new. */\n  size: number;\n  name?"
    )
    official.write_bytes(text)
    result = invoke("pull", "hounds", "--from", official, "--into", folder)
    assert "2 comments to write" in result.stdout
    listed = result.stdout.splitlines()[-2:]
    lines = (folder / "hounds" / "schema.ts").read_text("utf-8").splitlines()
    for entry, member in zip(listed, ("age", "size"), strict=True):
        where, line, path = entry.split(":")
        assert (where, path) == ("schema/hounds/schema.ts", f" Dog.{member}")
        assert lines[int(line) - 1].startswith(f"  {member}:")
    text = "\n".join(lines)
    assert "Ours: age" not in text
    assert "Ours: name" in text
    body = json.loads(
        invoke("pull", "x", "--from", official, "--into", folder, "--format", "json").stdout
    )
    assert body["unsaid"] == []


def test_our_own_sentence_stays_and_is_listed_where_the_official_comment_changed(
    folder: Path, official: Path
) -> None:
    pulled(folder, official)
    said(folder, "dogs")
    official.write_bytes(OFFICIAL.replace(b"prose about its age", b"words in years"))
    out = pulled(folder, official)
    assert "1 comment to write" in out
    assert "Dog.age" in out
    assert "Ours: age" in (folder / "dogs" / "schema.ts").read_text("utf-8")


def test_no_official_prose_is_kept(folder: Path, official: Path) -> None:
    pulled(folder, official)
    kept = (folder / "dogs" / pull.COMMENTS).read_text("utf-8")
    digests = json.loads(kept)
    assert sorted(digests) == ["Dog", "Dog.age"]
    assert all(len(digest) == 12 for digest in digests.values())
    assert "prose" not in kept


ROWS: Final = """# Rows.

[handlers]
revision = "cats"
why = "w"

# ---- methods

[[method]]
revisions = ["cats", "dogs"]
path = "a"
page = "p"
why = "w"

[[method]]
revisions = ["dogs"]
path = "b"
page = "p"
why = "w"

# ---- steps

[[step]]
pair = "cats..dogs"
path = "c"
page = "p"
why = "w"

[[method]]
revisions = ["dogs", "emus"]
path = "d"
page = "p"
why = "w"
"""


def test_a_removed_revision_leaves_nothing(folder: Path, official: Path) -> None:
    invoke("pull", "cats", "--from", official, "--into", folder)
    before = {path: path.read_bytes() for path in folder.rglob("*.*")}
    (folder / "decisions.toml").write_text(ROWS, "utf-8")
    pulled(folder, official)
    result = invoke("pull", "dogs", "--remove", "--into", folder)
    assert result.exit_code == 0, result.stderr
    rows = (folder / "decisions.toml").read_text("utf-8")
    (folder / "decisions.toml").unlink()
    assert {path: path.read_bytes() for path in folder.rglob("*.*")} == before
    assert not (folder / "dogs").exists()
    kept = ROWS[: ROWS.index('[[method]]\nrevisions = ["dogs"]\n')]
    assert rows == kept.replace(', "dogs"', "") + "# ---- steps\n\n" + (
        '[[method]]\nrevisions = ["emus"]\npath = "d"\npage = "p"\nwhy = "w"\n'
    )


def test_what_cannot_be_removed(folder: Path, official: Path) -> None:
    pulled(folder, official)
    unknown = invoke("pull", "cats", "--remove", "--into", folder)
    assert (unknown.exit_code, "no revision is called 'cats'" in unknown.stderr) == (2, True)
    (folder / "decisions.toml").write_text('[handlers]\nrevision = "dogs"\nwhy = "w"\n', "utf-8")
    handlers = invoke("pull", "dogs", "--remove", "--into", folder)
    assert (handlers.exit_code, "handlers are written against" in handlers.stderr) == (2, True)
    assert "dogs" in pins.pins(folder)
