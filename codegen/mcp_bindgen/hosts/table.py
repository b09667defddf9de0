"""The hosts: where each keeps its servers, in which form, and which command of its own it has.

Source: the documentation of each host, as of November 2026.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from mcp_bindgen.errors import InputError

__all__ = ["HOSTS", "Host", "Launch"]


@dataclass(frozen=True, slots=True)
class Launch:
    """A server as a host is told of it: its URL, or its command with variables.

    `values` are variables with a value, `references` those which the host takes from its own
    environment.
    """

    url: str = ""
    command: Sequence[str] = ()
    values: Mapping[str, str] | None = None
    references: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """`files` are the settings of the user by platform, below the home folder; `project` those of a
    project (empty if there are none). `servers` is the member which holds the servers, `url` the
    member for a URL (empty if the host takes none), `reference` how a variable of its environment
    is written. `add`, `add_url` and `remove` are commands of the host; those without `{scope}` are
    for the settings of the user alone.
    """

    title: str
    files: Mapping[str, str]
    project: str = ""
    form: Literal["json", "toml"] = "json"
    servers: str = "mcpServers"
    url: str = "url"
    types: Mapping[str, str] | None = None
    reference: str = ""
    add: Sequence[str] = ()
    add_url: Sequence[str] = ()
    remove: Sequence[str] = ()

    def entry(self, launch: Launch) -> dict[str, Any]:
        """The settings of one server. Raises InputError for settings that it lacks."""
        types = self.types or {}
        if launch.url:
            if not self.url:
                raise InputError(
                    f"{self.title} takes no URL in its settings file",
                    remedy="Add it in Settings, Connectors.",
                )
            return {**_type(types.get("url")), self.url: launch.url}
        program, *arguments = launch.command
        entry: dict[str, Any] = {**_type(types.get("command")), "command": program}
        entry["args"] = arguments
        variables = dict(launch.values or {})
        if launch.references and self.form == "toml":
            entry["env_vars"] = list(launch.references)
        elif launch.references:
            if not self.reference:
                raise InputError(
                    f"{self.title} takes no variable of its environment by reference",
                    remedy="Write NAME=VALUE; whoever reads the settings reads the value.",
                )
            variables |= {name: self.reference.format(name) for name in launch.references}
        if variables:
            entry["env"] = variables
        return entry


def _type(name: str | None) -> dict[str, str]:
    return {} if name is None else {"type": name}


def _everywhere(path: str) -> dict[str, str]:
    return dict.fromkeys(("linux", "darwin", "win32"), path)


def _below_settings(path: str) -> dict[str, str]:
    """A file of an application below the platform's folder of settings."""
    return {
        "linux": f".config/{path}",
        "darwin": f"Library/Application Support/{path}",
        "win32": f"AppData/Roaming/{path}",
    }


HOSTS: Final[Mapping[str, Host]] = {
    "claude-code": Host(
        title="Claude Code",
        files=_everywhere(".claude.json"),
        project=".mcp.json",
        types={"command": "stdio", "url": "http"},
        reference="${{{}}}",
        add=("claude", "mcp", "add", "--scope", "{scope}", "{name}", "{env}", "--", "{command}"),
        add_url=(
            "claude",
            "mcp",
            "add",
            "--scope",
            "{scope}",
            "--transport",
            "http",
            "{name}",
            "{url}",
        ),
        remove=("claude", "mcp", "remove", "--scope", "{scope}", "{name}"),
    ),
    "claude-desktop": Host(
        title="Claude Desktop",
        files=_below_settings("Claude/claude_desktop_config.json"),
        url="",
    ),
    "codex": Host(
        title="Codex",
        files=_everywhere(".codex/config.toml"),
        project=".codex/config.toml",
        form="toml",
        servers="mcp_servers",
        add=("codex", "mcp", "add", "{name}", "{env}", "--", "{command}"),
        add_url=("codex", "mcp", "add", "{name}", "--url", "{url}"),
        remove=("codex", "mcp", "remove", "{name}"),
    ),
    "cursor": Host(
        title="Cursor",
        files=_everywhere(".cursor/mcp.json"),
        project=".cursor/mcp.json",
        reference="${{env:{}}}",
    ),
    "gemini": Host(
        title="Gemini CLI",
        files=_everywhere(".gemini/settings.json"),
        project=".gemini/settings.json",
        url="httpUrl",
        reference="${{{}}}",
    ),
    "vscode": Host(
        title="VS Code",
        files=_below_settings("Code/User/mcp.json"),
        project=".vscode/mcp.json",
        servers="servers",
        types={"command": "stdio", "url": "http"},
        reference="${{env:{}}}",
    ),
    "zed": Host(
        title="Zed",
        files={
            **_everywhere(".config/zed/settings.json"),
            "win32": "AppData/Roaming/Zed/settings.json",
        },
        project=".zed/settings.json",
        servers="context_servers",
    ),
}
"""The hosts by the name which `--client` takes."""
