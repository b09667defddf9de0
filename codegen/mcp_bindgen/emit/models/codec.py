"""Straight-line codecs: a reader and a writer for each type, as lines of Python.

A reader takes parsed JSON and its place, checks it against the schema and returns the value; a
writer returns parsed JSON. Nothing is looked up in a table of members at run time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, TypeAlias, assert_never

import msgspec

from mcp_bindgen.emit.text.annotate import expected
from mcp_bindgen.emit.text.layout import STEP, Code, Group, Or, call, lay, literal
from mcp_bindgen.ir.model import (
    JSON_PRIMS,
    Arr,
    Bounded,
    Field,
    Kind,
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
from mcp_bindgen.ir.patterns import python_pattern
from mcp_bindgen.ir.unions import arms, tag
from mcp_bindgen.ir.walk import (
    alias_of,
    holds_struct,
    is_any,
    kinds,
    stripped,
    struct_of,
    unaliased,
)

__all__ = ["Codec"]

_PLACE: Final = "at"
_NEW: Final = frozenset(
    (
        *(
            "o",
            "at",
            "get",
            "x",
            "held",
            "made",
            "new",
            "keep",
            "make",
            "wrong",
            "extras",
            "no_extras",
            "merge",
            "are_unique",
            "is_multiple",
            "matches",
        ),
        *("is_number", "is_string"),
        *("read_string", "read_number", "read_boolean", "read_null", "read_object"),
        *("read_json", "read_array", "read_strings", "read_literals", "read_map", "read_tuple"),
        *("check_array", "check_map", "check_objects"),
        *("write_array", "write_map"),
    )
)
"""Names that the functions use themselves: a member of that name is held under another."""

_BOUNDS: Final = ("are_unique", "is_multiple", "matches")

_REFUSED: Final = {
    "number": "not is_number({0})",
    "boolean": "{0}.__class__ is not bool",
    "null": "{0} is not None",
}
_TAKEN: Final[dict[Kind, str]] = {
    "string": "is_string({0})",
    "number": "is_number({0})",
    "boolean": "{0}.__class__ is bool",
    "null": "{0} is None",
    "object": "{0}.__class__ is dict",
    "array": "{0}.__class__ is list",
}
_KINDS: Final[tuple[Kind, ...]] = tuple(_TAKEN)
_READERS: Final = {name: f"read_{name}" for name in ("string", *_REFUSED, "object")}


class Line(msgspec.Struct, frozen=True):
    """A statement, or the head of a block: its depth in the function, and its code."""

    depth: int
    prefix: str
    code: Code = ""
    suffix: str = ""


def _deeper(lines: Iterable[Line], by: int = 1) -> Iterator[Line]:
    for line in lines:
        yield Line(line.depth + by, line.prefix, line.code, line.suffix)


class Codec:
    """The functions that a module needs, by name, in the order in which they are first needed."""

    def __init__(
        self,
        schema: Schema,
        unknown: str,
        native: Callable[[Struct], bool] = lambda _: False,
        late: Callable[[Struct], bool] = lambda _: False,
        holds: bool = False,
    ) -> None:
        """`native` says which structs their library makes; others are filled with a dict of what is
        there, in which writers look for it if an instance `holds` nothing else. `late` says of
        which structs the members are read when they are asked for.
        """
        self.schema = schema
        self.unknown = unknown
        self.native = native
        self.late = late
        self.holds = holds
        self.functions: dict[str, list[str]] = {}
        self.shared: set[str] = set()
        self.bounds: set[str] = set()
        self._named: dict[Type, str] = {}
        for name in schema.structs:
            self._named[Ref(name)] = f"_read_{name}"
        for struct in schema.structs.values():
            self._define(
                f"_read_{struct.name}", f"o: Json, at: At) -> {struct.name}", self._struct(struct)
            )
            self._define(
                f"_write_{struct.name}", f"x: {struct.name}) -> Json", self._writing(struct)
            )

    def _define(self, name: str, signature: str, body: Iterable[Line]) -> None:
        head, _, result = signature.rpartition(") -> ")
        group = Group(f"def {name}(", tuple(head.split(", ")), ")")
        lines = self.functions[name] = lay("", "", group, f" -> {result}:")
        for line in body:
            lines += lay(STEP * (line.depth + 1), line.prefix, line.code, line.suffix)

    def use(self, name: str) -> str:
        """A function of the shared module, noted for the import."""
        self.shared.add(name)
        return name

    def bound(self, condition: str) -> str:
        """The condition of a bound, with the function of `_wire.bounds` that it calls noted."""
        self.bounds.update(name for name in _BOUNDS if f"{name}(" in condition)
        return condition

    def _using(self, template: str, var: str) -> str:
        """A condition, with what it calls noted."""
        for name in ("is_number", "is_string"):
            if name in template:
                self.use(name)
        return template.format(var)

    def _no_string(self, var: str) -> Code:
        """`not is_string(var)`, without the call for most strings."""
        fine = self._using("{0}.isascii() or is_string({0})", var)
        return Group(f"{var}.__class__ is not str or not (", (fine,), ")")

    # ---- readers

    def reader(self, type: Type, place: str = "") -> str:
        """The name of the function that reads `type`; `place` names it if it is new."""
        match type:
            case Ref() if alias := alias_of(self.schema, type):
                return self.reader(alias.type, alias.name)
            case Prim() if type.name in JSON_PRIMS:
                return self.use("read_json")
            case Prim():
                return self.use(_READERS[type.name])
            case Map() if is_any(self.schema, type.of):
                return self.use("read_object")
            case Arr(of=Prim(name="string")):
                return self.use("read_strings")
            case _:
                if type not in self._named:
                    self._new_reader(type, place)
                return self._named[type]

    def _new_reader(self, type: Type, place: str) -> None:
        name = f"_read_{place}"
        while name in self.functions or name.removeprefix("_read_") in self.schema.structs:
            name += "_"
        self._named[type] = name
        self.functions[name] = []
        self._define(name, "x: Json, at: At) -> Json", self._reading(type, place))

    def _reading(self, type: Type, place: str) -> Iterator[Line]:
        match type:
            case Arr() | Map():
                yield Line(0, "return ", self._all(type, "x", _PLACE, place))
            case Tup():
                yield from self._tuple(type, place)
            case Uni() if self._refusal(type, "x") is None:
                yield from self._union(type, place)
            case Prim() | Lit() | Ref() | Uni() | Bounded():
                yield from self.check(type, "x", _PLACE, place)
                yield Line(0, "return x")
            case _:
                assert_never(type)

    def check(
        self, type: Type, var: str, at: Code, place: str, found: Code | None = None
    ) -> Iterator[Line]:
        """Lines that leave the checked value in `var`, whose place is the code `at`.

        `found` is what a refusal names, where that is not `var`.
        """
        if isinstance(type, Bounded):
            yield from self.check(type.of, var, at, place, found)
            yield from self._limits(type, var, at)
            return
        if alias := alias_of(self.schema, type):
            yield from self.check(alias.type, var, at, alias.name, found)
            return
        refusal = self._refusal(type, var)
        if refusal is not None:
            yield from self._refuse(refusal, at, expected(self.schema, type), found or var)
        else:
            yield Line(0, f"{var} = ", self._read_call(type, var, at, place))

    def _read_call(self, type: Type, var: str, at: Code, place: str) -> Code:
        opens = isinstance(type, Map) and is_any(self.schema, type.of)
        if isinstance(type, Arr | Map) and type != Arr(Prim("string")) and not opens:
            return self._all(type, var, at, place)
        return call(self.reader(type, place), var, at)

    def _all(self, type: Arr | Map, var: str, at: Code, place: str) -> Code:
        """The call that reads every item or value."""
        if type == Map(Prim("object")):
            return call(self.use("check_objects"), var, at)
        if isinstance(type, Arr) and (choices := _choices(self.schema, type.of)):
            return call(self.use("read_literals"), _tuple_of(choices), var, at)
        how = "read" if holds_struct(self.schema, type) else "check"
        what, step = ("array", "item") if isinstance(type, Arr) else ("map", "value")
        read = self.reader(type.of, f"{place}_{step}")
        return call(self.use(f"{how}_{what}"), read, var, at)

    def _refuse(self, condition: Code, at: Code, wanted: str, found: Code) -> Iterator[Line]:
        yield Line(0, "if ", condition, ":")
        yield Line(1, "raise ", call(self.use("wrong"), at, literal(wanted), found))

    def _refusal(self, type: Type, var: str) -> Code | None:
        """The condition that refuses a value where no reader is needed; None for other types."""
        match type:
            case Prim(name="string"):
                return self._no_string(var)
            case Prim() if type.name in _REFUSED:
                return self._using(_REFUSED[type.name], var)
            case Lit():
                return self._differs(type, var)
            case Uni():
                return self._union_refusal(arms(self.schema, type), var)
            case _:
                return None

    def _differs(self, type: Lit, var: str) -> str:
        if isinstance(type.value, bool):
            return f"{var} is not {type.value}"
        unequal = f"{var} != {literal(type.value)}"
        return (
            unequal
            if isinstance(type.value, str)
            else self._using("not is_number({0})", var) + f" or {unequal}"
        )

    def _union_refusal(self, leaves: tuple[Type, ...], var: str) -> Code | None:
        """For literals of strings, with or without all strings."""
        strings = _strings(leaves)
        if strings and len(strings) == len(leaves):
            return Group(f"{var} not in (", tuple(map(literal, strings)), ")")
        rest = [leaf for leaf in leaves if not isinstance(leaf, Lit)]
        if len(strings) + 1 == len(leaves) and rest == [Prim("string")]:
            return self._no_string(var)
        return None

    # ---- bounds and tuples

    def _limits(self, type: Bounded, var: str, at: Code) -> Iterator[Line]:
        found = kinds(self.schema, type.of)
        for kind, bounds in _bounds(type.limits, var):
            if kind in found:
                alone = len(found) == 1
                if not alone:
                    yield Line(0, "if ", self._using(_TAKEN[kind], var), ":")
                for condition, wanted in bounds:
                    refused = self._refuse(self.bound(condition), at, wanted, var)
                    yield from _deeper(refused, 0 if alone else 1)

    def _tuple(self, type: Tup, place: str) -> Iterator[Line]:
        needed = sum(not element.optional for element in type.of)
        yield from self._refuse("x.__class__ is not list", _PLACE, "array", "x")
        if needed:
            yield from self._refuse(f"len(x) < {needed}", _PLACE, f"at least {needed} items", "x")
        if type.rest is None:
            most = len(type.of)
            yield from self._refuse(f"len(x) > {most}", _PLACE, f"at most {most} items", "x")
        reads = [self.reader(element.type, f"{place}_{i}") for i, element in enumerate(type.of)]
        rest = self.reader(type.rest, f"{place}_rest") if type.rest is not None else "None"
        yield Line(0, "return ", call(self.use("read_tuple"), _tuple_of(reads), rest, "x", _PLACE))

    # ---- unions

    def _union(self, type: Uni, place: str) -> Iterator[Line]:
        """One branch for each JSON kind; the arms of a kind are told apart within it."""
        leaves = arms(self.schema, type)
        groups: dict[Kind, list[Type]] = {}
        for leaf in leaves:
            for kind in filter(kinds(self.schema, leaf).__contains__, _KINDS):
                groups.setdefault(kind, []).append(leaf)
        wanted = expected(self.schema, type)
        if any(self._is_tried(group) for group in groups.values()):
            yield Line(0, "faults: tuple[DecodeError, ...] = ()")
        plain: list[Kind] = [
            kind for kind, group in groups.items() if any(self._is_whole(g, kind) for g in group)
        ]
        if plain:
            taken = " or ".join(self._using(_TAKEN[kind], "x") for kind in plain)
            yield Line(0, f"if {taken}:")
            yield Line(1, "return x")
        for kind, group in groups.items():
            if kind not in plain:
                yield Line(0, f"if {self._using(_TAKEN[kind], 'x')}:")
                yield from _deeper(self._branch(kind, group, place, wanted))
        yield Line(0, "raise ", call(self.use("wrong"), _PLACE, literal(wanted), "x"))

    def _is_whole(self, leaf: Type, kind: Kind) -> bool:
        """Whether an arm takes every value of a kind as it is; in arrays and objects it looks."""
        return isinstance(unaliased(self.schema, leaf), Prim) and kind not in {"array", "object"}

    def _is_tried(self, group: list[Type]) -> bool:
        """Whether the arms of one JSON kind can only be told apart by trying them."""
        return len(group) > 1 and tag(self.schema, tuple(group)) is None

    def _branch(self, kind: Kind, group: list[Type], place: str, wanted: str) -> Iterator[Line]:
        wire = tag(self.schema, tuple(group))
        if len(group) == 1:
            yield Line(0, "return ", call(self.reader(group[0], f"{place}_{kind}"), "x", _PLACE))
        elif wire is not None:
            yield from self._tagged(wire, group)
        else:
            yield from self._tried(group, place, wanted)

    def _tagged(self, wire: str, group: list[Type]) -> Iterator[Line]:
        yield Line(0, f"match x.get({literal(wire)}):")
        values: list[str] = []
        for leaf in sorted(group, key=self._written_at):
            const = self._struct_of(leaf).field(wire)
            assert const is not None
            values.append(expected(self.schema, const.type))
            yield Line(1, f"case {literal(const.const)}:")
            yield Line(2, "return ", call(self.reader(leaf), "x", _PLACE))
        yield Line(1, "case _:")
        found = call("x.get", literal(wire), self.use("UNSET"))
        fault = call(self.use("wrong"), _at(_PLACE, wire), literal(" | ".join(values)), found)
        yield Line(2, "raise ", fault)

    def _written_at(self, leaf: Type) -> int:
        return self._struct_of(leaf).at

    def _struct_of(self, leaf: Type) -> Struct:
        struct = struct_of(self.schema, leaf)
        assert struct is not None
        return struct

    def _tried(self, group: list[Type], place: str, wanted: str) -> Iterator[Line]:
        """Arms in order, those left out that lack a required member or a constant.

        Where one arm alone was tried its fault is the union's, else the union itself is at fault.
        """
        for number, leaf in enumerate(group):
            guard = self._guard(leaf)
            if guard is not None:
                yield Line(0, "if ", guard, ":")
            yield from _deeper(self._try(leaf, f"{place}_{number}"), int(guard is not None))
        fault = call(self.use("wrong"), _PLACE, literal(wanted), "x")
        yield Line(0, "if len(faults) == 1:")
        yield Line(1, "raise faults[0]")
        yield Line(0, "raise ", fault)

    def _try(self, leaf: Type, place: str) -> Iterator[Line]:
        yield Line(0, "try:")
        yield Line(1, "return ", call(self.reader(leaf, place), "x", _PLACE))
        yield Line(0, "except DecodeError as fault:")
        yield Line(1, "faults += (fault,)")

    def _guard(self, leaf: Type) -> Code | None:
        """The condition without which a struct cannot accept; None where there is none."""
        struct = struct_of(self.schema, leaf)
        fields = struct.fields if struct is not None else ()
        parts = tuple(
            f"x.get({literal(f.wire)}) == {literal(f.const)}"
            if isinstance(f.const, str)
            else f"{literal(f.wire)} in x"
            for f in fields
            if f.required
        )
        return (parts[0] if len(parts) == 1 else Or(parts, "and")) if parts else None

    # ---- structs

    def keeps(self, struct: Struct) -> bool:
        """Whether a struct has `extra_`: always where the schema itself says that it is open."""
        return self.unknown == "keep" or struct.open

    def _struct(self, struct: Struct) -> Iterator[Line]:
        """Required members first: an object that has no others is done with there."""
        required = [f for f in struct.fields if f.required]
        yield from self._refuse("o.__class__ is not dict", _PLACE, "object", "o")
        if self.late(struct):
            yield from self._unread(struct)
            return
        for field in required:
            yield from self._required(struct, field)
        held = [f for f in required if f.const is None]
        rest = [*_deeper((*self._optional(struct), *self._extras(struct)))]
        if rest:
            rest.insert(0, Line(0, f"if len(o) != {len(required)}:"))
        made = self._built if self.native(struct) else self._filled
        yield from made(struct, held, rest)

    def _built(self, struct: Struct, required: list[Field], rest: list[Line]) -> Iterator[Line]:
        """Lines that have the struct's library make a value of the members that are there."""
        members = tuple(f"{literal(f.name)}: {_local(f)}" for f in required)
        held = Group("{", members, "}")
        if rest:
            yield Line(0, "held: dict[str, Json] = ", held)
        yield from rest
        yield Line(0, "return ", call(self.use("make"), struct.name, "held" if rest else held))

    def _filled(self, struct: Struct, required: list[Field], rest: list[Line]) -> Iterator[Line]:
        """Lines that put the members that are there into a new value.

        One by one, as so the dicts of a class share their keys: each takes less time, and half the
        memory, than one with keys of its own.
        """
        yield Line(0, "made = ", call(self.use("new"), struct.name))
        if required or rest:
            yield Line(0, "held = made.__dict__")
        for field in required:
            yield Line(0, f"held[{literal(field.name)}] = {_local(field)}")
        yield from rest
        yield Line(0, "return made")

    def _unread(self, struct: Struct) -> Iterator[Line]:
        """The checks, and a value that keeps what it was read from."""
        for field in sorted(struct.fields, key=lambda f: not f.required):
            if field.required:
                yield from self._required(struct, field)
            else:
                yield from self._present(struct, field)
        if self.keeps(struct):
            rest = call(self.use("extras"), "o", f"_{struct.name}_members", _PLACE)
            yield Line(0, "if at is not None:")
            yield Line(1, "", rest)
        yield Line(0, "made = ", call(self.use("new"), struct.name))
        yield Line(0, "", call(self.use("keep"), "made", "o"))
        yield Line(0, "return made")

    def _present(self, struct: Struct, field: Field) -> Iterator[Line]:
        """Lines that check a member, if it is there; its value is in its variable then."""
        var, wire = _local(field), literal(field.wire)
        at = _at(_PLACE, field.wire)
        yield Line(0, f"if {wire} in o:")
        yield Line(1, f"{var} = o[{wire}]")
        yield from _deeper(self.check(field.type, var, at, f"{struct.name}_{field.name}"))

    def _required(self, struct: Struct, field: Field) -> Iterator[Line]:
        """Lines that check a required member; null stands for an absent one where null is refused.

        The shorter look-up is twice as fast as the one with a default.
        """
        var, wire = _local(field), literal(field.wire)
        at = _at(_PLACE, field.wire)
        place = f"{struct.name}_{field.name}"
        get = call("o.get", wire, self.use("UNSET"))
        if isinstance(field.const, str):
            condition = f"o.get({wire}) != {literal(field.const)}"
            yield from self._refuse(condition, at, expected(self.schema, field.type), get)
        elif self._is_refused_null(field.type):
            yield Line(0, f"{var} = ", call("o.get", wire))
            yield from self.check(field.type, var, at, place, get)
        else:
            yield Line(0, f"{var} = ", get)
            yield from self.check(field.type, var, at, place)

    def _is_refused_null(self, type: Type) -> bool:
        """Whether a type without bounds is checked in place, and does not take null."""
        if alias := alias_of(self.schema, type):
            return self._is_refused_null(alias.type)
        return self._refusal(type, "x") is not None and "null" not in kinds(self.schema, type)

    def _optional(self, struct: Struct) -> Iterator[Line]:
        for field in struct.fields:
            if not field.required:
                yield from self._present(struct, field)
                yield Line(1, f"held[{literal(field.name)}] = {_local(field)}")

    def _extras(self, struct: Struct) -> Iterator[Line]:
        """Lines for an object that has more members than the required ones."""
        keys = f"_{struct.name}_members"
        optional = any(not f.required for f in struct.fields)
        if optional:
            consts = f" + {len(struct.consts)}" if struct.consts else ""
            yield Line(0, f"if len(o) != len(held){consts}:")
        if self.keeps(struct):
            found: Code = call(self.use("extras"), "o", keys, _PLACE)
            if struct.index is not None and not is_any(self.schema, struct.index):
                read = self.reader(struct.index, f"{struct.name}_extra")
                found = call(self.use("read_map"), read, found, _PLACE)
            yield Line(int(optional), 'held["extra_"] = ', found)
        else:
            look = "no_extras" if self.unknown == "reject" else "extras"
            yield Line(int(optional), "", call(self.use(look), "o", keys, _PLACE))

    # ---- writers

    def writer(self, type: Type) -> str | None:
        """The name of the function that writes `type`; None where it is JSON already."""
        opened = stripped(self.schema, type)
        if isinstance(opened, Ref):
            return f"_write_{opened.name}"
        return "_write" if holds_struct(self.schema, opened) else None

    def _written(self, type: Type, code: str) -> Code:
        opened = stripped(self.schema, type)
        writer = self.writer(type)
        if writer is None:
            return code
        if isinstance(opened, Arr | Map) and (inner := self.writer(opened.of)) is not None:
            if isinstance(opened, Arr) and inner == "_write":
                return call(self.use("write_values"), "_WRITERS", code)
            shared = self.use("write_array" if isinstance(opened, Arr) else "write_map")
            return call(shared, inner, code)
        if isinstance(opened, Uni):
            return f"_WRITERS[{code}.__class__]({code})"
        return call(writer, code)

    def _writing(self, struct: Struct) -> Iterator[Line]:
        required = [f for f in struct.fields if f.required]
        present = tuple(Group(f"{literal(f.wire)}: ", (self._value(f),), "") for f in required)
        rest = [*self._absent_or_not(struct)]
        needed = sum(f.const is None for f in required)
        if self.holds and (rest or needed):
            yield Line(0, "held = x.__dict__")
        for field in required:
            yield from self._looped(field)
        yield Line(0, "o: Json = ", Group("{", tuple(map(_pair, present)), "}"))
        if self.holds and rest:
            yield Line(0, f"if len(held) != {needed}:" if needed else "if held:")
        yield from _deeper(rest, int(self.holds))
        yield Line(0, "return o")

    def _absent_or_not(self, struct: Struct) -> Iterator[Line]:
        """Lines that write what may be absent, where it is not."""
        for field in struct.fields:
            if not field.required:
                yield Line(0, f"if {self._is_there(field.name, self.use('UNSET'))}:")
                yield from _deeper(self._looped(field))
                yield Line(1, f"o[{literal(field.wire)}] = ", self._value(field))
        if self.keeps(struct):
            yield Line(0, f"if {self._is_there('extra_', self.use('EMPTY'))}:")
            values = Map(struct.index or Prim("unknown"))
            extra = self._written(values, self._held("extra_"))
            yield Line(1, "", call(self.use("merge"), "o", extra, f"_{struct.name}_members"))

    def _looped(self, field: Field) -> Iterator[Line]:
        """Lines that write an array of several classes, where that takes no call of its own."""
        if self._is_looped(field.type):
            yield Line(0, f"{field.name}_items: list[Json] = []")
            yield Line(0, f"for item in {self._held(field.name)}:")
            yield Line(1, f"{field.name}_items.append(_WRITERS[type(item)](item))")

    def _is_looped(self, type: Type) -> bool:
        opened = stripped(self.schema, type)
        return self.holds and isinstance(opened, Arr) and self.writer(opened.of) == "_write"

    def _held(self, name: str) -> str:
        return f"held[{literal(name)}]" if self.holds else f"x.{name}"

    def _is_there(self, name: str, absent: str) -> str:
        return f"{literal(name)} in held" if self.holds else f"x.{name} is not {absent}"

    def _value(self, field: Field) -> Code:
        if field.const is not None:
            return literal(field.const)
        if self._is_looped(field.type):
            return f"{field.name}_items"
        return self._written(field.type, self._held(field.name))


def _pair(group: Group) -> Code:
    """`"key": value`, breakable inside the value."""
    (value,) = group.items
    if isinstance(value, Group):
        return Group(group.head + value.head, value.items, value.close)
    return f"{group.head}{value if isinstance(value, str) else ''}"


def _tuple_of(items: Sequence[str]) -> Code:
    return Group("(", (*items, "") if len(items) == 1 else tuple(items), ")")


def _strings(leaves: Iterable[Type]) -> list[str]:
    return [leaf.value for leaf in leaves if isinstance(leaf, Lit) and isinstance(leaf.value, str)]


def _choices(schema: Schema, type: Type) -> list[str]:
    """The literals of a type that takes some strings and nothing else; of others none."""
    opened = stripped(schema, type)
    leaves = arms(schema, opened) if isinstance(opened, Uni) else (opened,)
    strings = _strings(leaves)
    return list(map(literal, strings)) if len(strings) == len(leaves) else []


def _at(place: str, key: str) -> Code:
    return Group("(", (place, literal(key)), ")")


def _local(field: Field) -> str:
    return f"{field.name}_" if field.name in _NEW else field.name


_Bound: TypeAlias = tuple[str, str]


def _bounds(limits: Limits, var: str) -> Iterator[tuple[Kind, list[_Bound]]]:
    """For each JSON kind the conditions that refuse a value, each with what is expected."""
    numbers = [
        (limits.minimum, "<", "at least {0}"),
        (limits.maximum, ">", "at most {0}"),
        (limits.exclusive_minimum, "<=", "more than {0}"),
        (limits.exclusive_maximum, ">=", "less than {0}"),
    ]
    found = [(f"{var} {sign} {b!r}", text.format(b)) for b, sign, text in numbers if b is not None]
    if limits.integer:
        found.insert(0, (f"{var} % 1", "integer"))
    if (step := limits.multiple_of) is not None:
        found.append((f"not is_multiple({var}, {step!r})", f"a multiple of {step}"))
    if found:
        yield "number", found
    sizes: list[tuple[Kind, int | None, int | None, str]] = [
        ("array", limits.min_items, limits.max_items, "items"),
        ("string", limits.min_length, limits.max_length, "characters"),
    ]
    for kind, least, most, unit in sizes:
        bounds = (
            [(f"len({var}) < {least}", f"at least {least} {unit}")] if least is not None else []
        )
        if most is not None:
            bounds.append((f"len({var}) > {most}", f"at most {most} {unit}"))
        if kind == "array" and limits.unique_items:
            bounds.append((f"not are_unique({var})", "items that differ"))
        if kind == "string" and limits.pattern is not None:
            code = literal(python_pattern(limits.pattern))
            bounds.append((f"not matches({code}, {var})", f"text that matches {limits.pattern}"))
        if bounds:
            yield kind, bounds
