"""The classifiers of the articles hold scikit-learn's contract, in every version that is supported."""

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import check_estimator

from heldout.errors import InputError
from heldout_papers.spaces import (
    GLVQ,
    LVQ1,
    BoostedLinear,
    ConstantWithoutColumns,
    ElasticNetLogistic,
    LeastSquaresSVM,
    RandomSubspaceKNN,
    ShrinkageDiscriminant,
    SquareRootForest,
)
from heldout_papers.spaces.constant_without_columns import QuietSES

CLASSIFIERS = [
    ShrinkageDiscriminant(),
    LVQ1(),
    GLVQ(),
    RandomSubspaceKNN(n_estimators=20, max_features=0.9),
    BoostedLinear(),
    BoostedLinear("hinge"),
    SquareRootForest(n_trees=5),
    LeastSquaresSVM(C=100.0),
]


def named(model: Any) -> str:
    return type(model).__name__ + getattr(model, "loss", "")


@pytest.mark.parametrize("model", CLASSIFIERS, ids=named)
def test_scikit_learns_checks_pass(model: Any) -> None:
    results = check_estimator(model, on_skip=None)
    # Checks of what is not installed, or not switched on, are skipped.
    assert [one["status"] for one in results].count("passed") > 40


@pytest.mark.parametrize("model", [ElasticNetLogistic(), QuietSES()], ids=named)
def test_scikit_learns_checks_pass_of_two_classes_and_selections(model: Any) -> None:
    results = check_estimator(model, on_skip=None)
    assert [one["status"] for one in results].count("passed") > 35


@pytest.mark.parametrize("inside", [GaussianNB(), ElasticNetLogistic()], ids=named)
def test_scikit_learns_checks_pass_but_one_of_no_columns(inside: Any) -> None:
    allowed = {"check_estimators_empty_data_messages": "a table without columns is what it is for"}
    results = check_estimator(ConstantWithoutColumns(inside), on_skip=None, expected_failed_checks=allowed)
    assert [one["check_name"] for one in results if one["status"] == "xfail"] == list(allowed)
    assert [one["status"] for one in results].count("passed") > 40


@pytest.mark.parametrize("model", CLASSIFIERS, ids=named)
def test_one_column_constant_columns_more_columns_than_rows_and_many_classes(model: Any) -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(8), 4)
    one = y[:, None] + rng.normal(scale=0.1, size=(32, 1))
    constant = np.column_stack([one, np.full(32, 0.1), np.full(32, 1e9)])
    wide = np.tile(np.eye(8)[y], 12) + rng.normal(scale=0.1, size=(32, 96))

    # A line through all classes in order tells the outer ones from the rest, and few of those between.
    for X, least in ((one, 0.25), (constant, 0.25), (wide, 0.95)):
        fitted = clone(model).fit(X, y)
        assert fitted.score(X, y) >= least
        if hasattr(fitted, "predict_proba"):
            np.testing.assert_allclose(fitted.predict_proba(X).sum(axis=1), 1)


@pytest.mark.parametrize("model", CLASSIFIERS, ids=named)
def test_the_same_seed_gives_the_same_model_also_pickled(model: Any) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(30, 3)), rng.choice(["a", "b", "c"], 30)
    seed = {"random_state": 7} if "random_state" in model.get_params() else {}
    first, second = (clone(model).set_params(**seed).fit(X, y) for _ in range(2))

    assert (first.predict(X) == second.predict(X)).all()
    assert (pickle.loads(pickle.dumps(first)).predict(X) == first.predict(X)).all()


@pytest.mark.parametrize("model", CLASSIFIERS, ids=named)
def test_rows_of_one_class_are_refused(model: Any) -> None:
    with pytest.raises(InputError, match="at least two classes, got 1 class: all 3 rows are of class 'a'"):
        clone(model).fit([[1.0], [2.0], [3.0]], ["a", "a", "a"])
