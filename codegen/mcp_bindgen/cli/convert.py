"""`mcp-bindgen convert`: converts a message of one revision to another."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any, Final

import click

from mcp_bindgen.cli import FINDINGS, OK
from mcp_bindgen.cli.options import open_input
from mcp_bindgen.cli.show import safe, say, warn
from mcp_bindgen.errors import InputError
from mcp_bindgen.limits import MAX_MESSAGE_BYTES
from mcp_bindgen.source.text import close_to

__all__ = ["command"]

_CONTEXT: Final = {
    "clientInfo": "client_info",
    "clientCapabilities": "client_capabilities",
    "serverInfo": "server_info",
    "logLevel": "log_level",
    "resultTypes": "result_types",
}
"""The members of a context file, and their names in Python."""

_ALMOST: Final = 0.85
"""Similarity to a known method above which an unknown method is taken for a typing error."""


@click.command("convert")
@click.option(
    "--from", "from_", required=True, metavar="REVISION", help="Read a message of this revision."
)
@click.option(
    "--to", required=True, metavar="REVISION", help="Write it as a message of this revision."
)
@click.option(
    "--method",
    metavar="METHOD",
    help="Read a response as the answer to this METHOD, which a response needs (default: none).",
)
@click.option(
    "--context",
    metavar="FILE",
    help="Read clientInfo, serverInfo and the like from this JSON FILE (default: nothing).",
)
@click.option(
    "--format",
    type=click.Choice(("text", "json")),
    default="text",
    help="Report losses in this form (default: text).",
)
@click.argument("file", metavar="FILE|-")
def command(
    from_: str, to: str, method: str | None, context: str | None, format: str, file: str
) -> int:
    """Convert a JSON-RPC message, or a result or an input request without its envelope.

    The message goes to stdout and its losses to stderr; with `--format json` both go to stdout. A
    context has clientInfo, clientCapabilities, serverInfo and logLevel, as far as they are known,
    and resultTypes, the values of resultType added by extensions. Exit status 0: nothing was lost;
    1: something was; 2: the message is invalid, or refused.
    """
    message = _read(file)
    converted = _convert(message, from_, to, method, _context(context))
    if format == "json":
        losses = [loss._asdict() for loss in converted.losses]
        say(_write({"message": converted.message, "losses": losses}))
    else:
        say(_write(converted.message))
        for loss in converted.losses:
            warn(safe(_loss_line(loss)))
    return FINDINGS if converted.losses else OK


def _convert(message: Any, from_: str, to: str, method: str | None, context: Any) -> Any:
    """Convert the message with `mcp_wire.convert`, turning its errors into ours."""
    from mcp_wire.convert import DecodeError, NeedsContext, StepError, convert

    known = _methods(from_, to)
    _require_method(method, known, from_, to)
    try:
        converted = convert(message, from_, to, method=method, context=context)
    except DecodeError as error:
        remedy = close_to(_method(message), known, "", most=1) if error.path == "$.method" else ""
        raise InputError(f"no valid message of {from_}: {error}", remedy=remedy) from None
    except NeedsContext as error:
        raise InputError(
            str(error),
            remedy=f"Give --context FILE with what is known of {', '.join(_CONTEXT)};"
            ' for instance {"clientCapabilities": {}}.',
        ) from None
    except StepError as error:
        raise InputError(str(error)) from None
    except TypeError as error:
        raise InputError(str(error), remedy="Give --method METHOD.") from None
    _warn_of_method(_method(message), known, from_, to)
    return converted


# ---- methods


def _methods(from_: str, to: str) -> list[str]:
    """The methods of both revisions. Raises InputError for an unknown revision."""
    from mcp_wire.steps import UnknownRevision, methods_of

    try:
        return [name for revision in (from_, to) for name in methods_of(revision)]
    except UnknownRevision as error:
        raise InputError(str(error)) from None


def _require_method(method: str | None, known: Sequence[str], from_: str, to: str) -> None:
    """Refuse a method missing in both revisions, since its result would pass unchecked."""
    if method is not None and method not in known:
        raise InputError(
            f"neither {from_} nor {to} has a method {method!r}",
            remedy=close_to(method, known, "Give the method of its request.", most=1),
        )


def _warn_of_method(method: str, known: Sequence[str], from_: str, to: str) -> None:
    """Warn if a message passed unchecked although its method resembles a known one."""
    suggestion = close_to(method, known, "", most=1, cutoff=_ALMOST)
    if suggestion and method not in known:
        what = f"neither {from_} nor {to} has a method {method!r}, so the message passes as it is"
        warn(f"mcp-bindgen: {safe(what)}\n{suggestion}")


def _method(message: Any) -> str:
    """The method named in a message, or ""."""
    method = message.get("method", "")
    return method if method.__class__ is str else ""


def _context(file: str | None) -> Any:
    """Read the Context from a file; None without a file. Raises InputError for an invalid one."""
    from mcp_wire.convert import Context

    if file is None:
        return None
    values = _read(file)
    if values.__class__ is not dict:
        raise InputError(f"{file}: a context is an object", remedy=f"Of {', '.join(_CONTEXT)}.")
    unknown = [name for name in values if name not in _CONTEXT]
    if unknown:
        raise InputError(
            f"{file}: a context has no {', '.join(map(repr, unknown))}",
            remedy=f"It has {', '.join(_CONTEXT)}.",
        )
    types = values.pop("resultTypes", [])
    if types.__class__ is not list or any(name.__class__ is not str for name in types):
        raise InputError(
            f"{file}: resultTypes is not a list of strings", remedy='Such as ["task"].'
        )
    named = {_CONTEXT[name]: value for name, value in values.items()}
    return Context(**named, result_types=frozenset(types))


def _read(file: str) -> Any:
    """Read the JSON of a file or of stdin. Raises InputError."""
    from mcp_wire._wire.faults import DecodeError
    from mcp_wire._wire.text import parse

    with open_input(file) as stream:
        data = stream.read(MAX_MESSAGE_BYTES + 1)
    if len(data) > MAX_MESSAGE_BYTES:
        raise InputError(f"{file}: is larger than {MAX_MESSAGE_BYTES} bytes")
    try:
        return parse(data)
    except DecodeError as error:
        raise InputError(f"{'stdin' if file == '-' else file}: {error}") from None


def _write(value: Any) -> str:
    """One line of JSON; on a terminal without control characters."""
    return json.dumps(value, ensure_ascii=sys.stdout.isatty())


def _loss_line(loss: Any) -> str:
    return f"{loss.path}: {loss.what}. {loss.why}"
