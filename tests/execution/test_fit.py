"""One cell: what is recorded, what is scored, and what a failure leaves."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from one_cell import fit_cell
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import check_scoring, get_scorer, make_scorer
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_info

from heldout.configurations import make_configurations
from heldout.data.task import Task, truth_of
from heldout.errors import InputError
from heldout.execution.cells import CellState
from heldout.execution.fit import Work, make_scoring
from heldout.execution.responses import remember_responses
from heldout.execution.threads import single_threaded
from heldout.folds.splits import Split, make_folds
from heldout.metrics.base import Response

X, Y = load_breast_cancer(return_X_y=True)
X, Y = StandardScaler().fit_transform(X[:100, :4]), Y[:100]
IRIS = load_iris(return_X_y=True)


class Counted(ClassifierMixin, BaseEstimator):
    """Counts how often it is asked for what."""

    asked: list[str] = []  # noqa: RUF012

    def fit(self, X: Any, y: Any) -> Counted:
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        self.asked.append(f"predict {len(X)}")
        return self.classes_[(X[:, 0] > 0).astype(int)]

    def predict_proba(self, X: Any) -> Any:
        self.asked.append(f"predict_proba {len(X)}")
        p = 1 / (1 + np.exp(-X[:, 0]))
        return np.stack([1 - p, p], axis=1)


def work_of(
    scoring: Any, data: tuple[Any, Any] = (X, Y), pos_label: Any = None, keep: Any = (), **settings: Any
) -> tuple[Work, Split]:
    truth = truth_of(data[1], pos_label=pos_label)
    task = Task(data[0], truth, y=data[1])
    scorer = check_scoring(Counted(), scoring) if isinstance(scoring, list) else scoring
    scorer = get_scorer(scorer) if isinstance(scorer, str) else scorer
    work = Work(task, make_scoring(truth, scorer, keep=keep), **settings)
    return work, make_folds(task, 4).splits[1]


def cell(estimator: Any, scoring: Any = "accuracy", **settings: Any) -> Any:
    work, split = work_of(scoring, **settings)
    return fit_cell(work, make_configurations(estimator)[0], split), split


def test_each_response_is_computed_once() -> None:
    Counted.asked.clear()
    result, split = cell(Counted(), ["accuracy", "f1", "neg_log_loss", "roc_auc", "neg_brier_score"])
    n = len(split.test)
    assert sorted(Counted.asked) == [f"predict {n}", f"predict_proba {n}"]
    assert set(result.predictions) == {Response.LABELS, Response.PROBABILITIES}
    assert result.state is CellState.DONE and result.message == ""


def test_a_pipeline_with_its_own_score_predicts_once() -> None:
    Counted.asked.clear()
    pipeline = make_pipeline(StandardScaler(), Counted())
    result, split = cell(pipeline, check_scoring(pipeline))
    assert Counted.asked == [f"predict {len(split.test)}"]
    assert 0 < result.test_scores["score"] < 1


def test_only_what_is_read_is_kept() -> None:
    assert set(cell(SVC(), "roc_auc")[0].predictions) == {Response.DECISION}
    assert set(cell(RandomForestClassifier(3), "roc_auc")[0].predictions) == {Response.PROBABILITIES}
    assert set(cell(SVC(), "roc_auc", keep=(Response.LABELS, Response.PROBABILITIES))[0].predictions) == {
        Response.DECISION,
        Response.LABELS,
    }
    # A scorer that cannot be opened reads nothing that we know of; what "predict" says is kept anyway.
    assert set(cell(SVC(), lambda model, X, y: 0.5)[0].predictions) == {Response.LABELS}


def test_binary_responses_point_to_the_positive_class() -> None:
    for pos_label, sign, column in ((1, 1, 1), (0, -1, 0)):
        result, split = cell(LogisticRegression(), "roc_auc", pos_label=pos_label, keep=(Response.PROBABILITIES,))
        fitted = LogisticRegression().fit(X[split.train], Y[split.train])
        np.testing.assert_array_equal(
            result.predictions[Response.DECISION], sign * fitted.decision_function(X[split.test])
        )
        np.testing.assert_array_equal(
            result.predictions[Response.PROBABILITIES], fitted.predict_proba(X[split.test])[:, column]
        )


def test_columns_follow_the_order_of_the_target_and_not_of_the_model() -> None:
    data, y = IRIS
    truth = truth_of(y, classes=[2, 0, 1])
    task = Task(data, truth, y=y)
    scoring = make_scoring(truth, get_scorer("neg_log_loss"))
    work = Work(task, scoring)
    split = make_folds(task, 3).splits[0]
    result = fit_cell(work, make_configurations(LogisticRegression(max_iter=1000))[0], split)
    fitted = LogisticRegression(max_iter=1000).fit(data[split.train], y[split.train])
    np.testing.assert_array_equal(
        result.predictions[Response.PROBABILITIES], fitted.predict_proba(data[split.test])[:, [2, 0, 1]]
    )


def test_a_caller_that_writes_into_a_response_spoils_nothing() -> None:
    # MLPClassifier.predict_log_proba takes the logarithm in place.
    model = MLPClassifier(5, max_iter=20, random_state=0)
    model.n_iter_no_change = 50
    with pytest.warns(UserWarning, match="reached"):
        model.fit(X, Y)
    plain = model.predict_proba(X)
    remember_responses(model, X)
    model.predict_log_proba(X)
    np.testing.assert_array_equal(model.predict_proba(X), plain)
    np.testing.assert_array_equal(model.predict_proba(X[:5]), plain[:5])


def test_a_scorer_sees_an_estimator_of_its_own_type() -> None:
    seen = []

    def scorer(model: Any, X: Any, y: Any) -> float:
        seen.append((isinstance(model, LogisticRegression), model.coef_.shape, hasattr(model, "transform")))
        return float(model.score(X, y))

    result, _ = cell(LogisticRegression(), scorer)
    assert seen == [(True, (1, 4), False)] and result.test_scores["score"] > 0.5


def test_failures_say_why() -> None:
    class Broken(Counted):
        def fit(self, X: Any, y: Any) -> Broken:
            raise ValueError("two\n  lines")

    class Narrow(Counted):
        def predict_proba(self, X: Any) -> Any:
            return np.ones((len(X), 1))

    for estimator, scoring, words in (
        (Broken(), "accuracy", "ValueError: two lines"),
        (Narrow(), "neg_log_loss", "its probabilities have shape (25, 1), not a column for each of 2 classes"),
    ):
        result, _ = cell(estimator, scoring)
        assert result.state is CellState.FAILED
        assert result.message == words
        assert not result.test_scores and not result.predictions
        with pytest.raises(ValueError):
            cell(estimator, scoring, error_score="raise")


def test_a_scorer_that_raises_leaves_the_others() -> None:
    def hopeless(y: Any, predicted: Any) -> float:
        raise ArithmeticError("no number")

    both = check_scoring(Counted(), {"good": "accuracy", "bad": make_scorer(hopeless)}, raise_exc=False)
    result, _ = cell(Counted(), both)
    assert result.state is CellState.DONE
    assert list(result.test_scores) == ["good"]
    assert result.message == "bad: ArithmeticError: no number"
    alone, _ = cell(Counted(), make_scorer(hopeless))
    assert alone.test_scores == {} and alone.message == "ArithmeticError: no number"
    with pytest.raises(ArithmeticError):
        cell(Counted(), make_scorer(hopeless), error_score="raise")


def test_a_score_that_is_no_number_is_an_error() -> None:
    with pytest.raises(InputError, match=r"scoring must return a number, got \[1, 2\]"):
        cell(Counted(), lambda model, X, y: [1, 2])


def test_cells_run_on_one_thread() -> None:
    class Looking(Counted):
        threads: list[int] = []  # noqa: RUF012

        def fit(self, X: Any, y: Any) -> Looking:
            Looking.threads += [library["num_threads"] for library in threadpool_info()]
            return super().fit(X, y)  # type: ignore[return-value]

    cell(Looking())
    assert Looking.threads and set(Looking.threads) == {1}


def test_libraries_are_looked_for_again_after_an_import(monkeypatch: pytest.MonkeyPatch) -> None:
    from heldout.execution import threads

    with single_threaded():
        pass
    before = threads._controller(len(sys.modules))
    monkeypatch.setitem(sys.modules, "a_module_of_the_future", sys)
    assert threads._controller(len(sys.modules)) is not before
