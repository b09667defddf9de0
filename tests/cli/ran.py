"""Runs the command as a person would: what it says, and how it ends."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from click.testing import CliRunner

from mcp_bindgen.cli import main

__all__ = ["Ran", "run"]


@dataclass(frozen=True, slots=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def run(*arguments: object, code: int = 0) -> Ran:
    """Runs in this process; it must end with `code`."""
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    ran = Ran(result.exit_code, result.stdout, result.stderr)
    trouble = result.exception
    assert trouble is None or isinstance(trouble, SystemExit), repr(trouble)
    assert ran.code == code, ran
    if code == 2:
        assert ran.out == ""
        assert ran.err
        assert "Traceback" not in ran.err
    return ran
