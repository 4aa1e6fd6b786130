"""Intervals where rows are all alike, or nearly: never without width, and as wide as hand-worked bounds."""

import warnings

import numpy as np
import pytest
from scipy.stats import beta

import heldout as ho
from heldout.estimates import BBC, NaiveBootstrap
from heldout.estimates.inputs import read_inputs
from heldout.estimates.least_width import different_candidates, least_area, mean_square_correlation

Y = np.arange(20) % 2
FOLDS = np.arange(20) // 2 % 10
SHARE = 0.05 ** (1 / 20)  # .861, the exact bound of 20 of 20
METHODS = ["bbc", BBC(interval="calibrated"), "bbc_f", "naive_bootstrap", NaiveBootstrap(unit="folds")]


def of(y, predictions, metric="accuracy", method="bbc", **asked):
    return ho.estimate(y, np.asarray(predictions), metric=metric, method=method, random_state=0, **asked)


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_all_right_is_bounded_by_the_exact_binomial_bound(method):
    found = of(Y, Y[:, None], method=method, folds=FOLDS)
    assert tuple(found.interval) == (pytest.approx(SHARE), 1.0)
    assert "20 independent units" in found.flags[ho.Flag.NO_SPREAD]


@pytest.mark.parametrize(
    ("alternative", "ends"), [("greater", (SHARE, 1)), ("less", (0, 1)), ("two-sided", (SHARE, 1))]
)
def test_a_loss_has_its_mirror_image(alternative, ends):
    score = of(Y, Y[:, None], alternative=alternative).interval
    loss = of(Y, Y[:, None], metric="zero_one_loss", alternative=alternative).interval
    assert tuple(score) == pytest.approx(ends)
    assert (1 - loss.high, 1 - loss.low) == pytest.approx(ends)


def test_all_wrong_is_bounded_from_above():
    assert tuple(of(Y, 1 - Y[:, None]).interval) == pytest.approx((0, 1 - SHARE))


def test_the_choice_is_paid_for_and_copies_are_not():
    rng = np.random.default_rng(0)
    right = rng.random((20, 50)) < 0.8
    right[:, 0] = True
    many = of(Y, np.where(right, Y[:, None], 1 - Y[:, None]))
    tail = 1 - 0.95 ** (1 / 50)
    assert many.interval.low == pytest.approx(tail ** (1 / 20), abs=0.03)  # nearly fifty different ones
    assert "candidates" in many.flags[ho.Flag.NO_SPREAD]
    copies = of(Y, np.repeat(Y[:, None], 50, axis=1))
    assert copies.interval.low == pytest.approx(SHARE)


def test_groups_and_weights_count_as_fewer_rows():
    grouped = of(Y, Y[:, None], groups=np.arange(20) // 4 * 2 + np.arange(20) % 2)
    assert grouped.interval.low == pytest.approx(0.05 ** (1 / 10))
    weights = np.where(np.arange(20) < 10, 3.0, 1.0)
    weighed = of(Y, Y[:, None], sample_weight=weights)
    assert weighed.interval.low == pytest.approx(0.05 ** (1 / (40**2 / 100)))


def test_a_perfect_area_has_as_many_pairs_as_its_smaller_class():
    y = np.repeat([0, 1], [30, 6])
    assert of(y, y[:, None] + 0.0, metric="roc_auc").interval.low == pytest.approx(0.05 ** (1 / 6))


def test_constant_scores_could_be_better_or_worse_on_other_rows():
    otherwise = 1 - 0.025 ** (1 / 10)
    found = of(Y, np.full((20, 1), 0.5), metric="roc_auc").interval
    assert tuple(found) == pytest.approx((0.5 - otherwise / 2, 0.5 + otherwise / 2))


@pytest.mark.parametrize("metric", ["f1", "balanced_accuracy", "matthews_corrcoef"])
def test_other_scores_of_labels_rest_on_the_smaller_class(metric):
    least = -1 if metric == "matthews_corrcoef" else 0
    share = 0.05 ** (1 / 10)
    assert tuple(of(Y, Y[:, None], metric=metric).interval) == pytest.approx((share + (1 - share) * least, 1))


def test_a_precision_rests_on_the_rows_predicted_positive():
    y = np.repeat([0, 1], [60, 40])
    labels = np.zeros(100, dtype=int)
    labels[-3:] = 1
    assert of(y, labels[:, None], metric="precision").interval.low <= 0.05 ** (1 / 3) + 1e-9


def test_a_loss_without_a_worst_value_has_an_open_end():
    y = np.random.default_rng(0).normal(size=30)
    found = of(y, y[:, None], metric="mean_squared_error")
    assert tuple(found.interval) == (0, np.inf)
    assert "no worst value" in found.flags[ho.Flag.NO_SPREAD]
    assert found.to_dict()["interval"]["high"] is None


def test_few_wrong_rows_are_bounded_as_by_clopper_and_pearson():
    labels = Y.copy()
    labels[0] = 1
    found = of(Y, labels[:, None], method=BBC(interval="calibrated"))
    assert found.interval.low == pytest.approx(beta.ppf(0.025, 19, 2))
    assert ho.Flag.LITTLE_SPREAD in found.flags
    labels[::2] = 1 - labels[::2]
    assert ho.Flag.LITTLE_SPREAD not in of(Y, labels[:, None]).flags


@pytest.mark.parametrize("metric", ["recall", "matthews_corrcoef"])
def test_a_class_that_is_seldom_predicted_does_not_widen_a_score_far_from_the_ends(metric):
    y = np.repeat([1, 0], [20, 80])
    labels = np.zeros(100, dtype=int)
    labels[:3] = 1
    found = of(y, labels[:, None], metric=metric)
    assert ho.Flag.LITTLE_SPREAD not in found.flags
    assert found.interval.high - found.interval.low < 0.7


def test_an_area_near_one_reaches_as_far_as_its_score_bound():
    y = np.repeat([0, 1], 50)
    scores = np.arange(100.0)
    scores[[45, 52]] = scores[[52, 45]]
    found = of(y, scores[:, None], metric="roc_auc", method=BBC(interval="calibrated"))
    assert found.interval.low == pytest.approx(least_area(found.uncorrected, [50, 50], 0.025))


def test_one_bootstrap_shows_nothing():
    labels = Y.copy()
    labels[0] = 1
    with pytest.warns(ho.errors.HeldoutWarning, match="the few bootstraps"):
        found = of(Y, labels[:, None], n_bootstraps=1)
    assert found.interval is None


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
@pytest.mark.parametrize("metric", ["roc_auc", "log_loss", "f1", "average_precision"])
@pytest.mark.parametrize("predicted", [Y, np.full(20, 0.5), np.ones(20), np.where(np.arange(20) == 3, 0, Y)])
def test_no_interval_is_without_width(metric, alternative, predicted):
    labels = metric == "f1"
    if labels and 0.5 in predicted:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for method in (BBC(interval="calibrated"), "bbc_f", "naive_bootstrap"):
            scores = predicted.astype(int if labels else float)[:, None]
            asked = {"n_bootstraps": 40, "folds": FOLDS, "alternative": alternative, "method": method}
            interval = of(
                Y, scores, metric=metric, response="labels" if labels else "probabilities", **asked
            ).interval
            assert interval is None or interval.low < interval.high


def test_two_configurations_that_agree_could_differ_on_other_rows():
    labels = np.stack([Y, Y], axis=1)
    compared = ho.compare_configurations(Y, labels, metric="accuracy", random_state=0)
    otherwise = 1 - 0.025 ** (1 / 20)
    assert tuple(compared.difference(0, 1).interval) == pytest.approx((-otherwise, otherwise))
    numbers = np.random.default_rng(0).normal(size=20)
    compared = ho.compare_configurations(
        numbers, np.stack([numbers, numbers], axis=1), metric="mean_squared_error", random_state=0
    )
    assert np.isnan(compared.difference(0, 1).interval.low)


def test_correlations_between_candidates():
    rng = np.random.default_rng(0)
    errors = rng.normal(size=(200, 30))
    assert mean_square_correlation(errors) < 0.02
    assert mean_square_correlation(errors[:, :1] + 1e-3 * errors) == pytest.approx(1, abs=1e-3)
    assert mean_square_correlation(np.zeros((20, 3))) == 0


@pytest.mark.parametrize("metric", ["mean_squared_error", "roc_auc"])
def test_candidates_count_by_their_errors_and_not_by_the_target_that_they_share(metric):
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(300, 8))
    y = 10 * rng.normal(size=300) if metric == "mean_squared_error" else 10 * (np.arange(300) % 2)
    settings = {"metric": metric, "folds": np.zeros(300), "random_state": 0}
    for errors, least, most in ((noise, 7.5, 8.0), (noise[:, :1] + 1e-3 * noise, 1.0, 1.1)):
        evidence = read_inputs(y, y[:, None] + errors, **settings).evidence(BBC())
        assert least <= different_candidates(evidence) <= most


@pytest.mark.parametrize("scale", [1e308, 1e-308])
def test_errors_of_any_size_are_correlated(scale):
    errors = np.random.default_rng(0).normal(size=(50, 4))
    errors[:, 1] += errors[:, 0]
    errors /= np.abs(errors).max()
    assert mean_square_correlation(errors * scale) == pytest.approx(mean_square_correlation(errors), rel=1e-6)
    infinite = np.column_stack([errors, np.full(50, np.inf), np.r_[np.inf, np.zeros(49)]])
    assert 0 < mean_square_correlation(infinite) < mean_square_correlation(errors)
