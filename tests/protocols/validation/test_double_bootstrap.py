"""Samples of a sample: what they hold, and that their correction is that of a table with its copies."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from heldout.data.task import truth_of
from heldout.metrics import metric_named
from heldout.metrics.base import Response
from heldout.protocols.drawn_rows import drawn_rows
from heldout.protocols.validation.corrections import CORRECTIONS, correction_named
from heldout.protocols.validation.replicates import Replicates
from heldout.selection.bootstrap_draws import UndefinedDrawsError, inner_counts

OUTER = np.array([2, 0, 1, 3, 0, 1, 1, 0, 2, 0], dtype=np.uint8)
MANY = inner_counts(OUTER, 4000, seed=11)


def test_each_holds_as_many_rows_as_the_sample_and_none_that_it_lacks():
    assert MANY.dtype == np.uint8 and (MANY.sum(axis=1) == 10).all()
    assert not MANY[:, OUTER == 0].any()


def test_a_row_is_drawn_as_often_as_it_stands_in_the_sample():
    # Multinomial: variance 10 p (1 - p); five standard errors of a mean of 4000, and a fixed seed.
    p = OUTER / 10
    assert (np.abs(MANY.mean(axis=0) - OUTER) <= 5 * np.sqrt(10 * p * (1 - p) / 4000)).all()
    together = ((MANY[:, 3] - 3.0) * (MANY[:, 0] - 2.0)).mean()
    assert together == pytest.approx(-10 * 0.3 * 0.2, abs=0.15)  # their covariance


def test_a_prefix_is_a_shorter_run_and_seeds_differ():
    assert (inner_counts(OUTER, 7, seed=11) == MANY[:7]).all()
    assert (inner_counts(OUTER, 7, seed=12) != MANY[:7]).any()


def test_groups_are_drawn_whole():
    units = np.array([0, 0, 1, 1, 1, 2, 3, 3])
    of_unit = np.array([2, 0, 1, 1], dtype=np.uint8)
    found = inner_counts(of_unit[units], 50, seed=3, unit_of_row=units)
    first = found[:, [0, 2, 5, 6]]
    assert (found == first[:, units]).all() and (first.sum(axis=1) == 4).all() and not first[:, 1].any()


def test_what_will_not_do_is_drawn_again_by_original_row():
    positive = np.arange(10) % 3 == 0  # rows 0 and 3 of the sample, two and three copies

    def has_both(counts):
        return counts[:, positive].any(axis=1) & counts[:, ~positive].any(axis=1)

    found = inner_counts(OUTER, 300, seed=5, in_bag=has_both, left_out=has_both)
    left_out = (found == 0) & (OUTER > 0)
    for held in (found > 0, left_out):
        assert held[:, positive].any(axis=1).all() and held[:, ~positive].any(axis=1).all()
    assert (found.sum(axis=1) == 10).all()
    usable = has_both(MANY[:300]) & has_both(((MANY[:300] == 0) & (OUTER > 0)).astype(np.uint8))
    same = inner_counts(OUTER, 300, seed=11, in_bag=has_both, left_out=has_both)
    assert 0 < usable.sum() < 300 and (same[usable] == MANY[:300][usable]).all()


def test_a_class_with_one_row_in_the_sample_cannot_be_drawn_and_left_out():
    single = np.arange(10) == 5
    with pytest.raises(UndefinedDrawsError):
        inner_counts(
            OUTER, 3, 1, in_bag=lambda c: c[:, single].any(axis=1), left_out=lambda c: c[:, single].any(axis=1)
        )


RNG = np.random.default_rng(9)
N, N_OUTER, N_INNER = 25, 4, 6
X = RNG.normal(size=(N, 5))
Y = X @ [1.0, 0.5, 0, 0, 0] + RNG.normal(size=N)


def said(counts: np.ndarray) -> np.ndarray:
    rows = drawn_rows(counts)
    return LinearRegression().fit(X[rows], Y[rows]).predict(X)


COUNTS = np.stack([np.bincount(RNG.integers(N, size=N), minlength=N) for _ in range(N_OUTER)]).astype(np.uint8)
ALL = Replicates(
    truth_of(Y, "regression"),
    COUNTS,
    {Response.VALUES: said(np.ones(N, dtype=np.uint8))[:, None]},
    {Response.VALUES: np.stack([said(each) for each in COUNTS], axis=1)[:, None]},
)
DRAWN = [inner_counts(each, N_INNER, seed=b) for b, each in enumerate(COUNTS)]
INNER = [
    ALL.of_samples_of(b, drawn, {Response.VALUES: np.stack([said(each) for each in drawn], axis=1)[:, None]})
    for b, drawn in enumerate(DRAWN)
]


@pytest.mark.parametrize("metric", ["mean_squared_error", "r2", "median_absolute_error"])
def test_the_apparent_score_of_a_sample_is_its_score_in_the_bootstrap(metric):
    found = [each.scores(metric_named(metric)).apparent for each in INNER]
    assert found == pytest.approx(ALL.scores(metric_named(metric)).in_bootstrap, rel=1e-12)


def test_the_double_bootstrap_is_a_loop_over_tables_with_copies():
    expected = []
    for b, outer in enumerate(COUNTS):
        rows = drawn_rows(outer)
        own = ALL.on_original[Response.VALUES][:, 0, b]
        optimism, losses = [], {i: [] for i in rows}
        for counts in DRAWN[b]:
            inner, given = drawn_rows(counts), said(counts)
            optimism.append(((given - Y)[inner] ** 2).mean() - ((given - Y)[rows] ** 2).mean())
            for i in set(rows) - set(inner):
                losses[i].append((given[i] - Y[i]) ** 2)
        apparent = ((own - Y)[rows] ** 2).mean()
        left_out = np.mean([np.mean(losses[i]) for i in rows if losses[i]])  # a row as often as the sample has it
        gamma = ((Y[rows][:, None] - own[rows]) ** 2).mean()
        bounded = min(left_out, gamma)
        overfitting = (bounded - apparent) / (gamma - apparent) if min(left_out, gamma) > apparent else 0
        w = 0.632 / (1 - 0.368 * overfitting)
        plain, plus = 0.368 * apparent + 0.632 * left_out, (1 - w) * apparent + w * bounded
        expected.append([apparent - np.mean(optimism), plain, plus, left_out])
    metric = metric_named("mean_squared_error")
    found = [
        [correction_named(name).corrected(inner, inner.scores(metric)).value for inner in INNER]
        for name in CORRECTIONS
    ]
    assert np.transpose(found) == pytest.approx(np.array(expected), rel=1e-10)
