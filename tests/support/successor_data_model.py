"""A made-up revision whose data model stands apart from the wire, in three files.

Its text is made of the newest schema: messages get `payload` and `metadata`, and all that belongs
to a transport is gone. Its wire is that of the newest revision.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from tests.support.successor_texts import DATA_MODEL

__all__ = ["FILES", "WIRE_ROWS", "data_model", "in_files"]

_VERSION: Final = "io.modelcontextprotocol/protocolVersion"
_SUBSCRIPTION: Final = "io.modelcontextprotocol/subscriptionId"
_GONE: Final = (
    *("JSONRPCMessage", "JSONRPCRequest", "JSONRPCNotification", "JSONRPCResultResponse"),
    *("JSONRPCErrorResponse", "JSONRPCResponse", "JSONRPC_VERSION", "RequestId"),
    *("Request", "Notification", "NotificationMetaObject"),
)
_PARENTS: Final = {
    "JSONRPCRequest": "MCPRequest",
    "JSONRPCNotification": "MCPNotification",
    "JSONRPCResultResponse": "MCPResponse",
}
_BLOCK: Final = re.compile(r"\n\n(?=/\*\*|//|export )")
_NAME: Final = re.compile(r"^export (?:interface|type|const) (\w+)", re.MULTILINE)
_OF_A_METHOD: Final = re.compile(
    r"^export interface (\w+)Request extends[^{]*\{[^}]*?^  method: \"([^\"]+)\"", re.MULTILINE
)
_MOVED: Final = (
    ("RequestMetaObject", _VERSION),
    ("RequestParams", "_meta"),
    ("NotificationParams", "_meta"),
    ("Result", "_meta"),
    ("CancelledNotificationParams", "requestId"),
    ("SubscriptionsListenResult", "_meta"),
    ("SubscriptionsListenResultMetaObject", _SUBSCRIPTION),
)
"""The members that leave their declarations."""
_PLACES: Final = {
    "MCPRequest": {
        "method": "method",
        "payload": "params",
        "metadata.meta": "params._meta",
        "protocolVersion": f"params._meta.{_VERSION}",
    },
    "MCPNotification": {
        "method": "method",
        "payload": "params",
        "metadata.meta": "params._meta",
        "protocolVersion": "",
    },
    "MCPResponse": {
        "method": "",
        "payload": "result",
        "metadata.meta": "result._meta",
        "protocolVersion": "",
    },
    "MCPErrorResponse": {"method": "", "payload": "error", "protocolVersion": ""},
}
_ID: Final = "string | number"
_FRAME: Final = {"jsonrpc": '"2.0"'}
_ADDS: Final[Mapping[str, Mapping[str, str]]] = {
    "MCPRequest": {**_FRAME, "id": _ID},
    "MCPNotification": {**_FRAME, f"params._meta.{_SUBSCRIPTION}?": _ID},
    "MCPResponse": {**_FRAME, "id": _ID},
    "MCPErrorResponse": {**_FRAME, "id?": _ID},
}
_ENVELOPES: Final = {
    "MCPRequest": "JSONRPCRequest",
    "MCPNotification": "JSONRPCNotification",
    "MCPResponse": "JSONRPCResultResponse",
    "MCPErrorResponse": "JSONRPCErrorResponse",
}
WIRE_ROWS: Final[Mapping[str, Mapping[str, Any]]] = {
    **{
        kind: {"as": _ENVELOPES[kind], "places": places, "adds": _ADDS[kind]}
        for kind, places in _PLACES.items()
    },
    "CancelledNotificationParams": {"adds": {"requestId": _ID}},
    "SubscriptionsListenResultMetaObject": {"adds": {_SUBSCRIPTION: _ID}},
}
"""All that only the prose of the transports says, by declaration."""

FILES: Final = {
    "stdio.schema": ("CancelledNotificationParams", "CancelledNotification"),
    "streamable-http.schema": ("HEADER_MISMATCH", "HeaderMismatchError"),
}
"""The declarations of each transport; all others are of the data model."""


def data_model(text: str) -> str:
    """A schema whose messages have `payload` and `metadata`, made of one with JSON-RPC's."""
    methods = dict(_OF_A_METHOD.findall(text))
    blocks = [_block(block, methods) for block in _BLOCK.split(text) if _name(block) not in _GONE]
    return "\n\n".join(blocks) + "\n" + DATA_MODEL


def in_files(text: str) -> dict[str, str]:
    """The same schema in three files, and the one that brings them together, by name."""
    owner = {name: file for file, names in FILES.items() for name in names}
    files: dict[str, list[str]] = {"data-model.schema": [], **{file: [] for file in FILES}}
    for block in _BLOCK.split(text):
        files[owner.get(_name(block), "data-model.schema")].append(block)
    made = {f"{file}.ts": "\n\n".join(blocks) + "\n" for file, blocks in files.items()}
    base = 'import { %s } from "./data-model.schema.js";\n\n'
    made["stdio.schema.ts"] = base % "MCPNotification, NotificationParams" + made["stdio.schema.ts"]
    http = "streamable-http.schema.ts"
    made[http] = base % "Error, MCPErrorResponse" + made[http]
    own = 'import { CancelledNotification } from "./stdio.schema.js";\n\n'
    made["data-model.schema.ts"] = own + made["data-model.schema.ts"]
    every = [file.removesuffix(".ts") for file in made]
    made["schema.ts"] = "".join(f'export * from "./{file}.js";\n' for file in every)
    return made


def _name(block: str) -> str:
    head = _NAME.search(block)
    return head[1] if head else ""


def _block(block: str, methods: Mapping[str, str]) -> str:
    """A declaration of the data model."""
    name = _name(block)
    for owner, member in _MOVED:
        if owner == name:
            block = _without(block, member)
    for parent, new in _PARENTS.items():
        block = block.replace(f"extends {parent} {{", f"extends {new} {{")
    block = re.sub(r'Omit<\s*JSONRPCErrorResponse,\s*"error"\s*>', "MCPErrorResponse", block)
    if "extends MCPErrorResponse" in block:
        return block.replace("  error: Error", "  payload: Error")
    if "extends MCPResponse" in block:
        return _response(block, methods[name.removesuffix("ResultResponse")])
    if re.search(r"extends (MCPRequest|MCPNotification) ", block):
        block = re.sub(r"^  params: ", "  payload: ", block, flags=re.MULTILINE)
        block = re.sub(r"^  params\?: (\w+);", r"  payload: \1 | undefined;", block, flags=re.M)
    return block


def _response(block: str, method: str) -> str:
    own = f'  method: "{method}";\n  payload: '
    if method == "subscriptions/listen":
        meta = "ResultMetadata & { meta: SubscriptionsListenResultMetaObject }"
        own = f"  metadata: {meta};\n{own}"
    return block.replace("  result: ", own)


def _without(block: str, member: str) -> str:
    pattern = rf'(?:^  /\*\*(?:(?!\*/).)*\*/\n)?^  "?{re.escape(member)}"?\??: [^\n]*;\n'
    left, count = re.subn(pattern, "", block, flags=re.MULTILINE | re.DOTALL)
    assert count == 1, (member, block)
    return left
