"""Views of a models module: every choice made, as rows of ready lines that a template places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Any, Final

from mcp_bindgen.emit.annotate import annotation, deprecation, described, optional
from mcp_bindgen.emit.codec import Codec
from mcp_bindgen.emit.layout import Code, Group, call, docstring, flat, lay, literal, member
from mcp_bindgen.emit.options import Options
from mcp_bindgen.ir.model import Alias, Const, Field, Ref, Schema, Struct, Type, Uni
from mcp_bindgen.ir.unions import arms

__all__ = ["Row", "dataclass_view"]

_STEP: Final = "    "
_IMPORTS: Final = [
    "EMPTY",
    "UNSET",
    "At",
    "DecodeError",
    "Json",
    "Record",
    "Unset",
    "Writers",
    "build",
    "dump",
    "parse",
    "plain_writers",
]
_FUNCTIONS: Final = ("UNSET", "DecodeError", "Unset", "decode", "encode", "from_wire", "to_wire")


@dataclass(frozen=True, slots=True)
class Row:
    """A declaration: its name, and its lines."""

    name: str
    lines: tuple[str, ...]


def dataclass_view(schema: Schema, options: Options) -> dict[str, Any]:
    """What models_dataclass.py.jinja places."""
    codec = Codec(schema, options.unknown, _built)
    used = _Annotations(schema)
    structs = [Row(s.name, tuple(_dataclass(used, codec, s))) for s in schema.structs.values()]
    return _module(schema, codec, used, structs)


def _built(struct: Struct, values: list[tuple[str, str]]) -> Code:
    pairs = tuple(f"{literal(name)}: {value}" for name, value in values)
    return call("build", struct.name, Group("{", pairs, "}"))


class _Annotations:
    """Annotations of one module, and which names of typing they use."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.text: list[str] = []

    def of(self, type: Type) -> Code:
        code = annotation(self.schema, type)
        self.text.append(flat(code))
        return code

    def uses(self, name: str) -> bool:
        return any(name in text for text in self.text)


def _dataclass(used: _Annotations, codec: Codec, struct: Struct) -> Iterator[str]:
    yield "@dataclass(frozen=True, kw_only=True, repr=False)"
    yield f"class {struct.name}(Record):"
    body = [*_opening(struct), *(line for f in struct.fields for line in _field(used, f))]
    if codec.keeps(struct):
        body += [f"{_STEP}extra_: Mapping[str, Any] = EMPTY"]
    yield from body or [f"{_STEP}pass"]


def _opening(struct: Struct) -> list[str]:
    doc = docstring(_STEP, described(struct))
    return [*doc, ""] if doc else []


def _field(used: _Annotations, field: Field) -> Iterator[str]:
    if field.wire != field.name:
        yield f"{_STEP}# {literal(field.wire)}"
    if field.const is not None:
        code = Group("ClassVar[", (used.of(field.type),), "]")
        used.text.append(flat(code))
        yield from member(_STEP, field.name, code, literal(field.const))
    elif field.required:
        yield from member(_STEP, field.name, used.of(field.type))
    else:
        yield from member(_STEP, field.name, optional(used.of(field.type), "Unset"), "UNSET")
    yield from docstring(_STEP, told(field))


def told(field: Field) -> str:
    """The text of a member's docstring."""
    notes = [field.doc, deprecation(field.deprecated)]
    if field.format:
        notes.append(f"Format: {field.format}.")
    return " ".join(note for note in notes if note)


def _module(schema: Schema, codec: Codec, used: _Annotations, structs: list[Row]) -> dict[str, Any]:
    aliases = [Row(a.name, tuple(_alias(used, a))) for a in _ordered(schema)]
    consts = [Row(c.name, tuple(_const(c))) for c in schema.consts.values()]
    reads = {name: codec.reader(Ref(name)) for name in schema.types}
    return {
        "public": _public([row.name for row in (*consts, *structs, *aliases)]),
        "imports": sorted(
            {*_IMPORTS, *codec.shared}, key=lambda name: (name.upper() != name, name)
        ),
        "title": schema.revision,
        "structs": structs,
        "aliases": aliases,
        "consts": consts,
        "members": [Row(s.name, tuple(_members(s))) for s in schema.structs.values()],
        "functions": list(codec.functions.values()),
        "readers": [f"{name}: {read}" for name, read in reads.items()],
        "writers": [f"{name}: _write_{name}" for name in schema.structs],
        "typing": {n for n in ("Any", "ClassVar", "Literal") if used.uses(n)},
    }


def _public(names: list[str]) -> list[str]:
    return [literal(name) for name in sorted({*names, *_FUNCTIONS})]


def _members(struct: Struct) -> list[str]:
    names = tuple(literal(f.wire) for f in struct.fields)
    inner = Group("{", names, "}") if names else ""
    return lay("", f"_{struct.name}_members = ", call("frozenset", *([inner] if inner else [])))


def _alias(used: _Annotations, alias: Alias) -> Iterator[str]:
    code = used.of(alias.type)
    yield from (
        member("", alias.name, "TypeAlias", code)
        if _fits(alias, code)
        else lay("", f"{alias.name}: TypeAlias = ", code)
    )
    yield from docstring("", described(alias))


def _fits(alias: Alias, code: Code) -> bool:
    return isinstance(code, str) and len(alias.name) + len(code) < 60


def _const(const: Const) -> Iterator[str]:
    yield f"{const.name}: Final = {literal(const.value)}"
    notes = (const.doc, deprecation(const.deprecated))
    yield from docstring("", " ".join(note for note in notes if note))


def _ordered(schema: Schema) -> list[Alias]:
    """Aliases, each after those that it mentions; otherwise in the schema's order."""
    aliases = {d.name: d for d in schema.types.values() if isinstance(d, Alias)}
    graph: Mapping[str, list[str]] = {
        name: [ref for ref in _mentioned(schema, alias.type) if ref in aliases]
        for name, alias in aliases.items()
    }
    return [aliases[name] for name in TopologicalSorter(graph).static_order()]


def _mentioned(schema: Schema, type: Type) -> Iterator[str]:
    inner = arms(schema, type) if isinstance(type, Uni) else (type,)
    for part in inner:
        if isinstance(part, Ref):
            yield part.name
        elif hasattr(part, "of") and not isinstance(part.of, tuple):
            yield from _mentioned(schema, part.of)
