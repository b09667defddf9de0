"""Template literal types: the few strings of a template, or its pattern."""

from __future__ import annotations

from itertools import product
from typing import Final

from msgspec.structs import replace

from mcp_bindgen.ir.resolve.scope import Resolving
from mcp_bindgen.ir.values.pattern_cost import longest
from mcp_bindgen.ir.values.patterns import ANY_NUMBER, ANY_TEXT, escape
from mcp_bindgen.limits import MAX_LITERALS
from mcp_bindgen.source import syntax

__all__ = ["pattern", "template"]

_KEYWORDS: Final = {
    "string": ANY_TEXT,
    "any": ANY_TEXT,
    "unknown": ANY_TEXT,
    "number": ANY_NUMBER,
    "boolean": "(?:true|false)",
    "null": "null",
    "undefined": "undefined",
}


def pattern(type: syntax.Template) -> str:
    """The regular expression of a resolved template, as in JSON Schema."""
    (body,) = type.parts
    assert isinstance(body, str)
    return f"^{body}$"


def template(scope: Resolving, type: syntax.Template) -> syntax.Type:
    """Turn a template with resolved types into a union of few literals, or into a pattern.

    The pattern is then its only part.
    """
    choices = [_texts(scope, part) for part in type.parts]
    lists = [texts for texts in choices if texts is not None]
    count = 1
    for texts in lists:
        count *= len(texts)
    if len(lists) == len(choices) and count <= MAX_LITERALS:
        words = dict.fromkeys("".join(texts) for texts in product(*lists))
        return scope.union_of([syntax.Literal(word, type.at) for word in words], type.at)
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
        return escape(part)
    arms = [_arm(scope, arm, at) for arm in scope.arms(part)]
    return arms[0] if len(arms) == 1 else f"(?:{'|'.join(arms)})"


def _arm(scope: Resolving, arm: syntax.Type, at: int) -> str:
    match arm:
        case syntax.Literal(value=value):
            return escape(_text(value))
        case syntax.Keyword(name=name) if name in _KEYWORDS:
            return _KEYWORDS[name]
        case syntax.Template(parts=(str() as body,)):
            return body
        case _:
            raise scope.error(
                at, "a template of what is not text", "Use string, number, boolean or literals."
            )
