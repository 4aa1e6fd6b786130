"""What users hand over: which targets are survival, and which names are scorers."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer_names
from sklearn.tree import DecisionTreeClassifier

import heldout as ho
from heldout.arguments.search import scoring_with_metrics
from heldout.arguments.target import checked_target, truth_for
from heldout.data.task import TaskKind
from heldout.errors import InputError

EVENT, TIME = np.array([True, False, True]), np.array([1.0, 2.0, 3.0])
STRUCTURED = np.array(list(zip(EVENT, TIME, strict=True)), dtype=[("dead", bool), ("years", float)])


class Survival(BaseEstimator):
    def fit(self, X: Any, y: Any) -> Survival:
        return self


@pytest.mark.parametrize(
    "y", [(EVENT, TIME), np.c_[EVENT, TIME], [(True, 1), (False, 2), (True, 3)]], ids=["tuple", "table", "list"]
)
def test_two_columns_are_events_and_times_to_a_survival_model_alone(y: Any) -> None:
    given = checked_target(Survival(), y, "search")
    assert given.dtype.names == ("event", "time") and given.tolist() == STRUCTURED.tolist()
    assert truth_for(Survival(), given).kind is TaskKind.SURVIVAL
    for model in (Ridge(), LogisticRegression()):
        with pytest.raises(ValueError, match="1d array"):
            checked_target(model, y, "search")


def test_a_structured_target_keeps_its_names() -> None:
    given = checked_target(Survival(), STRUCTURED, "search")
    assert given.dtype == STRUCTURED.dtype and (given == STRUCTURED).all() and given is not STRUCTURED
    truth = truth_for(Survival(), given)
    assert truth.values.dtype.names == ("event", "time") and truth.fields == ("dead", "years")
    assert truth.rows(np.array([2])).fields == ("dead", "years")


@pytest.mark.parametrize("model", [Ridge(), LogisticRegression()], ids=["regressor", "classifier"])
def test_models_of_scikit_learn_learn_no_events(model: Any) -> None:
    with pytest.raises(InputError, match=f"which {type(model).__name__} cannot learn"):
        checked_target(model, STRUCTURED, "search")


def test_two_labels_in_a_tuple_are_labels() -> None:
    assert checked_target(Survival(), (0, 1), "search").tolist() == [0, 1]


def test_names_that_scikit_learn_lacks_become_scorers_of_ours() -> None:
    for known in ("r2", ["r2", "neg_log_loss"], None, {"a": "r2"}):
        assert scoring_with_metrics(known) == known
    several = scoring_with_metrics(["r2", "concordance_index"])
    assert list(several) == ["r2", "concordance_index"] and several["r2"] == "r2"
    assert callable(several["concordance_index"]) and callable(scoring_with_metrics("brier_score_at(time=1)"))
    assert "concordance_index" not in get_scorer_names()
    with pytest.raises(InputError, match="the nearest is concordance_index"):
        scoring_with_metrics("cindex")


@pytest.mark.parametrize(
    "X, y, said",
    [
        (np.zeros((4, 1)), [0, 1, 0], "X and y cannot be used as rows: Found input variables with inconsistent"),
        (np.zeros((4, 1)), [0.5, 1.5, 2.5, 3.5], "Unknown label type: continuous.*Give labels, or a regressor"),
    ],
    ids=["lengths", "numbers"],
)
def test_data_that_do_not_go_together_are_refused_as_input(X: Any, y: Any, said: str) -> None:
    tree = DecisionTreeClassifier()
    for search in (ho.HeldOutSearchCV(tree, {}).fit, partial(ho.nested_cv, tree)):
        with pytest.raises(ho.InputError, match=said):
            search(X, y)


def test_a_protocol_takes_one_column() -> None:
    with pytest.raises(ho.InputError, match="the target must be one column of labels or numbers"):
        ho.nested_cv(DecisionTreeClassifier(), np.zeros((4, 1)), np.zeros((4, 2)))


def test_a_target_that_arrow_keeps_is_read() -> None:
    pa = pytest.importorskip("pyarrow")
    pd = pytest.importorskip("pandas")
    X = np.random.default_rng(0).normal(size=(40, 2))
    words = np.where(np.arange(40) % 2, "yes", "no")
    column = pd.Series(words).astype(pd.ArrowDtype(pa.string()))
    found = []
    for y in (words, column, column.values, pa.array(words), pa.chunked_array([words])):
        search = ho.HeldOutSearchCV(LogisticRegression(), {"C": [1.0]}, cv=2, n_bootstraps=10, random_state=0)
        found.append(search.fit(X, y).corrected_score_)
        assert ho.estimate(y, X, metric="roc_auc", n_bootstraps=10, random_state=0).value > 0
    assert len(set(found)) == 1
    groups = pd.Series(np.repeat(np.arange(10), 4).astype(str)).astype(pd.ArrowDtype(pa.string())).values
    assert ho.estimate(words, X, metric="roc_auc", groups=groups, n_bootstraps=10, random_state=0).value > 0


PROTOCOLS = {
    "nested_cv": lambda estimator: ho.nested_cv(estimator, [[0.0]], [1]),
    "bootstrap_search": lambda estimator: ho.bootstrap_search(estimator, [[0.0]], [1]),
    "bootstrap_validate": lambda estimator: ho.bootstrap_validate(estimator, [[0.0]], [1]),
    "learning_curve": lambda estimator: ho.protocols.learning_curve(estimator, [[0.0]], [1]),
    "advise": lambda estimator: ho.advise([[0.0]], [1], estimator),
    "HeldOutSearchCV": lambda estimator: ho.HeldOutSearchCV(estimator, None).fit([[0.0]], [1]),
}


@pytest.mark.parametrize("call", PROTOCOLS.values(), ids=PROTOCOLS)
@pytest.mark.parametrize("estimator", [None, 5, [], "logistic", [("a", None, {})], [None]], ids=repr)
def test_what_is_no_estimator_is_refused_in_a_sentence(call: Any, estimator: Any) -> None:
    with pytest.raises(ValueError, match=r"estimator") as caught:  # scikit-learn's own of HeldOutSearchCV(5)
        call(estimator)
    assert "__sklearn_tags__" not in str(caught.value) and "\n" not in str(caught.value)
    assert "got" in str(caught.value).lower() or "empty" in str(caught.value)
