"""Values for the templates of methods.py, of a revision or an extension: methods and errors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from mcp_bindgen.emit.text.annotate import annotation
from mcp_bindgen.emit.text.layout import (
    STEP,
    WIDTH,
    Code,
    after_head,
    as_tuple,
    call,
    flat,
    lay,
    literal,
)
from mcp_bindgen.emit.text.packages import imports_of
from mcp_bindgen.ir.error_codes import error_codes, error_object
from mcp_bindgen.ir.model import (
    JSON_PRIMS,
    Const,
    Member,
    Method,
    Prim,
    Schema,
    Tolerance,
    Type,
    Uni,
)

__all__ = ["extension_view", "member_row", "methods_view"]

_ANY: Final = frozenset(map(Prim, JSON_PRIMS))


def methods_view(schema: Schema) -> dict[str, Any]:
    """The values for methods.py.jinja; `schema` is without named results."""
    return {
        "revision": literal(schema.revision),
        "title": schema.revision,
        "era": literal(schema.era),
        "version_header": repr(schema.conventions.version_header),
        "primed_streams": repr(schema.conventions.primed_streams),
        "tolerances": [line for each in schema.conventions.tolerances for line in _tolerance(each)],
        "errors": [line for const in error_codes(schema) for line in _error(schema, const)],
        "rows": [line for method in schema.methods for line in _row(schema, method)],
    }


def _error(schema: Schema, const: Const) -> list[str]:
    error = error_object(schema, const)
    data = error.field("data") if error else None
    if data and data.type in _ANY:
        data = None
    values = {
        "code": literal(const.value),
        "name": literal(const.name),
        "error": literal(error.name) if error else "None",
        "data": _type_name(schema, data.type if data else None),
    }
    code = call("ErrorCode", *(after_head(f"{key}=", value) for key, value in values.items()))
    return lay(STEP, f"{literal(const.value)}: ", code, ",")


def _tolerance(tolerance: Tolerance) -> list[str]:
    values = {
        "reader": literal(tolerance.reader),
        "position": literal(tolerance.position),
        "member": literal(tolerance.member),
        "value": literal(tolerance.value),
        "forgives": _texts(tolerance.forgives),
    }
    code = call("Tolerance", *(after_head(f"{key}=", value) for key, value in values.items()))
    return lay(STEP, "", code, ",")


def _row(schema: Schema, method: Method) -> list[str]:
    values = {
        "name": literal(method.name),
        "kind": literal(method.kind),
        "direction": literal(method.direction),
        "message": literal(method.type),
        "params": _type_name(schema, method.params),
        "params_required": repr(method.params is not None and not method.params_optional),
        "results": _results(schema, method.result),
        "capability": literal(method.capability),
        "era": literal(schema.era),
    }
    code = call("Method", *(after_head(f"{key}=", value) for key, value in values.items()))
    return lay(STEP, f"{literal(method.name)}: ", code, ",")


def _type_name(schema: Schema, type: Type | None) -> str:
    return "None" if type is None else literal(flat(annotation(schema, type)))


def _results(schema: Schema, type: Type | None) -> Code:
    arms = type.arms if isinstance(type, Uni) else () if type is None else (type,)
    return _texts(flat(annotation(schema, arm)) for arm in arms)


def _texts(texts: Iterable[str]) -> Code:
    return as_tuple(map(literal, texts))


def extension_view(schema: Schema) -> dict[str, Any]:
    """The values for extension_methods.py.jinja; methods of `schema` name no types of results."""
    extension = schema.extension
    assert extension is not None
    imports = imports_of(schema)
    imports.use(".._wire", "Method")
    added = extension.added.items()
    return {
        "title": schema.revision,
        "imports": imports.lines,
        "identifier": literal(extension.identifier),
        "version": literal(schema.revision.partition("@")[2]),
        "core": extension.core.revision,
        "cores": flat(_texts(extension.cores)),
        "roles": flat(_texts(extension.roles)),
        "stage": literal(extension.stage),
        "revision": literal(extension.settings_revision),
        "rows": [line for method in schema.methods for line in _row(schema, method)],
        "widened": [
            x for k, names in added for x in lay(STEP, f"{literal(k)}: ", _texts(names), ",")
        ],
        "members": [
            line
            for member in extension.members
            for line in member_row(member, _type_name(schema, member.type))
        ],
    }


def member_row(member: Member, type: Code) -> list[str]:
    """A row of MEMBERS; its key is the type, the members on the way, and the member's name."""
    # ("SubscriptionFilter", "taskIds"): SubscriptionFilterTaskIds,
    key = _texts((member.owner, *member.path, member.name))
    line = f"{STEP}{flat(key)}: {flat(type)},"
    if len(line) <= WIDTH:
        return [line]
    *head, last = lay(" " * WIDTH, "", key)
    return [line[WIDTH - len(STEP) :] for line in (*head, f"{last}: {flat(type)},")]
