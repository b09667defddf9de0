"""The peers' side of each measurement, in the fastest way that they document."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

from bench.messages import TEXTS

__all__ = ["JOBS"]

_ROOT: Final = Path(__file__).parents[1]
_OUTPUTS: Final = {
    "msgspec": "msgspec.Struct",
    "pydantic": "pydantic_v2.BaseModel",
    "dataclass": "dataclasses.dataclass",
}


def _models(text: str, what: str) -> Callable[[], Any]:
    import mcp_types

    name, data = TEXTS[text]
    cls: Any = getattr(mcp_types, name)
    value = cls.model_validate_json(data, by_name=False)
    jobs: dict[str, Callable[[], Any]] = {
        "decode": partial(cls.model_validate_json, data, by_name=False),
        "encode": partial(value.model_dump_json, by_alias=True, exclude_none=True),
        "from_wire": partial(cls.model_validate, json.loads(data), by_name=False),
        "to_wire": partial(value.model_dump, by_alias=True, exclude_none=True),
    }
    return jobs[what]


def _made() -> Callable[[], Any]:
    import mcp_types

    content: Any = [mcp_types.TextContent(type="text", text="hello world")]
    return lambda: mcp_types.CallToolResult(content=content, is_error=False)


def _json(text: str, what: str) -> Callable[[], Any]:
    """What the JSON library alone costs."""
    data = TEXTS[text][1]
    return partial(json.loads, data) if what == "decode" else partial(json.dumps, json.loads(data))


def _generate(flavour: str) -> Callable[[], Any]:
    from datamodel_code_generator import DataModelType, InputFileType, generate

    warnings.simplefilter("ignore")  # it warns of unions that msgspec cannot decode, at every turn
    return partial(
        generate,
        json.loads(_official_schema().read_text()),
        input_file_type=InputFileType.JsonSchema,
        output_model_type=DataModelType(_OUTPUTS[flavour]),
        formatters=[],
    )


def _official_schema() -> Path:
    """The official schema.json, which `make official` fetches. Raises FileNotFoundError."""
    folders = (_ROOT / "tests" / "official" / "files", _ROOT.parent / "shared" / "official")
    for folder in folders:
        if (path := folder / "2025-11-25" / "schema.json").is_file():
            return path
    raise FileNotFoundError("the official schema.json is not here: run `make official` first")


JOBS: Final[dict[str, Callable[[], Callable[[], Any]]]] = {
    **{
        f"{text} {what}": partial(_models, text, what)
        for text in TEXTS
        for what in ("decode", "encode", "from_wire", "to_wire")
    },
    **{
        f"json {text} {what}": partial(_json, text, what)
        for text in TEXTS
        for what in ("decode", "encode")
    },
    "made": _made,
    **{f"generate {flavour}": partial(_generate, flavour) for flavour in _OUTPUTS},
}
