"""bbc_f, naive_bootstrap, wmc and wmcs against plain transcriptions of their articles, on the same draws.

As in ``test_transcriptions``: the draws are made here by ``numpy.random.Philox``, the loops are the articles' own,
and nothing but the definition is shared with the library.
"""

from statistics import NormalDist

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn import metrics as sk
from twins import key_by_definition, rows_by_definition

import heldout as ho

SEED = 20260502
B = 90


def algorithm_1(scores: np.ndarray, key: int) -> tuple[np.ndarray, np.ndarray]:
    """Paraschakis et al. (2024): L_b and J_b of scores (K, C), greater = better; NaN folds are undefined."""
    defined = ~np.isnan(scores[:, 0])
    found, choices = [], []
    for b in range(B):
        for attempt in range(1000):
            inside = rows_by_definition(key, b, attempt, len(scores))
            outside = np.setdiff1d(np.arange(len(scores)), inside)
            if defined[inside].any() and len(outside) and defined[outside].any():
                break
        in_bag = [np.nanmean([scores[k, j] for k in inside]) for j in range(scores.shape[1])]
        choice = int(np.argmax(np.round(in_bag, 12)))
        choices.append(choice)
        found.append(np.nanmean(scores[outside, choice]))
    return np.array(found), np.array(choices)


@pytest.fixture
def scores() -> np.ndarray:
    rng = np.random.default_rng(4)
    return np.round(rng.normal(0.7, 0.06, size=(10, 25)), 2)  # rounded, so that there are ties


def quantiles(values: np.ndarray, *p: float) -> list[float]:
    ordered = np.sort(values)
    return [ordered[min(max(int(np.ceil(each * len(ordered) - 1e-9)), 1), len(ordered)) - 1] for each in p]


@pytest.mark.parametrize("undefined", [(), (3,), (0, 7)], ids=["all-defined", "one-undefined", "two-undefined"])
@pytest.mark.parametrize("sign", [1, -1], ids=["score", "loss"])
def test_bbc_f_equals_algorithm_1(scores, sign, undefined):
    scores[list(undefined)] = np.nan
    expected, choices = algorithm_1(scores, key_by_definition(SEED, "fold draws", 0))
    found = ho.estimate_from_scores(
        sign * scores, greater_is_better=sign > 0, method="bbc_f", n_bootstraps=B, random_state=SEED
    )
    np.testing.assert_allclose(found.distribution, sign * expected, atol=1e-12)
    assert found.value == pytest.approx(sign * expected.mean(), abs=1e-12)
    np.testing.assert_allclose(found.selection_frequency, np.bincount(choices, minlength=25) / B, atol=1e-15)
    low, high = quantiles(sign * expected, 0.025, 0.975)
    assert tuple(found.interval) == (pytest.approx(low, abs=1e-12), pytest.approx(high, abs=1e-12))
    winner = int(np.argmax(np.round(np.nanmean(scores, axis=0), 12)))
    assert found.selected == winner
    assert found.uncorrected == pytest.approx(sign * np.nanmean(scores[:, winner]), abs=1e-12)


def test_bbc_f_runs_in_each_repeat_and_pools_what_it_drew(scores):
    rng = np.random.default_rng(1)
    repeats = [scores, np.round(rng.normal(0.7, 0.06, size=(8, 25)), 2), scores[::-1]]
    parts = [algorithm_1(each, key_by_definition(SEED, "fold draws", r))[0] for r, each in enumerate(repeats)]
    labels = np.repeat(["first", "second", "third"], [10, 8, 10])
    found = ho.estimate_from_scores(
        np.concatenate(repeats),
        greater_is_better=True,
        method="bbc_f",
        repeats=labels,
        n_bootstraps=B,
        random_state=SEED,
        alternative="greater",
        range=(0, 1),
    )
    assert found.value == pytest.approx(np.mean([part.mean() for part in parts]), abs=1e-12)
    np.testing.assert_allclose(found.distribution, np.concatenate(parts), atol=1e-12)
    assert found.interval.low == pytest.approx(quantiles(np.concatenate(parts), 0.05)[0], abs=1e-12)
    assert found.interval.high == 1.0


@pytest.mark.parametrize("aggregate", ["pooled", "folds"])
def test_naive_bootstrap_of_rows(aggregate):
    rng = np.random.default_rng(9)
    y = rng.permutation(np.repeat([1, 0], [12, 48]))
    scores = rng.normal(size=(60, 6)) + y[:, None]
    folds = np.arange(60) % 3

    def score(rows, column):
        parts = [rows] if aggregate == "pooled" else [rows[folds[rows] == k] for k in range(3)]
        defined = [part for part in parts if len(np.unique(y[part])) == 2]
        return np.mean([sk.roc_auc_score(y[part], column[part]) for part in defined]) if defined else np.nan

    winner = max(range(6), key=lambda j: score(np.arange(60), scores[:, j]))
    expected = []
    for b in range(B):
        drawn = (
            score(rows_by_definition(key_by_definition(SEED, "draws"), b, attempt, 60), scores[:, winner])
            for attempt in range(1000)
        )
        expected.append(next(each for each in drawn if not np.isnan(each)))
    found = ho.estimate(
        y,
        scores,
        metric="roc_auc",
        method="naive_bootstrap",
        folds=folds,
        aggregate=aggregate,
        n_bootstraps=B,
        random_state=SEED,
    )
    np.testing.assert_allclose(found.distribution, expected, atol=1e-12)
    assert found.value == found.uncorrected == pytest.approx(score(np.arange(60), scores[:, winner]), abs=1e-12)
    assert tuple(found.interval) == pytest.approx(tuple(quantiles(np.array(expected), 0.025, 0.975)), abs=1e-12)
    assert found.standard_error == pytest.approx(np.std(expected, ddof=1), abs=1e-12)


def test_naive_bootstrap_of_folds(scores):
    winner = int(np.argmax(np.round(scores.mean(axis=0), 12)))
    key = key_by_definition(SEED, "fold draws", 0)
    expected = [np.mean(scores[rows_by_definition(key, b, 0, 10), winner]) for b in range(B)]
    found = ho.estimate_from_scores(
        scores,
        greater_is_better=True,
        method=ho.estimates.NaiveBootstrap(unit="folds"),
        n_bootstraps=B,
        random_state=SEED,
    )
    np.testing.assert_allclose(found.distribution, expected, atol=1e-12)
    assert found.value == pytest.approx(scores[:, winner].mean(), abs=1e-12)


def normal_of(errors: np.ndarray, test_share: float) -> tuple[np.ndarray, np.ndarray]:
    """Bernau et al. (2013), cell by cell: the means and covariances of the normal distribution."""
    n, c = errors.shape
    means = np.array([np.mean(column) for column in errors.T])
    variances = np.array([np.var(column, ddof=1) if np.ptp(column) else 0.0 for column in errors.T])
    factor = 1 / n + test_share / (1 - test_share)
    corrected = np.where(variances == 0, 1e-7, variances * factor)
    covariances = np.empty((c, c))
    for i in range(c):
        for j in range(c):
            if i == j:
                correlation = 1.0
            elif variances[i] == 0 or variances[j] == 0:
                correlation = 0.0
            else:
                correlation = np.corrcoef(errors[:, i], errors[:, j])[0, 1]
                correlation = 0.9 if correlation > 1 - 1e-12 else correlation
            covariances[i, j] = correlation * np.sqrt(corrected[i] * corrected[j])
    return means, covariances


def simulated(means: np.ndarray, covariances: np.ndarray, n_draws: int) -> np.ndarray:
    """Draws of the means: normal quantiles of Philox words in blocks of 2048, each with its mirror image."""
    values, vectors = np.linalg.eigh(covariances)
    along = (vectors * np.sqrt(np.maximum(values, 0))).T
    key, quantile, drawn = key_by_definition(SEED, "normal draws of mean errors"), NormalDist().inv_cdf, []
    for block, first in enumerate(range(0, n_draws // 2, 2048)):
        lanes = min(2048, n_draws // 2 - first)
        raw = np.random.Philox(key=np.array([key, block], dtype=np.uint64)).random_raw(lanes * len(means))
        normal = np.array([quantile(((int(word) >> 11) + 0.5) / 2**53) for word in raw]).reshape(lanes, -1)
        drawn += [means + normal @ along, means - normal @ along]
    return np.concatenate(drawn)


@pytest.fixture
def errors() -> np.ndarray:
    rng = np.random.default_rng(8)
    common = rng.normal(0, 0.03, size=(40, 1))
    table = 0.3 + common + rng.normal(0, 0.04, size=(40, 5)) + np.array([0, 0.005, 0.01, 0.02, 0.03])
    return np.column_stack([table, table[:, 1], np.full(40, 0.29)])  # a twin, and a column without variance


@pytest.mark.parametrize("sign", [1, -1], ids=["score", "loss"])
def test_wmc_equals_the_recipe(errors, sign):
    means, covariances = normal_of(errors, 0.2)
    least = simulated(means, covariances, 5000).argmin(axis=1)
    weights = np.bincount(least, minlength=7) / 5000
    found = ho.estimate_from_scores(
        -sign * errors,
        greater_is_better=sign > 0,
        method=ho.estimates.WMC(n_draws=5000),
        test_share=0.2,
        random_state=SEED,
    )
    np.testing.assert_allclose(found.selection_frequency, weights, atol=1e-12)
    assert found.value == pytest.approx(-sign * weights @ means, abs=1e-12)
    assert found.uncorrected == pytest.approx(-sign * means.min(), abs=1e-12)
    assert found.interval is None


@pytest.mark.parametrize("average", ["shrunken", "raw"])
def test_wmcs_equals_the_recipe(errors, average):
    means, covariances = normal_of(errors[:, :5], 0.2)
    first = simulated(means, covariances, 5000)
    winner = int(means.argmin())
    bias = means.min() - first[first.argmin(axis=1) == winner, winner].mean()
    share = min(max(bias / (means.mean() - means.min()), 0), 1)
    shrunken = means - share * (means - means.mean())
    weights = np.bincount(simulated(shrunken, covariances, 5000).argmin(axis=1), minlength=5) / 5000
    found = ho.estimate_from_scores(
        errors[:, :5],
        greater_is_better=False,
        method=ho.estimates.WMCS(average=average, n_draws=5000),
        test_share=0.2,
        random_state=SEED,
    )
    assert found.provenance["shrinkage"] == pytest.approx(share, abs=1e-12)
    assert found.value == pytest.approx(weights @ (shrunken if average == "shrunken" else means), abs=1e-12)


def test_weights_are_the_normal_probabilities(errors):
    """P(m_j < m_k for all k), against scipy's integral of the multivariate normal; the authors call pmvnorm."""
    means, covariances = normal_of(errors[:, :4], 0.1)
    expected = []
    for j in range(4):
        differences = np.array([np.eye(4)[j] - np.eye(4)[k] for k in range(4) if k != j])
        law = multivariate_normal(differences @ means, differences @ covariances @ differences.T)
        expected.append(law.cdf(np.zeros(3)))
    found = ho.estimate_from_scores(
        errors[:, :4], greater_is_better=False, method="wmc", test_share=0.1, random_state=SEED
    )
    # 50 000 draws: a standard error of at most .0022 a weight; four of them fail in 6 of 100 000 seeds, and this is
    # one seed.
    np.testing.assert_allclose(found.selection_frequency, expected, atol=4 * 0.0022)
