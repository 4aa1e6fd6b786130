"""Draws of units: those of NumPy's Philox, in both kinds of kernels."""

from types import ModuleType

import numpy as np
import pytest
from twins import counts_by_definition

from heldout.kernels import reference


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 97, 500])
@pytest.mark.parametrize("seed", [0, 1, 2**63, 2**64 - 1])
def test_a_draw_is_that_of_numpys_philox(kernels: ModuleType, seed: int, n: int) -> None:
    bootstraps = np.array([0, 1, 7, 2**40, 2**64 - 1], dtype=np.uint64)
    for attempt in (0, 1, 999, 2**32 + 5):
        drawn = kernels.draw_units(seed, bootstraps, attempt, n)
        assert drawn.dtype == np.uint8
        assert drawn.tolist() == [counts_by_definition(seed, int(b), attempt, n) for b in bootstraps]


def test_the_numbers_of_a_published_estimate_stay_the_same(kernels: ModuleType) -> None:
    drawn = kernels.draw_units(20180709, np.arange(3, dtype=np.uint64), 0, 8)
    assert drawn.tolist() == [[2, 2, 2, 0, 0, 1, 1, 0], [1, 2, 0, 1, 0, 3, 1, 0], [0, 2, 0, 2, 1, 3, 0, 0]]


def test_more_draws_of_one_unit_than_a_byte_holds_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "high_word_of_product", lambda raw, n: np.zeros(len(raw), dtype=np.intp))
    with pytest.raises(OverflowError, match="300 times"):
        reference.draw_units(1, np.arange(1, dtype=np.uint64), 0, 300)


def test_the_index_is_the_high_word_of_an_exact_product() -> None:
    words = [0, 1, 2**32 - 1, 2**32, 2**63, 2**64 - 1, 0x9E3779B97F4A7C15]
    for n in (1, 2, 3, 500, 2**31 - 1, 2**32 - 1):
        got = reference.high_word_of_product(np.array(words, dtype=np.uint64), n)
        assert got.tolist() == [(word * n) >> 64 for word in words]
