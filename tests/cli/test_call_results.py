"""Results as `call` prints them: text, pictures in a folder or a terminal, structured content."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any, Final

import pytest

from mcp_bindgen.cli.call.results import (
    Printer,
    _inline,  # pyright: ignore[reportPrivateUsage]
)
from mcp_bindgen.errors import OutputError
from mcp_runtime.revisions import latest as t

PICTURE: Final = base64.b64encode(b"\x89PNG").decode()


def result(*blocks: Any, **members: Any) -> Any:
    return t.CallToolResult(result_type="complete", content=list(blocks), **members)


def image(data: str = PICTURE, kind: str = "image/png") -> Any:
    return t.ImageContent(data=data, mime_type=kind)


def test_what_is_no_text_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    sound = t.AudioContent(data="", mime_type="audio/wav")
    link = t.ResourceLink(name="n", uri="a:b")
    assert Printer().tool(result(t.TextContent(text="one"), image(), sound, link)) == 0
    assert capsys.readouterr().out == (
        "one\n[image image/png]\n[audio audio/wav]\n[resource_link a:b]\n"
    )


def test_structured_content_alone_is_printed_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    Printer().tool(result(structured_content={"a": "é"}))
    assert capsys.readouterr().out == '{"a": "é"}\n'


def test_a_tool_that_failed_is_a_finding() -> None:
    assert Printer().tool(result(is_error=True)) == 1
    assert Printer(as_json=True).tool(result(is_error=True)) == 1


@pytest.mark.parametrize("as_json", [False, True])
def test_pictures_are_written_to_new_files(
    as_json: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "image-1.png").write_bytes(b"old")
    blob = t.BlobResourceContents(uri="a:b", blob="AAEC")
    blocks = [image(), image(kind="x/../../y"), t.EmbeddedResource(resource=blob)]
    Printer(as_json, tmp_path).tool(result(*blocks))
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert files == {
        "image-1.png": b"old",
        "image-2.png": b"\x89PNG",
        "image-1.bin": b"\x89PNG",
        "blob-1.bin": b"\0\1\2",
    }
    printed = capsys.readouterr()
    assert f"{tmp_path}/image-2.png" in (printed.err if as_json else printed.out)


def test_data_that_are_no_base64_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="these data are not base64: !!"):
        Printer(folder=tmp_path).tool(result(image("!!")))


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("")
    with pytest.raises(OutputError, match="f cannot be written"):
        Printer(folder=tmp_path / "f").tool(result(image()))


@pytest.mark.parametrize(
    ("environ", "kind", "begin"),
    [
        ({"TERM_PROGRAM": "iTerm.app"}, "image/jpeg", "\x1b]1337;File=inline=1;size=4:"),
        ({"TERM_PROGRAM": "WezTerm"}, "image/png", "\x1b]1337;File=inline=1;size=4:"),
        ({"KITTY_WINDOW_ID": "1"}, "image/png", "\x1b_Ga=T,f=100,m=0;"),
        ({"TERM_PROGRAM": "ghostty"}, "image/png", "\x1b_Ga=T,f=100,m=0;"),
    ],
)
def test_a_picture_is_shown_where_the_terminal_can(
    environ: dict[str, str], kind: str, begin: str
) -> None:
    shown = _inline(b"\x89PNG", kind, environ)
    assert shown.startswith(begin + PICTURE)


def test_a_large_picture_is_sent_to_kitty_in_parts() -> None:
    parts = _inline(bytes(9000), "image/png", {"KITTY_WINDOW_ID": "1"}).split("\x1b\\")
    assert [part.partition(";")[0] for part in parts] == [
        "\x1b_Ga=T,f=100,m=1",
        "\x1b_Gm=1",
        "\x1b_Gm=0",
        "",
    ]
    assert base64.b64decode("".join(part.partition(";")[2] for part in parts)) == bytes(9000)


@pytest.mark.parametrize(
    ("environ", "kind"), [({}, "image/png"), ({"KITTY_WINDOW_ID": "1"}, "image/jpeg")]
)
def test_other_terminals_get_no_escapes(environ: dict[str, str], kind: str) -> None:
    assert _inline(b"x", kind, environ) == ""
