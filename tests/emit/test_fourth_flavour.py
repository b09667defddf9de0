"""docs/FLAVOURS.md adds a flavour that reads and writes what the others do."""

from __future__ import annotations

import dataclasses
import importlib
import json
import re
import sys
from itertools import chain, islice
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

from mcp_bindgen.emit.copies import copies
from mcp_bindgen.emit.options import Options
from tests.support.instances import Generator, Seeded, cases, more
from tests.support.judges import flavour_of
from tests.support.schemas import pinned
from tests.support.seeds import seed

REVISION: Final = "2025-11-25"
INSTANCES: Final = 2_000
emitter: Final[Any] = importlib.import_module("mcp_bindgen.emit.generate")


def stand_in() -> Any:
    """As much of attrs as the page uses, by the standard library."""

    def frozen(*, kw_only: bool) -> Any:
        def made(cls: Any) -> Any:
            cls.__post_init__ = cls.__attrs_post_init__
            return dataclasses.dataclass(frozen=True, kw_only=kw_only)(cls)

        return made

    attrs: Any = ModuleType("attrs")
    attrs.frozen, attrs.fields = frozen, dataclasses.fields
    return attrs


@pytest.fixture
def models(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module of models that the page's code makes."""
    page = (root / "docs" / "FLAVOURS.md").read_text("utf-8")
    view, support = re.findall(r'```text\n(""".*?)```', page, re.DOTALL)
    names: dict[str, Any] = {}
    exec(view, names)
    templates = tmp_path / "templates"
    templates.mkdir()
    for path in (root / "templates" / "bindings").iterdir():
        (templates / path.name).write_text(path.read_text("utf-8"))
    text = (templates / "models_dataclass.py.jinja").read_text("utf-8")
    bound = re.search(r"bind\(codec, globals\(\), .*?\)", page)
    assert bound is not None
    assert text.count("bind(codec, globals())") == 1
    text = text.replace("bind(codec, globals())", bound[0])
    (templates / "models_attrs.py.jinja").write_text(text)
    monkeypatch.setitem(vars(emitter)["_MODELS"], "attrs", names["attrs_view"])
    monkeypatch.setattr(emitter, "FLAVOURS", ("attrs",))
    monkeypatch.setitem(sys.modules, "attrs", stand_in())
    options = Options(flavours=("attrs",), templates=templates)
    files = emitter.generate([pinned(REVISION)], options) | dict(copies(()))
    for name, content in {**files, "_attrs.py": support}.items():
        path = tmp_path / "fourth" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    return importlib.import_module("fourth.v2025_11_25.models_attrs")


def outcome(module: Any, name: str, data: bytes) -> object:
    try:
        return module.encode(module.decode(getattr(module, name), data))
    except ValueError as error:
        return str(error)


def test_the_flavour_of_the_page_agrees_with_the_others(models: Any) -> None:
    schema = pinned(REVISION)
    known = flavour_of(REVISION, "dataclass").module
    generator = Generator(schema, Seeded(seed(REVISION)))
    reaching = chain.from_iterable(cases(generator, name, rounds=3) for name in schema.types)
    for case in islice(chain(reaching, more(generator, list(schema.types))), INSTANCES):
        data = json.dumps(case.value).encode()
        assert outcome(models, case.type, data) == outcome(known, case.type, data), case


def test_the_flavour_of_the_page_checks_what_it_is_made_of(models: Any) -> None:
    with pytest.raises(TypeError, match=r"^\$\.content\[0\]: expected ResourceLink"):
        models.CallToolResult(content=[{"type": "text", "text": "a"}])
    assert models.CallToolResult(content=[models.TextContent(text="a")]).is_error is models.UNSET
