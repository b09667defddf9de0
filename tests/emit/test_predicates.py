"""Predicates say of every value what the interpreter of the schema says."""

from __future__ import annotations

from itertools import islice
from typing import Any

import pytest

from mcp_bindgen.emit.steps.predicates import Admits
from mcp_bindgen.ir.model import Ref
from mcp_bindgen.ir.values.accepts import accepts
from mcp_wire._wire.values import is_number
from tests.support.instances import Generator, Seeded, cases
from tests.support.judges import REVISIONS, schema_of
from tests.support.seeds import seed

CASES = 60
"""Instances of one type, valid and broken."""


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_predicate_takes_what_its_type_takes(revision: str) -> None:
    schema = schema_of(revision)
    admits = Admits(schema, "x")
    names = {name: admits.takes(Ref(name), "x", name) for name in schema.types}
    module: dict[str, Any] = {"is_number": is_number, "Json": Any}
    exec("\n".join(line for lines in admits.functions.values() for line in lines), module)
    generator = Generator(schema, Seeded(seed(revision)))
    count = {True: 0, False: 0}
    for name, condition in names.items():
        taken = eval(f"lambda x: bool({condition})", module)
        for case in islice(cases(generator, name), CASES):
            true = accepts(schema, Ref(name), case.value)
            count[true] += 1
            assert taken(case.value) == true, (name, case.value)
    assert min(count.values()) > 300
