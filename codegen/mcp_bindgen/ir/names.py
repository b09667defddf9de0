"""Python names: of members from wire names, of anonymous shapes from places. All by rule."""

from __future__ import annotations

import keyword
import re
from functools import lru_cache
from typing import Final

__all__ = [
    "RESERVED_MEMBERS",
    "RESERVED_TYPES",
    "capitalize",
    "identifier",
    "member_name",
    "snake",
    "type_name",
]

_BUILTINS: Final = "bool dict float int list object str tuple len enumerate isinstance"
_CALLED: Final = (
    "bytearray bytes frozenset getattr globals memoryview set type zip KeyError RecursionError "
    "TypeError ValueError"
)
_PYDANTIC: Final = (
    "construct copy dict from_orm json mro parse_file parse_obj parse_raw register schema "
    "schema_json update_forward_refs validate model_computed_fields model_config model_construct "
    "model_copy model_dump model_dump_json model_extra model_fields model_fields_set "
    "model_json_schema "
    "model_parametrized_name model_post_init model_rebuild model_validate model_validate_json "
    "model_validate_strings"
)
_CLASS_BODY: Final = "self cls extra_ const_ field consts wire_"
_GENERATED: Final = (
    "Any ClassVar Final Literal Mapping TypeAlias TypeVar TYPE_CHECKING UNSET EMPTY Unset "
    "DecodeError EncodeError Maybe dataclass overload cast annotations BaseModel Model Field "
    "ABSENT "
    "ConfigDict Discriminator Struct Meta Open Record With decode encode from_wire to_wire "
    "Method METHODS T Json At Empty Number Ordered ABC BUILDING Bare Bounds Callable Checked "
    "Calls ClientCalls ClientHandlers Const CORE Decoder Exact Fixed GIVEN Generic IDENTIFIER "
    "KeptRecord Late MEMBERS MemberError MsgspecError Never Nothing ORDERED PARAMS Protocol "
    "RESULTS Reader Rest SETTINGS_REVISION STOPS ServerCalls ServerHandlers TypeForm WIDENED "
    "abstractmethod bind "
    "check_depth codec core dec_hook decode_params decode_result deprecated dump enc_hook field "
    "finite hook_of json name_unions parse plainer read_object read_text to_builtins too_deep "
    "with_tag write write_again write_object write_text"
)
_CODEC: Final = (
    "ANY BOOLEAN Borrowed CHECKED EXTRA NUMBER OBJECT READERS STRING TABLES Takes WRITERS Writer "
    "Writers check_array check_map check_objects each each_value either extras fills hold is_given "
    "is_number is_string keep like make matches merge model others read_array read_json "
    "read_literals read_map read_string read_strings read_tagged takes write_array write_map wrong"
)

RESERVED_MEMBERS: Final = frozenset(
    [*keyword.kwlist, *_BUILTINS.split(), *_PYDANTIC.split(), *_CLASS_BODY.split()]
)
"""Python names reserved in every flavour: such a member gets a trailing underscore."""

RESERVED_TYPES: Final = frozenset(
    [*keyword.kwlist, *f"{_BUILTINS} {_CALLED} {_GENERATED} {_CODEC}".split()]
)
"""Names used by generated modules: a declaration of this name gets an underscore."""

_WORD_END: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NOT_WORD: Final = re.compile(r"[^A-Za-z0-9]+")
_IDENTIFIER: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")


@lru_cache(4096)
def snake(text: str) -> str:
    """`maxTokens`, `URLParams`, `a-b` → `max_tokens`, `url_params`, `a_b`."""
    return _NOT_WORD.sub("_", _WORD_END.sub("_", text)).lower()


def member_name(wire: str) -> str | None:
    """The Python name of a member; None if the wire name has no letter usable in Python.

    Leading `_` and `$`, and everything up to the last `/`, fall away.
    """
    name = snake(wire.rpartition("/")[2].lstrip("_$")).lstrip("_")
    if not any(c.isalpha() for c in name):
        return None
    if name[0].isdigit():
        name = f"n{name}"
    return f"{name}_" if name in RESERVED_MEMBERS else name


def type_name(declared: str) -> str | None:
    """The Python name of a declaration; None where Python has no such name."""
    if not _IDENTIFIER.match(declared):
        return None
    return f"{declared}_" if declared in RESERVED_TYPES else declared


def identifier(text: str) -> str:
    """A wire name or a place as part of a Python name."""
    return "".join(c if f"_{c}".isidentifier() else "_" for c in text)


def capitalize(text: str) -> str:
    """A part of a type's name: `inputSchema`, `_meta`, `a/b-c` → `InputSchema`, `Meta`, `BC`."""
    parts = [part for part in _NOT_WORD.split(text.rpartition("/")[2] or text) if part]
    return "".join(part[0].upper() + part[1:] for part in parts)
