"""URI templates: what fits, what is refused, and that long URIs cost no more than their length."""

from __future__ import annotations

import gc
import sys
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_runtime.limits import Limits
from mcp_runtime.shared.uri_template import Template, TemplateError


@pytest.mark.parametrize(
    ("template", "uri", "values"),
    [
        ("config://app", "config://app", {}),
        ("config://app", "config://apps", None),
        ("greet://{name}", "greet://Ada", {"name": "Ada"}),
        ("greet://{name}", "greet://Ada%20L", {"name": "Ada L"}),
        ("greet://{name}", "greet://", None),
        ("greet://{name}", "greet://a/b", None),
        ("greet://{name}", "greet://a%2Fb", {"name": "a/b"}),
        ("greet://{name}", "greet://a%2F..%2Fb", None),
        ("greet://{name}", "greet://%2Fb", None),
        ("a://{x}-{y}", "a://1-2-3", {"x": "1", "y": "2-3"}),
        ("a://{x}/{y}.json", "a://1/2.json", {"x": "1", "y": "2"}),
        ("a://{x}/{y}.json", "a://1/2.json.json", {"x": "1", "y": "2.json"}),
        ("a://{x}/{y}.json", "a://1/2.txt", None),
        ("file:///{+path}", "file:///a/b.txt", {"path": "a/b.txt"}),
        ("file:///{+path}/raw", "file:///a/raw/raw", {"path": "a/raw"}),
        ("file:///{path*}", "file:///a/b", {"path": "a/b"}),
        ("file:///{+path}", "file:///a/../b", None),
        ("file:///{+path}", "file:///a/%2e%2e/b", None),
        ("file:///{+path}", "file:///a%00b", None),
        ("file:///{+path}", "file:///a%5C..%5Cb", None),
        ("file:///{name}", "file:///..", None),
        ("file:///{name}", "file:///.", None),
        ("file:///{+path}", "file:////etc/passwd", None),
        ("f:///café/{a}", "f:///café/x", {"a": "x"}),
        ("f:///café/{a}", "f:///caf%C3%A9/x", {"a": "x"}),
        ("f:///café/{a}", "f:///caf%c3%a9/x", {"a": "x"}),
        ("f:///caf%C3%A9/{a}", "f:///café/x", {"a": "x"}),
        ("f:///my docs/{a}", "f:///my%20docs/x", {"a": "x"}),
        ("f:///my%20docs/{a}", "f:///my docs/x", {"a": "x"}),
        ("f://{a} to {b}", "f://Oslo%20to%20Bergen", {"a": "Oslo", "b": "Bergen"}),
        ("f://~me/{a}", "f://%7Eme/x", {"a": "x"}),
        ("f://{a}/€{?q}", "f://x/%E2%82%AC?q=1", {"a": "x", "q": "1"}),
        ("f://a%2Fb/{a}", "f://a/b/x", None),
        ("a://b{/x,y}", "a://b/1/2", {"x": "1", "y": "2"}),
        ("a://b{.ext}", "a://b.txt", {"ext": "txt"}),
        ("a://b{;v}", "a://b;v=1", {"v": "1"}),
        ("a://b{#part}", "a://b#c/d", {"part": "c/d"}),
        ("a://b{?q,n}", "a://b", {}),
        ("a://b{?q,n}", "a://b?n=2&q=x%26y", {"q": "x&y", "n": "2"}),
        ("a://b{?q}", "a://b?z=1", None),
        ("a://b{?q}", "a://b?q=1&q=2", None),
        ("a://{+p}{?q}", "a://x/y?q=1", {"p": "x/y", "q": "1"}),
        ("a://{+p}/raw?v=1{&q}", "a://x/y/raw?v=1&q=2", {"p": "x/y", "q": "2"}),
        ("a://{x}.b{?q}", "a://1.b.b", None),
        ("a://{x}{&q}", "a://1&q=2#", None),
    ],
)
def test_a_uri_fits_its_template_in_one_way(
    template: str, uri: str, values: dict[str, str] | None
) -> None:
    assert Template(template).match(uri) == values


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("a://{x}{y}", "put a literal between them"),
        ("a://{+x}/{y}", "no other variable comes after"),
        ("a://{x:3}", "not the name of a variable"),
        ("a://{", "an unbalanced brace"),
        ("a://{}", "not the name"),
        ("a://{x}/{x}", "twice"),
        ("a://{?q}/x", "put the query at the end"),
        ("a" * 8193, "longer than 8192"),
    ],
)
def test_a_template_that_is_ambiguous_or_none_is_refused(template: str, said: str) -> None:
    with pytest.raises(TemplateError, match=said):
        Template(template)


def test_a_uri_longer_than_the_limit_does_not_fit() -> None:
    template = Template("a://{+x}", Limits(uri_chars=10))
    assert template.match("a://123456") == {"x": "123456"}
    assert template.match("a://1234567") is None


@pytest.mark.parametrize("template", ["a://{x}-{y}-{z}!", "a://{+x}/end", "a://{a}/{b}/{c}/{d}"])
def test_a_hostile_uri_takes_no_more_steps_than_a_short_one(template: str) -> None:
    read = Template(template, Limits(uri_chars=10**7))

    def steps(size: int) -> int:
        counted = 0

        def count(*_: object) -> object:
            nonlocal counted
            counted += 1
            return count

        uri = "a://" + "-/" * size
        gc.disable()  # what others ask it to call would be counted too
        sys.settrace(count)
        try:
            read.match(uri)
        finally:
            sys.settrace(None)
            gc.enable()
        return counted

    assert steps(100_000) <= steps(100) + 20


@pytest.mark.wide
@given(st.text(min_size=1, max_size=20), st.text(min_size=1, max_size=20))
def test_what_was_expanded_fits_again(a: str, b: str) -> None:
    try:
        uri = f"t://{quote(a, safe='')}/x/{quote(b, safe='')}"
    except UnicodeEncodeError:
        return
    values = Template("t://{a}/x/{b}").match(uri)
    assert values in ({"a": a, "b": b}, None)
    if a.isalnum() and b.isalnum():
        assert values is not None
