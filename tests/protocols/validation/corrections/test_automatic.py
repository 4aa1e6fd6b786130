"""Models that memorise their rows: what finds them, and what they are corrected by."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import SVR

import heldout as ho
from heldout.flags import Flag
from heldout.report.facts import facts

RNG = np.random.default_rng(1)
N = 100
X = RNG.normal(size=(N, 5))
NOISE, NUMBERS = RNG.integers(0, 2, size=N), RNG.normal(size=N)
SIGNAL = (X[:, 0] + X[:, 1] + RNG.logistic(size=N) > 0).astype(int)
FOREST = RandomForestClassifier(8, random_state=0)


def validated(model: Any, y: Any, **settings: Any) -> Any:
    return ho.bootstrap_validate(model, X, y, **{"n_bootstraps": 24, "random_state": 0, **settings})


@pytest.mark.parametrize("model", [FOREST, KNeighborsClassifier(1)], ids=lambda model: type(model).__name__)
def test_memorised_noise_is_no_skill(model: Any) -> None:
    found = validated(model, NOISE, metric="roc_auc")
    assert found.method == "632+" and Flag.MEMORISES in found.estimates["roc_auc"].flags
    assert found.value == pytest.approx(0.5, abs=0.08)
    assert found.interval is None, "scores on memorised samples say nothing"
    named = validated(model, NOISE, metric="roc_auc", method="optimism")
    assert named.value > 0.78 and named.interval is None, "as the article defines it"
    assert {Flag.MEMORISES, Flag.NO_BOUND} <= named.flags.keys() | named.estimates["roc_auc"].flags.keys()


@pytest.mark.parametrize(
    "model", [SVR(gamma=5, C=100), KNeighborsRegressor(1)], ids=lambda model: type(model).__name__
)
def test_memorised_numbers_are_no_skill(model: Any) -> None:
    found = validated(model, NUMBERS, metric=["r2", "mean_absolute_error", "calibration_slope"])
    assert [row.method for row in found.rows.values()] == ["632+", "632+", "oob"]
    assert found.rows["r2"].corrected < 0.25
    assert validated(model, NUMBERS, metric="r2", method="optimism").value > found.rows["r2"].corrected + 0.3


def test_memorised_times_are_no_skill() -> None:
    class Nearest(BaseEstimator):
        """The risk of the nearest row that it knows."""

        def fit(self, X: Any, y: Any) -> Nearest:
            self.inner_ = KNeighborsRegressor(1).fit(X, -y["time"])
            return self

        def predict(self, X: Any) -> Any:
            return self.inner_.predict(X)

    y = np.array(
        list(zip(RNG.random(N) < 0.8, RNG.exponential(size=N), strict=True)), dtype=[("e", "?"), ("t", "f8")]
    )
    y.dtype.names = ("event", "time")
    found = validated(Nearest(), y, metric=["concordance_index", "calibration_slope"])
    assert [row.method for row in found.rows.values()] == ["632+", "oob"]
    assert found.rows["concordance_index"].corrected == pytest.approx(0.5, abs=0.08)


@pytest.mark.parametrize("model, y", [(LogisticRegression(), SIGNAL), (Ridge(), X[:, 0] + NUMBERS)], ids=str)
def test_a_model_that_learns_keeps_the_bits_of_the_optimism_bootstrap(model: Any, y: Any) -> None:
    auto, named = (validated(model, y, method=method, n_bootstraps=8) for method in ("auto", "optimism"))
    assert auto.method == "optimism" and Flag.MEMORISES not in auto.flags
    assert str(auto) == str(named)
    assert {name: each.value for name, each in auto.estimates.items()} == pytest.approx(
        {name: each.value for name, each in named.estimates.items()}, rel=0, abs=0, nan_ok=True
    )


def test_classes_that_are_apart_are_not_memorised() -> None:
    y = (X[:, 0] > 0).astype(int)
    apart = np.where(y[:, None] == 1, X + 20, X)
    found = ho.bootstrap_validate(LogisticRegression(), apart, y, metric="roc_auc", n_bootstraps=8, random_state=0)
    assert found.method == "optimism" and found.value == 1.0


def test_ordinary_weak_models_are_rarely_said_to_memorise() -> None:
    """Ten tables of 150 rows with an area of about .7; a rate of .02 raises two or more with probability .016."""
    raised = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(150, 4))
        y = (x[:, 0] + rng.logistic(size=150) > 0).astype(int)
        found = ho.bootstrap_validate(
            LogisticRegression(), x, y, metric="accuracy", n_bootstraps=30, random_state=0, interval=None
        )
        raised += Flag.MEMORISES in found.flags | found.estimates["accuracy"].flags
    assert raised <= 1


def test_double_intervals_of_memorised_rows_hold_their_value_or_are_none() -> None:
    for method in ("auto", "optimism"):
        found = validated(
            KNeighborsClassifier(1), NOISE, metric=["roc_auc", "brier_score"], n_bootstraps=6,
            n_inner_bootstraps=3, interval="double", method=method,
        )  # fmt: skip
        for estimate in found.estimates.values():
            assert estimate.interval is None or estimate.value in estimate.interval
            assert method == "auto" or (estimate.interval is None and Flag.NO_BOUND in estimate.flags)


def test_missing_values_are_imputed_for_models_that_memorise() -> None:
    holes = X.copy()
    holes[RNG.random(X.shape) < 0.1] = np.nan
    found = ho.bootstrap_validate(
        KNeighborsClassifier(1), holes, NOISE, metric="roc_auc", imputation=2, n_bootstraps=20, random_state=0
    )
    assert found.method == "632+" and found.value == pytest.approx(0.5, abs=0.12)


def test_two_stages_choose_and_estimate_by_the_method_of_each_model() -> None:
    models = [("nearest", KNeighborsClassifier(1)), ("logistic", LogisticRegression())]
    chosen = validated(models, SIGNAL, metric="roc_auc", n_second_bootstraps=24)
    assert (chosen.selected_name, chosen.method) == ("logistic", "two_stage")
    by_name = validated(models, SIGNAL, metric="roc_auc", method="two_stage")
    assert by_name.selected_name == "nearest", "the optimism bootstrap prefers what memorises"
    assert Flag.MEMORISES in by_name.estimates["roc_auc"].flags


def test_every_output_says_which_method_a_row_has() -> None:
    found = validated(FOREST, NOISE, metric=["roc_auc", "calibration_intercept"])
    assert found.method == "auto" and found.methods == ("632+", "oob")
    assert "by 632+ and oob" in str(found) and found.text(None).splitlines()[1].endswith(" method")
    assert [row["method"] for row in found.to_dict()["rows"].values()] == ["632+", "oob"]
    assert found.to_frame()["method"].tolist() == ["632+", "oob"]
    assert [each.method for each in found.estimates.values()] == ["632+", "oob"]
    text = found.methods_text().text
    assert "by the .632+ bootstrap" in text and "by the out-of-bag bootstrap" in text
    assert "reproduces its training data" in text
    content = facts(found)
    assert [row.method_title for row in content.metrics] == [".632+ bootstrap", "Out-of-bag bootstrap"]
    assert "(Out-of-bag bootstrap)" in str(ho.report_card(found))
    assert content.memorises
    assert float(content.roc[0].lines[1].label.split()[-1]) == pytest.approx(0.5, abs=0.1)
