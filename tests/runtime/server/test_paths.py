"""What peers send is not taken for a path that leads out of a folder, unless a parameter asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath
from typing import Annotated, NewType

import pytest
from pydantic import BaseModel, Field

from mcp_runtime import AnyPath, Client, Server, types
from mcp_runtime.errors import RemoteError
from mcp_runtime.shared.safe_path import path_fault

ABSOLUTE = ["/etc/passwd", "C:/x", "C:\\x", "c:x", "\\\\host\\share", "//host/share", "\\x"]
ABSOLUTE += ["\\\\?\\C:\\x", "\\\\.\\pipe\\x", "~", "~root/.ssh", "file:///etc/passwd", "FILE:x"]
OUTWARD = ["..", "../x", "a/../b", "a\\..\\b", "a/.. /b", "nul\0x", "a\nb"]
INWARD = ["a", "a/b.txt", "caf\u00e9", ".hidden", "a..b", "...", "x/", "ab:c", "a~", "profile:x"]
DEVICES = ["CON", "nul", "aux.txt", "a/Com1", "a\\LPT\u00b9.x/b", "PRN .txt", "CONIN$", "nul:"]


@pytest.mark.parametrize("text", ABSOLUTE + OUTWARD)
def test_text_that_leads_out_of_a_folder_is_at_fault(text: str) -> None:
    assert path_fault(text) is not None


@pytest.mark.parametrize("text", INWARD)
def test_text_that_stays_in_a_folder_is_not_at_fault(text: str) -> None:
    assert path_fault(text) is None


@pytest.mark.parametrize("text", DEVICES)
def test_a_device_of_windows_is_at_fault_where_windows_opens_it(text: str) -> None:
    assert path_fault(text, on_windows=True) is not None
    assert path_fault(text.replace("\\", "/"), on_windows=False) is None
    assert path_fault(text, on_windows=True, any_path=True) is None


@pytest.mark.parametrize("text", ["connect", "a.con", "nulls.txt", "com10", "lpt", "CONIN"])
def test_a_name_that_is_like_a_device_is_not_at_fault(text: str) -> None:
    assert path_fault(text, on_windows=True) is None


def test_a_parameter_may_take_absolute_paths_and_still_none_with_dots() -> None:
    assert [path_fault(text, any_path=True) for text in ABSOLUTE] == [None] * len(ABSOLUTE)
    assert all(path_fault(text, any_path=True) for text in OUTWARD)


def encoded(text: str) -> str:
    return "".join(f"%{octet:02X}" for octet in text.encode())


@pytest.mark.parametrize("template", ["note://{+path}", "note://{path}", "note://x{?path}"])
@pytest.mark.parametrize("text", ABSOLUTE)
async def test_a_template_hands_no_absolute_path_to_its_function(template: str, text: str) -> None:
    server = Server("notes", "1")

    @server.resource(template)
    def note(path: str = "") -> str:
        raise AssertionError(path)

    async with Client(server) as client:
        uri = template.replace("{+path}", encoded(text)).replace("{path}", encoded(text))
        uri = uri.replace("{?path}", f"?path={encoded(text)}")
        with pytest.raises(RemoteError, match=r"Resource not found: \{path\} (is|has) a"):
            await client.read_resource(uri)


async def test_a_refused_path_is_logged_with_its_template(
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = Server("notes", "1")

    @server.resource("note://{+path}")
    def note(path: str) -> str:
        raise AssertionError(path)

    async with Client(server) as client:
        with pytest.raises(RemoteError):
            await client.read_resource("note:///etc/passwd")
    assert "note://{+path} is refused: {path} is an absolute path" in caplog.text


async def test_a_variable_of_a_template_may_take_any_path() -> None:
    server = Server("notes", "1")

    @server.resource("note://{+path}")
    def note(path: Annotated[str, AnyPath()]) -> str:
        return path

    async with Client(server) as client:
        for uri in ("note:///etc/passwd", "note://C:/x", "note://%5C%5Chost%5Cshare"):
            (contents,) = await client.read_resource(uri)
            assert isinstance(contents, types.TextResourceContents)
            assert contents.text in ABSOLUTE
        with pytest.raises(RemoteError, match="segment"):
            await client.read_resource("note:///a/../b")


async def test_an_encoded_slash_is_a_slash_in_the_value() -> None:
    server = Server("repo", "1")

    @server.resource("repo://{owner}/{branch}")
    def tree(owner: str, branch: str) -> str:
        return f"{owner} {branch}"

    async with Client(server) as client:
        (contents,) = await client.read_resource("repo://o/feature%2Fx")
        assert isinstance(contents, types.TextResourceContents)
        assert contents.text == "o feature/x"
        for branch in ("%2Fetc", "..%2Fx", "a%2F..%2Fb", "%2F%2Fhost"):
            with pytest.raises(RemoteError, match=r"\{branch\}"):
                await client.read_resource(f"repo://o/{branch}")


@dataclass
class Files:
    names: list[Path]


class Job(BaseModel):
    inputs: dict[str, Path]


@pytest.mark.parametrize("text", [*ABSOLUTE, "../x", "a/../b"])
async def test_a_path_that_a_tool_takes_stays_in_its_folder(text: str) -> None:
    server = Server("files", "1")

    @server.tool
    def one(path: Path) -> str:
        raise AssertionError(path)

    @server.tool
    def several(files: Files) -> str:
        raise AssertionError(files)

    @server.tool
    def maybe(path: PureWindowsPath | None = None) -> str:
        raise AssertionError(path)

    @server.tool
    def job(job: Job) -> str:
        raise AssertionError(job)

    @server.tool
    def described(path: Annotated[Path, Field(description="where")]) -> str:
        raise AssertionError(path)

    calls = {
        "one": ({"path": text}, "$.path"),
        "several": ({"files": {"names": ["a", text]}}, "$.files.names[1]"),
        "maybe": ({"path": text}, "$.path"),
        "job": ({"job": {"inputs": {"a": text}}}, "$.job.inputs.a"),
        "described": ({"path": text}, "$.path"),
    }
    async with Client(server) as client:
        for name, (arguments, place) in calls.items():
            result = await client.call_tool(name, arguments)
            block = result.content[0]
            assert isinstance(block, types.TextContent)
            assert result.is_error is True
            assert block.text.startswith(f"{place}: expected a path inside a folder"), block.text


Named = NewType("Named", Path)


@pytest.mark.parametrize(
    "annotation",
    [dict[Path, int], Mapping[Path, int], dict[str, dict[Path | int, int]], dict[Named, int]],
)
def test_paths_are_no_keys_of_what_a_tool_takes(annotation: object) -> None:
    def sizes(of):  # type: ignore[no-untyped-def]
        raise AssertionError(of)

    sizes.__annotations__["of"] = annotation
    with pytest.raises(TypeError, match=r"the keys of \w+ are paths \(make them str\)"):
        Server("files", "1").tool(sizes)


async def test_a_tool_takes_any_path_where_its_parameter_says_so() -> None:
    server = Server("files", "1")

    @server.tool
    def read(path: Annotated[Path, AnyPath()], other: Path = Path("/default")) -> str:
        return f"{path} {other}"

    async with Client(server) as client:
        result = await client.call_tool("read", {"path": "/etc/hosts"})
        assert result.content == [types.TextContent(text="/etc/hosts /default")]


async def test_a_prompt_may_take_a_path_that_stays_in_its_folder() -> None:
    server = Server("files", "1")

    @server.prompt
    def review(file: Path) -> str:
        return f"Review {file!r}"

    async with Client(server) as client:
        answer = await client.get_prompt("review", {"file": "a/b.py"})
        assert answer.messages[0].content == types.TextContent(text=f"Review {Path('a/b.py')!r}")
        with pytest.raises(RemoteError, match=r"\$\.file: expected a path inside a folder"):
            await client.get_prompt("review", {"file": "/etc/passwd"})


async def test_what_is_completed_is_held_to_what_is_read() -> None:
    server = Server("files", "1")

    @server.resource("note://{+path}")
    def note(path: str) -> str:
        return path

    @server.resource("any://{+path}")
    def anything(path: Annotated[str, AnyPath()]) -> str:
        return path

    @server.prompt
    def review(file: Path, tone: str) -> str:
        return tone

    def names(value: str, arguments: dict[str, str]) -> list[str]:
        return [value]

    for of, argument in (
        ("note://{+path}", "path"),
        ("any://{+path}", "path"),
        ("review", "file"),
        ("review", "tone"),
    ):
        server.completion(of, argument)(names)

    template = types.ResourceTemplateReference
    async with Client(server) as client:
        for ref, argument in (
            (template(uri="note://{+path}"), "path"),
            (types.PromptReference(name="review"), "file"),
        ):
            assert (await client.complete(ref, argument, "a/b")).values == ["a/b"]
            with pytest.raises(RemoteError, match="is an absolute path"):
                await client.complete(ref, argument, "/etc/")
        review_ref = types.PromptReference(name="review")
        with pytest.raises(RemoteError, match="file is an absolute path"):
            await client.complete(review_ref, "tone", "x", chosen={"file": "/etc/passwd"})
        assert (await client.complete(review_ref, "tone", "/wry")).values == ["/wry"]
        anywhere = template(uri="any://{+path}")
        assert (await client.complete(anywhere, "path", "/etc/")).values == ["/etc/"]
