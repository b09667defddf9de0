"""Reads types and members: the text after a colon, and inside braces."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from tree_sitter import Node

import mcp_bindgen.source.syntax as syntax
from mcp_bindgen.errors import LimitExceeded
from mcp_bindgen.limits import MAX_ARMS, MAX_DEPTH
from mcp_bindgen.source.docs import doc_before, normal
from mcp_bindgen.source.nodes import AS_TYPE
from mcp_bindgen.source.text import Source, printable
from mcp_bindgen.source.values import Values

__all__ = ["Types"]

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

_SPECIFIER: Final = re.compile(r"""import\s*\(\s*(["'])(.*)\1""")

_OPTIONAL: Final = {
    "type_annotation": None,
    "opting_type_annotation": True,
    "adding_type_annotation": True,
    "omitting_type_annotation": False,
}
"""For each kind of annotation in a mapped type: are its members optional? None if not stated."""


class Types(Values):
    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.depth = 0

    # braced = body | mapped
    def braced_type(self, node: Node) -> syntax.Type:
        inner = node.named_children
        if any(_is_mapped(child) for child in inner):
            (signature,) = self.parts(node, 1)
            return self.mapped_type(signature)
        return self.inline(node)

    # mapped = "{" ["readonly"] "[" NAME "in" type "]" ["?"] ":" type "}", with + or - before flags
    def mapped_type(self, node: Node) -> syntax.Mapped:
        self.only(node, "readonly", "+", "-", "[", "]", ":")
        flags = [child.type for child in node.children if not child.is_named]
        clause, value = self.parts(node, 2)
        if clause.child_by_field_name("alias") is not None:
            raise self.error(clause, "a mapped type with `as`", AS_TYPE)
        name, keys = self.parts(clause, 2)
        (inner,) = self.parts(value, 1)
        return syntax.Mapped(
            self.text(name),
            self.type(keys),
            self.type(inner),
            _OPTIONAL[value.type],
            None if "readonly" not in flags else flags[flags.index("readonly") - 1] != "-",
            normal(self.source.slice(node.start_byte, node.end_byte)),
            node.start_byte,
        )

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

    # index = ["readonly"] "[" NAME ":" type "]" ":" type
    def index(self, node: Node) -> syntax.Index:
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
        reader = _TYPES.get(node.type)
        if reader is None:
            raise self.refused(node)
        if self.depth >= MAX_DEPTH:
            raise self.error(
                node, f"types nest deeper than {MAX_DEPTH}", "Name the inner types.", LimitExceeded
            )
        self.depth += 1
        try:
            return reader(self, node)
        finally:
            self.depth -= 1

    # keyword = "string" | "number" | …
    def keyword(self, node: Node) -> syntax.Type:
        name = self.text(node)
        if name not in _KEYWORDS:
            raise self.error(node, f"the type {printable(name)} is not read here", AS_TYPE)
        return syntax.Keyword(name, node.start_byte)

    # literal = STRING | ["-"] NUMBER | "true" | "false" | "null" | "undefined"
    def literal_type(self, node: Node) -> syntax.Type:
        (inner,) = self.parts(node, 1)
        if inner.type in ("null", "undefined"):
            return syntax.Keyword(self.text(inner), node.start_byte)
        if inner.type == "unary_expression" and inner.children[0].type == "+":
            raise self.error(inner, "a sign before a literal type", "Leave the `+` out.")
        return syntax.Literal(self.value(inner), node.start_byte)

    def name_ref(self, node: Node) -> syntax.Type:
        return syntax.Ref(self.text(node), (), node.start_byte)

    # generic = (NAME | imported) "<" type {"," type} ">"
    def generic(self, node: Node) -> syntax.Type:
        owner, args = self.parts(node, 2)
        name, module = self.text(owner), ""
        if owner.type == "nested_type_identifier":
            name, module = self.imported_name(owner)
        return syntax.Ref(
            name, tuple(self.type(arg) for arg in self.take(args)), node.start_byte, module
        )

    # imported, which `preprocess` gave the parser as NAME "." NAME
    def imported_name(self, node: Node) -> tuple[str, str]:
        module, name = map(self.text, node.named_children)
        specifier = _SPECIFIER.match(module)
        if specifier is None:
            raise self.refused(node)
        return name, specifier[2]

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
                raise self.error(
                    node, "readonly before what is not an array", "Leave readonly out."
                )

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
            if len(chain) > MAX_ARMS:
                message = f"more than {MAX_ARMS} types in one {kind.removesuffix('_type')}"
                raise self.error(node, message, "Write fewer, or say string.", LimitExceeded)
        chain.append(last)
        return [self.type(operand) for operand in reversed(chain)]

    # parenthesized = "(" type ")"
    def in_parentheses(self, node: Node) -> syntax.Type:
        (inner,) = self.parts(node, 1)
        return self.type(inner)

    # typeof = "typeof" NAME {"." NAME}
    def type_of(self, node: Node) -> syntax.Type:
        (inner,) = self.parts(node, 1)
        return self.constant_path(inner, node)

    def constant_path(self, node: Node, query: Node) -> syntax.Type:
        if node.type == "member_expression":
            owner, name = self.parts(node, 2)
            key = syntax.Literal(self.text(name), name.start_byte)
            return syntax.Indexed(self.constant_path(owner, query), key, query.start_byte)
        if node.type != "identifier":
            raise self.error(
                query, "typeof of more than a constant", "Name one constant of the file."
            )
        return syntax.TypeOf(self.text(node), query.start_byte)

    # qualified = NAME "." NAME
    def qualified(self, node: Node) -> syntax.Type:
        owner, name = self.parts(node, 2)
        if owner.type != "identifier":
            raise self.error(node, "a name in a namespace", "Declare the type at the top level.")
        return syntax.Ref(f"{self.text(owner)}.{self.text(name)}", (), node.start_byte)

    # imported = "import" "(" STRING ")" "." NAME
    def import_type(self, node: Node) -> syntax.Type:
        owner, name = self.parts(node, 2)
        if owner.type != "call_expression" or owner.named_children[0].type != "import":
            raise self.refused(node)
        keyword, arguments = self.parts(owner, 2)
        self.take(keyword)
        module = self.string(self.parts(arguments, 1)[0])
        return syntax.Ref(self.text(name), (), node.start_byte, module)

    # template = "`" { TEXT | "${" type "}" } "`"
    def template(self, node: Node) -> syntax.Type:
        parts: list[str | syntax.Type] = []
        for part in self.take(node):
            if part.type == "template_type":
                parts.append(self.type(self.parts(part, 1)[0]))
            else:
                parts.append(self.text(part))
        text = normal(self.source.slice(node.start_byte, node.end_byte))
        return syntax.Template(tuple(parts), text, node.start_byte)

    # keyof = "keyof" type
    def key_of(self, node: Node) -> syntax.Type:
        (inner,) = self.parts(node, 1)
        return syntax.KeyOf(self.type(inner), node.start_byte)

    # indexed = type "[" type "]"
    def indexed_type(self, node: Node) -> syntax.Type:
        owner, key = self.parts(node, 2)
        return syntax.Indexed(self.type(owner), self.type(key), node.start_byte)


_TYPES: Final[dict[str, Callable[[Types, Node], syntax.Type]]] = {
    "array_type": Types.array,
    "generic_type": Types.generic,
    "index_type_query": Types.key_of,
    "intersection_type": Types.intersection,
    "literal_type": Types.literal_type,
    "lookup_type": Types.indexed_type,
    "member_expression": Types.import_type,
    "nested_type_identifier": Types.qualified,
    "object_type": Types.braced_type,
    "parenthesized_type": Types.in_parentheses,
    "predefined_type": Types.keyword,
    "readonly_type": Types.readonly,
    "template_literal_type": Types.template,
    "tuple_type": Types.tuple_type,
    "type_identifier": Types.name_ref,
    "type_query": Types.type_of,
    "union_type": Types.union,
}


def _is_mapped(node: Node) -> bool:
    return any(child.type == "mapped_type_clause" for child in node.named_children)
