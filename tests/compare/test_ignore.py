"""Ignore rows: what they hide, what is told of them, and what is no row."""

from __future__ import annotations

from datetime import date

import pytest

from mcp_bindgen import pins
from mcp_bindgen.compare.report.ignore import apply, parse
from mcp_bindgen.compare.report.report import Report, Side, compare
from mcp_bindgen.errors import InputError
from mcp_bindgen.source import Source

TODAY = date(2026, 6, 1)
TEXT = """
type ClientRequest = FooRequest; type ServerResult = FooResult;
interface FooRequest { method: "foo"; params: { a%s: string; b%s: string } }
interface FooResult { ok%s: boolean }
"""
PARAMS = "FooRequest.params"


def side(*marks: str) -> Side:
    file = pins.Found((TEXT % marks).encode(), "f.ts", "")
    return Side("f", pins.lower(file), Source(file.data, file.path))


def report() -> Report:
    return compare(side("?", "?", "?"), side("", "", ""))


def row(rule: str, path: str, more: str = "") -> str:
    return f'[[ignore]]\nrule = "{rule}"\npath = "{path}"\nreason = "known"\n{more}\n'


def left(text: str, today: date = TODAY) -> tuple[list[str], int]:
    """Rule and path of what the rows leave, and how many they hide."""
    visible = apply(report(), parse(text, "i.toml"), today)
    return [f"{f.rule.id} {f.change.path}" for f in visible.findings], visible.hidden


ALL = [f"MEMBER_BECAME_REQUIRED {path}" for path in (f"{PARAMS}.a", f"{PARAMS}.b", "FooResult.ok")]


def test_without_rows_nothing_is_hidden() -> None:
    assert sorted(left("")[0]) == sorted(ALL)
    assert left("")[1] == 0


def test_a_row_hides_its_rule_at_its_path_alone() -> None:
    findings, hidden = left(row("MEMBER_BECAME_REQUIRED", f"{PARAMS}.a"))
    assert (sorted(findings), hidden) == (sorted(set(ALL) - {ALL[0]}), 1)


def test_a_byte_order_mark_is_no_part_of_the_rows() -> None:
    text = row("MEMBER_BECAME_REQUIRED", f"{PARAMS}.a")
    assert left(f"\ufeff{text}") == left(text)


@pytest.mark.parametrize(
    ("rule", "path", "hidden"),
    [
        ("MEMBER_*", f"{PARAMS}.b", 1),
        ("MEMBER_BECAME_REQUIRED", f"{PARAMS}.*", 2),
        ("*", "Foo*.*k", 1),
        ("*_*_*", "*", 3),
        ("*REQUIRED", "F*R*.*m*.a", 1),
    ],
)
def test_a_star_stands_for_any_text(rule: str, path: str, hidden: int) -> None:
    assert left(row(rule, path))[1] == hidden


@pytest.mark.parametrize(
    ("rule", "path"),
    [
        ("MEMBER_BECAME_OPTIONAL", f"{PARAMS}.a"),
        ("MEMBER_BECAME_REQUIRED", PARAMS),
        ("MEMBER_BECAME_REQUIRED", f"{PARAMS}.?"),
        ("MEMBER_BECAME_REQUIRED", f"{PARAMS}.[ab]"),
        ("MEMBER_BECAME_REQUIRED", "FooRequestXparams.a"),
        ("MEMBER_BECAME_REQUIRED", f"{PARAMS}.a*a"),
        ("MEMBER_BECAME_REQUIRED", f"{PARAMS.lower()}.a"),
    ],
)
def test_a_row_that_hides_nothing_is_a_finding(rule: str, path: str) -> None:
    findings, hidden = left(row(rule, path))
    assert hidden == 0
    assert set(findings) == {*ALL, f"IGNORE_UNUSED {path}"}


def test_a_row_hides_until_its_date_and_is_a_finding_after_it() -> None:
    text = row("MEMBER_BECAME_REQUIRED", "FooResult.ok", "until = 2026-06-01")
    assert left(text)[1] == 1
    findings, hidden = left(text, date(2026, 6, 2))
    assert hidden == 0
    assert set(findings) == {*ALL, "IGNORE_EXPIRED FooResult.ok"}


def test_what_is_said_of_a_row_informs_and_names_its_place_and_reason() -> None:
    text = f"# a comment\n\n{row('MEMBER_BECAME_REQUIRED', 'Foo')}"
    visible = apply(report(), parse(text, "i.toml"), TODAY)
    finding = visible.findings[-1]
    assert (visible.severity(finding), finding.change.note) == ("docs", "i.toml:3: known")


def test_two_rows_may_hide_the_same() -> None:
    text = row("MEMBER_*", "FooResult.ok") + row("MEMBER_BECAME_REQUIRED", "FooResult.ok")
    findings, hidden = left(text)
    assert (len(findings), hidden) == (2, 1)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[ignore]", r"i.toml: .*line 1"),
        ("a = 1", "i.toml: has 'a'; expected only"),
        ("ignore = 1", "'ignore' as something else than a list"),
        ("ignore = [1]", "i.toml:1: 1 is not a row"),
        (row("NO_SUCH_RULE", "a"), "i.toml:1: no rule is called 'NO_SUCH_RULE'"),
        ("\n" + row("*", "a") + row("MEMBER_BECAME_REQUIRD", "a"), "i.toml:7: no rule is called"),
        (row("MEMBER_BECAME_REQUIRD", "a"), "Did you mean MEMBER_BECAME_REQUIRED"),
        (row("IGNORE_UNUSED", "a"), "no rule is called 'IGNORE_UNUSED'"),
        ('[[ignore]]\nrule = "*"\npath = "a"', "i.toml:1: the row has no `reason`"),
        ('[[ignore]]\nrule = "*"\npath = "a"\nreason = " "', "the row has no `reason`"),
        ('[[ignore]]\npath = "a"\nreason = "b"', "the row has no `rule`"),
        ('[[ignore]]\nrule = "*"\nreason = "b"', "the row has no `path`"),
        (row("*", "a", "because = 1"), "a row has no 'because'"),
        (row("*", "a", 'until = "2026-01-01"'), "`until` is a date"),
        (row("*", "a", "until = 2026-01-01T00:00:00"), "`until` is a date"),
        ('[[ignore]]\nrule = ["*"]', "`rule` is a string"),
    ],
)
def test_what_is_no_row_is_refused_with_its_place(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        parse(text, "i.toml")
