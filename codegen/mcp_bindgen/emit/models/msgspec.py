"""The msgspec flavour: structs for the native decoder, codecs for what that cannot say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from mcp_bindgen.emit.models.codec import Codec
from mcp_bindgen.emit.models.rows import (
    Row,
    body_lines,
    codec_rows,
    module_rows,
    opening,
    told,
)
from mcp_bindgen.emit.options import Options
from mcp_bindgen.emit.text.annotate import Annotator, optional
from mcp_bindgen.emit.text.imports import Imports
from mcp_bindgen.emit.text.layout import (
    STEP,
    Code,
    Group,
    call,
    docstring,
    flat,
    lay,
    literal,
    member,
)
from mcp_bindgen.ir.model import (
    JSON_PRIMS,
    Alias,
    Arr,
    Bounded,
    Field,
    Limits,
    Lit,
    Map,
    Prim,
    Ref,
    Schema,
    Struct,
    Tup,
    Type,
    Uni,
)
from mcp_bindgen.ir.unions import arms, tag
from mcp_bindgen.ir.walk import (
    children,
    holds_struct,
    is_any,
    kinds,
    recursive,
    stripped,
    unaliased,
)

__all__ = ["msgspec_view"]

_TYPING: Final = ("Any", "Final", "TypeVar", "overload")
_WIRE: Final = (
    *("GIVEN", "STOPS", "At", "DecodeError", "Json", "Writers", "check_depth"),
    *("parse", "plain_writers", "too_deep", "write_again"),
)
_MSGSPEC: Final = ("UNSET", "Unset", "decoder", "encoder", "refused", "write")
"""What the template names."""
_OWN: Final = frozenset(("UNSET", "keep", "make"))
"""Names that the codecs use, and that this flavour has of its own."""


def msgspec_view(schema: Schema, options: Options) -> dict[str, Any]:
    """What models_msgspec.py.jinja places."""
    imports = Imports()
    gears = _Gears(schema)
    codec = Codec(schema, options.unknown, gears.native, gears.late)
    used = _Annotator(schema, imports, gears, codec)
    structs = [Row(s.name, tuple(_class(used, codec, s))) for s in schema.structs.values()]
    rows = module_rows(schema, used, structs) | codec_rows(schema, codec)
    imports.add("collections.abc", ("Callable",))
    imports.add("typing", _TYPING)
    imports.use("msgspec", "MsgspecError")
    imports.add(".._msgspec", (*_MSGSPEC, *(_OWN & codec.shared)))
    imports.add(".._wire", {*_WIRE, *codec.shared} - _OWN)
    imports.add(".._wire.bounds", codec.bounds)
    return rows | {
        "imports": imports.lines,
        "checked": [f"{code}: {reader}" for code, reader in used.checked.items()],
        "codec_only": [name for name in schema.types if not gears.top(Ref(name))],
    }


@dataclass
class _Gears:
    """Which types the native gear can read, and so write."""

    schema: Schema
    open: set[str] = field(default_factory=set[str])

    def __post_init__(self) -> None:
        self.recursive = recursive(self.schema)
        named = {
            t.name for m in self.schema.methods for t in _refs(self.schema, m.params, m.result)
        }
        for struct in self.schema.structs.values():
            if self._is_open(struct, named):
                self.open.add(struct.name)

    def _is_open(self, struct: Struct, named: set[str]) -> bool:
        """Whether a struct has a codec only: an open member of others, or not native at all."""
        consts = struct.consts
        if len(consts) > 1 or any(not _is_tag(f.const) for f in consts):
            return True
        if struct.index is not None and (
            struct.name not in named or not is_any(self.schema, struct.index)
        ):
            return True
        return any(self._is_rare(f.type) for f in struct.fields)

    def _is_rare(self, type: Type) -> bool:
        bare = unaliased(self.schema, type)
        match type:
            case Tup():
                return True
            case Lit():
                return not _is_tag(type.value)
            case Bounded():
                alone = len(kinds(self.schema, type.of)) == 1
                return _is_beyond(type.limits) or not alone or self._is_rare(type.of)
            case Ref() if type.name in self.recursive:
                return True
            case Ref():
                return bare is not type and self._is_rare(bare)
            case Uni(arms=()):
                return True
            case _:
                return any(map(self._is_rare, children(type)))

    def native(self, struct: Struct) -> bool:
        return struct.name not in self.open

    def is_json(self, struct: Struct) -> bool:
        """Whether all that a struct holds is JSON, so that what it was read from can be written."""
        types = [f.type for f in struct.fields] + ([struct.index] if struct.index else [])
        return not any(holds_struct(self.schema, t) for t in types)

    def late(self, struct: Struct) -> bool:
        """Whether the members of a struct are read from what it keeps, when they are asked for."""
        given = any(f.required and f.const is None for f in struct.fields)
        index = struct.index is not None and is_any(self.schema, struct.index)
        return struct.name in self.open and index and not given and self.is_json(struct)

    def alone(self, type: Type) -> bool:
        """Whether the native gear reads a type exactly, where it stands by itself."""
        opened = stripped(self.schema, type)
        match opened:
            case Ref(name=name):
                return name not in self.open and not self.schema.structs[name].consts
            case Uni():
                return self._union(arms(self.schema, opened))
            case _:
                return True

    def top(self, type: Type) -> bool:
        """As `alone`, for a type that is decoded by itself: there a single tag counts too."""
        opened = stripped(self.schema, type)
        if isinstance(opened, Ref):
            return opened.name not in self.open
        return self.alone(type) and not self._is_rare(type)

    def _union(self, leaves: tuple[Type, ...]) -> bool:
        opened = [stripped(self.schema, leaf) for leaf in leaves]
        if any(isinstance(o, Prim) and o.name in JSON_PRIMS for o in opened):
            return True
        objects = [o for o in opened if "object" in kinds(self.schema, o)]
        arrays = [o for o in opened if isinstance(o, Arr | Tup)]
        return len(arrays) <= 1 and self._objects(tuple(objects))

    def _objects(self, objects: tuple[Type, ...]) -> bool:
        if len(objects) == 1:
            return self.alone(objects[0])
        if not objects:
            return True
        structs = [o.name for o in objects if isinstance(o, Ref)]
        return tag(self.schema, objects) is not None and self.open.isdisjoint(structs)


def _is_beyond(limits: Limits) -> bool:
    """Whether msgspec cannot state the limits of one kind of value."""
    return bool(
        limits.integer or limits.multiple_of is not None or limits.unique_items or limits.pattern
    )


def _is_tag(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool))


def _refs(schema: Schema, *types: Type | None) -> Iterator[Ref]:
    for type in types:
        opened = None if type is None else stripped(schema, type)
        if isinstance(opened, Uni):
            yield from _refs(schema, *opened.arms)
        elif isinstance(opened, Ref):
            yield opened


class _Annotator(Annotator):
    """Marks with `Checked` what the native gear must not read; `checked` has the codec of each."""

    def __init__(self, schema: Schema, imports: Imports, gears: _Gears, codec: Codec) -> None:
        super().__init__(schema, imports)
        self.plain = Annotator(schema, imports)
        self.gears = gears
        self.codec = codec
        self.checked: dict[str, str] = {}

    def shared(self, name: str) -> str:
        """A name of the flavour's shared module."""
        return self.imports.use(".._msgspec", name)

    def code(self, type: Type) -> Code:
        if self.gears.alone(type) or (isinstance(type, Ref) and type.name in self.gears.open):
            return super().code(type)
        code = self.plain.code(type)
        if not isinstance(type, Ref):
            self.checked[flat(code)] = self.codec.reader(type, "checked")
        return Group(f"{self.shared('Checked')}[", (code,), "]")

    def circular(self, alias: Alias) -> Iterator[str]:
        self.imports.use("typing", "TypeAlias")
        yield from self.plain.circular(alias)

    def declared(self, type: Type) -> Code:
        """The annotation of an alias, which stays a union that `isinstance` knows."""
        return super().code(type) if not isinstance(type, Arr | Map) else self.code(type)

    def bounded(self, type: Bounded) -> list[Code]:
        limits = type.limits
        sizes = [(limits.minimum, "ge"), (limits.maximum, "le")]
        sizes += [(limits.exclusive_minimum, "gt"), (limits.exclusive_maximum, "lt")]
        least = limits.min_items if limits.min_items is not None else limits.min_length
        most = limits.max_items if limits.max_items is not None else limits.max_length
        sizes += [(least, "min_length"), (most, "max_length")]
        bounds = (f"{name}={value!r}" for value, name in sizes if value is not None)
        meta = call(self.imports.use("msgspec", "Meta"), *bounds)
        return [self.marked(part, meta) for part in self.parts(type.of)]


def _class(used: _Annotator, codec: Codec, struct: Struct) -> Iterator[str]:
    is_open = struct.name in used.gears.open
    base = used.shared("Open" if is_open else "Model" if codec.keeps(struct) else "Bare")
    options: tuple[Code, ...] = () if is_open else ("frozen=True", "kw_only=True")
    for const in () if is_open else struct.consts:
        options += (f"tag_field={literal(const.wire)}", f"tag={literal(const.const)}")
    head = Group(f"class {struct.name}(", (base, *options), ")")
    yield from lay("", "", head, ":")
    late = codec.late(struct)
    body = [*opening(struct), *(x for f in struct.fields for x in _field(used, f, is_open, late))]
    if is_open and codec.keeps(struct):
        wires = (literal(field.wire) for field in struct.fields)
        used.imports.use("collections.abc", "Mapping")
        rest = call(used.shared("Rest"), *wires) if late else used.imports.use(".._wire", "EMPTY")
        body += member(STEP, "extra_", "Mapping[str, Any]", rest)
    yield from body_lines(body)


def _field(used: _Annotator, field: Field, is_open: bool, late: bool) -> Iterator[str]:
    renamed = field.wire != field.name
    if renamed and is_open:
        yield f"{STEP}# {literal(field.wire)}"
    if field.const is not None:
        yield from member(STEP, field.name, used.constant(field.type), literal(field.const))
    else:
        plain = used.plain if is_open else used
        code = plain.code(field.type)
        code = code if field.required else optional(code, "Unset")
        default = _default(used, field, renamed and not is_open)
        if late:
            default = call(used.shared("Late"), literal(field.wire))
        yield from member(STEP, field.name, code, default)
    yield from docstring(STEP, told(field))


def _default(used: _Annotator, field: Field, renamed: bool) -> Code:
    if not renamed:
        return "" if field.required else "UNSET"
    settings = () if field.required else ("default=UNSET",)
    return call(used.imports.use("msgspec", "field"), *settings, f"name={literal(field.wire)}")
