"""The dataclass flavour: frozen dataclasses, read and written by straight-line codecs."""

from __future__ import annotations

from collections.abc import Iterator
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
from mcp_bindgen.emit.text.layout import STEP, docstring, literal, member
from mcp_bindgen.ir.model import Field, Schema, Struct

__all__ = ["dataclass_view"]

_TYPING: Final = ("Any", "Final", "TypeVar", "overload")
_WIRE: Final = (
    *("GIVEN", "STOPS", "UNSET", "At", "DecodeError", "Json", "Record", "Unset"),
    *("Writers", "dump", "parse", "plain_writers", "too_deep", "write_again"),
)
"""What the template names."""


def dataclass_view(schema: Schema, options: Options) -> dict[str, Any]:
    """What models_dataclass.py.jinja places."""
    imports = Imports()
    codec = Codec(schema, options.unknown, holds=True)
    used = Annotator(schema, imports)
    structs = [Row(s.name, tuple(_class(used, codec, s))) for s in schema.structs.values()]
    rows = module_rows(schema, used, structs) | codec_rows(schema, codec)
    imports.add("collections.abc", ("Callable",))
    imports.add("typing", _TYPING)
    imports.add(".._wire", (*_WIRE, *codec.shared))
    imports.add(".._wire.bounds", codec.bounds)
    return rows | {"imports": imports.lines}


def _class(used: Annotator, codec: Codec, struct: Struct) -> Iterator[str]:
    yield f"class {struct.name}(Record):"
    body = [*opening(struct), *(line for f in struct.fields for line in _field(used, f))]
    if codec.keeps(struct):
        used.imports.use("collections.abc", "Mapping")
        used.imports.use(".._wire", "EMPTY")
        body += [f"{STEP}extra_: Mapping[str, Any] = EMPTY"]
    yield from body_lines(body)


def _field(used: Annotator, field: Field) -> Iterator[str]:
    if field.wire != field.name:
        yield f"{STEP}# {literal(field.wire)}"
    if field.const is not None:
        yield from member(STEP, field.name, used.constant(field.type), literal(field.const))
    elif field.required:
        yield from member(STEP, field.name, used.code(field.type))
    else:
        yield from member(STEP, field.name, optional(used.code(field.type), "Unset"), "UNSET")
    yield from docstring(STEP, told(field))
