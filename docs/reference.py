"""Writes the reference of the command line: each verb with its usage and options, from click."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click

from mcp_bindgen.cli import VERBS, main

__all__ = ["reference"]


def reference() -> str:
    """One section for each verb, in the order of `mcp-bindgen --help`."""
    context = click.Context(main, info_name="mcp-bindgen")
    return "".join("".join(_section(context, verb)) for verb in VERBS)


def _section(context: click.Context, verb: str) -> Iterator[str]:
    command = main.get_command(context, verb)
    assert command is not None
    inner = click.Context(command, info_name=verb, parent=context)
    yield f"\n### {verb}\n\n```text\n{' '.join(_usage(command, inner))}\n```\n"
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        yield f"\n{' '.join(paragraph.split())}\n"
    yield "\n| option | |\n| --- | --- |\n"
    for option in command.params:
        if isinstance(option, click.Option) and not option.hidden:
            yield f"| {_written(option, inner)} | {_cell(_help(option))} |\n"


def _usage(command: click.Command, context: click.Context) -> list[str]:
    return [context.command_path, *command.collect_usage_pieces(context)]


def _written(option: click.Option, context: click.Context) -> str:
    """The option as it is typed, with what it takes."""
    names = ", ".join(f"`{name}`" for name in option.opts)
    value = "" if option.is_flag else f" `{option.make_metavar(context)}`"
    return _cell(f"{names}{value}")


def _help(option: click.Option) -> str:
    shown = option.show_default and option.default is not None
    default = f" The default is {_plain(option.default)}." if shown else ""
    return f"{option.help or ''}{default}{' Required.' if option.required else ''}"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _plain(value: object) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)
