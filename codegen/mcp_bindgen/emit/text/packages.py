"""Names the packages of bindings, and the core modules imported by an extension."""

from __future__ import annotations

from mcp_bindgen.emit.text.imports import Imports
from mcp_bindgen.errors import OutputError
from mcp_bindgen.ir.model import Schema

__all__ = ["core_module", "extension_package", "imports_of", "package", "title_of", "use_core"]


def package(revision: str) -> str:
    """The name of a revision's package: 2025-11-25 → v2025_11_25."""
    name = "v" + "".join(c if c.isalnum() and c.isascii() else "_" for c in revision)
    if not name.isidentifier():
        raise OutputError(f"{revision!r} cannot name a package", remedy="Use letters and digits.")
    return name


def extension_package(name: str) -> str:
    """The package with the bindings of a pinned extension: ext.apps.v2026_01_26 for
    apps@2026-01-26.
    """
    extension, _, version = name.partition("@")
    return f"ext.{package(extension)[1:]}.{package(version)}"


def title_of(schema: Schema) -> str:
    """The name of a schema in docstrings: `2025-11-25`, `extension tasks@draft-2026-08-21`."""
    return schema.revision if schema.extension is None else f"extension {schema.revision}"


def imports_of(schema: Schema) -> Imports:
    """An empty collection of imports, for a module of this schema's package."""
    return Imports() if schema.extension is None else Imports(schema.extension.wire)


def core_module(schema: Schema, module: str) -> str:
    """The name of a core module, seen from an extension's package."""
    assert schema.extension is not None
    return f"..{package(schema.extension.core.revision)}.{module}"


def use_core(schema: Schema, imports: Imports, module: str) -> bool:
    """Import a module of the core as `core`, if types of the core are needed."""
    if schema.foreign:
        place, _, name = core_module(schema, module).rpartition(".")
        imports.use(place, f"{name} as core")
    return bool(schema.foreign)
