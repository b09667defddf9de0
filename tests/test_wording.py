"""The lint of wording sees planted sentences, names and pages, and passes plain ones."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Final

import pytest

from tests.support.verbs import VERBS
from tests.wording import (
    NO_CODE,
    PAGE_LIMITS,
    REFERENCES,
    Figures,
    Page,
    effect_word,
    figures,
    is_participle,
    page,
    page_problems,
    pages,
    problems,
)

ROOT: Final = Path(__file__).parents[1]

LIMITS = Figures(what=4, that=14, participles=4, no_verb=0)


def function(text: str) -> ast.FunctionDef:
    node = ast.walk(ast.parse(text))
    return next(each for each in node if isinstance(each, ast.FunctionDef))


def test_words_of_docstrings_are_counted_and_code_is_not() -> None:
    text = '"""What that is: `what(that)`."""\nLIMIT = 1\n"""That limit."""\nx = "what"\n'
    assert figures([text]) == Figures(what=200.0, that=400.0, participles=0.0, no_verb=0.0)


@pytest.mark.parametrize("name", ["kept", "_joined", "types_chosen", "narrowed_as", "undeclared"])
def test_a_participle_is_seen(name: str) -> None:
    assert is_participle(name)


@pytest.mark.parametrize(
    "name",
    ["keep", "is_kept", "named_types", "has_joined", "feed", "_need", "read_tagged", "as_of"],
)
def test_a_verb_a_question_and_a_noun_are_no_participles(name: str) -> None:
    assert not is_participle(name)


EFFECTS = (
    'def f(self) -> int:\n    """The number."""\n    self.a = 1',
    'def f(self) -> int:\n    """The number."""\n    self.a.b[0] += 1',
    'def f(self) -> int:\n    """The number."""\n    del self.a[0]',
    'def f(self) -> int:\n    """The number."""\n    return self.a.pop()',
    'def f(x: int) -> None:\n    """The number."""\n    g(x)',
)
NO_EFFECTS = (
    'def f(self) -> int:\n    """The number."""\n    return self.a',
    'def f(self) -> int:\n    """The number."""\n    a = 1\n    return a',
    "def f(self) -> int:\n    self.a = 1",
    '@property\ndef f(self) -> int:\n    """The number."""\n    self.a = 1',
    'def f(self) -> None:\n    """The number."""',
    'def __init__(self) -> None:\n    """The number."""\n    self.a = 1',
)


@pytest.mark.parametrize("text", EFFECTS)
def test_a_function_with_an_effect_must_begin_with_a_verb(text: str) -> None:
    assert effect_word(function(text)) == "the"
    assert figures([text]).no_verb == 100
    assert figures([text.replace("The number", "Set the number")]).no_verb == 0


@pytest.mark.parametrize("text", NO_EFFECTS)
def test_a_function_without_an_effect_may_name_its_result(text: str) -> None:
    assert effect_word(function(text)) is None
    assert figures([text]).no_verb == 0


def test_the_list_of_verbs_has_no_other_words() -> None:
    others = {"a", "all", "each", "the", "those", "what", "whether", "which", "raises", "writes"}
    assert not VERBS & others
    assert all(verb.islower() and verb.isalpha() for verb in VERBS)


def test_a_room_over_a_limit_is_named() -> None:
    assert [*problems({"a": Figures(1, 2, 3, 0)}, LIMITS)] == []
    assert [*problems({"a": Figures(9, 2, 3, 0)}, LIMITS)] == ["a: what is 9, above 4"]


def test_a_page_is_measured_without_its_code() -> None:
    text = "What you do:\n\n```python\nwhat = you\n```\n\n`what` [your page](what.md) <b>it</b>\n"
    assert page(text)[:2] == (166.7, 333.3)


def test_words_in_tables_and_words_for_each_snippet_are_counted() -> None:
    text = "One two three four.\n\n| five | six |\n| --- | --- |\n\n```sh\nseven\n```\n" * 2
    assert page(text)[2:] == (33.3, 6.0)
    assert page(text, reference=True)[2:] == (33.3, 4.0)


def test_a_page_with_a_figure_beyond_its_limit_is_named() -> None:
    assert [*page_problems({"p": Page(1, 9)})] == []
    assert [*page_problems({"p": Page(9, 1)})] == [
        "p: what is 9, above 4",
        "p: you is 1, below 5",
    ]
    assert [*page_problems({"p": Page(1, 9, 30, 200)})] == [
        "p: tables is 30, above 15",
        "p: snippet is 200, above 170",
    ]
    assert [*page_problems({"docs/THREATS.md": Page(1, 9, 30, 100)})] == []
    assert [*page_problems({"docs/index.md": Page(1, 9, 10, 200)})] == []


def test_a_page_that_may_have_tables_or_no_code_is_there_and_needs_the_exception() -> None:
    measured = pages(ROOT)
    assert [p for p in REFERENCES if measured[p].tables <= PAGE_LIMITS.tables] == []
    assert [p for p in NO_CODE if measured[p].snippet <= PAGE_LIMITS.snippet] == []
