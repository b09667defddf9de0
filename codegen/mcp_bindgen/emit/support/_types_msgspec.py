"""Annotations of the msgspec models: types read by the codec, and constants."""

from __future__ import annotations

from collections.abc import Iterable
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Literal,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
)

__all__ = ["Checked", "Const", "plain_annotation"]

_T = TypeVar("_T")


class _Fits(type):
    """The class of a `Checked` type. Its instances are the values of the annotation `of`."""

    of: Any
    arms: frozenset[object]

    def __instancecheck__(cls, instance: object) -> bool:
        return instance.__class__ in cls.arms or _fits(cls.of, instance)


def _fits(annotation: Any, value: Any) -> bool:
    origin, args = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        return value.__class__ in args or any(_fits(arm, value) for arm in args)
    if origin is list or origin is dict:
        return isinstance(value, origin) and all(
            _fits(args[-1], x) for x in _inside(value)
        )
    if origin is Literal:
        return value in args
    if origin is Annotated:
        return _fits(args[0], value)
    return annotation is Any or isinstance(value, annotation or type(None))


def _inside(value: Any) -> Iterable[Any]:
    """Return the items of a list, or the values of a dict."""
    inside: Iterable[Any] = value if value.__class__ is list else value.values()
    return inside


def plain_annotation(annotation: Any) -> Any:
    """Return an annotation as a type checker sees it, for the signatures which tools read."""
    # list[A | B] for list[Checked[A | B]]
    if isinstance(annotation, _Fits):
        return annotation.of
    origin, args = get_origin(annotation), get_args(annotation)
    inside = tuple(map(plain_annotation, args)) if origin is not Literal else args
    if inside == args:
        return annotation
    if origin is UnionType:
        origin = Union
    return origin[inside]


if TYPE_CHECKING:
    from typing import ClassVar as Const

    Checked: TypeAlias = Annotated[_T, "read by a codec"]
else:

    class Checked:
        """Makes a type unknown to msgspec, which passes it to `dec_hook` and so to the codec."""

        _made: ClassVar[dict[object, type]] = {}

        def __class_getitem__(cls, of: object) -> type:
            if of not in cls._made:
                arms = frozenset(
                    x for x in (of, *get_args(of)) if x.__class__ is not dict
                )
                cls._made[of] = _Fits(
                    "Checked (needs dec_hook)", (), {"of": of, "arms": arms}
                )
            return cls._made[of]

    class Const:
        """Marks a constant which is a field for msgspec; see `Fixed`."""

        def __class_getitem__(cls, of: object) -> object:
            return of
