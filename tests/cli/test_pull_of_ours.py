"""`pull` of a copy of our own file keeps our sentences, and lists only those that are new."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Final

from mcp_bindgen import pins
from mcp_bindgen.pull import COMMENTS, pull

NEXT: Final = "2027-03-11"
MORE: Final = """
/** A note that a server leaves for its client. */
export interface LeftNote {
  /** What it says. */
  text: string;
}
"""


def test_a_copy_of_ours_keeps_what_equals_ours(root: Path, tmp_path: Path) -> None:
    folder = tmp_path / "schema"
    shutil.copytree(root / "schema", folder)
    newest = pins.revisions()[-1]
    ours = (folder / newest / "schema.ts").read_text("utf-8")
    draft = ours.replace(f'"{newest}"', f'"{NEXT}"') + MORE
    done = pull(NEXT, draft.encode(), folder)
    assert done.status == "new"
    assert [each.rpartition(": ")[2] for each in done.unsaid] == ["LeftNote", "LeftNote.text"]
    written = (folder / NEXT / "schema.ts").read_text("utf-8")
    assert written.startswith(ours.replace(f'"{newest}"', f'"{NEXT}"'))
    # What our sentences were written for is still known, so a changed official comment is seen.
    before, after = (
        json.loads((folder / name / COMMENTS).read_text("utf-8")) for name in (newest, NEXT)
    )
    assert {path: before[path] for path in after if path in before} == {
        path: digest for path, digest in after.items() if not path.startswith("LeftNote")
    }
    assert pull(NEXT, draft.encode(), folder).status == "unchanged"


def test_a_sentence_that_differs_in_one_word_is_listed(root: Path, tmp_path: Path) -> None:
    folder = tmp_path / "schema"
    shutil.copytree(root / "schema", folder)
    newest = pins.revisions()[-1]
    text = (folder / newest / "schema.ts").read_text("utf-8")
    first = next(line for line in text.splitlines() if line.startswith("/** ") and "@" not in line)
    draft = text.replace(f'"{newest}"', f'"{NEXT}"').replace(
        first, first.replace("/** ", "/** Not ")
    )
    done = pull(NEXT, draft.encode(), folder)
    assert len(done.unsaid) == draft.count(first.replace("/** ", "/** Not "))
