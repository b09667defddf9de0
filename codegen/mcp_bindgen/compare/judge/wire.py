"""Puts a value into the JSON-RPC message around it, as its writer sends it."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final

from mcp_bindgen.compare.judge.samples import Samples, UnmakeableError
from mcp_bindgen.compare.messages.directions import Route
from mcp_bindgen.ir.envelopes import ENVELOPE_MEMBERS, envelopes
from mcp_bindgen.ir.model import Ref
from mcp_bindgen.ir.values.accepts import Path
from mcp_bindgen.json_values import object_of

__all__ = ["on_the_wire"]

_HEAD: Final = {"jsonrpc": "2.0", "id": 0}
"""The envelope where a schema declares none."""


def on_the_wire(writer: Samples, route: Route, typed: Any, place: Path) -> tuple[Any, Path]:
    """The message around `typed`, a value of the route's type, and the path of `place` in it.

    Members outside `place` may be filled in.
    """
    members = object_of(typed)
    match route.part:
        case "result":
            return {**_head(writer, "result"), "result": typed}, ("result",)
        case "message" if members is not None:
            return {**_head(writer, route.kind), **members}, ()
        case "envelope" if members is not None and route.method:
            return _fill(writer, route, members, place), ()
        case _:
            return typed, ()


def _head(writer: Samples, kind: str) -> dict[str, Any]:
    """The members required by the writer's envelope beside the typed part."""
    known = envelopes(writer.schema)
    envelope = known.get(kind)
    if not known:
        return {k: v for k, v in _HEAD.items() if kind != "notification" or k != "id"}
    if envelope is None:
        return {}
    required = (f for f in envelope.fields if f.required and f.wire in ENVELOPE_MEMBERS)
    return {field.wire: writer.smallest(field.type) for field in required}


def _fill(writer: Samples, route: Route, envelope: dict[str, Any], place: Path) -> dict[str, Any]:
    """The plainest message of the method, in an envelope."""
    inside = {k: v for k, v in _inside(writer, route).items() if k not in ENVELOPE_MEMBERS}
    if "method" in envelope:
        inside["method"] = route.method
    return {**envelope, **{name: v for name, v in inside.items() if name not in place[:1]}}


def _inside(writer: Samples, route: Route) -> dict[str, Any]:
    method = next(m for m in writer.schema.methods if m.name == route.method)
    with suppress(UnmakeableError):
        if route.kind == "result" and method.result is not None:
            return {"result": writer.smallest(method.result)}
        return dict(writer.smallest(Ref(method.type)))
    return {}
