"""The bias term of Bates, Hastie and Tibshirani's own: further draws of the folds, their fits, and its formula."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold

import heldout as ho
from heldout.protocols import BatesHastieTibshirani
from heldout.protocols.nested.intervals import bates_hastie_tibshirani

N, K = 40, 4
RNG = np.random.default_rng(6)
X = RNG.normal(size=(N, 6))
Y = X[:, 0] + RNG.normal(size=N)


class Counted(Ridge):
    """Counts fits, and remembers the rows that they trained on, which the last column numbers."""

    trained: list[frozenset[int]] = []  # noqa: RUF012

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Counted:
        Counted.trained.append(frozenset(np.round(X[:, -1] * 1e6).astype(int).tolist()))
        return super().fit(X, y, sample_weight)


def nested(interval: Any, alphas: tuple[float, ...] = (1.0,), **more: Any) -> Any:
    Counted.trained = []
    more = {"cv": K, "repeats": 2, "random_state": 3, "scoring": "neg_mean_squared_error"} | more
    return ho.nested_cv(Counted(), X, Y, {"alpha": list(alphas)}, interval=interval, **more)


@pytest.mark.parametrize(("alphas", "c"), [((1.0,), 1), ((0.1, 10.0), 2)], ids=["one", "two"])
def test_each_further_draw_takes_as_many_fits_as_documented(alphas, c):
    """K((K - 1)C + 1) fits a draw, K of a single configuration; nothing is searched on all rows again."""
    without = nested(BatesHastieTibshirani(), alphas, share=False)
    n_without = len(Counted.trained)
    with_three = nested(BatesHastieTibshirani(3), alphas, share=False)
    a_draw = K if c == 1 else K * ((K - 1) * c + 1)
    assert len(Counted.trained) == n_without + 3 * a_draw == with_three.n_fits
    assert without.n_fits == n_without


def test_without_further_draws_it_is_the_interval_of_that_name():
    by_name, ours = nested("bates_hastie_tibshirani"), nested(BatesHastieTibshirani())
    assert by_name.to_dict() == ours.to_dict()


def test_only_the_bias_changes():
    plain, further = nested(BatesHastieTibshirani()), nested(BatesHastieTibshirani(4))
    assert further.value == plain.value and further.standard_error == plain.standard_error
    mine, other = (each.provenance["bates_hastie_tibshirani"] for each in (further, plain))
    assert {name for name in mine if mine[name] != other[name]} == {"center", "plain", "bias", "further_draws"}
    assert mine["further_draws"] == 4 and other["plain"] == other["outer"]
    assert mine["bias"] == pytest.approx((1 + 0.5**1.5) * (mine["inner"] - mine["plain"]), rel=1e-12)
    assert mine["center"] == pytest.approx(mine["inner"] - mine["bias"], rel=1e-12)
    middle = (further.interval.low + further.interval.high) / 2
    assert middle == pytest.approx(mine["center"], rel=1e-9)


def test_of_one_configuration_plain_is_the_mean_over_plain_cross_validations():
    """The further folds are read from what the fits trained on, and cross-validated by scikit-learn alone."""
    found = nested(BatesHastieTibshirani(2), repeats=1)
    numbers = np.round(X[:, -1] * 1e6).astype(int)
    without_one_fold = [rows for rows in dict.fromkeys(Counted.trained) if len(rows) == N - N // K]
    assert len(without_one_fold) == 3 * K
    errors = []
    for rows in without_one_fold:
        train = np.isin(numbers, list(rows))
        errors.append(((Ridge().fit(X[train], Y[train]).predict(X[~train]) - Y[~train]) ** 2).mean())
    measured = found.provenance["bates_hastie_tibshirani"]
    outer = [fold.score for fold in found.outer_folds]
    of_outer = {round(-score, 9) for score in outer}
    of_further = [error for error in errors if round(error, 9) not in of_outer]
    assert len(of_further) == 2 * K
    assert measured["plain"] == pytest.approx(-np.mean(of_further), rel=1e-9)
    assert measured["outer"] == pytest.approx(np.mean(outer), rel=1e-9)


def test_the_formula_by_hand():
    """inner .6667, plain .4: bias (1 + (2/4)^1.5)(.2667) = 1.353553 · .266667 = .360948."""
    outer = [[np.array([0.0, 1.0]), np.array([1.0, 1.0]), np.array([0.0, 0.0]), np.array([1.0, 0.0])]]
    inner = [[np.array([0.0, 1, 1, 0, 1, 1])] * 4]
    found = bates_hastie_tibshirani(outer, inner, 0.4)
    assert (found.plain, found.outer) == (0.4, 0.5)
    assert found.bias == pytest.approx(0.360948, abs=1e-6)
    assert found.spread.center == pytest.approx(2 / 3 - 0.360948, abs=1e-6)


@pytest.mark.parametrize("draws", [-1, 1.5, True, "two"])
def test_wrong_numbers_of_draws_are_refused(draws):
    with pytest.raises(ho.InputError, match="further_draws must be an integer of at least 0"):
        BatesHastieTibshirani(draws)


def test_folds_that_are_not_drawn_are_refused():
    with pytest.raises(ho.InputError, match="further draws of the folds need outer folds that are drawn at random"):
        nested(BatesHastieTibshirani(2), cv=KFold(K), repeats=1)


def test_what_the_interval_is_not_for_is_refused_all_the_same():
    with pytest.raises(ho.InputError, match="takes rows as independent, and here they come in groups"):
        nested(BatesHastieTibshirani(2), groups=np.arange(N) // 2)
    with pytest.raises(ho.InputError, match="interval must be one of auto, nadeau_bengio"):
        nested(ho.protocols.paired_hold_out())
