"""The msgspec flavour: structs for the native decoder, and codecs for all other types."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from mcp_bindgen.emit.codec.shapes import Shapes
from mcp_bindgen.emit.models.rows import (
    Row,
    body_lines,
    member_text,
    module_rows,
    opening,
    record_body,
    sort_fields,
)
from mcp_bindgen.emit.text.annotate import Annotator, bound_arguments
from mcp_bindgen.emit.text.imports import Imports
from mcp_bindgen.emit.text.layout import (
    STEP,
    Code,
    Group,
    call,
    docstring,
    item,
    lay,
    literal,
    member,
)
from mcp_bindgen.emit.text.packages import imports_of, use_core
from mcp_bindgen.ir.model import (
    Alias,
    Arr,
    Bounded,
    Field,
    Map,
    Ref,
    Struct,
    Type,
)

__all__ = ["msgspec_view"]

_TYPING: Final = ("TYPE_CHECKING", "Any", "Final", "TypeVar", "overload")
_WIRE: Final = (
    *("GIVEN", "STOPS", "DecodeError", "EncodeError", "Json", "MemberError", "Reader"),
    *("check_depth", "parse", "too_deep", "write_again"),
)
_MSGSPEC: Final = (
    *("BUILDING", "Bare", "Open", "Unset"),
    *("bind", "hook_of", "with_tag", "write"),
)
"""Names used by the template."""


_FOR_USERS: Final = ("Checked", "MemberError", "Open", "dec_hook", "enc_hook")
"""Names beside those of the schema which every module exports."""


def msgspec_view(shapes: Shapes) -> dict[str, Any]:
    """The values for models_msgspec.py.jinja."""
    schema = shapes.schema
    imports = imports_of(schema)
    used = _Annotator(shapes, imports)
    structs = [Row(s.name, tuple(_class(used, s))) for s in schema.own_structs]
    names = [d.name for d in schema.own_types]
    imports.use(".._types_msgspec", "Checked")
    rows = module_rows(schema, used, structs, _FOR_USERS)
    imports.add("collections.abc", ("Callable",))
    imports.add("typing", _TYPING)
    imports.add("msgspec", ("UNSET", "MsgspecError", "json", "to_builtins"))
    imports.use("msgspec.json", "Decoder")
    imports.add(".._msgspec", _MSGSPEC)
    imports.use(".._numbers_msgspec", "finite")
    imports.add(".._wire", _WIRE)
    imports.use(".", "codec")
    core = ", core.dec_hook" if use_core(schema, imports, "models_msgspec") else ""
    return rows | {
        "hook": f"hook_of(type, _HOOKS{core})",
        "imports": imports.lines,
        "checked": [x for type in shapes.checked() for x in item(STEP, used.plain.code(type))],
        "codec_only": [f"{STEP}{n}," for n in names if not shapes.is_top(Ref(n))],
    }


class _Annotator(Annotator):
    """Marks with `Checked` the types which msgspec must not read."""

    def __init__(self, shapes: Shapes, imports: Imports) -> None:
        super().__init__(shapes.schema, imports, "models_msgspec")
        self.plain = Annotator(shapes.schema, imports, "models_msgspec")
        self.shapes = shapes

    def shared(self, name: str, module: str = ".._msgspec") -> str:
        """A name of the flavour's shared modules."""
        return self.imports.use(module, name)

    def code(self, type: Type) -> Code:
        if self.shapes.is_alone(type) or (isinstance(type, Ref) and type.name in self.shapes.open):
            return super().code(type)
        checked = self.shared("Checked", ".._types_msgspec")
        return Group(f"{checked}[", (self.plain.code(type),), "]")

    def circular(self, alias: Alias) -> Iterator[str]:
        yield from self.plain.circular(alias)

    def declared(self, type: Type) -> Code:
        """The annotation of an alias, kept as a union which `isinstance` accepts."""
        return super().code(type) if not isinstance(type, Arr | Map) else self.code(type)

    def bounded(self, type: Bounded) -> list[Code]:
        meta = call(self.imports.use("msgspec", "Meta"), *bound_arguments(type.limits))
        return [self.marked(part, meta) for part in self.parts(type.of)]


def _class(used: _Annotator, struct: Struct) -> Iterator[str]:
    shapes = used.shapes
    if not shapes.is_native(struct):
        yield from _open_class(used, struct)
        return
    fixed = shapes.written_consts(struct)
    options: list[Code] = [f"metaclass={used.shared('Fixed')}"] if fixed else []
    options += ["frozen=True", "kw_only=True"]
    if tag := shapes.tag(struct):
        options += [f"tag_field={literal(tag.wire)}", f"tag={literal(tag.const)}"]
    if renamed := [each for each in fixed if each.wire != each.name]:
        names = (f"{literal(each.name)}: {literal(each.wire)}" for each in renamed)
        options.append(Group("rename={", tuple(names), "}"))
    base = used.shared("Model" if shapes.keeps(struct) else "Bare")
    yield from lay("", "", Group(f"class {struct.name}(", (base, *options), ")"), ":")
    body = [*opening(struct)]
    for each in sort_fields(struct):
        body += [*_member(used, each, each in fixed), *docstring(STEP, member_text(each))]
    yield from body_lines(body)


def _member(used: _Annotator, field: Field, fixed: bool) -> Iterator[str]:
    if fixed:
        const = used.shared("Const", ".._types_msgspec")
        annotation = Group(f"{const}[", (used.code(field.type),), "]")
        yield from member(STEP, field.name, annotation, literal(field.const))
    elif field.const is not None:
        yield from member(STEP, field.name, used.constant(field.type), literal(field.const))
    else:
        code = used.code(field.type) if field.required else used.maybe(field.type)
        yield from member(STEP, field.name, code, _default(used, field))


def _default(used: _Annotator, field: Field) -> Code:
    if field.wire == field.name:
        return "" if field.required else "UNSET"
    settings = () if field.required else ("default=UNSET",)
    return call(used.imports.use("msgspec", "field"), *settings, f"name={literal(field.wire)}")


def _open_class(used: _Annotator, struct: Struct) -> Iterator[str]:
    """The lines of an open object: unknown to msgspec, with members as in the dataclass flavour."""
    late = used.shapes.is_late(struct)
    yield f"class {struct.name}({used.shared('Open')}):"
    yield from record_body(used.plain, struct, late, used.shapes.keeps(struct))
    if not late:
        yield f"{STEP}wire_ = None"
    wires = tuple(
        f"{literal(each.name)}: {literal(each.wire)}"
        for each in sort_fields(struct)
        if each.const is None
    )
    yield from lay(STEP, "wires_ = ", Group("{", wires, "}"))
