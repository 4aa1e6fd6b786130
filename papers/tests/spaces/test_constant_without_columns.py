"""What follows an empty selection, forests by the square root, and fits that are shared."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from heldout.errors import InputError
from heldout.spaces import ConstantWithoutColumns, SquareRootForest
from heldout_papers.spaces import recent as module
from heldout_papers.spaces.recent import fitted_once


def rows(n: int = 30, p: int = 4) -> tuple[NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    return X, np.where(X[:, 0] + rng.normal(size=n) > 0, "b", "a")


def test_with_columns_it_is_the_model_itself() -> None:
    X, y = rows()
    for model in (LogisticRegression(), SVC()):
        wrapped, plain = ConstantWithoutColumns(model).fit(X, y), model.fit(X, y)
        assert (wrapped.predict(X) == plain.predict(X)).all()
        np.testing.assert_array_equal(wrapped.decision_function(X), plain.decision_function(X))
        assert hasattr(wrapped, "predict_proba") == hasattr(plain, "predict_proba")


def test_without_columns_it_is_constant_in_every_response() -> None:
    none, y = np.empty((4, 0)), ["a", "b", "b", "b"]
    two = ConstantWithoutColumns(LogisticRegression()).fit(none, y)
    np.testing.assert_allclose(two.predict_proba(none[:2]), [[0.25, 0.75]] * 2)
    np.testing.assert_allclose(two.decision_function(none[:2]), np.log(3))
    assert two.predict(none[:2]).tolist() == ["b", "b"]
    three = ConstantWithoutColumns(LogisticRegression()).fit(none, ["a", "b", "c", "c"])
    np.testing.assert_allclose(three.decision_function(none[:1]), np.log([[0.25, 0.25, 0.5]]))
    with pytest.raises(ValueError, match="X has 2 features, but ConstantWithoutColumns is expecting 0"):
        two.predict(np.ones((1, 2)))


@pytest.mark.parametrize(
    ("roots", "p", "tried"),
    [(0.5, 1, 1), (2.0, 1, 1), (0.5, 4, 1), (1.5, 9, 4), (2.0, 3, 3), (2.0, 100, 20)],
    ids=lambda value: str(value),
)
def test_a_forest_tries_a_multiple_of_the_square_root(roots: float, p: int, tried: int) -> None:
    assert SquareRootForest(roots=roots).of_columns(p).max_features == tried


def test_a_forest_is_scikit_learns() -> None:
    X, y = rows(p=9)
    ours = SquareRootForest(10, min_leaf=3, roots=1.5, random_state=4).fit(X, y)
    theirs = RandomForestClassifier(10, min_samples_leaf=3, max_features=4, random_state=4).fit(X, y)

    np.testing.assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))
    assert (ours.predict(X) == theirs.predict(X)).all()


@pytest.mark.parametrize(
    "settings", [{"roots": 0.0}, {"n_trees": 0}, {"min_leaf": 0}], ids=lambda one: next(iter(one))
)
def test_forests_without_meaning_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(settings))):
        SquareRootForest(**settings).fit(*rows())


def test_equal_fits_are_one_and_others_are_not() -> None:
    X, y = rows()
    first = fitted_once(SVC(C=0.5, random_state=1), X, y)

    assert fitted_once(SVC(C=0.5, random_state=1), X.copy(), y.copy()) is first
    others = [
        fitted_once(SVC(C=0.6, random_state=1), X, y),
        fitted_once(SVC(C=0.5, random_state=2), X, y),
        fitted_once(SVC(C=0.5, random_state=1), X[:, :3].copy(), y),
        fitted_once(SVC(C=0.5, random_state=1), X + 1e-15 * (X > 0), y),
        fitted_once(SVC(C=0.5, random_state=1), X, np.where(y == "a", "b", "a")),
        fitted_once(SVC(C=0.5, random_state=1), X, (y == "b").astype(int)),
        fitted_once(SVC(C=0.5, random_state=1), np.asfortranarray(X), y),
        fitted_once(SVC(C=0.5), X, y),
        fitted_once(SVC(C=0.5), X, y),
    ]
    assert len({id(model) for model in (first, *others)}) == 10


def test_only_the_latest_fits_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = rows()
    monkeypatch.setattr(module, "FITS", module.Recent(2))
    models = [fitted_once(SVC(C=cost, random_state=1), X, y) for cost in (1.0, 2.0, 3.0)]

    assert fitted_once(SVC(C=3.0, random_state=1), X, y) is models[2]
    assert fitted_once(SVC(C=2.0, random_state=1), X, y) is models[1]
    assert fitted_once(SVC(C=1.0, random_state=1), X, y) is not models[0]


def test_large_tables_and_failures_are_not_shared() -> None:
    X, y = rows(n=module.MOST_BYTES // 8 + 1, p=1)
    quick = DecisionTreeClassifier(max_depth=1, random_state=0)
    assert fitted_once(quick, X, y) is quick
    for _ in range(2):
        with pytest.raises(ValueError, match="NaN"):
            fitted_once(SVC(random_state=0), np.array([[np.nan], [1.0]]), ["a", "b"])


def test_wrapped_forests_of_one_column_are_one_forest() -> None:
    X, y = rows(p=1)
    found = [
        ConstantWithoutColumns(SquareRootForest(5, roots=roots, random_state=3)).fit(X, y).estimator_
        for roots in (0.5, 1.0, 2.0)
    ]
    assert found[0] is found[1] is found[2]
