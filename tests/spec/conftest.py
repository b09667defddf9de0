"""A test here may be a coroutine: it runs on an event loop of its own, and not for ever."""

from __future__ import annotations

import asyncio
import inspect
from typing import Final

import pytest

SECONDS: Final = 30.0


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    given = {name: pyfuncitem.funcargs[name] for name in names}
    asyncio.run(asyncio.wait_for(pyfuncitem.obj(**given), SECONDS))
    return True
