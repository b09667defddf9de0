"""Requests of ours: answered, late, alive by progress, or given up; each of them once."""

from __future__ import annotations

from math import inf

from mcp_runtime.core.session.pending import Pending, Timeout


def test_an_answer_takes_its_request_once_and_ids_keep_their_kind() -> None:
    pending = Pending()
    pending.add(1, "a", Timeout(10), now=0)
    pending.add("1", "b", Timeout(10), now=0)
    assert len(pending) == 2
    request = pending.pop("1")
    assert request is not None
    assert request.method == "b"
    assert pending.pop("1") is None
    assert 1 in pending
    assert "1" not in pending


def test_a_request_expires_at_its_deadline() -> None:
    pending = Pending()
    assert pending.due is None
    pending.add(1, "a", Timeout(each=10), now=5)
    pending.add(2, "b", Timeout(each=inf), now=5)
    assert pending.due == 15
    assert pending.late(14.9) == []
    assert [sent.id for sent in pending.late(15)] == [1]
    assert pending.late(inf) != []


def test_progress_is_a_sign_of_life_only_if_it_counts() -> None:
    pending = Pending()
    pending.add(1, "a", Timeout(10, progress_counts=True), now=0, token="t")
    pending.add(2, "b", Timeout(10), now=0, token="u")
    assert pending.record_progress("t", 1, now=9) is not None
    assert pending.record_progress("u", 1, now=9) is not None
    assert [sent.id for sent in pending.late(10)] == [2]
    pending.pop(2)
    assert pending.due == 19


def test_progress_that_does_not_increase_is_none() -> None:
    pending = Pending()
    pending.add(1, "a", Timeout(10, progress_counts=True), now=0, token=0)
    assert pending.record_progress(0, 0.5, now=1) is not None
    assert pending.record_progress(0, 0.5, now=9) is None
    assert pending.record_progress(0, 0.4, now=9) is None
    assert pending.record_progress("0", 0.6, now=9) is None
    assert pending.due == 11


def test_no_progress_prolongs_the_wait_beyond_its_total() -> None:
    pending = Pending()
    pending.add(1, "a", Timeout(10, total=25, progress_counts=True), now=0, token="t")
    for now in (9, 18, 24):
        assert pending.record_progress("t", now, now=now) is not None
    assert pending.due == 25
    assert [sent.id for sent in pending.late(25)] == [1]


def test_a_token_ends_with_its_request() -> None:
    pending = Pending()
    pending.add(1, "a", Timeout(10), now=0, token="t")
    pending.pop(1)
    assert pending.record_progress("t", 1, now=1) is None
    pending.add(2, "a", Timeout(10), now=0, token="t")
    assert [sent.id for sent in pending.drain()] == [2]
    assert len(pending) == 0
    assert pending.record_progress("t", 1, now=1) is None
