"""Functions with `*values` or `**options`, which `mcp` 1.x offers as parameters of these names."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, Final

from mcp_runtime.compat.shapes import items_of, members_of

_VARIADIC: Final = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def named_variadics(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function with named parameters only; one without variadics is returned unchanged."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return function
    parameters = list(signature.parameters.values())
    if not any(each.kind in _VARIADIC for each in parameters):
        return function

    def call(**given: Any) -> Any:
        positional, named = _arguments(parameters, given)
        return function(*positional, **named)

    async def call_async(**given: Any) -> Any:
        positional, named = _arguments(parameters, given)
        return await function(*positional, **named)

    wrapper: Any = call_async if inspect.iscoroutinefunction(function) else call
    functools.update_wrapper(wrapper, function)
    named = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in parameters]
    wrapper.__signature__ = signature.replace(parameters=named)
    result: Callable[..., Any] = wrapper
    return result


def _arguments(
    parameters: list[inspect.Parameter], given: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Return positional and keyword arguments; a single value of `*values` is a list of one."""
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for each in parameters:
        value = given.get(each.name, each.default)
        if each.kind is each.VAR_POSITIONAL:
            items = items_of(value)
            positional += [value] if items is None else items
        elif each.kind is each.VAR_KEYWORD:
            named |= members_of(value) or {}
        elif each.kind is each.KEYWORD_ONLY:
            named[each.name] = value
        else:
            positional.append(value)
    return positional, named
