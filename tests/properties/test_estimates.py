"""Identities that every estimate keeps, whatever the data."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import heldout as ho
from heldout.estimates import bootstrap as of_rows

seeds = st.integers(0, 2**32 - 1)
few = settings(max_examples=8)
"""Of examples that are some estimates each: another one differs by its random numbers alone."""


def data(seed: int, rows: int = 40, configurations: int = 5) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.resize([0, 1], rows))
    return y, np.round(rng.normal(size=(rows, configurations)) + 0.5 * y[:, None], 2)


@few
@given(seed=seeds)
def test_auc_knows_only_ranks(seed):
    y, scores = data(seed)
    a = ho.estimate(y, scores, metric="roc_auc", n_bootstraps=40, random_state=1)
    b = ho.estimate(y, np.exp(scores) * 3, metric="roc_auc", n_bootstraps=40, random_state=1)
    np.testing.assert_array_equal(a.distribution, b.distribution)


@few
@given(seed=seeds, metric=st.sampled_from(["roc_auc", "accuracy", "brier_score", "average_precision"]))
def test_copies_of_a_configuration_change_nothing(seed, metric):
    y, scores = data(seed)
    table = 1 / (1 + np.exp(-scores))
    doubled = np.concatenate([table, table], axis=1)
    a = ho.estimate(y, table, metric=metric, method="bbc", n_bootstraps=40, random_state=1)
    b = ho.estimate(y, doubled, metric=metric, method="bbc", n_bootstraps=40, random_state=1)
    np.testing.assert_array_equal(a.distribution, b.distribution)
    assert b.selection_frequency[5:].sum() == 0  # of equal ones the first wins


@few
@given(seed=seeds, block=st.sampled_from([1, 7, 64, 300]), threads=st.sampled_from([1, 3]))
def test_blocks_and_threads_change_no_bit(seed, block, threads):
    y, scores = data(seed)
    expected = ho.estimate(y, scores, metric="roc_auc", n_bootstraps=300, random_state=seed)
    whole = of_rows.map_blocks
    try:
        of_rows.map_blocks = lambda function, n, n_threads: whole(function, n, n_threads=threads, block=block)
        found = ho.estimate(y, scores, metric="roc_auc", n_bootstraps=300, random_state=seed)
    finally:
        of_rows.map_blocks = whole
    np.testing.assert_array_equal(found.distribution, expected.distribution)
    assert found.interval == expected.interval


@few
@given(seed=seeds)
def test_folds_of_all_rows_are_the_pooled_score(seed):
    y, scores = data(seed)
    pooled = ho.estimate(y, scores, metric="roc_auc", n_bootstraps=40, random_state=1)
    one_fold = ho.estimate(
        y, scores, metric="roc_auc", n_bootstraps=40, random_state=1, folds=np.zeros(40), aggregate="folds"
    )
    np.testing.assert_array_equal(pooled.distribution, one_fold.distribution)


@few
@given(seed=seeds)
def test_equal_repeats_are_one_repeat(seed):
    y, scores = data(seed)
    once = ho.estimate(y, scores, metric="roc_auc", n_bootstraps=40, random_state=1)
    thrice = ho.estimate(y, np.stack([scores] * 3, axis=2), metric="roc_auc", n_bootstraps=40, random_state=1)
    np.testing.assert_allclose(once.distribution, thrice.distribution, atol=1e-14)
