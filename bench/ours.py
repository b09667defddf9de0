"""Our side of each measurement."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from bench.messages import TEXTS

__all__ = ["JOBS"]


def _models(flavour: str, text: str, what: str) -> Callable[[], Any]:
    module: Any = importlib.import_module(f"mcp_wire.v2026_07_28.models_{flavour}")
    name, data = TEXTS[text]
    cls = getattr(module, name)
    value = module.decode(cls, data)
    jobs: dict[str, Callable[[], Any]] = {
        "decode": partial(module.decode, cls, data),
        "encode": partial(module.encode, value),
        "from_wire": partial(module.from_wire, cls, json.loads(data)),
        "to_wire": partial(module.to_wire, value),
    }
    return jobs[what]


def _made(flavour: str) -> Callable[[], Any]:
    """Makes a result by its constructor; its item was made before."""
    module: Any = importlib.import_module(f"mcp_wire.v2026_07_28.models_{flavour}")
    content = [module.TextContent(text="hello world")]
    return lambda: module.CallToolResult(content=content, result_type="complete", is_error=False)


def _generate(flavour: str) -> Callable[[], Any]:
    """Reads, lowers and emits one revision in one flavour; what is decided of all was read."""
    from mcp_bindgen import emit, pins
    from mcp_bindgen.ir.decisions import decisions
    from mcp_bindgen.ir.lower import lower

    path = pins.schema_path("2025-11-25")
    data, decided = path.read_bytes(), decisions.load(path.parents[1] / "decisions.toml")
    options = emit.Options(flavours=(flavour,))

    def run() -> None:
        schema = lower.load(data, "schema.ts", "2025-11-25", decided)
        emit.generate([schema], options)

    return run


def _lower() -> Callable[[], Any]:
    from mcp_bindgen import pins

    return partial(pins.load, "2026-07-28")


JOBS: Final[dict[str, Callable[[], Callable[[], Any]]]] = {
    **{
        f"{flavour} {text} {what}": partial(_models, flavour, text, what)
        for flavour in ("msgspec", "pydantic", "dataclass")
        for text in TEXTS
        for what in ("decode", "encode", "from_wire", "to_wire")
    },
    **{f"made {f}": partial(_made, f) for f in ("msgspec", "pydantic", "dataclass")},
    **{f"generate {f}": partial(_generate, f) for f in ("msgspec", "pydantic", "dataclass")},
    "lower": _lower,
}
