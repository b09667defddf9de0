"""Checks generated types: msgspec accepts them, and a value survives reading and writing.

Only our own layout of understood rows is executed: classes, aliases, literals. No text of a schema
becomes code.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from types import ModuleType
from typing import Any, Final

import msgspec

from mcp_bindgen.scaffold.structs import Class, Models, imports, lines
from mcp_bindgen.scaffold.typed import Untyped

__all__ = ["fit_types"]

_NAME: Final = "mcp_bindgen_types"


def fit_types(models: Models, sample: Any) -> Models:
    """Return the models without defaults of the wrong type.

    Raises Untyped if msgspec refuses the types, or the types refuse `sample`.
    """
    try:
        fitted = _without_wrong_defaults(models, _run(models))
        decoder: Any = msgspec.json.Decoder(getattr(_run(fitted), models.name))
        value = decoder.decode(json.dumps(sample))
        again = decoder.decode(msgspec.json.encode(value))
    except (TypeError, ValueError, NameError, RecursionError) as error:
        reason = str(error).replace(f"{_NAME}.", "")
        raise Untyped(f"msgspec has no such types: {reason}") from None
    except msgspec.MsgspecError as error:
        raise Untyped(f"its types do not take {json.dumps(sample)[:60]}: {error}") from None
    if again != value:
        raise Untyped(f"its types do not give {json.dumps(sample)[:60]} back")
    return fitted


def _run(models: Models) -> ModuleType:
    """Run the generated text of the types; return the module which has them."""
    body = "\n".join(lines(models.types))
    module = ModuleType(_NAME)
    head = "from __future__ import annotations\n" + "\n".join(imports(body))
    sys.modules[_NAME] = module  # where msgspec looks names up
    exec(compile(f"{head}\n{body}\n", _NAME, "exec"), module.__dict__)
    return module


def _without_wrong_defaults(models: Models, module: ModuleType) -> Models:
    types = [_mend(t, module) if isinstance(t, Class) else t for t in models.types]
    return replace(models, types=tuple(types))


def _mend(declared: Class, module: ModuleType) -> Class:
    """A class without the defaults of the wrong type."""
    struct = getattr(module, declared.name)
    wrong = set(_wrong_defaults(struct))
    if not wrong:
        return declared
    members = (m if m.name not in wrong else m.without_default() for m in declared.members)
    return replace(declared, members=tuple(members))


def _wrong_defaults(struct: type[msgspec.Struct]) -> Iterator[str]:
    for field in msgspec.structs.fields(struct):
        try:
            value = field.default_factory() if callable(field.default_factory) else field.default
            if value not in (msgspec.UNSET, msgspec.NODEFAULT):
                msgspec.convert(msgspec.to_builtins(value), field.type)
        except msgspec.ValidationError:
            yield field.name
