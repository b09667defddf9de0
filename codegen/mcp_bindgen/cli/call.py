"""`mcp-bindgen call`: asks a server what it has, or calls one of its tools."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import click

from mcp_bindgen.cli import FINDINGS, OK
from mcp_bindgen.cli.show import safe, say
from mcp_bindgen.cli.sign_in import SigningIn, authorization, forget
from mcp_bindgen.errors import InputError

if TYPE_CHECKING:
    from mcp_runtime.client.client import Client

__all__ = ["command"]

_SCHEMES: Final = ("http://", "https://")
_HEADER: Final = re.compile(r"(?P<name>[!#$%&'*+.^_`|~0-9A-Za-z-]+):\s*(?P<value>[\t\x20-\x7e]*)")


@click.command("call", context_settings={"ignore_unknown_options": True})
@click.option("--list", "list_", is_flag=True, help="Show what the server has.")
@click.option("--revision", metavar="REVISION", multiple=True, help="Speak only this; repeatable.")
@click.option(
    "--header", "headers", metavar="NAME:VALUE", multiple=True, help="Of each request to a URL."
)
@click.option("--timeout", type=float, default=30.0, show_default=True, help="Seconds to wait.")
@click.option("--trace", metavar="FILE", help="Write the wire to FILE, as JSON lines.")
@click.option(
    "--format", type=click.Choice(("text", "json")), default="text", help="How it is said."
)
@click.option("--login", is_flag=True, help="Sign in to a protected server at a URL, in a browser.")
@click.option("--no-browser", is_flag=True, help="Sign in without opening a browser here.")
@click.option("--logout", is_flag=True, help="Forget the tokens of the server at a URL, and end.")
@click.option(
    "--auth-trace", is_flag=True, help="Show each step of authorization, with secrets masked."
)
@click.argument("words", nargs=-1, required=True, metavar="URL|-- COMMAND... [TOOL [JSON]]")
def command(
    list_: bool,
    revision: tuple[str, ...],
    headers: tuple[str, ...],
    timeout: float,
    trace: str | None,
    format: str,
    login: bool,
    no_browser: bool,
    logout: bool,
    auth_trace: bool,
    words: tuple[str, ...],
) -> int:
    """Call TOOL of a server with JSON arguments, or list what the server has.

    It is started by a command, or reached by a URL that begins with http:// or https://.

    The last words are the tool and its arguments, if those begin with `{`; with --list all words
    are the server's. Exit code 0: done; 1: the tool has failed; 2: it could not be asked.
    """
    if logout:
        return _log_out(words)
    server, tool, arguments = (words, "", {}) if list_ else _parted(words)
    signing = SigningIn(login=login, browser=not no_browser, report=auth_trace)
    options: dict[str, Any] = {"timeout": timeout}
    if revision:
        options["revisions"] = revision
    make = _maker(server, headers, signing)
    return asyncio.run(_ask(make, tool, arguments, options, trace, format))


def _log_out(words: Sequence[str]) -> int:
    """Raises InputError for a command, which nobody signs in to."""
    if not words[0].startswith(_SCHEMES):
        raise InputError("one signs in to, and out of, a server that has a URL")
    asyncio.run(forget(words[0]))
    return OK


def _maker(
    server: Sequence[str], headers: Sequence[str], signing: SigningIn
) -> Callable[..., Client]:
    """Makes the client of a command or URL. Raises InputError."""
    from mcp_runtime.client.client import Client

    if not server[0].startswith(_SCHEMES):
        if signing.login or signing.report:
            raise InputError("one signs in to a server that has a URL, not to a command")
        if headers:
            raise InputError("a header is for a server that has a URL, not for a command")
        return partial(Client.stdio, server)
    if len(server) > 1:
        raise InputError(f"after a URL come a tool and its arguments, not {server[1]!r}")
    named = dict(map(_header, headers))
    if any(name.lower() == "authorization" for name in named):
        return partial(Client.http, server[0], headers=named)
    return partial(Client.http, server[0], headers=named, auth=authorization(signing))


def _header(text: str) -> tuple[str, str]:
    """Raises InputError. The value may be a secret, and is not told."""
    match = _HEADER.fullmatch(text)
    if match is None:
        remedy = "For instance: --header 'Authorization: Bearer …'."
        raise InputError("a header is a name, a colon and a value", remedy=remedy)
    return match["name"], match["value"]


def _parted(words: tuple[str, ...]) -> tuple[tuple[str, ...], str, dict[str, Any]]:
    """The server's command or URL, the tool, its arguments. Raises InputError."""
    arguments: dict[str, Any] = {}
    if words[-1].lstrip().startswith("{"):
        arguments = _object(words[-1])
        words = words[:-1]
    if len(words) < 2:
        remedy = "For instance: mcp-bindgen call -- python server.py add '{\"a\": 1}'"
        raise InputError("a call has a command or URL, and a tool", remedy=remedy)
    return words[:-1], words[-1], arguments


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"the arguments are no JSON: {error}") from None
    if not isinstance(found, dict):
        raise InputError("the arguments are no JSON object")
    return found  # pyright: ignore[reportUnknownVariableType]


async def _ask(
    make: Callable[..., Client],
    tool: str,
    arguments: dict[str, Any],
    options: dict[str, Any],
    trace: str | None,
    format: str,
) -> int:
    from mcp_runtime.errors import SessionError
    from mcp_runtime.trace import TraceFile

    with ExitStack() as stack:
        if trace is not None:
            options["trace"] = TraceFile(stack.enter_context(open(trace, "wb")))
        try:
            async with make(**options) as client:
                if tool:
                    return _shown(await client.call_tool(tool, arguments), format)
                return await _listed(client, format)
        except (SessionError, ValueError) as error:
            raise InputError(str(error)) from error


def _shown(result: Any, format: str) -> int:
    from mcp_runtime.revisions import latest

    if format == "json":
        say(latest.encode(result).decode())
    else:
        for block in result.content:
            say(_block(block))
    return FINDINGS if result.is_error is True else OK


def _block(block: Any) -> str:
    """Text as it is, anything else by its kind."""
    text = getattr(block, "text", None)
    if isinstance(text, str):
        return "\n".join(safe(line) for line in text.split("\n"))
    what = getattr(block, "mime_type", "") or getattr(block, "uri", "")
    return f"[{block.type}{f' {what}' if isinstance(what, str) and what else ''}]"


async def _listed(client: Any, format: str) -> int:
    found = {kind: await _all(client, kind, ask) for kind, ask in _ASK.items()}
    if format == "json":
        from mcp_runtime.revisions import latest

        told = {kind: [latest.to_wire(item) for item in items] for kind, items in found.items()}
        say(json.dumps({"revision": client.revision, **told}, ensure_ascii=False))
        return OK
    info: Mapping[str, Any] = client.server_info or {}
    say(safe(f"{info.get('name', '?')} {info.get('version', '')}, MCP {client.revision}"))
    for kind, items in found.items():
        for item in items:
            say(safe(f"  {kind[:-1]:<9} {_name(item)}{_described(item)}"))
    return OK


async def _all(client: Any, kind: str, ask: str) -> list[Any]:
    """Nothing where the server does not offer that kind."""
    offered = kind.removesuffix("templates") or "resources"
    capability = "resources" if kind == "templates" else offered
    if capability not in client.server_capabilities:
        return []
    found: list[Any] = await getattr(client, ask)()
    return found


_ASK: Final = {
    "tools": "list_tools",
    "resources": "list_resources",
    "templates": "list_resource_templates",
    "prompts": "list_prompts",
}


def _name(item: Any) -> str:
    return str(getattr(item, "uri_template", None) or getattr(item, "uri", None) or item.name)


def _described(item: Any) -> str:
    text = item.description if isinstance(item.description, str) else ""
    first = text.strip().partition("\n")[0]
    return f": {first}" if first else ""
