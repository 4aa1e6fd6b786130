"""The paragraph for a paper: each number is of the run, and nothing is in it that was not done."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, LeaveOneOut, PredefinedSplit, ShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import heldout as ho
from heldout.estimates.methods import METHODS
from heldout.references import PACKAGE, REFERENCES, bibtex_of
from heldout.report.facts import facts

PIPE = make_pipeline(StandardScaler(), KNeighborsClassifier())


def data(rows: int = 60, columns: int = 5) -> tuple[Any, Any]:
    return make_classification(rows, columns, n_redundant=0, weights=[0.7], random_state=1)


def search(X: Any, y: Any, **settings: Any) -> Any:
    given: dict[str, Any] = {"cv": 3, "n_bootstraps": 50, "random_state": 0, **settings}
    grid = {"kneighborsclassifier__n_neighbors": given.pop("sizes", [1, 5])}
    return ho.HeldOutSearchCV(PIPE, grid, **given).fit(X, y)


@pytest.mark.parametrize(
    ("changed", "before", "after"),
    [
        ({"rows": 90}, "have 60 rows", "have 90 rows"),
        ({"columns": 4}, "5 predictors", "4 predictors"),
        ({"cv": 4}, "3-fold cross-validation (", "4-fold cross-validation ("),
        ({"repeats": 2}, "3-fold cross-validation (", "3-fold cross-validation, repeated 2 times"),
        ({"sizes": [1, 3, 5, 7, 9]}, "n_neighbors 1 or 5", "n_neighbors from 1 to 9 (5 values)"),
        ({"sizes": [1, 3, 5]}, "2 configurations were compared", "3 configurations were compared"),
        ({"n_bootstraps": 70}, "from 50 bootstraps", "from 70 bootstraps"),
        ({"confidence_level": 0.9}, "a 95 % confidence interval", "a 90 % confidence interval"),
        ({"scoring": "neg_log_loss"}, "with the highest accuracy", "with the lowest log loss"),
        ({"aggregate": "pooled"}, "mean over the folds", "all held-out rows together"),
        ({"selection": "one_standard_error", "sizes": [5, 1]}, "with the highest", "rule 'one_standard_error'"),
        ({"refit": False}, "was fitted on all 60 rows", "No final model was fitted"),
        ({"random_state": 7}, "The seed was 0.", "The seed was 7."),
        ({"random_state": None}, "The seed was 0.", "No seed was set; the random numbers came from the seed "),
        ({"cv": ShuffleSplit(4, test_size=0.25, random_state=0)}, "3-fold", "4 random splits, each of which"),
        ({"method": "bbc"}, "pulled together", "resampled 50 times"),
        ({"method": "bbc", "alternative": "greater"}, "is a 95 % confidence", "open towards better values"),
        ({"method": None}, "on new data was estimated by", "was not corrected for the selection"),
        ({"scoring": ["accuracy", "roc_auc"], "refit": "accuracy"}, "accuracy", "The same was done for ROC AUC."),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::heldout.HeldoutWarning")
def test_each_number_is_of_the_run(changed: dict[str, Any], before: str, after: str) -> None:
    shape = {key: changed[key] for key in ("rows", "columns") if key in changed}
    settings = {key: value for key, value in changed.items() if key not in shape}
    usual, other = search(*data()).methods_text().text, search(*data(**shape), **settings).methods_text().text
    assert before in usual and after not in usual
    assert after in other and (before not in other or before in after or before == "accuracy")


def test_the_paragraph_as_a_whole() -> None:
    X, y = data()
    X[3, 0] = X[4, 0] = np.nan
    entries = [("tree", DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2]})]
    found = ho.HeldOutSearchCV(entries, cv=3, n_bootstraps=50, random_state=0, drop="bootstrap").fit(X, y)
    text = found.methods_text().text

    assert f"with {(y == 1).sum()} rows of the positive class 1 and {(y == 0).sum()} rows of class 0" in text
    assert "Of the values of the predictors 2 (0.67 %) are missing, in 2 rows and 1 predictor." in text
    assert "2 configurations were compared: tree (DecisionTreeClassifier) with max_depth 1 or 2." in text
    assert "each test fold has its share of every class" in text and "trained on 40 rows" in text
    assert (
        "The rule was bootstrap (" in text
        and f"selected: {found.evaluation_.configurations.names[found.best_index_]}." in text
    )
    versions = found.evaluation_.provenance["versions"]
    assert f"scikit-learn {versions['scikit-learn']} (Pedregosa et al., 2011)" in text
    assert f"Python {versions['python']}" in text
    for absent in ("nested", "imputed", "Optuna", "drawn at random", "groups", "weighted", "No seed was set"):
        assert absent not in text


def test_what_was_done_beside_is_told() -> None:
    X, y = data()
    drawn = ho.HeldOutRandomizedSearchCV(
        PIPE, {"kneighborsclassifier__n_neighbors": [1, 3, 5, 7]}, n_iter=3, cv=3, n_bootstraps=50, random_state=0
    ).fit(X, y)  # fmt: skip
    assert "3 configurations, drawn at random before any score was known, were" in drawn.methods_text().text
    loop = ho.open_search(X, y, cv=3, n_bootstraps=50, groups=np.arange(60) // 2)
    for size in (1, 5):
        loop.evaluate(KNeighborsClassifier(size))
    text = loop.finish().methods_text().text
    assert "proposed by a program while scores of those before were known" in text
    assert "The rows fall into 30 groups." in text and "(groups of rows are held out whole)" in text
    assert "No seed was set; the random numbers came from the seed " in text
    unseeded = ho.HeldOutSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2]}, cv=3).fit(X, y)
    assert "No seed was set for DecisionTreeClassifier (random_state=None)." in unseeded.methods_text().text


def test_nested_cross_validation_is_called_that() -> None:
    found = ho.nested_cv(KNeighborsClassifier(), *data(), {"n_neighbors": [1, 5]}, cv=3, random_state=0)
    text = found.methods_text().text
    assert "The search was nested: it was repeated inside each of 3 outer folds" in text
    assert "2 configurations were compared" in text and "Varma and Simon, 2006" in text
    assert "The models behind it were trained on 40 distinct rows on average." in text
    assert text.count("trained on") == 2


def test_of_predictions_and_of_scores_nothing_is_claimed_of_the_models() -> None:
    X, y = data()
    predictions = np.random.default_rng(0).random((60, 4))
    text = ho.estimate(y, predictions, metric="roc_auc", n_bootstraps=50, random_state=3).methods_text().text
    assert text.startswith("The estimate is from held-out predictions of 4 configurations for 60 rows; it does not")
    assert "The configuration with the best ROC AUC (all held-out rows together)" in text and "seed was 3" in text
    assert "trained on" not in text and "fitted on all" not in text
    finished = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]}, cv=4).fit(X, y)
    text = ho.correct(finished, random_state=0).methods_text().text
    assert text.startswith("The estimate is from the scores of 3 configurations on 4 splits; it does not record")


def test_each_work_is_cited_for_what_it_defines() -> None:
    y, scores = np.arange(60) % 2, np.random.default_rng(0).random((60, 3))
    asked: dict[str, Any] = {"metric": "brier_score", "n_bootstraps": 50, "random_state": 0}
    asked |= {"method": "bbc", "selection": "one_standard_error", "folds": np.arange(60) // 2 % 5}
    text = ho.estimate(y, scores, **asked).methods_text().text
    assert "(1984)" not in text and "(Breiman et al., 1984) on Brier score" in text
    assert "The Brier score (Brier, 1950) on new data was estimated by bootstrap bias-corrected cross-" in text
    assert "cross-validation (Tsamardinos et al., 2018" in text
    assert f"heldout {ho.__version__} (the heldout developers, 2026)" in text


def test_a_method_of_the_package_says_so() -> None:
    y, scores = np.arange(60) % 2, np.random.default_rng(0).random((60, 3))
    text = ho.estimate(y, scores, metric="roc_auc", method="shrinkage", n_bootstraps=50).methods_text()
    assert (
        "the method 'shrinkage' of the package heldout (the heldout developers, 2026), which describes it in "
        "docs/methods/pages/shrinkage.md and tests it in docs/evidence/study-corrections.md."
    ) in text.text
    assert "@misc{heldout,\n  author = {{the heldout developers}},\n" in text.bibtex
    assert f"howpublished = {{Python package, version {ho.__version__}}}" in text.bibtex


@pytest.mark.parametrize("name", [name for name, make in METHODS.items() if PACKAGE in make().sources])
def test_what_works_define_of_an_own_method_is_said(name: str) -> None:
    method = METHODS[name]()
    keys = [key for _, keys in method.words.parts for key in keys]
    assert set(keys) == {*method.sources} - {PACKAGE}
    for page in (f"docs/methods/pages/{name}.md", method.words.tested):
        assert (Path(__file__).parents[2] / page).exists()


def test_a_validation() -> None:
    X, y = data()
    found = ho.bootstrap_validate(LogisticRegression(), X, y, metric=["roc_auc", "brier_score"], n_bootstraps=40)
    text = found.methods_text().text
    assert "One model (LogisticRegression) was validated." in text and "60 rows and 5 predictors" in text
    assert "Its ROC AUC and Brier score on new data were estimated by the optimism bootstrap (Efron, 1983" in text
    assert "drawn with replacement 40 times" in text and "The final model was fitted on all 60 rows." in text


def test_compared_algorithms_say_what_is_corrected() -> None:
    entries = [("knn", KNeighborsClassifier(), {"n_neighbors": [1, 5]}), ("line", LogisticRegression(), {})]
    compared = ho.compare_algorithms(entries, *data(), cv=3, n_bootstraps=50, random_state=0)
    content = facts(compared)
    assert compared.methods_text() == content.methods_text
    assert "corrects for the choice among all configurations of the 2 algorithms" in content.methods_text.text
    assert "on the same 3 outer folds" in content.methods_text.text


def test_numbers_as_outcome() -> None:
    X, _ = data()
    found = ho.HeldOutSearchCV(Ridge(), {"alpha": [1, 2]}, cv=3, n_bootstraps=50).fit(X, X[:, 0] * 100)
    assert f"a numeric outcome (from {100 * X[:, 0].min():.4g} to" in found.methods_text().text


def test_a_search_without_its_record_is_refused() -> None:
    X, y = data()
    found = search(X, y, keep_predictions=False)
    with pytest.raises(ho.InputError, match=r"a methods text needs the held-out predictions"):
        found.methods_text()


@pytest.mark.parametrize("key", REFERENCES)
def test_every_reference_is_an_entry(key: str) -> None:
    entry, work = bibtex_of([key]), REFERENCES[key]
    assert entry.startswith("@") and f"{{{key}," in entry and entry.count("{") == entry.count("}")
    authors = re.search(r"author = \{(.*)\},", entry)
    assert authors is not None
    names = authors[1].split(" and ")
    person = r"[^,]+, (?:[^,]\S*\.[ -]?)+"
    assert all(re.fullmatch(rf"{person}|\{{[^,]+\}}", name) for name in names), names
    assert f"{{{work.title}}}".replace("&", r"\&") in entry and f"year = {{{work.year}}}" in entry
    place = re.search(r"(journal|booktitle|publisher|eprint|howpublished) = \{([^}]+)\}", entry)
    assert place is not None and place[2] in work.where
    # no number of the place is lost
    assert set(re.findall(r"\d+", work.where)) <= set(re.findall(r"\d+", entry))


def test_the_name_of_a_model_cites_nothing() -> None:
    name = "50%_a&b {x} [@efron1979]\n"
    found = ho.HeldOutSearchCV([(name, DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2]})], cv=3).fit(
        *data()
    )
    text = found.methods_text()
    assert r"50%_a&b {x} [@efron1979]\n" in str(text) and "efron1979" not in text.keys
    assert r"50\%\_a\&b \{x\} [@efron1979]\textbackslash{}n" in text.latex
    assert r"\[\@efron1979\]\\n" in text.markdown


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_was_not_done_is_not_said() -> None:
    X, y = data()
    alone = search(X, y, sizes=[5]).methods_text().text
    assert "score is its cross-validated one" in alone and "50 resamples" in alone
    assert "pulled together" not in alone and "selection was repeated" not in alone
    left = search(X, y, sizes=[5, 1000]).methods_text().text
    assert "1 configuration failed" in left and "One configuration could be selected: KNeighborsClassifier" in left
    assert "There was one configuration" in alone and "It was evaluated by 3-fold" in alone
    assert "pulled together" not in left
    few = search(X, np.arange(60) == 0, cv=LeaveOneOut()).methods_text().text
    assert "accuracy on new data was not estimated: method 'shrinkage' does not fit" in few
    assert "resamples" not in few and "was estimated by" not in few
    part = search(X, y, cv=PredefinedSplit([-1] * 20 + [0] * 20 + [1] * 20)).methods_text().text
    assert "by 2 splits (40 of 60 rows are tested)" in part
    assert "The rows were resampled 50 times" in search(X, y, method="zoom").methods_text().text
    tied = {"groups": np.arange(60) // 2, "n_bootstraps": 50}
    predictions = np.random.default_rng(0).random((60, 3))
    for method, drawn in (("bbc", True), ("cv", False)):
        text = ho.estimate(y, predictions, metric="roc_auc", method=method, **tied).methods_text().text
        assert ("Groups of rows were drawn whole." in text) == drawn
