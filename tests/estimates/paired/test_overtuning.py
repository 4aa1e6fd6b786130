"""The curve of overtuning and the probability that the winner is worse than the default, by hand."""

import numpy as np
import pytest
from scipy.stats import norm

from heldout.estimates.from_matrix import gather
from heldout.estimates.inputs import read_inputs
from heldout.estimates.methods.bbc import BBC
from heldout.estimates.paired.overtuning import overtuning, probability_worse
from heldout.estimates.paired.scores import PairedScores, paired_scores


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
