"""A cache of `_meta` models: clients repeat the same `_meta` in request after request.

If the `_meta` of a request is known, msgspec decodes the other members directly to the handlers'
model. Such members have the same type in the peer's revision and in the handlers' revision, so no
conversion step is needed for them.
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
"""Unique to each request, so a `_meta` with a progress token never repeats."""
_UNREADABLE: Final = (DecodeError, MsgspecError, ValueError, RecursionError)
_SHALLOW: Final = 256
"""The length in bytes up to which a text cannot nest too deeply."""
_LONGEST: Final = 1024
"""The longest cached `_meta`, in bytes."""
_MOST: Final = 32
"""The most entries of one cache: of one peer, or of all peers of the per-request era."""


class RepeatedMeta:
    """The cached models of `_meta` for one revision, by method and text."""

    __slots__ = ("_is_shared", "_known", "_spoken")

    def __init__(self, spoken: str) -> None:
        self._spoken = spoken
        self._is_shared = revision(spoken).era == "per-request"
        self._known: dict[tuple[str, bytes], Any] = {}

    def read(self, method: str, raw: bytes) -> Any:
        """Return the model of params; None if they must be decoded as a whole."""
        reader = _reader(self._spoken, method)
        if reader is None or _TOKEN in raw:
            return None
        try:
            if len(raw) > _SHALLOW:
                check_depth(raw)
            rest = reader.decode(raw)
        except _UNREADABLE:
            return None
        # The text is the key, and not the value: only bytes that were decoded exactly once before
        # may skip the decoder. Any error above is raised again, with its path, by the full decoder.
        if (meta := self._known.get((method, bytes(rest.meta)))) is None:
            return None
        return make(reader.type, **{**asdict(rest), _META: meta})

    def keep(self, method: str, raw: bytes, params: Any) -> None:
        """Cache the `_meta` of decoded params, unless it is unique to this request.

        A cache shared by peers takes immutable models only, so that no handler can change the
        `_meta` of another peer: a model has a hash only if each of its parts is immutable.
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
    """The model `type` of params; `decode` reads all members but `_meta`, which stays raw text."""

    type: Any
    decode: Callable[[bytes], Any]


@cache
def _reader(spoken: str, method: str) -> _Reader | None:
    """Return the reader of a method's params.

    None if the params have no `_meta`, or if a required member differs between the revisions.
    """
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
    """Return the declared members of a request's params; none if the params are not a Struct."""
    spoken = revision(name)
    if method not in spoken.methods or spoken.methods[method].kind != "request":
        return {}
    params: Any = spoken.type_of("params", method)
    if not (isinstance(params, type) and issubclass(params, Struct)):
        return {}
    return {each.name: each for each in fields(params) if not each.name.startswith("_")}
