"""Options that several verbs have."""

from __future__ import annotations

import click

__all__ = ["imports_option"]

imports_option = click.option(
    "--import",
    "imports",
    multiple=True,
    metavar="SPECIFIER=FILE|REVISION",
    help="Read what a schema imports from SPECIFIER in this file or revision; repeatable "
    "(default: as the pins say).",
)
