"""One JSON Schema as msgspec Structs: the output of datamodel-code-generator, read as hostile text.

The output is parsed and never executed. Understood statements become rows of our own, which are
laid out anew: text of a schema enters them only as literals and docstrings. Anything else refuses
the schema by name.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, Final, NoReturn

from msgspec.structs import replace

from mcp_bindgen.emit.text.layout import Code, Group, call, flat, literal
from mcp_bindgen.errors import InputError
from mcp_bindgen.ir.names import member_name
from mcp_bindgen.scaffold.structs import IMPORTS, Alias, Class, Member, Models, union, without
from mcp_bindgen.tools.normalize import CLOSED_BASE

__all__ = ["Untyped", "typed"]

_IMPORTS: Final = {
    "__future__": frozenset({"annotations"}),
    "builtins": frozenset({"bool", "dict", "float", "int", "list", "str", "tuple"}),
    "closed": frozenset({CLOSED_BASE}),
    **IMPORTS,
}
_NAMES: Final = {name for names in _IMPORTS.values() for name in names} - {"annotations"}
_SHADOWING: Final = frozenset({"convert", "field"})
"""Lower-case names used in class bodies, so members may not have them."""
_META: Final = frozenset({"ge", "gt", "le", "lt", "multiple_of", "min_length", "max_length"})
_CLASS_KEYWORDS: Final = frozenset({"tag", "tag_field", "forbid_unknown_fields"})
_CLASS: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")


class Untyped(InputError):
    """A schema for which there are no types. Act: mend the schema, or leave the tool out."""


def typed(schema: Mapping[str, Any], name: str) -> Models:
    """The types of a schema prepared by `scaffold.tools`, the outermost one called `name`.

    Raises Untyped.
    """
    text = _generate(schema, name)
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Untyped(f"the types would be no Python: {error}") from None
    return _Reading(tree, name).models()


def _generate(schema: Mapping[str, Any], name: str) -> str:
    """Run datamodel-code-generator on a schema."""
    try:
        from datamodel_code_generator import InputFileType, LiteralType, PythonVersion, generate
        from datamodel_code_generator.enums import DataModelType
    except ImportError:
        raise InputError(
            "types of tools need datamodel-code-generator",
            remedy='pip install "mcp-bindgen[tools]"',
        ) from None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            text = generate(
                json.dumps(schema),
                input_file_type=InputFileType.JsonSchema,
                output_model_type=DataModelType.MsgspecStruct,
                target_python_version=PythonVersion.PY_311,
                class_name=name,
                enum_field_as_literal=LiteralType.All,
                use_standard_collections=True,
                use_union_operator=True,
                use_annotated=True,
                field_constraints=True,
                strict_nullable=True,
                disable_timestamp=True,
                formatters=[],
            )
        except Exception as error:
            first = str(error).partition("\n")[0]
            raise Untyped(f"no types can be made of it: {first}") from None
    return text if isinstance(text, str) else ""


class _Reading:
    """One generated module, taken apart by an allow-list."""

    def __init__(self, tree: ast.Module, name: str) -> None:
        self.tree = tree
        self.name = name
        self.known: dict[str, str] = {}
        self.renamed: dict[str, str] = {}

    def models(self) -> Models:
        body = [node for node in self.tree.body if not self._is_import(node)]
        names = [self._declare(node) for node in body]
        self.renamed = {name: self._class_name(name) for name in names}
        if len({*self.renamed.values()}) < len(names) or self.name not in names:
            raise Untyped("two of its types would have one name")
        self._require_used(names)
        return Models(self.name, tuple(map(self._type, body)))

    def _require_used(self, names: list[str]) -> None:
        """Raise Untyped for a type without a use: its place would be wider."""
        nodes = [*ast.walk(self.tree)]
        loaded = (n for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
        used: set[object] = {node.id for node in loaded}
        used |= {node.value for node in nodes if isinstance(node, ast.Constant)}
        for name in names:
            if name not in used and name != self.name:
                raise Untyped(f"its types would not use {self.renamed[name]}, and be wider")

    # ---- what stands at the top

    def _is_import(self, node: ast.stmt) -> bool:
        if not isinstance(node, ast.ImportFrom):
            return False
        for alias in node.names:
            if node.level or alias.name not in _IMPORTS.get(node.module or "", ()):
                self._refuse(node)
            self.known[alias.asname or alias.name] = alias.name
        return True

    def _declare(self, node: ast.stmt) -> str:
        match node:
            case ast.ClassDef(name=name, decorator_list=[]) if name != CLOSED_BASE:
                return name
            case ast.AnnAssign(
                target=ast.Name(id=name), annotation=ast.Name(id="TypeAlias"), value=ast.expr()
            ):
                return name
            case _:
                self._refuse(node)

    def _class_name(self, name: str) -> str:
        """A class name with the outermost name as prefix, so it hides no other name."""
        if not _CLASS.match(name):
            raise Untyped(f"{name!r} cannot name a type")
        return name if name.startswith(self.name) else f"{self.name}{name[0].upper()}{name[1:]}"

    def _type(self, node: ast.stmt) -> Class | Alias:
        match node:
            case ast.ClassDef():
                return self._class(node)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                return Alias(self.renamed[name], self._annotation(value))
            case _:
                self._refuse(node)

    def _class(self, node: ast.ClassDef) -> Class:
        bases = tuple(self._base(base) for base in node.bases)
        options = tuple(self._option(each) for each in node.keywords)
        if any(map(self._is_closed, node.bases)):
            options = (*options, "forbid_unknown_fields=True")
        body = [each for each in node.body if isinstance(each, ast.AnnAssign)]
        for each in node.body:
            if not isinstance(each, ast.AnnAssign | ast.Pass) and not _is_text(each):
                self._refuse(each)
        members: list[Member] = []
        for each in body:
            members.append(self._member(each, {member.name for member in members}))
        return Class(self.renamed[node.name], bases, options, tuple(members))

    def _base(self, node: ast.expr) -> str:
        match node:
            case ast.Name(id=name) if name in self.renamed:
                return self.renamed[name]
            case ast.Name(id=name) if self.known.get(name) in ("Struct", CLOSED_BASE):
                return "Struct"
            case _:
                self._refuse(node)

    def _is_closed(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and self.known.get(node.id) == CLOSED_BASE

    def _option(self, node: ast.keyword) -> str:
        if node.arg not in _CLASS_KEYWORDS or not isinstance(node.value, ast.Constant):
            self._refuse(node.value)
        return f"{node.arg}={self._literal(node.value)}"

    # ---- members

    def _member(self, node: ast.AnnAssign, taken: set[str]) -> Member:
        if not isinstance(node.target, ast.Name):
            self._refuse(node)
        wire: str = node.target.id
        default: Code = ""
        if node.value is not None:
            named, default = self._default(node.value)
            wire = wire if named is None else named
        name = member_name(wire)
        if name is None:
            raise Untyped(f"no Python name can be made of the member {wire!r}")
        while name in taken or name in _SHADOWING:
            name += "_"
        annotation, text = self._describe(node.annotation)
        if default not in ("UNSET", ""):
            annotation = without(annotation, "UnsetType")
        return Member(wire, name, annotation, default, text)

    def _default(self, node: ast.expr) -> tuple[str | None, Code]:
        """The wire name, where it is given, and the default; empty where there is none."""
        match node:
            case ast.Call(func=ast.Name(id=name), args=[], keywords=words) if (
                self.known.get(name) == "field"
            ):
                table = {word.arg: word.value for word in words}
                if not table.keys() <= {"name", "default", "default_factory"}:
                    self._refuse(node)
                wire = table.get("name")
                if wire is not None and not _is_string(wire):
                    self._refuse(node)
                return (None if wire is None else ast.literal_eval(wire)), self._arguments(table)
            case _:
                return None, self._value(node)

    def _arguments(self, table: Mapping[str | None, ast.expr]) -> Code:
        """The default among the arguments of `field`."""
        match table:
            case {"default_factory": ast.Name(id="list" | "dict" as empty)} if (
                empty not in self.renamed
            ):
                return empty
            case {"default_factory": ast.Lambda(body=body) as factory} if not ast.unparse(
                factory.args
            ):
                made = self._factory_result(body)
                return replace(made, head=f"lambda: {made.head}")
            case {"default_factory": other}:
                self._refuse(other)
            case {"default": value}:
                return self._value(value)
            case _:
                return ""

    def _value(self, node: ast.expr) -> str:
        match node:
            case ast.Name(id=name) if self.known.get(name) == "UNSET":
                return "UNSET"
            case _:
                return self._literal(node)

    def _factory_result(self, node: ast.expr) -> Group:
        """The result of a factory: a list or an object, or one converted to a type."""
        match node:
            case ast.Call(
                func=ast.Name(id=name),
                args=[value],
                keywords=[ast.keyword(arg="type", value=ast.Name() | ast.Subscript() as type)],
            ) if self.known.get(name) == "convert":
                return call(
                    "convert", self._display(value), _behind("type=", self._annotation(type))
                )
            case _:
                shown = self._display(node)
                return shown if isinstance(shown, Group) else self._refuse(node)

    def _display(self, node: ast.expr) -> str | Group:
        match node:
            case ast.List(elts=items):
                return Group("[", tuple(map(self._display, items)), "]")
            case ast.Dict(keys=keys, values=values):
                rows = zip(keys, values, strict=True)
                return Group("{", tuple(self._row(key, value) for key, value in rows), "}")
            case _:
                return self._literal(node)

    def _row(self, key: ast.expr | None, value: ast.expr) -> Code:
        if key is None or not _is_string(key):
            self._refuse(value)
        return _behind(f"{self._literal(key)}: ", self._display(value))

    # ---- annotations

    def _describe(self, node: ast.expr) -> tuple[Code, str]:
        """An annotation, and the description inside it, beside bounds."""
        texts: list[str] = []
        for inner in ast.walk(node):
            if isinstance(inner, ast.Call):
                for word in [word for word in inner.keywords if word.arg == "description"]:
                    if not _is_string(word.value):
                        self._refuse(word.value)
                    texts.append(ast.literal_eval(word.value))
        return self._annotation(node), texts[0] if texts else ""

    def _annotation(self, node: ast.expr) -> Code:
        match node:
            case ast.Name(id=name) if name in self.renamed:
                return self.renamed[name]
            case ast.Constant(value=str(name)) if name in self.renamed:
                return f'"{self.renamed[name]}"'
            case ast.Constant(value=None):
                return "None"
            case ast.Name(id=name) if name in ("bool", "dict", "float", "int", "list", "str"):
                return name
            case ast.Name(id=name) if self.known.get(name) in _NAMES:
                return self.known[name]
            case ast.BinOp(op=ast.BitOr()):
                return union(self._arms(node))
            case ast.Subscript(value=ast.Name(id=name), slice=inner):
                items = inner.elts if isinstance(inner, ast.Tuple) else [inner]
                return self._generic(self.known.get(name, name), items, node)
            case _:
                self._refuse(node)

    def _arms(self, node: ast.expr) -> Iterator[Code]:
        if isinstance(node, ast.BinOp):
            yield from (*self._arms(node.left), *self._arms(node.right))
        else:
            yield self._annotation(node)

    def _generic(self, name: str, items: list[ast.expr], node: ast.expr) -> Code:
        match name:
            case "Literal":
                return Group("Literal[", tuple(self._literal(item) for item in items), "]")
            case "Union":
                return Group("Union[", tuple(map(self._annotation, items)), "]")
            case "Annotated" if len(items) == 2:
                return self._bounds(self._annotation(items[0]), items[1])
            case "dict" | "list" | "tuple":
                return Group(f"{name}[", tuple(map(self._argument, items)), "]")
            case _:
                self._refuse(node)

    def _argument(self, node: ast.expr) -> Code:
        return (
            "..."
            if isinstance(node, ast.Constant) and node.value is ...
            else self._annotation(node)
        )

    def _bounds(self, type: Code, node: ast.expr) -> Code:
        """`Annotated`, with the bounds of a `Meta` alone."""
        if not isinstance(node, ast.Call) or node.args or not isinstance(node.func, ast.Name):
            self._refuse(node)
        if self.known.get(node.func.id) != "Meta":
            self._refuse(node)
        bounds = [w for w in node.keywords if w.arg not in ("description", "title", "examples")]
        if any(word.arg not in _META for word in bounds):
            self._refuse(node)
        said = tuple(f"{word.arg}={self._literal(word.value)}" for word in bounds)
        return Group("Annotated[", (type, call("Meta", *said)), "]") if said else type

    # ---- literals

    def _literal(self, node: ast.expr) -> str:
        match node:
            case ast.Constant(value=None | bool() | int() | float() | str() as value):
                return literal(value)
            case ast.UnaryOp(
                op=ast.USub(), operand=ast.Constant(value=int() | float() as value)
            ) if not isinstance(value, bool):
                return f"-{value!r}"
            case _:
                self._refuse(node)

    def _refuse(self, node: ast.AST) -> NoReturn:
        raise Untyped(f"its types would hold {ast.unparse(node)[:60]!r}, which is not understood")


def _behind(head: str, code: Code) -> Code:
    """The code behind `head`."""
    if isinstance(code, Group):
        return replace(code, head=head + code.head)
    return f"{head}{flat(code)}"


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and _is_string(node.value)


def _is_string(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
