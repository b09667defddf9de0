"""Rules about types: of another kind, with other bounds, arms or literals."""

from __future__ import annotations

from typing import Final

from mcp_bindgen.compare.judge.rules.rule import Rule

__all__ = ["ARM_RULES", "BOUND_RULES", "NULL_RULES", "TYPE_RULES"]

NULL_RULES: Final = (
    Rule(
        "MEMBER_BECAME_NULLABLE",
        ("null", "added", ""),
        asks="May a value now be null?",
        old_refuses="some",
        source="breaks",
        why="Null is a value of its own, and old readers refuse it.",
        example="`ttl: number` → `ttl: number | null`",
    ),
    Rule(
        "MEMBER_NO_LONGER_NULLABLE",
        ("null", "removed", ""),
        asks="May a value no longer be null?",
        new_refuses="some",
        source="if used",
        why="Old writers may send null.",
        example="`ttl: number | null` → `ttl: number`",
    ),
)

TYPE_RULES: Final = (
    Rule(
        "TYPE_RESPELLED",
        ("type", "changed", "same"),
        asks="Is a type written in another way?",
        why="Both accept the same values, and the Python annotation means the same.",
        example="`object` → `{ [key: string]: unknown }`",
    ),
    Rule(
        "TYPE_CLASS_CHANGED",
        ("type", "changed", "class"),
        asks="Does the same JSON have another Python class?",
        source="breaks",
        why="Both accept the same values, but code that makes or reads them names other types.",
        example="`ClientCapabilities.sampling` at 2025-11-25: `object`, now with members",
    ),
    Rule(
        "TYPE_WIDENED",
        ("type", "changed", "widened"),
        asks="Does a type accept more than before?",
        old_refuses="some",
        source="breaks",
        why="Old readers refuse the new values, and code that reads them does not expect them.",
        example="`string` → `string[] | string`",
    ),
    Rule(
        "TYPE_NARROWED",
        ("type", "changed", "narrowed"),
        asks="Does a type accept less than before?",
        new_refuses="some",
        source="if used",
        why="New readers refuse some of what old writers send, and so do constructors.",
        example='`string` → `"a" | "b"`',
    ),
    Rule(
        "TYPE_CHANGED",
        ("type", "changed", "unrelated"),
        asks="Does a type accept some of the old values, and some new ones?",
        new_refuses="some",
        old_refuses="some",
        source="breaks",
        why="Each side accepts values that the other refuses.",
        example="`string | number` → `string | boolean`",
    ),
    Rule(
        "TYPE_REPLACED",
        ("type", "changed", "disjoint"),
        asks="Was a type replaced by one that has no value in common with it?",
        new_refuses="all",
        old_refuses="all",
        source="breaks",
        why="Each side refuses every value that the other sends there.",
        example="`string` → `number`",
    ),
)

BOUND_RULES: Final = (
    Rule(
        "BOUNDS_LOOSENED",
        ("bounds", "changed", "widened"),
        asks="Are bounds looser?",
        old_refuses="some",
        why="Old readers refuse values that only the new bounds admit.",
        example="`@maximum 1` → `@maximum 10`",
    ),
    Rule(
        "BOUNDS_TIGHTENED",
        ("bounds", "changed", "narrowed"),
        asks="Are bounds tighter?",
        new_refuses="some",
        why="New readers refuse values that only the old bounds admit; no type checker sees it.",
        example="`@minimum 0` is added",
    ),
    Rule(
        "BOUNDS_CHANGED",
        ("bounds", "changed", "unrelated"),
        asks="Did bounds change so that each side admits values that the other refuses?",
        new_refuses="some",
        old_refuses="some",
        why="Each side refuses some of what the other sends.",
        example="`@minimum 0` → `@maximum 9`",
    ),
    Rule(
        "NUMBER_BECAME_INTEGER",
        ("integer", "added", ""),
        asks="Must a number now be whole?",
        new_refuses="some",
        why="Old writers may send a fraction.",
        example="`@TJS-type integer` is added",
    ),
    Rule(
        "INTEGER_BECAME_NUMBER",
        ("integer", "removed", ""),
        asks="May a number now have a fraction?",
        old_refuses="some",
        why="Old readers refuse fractions; type checkers see no difference.",
        example="`@TJS-type integer` is deleted",
    ),
)

ARM_RULES: Final = (
    Rule(
        "ARM_ADDED",
        ("arm", "added", ""),
        asks="Did a union get another type?",
        old_refuses="some",
        source="if used",
        why="Old readers refuse it, and a match over the old types is no longer complete.",
        example="`AudioContent` at 2025-03-26",
    ),
    Rule(
        "ARM_REMOVED",
        ("arm", "removed", ""),
        asks="Did a union lose a type?",
        new_refuses="some",
        source="if used",
        why="Old writers may send it.",
        example="`JSONRPCBatchRequest` at 2025-06-18",
    ),
    Rule(
        "ARM_ADDED_COVERED",
        ("arm", "added", "covered"),
        asks="Did a union get a type whose values it accepted before?",
        source="if used",
        why="Another type of the union took the same values; only their class changes.",
        example="`ContentBlock` beside `unknown`",
    ),
    Rule(
        "ARM_REMOVED_COVERED",
        ("arm", "removed", "covered"),
        asks="Did a union lose a type whose values it still accepts?",
        source="if used",
        why="Another type of the union takes the same values; only their class changes.",
        example="`Foo | Bar` → `Bar`, which is wider",
    ),
    Rule(
        "LITERAL_ADDED",
        ("literal", "added", ""),
        asks="Is there a new literal?",
        old_refuses="some",
        source="if used",
        why="Old readers refuse it, and a match over the old literals is no longer complete.",
        example='`"tool"` joins `Role`',
    ),
    Rule(
        "LITERAL_REMOVED",
        ("literal", "removed", ""),
        asks="Was a literal removed?",
        new_refuses="some",
        source="if used",
        why="Old writers may send it.",
        example='`"assistant"` leaves `Role`',
    ),
    Rule(
        "LITERAL_ADDED_OPEN",
        ("literal", "added", "covered"),
        asks="Is there a new literal where any string was accepted?",
        why="Any string is accepted; the list only suggests.",
        example='`"toolUse"` of `stopReason` at 2025-11-25',
    ),
    Rule(
        "LITERAL_REMOVED_OPEN",
        ("literal", "removed", "covered"),
        asks="Was a literal removed where any string is accepted?",
        why="Any string is accepted; the list only suggests.",
        example='`"maxTokens"` leaves an open list',
    ),
)
