"""Copies of rows, sorted files and rows in the order of time are flagged, and a shuffled table is not.

Each test of order is at .1 %, so that 1 in 500 shuffled tables is flagged: 3 or more of 40 would be chance in 1 of
12 000 runs.
"""

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, LeaveOneOut, StratifiedKFold, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import heldout as ho
from heldout.flags import Flag

pd = pytest.importorskip("pandas")
ORDER = {Flag.COPIED_ROWS, Flag.SORTED_ROWS, Flag.ROWS_FOLLOW_TIME}
SHUFFLED = KFold(5, shuffle=True, random_state=0)


def flags_of(model: Any, X: Any, y: Any, groups: Any = None, **settings: Any) -> dict[Flag, str]:
    """The flags of rows of a search of one model."""
    search = ho.HeldOutSearchCV(model, **{"method": "cv", "random_state": 0, "refit": False, **settings})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.fit(X, y, **({} if groups is None else {"groups": groups}))
    return {flag: text for flag, text in search.estimate_.flags.items() if flag in ORDER}


def noise(n_rows: int = 60, n_columns: int = 5, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_rows, n_columns)), np.arange(n_rows) % 2


def series(n_rows: int = 300, seed: int = 0) -> tuple[Any, Any]:
    """Predictors, and a target with errors of autocorrelation .8."""
    rng = np.random.default_rng(seed)
    X, errors = rng.normal(size=(n_rows, 3)), rng.normal(size=n_rows)
    for row in range(1, n_rows):
        errors[row] += 0.8 * errors[row - 1]
    return X, X[:, 0] + errors


def test_copies_of_rows_are_flagged_and_kept_together() -> None:
    X, y = noise()
    X, y = np.tile(X, (3, 1)), np.tile(y, 3)
    search = ho.HeldOutSearchCV(KNeighborsClassifier(5, weights="distance"), scoring="roc_auc", method="cv")
    assert search.fit(X, y).best_score_ > 0.95
    assert "180 of 180 held-out rows have the same predictors" in search.estimate_.flags[Flag.COPIED_ROWS]
    search.fit(X, y, groups="copies")
    assert search.best_score_ < 0.75 and not ORDER & search.estimate_.flags.keys()
    assert search.estimate_.provenance["grouped"]


@pytest.mark.parametrize("kind", ["array", "table", "sparse", "other labels", "some"])
def test_copies_of_every_kind(kind: str) -> None:
    X, y = noise(90)
    X[::7, 1] = np.nan if kind in ("array", "table") else 0.0
    again = slice(0, 20 if kind == "some" else 90)
    y = np.concatenate([y, 1 - y[again] if kind == "other labels" else y[again]])
    copied: Any = np.concatenate([X, X[again]])
    if kind == "table":
        text = np.array(["a", None, "b"], dtype=object)[np.arange(180) % 3]
        copied = pd.DataFrame(copied, columns=list("abcde")).assign(text=text, category=pd.Categorical(text))
    if kind == "sparse":
        copied = csr_matrix(np.where(copied > 0, copied, 0))
    model: Any = KNeighborsClassifier(1)
    if kind in ("array", "table"):
        from sklearn.ensemble import HistGradientBoostingClassifier

        model = HistGradientBoostingClassifier(max_iter=2, categorical_features="from_dtype")
        copied = copied.drop(columns="text") if kind == "table" else copied
    cv = StratifiedKFold(5, shuffle=True, random_state=0)
    assert set(flags_of(model, copied, y, cv=cv)) == {Flag.COPIED_ROWS}
    assert not flags_of(model, copied, y, groups="copies")


def test_texts_are_compared_by_their_words() -> None:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.pipeline import make_pipeline

    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(list("abcdefghij"), 12)) for _ in range(60)]
    model = make_pipeline(CountVectorizer(token_pattern="[a-z]"), LogisticRegression())
    y = np.arange(60) % 2
    assert not flags_of(model, texts, y)
    assert set(flags_of(model, texts * 2, np.tile(y, 2))) == {Flag.COPIED_ROWS}
    words = list(rng.choice(["red", "green", "blue"], 120))  # a category is no text
    pattern = make_pipeline(CountVectorizer(), LogisticRegression())
    assert not flags_of(pattern, words, np.tile(y, 2))


@pytest.mark.parametrize("n_rows", [100, 400])
def test_equal_rows_of_few_categories_are_no_copies(n_rows: int) -> None:
    X = np.random.default_rng(0).integers(0, 3, size=(n_rows, 3))
    assert not flags_of(GaussianNB(), X.astype(float), np.arange(n_rows) % 2)


@pytest.mark.filterwarnings("ignore:The groups parameter is ignored")
def test_a_splitter_that_divides_copies_is_refused() -> None:
    X, y = noise()
    with pytest.raises(ho.InputError, match="on both sides; use a splitter that keeps groups whole"):
        ho.HeldOutSearchCV(GaussianNB(), cv=KFold(3)).fit(np.tile(X, (2, 1)), np.tile(y, 2), groups="copies")


@pytest.mark.parametrize("column", ["a predictor", "the target", "a category"])
def test_a_sorted_file_is_flagged_with_its_remedy_and_without_a_false_reason(column: str) -> None:
    X, y = (rows[:200] for rows in load_diabetes(return_X_y=True))
    order = np.argsort({"a predictor": X[:, 2], "the target": y, "a category": X[:, 1]}[column], kind="stable")
    X, y = X[order], y[order]
    search = ho.HeldOutSearchCV(Ridge(), scoring="r2", aggregate="folds", random_state=0, n_bootstraps=50)
    search.fit(X, y)
    assert "shuffle: `cv=ho.protocols.k_folds(5)`" in search.estimate_.flags[Flag.SORTED_ROWS]
    assert Flag.SMALL_FOLDS not in search.estimate_.flags
    for cv in (SHUFFLED, ho.protocols.repeated(5, 2), LeaveOneOut())[: None if column == "the target" else 1]:
        assert Flag.SORTED_ROWS not in flags_of(Ridge(), X, y, cv=cv, scoring="neg_mean_absolute_error")


def test_folds_of_classes_of_a_sorted_table_are_no_case() -> None:
    for load in (load_iris, load_wine):  # sorted by class; scikit-learn's folds keep the shares of classes
        assert not flags_of(GaussianNB(), *load(return_X_y=True))
    assert Flag.SORTED_ROWS in flags_of(GaussianNB(), *load_iris(return_X_y=True), cv=KFold(5))


@pytest.mark.parametrize("cv", [KFold(5), LeaveOneOut(), ho.protocols.repeated(5, 2)])
def test_errors_of_rows_in_time_are_flagged(cv: Any) -> None:
    X, y = series()
    sentence = flags_of(Ridge(), X, y, cv=cv, scoring="neg_mean_absolute_error")[Flag.ROWS_FOLLOW_TIME]
    assert "TimeSeriesSplit" in sentence and "autocorrelation of 0." in sentence


def test_classes_in_time_are_flagged_by_labels_and_by_probabilities() -> None:
    X, y = series(500)
    for scoring in ("accuracy", "roc_auc", "neg_log_loss"):
        found = flags_of(
            LogisticRegression(), X, y > 0, cv=StratifiedKFold(5, shuffle=True, random_state=0), scoring=scoring
        )
        assert Flag.ROWS_FOLLOW_TIME in found


def test_who_allows_for_time_or_sorts_by_the_target_is_not_flagged() -> None:
    X, y = series()
    assert not flags_of(Ridge(), X, y, cv=TimeSeriesSplit(5))
    assert not flags_of(Ridge(), X, y, cv=SHUFFLED, block_length="auto", method="shrinkage", n_bootstraps=20)
    assert not flags_of(Ridge(), X, y, cv=ho.protocols.k_folds(5), groups=np.arange(300) // 10)
    X, y = load_diabetes(return_X_y=True)
    order = np.argsort(y)
    assert not flags_of(Ridge(), X[order], y[order], cv=SHUFFLED)


def test_clean_tables_raise_nothing() -> None:
    X, y = load_iris(return_X_y=True)
    assert not flags_of(GaussianNB(), X[::2, :2], y[::2], cv=3)  # rounded, and equal within a class
    assert not flags_of(Ridge(), *load_diabetes(return_X_y=True))
    assert not flags_of(GaussianNB(), *load_breast_cancer(return_X_y=True))


def n_flagged(draws: int) -> int:
    flagged = 0
    for seed in range(draws):
        rng = np.random.default_rng([1, seed])
        X = np.column_stack([rng.lognormal(size=80), rng.integers(0, 4, 80), rng.normal(size=(80, 4))])
        y = X[:, 2] + rng.standard_t(3, size=80) if seed % 2 else rng.integers(0, 2, 80)
        model = Ridge() if seed % 2 else GaussianNB()
        flagged += bool(flags_of(model, X, y, cv=5 if seed % 3 else KFold(5, shuffle=True, random_state=seed)))
    return flagged


def test_shuffled_tables_raise_nothing() -> None:
    assert n_flagged(40) < 3


@pytest.mark.slow
def test_shuffled_tables_raise_nothing_in_many_samples() -> None:
    assert n_flagged(3000) <= 20  # .2 % are 6; 1 in 200 would be 15


def test_protocols_flag_copies_and_keep_them_together() -> None:
    X, y = noise(40)
    X, y = np.tile(X, (2, 1)), np.tile(y, 2)
    model, plain = KNeighborsClassifier(1), {"scoring": "accuracy", "random_state": 0}
    calls = {
        "nested": lambda groups: ho.nested_cv(model, X, y, cv=3, groups=groups, **plain),
        "bootstrap": lambda groups: ho.bootstrap_search(model, X, y, n_bootstraps=3, groups=groups, **plain),
    }
    for call in calls.values():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            divided, together = call(None), call("copies")
        assert Flag.COPIED_ROWS in divided.flags and divided.uncorrected > 0.9
        assert Flag.COPIED_ROWS not in together.flags and together.uncorrected < 0.8
    for groups in (None, "copies"):
        validation = ho.bootstrap_validate(GaussianNB(), X, y, n_bootstraps=5, random_state=0, groups=groups)
        assert (Flag.COPIED_ROWS in next(iter(validation.estimates.values())).flags) == (groups is None)


def test_nested_cv_flags_rows_in_time() -> None:
    X, y = series()
    found = ho.nested_cv(Ridge(), X, y, cv=SHUFFLED, scoring="neg_mean_absolute_error", random_state=0)
    assert Flag.ROWS_FOLLOW_TIME in found.flags
