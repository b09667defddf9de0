"""Finds the error codes of a schema: negative integers, and the error objects that carry them."""

from __future__ import annotations

from collections.abc import Iterator

from mcp_bindgen.ir.model import Const, Lit, Schema, Struct

__all__ = ["error_codes", "error_object", "is_error_code"]


def is_error_code(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value < 0


def error_codes(schema: Schema) -> Iterator[Const]:
    """Yield a constant for each error code; of two with one value the first."""
    by_value: dict[object, Const] = {}
    for const in schema.consts.values():
        if is_error_code(const.value):
            by_value.setdefault(const.value, const)
    yield from by_value.values()


def error_object(schema: Schema, code: Const) -> Struct | None:
    """Return the struct whose member `code` is this constant; None if no struct has it."""
    for struct in schema.structs.values():
        field = struct.field("code")
        if field and field.type == Lit(code.value):
            return struct
    return None
