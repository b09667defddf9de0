"""Rows common to the models modules of all flavours: aliases, constants, docstrings, tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Any, Final

from mcp_bindgen.emit.text.annotate import Annotator, deprecation, doc_of
from mcp_bindgen.emit.text.layout import STEP, Code, call, docstring, lay, literal, member
from mcp_bindgen.emit.text.packages import title_of
from mcp_bindgen.ir.model import (
    Alias,
    Bounded,
    Const,
    Field,
    Ref,
    Schema,
    Struct,
    Tup,
    Type,
    Uni,
)
from mcp_bindgen.ir.unions import arms
from mcp_bindgen.ir.walk import children

__all__ = [
    "Row",
    "body_lines",
    "member_text",
    "module_rows",
    "opening",
    "record_body",
    "sort_fields",
]

_FUNCTIONS: Final = (
    *("UNSET", "DecodeError", "EncodeError", "Unset"),
    *("decode", "encode", "from_wire", "to_wire"),
)


@dataclass(frozen=True, slots=True)
class Row:
    """A declaration: its name, and its lines."""

    name: str
    lines: tuple[str, ...]


def sort_fields(struct: Struct) -> list[Field]:
    """The members of a struct, inherited ones included, required ones first."""
    return sorted(struct.fields, key=lambda field: not field.required)


def module_rows(
    schema: Schema,
    used: Annotator,
    structs: list[Row],
    names: tuple[str, ...] = (),
    *,
    functions: bool = True,
) -> dict[str, Any]:
    """The common rows of every flavour's template; `names` are public names of this flavour
    only. Without `functions` the module has no `decode` and its siblings.
    """
    aliases = [Row(a.name, tuple(_alias(used, a))) for a in _in_order(used)]
    consts = [Row(c.name, tuple(_const(c))) for c in schema.own if isinstance(c, Const)]
    names = (*names, *_FUNCTIONS) if functions else names
    return {
        "public": _public([*names, *(row.name for row in (*consts, *structs, *aliases))]),
        "title": title_of(schema),
        "structs": structs,
        "aliases": aliases,
        "consts": consts,
    }


def opening(struct: Struct) -> list[str]:
    """The lines of a class's docstring, and the blank line below."""
    doc = docstring(STEP, doc_of(struct))
    return [*doc, ""] if doc else []


def record_body(used: Annotator, struct: Struct, late: bool, keeps: bool) -> Iterator[str]:
    """The body of a class of the dataclass kind; a `late` one holds the parsed object."""
    body = opening(struct)
    for field in sort_fields(struct):
        body += [*_record_member(used, field, late), *docstring(STEP, member_text(field))]
    if keeps:
        body += _extra(used, struct, late)
    yield from body_lines(body)


def _record_member(used: Annotator, field: Field, late: bool) -> Iterator[str]:
    if field.wire != field.name:
        yield f"{STEP}# {literal(field.wire)}"
    if field.const is not None:
        yield from member(STEP, field.name, used.constant(field.type), literal(field.const))
        return
    if field.required:
        yield from member(STEP, field.name, used.code(field.type))
    else:
        wire = literal(field.wire)
        default = call(used.imports.use(".._wire", "Late"), wire) if late else "UNSET"
        yield from member(STEP, field.name, used.maybe(field.type), default)


def _extra(used: Annotator, struct: Struct, late: bool) -> list[str]:
    used.imports.use("collections.abc", "Mapping")
    empty: Code = used.imports.use(".._wire", "Rest" if late else "EMPTY")
    if late:
        empty = call("Rest", *(literal(field.wire) for field in struct.fields))
    return member(STEP, "extra_", f"Mapping[str, {used.any()}]", empty)


def body_lines(lines: list[str]) -> list[str]:
    """The body of a class without blank lines at its end; `pass` if it is empty."""
    while lines and not lines[-1]:
        lines = lines[:-1]
    return lines or [f"{STEP}pass"]


def member_text(field: Field) -> str:
    """The text of a member's docstring."""
    notes = [field.doc, deprecation(field.deprecated)]
    if field.format:
        notes.append(f"Format: {field.format}.")
    return " ".join(note for note in notes if note)


def _public(names: list[str]) -> list[str]:
    return [literal(name) for name in sorted({*names})]


def _alias(used: Annotator, alias: Alias) -> Iterator[str]:
    yield from used.circular(alias) if alias.name in used.recursive else _plain(used, alias)
    yield from docstring("", doc_of(alias))


def _plain(used: Annotator, alias: Alias) -> Iterator[str]:
    used.imports.use("typing", "TypeAlias")
    code = used.declared(alias.type)
    if _hides(used.schema, alias.type):
        code = used.marked(code, literal(alias.name))
    yield from lay("", f"{alias.name}: TypeAlias = ", code)


def _hides(schema: Schema, type: Type) -> bool:
    """Return whether a type is narrower than its annotation, so another may have the same one."""
    named = schema.types[type.name] if isinstance(type, Ref) else None
    inner = [named.type] if isinstance(named, Alias) else children(type)
    return isinstance(type, Bounded | Tup) or any(_hides(schema, part) for part in inner)


def _const(const: Const) -> Iterator[str]:
    yield f"{const.name}: Final = {literal(const.value)}"
    notes = (const.doc, deprecation(const.deprecated))
    yield from docstring("", " ".join(note for note in notes if note))


def _in_order(used: Annotator) -> list[Alias]:
    """Aliases in the schema's order, but each after the aliases it mentions."""
    schema = used.schema
    aliases = {d.name: d for d in schema.own_types if isinstance(d, Alias)}
    graph: Mapping[str, list[str]] = {
        name: [ref for ref in _mentions(schema, alias.type) if ref in aliases]
        for name, alias in aliases.items()
        if name not in used.recursive
    }
    order = TopologicalSorter({**{name: [] for name in aliases}, **graph})
    return [aliases[name] for name in order.static_order()]


def _mentions(schema: Schema, type: Type) -> Iterator[str]:
    for part in arms(schema, type) if isinstance(type, Uni) else (type,):
        if isinstance(part, Ref):
            yield part.name
        for child in children(part):
            yield from _mentions(schema, child)
