"""`mcp-bindgen call`: calls a tool, reads a resource, gets a prompt, or lists what a server has."""

from __future__ import annotations

import asyncio
import logging
import shlex
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import AsyncExitStack, ExitStack, contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from importlib.util import find_spec
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import click

from mcp_bindgen.cli import OK
from mcp_bindgen.cli.call.activity import Activity
from mcp_bindgen.cli.call.arguments import only_texts, typed
from mcp_bindgen.cli.call.listing import list_all
from mcp_bindgen.cli.call.questions import Questions, can_ask
from mcp_bindgen.cli.call.results import Printer
from mcp_bindgen.cli.call.sign_in import SigningIn, authorization, forget, open_page
from mcp_bindgen.cli.call.words import Words, parse
from mcp_bindgen.cli.held_errors import HeldErrors
from mcp_bindgen.cli.options import (
    FOLDER,
    Network,
    Seconds,
    network_options,
    open_trace,
    parse_header,
)
from mcp_bindgen.cli.programs import is_url
from mcp_bindgen.errors import InputError

if TYPE_CHECKING:
    from mcp_runtime.client.client import Client

__all__ = ["command"]

_SCHEMES: Final = ("http://", "https://")
_LONGEST: Final = 60
_LEVELS: Final = (
    *("debug", "info", "notice", "warning"),
    *("error", "critical", "alert", "emergency"),
)
_REMEDIES: Final = (
    ("no answer within", "--timeout SECONDS waits longer."),
    ("Limits.answer_bytes", "--max-message BYTES accepts a larger answer."),
    ("does not declare `elicitation`", "Its questions are asked at a terminal: run it in one."),
    ("HTTP 404", "Check the path of the URL; many servers are at /mcp."),
    ("Unknown tool:", "--list, written before the server, shows its tools."),
    ("allow_issuer_mismatch=True", "--allow-issuer-mismatch accepts it, at your own risk."),
    ("allow_private_sign_in=True", "--allow-private-sign-in opens it."),
)
"""Remedies for errors, by words in their text."""


@click.command("call", context_settings={"ignore_unknown_options": True})
@click.option(
    "--list",
    "list_",
    is_flag=True,
    help="List the server's tools, prompts and resources; call no tool.",
)
@click.option(
    "--read",
    "uri",
    metavar="URI",
    help="Read this resource; call no tool (default: a tool is called).",
)
@click.option(
    "--prompt", metavar="NAME", help="Get this prompt; call no tool (default: a tool is called)."
)
@click.option(
    "--complete",
    "completed",
    metavar="NAME",
    help=(
        "Suggest values for the last NAME=VALUE of this prompt or resource template (default: "
        "a tool is called)."
    ),
)
@click.option(
    "--json",
    "document",
    metavar="OBJECT",
    help="Pass OBJECT as the arguments (default: those behind TOOL).",
)
@click.option(
    "--save",
    "folder",
    type=FOLDER,
    metavar="FOLDER",
    help="Save images, audio and binary data in FOLDER (default: name them only).",
)
@click.option(
    "--log-level",
    "log_level",
    type=click.Choice(_LEVELS),
    help="Ask for log messages of this level or above (default: the server's choice).",
)
@click.option(
    "--revision",
    "revisions",
    metavar="REVISION",
    multiple=True,
    help="Offer this revision and all older ones; several only with --exact (default: all).",
)
@click.option("--exact", is_flag=True, help="Offer only what --revision names, nothing older.")
@click.option(
    "--era",
    type=click.Choice(("auto", "handshake")),
    default="auto",
    help=(
        "Probe the server's era first (auto), or start with initialize (handshake) (default: auto)."
    ),
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
    type=Seconds(min=0, min_open=True),
    metavar="SECONDS",
    help=(
        "Limit the whole call to this many seconds (default: 30 for each answer, 60 for the "
        "first one of a command)."
    ),
)
@click.option(
    "--max-message",
    "message_bytes",
    type=click.IntRange(min=1),
    metavar="BYTES",
    help="Refuse an answer that is larger than this (default: 16777216).",
)
@click.option(
    "--trace",
    metavar="FILE",
    help="Write all messages to FILE, one JSON object on a line (default: no trace).",
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
@click.option(
    "--no-browser",
    is_flag=True,
    help="With --login, print the URL to open instead of opening a browser.",
)
@click.option(
    "--logout", is_flag=True, help="Delete the tokens kept for the server at a URL, and exit."
)
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
@click.argument(
    "words", nargs=-1, required=True, metavar="FILE|URL|-- COMMAND... [TOOL [NAME=VALUE... | JSON]]"
)
def command(
    list_: bool,
    uri: str | None,
    prompt: str | None,
    completed: str | None,
    document: str | None,
    folder: Path | None,
    log_level: str | None,
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
    """Call TOOL of a server with arguments, or list the server's tools, prompts and resources.

    The server is a file such as server.py, a command behind `--`, or a URL with http:// or
    https://.

    Arguments are written as NAME=VALUE, each with the type that the tool asks for, or as one JSON
    object; with --list, --read, --prompt and --complete no tool is named. At a terminal, questions
    of the server are asked there. Exit status 0: done; 1: the tool failed, or invalid items were
    left out of a list; 2: the server refused, gave no answer, or a list failed.
    """
    if words[0].startswith("-"):
        raise click.NoSuchOption(words[0], possibilities=get_close_matches(words[0], _options()))
    if logout:
        return _log_out(words)
    printer = Printer(format == "json", folder)
    asked = {"--list": list_, "--read": uri, "--prompt": prompt, "--complete": completed}
    chosen = [option for option, given in asked.items() if given]
    if len(chosen) > 1:
        raise click.UsageError(f"{' and '.join(chosen)} cannot go together.")
    way = _WAYS[chosen[0] if chosen else ""]
    split = parse(words, tool=not chosen, arguments=way.takes_arguments, document=document)
    name = str(asked[chosen[0]]) if chosen else split.tool
    request = partial(way.ask, name=name, words=split, printer=printer)
    signing = SigningIn(login, not no_browser, auth_trace, any_issuer, any_page)
    options: dict[str, Any] = {
        "timeout": timeout,
        "message_bytes": message_bytes,
        "era": era,
        "log_level": log_level,
    }
    if revisions:
        options["revisions"] = revisions if exact else _and_older(revisions)
    elif exact:
        raise click.UsageError("--exact goes with --revision.")
    errors = HeldErrors(shows=verbose)
    client = _client_of(split.server, headers, signing, network, errors)
    limit = None if login else timeout  # a person may take longer to sign in
    return asyncio.run(_ask(client, split.server, request, options, trace, errors, limit))


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
        remedy = f"Write arguments as name=value: {server[1]} city=Bergen."
        raise InputError("after a URL come a tool and its arguments", remedy=remedy)
    named, way = dict(map(parse_header, headers)), network.of_client(server[0])
    if any(name.lower() == "authorization" for name in named):
        return partial(Client.http, server[0], headers=named, **way)
    return partial(Client.http, server[0], headers=named, auth=authorization(signing), **way)


# ---- what is asked of the server


@dataclass(slots=True)
class _Here:
    """The client, and what is shown while it waits."""

    client: Client
    activity: Activity


_Request: TypeAlias = Callable[[_Here], Awaitable[int]]


async def _call(here: _Here, *, name: str, words: Words, printer: Printer) -> int:
    arguments = dict(words.document or {})
    if words.given:
        arguments = await typed(here.client, name, words.given)
    with here.activity.waiting(name):
        result = await here.client.call_tool(name, arguments, on_progress=here.activity.progress)
    return printer.tool(result)


async def _read(here: _Here, *, name: str, words: Words, printer: Printer) -> int:
    with here.activity.waiting(name):
        contents = await here.client.read_resource(name)
    return printer.resource(contents)


async def _prompt(here: _Here, *, name: str, words: Words, printer: Printer) -> int:
    arguments = only_texts(words.given, words.document)
    with here.activity.waiting(name):
        result = await here.client.get_prompt(name, arguments or None)
    return printer.prompt(result)


async def _complete(here: _Here, *, name: str, words: Words, printer: Printer) -> int:
    """The last argument is completed; those before it are chosen already."""
    from mcp_runtime.revisions import latest

    given = only_texts(words.given, words.document)
    if not given:
        remedy = "For instance: mcp-bindgen call --complete greet server.py name=Al"
        raise InputError("--complete needs the beginning of an argument", remedy=remedy)
    argument, value = given.popitem()
    is_template = "://" in name or "{" in name
    ref: Any = (
        latest.ResourceTemplateReference(uri=name)
        if is_template
        else latest.PromptReference(name=name)
    )
    with here.activity.waiting(name):
        completion = await here.client.complete(ref, argument, value, chosen=given)
    return printer.completion(completion)


async def _list(here: _Here, *, name: str, words: Words, printer: Printer) -> int:
    return await list_all(here.client, as_json=printer.as_json)


@dataclass(frozen=True, slots=True)
class _Way:
    """A way to ask the server; `takes_arguments` if NAME=VALUE may stand behind it."""

    ask: Callable[..., Awaitable[int]]
    takes_arguments: bool


_WAYS: Final = {
    "": _Way(_call, True),
    "--list": _Way(_list, False),
    "--read": _Way(_read, False),
    "--prompt": _Way(_prompt, True),
    "--complete": _Way(_complete, True),
}
"""The ways by their option; the empty one calls a tool."""


# ---- the connection


async def _ask(
    make: Callable[..., Client],
    server: Sequence[str],
    request: _Request,
    options: dict[str, Any],
    trace: str | None,
    errors: HeldErrors,
    limit: float | None,
) -> int:
    """Raise InputError, also if all is not done in `limit` seconds, without those in which a person
    is asked.
    """
    from mcp_runtime.errors import SessionError
    from mcp_runtime.trace import TraceFile

    logging.getLogger("mcp_runtime.tolerances").propagate = False  # we name what was left out
    activity = Activity()
    # Without the library results are not checked, and a plain call prints no line about it.
    options["validate"] = find_spec("jsonschema_rs") is not None

    with ExitStack() as stack:
        if trace is not None:
            options["trace"] = TraceFile(stack.enter_context(open_trace(trace)))
        try:
            async with asyncio.timeout(limit) as deadline:
                questions: Questions | None = None
                if can_ask():
                    questions = Questions(browse=open_page)
                    options |= {"on_elicit": questions, "elicit_modes": ("form", "url")}
                client = make(**options, on_log=activity.log)
                if questions is not None:
                    questions.paused = partial(_paused, activity, deadline, limit, client)
                async with AsyncExitStack() as opened:
                    with activity.waiting(_start(server)):
                        await opened.enter_async_context(client)
                    errors.show()
                    return await request(_Here(client, activity))
        except TimeoutError as error:
            if limit is None:
                raise
            errors.show_end()
            raise _refusal(f"no answer within {limit:g} s") from error
        except (SessionError, ValueError) as error:
            errors.show_end()
            raise _refusal(str(error)) from error


def _start(server: Sequence[str]) -> str:
    program, *words = server
    command = program if is_url(program) else shlex.join([PurePath(program).name, *words])
    return f"waiting for {command[:_LONGEST]}"


@contextmanager
def _paused(
    activity: Activity,
    deadline: asyncio.Timeout,
    limit: float | None,
    client: Client,
) -> Generator[None]:
    """Hide the activity and stop all clocks inside the block, in which a person is asked."""
    deadline.reschedule(None)
    with activity.hidden(), client.connection.deadlines_paused():
        yield
    if limit is not None:
        deadline.reschedule(asyncio.get_running_loop().time() + limit)


def _refusal(text: str) -> InputError:
    """An error whose quoted lines are marked, so they are not mistaken for our own."""
    first, *others = text.splitlines() or [""]
    remedy = next((remedy for words, remedy in _REMEDIES if words in first), "")
    return InputError(first, rows=[f"| {line}" for line in others], remedy=remedy)
