"""Reads literals of TypeScript: strings, numbers, and the arrays and objects of `const`."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from typing import Final

from tree_sitter import Node

import mcp_bindgen.source.syntax as syntax
from mcp_bindgen.source.nodes import Nodes
from mcp_bindgen.source.text import Source

__all__ = ["Values"]

_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_INTEGER: Final = re.compile(r"(?:0|[1-9][0-9]*)\Z")
_DECIMAL: Final = re.compile(r"(?:0|[1-9][0-9]*)?(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?\Z")
_MAX_DIGITS: Final = 300
_BASES: Final = {"0x": 16, "0o": 8, "0b": 2}
_KINDS: Final = {str: "string", int: "number", float: "number", bool: "boolean"}
_AS_LITERAL: Final = "Write a string, number, true or false."


class Values(Nodes):
    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.constants: Mapping[str, Node] = {}
        """The values of the file's constants, by name: members can be called by them."""

    # value = STRING | `TEXT` | ["-" | "+"] NUMBER | "true" | "false" | value "as" "const"
    #       | value "satisfies" type
    def value(self, node: Node) -> syntax.LiteralValue:
        match node.type:
            case "string":
                return self.string(node)
            case "template_string" if all(p.type != "template_substitution" for p in node.children):
                return self.string(node)
            case "number":
                return self.number(node, "")
            case "unary_expression" if node.children[0].type in ("-", "+"):
                (digits,) = self.parts(node, 1)
                if digits.type != "number":
                    raise self.error(node, "a value that is not a literal", "Write its value out.")
                return self.number(digits, node.children[0].type)
            case "true" | "false":
                return self.text(node) == "true"
            case _ if _is_as_const(node):
                return self.value(self.parts(node, 1)[0])
            case "satisfies_expression":
                return self.value(self.satisfying(node))
            case _:
                raise self.error(node, "a value that is not a literal", _AS_LITERAL)

    def satisfying(self, node: Node) -> Node:
        """The value of `value satisfies type`; the type is read, and says nothing more."""
        value, type = self.parts(node, 2)
        self.type(type)
        return value

    def type(self, node: Node) -> syntax.Type:
        """A type; the readers of types say how it is read."""
        raise NotImplementedError

    # constant = value | (array | object) ["as" "const" ["satisfies" type]]
    def constant(self, node: Node, exact: bool = False) -> syntax.Type:
        """The type of a constant's value: with `as const` each value inside is a literal."""
        match node.type:
            case _ if _is_as_const(node):
                return self.constant(self.parts(node, 1)[0], True)
            case "satisfies_expression" if _is_as_const(node.children[0]):
                return self.constant(self.satisfying(node))
            case "array":
                items = [self.inner(item, exact) for item in self.take(node)]
                if exact:
                    places = tuple(syntax.Element(item, False, False) for item in items)
                    return syntax.Tuple(places, True, node.start_byte)
                return syntax.Array(
                    syntax.Union(tuple(items), node.start_byte), False, node.start_byte
                )
            case "object":
                members = [self.pair(pair, exact) for pair in self.take(node)]
                return syntax.Inline(tuple(members), (), node.start_byte)
            case "null" | "undefined":
                return syntax.Keyword(self.text(node), node.start_byte)
            case _:
                return syntax.Literal(self.value(node), node.start_byte)

    def inner(self, node: Node, exact: bool) -> syntax.Type:
        """Like `constant`, for a value inside another: without `as const` it may change."""
        type = self.constant(node, exact)
        if exact or not isinstance(type, syntax.Literal):
            return type
        return syntax.Keyword(_KINDS[type.value.__class__], type.at)

    def pair(self, node: Node, exact: bool) -> syntax.Member:
        # pair = name ":" constant
        if node.type != "pair":
            raise self.error(
                node, "a member that is not a name and a value", "Write `name: value`."
            )
        key, value = self.parts(node, 2)
        name, quoted = self.property_name(key)
        type = self.inner(value, exact)
        return syntax.Member(name, type, False, exact, quoted, None, node.start_byte)

    # name = IDENTIFIER | STRING | NUMBER | "[" (STRING | NUMBER | CONSTANT {"." NAME}) "]"
    def property_name(self, node: Node) -> tuple[str, bool]:
        if node.type == "computed_property_name":
            inner = node.named_children[0]
            if inner.type in ("string", "number"):
                (inner,) = self.parts(node, 1)
                return self.property_name(inner)[0], True
            name = self.constant_name(inner)
            if name is not None:
                self.taken += 1
                return name, True
        if node.type == "string":
            return self.string(node), True
        if node.type not in ("property_identifier", "number"):
            raise self.error(
                node, "a computed member name", "Write the name out, in quotes if need be."
            )
        return self.text(node), False

    def constant_name(self, node: Node) -> str | None:
        """The string of a constant of the file that stands as a member's name; None without one."""
        value = self.named_constant(node)
        if isinstance(value, syntax.Literal) and isinstance(value.value, str):
            return value.value
        return None

    def named_constant(self, node: Node) -> syntax.Type | None:
        """The type of the constant that `NAME` or `NAME.member` names, and count its nodes."""
        if node.type == "member_expression":
            owner, name = self.take(node)
            of, member = self.named_constant(owner), self.text(name)
            members = of.members if isinstance(of, syntax.Inline) else ()
            return next((each.type for each in members if each.name == member), None)
        value = self.constants.get(self.text(node)) if node.type == "identifier" else None
        return None if value is None else Values(self.source).constant(value)

    def number(self, node: Node, sign: str) -> int | float:
        digits = self.text(node).replace("_", "")
        if len(digits) <= _MAX_DIGITS:
            base = _BASES.get(digits[:2].lower())
            if base is not None and not digits.endswith("n"):
                return int(sign + digits, base)
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


def _is_as_const(node: Node) -> bool:
    """Return whether it is `value as const`, said once."""
    is_const = node.type == "as_expression" and node.children[-1].type == "const"
    return is_const and node.children[0].type != "as_expression"
