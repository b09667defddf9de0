"""The parameters of a tool in one line, as TypeScript writes them."""

from __future__ import annotations

from typing import Final

from mcp_bindgen.ir.export.typescript import shape_text
from mcp_bindgen.ir.model import Field, Ref
from mcp_bindgen.tools.remarks import quoted
from mcp_bindgen.tools.surface import ARGUMENTS, WRAPPERS, read

__all__ = ["signature"]

_LONGEST: Final = 200


def signature(tool: bytes, name: str) -> str:
    """Return `(city: string, days?: number)` for a tool of `tools/list` in JSON.

    Parameters behind the 200th character are left out, and `…` says so. Raises the errors of
    `tools.surface.read`.
    """
    schema = read(b"[" + tool + b"]", name).side.schema
    params = schema.structs[f"{quoted(name)}{WRAPPERS[0]}"]
    (given,) = (field.type for field in params.fields if field.wire == ARGUMENTS)
    shape = schema.structs.get(given.name) if isinstance(given, Ref) else None
    if shape is None:
        return f"({shape_text(schema, given, 1)})"

    def one(field: Field) -> str:
        type = shape_text(schema, field.type, 1)
        type = type.replace("number (integer)", "integer").replace("number (integer, ", "integer (")
        return f"{field.wire}{'' if field.required else '?'}: {type}"

    text = ""
    for number, field in enumerate(shape.fields):
        more = f"{', ' if number else ''}{one(field)}"
        if len(text) + len(more) > _LONGEST:
            return f"({text}{', ' if number else ''}…)"
        text += more
    return f"({text})"
