"""A pooled model says what the mean of its members says."""

from typing import Any

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.base import is_classifier, is_regressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from heldout.errors import InputError
from heldout.imputation.coefficients import coefficients_of, pool_coefficients
from heldout.imputation.pooled import PooledModel
from heldout.metrics.survival_model import survival
from heldout.spaces.cox import CoxRegression


def completions(n: int = 90, H: int = 3) -> tuple[list[np.ndarray[Any, Any]], np.ndarray[Any, Any]]:
    rng = np.random.default_rng(11)
    X = rng.normal(size=(n, 2))
    eta = X[:, 0] - X[:, 1]
    return [X + 0.3 * rng.normal(size=X.shape) for _ in range(H)], eta + rng.normal(size=n)


def test_a_pooled_logistic_model_has_rubins_mean_coefficients() -> None:
    tables, eta = completions()
    y = np.where(eta > 0, "yes", "no")
    members = [LogisticRegression(C=np.inf, tol=1e-8).fit(X, y) for X in tables]
    pooled = PooledModel(members)
    rubin = pool_coefficients([coefficients_of(m, X, y) for m, X in zip(members, tables, strict=True)], 90)
    assert rubin is not None
    new = tables[0][:7]
    linear = rubin.values[0] + new @ rubin.values[1:]
    np.testing.assert_allclose(pooled.decision_function(new), linear, rtol=1e-10)
    np.testing.assert_allclose(pooled.predict_proba(new)[:, 1], 1 / (1 + np.exp(-linear)), rtol=1e-10)
    assert pooled.predict(new).tolist() == np.where(linear > 0, "yes", "no").tolist()
    assert is_classifier(pooled) and pooled.classes_.tolist() == ["no", "yes"]
    plain = np.mean([m.predict_proba(new)[:, 1] for m in members], axis=0)
    assert np.abs(plain - pooled.predict_proba(new)[:, 1]).max() > 1e-4


def test_a_pooled_linear_model_has_rubins_mean_coefficients() -> None:
    tables, y = completions()
    members = [LinearRegression().fit(X, y) for X in tables]
    rubin = pool_coefficients([coefficients_of(m, X, y) for m, X in zip(members, tables, strict=True)], 90)
    assert rubin is not None
    new = tables[0][:7]
    pooled = PooledModel(members)
    np.testing.assert_allclose(pooled.predict(new), rubin.values[0] + new @ rubin.values[1:], rtol=1e-10)
    assert is_regressor(pooled)
    assert not hasattr(pooled, "predict_proba") and not hasattr(pooled, "classes_")


def test_several_classes_by_the_mean_of_linear_predictors() -> None:
    tables, eta = completions()
    y = np.digitize(eta, [-1, 1])
    members = [make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y) for X in tables]
    mean = np.mean([m.decision_function(tables[0]) for m in members], axis=0)
    np.testing.assert_allclose(PooledModel(members).predict_proba(tables[0]), softmax(mean, axis=1), rtol=1e-12)
    np.testing.assert_allclose(
        PooledModel(members[:1]).predict_proba(tables[0]), members[0].predict_proba(tables[0])
    )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_other_models_are_averaged_in_what_they_say(n_classes: int) -> None:
    tables, eta = completions()
    y = np.digitize(eta, [-1, 1][: n_classes - 1])
    members = [DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y) for X in tables]
    pooled, X = PooledModel(members), tables[0]
    mean = np.mean([m.predict_proba(X) for m in members], axis=0)
    np.testing.assert_array_equal(pooled.predict_proba(X), mean)
    assert pooled.predict(X).tolist() == mean.argmax(axis=1).tolist()
    assert not hasattr(pooled, "decision_function")
    values = [DecisionTreeRegressor(max_depth=3, random_state=0).fit(X, eta) for X in tables]
    np.testing.assert_allclose(PooledModel(values).predict(X), np.mean([m.predict(X) for m in values], axis=0))


def test_one_against_the_rest_is_averaged_in_probabilities() -> None:
    tables, eta = completions()
    y = (eta > 0).astype(int)
    members = [LogisticRegression(solver="liblinear").fit(X, y) for X in tables]
    mean = np.mean([m.decision_function(tables[0]) for m in members], axis=0)
    np.testing.assert_allclose(PooledModel(members).predict_proba(tables[0])[:, 1], 1 / (1 + np.exp(-mean)))


def test_labels_without_probabilities() -> None:
    tables, eta = completions()
    for y in ((eta > 0).astype(int), np.digitize(eta, [-1, 1])):
        members = [LinearSVC(random_state=0).fit(X, y) for X in tables]
        pooled, X = PooledModel(members), tables[0]
        assert not hasattr(pooled, "predict_proba")
        decision = pooled.decision_function(X)
        expected = decision > 0 if decision.ndim == 1 else decision.argmax(axis=1)
        assert pooled.predict(X).tolist() == expected.astype(int).tolist()


class Saying:
    """A classifier that can only say labels."""

    def __init__(self, *said: str) -> None:
        self.said = said
        self.classes_ = np.array(["a", "b", "c"])

    def predict(self, X: Any) -> Any:
        return np.array(self.said)


def test_labels_alone_are_voted_on_and_a_tie_goes_to_the_first_class() -> None:
    pooled = PooledModel([Saying("c", "b"), Saying("c", "a"), Saying("a", "c")])
    assert pooled.predict(None).tolist() == ["c", "a"]
    assert not hasattr(pooled, "predict_proba") and not hasattr(pooled, "decision_function")


def test_a_class_that_one_member_lacks_is_missing() -> None:
    tables, eta = completions()
    y = np.digitize(eta, [-1, 1])
    kept = y < 2
    members = [LogisticRegression().fit(tables[0], y), LogisticRegression().fit(tables[1][kept], y[kept])]
    pooled = PooledModel(members)
    assert pooled.classes_.tolist() == [0, 1]
    assert pooled.predict_proba(tables[0]).shape == (90, 2)
    assert not hasattr(pooled, "decision_function")


def test_what_cannot_be_pooled_is_refused() -> None:
    with pytest.raises(InputError, match="at least one fitted model"):
        PooledModel([])
    tables, y = completions()
    with pytest.raises(InputError, match="classifiers only"):
        PooledModel([LinearRegression().fit(tables[0], y), LogisticRegression().fit(tables[1], y > 0)])


class Proportional:
    """S(t) = exp(-exp(slope · x) · level · t), at times of its own."""

    unique_times_ = np.array([1.0, 2.0, 4.0])

    def __init__(self, slope: float, level: float) -> None:
        self.coef_ = np.array([slope])
        self.cum_baseline_hazard_ = level * self.unique_times_
        self.level = level

    def predict(self, X: Any) -> Any:
        return np.asarray(X) @ self.coef_

    def predict_survival_function(self, X: Any) -> Any:
        return np.exp(-np.exp(self.predict(X))[:, None] * self.level * self.unique_times_)


class Other(Proportional):
    """The same without coefficients to pool."""

    def __init__(self, slope: float, level: float) -> None:
        super().__init__(slope, level)
        self.slope = self.coef_
        del self.coef_

    def predict(self, X: Any) -> Any:
        return np.asarray(X) @ self.slope


def test_cox_models_have_the_mean_slope_and_the_mean_log_hazard() -> None:
    pooled, X = PooledModel([Proportional(0.5, 0.1), Proportional(1.5, 0.3)]), np.array([[-2.0], [0.0], [5.0]])
    np.testing.assert_allclose(pooled.predict(X), X[:, 0], rtol=1e-12)
    expected = np.exp(-np.exp(X) * np.sqrt(0.1 * 0.3) * np.array([0.0, 1.0, 2.0, 2.0]))
    np.testing.assert_allclose(survival(pooled, X, (0.5, 1.0, 2.0, 3.0)), expected, rtol=1e-10)


def test_own_cox_models_are_pooled_in_the_log_of_their_hazards() -> None:
    rng = np.random.default_rng(12)
    tables, eta = completions()
    y = np.array(
        list(zip(rng.random(90) < 0.7, np.round(rng.exponential(np.exp(-eta)) + 0.1, 1), strict=True)),
        dtype=[("event", bool), ("time", float)],
    )
    members = [CoxRegression().fit(X + 40, y) for X in tables]  # the hazard of x = 0 is next to nothing here
    X, times = tables[0] + 40, np.quantile(y["time"], [0.0, 0.2, 0.5, 0.8])
    each = np.array([survival(member, X, times) for member in members])
    pooled = PooledModel(members)
    expected = np.exp(-np.exp(np.log(-np.log(each)).mean(axis=0)))
    np.testing.assert_allclose(survival(pooled, X, times), expected, rtol=1e-8)
    np.testing.assert_allclose(survival(PooledModel(members[:1]), X, times), each[0], rtol=1e-8)
    assert (survival(pooled, X, [0.0]) == 1).all()
    rubin = pool_coefficients([coefficients_of(m, t, y) for m, t in zip(members, tables, strict=True)], 90)
    assert rubin is not None
    np.testing.assert_allclose(pooled.predict(X), X @ rubin.values, rtol=1e-10)


def test_other_survival_models_are_averaged_in_probabilities() -> None:
    members, X = [Other(0.5, 0.1), Other(1.5, 0.3)], np.array([[-2.0], [0.0], [5.0]])
    times = (0.5, 1.0, 3.0)
    mean = np.mean([survival(member, X, times) for member in members], axis=0)
    np.testing.assert_array_equal(survival(PooledModel(members), X, times), mean)
