"""Makes the text of each output file of `mcp-bindgen generate`, and a digest of its inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final

from mcp_bindgen import manifest, paths, pins
from mcp_bindgen.cli.generate.choices import Choices, Target, is_default, kept_options
from mcp_bindgen.cli.generate.extension import extension_files
from mcp_bindgen.cli.show import progress
from mcp_bindgen.errors import InputError, OutputError

if TYPE_CHECKING:
    from mcp_bindgen.convert.model import Pair
    from mcp_bindgen.emit.options import Options
    from mcp_bindgen.ir.decisions.decisions import Decisions
    from mcp_bindgen.ir.model import Schema

__all__ = ["bindings", "confirm_rows", "folders_to_write", "input_digest", "make_files"]

_COMMAND: Final = ("run `make generate`", "run `mcp-bindgen generate`")
"""The command named in headers: in this project, and elsewhere."""


def input_digest(target: Target, choices: Choices) -> str:
    """The digest of everything the output depends on."""
    return manifest.digest(_parts(target, choices))


def _parts(target: Target, choices: Choices) -> Iterator[tuple[str, bytes]]:
    yield from manifest.sources()
    for revision, file in target.schema_files.items():
        yield f"schema {revision} {_header_name(file)} {file.revision}", file.data
        for specifier, source in file.imports.items():
            yield f"import {revision} {specifier}", source.data
    for name in _extensions(target):
        yield from _texts(f"schema {name}", pins.find(name))
    if target.beside is not None:
        yield from _texts(f"core {target.beside.core}", pins.find(target.beside.core))
        if target.beside.decisions is not None:
            yield "rows", pins.read_bytes(target.beside.decisions)
    for table in ("decisions.toml", "ext/decisions.toml", "ext/PINS.toml"):
        yield table, pins.read_bytes(paths.schema() / table)
    for folder in (choices.templates, paths.templates() / "bindings"):
        for path, data in manifest.texts(folder) if folder else ():
            yield f"template {path}", data
    flavours = "all" if choices.flavours is None else ",".join(choices.flavours)
    lean = choices.absent if choices.lean else ""
    options = (flavours, choices.unknown, choices.literals, choices.format, lean)
    yield "options", " ".join(options).encode()
    if choices.format == "black":
        yield "black", _black().__version__.encode()


def _texts(name: str, file: pins.Found) -> Iterator[tuple[str, bytes]]:
    """The text of a schema, and of the files which it is written in beside it."""
    yield name, file.data
    for specifier, source in file.imports.items():
        if source.part:
            yield f"{name} {specifier}", source.data


def _black() -> ModuleType:
    """The formatter. Raises InputError where it is not installed."""
    try:
        import black
    except ImportError:
        raise InputError("--format black needs black", remedy="pip install black") from None
    return black


def _format(files: Mapping[str, str]) -> dict[str, str]:
    """Format the files with black, for the oldest supported Python."""
    black = _black()
    mode = black.Mode(target_versions={black.TargetVersion.PY311})
    return {
        path: black.format_str(text, mode=mode) if path.endswith(".py") else text
        for path, text in files.items()
    }


def _header_name(file: pins.Found) -> str:
    """The name of a file in headers, with as little of its path as possible."""
    ours = file.path == f"schema/{file.revision}/schema.ts"
    return file.path if ours else Path(file.path).name


def _options(choices: Choices) -> Options:
    from mcp_bindgen.emit import Options

    flavours = Options().flavours if choices.flavours is None else choices.flavours
    return Options(
        flavours,
        choices.unknown,
        choices.literals,
        choices.format,
        choices.templates,
        choices.lean,
        choices.absent,
    )


def make_files(target: Target, choices: Choices) -> dict[str, str]:
    """Every file, by path; the manifest too where the whole folder is written."""
    options = _options(choices)
    if target.beside is None:
        files = bindings(target.schema_files, options, extensions=_extensions(target))
    else:
        files = extension_files(target, options)
    if not is_default(target.out):
        files = {path: text.replace(*_COMMAND, 1) for path, text in files.items()}
    if choices.format == "black":
        files = _format(files)
    if target.only is None:
        kept = kept_options(target.out, choices)
        files[manifest.NAME] = manifest.describe(list(target.schema_files), files, kept).text()
    return files


def _extensions(target: Target) -> list[str]:
    """The pinned versions of extensions, which go with all revisions of the core alone."""
    ours = [name for name, each in target.schema_files.items() if name == each.revision]
    whole = target.only is None and set(ours) == set(pins.revisions())
    return sorted(pins.extensions(), key=_by_date) if whole else []


def _by_date(version: str) -> tuple[str, str]:
    """Drafts and releases of an extension, oldest first."""
    name, _, date = version.partition("@")
    return name, date.removeprefix("draft-")


def bindings(
    schema_files: Mapping[str, pins.Found],
    options: Options,
    *,
    steps: bool = False,
    extensions: Sequence[str] = (),
) -> dict[str, str]:
    """The text of every file, by path; with `steps` also for a revision without neighbours."""
    from mcp_bindgen.emit import generate

    with progress(len(schema_files) + 1) as step:
        schemas: list[Schema] = []
        rows = replace(pins.decisions(), deferred=True)
        rows.require_known(*_pinned_names())
        for revision, each in schema_files.items():
            step(f"reading {revision}")
            schemas.append(pins.lower(each, revision, rows))
            _require_declarations(schemas[-1])
        pairs = _pairs(schema_files, schemas, rows)
        rows.settle()
        step("writing")
        files = generate(schemas, options, pairs if pairs or steps else None, rows.handlers)
        return files | (_extension_files(schemas, options, extensions) if extensions else {})


def _require_declarations(schema: Schema) -> None:
    if not schema.declarations:
        raise InputError(
            f"{schema.path}: declares nothing", remedy="Give a file that exports types."
        )


def _extension_files(
    schemas: Sequence[Schema], options: Options, versions: Sequence[str]
) -> dict[str, str]:
    from mcp_bindgen import emit
    from mcp_bindgen.ir.lower.extensions import require_apart

    cores = {schema.revision: schema for schema in schemas}
    pinned = pins.extensions()
    rows = replace(pins.extension_decisions(), deferred=True)
    rows.require_known(pinned, ())
    files = {version: pins.find(version) for version in versions}
    extended = [pins.extension(f, v, cores[pinned[v].core], rows) for v, f in files.items()]
    rows.settle()
    require_apart(extended)
    return emit.extensions(extended, options)


def confirm_rows(target: Target) -> None:
    """Note in decisions.toml, for each row that a new revision leaves as it is, that it does."""
    from mcp_bindgen.ir.decisions.edits import add_confirmations

    rows = replace(pins.decisions(), deferred=True)
    for revision, each in target.schema_files.items():
        pins.lower(each, revision, rows)
    if rows.confirmations:
        path = paths.schema() / "decisions.toml"
        path.write_text(add_confirmations(rows.text, rows.confirmations), encoding="utf-8")


def _pinned_names() -> tuple[list[str], list[str]]:
    """The pinned revisions, and the name of each pair of neighbours in rows."""
    from mcp_bindgen.convert.plan import pair_name

    pinned = pins.revisions()
    return pinned, [pair_name(old, new) for old, new in pairwise(pinned)]


def _pairs(
    schema_files: Mapping[str, pins.Found], schemas: Sequence[Schema], rows: Decisions
) -> list[Pair]:
    """The plans of pinned neighbours which are both written; rows concern no other pairs."""
    from mcp_bindgen.convert import plan

    chosen = {s.revision: s for s in schemas if schema_files[s.revision].revision == s.revision}
    pinned = pins.revisions()
    both = [(chosen.get(a), chosen.get(b)) for a, b in pairwise(pinned)]
    texts = (
        {name: schema_files[name].text_with_imports() for name in chosen} if len(chosen) > 1 else {}
    )
    return [plan(old, new, rows, texts) for old, new in both if old and new]


def folders_to_write(target: Target) -> frozenset[str] | None:
    """The folders to write; None for all. Raises OutputError if two revisions have one folder."""
    from mcp_bindgen.emit.generate import package

    names = [package(revision) for revision in target.schema_files]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise OutputError(
            f"two revisions would be the package {', '.join(sorted(twice))}",
            remedy="Call one of them otherwise (--revision).",
        )
    return None if target.only is None else frozenset(map(package, target.only))
