"""Overtuning against the truth: the probability that the winner is worse than the default, and the curve."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from heldout.estimates.from_matrix import gather
from heldout.estimates.inputs import read_inputs
from heldout.estimates.methods.bbc import BBC
from heldout.estimates.paired.overtuning import Overtuning, overtuning, probability_worse
from heldout.estimates.paired.scores import PairedScores, paired_scores


def searched(
    seed: int, n_rows: int, n_configurations: int, spread: float, correlation: float = 0.5
) -> tuple[Overtuning, np.ndarray, int]:
    """A matrix of known truth: configuration 0 is the default, true accuracies are normal around .75."""
    rng = np.random.default_rng([31, seed])
    truth = np.clip(0.75 + spread * rng.standard_normal(n_configurations), 0.05, 0.95)
    shared, own = rng.standard_normal((n_rows, 1)), rng.standard_normal((n_rows, n_configurations))
    right = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own < norm.ppf(truth)
    y = np.resize([0, 1], n_rows)
    inputs = read_inputs(
        y, np.where(right, y[:, None], 1 - y[:, None]), metric="accuracy", n_bootstraps=100, random_state=seed,
        folds=np.zeros(n_rows, dtype=int),
    )  # fmt: skip
    evidence = gather(inputs.truth, inputs.predictions, inputs.question)
    scores = paired_scores(evidence)
    found = overtuning(scores, "accuracy", greater_is_better=True, takes_control=False, default=0)
    return found, truth, scores.winner


def calibrated(n: int, n_rows: int, n_configurations: int, spread: float) -> tuple[float, float, float]:
    """Mean stated probability, share of searches with a truly worse winner, standard error of the difference."""
    stated, worse = [], []
    for seed in range(n):
        found, truth, winner = searched(seed, n_rows, n_configurations, spread)
        assert found.default is not None
        stated.append(np.nan_to_num(found.default.probability_worse, nan=0.5))
        worse.append(truth[winner] < truth[0])
    difference = np.array(stated) - np.array(worse)
    return float(np.mean(stated)), float(np.mean(worse)), float(difference.std(ddof=1) / np.sqrt(n))


def test_the_stated_probability_is_right_in_the_mean() -> None:
    """60 searches; within .12 and 3.3 standard errors: one false alarm in 1000 runs."""
    stated, worse, error = calibrated(60, 150, 15, 0.03)
    assert abs(stated - worse) < 0.12 + 3.3 * error


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_rows", "n_configurations", "spread"), [(100, 10, 0.02), (150, 15, 0.03), (400, 60, 0.02), (100, 30, 0.005)]
)
def test_the_stated_probability_is_right_in_the_mean_of_many(
    n_rows: int, n_configurations: int, spread: float
) -> None:
    """300 searches each; false-alarm rate as above."""
    stated, worse, error = calibrated(300, n_rows, n_configurations, spread)
    assert abs(stated - worse) < 0.12 + 3.3 * error


def test_among_equals_the_curve_stays_while_the_uncorrected_one_rises() -> None:
    """All have .75. The corrected end is at most .03 above (``bbc`` keeps a part of the optimism among equals), and
    3.3 standard errors: one false alarm in 1000 runs. The uncorrected one is far above."""
    ends, tops = [], []
    for seed in range(40):
        found, _, _ = searched(seed, 150, 30, 0.0)
        ends.append(found.corrected[-1])
        tops.append(found.uncorrected[-1])
    error = np.std(ends, ddof=1) / np.sqrt(len(ends))
    assert np.mean(ends) < 0.75 + 0.03 + 3.3 * error
    assert np.mean(tops) > np.mean(ends) + 0.02


def test_its_end_is_the_value_of_bbc() -> None:
    rng = np.random.default_rng(8)
    y, columns = rng.integers(0, 2, 70), rng.integers(0, 2, (70, 12))
    inputs = read_inputs(y, columns, metric="accuracy", n_bootstraps=80, random_state=5)
    evidence = gather(inputs.truth, inputs.predictions, inputs.question)
    found = overtuning(paired_scores(evidence), "accuracy", greater_is_better=True, takes_control=False)
    assert found.corrected[-1] == pytest.approx(BBC(control=False).estimate(evidence).value, abs=1e-12)
    observed = (columns == y[:, None]).mean(axis=0)
    assert found.uncorrected == pytest.approx(np.maximum.accumulate(observed), abs=1e-12)


def test_it_is_a_plain_loop() -> None:
    rng = np.random.default_rng(9)
    y, columns = rng.normal(size=50), rng.normal(size=(50, 7))
    inputs = read_inputs(y, columns, metric="mean_squared_error", n_bootstraps=40, random_state=5)
    evidence = gather(inputs.truth, inputs.predictions, inputs.question)
    scores = paired_scores(evidence)
    found = overtuning(
        scores, "mse", greater_is_better=False, takes_control=False, default=3, name_of_default="three"
    )
    for place, count in enumerate(found.n_configurations):
        tested = []
        for drawn, left in zip(scores.in_bag, scores.out_of_bag, strict=True):
            best = max(range(count), key=lambda j: (drawn[j], -j))
            tested.append(-left[best])
        assert found.corrected[place] == pytest.approx(np.mean(tested))
    assert found.overtuning == pytest.approx(found.corrected[-1] - found.corrected.min())
    winner = int(((y[:, None] - columns) ** 2).mean(axis=0).argmin())
    spread = np.std(scores.in_bag[:, winner] - scores.in_bag[:, 3], ddof=1)
    chosen = scores.in_bag.argmax(axis=1)
    gain = np.mean(scores.out_of_bag[np.arange(40), chosen] - scores.out_of_bag[:, 3])
    assert found.default is not None
    assert found.default.gain == pytest.approx(gain)
    assert found.default.standard_error == pytest.approx(1.5 * spread), "folds that are not known"
    assert np.isnan(found.default.probability_worse), "all is noise"


def test_the_probability_uses_what_is_left_of_the_spread_of_scores() -> None:
    """Two good and two bad configurations with little noise: nearly all of the spread is true."""
    rng = np.random.default_rng(3)
    observed = np.array([0.80, 0.78, 0.6, 0.5])
    in_bag = observed + 0.005 * rng.standard_normal((4000, 4))
    scores = PairedScores(observed, in_bag, in_bag, in_bag.argmax(axis=1), 0)
    of = overtuning(scores, "accuracy", greater_is_better=True, takes_control=False, default=1).default
    assert of is not None
    # The upper half are .80 and .78, .11 and .09 from the median of .69; t = (.11² + .09²)/1.5, v = .005².
    true_share = 1 - 0.005**2 / ((0.11**2 + 0.09**2) / 1.5)
    expected = norm.sf(true_share**0.5 * 0.02 / (0.005 * 2**0.5))
    assert of.probability_worse == pytest.approx(expected, rel=0.1)
    assert probability_worse(0.02, 0.005 * 2**0.5, true_share) == pytest.approx(expected)
