"""`mcp-bindgen inspect`: shows what a schema declares, whole or by name."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import click

from mcp_bindgen import pins
from mcp_bindgen.cli import OK
from mcp_bindgen.cli.ignored import bystanders, unknown_tags, unused_generics
from mcp_bindgen.cli.options import imports_option
from mcp_bindgen.cli.show import code, columns, heading, safe, say
from mcp_bindgen.errors import InputError
from mcp_bindgen.source.text import close_to

if TYPE_CHECKING:
    from mcp_bindgen.ir.model import Declaration, Method, Schema, Type

__all__ = ["command"]

_FORMATS: Final = ("text", "json", "facts", "json-schema")


@click.command("inspect")
@click.argument("schema", metavar="REVISION|NAME@VERSION|FILE|DIR")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--format",
    type=click.Choice(_FORMATS),
    default="text",
    help="Show it in this form (default: text).",
)
@imports_option
def command(schema: str, names: tuple[str, ...], format: str, imports: tuple[str, ...]) -> int:
    """Show the declarations of a schema; with names, each of these in TypeScript and in Python.

    NAME@VERSION is a version of an extension, such as tasks@draft-2026-08-21.
    """
    file = pins.find(schema, imports)
    match format:
        case "text":
            say("\n".join(_text(file, names)))
        case "json":
            say(_plain(_select(_dump(file), names)))
        case "facts":
            say(_plain(_select(_facts(file), names)))
        case _:
            say(_plain(_json_schema(file, names)))
    return OK


def _plain(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


# ---- for machines


def _dump(file: pins.Found) -> dict[str, Any]:
    from mcp_bindgen.ir.export.dump import dump

    return dump(pins.meaning(file))


def _facts(file: pins.Found) -> dict[str, Any]:
    from mcp_bindgen.ir.lower.facts import facts
    from mcp_bindgen.ir.resolve.resolver import Resolver
    from mcp_bindgen.source import Source, link

    return facts(Resolver(*link(Source(file.data, file.path), file.imports)))


def _json_schema(file: pins.Found, names: Sequence[str]) -> dict[str, Any]:
    from mcp_bindgen.ir.export.json_schema import json_schema

    schema = pins.meaning(file)
    document: dict[str, Any] = json_schema(schema)
    if not names:
        return document
    table: dict[str, Any] = document["$defs"]
    _require(names, list(table))
    if len(names) == 1:
        return {**document, "$ref": f"#/$defs/{names[0]}"}
    return {**document, "anyOf": [{"$ref": f"#/$defs/{name}"} for name in names]}


def _select(body: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """`body` with only the named declarations and methods; everything if no name is given."""
    if not names:
        return body
    methods = [(m.get("name") or m["method"], m) for m in body["methods"]]
    _require(names, [*(d["name"] for d in body["declarations"]), *(name for name, _ in methods)])
    return {
        **body,
        "declarations": [d for d in body["declarations"] if d["name"] in names],
        "methods": [m for name, m in methods if name in names or m["type"] in names],
    }


def _require(names: Sequence[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            raise InputError(
                f"the schema declares no {name!r}",
                remedy=close_to(name, known, "Without a name, inspect lists what there is."),
            )


# ---- for people


def _text(file: pins.Found, names: Sequence[str]) -> Iterator[str]:
    schema = pins.meaning(file)
    if not names:
        yield from _overview(schema)
        yield from _ignored(file)
        return
    declared = {d.name: d for d in schema.declarations}
    methods = {m.name: m for m in schema.methods}
    _require(names, [*declared, *methods])
    for number, name in enumerate(names):
        if number:
            yield ""
        if name in methods:
            yield safe("  ".join(cell for cell in _method(methods[name]) if cell))
            yield ""
            name = methods[name].type
        yield from _declaration(file, schema, declared[name])


def _overview(schema: Schema) -> Iterator[str]:
    yield from heading(f"{schema.revision}  {schema.path}")
    yield f"structure {schema.digest}"
    yield f"era {schema.era}"
    yield from _extends(schema)
    yield ""
    yield from heading(f"Declarations ({len(schema.own)})")
    yield from columns((d.name, _kind(d)) for d in schema.own)
    yield ""
    yield from heading(f"Methods ({len(schema.methods)})")
    yield from columns(_method(m) for m in schema.methods)
    yield from _unions(schema)


def _extends(schema: Schema) -> Iterator[str]:
    """The rows about an extension; empty for other schemas."""
    extension = schema.extension
    if extension is None:
        return
    yield safe(f"extension {extension.identifier or 'without an identifier'}")
    yield safe(f"core {extension.core.revision}, {len(schema.foreign)} of its types")
    yield safe(f"roles {', '.join(extension.roles)}")
    if extension.stage:
        yield safe(f"stage {extension.stage}")
    if extension.settings_revision:
        yield safe(f"revision {extension.settings_revision} in its settings")
    for path, names in extension.added.items():
        yield safe(f"{path} may be answered by {', '.join(names)}")
    for member in extension.members:
        path = ".".join((member.owner, *member.path, member.name))
        yield safe(f"{path} is {_spell(member.type)}")


def _ignored(file: pins.Found) -> Iterator[str]:
    """The lines about unknown tags, unused generic types and declarations like messages."""
    tags, generics = [*unknown_tags(file)], [*unused_generics(file)]
    others = [*bystanders(file)]
    if tags:
        yield ""
        yield from heading(f"Unknown tags ({len(tags)}), which bind nothing")
        yield from columns(tags)
    if generics:
        yield ""
        yield from heading(f"Generic types ({len(generics)}) that no type uses, left out")
        yield from columns(generics)
    if others:
        yield ""
        yield from heading(f"Types ({len(others)}) that name a method without being its message")
        yield from columns(others)


def _kind(declaration: Declaration) -> str:
    from mcp_bindgen.ir.model import Const, Struct

    flags = " (deprecated)" if declaration.deprecated is not None else ""
    if isinstance(declaration, Const):
        return f"const {json.dumps(declaration.value, ensure_ascii=False)}{flags}"
    if isinstance(declaration, Struct):
        required = sum(field.required for field in declaration.fields)
        place = f", written at {declaration.place}" if declaration.place else ""
        count = len(declaration.fields)
        return f"struct, {count} member{'s' * (count != 1)}, {required} required{place}{flags}"
    return f"alias {_spell(declaration.type)}{flags}"


def _method(method: Method) -> tuple[str, ...]:
    """The cells of its row."""
    params = "none" if method.params is None else _spell(method.params)
    optional = "?" if method.params_optional and method.params is not None else ""
    result = "" if method.result is None else f"-> {_spell(method.result)}"
    needs = f"needs {method.capability}" if method.capability else ""
    old = "deprecated" if method.deprecated is not None else ""
    way = f"{method.kind}, {method.direction}"
    return method.name, way, f"params{optional} {params}", result, f"{needs}  {old}".strip()


def _unions(schema: Schema) -> Iterator[str]:
    lines = [line for d in schema.declarations for line in _union(schema, d)]
    yield ""
    count = sum(not line.startswith(" ") for line in lines)
    yield from heading(f"Unions ({count}), each arm tried in this order")
    yield from (f"  {line}" for line in lines)


def _union(schema: Schema, declaration: Declaration) -> Iterator[str]:
    """The arms of a union; empty for other declarations."""
    from mcp_bindgen.ir.model import Alias, Uni
    from mcp_bindgen.ir.unions import arms, overlaps, tag
    from mcp_bindgen.ir.walk import strip_bounds

    if isinstance(declaration, Alias) and isinstance(strip_bounds(schema, declaration.type), Uni):
        leaves = arms(schema, declaration.type)
        by = tag(schema, leaves)
        order = ", ".join(map(_spell, leaves))
        yield safe(f"{declaration.name}: {order}") + (f"  by {safe(by)}" if by else "")
        both: dict[str, list[str]] = {}
        for name, first, second in overlaps(schema):
            if name == declaration.name:
                both.setdefault(first, []).append(second)
        yield from (f"  overlap: {first} with {', '.join(rest)}" for first, rest in both.items())


def _spell(type: Type) -> str:
    from mcp_bindgen.ir.export.typescript import type_text

    return type_text(type)


def _declaration(file: pins.Found, schema: Schema, declaration: Declaration) -> Iterator[str]:
    from mcp_bindgen.emit import excerpt

    name = declaration.name
    path, text = _typescript(file, schema, declaration)
    yield safe(f"// {path}")
    yield from code(text, "typescript")
    python = excerpt(schema, name).strip("\n")
    if python:
        yield ""
        yield "# Python"
        yield from code(python, "python")
    yield ""
    yield from _union(schema, declaration)
    where = [revision for revision, names in _everywhere(schema) if name in names]
    yield f"in {', '.join(where) or 'no pinned revision'}"


def _typescript(file: pins.Found, schema: Schema, declaration: Declaration) -> tuple[str, str]:
    """The file and the TypeScript text; for an anonymous shape, of the declaration around it."""
    from mcp_bindgen.ir.model import Alias
    from mcp_bindgen.source import Source, link, read_source
    from mcp_bindgen.source.excerpt import excerpt

    if schema.extension is not None and declaration.name in schema.foreign:
        file = pins.find(schema.extension.core.revision)
    elif isinstance(declaration, Alias) and not declaration.at:
        written = f"type {declaration.name} = {_spell(declaration.type)};"
        return "schema/ext/decisions.toml", written
    linked, _ = link(Source(file.data, file.path), file.imports)
    source, at = linked.file(declaration.at)
    module = read_source(source)
    around = [d.name for d in module.declarations if d.at <= at]
    return source.path, excerpt(source, module, around[-1])


def _everywhere(schema: Schema) -> Iterator[tuple[str, frozenset[str]]]:
    """Each pinned revision with its names, anonymous shapes included; for an extension, with the
    names it declares itself.
    """
    if schema.extension is not None:
        yield schema.revision, frozenset(d.name for d in schema.own)
    for revision in pins.revisions():
        yield revision, frozenset(d.name for d in pins.resolve(revision).declarations)
