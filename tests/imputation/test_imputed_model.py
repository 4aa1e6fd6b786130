"""A model that imputes within its own fit: plain code, and what it must not know."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.base import clone, is_classifier
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from heldout._streams import numpy_seed
from heldout.data.task import truth_of
from heldout.errors import InputError
from heldout.imputation.chained import ChainedImputer
from heldout.imputation.coefficients import coefficients_of, pool_coefficients
from heldout.imputation.imputed_model import ImputedModel
from heldout.imputation.settings import Imputation
from heldout.spaces import CoxRegression

N = 80
RNG = np.random.default_rng(3)
WHOLE = RNG.normal(size=(N, 4))
Y = (WHOLE[:, 0] + 0.5 * WHOLE[:, 1] + RNG.normal(size=N) > 0).astype(int)
X = np.where(RNG.random(WHOLE.shape) < 0.2, np.nan, WHOLE)
TRAIN, NEW = slice(0, 60), slice(60, None)
MODEL = LogisticRegression(C=float("inf"), tol=1e-8)


def filled_by(imputer: Any, table: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(table), imputer.transform(table), table)


def test_it_is_a_plain_loop_over_imputations() -> None:
    model = ImputedModel(MODEL, 3, random_state=7).fit(X[TRAIN], Y[TRAIN])
    completed = Imputation(3).completed(X[TRAIN], truth_of(Y[TRAIN]), 7, "training rows")
    logits, each = [], []
    for h, table in enumerate(completed):
        own = clone(MODEL).fit(table, Y[TRAIN])
        imputer = ChainedImputer(random_state=numpy_seed(7, "imputation", h, "new rows")).fit(X[TRAIN])
        logits.append(own.decision_function(filled_by(imputer, X[NEW])))
        each.append(coefficients_of(own, table, Y[TRAIN]))
    np.testing.assert_allclose(model.decision_function(X[NEW]), np.mean(logits, axis=0), rtol=1e-9)
    np.testing.assert_allclose(model.predict_proba(X[NEW])[:, 1], expit(np.mean(logits, axis=0)), rtol=1e-9)
    np.testing.assert_array_equal(model.predict(X[NEW]), (np.mean(logits, axis=0) > 0).astype(int))
    by_hand = pool_coefficients(each, 60)
    assert by_hand is not None and model.coefficients_ is not None
    np.testing.assert_allclose(model.coefficients_.standard_errors, by_hand.standard_errors)
    assert not np.allclose(logits[0], logits[1]), "completions differ"


def test_probabilities_of_other_models_are_averaged() -> None:
    forest = ImputedModel(RandomForestClassifier(5, random_state=0), 2, random_state=1).fit(X[TRAIN], Y[TRAIN])
    each = [member.predict_proba(X[NEW]) for member in forest.pooled_.members]
    np.testing.assert_allclose(forest.predict_proba(X[NEW]), np.mean(each, axis=0))


def test_rows_without_gaps_need_one_model() -> None:
    model = ImputedModel(MODEL, 4, random_state=0).fit(WHOLE[TRAIN], Y[TRAIN])
    plain = clone(MODEL).fit(WHOLE[TRAIN], Y[TRAIN])
    np.testing.assert_allclose(model.predict_proba(WHOLE[NEW]), plain.predict_proba(WHOLE[NEW]), rtol=1e-12)
    assert len({id(member[-1]) for member in model.pooled_.members}) == 1
    assert np.isfinite(model.predict_proba(X[NEW])).all(), "rows with gaps are completed nevertheless"


def test_new_rows_are_completed_without_their_outcome_and_not_from_each_other() -> None:
    model = ImputedModel(MODEL, 3, random_state=0).fit(X[TRAIN], Y[TRAIN])
    before = model.predict_proba(X[NEW])
    other = X[NEW].copy()
    other[1:] = np.where(np.isnan(other[1:]), np.nan, 50.0)
    np.testing.assert_array_equal(model.predict_proba(other)[0], before[0])
    np.testing.assert_array_equal(model.predict_proba(X[NEW]), before, "every response is about the same draws")


def test_imputers_that_draw_on_repeat_their_draws() -> None:
    imputation = Imputation(2, imputer=IterativeImputer(sample_posterior=True, max_iter=2, tol=1e3))
    model = ImputedModel(MODEL, imputation, random_state=0).fit(X[TRAIN], Y[TRAIN])
    np.testing.assert_array_equal(model.predict_proba(X[NEW]), model.predict_proba(X[NEW]))


def test_tables_keep_their_names_and_types() -> None:
    table = pd.DataFrame(X, columns=list("abcd"))
    table["site"] = pd.Series(np.where(np.arange(N) % 5 == 0, None, np.where(X[:, 0] > 0, "n", "s")), dtype=object)
    columns = make_column_transformer((OneHotEncoder(drop="first"), ["site"]), remainder="passthrough")
    model = ImputedModel(make_pipeline(columns, MODEL), 2, random_state=0).fit(table[TRAIN], Y[TRAIN])
    assert np.isfinite(model.predict_proba(table[NEW])).all()
    assert model.coefficients_ is not None and len(model.coefficients_.names) == 6
    assert list(model.feature_names_in_) == [*"abcd", "site"]


def test_numbers_and_survival() -> None:
    numbers = WHOLE[:, 0] + RNG.normal(size=N)
    plain = ImputedModel(MODEL, 2, random_state=0).fit(X[TRAIN], Y[TRAIN])
    assert plain.score(X[NEW], Y[NEW]) == (plain.predict(X[NEW]) == Y[NEW]).mean()
    model = ImputedModel(LinearRegression(), 2, random_state=0).fit(X[TRAIN], numbers[TRAIN])
    each = [member.predict(X[NEW]) for member in model.pooled_.members]
    np.testing.assert_allclose(model.predict(X[NEW]), np.mean(each, axis=0))
    y = np.array(
        [(True, time) for time in RNG.exponential(np.exp(-WHOLE[:, 0]))], dtype=[("event", bool), ("time", float)]
    )
    cox = ImputedModel(CoxRegression(), 2, random_state=0).fit(X[TRAIN], y[TRAIN])
    surviving = cox.predict_survival_function(X[NEW], np.array([0.1, 0.5]))
    assert surviving.shape == (20, 2) and ((surviving > 0) & (surviving < 1)).all()
    order = {id(member): member.predict(X[NEW]) for member in cox.pooled_.members}
    truth, mean = y[NEW], np.mean(list(order.values()), axis=0)
    pairs = [(i, j) for i in range(20) for j in range(20) if truth["time"][i] < truth["time"][j]]
    assert cox.score(X[NEW], y[NEW]) == pytest.approx(np.mean([mean[i] > mean[j] for i, j in pairs]))
    assert cox.coefficients_ is not None and cox.coefficients_.names == ("x0", "x1", "x2", "x3")


def test_it_is_an_estimator_of_its_kind() -> None:
    model = ImputedModel(MODEL, 2)
    assert is_classifier(model) and model.__sklearn_tags__().input_tags.allow_nan
    assert hasattr(model, "predict_proba") and not hasattr(ImputedModel(LinearRegression()), "predict_proba")
    weights = np.linspace(0.1, 2.0, 60)
    weighted = ImputedModel(MODEL, 2, random_state=0).fit(X[TRAIN], Y[TRAIN], sample_weight=weights)
    member = weighted.pooled_.members[0]
    table = Imputation(2).completed(X[TRAIN], truth_of(Y[TRAIN]), 0, "training rows")[0]
    np.testing.assert_allclose(member[-1].coef_, clone(MODEL).fit(table, Y[TRAIN], sample_weight=weights).coef_)


@pytest.mark.parametrize(
    ("imputation", "said"),
    [
        (1, "from 2 to 1000, got 1"),
        ("mean", "must be a number of imputations"),
        (Imputation(2, order="mi_boot"), "order='boot_mi'"),
        (Imputation(2, outcome_in_evaluation=True), "a model never receives it"),
    ],
)
def test_what_a_fit_cannot_do_is_refused(imputation: Any, said: str) -> None:
    with pytest.raises(InputError) as caught:
        ImputedModel(MODEL, imputation).fit(X, Y)
    assert said in str(caught.value) and caught.value.argument in ("imputation", "n_imputations")


def test_a_saved_model_is_loaded(tmp_path: Any) -> None:
    skops_io = pytest.importorskip("skops.io")
    from heldout.readers.saved_model import load_model

    model = ImputedModel(MODEL, 2, random_state=0).fit(X[TRAIN], Y[TRAIN])
    skops_io.dump(model, tmp_path / "model.skops")
    np.testing.assert_array_equal(
        load_model(tmp_path / "model.skops").predict_proba(X[NEW]), model.predict_proba(X[NEW])
    )
