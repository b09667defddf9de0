"""The dataclass flavour: frozen dataclasses, read and written by straight-line codecs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from mcp_bindgen.emit.codec.shapes import Shapes
from mcp_bindgen.emit.models.rows import (
    Row,
    module_rows,
    record_body,
)
from mcp_bindgen.emit.text.annotate import Annotator
from mcp_bindgen.emit.text.packages import imports_of
from mcp_bindgen.ir.model import Struct

__all__ = ["dataclass_view"]

_TYPING: Final = ("TYPE_CHECKING", "Any", "Final", "TypeVar", "overload")
_WIRE: Final = (
    *("GIVEN", "STOPS", "UNSET", "DecodeError", "EncodeError", "Json", "MemberError", "Reader"),
    *("Unset", "bind", "dump", "parse", "too_deep", "write_again"),
)
"""Names used by the template."""


def dataclass_view(shapes: Shapes) -> dict[str, Any]:
    """The values for models_dataclass.py.jinja."""
    schema = shapes.schema
    imports = imports_of(schema)
    used = Annotator(schema, imports, "models_dataclass")
    structs = [Row(s.name, tuple(_class(used, shapes, s))) for s in schema.own_structs]
    rows = module_rows(schema, used, structs, ("MemberError",))
    imports.add("typing", _TYPING)
    imports.add(".._wire", _WIRE)
    imports.use(".", "codec")
    return rows | {"imports": imports.lines}


def _class(used: Annotator, shapes: Shapes, struct: Struct) -> Iterator[str]:
    late = shapes.is_late(struct)
    base = used.imports.use(".._dataclass", "KeptRecord" if late else "Record")
    yield f"class {struct.name}({base}):"
    yield from record_body(used, struct, late, shapes.keeps(struct))
