"""What `--help` says: every option in a whole sentence, with its default; and mistyped verbs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import click
import pytest

from mcp_bindgen.cli import VERBS, main
from tests.support.command import invoke

SENTENCE: Final = re.compile(r"[A-Z].*[^.]\.", re.DOTALL)
STATED: Final = re.compile(r"\(default: (.+)\)\.\Z", re.DOTALL)


def command_of(verb: str) -> click.Command:
    command = main.get_command(click.Context(main), verb)
    assert command is not None
    return command


def options() -> Iterator[tuple[str, click.Option]]:
    for verb in VERBS:
        for p in command_of(verb).params:
            if isinstance(p, click.Option) and not p.hidden:
                yield verb, p


EVERY: Final = [pytest.param(o, id=f"{verb} {o.opts[0]}") for verb, o in options()]


def has_default(option: click.Option) -> bool:
    """Whether it takes a value, and something is done where none is given."""
    return not (option.required or option.is_flag or isinstance(option.flag_value, str))


@pytest.mark.parametrize("option", EVERY)
def test_the_help_of_an_option_is_a_sentence_with_its_default(option: click.Option) -> None:
    text = option.help or ""
    assert SENTENCE.fullmatch(text)
    stated = STATED.search(text)
    assert stated or not has_default(option)
    if stated and isinstance(option.default, (str, int, float)):
        assert stated[1].startswith(f"{option.default}")


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_of_a_verb_is_sentences(verb: str) -> None:
    for text in (VERBS[verb], command_of(verb).help or ""):
        assert SENTENCE.fullmatch(" ".join(text.split()))


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("dif", "diff"), ("generat", "generate"), ("Trace", "trace"), ("validates", "validate")],
)
def test_a_mistyped_verb_is_answered_with_the_one_that_was_meant(typed: str, meant: str) -> None:
    result = invoke(typed)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"There is no verb '{typed}'. Did you mean {meant}?" in result.stderr


def test_a_verb_like_no_other_is_answered_with_all_of_them() -> None:
    result = invoke("xyzzy")
    assert result.exit_code == 2
    assert all(verb in result.stderr for verb in VERBS)


def test_the_command_alone_shows_its_help_as_lines() -> None:
    result = invoke()
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == invoke("--help").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["install", "x.py"], "Missing option '--client'. Choose from: claude-code, "),
        (["call", "--timeout", "5s", "x.py"], "'5s' is not a valid number of seconds."),
    ],
)
def test_a_mistake_with_an_option_is_told_on_one_line(arguments: list[str], message: str) -> None:
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr.splitlines()[-1]
