"""The runtime's error codes are those of the generated tables, and so is the data that it sends."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

from mcp_runtime.core.wire import error_codes, rpc_errors
from mcp_runtime.errors import NotOffered
from mcp_runtime.revisions import ALL
from mcp_wire.v2026_07_28 import models_dataclass as newest
from mcp_wire.v2026_07_28.methods import ERRORS

OWN: Final = {
    "BUSY": "a code of ours",
    "RESOURCE_NOT_FOUND": "the pages name it, and no schema does",
}
OTHER_NAMES: Final = {
    "MISSING_CLIENT_CAPABILITY": "MISSING_REQUIRED_CLIENT_CAPABILITY",
    "UNSUPPORTED_VERSION": "UNSUPPORTED_PROTOCOL_VERSION",
}
"""Shorter here than in the schema."""


def test_every_code_of_the_schemas_is_known_by_its_name() -> None:
    tables = [import_module(f"mcp_wire.v{name.replace('-', '_')}.methods") for name in ALL]
    declared = {row.name: code for table in tables for code, row in table.ERRORS.items()}
    known = {
        OTHER_NAMES.get(name, name): code
        for name, code in vars(error_codes).items()
        if isinstance(code, int) and name not in OWN
    }
    assert known == declared


def test_the_data_of_a_missing_capability_is_what_the_schema_declares() -> None:
    for error in (
        rpc_errors.missing_extension("io.example/a"),
        rpc_errors.missing_capability(NotOffered("a/b", "sampling.tools", "client")),
    ):
        row = ERRORS[error.code]
        assert row.data is not None
        type: Any = getattr(newest, row.data)
        assert newest.to_wire(newest.from_wire(type, error.data)) == error.data
