"""Views of methods.py and of the calls modules: the method table, and typed facades by role."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from mcp_bindgen.emit.text.annotate import annotation, deprecation
from mcp_bindgen.emit.text.layout import STEP, Code, Group, call, docstring, flat, lay, literal
from mcp_bindgen.ir.model import Alias, Method, Ref, Schema, Type, Uni
from mcp_bindgen.ir.names import RESERVED_MEMBERS, snake

__all__ = ["answered", "calls_view", "methods_view"]

_TAKEN: Final = RESERVED_MEMBERS | {"request", "notify"}
_CALLED: Final = {
    "Client": ("client-to-server", "both"),
    "Server": ("server-to-client", "both"),
}
"""The directions of what a role calls."""

_HANDLED: Final = {
    "Client": ("server-to-client", "both", "input-request"),
    "Server": ("client-to-server", "both"),
}
"""The directions of what a role answers, or takes note of."""


def answered(schema: Schema) -> Schema:
    """`schema` with an alias for each method whose result is a union, so that it has a name."""
    added: list[Alias] = []
    methods: list[Method] = []
    for method in schema.methods:
        if isinstance(method.result, Uni):
            name = f"{_stem(method)}Answer"
            while name in schema.types:
                name += "_"
            added.append(Alias(name, method.result, f"What answers `{method.name}`."))
            method = replace(method, result=Ref(name))
        methods.append(method)
    return replace(schema, declarations=(*schema.declarations, *added), methods=tuple(methods))


def _stem(method: Method) -> str:
    return method.type.removesuffix("Request").removesuffix("Notification") or method.type


def _python(method: Method) -> str:
    name = snake(_stem(method))
    return f"{name}_" if name in _TAKEN else name


# ---- methods.py


def methods_view(schema: Schema) -> dict[str, Any]:
    """What methods.py.jinja places; `schema` is as it was read, without named answers."""
    return {
        "revision": literal(schema.revision),
        "title": schema.revision,
        "era": literal(schema.era),
        "rows": [line for method in schema.methods for line in _row(schema, method)],
    }


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
    code = call("Method", *(_keyword(key, value) for key, value in values.items()))
    return lay(STEP, f"{literal(method.name)}: ", code, ",")


def _keyword(key: str, value: Code) -> Code:
    if isinstance(value, Group):
        return Group(f"{key}={value.head}", value.items, value.close)
    return f"{key}={flat(value)}"


def _type_name(schema: Schema, type: Type | None) -> str:
    return "None" if type is None else literal(flat(annotation(schema, type)))


def _results(schema: Schema, type: Type | None) -> Code:
    arms = type.arms if isinstance(type, Uni) else () if type is None else (type,)
    names = tuple(_type_name(schema, arm) for arm in arms)
    return f"({names[0]},)" if len(names) == 1 else Group("(", names, ")")


# ---- calls_*.py


def calls_view(schema: Schema, flavour: str) -> dict[str, Any]:
    """What calls.py.jinja places; `schema` has named answers."""
    used: set[str] = set()
    handlers = {role: _facade(schema, used, role, _HANDLED[role], _handler) for role in _HANDLED}
    callers = {role: _facade(schema, used, role, _CALLED[role], _caller) for role in _CALLED}
    tables = {
        "params": [row for m in schema.methods for row in _entry(schema, used, m, m.params)],
        "results": [row for m in schema.methods for row in _entry(schema, used, m, m.result)],
    }
    lines = [line for group in (*handlers.values(), *callers.values()) for line in group]
    return {
        "title": schema.revision,
        "flavour": flavour,
        "module": f".models_{flavour}",
        "handlers": handlers,
        "callers": callers,
        "names": sorted(used),
        "any": any("Any" in line for line in lines),
        "casts": any("cast(" in line for line in lines),
        "deprecates": any("@deprecated" in line for line in lines),
        **tables,
    }


def _entry(schema: Schema, used: set[str], method: Method, type: Type | None) -> list[str]:
    if type is None:
        return []
    return lay(STEP, f"{literal(method.name)}: ", _named(schema, used, type), ",")


def _named(schema: Schema, used: set[str], type: Type) -> Code:
    if isinstance(type, Ref):
        used.add(type.name)
    return annotation(schema, type)


def _facade(
    schema: Schema, used: set[str], role: str, directions: tuple[str, ...], write: Any
) -> list[str]:
    lines: list[str] = []
    for method in schema.methods:
        if method.direction in directions:
            lines += ["", *write(schema, used, method)]
    return lines[1:]


def _deprecated(method: Method) -> Iterator[str]:
    if method.deprecated is not None:
        yield from lay(STEP, "@", call("deprecated", literal(deprecation(method.deprecated))))


def _params(schema: Schema, used: set[str], method: Method, default: str) -> tuple[Code, ...]:
    if method.params is None:
        return ()
    name = flat(_named(schema, used, method.params))
    return (f"params: {name} | None{default}" if method.params_optional else f"params: {name}",)


def _result(schema: Schema, used: set[str], method: Method) -> str:
    return "None" if method.result is None else flat(_named(schema, used, method.result))


def _handler(schema: Schema, used: set[str], method: Method) -> Iterator[str]:
    yield from _deprecated(method)
    params = _params(schema, used, method, "")
    head = Group(f"async def {_python(method)}(", ("self", *params, "/"), ")")
    yield from lay(STEP, "", head, f" -> {_result(schema, used, method)}:")
    yield from docstring(STEP * 2, _told(method))
    yield f"{STEP * 2}..."


def _told(method: Method) -> str:
    return f"`{method.name}`. {method.doc}".strip()


def _caller(schema: Schema, used: set[str], method: Method) -> Iterator[str]:
    yield from _deprecated(method)
    params = _params(schema, used, method, " = None")
    result = _result(schema, used, method)
    head = Group(f"async def {_python(method)}(", ("self", *params), ")")
    yield from lay(STEP, "", head, f" -> {result}:")
    yield from docstring(STEP * 2, _told(method))
    value = "params" if params else "None"
    if method.result is None:
        yield from lay(STEP * 2, "await ", call("self.notify", literal(method.name), value))
        return
    sent = call("await self.request", literal(method.name), value)
    yield from lay(STEP * 2, "answer = ", sent)
    yield from lay(STEP * 2, "return ", call("cast", literal(result), "answer"))
