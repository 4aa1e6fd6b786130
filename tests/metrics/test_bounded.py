"""Losses with a declared greatest value, and losses of rows from a function of the user."""

from typing import Any

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor

import heldout as ho
from heldout.errors import InputError
from heldout.metrics import Bounded, MeanAbsoluteError, MeanSquaredError, PinballLoss, metric_named
from heldout.metrics.base import Signed

RNG = np.random.default_rng(0)
Y = RNG.uniform(0, 1, 200)
P = np.clip(Y[:, None] + RNG.normal(0, [0.1, 0.2, 0.3], (200, 3)), 0, 1)


def squares(y_true: Any, y_pred: Any) -> Any:
    return (y_true - y_pred) ** 2


def test_names_say_the_greatest_loss() -> None:
    assert metric_named("mean_absolute_error(most=3)") == Bounded(MeanAbsoluteError(), 3)
    assert metric_named("neg_mean_squared_error(most=4)") == Signed(Bounded(MeanSquaredError(), 4), -1)
    quantile = metric_named("mean_pinball_loss(alpha=0.9, most=2)")
    assert quantile == Bounded(PinballLoss(0.9), 2)
    assert (quantile.name, quantile.range) == ("mean_pinball_loss(alpha=0.9, most=2)", (0, 2))
    assert metric_named(quantile.name) == quantile
    assert Bounded(MeanSquaredError(), np.float64(4)).name == "mean_squared_error(most=4.0)"
    quantile = PinballLoss(np.float64(0.9))
    assert (quantile.name, metric_named(quantile.name)) == ("mean_pinball_loss(alpha=0.9)", quantile)
    for wrong in ("accuracy(most=1)", "root_mean_squared_error(most=1)", "r2(most=1)"):
        with pytest.raises(InputError, match="has no parameter 'most'"):
            metric_named(wrong)
    with pytest.raises(InputError, match="most must be a finite number above 0, got 0"):
        metric_named("mean_squared_error(most=0)")
    with pytest.raises(InputError, match="most is for means of one loss per row without a greatest value"):
        Bounded(metric_named("accuracy"), 1)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "metric",
    [
        "mean_squared_error(most=1)",
        ho.metrics.custom(squares, greater_is_better=False, response="values", range=(0, 1), row_wise=True),
    ],
)
def test_hoeffding_by_hand(metric: Any) -> None:
    found = ho.estimate(Y, P, metric=metric, method="hoeffding", confidence_level=0.9)
    means = ((P - Y[:, None]) ** 2).mean(axis=0)
    half = np.sqrt(np.log(2 * 3 / 0.1) / (2 * 200))  # w = 1, C = 3, δ = .1
    assert found.value == pytest.approx(means.min(), abs=1e-12)
    assert found.interval.high == pytest.approx(means.min() + half, abs=1e-12)
    assert found.interval.low == max(0.0, found.value - half)
    assert found.provenance["distance_to_best"] == pytest.approx(2 * half, abs=1e-12)
    assert ho.estimates.distance_to_best(200, 0.1, candidates=3) == pytest.approx(2 * half, abs=1e-12)


def test_the_width_is_that_of_the_range() -> None:
    wide = ho.estimate(10 * Y, 10 * P, metric="mean_squared_error(most=100)", method="hoeffding")
    narrow = ho.estimate(Y, P, metric="mean_squared_error(most=1)", method="hoeffding")
    assert wide.provenance["half_width"] == pytest.approx(100 * narrow.provenance["half_width"], rel=1e-12)


def test_a_greater_loss_is_refused() -> None:
    with pytest.raises(
        InputError, match=r"declares losses of at most 0.01, and a row has 0\.\d+; give the greatest"
    ):
        ho.estimate(Y, P, metric="mean_squared_error(most=0.01)", method="hoeffding")
    small = ho.metrics.custom(squares, greater_is_better=False, response="values", range=(0, 0.01), row_wise=True)
    with pytest.raises(InputError, match=r"'squares' gave 0.*, outside its range from 0 to 0\.01"):
        ho.estimate(Y, P, metric=small, method="hoeffding")


@pytest.mark.parametrize("method", ["shrinkage", "wald_cv"])
def test_losses_of_rows_give_the_numbers_of_the_mean(method: str) -> None:
    rows = ho.metrics.custom(squares, greater_is_better=False, response="values", range=(0, np.inf), row_wise=True)
    asked: dict[str, Any] = {"method": method, "n_bootstraps": 200, "random_state": 3}
    weights = np.tile([1.0, 2.0], 100)
    for more in ({}, {"sample_weight": weights}, {"folds": np.arange(200) % 5}):
        if method == "wald_cv" and "sample_weight" in more:
            continue  # it takes no weights
        ours = ho.estimate(Y, P, metric="mean_squared_error", **asked, **more)
        theirs = ho.estimate(Y, P, metric=rows, **asked, **more)
        assert theirs.value == pytest.approx(ours.value, abs=1e-12)
        if method == "shrinkage":  # what a function of the user's gives for larger errors is not known
            assert theirs.value < theirs.interval.high < ours.interval.high
        else:
            assert theirs.interval.high == pytest.approx(ours.interval.high, abs=1e-12)


def test_scores_of_rows_are_turned_around() -> None:
    y = RNG.integers(0, 2, 60)
    labels = np.where(RNG.random((60, 4)) < 0.7, y[:, None], 1 - y[:, None])
    right = ho.metrics.custom(
        lambda truth, predicted: truth == predicted,
        greater_is_better=True, response="labels", range=(0, 1), name="right", row_wise=True,
    )  # fmt: skip
    asked: dict[str, Any] = {"method": "hoeffding"}
    ours, theirs = (ho.estimate(y, labels, metric=metric, **asked) for metric in ("accuracy", right))
    assert (theirs.value, theirs.interval) == (ours.value, ours.interval)


def test_wrong_functions_are_refused() -> None:
    def custom(f: Any, **more: Any) -> Any:
        given = {"greater_is_better": False, "response": "values", "range": (0, 1), "row_wise": True, "name": "f"}
        return ho.metrics.custom(f, **{**given, **more})

    for f, message in (
        (lambda y, p: float(np.mean(y - p)), "must give one number for each of the 200 rows, got the shape"),
        (lambda y, p: 1 / 0, "'f' failed: ZeroDivisionError: division by zero"),
        (lambda y, p: np.where(y > 0.5, np.nan, 0.0), "'f' gave nan for a row, outside its range"),
    ):
        with pytest.raises(InputError, match=message):
            ho.estimate(Y, P, metric=custom(f), method="bbc")
    with pytest.raises(InputError, match=r"losses of rows start at 0 or above, got range=\(-1, 1\)"):
        custom(squares, range=(-1, 1))
    with pytest.raises(InputError, match=r"scores of rows must range from 0 to 1, got range=\(0, 5\)"):
        custom(squares, range=(0, 5), greater_is_better=True)


def test_a_race_of_squared_errors_drops_what_cannot_be_the_best() -> None:
    """Maron and Moore's race for a loss with a declared range."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(300, 2)), rng.uniform(0.9, 1.0, 300)
    models = [(f"constant {c}", DummyRegressor(strategy="constant", constant=c), {}) for c in (0.95, 0.8, 0.3)]
    race = ho.dropping.HoeffdingRace(min_predictions=30)
    search = ho.HeldOutSearchCV(
        models, scoring="neg_mean_squared_error(most=1)", drop=race, cv=ho.protocols.k_folds(10), random_state=0
    ).fit(X, y)
    losses = np.array([np.mean((y - c) ** 2) for c in (0.95, 0.8, 0.3)])
    # After n rows: h = √(ln(2 · C · looks / δ) / (2n)), three configurations and nine looks, δ = .05.
    half = np.sqrt(np.log(2 * 3 * 9 / 0.05) / (2 * np.arange(30, 300, 30)))
    behind = losses[:, None] - losses[0] > 2 * half
    first = [int(row.argmax()) + 1 if row.any() else 10 for row in behind]
    assert first[:2] == [10, 10] and first[2] < 5
    done = [sum(np.isfinite(search.cv_results_[f"split{k}_test_score"][j]) for k in range(10)) for j in range(3)]
    assert done == first
    with pytest.raises(InputError, match="it needs losses within a range"):
        ho.HeldOutSearchCV(models, scoring="neg_mean_squared_error", drop=race, cv=10).fit(X, y)
