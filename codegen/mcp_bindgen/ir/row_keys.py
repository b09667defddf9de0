"""The keys that a row of schema/decisions.toml may have, and what each of them must be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, cast

from mcp_bindgen.errors import DecisionError

__all__ = ["require_keys"]

_Check: TypeAlias = Callable[[object], bool]


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _is_list(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_name, cast("list[object]", value)))


def _is_tables(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(each, dict) for each in cast("list[object]", value)
    )


def _is_anything(value: object) -> bool:
    return True


_WORDS: Final[Mapping[_Check, str]] = {
    _is_text: "a text",
    _is_name: "a text, and not empty",
    _is_list: 'a list of texts, such as ["…"]',
    _is_tables: "a list of tables, such as [{ … }]",
}
_EVERY: Final[Mapping[str, _Check]] = {"path": _is_name, "page": _is_name, "why": _is_name}
_KEYS: Final[Mapping[str, Mapping[str, _Check]]] = {
    "method": {"capability": _is_text, "result": _is_list, "direction": _is_text},
    "union": {"order": _is_list},
    "narrow": {"type": _is_name},
    "name": {"name": _is_name},
    "step": {
        "pair": _is_anything,
        "up": _is_anything,
        "down": _is_anything,
        "value": _is_anything,
        "context": _is_name,
        "to": _is_anything,
        "as": _is_name,
        "data": _is_name,
        "alone": _is_name,
        "parts": _is_tables,
        "message": _is_name,
        "code": _is_anything,
        "runtime": _is_name,
        "unless": _is_name,
    },
    "http": {"value": _is_anything},
    "tolerance": {"reader": _is_name, "value": _is_anything, "forgives": _is_list},
    "extension": {"identifier": _is_text, "core": _is_list, "roles": _is_list},
    "widen": {"result": _is_list},
    "member": {"type": _is_name},
    "meta": {"type": _is_name},
}
"""Those of each kind; what may be anything here is judged where it is used."""


def require_keys(where: str, kind: str, entry: Mapping[str, Any]) -> None:
    """Raises DecisionError for a key that rows of the kind do not have, or a value of a wrong type.

    `where` names the file.
    """
    known = {**_EVERY, **({} if kind == "step" else {"revisions": _is_list}), **_KEYS[kind]}
    for key, value in entry.items():
        check = known.get(key)
        if check is None or not check(value):
            raise DecisionError(
                f"{where}: [[{kind}]] `{entry['path']}`: "
                + (f"`{key}` is not a key" if check is None else f"{key} = {value!r} does not fit"),
                remedy=f"Keys: {', '.join(known)}." if check is None else f"Give {_WORDS[check]}.",
            )
