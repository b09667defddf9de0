"""Plants one fault after another in a copy of the project, and says which test finds each.

    python -m tests.planted_faults [--far] [--tree FOLDER] [WORD ...]

A WORD chooses the faults whose file or meaning contains it. The tests that are named beside a fault
are run first; with `--far` all of `make test` follows where they find nothing. `--tree` plants in
another checkout, such as one of an older commit, and runs the tests of that. Ends with status 1 if
a fault was not found, or cannot be planted because its text is not in the file once.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Final, NamedTuple

__all__ = ["FAULTS", "Fault", "planted"]

ROOT: Final = Path(__file__).resolve().parents[1]
PACKAGES: Final = ("codegen", "generated", "runtime")
MAKES_BINDINGS: Final = re.compile(r"codegen/mcp_bindgen/(?:convert|emit|ir)/|templates/bindings/")
"""After a change there the bindings are written again, as its author would."""
TIME: Final = 900
"""Seconds that the tests of a fault may take."""


class Fault(NamedTuple):
    """`old` stands once in `file`, and `new` instead; `means` is what goes wrong for a user.

    `near` are the tests that are run first, below tests/.
    """

    file: str
    old: str
    new: str
    means: str
    near: str


BINDGEN: Final = "codegen/mcp_bindgen"
RUNTIME: Final = "runtime/mcp_runtime"

# fmt: off
FAULTS: Final = (
    # ---- the generator
    Fault(f"{BINDGEN}/source/reader.py",
          "if root.has_error:", "if root.has_error and not self.source.data:",
          "text that is no TypeScript is read as far as it goes", "source"),
    Fault(f"{BINDGEN}/ir/resolve/resolver.py",
          "index=(*known.index, *declaration.index)", "index=known.index",
          "of two interfaces of one name the second one's index signature is lost", "ir"),
    Fault(f"{BINDGEN}/ir/names.py",
          'return f"{name}_" if name in RESERVED_MEMBERS else name', "return name",
          "a member called `class` gives Python that does not parse",
          "ir emit/test_hostile_text.py"),
    Fault(f"{BINDGEN}/ir/values/accepts.py",
          "if len(value) < least or (type.rest is None and len(value) > len(type.of)):",
          "if len(value) < least:",
          "a tuple takes more items than it has places", "ir"),
    Fault(f"{BINDGEN}/ir/values/accepts.py",
          "elif field.required:", "elif field.required and field.const is None:",
          "a constant may be missing", "ir"),
    Fault(f"{BINDGEN}/ir/export/json_schema.py",
          '"exclusive_maximum": "exclusiveMaximum"', '"exclusive_maximum": "maximum"',
          "the JSON Schema takes the bound itself", "ir"),
    Fault(f"{BINDGEN}/compare/judge/verdicts.py",
          "return _WORST[min(map(_WORST.index, verdicts), default=-1)]",
          "return _WORST[max(map(_WORST.index, verdicts), default=-1)]",
          "a change that breaks somebody is called compatible", "compare/test_corpus.py compare"),
    Fault(f"{BINDGEN}/compare/messages/directions.py",
          '"both": frozenset({(TO_SERVER, "message"), (TO_CLIENT, "message")}),',
          '"both": frozenset({(TO_SERVER, "message")}),',
          "what both sides send is judged for one of them", "compare/test_corpus.py compare"),
    Fault(f"{BINDGEN}/compare/report/ignore.py",
          "today > self.until", "today >= self.until",
          "a row of the ignore file ends a day too soon",
          "compare/test_ignore.py cli/test_diff_ignore.py compare"),
    Fault(f"{BINDGEN}/tools/validator.py",
          'sum(self._accepts(each, value) for each in one_of) != 1',
          "sum(self._accepts(each, value) for each in one_of) < 1",
          "`oneOf` takes what two of its schemas take", "tools/test_validator.py tools"),
    Fault(f"{BINDGEN}/convert/match.py",
          "if is_any(self.target, t):", "if is_any(self.source, s):",
          "a value of any kind is carried into a type that does not take it", "convert"),
    Fault(f"{BINDGEN}/emit/text/layout.py",
          "quote = \"'\" if body.count('\"') > body.count(\"'\") else '\"'", "quote = '\"'",
          "a literal is in other quotes than black's", "emit"),
    Fault(f"{BINDGEN}/emit/text/layout.py",
          "body.replace(quote, chr(92) + quote)", "body.replace(quote, quote)",
          "text of a schema ends the string that it stands in", "emit"),
    Fault(f"{BINDGEN}/emit/codec/structs.py",
          "required = [f for f in struct.fields if f.required]",
          "required = [f for f in struct.fields if f.required and f.const is None]",
          "constants are not checked by the codec", "laws/test_laws.py laws/test_faults.py laws"),
    Fault(f"{BINDGEN}/emit/support/_numbers_msgspec.py",
          ' or packed.find(b"\\xcb\\xff") >= 0', "",
          "minus infinity is written as null by the msgspec flavour",
          "laws/test_json_text.py laws"),
    Fault(f"{BINDGEN}/emit/support/_constructor_pydantic.py",
          "if any(map(is_absent, extra.values())):", "if False:",
          "UNSET stands as the value of an unknown member of the pydantic flavour",
          "laws/test_json_text.py laws"),
    Fault(f"{BINDGEN}/emit/support/_wire/text.py",
          "return max(depth + opened, brackets[half:].count(b\"]\")) <= MAX_DEPTH",
          "return depth + opened <= MAX_DEPTH",
          "JSON may nest deeper than 128 at the end of a text",
          "laws/test_json_text.py laws"),
    Fault(f"{BINDGEN}/emit/support/_wire/text.py",
          "text = text.strip(_SPACE)", "text = text.strip()",
          "a no-break space before JSON is taken for white space",
          "laws/test_json_text.py laws"),
    Fault(f"{BINDGEN}/emit/support/_wire/values.py",
          "return x.__class__ is float and x - x == 0", "return x.__class__ is float",
          "NaN is a number for the codec",
          "laws/test_json_text.py laws"),
    Fault(f"{BINDGEN}/emit/support/_wire/base.py",
          "if type(other) is not type(self):", "if not isinstance(other, Frozen):",
          "two models of other types with equal values are equal",
          "laws/test_values.py laws/test_subclasses.py laws"),
    Fault(f"{BINDGEN}/scaffold/merge.py",
          'yield Change(path, "removed" if yours == old else "kept")',
          'yield Change(path, "removed")',
          "an update removes a file that its user has edited", "scaffold cli/test_update.py"),
    Fault(f"{BINDGEN}/validate/verdicts.py",
          "if text.loose and not _is_message(value):", "if not _is_message(value):",
          "`validate` passes over what is no message", "validate cli/test_validate.py"),
    # ---- the runtime
    Fault(f"{RUNTIME}/core/session/pending.py",
          "progress <= sent.progress", "progress < sent.progress",
          "progress that has not grown starts the timeout again", "runtime/core"),
    Fault(f"{RUNTIME}/core/session/pending.py",
          "self.due = min(now + self.timeout.each, self.last)",
          "self.due = now + self.timeout.each",
          "progress keeps a request open beyond its total timeout", "runtime/core"),
    Fault(f"{RUNTIME}/core/wire/sse.py",
          "if self._after_cr:", "if False:",
          "a line end that is cut between two chunks is read as two", "runtime/core"),
    Fault(f"{RUNTIME}/core/session/lifecycle.py",
          "(SERVER, State.AGREED): {\"receive notifications/initialized\": State.OPEN},",
          "(SERVER, State.AGREED): {\"receive notifications/initialized\": State.AGREED},",
          "a server is never open after the handshake", "runtime/core"),
    Fault(f"{RUNTIME}/core/http/http_rules.py",
          'match is not None and match["scheme"] in _WEB and', "match is not None and",
          "a page of another scheme may connect",
          "runtime/core/test_origins.py runtime/server/http"),
    Fault(f"{RUNTIME}/core/http/http_rules.py",
          "error_codes.BUSY: 503,", "error_codes.BUSY: 500,",
          "a busy server answers as if it were broken",
          "runtime/core/test_http_rules.py runtime/core runtime/server/http"),
    Fault(f"{RUNTIME}/core/terms/negotiation.py",
          "for r in reversed(ALL) if r in self.revisions", "for r in ALL if r in self.revisions",
          "the oldest revision is offered first", "runtime/core spec"),
    Fault(f"{RUNTIME}/core/session/session.py",
          "if frame.id in self.running:", "if frame.id in self.running and frame.id == 0:",
          "a second request with the id of an open one is run", "runtime/core spec"),
    Fault(f"{RUNTIME}/core/session/session.py",
          "or not progress > running.progress:", "or progress < running.progress:",
          "progress that has not grown is sent", "runtime/core spec"),
    Fault(f"{RUNTIME}/core/session/request_state.py",
          'if now >= int.from_bytes(body[_HEAD - 8 : _HEAD], "big"):', "if False:",
          "the state of a request never expires", "runtime/core spec/test_mrtr.py runtime/server"),
    Fault(f"{RUNTIME}/core/http/header_checks.py",
          'if headers.get("mcp-method") != method:', "if False:",
          "a header may name another method than the body",
          "runtime/core/test_header_checks.py spec/test_transports.py runtime/server/http"),
    Fault(f"{RUNTIME}/shared/uri_template.py",
          "if not equals or name not in self.names or name in values:",
          "if not equals or name not in self.names:",
          "of a parameter that is given twice the last counts", "runtime/shared"),
    Fault(f"{RUNTIME}/client/cache.py",
          "[next(iter(self._entries))]", "[next(reversed(self._entries))]",
          "a full cache drops the newest answer", "runtime/client"),
    Fault(f"{RUNTIME}/client/cache.py",
          "            self._changes[method] += 1\n", "",
          "an answer that was on its way when its list changed is cached",
          "runtime/client spec"),
    Fault(f"{RUNTIME}/stores/memory.py",
          "if kept.version != version:\n            return False\n        self._use(",
          "self._use(",
          "two writers of one session overwrite each other", "runtime/stores"),
    Fault(f"{RUNTIME}/stores/sqlite.py",
          "if not rows or rows[0][0] != number or not is_whole:", "if not rows or not is_whole:",
          "a stream goes on with a gap in it", "runtime/stores"),
    Fault(f"{RUNTIME}/auth/server/proof.py",
          "if proofs is not None and mark in proofs.made_at:", "if False:",
          "a proof of possession can be used twice", "runtime/auth"),
    Fault(f"{RUNTIME}/auth/addresses.py",
          'if "@" in parts.netloc or parts.fragment or not parts.hostname:',
          "if parts.fragment or not parts.hostname:",
          "a URL with a user's name in it misleads", "runtime/auth"),
)
# fmt: on


class Copy:
    """A copy of what a checkout tracks, in which faults are planted."""

    def __init__(self, tree: Path, at: Path) -> None:
        self.at = at
        listed = _run(["git", "ls-files", "-z"], tree).stdout
        for name in filter(None, listed.split("\0")):
            if (tree / name).is_file():
                (at / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(tree / name, at / name)
        python = tree / ".venv/bin/python"
        self.python = str(python) if python.exists() else sys.executable
        self.env = {**os.environ, "PYTHONPATH": os.pathsep.join(str(at / p) for p in PACKAGES)}
        self.env |= {"PYTHONUNBUFFERED": "1"}
        self._times = count(2_000_000_000)

    def write(self, path: Path, text: str) -> None:
        """With a time of its own: bytecode of another text of that size is not taken for it."""
        path.write_text(text, "utf-8")
        os.utime(path, (time := next(self._times), time))

    def module(self, *words: str) -> subprocess.CompletedProcess[str]:
        return _run([self.python, "-m", *words], self.at, self.env)

    def failing(self, *tests: str) -> str:
        """The first test that fails; empty if all pass. Raises ValueError if none could be run."""
        chosen = ("-m", "not long and not wide and not interop", "-p", "no:cacheprovider")
        done = self.module("pytest", "-q", "-x", "-W", "ignore", *chosen, *tests)
        failed = re.search(r"(?m)^(?:FAILED|ERROR) (?:tests/)?(.+?)(?: - .*)?$", done.stdout)
        if failed:
            return failed[1]
        if done.returncode != 0:
            raise ValueError(f"pytest ended with status {done.returncode}: {done.stdout[-500:]}")
        return ""


def _run(
    command: Sequence[str], cwd: Path, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command, cwd=cwd, env=env, capture_output=True, text=True, timeout=TIME, check=False
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, f"FAILED after-{TIME}-seconds", "")


def planted(fault: Fault, text: str) -> str:
    """The text of a file with the fault in it. Raises ValueError if it cannot be planted."""
    if text.count(fault.old) != 1:
        raise ValueError(f"{fault.file}: {fault.old!r} is there {text.count(fault.old)} times")
    return text.replace(fault.old, fault.new)


def found_by(copy: Copy, fault: Fault, *, far: bool) -> str:
    """The first test that a fault fails; empty if none does.

    Tests that the checkout does not have are left out. Raises ValueError if the fault cannot be
    planted, or no test can be run.
    """
    path = copy.at / fault.file
    right = path.read_text("utf-8")
    copy.write(path, planted(fault, right))
    generated = copy.at / "generated"
    try:
        if MAKES_BINDINGS.match(fault.file):
            shutil.copytree(generated, copy.at / "as_it_was")
            if copy.module("mcp_bindgen", "generate").returncode:
                return "the bindings cannot be written"
        names = (f"tests/{name}" for name in fault.near.split())
        near = [name for name in names if (copy.at / name).exists()]
        return copy.failing(*near) or (copy.failing("tests", "-n", "auto") if far else "")
    finally:
        copy.write(path, right)
        if (copy.at / "as_it_was").exists():
            shutil.rmtree(generated)
            (copy.at / "as_it_was").rename(generated)


def reports(faults: Sequence[Fault], tree: Path, *, far: bool) -> Iterator[tuple[bool, str]]:
    """Whether each fault was found, and a line that says by what."""
    with tempfile.TemporaryDirectory(prefix="planted-") as home:
        copy = Copy(tree, Path(home) / "project")
        if (shared := tree.parent / "shared").is_dir():
            (Path(home) / "shared").symlink_to(shared)
        for number, fault in enumerate(faults, 1):
            try:
                test = found_by(copy, fault, far=far)
            except ValueError as error:
                yield False, f"{number:2} {fault.file}: {fault.means}\n     NOT TRIED: {error}"
                continue
            said = f"found by {test}" if test else "NOT FOUND"
            yield bool(test), f"{number:2} {fault.file}: {fault.means}\n     {said}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--far", action="store_true", help="run all tests where the near find none")
    parser.add_argument("--tree", type=Path, default=ROOT, help="the checkout to plant in")
    parser.add_argument("words", nargs="*", help="what a fault's file or meaning contains")
    chosen = parser.parse_args()
    faults = [
        fault
        for fault in FAULTS
        if not chosen.words or any(w in f"{fault.file} {fault.means}" for w in chosen.words)
    ]
    results: list[bool] = []
    for is_found, line in reports(faults, chosen.tree.resolve(), far=chosen.far):
        results.append(is_found)
        print(line, flush=True)
    print(f"{sum(results)} of {len(faults)} faults were found")
    return int(not all(results))


if __name__ == "__main__":
    sys.exit(main())
