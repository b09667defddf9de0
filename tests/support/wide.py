"""Which cases of a parametrized test wait for `make wide`."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def wide_but(kept: Collection[Any], values: Iterable[Any]) -> list[Any]:
    """`values` as the parameters of a test, marked `wide` unless they are among `kept`.

    Raises ValueError if one of `kept` is not a value: it would be run by no one.
    """
    every = list(values)
    if unknown := [value for value in kept if value not in every]:
        raise ValueError(f"not among the values: {unknown}")
    return [v if v in kept else pytest.param(v, marks=pytest.mark.wide) for v in every]
