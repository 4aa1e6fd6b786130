"""Bootstraps of very many rows draw from a part of them: value of all rows, noise as of all rows."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import heldout as ho
from heldout.data.row_part import row_part
from heldout.data.task import TaskKind, truth_of
from heldout.flags import Flag

N = 12_000
FEW = {"n_rows_of_bootstrap": 3000, "random_state": 0}
ALL = {"n_rows_of_bootstrap": None, "random_state": 0}
SHORT = {"n_bootstraps": 40}
"""Where numbers are the same to the last bit, or none is read."""


def table(share=0.5, n_rows=N, n_columns=6, seed=0):
    """A target, and decisions of configurations that hardly differ."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n_rows) < share).astype(int)
    return y, y[:, None] + rng.normal(scale=2.0, size=(n_rows, n_columns))


def read_as(metric, decisions):
    if metric in ("roc_auc", "average_precision"):
        return decisions
    chances = 1 / (1 + np.exp(0.5 - decisions))
    return (chances > 0.5).astype(int) if metric in ("f1", "balanced_accuracy") else chances


@pytest.mark.parametrize(
    ("method", "metric", "share"),
    [
        ("shrinkage", "roc_auc", 0.5), ("shrinkage", "neg_log_loss", 0.5), ("shrinkage", "f1", 0.02),
        ("bbc", "balanced_accuracy", 0.5), ("bbc", "roc_auc", 0.02), ("naive_bootstrap", "average_precision", 0.5),
    ],
)  # fmt: skip
def test_standard_errors_and_optimism_are_those_of_all_rows(metric, share, method):
    y, decisions = table(share)
    columns = read_as(metric, decisions)
    asked = {"metric": metric, "method": method, "folds": np.arange(N) % 4, "aggregate": "auto"}
    part, whole = (ho.estimate(y, columns, n_bootstraps=400, **asked, **which) for which in (FEW, ALL))

    assert part.uncorrected == pytest.approx(whole.uncorrected, abs=1e-12)
    assert part.constant == pytest.approx(whole.constant, abs=1e-4)
    assert part.selected == whole.selected
    width = whole.interval.high - whole.interval.low
    assert part.interval.high - part.interval.low == pytest.approx(width, rel=0.15)
    assert part.value == pytest.approx(whole.value, abs=0.06 * width)
    assert Flag.NOISE_OF_A_PART in part.flags
    assert Flag.NOISE_OF_A_PART not in whole.flags
    assert part.n_rows_used == N
    assert part.provenance["n_rows_of_bootstrap"] < N


def test_at_most_so_many_rows_are_all_drawn_from():
    y, decisions = table(n_rows=3000)

    estimates = [ho.estimate(y, decisions, metric="roc_auc", **which, **SHORT) for which in (FEW, ALL)]

    assert estimates[0].to_dict() == estimates[1].to_dict()


def test_groups_come_whole_and_enough_of_them():
    groups = np.arange(30_000) // 5
    rows = np.arange(30_000)
    truth = truth_of(np.arange(30_000.0), TaskKind.REGRESSION)

    part = row_part(truth, rows, 3000, 0, groups=groups)

    assert len(np.unique(groups[part.rows])) == 2000
    assert np.isin(groups, np.unique(groups[part.rows])).sum() == len(part.rows) == 10_000
    assert row_part(truth, rows, 3000, 0, groups=rows // 1000) is None  # 30 groups: all of them


def test_rows_in_the_order_of_time_come_in_stretches():
    truth = truth_of(np.arange(60_000.0), TaskKind.REGRESSION)
    part = row_part(truth, np.arange(60_000), 20_000, 0, block_length=30)

    assert len(part.rows) == 20_000
    assert set(np.diff(part.rows)[np.arange(19_999) % 1000 != 999].tolist()) == {1}


def test_a_rare_class_is_there_with_all_its_rows():
    y = np.arange(N) % 100 == 0  # 120 rows
    part = row_part(truth_of(y), np.arange(N), 3000, 0)

    assert y[part.rows].sum() == 120
    assert set(part.shares[y[part.rows]].tolist()) == {1.0}


@pytest.mark.parametrize("selection", ["best", "one_standard_error"])
def test_a_search_and_its_predictions_give_the_same_bits(selection):
    rng = np.random.default_rng(1)
    y = rng.integers(2, size=9000)
    X = y[:, None] + rng.normal(scale=3, size=(9000, 4))
    space, settings = {"var_smoothing": [1e-3, 1e-1, 1.0]}, {"scoring": "roc_auc", "cv": 3, **FEW, **SHORT}
    search = ho.HeldOutSearchCV(GaussianNB(), space, selection=selection, **settings).fit(X, y)

    again = ho.estimate(y, search.predictions_)

    assert again.to_dict() == search.estimate_.to_dict()
    assert Flag.NOISE_OF_A_PART in again.flags
    with pytest.warns(ho.HeldoutWarning, match="n_rows_of_bootstrap=50000"):  # the usual number, which replaces it
        assert Flag.NOISE_OF_A_PART not in ho.estimate(y, search.predictions_, n_rows_of_bootstrap=50_000).flags


def test_configurations_are_compared_by_the_noise_of_a_part():
    y, decisions = table()

    part, whole = (ho.compare_configurations(y, decisions, metric="roc_auc", **which) for which in (FEW, ALL))

    assert part.winner == whole.winner
    one, other = (each.difference(0, 1) for each in (part, whole))
    assert one.value == pytest.approx(other.value, abs=1e-3)
    assert one.interval.high - one.interval.low == pytest.approx(other.interval.high - other.interval.low, rel=0.15)


@pytest.mark.parametrize("n_rows", [999, 0, 1.5, "many"])
def test_too_few_rows_are_refused(n_rows):
    y, decisions = table(n_rows=100)

    with pytest.raises(ho.InputError, match="n_rows_of_bootstrap") as error:
        ho.estimate(y, decisions, metric="roc_auc", n_rows_of_bootstrap=n_rows)

    assert error.value.argument == "n_rows_of_bootstrap"


def test_all_rows_are_drawn_from_where_no_part_stands_for_them():
    """A few large errors or groups, folds without a row of the part, and weights that a metric does not take."""
    rng = np.random.default_rng(0)
    y = rng.normal(size=N)
    guesses = y[:, None] + rng.normal(size=(N, 2))
    guesses[:3] += 1000
    few = FEW | {"n_bootstraps": 10}
    squares = ho.estimate(y, guesses, metric="mean_squared_error", **few)
    assert Flag.NOISE_OF_A_PART not in squares.flags and squares.interval.high > 300

    classes, decisions = table(0.02)
    cost = ho.metrics.custom(lambda y, p: np.mean(np.abs(y - p)), greater_is_better=False, response="labels")
    labels = (decisions > 1).astype(int)
    assert Flag.NOISE_OF_A_PART not in ho.estimate(classes, labels, metric=cost, **few).flags
    giant = np.r_[np.zeros(N // 2), 1 + np.arange(N // 2) // 2]
    assert Flag.NOISE_OF_A_PART not in ho.estimate(classes, labels, metric="f1", groups=giant, **few).flags
    zero = np.where(np.arange(N) % 2, 0.0, 1.0)
    assert Flag.NOISE_OF_A_PART not in ho.estimate(classes, labels, metric="f1", sample_weight=zero, **few).flags
    folds = np.arange(N) // 12
    found = ho.estimate(classes, labels, metric="accuracy", folds=folds, aggregate="folds", **few)
    assert Flag.NOISE_OF_A_PART not in found.flags and np.isfinite(found.value)


def test_few_errors_are_all_drawn_from():
    y, _ = table()
    labels = np.stack([np.where(np.arange(N) % 400 == shift, 1 - y, y) for shift in range(3)], axis=1)

    asked = {"metric": "balanced_accuracy"} | SHORT
    few, whole = (ho.estimate(y, labels, **asked, **which) for which in (FEW, ALL))

    assert few.to_dict() == whole.to_dict()


def test_many_rows_leave_little_to_correct():
    y, decisions = table(n_rows=60_000, n_columns=3)
    decisions += [0, 1, 2] * np.random.default_rng(1).normal(size=(60_000, 1))  # the first is clearly the best
    asked = {"metric": "roc_auc", "random_state": 0, "n_bootstraps": 100}

    many = ho.estimate(y, decisions, **asked)
    few = ho.estimate(y[:2000], decisions[:2000], **asked)

    assert abs(many.optimism) < 0.05 * (many.interval.high - many.interval.low)
    assert "With 60,000 rows there was next to nothing to correct" in many.flags[Flag.LITTLE_TO_CORRECT]
    assert Flag.LITTLE_TO_CORRECT not in few.flags
    assert Flag.LITTLE_TO_CORRECT not in ho.estimate(y, decisions[:, :1], **asked).flags
    assert Flag.LITTLE_TO_CORRECT not in ho.estimate(y, decisions, method="cv", **asked).flags
