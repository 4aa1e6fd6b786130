"""Locally simultaneous intervals: by formula in plain NumPy, at their limits, and what they are not for."""

import math

import numpy as np
import pytest

import heldout as ho
from heldout.estimates import LocallySimultaneous
from heldout.estimates.intervals import order_statistic
from heldout.selection.bootstrap_draws import Draws, always

N, C = 120, 12
RNG = np.random.default_rng(11)
TARGET = RNG.normal(size=N)
GUESSES = TARGET[:, None] + RNG.normal(size=(N, C)) * np.linspace(1.0, 6.0, C)
Y = RNG.integers(0, 2, N)
SCORES = RNG.normal(Y[:, None] * np.linspace(1.3, 0.2, C), 1.0)


def of(truth=TARGET, predictions=GUESSES, **more):
    more = {"metric": "mean_squared_error", "method": "locally_simultaneous", "random_state": 1} | more
    return ho.estimate(truth, predictions, **more)


def drawn_counts(n_bootstraps: int = 1000) -> np.ndarray:
    """The rows that every method draws with this seed, counted."""
    from heldout._streams import entropy_of, stream

    draws = Draws(stream(entropy_of(1), "draws"), n_bootstraps, np.arange(N), always, always)
    return draws.block(0, n_bootstraps)[0]


def by_formula(losses: np.ndarray, share: float, alpha: float, differences: bool):
    """(low, high), Γ: with scores = -losses, from the description in the article."""
    counts = drawn_counts().astype(float)
    drawn = -(counts @ losses) / N
    noise = (drawn - drawn.mean(axis=0)) * math.sqrt(N / (N - 1))
    observed, spread = -losses.mean(axis=0), noise.std(axis=0)
    winner = int(observed.argmax())
    nu = share * alpha
    q = order_statistic(np.sort(np.abs(noise / spread).max(axis=1)), 1 - (nu / 2 if differences else nu))
    plausible = np.array(
        [(m + 2 * q * s >= observed - 2 * q * spread).all() for m, s in zip(observed, spread, strict=True)]
    )
    if differences:
        d = order_statistic(np.sort(np.ptp(noise[:, plausible], axis=1)), 1 - nu / 2)
        plausible &= observed >= observed[winner] - 2 * d
    t = np.abs(noise / spread)[:, plausible].max(axis=1)
    reach = order_statistic(np.sort(t), 1 - alpha + nu) * spread[winner]
    return (-observed[winner] - reach, -observed[winner] + reach), plausible


@pytest.mark.parametrize("plausible", ["differences", "scores"])
@pytest.mark.parametrize("share", [0.1, 0.5])
def test_it_is_the_formula(plausible, share):
    found = of(method=LocallySimultaneous(share=share, plausible=plausible))
    expected, gamma = by_formula((GUESSES - TARGET[:, None]) ** 2, share, 0.05, plausible == "differences")
    assert list(found.interval) == pytest.approx(expected, rel=1e-9)
    assert found.provenance["n_plausible"] == gamma.sum()
    assert 1 < gamma.sum() < C


def test_differences_of_candidates_that_agree_leave_fewer():
    """The third is wrong where the first is, and by 1.5 more: its loss is 2.25 (standard error .27) greater."""
    alike = TARGET[:, None] + RNG.normal(size=(N, 1)) + np.array([0.0, 0.1, 1.5])
    by_differences, by_scores = (
        of(predictions=alike, method=LocallySimultaneous(plausible=by)).provenance["n_plausible"]
        for by in ("differences", "scores")
    )
    assert (by_differences, by_scores) == (2, 3)


def test_one_configuration_has_the_plain_bootstrap_interval():
    """M ∓ the quantile of |D| at .95: nothing is paid, and no ν is taken."""
    found = of(predictions=GUESSES[:, :1])
    losses = (GUESSES[:, 0] - TARGET) ** 2
    drawn = drawn_counts().astype(float) @ losses / N
    noise = (drawn - drawn.mean()) * math.sqrt(N / (N - 1))
    reach = order_statistic(np.sort(np.abs(noise)), 0.95)
    assert list(found.interval) == pytest.approx([losses.mean() - reach, losses.mean() + reach], rel=1e-9)
    assert found.standard_error == pytest.approx(losses.std(ddof=1) / math.sqrt(N), rel=0.08)
    assert not {"uncorrected"} & set(found.flags)


def test_a_far_better_configuration_is_the_only_plausible_one():
    """Γ = {w}: the interval is that of one configuration at level 1 - (α - ν)."""
    predictions = np.column_stack([GUESSES[:, 0], TARGET[:, None] + 8 * RNG.normal(size=(N, 5))])
    found = of(predictions=predictions, metric="mean_absolute_error")
    assert found.provenance["n_plausible"] == 1
    alone = of(predictions=predictions[:, :1], metric="mean_absolute_error", confidence_level=0.955)
    assert list(found.interval) == pytest.approx(list(alone.interval), rel=1e-9)


@pytest.mark.parametrize("metric", ["roc_auc", "neg_brier_score", "brier_score"])
def test_one_sided_intervals_are_the_two_sided_one_with_an_open_end(metric):
    probabilities = 1 / (1 + np.exp(-SCORES))
    ends = {
        alternative: of(Y, probabilities, metric=metric, alternative=alternative).interval
        for alternative in ("two-sided", "greater", "less")
    }
    least, most = {"roc_auc": (0, 1), "brier_score": (0, 1), "neg_brier_score": (-1, 0)}[metric]
    below, above = ("less", "greater") if metric == "brier_score" else ("greater", "less")
    assert list(ends[below]) == [ends["two-sided"].low, most]
    assert list(ends[above]) == [least, ends["two-sided"].high]


def test_value_and_flags():
    found = of(folds=np.arange(N) % 6)
    assert found.value == found.uncorrected and found.optimism == 0
    assert {"uncorrected", "folds_dependent"} <= set(found.flags)
    assert "selection_ignored" not in found.flags


def test_perfect_rows_get_a_bound_that_pays_for_the_choice():
    labels = np.column_stack([Y, np.where(RNG.random((N, 9)) < 0.6, Y[:, None], 1 - Y[:, None])])
    found = of(Y, labels, metric="accuracy")
    assert found.value == 1 and "no_spread" in found.flags and found.interval.low < 1 - 3 / N


def test_an_undefined_competitor_is_left_out():
    predictions = GUESSES.copy()
    predictions[0, 5] = 1e200  # its squared error is infinite in every bootstrap that draws the row
    found, without = of(predictions=predictions), of(predictions=np.delete(GUESSES, 5, axis=1))
    assert list(found.interval) == pytest.approx(list(without.interval), rel=1e-9)


@pytest.mark.parametrize("method", ["locally_simultaneous", "zoom"])
@pytest.mark.parametrize(
    ("selection", "said"),
    [
        ("one_standard_error", "it assumes that the winner has the best roc_auc, but here it was selected by"),
        ("greedy_ensemble", "chooses an ensemble"),
    ],
)
def test_other_rules_are_refused(method, selection, said):
    with pytest.raises(ho.InputError, match=said):
        ho.estimate(
            Y,
            1 / (1 + np.exp(-SCORES)),
            metric="roc_auc",
            method=method,
            selection=selection,
            folds=np.arange(N) % 4,
        )


@pytest.mark.parametrize("method", ["locally_simultaneous", "zoom"])
def test_a_winner_by_another_metric_is_refused(method):
    from sklearn.linear_model import LogisticRegression

    search = ho.HeldOutSearchCV(
        LogisticRegression(), {"C": [0.01, 1.0]}, scoring=["roc_auc", "accuracy"], refit="roc_auc", method=method,
        n_bootstraps=100, random_state=0,
    )  # fmt: skip
    with pytest.warns(ho.HeldoutWarning, match="it was selected by roc_auc"):
        search.fit(SCORES, Y)
    assert search.estimates_["roc_auc"].interval is not None and math.isnan(search.estimates_["accuracy"].value)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"share": 1.0}, "share must lie between 0 and 1, got 1.0"),
        ({"share": "much"}, "share must lie between 0 and 1, got 'much'"),
        ({"plausible": "wide"}, "plausible must be one of differences, scores, got 'wide'"),
        ({"stratify": 1}, "stratify must be True or False"),
    ],
)
def test_wrong_settings_are_refused(settings, said):
    with pytest.raises(ho.InputError, match=said):
        LocallySimultaneous(**settings)
