"""Count the runtime's code beside the installed `mcp`: lines of code and statements.

A line of code is one that holds more than white space, a comment or a docstring; a statement is a
node of the syntax tree that is not a docstring. Imports and `__all__` count on both sides. Each
side is counted without what the other lacks: ours without stores, mcp without auth, cli and os.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench import peers

__all__ = ["Size", "count", "size"]

ROOT: Final = Path(__file__).parents[1]
ROOMS_BAR: Final = 0.85
"""The most lines of code that our rooms may have, generated support apart, for one of `mcp`."""

SUPPORT_PART: Final = "generated support"

OURS: Final[Mapping[str, tuple[str, ...]]] = {
    "core: JSON-RPC, session, eras": ("core",),
    "JSON Schema": ("json_schema",),
    "both roles": ("shared", "trace.py"),
    "byte transports": ("transports",),
    "server": ("server",),
    "Python functions as tools": ("server/functions",),
    "HTTP server": ("server/http",),
    "client": ("client",),
    "HTTP client": ("client/http",),
    "errors, limits, package": ("",),
    SUPPORT_PART: (),
}
"""A file counts where the longest of these paths that it is in says."""
OURS_LEFT_OUT: Final = (
    "auth",
    "bridge",
    "compat",
    "client/extension.py",
    "client/http/authorized.py",
    "core/terms/extension.py",
    "extensions",
    "server/extension.py",
    "server/http/cluster/cluster.py",
    "server/http/cluster/followed_stream.py",
    "server/http/asgi/protection.py",
    "server/http/cluster/session_record.py",
    "server/http/sessions/shared_session.py",
    "server/http/sessions/shared_table.py",
    "server/http/asgi/stream_note.py",
    "server/tool_option.py",
    "stores",
    "telemetry.py",
)
"""Authorization, extensions, shared stores and what the other rooms have for these alone."""
SUPPORT: Final = ("_wire/*.py", "*_msgspec.py", "steps/__init__.py", "steps/_[!_]*.py")
"""Of the generated package: what the runtime runs on, whatever the schema says."""

THEIRS: Final[Mapping[str, tuple[str, ...]]] = {
    "server": ("server",),
    "server, high level": ("server/mcpserver",),
    "HTTP server": (
        "server/_streamable_http_modern.py",
        "server/sse.py",
        "server/streamable_http.py",
        "server/streamable_http_manager.py",
        "server/transport_security.py",
    ),
    "client": ("client",),
    "HTTP client": ("client/sse.py", "client/streamable_http.py", "shared/_httpx_utils.py"),
    "both roles": ("shared",),
    "package, types": ("",),
}
THEIRS_LEFT_OUT: Final = (
    "cli",
    "client/auth",
    "os",
    "server/auth",
    "shared/auth.py",
    "shared/auth_utils.py",
)


@dataclass(frozen=True, slots=True)
class Size:
    """Of source text: `lines` of code and `statements`."""

    lines: int
    statements: int

    def __add__(self, other: Size) -> Size:
        return Size(self.lines + other.lines, self.statements + other.statements)


NOTHING: Final = Size(0, 0)
_SPACE: Final = frozenset(
    {
        tokenize.COMMENT,
        tokenize.DEDENT,
        tokenize.ENCODING,
        tokenize.ENDMARKER,
        tokenize.INDENT,
        tokenize.NEWLINE,
        tokenize.NL,
    }
)


def count(text: str) -> Size:
    """Of one module."""
    tree = ast.parse(text)
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    docstrings = [node for node in statements if _is_docstring(node)]
    prose = {line for node in docstrings for line in _lines(node)}
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    held = {
        line
        for token in tokens
        if token.type not in _SPACE
        for line in range(token.start[0], token.end[0] + 1)
    }
    return Size(len(held - prose), len(statements) - len(docstrings))


def _is_docstring(node: ast.stmt) -> bool:
    """Whether a statement is a text alone, as docstrings of modules, functions and members are."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _lines(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def total(parts: Mapping[str, Size]) -> Size:
    return sum(parts.values(), start=NOTHING)


def sizes(
    folder: Path, parts: Mapping[str, tuple[str, ...]], left_out: tuple[str, ...]
) -> dict[str, Size]:
    """The sources below a folder, by the part that each belongs to."""
    counted: dict[str, Size] = dict.fromkeys(parts, NOTHING)
    for path in sorted(folder.rglob("*.py")):
        place = path.relative_to(folder).as_posix()
        if not any(_is_within(place, each) for each in left_out):
            counted[_part(place, parts)] += count(path.read_text("utf-8"))
    return {name: size for name, size in counted.items() if size != NOTHING}


def _part(place: str, parts: Mapping[str, tuple[str, ...]]) -> str:
    holders = [
        (len(within), name)
        for name, places in parts.items()
        for within in places
        if _is_within(place, within)
    ]
    return max(holders)[1]


def _is_within(place: str, folder: str) -> bool:
    return not folder or place == folder or place.startswith(f"{folder}/")


def ours() -> dict[str, Size]:
    """Our runtime, and the generated support that it runs on."""
    runtime = sizes(ROOT / "runtime" / "mcp_runtime", OURS, OURS_LEFT_OUT)
    generated = ROOT / "generated" / "mcp_wire"
    support = [
        count(path.read_text("utf-8")) for name in SUPPORT for path in sorted(generated.glob(name))
    ]
    return {**runtime, SUPPORT_PART: sum(support, start=NOTHING)}


def theirs() -> dict[str, Size]:
    """The installed `mcp`, without the parts that we do not have."""
    peers.python()
    (folder,) = peers.FOLDER.glob("lib/python*/site-packages/mcp")
    return sizes(folder, THEIRS, THEIRS_LEFT_OUT)


def _table(title: str, parts: Mapping[str, Size]) -> Iterator[str]:
    yield f"\n{title:48} {'lines':>10} {'statements':>11}"
    for name, size in {**parts, "together": total(parts)}.items():
        yield f"  {name:46} {size.lines:10} {size.statements:11}"


def _ratio(name: str, ours: int, theirs: int, bar: float | None = None) -> str:
    verdict = "" if bar is None else f"{bar:11} {'' if ours <= bar * theirs else 'missed'}"
    return f"{name:48} {ours / theirs:10.3f} {verdict}".rstrip()


def size() -> None:
    """Print both sides and their ratios; the lines of the rooms alone have a bar."""
    us, them = ours(), theirs()
    print(*_table("size: ours", us), *_table("size: mcp", them), sep="\n")
    rooms = total({name: part for name, part in us.items() if name != SUPPORT_PART})
    every, mcp = total(us), total(them)
    print(f"\n{'':48} {'ratio':>10} {'bar':>11}")
    print(_ratio("lines of code, rooms alone", rooms.lines, mcp.lines, ROOMS_BAR))
    print(_ratio("lines of code, with generated support", every.lines, mcp.lines))
    print(_ratio("statements, rooms alone", rooms.statements, mcp.statements))
    print(_ratio("statements, with generated support", every.statements, mcp.statements))
