"""Copies of a row stay on one side of every split inside a model."""

from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.ensemble import BaggingClassifier, StackingClassifier
from sklearn.linear_model import LassoCV, LogisticRegression, RidgeCV
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    PredefinedSplit,
    RepeatedKFold,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    check_cv,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, TargetEncoder

import heldout as ho
from heldout.execution.copies import CopiesTogether, with_copies_together

RNG = np.random.default_rng(0)
ORIGIN = np.sort(RNG.integers(0, 40, size=40))
X = RNG.normal(size=(40, 3))[ORIGIN]
Y = np.arange(40)[ORIGIN] % 2

SPLITTERS: dict[str, Any] = {
    "integer": 4,
    "none": None,
    "stratified": StratifiedKFold(3, shuffle=True, random_state=1),
    "repeated": RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
    "list": [(np.arange(0, 20), np.arange(20, 40)), (np.arange(20, 40), np.arange(0, 20))],
    "predefined": PredefinedSplit(np.arange(40) % 4),
}


@pytest.mark.parametrize("name", SPLITTERS)
def test_no_row_is_on_both_sides(name: str) -> None:
    splitter = CopiesTogether(SPLITTERS[name], ORIGIN, classifier=True)
    splits = list(splitter.split(X, Y))
    assert len(splits) == splitter.get_n_splits(X, Y)
    for train, test in splits:
        assert len(train) and len(test)
        assert not set(ORIGIN[train]) & set(ORIGIN[test])
        for row in set(ORIGIN[test]):
            assert set(np.flatnonzero(ORIGIN == row)) <= set(test)


def test_a_list_of_splits_is_of_original_rows() -> None:
    ((train, test), _) = CopiesTogether(SPLITTERS["list"], ORIGIN, classifier=True).split(X, Y)
    assert ORIGIN[train].max() < 20 <= ORIGIN[test].min()


def test_parts_of_a_sample_go_by_their_content() -> None:
    part = np.arange(25)
    splits = list(CopiesTogether(KFold(3), ORIGIN, classifier=False).split(X[part], Y[part]))
    for train, test in splits:
        assert not set(ORIGIN[part][train]) & set(ORIGIN[part][test])


def test_a_part_of_words_goes_by_its_content() -> None:
    words = np.array([["a", 1.0], ["b", 2.0], ["a", 1.0], ["b", 3.0]], dtype=object)
    for train, test in CopiesTogether(KFold(3), ORIGIN, classifier=False).split(words):
        assert not ({0, 2} & set(train) and {0, 2} & set(test))


def test_a_seed_shuffles_folds_that_do_not() -> None:
    tests = [
        [test.tolist() for _, test in CopiesTogether(4, ORIGIN, True, random_state=seed).split(X, Y)]
        for seed in (0, 0, 1)
    ]
    assert tests[0] == tests[1] != tests[2]


def test_every_cv_inside_is_found() -> None:
    stack = StackingClassifier([("knn", KNeighborsClassifier())], LogisticRegression(), cv=3)
    model = with_copies_together(make_pipeline(StandardScaler(), stack), ORIGIN)
    assert isinstance(model.get_params()["stackingclassifier__cv"], CopiesTogether)
    assert isinstance(with_copies_together(LassoCV(), ORIGIN).cv, CopiesTogether)


def test_a_share_of_the_rows_is_one_of_original_rows() -> None:
    tuned = TunedThresholdClassifierCV(LogisticRegression(), cv=0.7, random_state=0)
    splitter = with_copies_together(tuned, ORIGIN).cv
    ((train, test),) = splitter.split(X, Y)
    assert not {*ORIGIN[train]} & {*ORIGIN[test]}
    assert len({*ORIGIN[test]}) == np.ceil(0.3 * len({*ORIGIN}))
    assert with_copies_together(tuned, ORIGIN).fit(X, Y).predict(X).shape == (40,)


@pytest.mark.skipif(
    "cv_object" not in TargetEncoder._parameter_constraints["cv"],
    reason="it takes no splitter before scikit-learn 1.9",
)
def test_an_encoder_of_targets_has_shuffled_folds_of_classes() -> None:
    sorted_y = (np.arange(40) >= 20)[ORIGIN].astype(int)
    splitter = with_copies_together(TargetEncoder(cv=4), ORIGIN).cv
    tests = [test for _, test in splitter.split(X, sorted_y)]
    assert all(0 < sorted_y[test].mean() < 1 for test in tests)
    numbers = [test for _, test in splitter.split(X, np.arange(40.0)[ORIGIN] + 0.5)]
    assert all(ORIGIN[test].max() - ORIGIN[test].min() > 10 for test in numbers)
    assert with_copies_together(TargetEncoder(cv=4), ORIGIN).fit_transform(X[:, :1].round(), Y).shape == (40, 1)


class TakesNoSplitter(KNeighborsClassifier):
    """Whose ``cv`` scikit-learn checks to be an integer."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {**KNeighborsClassifier._parameter_constraints, "cv": [int]}

    def __init__(self, cv: int = 3) -> None:
        super().__init__()
        self.cv = cv


class RecordsRows(KNeighborsClassifier):
    """Remembers what each of its models was fitted on and asked."""

    asked: ClassVar[list[tuple[Any, Any]]] = []

    def fit(self, X: Any, y: Any) -> Any:
        self.rows_ = np.asarray(X)[:, 0]
        return super().fit(X, y)

    def predict(self, X: Any) -> Any:
        RecordsRows.asked.append((self.rows_, np.asarray(X)[:, 0]))
        return super().predict(X)


class FirstAndNoise(TransformerMixin, BaseEstimator):
    """Leaves the first column and makes the others anew from the rows that it is fitted on."""

    def fit(self, X: Any, y: Any = None) -> Any:
        self.shift_ = np.asarray(X)[:, 1:].sum()
        return self

    def transform(self, X: Any) -> Any:
        return np.column_stack([np.asarray(X)[:, 0], np.asarray(X)[:, 1:] * self.shift_])


def test_what_takes_no_splitter_a_closed_form_and_a_model_without_folds_are_left() -> None:
    assert with_copies_together(TakesNoSplitter(), ORIGIN).cv == 3
    assert with_copies_together(RidgeCV(), ORIGIN).cv is None
    model = LogisticRegression()
    assert with_copies_together(model, ORIGIN) is model


def _overlaps(model: Any, x: Any, y: Any) -> list[int]:
    """Of each time that a model was asked in a fit: how many rows it had been fitted on, by the first column."""
    RecordsRows.asked.clear()
    with_copies_together(model, ORIGIN).fit(x, y)
    return [len({*trained} & {*said}) for trained, said in RecordsRows.asked if {*trained} != {*said}]


def test_a_search_in_a_search_divides_original_rows_whatever_was_done_to_their_columns() -> None:
    # As imputed in each sample anew: copies of a row differ in all columns but the first, which says which it is.
    x = np.column_stack([ORIGIN.astype(float), np.random.default_rng(1).normal(size=(40, 2))])
    inner = GridSearchCV(RecordsRows(), {"n_neighbors": [1]}, cv=2)
    between = make_pipeline(StandardScaler(with_mean=False, with_std=False), FirstAndNoise(), inner)
    found = _overlaps(GridSearchCV(between, {"gridsearchcv__estimator__p": [1, 2]}, cv=3), x, Y)
    assert len(found) >= 12
    assert not any(found)


def test_parts_of_the_same_targets_keep_together_what_is_a_copy_in_any() -> None:
    splitter = CopiesTogether([([0, 1, 2], [3]), ([3, 4, 5], [0])], np.arange(6), classifier=False)
    y = np.array([7, 8, 9, 7, 8, 9])
    list(splitter.split(np.zeros((6, 1)), y))
    splitter._parts.remember(y[:3], np.array([0, 0, 1]))
    assert splitter.origin_of(np.zeros((3, 1)), y[:3]).tolist() == [0, 0, 1]


def test_rows_drawn_again_go_by_their_content() -> None:
    x = np.column_stack([ORIGIN.astype(float), X[:, 1:]])
    bagged = BaggingClassifier(
        GridSearchCV(RecordsRows(), {"n_neighbors": [1, 3]}, cv=3), n_estimators=3, random_state=0
    )
    found = _overlaps(bagged, x, Y)
    assert len(found) >= 9
    assert not any(found)


def bootstraps(n: int, times: int) -> list[tuple[Any, Any]]:
    drawn = [np.random.default_rng(b).integers(0, n, n) for b in range(times)]
    return [(rows, np.setdiff1d(np.arange(n), rows)) for rows in drawn]


class InnerSearch(BaseEstimator):
    """Divides what it is trained on, and remembers how."""

    divided: ClassVar[list[tuple[Any, Any]]] = []

    def __init__(self, cv: Any = 3, tag: int = 0) -> None:
        self.cv = cv
        self.tag = tag

    def fit(self, X: Any, y: Any) -> Any:
        rows = np.asarray(X)[:, 0]
        cv = check_cv(self.cv, y, classifier=True)
        InnerSearch.divided += [(rows[train], rows[test]) for train, test in cv.split(X, y)]
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.zeros(len(X), dtype=np.intp)

    def predict_proba(self, X: Any) -> Any:
        return np.full((len(X), 2), 0.5)


@pytest.mark.parametrize("how", ["search", "nested", "bootstrap_search", "imputed_validation"])
def test_a_search_inside_a_model_divides_distinct_rows_wherever_training_rows_repeat(how: str) -> None:
    InnerSearch.divided.clear()
    numbers, target = np.arange(60.0)[:, None], np.arange(60) % 2
    grid, settings = {"tag": [0, 1]}, {"scoring": "accuracy", "random_state": 0}
    if how == "search":
        ho.HeldOutSearchCV(
            InnerSearch(), grid, cv=bootstraps(60, 3), refit=False, method=None, **settings
        ).fit(numbers, target)  # fmt: skip
    elif how == "nested":
        ho.nested_cv(
            InnerSearch(), numbers, target, grid, cv=bootstraps(60, 2), inner=2, interval=None, refit=False,
            **settings,
        )  # fmt: skip
    elif how == "bootstrap_search":
        ho.bootstrap_search(InnerSearch(), numbers, target, grid, cv=3, n_bootstraps=2, refit=False, **settings)
    else:
        holes = np.where(numbers % 7 == 0, np.nan, np.cos(numbers))
        ho.bootstrap_validate(
            InnerSearch(), np.hstack([numbers, holes]), target, metric="brier_score", imputation=2, n_bootstraps=2,
            interval=None, random_state=0,
        )  # fmt: skip
    assert len(InnerSearch.divided) >= 12
    for train, test in InnerSearch.divided:
        assert not set(train) & set(test)


def test_stacking_shuffles_no_splits_of_its_own() -> None:
    splitter = CopiesTogether(2, ORIGIN, classifier=True)
    assert not hasattr(splitter, "random_state")  # stacking would set it, to another one in each fit
