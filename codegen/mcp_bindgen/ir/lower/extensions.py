"""Reads an extension: its types, completed by rows of decisions.toml and by types of the core.

A version of an extension is called `name@version`. The rows give its identifier and its roles, the
direction and the result of each method, the methods of the core it may answer, and its additions to
types. If prose and types disagree the types win, and the row says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from mcp_bindgen.errors import DecisionError, SchemaError
from mcp_bindgen.ir.decisions.decisions import Decisions, Row, paste
from mcp_bindgen.ir.lower.lower import lower
from mcp_bindgen.ir.model import (
    Alias,
    Const,
    Declaration,
    Extension,
    Member,
    Method,
    Prim,
    Ref,
    Schema,
    Struct,
    Type,
    Uni,
)
from mcp_bindgen.ir.names import capitalize
from mcp_bindgen.ir.resolve.resolver import Resolver
from mcp_bindgen.ir.unions import arms
from mcp_bindgen.ir.walk import references, struct_of
from mcp_bindgen.source import Source, link
from mcp_bindgen.source.concatenated import Joined

__all__ = ["STAGES", "load", "require_apart"]

STAGES: Final = ("experimental", "beta", "stable", "core")
"""The life of an extension. At its end the core has it, and the extension is for older revisions.

Source: SEP-3392, a draft of 2026-09-25.
"""

_TO_SERVER: Final = "client-to-server"
_PRIMS: Final = ("string", "number", "boolean", "object", "unknown")
"""Values of `type` in a [[member]] row, beside types of the extension."""


def load(
    source: Source, revision: str, imports: Mapping[str, Source], core: Schema, rows: Decisions
) -> Schema:
    """The meaning of an extension beside its core: `imports` of the core's path are the core's.

    Raises SchemaError or DecisionError.
    """
    resolver = Resolver(*link(source, imports))
    schema = _beside(lower(resolver, revision), resolver, core)
    row = rows.ask(
        "extension",
        revision,
        revision.partition("@")[0],
        None,
        f"{source.path}: which identifier do capabilities have, for which cores, and who speaks?",
        {"identifier": "", "core": [core.revision], "roles": ["client", "server"]},
    )
    values: Mapping[str, Any] = row.values if row else {}
    if row and core.revision not in values["core"]:
        raise DecisionError(
            f"{_row_name(row)}: made for {', '.join(values['core'])}, not for {core.revision}",
            remedy="Choose another core, or add it to the row.",
        )
    extension = Extension(
        values.get("identifier", ""),
        tuple(values.get("roles", ())),
        tuple(values.get("core", ())),
        core,
        stage=_stage(row),
        settings_revision=str(values.get("revision", "")),
    )
    schema = replace(schema, extension=extension)
    places = {d.name: resolver.source.place(d.at) for d in schema.own}
    schema = _with_methods(schema, rows, places)
    schema = _with_members(schema, rows)
    schema = _with_meta(schema, rows, places)
    schema = _widen(schema, rows)
    rows.require_all(revision)
    return _import_core(schema, resolver)


def _stage(row: Row | None) -> str:
    """The stage in a row, empty without one. Raises DecisionError for an unknown stage."""
    stage = str(row.values.get("stage", "")) if row else ""
    if row and stage not in ("", *STAGES):
        raise DecisionError(
            f"{_row_name(row)}: {stage!r} is no stage", remedy=f"Stages: {', '.join(STAGES)}."
        )
    return stage


def _row_name(row: Row) -> str:
    return f"[[{row.kind}]] `{row.path}` of {row.revision}"


# ---- the types of the core


def _beside(schema: Schema, resolver: Resolver, core: Schema) -> Schema:
    """`schema`, where types of the core are as in the core. Types of any other file are its own."""
    own: list[Declaration] = []
    foreign: list[Declaration] = []
    for each in schema.declarations:
        is_own = not _is_of(core, _file(resolver, each))
        name = resolver.foreign.get(each.name, each.name)
        if not is_own and name != each.name:
            raise _name_clash(resolver.declared[name].at, resolver, name)
        if name in core.types and not is_own:
            foreign.append(core.types[name])
        elif is_own or not isinstance(each, Const):
            own.append(each)
    names = frozenset(d.name for d in foreign)
    return replace(schema, declarations=(*own, *foreign), foreign=names)


def _name_clash(at: int, resolver: Resolver, name: str) -> SchemaError:
    return resolver.error(
        at,
        f"`{name}` is also the name of a type of the core that this file needs",
        "Call it otherwise.",
    )


def _file(resolver: Resolver, declaration: Declaration) -> str:
    source = resolver.source
    return source.file(declaration.at)[0].path if isinstance(source, Joined) else source.path


def _is_of(core: Schema, path: str) -> bool:
    """Return whether a file is one of those in which the core is written."""
    return path == core.path or path.startswith(f"schema/{core.revision}/")


def _import_core(schema: Schema, resolver: Resolver) -> Schema:
    """`schema` with exactly the core types it refers to."""
    assert schema.extension is not None
    core = schema.extension.core
    needed: dict[str, Declaration] = {}
    results = [m.result for m in (*schema.methods, *schema.extension.widened)]
    own = {d.name: d for d in schema.own}
    first = [name for d in schema.own for name in _mentions(d)]
    first += [name for type in results if type is not None for name in references(type)]
    queue = [name for name in first if name not in own]
    while queue:
        name = queue.pop()
        if name in own:
            raise _name_clash(own[name].at, resolver, name)
        if name not in needed:
            needed[name] = core.types[name]
            queue += _mentions(needed[name])
    order = [d for d in core.declarations if d.name in needed]
    return replace(schema, declarations=(*schema.own, *order), foreign=frozenset(needed))


def _mentions(declaration: Declaration) -> Iterator[str]:
    match declaration:
        case Struct():
            for type in (*(f.type for f in declaration.fields), *declaration.unlisted):
                yield from references(type)
        case Alias():
            yield from references(declaration.type)
        case _:
            pass


# ---- methods


def _with_methods(schema: Schema, rows: Decisions, places: Mapping[str, str]) -> Schema:
    """`schema` with the direction and the result of each method, by rows."""
    methods = tuple(_method(schema, rows, m, places[m.type]) for m in schema.methods)
    return replace(schema, methods=tuple(_named_params(schema, m) for m in methods))


def _named_params(schema: Schema, method: Method) -> Method:
    """A method whose params are a union, with a named alias for them; places cannot name unions."""
    if not isinstance(method.params, Uni):
        return method
    params = set(method.params.arms)
    for each in schema.own:
        if isinstance(each, Alias) and isinstance(each.type, Uni) and set(each.type.arms) == params:
            return replace(method, params=Ref(each.name))
    return method


def _method(schema: Schema, rows: Decisions, method: Method, place: str) -> Method:
    answers = method.kind == "request" and method.result is None
    question = f"{place}: `{method.name}`: which way does it travel?"
    values: dict[str, Any] = {"direction": _TO_SERVER}
    if answers:
        question += " Which types answer it, as a list of names?"
        values["result"] = []
    subject = (method.kind, method.result)
    row = rows.ask("method", schema.revision, method.name, subject, question, values)
    if row is None:
        return method
    _require_direction(schema, row)
    if "result" not in row.values:
        if answers:
            rows.miss(question, f"# in the row at line {row.line}\nresult = []")
        return replace(method, direction=row.values["direction"], capability="")
    result = _types(schema, row, row.values["result"])
    if result == method.result:
        raise DecisionError(
            f"{_row_name(row)} says what the rule finds: `{method.type}` has its result",
            remedy="Take `result` out of the row.",
        )
    return replace(method, direction=row.values["direction"], capability="", result=result)


def _require_direction(schema: Schema, row: Row) -> None:
    assert schema.extension is not None
    roles = schema.extension.roles
    ways = [f"{a}-to-{b}" for a in roles for b in roles if a != b]
    if roles and row.values.get("direction") not in ways:
        raise DecisionError(
            f"{_row_name(row)}: direction = {row.values.get('direction')!r}",
            remedy=f"Directions between its roles: {', '.join(ways)}.",
        )


def _types(schema: Schema, row: Row, names: Sequence[str]) -> Type:
    """The union of named types, of the extension or of its core."""
    assert schema.extension is not None
    known = {**schema.extension.core.types, **schema.types}
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        raise DecisionError(
            f"{_row_name(row)}: no type {', '.join(unknown) or 'is named'} in {schema.revision}",
            remedy="Name types that the schema declares, or that its core has.",
        )
    named = tuple(Ref(name) for name in names)
    return named[0] if len(named) == 1 else Uni(named)


def _widen(schema: Schema, rows: Decisions) -> Schema:
    """`schema` with the methods of the core it may answer; its own results go first.

    A result which answers none of its methods demands a row.
    """
    extension = schema.extension
    assert extension is not None
    core = {method.name: method for method in extension.core.methods}
    added: dict[str, tuple[str, ...]] = {}
    widened: list[Method] = []
    for row in _uses(rows, "widen", schema.revision):
        method = core.get(row.path)
        if method is None or method.result is None:
            raise DecisionError(
                f"{_row_name(row)}: {extension.core.revision} has no such request",
                remedy="Name a request of the core.",
            )
        names = tuple(row.values["result"])
        _types(schema, row, names)
        union = (*map(Ref, names), *arms(extension.core, method.result))
        added[row.path] = names
        widened.append(replace(method, result=Uni(union, ordered=True)))
    _ask_widened(schema, rows, {name for names in added.values() for name in names})
    return replace(schema, extension=replace(extension, widened=tuple(widened), added=added))


def _ask_widened(schema: Schema, rows: Decisions, added: set[str]) -> None:
    answers = {n for m in schema.methods if m.result is not None for n in references(m.result)}
    for each in schema.own_structs:
        loose = each.name.endswith("Result") and not each.place
        if loose and each.name not in added | answers:
            rows.miss(
                f"{schema.path}: `{each.name}` answers no method: which one of the core may it?",
                paste("widen", schema.revision, "", {"result": [each.name]}),
            )


def _uses(rows: Decisions, kind: str, revision: str) -> Iterator[Row]:
    """The rows of a kind, each counted as used."""
    for row in rows.rows.values():
        if (row.kind, row.revision) == (kind, revision):
            rows.used.add((kind, revision, row.path))
            yield row


# ---- members


def _with_members(schema: Schema, rows: Decisions) -> Schema:
    """`schema` with the members which rows add to types of the core."""
    for row in _uses(rows, "member", schema.revision):
        extension = schema.extension
        assert extension is not None
        names = _steps(extension.core, row)
        type = _member_type(schema, row)
        if not isinstance(type, Ref):
            alias = Alias("".join(map(capitalize, names)), type, f"The member `{row.path}`.")
            schema = replace(schema, declarations=(*schema.declarations, alias))
            type = Ref(alias.name)
        member = Member(names[0], names[1:-1], names[-1], type)
        extension = replace(extension, members=(*extension.members, member))
        schema = replace(schema, extension=extension)
    return schema


def _steps(core: Schema, row: Row) -> tuple[str, ...]:
    """`Tool._meta.ui` → Tool, _meta, ui: the core's type and members, then the new member."""
    owner, _, rest = row.path.partition(".")
    names = [owner]
    struct = core.structs.get(owner)
    while struct is not None:
        step = next((f for f in struct.fields if rest.startswith(f"{f.wire}.")), None)
        if step is None:
            break
        names.append(step.wire)
        rest = rest.removeprefix(f"{step.wire}.")
        struct = struct_of(core, step.type)
    if owner not in core.structs or not rest or (struct and struct.field(rest)):
        raise DecisionError(
            f"{_row_name(row)}: {core.revision} has no such type, or has this member",
            remedy="Name a type of the core, the members on the way, and the new one.",
        )
    return (*names, rest)


def _member_type(schema: Schema, row: Row) -> Type:
    """`string`, a type, or the type of another type's member: `TaskFilter.taskIds`."""
    assert schema.extension is not None
    text = str(row.values["type"])
    owner, _, wire = text.partition(".")
    struct = schema.structs.get(owner)
    member = struct.field(wire) if struct else None
    if member is not None:
        return member.type
    return Prim(text) if text in _PRIMS else _types(schema, row, [text])


def _with_meta(schema: Schema, rows: Decisions, places: Mapping[str, str]) -> Schema:
    """`schema` with `_meta` in the params of its requests, where the core's requests must have it.

    The types do without, so it may be absent.
    """
    assert schema.extension is not None
    params = schema.extension.core.structs.get("RequestParams")
    meta = params.field("_meta") if params else None
    if meta is None or not meta.required or not isinstance(meta.type, Ref):
        return schema
    for method in schema.methods:
        struct = struct_of(schema, method.params) if method.params else None
        asked = method.kind == "request" and method.direction == _TO_SERVER
        if not asked or struct is None or struct.field("_meta") is not None:
            continue
        question = f"{places[method.type]}: `{method.name}`: what `_meta` may its params have?"
        values = {"type": meta.type.name}
        row = rows.ask("meta", schema.revision, method.name, None, question, values)
        if row is not None:
            type = _types(schema, row, [row.values["type"]])
            new = replace(meta, type=type, required=False, origin=struct.name, at=struct.at)
            wider = replace(struct, fields=(*struct.fields, new))
            declarations = tuple(wider if d is struct else d for d in schema.declarations)
            schema = replace(schema, declarations=declarations)
    return schema


def require_apart(schemas: Sequence[Schema]) -> None:
    """Raise DecisionError if two extensions of one core add the same member to a type."""
    owners: dict[tuple[str, ...], str] = {}
    for schema in schemas:
        assert schema.extension is not None
        name = schema.revision.partition("@")[0]
        core = schema.extension.core.revision
        for member in schema.extension.members:
            path = (core, member.owner, *member.path, member.name)
            other = owners.setdefault(path, name)
            if other != name:
                raise DecisionError(
                    f"{name} and {other} both add the member `{'.'.join(path[1:])}` to {core}",
                    remedy="Name it otherwise in one of them, or generate without the other.",
                )
