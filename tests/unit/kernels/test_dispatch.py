from __future__ import annotations

import sys

import pytest

from heldout.errors import InputError
from heldout.kernels import dispatch


def test_the_reference_can_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HELDOUT_KERNELS", "numpy")
    assert dispatch._kernels_in_use() == "numpy"


def test_without_a_build_the_reference_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HELDOUT_KERNELS", raising=False)
    monkeypatch.setitem(sys.modules, "heldout.kernels._core", None)
    assert dispatch._kernels_in_use() == "numpy"


def test_compiled_kernels_that_are_asked_for_must_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HELDOUT_KERNELS", "compiled")
    monkeypatch.setitem(sys.modules, "heldout.kernels._core", None)
    with pytest.raises(InputError, match="built without a C\\+\\+ compiler"):
        dispatch._kernels_in_use()


def test_other_kernels_do_not_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HELDOUT_KERNELS", "cuda")
    with pytest.raises(InputError, match="'compiled' or 'numpy' \\(or not set\\), got 'cuda'"):
        dispatch._kernels_in_use()
