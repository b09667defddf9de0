"""The error codes of a schema, and the error objects that carry them, in each way to write one."""

from __future__ import annotations

from typing import Final

from mcp_bindgen.emit.methods import methods_view
from mcp_bindgen.ir.error_codes import error_codes, error_object
from mcp_bindgen.ir.lower.lower import load
from mcp_bindgen.ir.model import Schema

TEXT: Final = b"""
export const VERSION = "1";
export const LIMIT = 7;
export const BUSY = -32001;
export const ALSO_BUSY = -32001;
export const LATE = -32002;
export const LONELY = -32003;
export interface Error { code: number; message: string; data?: unknown }
export interface BusyError extends Error { code: typeof BUSY }
export interface LateRefusal { error: Error & { code: typeof LATE; data: { seconds: number } } }
"""
"""A code that two constants have, one with data in an unnamed shape, and one without an object."""


def schema() -> Schema:
    return load(TEXT, "schema.ts", "errors-1")


def test_a_negative_integer_is_a_code_and_the_first_of_two_names_holds() -> None:
    assert [const.name for const in error_codes(schema())] == ["BUSY", "LATE", "LONELY"]


def test_an_error_object_is_found_by_its_code_wherever_it_stands() -> None:
    read = schema()
    objects = [error_object(read, const) for const in error_codes(read)]
    assert [each and each.name for each in objects] == ["BusyError", "LateRefusalError", None]


def test_an_error_that_no_module_knows_has_a_row_with_its_data() -> None:
    rows = "".join("".join(methods_view(schema())["errors"]).split())
    for fact in (
        'code=-32001,name="BUSY",error="BusyError",data=None',
        'code=-32002,name="LATE",error="LateRefusalError",data="LateRefusalErrorData"',
        'code=-32003,name="LONELY",error=None,data=None',
    ):
        assert fact in rows
