"""The suite's results are read strictly: what it forgives is seen here."""

from __future__ import annotations

from typing import Final

import pytest

from tests.conformance.judge import scenario, scenario_name, unscored

OUTPUT: Final = """\
Total: 3 passed, 1 failed

Not scored for 2026-07-28: 2 scenario(s) run, 1 failing. These do not affect conformance.
  ✗ tasks-lifecycle (extension)
  ✓ http-header-validation (pending)
"""


@pytest.mark.parametrize(
    ("statuses", "exit", "found"),
    [
        (["SUCCESS"], 0, []),
        (["SUCCESS", "INFO", "SKIPPED"], 0, []),
        (["SUCCESS", "FAILURE"], 0, ["1: FAILURE"]),
        (["SUCCESS", "WARNING"], 0, ["1: WARNING"]),
        ([], 0, ["nothing was checked"]),
        (["INFO"], 0, ["nothing was checked"]),
        (["SUCCESS"], 1, ["the client ended with 1"]),
    ],
)
def test_a_scenario_passes_only_if_all_that_was_checked_did(
    statuses: list[str], exit: int, found: list[str]
) -> None:
    checks = [{"id": str(index), "status": status} for index, status in enumerate(statuses)]
    assert list(scenario("a", checks, exit).found) == found


def test_scenarios_that_are_not_scored_are_known_by_what_the_suite_prints() -> None:
    assert unscored(OUTPUT) == {
        "tasks-lifecycle": "extension",
        "http-header-validation": "pending",
    }
    assert unscored("Total: 3 passed") == {}


def test_the_name_of_a_scenario_is_that_of_its_folder() -> None:
    assert scenario_name("server-tools-list-2026-11-21T08-17-21-423Z") == "tools-list"
    assert scenario_name("auth/basic-cimd-2026-11-21T08-17-21-423Z") == "auth/basic-cimd"
