"""`generate --lean`: plain pydantic models that read and refuse what the exact ones do."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final

import pytest
from pydantic import ConfigDict, TypeAdapter, ValidationError

from mcp_bindgen import emit, pins
from mcp_bindgen.ir.lower.lower import load
from mcp_bindgen.ir.model import Ref
from mcp_bindgen.ir.values.accepts import accepts
from tests.support.instances import Case, Generator, Seeded, more
from tests.support.judges import REVISIONS, own_types, schema_of
from tests.support.official_files import require
from tests.support.seeds import seed

ABSENT: Final = ("missing", "none")
NEWEST: Final = REVISIONS[-1]
CASES: Final = 400

ODD: Final = b"""
export interface Odd {
  /**
   * @minimum 1
   * @maximum 3
   */
  few: number;
  pair?: [string, number?];
  nothing?: never;
  word: "a" | 1 | string[];
  nullable: string | null;
  [key: string]: unknown;
}
"""

USE: Final = """
from typing import Literal, assert_type

from lean_{absent} import models as m

result = m.CallToolResult.model_validate_json(b'{{"content": []}}')
assert_type(result, m.CallToolResult)
text = m.TextContent(text="hi")
assert_type(text.type, Literal["text"])
made = m.CallToolResult(content=[text], is_error=True, result_type="complete")
assert_type(made.content[0], m.ContentBlock)
{narrowed}
"""
NARROWED: Final = {
    "missing": "from pydantic import MISSING\n"
    "if result.is_error is not MISSING:\n    assert_type(result.is_error, bool)",
    "none": "assert_type(result.is_error, bool | None)",
}


@pytest.fixture
def lean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """Writes lean models of a schema below `tmp_path`, and imports them."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def make(schema: Any, absent: str, **options: Any) -> Any:
        files = emit.generate([schema], emit.Options(lean=True, absent=absent, **options))
        folder = tmp_path / f"lean_{absent}"
        folder.mkdir()
        for path, text in files.items():
            (folder / path).write_text(text, "utf-8")
        importlib.invalidate_caches()
        return importlib.import_module(f"lean_{absent}.models")

    yield make
    for name in [name for name in sys.modules if name.startswith("lean_")]:
        del sys.modules[name]


def adapter(models: Any, name: str) -> TypeAdapter[Any]:
    type = getattr(models, name)
    is_model = isinstance(type, models.Model.__class__)
    return TypeAdapter(type, config=None if is_model else ConfigDict(strict=True))


def written(adapter: TypeAdapter[Any], value: Any, absent: str) -> Any:
    return json.loads(adapter.dump_json(value, exclude_unset=absent == "none"))


def is_lax(case: Case, absent: str) -> bool:
    """Whether None stands for absent, and the case has a null there or an unknown Python name."""
    text = json.dumps(case.value)
    return absent == "none" and ("null" in text or any(f'"{name}":' in text for name in PYTHONIC))


PYTHONIC: Final = {
    field.name
    for revision in REVISIONS
    for struct in schema_of(revision).structs.values()
    for field in struct.fields
    if field.name != field.wire
}


@pytest.mark.drawn
@pytest.mark.parametrize("absent", ABSENT)
@pytest.mark.parametrize("revision", REVISIONS)
def test_lean_models_accept_refuse_and_write_what_the_schema_says(
    revision: str, absent: str, lean: Callable[..., Any]
) -> None:
    schema = schema_of(revision)
    models = lean(pins.load(revision), absent)
    names = own_types(schema)
    adapters = {name: adapter(models, name) for name in names}
    drawn = Generator(schema, Seeded(seed(f"lean {revision} {absent}")))
    judged = 0
    for case in islice(more(drawn, names), CASES):
        if is_lax(case, absent):
            continue
        judged += 1
        reads = adapters[case.type]
        try:
            value = reads.validate_json(json.dumps(case.value))
        except ValidationError:
            assert not accepts(schema, Ref(case.type), case.value), case
            continue
        assert accepts(schema, Ref(case.type), case.value), case
        assert written(reads, value, absent) == case.value, case
    assert judged > CASES / 3


@pytest.mark.parametrize("absent", ABSENT)
def test_official_messages_are_read_and_written_as_they_were(
    absent: str, lean: Callable[..., Any]
) -> None:
    models = lean(pins.load("2025-11-25"), absent)
    types = {method.name: method.type for method in schema_of("2025-11-25").methods}
    rows = json.loads(require("2025-11-25", "messages.json").read_bytes())
    for row in rows:
        name = types.get(row["json"].get("method"), "JSONRPCMessage")
        reads = adapter(models, name)
        value = reads.validate_python(row["json"])
        assert written(reads, value, absent) == row["json"]
        assert reads.dump_python(value, exclude_unset=absent == "none") == row["json"]
    assert len(rows) > 50


@pytest.mark.parametrize("absent", ABSENT)
def test_the_constructor_sets_constants_and_leaves_out_what_is_absent(
    absent: str, lean: Callable[..., Any]
) -> None:
    m = lean(load(ODD, "odd.ts", "odd"), absent)
    odd = m.Odd(few=2, word="a", nullable=None, pair=["x", 1])
    text = odd.model_dump_json(exclude_unset=absent == "none")
    assert json.loads(text) == {"few": 2, "word": "a", "nullable": None, "pair": ["x", 1]}
    assert m.Odd.model_validate_json(text) == odd
    assert (odd.nothing is None) == (absent == "none")
    for wrong in ({"few": 4}, {"few": True}, {"few": "2"}, {"word": 2}, {"nullable": 3}):
        with pytest.raises(ValidationError, match=next(iter(wrong))):
            m.Odd(**{"few": 2, "word": "a", "nullable": None, **wrong})


def test_unknown_members_and_literals_are_chosen_as_for_exact_models(
    lean: Callable[..., Any],
) -> None:
    schema = load(b'export interface A { kind: "a"; level?: "low" | "high" }', "a.ts", "a")
    m = lean(schema, "none", unknown="reject", literals="open")
    assert m.A(level="medium").model_dump(exclude_unset=True) == {"kind": "a", "level": "medium"}
    with pytest.raises(ValidationError, match="more"):
        m.A.model_validate({"kind": "a", "more": 1})
    with pytest.raises(ValidationError, match="kind"):
        m.A.model_validate({})


@pytest.mark.wide
@pytest.mark.parametrize("checker", ["mypy --strict", "basedpyright --level error", "black"])
def test_type_checkers_and_black_find_nothing_in_lean_models(
    checker: str, tmp_path: Path, lean: Callable[..., Any]
) -> None:
    for absent in ABSENT:
        lean(pins.load(NEWEST), absent)
        text = USE.format(absent=absent, narrowed=NARROWED[absent])
        (tmp_path / f"use_{absent}.py").write_text(text, "utf-8")
    settings = '{"typeCheckingMode": "strict", "include": ["."]}'
    (tmp_path / "pyrightconfig.json").write_text(settings, "utf-8")
    files = {
        "mypy": sorted(map(str, tmp_path.glob("use_*.py"))),
        "basedpyright": ["--pythonpath", sys.executable],
        "black": ["--check", "--target-version", "py311", *map(str, tmp_path.glob("lean_*"))],
    }
    name, *options = checker.split()
    command = [sys.executable, "-m", name, *options, *files[name]]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
