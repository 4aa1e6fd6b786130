"""A search among scikit-learn's other parts: pipelines, outer cross-validation, copies, callbacks, refits."""

import pickle
from typing import Any

import numpy as np
import pytest
from peers import cancer
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from heldout.errors import InputError
from heldout.search import HeldOutSearchCV

X, Y = cancer()
GRID = {"C": [0.01, 1.0, 100.0]}
LIST = [("lr", LogisticRegression(), {"C": [0.01, 1.0]}), ("tree", DecisionTreeClassifier(random_state=0), {})]


def search(**settings: Any) -> HeldOutSearchCV:
    return HeldOutSearchCV(
        LogisticRegression(), GRID, **({"cv": 2, "n_bootstraps": 20, "random_state": 0} | settings)
    )


@pytest.mark.parametrize("estimator", [search(), HeldOutSearchCV(LIST, cv=2, n_bootstraps=20, random_state=0)])
def test_clone_and_pickle(estimator: HeldOutSearchCV) -> None:
    fitted = clone(estimator).fit(X, Y)
    assert not hasattr(estimator, "best_index_")
    copied = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copied.predict(X), fitted.predict(X))
    np.testing.assert_array_equal(copied.estimate_.distribution, fitted.estimate_.distribution)
    again = clone(fitted).fit(X, Y)
    assert not hasattr(clone(fitted), "estimate_")
    np.testing.assert_array_equal(again.estimate_.distribution, fitted.estimate_.distribution)


def test_a_saved_search_does_not_carry_its_training_rows() -> None:
    rows = X + 0.123456789
    assert rows.tobytes() not in pickle.dumps(search().fit(rows, Y))


def test_list_of_estimators_searches_them_all() -> None:
    fitted = HeldOutSearchCV(LIST, scoring="roc_auc", n_bootstraps=20).fit(X, Y)
    assert fitted.cv_results_["params"] == [
        {"model": "lr", "C": 0.01},
        {"model": "lr", "C": 1.0},
        {"model": "tree"},
    ]
    assert list(fitted.cv_results_["param_model"]) == ["lr", "lr", "tree"]
    assert fitted.cv_results_["param_C"].mask.tolist() == [False, False, True]
    for (name, model, grid), members in zip(LIST, [slice(0, 2), slice(2, 3)], strict=True):
        alone = GridSearchCV(model, grid, scoring="roc_auc").fit(X, Y)
        np.testing.assert_array_equal(
            fitted.cv_results_["mean_test_score"][members], alone.cv_results_["mean_test_score"], err_msg=name
        )
    assert fitted.estimate_.selected_name == "lr (C=0.01)"
    assert fitted.n_fits_ == 15


def test_each_metric_has_its_estimate_of_the_one_winner() -> None:
    fitted = search(scoring=["neg_log_loss", "accuracy"], refit="accuracy").fit(X, Y)
    assert list(fitted.estimates_) == ["neg_log_loss", "accuracy"]
    assert {estimate.selected for estimate in fitted.estimates_.values()} == {fitted.best_index_}
    np.testing.assert_array_equal(
        fitted.estimates_["neg_log_loss"].selection_frequency, fitted.estimates_["accuracy"].selection_frequency
    )
    assert fitted.estimate_ is fitted.estimates_["accuracy"]
    assert fitted.corrected_score_ == fitted.estimate_.value and fitted.optimism_ == fitted.estimate_.optimism
    assert fitted.confidence_interval_ is fitted.estimate_.interval
    # The sign of a loss is that of the scorer.
    assert fitted.estimates_["neg_log_loss"].value < 0


def steady(results: dict[str, Any]) -> int:
    gap = results["mean_train_score"] - results["mean_test_score"]
    return int((gap + 0 * results["mean_fit_time"] + 0 * results["std_score_time"]).argmin())


def test_callable_refit_chooses_and_is_replayed() -> None:
    fitted = search(refit=steady, return_train_score=True).fit(X, Y)
    theirs = GridSearchCV(LogisticRegression(), GRID, cv=2, refit=steady, return_train_score=True).fit(X, Y)
    assert fitted.best_index_ == theirs.best_index_ == fitted.estimate_.selected
    assert not hasattr(fitted, "best_score_")
    assert "steady" in fitted.estimate_.provenance["selection"] and np.isfinite(fitted.corrected_score_)


def test_callable_refit_that_cannot_be_replayed_leaves_no_estimate() -> None:
    calls = []

    def only_once(results: dict[str, Any]) -> int:
        calls.append(results)
        if len(calls) > 1:
            raise RuntimeError("only once")
        return 0

    with pytest.warns(UserWarning, match="failed when it was replayed"):
        fitted = search(refit=only_once).fit(X, Y)
    assert np.isnan(fitted.corrected_score_) and "selection_not_replayable" in fitted.estimate_.flags


def auc_and_accuracy(estimator: Any, X: Any, y: Any) -> dict[str, float]:
    return {
        "auc": roc_auc_score(y, estimator.decision_function(X)),
        "accuracy": accuracy_score(y, estimator.predict(X)),
    }


def test_a_callable_that_scores_several_ways_gives_fold_scores() -> None:
    theirs = GridSearchCV(LogisticRegression(), GRID, cv=2, scoring=auc_and_accuracy, refit="auc").fit(X, Y)
    fitted = search(scoring=auc_and_accuracy, refit="auc", method="tt").fit(X, Y)
    np.testing.assert_array_equal(fitted.cv_results_["mean_test_auc"], theirs.cv_results_["mean_test_auc"])
    assert fitted.best_index_ == theirs.best_index_ and fitted.multimetric_
    assert fitted.estimate_.method == "tt" and fitted.estimate_.uncorrected == pytest.approx(theirs.best_score_)
    by_folds = search(scoring=auc_and_accuracy, refit="auc").fit(X, Y).estimate_
    assert by_folds.method == "bbc_f" and by_folds.uncorrected == pytest.approx(theirs.best_score_)
    with pytest.raises(InputError, match=r"cannot be opened.*method='tt'"):
        search(scoring=auc_and_accuracy, refit="auc", method="bbc").fit(X, Y)
    with pytest.raises(ValueError, match="refit must be set to a scorer key"):
        search(scoring=auc_and_accuracy, method=None).fit(X, Y)


def share_right(estimator: Any, X: Any, y: Any) -> float:
    return float((estimator.predict(X) == y).mean())


def accuracy(estimator: Any, X: Any, y: Any) -> float:
    return 100 * share_right(estimator, X, y)


@pytest.mark.parametrize(
    "scoring, name, title",
    [
        (share_right, "share_right", "share right"),
        (accuracy, "score", "score"),
        ("f1_macro", "f1_macro", "F1, macro"),
    ],
)
def test_a_scorer_that_cannot_be_opened_has_the_name_that_people_call_it(
    scoring: Any, name: str, title: str
) -> None:
    # Of several labels a row no metric is opened; a function named like another score is not called so.
    labels = np.column_stack([Y, 1 - Y])
    fitted = HeldOutSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2]}, scoring=scoring, cv=3)
    estimate = fitted.set_params(n_bootstraps=20, random_state=0).fit(X, labels).estimate_
    assert (estimate.method, estimate.metric) == ("bbc_f", name)
    assert f"The estimated {title} was" in fitted.methods_text().text
    assert list(fitted.estimates_) == ["score"] and "mean_test_score" in fitted.cv_results_


def test_no_method_no_estimate() -> None:
    fitted = search(method=None).fit(X, Y)
    assert fitted.estimate_ is fitted.corrected_score_ is fitted.confidence_interval_ is fitted.optimism_ is None
    assert fitted.estimates_ == {}
    assert "The configuration with the highest accuracy" in fitted.methods_text().text


def test_report_needs_a_fit_and_predictions() -> None:
    with pytest.raises(NotFittedError):
        search().report("unused.html")
    fitted = search(keep_predictions=False).fit(X, Y)
    assert fitted.predictions_ is None and fitted.corrected_score_ == search().fit(X, Y).corrected_score_
    with pytest.raises(InputError, match="keep_predictions=True"):
        fitted.report("unused.html")


def test_pooled_aggregate_chooses_by_pooled_scores() -> None:
    fitted = HeldOutSearchCV(
        SVC(), {"C": [0.1, 1, 10]}, scoring="roc_auc", cv=2, aggregate="pooled", n_bootstraps=20
    )
    fitted.fit(X, Y)
    pooled = fitted.cv_results_["pooled_test_score"]
    by_hand = [roc_auc_score(Y, column) for column in fitted.predictions_.responses["decision"][:, :, 0].T]
    np.testing.assert_allclose(pooled, by_hand, rtol=0, atol=1e-12)
    assert fitted.best_index_ == pooled.argmax() and fitted.best_score_ == pooled.max()
    assert fitted.cv_results_["rank_pooled_test_score"][fitted.best_index_] == 1
    assert fitted.estimate_.uncorrected == pytest.approx(fitted.best_score_, abs=1e-12)


def test_verbose_prints_the_plan(capsys: pytest.CaptureFixture[str]) -> None:
    search(verbose=2).fit(X, Y)
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "3 configurations x 2 splits = 6 fits"
    fits = [line for line in printed if line.startswith("fit ")]
    assert len(fits) == 6 and ", repeat 0, fold 0: score=" in fits[0]


@pytest.mark.skipif(not hasattr(GridSearchCV, "set_callbacks"), reason="callbacks came with scikit-learn 1.9")
@pytest.mark.parametrize(("refit", "method"), [(True, "bbc"), (False, None)])
def test_callbacks_receive_what_grid_search_passes_to_them(refit: bool, method: str | None) -> None:
    class Recorder:
        def __init__(self) -> None:
            self.told: list[tuple[Any, ...]] = []

        def setup(self, estimator: Any, context: Any) -> None:
            self.told.append(("setup",))

        def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
            self.told.append(("begin", context.task_name, context.task_id))

        def on_fit_task_end(self, estimator: Any, context: Any) -> None:
            self.told.append(("end", context.task_name, context.task_id))

        def teardown(self, estimator: Any, context: Any) -> None:
            self.told.append(("teardown",))

    ours, theirs = Recorder(), Recorder()
    search(refit=refit, method=method).set_callbacks(ours).fit(X, Y)
    GridSearchCV(LogisticRegression(), GRID, cv=2, refit=refit).set_callbacks(theirs).fit(X, Y)
    assert ours.told == theirs.told


def test_the_picture_of_a_list_shows_every_model() -> None:
    models = [("line", LogisticRegression(), GRID), ("machine", SVC(), {"C": [1.0]})]
    html = HeldOutSearchCV(models)._repr_html_()
    assert "line: LogisticRegression" in html and "machine: SVC" in html
    fitted = HeldOutSearchCV(models, cv=2, method=None).fit(X, Y)
    assert "best_estimator_" in fitted._repr_html_() and "machine: SVC" not in fitted._repr_html_()
    assert type(fitted.best_index_) is np.int64
