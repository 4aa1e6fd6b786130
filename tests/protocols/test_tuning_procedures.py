"""Nested cross-validation and the direct bootstrap of any procedure that returns one model."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import LassoCV, LogisticRegression
from sklearn.metrics import accuracy_score, r2_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho
from heldout.errors import InputError
from heldout.spaces import TuningProcedure

X, Y = (values[:150] for values in load_breast_cancer(return_X_y=True))
NUMBERS, TARGET = (values[:120] for values in load_diabetes(return_X_y=True))
GRID = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]}, cv=3)
FOLDS = StratifiedKFold(4)


def best_of_two(X: Any, y: Any, widths: tuple[int, ...] = (1, 7)) -> Any:
    """Tunes by hand: of two neighbourhoods the one that is right more often in an inner hold-out."""
    half = len(X) // 2
    right = [KNeighborsClassifier(k).fit(X[:half], y[:half]).score(X[half:], y[half:]) for k in widths]
    return KNeighborsClassifier(widths[int(np.argmax(right))]).fit(X, y)


def test_nested_cv_of_a_function_fits_it_anew_without_each_fold() -> None:
    found = ho.nested_cv(best_of_two, X, Y, cv=FOLDS, random_state=0)

    by_hand = [
        accuracy_score(Y[test], best_of_two(X[train], Y[train]).predict(X[test]))
        for train, test in FOLDS.split(X, Y)
    ]
    assert [fold.score for fold in found.outer_folds] == pytest.approx(by_hand)
    assert found.value == pytest.approx(np.mean(by_hand))
    assert found.metric == "accuracy"
    assert found.n_fits == 4 + 1
    assert found.model.model_.n_neighbors == best_of_two(X, Y).n_neighbors
    assert isinstance(found, type(ho.nested_cv(KNeighborsClassifier(), X, Y, cv=FOLDS, random_state=0)))


def test_nested_cv_of_a_search_that_stays_whole_is_that_of_scikit_learn() -> None:
    found = ho.nested_cv(TuningProcedure(GRID), X, Y, cv=FOLDS, random_state=0)

    np.testing.assert_allclose([fold.score for fold in found.outer_folds], cross_val_score(GRID, X, Y, cv=FOLDS))
    assert found.metric == "accuracy"
    assert found.model.best_params_ == clone(GRID).fit(X, Y).best_params_


def test_a_function_of_numbers() -> None:
    folds = KFold(3)
    found = ho.nested_cv(partial(fitted_lasso, cv=3), NUMBERS, TARGET / 3, cv=folds, random_state=0)
    assert found.metric == "r2"
    lasso = make_pipeline(StandardScaler(), LassoCV(cv=3))
    by_hand = cross_val_score(lasso, NUMBERS, TARGET, cv=folds)
    np.testing.assert_allclose([fold.score for fold in found.outer_folds], by_hand)


def fitted_lasso(X: Any, y: Any, cv: int) -> Any:
    return make_pipeline(StandardScaler(), LassoCV(cv=cv)).fit(X, y)


def test_the_direct_bootstrap_scores_it_on_the_rows_left_out() -> None:
    """Each sample again by hand: the procedure on the drawn rows with their copies, scored on the others."""
    found = ho.bootstrap_search(best_of_two, X, Y, cv=3, n_bootstraps=4, random_state=0, scoring="roc_auc")

    assert found.n_fits == 4 + 3 + 1
    assert len(found.bootstraps) == 4
    for one in found.bootstraps:
        assert 0.25 < len(one.left_out) / len(Y) < 0.5
        assert sorted({*one.drawn, *one.left_out}) == list(range(len(Y)))
        model = best_of_two(X[one.drawn], Y[one.drawn])
        by_hand = roc_auc_score(Y[one.left_out], model.predict_proba(X[one.left_out])[:, 1])
        assert one.out_of_bag_score == pytest.approx(by_hand)
    assert found.value == pytest.approx(np.mean([one.out_of_bag_score for one in found.bootstraps]))


def test_a_function_that_takes_groups_receives_which_rows_are_copies() -> None:
    def noted(X: Any, y: Any, groups: Any = None) -> Any:
        seen.append((X, groups))
        return KNeighborsClassifier(3).fit(X, y)

    seen: list[tuple[Any, Any]] = []
    ho.bootstrap_search(noted, X, Y, cv=3, n_bootstraps=2, random_state=0, n_jobs=1)
    of_samples = [(rows, groups) for rows, groups in seen if groups is not None]
    assert len(of_samples) == 2 and len(seen) == 2 + 3 + 1
    for rows, groups in of_samples:
        assert len(np.unique(groups)) < len(rows) == len(Y)
        assert len({(group, *row) for group, row in zip(groups.tolist(), rows.tolist(), strict=True)}) == len(
            np.unique(groups)
        )


def test_a_function_that_draws_has_a_seed_from_the_protocol() -> None:
    def drawing(X: Any, y: Any, random_state: Any) -> Any:
        seeds.append(random_state)
        columns = np.random.default_rng(random_state).permutation(X.shape[1])[:2]
        return make_pipeline(Columns(columns), LogisticRegression()).fit(X, y)

    seeds: list[Any] = []
    first, second = (ho.nested_cv(drawing, X, Y, cv=3, random_state=4, n_jobs=1).value for _ in range(2))
    assert first == second
    assert len(set(seeds)) == 4 and all(isinstance(seed, int) for seed in seeds)  # three folds, and all rows


class Columns(StandardScaler):
    """Some columns."""

    def __init__(self, columns: Any) -> None:
        super().__init__()
        self.columns = columns

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Columns:
        super().fit(X[:, self.columns])
        return self

    def transform(self, X: Any, copy: Any = None) -> Any:
        return super().transform(X[:, self.columns])


def test_as_one_configuration_of_a_search_beside_others() -> None:
    entries = [
        ("grid", TuningProcedure(GRID), {}),
        ("by hand", TuningProcedure(best_of_two, kind="classifier"), {"source": [best_of_two, only_one]}),
    ]
    search = ho.HeldOutSearchCV(entries, cv=FOLDS, random_state=0, scoring="accuracy").fit(X, Y)

    expected = cross_val_score(GRID, X, Y, cv=FOLDS).mean()
    assert search.cv_results_["mean_test_score"][0] == pytest.approx(expected)
    assert len(search.cv_results_["mean_test_score"]) == 3


def only_one(X: Any, y: Any) -> Any:
    return KNeighborsClassifier(1).fit(X, y)


def test_weights_go_to_procedures_that_take_them() -> None:
    weights = np.where(Y == 1, 3.0, 1.0)

    def weighted(X: Any, y: Any, sample_weight: Any) -> Any:
        return LogisticRegression(solver="liblinear").fit(X, y, sample_weight=sample_weight)

    found = TuningProcedure(weighted, kind="classifier").fit(X, Y, sample_weight=weights)
    plain = LogisticRegression(solver="liblinear").fit(X, Y, sample_weight=weights)
    np.testing.assert_array_equal(found.predict(X), plain.predict(X))
    np.testing.assert_array_equal(found.coef_, plain.coef_)
    with pytest.raises(InputError, match="best_of_two takes no sample_weight"):
        TuningProcedure(best_of_two, kind="classifier").fit(X, Y, sample_weight=weights)
    with pytest.raises(InputError, match=r"KNeighborsClassifier\.fit takes no sample_weight"):
        TuningProcedure(KNeighborsClassifier()).fit(X, Y, sample_weight=weights)


@pytest.mark.parametrize(
    ("source", "kind", "said"),
    [
        (3, None, "source must be a function of X and y that returns a fitted model, or an estimator, got 3"),
        (KNeighborsClassifier, None, "source must be a function of X and y"),
        (best_of_two, None, "kind must be one of 'classifier', 'regressor', 'survival' for a function, got None"),
        (best_of_two, "binary", "kind must be one of .*, got 'binary'"),
        (lambda X, y: 7, "classifier", "<lambda> must return one fitted model, which can predict, got 7"),
    ],
    ids=["a number", "a class", "no kind", "another kind", "no model"],
)
def test_what_is_no_procedure_is_refused(source: Any, kind: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        TuningProcedure(source, kind=kind).fit(X, Y)


def test_a_procedure_is_an_estimator() -> None:
    procedure = TuningProcedure(KNeighborsRegressor(3))
    assert r2_score(TARGET, procedure.fit(NUMBERS, TARGET).predict(NUMBERS)) == procedure.score(NUMBERS, TARGET)
    again = clone(procedure).set_params(source__n_neighbors=5)
    assert again.source.n_neighbors == 5 and not hasattr(again, "model_")
    assert not hasattr(procedure, "predict_proba") and not hasattr(procedure, "coef_")
