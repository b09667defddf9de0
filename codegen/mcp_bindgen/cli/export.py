"""`mcp-bindgen export`: writes the meaning of each revision as JSON, for other languages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from mcp_bindgen import pins
from mcp_bindgen.cli import OK
from mcp_bindgen.cli.options import FOLDER
from mcp_bindgen.cli.show import say

__all__ = ["command"]


@click.command("export")
@click.option(
    "--revision",
    "revisions",
    metavar="REVISION",
    multiple=True,
    help="Export this revision; repeatable (default: every revision).",
)
@click.argument("folder", type=FOLDER, metavar="DIR")
def command(revisions: tuple[str, ...], folder: Path) -> int:
    """Write the meaning of each revision into DIR as JSON, for generators in other languages.

    DIR/REVISION/ir.json has the types, the methods, their directions and capabilities,
    DIR/REVISION/schema.json the same types as JSON Schema. DIR/ir.schema.json is the JSON Schema of
    each ir.json, whose `format` names its version. Other files of DIR stay as they are.
    """
    for name, body in _files(revisions or tuple(pins.revisions())):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{json.dumps(body, indent=2, ensure_ascii=False)}\n", encoding="utf-8")
        say(f"{path}: is written")
    return OK


def _files(revisions: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Yield the name and the contents of each file. Raises InputError for an unknown revision."""
    from mcp_bindgen.ir.export.dump import dump
    from mcp_bindgen.ir.export.ir_schema import IR_SCHEMA
    from mcp_bindgen.ir.export.json_schema import json_schema

    read = {name: pins.meaning(pins.find(name, ())) for name in revisions}
    yield "ir.schema.json", IR_SCHEMA
    for name, schema in read.items():
        yield f"{name}/ir.json", dump(schema)
        yield f"{name}/schema.json", json_schema(schema)
