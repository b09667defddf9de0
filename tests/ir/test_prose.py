"""The sentences in schema/ are ours, and one declaration has one sentence in every revision."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, cast

from mcp_bindgen.source import read
from mcp_bindgen.source.rewrite import Sentence, rewrite, sentences
from mcp_bindgen.source.text import Source
from tests.support.official_files import require

REVISIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")
RUN: Final = 8

# Paths whose sentence changes, because what they mean does: path → what changed.
CHANGED: Final = {
    "CallToolResult.structuredContent": "from 2026-07-28 any JSON, not objects only",
    "CancelledNotification": "in 2026-07-28 the client's, but for subscriptions",
    "CancelledNotificationParams.requestId": "tasks are gone; only the client's requests remain",
    "ClientCapabilities": "in 2026-07-28 they travel with each request",
    "ClientCapabilities.elicitation": "from 2025-11-25 forms are one of two modes",
    "CreateMessageRequest": "in 2026-07-28 inside a result",
    "CreateMessageRequestParams.stopSequences": "2026-07-28 lets the client ignore them",
    "CreateMessageRequestParams.temperature": "2026-07-28 lets the client ignore it",
    "ElicitRequest": "forms only, then web pages too, then inside a result",
    "ElicitRequestURLParams": "in 2026-07-28 the outcome shows at the retry",
    "ElicitResult": "from 2025-11-25 web pages too",
    "Implementation": "in 2026-07-28 nothing may depend on it",
    "JSONRPCMessage": "only 2025-03-26 has batches",
    "JSONRPCRequest.id": "2026-07-28 has no session to be unique in",
    "JSONRPCResponse": "from 2025-11-25 errors are responses",
    "ListRootsRequest": "in 2026-07-28 inside a result",
    "LoggingMessageNotification": "in 2026-07-28 about one request",
    "METHOD_NOT_FOUND": "only 2025-11-25 has `taskSupport`",
    "PaginatedResult.nextCursor": "2026-07-28 says that an empty cursor is one",
    "ProgressNotification": "in 2026-07-28 from the server only",
    "PromptListChangedNotification": "in 2026-07-28 on listen streams",
    "Request.params": "in 2026-07-28 with `_meta`",
    "RequestParams": "in 2026-07-28 of client requests only",
    "RequestParams._meta": "in 2026-07-28 required",
    "ResourceListChangedNotification": "in 2026-07-28 on listen streams",
    "ResourceUpdatedNotification": "in 2026-07-28 on listen streams",
    "ServerCapabilities.logging": "in 2026-07-28 for requests that ask",
    "ServerCapabilities.resources.subscribe": "in 2026-07-28 through `subscriptions/listen`",
    "ToolAnnotations.title": "from 2025-06-18 tools have a title of their own",
    "ToolListChangedNotification": "in 2026-07-28 on listen streams",
    "ToolResultContent.structuredContent": "in 2026-07-28 any JSON",
}


def ours(root: Path) -> dict[str, dict[str, str]]:
    """Revision → path → what we say there; paths where we say nothing are left out."""
    said: dict[str, dict[str, str]] = {}
    for revision in REVISIONS:
        data = (root / "schema" / revision / "schema.ts").read_bytes()
        places = sentences(read(data, revision))
        said[revision] = {path: s.prose for path, s in places.items() if s.prose}
    return said


def test_a_path_has_one_sentence_in_every_revision_but_for_the_table(root: Path) -> None:
    said: dict[str, set[str]] = {}
    for by_path in ours(root).values():
        for path, prose in by_path.items():
            said.setdefault(path, set()).add(prose)
    assert sorted(path for path, texts in said.items() if len(texts) > 1) == sorted(CHANGED)


def words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9_$]+", text.lower())


def runs(text: str) -> Iterator[tuple[str, ...]]:
    tokens = words(text)
    for start in range(len(tokens) - RUN + 1):
        yield tuple(tokens[start : start + RUN])


def descriptions(node: Any) -> Iterator[str]:
    """Every description of a JSON Schema, at any depth."""
    if isinstance(node, dict):
        for key, value in cast("dict[str, Any]", node).items():
            if key == "description" and isinstance(value, str):
                yield value
            yield from descriptions(value)
    elif isinstance(node, list):
        for item in cast("list[Any]", node):
            yield from descriptions(item)


def test_no_eight_words_of_ours_follow_one_another_in_the_official_prose(
    root: Path,
) -> None:
    theirs: set[tuple[str, ...]] = set()
    for revision in REVISIONS:
        document = require(revision, "schema.json").read_text("utf-8")
        for text in descriptions(json.loads(document)):
            theirs.update(runs(text))
    assert theirs
    copied = {
        f"{revision} {path}: {' '.join(run)}"
        for revision, by_path in ours(root).items()
        for path, prose in by_path.items()
        for run in runs(prose)
        if run in theirs
    }
    assert copied == set()


def test_a_sentence_that_is_written_anew_reads_as_before(root: Path) -> None:
    said = "A " + "read-only, side-effect-free " * 12 + "see https://a.example/" + "x" * 120
    text = b"export interface A {\n  b: string;\n}\n"
    written = rewrite(Source(text, "a.ts"), read(text, "a.ts"), lambda _: Sentence(said, ""))
    again = read(written.encode(), "a.ts")
    assert {path: each.prose for path, each in sentences(again).items()} == {"A": said, "A.b": said}
    for file in (root / "schema").rglob("schema.ts"):
        assert not re.search(r"\*.*[A-Za-z]-$", file.read_text("utf-8"), re.MULTILINE), file
