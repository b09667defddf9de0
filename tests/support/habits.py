"""Reads the sources of tests, and yields what makes a test slow or a matter of chance."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

__all__ = ["HABITS", "Finding", "findings"]

Finding: TypeAlias = tuple[str, int]
"""The name of a habit, and the line."""
_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
_CLOCKS: Final = {"monotonic", "perf_counter", "monotonic_ns", "perf_counter_ns"}
"""Not `process_time`: it stands while others work, and bounds what hostile input costs."""
_LISTENS: Final = {"bind", "create_server", "listen", "run_http", "serve", "start_server", "Config"}


def _called(node: ast.AST) -> str:
    """The last name of what is called: `sleep` of `asyncio.sleep(1)`."""
    if not isinstance(node, ast.Call):
        return ""
    match node.func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""


def _sleeps(node: ast.AST) -> bool:
    """A sleep of other than 0 seconds."""
    if _called(node) != "sleep" or not isinstance(node, ast.Call):
        return False
    zero = [isinstance(each, ast.Constant) and each.value == 0 for each in node.args]
    return zero != [True]


def _reads_clock(node: ast.AST, *, virtual: bool) -> bool:
    """A reading of a clock that nobody sets; `loop.time()` is one unless the loop's time is."""
    if _called(node) in _CLOCKS:
        return True
    if virtual or _called(node) != "time" or not isinstance(node, ast.Call):
        return False
    owner = ast.unparse(node.func).removesuffix(".time")
    return owner.endswith(("loop", "loop()"))


def _names(targets: list[ast.expr]) -> Iterator[str]:
    for target in targets:
        for node in ast.walk(target):
            if isinstance(node, ast.Name):
                yield node.id


def _clock_names(function: ast.AST, *, virtual: bool) -> set[str]:
    """The variables that hold a reading of a clock, or a difference of two."""
    names = set[str]()
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and any(
            _reads_clock(each, virtual=virtual) for each in ast.walk(node.value)
        ):
            names |= {*_names(node.targets)}
    return names


def _fixed_port(node: ast.AST) -> bool:
    """A server on a port that another process may have."""
    if _called(node) not in _LISTENS or not isinstance(node, ast.Call):
        return False
    ports: list[ast.expr] = [word.value for word in node.keywords if word.arg == "port"]
    for each in node.args:
        ports += each.elts[1:2] if isinstance(each, ast.Tuple) else [each]
    return any(
        isinstance(each, ast.Constant) and type(each.value) is int and each.value > 1023
        for each in ports
    )


def _is_real(node: ast.AST) -> bool:
    """Whether a test, or a module by its `pytestmark`, is marked `real_time`."""
    if isinstance(node, _Function):
        return any("real_time" in ast.unparse(each) for each in node.decorator_list)
    return isinstance(node, ast.Assign) and (
        "pytestmark" in _names(node.targets) and "real_time" in ast.unparse(node.value)
    )


def _sleep_of_one_process(node: ast.AST, *, real: bool) -> Iterator[int]:
    if not real:
        yield from (each.lineno for each in ast.walk(node) if _sleeps(each))  # type: ignore[attr-defined]


def _asserted_clock(node: ast.AST, *, real: bool) -> Iterator[int]:
    virtual = isinstance(node, ast.AsyncFunctionDef) and not real
    readings = _clock_names(node, virtual=virtual)
    for each in ast.walk(node):
        if isinstance(each, ast.Assert) and any(
            _reads_clock(part, virtual=virtual)
            or (isinstance(part, ast.Name) and part.id in readings)
            for part in ast.walk(each.test)
        ):
            yield each.lineno


def _port(node: ast.AST, *, real: bool) -> Iterator[int]:
    yield from (each.lineno for each in ast.walk(node) if _fixed_port(each))  # type: ignore[attr-defined]


def _own_loop(node: ast.AST, *, real: bool) -> Iterator[int]:
    for each in ast.walk(node):
        if isinstance(each, ast.Call) and ast.unparse(each.func) == "asyncio.run":
            yield each.lineno


HABITS: Final[dict[str, Callable[..., Iterator[int]]]] = {
    "sleeps": _sleep_of_one_process,
    "asserts a clock": _asserted_clock,
    "fixed port": _port,
    "asyncio.run": _own_loop,
}


_MAY_HAVE: Final[dict[str, re.Pattern[str]]] = {
    "sleeps": re.compile(r"\bsleep\b"),
    "asserts a clock": re.compile(r"\btime\b|" + "|".join(sorted(_CLOCKS))),
    "fixed port": re.compile("|".join(sorted(_LISTENS))),
    "asyncio.run": re.compile(r"\basyncio\b"),
}
"""A text without such a word has no such habit, and is not looked through for it."""


def findings(text: str) -> Iterator[Finding]:
    """What the source of a module does, statement by statement of its top level."""
    habits = {name: HABITS[name] for name, words in _MAY_HAVE.items() if words.search(text)}
    if not habits:
        return
    module = ast.parse(text)
    real = any(_is_real(node) for node in module.body if isinstance(node, ast.Assign))
    for node in module.body:
        for name, habit in habits.items():
            yield from ((name, line) for line in habit(node, real=real or _is_real(node)))
