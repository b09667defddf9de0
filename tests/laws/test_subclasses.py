"""Subclasses of a user: annotations, defaults and `__post_init__` hold as in any other class.

No postponed annotations here: most programs have none.
"""

import inspect
from dataclasses import field, fields, replace
from typing import ClassVar, Literal

import msgspec
import pytest

from mcp_wire.v2025_11_25 import models_dataclass, models_msgspec


class Labelled(models_dataclass.TextContent):
    """Text with labels."""

    known: ClassVar[set[str]] = {"a", "b"}
    size: int
    labels: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        if not self.known.issuperset(self.labels):
            raise ValueError("unknown label")


class Counted(Labelled):
    """A subclass of a subclass."""

    count: int = 0


class Described(models_dataclass.ToolInputSchema):
    """An open object."""

    notes: list[str] = field(default_factory=list[str])


class Sized(models_msgspec.TextContent, frozen=True):
    """Text of which some is demanded."""

    sizes: list[int] = msgspec.field(default_factory=lambda: [1])

    def __post_init__(self) -> None:
        if not self.text:
            raise ValueError("no text")


class Fixed(models_msgspec.JSONRPCRequest, frozen=True):
    """A subclass of a class with a constant."""

    def __post_init__(self) -> None:
        if not self.method:
            raise ValueError("no method")


@pytest.mark.parametrize("of", [Labelled, Counted])
def test_a_dataclass_has_its_default_factories_and_post_init(of: type[Labelled]) -> None:
    one, other = of(text="a", size=1), of(text="a", size=1)
    one.labels.append("a")
    assert (one.labels, other.labels) == (["a"], [])
    assert replace(one, text="b").labels == ["a"]
    assert {each.name for each in fields(of)} >= {"text", "size", "labels"}
    assert "known" not in inspect.signature(of).parameters
    with pytest.raises(ValueError, match="unknown label"):
        of(text="a", size=1, labels=["c"])
    with pytest.raises(TypeError, match="lacks keyword arguments: size"):
        of(text="a")  # type: ignore[call-arg]


def test_a_constructor_that_a_dataclass_inherits_is_used() -> None:
    class Mixin:
        def __init__(self, **members: str) -> None:
            super().__init__(**{"text": "mixed", **members})

    class Short(models_dataclass.TextContent):
        def __init__(self, text: str = "short") -> None:
            super().__init__(text=text)

    class Shorter(Short):
        labels: list[str] = field(default_factory=list[str])

    class Mixed(Mixin, models_dataclass.TextContent):
        pass

    assert [made.text for made in (Short("a"), Shorter("b"), Shorter(), Mixed())] == [
        "a",
        "b",
        "short",
        "mixed",
    ]


def test_a_member_whose_type_speaks_of_class_variables_is_a_member() -> None:
    class Speaking(models_dataclass.TextContent):
        kind: Literal["ClassVar"]

    assert Speaking(text="a", kind="ClassVar").kind == "ClassVar"


def test_an_open_dataclass_has_its_default_factories() -> None:
    assert Described(properties={}).notes == []
    assert Counted(text="a", size=1).count == 0


def test_a_struct_has_its_default_factories_and_post_init() -> None:
    assert Sized(text="a").sizes == Sized(text="a", sizes=[1]).sizes == [1]
    for wrong in ("Sized(text='')", "Fixed(id=1, method='')"):
        with pytest.raises(ValueError, match="no "):
            eval(wrong)
    made = Fixed(id=1, method="a")
    assert msgspec.json.encode(made) == b'{"jsonrpc":"2.0","id":1,"method":"a"}'
    with pytest.raises(TypeError, match="Missing required argument 'text'"):
        Sized(text=msgspec.UNSET)  # type: ignore[arg-type]


def test_a_struct_shows_rich_what_it_prints() -> None:
    made = models_msgspec.TextContent(text="a", extra_={"b": 1})
    assert list(made.__rich_repr__()) == [("extra_", {"b": 1}), ("text", "a")]


def test_msgspec_names_the_hook_that_is_missing() -> None:
    tools = {"tools": [{"name": "a", "inputSchema": {"type": "object"}}]}
    with pytest.raises(msgspec.ValidationError, match="needs dec_hook"):
        msgspec.convert(tools, models_msgspec.ListToolsResult)
