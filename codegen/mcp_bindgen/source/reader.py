"""Reads schema text: turns tree-sitter's TypeScript tree into syntax nodes, and refuses the rest.

The grammar rule of a method stands above it. Each named node of the tree is taken exactly once;
`Module.nodes` is their number, so a test can check the count.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

import tree_sitter_typescript
from msgspec.structs import replace
from tree_sitter import Language, Node, Parser

import mcp_bindgen.source.syntax as syntax
from mcp_bindgen.errors import (
    SchemaError,
    SchemaMeaningError,
    SchemaSyntaxError,
    UnsupportedSyntax,
)
from mcp_bindgen.source.broken import faults
from mcp_bindgen.source.docs import doc_before
from mcp_bindgen.source.nodes import AS_IMPORT
from mcp_bindgen.source.preprocess import preprocess
from mcp_bindgen.source.text import Source, printable
from mcp_bindgen.source.types import Types

__all__ = ["read", "read_source"]


_UNPARSED: Final = {
    "template_literal_type": ("an escape in a template literal type", "Write the character."),
    "export_statement": ("an export that is not read", "Export names: `export type { A };`."),
}
"""TypeScript which the parser lacks, by the kind of the surrounding node."""


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_typescript.language_typescript()))


def read(data: bytes, path: str) -> syntax.Module:
    """Read the declarations of a schema file.

    Errors call the file `path`. Raises SchemaSyntaxError, UnsupportedSyntax or LimitExceeded, each
    with file:line:column, the line, and a remedy.
    """
    return read_source(Source(data, path))


def read_source(source: Source) -> syntax.Module:
    """Like `read`, for a Source."""
    return _Reader(source).module()


class _Head(NamedTuple):
    """The common head of all declarations: their last fields."""

    exported: bool
    doc: syntax.Doc | None
    at: int


class _Listed(NamedTuple):
    """A name of `{ name as local }`, and where it stands."""

    name: str
    local: str
    at: int


class _Reader(Types):
    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.declarations: list[syntax.Declaration] = []
        self.imports: list[syntax.Import] = []
        self.exports: list[_Listed] = []

    # program = { import | export | ["export"] declaration }
    def module(self) -> syntax.Module:
        root = _parser().parse(preprocess(self.source.data)).root_node
        if root.has_error:
            raise self.syntax_error(root)
        self.constants = dict(_constants(root))
        for node in self.take(root):
            self.statement(node)
        for listed in self.exports:
            self.export(listed)
        return syntax.Module(
            self.source.path, tuple(self.declarations), self.taken, tuple(self.imports)
        )

    def syntax_error(self, root: Node) -> SchemaError:
        """The error for a broken tree: its first place, and the places in later declarations."""
        node, *others = faults(root)
        what, remedy, kind = self.fault(node)
        rest = [(other.start_byte, self.fault(other)[0]) for other in others]
        return self.source.error(kind, node.start_byte, what, remedy, rest)

    def fault(self, node: Node) -> tuple[str, str, type[SchemaError]]:
        """The message, the remedy and the type of the error for an ERROR or MISSING node."""
        if node.parent is not None and node.parent.type in _UNPARSED:
            return *_UNPARSED[node.parent.type], UnsupportedSyntax
        what = f"`{printable(node.type)}` is missing" if node.is_missing else "not TypeScript"
        return what, "Mend the file.", SchemaSyntaxError

    def statement(self, node: Node) -> None:
        match node.type:
            case "empty_statement":
                pass
            case "import_statement":
                self.imports.append(self.import_names(node))
            case "export_statement" if not node.child_by_field_name("declaration"):
                self.export_names(node)
            case _:
                self.declarations.append(self.declaration(node))

    # ---- imports and exports

    # import = "import" ["type"] "{" names "}" "from" STRING
    def import_names(self, node: Node) -> syntax.Import:
        self.only(node, "import", "type", "from", ";")
        parts = self.take(node)
        if len(parts) != 2 or parts[0].type != "import_clause":
            raise self.refused(node if parts[0].type == "string" else parts[0])
        (clause,) = self.parts(parts[0], 1)
        if clause.type == "identifier":
            raise self.error(clause, "a default import is not read here", AS_IMPORT)
        if clause.type != "named_imports":
            raise self.refused(clause)
        names = tuple((name, local) for name, local, _ in self.names_of(clause))
        return syntax.Import(self.string(parts[1]), names, False, node.start_byte)

    # names = NAME ["as" NAME] {","}
    def names_of(self, node: Node) -> list[_Listed]:
        listed: list[_Listed] = []
        for specifier in self.take(node):
            self.only(specifier, "as", "type")
            name, *local = [self.text(part) for part in self.take(specifier)]
            listed.append(_Listed(name, local[0] if local else name, specifier.start_byte))
        return listed

    # exports = "export" ["type"] ("{" names "}" ["from" STRING] | "*" "from" STRING)
    def export_names(self, node: Node) -> None:
        self.only(node, "export", "type", "*", "from", ";")
        parts = self.take(node)
        if parts and parts[0].type == "namespace_export":
            raise self.refused(parts[0])
        names = self.names_of(parts.pop(0)) if parts and parts[0].type == "export_clause" else None
        source = self.string(parts.pop(0)) if parts and parts[0].type == "string" else None
        if parts or (names is None and source is None):
            raise self.error(node, "an export without a name", "Export the declaration itself.")
        if source is None:
            self.exports += names or []
        else:
            pairs = (("*", "*"),) if names is None else tuple((n, local) for n, local, _ in names)
            self.imports.append(syntax.Import(source, pairs, True, node.start_byte))

    def export(self, listed: _Listed) -> None:
        """Mark a declaration as exported; another name makes it an alias."""
        for number, declaration in enumerate(self.declarations):
            if declaration.name == listed.name and listed.local == listed.name:
                self.declarations[number] = replace(declaration, exported=True)
                return
        ref = syntax.Ref(listed.name, (), listed.at)
        if listed.local != listed.name:
            alias = syntax.Alias(listed.local, (), ref, True, None, listed.at)
            self.declarations.append(alias)
        elif not any(listed.name == local for each in self.imports for _, local in each.names):
            raise self.source.error(
                SchemaMeaningError,
                listed.at,
                f"`{printable(listed.name)}` is not declared",
                "Declare it, or take it out of the list.",
            )

    # ---- declarations

    # declaration = ["export"] ["declare"] (interface | alias | const | enum)
    def declaration(self, node: Node) -> syntax.Declaration:
        inner, exported = node, node.type == "export_statement"
        if exported:
            self.only(node, "export", ";")
            (inner,) = self.parts(node, 1)
        ambient = inner.type == "ambient_declaration"
        if ambient:
            (inner,) = self.parts(inner, 1)
        head = _Head(exported, doc_before(self.source, node.start_byte), node.start_byte)
        match inner.type:
            case "interface_declaration":
                return self.interface(inner, head)
            case "type_alias_declaration":
                return self.alias(inner, head)
            case "lexical_declaration":
                return self.const(inner, head, ambient)
            case "enum_declaration":
                return self.enum(inner, head)
            case "expression_statement" if any(
                child.type == "internal_module" for child in inner.named_children
            ):
                raise self.refused(inner.named_children[0])
            case _:
                raise self.refused(inner)

    # interface = "interface" NAME [type_parameters] ["extends" type {"," type}] body
    def interface(self, node: Node, head: _Head) -> syntax.Interface:
        name, *rest = self.take(node)
        params: tuple[syntax.TypeParam, ...] = ()
        extends: tuple[syntax.Type, ...] = ()
        body = syntax.Inline((), (), node.start_byte)
        for child in rest:
            match child.type:
                case "type_parameters":
                    params = self.type_params(child)
                case "extends_type_clause":
                    extends = tuple(self.type(base) for base in self.take(child))
                case "interface_body":
                    body = self.inline(child)
                case _:
                    raise self.refused(child)
        return syntax.Interface(self.text(name), params, extends, body.members, body.index, *head)

    # alias = "type" NAME [type_parameters] "=" type
    def alias(self, node: Node, head: _Head) -> syntax.Alias:
        name, *rest = self.take(node)
        if not rest:
            raise self.error(node, "an alias without a type", "Write its type after `=`.")
        *params, value = rest
        return syntax.Alias(
            self.text(name),
            self.type_params(params[0]) if params else (),
            self.type(value),
            *head,
        )

    # const = "const" NAME [":" type] ["=" constant], where `declare` stands before without a value
    def const(self, node: Node, head: _Head, ambient: bool) -> syntax.Const:
        self.only(node, "const", ";")
        declarators = self.take(node)
        if len(declarators) != 1:
            raise self.error(node, "several constants in one statement", "One statement each.")
        name, *rest = self.take(declarators[0])
        annotation = (
            self.annotation(rest.pop(0)) if rest and rest[0].type == "type_annotation" else None
        )
        said = bool(annotation or rest) if ambient else len(rest) == 1
        if name.type != "identifier" or not said:
            raise self.error(node, "a constant without one value", "Write `const NAME = literal`.")
        value = self.constant(rest[0]) if rest else None
        return syntax.Const(self.text(name), annotation, value, *head)

    # enum = ["const"] "enum" NAME "{" { NAME ["=" (STRING | NUMBER)] } "}"
    def enum(self, node: Node, head: _Head) -> syntax.Enum:
        name, body = self.parts(node, 2)
        members: list[tuple[str, str | int | float]] = []
        for entry in self.take(body):
            assigned = entry.type == "enum_assignment"
            parts = self.take(entry) if assigned else [entry]
            value = self.value(parts[1]) if assigned else self.next_value(members, entry)
            if isinstance(value, bool):
                raise self.error(entry, "an enum member of a truth value", "Give it a string.")
            key = self.property_name(parts[0])[0]
            if any(key == other for other, _ in members):
                raise self.error(entry, "an enum member that stands twice", "Leave one out.")
            members.append((key, value))
        if not members:
            raise self.error(node, "an enum without members", "Give it one, or leave it out.")
        return syntax.Enum(self.text(name), tuple(members), *head)

    def next_value(self, members: list[tuple[str, str | int | float]], entry: Node) -> int | float:
        """The value of an enum member without an initializer: 0, or the previous value plus one."""
        last = members[-1][1] if members else -1
        if isinstance(last, str):
            raise self.error(entry, "an enum member without a value", "Give it a string.")
        return last + 1

    # type_parameters = "<" NAME ["extends" type] ["=" type] {","} ">"
    def type_params(self, node: Node) -> tuple[syntax.TypeParam, ...]:
        return tuple(self.type_param(child) for child in self.take(node))

    def type_param(self, node: Node) -> syntax.TypeParam:
        self.only(node)
        name, *rest = self.take(node)
        constraint: syntax.Type | None = None
        default: syntax.Type | None = None
        for child in rest:
            (inner,) = self.parts(child, 1)
            if child.type == "constraint":
                constraint = self.type(inner)
            else:
                default = self.type(inner)
        return syntax.TypeParam(self.text(name), constraint, default)


def _constants(root: Node) -> Iterator[tuple[str, Node]]:
    """The name and the value of each constant without an annotation, at the top level."""
    for statement in root.named_children:
        inner = statement.child_by_field_name("declaration") or statement
        if inner.type == "lexical_declaration":
            for declarator in inner.named_children:
                name, value = map(declarator.child_by_field_name, ("name", "value"))
                if name and name.text and value and not declarator.child_by_field_name("type"):
                    yield name.text.decode(), value
