"""Rules about declarations, constants, the classes of shapes, and informative tags."""

from __future__ import annotations

from typing import Final

from mcp_bindgen.compare.judge.rules.rule import Rule

__all__ = ["CONSTANT_RULES", "DECLARATION_RULES", "ERROR_RULES", "TAG_RULES", "UNREAD_RULES"]

DECLARATION_RULES: Final = (
    Rule(
        "DECLARATION_ADDED",
        ("declaration", "added", ""),
        asks="Is there a new declaration?",
        why="A declaration alone changes no message; what uses it has a finding of its own.",
        example="`Icon` at 2025-11-25",
    ),
    Rule(
        "DECLARATION_REMOVED",
        ("declaration", "removed", ""),
        asks="Was a declaration removed?",
        source="breaks",
        why="Its class is gone; what used it on the wire has a finding of its own.",
        example="`Task` at 2026-07-28",
        hint="Use the class that took its place, or the bindings of the old revision.",
    ),
    Rule(
        "DECLARATION_RENAMED",
        ("declaration", "renamed", ""),
        asks="Was a declaration renamed?",
        source="breaks",
        why="Names of declarations are not on the wire, but classes are named after them.",
        example="`JSONRPCError` → `JSONRPCErrorResponse` at 2025-11-25",
        hint="Import the new name.",
    ),
    Rule(
        "DECLARATION_REBASED",
        ("declaration", "rebased", ""),
        asks="Does a declaration extend another one, with the same members?",
        why="Only members are on the wire, wherever they are declared.",
        example="`extends Request` → `extends JSONRPCRequest`",
    ),
    Rule(
        "SHAPE_NAMED",
        ("shape", "named", ""),
        asks="Did an inline shape become a declaration?",
        why="The same members stand at the same place.",
        example="`CallToolRequestParams` at 2025-11-25",
    ),
    Rule(
        "SHAPE_INLINED",
        ("shape", "inlined", ""),
        asks="Did a declaration become an inline shape?",
        why="The same members stand at the same place.",
        example="`foo: Foo` → `foo: { … }`",
    ),
    Rule(
        "SHAPE_CLASS_RENAMED",
        ("shape", "renamed", ""),
        asks="Does the class of a shape have another name?",
        source="breaks",
        why="An inline shape names its class by its place, a declaration by its own name.",
        example="`Foo.bar` inline → `Bar` declared",
        hint="Import the new name.",
    ),
)

UNREAD_RULES: Final = (
    Rule(
        "DECLARATION_NOT_COMPARED",
        ("declaration", "unread", ""),
        asks="Does a declaration have a tag that cannot be bound?",
        new_refuses="some",
        old_refuses="some",
        why="Which values the tag leaves out is unknown; the rest of the types is compared.",
        example="`@minimum 0` on an array",
        hint="Mend the tag in the file, and compare again.",
    ),
)

CONSTANT_RULES: Final = (
    Rule(
        "CONSTANT_ADDED",
        ("constant", "added", ""),
        asks="Is there a new constant?",
        why="What uses it has a finding of its own.",
        example="`HEADER_MISMATCH` at 2026-07-28",
    ),
    Rule(
        "CONSTANT_REMOVED",
        ("constant", "removed", ""),
        asks="Was a constant removed?",
        source="breaks",
        why="Code that imports it fails.",
        example="`URL_ELICITATION_REQUIRED` at 2026-07-28",
        hint="Stop importing it; write the value where old peers still send it.",
    ),
    Rule(
        "CONSTANT_CHANGED",
        ("constant", "changed", ""),
        asks="Does a constant have another value?",
        source="if used",
        why="What uses its value on the wire has a finding of its own.",
        example="`LATEST_PROTOCOL_VERSION`",
    ),
)

ERROR_RULES: Final = (
    Rule(
        "ERROR_CODE_CHANGED",
        ("error", "code", ""),
        asks="Does an error have another code?",
        new_refuses="some",
        old_refuses="some",
        source="if used",
        why="An error of any code is read; what looks for the code of this one misses it.",
        example="`resources/read` answers -32602 in place of -32002 at 2026-07-28",
        hint="Look for both codes, as long as peers of both revisions are spoken to.",
    ),
)

TAG_RULES: Final = (
    Rule(
        "DEPRECATED",
        ("tag", "deprecated", ""),
        asks="Was something deprecated?",
        docs=True,
        why="It still works.",
        example="`ping` at 2026-07-28",
        hint="Plan to do without it.",
    ),
    Rule(
        "UNDEPRECATED",
        ("tag", "undeprecated", ""),
        asks="Is something no longer deprecated?",
        docs=True,
        why="It works as before.",
        example="`@deprecated` is deleted",
    ),
    Rule(
        "TAG_CHANGED",
        ("tag", "changed", ""),
        asks="Did another machine tag change?",
        docs=True,
        why="`@format`, `@default`, `@category` and `@internal` only inform.",
        example="`@category` at 2025-06-18",
    ),
)
