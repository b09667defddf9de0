"""Checks generated types: msgspec accepts them, and a value survives reading and writing.

Only our own layout of understood rows is executed: classes, aliases, literals. No text of a schema
becomes code.
"""

from __future__ import annotations

import json
import sys
from types import ModuleType
from typing import Any, Final

import msgspec

from mcp_bindgen.scaffold.structs import Models, imports, lines
from mcp_bindgen.scaffold.typed import Untyped

__all__ = ["check_types", "run"]

_NAME: Final = "mcp_bindgen_types"


def check_types(models: Models, sample: Any) -> None:
    """Raise Untyped if msgspec refuses the types, or if `sample` does not survive them."""
    try:
        decoder: Any = msgspec.json.Decoder(getattr(run(models), models.name))
        value = decoder.decode(json.dumps(sample))
        again = decoder.decode(msgspec.json.encode(value))
    except (TypeError, ValueError, NameError, RecursionError) as error:
        reason = str(error).replace(f"{_NAME}.", "")
        raise Untyped(f"msgspec has no such types: {reason}") from None
    except msgspec.MsgspecError as error:
        raise Untyped(f"its types do not take {json.dumps(sample)[:60]}: {error}") from None
    if again != value:
        raise Untyped(f"its types do not give {json.dumps(sample)[:60]} back")


def run(models: Models) -> ModuleType:
    """Run the generated text of the types; return the module which has them."""
    body = "\n".join(lines(models.types))
    module = ModuleType(_NAME)
    head = "from __future__ import annotations\n" + "\n".join(imports(body))
    sys.modules[_NAME] = module  # where msgspec looks names up
    exec(compile(f"{head}\n{body}\n", _NAME, "exec"), module.__dict__)
    return module
