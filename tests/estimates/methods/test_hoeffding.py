"""Hoeffding's bound by hand, its scale, and what it refuses."""

import math

import numpy as np
import pytest

import heldout as ho
from heldout.estimates import Hoeffding


def labels_right(share: float, n: int = 400, columns: int = 50, seed: int = 0):
    rng = np.random.default_rng(seed)
    y = np.resize([0, 1], n)
    return y, np.where(rng.random((n, columns)) < share, y[:, None], 1 - y[:, None])


def test_two_sided_by_hand():
    """C = 50, n = 400, δ = .05: h = √(ln(100/.05)/800) = √(7.600902/800) = .0974737."""
    y, labels = labels_right(0.7)
    found = ho.estimate(y, labels, metric="accuracy", method="hoeffding")
    best = np.max((labels == y[:, None]).mean(axis=0))
    assert found.value == found.uncorrected == best
    assert list(found.interval) == pytest.approx([best - 0.0974737, best + 0.0974737], abs=1e-7)
    assert found.provenance["distance_to_best"] == pytest.approx(math.sqrt(2 * math.log(2000) / 400))
    assert "not of a model fitted again" in found.provenance["quantity"] and "uncorrected" in found.flags
    assert "uncorrected" not in ho.estimate(y, labels[:, :1], metric="accuracy", method="hoeffding").flags
    assert "is within 0.1949 of the best of them" in found.flags["distance_to_best"]


@pytest.mark.parametrize(
    ("metric", "alternative"),
    [("accuracy", "less"), ("zero_one_loss", "greater"), ("neg_zero_one_loss", "greater")],
)
def test_one_sided_takes_half_as_many_events(metric, alternative):
    """h = √(ln(50/.05)/800), towards the worse for "greater" and towards the better for "less"."""
    y, labels = labels_right(0.7)
    found = ho.estimate(y, labels, metric=metric, method="hoeffding", alternative=alternative)
    half = math.sqrt(math.log(1000) / 800)
    least, most = {"neg_zero_one_loss": (-1.0, 0.0)}.get(metric, (0.0, 1.0))
    below = (alternative == "greater") == (metric != "zero_one_loss")
    expected = [found.value - half, most] if below else [least, found.value + half]
    assert list(found.interval) == pytest.approx(expected, abs=1e-12)


def test_the_width_of_the_range_scales_it():
    """A Brier score of three classes ranges from 0 to 2."""
    rng = np.random.default_rng(0)
    y = np.resize([0, 1, 2], 300)
    probabilities = rng.dirichlet(np.ones(3), size=(300, 4, 1))
    found = ho.estimate(y, probabilities, metric="brier_score", method="hoeffding", alternative="greater")
    assert found.interval.high == pytest.approx(found.value + 2 * math.sqrt(math.log(4 / 0.05) / 600))
    assert found.interval.low == 0


def test_weights_count_as_effective_rows():
    y, labels = labels_right(0.7)
    weights = np.resize([1.0, 3.0], 400)
    found = ho.estimate(y, labels, metric="accuracy", method="hoeffding", sample_weight=weights)
    n = 800**2 / (200 * 1 + 200 * 9)
    assert found.provenance["effective_rows"] == pytest.approx(n)
    assert found.interval.low == pytest.approx(found.value - math.sqrt(math.log(2000) / (2 * n)))


def test_repeats_leave_n_the_number_of_rows():
    y, labels = labels_right(0.7)
    twice = ho.estimate(y, np.stack([labels, labels], axis=2), metric="accuracy", method="hoeffding")
    once = ho.estimate(y, labels, metric="accuracy", method="hoeffding")
    assert list(twice.interval) == list(once.interval)


def test_failed_configurations_were_part_of_the_set():
    y, labels = labels_right(0.7)
    some = labels.astype(float)
    some[:, 40:] = np.nan
    with pytest.warns(ho.HeldoutWarning, match="10 of 50 configurations failed"):
        found = ho.estimate(y, some, metric="accuracy", method="hoeffding", response="labels")
    assert found.provenance["half_width"] == pytest.approx(0.0974737, abs=1e-7)


def test_one_fold_is_a_development_set_and_several_are_none():
    y, labels = labels_right(0.7)
    assert ho.estimate(y, labels, metric="accuracy", method="hoeffding", folds=np.zeros(400, int)).interval
    with pytest.raises(ho.InputError, match="here are 5 folds with a model each"):
        ho.estimate(y, labels, metric="accuracy", method="hoeffding", folds=np.arange(400) % 5)


REFUSED = {
    "roc_auc": ("means of one loss per row, such as accuracy, and roc_auc is not one", {}),
    "log_loss": ("ranges from 0 to inf", {}),
    "accuracy": ("come in groups", {"groups": np.arange(100) // 5}),
}


@pytest.mark.parametrize("metric", REFUSED)
def test_refused(metric):
    reason, asked = REFUSED[metric]
    rng = np.random.default_rng(0)
    with pytest.raises(ho.InputError, match=reason):
        ho.estimate(np.resize([0, 1], 100), rng.random((100, 3)), metric=metric, method=Hoeffding(), **asked)
