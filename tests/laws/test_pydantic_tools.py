"""What tools that build on pydantic ask of a model, and what pydantic does without validation."""

from __future__ import annotations

import subprocess
import sys

from mcp_wire.v2025_11_25 import models_pydantic as m
from mcp_wire.v2026_07_28 import models_pydantic as newest


def test_what_is_made_or_copied_without_validation_is_written_with_its_constants() -> None:
    made = m.TextContent.model_construct(text="a", extra_={"x": 1})
    assert made == m.TextContent(text="a", extra_={"x": 1})
    assert made.model_dump_json(exclude_unset=True) == '{"type":"text","text":"a","x":1}'
    copied = made.model_copy(update={"text": "b", "extra_": {"y": 2}})
    assert copied == m.TextContent(text="b", extra_={"y": 2})
    assert copied.model_fields_set == {"type", "text"}
    assert made.extra_ == {"x": 1}
    assert made.model_copy(update={"extra_": {}}) == m.TextContent(text="a")


def test_a_constant_with_a_name_of_its_own_is_written_once() -> None:
    made = newest.InputRequiredResult(request_state="s")
    for given in ({**dict(made)}, {"result_type": "input_required", "request_state": "s"}):
        again = newest.InputRequiredResult.model_construct(**given)
        assert newest.encode(again) == newest.encode(made)


def test_tools_see_types_and_limits_before_a_model_is_used() -> None:
    program = (
        "from mcp_wire.v2025_11_25 import models_pydantic as m\n"
        "fields = m.ServerCapabilities.model_fields\n"
        "assert fields['tools'].annotation is m.ServerCapabilitiesTools, fields['tools']\n"
        "limits = m.Annotations.model_fields['priority'].metadata[-1]\n"
        "assert (limits.ge, limits.le) == (0, 1)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
