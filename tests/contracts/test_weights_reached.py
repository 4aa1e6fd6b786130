"""Weights of ``fit`` go where GridSearchCV sends them; a flag says what they reached if that is not everything."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn
from peers import cancer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, f1_score, make_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.fixes import parse_version

import heldout as ho
from heldout.errors import StoreError
from heldout.execution.store import SQLiteStore
from heldout.flags import Flag

X, Y = cancer(150, 4)
WEIGHTS = np.random.default_rng(0).uniform(0.2, 3.0, 150)
OTHERS = WEIGHTS[::-1].copy()
GRID = {"C": [0.01, 1.0]}

pytestmark = pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.7"), reason="scikit-learn 1.6 keeps weights from scorers"
)
unsupported = pytest.mark.filterwarnings("ignore:The scoring .* does not support sample_weight")


def hits(y_true: Any, y_pred: Any) -> float:
    """A score that takes no weights."""
    return float(np.mean(y_true == y_pred))


def by_model(model: Any, X: Any, y: Any) -> float:
    """A scorer that cannot be opened and takes no weights."""
    return float(model.score(X, y))


def by_model_weighted(model: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    return float(model.score(X, y, sample_weight))


def piped(**requests: Any) -> Pipeline:
    steps = StandardScaler(), LogisticRegression()
    if requests:
        steps = steps[0].set_fit_request(sample_weight=False), steps[1].set_fit_request(**requests)
    return Pipeline([("scale", steps[0]), ("clf", steps[1])])


def fitted(estimator: Any, scoring: Any, params: dict[str, Any], **settings: Any) -> ho.HeldOutSearchCV:
    """The search, whose fold scores are those of GridSearchCV."""
    grid = {"clf__C": [0.01, 1.0]} if isinstance(estimator, Pipeline) else GRID
    ours = ho.HeldOutSearchCV(estimator, grid, scoring=scoring, cv=2, n_bootstraps=20, random_state=0, **settings)
    for own in ("method", "store"):
        settings.pop(own, None)
    theirs = GridSearchCV(estimator, grid, scoring=scoring, cv=2, **settings).fit(X, Y, **params)
    ours.fit(X, Y, **params)
    for name, scores in theirs.cv_results_.items():
        if name.startswith(("mean_test", "split0_test")):
            np.testing.assert_allclose(ours.cv_results_[name], scores, rtol=0, atol=1e-12)
    assert ours.best_index_ == theirs.best_index_
    return ours


def sentence(estimate: Any) -> str:
    return str(estimate.flags.get(Flag.WEIGHTS_REACHED, ""))


FITS = "The weights reached the fits, but not the scores and the bootstrap, where every row counts once."
SCORES = "The weights reached the scores and the bootstrap, but not the fits, where every row counts once."


@pytest.mark.parametrize("scoring", [None, "f1", ho.metrics.FScore()])
def test_weights_that_reach_everything_need_no_word(scoring: Any) -> None:
    if isinstance(scoring, ho.metrics.FScore):
        search = ho.HeldOutSearchCV(LogisticRegression(), GRID, scoring=scoring, cv=2, n_bootstraps=20)
        search.fit(X, Y, sample_weight=WEIGHTS)
        named = fitted(LogisticRegression(), "f1", {"sample_weight": WEIGHTS})
        np.testing.assert_allclose(
            search.cv_results_["mean_test_score"], named.cv_results_["mean_test_score"], atol=1e-12
        )
    else:
        search = fitted(LogisticRegression(), scoring, {"sample_weight": WEIGHTS})
    assert search.estimate_.provenance["weighted"] and not sentence(search.estimate_)


def test_without_weights_nothing_is_said() -> None:
    search = fitted(LogisticRegression(), "accuracy", {"sample_weight": None})
    assert not search.estimate_.provenance["weighted"] and not sentence(search.estimate_)


OF_OURS = ho.metrics.custom(hits, greater_is_better=True, response="labels")


@unsupported
@pytest.mark.parametrize("scorer", [make_scorer(hits), ho.metrics.scorer(OF_OURS)])
def test_a_score_without_weights_is_said_to_be_without(scorer: Any) -> None:
    search = fitted(LogisticRegression(), scorer, {"sample_weight": WEIGHTS})
    assert sentence(search.estimate_) == FITS and not search.estimate_.provenance["weighted"]
    assert search.estimate_.uncorrected == pytest.approx(search.best_score_, abs=1e-12)


def test_weights_of_a_step_reach_the_fits_alone() -> None:
    search = fitted(piped(), "accuracy", {"clf__sample_weight": WEIGHTS})
    assert sentence(search.estimate_) == FITS and not search.estimate_.provenance["weighted"]
    assert search.estimate_.uncorrected == pytest.approx(search.best_score_, abs=1e-12)


@unsupported
@pytest.mark.parametrize(("scorer", "expected"), [(by_model, FITS), (by_model_weighted, "")])
def test_a_scorer_that_cannot_be_opened(scorer: Any, expected: str) -> None:
    search = fitted(LogisticRegression(), scorer, {"sample_weight": WEIGHTS}, method="tt")
    assert sentence(search.estimate_) == expected


@unsupported
def test_each_of_several_scorers_has_its_own_word() -> None:
    scoring = {"weighted": "accuracy", "plain": make_scorer(hits)}
    check_each(fitted(LogisticRegression(), scoring, {"sample_weight": WEIGHTS}, refit="weighted"))


def check_each(search: ho.HeldOutSearchCV) -> None:
    """Of the scorers "weighted" and "plain" of one metric."""
    weighted, plain = search.estimates_["weighted"], search.estimates_["plain"]
    assert not sentence(weighted) and sentence(plain) == FITS
    assert weighted.provenance["weighted"] and not plain.provenance["weighted"]
    for name, estimate in search.estimates_.items():
        score = search.cv_results_[f"mean_test_{name}"][search.best_index_]
        assert estimate.uncorrected == pytest.approx(score, abs=1e-12)


def test_routing_to_each_of_several_scorers() -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        model = LogisticRegression().set_fit_request(sample_weight=True)
        weighted, plain = make_scorer(accuracy_score), make_scorer(accuracy_score)
        scoring = {
            "weighted": weighted.set_score_request(sample_weight=True),
            "plain": plain.set_score_request(sample_weight=False),
        }
        check_each(fitted(model, scoring, {"sample_weight": WEIGHTS}, refit="plain"))


@pytest.mark.parametrize(
    ("model", "fits", "scores", "expected"),
    [
        (piped(), True, True, ""),
        (LogisticRegression(), True, False, FITS),
        (LogisticRegression(), False, True, SCORES),
        (piped(), False, True, SCORES),
    ],
)
def test_routing_as_requested(model: Any, fits: bool, scores: bool, expected: str) -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        asks = (
            piped(sample_weight=fits) if isinstance(model, Pipeline) else model.set_fit_request(sample_weight=fits)
        )
        scorer = make_scorer(accuracy_score).set_score_request(sample_weight=scores)
        search = fitted(asks, scorer, {"sample_weight": WEIGHTS})
    assert sentence(search.estimate_) == expected and search.estimate_.provenance["weighted"] == scores
    assert search.estimate_.uncorrected == pytest.approx(search.best_score_, abs=1e-12)


@pytest.mark.parametrize(("scores", "expected"), [("case", ""), (False, FITS)])
def test_routing_under_another_name(scores: Any, expected: str) -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = make_scorer(accuracy_score).set_score_request(sample_weight=scores)
        model = (
            piped(sample_weight="case") if scores else LogisticRegression().set_fit_request(sample_weight="case")
        )
        assert sentence(fitted(model, scorer, {"case": WEIGHTS}).estimate_) == expected


def test_routing_of_two_kinds_of_weights() -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        model = LogisticRegression().set_fit_request(sample_weight="case")
        scoring = {
            "case": make_scorer(f1_score).set_score_request(sample_weight="case"),
            "other": make_scorer(accuracy_score).set_score_request(sample_weight="other"),
        }
        search = fitted(model, scoring, {"case": WEIGHTS, "other": OTHERS}, refit="case")
    for name, estimate in search.estimates_.items():
        assert estimate.provenance["weighted"] and not sentence(estimate)
        weights = {"case": WEIGHTS, "other": OTHERS}[name]
        labels = search.predictions_.responses["labels"][:, search.best_index_, 0]
        score = {"case": f1_score, "other": accuracy_score}[name]
        by_hand = score(Y, labels, sample_weight=weights)
        assert search.evaluation_.pooled_scores[name][search.best_index_] == pytest.approx(by_hand, abs=1e-12)


def test_routing_to_some_of_several_models() -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        asks = LogisticRegression().set_fit_request(sample_weight=True)
        scorer = make_scorer(accuracy_score).set_score_request(sample_weight=True)
        models = [("asks", asks, GRID), ("has_none", KNeighborsClassifier(), {})]
        search = ho.HeldOutSearchCV(models, scoring=scorer, cv=2, n_bootstraps=20).fit(X, Y, sample_weight=WEIGHTS)
    assert sentence(search.estimate_) == (
        "The weights reached the fits of asks, the scores and the bootstrap, but not the fits of has_none, where "
        "every row counts once."
    )


def test_protocols_and_loops_weigh_everything() -> None:
    run = ho.open_search(X, Y, cv=2, sample_weight=WEIGHTS, n_bootstraps=20, random_state=0)
    run.evaluate(LogisticRegression())
    assert not sentence(run.finish().estimate)
    found = ho.nested_cv(LogisticRegression(), X, Y, GRID, cv=3, sample_weight=WEIGHTS, random_state=0)
    assert not sentence(found)


@unsupported
def test_a_run_file_keeps_what_weights_reached(tmp_path: Path) -> None:
    scoring = {"weighted": "accuracy", "plain": "positive_likelihood_ratio"}
    params = {"sample_weight": WEIGHTS}
    for name, store in (("one", {"scoring": scoring["plain"]}), ("two", {"scoring": scoring, "refit": "weighted"})):
        search = fitted(LogisticRegression(), params=params, method="cv", store=tmp_path / name, **store)
        assert sentence(search.estimate_) == {"one": FITS, "two": ""}[name]
        assert ho.estimate(SQLiteStore(tmp_path / name)).to_dict() == search.estimate_.to_dict()


@unsupported
def test_a_run_file_lacks_weights_that_the_choice_does_not_read(tmp_path: Path) -> None:
    scoring = {"weighted": "accuracy", "plain": "positive_likelihood_ratio"}
    params = {"sample_weight": WEIGHTS}
    fitted(LogisticRegression(), scoring, params, refit="plain", method="cv", store=tmp_path / "run.db")
    with pytest.raises(StoreError, match="the weights of the scorer 'weighted'"):
        ho.estimate(SQLiteStore(tmp_path / "run.db"))


@pytest.mark.parametrize("name", ["roc_auc", "spearman"])
def test_two_scorers_of_one_metric_of_ours_have_weights_of_their_own(name: str) -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        scoring = {
            "weighed": ho.metrics.scorer(name).set_score_request(sample_weight=True),
            "plain": ho.metrics.scorer(name).set_score_request(sample_weight=False),
        }
        model, y = (LogisticRegression(), Y) if name == "roc_auc" else (Ridge(), X[:, 0] + X[:, 1] ** 2)
        grid = GRID if name == "roc_auc" else {"alpha": [0.1, 1.0]}
        search = ho.HeldOutSearchCV(
            model.set_fit_request(sample_weight=False), grid, scoring=scoring, refit="weighed", aggregate="folds",
            cv=2, n_bootstraps=20, random_state=0,
        ).fit(X, y, sample_weight=WEIGHTS)  # fmt: skip
        for scorer, estimate in search.estimates_.items():
            expected = search.cv_results_[f"mean_test_{scorer}"][search.best_index_]
            assert estimate.uncorrected == pytest.approx(expected, abs=1e-12)
