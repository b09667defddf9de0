"""Rules about methods."""

from __future__ import annotations

from typing import Final

from mcp_bindgen.compare.judge.rules.rule import Rule

__all__ = ["METHOD_RULES"]

METHOD_RULES: Final = (
    Rule(
        "METHOD_ADDED",
        ("method", "added", ""),
        asks="Is there a new method?",
        old_refuses="some",
        why="A peer of the old revision does not know it and answers with an error or ignores it.",
        example="`server/discover` at 2026-07-28",
        hint="Ask the peer for it only if it speaks the new revision, or offers the capability.",
    ),
    Rule(
        "METHOD_REMOVED",
        ("method", "removed", ""),
        asks="Was a method removed?",
        new_refuses="all",
        source="breaks",
        why="A peer of the new revision does not know it, and its message class is gone.",
        example="`ping` at 2026-07-28",
        hint="Do not send it to a peer of the new revision; look for what took its place.",
    ),
    Rule(
        "METHOD_DIRECTION_CHANGED",
        ("method", "direction", ""),
        asks="Is a method sent by another side, or in another way?",
        new_refuses="all",
        old_refuses="some",
        why="The side that sent it may no longer do so, or it now travels inside another message.",
        example="`roots/list` becomes an input request at 2026-07-28",
        hint="Decide by the revision that was agreed on who sends it, and how.",
    ),
    Rule(
        "METHOD_KIND_CHANGED",
        ("method", "kind", ""),
        asks="Did a request become a notification, or a notification a request?",
        new_refuses="all",
        old_refuses="all",
        source="breaks",
        why="One side waits for an answer that the other does not send.",
        example="`a/b` loses its answer",
        hint="Decide by the revision that was agreed on whether an answer is due.",
    ),
    Rule(
        "METHOD_CAPABILITY_CHANGED",
        ("method", "capability", ""),
        asks="Does a method need another capability?",
        why="The messages stay the same; only peers that offer the new capability are sent it.",
        example="`completion/complete` needs `completions` at 2025-03-26",
        hint="Offer the new capability, and look for it before you send the method.",
    ),
    Rule(
        "METHOD_RESULT_DECLARED",
        ("method", "result", "declared"),
        asks="Did a request get a declared result?",
        new_refuses="some",
        why="No schema said what the result was, so what old writers send may not fit.",
        example="`FooResult` is added, `FooRequest` was there",
    ),
    Rule(
        "METHOD_RESULT_UNDECLARED",
        ("method", "result", "undeclared"),
        asks="Did a request lose its declared result?",
        old_refuses="some",
        why="No schema says what the result is, so what new writers send may not fit.",
        example="`FooResult` is deleted, `FooRequest` stays",
    ),
)
