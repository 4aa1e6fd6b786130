"""Both kinds of kernels go through the same tests."""

from __future__ import annotations

import importlib
from types import ModuleType

import pytest

from heldout.kernels import reference


@pytest.fixture(params=["numpy", "compiled"])
def kernels(request: pytest.FixtureRequest) -> ModuleType:
    if request.param == "numpy":
        return reference
    try:
        importlib.import_module("heldout.kernels._core").draw_units  # noqa: B018
    except (ImportError, AttributeError):
        pytest.skip("this installation was built without a C++ compiler")
    return importlib.import_module("heldout.kernels.compiled")
