"""Values for the templates of calls.py and of the calls modules of flavours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from mcp_bindgen.emit.methods import member_row
from mcp_bindgen.emit.text.annotate import Annotator, deprecation
from mcp_bindgen.emit.text.imports import Imports
from mcp_bindgen.emit.text.layout import (
    STEP,
    Code,
    Group,
    as_tuple,
    call,
    docstring,
    lay,
    literal,
)
from mcp_bindgen.emit.text.packages import imports_of, title_of, use_core
from mcp_bindgen.ir.model import Alias, Extension, Method, Ref, Schema, Type
from mcp_bindgen.ir.names import RESERVED_MEMBERS, snake

__all__ = [
    "calls_view",
    "flavour_calls_view",
    "name_bodies",
]

_TABLES: Final = ("PARAMS", "RESULTS")
_EXTENDED: Final = ("CORE", "IDENTIFIER", "MEMBERS", "METHODS", "SETTINGS_REVISION", "WIDENED")
_TAKEN: Final = RESERVED_MEMBERS | {"request", "notify"}
_CALLED: Final = {
    "Client": ("client-to-server", "both"),
    "Server": ("server-to-client", "both", "input-request"),
}
"""The directions of the methods a role calls."""

_HANDLED: Final = {
    "Client": ("server-to-client", "both", "input-request"),
    "Server": ("client-to-server", "both"),
}
"""The directions of the methods a role handles."""


def name_bodies(schema: Schema) -> Schema:
    """`schema` with an alias for each type of params or results without a name of its own."""
    added: list[Alias] = []
    methods = tuple(_name_types(schema, method, added) for method in schema.methods)
    extension = schema.extension
    if extension is not None:
        widened = tuple(_name_types(schema, method, added) for method in extension.widened)
        extension = replace(extension, widened=widened, core=name_bodies(extension.core))
    declarations = (*schema.declarations, *added)
    return replace(schema, declarations=declarations, methods=methods, extension=extension)


def _name_types(schema: Schema, method: Method, added: list[Alias]) -> Method:
    def named(type: Type | None, suffix: str, doc: str) -> Type | None:
        if type is None or isinstance(type, Ref):
            return type
        name = f"{_stem(method)}{suffix}"
        while name in schema.types:
            name += "_"
        added.append(Alias(name, type, f"{doc} of `{method.name}`."))
        return Ref(name)

    params = named(method.params, "Params", "The params")
    return replace(method, params=params, result=named(method.result, "Answer", "A result"))


def _stem(method: Method) -> str:
    return method.type.removesuffix("Request").removesuffix("Notification") or method.type


def _python(schema: Schema, method: Method) -> str:
    """A method's Python name: from its message's type, or its own if methods share that type."""
    shared = sum(other.type == method.type for other in schema.methods) > 1
    name = snake(method.name.replace("/", "_") if shared else _stem(method))
    return f"{name}_" if name in _TAKEN else name


# ---- calls.py: the methods of both roles, with types as parameters


class _Parameters:
    """The type parameters of calls.py, each for the whole type of params or of a result.

    A parameter has the name of its type. Params only go into a method and results only come out,
    so a type in both places gets two parameters.
    """

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        params = {_name_of(m.params) for m in schema.methods if m.params is not None}
        results = {_name_of(m.result) for m in schema.methods if m.result is not None}
        self._results = {name: f"{name}_" if name in params else name for name in results}

    def params(self, method: Method) -> str:
        return "" if method.params is None else _name_of(method.params)

    def result(self, method: Method) -> str:
        return "" if method.result is None else self._results[_name_of(method.result)]

    def of(self, directions: tuple[str, ...]) -> dict[str, Type]:
        """The parameters of a role's class, and their types, in the order of use."""
        used: dict[str, Type] = {}
        for method in self.schema.methods:
            if method.direction in directions:
                pairs = ((self.params(method), method.params), (self.result(method), method.result))
                used |= {name: type for name, type in pairs if type is not None}
        return used

    def variables(self, roles: Iterable[tuple[str, ...]]) -> Iterator[str]:
        # CallToolRequestParams = TypeVar("CallToolRequestParams", contravariant=True)
        used = sorted({name for directions in roles for name in self.of(directions)})
        results = {*self._results.values()}
        for name in used:
            variance = "covariant" if name in results else "contravariant"
            yield from lay("", f"{name} = ", call("TypeVar", literal(name), f"{variance}=True"))


def _name_of(type: Type) -> str:
    assert isinstance(type, Ref)  # since `name_bodies`
    return type.name


def calls_view(schema: Schema) -> dict[str, Any]:
    """The values for calls.py.jinja; `schema` has named params and results."""
    imports = imports_of(schema)
    parameters = _Parameters(schema)
    write = _Writer(schema, imports, parameters)
    callers, handlers = _roles(schema, _CALLED), _roles(schema, _HANDLED)
    used = [*callers.values(), *handlers.values()]
    variables = list(parameters.variables(used))
    imports.add("collections.abc", ("Mapping",))
    imports.add("typing", ("Final", *(["TypeVar"] if variables else [])))
    view = {
        "callers": [
            write.role(name, directions, write.caller) for name, directions in callers.items()
        ],
        "handlers": [
            write.role(name, directions, write.handler) for name, directions in handlers.items()
        ],
        "variables": variables,
        "params": _names((m.name, m.params) for m in schema.methods),
        "results": _names((m.name, m.result) for m in _answered(schema)),
    }
    facades = [*(f"{role}Calls" for role in callers), *(f"{role}Handlers" for role in handlers)]
    return view | {
        "title": title_of(schema),
        "imports": imports.lines,
        "public": [literal(name) for name in (*_TABLES, *sorted(facades))],
    }


def _roles(schema: Schema, directions: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Directions by role; in an extension, only of roles with methods."""
    if schema.extension is None:
        return dict(directions)
    taken = {method.direction for method in schema.methods}
    return {role: each for role, each in directions.items() if taken & {*each}}


def _answered(schema: Schema) -> tuple[Method, ...]:
    return (*schema.methods, *(schema.extension.widened if schema.extension else ()))


def _names(rows: Iterable[tuple[str, Type | None]]) -> list[str]:
    return [
        line
        for name, type in rows
        if type is not None
        for line in lay(STEP, f"{literal(name)}: ", literal(_name_of(type)), ",")
    ]


class _Writer:
    """Writes the methods of calls.py."""

    def __init__(self, schema: Schema, imports: Imports, parameters: _Parameters) -> None:
        self.schema = schema
        self.imports = imports
        self.parameters = parameters

    def role(
        self,
        name: str,
        directions: tuple[str, ...],
        write: Callable[[Method], Iterator[str]],
    ) -> dict[str, Any]:
        # class ClientCalls(Calls, Generic[CallToolRequestParams, CallToolAnswer]):
        # class ClientHandlers(Protocol[ElicitRequestParams, ElicitAnswer]):
        lines: list[str] = []
        for method in self.schema.methods:
            if method.direction in directions:
                lines += ["", *write(method)]
        calls, of = write == self.caller, tuple(self.parameters.of(directions))
        bases: list[Code] = [self.imports.use(".._wire", "Calls")] if calls else []
        if of or not calls:
            base = self.imports.use("typing", "Generic" if calls else "Protocol")
            bases.append(Group(f"{base}[", of, "]") if of else base)
        head = Group(f"class {name}{'Calls' if calls else 'Handlers'}(", tuple(bases), ")")
        return {"name": name, "head": lay("", "", head, ":"), "methods": lines[1:]}

    def handler(self, method: Method) -> Iterator[str]:
        yield from self._deprecation_lines(method)
        params = self._params(method, "")
        head = Group(f"async def {_python(self.schema, method)}(", ("self", *params, "/"), ")")
        yield from lay(STEP, "", head, f" -> {self.parameters.result(method) or 'None'}:")
        yield from docstring(STEP * 2, _doc(method))
        yield f"{STEP * 2}..."

    def caller(self, method: Method) -> Iterator[str]:
        yield from self._deprecation_lines(method)
        params, result = self._params(method, " = None"), self.parameters.result(method)
        head = Group(f"async def {_python(self.schema, method)}(", ("self", *params), ")")
        yield from lay(STEP, "", head, f" -> {result or 'None'}:")
        yield from docstring(STEP * 2, _doc(method))
        value = "params" if params else "None"
        if not result:
            yield from lay(STEP * 2, "await ", call("self.notify", literal(method.name), value))
            return
        sent = call("await self.request", literal(method.name), value)
        yield from lay(STEP * 2, "answer = ", sent)
        cast = call(self.imports.use("typing", "cast"), literal(result), "answer")
        yield from lay(STEP * 2, "return ", cast)

    def _deprecation_lines(self, method: Method) -> Iterator[str]:
        if method.deprecated is not None:
            self.imports.use(".._wire", "deprecated")
            yield from lay(STEP, "@", call("deprecated", literal(deprecation(method.deprecated))))

    def _params(self, method: Method, default: str) -> tuple[Code, ...]:
        if not (name := self.parameters.params(method)):
            return ()
        return (f"params: {name} | None{default}" if method.params_optional else f"params: {name}",)


def _doc(method: Method) -> str:
    return f"`{method.name}`. {method.doc}".strip()


# ---- calls_*.py: the same with the models of a flavour


def flavour_calls_view(schema: Schema, flavour: str) -> dict[str, Any]:
    """The values for calls_flavour.py.jinja; `schema` has named params and results."""
    imports, extension = imports_of(schema), schema.extension
    models = _Models(schema, imports, flavour)
    callers, handlers = _roles(schema, _CALLED), _roles(schema, _HANDLED)
    view = {
        "title": title_of(schema),
        "flavour": flavour,
        "callers": [models.role(name, "Calls", callers[name]) for name in callers],
        "handlers": [models.role(name, "Handlers", handlers[name]) for name in handlers],
        "extends": extension is not None,
        **(_extend(models, extension) if extension else {}),
    }
    functions = ("decode", "encode", *(("from_wire",) if extension else ()))
    imports.add(f".models_{flavour}", functions)
    imports.add(".", ("calls", f"models_{flavour} as models"))
    imports.add("typing", ("Final", *(["Protocol"] if handlers else [])))
    imports.use(".._wire", "types_by_method")
    modules = ["models"]
    if use_core(schema, imports, f"models_{flavour}"):
        modules.append("core")
    facades = [*(f"{role}Calls" for role in callers), *(f"{role}Handlers" for role in handlers)]
    tables = (*_TABLES, *(_EXTENDED if extension else ()))
    return view | {
        "imports": imports.lines,
        "modules": ", ".join(modules),
        "public": [literal(n) for n in (*sorted(tables), *sorted(facades), *_functions(extension))],
    }


def _functions(extension: Extension | None) -> tuple[str, ...]:
    functions = ("decode_params", "decode_result", "encode")
    return functions if extension is None else ("decode", *functions, "from_wire")


class _Models(Annotator):
    """Annotations of a flavour's calls module: types are members of `models` or `core`."""

    def __init__(self, schema: Schema, imports: Imports, flavour: str) -> None:
        super().__init__(schema, imports, f"models_{flavour}")
        self.parameters = _Parameters(schema)

    def parts(self, type: Type) -> list[Code]:
        if isinstance(type, Ref):
            module = "core" if type.name in self.schema.foreign else "models"
            return [f"{module}.{type.name}"]
        return super().parts(type)

    def role(self, name: str, kind: str, directions: tuple[str, ...]) -> dict[str, Any]:
        # class ClientCalls(calls.ClientCalls[models.CallToolRequestParams, models.CallToolAnswer]):
        types = tuple(map(self.code, self.parameters.of(directions).values()))
        base = f"calls.{name}{kind}"
        bases: list[Code] = [Group(f"{base}[", types, "]") if types else base]
        bases += ["Protocol"] if kind == "Handlers" else []
        head = Group(f"class {name}{kind}(", tuple(bases), ")")
        return {"name": name, "head": lay("", "", head, ":")}


def _extend(models: _Models, extension: Extension) -> dict[str, list[str]]:
    """The rows of calls_flavour.py.jinja needed only by an extension."""
    models.imports.use("collections.abc", "Mapping")
    models.imports.add(".methods", ("CORE", "IDENTIFIER", "METHODS", "SETTINGS_REVISION"))
    named = {name: (*map(Ref, names),) for name, names in extension.added.items()}
    return {
        "widened": [
            line
            for name, types in named.items()
            for line in lay(STEP, f"{literal(name)}: ", as_tuple(map(models.code, types)), ",")
        ],
        "members": [x for m in extension.members for x in member_row(m, models.code(m.type))],
    }
