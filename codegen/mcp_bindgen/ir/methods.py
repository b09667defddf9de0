"""The methods of a schema: pairs found by rule, with the capability that each needs.

The first part of a method's name (after `notifications/`) names a member of the capabilities of the
side that answers, or that notifies; the second, where there is one, a member of that. schema.ts
says no more, so the rest are `[[method]]` rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mcp_bindgen.errors import DecisionError
from mcp_bindgen.ir.decisions import Decisions, Row, paste
from mcp_bindgen.ir.model import Method, Ref, Schema, Type, Uni
from mcp_bindgen.ir.pairs import Pair, pairs
from mcp_bindgen.ir.resolve import Resolver
from mcp_bindgen.ir.walk import struct_of
from mcp_bindgen.source import syntax

__all__ = ["methods"]

_SIDES = {
    ("request", "client-to-server"): ("ServerCapabilities",),
    ("request", "server-to-client"): ("ClientCapabilities",),
    ("request", "input-request"): ("ClientCapabilities",),
    ("notification", "client-to-server"): ("ClientCapabilities",),
    ("notification", "server-to-client"): ("ServerCapabilities",),
}
_UNSAID = {"capability": ""}
_BOTH = ("ServerCapabilities", "ClientCapabilities")


def methods(
    schema: Schema,
    resolver: Resolver,
    decisions: Decisions | None,
    python: Mapping[str, str],
) -> Iterator[Method]:
    """Every method, in source order. Raises DecisionError for a row missing or without news.

    `python` has the name in `schema` of each declaration.
    """
    for pair in pairs(resolver):
        row = decisions.get("method", schema.revision, pair.method) if decisions else None
        rule = _capability(schema, pair)
        if (
            decisions is not None
            and rule is None
            and (row is None or "capability" not in row.values)
        ):
            place = resolver.source.place(schema.structs[python[pair.type]].at)
            question = f"{place}: which capability does `{pair.method}` need?"
            decisions.miss(question, paste("method", schema.revision, pair.method, _UNSAID))
        _require_news(row, rule, schema.revision)
        struct = schema.structs[python[pair.type]]
        params = struct.field("params")
        yield Method(
            name=pair.method,
            type=struct.name,
            kind=pair.kind,
            direction=pair.direction,
            params=params.type if params else None,
            params_optional=pair.params_optional,
            result=_row_result(schema, row) or _result(schema, pair, python),
            capability=str(row.values["capability"])
            if row and "capability" in row.values
            else rule or "",
            doc=struct.doc,
            deprecated=struct.deprecated,
        )


def _require_news(row: Row | None, rule: str | None, revision: str) -> None:
    if row and "result" not in row.values and row.values.get("capability") == rule:
        raise DecisionError(
            f"[[method]] `{row.path}` says what the rule finds for {revision}",
            remedy="Take it out.",
        )


def _result(schema: Schema, pair: Pair, python: Mapping[str, str]) -> Type | None:
    """The names that the pair's result lists, where `schema` has them as types."""
    found = pair.result
    listed = found.of if isinstance(found, syntax.Union) else (found,)
    names = [python[arm.name] for arm in listed if isinstance(arm, syntax.Ref)]
    arms = tuple(Ref(name) for name in names if name in schema.types)
    return Uni(arms) if len(arms) > 1 else next(iter(arms), None)


def _row_result(schema: Schema, row: Row | None) -> Type | None:
    if row is None or "result" not in row.values:
        return None
    unknown = [name for name in row.values["result"] if name not in schema.types]
    if unknown:
        raise DecisionError(
            f"[[method]] `{row.path}`: no type {', '.join(unknown)} in {schema.revision}"
        )
    arms = tuple(Ref(name) for name in row.values["result"])
    return arms[0] if len(arms) == 1 else Uni(arms)


def _capability(schema: Schema, pair: Pair) -> str | None:
    """The capability's path by rule; None where the rule finds none."""
    first, _, rest = pair.method.removeprefix("notifications/").partition("/")
    for side in _SIDES.get((pair.kind, pair.direction), _BOTH):
        struct = schema.structs.get(side)
        member = struct.field(first) if struct else None
        if member is not None:
            sub = _camel(rest.partition("/")[0])
            nested = struct_of(schema, member.type)
            return f"{first}.{sub}" if nested and nested.field(sub) else first
    return None


def _camel(text: str) -> str:
    head, *tail = text.split("_")
    return head + "".join(part.capitalize() for part in tail)
