"""The regressions for a table fit what scikit-learn fits on columns that were prepared by hand."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from heldout.data.task import TaskKind
from heldout.errors import InputError
from heldout.spaces.cox import CoxRegression
from heldout.spaces.regressions import MODELS, regression, usual_model

N = 120
rng = np.random.default_rng(0)
AGE, STAGE = rng.normal(60, 10, N), rng.choice(["I", "II", "III"], N)
X = pd.DataFrame({"age": AGE, "stage": STAGE})
BY_HAND = np.column_stack([AGE, STAGE == "II", STAGE == "III"]).astype(float)
RISK = (AGE - 60) / 10 + (STAGE == "III") + rng.logistic(size=N)


def test_logistic_regression_is_the_unpenalised_one() -> None:
    y = RISK > 0
    ours = regression("logistic", X, TaskKind.BINARY).fit(X, y)
    theirs = LogisticRegression(C=np.inf, solver="lbfgs", tol=1e-10, max_iter=10000).fit(BY_HAND - [60, 0, 0], y)
    assert ours[-1].coef_[0] == pytest.approx(theirs.coef_[0], abs=1e-5)
    assert ours[:-1].get_feature_names_out().tolist() == ["age", "stage_II", "stage_III"]


def test_linear_regression_is_least_squares() -> None:
    ours = regression("linear", X, TaskKind.REGRESSION).fit(X, RISK)
    assert ours[-1].coef_ == pytest.approx(LinearRegression().fit(BY_HAND, RISK).coef_, abs=1e-10)


def test_cox_regression_keeps_units_and_names() -> None:
    y = np.array(list(zip(rng.random(N) < 0.7, np.exp(-RISK), strict=True)), dtype=[("event", "?"), ("time", "f8")])
    ours = regression("cox", X, TaskKind.SURVIVAL).fit(X, y)
    assert ours[-1].coef_ == pytest.approx(CoxRegression().fit(BY_HAND, y).coef_, abs=1e-8)
    assert ours[-1].feature_names_in_.tolist() == ["age", "stage_II", "stage_III"]


def test_a_column_that_does_not_differ_in_a_sample_is_no_reason_for_cox_to_fail() -> None:
    rare = X.assign(rare=np.arange(N) == 3)
    y = np.array([(True, time) for time in np.exp(-RISK)], dtype=[("event", "?"), ("time", "f8")])
    without = np.arange(N) != 3
    model = regression("cox", rare.astype({"rare": float}), TaskKind.SURVIVAL)
    fitted = model.fit(rare[without].astype({"rare": float}), y[without])
    assert "rare" not in fitted[-1].feature_names_in_
    assert fitted.predict(rare.astype({"rare": float})).shape == (N,)


def test_a_category_that_training_lacked_counts_as_the_first() -> None:
    model = regression("linear", X, TaskKind.REGRESSION).fit(X, RISK)
    asked = pd.DataFrame({"age": [60.0, 60.0], "stage": ["I", "IV"]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's, that it knows no "IV"
        first, unseen = model.predict(asked)
    assert unseen == first


def test_missing_values_are_filled_in_if_not_imputed() -> None:
    holes = X.copy()
    holes.loc[::5, "age"] = np.nan
    holes.loc[::7, "stage"] = None
    filled = regression("linear", holes, TaskKind.REGRESSION).fit(holes, RISK)
    missing = holes["stage"].isna().to_numpy()
    by_hand = np.column_stack(
        [holes["age"].fillna(holes["age"].median()), holes["stage"] == "II", holes["stage"] == "III", missing]
    ).astype(float)
    assert filled[-1].coef_ == pytest.approx(LinearRegression().fit(by_hand, RISK).coef_, abs=1e-10)
    with pytest.raises(ValueError, match="NaN"):
        regression("linear", holes, TaskKind.REGRESSION, fill=False).fit(holes, RISK)


@pytest.mark.parametrize("kind", [kind for kind in TaskKind if kind is not TaskKind.OTHER], ids=str)
def test_each_kind_of_task_has_a_usual_model(kind: TaskKind) -> None:
    assert kind in MODELS[usual_model(kind)][0]


def test_a_model_that_does_not_fit_the_task() -> None:
    with pytest.raises(InputError, match="`model='cox'` does not fit a regression target; use linear"):
        regression("cox", X, TaskKind.REGRESSION)
    with pytest.raises(InputError, match="model must be one of logistic, linear, cox, or a file"):
        regression("ridge", X, TaskKind.REGRESSION)
