"""What the official changelogs tell of the schemas is found, and what breaks is told there or here.

Items are in our own words, in the order of each changelog; what they tell of transports,
authorization and manners is no matter of a schema.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cache
from itertools import pairwise
from typing import Final

import pytest

from mcp_bindgen import pins
from mcp_bindgen.compare.judge.verdicts import Finding, judge, severity
from tests.support.schemas import pinned

REVISIONS: Final = pins.revisions()

# Revision: item: the findings, as `RULE path`, in which `*` stands for any text.
# fmt: off
TOLD: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "2025-03-26": {
        "batches": ("ARM_ADDED JSONRPCMessage", "DECLARATION_ADDED JSONRPCBatch*"),
        "annotations of tools": ("MEMBER_ADDED_OPTIONAL Tool.annotations",
                                 "DECLARATION_ADDED ToolAnnotations"),
        "a message of progress": ("MEMBER_ADDED_OPTIONAL ProgressNotification.params.message",),
        "audio": ("DECLARATION_ADDED AudioContent", "ARM_ADDED CallToolResult.content*",
                  "ARM_ADDED PromptMessage.content", "ARM_ADDED SamplingMessage.content"),
        "the capability of completions": ("MEMBER_ADDED_OPTIONAL ServerCapabilities.completions",),
    },
    "2025-06-18": {
        "no batches": ("ARM_REMOVED JSONRPCMessage", "DECLARATION_REMOVED JSONRPCBatch*"),
        "structured output": ("MEMBER_ADDED_OPTIONAL CallToolResult.structuredContent",
                              "MEMBER_ADDED_OPTIONAL Tool.outputSchema"),
        "elicitation": ("METHOD_ADDED elicitation/create",
                        "MEMBER_ADDED_OPTIONAL ClientCapabilities.elicitation"),
        "resource links": ("DECLARATION_ADDED ResourceLink", "ARM_ADDED CallToolResult.content*",
                           "ARM_ADDED PromptMessage.content"),
        "_meta in more places": ("MEMBER_ADDED_OPTIONAL *._meta",),
        "the context of a completion": (
            "MEMBER_ADDED_OPTIONAL CompleteRequest.params.context",),
        "titles": ("MEMBER_ADDED_OPTIONAL *.title",),
    },
    "2025-11-25": {
        "icons": ("DECLARATION_ADDED Icon*", "MEMBER_ADDED_OPTIONAL *.icons"),
        "enums of elicitation": ("TYPE_WIDENED EnumSchema", "ARM_ADDED ElicitResult.content{}",
                                 "DECLARATION_ADDED *EnumSchema"),
        "elicitation by URL": ("TYPE_WIDENED ElicitRequestParams",
                               "DECLARATION_ADDED ElicitRequestURLParams",
                               "METHOD_ADDED notifications/elicitation/complete",
                               "CONSTANT_ADDED URL_ELICITATION_REQUIRED",
                               "TYPE_CLASS_CHANGED ClientCapabilities.elicitation"),
        "tools in sampling": ("MEMBER_ADDED_OPTIONAL CreateMessageRequestParams.tools",
                              "MEMBER_ADDED_OPTIONAL CreateMessageRequestParams.toolChoice",
                              "ARM_ADDED SamplingMessage.content",
                              "TYPE_CLASS_CHANGED ClientCapabilities.sampling",
                              "LITERAL_ADDED_OPEN CreateMessageResult.stopReason"),
        "tasks": ("METHOD_ADDED tasks/*", "METHOD_ADDED notifications/tasks/status",
                  "MEMBER_ADDED_OPTIONAL *.task*", "ARM_ADDED * result",
                  "MEMBER_ADDED_OPTIONAL Tool.execution",
                  "MEMBER_BECAME_OPTIONAL CancelledNotificationParams.requestId"),
        "the description of an implementation": (
            "MEMBER_ADDED_OPTIONAL Implementation.description",),
        "defaults of primitives": ("MEMBER_ADDED_OPTIONAL *Schema.default",),
        "the dialect of schemas": ("MEMBER_ADDED_OPTIONAL Tool.*Schema.$schema",),
        "params by name": ("SHAPE_NAMED *Params",),
    },
    "2026-07-28": {
        "no handshake": ("METHOD_REMOVED initialize", "METHOD_REMOVED notifications/initialized",
                         "*_REQUIRED *RequestParams._meta",
                         "MEMBER_ADDED_REQUIRED *._meta.*/protocolVersion",
                         "MEMBER_ADDED_REQUIRED *._meta.*/clientCapabilities",
                         "MEMBER_BECAME_REQUIRED *Request.params",
                         "TYPE_CLASS_CHANGED Result._meta"),
        "server/discover": ("METHOD_ADDED server/discover",),
        "subscriptions/listen": ("METHOD_ADDED subscriptions/listen",
                                 "METHOD_ADDED notifications/subscriptions/acknowledged",
                                 "METHOD_REMOVED resources/*subscribe"),
        "no ping, levels and changes of roots": (
            "METHOD_REMOVED ping", "METHOD_REMOVED logging/setLevel",
            "METHOD_REMOVED notifications/roots/list_changed",
            "MEMBER_REMOVED_OPTIONAL ClientCapabilities.roots.listChanged"),
        "tasks are an extension": ("METHOD_REMOVED tasks/*",
                                   "METHOD_REMOVED notifications/tasks/status",
                                   "ARM_REMOVED * result", "MEMBER_REMOVED_OPTIONAL *.task*",
                                   "MEMBER_REMOVED_OPTIONAL Tool.execution",
                                   "MEMBER_BECAME_REQUIRED CancelledNotificationParams.requestId"),
        "input is required": ("METHOD_DIRECTION_CHANGED roots/list",
                              "METHOD_DIRECTION_CHANGED sampling/createMessage",
                              "METHOD_DIRECTION_CHANGED elicitation/create",
                              "ARM_ADDED * result", "DECLARATION_ADDED InputRe*",
                              "MEMBER_ADDED_OPTIONAL *.inputResponses",
                              "MEMBER_ADDED_OPTIONAL *.requestState"),
        "the type of a result": ("MEMBER_ADDED_REQUIRED Result.resultType",),
        "extensions": ("MEMBER_ADDED_OPTIONAL *Capabilities.extensions",),
        "how long results are fresh": ("MEMBER_ADDED_REQUIRED *Result.ttlMs",
                                       "MEMBER_ADDED_REQUIRED *Result.cacheScope",
                                       "DECLARATION_ADDED CacheableResult"),
        "any JSON Schema, any structured content": (
            "MEMBER_REMOVED_CONST Tool.outputSchema.type", "INDEX_ADDED Tool.*Schema{}",
            "MEMBER_REMOVED_OPTIONAL Tool.*Schema.*", "TYPE_BECAME_UNKNOWN *.structuredContent"),
        "no completion of elicitations": (
            "METHOD_REMOVED notifications/elicitation/complete",
            "MEMBER_REMOVED_REQUIRED ElicitRequestURLParams.elicitationId"),
        "codes of errors": ("CONSTANT_ADDED HEADER_MISMATCH",
                            "CONSTANT_ADDED MISSING_REQUIRED_CLIENT_CAPABILITY",
                            "CONSTANT_ADDED UNSUPPORTED_PROTOCOL_VERSION",
                            "CONSTANT_REMOVED URL_ELICITATION_REQUIRED"),
        "roots, sampling and logging are deprecated": (
            "DEPRECATED *Root*", "DEPRECATED *CreateMessage*", "DEPRECATED *Logging*"),
        "includeContext is deprecated": (
            "DEPRECATED CreateMessageRequestParams.includeContext",),
    },
}

LEFT_OUT: Final[dict[str, dict[str, str]]] = {
    "2025-11-25": {
        "TYPE_WIDENED JSONRPCResponse": "a response is either of two shapes, and was but one",
        "MEMBER_BECAME_OPTIONAL JSONRPCErrorResponse.id": "an error may lack the id",
    },
    "2026-07-28": {
        "METHOD_DIRECTION_CHANGED notifications/progress": "clients are asked nothing now",
        "BOUNDS_TIGHTENED CompleteResult.completion.values": "100 values, as the page always said",
    },
}
"""What breaks somebody on the wire, and no changelog tells of; with what it is."""
# fmt: on


@cache
def findings(revision: str) -> tuple[Finding, ...]:
    older = {new: old for old, new in pairwise(REVISIONS)}
    return judge(pinned(older[revision]), pinned(revision))


def matching(pattern: str, revision: str) -> list[Finding]:
    literal = pattern.replace("[", "[[]")
    return [f for f in findings(revision) if fnmatchcase(named(f), literal)]


def named(finding: Finding) -> str:
    return f"{finding.rule.id} {finding.change.path}"


@pytest.mark.parametrize(
    ("revision", "item"), [(revision, item) for revision, items in TOLD.items() for item in items]
)
def test_what_a_changelog_tells_is_found(revision: str, item: str) -> None:
    assert [p for p in TOLD[revision][item] if not matching(p, revision)] == []


@pytest.mark.parametrize("revision", TOLD)
def test_what_breaks_on_the_wire_is_told_or_listed_as_left_out(revision: str) -> None:
    left_out = LEFT_OUT.get(revision, {})
    announced = [pattern for patterns in TOLD[revision].values() for pattern in patterns]
    known = {id(f) for pattern in (*announced, *left_out) for f in matching(pattern, revision)}
    breaking = [
        finding
        for finding in findings(revision)
        if severity(finding, ("client", "server")) in ("breaking", "dangerous")
    ]
    assert [named(f) for f in breaking if id(f) not in known] == []
    assert [pattern for pattern in left_out if not matching(pattern, revision)] == []


def test_thirteen_methods_leave_and_three_arrive_at_2026_07_28() -> None:
    rules = [finding.rule.id for finding in findings("2026-07-28")]
    assert (rules.count("METHOD_REMOVED"), rules.count("METHOD_ADDED")) == (13, 3)
