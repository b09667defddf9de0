"""A test here may be a coroutine, as those of the requirements."""

from tests.spec.conftest import pytest_pyfunc_call

__all__ = ["pytest_pyfunc_call"]
