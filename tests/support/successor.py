"""Made-up revisions after the newest one, and the answers to what generation asks about them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

from tests.support.successor_data_model import WIRE_ROWS, data_model, in_files
from tests.support.successor_texts import (
    CALL_RESULT,
    CHECKSUM,
    DIGESTS,
    OUTPUT_SCHEMA,
    OUTPUTS,
    PICKING,
    SELECTOR,
    VIDEO_CONTENT,
)

__all__ = [
    "BEFORE",
    "KINDS",
    "MIXED",
    "MODEL",
    "NAME",
    "PROGRAM",
    "RENAMED_METHODS",
    "Asked",
    "Kind",
    "answers",
    "asked",
    "confirmations",
    "wire_row",
]

NAME: Final = "2027-03-11"
BEFORE: Final = "2026-07-28"

Asked = tuple[str, str]
"""The line that says where and why, and the row to paste."""


@dataclass(frozen=True)
class Kind:
    """`edits` are pairs of texts in the newest schema.ts; `rows` answer for the step, by path.

    `methods` have their capabilities; `tolerances` are the faults that are repaired in results, by
    path; `asked` is how many rows generation may ask for.
    """

    edits: Sequence[tuple[str, str]]
    rows: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    asked: int = 0
    more: str = ""
    methods: Mapping[str, str] = field(default_factory=dict[str, str])
    moves_handlers: bool = False
    """Handlers are written against it from its first day on."""
    tolerances: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    rewrite: Callable[[str], str] = str
    wire: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    """How its messages travel, where a data model stands apart."""
    split: Callable[[str], Mapping[str, str]] = field(default=lambda text: {"schema.ts": text})
    """Its files by name, made of its text."""

    def text(self, schema: Path) -> str:
        """Its schema.ts."""
        text = (schema / BEFORE / "schema.ts").read_text("utf-8")
        version = 'LATEST_PROTOCOL_VERSION = "%s"'
        for old, new in ((version % BEFORE, version % NAME), *self.edits):
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        return self.rewrite(text) + self.more


_LISTED: Final = (
    ("  | DiscoverRequest\n", "  | DiscoverRequest\n  | ChecksumRequest\n"),
    ("  | DiscoverResult\n", "  | DiscoverResult\n  | ChecksumResult\n"),
)
_NO_CHECKSUM: Final = {
    "checksum/get": {"down": "refuse", "code": -32601, "message": "no checksums"}
}
MODEL: Final = {"audience": "assistant", "format": "content"}
PROGRAM: Final = {"audience": "programmatic", "format": "structured"}
JSON_FOR_MODEL: Final = {"audience": "assistant", "format": "structured"}


def _mixed(text: str) -> str:
    """A type is renamed, and a member of another one is required."""
    text = re.sub(r"\bAnnotations\b", "Hints", text)
    prompt = text.index("export interface Prompt extends")
    return text[:prompt] + text[prompt:].replace("description?:", "description:", 1)


MIXED: Final = Kind(
    edits=(
        *_LISTED,
        ("AudioContent | ResourceLink", "AudioContent | VideoContent | ResourceLink"),
        ('"accept" | "decline" | "cancel"', '"accept" | "decline" | "dismiss"'),
        ("  lastModified?: string;", "  changedAt?: string;"),
    ),
    rewrite=_mixed,
    more=CHECKSUM + VIDEO_CONTENT,
    methods={"checksum/get": ""},
    rows={
        "Prompt.description": {"up": "default", "value": "", "down": "drop"},
        "Annotations.lastModified": {"up": "rename", "to": "changedAt"},
        "ElicitResult.action:cancel": {"up": "rename", "to": "dismiss"},
        "ElicitResult.action:dismiss": {"down": "rename", "to": "cancel"},
        "ContentBlock:VideoContent": {"down": "degrade", "as": "media"},
        "RATE_LIMITED": {"down": "rename", "to": -32603},
        **_NO_CHECKSUM,
    },
    asked=9,
)
"""A bit of everything: a method, an arm and a constant more, a member required, a literal changed,
a type and a member renamed."""

RENAMED_METHODS: Final = {
    "tools/call": "tools/run",
    "completion/complete": "completions/get",
    "elicitation/create": "elicitation/ask",
    "notifications/resources/updated": "notifications/resources/changed",
}

KINDS: Final[Mapping[str, Kind]] = {
    "again": Kind(edits=()),
    "additive": Kind(
        edits=(
            *_LISTED,
            (CALL_RESULT, CALL_RESULT + "\n  tookMs?: number;\n"),
        ),
        more=CHECKSUM,
        methods={"checksum/get": ""},
        rows={**_NO_CHECKSUM, "CallToolResult.tookMs": {"down": "drop"}},
        asked=5,
    ),
    "renamed": Kind(
        edits=(("  websiteUrl?: string;", "  homepage?: string;"),),
        rows={
            "Implementation.homepage": {"down": "rename", "to": "websiteUrl"},
            "Implementation.websiteUrl": {"up": "rename", "to": "homepage"},
        },
        asked=2,
    ),
    "restructured": Kind(
        edits=((CALL_RESULT, "  outputs: ToolOutput[];\n"),),
        more=OUTPUTS,
        rows={
            "CallToolResult.outputs": {
                "up": "compose",
                "down": "compose",
                "parts": [
                    {"items": "content"},
                    {"item": "structuredContent", "as": "value", "with": {"type": "json"}},
                ],
            }
        },
        tolerances={"result.content": [], "result.outputs": ["item"]},
        asked=4,
    ),
    "outputs": Kind(
        edits=(
            (CALL_RESULT, "  outputs: ToolOutput[];\n"),
            (OUTPUT_SCHEMA, "  outputVariants: OutputVariant[];\n"),
            (
                "  arguments?: { [key: string]: unknown };\n",
                "  arguments?: { [key: string]: unknown };\n"
                "  requestedOutputs?: OutputSelector[];\n",
            ),
        ),
        more=SELECTOR,
        rows={
            "CallToolResult.outputs": {
                "up": "compose",
                "down": "compose",
                "parts": [
                    {"item": "content", "as": "content", "with": MODEL, "value": []},
                    {"item": "structuredContent", "as": "structuredContent", "with": PROGRAM},
                    {
                        "item": "structuredContent",
                        "as": "structuredContent",
                        "with": JSON_FOR_MODEL,
                    },
                ],
            },
            "Tool.outputVariants": {
                "up": "compose",
                "down": "compose",
                "parts": [
                    {"with": MODEL},
                    {"item": "outputSchema", "as": "schema", "with": PROGRAM},
                    {"item": "outputSchema", "as": "schema", "with": JSON_FOR_MODEL},
                ],
            },
            "CallToolRequestParams.requestedOutputs": {"down": "drop"},
        },
        tolerances={"result.content": [], "result.outputs": ["item"]},
        asked=7,
    ),
    "methods": Kind(
        edits=tuple(
            (f'  method: "{old}";', f'  method: "{new}";') for old, new in RENAMED_METHODS.items()
        ),
        rows={old: {"up": "rename", "to": new} for old, new in RENAMED_METHODS.items()},
        methods={"notifications/resources/changed": "resources.subscribe"},
        asked=5,
    ),
    "data-model": Kind(edits=(), rewrite=data_model, split=in_files, wire=WIRE_ROWS, asked=4),
    "digests": Kind(
        edits=(
            (
                '  cacheScope: "public" | "private";\n',
                '  cacheScope: "public" | "private";\n  digest?: string;\n',
            ),
            (
                '  "io.modelcontextprotocol/logLevel"?: LoggingLevel;\n',
                '  "io.modelcontextprotocol/logLevel"?: LoggingLevel;\n'
                '  "io.modelcontextprotocol/knownDigests"?: KnownDigests;\n',
            ),
            (
                '  "io.modelcontextprotocol/serverInfo"?: Implementation;\n',
                '  "io.modelcontextprotocol/serverInfo"?: Implementation;\n'
                '  "io.modelcontextprotocol/staleDigests"?: DigestMethod[];\n',
            ),
        ),
        more=DIGESTS,
        moves_handlers=True,
        rows={
            "CacheableResult.digest": {"down": "drop"},
            "RequestMetaObject.io.modelcontextprotocol/knownDigests": {"down": "drop"},
            "ResultMetaObject.io.modelcontextprotocol/staleDigests": {"down": "drop"},
        },
        asked=3,
    ),
    "asking": Kind(
        edits=(
            (
                "  CreateMessageRequest | ListRootsRequest | ElicitRequest;",
                "  CreateMessageRequest | ListRootsRequest | ElicitRequest | PickFilesRequest;",
            ),
            (
                "  CreateMessageResult | ListRootsResult | ElicitResult;",
                "  CreateMessageResult | ListRootsResult | ElicitResult | PickFilesResult;",
            ),
            (
                "export interface ClientCapabilities {\n",
                "export interface ClientCapabilities {\n  files?: JSONObject;\n",
            ),
            (
                "export interface ServerCapabilities {\n",
                "export interface ServerCapabilities {\n  events?: JSONObject;\n",
            ),
            (
                "export interface SubscriptionFilter {\n",
                "export interface SubscriptionFilter {\n  eventTopics?: string[];\n",
            ),
            (
                "  | ResourceUpdatedNotification\n",
                "  | ResourceUpdatedNotification\n  | EventOccurredNotification\n",
            ),
        ),
        more=PICKING,
        moves_handlers=True,
        rows={
            "ClientCapabilities.files": {"down": "drop"},
            "ServerCapabilities.events": {"down": "drop"},
            "SubscriptionFilter.eventTopics": {"down": "drop"},
            "InputRequest:PickFilesRequest": {"down": "refuse", "message": "no files"},
            "InputResponse:PickFilesResult": {"down": "refuse", "message": "no files"},
            "files/pick": {"down": "refuse", "code": -32601, "message": "no files"},
            "notifications/events/occurred": {"down": "refuse", "message": "no events"},
        },
        asked=7,
    ),
}


def asked(stderr: str) -> list[Asked]:
    """The rows to paste that an error lists."""
    rows = r"^# (.*(?:\n#.*)*)\n(\[\[\w+\]\]\n(?:.*\n)*?why = \"\")$"
    return re.findall(rows, stderr, re.MULTILINE)


def confirmations(stderr: str) -> int:
    """How many rows an error shows that only get the revision's name."""
    return len(re.findall(rf'^\+revisions = .*"{NAME}"\]$', stderr, re.MULTILINE))


def answers(kind: Kind, table: str) -> str:
    """decisions.toml with a maintainer's answers, confirmations apart."""
    steps = [_row(path, row) for path, row in kind.rows.items()]
    lists = (_tolerance(*tolerance) for tolerance in kind.tolerances.items())
    if kind.moves_handlers:
        table = table.replace(
            f'[handlers]\nrevision = "{BEFORE}"', f'[handlers]\nrevision = "{NAME}"'
        )
    methods = [_method(*method) for method in kind.methods.items()]
    wire = [wire_row(NAME, *row) for row in kind.wire.items()]
    return "\n\n".join([table, *steps, *methods, *lists, *wire]) + "\n"


def _tolerance(path: str, forgives: Sequence[str]) -> str:
    head = f'[[tolerance]]\nrevisions = ["{NAME}"]\npath = "{path}"\nreader = "client"'
    return f'{head}\nforgives = {_toml(forgives)}\npage = "p"\nwhy = "{path} is made up."'


def _method(path: str, capability: str) -> str:
    head = f'[[method]]\nrevisions = ["{NAME}"]\npath = "{path}"\ncapability = "{capability}"'
    return f'{head}\npage = "p"\nwhy = "{path} is made up."'


def wire_row(revision: str, path: str, row: Mapping[str, Any]) -> str:
    """A row that says how messages travel."""
    return "\n".join(["[[wire]]", f'revisions = ["{revision}"]', *_lines(path, row)])


def _row(path: str, row: Mapping[str, Any]) -> str:
    return "\n".join(["[[step]]", f'pair = "{BEFORE}..{NAME}"', *_lines(path, row)])


def _lines(path: str, row: Mapping[str, Any]) -> Iterator[str]:
    yield f"path = {json.dumps(path)}"
    for key, value in row.items():
        yield f"{key} = {_toml(value)}"
    yield 'page = "p"'
    yield f'why = "{path} is made up."'


def _toml(value: Any) -> str:
    """A value of a row; tables stand inline."""
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value).items()
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(of)}" for key, of in members) + "}"
    if isinstance(value, list):
        items = cast("Iterable[Any]", value)
        return "[" + ", ".join(map(_toml, items)) + "]"
    return json.dumps(value)
