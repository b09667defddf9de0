"""Templates of a user's own: a fault in one is told with its file and line, and nothing is made."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from mcp_bindgen import emit, paths
from mcp_bindgen.errors import TemplateError
from tests.support.schemas import pinned


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{{ nothing_of_ours }}", "'nothing_of_ours' is undefined"),
        ("{% if %}", "Expected an expression"),
        ("{{ header.no_such() }}", "no attribute 'no_such'"),
    ],
)
def test_a_template_that_fails_is_named_with_its_line(text: str, said: str, tmp_path: Path) -> None:
    folder = tmp_path / "bindings"
    shutil.copytree(paths.templates() / "bindings", folder)
    template = folder / "methods.py.jinja"
    lines = len(template.read_text().splitlines())
    template.write_text(f"{template.read_text()}{text}\n")
    with pytest.raises(TemplateError) as caught:
        emit.generate([pinned("2025-11-25")], emit.Options(templates=folder))
    assert f"methods.py.jinja:{lines + 1}: " in str(caught.value)
    assert said in str(caught.value)


def test_a_template_of_ones_own_is_used(tmp_path: Path) -> None:
    folder = tmp_path / "bindings"
    shutil.copytree(paths.templates() / "bindings", folder)
    (folder / "revision.py.jinja").write_text('{{ header }}\n"""Mine: {{ title }}."""\n')
    files = emit.generate([pinned("2025-11-25")], emit.Options(templates=folder))
    assert '"""Mine: 2025-11-25."""' in files["v2025_11_25/__init__.py"]
