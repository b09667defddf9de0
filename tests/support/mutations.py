"""Changes a schema at random, one change at a time, and says what the diff must find."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from mcp_bindgen.compare.changes.shown_paths import places
from mcp_bindgen.ir.error_codes import is_error_code
from mcp_bindgen.ir.model import (
    Alias,
    Arr,
    Bounded,
    Const,
    Declaration,
    Element,
    Field,
    Limits,
    Lit,
    Map,
    Prim,
    Ref,
    Schema,
    Struct,
    Tup,
    Type,
    Uni,
)

__all__ = ["MUTATIONS", "Mutation", "mutated"]

STRING: Final = Prim("string")
NUMBER: Final = Prim("number")
NEW: Final = "mutant"


@dataclass(frozen=True, slots=True)
class Mutation:
    """A schema after one change, the path at which it is told, and the rules that may tell it."""

    kind: str
    schema: Schema
    path: str
    rules: frozenset[str]


Mutator: TypeAlias = Callable[[random.Random, Schema], Mutation | None]


def mutated(dice: random.Random, schema: Schema, kind: str) -> Mutation:
    """Some change of that kind; most places admit only some."""
    for _ in range(1000):
        mutation = MUTATIONS[kind](dice, schema)
        if mutation is not None:
            return mutation
    raise AssertionError(f"no place for {kind!r} in {schema.revision}")


# ---- declarations


def _with(schema: Schema, old: str, new: Declaration) -> Schema:
    declarations = (new if d.name == old else d for d in schema.declarations)
    return replace(schema, declarations=tuple(declarations))


def _struct(dice: random.Random, schema: Schema) -> Struct:
    return dice.choice(list(schema.structs.values()))


def _named(
    kind: str, schema: Schema, struct: Struct, member: str, rules: Iterable[str]
) -> Mutation:
    path = places(schema)[struct.name] + (f".{member}" if member else "")
    return Mutation(kind, schema, path, frozenset(rules))


def add_declaration(dice: random.Random, schema: Schema) -> Mutation:
    new = Struct("Mutant", (Field(NEW, NEW, STRING, True),), None)
    made = replace(schema, declarations=(*schema.declarations, new))
    return Mutation("add declaration", made, "Mutant", frozenset(("DECLARATION_ADDED",)))


def rename_declaration(dice: random.Random, schema: Schema) -> Mutation | None:
    old = dice.choice([s for s in schema.structs.values() if not s.place])
    if len(old.fields) < 3 or any(m.type == old.name for m in schema.methods):
        return None
    new = f"{old.name}Mutant"
    made = replace(
        schema,
        declarations=tuple(
            replace(_renamed(d, old.name, new), name=new if d.name == old.name else d.name)
            for d in schema.declarations
        ),
        methods=tuple(
            replace(
                m,
                params=m.params and _type_renamed(m.params, old.name, new),
                result=m.result and _type_renamed(m.result, old.name, new),
            )
            for m in schema.methods
        ),
    )
    return Mutation("rename declaration", made, new, frozenset(("DECLARATION_RENAMED",)))


def _renamed(declaration: Declaration, old: str, new: str) -> Declaration:
    match declaration:
        case Struct():
            fields = (replace(f, type=_type_renamed(f.type, old, new)) for f in declaration.fields)
            index = declaration.index and _type_renamed(declaration.index, old, new)
            bases = tuple(new if base == old else base for base in declaration.bases)
            return replace(declaration, fields=tuple(fields), index=index, bases=bases)
        case Alias():
            return replace(declaration, type=_type_renamed(declaration.type, old, new))
        case _:
            return declaration


def _type_renamed(type: Type, old: str, new: str) -> Type:
    match type:
        case Ref():
            return Ref(new) if type.name == old else type
        case Arr() | Map() | Bounded():
            return replace(type, of=_type_renamed(type.of, old, new))
        case Uni():
            return Uni(tuple(_type_renamed(arm, old, new) for arm in type.arms))
        case Tup():
            of = (Element(_type_renamed(e.type, old, new), e.optional) for e in type.of)
            return replace(type, of=tuple(of))
        case _:
            return type


def change_constant(dice: random.Random, schema: Schema) -> Mutation:
    const = dice.choice(list(schema.consts.values()))
    value = "mutant" if isinstance(const.value, str) else -1
    made = _with(schema, const.name, Const(const.name, value, at=const.at))
    rule = "ERROR_CODE_CHANGED" if is_error_code(const.value) else "CONSTANT_CHANGED"
    return Mutation("change constant", made, const.name, frozenset((rule,)))


def remove_constant(dice: random.Random, schema: Schema) -> Mutation:
    const = dice.choice(list(schema.consts.values()))
    kept = tuple(d for d in schema.declarations if d.name != const.name)
    made = replace(schema, declarations=kept)
    return Mutation("remove constant", made, const.name, frozenset(("CONSTANT_REMOVED",)))


# ---- methods


def remove_method(dice: random.Random, schema: Schema) -> Mutation:
    method = dice.choice(schema.methods)
    made = replace(schema, methods=tuple(m for m in schema.methods if m is not method))
    return Mutation("remove method", made, method.name, frozenset(("METHOD_REMOVED",)))


def turn_method(dice: random.Random, schema: Schema) -> Mutation | None:
    method = dice.choice(schema.methods)
    if method.direction == "both":
        return None
    turned = replace(method, direction="both")
    made = replace(schema, methods=tuple(turned if m is method else m for m in schema.methods))
    return Mutation("turn method", made, method.name, frozenset(("METHOD_DIRECTION_CHANGED",)))


# ---- members


def _fields(schema: Schema, struct: Struct, fields: Iterable[Field]) -> Schema:
    return _with(schema, struct.name, replace(struct, fields=tuple(fields)))


def _changed(schema: Schema, struct: Struct, old: Field, new: Field) -> Schema:
    return _fields(schema, struct, (new if f is old else f for f in struct.fields))


_GONE: Final = ("REQUIRED", "CONST", "OPTIONAL", "CLOSED", "REQUIRED_CLOSED")


def remove_member(dice: random.Random, schema: Schema) -> Mutation | None:
    struct = _struct(dice, schema)
    if not struct.fields:
        return None
    field = dice.choice(struct.fields)
    if any(m.type == struct.name for m in schema.methods) and field.wire == "method":
        return None
    made = _fields(schema, struct, (f for f in struct.fields if f is not field))
    rules = [f"MEMBER_REMOVED_{how}" for how in _GONE]
    rules += ["ENVELOPE_MEMBER_REMOVED", "ENVELOPE_CONST_REMOVED"]
    return _named("remove member", made, struct, field.wire, rules)


def add_member(dice: random.Random, schema: Schema) -> Mutation:
    struct = _struct(dice, schema)
    type: Type = dice.choice((STRING, Lit("x"), NUMBER, Arr(STRING), Uni((STRING, NUMBER))))
    field = Field(NEW, NEW, type, dice.random() < 0.5, origin=struct.name)
    made = _fields(schema, struct, (*struct.fields, field))
    return _named("add member", made, struct, NEW, [f"MEMBER_ADDED_{how}" for how in _GONE])


def rename_member(dice: random.Random, schema: Schema) -> Mutation | None:
    struct = _struct(dice, schema)
    fields = [f for f in struct.fields if f.const is None and f.wire not in ("params", "id")]
    if not fields:
        return None
    field = dice.choice(fields)
    made = _changed(schema, struct, field, replace(field, wire=NEW, name=NEW))
    return _named("rename member", made, struct, NEW, [f"MEMBER_ADDED_{how}" for how in _GONE])


def toggle_member(dice: random.Random, schema: Schema) -> Mutation | None:
    struct = _struct(dice, schema)
    fields = [f for f in struct.fields if f.const is None]
    if not fields:
        return None
    field = dice.choice(fields)
    made = _changed(schema, struct, field, replace(field, required=not field.required))
    rules = ("MEMBER_BECAME_REQUIRED", "MEMBER_BECAME_OPTIONAL")
    return _named("toggle member", made, struct, field.wire, rules)


# ---- types


def _leaf(dice: random.Random, schema: Schema) -> tuple[Struct, Field] | None:
    struct = _struct(dice, schema)
    fields = [f for f in struct.fields if f.const is None]
    return (struct, dice.choice(fields)) if fields else None


# fmt: off
_TYPES: Final = frozenset((
    "TYPE_WIDENED", "TYPE_BECAME_UNKNOWN", "TYPE_NARROWED", "TYPE_CHANGED", "TYPE_REPLACED",
    "TYPE_CLASS_CHANGED", "TYPE_RESPELLED", "INTEGER_BECAME_NUMBER", "BOUNDS_LOOSENED",
    "ARM_ADDED", "ARM_REMOVED", "ARM_ADDED_COVERED", "ARM_REMOVED_COVERED",
    "LITERAL_ADDED", "LITERAL_REMOVED", "LITERAL_ADDED_OPEN", "LITERAL_REMOVED_OPEN",
    "MEMBER_BECAME_NULLABLE", "MEMBER_NO_LONGER_NULLABLE",
))
# fmt: on


def change_type(dice: random.Random, schema: Schema) -> Mutation | None:
    leaf = _leaf(dice, schema)
    type = dice.choice((STRING, NUMBER, Prim("boolean"), Prim("unknown"), Arr(STRING), Map(NUMBER)))
    if leaf is None or leaf[1].type == type:
        return None
    struct, field = leaf
    made = _changed(schema, struct, field, replace(field, type=type))
    return _named("change type", made, struct, field.wire, _TYPES)


def add_arm(dice: random.Random, schema: Schema) -> Mutation | None:
    leaf = _leaf(dice, schema)
    if leaf is None:
        return None
    struct, field = leaf
    arms = field.type.arms if isinstance(field.type, Uni) else (field.type,)
    new: Type = dice.choice((Prim("null"), Lit("mutant"), Prim("boolean"), Arr(NUMBER)))
    if new in arms:
        return None
    made = _changed(schema, struct, field, replace(field, type=Uni((*arms, new))))
    return _named("add arm", made, struct, field.wire, _TYPES)


def remove_arm(dice: random.Random, schema: Schema) -> Mutation | None:
    aliases = [d for d in schema.declarations if isinstance(d, Alias) and isinstance(d.type, Uni)]
    alias = dice.choice(aliases)
    assert isinstance(alias.type, Uni)
    arm = dice.choice(alias.type.arms)
    kept = tuple(a for a in alias.type.arms if a != arm)
    if len(kept) < 2:
        return None
    made = _with(schema, alias.name, replace(alias, type=Uni(kept)))
    return Mutation("remove arm", made, alias.name, _TYPES)


def bound(dice: random.Random, schema: Schema) -> Mutation | None:
    leaf = _leaf(dice, schema)
    if leaf is None or not (leaf[1].type == NUMBER or isinstance(leaf[1].type, Arr)):
        return None
    struct, field = leaf
    limits = Limits(minimum=3) if field.type == NUMBER else Limits(min_items=1, max_items=2)
    made = _changed(schema, struct, field, replace(field, type=Bounded(field.type, limits)))
    return _named("bound", made, struct, field.wire, ("BOUNDS_TIGHTENED",))


def nest(dice: random.Random, schema: Schema) -> Mutation:
    """A change inside an inline shape."""
    struct = dice.choice([s for s in schema.structs.values() if s.place])
    field = Field(NEW, NEW, STRING, True, origin=struct.name)
    made = _fields(schema, struct, (*struct.fields, field))
    return _named("nest", made, struct, NEW, [f"MEMBER_ADDED_{how}" for how in _GONE])


def _table(*mutators: Mutator) -> Iterator[tuple[str, Mutator]]:
    return ((mutator.__name__.replace("_", " "), mutator) for mutator in mutators)


MUTATIONS: Final[dict[str, Mutator]] = dict(
    _table(
        add_declaration,
        rename_declaration,
        change_constant,
        remove_constant,
        remove_method,
        turn_method,
        remove_member,
        add_member,
        rename_member,
        toggle_member,
        change_type,
        add_arm,
        remove_arm,
        bound,
        nest,
    )
)
