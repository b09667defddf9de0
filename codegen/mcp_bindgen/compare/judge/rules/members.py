"""Rules about members of objects: of any shape, of the envelope, and unnamed ones."""

from __future__ import annotations

from typing import Final

from mcp_bindgen.compare.judge.rules.rule import Rule

__all__ = ["ENVELOPE_RULES", "INDEX_RULES", "MEMBER_RULES"]

MEMBER_RULES: Final = (
    Rule(
        "MEMBER_ADDED_REQUIRED",
        ("member", "added", "required"),
        asks="Is there a new required member?",
        new_refuses="all",
        source="breaks",
        why="Old writers never write it, and constructor calls do not pass it.",
        example="`CacheableResult.ttlMs` at 2026-07-28",
        hint="Always write it. To keep old peers, make it optional or fill in a default.",
    ),
    Rule(
        "MEMBER_ADDED_CONST",
        ("member", "added", "const"),
        asks="Is there a new required member that has one possible value?",
        new_refuses="all",
        why="Old writers never write it; the Python class sets it by itself.",
        example='`kind: "x"` is added',
        hint="Let readers that meet old peers fill it in.",
    ),
    Rule(
        "MEMBER_ADDED_OPTIONAL",
        ("member", "added", "optional"),
        asks="Is there a new optional member?",
        why=(
            "Readers admit members that they do not know, and members that are absent. A peer that "
            "used the name for something of its own is refused, but no schema told it to use it."
        ),
        example="`Tool.icons` at 2025-11-25",
    ),
    Rule(
        "MEMBER_ADDED_CLOSED",
        ("member", "added", "closed"),
        asks="Is there a new optional member where the old shape restricts unlisted members?",
        old_refuses="some",
        why="The old shape says what unlisted members must be, and the new member is not that.",
        example="`[key: string]: string` and `size?: number`",
        hint="Write it only to peers of the new side, or open the old shape first.",
    ),
    Rule(
        "MEMBER_ADDED_REQUIRED_CLOSED",
        ("member", "added", "required closed"),
        asks="Is there a new required member where the old shape restricts unlisted members?",
        new_refuses="all",
        old_refuses="all",
        source="breaks",
        why="Old writers never write it, and old readers refuse it where it stands.",
        example="`[key: string]: string` and `size: number`",
        hint="Old and new peers cannot meet here: convert between them.",
    ),
    Rule(
        "MEMBER_REMOVED_REQUIRED",
        ("member", "removed", "required"),
        asks="Was a required member removed?",
        old_refuses="all",
        source="breaks",
        why="New writers no longer write it, and old readers require it.",
        example="`protocolVersion` is deleted",
        hint="Go on writing it for old peers: new readers admit it.",
    ),
    Rule(
        "MEMBER_REMOVED_REQUIRED_CLOSED",
        ("member", "removed", "required closed"),
        asks="Was a required member removed where the new shape restricts unlisted members?",
        new_refuses="all",
        old_refuses="all",
        source="breaks",
        why="New writers no longer write it, and new readers refuse it where it stands.",
        example="`size: number` is deleted beside `[key: string]: string`",
        hint="Old and new peers cannot meet here: convert between them.",
    ),
    Rule(
        "MEMBER_REMOVED_CONST",
        ("member", "removed", "const"),
        asks="Was a required member removed that had one possible value?",
        old_refuses="all",
        source="breaks",
        why="New writers no longer write it, old readers require it, and the attribute is gone.",
        example='`kind: "x"` is deleted',
        hint="Go on writing it for old peers: new readers admit it.",
    ),
    Rule(
        "MEMBER_REMOVED_OPTIONAL",
        ("member", "removed", "optional"),
        asks="Was an optional member removed?",
        source="breaks",
        why="Old readers do not require it and new readers admit it unread; the attribute is gone.",
        example="`Tool.execution` at 2026-07-28",
        hint="Stop reading it; peers of the new side do not send it.",
    ),
    Rule(
        "MEMBER_REMOVED_CLOSED",
        ("member", "removed", "closed"),
        asks="Was an optional member removed where the new shape restricts unlisted members?",
        new_refuses="some",
        source="breaks",
        why="The new shape says what unlisted members must be, and the old member is not that.",
        example="`size?: number` is deleted beside `[key: string]: string`",
        hint="Stop writing it, or open the new shape.",
    ),
    Rule(
        "MEMBER_BECAME_REQUIRED",
        ("member", "became", "required"),
        asks="Did an optional member become required?",
        new_refuses="all",
        source="breaks",
        why="An old writer may leave it out, and a new reader must then refuse the message.",
        example="`RequestParams._meta` at 2026-07-28",
        hint="Always write it. To keep old peers, leave it optional or fill in a default.",
    ),
    Rule(
        "MEMBER_BECAME_OPTIONAL",
        ("member", "became", "optional"),
        asks="Did a required member become optional?",
        old_refuses="all",
        source="breaks",
        why="A new writer may leave it out, and code that reads it does not expect that.",
        example="`CancelledNotificationParams.requestId` at 2025-11-25",
        hint="Read it as if it may be absent; go on writing it for old peers.",
    ),
    Rule(
        "MEMBER_MOVED",
        ("member", "moved", ""),
        asks="Is a member now declared by a base, or no longer by one?",
        why="It stands at the same place of the same message.",
        example="`Tool.name` moves to `BaseMetadata` at 2025-06-18",
    ),
    Rule(
        "MEMBER_PYTHON_NAME",
        ("member", "python name", ""),
        asks="Does the Python attribute of a member have another name?",
        source="breaks",
        why="The name on the wire stays; code that uses the attribute fails.",
        example="a `[[name]]` row",
    ),
)

ENVELOPE_RULES: Final = (
    Rule(
        "ENVELOPE_NOT_COMPARED",
        ("envelope", "uncompared", ""),
        asks="Does only one schema declare the shape around messages of a role?",
        new_refuses="some",
        old_refuses="some",
        why="Whether the other side reads such messages cannot be compared by the types.",
        example="`JSONRPCNotification` is deleted, and nothing has its role",
        hint="Compare what the pages of both revisions say of it.",
    ),
    Rule(
        "ENVELOPE_MEMBER_ADDED",
        ("envelope", "added", "given"),
        asks="Does a message now declare a member of its JSON-RPC envelope?",
        source="breaks",
        why="It was on the wire before; the constructor now requires it.",
        example="`CallToolRequest.id` at 2025-11-25",
    ),
    Rule(
        "ENVELOPE_CONST_ADDED",
        ("envelope", "added", "const"),
        asks="Does a message now declare a constant member of its JSON-RPC envelope?",
        why="It was on the wire before; the Python class sets it by itself.",
        example="`CallToolRequest.jsonrpc` at 2025-11-25",
    ),
    Rule(
        "ENVELOPE_MEMBER_REMOVED",
        ("envelope", "removed", "given"),
        asks="Does a message no longer declare a member of its JSON-RPC envelope?",
        source="breaks",
        why="The envelope still has it, or the message now travels inside another one.",
        example="`ElicitRequest.id` at 2026-07-28",
    ),
    Rule(
        "ENVELOPE_CONST_REMOVED",
        ("envelope", "removed", "const"),
        asks="Does a message no longer declare a constant member of its JSON-RPC envelope?",
        source="if used",
        why="The envelope still has it; only code that reads the attribute fails.",
        example="`ElicitRequest.jsonrpc` at 2026-07-28",
    ),
)

INDEX_RULES: Final = (
    Rule(
        "INDEX_ADDED",
        ("index", "added", ""),
        asks="Does a shape now say that it may have other members?",
        why="It could have them before: readers admit members that they do not know.",
        example="`[key: string]: unknown` is added",
    ),
    Rule(
        "INDEX_REMOVED",
        ("index", "removed", ""),
        asks="Does a shape no longer say that it may have other members?",
        why="It still can have them: readers admit members that they do not know.",
        example="`[key: string]: unknown` is deleted",
    ),
)
