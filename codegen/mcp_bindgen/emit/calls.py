"""Values for the templates of methods.py and the calls modules: a method table, and typed calls by
role.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

from mcp_bindgen.emit.text.annotate import Annotator, annotation, deprecation
from mcp_bindgen.emit.text.layout import (
    STEP,
    WIDTH,
    Code,
    Group,
    after_head,
    as_tuple,
    call,
    docstring,
    flat,
    lay,
    literal,
)
from mcp_bindgen.emit.text.packages import imports_of, titled
from mcp_bindgen.ir.model import Alias, Extension, Member, Method, Ref, Schema, Tolerance, Type, Uni
from mcp_bindgen.ir.names import RESERVED_MEMBERS, snake

__all__ = ["answered", "calls_view", "extension_view", "methods_view"]

_TABLES: Final = ("PARAMS", "RESULTS")
_EXTENDED: Final = ("CORE", "IDENTIFIER", "MEMBERS", "METHODS", "WIDENED")
_TAKEN: Final = RESERVED_MEMBERS | {"request", "notify"}
_CALLED: Final = {
    "Client": ("client-to-server", "both"),
    "Server": ("server-to-client", "both"),
}
"""The directions of the methods a role calls."""

_HANDLED: Final = {
    "Client": ("server-to-client", "both", "input-request"),
    "Server": ("client-to-server", "both"),
}
"""The directions of the methods a role handles."""


def answered(schema: Schema) -> Schema:
    """`schema` with a named alias for each method result which is a union."""
    added: list[Alias] = []
    methods = tuple(_name_result(schema, method, added) for method in schema.methods)
    extension = schema.extension
    if extension is not None:
        widened = tuple(_name_result(schema, method, added) for method in extension.widened)
        extension = replace(extension, widened=widened, core=answered(extension.core))
    declarations = (*schema.declarations, *added)
    return replace(schema, declarations=declarations, methods=methods, extension=extension)


def _name_result(schema: Schema, method: Method, added: list[Alias]) -> Method:
    if not isinstance(method.result, Uni):
        return method
    name = f"{_stem(method)}Answer"
    while name in schema.types:
        name += "_"
    added.append(Alias(name, method.result, f"A result of `{method.name}`."))
    return replace(method, result=Ref(name))


def _stem(method: Method) -> str:
    return method.type.removesuffix("Request").removesuffix("Notification") or method.type


def _python(schema: Schema, method: Method) -> str:
    """A method's name in the facades: the name of its message, unless several methods share it."""
    shared = sum(other.type == method.type for other in schema.methods) > 1
    name = snake(method.name.replace("/", "_") if shared else _stem(method))
    return f"{name}_" if name in _TAKEN else name


# ---- methods.py


def methods_view(schema: Schema) -> dict[str, Any]:
    """The values for methods.py.jinja; `schema` is without named results."""
    return {
        "revision": literal(schema.revision),
        "title": schema.revision,
        "era": literal(schema.era),
        "version_header": repr(schema.conventions.version_header),
        "primed_streams": repr(schema.conventions.primed_streams),
        "tolerances": [line for each in schema.conventions.tolerances for line in _tolerance(each)],
        "rows": [line for method in schema.methods for line in _row(schema, method)],
    }


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
    """The values for extension_methods.py.jinja; `schema` is without named results."""
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
        "rows": [line for method in schema.methods for line in _row(schema, method)],
        "widened": [
            x for k, names in added for x in lay(STEP, f"{literal(k)}: ", _texts(names), ",")
        ],
        "members": [
            line
            for member in extension.members
            for line in _member(member, _type_name(schema, member.type))
        ],
    }


# ---- calls_*.py


def calls_view(schema: Schema, flavour: str) -> dict[str, Any]:
    """The values for calls.py.jinja; `schema` has named results."""
    used = _Named(schema, flavour)
    handlers = {role: _facade(used, _HANDLED[role], _handler) for role in _HANDLED}
    callers = {role: _facade(used, _CALLED[role], _caller) for role in _CALLED}
    extension = schema.extension
    if extension is not None:
        handlers = {role: lines for role, lines in handlers.items() if lines}
        callers = {role: lines for role, lines in callers.items() if lines}
    widened = extension.widened if extension else ()
    view = {
        "title": titled(schema),
        "flavour": flavour,
        "handlers": handlers,
        "callers": callers,
        "params": [row for m in schema.methods for row in _entry(used, m, m.params)],
        "results": [r for m in (*schema.methods, *widened) for r in _entry(used, m, m.result)],
        "extends": extension is not None,
        **(_extend(used, extension) if extension else {}),
    }
    used.imports.add("abc", ("ABC", "abstractmethod") if callers else ())
    used.imports.add("collections.abc", ("Mapping",))
    used.imports.add("typing", ("Final", "Protocol") if handlers else ("Final",))
    used.imports.add(f".{used.module}", ("decode", "encode"))
    facades = [*(f"{role}Calls" for role in callers), *(f"{role}Handlers" for role in handlers)]
    tables = (*_TABLES, *(_EXTENDED if extension else ()))
    return view | {
        "imports": used.imports.lines,
        "public": [literal(n) for n in (*sorted(tables), *sorted(facades), *_functions(extension))],
    }


def _functions(extension: Extension | None) -> tuple[str, ...]:
    functions = ("decode_params", "decode_result", "encode")
    return functions if extension is None else ("decode", *functions, "from_wire")


def _extend(used: _Named, extension: Extension) -> dict[str, list[str]]:
    """The rows of calls.py.jinja needed only by an extension."""
    used.imports.add(".methods", ("CORE", "IDENTIFIER", "METHODS"))
    used.imports.use(f".{used.module}", "from_wire")
    named = {name: (*map(Ref, names),) for name, names in extension.added.items()}
    return {
        "widened": [
            line
            for name, types in named.items()
            for line in lay(STEP, f"{literal(name)}: ", as_tuple(map(used.code, types)), ",")
        ],
        "members": [x for m in extension.members for x in _member(m, used.code(m.type))],
    }


def _member(member: Member, type: Code) -> list[str]:
    """A row of MEMBERS; its key is the type, the members on the way, and the member's name."""
    # ("SubscriptionFilter", "taskIds"): SubscriptionFilterTaskIds,
    key = _texts((member.owner, *member.path, member.name))
    line = f"{STEP}{flat(key)}: {flat(type)},"
    if len(line) <= WIDTH:
        return [line]
    *head, last = lay(" " * WIDTH, "", key)
    return [line[WIDTH - len(STEP) :] for line in (*head, f"{last}: {flat(type)},")]


class _Named(Annotator):
    """Annotations of a calls module, which imports the types they name."""

    def __init__(self, schema: Schema, flavour: str) -> None:
        super().__init__(schema, imports_of(schema), f"models_{flavour}")

    def parts(self, type: Type) -> list[Code]:
        if isinstance(type, Ref) and type.name not in self.schema.foreign:
            self.imports.use(f".{self.module}", type.name)
        return super().parts(type)


def _entry(used: _Named, method: Method, type: Type | None) -> list[str]:
    if type is None:
        return []
    return lay(STEP, f"{literal(method.name)}: ", used.code(type), ",")


def _facade(
    used: _Named,
    directions: tuple[str, ...],
    write: Callable[[_Named, Method], Iterator[str]],
) -> list[str]:
    lines: list[str] = []
    for method in used.schema.methods:
        if method.direction in directions:
            lines += ["", *write(used, method)]
    return lines[1:]


def _deprecated(used: _Named, method: Method) -> Iterator[str]:
    if method.deprecated is not None:
        used.imports.use(".._wire", "deprecated")
        yield from lay(STEP, "@", call("deprecated", literal(deprecation(method.deprecated))))


def _params(used: _Named, method: Method, default: str) -> tuple[Code, ...]:
    if method.params is None:
        return ()
    name = flat(used.code(method.params))
    return (f"params: {name} | None{default}" if method.params_optional else f"params: {name}",)


def _result(used: _Named, method: Method) -> str:
    return "None" if method.result is None else flat(used.code(method.result))


def _handler(used: _Named, method: Method) -> Iterator[str]:
    yield from _deprecated(used, method)
    head = Group(
        f"async def {_python(used.schema, method)}(", ("self", *_params(used, method, ""), "/"), ")"
    )
    yield from lay(STEP, "", head, f" -> {_result(used, method)}:")
    yield from docstring(STEP * 2, _doc(method))
    yield f"{STEP * 2}..."


def _doc(method: Method) -> str:
    return f"`{method.name}`. {method.doc}".strip()


def _caller(used: _Named, method: Method) -> Iterator[str]:
    yield from _deprecated(used, method)
    params = _params(used, method, " = None")
    result = _result(used, method)
    head = Group(f"async def {_python(used.schema, method)}(", ("self", *params), ")")
    yield from lay(STEP, "", head, f" -> {result}:")
    yield from docstring(STEP * 2, _doc(method))
    value = "params" if params else "None"
    if method.result is None:
        yield from lay(STEP * 2, "await ", call("self.notify", literal(method.name), value))
        return
    sent = call("await self.request", literal(method.name), value)
    yield from lay(STEP * 2, "answer = ", sent)
    cast = call(used.imports.use("typing", "cast"), literal(result), "answer")
    yield from lay(STEP * 2, "return ", cast)
