"""The suite's results are read strictly: what it forgives is seen here."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, TypeAlias

import pytest

from tests.conformance import watched
from tests.conformance.judge import judged, scenario, scenario_name, unscored
from tests.conformance.others import failed
from tests.conformance.run import BRIDGED, REQUIRED, print_bridged_score, print_score

OUTPUT: Final = """\
Total: 3 passed, 1 failed

Not scored for 2026-07-28: 2 scenario(s) run, 1 failing. These do not affect conformance.
  ✗ tasks-lifecycle (extension)
  ✓ http-header-validation (pending)
"""


@pytest.mark.parametrize(
    ("statuses", "exit", "failures"),
    [
        (["SUCCESS"], 0, []),
        (["SUCCESS", "INFO", "SKIPPED"], 0, []),
        (["SUCCESS", "FAILURE"], 0, ["1: FAILURE"]),
        (["SUCCESS", "WARNING"], 0, ["1: WARNING"]),
        ([], 0, ["nothing was checked"]),
        (["INFO"], 0, ["nothing was checked"]),
        (["SUCCESS", "ERROR"], 0, ["1: ERROR"]),
        (["success"], 0, ["0: success", "nothing was checked"]),
        (["SUCCESS"], 1, ["the client ended with 1"]),
    ],
)
def test_a_scenario_passes_only_if_all_that_was_checked_did(
    statuses: list[str], exit: int, failures: list[str]
) -> None:
    checks = [{"id": str(index), "status": status} for index, status in enumerate(statuses)]
    assert list(scenario("a", checks, exit).failures) == failures


def test_scenarios_that_are_not_scored_are_known_by_what_the_suite_prints() -> None:
    assert unscored(OUTPUT) == {
        "tasks-lifecycle": "extension",
        "http-header-validation": "pending",
    }
    assert unscored("Total: 3 passed") == {}


def test_the_name_of_a_scenario_is_that_of_its_folder() -> None:
    assert scenario_name("server-tools-list-2026-11-21T08-17-21-423Z") == "tools-list"
    assert scenario_name("auth/basic-cimd-2026-11-21T08-17-21-423Z") == "auth/basic-cimd"


# ---- a whole report

Report: TypeAlias = dict[str, list[dict[str, str]]]
Exits: TypeAlias = dict[str, int]
NAMES: Final = ("initialize", "tools_call", "auth-less/odd", "unscored")


def change(name: str, status: str) -> Callable[[Report, Exits], object]:
    return lambda report, _: report[name][0].update(status=status)


MUTATIONS: Final[dict[str, Callable[[Report, Exits], object]]] = {
    "a check fails": change("initialize", "FAILURE"),
    "a check warns": change("initialize", "WARNING"),
    "a check ends in a way that nobody knows": change("tools_call", "TIMEOUT"),
    "a check is skipped and was the only one": change("auth-less/odd", "SKIPPED"),
    "nothing is checked": lambda report, _: report["tools_call"].clear(),
    "a scenario is missing": lambda report, exits: (report.pop("initialize"), exits.clear()),
    "a scenario has another name": lambda report, exits: (
        report.update(other=report.pop("initialize")),
        exits.update(other=exits.pop("initialize")),
    ),
    "a scenario is more than there are": lambda report, _: report.update(more=report["initialize"]),
    "a client fails": lambda _, exits: exits.update({"tools_call": 1}),
    "a client hangs": lambda _, exits: exits.update({"auth-less/odd": 124}),
    "the end of a client is not seen": lambda _, exits: exits.pop("initialize"),
}


def fails(folder: Path, mutate: Callable[[Report, Exits], object]) -> bool:
    """Whether a report that was in order is one of failure after a change."""
    report: Report = {name: [{"id": f"{name}-1", "status": "SUCCESS"}] for name in NAMES}
    exits: Exits = dict.fromkeys(NAMES, 0)
    mutate(report, exits)
    for name, checks in report.items():
        place = folder / f"{name}-2026-11-21T08-17-21-423Z"
        place.mkdir(parents=True)
        (place / "checks.json").write_text(json.dumps(checks), "utf-8")
    scenarios = list(judged(folder, exits))
    return print_score("client", "any", set(NAMES[:-1]), scenarios, {"unscored": "pending"})


def test_a_report_in_order_passes_whatever_is_not_scored(tmp_path: Path) -> None:
    assert not fails(tmp_path / "1", lambda report, exits: None)
    assert not fails(tmp_path / "2", change("unscored", "FAILURE"))
    assert not fails(tmp_path / "3", lambda report, exits: exits.update(unscored=1))


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_report_fails_if(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fails(tmp_path, MUTATIONS[name])
    assert capsys.readouterr().out.startswith("client, any: ")


@pytest.mark.parametrize(
    ("program", "exit"),
    [("pass", 0), ("raise SystemExit(3)", 3), ("import time; time.sleep(60)", 124)],
)
def test_how_a_client_ends_is_noted_also_if_it_does_not(
    program: str, exit: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (tmp_path / "client.py").write_text(program, "utf-8")
    monkeypatch.setattr(watched, "_CLIENT", (sys.executable, str(tmp_path / "client.py")))
    monkeypatch.setattr(watched, "_PATIENCE", 1)
    monkeypatch.setenv("MCP_CONFORMANCE_SCENARIO", "auth/odd")
    assert watched.main(str(notes), "http://127.0.0.1:1/mcp") == exit
    assert watched.exits(notes) == {"auth/odd": exit}


CLAIM: Final = """
import pathlib, time
running = pathlib.Path(__file__).with_name("running")
running.touch(exist_ok=False)
time.sleep(0.1)
running.unlink()
"""


def test_clients_that_are_started_at_once_wait_for_their_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of them fails if another is running."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (tmp_path / "client.py").write_text(CLAIM, "utf-8")
    given = (str(notes), sys.executable, str(tmp_path / "client.py"), "http://127.0.0.1:1")
    monkeypatch.setattr(watched, "_AT_ONCE", 1)
    monkeypatch.setenv("MCP_CONFORMANCE_SCENARIO", "a")
    with ThreadPoolExecutor(5) as pool:
        ends = [pool.submit(watched.main, *given) for _ in range(5)]
    assert [end.result() for end in ends] == [0] * 5
    assert watched.exits(notes) == {"a": 0}


def test_another_sdk_fails_by_its_checks_and_not_by_how_its_client_ended() -> None:
    passed = scenario("passed", [{"id": "1", "status": "SUCCESS"}], exit=1)
    refused = scenario("refused", [{"id": "1", "status": "FAILURE"}])
    empty = scenario("empty", [])
    required = {"passed", "refused", "empty", "not run"}
    assert failed(required, [passed, refused, empty]) == ["empty", "not run", "refused"]


@pytest.mark.parametrize("revision", BRIDGED["server"])
def test_each_scenario_that_a_bridge_rules_out_is_required_without_one_and_has_a_reason(
    revision: str,
) -> None:
    table = BRIDGED["server"][revision]
    assert table["spoken"] != revision
    assert table["cannot"].keys() < set(REQUIRED["server"][revision]["scenarios"])
    assert all(len(reason.split()) > 3 for reason in table["cannot"].values())


@pytest.mark.parametrize(
    ("passed", "fails"), [("all but the listed ones", False), ("all", True), ("too few", True)]
)
def test_behind_a_bridge_exactly_the_listed_scenarios_may_fail(
    passed: str, fails: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    (revision, table), *_ = BRIDGED["server"].items()
    failing = {
        "all but the listed ones": {*table["cannot"]},
        "all": set[str](),
        "too few": {*table["cannot"], "tools-list"},
    }[passed]
    scenarios = [
        scenario(name, [{"id": "a", "status": "FAILURE" if name in failing else "SUCCESS"}])
        for name in REQUIRED["server"][revision]["scenarios"]
    ]
    assert print_bridged_score(revision, scenarios, {}) is fails
    printed = capsys.readouterr().out
    assert ("take it out of bridged.toml" in printed) is (passed == "all")
    assert ("tools-list: a: FAILURE" in printed) is (passed == "too few")
