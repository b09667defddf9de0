"""Base of the readers: counts every node when it is read, and refuses unknown nodes by name.

`Nodes` holds the source, the number of nodes read so far, and the errors which point into the text.
"""

from __future__ import annotations

from typing import Final

from tree_sitter import Node

from mcp_bindgen.errors import SchemaError, UnsupportedSyntax
from mcp_bindgen.source.text import Source, printable

__all__ = ["AS_IMPORT", "AS_TYPE", "REFUSED", "Nodes"]

AS_DECLARATION: Final = "Say it with interfaces, type aliases, string enums and constants."
AS_TYPE: Final = "Write the resulting shape out as members or as a union."

AS_EXPORT: Final = 'Export its names: `export type { A } from "./a.js"`.'
AS_IMPORT: Final = 'Import its names: `import type { A } from "./a.js"`.'

REFUSED: Final[dict[str, tuple[str, str]]] = {
    "abstract_class_declaration": ("a class", AS_DECLARATION),
    "call_signature": ("a call signature", "A message has data only; leave functions out."),
    "class_declaration": ("a class", AS_DECLARATION),
    "conditional_type": ("a conditional type", AS_TYPE),
    "construct_signature": ("a constructor", "A message has data only; leave functions out."),
    "constructor_type": ("a constructor type", "A message has data only; leave functions out."),
    "expression_statement": ("a statement", AS_DECLARATION),
    "function_declaration": ("a function", AS_DECLARATION),
    "function_signature": ("a function", AS_DECLARATION),
    "function_type": ("a function type", "A message has data only; leave functions out."),
    "import_require_clause": ("an import by require", AS_IMPORT),
    "import_statement": ("an import without names", AS_IMPORT),
    "infer_type": ("an infer type", AS_TYPE),
    "internal_module": ("a namespace", "Move its declarations to the top level."),
    "method_signature": ("a method", "A message has data only; leave functions out."),
    "module": ("a module", "Move its declarations to the top level."),
    "namespace_export": ("an export of a whole module as one name", AS_EXPORT),
    "namespace_import": ("an import of a whole module", AS_IMPORT),
    "this_type": ("the type this", "Name the interface."),
    "variable_declaration": ("a variable", "Declare it with const."),
}
"""Syntax without meaning as a message: its name in an error, and the remedy."""


class Nodes:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.taken: int = 0

    def take(self, node: Node) -> list[Node]:
        """Count `node` as read, and return its named children without comments."""
        self.taken += 1
        children: list[Node] = []
        for child in node.named_children:
            kind = child.type
            if kind == "html_comment":
                raise self.refused(child)
            if kind != "comment":
                children.append(child)
        return children

    def parts(self, node: Node, count: int) -> list[Node]:
        """Like `take`, for a rule with `count` children; refuse any child beyond them."""
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
        """Refuse an anonymous token which would change the meaning of `node`."""
        for child in node.children:
            if not child.is_named and child.type not in allowed:
                raise self.error(
                    child, f"`{printable(child.type)}` is not read here", "Leave it out."
                )
