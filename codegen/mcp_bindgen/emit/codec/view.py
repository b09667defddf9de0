"""Values for the template of codec.py: readers and writers shared by the flavours of a revision."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from mcp_bindgen.emit.codec.constructor_checks import Takes
from mcp_bindgen.emit.codec.readers import Readers
from mcp_bindgen.emit.codec.shapes import Shapes
from mcp_bindgen.emit.codec.writers import Writers
from mcp_bindgen.emit.text.layout import STEP, Group, call, lay, literal
from mcp_bindgen.emit.text.packages import core_module, imports_of, title_of, use_core
from mcp_bindgen.ir.model import Ref, Struct

__all__ = ["codec_view"]

_SHARED_BY: Final = ("dataclass", "msgspec")
"""The flavours bound to a codec; type checkers see it with the first one present."""

_WIRE: Final = ("At", "Json", "Reader", "Takes", "Writer", "Writers")
"""Names used by the template."""


def codec_view(shapes: Shapes, flavours: Collection[str]) -> dict[str, Any]:
    """The values for codec.py.jinja; `flavours` are the generated ones."""
    schema = shapes.schema
    imports = imports_of(schema)
    readers, writers = Readers(shapes, imports), Writers(shapes, imports)
    names = [d.name for d in schema.own_types]
    by_type = {name: readers.reader(Ref(name)) for name in names}
    checked = [readers.reader(type, "checked") for type in shapes.checked()]
    takes = Takes(shapes, readers)
    rows = [line for s in schema.own_structs for line in takes.rows(s)]
    borrowed = sorted(readers.borrowed | writers.borrowed)
    imports.add(".._wire", (*_WIRE, "Borrowed") if borrowed else _WIRE)
    core = use_core(schema, imports, "codec")
    imports.add("typing", ("TYPE_CHECKING", "Final") if schema.own_structs else ("Final",))
    flavour = next((f for f in _SHARED_BY if f in flavours), _SHARED_BY[0])
    models = imports_of(schema)
    models.add(f".models_{flavour}", (s.name for s in schema.own_structs))
    if takes.borrowed:
        models.add(core_module(schema, f"models_{flavour}"), takes.borrowed)
    return {
        "title": title_of(schema),
        "imports": imports.lines,
        "models": models.indented(STEP),
        "core": core,
        "borrowed": [f"{name}: Final = Borrowed({literal(name)})" for name in borrowed],
        "members": [line for s in schema.own_structs for line in _members(s)],
        "functions": [*readers.texts.values(), *writers.texts.values()],
        "tables": dict(_tables(readers.tables)),
        "readers": [f"{STEP}{literal(name)}: {read}," for name, read in by_type.items()],
        "writers": [f"{STEP}{literal(s.name)}: _write_{s.name}," for s in schema.own_structs],
        "checked": [f"{STEP}{read}," for read in checked],
        "names": [f"{STEP}{literal(n)}," for n in ("READERS", "WRITERS", *readers.tables)],
        "takes": "\n".join(["{", *rows, f"{STEP}}}"]) if rows else "{}",
    }


def _members(struct: Struct) -> list[str]:
    names = tuple(literal(f.wire) for f in struct.fields)
    code = call("frozenset", Group("{", names, "}")) if names else "frozenset[str]()"
    return lay("", f"_{struct.name}_members: Final = ", code)


def _tables(tables: Mapping[str, Mapping[str, str]]) -> Iterator[tuple[str, list[str]]]:
    for name, table in tables.items():
        rows = tuple(f"{tag}: {read}" for tag, read in table.items())
        yield name, lay("", f"{name}: Final[dict[str, Reader]] = ", Group("{", rows, "}"))
