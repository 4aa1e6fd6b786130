"""Two-part methods against other programs' numbers, and against slow transcriptions of the articles.

The transcriptions share the random streams with the library, as the specification names them, and nothing else:
areas are scikit-learn's, the importance weights are products over rows, and the roots are SciPy's.
"""

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binom, multinomial
from sklearn.metrics import roc_auc_score
from twins import key_by_definition, rows_by_definition

import heldout as ho
from heldout.data.task import truth_of
from heldout.estimates import MABT, ClopperPearson, DeLong, HanleyMcNeil, Tilting, Wilson
from heldout.estimates.methods.two_part.template import SecondPart, Tails, split
from heldout.estimates.question import Settings
from heldout.metrics import metric_named
from heldout.metrics.ranking import Reading, Share

SEED = 20260502


# Ratings of 58 normal and 51 abnormal CT images (Hanley & McNeil 1982, table I).
NORMAL, ABNORMAL = (33, 6, 6, 11, 2), (3, 2, 2, 11, 33)


def ct_images() -> tuple[np.ndarray, np.ndarray]:
    ratings = np.concatenate([np.repeat(range(1, 6), NORMAL), np.repeat(range(1, 6), ABNORMAL)])
    return np.repeat([0, 1], [58, 51]), ratings[:, None].astype(float)


def test_delong_on_the_ct_images():
    """pROC 1.18: ``r <- roc(y, ratings, direction="<"); auc(r); sqrt(var(r)); ci.auc(r, conf.level=...)``.

    Textbooks print .8932, .0307 and [.83295, .95339].
    """
    y, ratings = ct_images()
    found = ho.estimate(y, ratings, metric="roc_auc", method=DeLong(evaluation_share=1.0))
    assert found.value == pytest.approx(0.8931710615280595, abs=1e-12)
    assert found.standard_error == pytest.approx(0.03072440837938111, abs=1e-12)
    assert list(found.interval) == pytest.approx([0.8329523276581718, 0.9533897953979471], abs=1e-12)
    lower = ho.estimate(
        y, ratings, metric="roc_auc", method=DeLong(evaluation_share=1.0), alternative="greater"
    ).interval
    assert list(lower) == pytest.approx([0.8426339069692962, 1.0], abs=1e-12)  # conf.level=.9, its lower end


def test_hanley_mcneil_on_the_ct_images():
    """Equation 1 in exact fractions; the article's own A = .893 gives .0325.

    The published R code of Paraschakis et al. (2024) would take the rows predicted right and wrong for n1 and n0.
    """
    y, ratings = ct_images()
    found = ho.estimate(y, ratings, metric="roc_auc", method=HanleyMcNeil(evaluation_share=1.0))
    a = Fraction(2642, 51 * 58)  # pairs in order, ties half
    q1, q2 = a / (2 - a), 2 * a * a / (1 + a)
    by_hand = (a * (1 - a) + 50 * (q1 - a * a) + 57 * (q2 - a * a)) / (51 * 58)
    assert found.value == pytest.approx(float(a), abs=1e-15)
    assert found.standard_error == pytest.approx(float(by_hand) ** 0.5, abs=1e-14)
    assert found.standard_error == pytest.approx(0.0325, abs=5e-5)
    assert list(found.interval) == pytest.approx(
        [0.8931710615 - 1.959963985 * 0.0324865796, 0.8931710615 + 1.959963985 * 0.0324865796], abs=1e-9
    )


# statsmodels 0.15: proportion_confint(right, n, alpha=1 - level, method="wilson" or "beta").
PROPORTIONS = {
    "wilson 81/100": (Wilson, 81, 100, 0.95, [0.7222115462093562, 0.8748524849023126]),
    "wilson 40/40 at .9": (Wilson, 40, 40, 0.9, [0.9366465513545419, 1.0]),
    "clopper_pearson 81/100": (ClopperPearson, 81, 100, 0.95, [0.7193020420263876, 0.8815568038674564]),
    "clopper_pearson 40/40 at .9": (ClopperPearson, 40, 40, 0.9, [0.9278424754944854, 1.0]),
}


@pytest.mark.parametrize("case", PROPORTIONS)
def test_proportions(case):
    method, right, n, level, expected = PROPORTIONS[case]
    y = np.resize([0, 1], n)
    labels = np.where(np.arange(n) < right, y, 1 - y)[:, None]
    found = ho.estimate(y, labels, metric="accuracy", method=method(evaluation_share=1.0), confidence_level=level)
    assert found.value == right / n
    assert list(found.interval) == pytest.approx(expected, abs=1e-12)


def drawn(stratum: int, b: int, n: int) -> np.ndarray:
    """Row numbers within a stratum: the high word of raw x n, in Python's own big integers."""
    return rows_by_definition(key_by_definition(SEED, "tilting", stratum), b, 0, n)


class Transcribed:
    """Tilting of one column on all rows, a row at a time."""

    def __init__(self, y, table, strata, metric, influence, n_bootstraps):
        self.strata, self.influence, self.metric, self.y, self.table = strata, influence, metric, y, table
        self.draws = [[rows[drawn(s, b, len(rows))] for s, rows in enumerate(strata)] for b in range(n_bootstraps)]
        self.shares = np.array(
            [[metric(y[np.concatenate(d)], column[np.concatenate(d)]) for column in table.T] for d in self.draws]
        )

    def probabilities(self, tau):
        """Of each row within its stratum: proportional to exp(tau U)."""
        p = np.zeros(len(self.y))
        for rows in self.strata:
            p[rows] = np.exp(tau * self.influence[rows]) / np.exp(tau * self.influence[rows]).sum()
        return p

    def weights(self, tau):
        """Of each bootstrap: the product over drawn rows of n_s p_i."""
        p = self.probabilities(tau)
        return np.array(
            [
                np.prod([np.prod(len(rows) * p[d]) for rows, d in zip(self.strata, draw, strict=True)])
                for draw in self.draws
            ]
        )


def test_tilting_of_accuracy_over_two_repeats():
    rng = np.random.default_rng(5)
    n, n_bootstraps, alpha = 60, 300, 0.05
    y = rng.integers(0, 3, n)
    labels = np.where(rng.random((n, 2)) < 0.8, y[:, None], (y[:, None] + 1) % 3)
    right = (labels == y[:, None]).mean(axis=1)
    slow = Transcribed(y, right[:, None], [np.arange(n)], lambda _, of_row: of_row.mean(), right, n_bootstraps)
    t, observed = slow.shares[:, 0].round(12), right.mean().round(12)

    def excess(tau):
        w = slow.weights(tau)
        return (w @ (t > observed) + w @ (t == observed) / 2) / n_bootstraps - alpha

    tau = brentq(excess, -5, 0, xtol=1e-14)
    found = ho.estimate(
        y, labels[:, None, :], metric="accuracy", method=Tilting(evaluation_share=1.0), alternative="greater",
        n_bootstraps=n_bootstraps, random_state=SEED,
    )  # fmt: skip
    assert found.interval.low == pytest.approx(slow.probabilities(tau) @ right, abs=1e-10)


def area_influence(y, scores):
    """(n / n_s)(placement - A), a pair at a time."""
    area = roc_auc_score(y, scores)
    values = np.empty(len(y))
    for i in range(len(y)):
        others = scores[y != y[i]]
        ahead = scores[i] > others if y[i] == 1 else scores[i] < others
        values[i] = len(y) / np.sum(y == y[i]) * (np.mean(ahead + 0.5 * (scores[i] == others)) - area)
    return values


def test_tilting_of_an_area():
    rng = np.random.default_rng(6)
    n, n_bootstraps, alpha = 50, 300, 0.05
    y = (rng.random(n) < 0.4).astype(int)
    scores = rng.normal(1.2 * y).round(1)  # with ties
    strata = [np.flatnonzero(y == 0), np.flatnonzero(y == 1)]
    slow = Transcribed(y, scores[:, None], strata, roc_auc_score, area_influence(y, scores), n_bootstraps)
    t, observed = slow.shares[:, 0].round(12), round(roc_auc_score(y, scores), 12)

    def excess(tau):
        w = slow.weights(tau)
        return (w @ (t > observed) + w @ (t == observed) / 2) / n_bootstraps - alpha

    tau = brentq(excess, -1.5, 0, xtol=1e-14)
    found = ho.estimate(
        y, scores[:, None], metric="roc_auc", method=Tilting(evaluation_share=1.0), alternative="greater",
        n_bootstraps=n_bootstraps, random_state=SEED,
    )  # fmt: skip
    expected = roc_auc_score(y, scores, sample_weight=slow.probabilities(tau))
    assert found.interval.low == pytest.approx(expected, abs=1e-9)


def test_mabt_of_areas():
    """All 6 candidates are finalists; the second part is what the library's own split says."""
    rng = np.random.default_rng(7)
    n_bootstraps, alpha = 80, 0.1
    y = np.resize([0, 1, 1], 150)
    table = rng.normal(0.9 * y[:, None] + rng.normal(size=(150, 1)) * 0.7, 1.0, size=(150, 6))
    rows = split(truth_of(y), 0.3, SEED).second
    part, scores = y[rows], table[rows]
    areas = np.array([roc_auc_score(part, column) for column in scores.T])
    final = int(areas.argmax())
    strata = [np.flatnonzero(part == 0), np.flatnonzero(part == 1)]
    slow = Transcribed(part, scores, strata, roc_auc_score, area_influence(part, scores[:, final]), n_bootstraps)
    t = slow.shares.round(12)
    ranks = np.array([[np.sum(t[:, j] <= t[b, j]) for j in range(6)] for b in range(n_bootstraps)])
    highest = ranks.max(axis=1) / (n_bootstraps + 1)

    def p(tau):
        w = slow.weights(tau)
        reached = 1 - w @ (t[:, final] > areas[final].round(12)) / n_bootstraps
        return 1 - np.mean(highest <= reached)

    strong, weak = -1.5, 0.0  # p is a step function: the end that is within alpha
    assert p(strong) <= alpha < p(weak)
    for _ in range(60):
        middle = (strong + weak) / 2
        strong, weak = (middle, weak) if p(middle) <= alpha else (strong, middle)
    found = ho.estimate(
        y, table, metric="roc_auc", method=MABT(candidates=1.0, evaluation_share=0.3), alternative="greater",
        n_bootstraps=n_bootstraps, confidence_level=1 - alpha, random_state=SEED,
    )  # fmt: skip
    assert found.selected == final and found.value == pytest.approx(areas[final], abs=1e-12)
    expected = roc_auc_score(part, scores[:, final], sample_weight=slow.probabilities(strong))
    assert found.interval.low == pytest.approx(expected, abs=1e-9)


def _second_part(y, labels, n_bootstraps, seed):
    truth = truth_of(y)
    statistics = (metric_named("accuracy").statistic(truth, labels),)
    settings = Settings(n_bootstraps, 0.95, "greater", seed)
    share = Reading(Share.ACCURACY, 0.0, 1)
    return SecondPart(share, truth, labels[:, :, None], statistics, settings, final=0)


def test_mabt_of_accuracies_tends_to_the_result_of_enumeration():
    """All the bootstraps of 30 rows that two finalists get right or wrong in four ways, each with its chance."""
    both, first, second, neither = 20, 6, 3, 1  # rows, by who is right
    n, alpha = 30, 0.05
    chances = {}
    shares = np.array([both, first, second, neither]) / n
    for a in range(n + 1):
        for b in range(n + 1 - a):
            for c in range(n + 1 - a - b):
                chance = multinomial.pmf([a, b, c, n - a - b - c], n, shares)
                highest = max(binom.cdf(a + b, n, (both + first) / n), binom.cdf(a + c, n, (both + second) / n))
                chances[round(highest, 12)] = chances.get(round(highest, 12), 0.0) + chance
    reached = 0.0
    for needed in sorted(chances):  # the least rank up to which 95 % of the highest ones lie
        reached += chances[needed]
        if reached >= 1 - alpha:
            break
    bound = brentq(lambda share: binom.sf(both + first, n, share) - (1 - needed), 0.3, 0.86)
    y = np.resize([0, 1], n)
    right = np.repeat([[1, 1], [1, 0], [0, 1], [0, 0]], [both, first, second, neither], axis=0)
    labels = np.where(right == 1, y[:, None], 1 - y[:, None])
    found = [
        MABT(candidates=1.0)._bound(_second_part(y, labels, n_bootstraps, seed), Tails(alpha, None)).low
        for n_bootstraps, seed in ((1000, 0), (10_000, 2))
    ]
    assert found == pytest.approx([bound] * 2, abs=1e-9)
