"""What stands in a handler's Python signature: its parameters, what it returns, its docstring."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Annotated, Any, Final, NoReturn, get_origin, get_type_hints

from msgspec import Meta

from mcp_runtime.core.param_headers import SAFE, TOKEN
from mcp_runtime.json_schema.to_json import is_pydantic
from mcp_runtime.json_schema.type_adapter import arms_of, bare
from mcp_runtime.server.functions.docstring import Docstring, read_docstring

__all__ = ["Default", "Facts", "Header", "Parameter", "read_facts"]

_EMPTY: Final = inspect.Parameter.empty


@dataclass(frozen=True, slots=True)
class Header:
    """In `Annotated[str, Header("Region")]`: over HTTP the argument is mirrored in a header.

    The name is an HTTP token. Raises ValueError for another.
    Source: 2026-07-28 server/tools, "x-mcp-header".
    """

    name: str

    def __post_init__(self) -> None:
        if not TOKEN.fullmatch(self.name):
            raise ValueError(
                f"Header({self.name!r}): expected letters, digits and !#$%&'*+-.^_`|~ only"
            )


@dataclass(frozen=True, slots=True)
class Default:
    """Made anew for every call; `shown` is it in the schema, if it has a form there."""

    make: Callable[[], Any]
    shown: bool


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    annotation: Any
    default: Default | None

    @property
    def notes(self) -> tuple[Any, ...]:
        is_annotated = get_origin(self.annotation) is Annotated
        return self.annotation.__metadata__ if is_annotated else ()

    @property
    def header(self) -> Header | None:
        return next((note for note in self.notes if isinstance(note, Header)), None)

    @property
    def description(self) -> str | None:
        return next((note for note in self.notes if isinstance(note, str)), None)


@dataclass(frozen=True, slots=True)
class Facts:
    """What a function says of itself; `returns` is its annotation."""

    name: str
    doc: Docstring
    parameters: tuple[Parameter, ...]
    returns: Any
    context: str | None
    is_async: bool

    def refuse(self, parameter: str, what: str, remedy: str) -> NoReturn:
        raise TypeError(f"{self.name}(), parameter {parameter}: {what}; {remedy}")


def read_facts(
    function: Callable[..., Any],
    context: type[Any] | tuple[type[Any], ...],
    otherwise: Any = Any,
) -> Facts:
    """`otherwise` is the type of a parameter that has no annotation.

    Raises TypeError for what cannot be called by name, or takes two contexts.
    """
    called = _called(function)
    name = getattr(called, "__name__", type(function).__name__)
    name = type(function).__name__ if name == "__call__" else name
    if inspect.isgeneratorfunction(called) or inspect.isasyncgenfunction(called):
        raise TypeError(f"{name}() yields; let it return what it has, all at once")
    hints = _hints(called, name)
    signature = inspect.signature(function)
    contexts = [each for each in signature.parameters if _is_context(hints.get(each), context)]
    if len(contexts) > 1:
        raise TypeError(f"{name}(): {' and '.join(contexts)} both take the context; keep one")
    return Facts(
        name=name,
        doc=read_docstring(inspect.getdoc(called) or _doc(function)),
        parameters=tuple(
            _parameter(name, each, hints.get(each.name, otherwise))
            for each in signature.parameters.values()
            if each.name not in contexts
        ),
        returns=hints.get("return"),
        context=contexts[0] if contexts else None,
        is_async=inspect.iscoroutinefunction(called),
    )


def _called(function: Any) -> Callable[..., Any]:
    """The function that runs in the end: of a partial, of an object that can be called."""
    while isinstance(function, functools.partial):
        function = function.func
    if inspect.isclass(function) or not callable(function):
        raise TypeError(f"{function!r} is no function; hand over a function or a method")
    called: Callable[..., Any] = function if inspect.isroutine(function) else function.__call__
    return called


def _doc(function: Callable[..., Any]) -> str | None:
    return None if isinstance(function, functools.partial) else inspect.getdoc(function)


def _hints(function: Callable[..., Any], name: str) -> dict[str, Any]:
    """Annotations, those that name what is local to the functions around this one too."""
    try:
        return get_type_hints(function, include_extras=True)
    except NameError:
        pass
    try:
        return get_type_hints(function, localns=_around(function), include_extras=True)
    except NameError as error:
        raise TypeError(
            f"{name}(): its annotation names {error.name}, which is not there when it runs; import"
            " it outside of `if TYPE_CHECKING:`, and before the function"
        ) from None


def _around(function: Callable[..., Any]) -> dict[str, Any]:
    """What the functions and classes that are running around a definition hold, inner first."""
    found: dict[str, Any] = {}
    frame: FrameType | None = sys._getframe()  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        here = frame.f_globals is getattr(function, "__globals__", None)
        if here and function.__qualname__.startswith(f"{frame.f_code.co_qualname}."):
            found = {**frame.f_locals, **found}
        frame = frame.f_back
    return found


def _is_context(annotation: Any, context: type[Any] | tuple[type[Any], ...]) -> bool:
    for arm in arms_of(annotation):
        plain = bare(arm)
        cls = get_origin(plain) or plain
        if isinstance(cls, type) and issubclass(cls, context):
            return True
    return False


_UNNAMED: Final = {
    inspect.Parameter.POSITIONAL_ONLY: "is positional only",
    inspect.Parameter.VAR_POSITIONAL: "takes any number of values without a name",
    inspect.Parameter.VAR_KEYWORD: "takes values of any name",
}


def _parameter(function: str, found: inspect.Parameter, annotation: Any) -> Parameter:
    if found.kind in _UNNAMED:
        raise TypeError(
            f"{function}(), parameter {found.name}: {_UNNAMED[found.kind]}; peers name each"
            " argument, so declare it by its name, with a type"
        )
    if found.default is not _EMPTY and type(found.default).__module__ == "pydantic.fields":
        return Parameter(
            found.name, Annotated[annotation, found.default], _default_of(found.default)
        )
    annotation = _bounded(annotation)
    if found.default is _EMPTY:
        return Parameter(found.name, annotation, None)
    return Parameter(found.name, annotation, Default(lambda: found.default, shown=True))


def _default_of(info: Any) -> Default | None:
    """Of pydantic's `Field(…)`, written as a default."""
    if info.is_required():
        return None
    return Default(lambda: info.get_default(call_default_factory=True), shown=False)


def _bounded(annotation: Any) -> Any:
    """An integer that a header mirrors is one that every peer reads exactly."""
    if get_origin(annotation) is not Annotated or bare(annotation) is not int:
        return annotation
    notes = annotation.__metadata__
    if not any(isinstance(note, Header) for note in notes):
        return annotation
    if any(map(is_pydantic, notes)):
        from pydantic import Field

        return Annotated[(int, Field(ge=-SAFE, le=SAFE), *notes)]
    metas = [note for note in notes if isinstance(note, Meta)]
    if all(meta.ge is None and meta.gt is None for meta in metas):
        annotation = Annotated[annotation, Meta(ge=-SAFE)]
    if all(meta.le is None and meta.lt is None for meta in metas):
        annotation = Annotated[annotation, Meta(le=SAFE)]
    return annotation
