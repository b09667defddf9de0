"""A dataclass that a tool gets has all its members, as one that it makes itself."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import msgspec
import pytest

from mcp_runtime import Client, Context, Server
from mcp_runtime.revisions import latest as t


@dataclass
class Item:
    name: str
    count: int = 3
    tags: list[str] = field(default_factory=lambda: ["new"])


@dataclass(frozen=True)
class Frozen:
    item: Item
    note: str | None = None


@dataclass(slots=True)
class Slots:
    item: Item
    level: int = 1


class Struct(msgspec.Struct):
    item: Item
    level: int = 2


ITEM = {"name": "a", "count": 3, "tags": ["new"]}
GIVEN = {"item": {"name": "a"}}
KINDS: dict[str, tuple[Any, Any, Any]] = {
    "a dataclass": (Item, GIVEN["item"], ITEM),
    "one that is frozen, with another inside": (Frozen, GIVEN, {"item": ITEM, "note": None}),
    "one inside of slots": (Slots, GIVEN, {"item": ITEM, "level": 1}),
    "one inside of a Struct": (Struct, GIVEN, {"item": ITEM, "level": 2}),
    "one in a list": (list[Item], [{"name": "a"}], [ITEM]),
    "one in a dictionary": (dict[str, Item], {"k": {"name": "a"}}, {"k": ITEM}),
    "one in a union": (Item | None, {"name": "a"}, ITEM),
}


@pytest.mark.parametrize("kind", KINDS)
async def test_a_tool_that_returns_what_it_got_leaves_no_default_out(kind: str) -> None:
    annotation, given, expected = KINDS[kind]
    server = Server("s", "1")

    async def echo(value: Any) -> dict[str, Any]:
        return {"value": value}

    echo.__annotations__["value"] = annotation
    server.add_tool(echo)

    async with Client(server) as client:
        result = await client.call_tool("echo", {"value": given})
        assert result.structured_content == {"value": expected}


async def test_an_answer_of_the_user_has_its_defaults_too() -> None:
    @dataclass
    class Person:
        name: str
        age: int = 3

    server, answers = Server("s", "1"), list[dict[str, Any]]()

    @server.tool
    async def ask(ctx: Context) -> None:
        answer = await ctx.elicit("Who?", Person)
        assert answer.content is not None
        answers.extend((vars(answer.content), asdict(answer.content)))

    async def fill_in(question: t.ElicitRequestParams) -> t.ElicitResult:
        return t.ElicitResult(action="accept", content={"name": "Ada"})

    async with Client(server, on_elicit=fill_in) as client:
        await client.call_tool("ask")
    assert answers == [{"name": "Ada", "age": 3}] * 2
