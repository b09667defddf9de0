"""Reads schema text: tree-sitter's TypeScript tree to syntax nodes, refusing by name what we lack.

Above each method stands the part of the grammar that it takes. Every named node of the tree is
taken exactly once; `Module.nodes` is their number, so that a test can count.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import cache
from typing import Final, NamedTuple

import tree_sitter_typescript
from tree_sitter import Language, Node, Parser

from mcp_bindgen.errors import LimitExceeded, SchemaError, SchemaSyntaxError, UnsupportedSyntax
from mcp_bindgen.limits import MAX_DEPTH
from mcp_bindgen.source import syntax
from mcp_bindgen.source.docs import doc_before
from mcp_bindgen.source.text import Source, printable

__all__ = ["read", "read_source"]

_AS_DECLARATION: Final = "Say it with interfaces, type aliases, string enums and constants."
_AS_TYPE: Final = "Write the resulting shape out as members or as a union."

REFUSED: Final[dict[str, tuple[str, str]]] = {
    "abstract_class_declaration": ("a class", _AS_DECLARATION),
    "ambient_declaration": ("an ambient declaration", _AS_DECLARATION),
    "call_signature": ("a call signature", "A message has data only; leave functions out."),
    "class_declaration": ("a class", _AS_DECLARATION),
    "conditional_type": ("a conditional type", _AS_TYPE),
    "construct_signature": ("a constructor", "A message has data only; leave functions out."),
    "constructor_type": ("a constructor type", "A message has data only; leave functions out."),
    "expression_statement": ("a statement", _AS_DECLARATION),
    "function_declaration": ("a function", _AS_DECLARATION),
    "function_signature": ("a function", _AS_DECLARATION),
    "function_type": ("a function type", "A message has data only; leave functions out."),
    "import_statement": ("an import", "A schema is one file; declare the name in it."),
    "infer_type": ("an infer type", _AS_TYPE),
    "internal_module": ("a namespace", "Move its declarations to the top level."),
    "mapped_type_clause": ("a mapped type", _AS_TYPE),
    "method_signature": ("a method", "A message has data only; leave functions out."),
    "module": ("a module", "Move its declarations to the top level."),
    "nested_type_identifier": ("a qualified name", "Declare the type at the top level."),
    "template_literal_type": ("a template literal type", "List its strings, or write string."),
    "this_type": ("the type this", "Name the interface."),
    "variable_declaration": ("a variable", "Declare it with const."),
}
"""Syntax that has no meaning as a message: its name in an error, and what to write instead."""

_KEYWORDS: Final = frozenset(
    [
        "string",
        "number",
        "boolean",
        "null",
        "undefined",
        "unknown",
        "any",
        "object",
        "never",
        "void",
        "symbol",
    ]
)
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_INTEGER: Final = re.compile(r"(?:0|[1-9][0-9]*)\Z")
_DECIMAL: Final = re.compile(r"(?:0|[1-9][0-9]*)?(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?\Z")
_MAX_DIGITS: Final = 300


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_typescript.language_typescript()))


def read(data: bytes, path: str) -> syntax.Module:
    """The declarations of one schema file.

    `path` is what errors call the file. Raises SchemaSyntaxError, UnsupportedSyntax or
    LimitExceeded, each with file:line:column, the line, and what to do.
    """
    return read_source(Source(data, path))


def read_source(source: Source) -> syntax.Module:
    """As `read`, for text that is already at hand."""
    return _Reader(source).module()


class _Head(NamedTuple):
    """What stands before a declaration: the last fields of every declaration."""

    exported: bool
    doc: syntax.Doc | None
    at: int


class _Reader:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.taken = 0
        self.depth = 0
        self.types: dict[str, Callable[[Node], syntax.Type]] = {
            "array_type": self.array,
            "generic_type": self.generic,
            "index_type_query": self.key_of,
            "intersection_type": self.intersection,
            "literal_type": self.literal_type,
            "lookup_type": self.indexed,
            "object_type": self.inline,
            "parenthesized_type": self.parenthesized,
            "predefined_type": self.keyword,
            "readonly_type": self.readonly,
            "tuple_type": self.tuple_type,
            "type_identifier": self.name_ref,
            "type_query": self.type_of,
            "union_type": self.union,
        }

    # ---- the tree

    def take(self, node: Node) -> list[Node]:
        """Counts `node` as read; its named children, comments left out."""
        self.taken += 1
        children = [child for child in node.named_children if child.type != "comment"]
        for child in children:
            if child.type == "html_comment":
                raise self.refused(child)
        return children

    def parts(self, node: Node, count: int) -> list[Node]:
        """As `take`, where the grammar has `count` children; refuses the first one too many."""
        children = self.take(node)
        if len(children) != count:
            raise self.refused(children[count] if len(children) > count else node)
        return children

    def text(self, node: Node) -> str:
        self.taken += 1
        return self.source.slice(node.start_byte, node.end_byte)

    def error(
        self, node: Node, message: str, remedy: str, kind: type[SchemaError] = UnsupportedSyntax
    ) -> SchemaError:
        return self.source.error(kind, node.start_byte, message, remedy)

    def refused(self, node: Node) -> SchemaError:
        name, remedy = REFUSED.get(node.type, ("", ""))
        if not name:
            name, remedy = (
                f"`{printable(node.type)}`",
                "Extend the reader, on purpose, or say it otherwise.",
            )
        return self.error(node, f"{name} is not read here", remedy)

    def only(self, node: Node, *allowed: str) -> None:
        """Refuses an anonymous token that would change what `node` means."""
        for child in node.children:
            if not child.is_named and child.type not in allowed:
                raise self.error(
                    child, f"`{printable(child.type)}` is not read here", "Leave it out."
                )

    # ---- declarations

    # program = { ["export"] declaration }
    def module(self) -> syntax.Module:
        root = _parser().parse(self.source.data).root_node
        if root.has_error:
            raise self.broken(root)
        found = [self.statement(node) for node in self.take(root) if node.type != "empty_statement"]
        return syntax.Module(self.source.path, tuple(found), self.taken)

    def broken(self, root: Node) -> SchemaError:
        """The first ERROR or MISSING node of a tree that has one."""
        node = root
        while not (node.is_error or node.is_missing):
            node = next(c for c in node.children if c.has_error or c.is_error or c.is_missing)
        what = f"`{printable(node.type)}` is missing" if node.is_missing else "not TypeScript"
        return self.error(node, what, "Mend the file.", SchemaSyntaxError)

    # statement = ["export"] (interface | alias | const | enum)
    def statement(self, node: Node) -> syntax.Declaration:
        exported = node.type == "export_statement"
        inner = node
        if exported:
            children = self.take(node)
            self.only(node, "export", ";")
            if len(children) != 1 or children[0].type == "export_clause":
                raise self.error(
                    node, "an export list is not read here", "Export the declaration itself."
                )
            inner = children[0]
        head = _Head(exported, doc_before(self.source, node.start_byte), node.start_byte)
        match inner.type:
            case "interface_declaration":
                return self.interface(inner, head)
            case "type_alias_declaration":
                return self.alias(inner, head)
            case "lexical_declaration":
                return self.const(inner, head)
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
        name, *params, value = self.take(node)
        return syntax.Alias(
            self.text(name),
            self.type_params(params[0]) if params else (),
            self.type(value),
            *head,
        )

    # const = "const" NAME [":" type] "=" literal ["as" "const"]
    def const(self, node: Node, head: _Head) -> syntax.Const:
        self.only(node, "const", ";")
        declarators = self.take(node)
        if len(declarators) != 1:
            raise self.error(node, "several constants in one statement", "One statement each.")
        name, *rest = self.take(declarators[0])
        annotation = (
            self.annotation(rest.pop(0)) if rest and rest[0].type == "type_annotation" else None
        )
        if name.type != "identifier" or len(rest) != 1:
            raise self.error(node, "a constant without one value", "Write `const NAME = literal`.")
        return syntax.Const(self.text(name), annotation, self.value(rest[0]), *head)

    # enum = ["const"] "enum" NAME "{" { NAME "=" STRING } "}"
    def enum(self, node: Node, head: _Head) -> syntax.Enum:
        name, body = self.parts(node, 2)
        members: list[tuple[str, str]] = []
        for entry in self.take(body):
            parts = self.take(entry) if entry.type == "enum_assignment" else []
            value = self.value(parts[1]) if len(parts) == 2 else None
            if not isinstance(value, str):
                raise self.error(entry, "an enum member without a string", "Give it a string.")
            key = self.property_name(parts[0])[0]
            if any(key == other for other, _ in members):
                raise self.error(entry, "an enum member that stands twice", "Leave one out.")
            members.append((key, value))
        if not members:
            raise self.error(node, "an enum without members", "Give it one, or leave it out.")
        return syntax.Enum(self.text(name), tuple(members), *head)

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

    # ---- members

    # body = "{" { (property | index) (";" | ",") } "}"
    def inline(self, node: Node) -> syntax.Inline:
        members: list[syntax.Member] = []
        index: list[syntax.Index] = []
        for child in self.take(node):
            match child.type:
                case "property_signature":
                    members.append(self.member(child))
                case "index_signature":
                    index.append(self.index(child))
                case _:
                    raise self.refused(child)
        return syntax.Inline(tuple(members), tuple(index), node.start_byte)

    # property = ["readonly"] name ["?"] ":" type
    def member(self, node: Node) -> syntax.Member:
        self.only(node, "readonly", "?")
        flags = {child.type for child in node.children if not child.is_named}
        name, *rest = self.take(node)
        if len(rest) != 1:
            raise self.error(
                node, "a member without a type", "Write its type; unknown takes anything."
            )
        text, quoted = self.property_name(name)
        return syntax.Member(
            text,
            self.annotation(rest[0]),
            "?" in flags,
            "readonly" in flags,
            quoted,
            doc_before(self.source, node.start_byte),
            node.start_byte,
        )

    # name = IDENTIFIER | STRING | NUMBER
    def property_name(self, node: Node) -> tuple[str, bool]:
        if node.type == "string":
            return self.string(node), True
        if node.type not in ("property_identifier", "number"):
            raise self.error(
                node, "a computed member name", "Write the name out, in quotes if need be."
            )
        return self.text(node), False

    # index = ["readonly"] "[" NAME ":" type "]" ":" type
    def index(self, node: Node) -> syntax.Index:
        for child in node.named_children:
            if child.type == "mapped_type_clause":
                raise self.refused(child)
        self.only(node, "readonly", "[", "]", ":")
        readonly = any(child.type == "readonly" for child in node.children)
        parts = self.take(node)
        if len(parts) != 3:
            raise self.refused(parts[0] if parts else node)
        name, key, value = parts
        return syntax.Index(
            self.text(name),
            self.type(key),
            self.annotation(value),
            readonly,
            doc_before(self.source, node.start_byte),
            node.start_byte,
        )

    # annotation = ":" type
    def annotation(self, node: Node) -> syntax.Type:
        (inner,) = self.parts(node, 1)
        return self.type(inner)

    # ---- types

    def type(self, node: Node) -> syntax.Type:
        reader = self.types.get(node.type)
        if reader is None:
            raise self.refused(node)
        if self.depth >= MAX_DEPTH:
            raise self.error(
                node, f"types nest deeper than {MAX_DEPTH}", "Name the inner types.", LimitExceeded
            )
        self.depth += 1
        try:
            return reader(node)
        finally:
            self.depth -= 1

    # keyword = "string" | "number" | …
    def keyword(self, node: Node) -> syntax.Type:
        name = self.text(node)
        if name not in _KEYWORDS:
            raise self.error(node, f"the type {printable(name)} is not read here", _AS_TYPE)
        return syntax.Keyword(name, node.start_byte)

    # literal = STRING | ["-"] NUMBER | "true" | "false" | "null" | "undefined"
    def literal_type(self, node: Node) -> syntax.Type:
        (inner,) = self.parts(node, 1)
        if inner.type in ("null", "undefined"):
            return syntax.Keyword(self.text(inner), node.start_byte)
        return syntax.Literal(self.value(inner), node.start_byte)

    def name_ref(self, node: Node) -> syntax.Type:
        return syntax.Ref(self.text(node), (), node.start_byte)

    # generic = NAME "<" type {"," type} ">"
    def generic(self, node: Node) -> syntax.Type:
        name, args = self.parts(node, 2)
        if name.type != "type_identifier":
            raise self.refused(name)
        return syntax.Ref(
            self.text(name), tuple(self.type(arg) for arg in self.take(args)), node.start_byte
        )

    # array = type "[" "]"
    def array(self, node: Node) -> syntax.Type:
        (of,) = self.parts(node, 1)
        return syntax.Array(self.type(of), False, node.start_byte)

    # readonly = "readonly" (array | tuple)
    def readonly(self, node: Node) -> syntax.Type:
        (inner,) = self.parts(node, 1)
        match self.type(inner):
            case syntax.Array(of, _, at):
                return syntax.Array(of, True, at)
            case syntax.Tuple(of, _, at):
                return syntax.Tuple(of, True, at)
            case _:
                raise self.error(node, "readonly before what is no array", "Leave readonly out.")

    # tuple = "[" { [NAME ["?"] ":"] ["..."] type ["?"] } "]"
    def tuple_type(self, node: Node) -> syntax.Type:
        return syntax.Tuple(
            tuple(self.element(child) for child in self.take(node)), False, node.start_byte
        )

    def element(self, node: Node) -> syntax.Element:
        match node.type:
            case "optional_type":
                return syntax.Element(self.type(self.parts(node, 1)[0]), True, False)
            case "rest_type":
                return syntax.Element(self.type(self.parts(node, 1)[0]), False, True)
            case "required_parameter" | "optional_parameter":
                name, annotation = self.parts(node, 2)
                rest = name.type == "rest_pattern"
                self.text(self.parts(name, 1)[0] if rest else name)
                optional = node.type == "optional_parameter"
                return syntax.Element(self.annotation(annotation), optional, rest)
            case _:
                return syntax.Element(self.type(node), False, False)

    # union = ["|"] type {"|" type}, which the tree nests to the left
    def union(self, node: Node) -> syntax.Type:
        arms = self.flat(node)
        return arms[0] if len(arms) == 1 else syntax.Union(tuple(arms), node.start_byte)

    # intersection = ["&"] type {"&" type}
    def intersection(self, node: Node) -> syntax.Type:
        arms = self.flat(node)
        return arms[0] if len(arms) == 1 else syntax.Intersection(tuple(arms), node.start_byte)

    def flat(self, node: Node) -> list[syntax.Type]:
        """The operands of a chain of one operator, in source order, without recursion."""
        kind, last = node.type, node
        chain: list[Node] = []
        while last.type == kind:
            first, *rest = self.take(last)
            chain.extend(reversed(rest))
            last = first
        chain.append(last)
        return [self.type(operand) for operand in reversed(chain)]

    # parenthesized = "(" type ")"
    def parenthesized(self, node: Node) -> syntax.Type:
        (inner,) = self.parts(node, 1)
        return self.type(inner)

    # typeof = "typeof" NAME
    def type_of(self, node: Node) -> syntax.Type:
        (inner,) = self.parts(node, 1)
        if inner.type != "identifier":
            raise self.error(
                node, "typeof of more than a constant", "Name one constant of the file."
            )
        return syntax.TypeOf(self.text(inner), node.start_byte)

    # keyof = "keyof" type
    def key_of(self, node: Node) -> syntax.Type:
        (inner,) = self.parts(node, 1)
        return syntax.KeyOf(self.type(inner), node.start_byte)

    # indexed = type "[" type "]"
    def indexed(self, node: Node) -> syntax.Type:
        owner, key = self.parts(node, 2)
        return syntax.Indexed(self.type(owner), self.type(key), node.start_byte)

    # ---- values

    # value = STRING | ["-"] NUMBER | "true" | "false" | value "as" "const"
    def value(self, node: Node) -> syntax.LiteralValue:
        match node.type:
            case "string":
                return self.string(node)
            case "number":
                return self.number(node, "")
            case "unary_expression" if node.children[0].type == "-":
                (digits,) = self.parts(node, 1)
                if digits.type != "number":
                    raise self.error(node, "a value that is no literal", "Write its value out.")
                return self.number(digits, "-")
            case "true" | "false":
                return self.text(node) == "true"
            case "as_expression" if node.children[-1].type == "const" and (
                node.children[0].type != "as_expression"
            ):
                return self.value(self.parts(node, 1)[0])
            case _:
                raise self.error(
                    node, "a value that is no literal", "Write a string, number, true or false."
                )

    def number(self, node: Node, sign: str) -> int | float:
        digits = self.text(node).replace("_", "")
        if len(digits) <= _MAX_DIGITS:
            if _INTEGER.match(digits):
                return int(sign + digits)
            if _DECIMAL.match(digits):
                value = float(sign + digits)
                if abs(value) != float("inf"):
                    return int(value) if value.is_integer() else value
        raise self.error(
            node, "a number that is not decimal, or too large", "Write it in decimals."
        )

    def string(self, node: Node) -> str:
        text = "".join(
            self.escape(part) if part.type == "escape_sequence" else self.text(part)
            for part in self.take(node)
        )
        try:
            return text.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            raise self.error(
                node, "a lone surrogate in a string", "Write a whole character."
            ) from None

    def escape(self, node: Node) -> str:
        body = self.text(node)[1:]
        if body[0] in "xu":
            code = int(body[1:].strip("{}"), 16)
            if code > sys.maxunicode:
                raise self.error(node, "an escape beyond Unicode", "Write a character.")
            return chr(code)
        return "" if body == "\n" else _ESCAPES.get(body, body)
