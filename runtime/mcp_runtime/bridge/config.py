"""Reads the servers of an `mcp.json`, as Claude, VS Code and Cursor write it.

The text is JSON with comments. Its servers stand in `mcpServers`, or in `servers`. In each string
`${NAME}`, `${env:NAME}` and `${NAME:-default}` are variables of the environment, so a file needs no
secrets; `${userHome}`, `${workspaceFolder}` and `${pathSeparator}` are places.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

from mcp_runtime.bridge.names import Names
from mcp_runtime.bridge.upstream import Upstream, prefix_of

_JUNK: Final = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/|,(?=(?:\s|//[^\n]*|/\*.*?\*/)*[}\]])', re.DOTALL
)
_VARIABLE: Final = re.compile(r"\$\{(?P<name>[^{}]*?)(?::-(?P<default>[^{}]*))?\}")
_NAME: Final = re.compile(r"(?:env:)?([A-Za-z_][A-Za-z0-9_]*)")
_MEMBERS: Final = ("mcpServers", "servers")
_TYPES: Final = (None, "stdio", "http", "sse", "streamable-http", "streamableHttp")


class ConfigError(ValueError):
    """A file of servers is unusable; the text has the place and a remedy, and no values."""


def read_config(
    path: str | Path, *, environment: Mapping[str, str] | None = None
) -> dict[str, Upstream]:
    """Return the servers of an `mcp.json` by name, without those which it disables.

    Of several servers each has its name as a prefix. `environment` is that of the process by
    default. Raises ConfigError, and OSError for an unreadable file.
    """
    file = Path(path)
    variables = os.environ if environment is None else environment
    entries = _entries(file)
    expand = partial(_expand, variables=variables, folder=file.absolute().parent)
    enabled = {
        name: entry
        for name, entry in entries.items()
        if entry.get("disabled") is not True and entry.get("enabled") is not False
    }
    if not enabled:
        raise ConfigError(f"{file}: no server in {' or '.join(_MEMBERS)}")
    servers: dict[str, Upstream] = {}
    for name, entry in enabled.items():
        names = Names(prefix=prefix_of(name) if len(enabled) > 1 else "")
        servers[name] = _upstream(f"{file}: {name}", entry, expand, names)
    return servers


def _entries(file: Path) -> dict[str, dict[str, Any]]:
    try:
        text = file.read_text("utf-8-sig")
        document: Any = json.loads(without_comments(text))
    except ValueError as error:
        raise ConfigError(f"{file}: {error}") from None
    for member in _MEMBERS:
        whole = cast("dict[str, Any]", document) if isinstance(document, dict) else {}
        entries = whole.get(member)
        if isinstance(entries, dict):
            break
    else:
        raise ConfigError(f"{file}: an object with {' or '.join(_MEMBERS)} is expected")
    known = cast("dict[str, Any]", entries)
    for name, entry in known.items():
        if not isinstance(entry, dict):
            raise ConfigError(f"{file}: {name}: an object is expected")
    return known


def without_comments(text: str) -> str:
    """Return JSON with comments as JSON: blanks stand for comments and for commas at the end."""

    def blank(match: re.Match[str]) -> str:
        return match[0] if match[0].startswith('"') else re.sub(r"[^\n]", " ", match[0])

    return _JUNK.sub(blank, text)


def _expand(text: str, where: str, *, variables: Mapping[str, str], folder: Path) -> str:
    """Replace the variables in a text. Raises ConfigError for an unknown one."""
    places = {
        "workspaceFolder": str(folder),
        "workspaceFolderBasename": folder.name,
        "userHome": str(Path.home()),
        "pathSeparator": os.sep,
        "/": os.sep,
    }

    def value(match: re.Match[str]) -> str:
        name, default = match["name"], match["default"]
        if name in places:
            return places[name]
        known = _NAME.fullmatch(name)
        given = variables.get(known[1]) if known is not None else None
        if given is None and default is None:
            remedy = f"set {known[1]} in the environment" if known else "write the value there"
            raise ConfigError(f"{where}: ${{{name}}} has no value: {remedy}")
        return given or default or ""

    return _VARIABLE.sub(value, text)


def _upstream(
    where: str, entry: Mapping[str, Any], expand: Callable[[str, str], str], names: Names
) -> Upstream:
    """Return one server. Raises ConfigError for an entry without a command or a URL."""
    if entry.get("type") not in _TYPES:
        raise ConfigError(f"{where}: type is not one of stdio, http and sse")
    url, command = entry.get("url") or entry.get("serverUrl"), entry.get("command")
    if isinstance(url, str):
        headers = _texts(where, "headers", entry, expand)
        return Upstream.of(expand(url, f"{where}: url"), names, headers=headers)
    if not isinstance(command, str):
        raise ConfigError(f"{where}: a command or a url is expected")
    arguments: Any = entry.get("args", [])
    if not isinstance(arguments, list) or not all(
        isinstance(each, str) for each in cast("list[object]", arguments)
    ):
        raise ConfigError(f"{where}: args: a list of strings is expected")
    words = [
        expand(command, f"{where}: command"),
        *(expand(each, f"{where}: args") for each in cast("list[str]", arguments)),
    ]
    options: dict[str, Any] = {"env": _texts(where, "env", entry, expand)}
    if isinstance(folder := entry.get("cwd"), str):
        options["cwd"] = expand(folder, f"{where}: cwd")
    return Upstream.of(words, names, **options)


def _texts(
    where: str, member: str, entry: Mapping[str, Any], expand: Callable[[str, str], str]
) -> dict[str, str]:
    given: Any = entry.get(member) or {}
    if not isinstance(given, dict):
        raise ConfigError(f"{where}: {member}: an object is expected")
    texts: dict[str, str] = {}
    for name, value in cast("dict[str, Any]", given).items():
        if not isinstance(value, str | int | float):
            raise ConfigError(f"{where}: {member}: {name}: a string is expected")
        texts[name] = expand(str(value), f"{where}: {member}: {name}")
    return texts
