"""Every row of every table of methods and errors is read and written by the module of its types."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from types import ModuleType
from typing import Any, Final

import pytest

from mcp_bindgen.compare.judge.samples import Samples
from mcp_bindgen.emit.text.packages import extension_package, package
from mcp_bindgen.ir.model import Ref, Schema
from mcp_runtime.core.wire.error_codes import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
)
from tests.support.judges import EXTENSIONS, FLAVOURS, REVISIONS, SCHEMAS, flavour_of, schema_of

SENT_AS_IT_IS: Final = {"params": "PARAMS", "result": "RESULTS"}
"""The table of `calls_*` by the part of a method."""


def rows(schema: Schema) -> Iterator[tuple[str, str, Any]]:
    """Method, part, and the smallest message body that the schema takes there."""
    samples = Samples(schema)
    for method in schema.methods:
        for part in SENT_AS_IT_IS:
            type = getattr(method, part)
            if type is not None:
                yield method.name, part, samples.smallest(type)


def calls_of(version: str, flavour: str) -> ModuleType:
    place = extension_package(version) if version in EXTENSIONS else package(version)
    return importlib.import_module(f"mcp_wire.{place}.calls_{flavour}")


def check(schema: Schema, models: ModuleType, calls: ModuleType) -> int:
    """Decode and encode a body of each row, from text and from parsed JSON; how many there are."""
    count = 0
    for method, part, body in rows(schema):
        type = getattr(calls, SENT_AS_IT_IS[part]).get(method)
        assert type is not None, (method, part)
        for made in (models.decode(type, json.dumps(body)), models.from_wire(type, body)):
            assert models.to_wire(made) == body, (method, part)
            assert json.loads(models.encode(made)) == body, (method, part)
        count += 1
    return count


@pytest.mark.parametrize("flavour", FLAVOURS)
@pytest.mark.parametrize("version", SCHEMAS)
def test_every_row_of_ours_is_decoded_and_encoded(version: str, flavour: str) -> None:
    schema = schema_of(version)
    count = check(schema, flavour_of(version, flavour).module, calls_of(version, flavour))
    assert count >= len([m for m in schema.methods if m.params is not None])


@pytest.mark.parametrize("flavour", FLAVOURS)
@pytest.mark.parametrize("version", REVISIONS)
def test_the_data_of_every_error_is_decoded_and_encoded(version: str, flavour: str) -> None:
    schema, models = schema_of(version), flavour_of(version, flavour).module
    samples = Samples(schema)
    errors = importlib.import_module(f"mcp_wire.{package(version)}.methods").ERRORS
    assert {PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR} <= {
        *errors
    }
    for code, row in errors.items():
        assert (row.code, schema.consts[row.name].value) == (code, code)
        for name in filter(None, (row.error, row.data)):
            type = getattr(models, name)
            body = samples.smallest(Ref(name))
            assert models.to_wire(models.decode(type, json.dumps(body))) == body, name
