"""What the winner relies on: permutation importance on held-out rows, coefficients, and fits made again."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import RandomForestClassifier
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import heldout as ho
from heldout.errors import InputError
from heldout.report.importance import (
    coefficients_of,
    importance_of,
    own_importances_of,
    refitted_winner,
    unfit_for_importance,
    with_rows,
)


def searched(estimator: Any, grid: dict[str, Any], X: Any, y: Any, **settings: Any) -> ho.HeldOutSearchCV:
    settings = {"keep_models": "winner", "n_bootstraps": 20, "random_state": 0, "cv": 3} | settings
    return ho.HeldOutSearchCV(estimator, grid, **settings).fit(X, y)


def importance(search: ho.HeldOutSearchCV, X: Any) -> dict[str, tuple[float, float]]:
    found = importance_of(with_rows(search.evaluation_, X))
    return {each.column: (each.mean, each.spread) for each in found.columns}


def test_it_is_what_scikit_learn_gives_on_the_rows_that_each_fold_model_never_saw() -> None:
    X, y = make_regression(150, 3, n_informative=2, noise=5.0, random_state=0)
    X = np.column_stack([X, np.zeros(len(X))])
    search = searched(Ridge(), {"alpha": [0.1, 1.0]}, X, y, scoring="neg_mean_absolute_error")
    expected = np.mean(
        [
            permutation_importance(
                model, X[rows], y[rows], scoring="neg_mean_absolute_error", n_repeats=100, random_state=0
            ).importances_mean
            for model, rows in search.fold_models_.held_out()
        ],
        axis=0,
    )
    found = importance(search, X)
    assert found["column 3"] == (0.0, 0.0)
    assert next(iter(found)) == f"column {expected.argmax()}"
    for column, value in enumerate(expected):
        mean, spread = found[f"column {column}"]
        assert mean == pytest.approx(value, abs=0.15 * expected.max())
        assert spread >= 0


def test_tables_with_categories_are_shuffled_column_by_column() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"town": pd.Categorical(rng.choice(["Ulm", "Bonn"], 120)), "age": rng.normal(size=120)})
    y = (X["town"] == "Ulm").astype(int).to_numpy()
    before = X.copy()
    model = make_pipeline(
        ColumnTransformer([("town", OneHotEncoder(), ["town"])], remainder="passthrough"), LogisticRegression()
    )
    search = searched(model, {"logisticregression__C": [0.1, 1.0]}, X, y, scoring="neg_log_loss")
    found = importance(search, X)
    assert list(found) == ["town", "age"] and found["town"][0] > 10 * abs(found["age"][0])
    assert found == importance(search, X) and X.equals(before)


def test_without_fold_models_without_columns_or_without_rows_there_is_none() -> None:
    X, y = make_classification(60, 4, random_state=0)
    search = searched(LogisticRegression(), {"C": [0.1, 1.0]}, X, y, keep_models="none")
    assert importance_of(with_rows(search.evaluation_, X)) is None
    kept = searched(LogisticRegression(), {"C": [0.1, 1.0]}, X, y)
    assert importance_of(kept.evaluation_) is None
    wide = replace(kept.evaluation_, task=replace(kept.evaluation_.task, X=np.zeros((60, 101))))
    assert importance_of(wide) is None and unfit_for_importance(wide).startswith("there are 101 columns")
    assert "no table or dense array" in unfit_for_importance(kept.evaluation_)


def test_coefficients_have_names_classes_and_a_spread() -> None:
    X, y = make_classification(120, 4, n_informative=3, n_redundant=0, n_classes=3, random_state=0)
    table = pd.DataFrame(X, columns=list("abcd"))
    model = make_pipeline(StandardScaler(), LogisticRegression())
    search = searched(model, {"logisticregression__C": [0.1, 1.0]}, table, y, scoring="accuracy")
    found = coefficients_of(search.best_estimator_, search.fold_models_, ("x", "y", "z"))
    assert found is not None and found.total == 12 and found.splits == 3
    values = search.best_estimator_[-1].coef_
    each = np.array([model[-1].coef_ for model in search.fold_models_.values()])
    k, j = np.unravel_index(np.abs(values).argmax(), values.shape)
    first = found.listed[0]
    assert (first.name, first.of_class) == ("abcd"[j], "xyz"[k])
    assert first.value == values[k, j] and first.spread == pytest.approx(each[:, k, j].std())


def test_models_without_coefficients_have_none_and_plain_ones_need_no_names() -> None:
    X, y = make_regression(30, 2, random_state=0)
    assert coefficients_of(SVC().fit(X, y > 0), None, ("no", "yes")) is None
    assert coefficients_of(None, None, ()) is None
    found = coefficients_of(LinearRegression().fit(X, y), None, ())
    assert found is not None and {each.name for each in found.listed} == {"column 0", "column 1"}
    assert all(each.spread is None and each.of_class == "" for each in found.listed)


def test_coefficients_name_the_class_that_they_speak_for() -> None:
    X, y = make_classification(
        200, 3, n_informative=3, n_redundant=0, n_classes=3, n_clusters_per_class=1, class_sep=2.0, random_state=0
    )
    names = ("a", "b", "c")
    pairs = coefficients_of(SVC(kernel="linear").fit(X, y), None, names)
    for pair, one, other in (("a against b", 0, 1), ("a against c", 0, 2), ("b against c", 1, 2)):
        weights = {each.name: each.value for each in pairs.listed if each.of_class == pair}
        pointing = X @ [weights[f"column {j}"] for j in range(3)]
        assert pointing[y == one].mean() > pointing[y == other].mean()
    two = coefficients_of(SVC(kernel="linear").fit(X[y < 2], y[y < 2]), None, names[:2])
    assert two is not None and {each.of_class for each in two.listed} == {"b"}


def test_trees_have_importances_of_their_own_and_linear_models_have_none() -> None:
    X, y = make_classification(90, 4, random_state=0)
    forest = make_pipeline(StandardScaler(), RandomForestClassifier(5))
    search = searched(forest, {"randomforestclassifier__max_depth": [2, 3]}, X, y)
    found = own_importances_of(search.best_estimator_, search.fold_models_)
    assert found is not None and found.splits == 3
    own = search.best_estimator_[-1].feature_importances_
    each = np.array([model[-1].feature_importances_ for model in search.fold_models_.values()])
    for row in found.listed:
        j = int(row.name[1:])  # as the scaler names its columns: x0
        assert row.value == own[j] and row.spread == pytest.approx(each[:, j].std()) and row.of_class == ""
    assert own_importances_of(LogisticRegression().fit(X, y), None) is None
    assert coefficients_of(search.best_estimator_, None, ("0", "1")) is None


def test_the_winner_fitted_again_is_the_one_that_was_kept() -> None:
    X, y = make_classification(90, 4, random_state=0)
    forest = RandomForestClassifier(5)
    search = searched(forest, {"max_depth": [2, 3]}, X, y, scoring="roc_auc")
    evaluation = with_rows(search.evaluation_, X)
    again = replace(evaluation, fold_models=refitted_winner(evaluation))
    assert importance_of(again) == importance_of(evaluation)


def test_search_report_takes_the_rows_and_refuses_others(tmp_path: Path) -> None:
    X, y = make_classification(60, 3, n_informative=2, n_redundant=0, random_state=0)
    search = searched(LogisticRegression(), {"C": [0.1, 1.0]}, X, y, keep_models="none", scoring="roc_auc")
    path = tmp_path / "report.html"
    search.report(path)
    assert "Columns of the data" not in path.read_text(encoding="utf-8")
    search.report(path, X=X, importance="refit")
    page = path.read_text(encoding="utf-8")
    for text in ("Columns of the data", "Importance of the columns", "Coefficients", "column 2"):
        assert text in page
    search.report(path, X=X.tolist(), importance="none")
    page = path.read_text(encoding="utf-8")
    assert "Importance of the columns" not in page and "Columns of the data" in page
    for wrong in (X[:-1], X + 1):
        with pytest.raises(InputError, match="`X` holds other rows than the search was fitted on"):
            search.report(path, X=wrong)
    with pytest.raises(
        InputError, match="`importance='refit'` needs the rows, which a search does not keep; give `X`"
    ):
        search.report(path, importance="refit")
    closed = searched(
        LogisticRegression(), {"C": [0.1, 1.0]}, X, y, scoring=lambda model, X, y: model.score(X, y), method="tt"
    )
    with pytest.raises(InputError, match="`importance='refit'`: the scorer 'score' cannot be opened"):
        closed.report(path, X=X, importance="refit")
    with pytest.raises(InputError, match="importance must be 'auto', 'refit' or 'none', got 'yes'"):
        search.report(path, X=X, importance="yes")


def test_fits_that_cannot_be_repeated_are_refused(tmp_path: Path) -> None:
    X, y = make_classification(60, 3, n_informative=2, n_redundant=0, flip_y=0.3, random_state=0)
    search = ho.HeldOutSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, scoring="roc_auc", n_bootstraps=20, cv=3)
    weights = np.where(np.arange(60) % 3, 1.0, 20.0)
    search.fit(X, y, sample_weight=weights)
    with pytest.raises(InputError, match=r"gives other predictions than in the search .* `keep_models='winner'`"):
        search.report(tmp_path / "report.html", X=X, importance="refit")
