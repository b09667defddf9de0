"""Threads that read their first messages at once: msgspec cannot make two decoders at once."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.json import Decoder

from mcp_wire._msgspec import BUILDING
from mcp_wire.v2025_11_25 import models_msgspec


def test_decoders_are_made_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    locked: list[bool] = []

    def made(of: Any, **options: Any) -> Decoder[Any]:
        locked.append(BUILDING.locked())
        return Decoder(of, **options)

    monkeypatch.setattr(models_msgspec, "Decoder", made)
    monkeypatch.setattr(models_msgspec, "_NATIVE", {})
    text = b'{"type":"text","text":"a"}'
    for _ in range(2):
        made_of_text = models_msgspec.decode(models_msgspec.TextContent, text)
        assert made_of_text == models_msgspec.TextContent(text="a")
    assert locked == [True]
    assert not BUILDING.locked()
