"""What a project may be called, and which revisions it may speak."""

from __future__ import annotations

import pytest

from mcp_bindgen.errors import InputError
from mcp_bindgen.limits import MAX_NAME_CHARS
from mcp_bindgen.scaffold.answers import (
    package,
    require_auth,
    require_name,
    require_revisions,
    require_transports,
)

KNOWN = ("1", "2", "3")


@pytest.mark.parametrize("name", ["weather", "my-server", "a1_b2", "x" * MAX_NAME_CHARS])
def test_a_name_of_small_words_is_taken(name: str) -> None:
    assert require_name(name) == name
    assert package(name).isidentifier()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "cannot name a project"),
        ("1st", "cannot name a project"),
        ("a b", "as in a-b"),
        ("MyServer", "as in my-server"),
        ("-a", "cannot name a project"),
        ("a--b", "as in a-b"),
        ("wetter_ä", "cannot name a project"),
        ("../up", "as in up"),
        ("a\n", "as in a"),
        ("class", "reserved word"),
        ("match", "reserved word"),
        ("json", "standard library"),
        ("test", "standard library"),
        ("con", "a device on Windows"),
        ("com1", "a device on Windows"),
        ("msgspec", "a package that the project needs"),
        ("uvicorn", "a package that the project needs"),
        ("mcp-bindgen", "a package that the project needs"),
        ("mcp-runtime", "a package that the project needs"),
        ("jsonschema-rs", "a package that the project needs"),
        ("conftest", "a package that the project needs"),
        ("tests", "a folder of the project"),
        ("x" * (MAX_NAME_CHARS + 1), f"more than {MAX_NAME_CHARS}"),
    ],
)
def test_another_name_is_refused_with_a_remedy(name: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as refused:
        require_name(name)
    assert refused.value.remedy


@pytest.mark.parametrize(
    ("chosen", "taken"), [(["3"], ("3",)), (["3", "2"], ("2", "3")), ([*KNOWN], KNOWN)]
)
def test_neighbours_up_to_the_newest_are_taken(chosen: list[str], taken: tuple[str, ...]) -> None:
    assert require_revisions(chosen, KNOWN) == taken


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        (["4"], "no revision is called '4'"),
        ([""], "no revision is called ''"),
        ([], "no revision is chosen"),
        (["2"], "3 would be lacking"),
        (["1", "3"], "--revisions 1,2,3"),
    ],
)
def test_other_revisions_are_refused(chosen: list[str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        require_revisions(chosen, KNOWN)


def test_the_revision_of_the_handlers_is_spoken_too() -> None:
    assert require_revisions(["2", "3"], KNOWN, "2") == ("2", "3")
    with pytest.raises(InputError, match=r"2 would be lacking: .* written for 2"):
        require_revisions(["3"], KNOWN, "2")


@pytest.mark.parametrize("chosen", [[], ["pigeon"], ["stdio", "pigeon"]])
def test_unknown_transports_are_refused(chosen: list[str]) -> None:
    with pytest.raises(InputError, match=r"Known transports: stdio, http\."):
        require_transports(chosen)


def test_authorization_is_for_http() -> None:
    assert require_auth("bearer", ["stdio", "http"]) == "bearer"
    assert require_auth("none", ["stdio"]) == "none"
    with pytest.raises(InputError, match="for HTTP"):
        require_auth("bearer", ["stdio"])
    with pytest.raises(InputError, match="'basic' is not a choice"):
        require_auth("basic", ["http"])
