"""`mcp-bindgen call`: lists a server's features, or calls one of its tools."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import click

from mcp_bindgen.cli import COULD_NOT, FINDINGS, OK
from mcp_bindgen.cli.call.sign_in import SigningIn, authorization, forget
from mcp_bindgen.cli.call.tool_argument import require_tool
from mcp_bindgen.cli.held_errors import HeldErrors
from mcp_bindgen.cli.options import Network, network_options, open_trace
from mcp_bindgen.cli.show import in_one_line, safe, safe_text, say, warn
from mcp_bindgen.errors import InputError

if TYPE_CHECKING:
    from mcp_runtime.client.client import Client

__all__ = ["command"]

_SCHEMES: Final = ("http://", "https://")
_HEADER: Final = re.compile(r"(?P<name>[!#$%&'*+.^_`|~0-9A-Za-z-]+):\s*(?P<value>[\t\x20-\x7e]*)")
_METHOD_NOT_FOUND: Final = -32601
_NAMED: Final = 20
"""Items left out of a list which are named; the rest is counted."""
_REMEDIES: Final = (
    ("no answer within", "--timeout SECONDS waits longer."),
    ("Limits.answer_bytes", "--max-message BYTES accepts a larger answer."),
    ("HTTP 404", "Check the path of the URL; many servers are at /mcp."),
    ("Unknown tool:", "--list, written before the server, shows its tools."),
    ("allow_issuer_mismatch=True", "--allow-issuer-mismatch accepts it, at your own risk."),
    ("allow_private_sign_in=True", "--allow-private-sign-in opens it."),
)
"""Remedies for errors, by words in their text."""


@click.command("call", context_settings={"ignore_unknown_options": True})
@click.option("--list", "list_", is_flag=True, help="List what the server has; call no tool.")
@click.option(
    "--revision",
    "revisions",
    metavar="REVISION",
    multiple=True,
    help="Offer this revision and all older ones; repeatable with --exact (default: all).",
)
@click.option("--exact", is_flag=True, help="Offer only what --revision names, nothing older.")
@click.option(
    "--era",
    type=click.Choice(("auto", "handshake")),
    default="auto",
    help="Begin with a handshake, or find out first what the server speaks (default: auto).",
)
@click.option(
    "--header",
    "headers",
    metavar="NAME:VALUE",
    multiple=True,
    help="Send this header with each request to a URL; repeatable (default: none).",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Give up after this many seconds in all (default: 30 for each answer, and 60 for the "
    "first one of a command).",
)
@click.option(
    "--max-message",
    "message_bytes",
    type=click.IntRange(min=1),
    metavar="BYTES",
    help="Refuse an answer that is larger than this (default: 16777216).",
)
@click.option(
    "--trace", metavar="FILE", help="Write all messages to FILE, as JSON lines (default: no trace)."
)
@click.option(
    "--format",
    type=click.Choice(("text", "json")),
    default="text",
    help="Print text, or the result as JSON (default: text).",
)
@click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="Show what the server prints while it starts, too (default: only if it fails to start).",
)
@click.option("--login", is_flag=True, help="Sign in to a protected server at a URL, in a browser.")
@click.option("--no-browser", is_flag=True, help="Sign in without opening a browser here.")
@click.option("--logout", is_flag=True, help="Forget the tokens of the server at a URL, and end.")
@click.option(
    "--allow-issuer-mismatch",
    "any_issuer",
    is_flag=True,
    help="Accept an authorization server whose metadata names another issuer, at your own risk.",
)
@click.option(
    "--allow-private-sign-in",
    "any_page",
    is_flag=True,
    help="Open a sign-in page in a private network, although the server is not in one.",
)
@click.option(
    "--auth-trace", is_flag=True, help="Show each step of authorization, with secrets masked."
)
@network_options
@click.argument("words", nargs=-1, required=True, metavar="URL|-- COMMAND... [TOOL [JSON]]")
def command(
    list_: bool,
    revisions: tuple[str, ...],
    exact: bool,
    era: str,
    headers: tuple[str, ...],
    timeout: float | None,
    message_bytes: int | None,
    trace: str | None,
    format: str,
    verbose: bool,
    login: bool,
    no_browser: bool,
    logout: bool,
    any_issuer: bool,
    any_page: bool,
    auth_trace: bool,
    network: Network,
    words: tuple[str, ...],
) -> int:
    """Call TOOL of a server with JSON arguments, or list the server's tools, prompts and resources.

    The server is started by a command, or reached at a URL with http:// or https://.

    The last words are the tool and its arguments, if those begin with `{`; with --list all words
    are the server's. Exit status 0: done; 1: the tool failed, or invalid items were left out of a
    list; 2: the server refused, gave no answer, or a list failed.
    """
    if words[0].startswith("-"):
        raise click.NoSuchOption(words[0], possibilities=get_close_matches(words[0], _options()))
    if logout:
        return _log_out(words)
    server, tool, arguments = (words, "", {}) if list_ else _parse(words)
    signing = SigningIn(login, not no_browser, auth_trace, any_issuer, any_page)
    options: dict[str, Any] = {
        "timeout": timeout,
        "message_bytes": message_bytes,
        "era": era,
    }
    if revisions:
        options["revisions"] = revisions if exact else _and_older(revisions)
    elif exact:
        raise click.UsageError("--exact goes with --revision.")
    errors = HeldErrors(shows=verbose)
    client = _client_of(server, headers, signing, network, errors)
    limit = None if login else timeout  # a person may take longer to sign in
    return asyncio.run(_ask(client, tool, arguments, options, trace, format, errors, limit))


def _options() -> list[str]:
    """The names of the verb's options, for suggestions."""
    names = [name for parameter in command.params for name in parameter.opts]
    return [name for name in names if name.startswith("-")]


def _and_older(revisions: Sequence[str]) -> Sequence[str]:
    """Every revision up to the newest given one; the client refuses unknown revisions."""
    from mcp_runtime.revisions import ALL

    known = [ALL.index(name) for name in revisions if name in ALL]
    return ALL[: max(known) + 1] if len(known) == len(revisions) else revisions


def _log_out(words: Sequence[str]) -> int:
    """Raise InputError for a command, which nobody signs in to, and a file without tokens."""
    if not words[0].startswith(_SCHEMES):
        raise InputError("one signs in to, and out of, a server that has a URL")
    try:
        asyncio.run(forget(words[0]))
    except ValueError as error:
        raise InputError(str(error)) from None
    return OK


def _client_of(
    server: Sequence[str],
    headers: Sequence[str],
    signing: SigningIn,
    network: Network,
    errors: HeldErrors,
) -> Callable[..., Client]:
    """Make the client of a command or URL. Raises InputError."""
    from mcp_runtime.client.client import Client

    if not server[0].startswith(_SCHEMES) and "://" not in server[0]:
        if signing.is_asked_for:
            raise InputError("one signs in to a server that has a URL, not to a command")
        if headers:
            raise InputError("a header is for a server that has a URL, not for a command")
        if network.is_asked_for:
            what = "--proxy, --cacert and --ignore-environment are"
            raise InputError(f"{what} for a server that has a URL, not for a command")
        return partial(Client.stdio, server, stderr=errors)
    if len(server) > 1:
        remedy = f"""Write the arguments as one JSON object: {server[1]} '{{"name": "value"}}'."""
        raise InputError("after a URL come a tool and its arguments in JSON", remedy=remedy)
    named, way = dict(map(_header, headers)), network.of_client(server[0])
    if any(name.lower() == "authorization" for name in named):
        return partial(Client.http, server[0], headers=named, **way)
    return partial(Client.http, server[0], headers=named, auth=authorization(signing), **way)


def _header(text: str) -> tuple[str, str]:
    """Raise InputError, without the value, which may be secret."""
    match = _HEADER.fullmatch(text)
    if match is None:
        remedy = "For instance: --header 'Authorization: Bearer …'."
        raise InputError("a header is a name, a colon and a value", remedy=remedy)
    return match["name"], match["value"]


def _parse(words: tuple[str, ...]) -> tuple[tuple[str, ...], str, dict[str, Any]]:
    """The server's command or URL, the tool, its arguments. Raises InputError."""
    arguments: dict[str, Any] = {}
    if words[-1].lstrip().startswith("{"):
        arguments = _object(words[-1])
        words = words[:-1]
    if len(words) < 2:
        remedy = "For instance: mcp-bindgen call -- python server.py add '{\"a\": 1}'"
        raise InputError("a call has a command or URL, and a tool", remedy=remedy)
    if "=" in words[-1]:
        remedy = f"""Write the arguments as one JSON object: {words[-2]} '{{"name": "value"}}'."""
        raise InputError(f"{words[-1]!r} is not the name of a tool", remedy=remedy)
    require_tool(words[:-1], words[-1])
    return words[:-1], words[-1], arguments


def _object(text: str) -> dict[str, Any]:
    try:
        arguments: dict[str, Any] = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"the arguments are not JSON: {error}") from None
    if arguments.__class__ is not dict:
        raise InputError("the arguments are not a JSON object")
    return arguments


async def _ask(
    make: Callable[..., Client],
    tool: str,
    arguments: dict[str, Any],
    options: dict[str, Any],
    trace: str | None,
    format: str,
    errors: HeldErrors,
    limit: float | None,
) -> int:
    """Raise InputError, also if all is not done in `limit` seconds."""
    from mcp_runtime.errors import SessionError
    from mcp_runtime.trace import TraceFile

    logging.getLogger("mcp_runtime.tolerances").propagate = False  # we name what was left out

    with ExitStack() as stack:
        if trace is not None:
            options["trace"] = TraceFile(stack.enter_context(open_trace(trace)))
        try:
            async with asyncio.timeout(limit), make(**options) as client:
                errors.show()
                if tool:
                    return _show(await client.call_tool(tool, arguments), format)
                return await _list(client, format)
        except TimeoutError as error:
            if limit is None:
                raise
            errors.show_end()
            raise _refusal(f"no answer within {limit:g} s") from error
        except (SessionError, ValueError) as error:
            errors.show_end()
            raise _refusal(str(error)) from error


def _refusal(text: str) -> InputError:
    """An error whose quoted lines are marked, so they are not mistaken for our own."""
    first, *others = text.splitlines() or [""]
    remedy = next((remedy for words, remedy in _REMEDIES if words in first), "")
    return InputError(first, rows=[f"| {line}" for line in others], remedy=remedy)


def _show(result: Any, format: str) -> int:
    from mcp_runtime.revisions import latest

    if format == "json":
        say(safe_text(latest.encode(result).decode()))
    else:
        for block in result.content:
            say(_block(block))
    return FINDINGS if result.is_error is True else OK


def _block(block: Any) -> str:
    """Text as it is, anything else by its kind."""
    text = getattr(block, "text", None)
    if isinstance(text, str):
        return safe_text(text)
    what = getattr(block, "mime_type", "") or getattr(block, "uri", "")
    return safe(f"[{block.type}{f' {what}' if isinstance(what, str) and what else ''}]")


# ---- what a server has


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of feature: its capability, and the client's method to list it."""

    name: str
    capability: str
    method: str


_KINDS: Final = (
    _Kind("tools", "tools", "list_tools"),
    _Kind("resources", "resources", "list_resources"),
    _Kind("templates", "resources", "list_resource_templates"),
    _Kind("prompts", "prompts", "list_prompts"),
)


@dataclass(slots=True)
class _Listing:
    """For each kind: the items of the server, and the error if they could not be listed in full.

    A kind with a failed list has no items, not even an empty list.
    """

    items: dict[str, list[Any]] = field(default_factory=dict[str, list[Any]])
    errors: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def status(self) -> int:
        """2 if a kind could not be listed, 1 if single items were left out, else 0."""
        if self.errors.keys() - self.items.keys():
            return COULD_NOT
        return FINDINGS if self.errors else OK


async def _list(client: Client, format: str) -> int:
    """Raise InputError if nothing could be listed."""
    listing = _Listing()
    for kind in _KINDS:
        if kind.capability in client.server_capabilities:
            await _list_kind(client, kind, listing)
    for name, error in listing.errors.items():
        what = "cannot all be listed" if name in listing.items else "cannot be listed"
        warn(f"mcp-bindgen: the {name} {what}: {in_one_line(error)}")
    if listing.errors and not listing.items:
        raise InputError("nothing could be listed")
    (_say_json if format == "json" else _say_text)(client, listing)
    return listing.status


async def _list_kind(client: Client, kind: _Kind, listing: _Listing) -> None:
    """List the items of one kind. An unknown method counts as an empty list."""
    from mcp_runtime.errors import LocalError, PeerError, RemoteError

    before, known = client.forgiven.get("item", 0), len(client.problems)
    try:
        items = await getattr(client, kind.method)()
        if left_out := client.forgiven.get("item", 0) - before:
            named = [str(problem) for problem in client.problems[known:][:_NAMED]]
            more = [f"and {left_out - len(named)} more"] if left_out > len(named) else []
            listing.errors[kind.name] = "; ".join([*named, *more])
        if items or not left_out:
            listing.items[kind.name] = items
    except RemoteError as error:
        if error.code == _METHOD_NOT_FOUND:
            listing.items[kind.name] = []
        else:
            listing.errors[kind.name] = str(error)
    except (PeerError, LocalError) as error:
        if not client.is_connected:
            raise
        listing.errors[kind.name] = str(error)


def _say_json(client: Client, listing: _Listing) -> None:
    from mcp_runtime.revisions import latest

    written = {
        kind.name: [latest.to_wire(item) for item in listing.items.get(kind.name, ())]
        for kind in _KINDS
        if kind.name in listing.items or kind.name not in listing.errors
    }
    errors = {"errors": listing.errors} if listing.errors else {}
    document = {"revision": client.revision, **written, **errors}
    say(safe_text(json.dumps(document, ensure_ascii=False)))


def _say_text(client: Client, listing: _Listing) -> None:
    info: Mapping[str, Any] = client.server_info or {}
    name = f"{info.get('name', '?')} {info.get('version', '')}".rstrip()
    say(safe(f"{name}, MCP {client.revision}"))
    for name, items in listing.items.items():
        for item in items:
            say(safe(f"  {name[:-1]:<9} {_name(item)}{_describe(item)}"))


def _name(item: Any) -> str:
    return str(getattr(item, "uri_template", None) or getattr(item, "uri", None) or item.name)


def _describe(item: Any) -> str:
    text = item.description if isinstance(item.description, str) else ""
    first = next(iter(text.strip().splitlines()), "")
    return f": {first}" if first else ""
