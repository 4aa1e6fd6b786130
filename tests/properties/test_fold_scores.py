"""What holds of every matrix of fold scores, whatever is in it."""

from typing import Any

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import heldout as ho
from heldout.estimates import WMC, WMCS

MATRICES = hnp.arrays(
    np.float64,
    st.tuples(st.integers(2, 9), st.integers(1, 7)),
    elements=st.integers(0, 40).map(lambda n: n / 40),  # few values, so that there are many ties
)
SEEDS = st.integers(0, 2**64 - 1)


def of(scores: np.ndarray, method: Any, seed: int = 0, **others: Any) -> ho.Estimate:
    shared = {"greater_is_better": True, "n_bootstraps": 40, "random_state": seed, "range": (-2, 1)}
    if isinstance(method, WMC | WMCS):
        shared["test_share"] = 0.25
    return ho.estimate_from_scores(scores, method=method, **(shared | others))


@given(MATRICES, SEEDS)
def test_bbc_f_lies_within_the_scores_and_its_interval_around_its_draws(scores: np.ndarray, seed: int) -> None:
    found = of(scores, "bbc_f", seed)
    assert scores.min() - 1e-12 <= found.distribution.min() <= found.distribution.max() <= scores.max() + 1e-12
    if ho.Flag.NO_SPREAD in found.flags:
        assert found.interval.low < found.value <= found.interval.high
    else:
        assert found.distribution.min() <= found.interval.low < found.interval.high <= found.distribution.max()
    assert found.value == pytest.approx(found.distribution.mean(), abs=1e-12)
    assert found.selection_frequency.sum() == pytest.approx(1)
    assert found.uncorrected == pytest.approx(scores.mean(axis=0).max(), abs=1e-12)


@given(MATRICES, SEEDS)
def test_other_configurations_in_other_places_are_chosen_all_the_same(scores: np.ndarray, seed: int) -> None:
    # A worse copy of each column never wins, wherever it stands.
    both = np.concatenate([scores, scores - 2], axis=1)
    alone, among = of(scores, "bbc_f", seed), of(both, "bbc_f", seed)
    np.testing.assert_array_equal(among.distribution, alone.distribution)
    np.testing.assert_array_equal(among.selection_frequency[: scores.shape[1]], alone.selection_frequency)


@given(MATRICES)
def test_tt_corrects_downward_and_by_no_more_than_the_spread(scores: np.ndarray) -> None:
    found = of(scores, "tt")
    assert 0 <= found.optimism + 1e-12
    assert found.optimism <= np.ptp(scores, axis=1).mean() + 1e-12


@given(MATRICES, SEEDS)
def test_weighted_means_lie_within_the_means(scores: np.ndarray, seed: int) -> None:
    means = scores.mean(axis=0)
    for method in (WMC(n_draws=500), WMCS(n_draws=500), WMCS(average="raw", n_draws=500)):
        found = of(scores, method, seed)
        if ho.Flag.UNDEFINED in found.flags:
            continue  # the winner won no draw, which a unit test is about
        assert means.min() - 1e-9 <= found.value <= means.max() + 1e-9
        assert found.optimism >= -1e-9
