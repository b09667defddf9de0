"""Reads params whose `_meta` is that of an earlier request: a client repeats it, or sends none.

Its model is kept. The members beside it are read by msgspec alone, straight into the handlers'
model: those of the same type in the peer's revision, which the steps between do not touch.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Final, NamedTuple

from msgspec import NODEFAULT, UNSET, MsgspecError, Raw, Struct, defstruct, field
from msgspec.json import Decoder
from msgspec.structs import FieldInfo, asdict, fields

from mcp_runtime.revisions import HANDLERS, DecodeError, check_depth, latest, make, revision

_META: Final = "meta"
_TOKEN: Final = b"progressToken"
"""What no two requests have in common."""
_UNREADABLE: Final = (DecodeError, MsgspecError, ValueError, RecursionError)
_SHALLOW: Final = 256
"""Bytes that have too few brackets to nest too deeply."""
_LONGEST: Final = 1024
"""Bytes of a `_meta` that is kept."""
_MOST: Final = 32
"""How many are kept for one peer, or for all whose messages carry all that others need."""


class RepeatedMeta:
    """The models of each `_meta` that peers of one revision have sent, by its method and text."""

    __slots__ = ("_is_shared", "_known", "_spoken")

    def __init__(self, spoken: str) -> None:
        self._spoken = spoken
        self._is_shared = revision(spoken).era == "per-request"
        self._known: dict[tuple[str, bytes], Any] = {}

    def read(self, method: str, raw: bytes) -> Any:
        """The model of params; None for those that have to be read as a whole."""
        reader = _reader(self._spoken, method)
        if reader is None or _TOKEN in raw:
            return None
        try:
            if len(raw) > _SHALLOW:
                check_depth(raw)
            rest = reader.decode(raw)
        except _UNREADABLE:
            return None
        if (meta := self._known.get((method, bytes(rest.meta)))) is None:
            return None
        return make(reader.type, **{**asdict(rest), _META: meta})

    def keep(self, method: str, raw: bytes, params: Any) -> None:
        """Keeps the `_meta` of params that were read, unless it is of this request alone.

        What peers share has to be frozen to its last part, and so to have a hash: what a handler
        changes in the `_meta` of one peer is not for another.
        """
        reader = _reader(self._spoken, method)
        if reader is None or params.meta.extra_ or params.meta.progress_token is not UNSET:
            return
        try:
            if self._is_shared:
                hash(params.meta)
            text = bytes(reader.decode(raw).meta)
        except (TypeError, *_UNREADABLE):
            return
        if len(text) <= _LONGEST:
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[method, text] = params.meta


class _Reader(NamedTuple):
    """`decode` reads what `type` has beside its `_meta`, and that as its text."""

    type: Any
    decode: Callable[[bytes], Any]


@cache
def _reader(spoken: str, method: str) -> _Reader | None:
    """None if the params have no `_meta`, or need a member that differs between the revisions."""
    theirs, ours = _members(spoken, method), _members(HANDLERS, method)
    if _META not in ours or not ours[_META].required:
        return None
    shared: list[Any] = [(_META, Raw, field(name="_meta", default=Raw()))]
    for name in {**theirs, **ours}.keys() - {_META}:
        pair = [members[name] for members in (theirs, ours) if name in members]
        is_required = any(member.required for member in pair)
        if len(pair) == 2 and pair[0].type == pair[1].type:
            default = NODEFAULT if is_required else pair[1].default
            shared.append((name, pair[1].type, field(name=pair[1].encode_name, default=default)))
        elif is_required:
            return None
    rest = defstruct("Rest", shared, kw_only=True, forbid_unknown_fields=True)
    decode = Decoder(rest, dec_hook=latest.dec_hook).decode
    return _Reader(revision(HANDLERS).type_of("params", method), decode)


def _members(name: str, method: str) -> dict[str, FieldInfo]:
    """The declared members of a request's params; none if the params are not a Struct."""
    spoken = revision(name)
    if method not in spoken.methods or spoken.methods[method].kind != "request":
        return {}
    params: Any = spoken.type_of("params", method)
    if not (isinstance(params, type) and issubclass(params, Struct)):
        return {}
    return {each.name: each for each in fields(params) if not each.name.startswith("_")}
