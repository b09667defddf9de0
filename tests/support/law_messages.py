"""Generates messages of a revision, with and without squatters, and compares two of them.

A message is drawn for a method and a position: what `Generator` makes of its types, inside a
JSON-RPC envelope, or bare where it travels inside another message.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeAlias

import jsonschema_rs

from mcp_bindgen.convert.inherited_params import envelope, with_heritage
from mcp_bindgen.emit.calls import answered
from mcp_bindgen.ir.accepts import fault
from mcp_bindgen.ir.model import Method, Ref, Schema, Struct, Type, Uni
from mcp_bindgen.ir.unions import arms
from mcp_bindgen.ir.walk import stripped
from mcp_wire.convert import Context
from tests.support.instances import JSON, Generator, Hand, Made
from tests.support.judges import REVISIONS, canonical, schema_of
from tests.support.reach import Reach

__all__ = [
    "MISSING",
    "Message",
    "Messages",
    "at",
    "context",
    "differ",
    "masked",
    "official_faults",
    "plain",
    "settled",
    "squatted",
    "steps",
    "wire_schema",
    "wrong",
]

Path: TypeAlias = tuple[str | int, ...]
MISSING: Final = object()
UNKNOWN: Final = "x/unknown"
CODES: Final = (-32700, -32600, -32601, -32602, -32603, -32002, 1, -32019)
"""Codes that mean the same in all revisions, or what the steps say; each adds its own."""


@cache
def wire_schema(revision: str) -> Schema:
    """The schema, params with what their JSON-RPC message adds, unions of results with a name."""
    return answered(with_heritage(schema_of(revision)))


@dataclass(frozen=True, slots=True)
class Message:
    """`position` is params, result or error; a `bare` one has no envelope."""

    revision: str
    method: str
    position: str
    bare: bool
    value: JSON
    structs: tuple[tuple[Path, str], ...] = ()
    """Where the message has which struct."""

    @property
    def asked(self) -> str | None:
        """The `method` argument of convert."""
        return None if self.position == "params" else self.method


class Wide(Generator):
    """Prefers what was seen least in nested types too, as steps go all the way down."""

    def struct(self, struct: Struct, at: Path, own: bool, around: Path | None) -> JSON:
        return super().struct(struct, at, own or self.left > 0, around)


class Messages:
    """Messages of one revision, drawn by a hand."""

    def __init__(self, revision: str, hand: Hand, reach: Reach | None = None) -> None:
        self.revision = revision
        self.schema = wire_schema(revision)
        self.draw = Wide(self.schema, hand, reach)

    def places(self) -> Iterator[tuple[str, str]]:
        """Each method and position, and messages of methods that no revision declares."""
        yield from ((UNKNOWN, position) for position in ("request", "notification", "response"))
        for method in self.schema.methods:
            yield method.name, "params"
            if method.result is not None:
                yield method.name, "result"
                yield method.name, "error"

    def make(self, name: str, position: str) -> Message:
        if name == UNKNOWN:
            return self._unknown(position)
        method = next(m for m in self.schema.methods if m.name == name)
        bare = method.direction == "input-request" or (
            method.direction == "server-to-client"
            and method.kind == "request"
            and self.draw.odds(1, 2)
            and position != "error"
        )
        self.draw.sites = []
        value = getattr(self, f"_{position}")(method, bare)
        bare = bare and position != "error"
        return Message(self.revision, name, position, bare, value, tuple(self._structs(value)))

    def broken(self, message: Message) -> Message | None:
        """The message that was made last, with one thing wrong; None if nothing breaks."""
        prefix = next((w for w in ("params", "result") if w in message.value), None)
        sites = [site for site in self.draw.sites if self.draw.ways(site)]
        if not sites or message.position == "error" or message.method == UNKNOWN:
            return None
        site = self.draw.one(sites)
        inner = message.value if prefix is None else message.value[prefix]
        case = self.draw.broken("", Made(inner, sites), site, self.draw.one(self.draw.ways(site)))
        value = case.value if prefix is None else {**message.value, prefix: case.value}
        made = Message(message.revision, message.method, message.position, message.bare, value)
        return made if wrong(made) is not None else None

    def _structs(self, value: JSON) -> Iterator[tuple[Path, str]]:
        """The structs of what was drawn last, at their places in the message."""
        prefix: Path = next(((w,) for w in ("params", "result") if w in value), ())
        for site in self.draw.sites:
            opened = stripped(self.schema, site.type)
            for arm in arms(self.schema, opened) if isinstance(opened, Uni) else (opened,):
                if isinstance(struct := stripped(self.schema, arm), Ref):
                    yield (*prefix, *site.at), struct.name

    def _unknown(self, position: str) -> Message:
        struct = envelope(self.schema, position)
        assert struct is not None
        value = self._of(Ref(struct.name))
        if position == "response":
            return Message(self.revision, UNKNOWN, "result", False, value)
        if position == "notification":
            value.pop("id", None)
        return Message(self.revision, UNKNOWN, "params", False, {**value, "method": UNKNOWN})

    def _params(self, method: Method, bare: bool) -> JSON:
        value: JSON = {} if bare else {"jsonrpc": "2.0"}
        value["method"] = method.name
        if method.kind == "request" and not bare:
            value["id"] = self._id()
        if method.params is not None and not (method.params_optional and self.draw.odds(1, 3)):
            value["params"] = self._of(method.params)
        return value

    def _result(self, method: Method, bare: bool) -> JSON:
        assert method.result is not None
        result = self._of(method.result)
        return result if bare else {"jsonrpc": "2.0", "id": self._id(), "result": result}

    def _error(self, method: Method, bare: bool) -> JSON:
        struct = envelope(self.schema, "error")
        assert struct is not None
        value = self._of(Ref(struct.name))
        if self.draw.odds(3, 4):
            own = [const.value for const in self.schema.consts.values()]
            value["error"]["code"] = self.draw.one([*CODES, *filter(_is_code, own)])
        if self.draw.odds(1, 2):
            value["error"]["data"] = self.draw.one(DATA)
        return value

    def _of(self, type: Type) -> JSON:
        assert isinstance(type, Ref), type
        return self.draw.valid(type.name).value

    def _id(self) -> JSON:
        return self.draw.one(("a", 1, 0))


def _is_code(value: object) -> bool:
    return isinstance(value, int) and value < 0


DATA: Final[tuple[JSON, ...]] = (
    {"uri": "file:///a"},
    {},
    [],
    {"elicitations": [{"url": "https://a.example"}, {}, 1]},
    {"elicitations": 3},
)


def context(hand: Hand) -> Context:
    """What a handshake may have agreed; the capabilities are always there, and an extension."""
    draw = Generator(schema_of(REVISIONS[-1]), hand)

    def some(name: str) -> Any:
        return draw.valid(name).value if draw.odds(2, 3) else None

    return Context(
        client_info=some("Implementation"),
        client_capabilities=draw.valid("ClientCapabilities").value,
        server_info=some("Implementation"),
        log_level=some("LoggingLevel"),
        result_types=frozenset(("", "x")),
    )


# ---- squatters

_ODD: Final[tuple[JSON, ...]] = (
    None,
    True,
    5,
    0.5,
    "x",
    "form",
    "input_required",
    [],
    ["a"],
    [{}],
    [5],
    {},
    {"a": True},
    {"type": "object", "properties": {"a": False}},
    {"name": "n", "version": "1"},
    {"ttl": 3},
    {"uri": "file:///a"},
)


@cache
def _members(struct: str) -> tuple[tuple[str, str, Type], ...]:
    """The members that structs of a name have in any revision, each with its revision."""
    members = {
        (r, f.wire, f.type)
        for r in REVISIONS
        for s in (wire_schema(r).structs.get(struct),)
        for f in (s.fields if s else ())
    }
    return tuple(sorted(members, key=str))


def squatted(message: Message, hand: Hand) -> tuple[Message, set[Path]] | None:
    """A message with members that another revision declares there, and where they are.

    None if the message has no place for one, or breaks by it.
    """
    value, put = message.value, set[Path]()
    for _ in range(3 if message.structs else 0):
        path, struct = message.structs[hand.below(len(message.structs))]
        declared = wire_schema(message.revision).structs[struct]
        members = [
            row for row in _members(_TWINS.get(struct, struct)) if declared.field(row[1]) is None
        ]
        inside = at(value, path)
        if members and isinstance(inside, dict):
            revision, wire, type = members[hand.below(len(members))]
            if wire not in inside:
                value = _put(value, path, wire, _other(revision, type, hand))
                put.add((*path, wire))
    made = Message(message.revision, message.method, message.position, message.bare, value)
    return (made, put) if put and wrong(made) is None else None


def _other(revision: str, type: Type, hand: Hand) -> JSON:
    """A value of the type, or any other."""
    draw = Generator(wire_schema(revision), hand)
    draw.left = 10
    fitting = draw.odds(1, 2)
    return draw.fill(type, "squatter", (), False, None) if fitting else draw.one(_ODD)


_TWINS: Final = {
    "RequestParamsMeta": "RequestMetaObject",
    "AnnotatedAnnotations": "Annotations",
    "ElicitRequestParams": "ElicitRequestFormParams",
}
"""Structs that a later revision calls otherwise."""


def _put(value: JSON, path: Path, name: str, item: JSON) -> JSON:
    if not path:
        return {**value, name: item}
    copy = value.copy()
    copy[path[0]] = _put(value[path[0]], path[1:], name, item)
    return copy


# ---- validity


def wrong(message: Message) -> str | None:
    """What the interpreter of our schema finds wrong with a message."""
    schema = wire_schema(message.revision)
    for type, value, place in _parts(schema, message):
        problem = fault(schema, type, value)
        if problem is not None:
            return f"{place}{problem}"
    return None


def _parts(schema: Schema, message: Message) -> Iterator[tuple[Type, JSON, str]]:
    """The types that a message must have, and the part of it that each is for."""
    method = next((m for m in schema.methods if m.name == message.method), None)
    value = message.value
    if not message.bare:
        struct = envelope(schema, _kind(message))
        assert struct is not None
        yield Ref(struct.name), value, ""
    if method is None or message.position == "error":
        return
    if message.position == "result":
        assert method.result is not None
        yield method.result, value if message.bare else value["result"], "result "
    elif method.params is not None and ("params" in value or not method.params_optional):
        yield method.params, value.get("params", MISSING), "params "


def _kind(message: Message) -> str:
    if message.position == "params":
        return "request" if "id" in message.value else "notification"
    return "error" if message.position == "error" else "response"


def official_faults(document: dict[str, Any], message: Message) -> str | None:
    """What the official schema.json finds wrong with a message."""
    schema = schema_of(message.revision)
    method = next((m for m in schema.methods if m.name == message.method), None)
    if message.bare and message.position == "params" and method is not None:
        names = [method.type] if schema.structs[method.type].field("jsonrpc") is None else []
    elif not message.bare:
        struct = envelope(schema, _kind(message))
        assert struct is not None
        names = [struct.name]
        names += [method.type] if method is not None and message.position == "params" else []
    else:
        names = []
    for name in names:
        if not _validator(document, name).is_valid(message.value):
            return f"no {name}"
    if message.position == "result" and method is not None and method.result is not None:
        result = message.value if message.bare else message.value["result"]
        leaves = arms(schema, method.result)
        alternatives = [leaf.name for leaf in leaves if isinstance(leaf, Ref)]
        if not any(_validator(document, name).is_valid(result) for name in alternatives):
            return f"no {' or '.join(alternatives)}"
    return None


_VALIDATORS: dict[tuple[int, str], Any] = {}


def _validator(document: dict[str, Any], name: str) -> Any:
    if (id(document), name) not in _VALIDATORS:
        key = "$defs" if "$defs" in document else "definitions"
        make = (
            jsonschema_rs.Draft202012Validator if key == "$defs" else jsonschema_rs.Draft7Validator
        )
        whole = {"$ref": f"#/{key}/{name}", key: document[key]}
        _VALIDATORS[id(document), name] = make(whole, validate_formats=False)
    return _VALIDATORS[id(document), name]


# ---- comparison


def plain(message: JSON) -> JSON:
    """A message without `_meta` and `params` that say nothing: they are as good as absent."""
    value = message
    for wire in ("params", "result"):
        if isinstance(value.get(wire), dict) and value[wire].get("_meta") == {}:
            value = {**value, wire: {k: v for k, v in value[wire].items() if k != "_meta"}}
    if value.get("_meta") == {}:
        value = {k: v for k, v in value.items() if k != "_meta"}
    if "method" in value and value.get("params") == {}:
        value = {k: v for k, v in value.items() if k != "params"}
    return value


def settled(message: Message, to: str, context: Context) -> JSON:
    """A message as the context has it: what one request leaves out, the context says for all.

    That is so where it becomes a message of a revision in which a handshake agreed it.
    """
    wire = {"params": "params", "result": "result"}.get(message.position)
    if message.method == UNKNOWN and message.position == "params":
        return message.value
    leaves = (schema_of(message.revision).era, schema_of(to).era) == ("per-request", "handshake")
    if not leaves or wire is None or message.bare:
        return message.value
    inside = message.value.get(wire, {})
    members = _PARAMS if wire == "params" and "id" in message.value else _RESULT
    said = {} if wire == "params" and "id" not in message.value else members
    meta = {_PREFIX + name: getattr(context, member) for name, member in said.items()}
    there = {key: value for key, value in meta.items() if value is not None}
    full = {**inside, "_meta": {**there, **inside.get("_meta", {})}}
    return {**message.value, wire: full} if inside or wire == "result" else message.value


_PREFIX: Final = "io.modelcontextprotocol/"
_PARAMS: Final = {"clientInfo": "client_info", "logLevel": "log_level"}
_RESULT: Final = {"serverInfo": "server_info"}


def steps(path: str) -> Path:
    """The members and indices of `$.content[0]["a b"]`."""
    path_steps: list[str | int] = []
    for name, index in re.findall(r'\.([A-Za-z_][A-Za-z0-9_]*)|\[(\d+|"(?:[^"\\]|\\.)*")\]', path):
        path_steps.append(name or json.loads(index))
    return tuple(path_steps)


def at(value: JSON, path: Path) -> JSON:
    """What is at a path; MISSING where nothing is."""
    for step in path:
        named = isinstance(value, dict) and step in value
        numbered = isinstance(value, list) and isinstance(step, int) and step < len(value)
        if not named and not numbered:
            return MISSING
        value = value[step]
    return value


def masked(value: JSON, paths: set[Path], here: Path = ()) -> JSON:
    """`value` with what is at each of the paths cut out."""
    if isinstance(value, dict):
        return {
            key: masked(item, paths, (*here, key))
            for key, item in value.items()
            if (*here, key) not in paths
        }
    if isinstance(value, list):
        return [
            masked(item, paths, (*here, i))
            for i, item in enumerate(value)
            if (*here, i) not in paths
        ]
    return value


def differ(a: JSON, b: JSON) -> bool:
    if a is MISSING or b is MISSING:
        return a is not b
    return canonical(a) != canonical(b)
