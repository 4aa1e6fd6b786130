"""Both kinds of kernels go through the same tests."""

from types import ModuleType

import pytest
from twins import compiled_kernels

from heldout.kernels import reference


@pytest.fixture(params=["numpy", "compiled"])
def kernels(request: pytest.FixtureRequest) -> ModuleType:
    if request.param == "numpy":
        return reference
    compiled = compiled_kernels()
    if compiled is None:
        pytest.skip("this installation was built without a C++ compiler")
    return compiled
