"""Generates messages of a revision, and says what is wrong with one.

A message is drawn for a method and a position: what `Generator` makes of its types, inside a
JSON-RPC envelope, or bare where it travels inside another message.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeAlias

import jsonschema_rs

from mcp_bindgen.convert.inherited_params import envelope, with_heritage
from mcp_bindgen.emit.calls import name_bodies
from mcp_bindgen.ir.model import Method, Ref, Schema, Struct, Type, Uni
from mcp_bindgen.ir.unions import arms
from mcp_bindgen.ir.values.accepts import fault
from mcp_bindgen.ir.walk import strip_bounds
from mcp_wire.convert import Context
from tests.support.instances import JSON, Generator, Hand, Made
from tests.support.judges import REVISIONS, schema_of
from tests.support.reach import Reach

__all__ = ["MISSING", "Message", "Messages", "context", "official_faults", "wire_schema", "wrong"]

Path: TypeAlias = tuple[str | int, ...]
MISSING: Final = object()
UNKNOWN: Final = "x/unknown"
CODES: Final = (-32700, -32600, -32601, -32602, -32603, -32002, 1, -32019)
"""Codes that mean the same in all revisions, or what the steps say; each adds its own."""


@cache
def wire_schema(revision: str) -> Schema:
    """The schema, params with what their JSON-RPC message adds, unions of results with a name."""
    return name_bodies(with_heritage(schema_of(revision)))


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
            opened = strip_bounds(self.schema, site.type)
            for arm in arms(self.schema, opened) if isinstance(opened, Uni) else (opened,):
                if isinstance(struct := strip_bounds(self.schema, arm), Ref):
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
        log_level=_log_level(hand, draw.odds(2, 3)),
        result_types=frozenset(("", "x")),
    )


def _log_level(hand: Hand, is_told: bool) -> Any:
    """A level of the newest revision that has levels, since a newer one may lack logging."""
    schemas = (schema_of(revision) for revision in reversed(REVISIONS))
    with_levels = next((schema for schema in schemas if "LoggingLevel" in schema.types), None)
    if with_levels is None or not is_told:
        return None
    return Generator(with_levels, hand).valid("LoggingLevel").value


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
