"""The judges of an instance: three flavours, a JSON Schema validator, a schema interpreter.

Each reads the schema by its own code. `Court.disputes` says in what they differ about one case.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import jsonschema_rs

from mcp_bindgen import paths, pins
from mcp_bindgen.emit.calls import name_bodies
from mcp_bindgen.emit.text.packages import extension_package, package
from mcp_bindgen.ir import unions
from mcp_bindgen.ir.decisions import decisions
from mcp_bindgen.ir.export.json_schema import json_schema
from mcp_bindgen.ir.lower.lower import load
from mcp_bindgen.ir.model import Arr, Map, Ref, Schema, Struct, Tup, Type, Uni
from mcp_bindgen.ir.values.accepts import accepts
from mcp_bindgen.ir.walk import strip_bounds
from tests.support.instances import JSON, Case

__all__ = [
    "EXTENSIONS",
    "FLAVOURS",
    "REVISIONS",
    "SCHEMAS",
    "SHARED",
    "Court",
    "Flavour",
    "Verdict",
    "canonical",
    "flavour_of",
    "flavours",
    "json_path",
    "own_types",
    "schema_of",
    "shrink",
]

FLAVOURS: Final = ("dataclass", "pydantic", "msgspec")
REVISIONS: Final = tuple(pins.revisions())
EXTENSIONS: Final = tuple(pins.extensions())
SCHEMAS: Final = (*REVISIONS, *EXTENSIONS)
SHARED: Final = Path(__file__).parents[2] / ".." / "shared"

_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


@cache
def schema_of(revision: str) -> Schema:
    """The meaning of a revision, or of an extension with names for what answers its methods."""
    if revision in EXTENSIONS:
        return name_bodies(pins.load(revision))
    path = paths.schema() / revision / "schema.ts"
    table = decisions.load(paths.schema() / "decisions.toml")
    return load(path.read_bytes(), str(path), revision, table)


def own_types(schema: Schema) -> list[str]:
    """The types of its own: what an extension has from its core is judged there."""
    return [declared.name for declared in schema.own_types]


def canonical(value: JSON) -> str:
    """Equal texts for equal JSON; 1, 1.0 and true are three values, 0.0 and -0.0 two."""
    return json.dumps(value, sort_keys=True)


def _quoted(step: str) -> str:
    """A step in quotes: letters as they are, lone surrogates as escapes."""
    whole = not any("\ud800" <= character <= "\udfff" for character in step)
    return json.dumps(step, ensure_ascii=not whole)


def json_path(at: tuple[str | int, ...]) -> str:
    """`$.content[0].text`, with `["odd key"]` for what is no identifier."""
    steps = ["$"]
    for step in at:
        if isinstance(step, int):
            steps.append(f"[{step}]")
        else:
            steps.append(f".{step}" if _IDENTIFIER.match(step) else f"[{_quoted(step)}]")
    return "".join(steps)


@dataclass(frozen=True, slots=True)
class Verdict:
    """`value` of what was accepted; the rest of what was refused."""

    accepted: bool
    value: Any = None
    path: str = ""
    expected: str = ""
    found: str = ""

    def __str__(self) -> str:
        if self.accepted:
            return "accepts"
        return f"refuses at {self.path}: expected {self.expected}, found {self.found}"


@dataclass(frozen=True, slots=True)
class Flavour:
    """One generated module of models."""

    name: str
    module: ModuleType
    fault: type[Exception]

    def type(self, name: str) -> Any:
        return getattr(self.module, name)

    def decode(self, name: str, text: bytes | str) -> Verdict:
        return self._judge(lambda: self.module.decode(self.type(name), text))

    def from_wire(self, name: str, value: JSON) -> Verdict:
        return self._judge(lambda: self.module.from_wire(self.type(name), value))

    def _judge(self, read: Callable[[], Any]) -> Verdict:
        try:
            return Verdict(True, read())
        except self.fault as error:
            fault: Any = error
            return Verdict(False, None, fault.path, fault.expected, fault.found)

    def encode(self, value: Any) -> bytes:
        return bytes(self.module.encode(value))

    def to_wire(self, value: Any) -> JSON:
        return self.module.to_wire(value)


@cache
def flavours(revision: str) -> tuple[Flavour, ...]:
    """The flavours that are generated; `test_differential` demands all three."""
    name = extension_package(revision) if revision in EXTENSIONS else package(revision)
    folder = f"mcp_wire.{name}"
    loaded: list[Flavour] = []
    for name in FLAVOURS:
        path = f"{folder}.models_{name}"
        if importlib.util.find_spec(folder) and importlib.util.find_spec(path):
            wire = importlib.import_module("mcp_wire._wire.faults")
            loaded.append(Flavour(name, importlib.import_module(path), wire.DecodeError))
    return tuple(loaded)


def flavour_of(revision: str, name: str) -> Flavour:
    """One generated flavour; fails where there is none."""
    return next(flavour for flavour in flavours(revision) if flavour.name == name)


@dataclass
class Court:
    """Everyone who judges the instances of one schema; `refused` counts what nobody took."""

    schema: Schema
    flavours: tuple[Flavour, ...]
    refused: int = 0
    _validators: dict[str, Any] = field(default_factory=dict[str, Any])

    def validator(self, name: str) -> Any:
        if name not in self._validators:
            document = json_schema(self.schema, name)
            self._validators[name] = jsonschema_rs.Draft202012Validator(document)
        return self._validators[name]

    def disputes(self, case: Case) -> Iterator[str]:
        """What is said about a case that the laws do not allow; nothing if all is well."""
        true = accepts(self.schema, Ref(case.type), case.value)
        if self.validator(case.type).is_valid(case.value) != true:
            yield f"the interpreter says {true}, the validator of our JSON Schema does not"
        if case.fault is None and not true:
            yield "a valid instance is refused by the interpreter"
        if case.fault is not None and case.fault.around is None and true:
            yield f"{case.fault.name} at {json_path(case.fault.at)} is accepted by the interpreter"
        text = json.dumps(case.value).encode()
        verdicts = dict(self._verdicts(case, text))
        for who, verdict in verdicts.items():
            if verdict.accepted != true:
                yield f"{who} {verdict}; the interpreter says {true}"
        if json.dumps(case.value).encode() != text:
            yield "from_wire changed what it was given"
        yield from self._kept(case, verdicts) if true else self._blamed(case, verdicts)

    def _verdicts(self, case: Case, text: bytes) -> Iterator[tuple[str, Verdict]]:
        for flavour in self.flavours:
            yield f"{flavour.name}.decode", flavour.decode(case.type, text)
            yield f"{flavour.name}.from_wire", flavour.from_wire(case.type, case.value)

    def _blamed(self, case: Case, verdicts: Mapping[str, Verdict]) -> Iterator[str]:
        """Whether all say the same, and name the right place.

        Where other arms might have taken the value, that is any place in their union.
        """
        refusals = {who: str(v) for who, v in verdicts.items() if not v.accepted}
        paths = {v.path for v in verdicts.values() if not v.accepted}
        self.refused += 1
        if len(set(refusals.values())) > 1:
            yield f"the {'paths' if len(paths) > 1 else 'words'} differ: {refusals}"
        elif case.fault is not None and paths:
            fault, path = case.fault, paths.pop()
            if fault.around is None and path != json_path(fault.at):
                yield f"{fault.name} at {json_path(fault.at)}, but all say {path}"
            elif fault.around is not None and not path.startswith(json_path(fault.around)):
                yield f"{fault.name} at {json_path(fault.at)}, but all say {path}, elsewhere"

    def _kept(self, case: Case, verdicts: Mapping[str, Verdict]) -> Iterator[str]:
        """Whether what was accepted is written as it was, and has the right classes."""
        for flavour in self.flavours:
            native, codec = (
                verdicts[f"{flavour.name}.decode"],
                verdicts[f"{flavour.name}.from_wire"],
            )
            if native.accepted and codec.accepted:
                yield from self._written(flavour, case.value, native, codec)
        yield from self._classes(case.type, case.value, verdicts)

    def _written(
        self, flavour: Flavour, value: JSON, native: Verdict, codec: Verdict
    ) -> Iterator[str]:
        wanted = canonical(value)
        for gear, made in (("decode", native.value), ("from_wire", codec.value)):
            if canonical(json.loads(flavour.encode(made))) != wanted:
                yield f"{flavour.name}: {gear} then encode writes {flavour.encode(made)!r}"
            if canonical(flavour.to_wire(made)) != wanted:
                yield f"{flavour.name}: {gear} then to_wire gives {flavour.to_wire(made)!r}"
        if native.value != codec.value or type(native.value) is not type(codec.value):
            yield f"{flavour.name}: the gears make unequal values"

    def _classes(self, name: str, value: JSON, verdicts: Mapping[str, Verdict]) -> Iterator[str]:
        wanted = canonical(self.outline(Ref(name), value))
        for who, verdict in verdicts.items():
            if verdict.accepted and (seen := canonical(self.seen(verdict.value))) != wanted:
                yield f"{who} made {seen}, not {wanted}"

    def outline(self, type: Type, value: JSON) -> JSON:
        """The classes and members of a valid value."""
        match opened := strip_bounds(self.schema, type):
            case Ref(name=name):
                return self._outline(self.schema.structs[name], value)
            case Uni():
                return self.outline(self._taken(opened, value), value)
            case Arr():
                return [self.outline(opened.of, item) for item in value]
            case Map():
                return {key: self.outline(opened.of, item) for key, item in value.items()}
            case Tup():
                types = [element.type for element in opened.of]
                types += [opened.rest] * len(value) if opened.rest is not None else []
                return [self.outline(t, v) for t, v in zip(types, value, strict=False)]
            case _:
                return value

    def _taken(self, union: Uni, value: JSON) -> Type:
        """The first arm that accepts, those passed over for which a later one accepts that declares
        the same but for members that `value` has not."""
        arms = [a for a in unions.arms(self.schema, union) if accepts(self.schema, a, value)]
        declared = [self._declared(arm) for arm in arms]

        def is_passed_over(number: int) -> bool:
            mine = declared[number].items()
            return any(
                fields and fields.items() < mine and not dict(mine - fields.items()).keys() & value
                for fields in declared[number + 1 :]
            )

        return next(arm for number, arm in enumerate(arms) if not is_passed_over(number))

    def _declared(self, arm: Type) -> dict[str, tuple[Type, bool]]:
        """The members of a struct by name: its type, and whether it is required; else none."""
        match strip_bounds(self.schema, arm):
            case Ref(name=name):
                fields = self.schema.structs[name].fields
                return {f.wire: (f.type, f.required) for f in fields}
            case _:
                return {}

    def _outline(self, struct: Struct, value: JSON) -> JSON:
        members = {
            f.name: self.outline(f.type, value[f.wire]) for f in struct.fields if f.wire in value
        }
        extra = {key: item for key, item in value.items() if struct.field(key) is None}
        if struct.index is not None:
            extra = {key: self.outline(struct.index, item) for key, item in extra.items()}
        return {"class": struct.name, "members": members, "extra_": extra}

    def seen(self, value: Any) -> JSON:
        """The classes and members that a value of a flavour has."""
        struct = self.schema.structs.get(type(value).__name__)
        if struct is not None:
            pairs = ((f.name, getattr(value, f.name)) for f in struct.fields)
            members = {name: self.seen(item) for name, item in pairs if repr(item) != "UNSET"}
            extra = {key: self.seen(item) for key, item in value.extra_.items()}
            return {"class": struct.name, "members": members, "extra_": extra}
        if isinstance(value, Mapping):
            return {key: self.seen(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.seen(item) for item in value]
        return value


def shrink(value: JSON, fails: Callable[[JSON], bool]) -> JSON:
    """A small value that still fails: greedily, one deletion or simplification at a time."""
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for smaller in _smaller(value):
            if fails(smaller):
                value, is_smaller = smaller, True
                break
    return value


def _smaller(value: JSON) -> Iterator[JSON]:
    if isinstance(value, dict):
        for key in value:
            yield {k: v for k, v in value.items() if k != key}
        for key, item in value.items():
            yield from ({**value, key: smaller} for smaller in _smaller(item))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield value[:i] + value[i + 1 :]
            yield from ([*value[:i], smaller, *value[i + 1 :]] for smaller in _smaller(item))
    elif isinstance(value, str) and value:
        yield from ("", value[: len(value) // 2]) if len(value) > 1 else ("",)
    elif value.__class__ in (int, float) and value not in (0, 1):
        yield from (0, 1)
