"""Inspects a handler's Python function: parameters, return annotation and docstring."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Hashable
from copy import deepcopy
from typing import (
    Annotated,
    Any,
    Final,
    NoReturn,
    TypeAlias,
    get_args,
    get_origin,
    get_type_hints,
)

from msgspec import Meta, Struct

from mcp_runtime.core.http.header_checks import SAFE, TOKEN
from mcp_runtime.json_schema.to_json import is_pydantic
from mcp_runtime.json_schema.type_adapter import arms_of, bare
from mcp_runtime.server.functions.docstring import ParsedDocstring, parse_docstring
from mcp_runtime.shared.safe_path import AnyPath

ContextTypes: TypeAlias = type[Any] | tuple[type[Any], ...]
"""The classes whose parameter takes the Context."""
_EMPTY: Final = inspect.Parameter.empty


class Header(Struct, frozen=True):
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


class Default(Struct, frozen=True):
    """The default of a parameter, made anew for each call; `shown` if the schema names it."""

    make: Callable[[], Any]
    shown: bool


class Parameter(Struct, frozen=True):
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
    def takes_any_path(self) -> bool:
        return any(note is AnyPath or isinstance(note, AnyPath) for note in self.notes)

    @property
    def description(self) -> str | None:
        return next((note for note in self.notes if isinstance(note, str)), None)


class FunctionInfo(Struct, frozen=True):
    """`context` names the parameter that takes the Context; `returns` is the return annotation."""

    name: str
    doc: ParsedDocstring
    parameters: tuple[Parameter, ...]
    returns: Any
    context: str | None
    is_async: bool

    def refuse(self, parameter: str, what: str, remedy: str) -> NoReturn:
        raise TypeError(f"{self.name}(), parameter {parameter}: {what}; {remedy}")


def inspect_function(
    function: Callable[..., Any], context: ContextTypes, default_type: Any = Any
) -> FunctionInfo:
    """A function with its parameters; those without an annotation have `default_type`.

    Raises TypeError for a function that cannot be called by name, or takes two contexts.
    """
    called = _unwrap(function)
    described = _describe(function, called)
    name = getattr(described, "__name__", "__call__")
    name = type(function).__name__ if name == "__call__" else name
    if inspect.isgeneratorfunction(called) or inspect.isasyncgenfunction(called):
        raise TypeError(f"{name}() yields; return the whole result instead")
    hints = _hints(described, name)  # first: from Python 3.14, a signature evaluates annotations
    signature = inspect.signature(function)
    hints |= _types_of_signature(function, signature)
    contexts = [each for each in signature.parameters if _is_context(hints.get(each), context)]
    if len(contexts) > 1:
        raise TypeError(f"{name}(): {' and '.join(contexts)} both take the Context; keep one")
    return FunctionInfo(
        name=name,
        doc=parse_docstring(_doc(described) or _doc(function)),
        parameters=tuple(
            _parameter(name, each, hints.get(each.name, default_type))
            for each in signature.parameters.values()
            if each.name not in contexts
        ),
        returns=hints.get("return"),
        context=contexts[0] if contexts else None,
        is_async=inspect.iscoroutinefunction(called),
    )


def annotations_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the annotations of a function's parameters, as far as they can be resolved."""
    try:
        hints = get_type_hints(function)
    except (NameError, TypeError):
        hints = {**getattr(function, "__annotations__", {})}
    return {name: each for name, each in hints.items() if name != "return"}


def _unwrap(function: Any) -> Callable[..., Any]:
    """Return the function inside a partial or a callable object."""
    while isinstance(function, functools.partial):
        function = function.func
    if inspect.isclass(function) or not callable(function):
        raise TypeError(f"{function!r} is not a function; pass a function or a method")
    called: Callable[..., Any] = function if inspect.isroutine(function) else function.__call__
    return called


def _describe(function: Any, called: Callable[..., Any]) -> Callable[..., Any]:
    """Return the object with the name and the annotations: the wrapped function, if there is
    one.
    """
    is_wrapper = hasattr(function, "__wrapped__") and not inspect.isroutine(function)
    return inspect.unwrap(function) if is_wrapper else called


def _doc(function: Any) -> str | None:
    """Return the function's own docstring. Python gives partials, and each bare `__call__`, a
    docstring of its own.
    """
    if isinstance(function, functools.partial):
        return None
    text = inspect.getdoc(function)
    return None if text == type.__call__.__doc__ else text


def _hints(function: Callable[..., Any], name: str) -> dict[str, Any]:
    """Annotations, with names from enclosing functions resolved too."""
    try:
        return get_type_hints(function, include_extras=True)
    except NameError:
        pass
    try:
        return get_type_hints(function, localns=_enclosing(function), include_extras=True)
    except NameError as error:
        raise TypeError(
            f"{name}(): its annotation names {error.name}, which is not there when it runs; import"
            " it outside of `if TYPE_CHECKING:`, and before the function"
        ) from None


def _types_of_signature(function: Any, signature: inspect.Signature) -> dict[str, Any]:
    """Return the types a `__signature__` has instead of the annotations beside it."""
    if not hasattr(function, "__signature__"):
        return {}
    declared = {each.name: each.annotation for each in signature.parameters.values()}
    declared["return"] = signature.return_annotation
    beside = getattr(function, "__annotations__", {})
    return {
        name: annotation
        for name, annotation in declared.items()
        if annotation not in (_EMPTY, beside.get(name)) and not isinstance(annotation, str)
    }


def _enclosing(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the locals of the functions and classes around a definition; inner names hide outer
    ones.
    """
    names: dict[str, Any] = {}
    frame = inspect.currentframe()
    while frame is not None:
        here = frame.f_globals is getattr(function, "__globals__", None)
        if here and function.__qualname__.startswith(f"{frame.f_code.co_qualname}."):
            names = {**frame.f_locals, **names}
        frame = frame.f_back
    return names


def _is_context(annotation: Any, context: ContextTypes) -> bool:
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


def _parameter(function: str, declared: inspect.Parameter, annotation: Any) -> Parameter:
    name, default = declared.name, declared.default
    if name in ("self", "cls") and declared.annotation is _EMPTY:
        raise TypeError(
            f"{function}() is a method without its object;"
            f" make the object first, and register its method, such as thing.{function}"
        )
    if declared.kind in _UNNAMED:
        raise TypeError(
            f"{function}(), parameter {name}: {_UNNAMED[declared.kind]}; peers name each"
            " argument, so declare it by its name, with a type"
        )
    if _is_field(default):
        annotation, default = Annotated[annotation, default], _EMPTY
    field = _field(annotation) if default is _EMPTY else None
    if default is None or (field is not None and field.default is None):
        annotation = _with_none(annotation)
    return Parameter(name, _bound_integers(annotation), _default(default, field))


def _with_none(annotation: Any) -> Any:
    """Return the annotation with None, which is the default: peers send null for it."""
    notes = getattr(annotation, "__metadata__", ())
    if any(isinstance(note, Header) for note in notes) or any(
        bare(arm) in (Any, object, type(None)) for arm in arms_of(annotation)
    ):
        return annotation
    outer = [note for note in notes if _is_of_parameter(note)]
    inner = [note for note in notes if not _is_of_parameter(note)]
    plain = get_args(annotation)[0] if notes else annotation
    one: Any = Annotated[(plain, *inner)] if inner else plain
    try:
        optional: Any = one | None
    except TypeError:
        return annotation  # it is not a type: where it is read, an error says so
    return Annotated[(optional, *outer)] if outer else optional


def _is_of_parameter(note: object) -> bool:
    """Return True if a note describes the parameter, rather than a value other than None."""
    return isinstance(note, str) or _is_field(note)


def _is_field(value: object) -> bool:
    return type(value).__module__ == "pydantic.fields"


def _field(annotation: Any) -> Any:
    """Return the `Field(…)` of pydantic that gives a default; of several the last counts."""
    fields = [note for note in getattr(annotation, "__metadata__", ()) if _is_field(note)]
    return next((field for field in reversed(fields) if not field.is_required()), None)


def _default(default: Any, field: Any) -> Default | None:
    if field is not None:
        return Default(lambda: field.get_default(call_default_factory=True), shown=False)
    if isinstance(default, Hashable):
        return None if default is _EMPTY else Default(lambda: default, shown=True)
    return Default(functools.partial(deepcopy, default), shown=True)


def _bound_integers(annotation: Any) -> Any:
    """Bound an integer that a header mirrors to the range every peer reads exactly."""
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
