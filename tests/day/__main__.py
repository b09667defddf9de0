"""`make day REVISION=… FROM=PATH|URL`: the day a revision of the protocol appears, in one command.

python -m tests.day REVISION [--from PATH|URL] [--import SPECIFIER=FILE]... [--answers FILE]

It pulls the schema, asks what no rule can decide, generates, writes the pages of the difference and
for users, lets old and new peers converse, and lists the rules to write. It stops where a person
must decide, with exit status 3, and the same command goes on from there. What is made for people is
in build/day/REVISION.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Any, Final

from mcp_bindgen import pins
from tests.day import answers, pages

STOPPED: Final = 3
"""The exit status where a person must decide."""
ROUNDS: Final = 12
"""Questions are asked in this many rounds at most: an answer can raise another question."""
TALK: Final = "tests.support.successor_talk"
READER: Final = "tests.support.independent_reader"


class Stop(Exception):
    """A person must decide: `str()` says where, and what to do."""


@dataclass(frozen=True)
class Day:
    """The day of `revision` in the checkout `root`; `origin` is empty for the public file."""

    root: Path
    revision: str
    origin: str
    imports: tuple[str, ...]
    given: Path | None

    @property
    def work(self) -> Path:
        return self.root / "build" / "day" / self.revision

    @property
    def table(self) -> Path:
        return self.root / "schema" / "decisions.toml"

    @property
    def before(self) -> str:
        """The revision before. Raises Stop for the oldest."""
        older = [name for name in pins.pins(self.root / "schema") if name < self.revision]
        if not older:
            raise Stop(f"{self.revision} is the oldest revision: nothing comes before it.")
        return max(older)

    def run(self, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
        """Run a module of this interpreter in the checkout."""
        return subprocess.run(
            [sys.executable, "-m", *args],
            cwd=self.root,
            env={**os.environ, **env},
            capture_output=True,
            text=True,
            check=False,
        )

    def write(self, name: str, text: str) -> Path:
        self.work.mkdir(parents=True, exist_ok=True)
        path = self.work / name
        path.write_text(text, encoding="utf-8")
        return path


# ---- the steps: each returns a line about what it did, or stops


def pull(day: Day) -> str:
    """Bring the schema; without an origin a pinned revision stays as it is."""
    if not day.origin and day.revision in pins.pins(day.root / "schema"):
        return "the pinned schema stays"
    origin = ["--from", day.origin] if day.origin else []
    rows = [word for row in day.imports for word in ("--import", row)]
    done = day.run("mcp_bindgen", "pull", day.revision, *origin, *rows)
    if done.returncode not in (0, 1):
        raise Stop(done.stderr.strip())
    day.write("pull.txt", done.stdout)
    errors = f"\n{done.stderr.strip()}" if done.stderr.strip() else ""
    return done.stdout.splitlines()[0] + errors


def decide(day: Day) -> str:
    """Generate; where questions are open, take answers from the sheet, or stop."""
    path = day.work / "answers.toml"
    taken = 0
    sheets = [file for file in (day.given, path) if file is not None and file.exists()]
    for _ in range(ROUNDS):
        confirm = False
        for file in sheets:
            read = _read(file)
            taken += _take(day, read)
            confirm |= read.confirm
        done = day.run("mcp_bindgen", "generate", *(["--confirm"] if confirm else []))
        if done.returncode == 0:
            return f"{taken} answers taken; {done.stdout.strip()}"
        asked = answers.questions(done.stderr)
        if not (asked.rows or asked.confirm):
            raise Stop(f"{done.stderr.strip()}\nMend the row in {day.table}.")
        before = path.read_text("utf-8") if path.exists() else ""
        known = _read(path) if path.exists() else answers.NOTHING
        day.write("answers.toml", answers.sheet(asked, day.revision, known))
        if not _edited(path, before):
            count = len(asked.rows)
            waits = ", and older answers wait to be confirmed" if asked.confirm else ""
            raise Stop(f"{count} questions are open{waits}: answer them in {path}.")
        sheets = [path]
    raise Stop(f"The answers in {path} raise questions without end.")


def _read(file: Path) -> answers.Sheet:
    try:
        return answers.read(file.read_text("utf-8"))
    except ValueError as error:
        raise Stop(f"{file}: {error}") from None


def _take(day: Day, sheet: answers.Sheet) -> int:
    """Append the answered rows which decisions.toml lacks; return their number."""
    text = day.table.read_text("utf-8")
    known = set(answers.rows_of(text))
    rows = [row for key, row in sheet.answered.items() if key not in known]
    if rows:
        day.table.write_text("\n\n".join([text.rstrip("\n"), *rows]) + "\n", encoding="utf-8")
    return len(rows)


def _edited(path: Path, before: str) -> bool:
    """Open the sheet in the editor of the environment; return whether a person changed it."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor or not sys.stdin.isatty():
        return False
    asked = path.read_text("utf-8")
    subprocess.run([*editor.split(), str(path)], check=False)
    return path.read_text("utf-8") not in (asked, before)


def write_pages(day: Day) -> str:
    """Write the pages that are made from the code, the page of the difference among them."""
    said: list[str] = []
    for module in ("docs", "tests.convert.conversion"):
        done = day.run(module)
        last = (done.stderr.strip().splitlines() or [""])[-1]
        said.append(f"{module}: {'written' if done.returncode == 0 else last}")
    page = f"docs/changes/{day.before}_{day.revision}.md"
    return f"{page}; {'; '.join(said)}"


def tell(day: Day) -> str:
    """Write the entry for users, and the list of rules to write."""
    findings = _findings(day)
    shown = day.run("mcp_bindgen", "diff", day.before, day.revision).stdout
    head = shown.partition("\n")[2].partition("\n\n")[0]
    rows = day.table.read_text("utf-8")
    pulled = day.work / "pull.txt"
    comments = pulled.read_text("utf-8") if pulled.exists() else ""
    entry = pages.changelog(day.before, day.revision, head, findings, rows)
    rules = pages.ledger(day.revision, findings, rows, comments)
    return f"{day.write('changelog.md', entry)}, {day.write('rules.md', rules)}"


def _findings(day: Day) -> list[Any]:
    done = day.run("mcp_bindgen", "diff", day.before, day.revision, "--format", "json")
    if done.returncode not in (0, 1):
        raise Stop(done.stderr.strip())
    findings: list[Any] = json.loads(done.stdout)["findings"]
    return findings


def converse(day: Day) -> str:
    """Let peers of both revisions talk over stdio and HTTP; a second reader takes each message
    again.
    """
    both = f"{day.before},{day.revision}"
    _write_reader(day)
    rows: list[str] = []
    for speaks, offers in (
        (both, (day.revision, both, day.before)),
        (day.before, (both, day.before)),
        (day.revision, (both, day.revision)),
    ):
        server = json.dumps([*_environment(), sys.executable, "-m", TALK, "stdio", speaks])
        with _serving(day, len(offers), speaks) as urls:
            talks = [*zip(repeat(server), offers), *zip(urls, offers, strict=True)]
            done = day.run(TALK, "ask", *(word for talk in talks for word in talk))
        if done.returncode != 0:
            raise Stop(f"A client of {', '.join(offers)} fails:\n{done.stderr.strip()[-2000:]}")
        for (place, offer), line in zip(talks, done.stdout.splitlines(), strict=True):
            agreed, faults, wire = json.loads(line)
            faults = [*map(str, faults.items()), *_read_again(day, agreed, wire)]
            way = "stdio" if place == server else "HTTP"
            talk = f"server {speaks}, client {offer}, {way}"
            rows.append(f"{talk}: {agreed}, {len(wire)} messages")
            if faults:
                raise Stop("\n".join([f"{rows[-1]}: not as that revision promises:", *faults[:8]]))
    day.write("conversation.txt", "\n".join(rows) + "\n")
    return f"{len(rows)} conversations"


@contextmanager
def _serving(day: Day, count: int, revisions: str) -> Iterator[list[str]]:
    """Serve over HTTP; yield the URL of each of `count` servers. Raises Stop if one is missing."""
    command = [sys.executable, "-m", TALK, "serve", str(count), revisions]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, cwd=day.root, stdin=pipe, stdout=pipe, stderr=pipe, text=True
    ) as process:
        assert process.stdout is not None
        urls = [process.stdout.readline().strip() for _ in range(count)]
        try:
            if not all(urls):
                _, stderr = process.communicate()
                raise Stop(f"A server of {revisions} fails:\n{stderr.strip()[-2000:]}")
            yield urls
        finally:
            process.communicate()


def _environment() -> list[str]:
    """The words before a server's command: a client gives its servers no PYTHONPATH."""
    path = os.environ.get("PYTHONPATH")
    return ["env", f"PYTHONPATH={path}"] if path else []


def _write_reader(day: Day) -> None:
    """Write models of both revisions, without steps: they refuse members that are unknown."""
    out = str(day.work / "strict")
    options = ("--models", "dataclass", "--unknown", "reject", "--out", out)
    done = day.run("mcp_bindgen", "generate", day.before, day.revision, *options)
    if done.returncode != 0:
        raise Stop(done.stderr.strip())


def _read_again(day: Day, agreed: str, wire: Sequence[Any]) -> list[str]:
    """The faults that models of the revision alone find in the messages of a conversation."""
    home = os.pathsep.join([str(day.work), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", READER, "strict", agreed],
        cwd=day.root,
        env={**os.environ, "PYTHONPATH": home},
        input="".join(json.dumps(message) + "\n" for message in wire),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        return [done.stderr.strip()[-2000:]]
    return [fault for line in done.stdout.splitlines() if (fault := json.loads(line)["fault"])]


STEPS: Final = {
    "schema": pull,
    "answers": decide,
    "pages": write_pages,
    "users": tell,
    "peers": converse,
}


def play(day: Day) -> int:
    """Run the steps; return the exit status."""
    for name, step in STEPS.items():
        try:
            said = step(day)
        except Stop as stop:
            sys.stderr.write(f"{name:8} stops: {stop}\nThen run the same command again.\n")
            return STOPPED
        sys.stdout.write(f"{name:8} {said}\n")
        sys.stdout.flush()
    sys.stdout.write(f"Left to do: the boxes of {day.work / 'rules.md'}, then `make test`.\n")
    return 0


def main(args: Sequence[str] | None = None, root: Path | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.day")
    parser.add_argument("revision")
    parser.add_argument("--from", dest="origin", default="", metavar="PATH|URL")
    parser.add_argument("--import", dest="imports", action="append", default=[])
    parser.add_argument("--answers", type=Path)
    given = parser.parse_args(args)
    if not re.match(r"\d{4}-\d\d-\d\d\Z", given.revision):
        parser.error("a revision is called by its date, such as 2027-03-11")
    home = root or Path(__file__).parents[2]
    return play(Day(home, given.revision, given.origin, tuple(given.imports), given.answers))


if __name__ == "__main__":
    sys.exit(main())
