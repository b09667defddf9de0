"""The rules: one row for each kind of change, with an id that stays for ever.

A row says what readers refuse of what writers of the other side send at the place of the change,
and whether Python source written against the old bindings still type-checks. Whom that concerns
follows from the ways that the place travels, which is the judge's part.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final, Literal, TypeAlias

from mcp_bindgen.diff.changes import Key
from mcp_bindgen.errors import InputError

__all__ = ["BY_KEY", "RULES", "Refuses", "Rule", "Verdict", "rule"]

Refuses: TypeAlias = Literal["nothing", "some", "all"]
Verdict: TypeAlias = Literal["holds", "if used", "breaks"]


@dataclass(frozen=True, slots=True)
class Rule:
    """`new_refuses` is what new readers refuse of what old writers send there: nothing, some, or
    even the plainest message (all); `old_refuses` is the reverse. `source` says whether Python
    source still type-checks; `docs` marks what only informs."""

    id: str
    key: Key
    asks: str
    why: str
    example: str
    new_refuses: Refuses = "nothing"
    old_refuses: Refuses = "nothing"
    source: Verdict = "holds"
    docs: bool = False


_ROWS: Final = (
    Rule(
        "METHOD_ADDED",
        ("method", "added", ""),
        asks="Is there a new method?",
        old_refuses="some",
        why="A peer of the old revision does not know it, and answers with an error or ignores it.",
        example="`server/discover` at 2026-07-28",
    ),
    Rule(
        "METHOD_REMOVED",
        ("method", "removed", ""),
        asks="Is a method gone?",
        new_refuses="all",
        source="breaks",
        why="A peer of the new revision does not know it; the message's class is gone too.",
        example="`ping` at 2026-07-28",
    ),
    Rule(
        "METHOD_DIRECTION_CHANGED",
        ("method", "direction", ""),
        asks="Is it sent another way?",
        new_refuses="all",
        old_refuses="some",
        why="Who sent it may no longer, or it now travels inside another message.",
        example="`roots/list` becomes an input request at 2026-07-28",
    ),
    Rule(
        "METHOD_KIND_CHANGED",
        ("method", "kind", ""),
        asks="Did a request become a notification, or the reverse?",
        new_refuses="all",
        old_refuses="all",
        source="breaks",
        why="One side waits for an answer that the other does not send.",
        example="`a/b` loses its answer",
    ),
    Rule(
        "METHOD_CAPABILITY_CHANGED",
        ("method", "capability", ""),
        asks="Does it need another capability?",
        why="The messages stay the same; a peer that does not offer the capability is not asked.",
        example="`completion/complete` needs `completions` at 2025-03-26",
    ),
    Rule(
        "METHOD_RESULT_CHANGED",
        ("method", "result", ""),
        asks="Is a request's result declared now, or no more?",
        new_refuses="some",
        old_refuses="some",
        why="Nothing says what the undeclared result was, so nothing says that it still fits.",
        example="`FooResult` is deleted, `FooRequest` stays",
    ),
    Rule(
        "DECLARATION_ADDED",
        ("declaration", "added", ""),
        asks="Is there a new declaration?",
        why="By itself it changes no message; what uses it has its own finding.",
        example="`Icon` at 2025-11-25",
    ),
    Rule(
        "DECLARATION_REMOVED",
        ("declaration", "removed", ""),
        asks="Is a declaration gone?",
        source="breaks",
        why="What used it has its own finding; the class is gone.",
        example="`Task` at 2026-07-28",
    ),
    Rule(
        "DECLARATION_RENAMED",
        ("declaration", "renamed", ""),
        asks="Has a declaration another name?",
        source="breaks",
        why="Names of declarations are not on the wire, but classes are called after them.",
        example="`JSONRPCError` → `JSONRPCErrorResponse` at 2025-11-25",
    ),
    Rule(
        "DECLARATION_REBASED",
        ("declaration", "rebased", ""),
        asks="Does it extend something else, with the same members?",
        why="Members count, wherever they are declared.",
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
        asks="Is the class of a shape called otherwise?",
        source="breaks",
        why="An inline shape's class is called after its place, a declaration's after itself.",
        example="`Foo.bar` inline → `Bar` declared",
    ),
    Rule(
        "MEMBER_ADDED_REQUIRED",
        ("member", "added", "required"),
        asks="Is there a new required member?",
        new_refuses="all",
        source="breaks",
        why="Old writers never write it, and constructor calls lack it.",
        example="`CacheableResult.ttlMs` at 2026-07-28",
    ),
    Rule(
        "MEMBER_ADDED_CONST",
        ("member", "added", "const"),
        asks="Is there a new member with one value?",
        new_refuses="all",
        why="Old writers never write it; the class sets it by itself.",
        example='`kind: "x"` is added',
    ),
    Rule(
        "MEMBER_ADDED_OPTIONAL",
        ("member", "added", "optional"),
        asks="Is there a new optional member?",
        why=(
            "Unknown members are admitted, absent ones too. A peer that used the name for "
            "something of its own (a squatter) is refused, but no schema told it to."
        ),
        example="`Tool.icons` at 2025-11-25",
    ),
    Rule(
        "MEMBER_ADDED_CLOSED",
        ("member", "added", "closed"),
        asks="Is there a new optional member where others are refused?",
        old_refuses="some",
        why="The old shape says what unlisted members must be, and the new member is not that.",
        example="`[key: string]: string` and `size?: number`",
    ),
    Rule(
        "MEMBER_REMOVED_REQUIRED",
        ("member", "removed", "required"),
        asks="Is a required member gone?",
        old_refuses="all",
        source="breaks",
        why="New writers no longer write it, and old readers wait for it.",
        example="`protocolVersion` is deleted",
    ),
    Rule(
        "MEMBER_REMOVED_CONST",
        ("member", "removed", "const"),
        asks="Is a member with one value gone?",
        old_refuses="all",
        source="breaks",
        why="New writers no longer write it; code that reads it finds nothing.",
        example='`kind: "x"` is deleted',
    ),
    Rule(
        "MEMBER_REMOVED_OPTIONAL",
        ("member", "removed", "optional"),
        asks="Is an optional member gone?",
        source="breaks",
        why="Old readers did not need it, new ones admit it unread; the attribute is gone.",
        example="`Tool.execution` at 2026-07-28",
    ),
    Rule(
        "MEMBER_REMOVED_CLOSED",
        ("member", "removed", "closed"),
        asks="Is an optional member gone where others are refused?",
        new_refuses="some",
        source="breaks",
        why="The new shape says what unlisted members must be, and the old member is not that.",
        example="`size?: number` is deleted beside `[key: string]: string`",
    ),
    Rule(
        "MEMBER_BECAME_REQUIRED",
        ("member", "became", "required"),
        asks="Must a member now be present?",
        new_refuses="all",
        source="breaks",
        why="An old writer may leave it out, and a new reader must then refuse the message.",
        example="`RequestParams._meta` at 2026-07-28",
    ),
    Rule(
        "MEMBER_BECAME_OPTIONAL",
        ("member", "became", "optional"),
        asks="May a member now be absent?",
        old_refuses="all",
        source="breaks",
        why="A new writer may leave it out, and code that reads it does not expect that.",
        example="`CancelledNotificationParams.requestId` at 2025-11-25",
    ),
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
    Rule(
        "MEMBER_MOVED",
        ("member", "moved", ""),
        asks="Is a member declared elsewhere, to or from a base?",
        why="It stands at the same place of the same message.",
        example="`Tool.name` moves to `BaseMetadata` at 2025-06-18",
    ),
    Rule(
        "MEMBER_PYTHON_NAME",
        ("member", "python name", ""),
        asks="Is the attribute called otherwise?",
        source="breaks",
        why="The wire name stays.",
        example="a `[[name]]` row",
    ),
    Rule(
        "ENVELOPE_MEMBER_ADDED",
        ("envelope", "added", "given"),
        asks="Does a message now declare a member of its envelope?",
        source="breaks",
        why="It was on the wire anyway; the constructor asks for it now.",
        example="`CallToolRequest.id` at 2025-11-25",
    ),
    Rule(
        "ENVELOPE_CONST_ADDED",
        ("envelope", "added", "const"),
        asks="Does a message now declare a member of its envelope that has one value?",
        why="It was on the wire anyway; the class sets it by itself.",
        example="`CallToolRequest.jsonrpc` at 2025-11-25",
    ),
    Rule(
        "ENVELOPE_MEMBER_REMOVED",
        ("envelope", "removed", "given"),
        asks="Does a message no longer declare a member of its envelope?",
        source="breaks",
        why="The envelope is around it still, or it travels inside another message.",
        example="`ElicitRequest.id` at 2026-07-28",
    ),
    Rule(
        "ENVELOPE_CONST_REMOVED",
        ("envelope", "removed", "const"),
        asks="Does a message no longer declare a member of its envelope that has one value?",
        source="if used",
        why="The envelope is around it still; only code that reads the attribute misses it.",
        example="`ElicitRequest.jsonrpc` at 2026-07-28",
    ),
    Rule(
        "INDEX_ADDED",
        ("index", "added", ""),
        asks="Does a shape now say that other members may stand in it?",
        why="They could before.",
        example="`[key: string]: unknown` is added",
    ),
    Rule(
        "INDEX_REMOVED",
        ("index", "removed", ""),
        asks="Does a shape no longer say that?",
        why="They still can: unknown members are admitted everywhere.",
        example="`[key: string]: unknown` is deleted",
    ),
    Rule(
        "TYPE_RESPELLED",
        ("type", "changed", "same"),
        asks="Is a type written otherwise?",
        why="Both accept the same, and the annotation means the same.",
        example="`object` → `{ [key: string]: unknown }`",
    ),
    Rule(
        "TYPE_CLASS_CHANGED",
        ("type", "changed", "class"),
        asks="Is the same JSON of another class?",
        source="breaks",
        why="Both accept the same, but code that makes or reads the value names other types.",
        example="`ClientCapabilities.sampling` at 2025-11-25: `object`, now with members",
    ),
    Rule(
        "TYPE_WIDENED",
        ("type", "changed", "widened"),
        asks="Does a type take more than before?",
        old_refuses="some",
        source="breaks",
        why="Old readers refuse what is new, and code that reads the value does not expect it.",
        example="`string` → `unknown`",
    ),
    Rule(
        "TYPE_NARROWED",
        ("type", "changed", "narrowed"),
        asks="Does a type take less than before?",
        new_refuses="some",
        source="if used",
        why="New readers refuse some of what old writers send, and so do constructors.",
        example='`string` → `"a" | "b"`',
    ),
    Rule(
        "TYPE_CHANGED",
        ("type", "changed", "unrelated"),
        asks="Does a type take some of what it took, and something else?",
        new_refuses="some",
        old_refuses="some",
        source="breaks",
        why="Each side accepts what the other refuses.",
        example="`string | number` → `string | boolean`",
    ),
    Rule(
        "TYPE_REPLACED",
        ("type", "changed", "disjoint"),
        asks="Is a type another one, with nothing in common?",
        new_refuses="all",
        old_refuses="all",
        source="breaks",
        why="Each side refuses all that the other sends there.",
        example="`string` → `number`",
    ),
    Rule(
        "BOUNDS_LOOSENED",
        ("bounds", "changed", "widened"),
        asks="Are bounds looser?",
        old_refuses="some",
        why="Old readers refuse what lies between.",
        example="`@maximum 1` → `@maximum 10`",
    ),
    Rule(
        "BOUNDS_TIGHTENED",
        ("bounds", "changed", "narrowed"),
        asks="Are bounds tighter?",
        new_refuses="some",
        why="New readers refuse what lies between; no type checker sees bounds.",
        example="`@minimum 0` is added",
    ),
    Rule(
        "BOUNDS_CHANGED",
        ("bounds", "changed", "unrelated"),
        asks="Are bounds others?",
        new_refuses="some",
        old_refuses="some",
        why="Each side refuses some of what the other sends.",
        example="`@minimum 0` → `@maximum 9`",
    ),
    Rule(
        "NUMBER_BECAME_INTEGER",
        ("integer", "added", ""),
        asks="Must a number be whole?",
        new_refuses="some",
        source="if used",
        why="Old writers may send a fraction.",
        example="`@TJS-type integer` is added",
    ),
    Rule(
        "INTEGER_BECAME_NUMBER",
        ("integer", "removed", ""),
        asks="May a number have a fraction?",
        old_refuses="some",
        source="breaks",
        why="Old readers refuse fractions, and code that reads the value expects an int.",
        example="`@TJS-type integer` is deleted",
    ),
    Rule(
        "ARM_ADDED",
        ("arm", "added", ""),
        asks="May another type stand there?",
        old_refuses="some",
        source="if used",
        why="Old readers refuse it, and a match over the old types is no longer complete.",
        example="`AudioContent` at 2025-03-26",
    ),
    Rule(
        "ARM_REMOVED",
        ("arm", "removed", ""),
        asks="May a type no longer stand there?",
        new_refuses="some",
        source="if used",
        why="Old writers may send it.",
        example="`JSONRPCBatchRequest` at 2025-06-18",
    ),
    Rule(
        "ARM_ADDED_COVERED",
        ("arm", "added", "covered"),
        asks="Is a type listed that was accepted before?",
        source="if used",
        why="Another arm took the same values; only their class changes.",
        example="`ContentBlock` beside `unknown`",
    ),
    Rule(
        "ARM_REMOVED_COVERED",
        ("arm", "removed", "covered"),
        asks="Is a type no longer listed, but accepted still?",
        source="if used",
        why="Another arm takes the same values; only their class changes.",
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
        asks="Is a literal gone?",
        new_refuses="some",
        source="if used",
        why="Old writers may send it.",
        example='`"assistant"` leaves `Role`',
    ),
    Rule(
        "LITERAL_ADDED_OPEN",
        ("literal", "added", "covered"),
        asks="Is there a new literal where any string was admitted?",
        why="Any string is accepted; the list only suggests.",
        example='`"toolUse"` of `stopReason` at 2025-11-25',
    ),
    Rule(
        "LITERAL_REMOVED_OPEN",
        ("literal", "removed", "covered"),
        asks="Is a literal gone where any string is admitted?",
        why="Any string is accepted; the list only suggests.",
        example='`"maxTokens"` leaves an open list',
    ),
    Rule(
        "CONSTANT_ADDED",
        ("constant", "added", ""),
        asks="Is there a new constant?",
        why="What uses it has its own finding.",
        example="`HEADER_MISMATCH` at 2026-07-28",
    ),
    Rule(
        "CONSTANT_REMOVED",
        ("constant", "removed", ""),
        asks="Is a constant gone?",
        source="breaks",
        why="Code that names it finds nothing.",
        example="`URL_ELICITATION_REQUIRED` at 2026-07-28",
    ),
    Rule(
        "CONSTANT_CHANGED",
        ("constant", "changed", ""),
        asks="Has a constant another value?",
        source="if used",
        why="What its value means on the wire is said where it is used.",
        example="`LATEST_PROTOCOL_VERSION`",
    ),
    Rule(
        "DEPRECATED",
        ("tag", "deprecated", ""),
        asks="Is it deprecated now?",
        docs=True,
        why="It works still.",
        example="`ping` at 2026-07-28",
    ),
    Rule(
        "UNDEPRECATED",
        ("tag", "undeprecated", ""),
        asks="Is it no longer deprecated?",
        docs=True,
        why="It works as before.",
        example="`@deprecated` is deleted",
    ),
    Rule(
        "TAG_CHANGED",
        ("tag", "changed", ""),
        asks="Is another machine tag different?",
        docs=True,
        why="`@format`, `@default`, `@category` and `@internal` inform only.",
        example="`@category` at 2025-06-18",
    ),
    Rule(
        "TOOL_ANNOTATION_CHANGED",
        ("tool", "annotation", ""),
        asks="Has a tool other annotations?",
        docs=True,
        why="Hints are no promise, but what asks before a destructive call reads them.",
        example="`readOnlyHint` of a tool",
    ),
    Rule(
        "TOOL_TEXT_CHANGED",
        ("tool", "text", ""),
        asks="Has a tool another title or description?",
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
        why="A keyword that we do not interpret differs, so neither side is known to hold.",
        example="`pattern` of a property",
    ),
    Rule(
        "IGNORE_UNUSED",
        ("ignore", "unused", ""),
        asks="Does an ignore row hide nothing?",
        docs=True,
        why="What it hid is gone, or it never matched.",
        example="a row for a path that is not there",
    ),
    Rule(
        "IGNORE_EXPIRED",
        ("ignore", "expired", ""),
        asks="Is an ignore row past its date?",
        docs=True,
        why="It hides nothing any more.",
        example='until = "2026-01-01"',
    ),
)

RULES: Final[dict[str, Rule]] = {row.id: row for row in _ROWS}
BY_KEY: Final[dict[Key, Rule]] = {row.key: row for row in _ROWS}


def rule(id: str) -> Rule:
    """The rule with that id. Raises InputError, naming those close to it."""
    found = RULES.get(id.upper())
    if found is None:
        near = get_close_matches(id.upper(), RULES, n=3)
        raise InputError(
            f"no rule is called {id!r}",
            remedy=f"Close to it: {', '.join(near)}."
            if near
            else "`mcp-bindgen diff --explain` lists all.",
        )
    return found
