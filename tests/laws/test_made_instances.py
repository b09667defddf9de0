"""The generators of instances follow a schema, whatever its next revision has or lacks."""

from __future__ import annotations

from typing import Final

import pytest

from mcp_bindgen.ir.lower.lower import load
from mcp_bindgen.ir.model import Ref, Schema
from mcp_bindgen.ir.values.accepts import accepts
from tests.support import law_messages
from tests.support.instances import Generator, Seeded, cases
from tests.support.sample_values import matching

SCHEMA: Final = load(
    b"""
export interface Poll {
  /** @TJS-type integer
   * @minimum 0 */
  most: number;
  /** @asType integer
   * @maximum 2.5 */
  few?: number;
  /** @exclusiveMinimum 0
   * @exclusiveMaximum 1 */
  share?: number;
  /** @multipleOf 3
   * @minimum 4 */
  step?: number;
  /** @pattern ^[a-z]+/[0-9]{2}$ */
  name?: string;
  secret: `whsec_${string}`;
  version?: `v${number}`;
}
export interface Implementation { name: string }
export interface ClientCapabilities { roots?: {} }
""",
    "a.ts",
    "9999-01-01",
)
FAULTS: Final = {
    "Poll.most: beyond integer",
    "Poll.most: beyond minimum",
    "Poll.few: beyond integer",
    "Poll.few: beyond maximum",
    "Poll.share: beyond exclusive_minimum",
    "Poll.share: beyond exclusive_maximum",
    "Poll.name: beyond pattern",
    "Poll.secret: beyond pattern",
}


def test_instances_keep_bounds_and_patterns_that_no_pinned_schema_has() -> None:
    generator = Generator(SCHEMA, Seeded(7))
    made = list(cases(generator, "Poll"))
    assert len(made) > 50
    for case in made:
        assert accepts(SCHEMA, Ref("Poll"), case.value) is (case.fault is None), case
    assert {*generator.reach.hits} >= FAULTS


@pytest.mark.parametrize("pattern", [r"^whsec_[\s\S]*$", r"^(?:aa|b)+$", r"^\d{4}-\d\d$"])
def test_texts_are_made_for_a_pattern_that_nobody_wrote_down(pattern: str) -> None:
    assert matching(pattern)


def test_a_pattern_without_a_known_text_says_where_to_give_one() -> None:
    with pytest.raises(LookupError, match="give one to MATCHING"):
        matching("^(?!x)[xy]$")


def test_a_context_is_made_though_the_newest_revision_has_no_logging(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    older = law_messages.schema_of

    def schema_of(revision: str) -> Schema:
        return SCHEMA if revision == "9999-01-01" else older(revision)

    monkeypatch.setattr(law_messages, "REVISIONS", [*law_messages.REVISIONS, "9999-01-01"])
    monkeypatch.setattr(law_messages, "schema_of", schema_of)
    contexts = [law_messages.context(Seeded(seed)) for seed in range(20)]
    levels = {context.log_level for context in contexts}
    assert None in levels
    assert levels & {"debug", "info", "error", "warning", "alert", "critical", "emergency"}
