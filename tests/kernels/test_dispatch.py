import sys
from types import ModuleType

import pytest

import heldout.kernels
from heldout.errors import InputError
from heldout.kernels import dispatch


@pytest.fixture(params=["no module", "the folder of sources"])
def not_built(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in an installation without the extension, and as in a checkout, where a folder has its name."""
    folder = ModuleType("heldout.kernels._core") if request.param == "the folder of sources" else None
    monkeypatch.setitem(sys.modules, "heldout.kernels._core", folder)
    monkeypatch.setattr(heldout.kernels, "_core", folder, raising=False)
    if folder is None:
        monkeypatch.delattr(heldout.kernels, "_core")


def test_the_reference_can_be_requested(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HELDOUT_KERNELS", "numpy")
    assert dispatch._kernels_in_use() == "numpy"


@pytest.mark.usefixtures("not_built")
def test_without_a_build_the_reference_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HELDOUT_KERNELS", raising=False)
    assert dispatch._kernels_in_use() == "numpy"


@pytest.mark.usefixtures("not_built")
def test_compiled_kernels_that_are_requested_must_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HELDOUT_KERNELS", "compiled")
    with pytest.raises(InputError, match=r"built without a C\+\+ compiler"):
        dispatch._kernels_in_use()


def test_other_kernels_do_not_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HELDOUT_KERNELS", "cuda")
    with pytest.raises(InputError, match=r"'compiled' or 'numpy' \(or not set\), got 'cuda'"):
        dispatch._kernels_in_use()
