"""The methods of a schema: pairs found by rule, each with its required capability.

The first part of a method's name (after `notifications/`) names a member of the capabilities of the
side which answers or notifies; the second part, if any, names a member of that. schema.ts says no
more, so the rest are `[[method]]` rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from mcp_bindgen.errors import DecisionError, SchemaMeaningError
from mcp_bindgen.ir.decisions.decisions import Decisions, Row
from mcp_bindgen.ir.lower.pairs import Pair
from mcp_bindgen.ir.model import Declaration, Method, Ref, Schema, Struct, Type, Uni
from mcp_bindgen.ir.unions import arms
from mcp_bindgen.ir.walk import references, struct_of
from mcp_bindgen.source import Source, syntax

__all__ = ["apply_method_rows", "methods"]

_SIDES = {
    ("request", "client-to-server"): ("ServerCapabilities",),
    ("request", "server-to-client"): ("ClientCapabilities",),
    ("request", "input-request"): ("ClientCapabilities",),
    ("notification", "client-to-server"): ("ClientCapabilities",),
    ("notification", "server-to-client"): ("ServerCapabilities",),
}
_FRAMES = ("Result", "EmptyResult", "PaginatedResult")
_QUESTIONS = {
    "capability": "which capability does it need?",
    "result": "which types answer it, as a list of names?",
}
_UNANSWERED: Mapping[str, Any] = {"capability": "", "result": []}
_BOTH = ("ServerCapabilities", "ClientCapabilities")


def methods(
    schema: Schema,
    listed: Sequence[Pair],
    source: Source,
    decisions: Decisions | None,
    python: Mapping[str, str],
) -> Iterator[Method]:
    """The methods of the pairs. Raises DecisionError for a missing or a needless row.

    `python` has the name in `schema` of each declaration.
    """
    loose = _loose(schema, listed, python, source)
    for pair in listed:
        rule = _capability(schema, pair)
        struct = schema.structs[python[pair.type]]
        result = _result(schema, pair, python, source)
        row = None
        if decisions is not None:
            place = source.place(struct.at)
            row = _row(schema, decisions, pair, rule, result, place, loose)
        params = struct.field("params") or (pair.params and struct.field("payload"))
        yield Method(
            name=pair.method,
            type=struct.name,
            kind=pair.kind,
            direction=pair.direction,
            params=params.type if params else None,
            params_optional=pair.params_optional or bool(params and not params.required),
            result=_row_result(schema, row) or result,
            capability=str(row.values["capability"])
            if row and "capability" in row.values
            else rule or "",
            doc=struct.doc,
            deprecated=struct.deprecated,
        )


def apply_method_rows(
    revision: str, schema: Schema, decisions: Decisions, *, older: bool
) -> Schema:
    """`schema`, lowered by facts alone, with the rows of `revision` applied to its methods.

    With `older`, a row of the previous revision replaces a missing one.
    """
    listed: list[Method] = []
    for method in schema.methods:
        row = decisions.get("method", revision, method.name)
        if row is None and older:
            row = decisions.before("method", revision, method.name)
        if row is not None and _has_names(schema, row):
            result = _row_result(schema, row) or method.result
            capability = str(row.values.get("capability", method.capability))
            method = replace(method, result=result, capability=capability)
        listed.append(method)
    return replace(schema, methods=tuple(listed))


def _row(
    schema: Schema,
    decisions: Decisions,
    pair: Pair,
    rule: str | None,
    result: Type | None,
    place: str,
    loose: str,
) -> Row | None:
    """The row of a method, which is needed where no rule answers, or the revision before had it."""
    row = decisions.get("method", schema.revision, pair.method)
    older = decisions.before("method", schema.revision, pair.method)
    if before := decisions.renamed_from(schema.revision, pair.method):
        older = decisions.before("method", schema.revision, before)
        if older is not None and older.values.get("capability") == rule:
            older = None
    needed = unsaid = _unsaid(pair, rule)
    if older is not None and _has_names(schema, older):
        needed = [key for key in _QUESTIONS if key in unsaid or key in older.values]
    if row is None and not needed:
        return None
    question = f"{place}: `{pair.method}`: {' '.join(_QUESTIONS[key] for key in needed)}"
    if "result" in needed and loose:
        question += f" ({loose} answer nothing yet)"
    if row is not None and not set(unsaid) <= row.values.keys():
        lines = [f"{k} = {json.dumps(_UNANSWERED[k])}" for k in unsaid if k not in row.values]
        decisions.miss(question, "\n".join([f"# in the row at line {row.line}", *lines]))
        return row
    subject = (pair.kind, pair.direction, rule, result)
    answers = older.values if older is not None else _UNANSWERED
    values = {key: answers.get(key, _UNANSWERED[key]) for key in needed}
    row = decisions.ask("method", schema.revision, pair.method, subject, question, values)
    _require_news(row, rule, schema.revision)
    _require_capability(schema, row)
    return row


def _loose(
    schema: Schema, listed: Sequence[Pair], python: Mapping[str, str], source: Source
) -> str:
    """The result types without a method, separated by commas."""
    answers = [(pair, _result(schema, pair, python, source)) for pair in listed if not pair.assumed]
    paired = {name for _, type in answers if type is not None for name in references(type)}
    names = [name for name in schema.structs if name.endswith("Result") and name not in paired]
    return ", ".join(name for name in names if name not in _FRAMES)


def _unsaid(pair: Pair, rule: str | None) -> list[str]:
    """The properties of a method which neither a declaration nor a rule gives."""
    return ["capability"] * (rule is None) + ["result"] * pair.assumed


def _has_names(schema: Schema, row: Row) -> bool:
    """Return whether this revision has every name in a row of the previous one."""
    return all(name in schema.types for name in row.values.get("result", ()))


def _require_news(row: Row | None, rule: str | None, revision: str) -> None:
    if row and "result" not in row.values and row.values.get("capability") == rule:
        raise DecisionError(
            f"[[method]] `{row.path}` says what the rule finds for {revision}",
            remedy="Take it out.",
        )


def _require_capability(schema: Schema, row: Row | None) -> None:
    """Raise DecisionError for a capability neither side can declare."""
    path = str(row.values.get("capability", "")) if row else ""
    sides = [struct for side in _BOTH if (struct := schema.structs.get(side))]
    if row and path and sides and not any(_declares(schema, side, path) for side in sides):
        known = sorted({field.wire for side in sides for field in side.fields})
        raise DecisionError(
            f"[[method]] `{row.path}`: no capability `{path}` in {schema.revision}",
            remedy=f"Capabilities: {', '.join(known)}; or one inside of these, after a dot.",
        )


def _declares(schema: Schema, struct: Struct | None, path: str) -> bool:
    """Return whether the path leads to a member of `struct`, or through an open member."""
    name, _, rest = path.partition(".")
    member = struct.field(name) if struct else None
    if member is None or not rest:
        return member is not None
    inner = struct_of(schema, member.type)
    return inner is None or inner.open or _declares(schema, inner, rest)


def _result(schema: Schema, pair: Pair, python: Mapping[str, str], source: Source) -> Type | None:
    """The result of a request: the names in `result` of its response, or the pair's own.

    Raises SchemaMeaningError if a response's result has no name.
    """
    if pair.response:
        response = schema.types[python[pair.response]]
        results = [leaf for type in _results(schema, response) for leaf in _alternatives(type)]
        if not all(isinstance(leaf, Ref) for leaf in results):
            raise source.error(
                SchemaMeaningError,
                response.at,
                f"`result` of `{pair.response}` is no object with members",
                "Declare what answers the request as an interface.",
            )
        return _join(results)
    result = pair.result
    listed = result.of if isinstance(result, syntax.Union) else (result,)
    names = [python[arm.name] for arm in listed if isinstance(arm, syntax.Ref)]
    return _join([Ref(name) for name in names if name in schema.types])


def _results(schema: Schema, response: Declaration) -> Iterator[Type]:
    """The types of `result` in a response, or in the arms of a union of them."""
    for arm in arms(schema, Ref(response.name)):
        struct = struct_of(schema, arm)
        member = struct.field("result") or struct.field("payload") if struct else None
        if member is not None:
            yield member.type


def _alternatives(type: Type) -> tuple[Type, ...]:
    return type.arms if isinstance(type, Uni) else (type,)


def _join(types: Sequence[Type]) -> Type | None:
    once = tuple(dict.fromkeys(types))
    return Uni(once) if len(once) > 1 else next(iter(once), None)


def _row_result(schema: Schema, row: Row | None) -> Type | None:
    if row is None or "result" not in row.values:
        return None
    unknown = [name for name in row.values["result"] if name not in schema.types]
    if unknown or not row.values["result"]:
        names = ", ".join(unknown) or "is named"
        raise DecisionError(
            f"[[method]] `{row.path}`: no type {names} in {schema.revision}",
            remedy="Name types that the schema declares, such as EmptyResult.",
        )
    arms = tuple(Ref(name) for name in row.values["result"])
    return arms[0] if len(arms) == 1 else Uni(arms)


def _capability(schema: Schema, pair: Pair) -> str | None:
    """The path of the capability that has the name of a method; None if none is declared."""
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
