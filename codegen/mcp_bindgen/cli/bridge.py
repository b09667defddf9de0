"""`mcp-bindgen bridge`: serves clients of any revision in front of servers of any revision."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import click

from mcp_bindgen.cli import OK
from mcp_bindgen.cli.options import parse_header
from mcp_bindgen.cli.programs import is_url, launched
from mcp_bindgen.cli.serving import address_options, address_settings, serve_until_gone
from mcp_bindgen.cli.show import safe, warn
from mcp_bindgen.errors import InputError

if TYPE_CHECKING:
    from mcp_runtime.bridge import Access, Upstream

__all__ = ["command"]


@click.command("bridge")
@address_options
@click.option(
    "--offer",
    metavar="REVISION,...",
    help="Offer these revisions to clients (default: every revision).",
)
@click.option(
    "--config",
    metavar="FILE",
    help="Serve all servers of this mcp.json, each with its name as a prefix "
    "(default: the server behind --).",
)
@click.option(
    "--rename",
    "renamed",
    metavar="OLD=NEW",
    multiple=True,
    help="Show the tool OLD to clients as NEW; repeatable (default: no tool is renamed).",
)
@click.option(
    "--tool",
    "patterns",
    metavar="PATTERN",
    multiple=True,
    help="Serve the tools whose name fits, such as 'git_*'; repeatable (default: all tools).",
)
@click.option(
    "--header",
    "headers",
    metavar="NAME:VALUE",
    multiple=True,
    help="Send this header with each request to the URL; repeatable (default: none).",
)
@click.option(
    "--tasks",
    "keeps_tasks",
    is_flag=True,
    help="Keep tasks at the bridge, for clients of both eras (default: pass them on to one server "
    "of the client's revision, on stdio).",
)
@click.option(
    "--losses",
    metavar="FILE",
    help="Write each message with a loss to FILE, one JSON object on a line "
    "(default: a line of the log at level info).",
)
@click.option(
    "--trace",
    metavar="FILE",
    help="Write every message of the clients to FILE, one JSON object on a line "
    "(default: write no trace).",
)
@click.argument("words", nargs=-1, metavar="[FILE|URL|-- COMMAND...]")
def command(
    http: str | None,
    hosts: tuple[str, ...],
    origins: tuple[str, ...],
    offer: str | None,
    config: str | None,
    renamed: tuple[str, ...],
    patterns: tuple[str, ...],
    headers: tuple[str, ...],
    keeps_tasks: bool,
    losses: str | None,
    trace: str | None,
    words: tuple[str, ...],
) -> int:
    """Serve clients of any revision in front of a server of any revision, or of several servers.

    The server is a file such as server.py, a command behind `--`, a URL with http:// or https://,
    or all servers of an mcp.json. A part of a message without a form in the other side's revision
    is left out and reported. Exit status 0: the client has gone, or a signal ended the bridge; 2:
    there is no such server, or the address cannot be used.
    """
    from mcp_runtime.bridge import Bridge, LossFile

    settings = _settings(http, hosts, origins)
    servers = _with_renamed(_servers(words, config, headers), renamed)
    front: dict[str, Any] = {} if offer is None else {"revisions": _revisions(offer)}
    if keeps_tasks:
        from mcp_runtime.extensions.tasks import Tasks

        front["tasks"] = Tasks()
    with ExitStack() as stack:
        if losses is not None:
            front["observe"] = LossFile(stack.enter_context(open(losses, "w", encoding="utf-8")))
        try:
            bridge = Bridge(servers, allow=_allow(patterns), **front)
        except ValueError as error:
            raise InputError(str(error)) from None
        if http is None and os.isatty(0):
            warn("Waiting for the messages of a client on standard input; Ctrl-C ends this.")
        serve_until_gone(bridge.server, trace, settings, name="bridge")
    return OK


def _settings(http: str | None, hosts: Sequence[str], origins: Sequence[str]) -> dict[str, Any]:
    if http is not None:
        return address_settings(http, hosts, origins)
    if hosts or origins:
        raise click.UsageError("--allow-host and --allow-origin go with --http.")
    return {}


def _servers(
    words: Sequence[str], config: str | None, headers: Sequence[str]
) -> Mapping[str, Upstream]:
    """Return the servers by name. Raises InputError, and UsageError for none or too many."""
    from mcp_runtime.bridge import ConfigError, Upstream, read_config

    if (config is None) == (not words):
        raise click.UsageError("Give a file, a URL, a command behind --, or --config FILE.")
    if headers and (config is not None or not is_url(words[0])):
        raise InputError("a header is for a server that has a URL, given alone")
    if config is not None:
        try:
            return read_config(config)
        except ConfigError as error:
            raise InputError(safe(str(error))) from None
    if not is_url(words[0]):
        return {"server": Upstream.of(launched(words))}
    if len(words) > 1:
        raise InputError(f"{safe(words[1])!r} stands behind the URL, where nothing is expected")
    try:
        return {"server": Upstream.of(words[0], headers=dict(map(parse_header, headers)))}
    except TypeError as error:
        raise InputError(str(error)) from None


def _with_renamed(
    servers: Mapping[str, Upstream], renamed: Sequence[str]
) -> Mapping[str, Upstream]:
    """Return the servers with other public names of tools. Raises InputError."""
    known = dict(servers)
    for text in renamed:
        old, equals, new = text.partition("=")
        if not equals or not old or not new:
            raise InputError(f"{safe(text)!r} is not OLD=NEW")
        owners = [n for n, each in known.items() if each.names.own("tool", old) is not None]
        if not owners:
            raise InputError(
                f"no server has a prefix for the tool {safe(old)!r}",
                remedy=f"Prefixes: {', '.join(f'{e.names.prefix}_' for e in known.values())}.",
            )
        names = known[owners[0]].names
        own = names.own("tool", old) or old
        names = replace(names, renamed={**names.renamed, own: new})
        known[owners[0]] = replace(known[owners[0]], names=names)
    return known


def _allow(patterns: Sequence[str]) -> Any:
    """Return the hook which serves the tools that fit a pattern; None without patterns."""
    if not patterns:
        return None

    def allow(access: Access) -> bool:
        return access.kind != "tool" or any(fnmatchcase(access.name, each) for each in patterns)

    return allow


def _revisions(text: str) -> list[str]:
    """Return the revisions of a list with commas. Raises InputError for an unknown one."""
    from mcp_runtime.revisions import ALL

    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in ALL]
    if unknown or not names:
        raise InputError(
            f"no such revision: {safe(', '.join(unknown)) or 'none is given'}",
            remedy=f"Known: {', '.join(ALL)}.",
        )
    return names
