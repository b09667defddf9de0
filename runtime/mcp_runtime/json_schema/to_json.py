"""Converts any value to JSON: by msgspec, and pydantic models by pydantic."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePath
from types import EllipsisType
from typing import Any, Final, TypeAlias, cast

import msgspec

from mcp_runtime.revisions import fault, is_json
from mcp_runtime.revisions import latest as t

Step: TypeAlias = str | int | EllipsisType
"""A name, an index, or `...` for any key of a mapping."""

_LONGEST: Final = 80
"""The most characters of a value shown in a message."""


class BadResult(Exception):
    """The result of a handler is not JSON or breaks its output schema; the text has the place."""


def to_json(value: object) -> Any:
    """Convert a value to parsed JSON: dataclasses, Structs, enums, dates, pydantic models, paths …

    Raises BadResult for a value without a form in JSON, such as NaN and the infinities.
    """
    if value.__class__ in PLAIN:
        return value
    try:
        if value.__class__.__module__ == t.__name__:
            return t.to_wire(value)
        json = _build(value)
        if is_json(json):
            return json
    except RecursionError:
        raise BadResult("$: expected JSON, found a value that is nested too deeply") from None
    except (TypeError, ValueError, msgspec.MsgspecError) as error:
        raise _formless(value, error) from error
    raise BadResult(str(fault(json)))


def _build(value: object) -> Any:
    """Convert a value to dicts, lists and scalars; some may still be no JSON, such as NaN."""
    json = msgspec.to_builtins(value, str_keys=True, enc_hook=_foreign)
    return json if _is_built(json) else _rebuilt(json)


def _formless(value: object, error: Exception) -> BadResult:
    """Return the error for a value without a form in JSON, with the innermost place at fault."""
    steps: list[Step] = []
    while (inner := _first_formless(value)) is not None:
        step, value = inner
        steps.append(step)
    return BadResult(f"{place(steps)}: expected JSON, found {type(value).__qualname__}: {error}")


def _first_formless(value: object) -> tuple[Step, object] | None:
    for step, each in children(value):
        try:
            _build(each)
        except RecursionError:
            return None
        except (TypeError, ValueError, msgspec.MsgspecError):
            return step, each
    return None


def children(value: object) -> Iterator[tuple[Step, object]]:
    """Yield the direct parts of a value with their steps: items, values by key, members."""
    if isinstance(value, Mapping):
        for key, each in cast("Mapping[object, object]", value).items():
            yield (key if isinstance(key, str) else str(key)), each
    elif isinstance(value, list | tuple | set | frozenset):
        yield from enumerate(cast("list[object]", value))
    else:
        for name in _member_names(type(value)):
            yield name, getattr(value, name, None)


def _member_names(cls: Any) -> Iterator[str]:
    """Yield the members of a dataclass, a Struct or a pydantic model; none of another class."""
    if dataclasses.is_dataclass(cls):
        yield from (each.name for each in dataclasses.fields(cls))
    for names in ("__struct_fields__", "__pydantic_fields__"):
        yield from getattr(cls, names, ())


def _is_built(value: Any) -> bool:
    """True if no part needs a second conversion: msgspec keeps tuples and values of enums."""
    if value.__class__ is dict:
        return all(map(_is_built, value.values()))
    return all(map(_is_built, value)) if value.__class__ is list else value.__class__ in _SCALARS


def _rebuilt(value: Any) -> Any:
    if value.__class__ is dict:
        return {name: _rebuilt(each) for name, each in value.items()}
    if value.__class__ in (list, tuple):
        return [_rebuilt(each) for each in value]
    return value if value.__class__ in _SCALARS else _build(value)


PLAIN: Final = frozenset((str, bool, int, type(None)))
"""Classes whose values are JSON without conversion."""
_SCALARS: Final = PLAIN | {float}


def _foreign(value: object) -> Any:
    """Convert a value unknown to msgspec."""
    if value.__class__.__module__ == t.__name__:
        return t.to_wire(value)
    if isinstance(value, PurePath | str):
        return str(value)
    if isinstance(value, int | float):  # of a class of their own, such as numpy.float64
        return int(value) if isinstance(value, int) else float(value)
    if isinstance(value, Mapping):
        return dict(cast("Mapping[object, object]", value))
    if is_pydantic(value):
        return _by_pydantic(value)
    raise TypeError(f"there is no form for {type(value).__qualname__}")


def _by_pydantic(value: object) -> Any:
    from pydantic_core import PydanticSerializationError, to_jsonable_python

    try:
        return to_jsonable_python(value, by_alias=True, inf_nan_mode="constants")
    except PydanticSerializationError as error:
        raise TypeError(str(error)) from error


_encode: Final = msgspec.json.Encoder().encode


def to_text(value: Any) -> str:
    """Encode parsed JSON as text. Raises BadResult for lone surrogates and too long integers."""
    try:
        return str(_encode(value), "utf-8")
    except (ValueError, RecursionError, msgspec.MsgspecError):
        raise BadResult(str(fault(value))) from None


# ---- for error messages


def excerpt(value: Any) -> str:
    """Return parsed JSON as a short text of one line, for error messages."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "an array"
    try:
        text = to_text(value)
    except BadResult:
        text = ascii(value) if isinstance(value, str) else "a value that is not JSON"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def place(steps: Iterable[Step]) -> str:
    """Return a path such as `$.a[0]["b c"]`, short and in one line, whatever the names are."""
    return "$" + "".join(map(_step, steps))


def _step(step: Step) -> str:
    if isinstance(step, str):
        is_plain = step.isascii() and step.isidentifier() and len(step) <= _LONGEST
        return f".{step}" if is_plain else f"[{excerpt(step)}]"
    return "[...]" if step is ... else f"[{step}]"


# ---- types of pydantic


_PYDANTIC: Final = frozenset(("pydantic", "pydantic_core", "pydantic_extra_types"))
_HOOKS: Final = ("__pydantic_validator__", "__get_pydantic_core_schema__")


def is_pydantic(type_or_note: object) -> bool:
    """True if a type or an annotation comes from pydantic, which is not imported for this.

    `annotated_types` counts: pydantic's `PositiveInt` is an int with a bound of this library.
    """
    cls: type = type_or_note if isinstance(type_or_note, type) else type(type_or_note)
    homes = {base.__module__.partition(".")[0] for base in cls.__mro__}
    return bool(homes & {*_PYDANTIC, "annotated_types"}) or any(hasattr(cls, h) for h in _HOOKS)
