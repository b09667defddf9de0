"""Turns schemas and options into the text of each file of a bindings package."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path, PurePath
from traceback import extract_tb
from typing import Any, Final

import jinja2

from mcp_bindgen import paths
from mcp_bindgen.convert.model import Pair
from mcp_bindgen.emit.calls import (
    calls_view,
    flavour_calls_view,
    name_bodies,
)
from mcp_bindgen.emit.codec.shapes import Shapes
from mcp_bindgen.emit.codec.view import codec_view
from mcp_bindgen.emit.copies import copies, copies_of_steps
from mcp_bindgen.emit.methods import extension_view, methods_view
from mcp_bindgen.emit.models.dataclass import dataclass_view
from mcp_bindgen.emit.models.lean import lean_view
from mcp_bindgen.emit.models.msgspec import msgspec_view
from mcp_bindgen.emit.models.pydantic import pydantic_view
from mcp_bindgen.emit.options import FLAVOURS, Options
from mcp_bindgen.emit.steps.views import step_view, steps_view
from mcp_bindgen.emit.text.layout import literal
from mcp_bindgen.emit.text.packages import extension_package, package, title_of
from mcp_bindgen.errors import TemplateError
from mcp_bindgen.ir.choices import choose_literals
from mcp_bindgen.ir.model import Schema

__all__ = ["excerpt", "extension", "extensions", "generate", "package"]

_MODELS: Final[Mapping[str, Callable[[Shapes], Mapping[str, Any]]]] = {
    "dataclass": dataclass_view,
    "pydantic": pydantic_view,
    "msgspec": msgspec_view,
}


def generate(
    schemas: Sequence[Schema],
    options: Options,
    pairs: Sequence[Pair] | None = None,
    handlers: str | None = None,
) -> dict[str, str]:
    """Generate the text of every file of the package, by its path in the package.

    `pairs` are plans of neighbours; None writes no steps, and an empty sequence an empty table.
    `handlers` is the revision of the handlers' types, if it is among the schemas, else the newest.
    Lean models are those of the last schema, without steps.

    Raises TemplateError if a template fails, OutputError for an unusable name of a revision or
    type.
    """
    engine = _engine(options.templates)
    if options.lean:
        return _lean(engine, schemas[-1], options)
    files: dict[str, str] = {"py.typed": ""}
    handled = _handlers_revision(schemas, handlers)
    files["__init__.py"] = _render(
        engine, "package.py.jinja", None, _package_view(schemas, handled)
    )
    files.update(copies(_flavours_to_write(options.flavours)))
    files.update(_handlers(engine, handled, package(handled), options))
    for schema in schemas:
        for path, text in _revision(engine, schema, options):
            files[path] = text
    if pairs is not None:
        files.update(_steps(engine, schemas, options, pairs))
    return dict(sorted(files.items()))


def _lean(engine: jinja2.Environment, schema: Schema, options: Options) -> dict[str, str]:
    """The package of lean models of one revision."""
    shapes = Shapes(choose_literals(name_bodies(schema), options.literals), options.unknown)
    view = lean_view(shapes, options.absent)
    title = {"title": title_of(schema)}
    return {
        "__init__.py": _render(engine, "lean.py.jinja", schema, title),
        "models.py": _render(engine, "models_lean.py.jinja", schema, view),
        "py.typed": "",
    }


def _steps(
    engine: jinja2.Environment,
    schemas: Sequence[Schema],
    options: Options,
    pairs: Sequence[Pair],
) -> Iterator[tuple[str, str]]:
    """The steps between neighbours, and the package which runs them."""
    modules = {f"{package(p.old.revision)}__{package(p.new.revision)}": p for p in pairs}
    views = {name: step_view(pair) for name, pair in modules.items()}
    yield from copies_of_steps(composition=any(view["composition"] for view in views.values()))
    for name, view in views.items():
        yield f"steps/{name}.py", _render(engine, "step.py.jinja", None, view)
    view = steps_view(modules, schemas, options.flavours)
    yield "steps/__init__.py", _render(engine, "steps.py.jinja", None, view)
    yield "convert.py", _render(engine, "convert.py.jinja", None, view)


def _flavours_to_write(flavours: tuple[str, ...]) -> list[str]:
    """The flavours whose models are written: pydantic needs the dataclasses to locate an error."""
    needed = {*flavours, "dataclass"} if "pydantic" in flavours else {*flavours}
    return [flavour for flavour in FLAVOURS if flavour in needed]


def _handlers(
    engine: jinja2.Environment, title: str, package: str, options: Options
) -> Iterator[tuple[str, str]]:
    """The modules which re-export the models and calls for handlers."""
    for flavour in options.flavours:
        view = {"title": title, "package": package, "flavour": flavour}
        yield f"handlers_{flavour}.py", _render(engine, "handlers.py.jinja", None, view)


def _handlers_revision(schemas: Sequence[Schema], chosen: str | None) -> str:
    """The revision of the handlers' types: the chosen one, else the newest."""
    names = [schema.revision for schema in schemas]
    return chosen if chosen in names else names[-1]


def _package_view(schemas: Sequence[Schema], handled: str) -> Mapping[str, Any]:
    names = [schema.revision for schema in schemas]
    rows = [f"        {literal(name)}: {literal(package(name))}," for name in names]
    return {
        "packages": rows,
        "latest": literal(names[-1]),
        "handlers": literal(handled),
    }


def extension(schema: Schema, options: Options) -> dict[str, str]:
    """The text of every file of an extension's package, by its path there."""
    files = _revision(_engine(options.templates), schema, options)
    return {path.partition("/")[2]: text for path, text in files}


def extensions(schemas: Sequence[Schema], options: Options) -> dict[str, str]:
    """The text of every file of the extensions' packages, by its path beside the revisions."""
    engine = _engine(options.templates)
    names = {schema.revision: extension_package(schema.revision) for schema in schemas}
    rows = [f"        {literal(v)}: {literal(n.removeprefix('ext.'))}," for v, n in names.items()]
    view: dict[str, Any] = {"packages": rows}
    files = {"ext/__init__.py": _render(engine, "extensions.py.jinja", None, view)}
    for schema in schemas:  # the newest of each comes last
        folder, _, version = names[schema.revision].replace(".", "/").rpartition("/")
        name = schema.revision.partition("@")[0]
        view = {"title": name}
        files[f"{folder}/__init__.py"] = _render(engine, "extension.py.jinja", None, view)
        for path, text in _handlers(engine, title_of(schema), version, options):
            files[f"{folder}/{path}"] = text
        for path, text in extension(schema, options).items():
            files[f"{folder}/{version}/{path}"] = text
    return files


def _revision(
    engine: jinja2.Environment, schema: Schema, options: Options
) -> Iterator[tuple[str, str]]:
    folder = package(schema.revision)
    title = {"title": title_of(schema)}
    yield f"{folder}/__init__.py", _render(engine, "revision.py.jinja", schema, title)
    if schema.extension is None:
        template, view = "methods.py.jinja", methods_view(schema)
    else:
        template, view = "extension_methods.py.jinja", extension_view(schema)
    yield f"{folder}/methods.py", _render(engine, template, schema, view)
    named = choose_literals(name_bodies(schema), options.literals)
    shapes = Shapes(named, options.unknown)
    codec = codec_view(shapes, options.flavours)
    yield f"{folder}/codec.py", _render(engine, "codec.py.jinja", schema, codec)
    yield f"{folder}/calls.py", _render(engine, "calls.py.jinja", schema, calls_view(named))
    for flavour in _flavours_to_write(options.flavours):
        models = _MODELS[flavour](shapes)
        yield (
            f"{folder}/models_{flavour}.py",
            _render(engine, f"models_{flavour}.py.jinja", schema, models),
        )
        if flavour not in options.flavours:
            continue
        calls = flavour_calls_view(named, flavour)
        text = _render(engine, "calls_flavour.py.jinja", schema, calls)
        yield f"{folder}/calls_{flavour}.py", text


def _render(
    engine: jinja2.Environment, template: str, schema: Schema | None, view: Mapping[str, Any]
) -> str:
    try:
        text = engine.get_template(template).render(header=_header(schema, template), **view)
    except jinja2.TemplateError as error:
        raise TemplateError(
            f"{_place(error, template)}: {error}",
            remedy="Mend the template; what it may use is in the view of its name.",
        ) from None
    return text.rstrip("\n") + "\n"


def _place(error: jinja2.TemplateError, template: str) -> str:
    """File and line of a template's fault: a syntax error knows its line, others their frames."""
    frames = [f for f in extract_tb(error.__traceback__) if f.filename.endswith(".jinja")]
    if isinstance(error, jinja2.TemplateSyntaxError):
        return f"{error.filename or template}:{error.lineno}"
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else template


def _header(schema: Schema | None, template: str) -> str:
    if schema is None:
        return (
            "# Generated by mcp-bindgen. Do not edit; run `make generate`.\n"
            f"# template templates/bindings/{template}"
        )
    parts = PurePath(schema.path).parts
    pinned: tuple[str, ...] = ("schema", schema.revision, "schema.ts")
    if schema.extension is not None:
        pinned = ("schema", "ext", *schema.revision.split("@"), "schema.ts")
    source = "/".join(pinned) if parts[-len(pinned) :] == pinned else parts[-1]
    return (
        f"# Generated by mcp-bindgen from {source}. Do not edit; run `make generate`.\n"
        f"# structure {schema.digest}, template templates/bindings/{template}"
    )


@lru_cache
def _engine(folder: Path | None) -> jinja2.Environment:
    """Find templates in the folder first, and then among ours."""
    ours = paths.templates() / "bindings"
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader([ours] if folder is None else [folder, ours]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )


def excerpt(schema: Schema, name: str) -> str:
    """The class or alias of a declaration, as the dataclass flavour writes it."""
    view = dataclass_view(Shapes(schema, Options().unknown))
    rows = [*view["structs"], *view["aliases"], *view["consts"]]
    return next(("\n".join(row.lines) for row in rows if row.name == name), "")
