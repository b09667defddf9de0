"""Rules about lists of tools, prompts and resources, and about the rows of an ignore file."""

from __future__ import annotations

from typing import Final

from mcp_bindgen.compare.judge.rules.rule import Rule

__all__ = ["IGNORE_RULES", "ITEM_RULES", "TOOL_RULES"]

TOOL_RULES: Final = (
    Rule(
        "TOOL_ADDED",
        ("tool", "added", ""),
        asks="Is there a new tool?",
        old_refuses="some",
        why="A server of the old side does not have it and answers with an error.",
        example="`get-sum` joins the list",
        hint="Call it only if the server lists it.",
    ),
    Rule(
        "TOOL_REMOVED",
        ("tool", "removed", ""),
        asks="Was a tool removed?",
        new_refuses="all",
        source="breaks",
        why="A server of the new side answers a call of it with an error.",
        example="`get-sum` leaves the list, or is renamed",
        hint="Stop calling it, or keep the tool as a deprecated alias.",
    ),
    Rule(
        "TOOL_OUTPUT_ADDED",
        ("tool", "output added", ""),
        asks="Did a tool get an output schema?",
        new_refuses="all",
        why="A server of the old side sends no structured content, and new clients require it.",
        example="`outputSchema` is added",
        hint="Deploy servers before clients, so that no new client meets an old server.",
    ),
    Rule(
        "TOOL_OUTPUT_REMOVED",
        ("tool", "output removed", ""),
        asks="Did a tool lose its output schema?",
        old_refuses="all",
        source="breaks",
        why="A server of the new side may send no structured content, and old clients require it.",
        example="`outputSchema` is deleted",
        hint="Deploy clients before servers, or go on sending structured content.",
    ),
    Rule(
        "TOOL_EXECUTION_CHANGED",
        ("tool", "execution", ""),
        asks="Did it change whether a tool may, or must, be called as a task?",
        new_refuses="some",
        old_refuses="some",
        why="Where one side forbids tasks, or requires them, it may refuse calls of the other.",
        example='`execution.taskSupport`: `"optional"` → `"required"`',
        hint="Look at `execution` of the listed tool before you call it.",
    ),
    Rule(
        "TOOL_META_CHANGED",
        ("tool", "meta", ""),
        asks="Did another member of a tool, prompt, resource or template change?",
        docs=True,
        why="Icons, `_meta` and the like change no call.",
        example="`icons` of a tool",
    ),
    Rule(
        "TOOL_ANNOTATION_CHANGED",
        ("tool", "annotation", ""),
        asks="Did an annotation of a tool or resource change?",
        docs=True,
        why="Hints are not a promise, but hosts read them to decide whether to ask the user.",
        example="`readOnlyHint` of a tool",
    ),
    Rule(
        "TOOL_TEXT_CHANGED",
        ("tool", "text", ""),
        asks="Does a tool, prompt, resource or template have another title or description?",
        docs=True,
        why="Models read it; no validator does.",
        example="a tool's `description`",
    ),
    Rule(
        "TOOL_SCHEMA_UNREAD",
        ("tool", "unread", ""),
        asks="Did a part of a tool's schema change that cannot be judged?",
        new_refuses="some",
        old_refuses="some",
        source="if used",
        why="A keyword that is not interpreted differs: each side may refuse what the other sends.",
        example="`pattern` of a property",
        hint="Read both schemas and decide for yourself; a row of an --ignore file records it.",
    ),
)

_ITEMS: Final = {
    "prompt": ("Get it", "getting it", "`greet`"),
    "resource": ("Read it", "reading it", "`config://app`"),
    "template": ("Read by it", "reading by it", "`logs://{day}`"),
}


def _of_item(kind: str, do: str, doing: str, example: str) -> tuple[Rule, Rule]:
    """The rules for an item of a list that is there on one side only."""
    return (
        Rule(
            f"{kind.upper()}_ADDED",
            (kind, "added", ""),
            asks=f"Is there a new {kind}?",
            old_refuses="some",
            why="A server of the old side does not have it and answers with an error.",
            example=f"{example} joins the list",
            hint=f"{do} only if the server lists it.",
        ),
        Rule(
            f"{kind.upper()}_REMOVED",
            (kind, "removed", ""),
            asks=f"Was a {kind} removed?",
            new_refuses="all",
            source="breaks",
            why="A server of the new side answers a request for it with an error.",
            example=f"{example} leaves the list, or is renamed",
            hint=f"Stop {doing}, or keep the {kind} beside the new one.",
        ),
    )


ITEM_RULES: Final = tuple(rule for kind, row in _ITEMS.items() for rule in _of_item(kind, *row))

IGNORE_RULES: Final = (
    Rule(
        "IGNORE_UNUSED",
        ("ignore", "unused", ""),
        asks="Does a row of the ignore file hide nothing?",
        docs=True,
        why="What it hid is gone, or it never matched. Delete the row.",
        example="a row for a path that does not exist",
    ),
    Rule(
        "IGNORE_EXPIRED",
        ("ignore", "expired", ""),
        asks="Is a row of the ignore file past its date?",
        docs=True,
        why="It no longer hides anything. Renew or delete the row.",
        example='until = "2026-01-01"',
    ),
)
