"""What may be asked of whom: capabilities as dotted paths, and which of them a request needs.

Capabilities are parsed JSON, as a peer has declared them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, cast

__all__ = ["declares", "needed", "required"]


def declares(capabilities: Mapping[str, Any], path: str) -> bool:
    """Whether `path` is there, and not false; the empty path always is.

    `elicitation: {}` stands for forms alone.
    Source: 2025-11-25 client/elicitation, "Capabilities".
    """
    found: Any = capabilities
    for name in path.split(".") if path else ():
        if path == "elicitation.form" and name == "form" and not found:
            return found is not None
        found = _member(found, name)
    return found is not None and found is not False


def _member(o: Any, name: str) -> Any:
    return cast("dict[str, Any]", o).get(name) if isinstance(o, dict) else None


def needed(method: str, capability: str, params: Mapping[str, Any]) -> Iterator[str]:
    """The capabilities that a request to a client needs: the method's own, and those of its params.

    `params` is parsed JSON.
    """
    yield capability
    yield from _BY_PARAMS.get(method, _nothing)(params)


def required(path: str) -> dict[str, Any]:
    """The capabilities object that has nothing but `path`."""
    found: dict[str, Any] = {}
    for name in reversed(path.split(".")):
        found = {name: found}
    return found


def _nothing(params: Mapping[str, Any]) -> Iterator[str]:
    return iter(())


def _of_elicitation(params: Mapping[str, Any]) -> Iterator[str]:
    yield "elicitation.url" if params.get("mode") == "url" else "elicitation.form"


def _of_sampling(params: Mapping[str, Any]) -> Iterator[str]:
    if "tools" in params or "toolChoice" in params:
        yield "sampling.tools"


_BY_PARAMS: Final[Mapping[str, Callable[[Mapping[str, Any]], Iterator[str]]]] = {
    "elicitation/create": _of_elicitation,
    "sampling/createMessage": _of_sampling,
}
"""Source: 2026-07-28 client/elicitation and client/sampling, "Capabilities"."""
