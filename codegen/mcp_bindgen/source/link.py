"""Links imports: copies the imported declarations of other files into a module.

Copied declarations have byte offsets in the joined text. They keep their names, unless the module
already uses the name; then the file's name is put before it. Of a file that is a part of the same
schema all declarations are copied, before those of the file that imports it, and they are the
module's own: the schema reads as if it stood in one file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from pathlib import PurePosixPath
from typing import Any, Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

import mcp_bindgen.source.syntax as syntax
from mcp_bindgen.errors import SchemaMeaningError
from mcp_bindgen.source.concatenated import Joined
from mcp_bindgen.source.reader import read_source
from mcp_bindgen.source.text import Source, did_you_mean, printable

__all__ = ["link"]

_IMPORT: Final = re.compile(rb"import\s*[(/]")


def link(source: Source, files: Mapping[str, Source]) -> tuple[Source, syntax.Module]:
    """Join the texts, and return the module with every declaration it imports.

    `files` maps import specifiers to texts, for this file and the imported ones. Raises
    SchemaMeaningError for an import without a file, and the errors of `read`.
    """
    module = read_source(source)
    if not module.imports and not _has_import_types(source, module):
        return source, module
    return _Linker(source, module, files).link()


class _Name(NamedTuple):
    """A declaration of a file: its name there."""

    file: Source
    name: str


class _Linker:
    def __init__(self, source: Source, module: syntax.Module, files: Mapping[str, Source]) -> None:
        self.main = source
        once = {(source.path, source.data): source}
        self.files = {name: once.setdefault((f.path, f.data), f) for name, f in files.items()}
        distinct = dict.fromkeys((source, *self.files.values()))
        self.source = Joined(list(distinct))
        self.modules = {file: read_source(file) for file in distinct if file is not source}
        self.modules[source] = module
        self.declared = {file: _by_name(module) for file, module in self.modules.items()}
        self.keys: dict[_Name, str] = {_Name(source, n): n for n in self.declared[source]}
        self.pending: list[_Name] = []
        self.names: dict[str, str] = {}
        self.locals: dict[str, _Name] = {}

    def link(self) -> tuple[Source, syntax.Module]:
        module = self.modules[self.main]
        self._name_imports(module)
        for ref in _modules(module.declarations):
            key = self._key(self._exports(self.main, ref.module, ref.name, ref.at))
            self.names[f"{ref.module}#{ref.name}"] = key
        parts = self._parts()
        own = [self._copies(_Name(file, name)) for file in parts for name in self.declared[file]]
        own.append(module.declarations)
        foreign: dict[str, tuple[syntax.Declaration, ...]] = {}
        while self.pending:
            name = self.pending.pop(0)
            if name.file not in parts:
                foreign[self.keys[name]] = self._copies(name)
        origins = {key: name.name for name, key in self.keys.items() if key in foreign}
        return self.source, replace(
            module,
            declarations=tuple(chain(*own, *foreign.values())),
            imports=tuple(each for each in module.imports if self.files[each.module] not in parts),
            names=self.names,
            foreign=origins,
        )

    def _parts(self) -> list[Source]:
        """The parts of the schema that are imported, each after those which it imports."""
        ordered: list[Source] = []

        def visit(file: Source, seen: frozenset[Source]) -> None:
            module = self.modules[file]
            names = [(each.module, each.at) for each in module.imports]
            names += [(ref.module, ref.at) for ref in _modules(module.declarations)]
            for specifier, at in names:
                target = self._file(file, specifier, at)
                if target.part and target not in (*seen, *ordered):
                    visit(target, seen | {file, target})
                    ordered.append(target)

        visit(self.main, frozenset([self.main]))
        return ordered

    def _name_imports(self, module: syntax.Module) -> None:
        """Assign a key to each name the module imports."""
        for each in module.imports:
            for name, local in self._import_names(self.main, each):
                self.locals[local] = self._exports(self.main, each.module, name, each.at)
        self.names.update((local, self._key(target)) for local, target in self.locals.items())

    def _import_names(self, file: Source, each: syntax.Import) -> Iterator[tuple[str, str]]:
        """The names of an import; for `*`, all exported names."""
        for name, local in each.names:
            if name != "*":
                yield name, local
                continue
            target = self._file(file, each.module, each.at)
            for declaration in self.modules[target].declarations:
                if declaration.exported:
                    yield declaration.name, declaration.name

    # ---- names

    def _file(self, file: Source, module: str, at: int) -> Source:
        target = self.files.get(module)
        if target is None:
            raise file.error(
                SchemaMeaningError,
                at,
                f"no file stands for the import of {printable(module)!r}",
                f"Say which one: --import {printable(module)}=FILE, or =REVISION for a pinned one.",
            )
        return target

    def _exports(self, file: Source, module: str, name: str, at: int) -> _Name:
        target = self._file(file, module, at)
        exported = self._lookup(target, name)
        if exported is None:
            raise file.error(
                SchemaMeaningError,
                at,
                f"{printable(module)!r} declares no `{printable(name)}`"
                + did_you_mean(name, self.declared[target]),
                "Import a name that it has, or map the import to another file.",
            )
        return exported

    def _lookup(
        self, file: Source, name: str, seen: frozenset[Source] = frozenset()
    ) -> _Name | None:
        """The declaration behind a name of a file, through its imports if necessary."""
        if name in self.declared[file]:
            return _Name(file, name)
        if file in seen:
            return None
        for each in self.modules[file].imports:
            for original, local in each.names:
                if local == name or (original == "*" and each.exported):
                    target = self._file(file, each.module, each.at)
                    inner = name if original == "*" else original
                    exported = self._lookup(target, inner, seen | {file})
                    if exported is not None:
                        return exported
        return None

    def _key(self, name: _Name) -> str:
        """Return the declaration's name in the linked module, and queue the declaration for
        copying.
        """
        if name not in self.keys:
            key = name.name
            if key in self.keys.values() or self.locals.get(key, name) != name:
                key = f"{_stem(name.file)}{key}"
            self.keys[name] = key
            self.pending.append(name)
        return self.keys[name]

    # ---- declarations

    def _copies(self, name: _Name) -> tuple[syntax.Declaration, ...]:
        """Copies of the declarations of a name in another file; merged interfaces are several."""
        key = self._key(name)
        return tuple(
            self._copy_here(name, key, each) for each in self.declared[name.file][name.name]
        )

    def _copy_here(
        self, name: _Name, key: str, declaration: syntax.Declaration
    ) -> syntax.Declaration:
        """A copy of a declaration: its offset in the joined text, its names in the module."""
        params = {param.name for param in getattr(declaration, "params", ())}

        def named(node: Struct) -> dict[str, Any]:
            if isinstance(node, syntax.Ref) and node.module:
                target = self._exports(name.file, node.module, node.name, node.at)
                return {"name": self._key(target), "module": ""}
            if isinstance(node, syntax.Ref | syntax.TypeOf) and node.name not in params:
                owner, dot, member = node.name.partition(".")
                known = self._lookup(name.file, owner)
                if known is not None:
                    return {"name": f"{self._key(known)}{dot}{member}"}
            return {}

        start = self.source.starts[self.source.parts.index(name.file)]
        moved: syntax.Declaration = _move(declaration, start, named)
        return replace(moved, name=key)


def _by_name(module: syntax.Module) -> dict[str, list[syntax.Declaration]]:
    named: dict[str, list[syntax.Declaration]] = {}
    for declaration in module.declarations:
        named.setdefault(declaration.name, []).append(declaration)
    return named


def _has_import_types(source: Source, module: syntax.Module) -> bool:
    return bool(_IMPORT.search(source.data)) and any(_modules(module.declarations))


def _stem(file: Source) -> str:
    """The name of a file, used as a prefix if two files declare the same name."""
    path = PurePosixPath(file.path)
    stem = path.parent.name if path.name == "schema.ts" else path.name.partition(".")[0]
    words = "".join(c if c.isalnum() and c.isascii() else " " for c in stem).split()
    text = "".join(word[0].upper() + word[1:] for word in words)
    return text if text[:1].isalpha() else f"V{text}"


def _modules(node: Any) -> Iterator[syntax.Ref]:
    """The references of the form `import("module").Name`."""
    if isinstance(node, syntax.Ref) and node.module:
        yield node
    for child in syntax.children(node):
        yield from _modules(child)


def _move(node: Any, by: int, named: Callable[[Struct], dict[str, Any]]) -> Any:
    """A copy of a node, `by` bytes further on; `named` returns the fields to replace."""
    if isinstance(node, Struct):
        fields = {name: _move(getattr(node, name), by, named) for name in node.__struct_fields__}
        fields |= {"at": fields["at"] + by} if "at" in fields else {}
        return replace(node, **(fields | named(node)))
    return tuple(_move(item, by, named) for item in node) if node.__class__ is tuple else node
