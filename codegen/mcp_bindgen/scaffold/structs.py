"""The types of a tool as msgspec Structs: as values, and as lines of Python."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from msgspec.structs import replace as struct_replace

from mcp_bindgen.emit.text.imports import import_order
from mcp_bindgen.emit.text.layout import (
    STEP,
    WIDTH,
    Code,
    Group,
    Or,
    call,
    docstring,
    flat,
    lay,
    literal,
    member,
)

__all__ = [
    "IMPORTS",
    "Alias",
    "Class",
    "Member",
    "Models",
    "drop_defaults",
    "imports",
    "lines",
    "union",
    "without",
]

IMPORTS: Final = {
    "msgspec": frozenset({"Meta", "Struct", "UNSET", "UnsetType", "convert", "field"}),
    "typing": frozenset({"Annotated", "Any", "Literal", "TypeAlias", "Union"}),
}
"""The names used in the text of types, by module."""
_LONGEST_DEFAULT: Final = 100
"""Characters of a default in a text."""


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a class; `default` is empty if the member is required.

    A group is the result of a factory; `list` and `dict` are factories.
    """

    wire: str
    name: str
    annotation: Code
    default: Code
    text: str

    def without_default(self) -> Member:
        """The same member as an optional one without default."""
        annotation = union((*_arms(without(self.annotation, "UnsetType")), "UnsetType"))
        return replace(self, annotation=annotation, default="UNSET")

    def drop_default(self) -> Member:
        """Drop the default, so that the member may be absent; its text tells the default."""
        if self.default in ("", "UNSET"):
            return self
        said = f"Default: {_default_text(self.default)}."
        return replace(self.without_default(), text=f"{self.text} {said}".lstrip())


@dataclass(frozen=True, slots=True)
class Class:
    """A Struct: `bases` are classes or `Struct`, `options` the keyword arguments beside them."""

    name: str
    bases: tuple[str, ...]
    options: tuple[str, ...]
    members: tuple[Member, ...]


@dataclass(frozen=True, slots=True)
class Alias:
    name: str
    type: Code


@dataclass(frozen=True, slots=True)
class Models:
    """The types of a schema, in order of use; the last one has the requested name."""

    name: str
    types: tuple[Class | Alias, ...]


def drop_defaults(models: Models) -> Models:
    """Drop the defaults of all members, which then are as the other side sends them."""
    types = (
        replace(each, members=tuple(member.drop_default() for member in each.members))
        if isinstance(each, Class)
        else each
        for each in models.types
    )
    return replace(models, types=tuple(types))


def _default_text(default: Code) -> str:
    """Write the value of a default; cut it if it is long."""
    empty = {"list": "[]", "dict": "{}"}
    shown: Code = empty.get(default, default) if isinstance(default, str) else default
    if isinstance(shown, Group):
        shown = struct_replace(shown, head=shown.head.removeprefix("lambda: "))
        if shown.head == "convert(":
            shown = shown.items[0]
    text = flat(shown)
    return text if len(text) <= _LONGEST_DEFAULT else f"{text[: _LONGEST_DEFAULT - 1]}…"


def union(arms: Iterable[Code]) -> Code:
    """Each arm once, None at the end."""
    unique = tuple(sorted(dict.fromkeys(arms), key=lambda arm: arm == "None"))
    return unique[0] if len(unique) == 1 else Or(unique)


def _arms(annotation: Code) -> tuple[Code, ...]:
    return annotation.items if isinstance(annotation, Or) else (annotation,)


def without(annotation: Code, name: str) -> Code:
    """A union without one of its arms."""
    if not isinstance(annotation, Or):
        return annotation
    return union(arm for arm in annotation.items if arm != name)


# ---- as text


def lines(types: Iterable[Class | Alias]) -> list[str]:
    """The lines of types, two blank lines before each; one before an alias after the imports."""
    lines: list[str] = []
    for type in types:
        if isinstance(type, Class):
            lines += ["", "", *_class_lines(type)]
        else:
            lines += ["", *([""] if lines else []), *_alias_lines(type)]
    return lines


def _alias_lines(alias: Alias) -> list[str]:
    return lay("", f"{alias.name}: TypeAlias = ", alias.type)


def _class_lines(shape: Class) -> list[str]:
    head = Group(f"class {shape.name}(", (*shape.bases, *shape.options, "kw_only=True"), ")")
    body = [line for each in shape.members for line in _member_lines(each)]
    return [*lay("", "", head, ":"), *(body or [f"{STEP}pass"])]


def _member_lines(each: Member) -> list[str]:
    assigned = _assignment(each)
    said = member(STEP, each.name, each.annotation, assigned)
    if isinstance(assigned, str) and len(f"{STEP}{STEP}{assigned}") > WIDTH:  # no line holds it
        said = [f"{STEP}{each.name}: {flat(each.annotation)} = {assigned}"]
    return [*said, *docstring(STEP, each.text)]


def _assignment(each: Member) -> Code:
    """The code of a member behind its type: its default, its name on the wire, or nothing."""
    words: list[Code] = [f"name={literal(each.wire)}"] if each.wire != each.name else []
    match each.default:
        case Group() as made:
            words.append(struct_replace(made, head=f"default_factory={made.head}"))
        case "list" | "dict" as empty:
            words.append(f"default_factory={empty}")
        case default if not words:
            return default
        case "":
            pass
        case default:
            words.append(f"default={default}")
    return call("field", *words)


def imports(text: str, libraries: Sequence[str] = ()) -> list[str]:
    """The import lines for the names used in these types; `libraries` stand before msgspec's."""
    used = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    lines: list[str] = []
    for module, before in (("typing", ()), ("msgspec", libraries)):
        names = sorted(IMPORTS[module] & used, key=import_order)
        own = lay("", f"from {module} import ", ", ".join(names)) if names else []
        if before or own:
            lines += ["", *before, *own]
    return lines
