"""The normal interval from row losses: by formula in plain NumPy, against DeLong, on repeats, and its refusals."""

import numpy as np
import pytest
from scipy.stats import norm

import heldout as ho
from heldout.estimates import DeLong, WaldCV

Z = norm.ppf(0.975)
RNG = np.random.default_rng(7)
N = 90
FOLDS = np.arange(N) % 5
Y = RNG.integers(0, 2, N)
SCORES = RNG.normal(Y[:, None] + 0.3 * (FOLDS == 2)[:, None], 1.0, size=(N, 6))
TARGET = RNG.normal(size=N)
GUESSES = TARGET[:, None] + RNG.normal(size=(N, 6)) * (1 + FOLDS[:, None])


def of_labels(n_right: int, n: int = 200, **more):
    y = np.resize([0, 1], n)
    labels = np.where(np.arange(n) < n_right, y, 1 - y)[:, None]
    return ho.estimate(y, labels, metric="accuracy", method="wald_cv", folds=np.zeros(n), **more)


def test_of_right_and_wrong_it_is_the_textbook_interval():
    """p ± z √(p(1 - p)/N), of 150 of 200: .75 ± 1.96 · .0306186."""
    found = of_labels(150)
    assert found.standard_error == pytest.approx(np.sqrt(0.75 * 0.25 / 200), abs=1e-15)
    assert list(found.interval) == pytest.approx([0.75 - Z * 0.0306186, 0.75 + Z * 0.0306186], abs=1e-7)
    lower = of_labels(150, alternative="greater").interval
    assert list(lower) == pytest.approx([0.75 - norm.ppf(0.95) * 0.0306186, 1.0], abs=1e-7)


def losses(column: int = 0):
    return (GUESSES[:, column] - TARGET) ** 2


def of_errors(metric: str, method: WaldCV | str = "wald_cv", column: int = 0, **more):
    more = {"folds": FOLDS, "aggregate": "folds"} | more
    return ho.estimate(TARGET, GUESSES[:, [column]], metric=metric, method=method, **more)


@pytest.mark.parametrize("aggregate", ["folds", "pooled"])
def test_squared_errors_of_all_rows(aggregate):
    found = of_errors("mean_squared_error", aggregate=aggregate)
    loss = losses()
    assert found.standard_error == pytest.approx(np.sqrt(((loss - loss.mean()) ** 2).mean() / N), rel=1e-12)
    assert found.value == pytest.approx(loss.mean(), rel=1e-12)
    signed = of_errors("neg_mean_squared_error", aggregate=aggregate)
    assert signed.standard_error == pytest.approx(found.standard_error, rel=1e-12)
    assert signed.interval.low == pytest.approx(-found.interval.high, rel=1e-12)


@pytest.mark.parametrize("aggregate", ["folds", "pooled"])
def test_squared_errors_within_folds(aggregate):
    """The article's other estimate: the mean over folds of the variance in the fold, with divisor n/K - 1."""
    found = of_errors("mean_squared_error", WaldCV(variance="within_folds"), aggregate=aggregate)
    variance = np.mean([losses()[k == FOLDS].var(ddof=1) for k in range(5)])
    assert found.standard_error == pytest.approx(np.sqrt(variance / N), rel=1e-12)


@pytest.mark.parametrize("aggregate", ["folds", "pooled"])
@pytest.mark.parametrize("variance", ["all_rows", "within_folds"])
def test_a_root_has_the_error_of_the_mean_over_twice_the_root(aggregate, variance):
    found = of_errors("root_mean_squared_error", WaldCV(variance=variance), aggregate=aggregate)
    loss, ddof = losses(), int(variance == "within_folds")
    if aggregate == "pooled" and variance == "all_rows":
        expected = loss.std() / np.sqrt(N) / (2 * np.sqrt(loss.mean()))
    else:
        parts = [loss[k == FOLDS] for k in range(5)]
        one = [part.var(ddof=ddof) / len(part) / (4 * part.mean()) for part in parts]
        expected = np.sqrt(sum(one)) / 5
    assert found.standard_error == pytest.approx(expected, rel=1e-12)


def area(scores, y):
    difference = scores[y == 1][:, None] - scores[y == 0][None, :]
    ordered = (difference > 0) + 0.5 * (difference == 0)
    return ordered.mean(), ordered.mean(axis=1), ordered.mean(axis=0)


def of_areas(aggregate: str, variance: str = "all_rows", column: int = 1):
    return ho.estimate(
        Y, SCORES[:, [column]], metric="roc_auc", method=WaldCV(variance=variance), folds=FOLDS, aggregate=aggregate
    )


def test_an_area_of_one_fold_is_delongs():
    one = {"metric": "roc_auc", "folds": np.zeros(N)}
    found = ho.estimate(Y, SCORES[:, [1]], method=WaldCV(variance="within_folds"), **one)
    delong = ho.estimate(Y, SCORES[:, [1]], method=DeLong(evaluation_share=1.0), **one)
    assert found.standard_error == pytest.approx(delong.standard_error, rel=1e-12)
    assert list(found.interval) == pytest.approx(list(delong.interval), rel=1e-12)


@pytest.mark.parametrize("variance", ["all_rows", "within_folds"])
def test_areas_of_folds_are_averaged(variance):
    """LeDell, Petersen and van der Laan's influence curve: placements in each fold, over the class sizes."""
    found, squares = of_areas("folds", variance), 0.0
    for k in range(5):
        rows, ddof = k == FOLDS, int(variance == "within_folds")
        _, of_positives, of_negatives = area(SCORES[rows, 1], Y[rows])
        squares += of_positives.var(ddof=ddof) / len(of_positives) + of_negatives.var(ddof=ddof) / len(of_negatives)
    assert found.standard_error == pytest.approx(np.sqrt(squares) / 5, rel=1e-12)


def test_areas_within_folds_weigh_by_their_pairs():
    found, total, squares = of_areas("within"), 0.0, 0.0
    for k in range(5):
        rows = k == FOLDS
        _, of_positives, of_negatives = area(SCORES[rows, 1], Y[rows])
        pairs = len(of_positives) * len(of_negatives)
        total += pairs
        squares += pairs**2 * (of_positives.var() / len(of_positives) + of_negatives.var() / len(of_negatives))
    assert found.standard_error == pytest.approx(np.sqrt(squares) / total, rel=1e-12)


def test_a_row_of_several_repeats_counts_once():
    folds = np.stack([FOLDS, RNG.permutation(FOLDS)], axis=1)
    both = np.stack([GUESSES[:, :1], GUESSES[:, 1:2]], axis=2)
    found = ho.estimate(TARGET, both, metric="mean_squared_error", method="wald_cv", folds=folds)
    loss = (losses(0) + losses(1)) / 2
    assert found.standard_error == pytest.approx(np.sqrt(((loss - loss.mean()) ** 2).mean() / N), rel=1e-12)
    same = np.repeat(GUESSES[:, :1, None], 2, axis=2)
    twice = ho.estimate(TARGET, same, metric="mean_squared_error", method="wald_cv", folds=np.stack([FOLDS] * 2, 1))
    once = of_errors("mean_squared_error")
    assert twice.standard_error == pytest.approx(once.standard_error, rel=1e-12)


def test_a_winner_is_flagged_and_a_single_configuration_is_not():
    found = ho.estimate(Y, SCORES, metric="roc_auc", method="wald_cv", folds=FOLDS)
    assert {"uncorrected", "selection_ignored", "folds_dependent"} <= set(found.flags)
    alone = of_areas("pooled")
    assert "single_configuration" in alone.flags and not {"uncorrected", "selection_ignored"} & set(alone.flags)
    assert found.value == found.uncorrected and found.optimism == 0


@pytest.mark.parametrize("metric", ["roc_auc", "root_mean_squared_error"])
def test_rows_all_alike_show_no_spread(metric):
    regression = metric == "root_mean_squared_error"
    truth, predictions = (TARGET, TARGET[:, None]) if regression else (Y, Y[:, None])
    with pytest.warns(ho.HeldoutWarning, match="which shows no spread"):
        found = ho.estimate(truth, predictions, metric=metric, method="wald_cv", folds=FOLDS)
    assert "no_bound" in found.flags and np.isnan(list(found.interval)).all() and found.standard_error is None
    assert found.value == (0 if regression else 1)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"metric": "f1"}, "means of one loss per row, their roots and the ROC AUC, and f1 is none of these"),
        ({"groups": np.arange(N) // 2}, "it treats rows as independent, but here they come in groups"),
        ({"sample_weight": np.arange(N) + 1.0}, "its formula does not allow sample_weight"),
        ({"folds": np.arange(N), "method": WaldCV(variance="within_folds")}, "needs two rows"),
    ],
)
def test_what_it_is_not_for_is_refused(settings, said):
    asked = {"metric": "accuracy", "method": "wald_cv", **settings}
    with pytest.raises(ho.InputError, match=said):
        ho.estimate(Y, (SCORES > 0.5).astype(int), **asked)


def test_an_area_of_several_classes_is_refused():
    y = np.resize([0, 1, 2], N)
    with pytest.raises(ho.InputError, match="for two classes only"):
        ho.estimate(y, RNG.dirichlet(np.ones(3), size=(N, 2, 1)), metric="roc_auc_ovr", method="wald_cv")


def test_unknown_variances_are_refused():
    with pytest.raises(ho.InputError, match="variance must be one of all_rows, within_folds, got 'out'"):
        WaldCV(variance="out")
