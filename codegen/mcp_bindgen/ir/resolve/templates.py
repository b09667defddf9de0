"""Template literal types: the few strings that one lists, or the pattern of those that it takes."""

from __future__ import annotations

import re
from itertools import product
from typing import Final

from msgspec.structs import replace

from mcp_bindgen.ir.resolve.scope import Resolving
from mcp_bindgen.ir.values.pattern_cost import longest
from mcp_bindgen.limits import MAX_LITERALS
from mcp_bindgen.source import syntax

__all__ = ["pattern", "template"]

_SPECIAL: Final = re.compile(r"[\\^$.|?*+()\[\]{}/]")
_DECIMAL: Final = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_NUMBER: Final = f"{_DECIMAL}|0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+"
"""What JavaScript's `Number` takes, as the compiler does for `${number}`; spaces around it too,
which are left out here: nobody means them, and they make long texts costly to match."""
_KEYWORDS: Final = {
    "string": r"[\s\S]*",
    "any": r"[\s\S]*",
    "unknown": r"[\s\S]*",
    "number": f"(?:{_NUMBER})",
    "boolean": "(?:true|false)",
    "null": "null",
    "undefined": "undefined",
}


def pattern(type: syntax.Template) -> str:
    """The regular expression, as JSON Schema writes them, of a template that was worked out."""
    (body,) = type.parts
    assert isinstance(body, str)
    return f"^{body}$"


def template(scope: Resolving, type: syntax.Template) -> syntax.Type:
    """A template whose types are resolved: a union of literals where those are few, or a pattern.

    The pattern is then its only part.
    """
    choices = [_texts(scope, part) for part in type.parts]
    lists = [texts for texts in choices if texts is not None]
    count = 1
    for texts in lists:
        count *= len(texts)
    if len(lists) == len(choices) and count <= MAX_LITERALS:
        words = dict.fromkeys("".join(texts) for texts in product(*lists))
        return scope.joined([syntax.Literal(word, type.at) for word in words], type.at)
    body = "".join(_pattern(scope, part, type.at) for part in type.parts)
    made = replace(type, parts=(body,))
    try:
        longest(pattern(made))
    except ValueError as error:
        message = f"matching this template may take for ever: {error}"
        raise scope.error(type.at, message, "Give it fewer parts, or say string.") from None
    return made


def _texts(scope: Resolving, part: str | syntax.Type) -> list[str] | None:
    """The texts of a part; None where they cannot be listed."""
    if isinstance(part, str):
        return [part]
    arms = scope.arms(part)
    texts = [_text(arm.value) for arm in arms if isinstance(arm, syntax.Literal)]
    return texts if len(texts) == len(arms) else None


def _text(value: syntax.LiteralValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _pattern(scope: Resolving, part: str | syntax.Type, at: int) -> str:
    if isinstance(part, str):
        return _SPECIAL.sub(r"\\\g<0>", part)
    arms = [_arm(scope, arm, at) for arm in scope.arms(part)]
    return arms[0] if len(arms) == 1 else f"(?:{'|'.join(arms)})"


def _arm(scope: Resolving, arm: syntax.Type, at: int) -> str:
    match arm:
        case syntax.Literal(value=value):
            return _SPECIAL.sub(r"\\\g<0>", _text(value))
        case syntax.Keyword(name=name) if name in _KEYWORDS:
            return _KEYWORDS[name]
        case syntax.Template(parts=(str() as body,)):
            return body
        case _:
            raise scope.error(
                at, "a template of what is not text", "Use string, number, boolean or literals."
            )
