"""A union of the protocol gets a new arm one day; no code takes what is not one arm for another."""

from __future__ import annotations

import ast
import sys
import types as python_types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Union

import pytest

from mcp_runtime import types
from mcp_runtime.errors import RpcError
from mcp_runtime.server.functions import content
from mcp_runtime.server.methods import _reference_name  # pyright: ignore[reportPrivateUsage]


def unions_in(annotation: Any) -> Iterator[set[str]]:
    """The names of the classes of each union in a type."""
    args = typing.get_args(annotation)
    if typing.get_origin(annotation) in (Union, python_types.UnionType):
        arms = {each.__name__ for each in args if hasattr(each, "__struct_fields__")}
        if len(arms) > 1:
            yield arms
    for each in args:
        yield from unions_in(each)


def arms() -> set[str]:
    """The classes that are an arm of some union of the newest revision."""
    unions: set[str] = set()
    for each in vars(types).values():
        annotations = [each]
        if hasattr(each, "__struct_fields__"):
            names = {**vars(sys.modules[each.__module__]), "Extra": Any}  # for checkers alone
            annotations = [*typing.get_type_hints(each, names).values()]
        for annotation in annotations:
            for union in unions_in(annotation):
                unions |= union
    return unions


def asked_of(test: ast.AST) -> Iterator[tuple[str, set[str]]]:
    """What `isinstance` asks for in an expression: of what, and the classes of `t`."""
    for call in ast.walk(test):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "isinstance":
            of, classes = call.args
            names = {
                each.attr
                for each in ast.walk(classes)
                if isinstance(each, ast.Attribute) and ast.unparse(each.value) == "t"
            }
            yield ast.unparse(of), names


def guesses(source: str, of_unions: set[str]) -> Iterator[str]:
    """Members that are read of what `isinstance` has not found to be an arm."""
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            asked = {of for of, names in asked_of(function) if names & of_unions}
            yield from _unguarded(function, asked)


def _unguarded(node: ast.AST, asked: set[str]) -> Iterator[str]:
    if isinstance(node, ast.Attribute) and ast.unparse(node.value) in asked:
        yield ast.unparse(node)
    inside: list[ast.AST] = []
    if isinstance(node, ast.If | ast.IfExp):
        inside = node.body if isinstance(node.body, list) else [node.body]
        test: list[ast.AST] = [node.test]
    elif isinstance(node, ast.comprehension):
        test = []
    elif isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        test, inside = [node.values[0]], [*node.values[1:]]
    else:
        test = []
    if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
        filters = [each for part in node.generators for each in part.ifs]
        unions = {of for each in filters for of, _ in asked_of(each)}
        for below in ast.iter_child_nodes(node):
            yield from _unguarded(below, asked - unions)
        return
    unions = {of for each in test for of, _ in asked_of(each)}
    for below in ast.iter_child_nodes(node):
        yield from _unguarded(below, asked - unions if below in inside else asked)
        match below:  # the rest of a block after `if not isinstance(...): return`
            case ast.If(test=ast.UnaryOp() as is_other, body=[*_, ast.Return() | ast.Raise()]):
                asked = asked - {of for of, _ in asked_of(is_other)}
            case _:
                pass


@pytest.mark.parametrize(
    ("body", "read"),
    [
        ("return x.name if isinstance(x, t.A) else x.uri", ["x.uri"]),
        ("if isinstance(x, t.A):\n  return x.name\n return x.uri", ["x.uri"]),
        ("if isinstance(x, t.A):\n  pass\n elif x.uri:\n  pass", ["x.uri"]),
        ("return [y.id for y in x if isinstance(y, t.A)]", []),
        ("return isinstance(x, t.A) and x.name", []),
        ("if not isinstance(x, t.A):\n  return None\n return x.uri", []),
        ("if isinstance(x, t.A):\n  return x.name\n if isinstance(x, t.B):\n  return x.uri", []),
        ("return x.name if isinstance(x, t.Other) else x.uri", []),
    ],
)
def test_a_guess_is_seen(body: str, read: list[str]) -> None:
    assert [*guesses(f"def f(x):\n {body}", {"A", "B"})] == read


@pytest.mark.wide
def test_no_code_of_the_runtime_takes_a_new_arm_for_an_old_one(root: Path) -> None:
    of_unions = arms()
    assert {"PromptReference", "TextContent", "ElicitRequestURLParams"} <= of_unions
    unions = [
        f"{path.name}: {guess}"
        for path in sorted((root / "runtime" / "mcp_runtime").rglob("*.py"))
        for guess in guesses(path.read_text("utf-8"), of_unions)
    ]
    assert unions == []


class NewArm:
    """What no arm of today is."""

    type = "ref/new"


def test_a_new_kind_of_reference_is_refused_in_words() -> None:
    with pytest.raises(RpcError, match="completes nothing of a NewArm") as refused:
        _reference_name(NewArm())
    assert refused.value.code == -32602


def test_a_new_kind_of_content_in_a_prompt_is_left_as_it_is() -> None:
    block: Any = NewArm()
    assert content._check_block(block) is block  # pyright: ignore[reportPrivateUsage]
    assert content._checked_resource(block) is block  # pyright: ignore[reportPrivateUsage]
