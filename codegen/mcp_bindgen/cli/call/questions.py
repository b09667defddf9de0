"""Asks the person at the terminal what a server wants to know: forms, and pages to visit."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Final

import click

from mcp_bindgen.cli.show import in_one_line, safe_text, warn

if TYPE_CHECKING:
    from mcp_runtime.revisions import latest as t

__all__ = ["Questions", "can_ask", "read_line"]

_NUMBERS: Final = ("integer", "number")
_HINTS: Final = {"boolean": "y/n", "array": "numbers with commas", "string": ""}
_YES: Final = {"y": True, "yes": True, "true": True, "n": False, "no": False, "false": False}


def can_ask() -> bool:
    """True if a person is at the terminal: nothing is asked of a pipe."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


async def read_line(prompt: str) -> str:
    """Show the prompt on stderr and return a line of stdin. Raises EOFError at its end.

    The thread does not keep the process alive: an interrupt ends `call` while it reads.
    """
    loop = asyncio.get_running_loop()
    line: asyncio.Future[str] = loop.create_future()

    def read() -> None:
        text = sys.stdin.readline()
        loop.call_soon_threadsafe(_settle, line, text)

    click.echo(prompt, nl=False, err=True)
    threading.Thread(target=read, daemon=True, name="read_line").start()
    if not (text := await line):
        raise EOFError
    return text.strip()


def _settle(line: asyncio.Future[str], text: str) -> None:
    if not line.done():
        line.set_result(text)


class _Again(Exception):
    """A text which cannot be the value of a field; says why."""


class Questions:
    """The `on_elicit` of `call`.

    `read` shows a prompt and returns the answer. `paused` is entered while a person is asked;
    `browse` opens a page, and returns False if it cannot.
    """

    paused: Callable[[], AbstractContextManager[object]] = nullcontext

    def __init__(
        self,
        *,
        read: Callable[[str], Any] = read_line,
        browse: Callable[[str], bool] | None = None,
    ) -> None:
        self._read, self._browse = read, browse
        self._one_at_a_time = asyncio.Lock()

    async def __call__(self, params: t.ElicitRequestParams) -> t.ElicitResult:
        from mcp_runtime.revisions import latest

        async with self._one_at_a_time:
            with self.paused():
                warn(f"the server asks: {safe_text(params.message)}")
                try:
                    if isinstance(params, latest.ElicitRequestURLParams):
                        return await self._visit(params.url)
                    return await self._fill(params.requested_schema)
                except EOFError:
                    warn("")
                    return latest.ElicitResult(action="cancel")

    async def _choose(self, question: str) -> t.ElicitResult | None:
        """Ask for consent; return the result if there is none."""
        from mcp_runtime.revisions import latest

        while True:
            answer = (await self._read(f"{question} [Y]es, [n]o, [c]ancel: ")).lower()
            if answer in ("", "y", "yes"):
                return None
            if answer in ("n", "no"):
                return latest.ElicitResult(action="decline")
            if answer in ("c", "cancel"):
                return latest.ElicitResult(action="cancel")

    async def _visit(self, url: str) -> t.ElicitResult:
        from mcp_runtime.revisions import latest

        warn(f"  {in_one_line(url)}")
        if (refused := await self._choose("open this page in a browser?")) is not None:
            return refused
        if self._browse is None or not self._browse(url):
            warn("no browser could be opened; open the address above yourself")
        return latest.ElicitResult(action="accept")

    async def _fill(self, schema: t.ElicitRequestFormParamsRequestedSchema) -> t.ElicitResult:
        from mcp_runtime.revisions import latest
        from mcp_runtime.shared.elicitation_form import mismatch

        if (refused := await self._choose("answer?")) is not None:
            return refused
        written: Mapping[str, Any] = latest.to_wire(schema)
        required, properties = written.get("required", ()), written["properties"]
        content: dict[str, Any] = {}
        for name, field in properties.items():
            only = {"type": "object", "properties": {name: field}}
            this = latest.from_wire(latest.ElicitRequestFormParamsRequestedSchema, only)
            while True:
                try:
                    value = _value(field, await self._read(_prompt(name, field, name in required)))
                except _Again as why:
                    warn(f"  {why}")
                    continue
                if value is None and name in required:
                    warn("  an answer is needed; Ctrl-D cancels")
                    continue
                if value is not None and (fault := mismatch(this, {name: value})):
                    warn(f"  {in_one_line(fault)}")
                    continue
                break
            if value is not None:
                content[name] = value
        return latest.ElicitResult(action="accept", content=content)


def _prompt(name: str, field: Mapping[str, Any], required: bool) -> str:
    """The title of a field, its choices, its type and its default."""
    title = in_one_line(str(field.get("title") or name))
    about = f" ({in_one_line(str(field['description']))})" if field.get("description") else ""
    choices = [in_one_line(str(label)) for _, label in _choices(field)]
    hints = [_HINTS.get(field["type"], "" if choices else field["type"])]
    default = field.get("default")
    if default is not None:
        shown = default if isinstance(default, str) else json.dumps(default, ensure_ascii=False)
        hints.append(f"default {in_one_line(shown)}")
    elif not required:
        hints.append("may be empty")
    hint = ", ".join(filter(None, hints))
    lines = [f"  {title}{about}"] if choices else []
    lines += [f"    {number} {label}" for number, label in enumerate(choices, 1)]
    last = f"  {title}{'' if choices else about}{f' [{hint}]' if hint else ''}: "
    return "\n".join([*lines, last])


def _choices(field: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The values of a choice, each with its label."""
    of = field.get("items", field)
    for keyword in ("oneOf", "anyOf"):
        if keyword in of:
            return [(each["const"], each.get("title", each["const"])) for each in of[keyword]]
    values = of.get("enum", ())
    return list(zip(values, of.get("enumNames") or values, strict=False))


def _value(field: Mapping[str, Any], text: str) -> Any:
    """Read a text as the field's type; an empty one is the default, or None. Raises _Again."""
    if not text:
        return field.get("default")
    kind, choices = field["type"], _choices(field)
    if kind == "array":
        return [_choice(choices, part.strip()) for part in text.split(",") if part.strip()]
    if choices:
        return _choice(choices, text)
    if kind == "boolean":
        if text.lower() not in _YES:
            raise _Again("answer y or n")
        return _YES[text.lower()]
    if kind in _NUMBERS:
        try:
            return json.loads(text)
        except ValueError:
            raise _Again(f"{in_one_line(text)} is not a number") from None
    return text


def _choice(choices: list[tuple[str, str]], text: str) -> str:
    """Find a choice by its value or number. Raises _Again."""
    values = [value for value, _ in choices]
    if text in values:
        return text
    if text.isdecimal() and 0 < int(text) <= len(values):
        return values[int(text) - 1]
    raise _Again(f"{in_one_line(text)} is not one of the choices")
