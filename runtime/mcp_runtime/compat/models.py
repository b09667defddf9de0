"""The messages of the protocol with camelCase members, as `mcp.types` has them.

A class is made from the generated model of the same name when it is first asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from types import NoneType
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Self, cast, get_args, get_origin

from mcp_runtime.json_schema.to_json import to_json
from mcp_runtime.json_schema.type_adapter import arms_of, bare, mentions
from mcp_runtime.revisions import ALL, UnsetType, model_members, plain_annotation, revision

_REVISION: Final = revision([each for each in ALL if revision(each).era == "handshake"][-1])
"""The newest revision of `mcp` 1.x."""

OWN_NAMES: Final[Mapping[str, str]] = {
    "ClientTasksCapability": "ClientCapabilitiesTasks",
    "Completion": "CompleteResultCompletion",
    "CompletionArgument": "CompleteRequestParamsArgument",
    "CompletionContext": "CompleteRequestParamsContext",
    "ElicitationCapability": "ClientCapabilitiesElicitation",
    "ErrorData": "Error",
    "JSONRPCError": "JSONRPCErrorResponse",
    "JSONRPCResponse": "JSONRPCResultResponse",
    "PromptsCapability": "ServerCapabilitiesPrompts",
    "ResourcesCapability": "ServerCapabilitiesResources",
    "RootsCapability": "ClientCapabilitiesRoots",
    "SamplingCapability": "ClientCapabilitiesSampling",
    "ServerTasksCapability": "ServerCapabilitiesTasks",
    "ToolsCapability": "ServerCapabilitiesTools",
}
"""Names of `mcp.types` for shapes without a name of their own in the schema."""

_PLAIN: Final = frozenset(
    {"ToolInputSchema", "ToolOutputSchema", "ElicitRequestFormParamsRequestedSchema"}
)
"""Models whose values are dicts in `mcp.types`."""


_NEWER: Final = frozenset({"_meta", "resultType", "ttlMs", "cacheScope"})
"""Members of results unknown to handshake revisions, and `_meta`."""


class Model:
    """A message or a part of one. Members have the names of the protocol; absent ones are None.

    `_meta` is the attribute `meta`. Members unknown to the protocol are kept.
    """

    members_: ClassVar[Mapping[str, Any]] = {}
    """Annotations by the name on the wire."""
    constants_: ClassVar[Mapping[str, Any]] = {}
    defaults_: ClassVar[Mapping[str, Any]] = {}
    """Values of absent members: the constants, and false for `isError`."""
    required_: ClassVar[frozenset[str]] = frozenset()
    parts_: ClassVar[Mapping[str, tuple[type[Model], ...]]] = {}
    """The models a member may hold, by the member's name."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def __init__(self, **values: Any) -> None:
        """Raises ValueError if a required member is missing."""
        if "meta" in values and "_meta" in self.members_:
            values.setdefault("_meta", values.pop("meta"))
        if missing := sorted(self.required_ - values.keys()):
            raise ValueError(f"{type(self).__name__}: {', '.join(missing)} is required")
        for name in self.members_:
            given = values.pop(name, self.defaults_.get(name))
            self.__dict__[_attribute(name)] = self._read(name, given)
        self.__dict__.update(values)

    @classmethod
    def _read(cls, name: str, value: Any) -> Any:
        """Convert the dicts in a member to models."""
        classes = cls.parts_.get(name, ())
        if not classes:
            return str(value) if _is_url(value) else value
        if isinstance(value, list | tuple):
            return [cls._read(name, each) for each in cast("list[Any]", value)]
        if isinstance(value, Mapping):
            return _fitting(classes, cast("Mapping[str, Any]", value))
        return value

    @classmethod
    def of(cls, json: Mapping[str, Any]) -> Self:
        """Build the model from JSON of a newer revision, without its new members."""
        meta = {
            name: each
            for name, each in json.get("_meta", {}).items()
            if not name.startswith("io.modelcontextprotocol/")
        }
        members = {name: each for name, each in json.items() if name not in _NEWER}
        return cls(**{**members, "_meta": meta} if meta else members)

    @classmethod
    def model_validate(cls, value: Any, **options: Any) -> Self:
        """Build the model from a dict, or return a model unchanged. Raises ValueError."""
        if isinstance(value, cls):
            return value
        if not isinstance(value, Mapping):
            raise ValueError(f"{cls.__name__}: expected an object, found {type(value).__name__}")
        return cls(**cast("dict[str, Any]", value))

    @classmethod
    def model_validate_json(cls, text: str | bytes, **options: Any) -> Self:
        return cls.model_validate(json.loads(text))

    def model_dump(
        self,
        *,
        by_alias: bool = False,
        exclude_none: bool = False,
        exclude_unset: bool = False,
        mode: str = "python",
        **options: Any,
    ) -> dict[str, Any]:
        """Convert the model to a dict; `by_alias` names `meta` as the wire does."""
        drops = exclude_none or exclude_unset
        names = {"meta": "_meta"} if by_alias and "_meta" in self.members_ else {}
        return {
            names.get(name, name): _dumped(value, by_alias, drops)
            for name, value in self.__dict__.items()
            if not (drops and value is None)
        }

    def model_dump_json(self, *, indent: int | None = None, **options: Any) -> str:
        separators = None if indent else (",", ":")
        value = to_json(self.model_dump(**options))
        return json.dumps(value, indent=indent, separators=separators, ensure_ascii=False)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        copy = object.__new__(type(self))
        copy.__dict__.update({**self.__dict__, **(update or {})})
        return copy

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        raise TypeError(f"{type(self).__name__} cannot be hashed: its members may change")

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items())
        return f"{type(self).__name__}({shown})"

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        write = core_schema.plain_serializer_function_ser_schema(wire)
        return core_schema.no_info_plain_validator_function(cls.model_validate, serialization=write)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> dict[str, Any]:
        return {"type": "object", "title": cls.__name__}


class Wrapped:
    """A model around another model, which `mcp.types` uses for its unions."""

    def __init__(self, root: Any) -> None:
        self.root = root

    def __repr__(self) -> str:
        return f"{type(self).__name__}(root={self.root!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Wrapped) and type(self) is type(other) and self.root == other.root

    def __hash__(self) -> int:
        raise TypeError(f"{type(self).__name__} cannot be hashed: its members may change")

    def model_dump(self, **options: Any) -> Any:
        return self.root.model_dump(**options)


def wire(value: Any) -> Any:
    """Convert models, also those inside lists and dicts, to parsed JSON of the wire.

    Raises BadResult for a value without a JSON form.
    """
    return to_json(_dumped(value, True, True))


def _dumped(value: Any, by_alias: bool, drops: bool) -> Any:
    if isinstance(value, Model):
        return value.model_dump(by_alias=by_alias, exclude_none=drops)
    if isinstance(value, Wrapped):
        return _dumped(value.root, by_alias, drops)
    if isinstance(value, list | tuple):
        return [_dumped(each, by_alias, drops) for each in cast("list[Any]", value)]
    if isinstance(value, Mapping):
        members = cast("Mapping[str, Any]", value)
        return {name: _dumped(each, by_alias, drops) for name, each in members.items()}
    return str(value) if _is_url(value) else value


def _is_url(value: object) -> bool:
    return type(value).__module__ in ("pydantic.networks", "pydantic_core._pydantic_core")


def _attribute(name: str) -> str:
    return "meta" if name == "_meta" else name


def _fitting(classes: tuple[type[Model], ...], value: Mapping[str, Any]) -> Model:
    """Return the first model whose constants and required members a dict has. Raises ValueError."""
    for cls in classes:
        has_constants = all(
            value.get(name, constant) == constant for name, constant in cls.constants_.items()
        )
        if has_constants and cls.required_ <= value.keys():
            return cls(**value)
    names = ", ".join(cls.__name__ for cls in classes)
    raise ValueError(f"expected {names}, found members {', '.join(map(str, value))}")


# ---- classes


@cache
def model(name: str) -> type[Model]:
    """Return the class of a message. Raises KeyError if the protocol has no such message."""
    struct = getattr(_REVISION.models, OWN_NAMES.get(name, name), None)
    members = _members(struct)
    if members is None:
        raise KeyError(name)
    cls = type(name, (Model,), {"__module__": "mcp.types", "__qualname__": name})
    made = cast("type[Model]", cls)
    made.members_ = members
    made.constants_ = {
        wire: get_args(bare(each))[0]
        for wire, each in members.items()
        if get_origin(bare(each)) is Literal and len(get_args(bare(each))) == 1
    }
    made.defaults_ = {**made.constants_, **({"isError": False} if "isError" in members else {})}
    made.required_ = frozenset(
        wire
        for wire, each in members.items()
        if wire not in made.constants_
        and not any(bare(arm) in (UnsetType, NoneType) for arm in arms_of(each))
    )
    made.parts_ = {wire: parts for wire, each in members.items() if (parts := _parts(each))}
    return made


def names() -> Iterator[str]:
    """Yield the name of each message."""
    own = {inner: name for name, inner in OWN_NAMES.items()}
    messages: list[str] = _REVISION.models.__all__
    for name in messages:
        if _members(getattr(_REVISION.models, name)) is not None:
            yield own.get(name, name)


def value(name: str) -> Any:
    """Return a constant or an alias of the newest handshake revision. Raises AttributeError."""
    return getattr(_REVISION.models, name)


def _members(struct: object) -> dict[str, Any] | None:
    if not isinstance(struct, type) or struct.__name__ in _PLAIN:
        return None
    if struct.__module__ != _REVISION.models.__name__ or issubclass(struct, Exception):
        return None
    members = {
        name: plain_annotation(each)
        for name, each in model_members(cast("type[Any]", struct)).items()
    }
    if struct.__name__.endswith(("Request", "Notification")) and "JSONRPC" not in struct.__name__:
        members = {name: each for name, each in members.items() if name not in ("jsonrpc", "id")}
    return members or (
        {"_meta": dict[str, Any] | UnsetType} if _is_empty(cast("type[Any]", struct)) else None
    )


def _is_empty(struct: type) -> bool:
    return struct.__name__.endswith(("Result", "Capability"))


def _parts(annotation: Any) -> tuple[type[Model], ...]:
    own = {inner: name for name, inner in OWN_NAMES.items()}
    return tuple(
        model(own.get(each.__name__, each.__name__))
        for each in _nearest(annotation)
        if _members(each) is not None
    )


def _nearest(annotation: Any) -> Iterator[Any]:
    """Yield the classes of a member's own value, or of the items of its list."""
    for each in mentions(annotation, lambda each: not isinstance(each, type)):
        if isinstance(each, type) and each.__module__ == _REVISION.models.__name__:
            yield each
