"""Every result that a user gets shows itself in a notebook: its main number, names literally, nothing that runs."""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable
from functools import cache
from html import escape
from typing import Any

import numpy as np
import optuna
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

import heldout
import heldout as ho
from heldout.estimates.paired.overtuning import DefaultComparison
from heldout.imputation.backward import RemovedTerm, Selection
from heldout.predictions import FoldScores
from heldout.protocols.pooled_performance import pool_scores
from heldout.protocols.validation.coefficients import FittedCoefficients
from heldout.spaces.regressions import NO_PENALTY

EVIL = "<script>alert(1)</script>"
RNG = np.random.default_rng(7)
X = RNG.normal(size=(90, 3))
Y = (X[:, 0] + RNG.normal(size=90) > 0).astype(int)
P = np.clip(0.5 + 0.2 * X + 0.1 * RNG.normal(size=(90, 3)), 0.01, 0.99)
TABLE = pd.DataFrame(P, columns=[EVIL, "b", "c"])
LOGISTIC = LogisticRegression(C=NO_PENALTY, solver="newton-cholesky")
FOLDS = np.arange(90) % 5
SPACE = {"n_neighbors": optuna.distributions.IntDistribution(1, 9)}
MODELS = [(EVIL, LogisticRegression(), {"C": [0.1, 1.0]}), ("knn", KNeighborsClassifier(), {"n_neighbors": [3]})]


ASKED: dict[str, Any] = {"metric": "roc_auc", "folds": FOLDS, "n_bootstraps": 40, "random_state": 0}
FAST: dict[str, Any] = {"n_bootstraps": 20, "random_state": 0}


@cache
def estimate() -> Any:
    return ho.estimate(Y, TABLE, **ASKED)


@cache
def comparison() -> Any:
    return ho.compare_configurations(Y, TABLE, **ASKED)


@cache
def compared_estimates() -> Any:
    return ho.compare_estimates(Y, TABLE, methods=["cv", "bbc"], **ASKED)


@cache
def search() -> Any:
    return ho.HeldOutSearchCV(MODELS, cv=3, **FAST).fit(X, Y)


@cache
def nested() -> Any:
    return ho.nested_cv(ho.HeldOutSearchCV(MODELS, cv=2, **FAST), X, Y, cv=2)


@cache
def search_bootstrap() -> Any:
    return ho.bootstrap_search(ho.HeldOutSearchCV(MODELS, cv=2, **FAST), X, Y, n_bootstraps=4)


@cache
def algorithms() -> Any:
    models = [(EVIL, KNeighborsClassifier(), {"n_neighbors": [3, 9]}), ("logistic", LogisticRegression(), {})]
    return ho.compare_algorithms(models, X, Y, cv=3, **FAST)


BRIER: dict[str, Any] = {"metric": "brier_score", "n_bootstraps": 3, "random_state": 0}


@cache
def validation() -> Any:
    return ho.bootstrap_validate([(EVIL, LOGISTIC), ("knn", KNeighborsClassifier())], X, Y, **BRIER)


@cache
def imputed() -> Any:
    return ho.bootstrap_validate(LOGISTIC, np.where(RNG.random(X.shape) < 0.1, np.nan, X), Y, imputation=2, **BRIER)


@cache
def learning_curve() -> Any:
    return ho.protocols.learning_curve(
        [(EVIL, LogisticRegression(), {})], X, Y, training_sizes=[0.3, 0.5, 0.7], n_subsamples=3, random_state=0
    )


@cache
def open_search() -> Any:
    opened = ho.open_search(X, Y, cv=2, **FAST)
    for model in (LogisticRegression(), KNeighborsClassifier()):
        opened.evaluate(model)
    return opened


@cache
def optuna_search() -> Any:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return ho.HeldOutOptunaSearchCV(KNeighborsClassifier(), SPACE, n_trials=3, cv=2, **FAST).fit(X, Y)


@cache
def advice() -> Any:
    return ho.advise(X, Y, MODELS, cv=2, seconds=0.0, random_state=0)


def coefficients() -> Any:
    return FittedCoefficients(("intercept", EVIL), np.array([0.1, 0.2]), np.eye(2), ratio="odds ratio", of=EVIL)


def number(value: float) -> str:
    """The digits that all have."""
    return f"{value:.4f}"[:4]


def prediction_table() -> Any:
    return ho.read_predictions(pd.DataFrame({"target": [0, 1, 1], EVIL: [0, 1, 0]}), target="target")


RESULTS: dict[str, tuple[Callable[[], Any], Callable[[Any], str]]] = {
    "Estimate": (estimate, lambda found: number(found.value)),
    "Interval": (lambda: estimate().interval, str),
    "Comparison": (compared_estimates, lambda found: number(found["bbc"].value)),
    "Recommendation": (lambda: advice().recommendation, lambda found: found.method),
    "Advice": (lambda: advice(), lambda found: f"{found.costs[0].most:,}"),
    "ConfigurationComparison": (comparison, lambda found: f"{found.probability_best.max():.3f}"),
    "ConfidenceSet": (lambda: comparison().confidence_set(), lambda found: f"{len(found)} of 3 configurations"),
    "Difference": (lambda: comparison().difference(EVIL, "b"), lambda found: number(found.value)),
    "OptimismCurve": (lambda: comparison().optimism_curve(), lambda found: number(found.optimism[-1])),
    "Overtuning": (lambda: search().evaluation_.overtuning, lambda found: number(found.corrected[-1])),
    "DefaultComparison": (lambda: DefaultComparison(EVIL, 0.2, 0.05, 0.1, 0.03), lambda found: "0.03"),
    "HeldOutSearchCV": (search, lambda found: number(found.corrected_score_)),
    "HeldOutOptunaSearchCV": (optuna_search, lambda found: number(found.corrected_score_)),
    "OpenSearch": (lambda: open_search(), lambda found: "open search"),
    "Evaluation": (lambda: open_search().finish(), lambda found: number(found.estimate.value)),
    "HeldOutPredictions": (lambda: search().predictions_, lambda found: "90"),
    "PredictionTable": (prediction_table, lambda found: str(found.source)),
    "FoldScores": (lambda: FoldScores(np.zeros((4, 3)), True, np.zeros(4, dtype=int)), lambda found: "4"),
    "NestedEstimate": (nested, lambda found: number(found.value)),
    "Agreement": (lambda: nested().agreement, lambda found: f"{found.share:.0%}"),
    "OuterFold": (lambda: nested().outer_folds[0], lambda found: number(found.score)),
    "SearchBootstrapEstimate": (search_bootstrap, lambda found: number(found.value)),
    "SearchBootstrap": (lambda: search_bootstrap().bootstraps[0], lambda found: number(found.out_of_bag_score)),
    "AlgorithmComparison": (algorithms, lambda found: number(found["logistic"].nested)),
    "ComparedAlgorithm": (lambda: algorithms()[EVIL], lambda found: number(found.nested)),
    "FitCosts": (lambda: algorithms()[EVIL].costs, lambda found: str(found.flat_fits)),
    "AlgorithmSelections": (lambda: algorithms().selections, lambda found: found.sentence),
    "AlgorithmDifference": (lambda: algorithms().differences[0], lambda found: found.words),
    "Relevance": (lambda: algorithms().relevance, str),
    "Validation": (validation, lambda found: f"{found.rows['brier_score'].corrected:.4f}"),
    "ValidationRow": (lambda: validation().rows["brier_score"], lambda found: number(found.corrected)),
    "Candidate": (lambda: validation().candidates[0], lambda found: found.name),
    "FittedCoefficients": (coefficients, lambda found: f"{np.exp(found.values[1]):.4f}"),
    "PooledCoefficients": (lambda: imputed().coefficients, lambda found: f"{found.values[1]:.4f}"),
    "PooledScore": (
        lambda: pool_scores([0.7, 0.8], [0.05, 0.05], metric="roc_auc", n_rows=100),
        lambda found: number(found.value),
    ),
    "Selection": (lambda: Selection(("age",), (RemovedTerm(EVIL, 0.4),)), lambda found: "p = 0.4"),
    "CalibrationCurve": (lambda: validation().calibration_curve(), lambda found: number(found.mean_absolute_error)),
    "RocCurve": (lambda: validation().roc_curve(), lambda found: number(found.area_corrected)),
    "DecisionCurve": (lambda: validation().decision_curve(), lambda found: "<table>"),
    "Leaderboard": (lambda: ho.estimates.leaderboard(comparison()), lambda found: number(found.rows[0].value)),
    "LeaderboardRow": (
        lambda: ho.estimates.leaderboard(comparison()).rows[1],
        lambda found: number(found.value),
    ),
    "LearningCurve": (learning_curve, lambda found: number(found.estimate.value)),
}
"""Class → how to get one, and the text of its main number."""


def shown(result: Any) -> str:
    """What a notebook takes: a bundle where there is one."""
    if hasattr(result, "_repr_mimebundle_"):
        return str(result._repr_mimebundle_()["text/html"])
    return str(result._repr_html_())


@pytest.mark.parametrize("name", RESULTS)
@pytest.mark.filterwarnings("ignore::heldout.HeldoutWarning")
def test_a_result_shows_its_number_and_names_literally(name: str) -> None:
    make, main_number = RESULTS[name]
    result = make()
    assert type(result).__name__ == name
    page = shown(result)
    head = page.split("<style>")[0]  # scikit-learn's diagram, which has a script of its own, comes below
    told = escape(main_number(result))
    for tag in ("td", "/td", "table"):
        told = told.replace(f"&lt;{tag}&gt;", f"<{tag}>")
    assert told in head
    assert "<script" not in head and EVIL not in page
    assert not re.search(r"https?:|//|url\(|src=|href=|@import", head)
    assert not re.search(r"color|background", head)  # those of the page, light or dark


def test_no_result_is_left_out() -> None:
    """Every class that gives a dictionary or a frame has its picture, and its case above."""
    found = set()
    for module in pkgutil.walk_packages(heldout.__path__, "heldout."):
        if re.search(r"_core|\.cli|\.report|xgboost", module.name):
            continue
        for name, each in vars(importlib.import_module(module.name)).items():
            is_own = inspect.isclass(each) and each.__module__ == module.name
            if is_own and (hasattr(each, "to_dict") or hasattr(each, "to_frame")):
                found.add(name)
    assert found - {"Record", "CurveTable", "LinearCoefficients"} <= set(RESULTS)


@pytest.mark.parametrize(
    "search",
    [
        ho.HeldOutSearchCV(MODELS),
        ho.HeldOutRandomizedSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]}),
        ho.HeldOutOptunaSearchCV(KNeighborsClassifier(), SPACE),
    ],
    ids=lambda search: type(search).__name__,
)
def test_a_search_that_is_not_fitted_shows_the_diagram_alone(search: Any) -> None:
    page = shown(search)
    assert page.startswith("<style>") and "sk-" in page and EVIL not in page
    assert search._repr_html_()[:100] == page[:100]
