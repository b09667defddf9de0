"""What `new` and `update` share: a project's texts from its answers, and their inputs from disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mcp_bindgen import manifest, pins, places
from mcp_bindgen.scaffold.answers import Answers

if TYPE_CHECKING:
    from mcp_bindgen.scaffold.tools import Tool

__all__ = ["texts"]


def texts(answers: Answers, tools: Sequence[Tool] = ()) -> dict[str, str]:
    """Every file of a project by path. Raises BindgenError."""
    from mcp_bindgen.scaffold.render import project, templates
    from mcp_bindgen.scaffold.vendor import vendored

    files = vendored(answers, _wire(answers.revisions), _runtime())
    return project(answers, templates(answers.tools), files, tools)


def _wire(revisions: tuple[str, ...]) -> dict[str, str]:
    from mcp_bindgen.cli.generate import bindings
    from mcp_bindgen.emit import Options

    found = {revision: pins.find(revision) for revision in revisions}
    return bindings(found, Options(models=("msgspec",)), steps=True)


def _runtime() -> Mapping[str, str]:
    return {path: data.decode() for path, data in manifest.texts(places.runtime(), ".py")}
