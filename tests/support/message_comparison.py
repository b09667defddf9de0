"""Compares a message with what came of it: at a place, but for some places, as a context has it."""

from __future__ import annotations

import json
import re
from typing import Final

from mcp_wire.convert import Context
from tests.support.instances import JSON
from tests.support.judges import canonical, schema_of
from tests.support.law_messages import MISSING, UNKNOWN, Message, Path

__all__ = ["at", "differ", "masked", "plain", "settled", "steps"]


def plain(message: JSON) -> JSON:
    """A message without `_meta` and `params` that say nothing: they are as good as absent."""
    value = message
    for wire in ("params", "result"):
        if isinstance(value.get(wire), dict) and value[wire].get("_meta") == {}:
            value = {**value, wire: {k: v for k, v in value[wire].items() if k != "_meta"}}
    if value.get("_meta") == {}:
        value = {k: v for k, v in value.items() if k != "_meta"}
    if "method" in value and value.get("params") == {}:
        value = {k: v for k, v in value.items() if k != "params"}
    return value


def settled(message: Message, to: str, context: Context) -> JSON:
    """A message as the context has it: what one request leaves out, the context says for all.

    That is so where it becomes a message of a revision in which a handshake agreed it.
    """
    wire = {"params": "params", "result": "result"}.get(message.position)
    if message.method == UNKNOWN and message.position == "params":
        return message.value
    leaves = (schema_of(message.revision).era, schema_of(to).era) == ("per-request", "handshake")
    if not leaves or wire is None or message.bare:
        return message.value
    inside = message.value.get(wire, {})
    members = _PARAMS if wire == "params" and "id" in message.value else _RESULT
    said = {} if wire == "params" and "id" not in message.value else members
    meta = {_PREFIX + name: getattr(context, member) for name, member in said.items()}
    there = {key: value for key, value in meta.items() if value is not None}
    full = {**inside, "_meta": {**there, **inside.get("_meta", {})}}
    return {**message.value, wire: full} if inside or wire == "result" else message.value


_PREFIX: Final = "io.modelcontextprotocol/"
_PARAMS: Final = {"clientInfo": "client_info", "logLevel": "log_level"}
_RESULT: Final = {"serverInfo": "server_info"}


def steps(path: str) -> Path:
    """The members and indices of `$.content[0]["a b"]`."""
    path_steps: list[str | int] = []
    for name, index in re.findall(r'\.([A-Za-z_][A-Za-z0-9_]*)|\[(\d+|"(?:[^"\\]|\\.)*")\]', path):
        path_steps.append(name or json.loads(index))
    return tuple(path_steps)


def at(value: JSON, path: Path) -> JSON:
    """What is at a path; MISSING where nothing is."""
    for step in path:
        named = isinstance(value, dict) and step in value
        numbered = isinstance(value, list) and isinstance(step, int) and step < len(value)
        if not named and not numbered:
            return MISSING
        value = value[step]
    return value


def masked(value: JSON, paths: set[Path], here: Path = ()) -> JSON:
    """`value` with what is at each of the paths cut out."""
    if isinstance(value, dict):
        return {
            key: masked(item, paths, (*here, key))
            for key, item in value.items()
            if (*here, key) not in paths
        }
    if isinstance(value, list):
        return [
            masked(item, paths, (*here, i))
            for i, item in enumerate(value)
            if (*here, i) not in paths
        ]
    return value


def differ(a: JSON, b: JSON) -> bool:
    if a is MISSING or b is MISSING:
        return a is not b
    return canonical(a) != canonical(b)
