"""What a peer or a file says reaches no terminal raw: every verb, and every field that it shows."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from mcp_bindgen import pins
from mcp_bindgen.scaffold import record
from tests.support.hostile_words import HOSTILE, check, invoke
from tests.support.projects import answers, made, write

NEWEST: Final = pins.revisions()[-1]
REVISION: Final = ("--revision", "2025-11-25")


def saved(folder: Path, value: Any, name: str = "a.json") -> Path:
    """JSON as a peer may write it: what JSON lets be raw is raw."""
    path = folder / name
    path.write_text(json.dumps(value, ensure_ascii=False), "utf-8")
    return path


def request(**members: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", **members}


def result(**members: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "result": members}


MESSAGES: Final[dict[str, Any]] = {
    "method": request(method=HOSTILE),
    "member": request(params={"name": "a", "arguments": {HOSTILE: [HOSTILE]}, HOSTILE: 1}),
    "wrong": request(params={"name": {HOSTILE: 1}}),
    "key": result(content=[{"type": "text", "text": {HOSTILE: 1}}], **{HOSTILE: HOSTILE}),
    "value": {"jsonrpc": HOSTILE, "id": HOSTILE, "method": "ping"},
    "text": result(content=[{"type": "text", "text": HOSTILE}], structuredContent={"a": HOSTILE}),
    "error": {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": HOSTILE, "data": HOSTILE}},
}


@pytest.mark.parametrize("field", MESSAGES)
@pytest.mark.parametrize("format", ["text", "json"])
def test_validate_shows_messages_without_escapes(field: str, format: str, tmp_path: Path) -> None:
    file = saved(tmp_path, MESSAGES[field], f"{HOSTILE[:9]}.json")
    check(invoke("validate", *REVISION, "--format", format, file), shown=format == "text")
    check(
        invoke("validate", *REVISION, "--format", format, "--type", "CallToolRequest", file, file)
    )


def test_validate_names_what_is_not_there_without_escapes() -> None:
    check(invoke("validate", *REVISION, HOSTILE))
    check(invoke("validate", "--revision", HOSTILE, "-"))
    check(invoke("validate", *REVISION, "--type", HOSTILE, "-"))


@pytest.mark.parametrize("field", MESSAGES)
def test_trace_shows_messages_without_escapes(field: str, tmp_path: Path) -> None:
    line = {"at": 0, "direction": "received", "message": MESSAGES[field]}
    file = saved(tmp_path, line)
    check(invoke("trace", file))
    check(invoke("trace", "--full", file))
    check(invoke("trace", "--check", *REVISION, file), shown=False)
    check(
        invoke("trace", saved(tmp_path, {**line, "message": 1, "direction": HOSTILE})), shown=False
    )


def test_a_trace_of_what_is_no_json_is_shown_without_escapes(tmp_path: Path) -> None:
    check(invoke("trace", saved(tmp_path, {"at": 0, "direction": "sent", "text": HOSTILE})))
    check(invoke("trace", HOSTILE))


@pytest.mark.parametrize("field", MESSAGES)
@pytest.mark.parametrize("format", ["text", "json"])
def test_convert_shows_messages_without_escapes(field: str, format: str, tmp_path: Path) -> None:
    file = saved(tmp_path, MESSAGES[field])
    for to in ("2024-11-05", NEWEST):
        options = ("--from", "2025-11-25", "--to", to, "--format", format)
        check(invoke("convert", *options, file), shown=False)
        check(invoke("convert", *options, "--method", "tools/call", file), shown=False)
    check(invoke("convert", "--from", HOSTILE, "--to", HOSTILE, file))
    context = saved(tmp_path, {HOSTILE: HOSTILE}, "context.json")
    check(invoke("convert", *options, "--context", context, file), shown=False)


TOOL: Final = {
    "name": HOSTILE,
    "title": HOSTILE,
    "description": HOSTILE,
    "inputSchema": {
        "type": "object",
        "description": HOSTILE,
        "properties": {HOSTILE: {"enum": [HOSTILE, "a"], "description": HOSTILE}},
        "required": [HOSTILE],
        HOSTILE: 1,
    },
}
OTHER: Final = {**TOOL, "inputSchema": {"type": "object", "properties": {"a": {"const": HOSTILE}}}}
SCHEMA: Final = """
/** {0}
 * @deprecated {0} */
export interface Thing {{ kind: {1}; {1}?: {1} | "b"; /** {0} */ a: {2} }}
export const NAME = {1};
"""


def schema(folder: Path, name: str, type: str = "string") -> Path:
    comment = HOSTILE.replace("\n", " ")
    path = folder / f"{name}.ts"
    path.write_text(SCHEMA.format(comment, json.dumps(HOSTILE), type), "utf-8")
    return path


@pytest.mark.parametrize("format", ["text", "json", "markdown", "github", "html"])
def test_diff_shows_schemas_without_escapes(format: str, tmp_path: Path) -> None:
    old, new = saved(tmp_path, [TOOL], "old.json"), saved(tmp_path, [OTHER], "new.json")
    check(invoke("diff", "--tools", "--format", format, "--verbose", old, new), shown=False)
    named = saved(tmp_path, [OTHER], f"{HOSTILE[:4]}\n::error::z.json")
    check(invoke("diff", "--tools", "--format", format, old, named), shown=False)
    schemas = schema(tmp_path, "old"), schema(tmp_path, "new", "number")
    check(invoke("diff", "--format", format, "--verbose", *schemas), shown=False)
    rules = tmp_path / "rules.toml"
    rules.write_text(f"[[ignore]]\nrule = {json.dumps(HOSTILE)}\n", "utf-8")
    check(invoke("diff", "--ignore", rules, *schemas), shown=False)


def test_diff_names_what_is_not_there_without_escapes(tmp_path: Path) -> None:
    check(invoke("diff", HOSTILE, HOSTILE))
    check(invoke("diff", "--explain", HOSTILE))
    check(invoke("diff", "--history", HOSTILE))
    check(invoke("diff", "--ignore", HOSTILE, "2024-11-05", "2025-03-26"))


@pytest.mark.parametrize("format", ["text", "json", "facts", "json-schema"])
def test_inspect_shows_a_schema_without_escapes(format: str, tmp_path: Path) -> None:
    path = schema(tmp_path, "a")
    check(invoke("inspect", path, "--format", format), shown=False)
    check(invoke("inspect", path, "Thing", "--format", format), shown=False)
    check(invoke("inspect", path, HOSTILE))
    check(invoke("inspect", HOSTILE))


BROKEN: Final = f"export interface A {{ a: {HOSTILE[:-20]} }}"


@pytest.mark.parametrize("verb", ["generate", "inspect", "pull"])
def test_a_schema_that_is_none_is_refused_without_escapes(verb: str, tmp_path: Path) -> None:
    path = tmp_path / "broken.ts"
    path.write_text(BROKEN, "utf-8")
    arguments: dict[str, Sequence[str | Path]] = {
        "generate": ("--schema", path, "--out", tmp_path / "out"),
        "inspect": (path,),
        "pull": ("2025-11-25", "--from", path, "--into", tmp_path / "schema"),
    }
    check(invoke(verb, *arguments[verb]), shown=False)


@pytest.mark.parametrize("format", ["text", "json"])
def test_generate_and_pull_show_a_schema_without_escapes(format: str, tmp_path: Path) -> None:
    path = schema(tmp_path, "a")
    out = tmp_path / f"{HOSTILE[:9]}out"
    options = ("--schema", path, "--out", out, "--report", format, "--flavour", "msgspec")
    check(invoke("generate", *options, "--revision", "v"), shown=False)
    (out / "vv" / f"{HOSTILE[:9]}.py").write_text(f"# {HOSTILE}")
    check(invoke("generate", *options, "--revision", "v", "--check"), shown=False)
    check(invoke("generate", *options, "--revision", HOSTILE))
    check(invoke("generate", HOSTILE, "--out", out))
    options = ("--from", path, "--into", tmp_path / f"{HOSTILE[:9]}in", "--format", format)
    check(invoke("pull", "v1", *options), shown=False)
    check(invoke("pull", HOSTILE, *options))
    check(invoke("pull", "v1", "--from", HOSTILE))


def tools(*tools: Any) -> Callable[[Path], Path]:
    return lambda folder: saved(folder, {"tools": list(tools)})


LISTS: Final = {
    "name": tools(TOOL),
    "texts": tools({**TOOL, "name": "a"}),
    "members": tools({**OTHER, "name": "a"}),
    "place": tools({"name": "a", "inputSchema": {"type": "object", "properties": {"b": TOOL}}}),
    "reference": tools(
        {"name": "a", "inputSchema": {"type": "object", "properties": {"b": {"$ref": HOSTILE}}}}
    ),
    "header": tools(
        {
            "name": "a",
            "inputSchema": {
                "type": "object",
                "properties": {HOSTILE: {"type": "string", "x-mcp-header": HOSTILE}},
            },
        }
    ),
    "cursor": lambda folder: saved(folder, {"tools": [], "nextCursor": HOSTILE}),
    "error": lambda folder: saved(folder, MESSAGES["error"]),
    "odd": lambda folder: saved(folder, {HOSTILE: HOSTILE}),
}


@pytest.mark.parametrize("list", LISTS)
def test_new_shows_tools_without_escapes(list: str, tmp_path: Path) -> None:
    options = ("--revisions", NEWEST, "--into", tmp_path / f"{HOSTILE[:9]}a")
    source = LISTS[list](tmp_path)
    check(invoke("new", "a", "--from-tools", source, *options, "--dry-run"), shown=False)
    check(invoke("new", "a", "--from-tools", source, *options, "--strict"), shown=False)


SERVER: Final = f"""
import json, sys
for line in sys.stdin:
    error = {{"code": 1, "message": {HOSTILE!r}, "data": {HOSTILE!r}}}
    answer = {{"jsonrpc": "2.0", "id": json.loads(line).get("id"), "error": error}}
    print(json.dumps(answer), flush=True)
"""


@pytest.mark.wide
def test_new_shows_the_error_of_a_server_without_escapes(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SERVER)
    command = f"{sys.executable} {tmp_path / 'server.py'}"
    check(invoke("new", "a", "--from-tools", command, "--into", tmp_path / "a"))
    check(invoke("new", HOSTILE[:30]))
    check(invoke("new", "a", "--revisions", HOSTILE))
    check(invoke("new", "a", "--transports", HOSTILE))
    check(invoke("new", "a", "--from-tools", HOSTILE))
    inside = tmp_path / HOSTILE.replace("/", "") / "b"
    check(invoke("new", "a", "--revisions", NEWEST, "--into", inside))


def test_update_shows_a_project_without_escapes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = dict(made(answers(revisions=(NEWEST,))))
    monkeypatch.chdir(write(files, tmp_path))
    old = {p: t for p, t in files.items() if p not in (record.NAME, record.BASE)}
    odd = {**old, f"{HOSTILE[:12]}\nFAKE": HOSTILE}
    choices = answers(revisions=(NEWEST,))
    for version, kept in ((f"0.0{HOSTILE}", old), ("0.0", odd)):
        (tmp_path / record.NAME).write_text(record.render(version, choices, kept), "utf-8")
        (tmp_path / record.BASE).write_text(record.pack(kept), "utf-8")
        check(invoke("update", "--check"), shown=False)
        check(invoke("update", "--dry-run"), shown=False)
    body = (tmp_path / record.NAME).read_text("utf-8")
    for text in (body.replace("0.0", f"9.0{ascii(HOSTILE)[1:-1]}"), HOSTILE, f"a = '{HOSTILE}'"):
        (tmp_path / record.NAME).write_text(text, "utf-8")
        check(invoke("update", "--check"), shown=False)
    (tmp_path / record.NAME).write_text(body, "utf-8")
    (tmp_path / record.BASE).write_text(HOSTILE, "utf-8")
    check(invoke("update", "--check"), shown=False)


@pytest.mark.parametrize(
    "text",
    [
        f"raise ValueError({HOSTILE!r})",
        f"import {'x' * 9}y\n",
        f"raise ModuleNotFoundError({HOSTILE!r})",
        f"raise FileNotFoundError(2, {HOSTILE!r}, {HOSTILE!r})",
        f"from mcp_runtime import Server as S\nvars()[{HOSTILE!r}] = S('a', '1')\na = S('b', '1')",
        f"x = '{HOSTILE[:20]}",
    ],
)
def test_run_shows_errors_of_a_module_without_escapes(text: str, tmp_path: Path) -> None:
    path = tmp_path / "server.py"
    path.write_text(text, "utf-8")
    check(invoke("run", path), shown=False)
    check(invoke("run", HOSTILE))
    check(invoke("run", f"{path}:{HOSTILE}"), shown=False)
    check(invoke("run", "--http", HOSTILE, path), shown=False)
    check(invoke("run", "--http", ":0", "--allow-origin", HOSTILE, path), shown=False)


@pytest.mark.parametrize("verb", ["call", "diff", "new", "run", "trace", "validate"])
def test_words_that_are_no_usage_are_shown_without_escapes(verb: str) -> None:
    check(invoke(verb, f"--{HOSTILE}"), shown=False)
    check(invoke(HOSTILE))
    check(invoke("diff", "--format", HOSTILE), shown=False)
