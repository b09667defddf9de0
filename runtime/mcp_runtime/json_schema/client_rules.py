"""Valid tool schemas refused by some clients: one row for each reason.

A client which refuses a schema leaves out the tool, or all tools, often without a message. So the
server warns when the tool is registered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, cast

from msgspec import Struct

from mcp_runtime.json_schema.walk import Schema, every

_SHOWN: Final = 80
_READ_BY_TYPESCRIPT: Final = ("draft-06", "draft-07", "draft/2019-09", "draft/2020-12")


class ClientRule(Struct, frozen=True):
    """A reason to refuse a schema: `clients` did so in the month `seen`, as `source` reports.

    `find` yields the faults in a schema.
    """

    what: str
    clients: str
    seen: str
    source: str
    remedy: str
    find: Callable[[Schema], Iterator[str]]
    schemas: tuple[str, ...] = ("inputSchema", "outputSchema")


def _arrays(schema: Schema) -> Iterator[str]:
    for each in every(schema):
        kind = each.get("type")
        if (kind == "array" or (isinstance(kind, list) and "array" in kind)) and not (
            {"items", "prefixItems"} & each.keys()
        ):
            yield str(each.get("description") or each.get("title") or "an array")[:_SHOWN]


def _combining_keywords(schema: Schema) -> Iterator[str]:
    yield from (word for word in ("anyOf", "oneOf", "allOf") if word in schema)


def _no_object(schema: Schema) -> Iterator[str]:
    if schema.get("type") != "object":
        yield f"type {schema.get('type', 'absent')!r}"[:_SHOWN]


def _outside(schema: Schema) -> Iterator[str]:
    for each in every(schema):
        for word in ("$ref", "$dynamicRef", "$recursiveRef"):
            target = each.get(word, "#")
            if not (isinstance(target, str) and target.startswith("#")):
                yield str(target)[:_SHOWN]


def _dialect(schema: Schema) -> str:
    return str(schema.get("$schema", "draft/2020-12"))[:_SHOWN]


def _unread_dialect(schema: Schema) -> Iterator[str]:
    if not any(known in _dialect(schema) for known in _READ_BY_TYPESCRIPT):
        yield _dialect(schema)


def _older_dialect(schema: Schema) -> Iterator[str]:
    if "draft/2020-12" not in _dialect(schema) and not any(_unread_dialect(schema)):
        yield _dialect(schema)


CLIENT_RULES: Final = (
    ClientRule(
        "an array without `items`",
        "VS Code and OpenAI",
        "2026-09",
        "microsoft/vscode#284536, vespo92/SolidworksMCP-TS#30",
        'write "items": {} if they may be anything',
        _arrays,
    ),
    ClientRule(
        "a choice at the top level",
        "Claude, Bedrock and OpenAI",
        "2026-09",
        "anthropics/claude-code#95504, makenotion/notion-mcp-server#340",
        "put the choice inside a property",
        _combining_keywords,
        ("inputSchema",),
    ),
    ClientRule(
        "a top level that is not an object",
        "clients of the TypeScript SDK 1.x, which then have no tools at all",
        "2026-09",
        "opentokenz/mcpx#28",
        'write "type": "object", and put the value into a member',
        _no_object,
    ),
    ClientRule(
        "a reference to another document",
        "all clients, since none fetches a schema",
        "2026-11",
        'the specification, basic/index, "JSON Schema Usage"',
        "copy the definition into `$defs`",
        _outside,
    ),
    ClientRule(
        "a dialect that is not read",
        "the TypeScript client 2.4.0",
        "2026-11",
        "tried: it lists the tool, and refuses each call",
        "write the schema in draft 2020-12, and leave `$schema` out",
        _unread_dialect,
    ),
    ClientRule(
        "a dialect before draft 2020-12",
        "Claude Code",
        "2026-08",
        "anthropics/claude-code#88882",
        "write the schema in draft 2020-12, and leave `$schema` out",
        _older_dialect,
    ),
)


def objections(tool: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence for each rule broken by the schemas of a tool, which is parsed JSON."""
    for rule in CLIENT_RULES:
        for name in rule.schemas:
            schema = tool.get(name)
            if not isinstance(schema, dict):
                continue
            if place := next(rule.find(cast("Schema", schema)), None):
                yield (
                    f"{name} has {rule.what} ({place}), refused by {rule.clients}"
                    f" (seen {rule.seen}); {rule.remedy}"
                )
