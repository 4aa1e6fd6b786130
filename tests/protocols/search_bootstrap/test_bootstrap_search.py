"""The bootstrap of the whole search against plain loops with the same draws, and the promises around it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer, make_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, PredefinedSplit, ShuffleSplit, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import heldout as ho
from heldout import Flag
from heldout.dropping.base import Racing, Standing, Verdict
from heldout.errors import HeldoutWarning, InputError
from heldout.estimates.intervals import order_statistic

X, Y = make_classification(60, 6, n_informative=3, flip_y=0.2, random_state=3)
GRID = {"C": [1e-3, 10.0]}
MODEL = LogisticRegression()
GROUPS = np.random.default_rng(0).permutation(np.repeat(np.arange(20), 3))


def with_copies(rows: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    return np.repeat(rows, np.bincount(drawn, minlength=len(X))[rows])


def plain_loop(
    bootstrap: Any, splitter: Any, scoring: str, grid: list[Any], y: np.ndarray, groups: Any = None
) -> tuple[int, float, float]:
    """The winner, its cross-validated score on the sample, and its score out of bag (greater = better)."""
    scorer = get_scorer(scoring)
    distinct = np.unique(bootstrap.drawn)
    parts = splitter.split(X[distinct], y[distinct], None if groups is None else groups[distinct])
    folds = [(with_copies(distinct[train], bootstrap.drawn), with_copies(distinct[test], bootstrap.drawn))
             for train, test in parts]  # fmt: skip
    means = []
    for model in grid:
        scores = [scorer(clone(model).fit(X[train], y[train]), X[test], y[test]) for train, test in folds]
        means.append(np.mean(scores))
    winner = int(np.argmax(means))
    left_out = np.setdiff1d(np.arange(len(X)), bootstrap.drawn)
    fitted = clone(grid[winner]).fit(X[bootstrap.drawn], y[bootstrap.drawn])
    return winner, float(means[winner]), float(scorer(fitted, X[left_out], y[left_out]))


@pytest.mark.parametrize("scoring", ["roc_auc", "neg_log_loss"])
def test_the_direct_bootstrap_is_a_plain_loop(scoring: str) -> None:
    found = ho.bootstrap_search(MODEL, X, Y, GRID, scoring=scoring, cv=3, n_bootstraps=3, random_state=1)
    grid = [LogisticRegression(C=C) for C in GRID["C"]]
    for each in found.bootstraps:
        winner, in_bag, out_of_bag = plain_loop(each, StratifiedKFold(3), scoring, grid, Y)
        assert each.selected == winner
        assert each.in_bag_score == pytest.approx(in_bag, abs=1e-12)
        assert each.out_of_bag_score == pytest.approx(out_of_bag, abs=1e-12)
        assert each.scores["score"] == pytest.approx(out_of_bag, abs=1e-12)
    scores = [each.out_of_bag_score for each in found.bootstraps]
    assert found.value == pytest.approx(np.mean(scores), abs=1e-12)
    assert tuple(found.interval) == (min(scores), max(scores))
    search = GridSearchCV(MODEL, GRID, scoring=scoring, cv=3).fit(X, Y)
    assert found.selected == search.best_index_
    assert found.uncorrected == pytest.approx(search.best_score_, abs=1e-12)
    assert found.model.C == search.best_params_["C"]
    assert found.selection_frequency.sum() == pytest.approx(1)


def test_the_direct_bootstrap_of_a_regression_with_groups() -> None:
    y = X @ np.arange(6.0) + np.random.default_rng(1).normal(size=60)
    found = ho.bootstrap_search(
        Ridge(), X, y, {"alpha": [0.1, 100.0]}, scoring="neg_mean_squared_error", cv=GroupKFold(4),
        groups=GROUPS, n_bootstraps=3, random_state=2,
    )  # fmt: skip
    for each in found.bootstraps:
        assert not set(GROUPS[each.drawn]) & set(GROUPS[each.left_out])
        grid = [Ridge(alpha=0.1), Ridge(alpha=100.0)]
        winner, in_bag, out_of_bag = plain_loop(each, GroupKFold(4), "neg_mean_squared_error", grid, y, GROUPS)
        assert each.selected == winner
        assert each.in_bag_score == pytest.approx(in_bag, rel=1e-12)
        assert each.out_of_bag_score == pytest.approx(out_of_bag, rel=1e-12)
    assert found.metric == "neg_mean_squared_error"
    assert found.value < 0


def test_pooled_choices_count_the_copies() -> None:
    found = ho.bootstrap_search(
        MODEL, X, Y, GRID, scoring="roc_auc", cv=3, aggregate="pooled", n_bootstraps=3, random_state=4
    )
    for each in found.bootstraps:
        counts = np.bincount(each.drawn, minlength=60)
        distinct = np.unique(each.drawn)
        scores = []
        for C in GRID["C"]:
            predicted = np.zeros(60)
            for train, test in StratifiedKFold(3).split(X[distinct], Y[distinct]):
                rows = with_copies(distinct[train], each.drawn)
                model = LogisticRegression(C=C).fit(X[rows], Y[rows])
                predicted[distinct[test]] = model.decision_function(X[distinct[test]])
            scores.append(roc_auc_score(Y[distinct], predicted[distinct], sample_weight=counts[distinct]))
        assert each.selected == int(np.argmax(scores))
        assert each.in_bag_score == pytest.approx(max(scores), abs=1e-12)


def test_the_bootstrap_of_models_is_a_plain_loop() -> None:
    found = ho.bootstrap_search(
        MODEL, X, Y, GRID, scheme="models", scoring="roc_auc", n_bootstraps=8, random_state=1
    )
    # Every configuration on every sample, predicting what the sample left out.
    decisions = np.full((8, 2, 60), np.nan)
    for b, each in enumerate(found.bootstraps):
        for j, C in enumerate(GRID["C"]):
            model = LogisticRegression(C=C).fit(X[each.drawn], Y[each.drawn])
            decisions[b, j, each.left_out] = model.decision_function(X[each.left_out])
    of_samples = np.array(
        [[roc_auc_score(Y[e.left_out], decisions[b, j, e.left_out]) for j in range(2)]
         for b, e in enumerate(found.bootstraps)]
    )  # fmt: skip
    assert found.uncorrected == pytest.approx(of_samples.mean(axis=0).max(), abs=1e-12)
    assert found.selected == int(of_samples.mean(axis=0).argmax())
    values = []
    for b, each in enumerate(found.bootstraps):
        counts = np.bincount(each.drawn, minlength=60)
        means = []
        for j in range(2):
            scores = []
            for other, sample in enumerate(found.bootstraps):
                rows = np.intersect1d(each.drawn, sample.left_out)
                if len(np.unique(Y[rows])) == 2:
                    scores.append(roc_auc_score(Y[rows], decisions[other, j, rows], sample_weight=counts[rows]))
            means.append(np.mean(scores))
        assert each.selected == int(np.argmax(means))
        assert each.in_bag_score == pytest.approx(max(means), abs=1e-12)
        assert each.out_of_bag_score == pytest.approx(of_samples[b, each.selected], abs=1e-12)
        values.append(of_samples[b, each.selected])
    assert found.value == pytest.approx(np.mean(values), abs=1e-12)


class Constant(ClassifierMixin, BaseEstimator):
    """Predicts one label, and counts the fits of its class."""

    fits = 0
    stops_after: int | None = None

    def __init__(self, says: int = 0) -> None:
        self.says = says

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Constant:
        if Constant.stops_after is not None and Constant.fits >= Constant.stops_after:
            raise KeyboardInterrupt
        Constant.fits += 1
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.says)


@pytest.fixture(autouse=True)
def counting() -> None:
    Constant.fits, Constant.stops_after = 0, None


@pytest.mark.parametrize(("K", "C", "B"), [(4, 3, 5), (3, 1, 4)])
def test_fits_are_counted_exactly(K: int, C: int, B: int) -> None:
    grid = {"says": [0, 1, 1][:C]}
    y = np.arange(40) % 2
    found = ho.bootstrap_search(
        Constant(), np.zeros((40, 1)), y, grid, scoring="accuracy", cv=K, n_bootstraps=B, random_state=0
    )
    searched = K * C if C > 1 else 0  # one configuration needs no folds inside
    assert found.n_fits == Constant.fits == B * (searched + 1) + K * C + 1
    Constant.fits = 0
    found = ho.bootstrap_search(
        Constant(), np.zeros((40, 1)), y, grid, scheme="models", scoring="accuracy", n_bootstraps=B, random_state=0
    )
    assert found.n_fits == Constant.fits == B * C + 1


def test_a_bootstrap_does_not_depend_on_their_number() -> None:
    settings: dict[str, Any] = {"scoring": "accuracy", "cv": 3, "random_state": 8}
    few, many = (
        ho.bootstrap_search(DecisionTreeClassifier(), X, Y, {"max_depth": [1, 3]}, n_bootstraps=B, **settings)
        for B in (2, 4)
    )
    for one, same in zip(few.bootstraps, many.bootstraps, strict=False):
        assert one.drawn.tolist() == same.drawn.tolist()
        assert (one.selected, one.in_bag_score, one.out_of_bag_score) == (
            same.selected, same.in_bag_score, same.out_of_bag_score
        )  # fmt: skip


@pytest.mark.parametrize("scheme", ["cvt", "models"])
def test_the_number_of_jobs_changes_nothing(scheme: Any) -> None:
    cv = None if scheme == "models" else ShuffleSplit(3)
    settings: dict[str, Any] = {"scheme": scheme, "scoring": "roc_auc", "cv": cv, "n_bootstraps": 4}
    grid = {"max_features": [1, 3]}
    results = [
        ho.bootstrap_search(
            DecisionTreeClassifier(), X, Y, grid, n_jobs=n_jobs, random_state=5, **settings
        ).to_dict()
        for n_jobs in (1, 2)
    ]
    for each in results:
        each["provenance"].pop("finished", None)
    assert results[0] == results[1]


@pytest.mark.parametrize("scheme", ["cvt", "models"])
def test_a_resumed_run_does_the_rest_and_ends_the_same(scheme: Any, tmp_path: Path) -> None:
    def estimate(store: Path | None) -> ho.Estimate:
        return ho.bootstrap_search(
            Constant(), X, Y, {"says": [0, 1]}, scheme=scheme, scoring="accuracy", n_bootstraps=5,
            cv=None if scheme == "models" else 3, store=store, random_state=6,
        )  # fmt: skip

    whole = estimate(None)
    total, Constant.fits, Constant.stops_after = Constant.fits, 0, 7
    with pytest.raises(KeyboardInterrupt):
        estimate(tmp_path / "run.db")
    assert Constant.fits == 7
    Constant.stops_after = None
    resumed = estimate(tmp_path / "run.db")
    assert Constant.fits == total
    assert resumed.to_dict()["bootstraps"] == whole.to_dict()["bootstraps"]
    assert resumed.value == whole.value
    again = Constant.fits
    estimate(tmp_path / "run.db")
    assert Constant.fits == again + 1  # the winner on all rows


def test_lists_of_splits_are_cut_down_to_the_sample() -> None:
    parts = np.arange(60) % 4
    pairs = [(np.flatnonzero(parts != k), np.flatnonzero(parts == k)) for k in range(4)]
    of_list, of_generator, predefined = (
        ho.bootstrap_search(MODEL, X, Y, GRID, scoring="accuracy", cv=cv, n_bootstraps=2, random_state=2)
        for cv in (pairs, (pair for pair in pairs), PredefinedSplit(parts))
    )
    assert of_list.value == of_generator.value == predefined.value
    for each in of_list.bootstraps:
        means = []
        for C in GRID["C"]:
            scores = []
            for train, test in pairs:
                train, test = with_copies(train, each.drawn), with_copies(test, each.drawn)
                scores.append(LogisticRegression(C=C).fit(X[train], Y[train]).score(X[test], Y[test]))
            means.append(np.mean(scores))
        assert each.selected == int(np.argmax(means))
        assert each.in_bag_score == pytest.approx(max(means), abs=1e-12)


def test_weights_weigh_fits_and_scores() -> None:
    weights = np.random.default_rng(0).uniform(0.1, 3, size=60)
    found = ho.bootstrap_search(
        MODEL, X, Y, GRID, scoring="accuracy", cv=3, sample_weight=weights, n_bootstraps=3, random_state=2
    )
    for each in found.bootstraps:
        model = LogisticRegression(C=GRID["C"][each.selected])
        model.fit(X[each.drawn], Y[each.drawn], sample_weight=weights[each.drawn])
        expected = model.score(X[each.left_out], Y[each.left_out], sample_weight=weights[each.left_out])
        assert each.out_of_bag_score == pytest.approx(expected, abs=1e-12)


@pytest.fixture(scope="module")
def by_name() -> ho.Estimate:
    """Of the accuracy on three folds; tests only read it."""
    return ho.bootstrap_search(MODEL, X, Y, GRID, scoring="accuracy", cv=3, n_bootstraps=3, random_state=0)


def test_searches_and_lists_of_estimators(by_name: ho.Estimate) -> None:
    search = GridSearchCV(MODEL, GRID, cv=3, scoring="accuracy")
    assert ho.bootstrap_search(search, X, Y, n_bootstraps=3, random_state=0).value == by_name.value
    settings: dict[str, Any] = {
        "scoring": "accuracy", "cv": 3, "confidence_level": 0.8, "alternative": "less", "random_state": 0,
    }  # fmt: skip
    for scheme in ("cvt", "models"):
        fitted = ho.HeldOutSearchCV(MODEL, GRID, **settings, n_bootstraps=20).fit(X, Y)
        own = settings if scheme == "cvt" else {**settings, "cv": None}
        by_parts = ho.bootstrap_search(MODEL, X, Y, GRID, scheme=scheme, **own, n_bootstraps=2)
        by_search = ho.bootstrap_search(fitted, X, Y, scheme=scheme, n_bootstraps=2)
        assert by_search.to_dict() == by_parts.to_dict()
    entries = [("lr", MODEL, GRID), ("knn", KNeighborsClassifier(), {"n_neighbors": [3]})]
    found = ho.bootstrap_search(
        entries, X, Y, scoring=["accuracy", "roc_auc"], refit="roc_auc", cv=3, n_bootstraps=2, random_state=0
    )
    assert found.metric == "roc_auc"
    assert found.bootstraps[0].scores.keys() == {"accuracy", "roc_auc"}
    assert len(found.selection_frequency) == 3


def test_dropping_saves_fits_in_every_search() -> None:
    found = ho.bootstrap_search(
        Constant(), np.zeros((80, 1)), (np.arange(80) % 5 > 0).astype(int), {"says": [0, 1]}, scoring="accuracy",
        cv=4, drop="bootstrap",
        n_bootstraps=2, random_state=0,
    )  # fmt: skip
    assert found.n_fits_saved > 0
    assert found.n_fits + found.n_fits_saved == 2 * (4 * 2 + 1) + 4 * 2 + 1
    assert Constant.fits == found.n_fits


@dataclass(frozen=True, kw_only=True)
class Looks(Racing):
    """Drops nothing, and keeps the scores it received after the first fold."""

    shown: ClassVar[list[tuple[np.ndarray, np.ndarray]]] = []
    name: ClassVar[str] = "looks"
    statistic_name: ClassVar[str] = "nothing"
    sources: ClassVar[tuple[str, ...]] = ()

    def unfit(self, metric: Any, course: Any) -> None:
        return None

    def judge(self, standing: Standing) -> Verdict:
        if standing.n_splits == 1:
            Looks.shown.append((standing.score.observed(), standing.fold_scores[0]))
        return Verdict(np.ones(standing.n_configurations, dtype=bool), np.zeros(standing.n_configurations))


def test_at_a_barrier_rows_count_as_often_as_they_were_drawn() -> None:
    Looks.shown.clear()
    ho.bootstrap_search(
        MODEL, X, Y, GRID, scoring="accuracy", cv=3, drop=Looks(min_predictions=1), n_bootstraps=6, random_state=0
    )
    assert len(Looks.shown) == 7
    for pooled, of_fold in Looks.shown:
        np.testing.assert_allclose(pooled, of_fold, atol=1e-12)


class NeedsBothSides(LogisticRegression):
    """Fails where the first row is not among its training rows."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> NeedsBothSides:
        if not (X == FIRST).all(axis=1).any():
            raise RuntimeError("the first row is missing")
        super().fit(X, y, sample_weight)
        return self


FIRST = X[0]


def test_samples_without_a_winner_have_no_score_and_a_flag() -> None:
    with pytest.warns(HeldoutWarning, match="failed"):
        found = ho.bootstrap_search(
            [("needs", NeedsBothSides(), {}), ("lr", MODEL, {})], X, Y, scoring="accuracy", cv=3, n_bootstraps=3,
            random_state=0,
        )  # fmt: skip
    assert all(each.selected == 1 for each in found.bootstraps)
    assert Flag.FAILED_CONFIGURATIONS in found.flags
    without_winners = ho.bootstrap_search(
        NeedsBothSides(), X, Y, {"C": [1.0, 2.0]}, scoring="accuracy", cv=[(np.arange(40), np.arange(40, 60))],
        n_bootstraps=8, random_state=0,
    )  # fmt: skip
    lacking = [each for each in without_winners.bootstraps if 0 not in each.drawn]
    assert 0 < len(lacking) < 8
    assert all(each.selected is None and "the first row is missing" in each.reason for each in lacking)
    rest = [each.out_of_bag_score for each in without_winners.bootstraps if 0 in each.drawn]
    assert without_winners.value == pytest.approx(np.mean(rest), abs=1e-12)
    assert Flag.UNDEFINED_BOOTSTRAPS in without_winners.flags
    assert f"{len(lacking)} of 8" in without_winners.flags[Flag.UNDEFINED_BOOTSTRAPS]
    chosen = without_winners.tables()[-1]
    assert sum(int(row[-1]) for row in chosen.rows) == 8 - len(lacking)


def test_flags() -> None:
    found = ho.bootstrap_search(MODEL, X, Y, scoring="accuracy", cv=3, n_bootstraps=3, random_state=0)
    assert {Flag.SINGLE_CONFIGURATION, Flag.FEW_BOOTSTRAPS} <= found.flags.keys()
    rare = np.zeros(60, dtype=int)
    rare[:4] = 1
    redrawn = ho.bootstrap_search(
        MODEL, X, rare, scheme="models", scoring="roc_auc", n_bootstraps=15, random_state=0
    )
    assert redrawn.provenance["n_redraws"] > 0
    for each in redrawn.bootstraps:
        assert set(rare[each.drawn]) == set(rare[each.left_out]) == {0, 1}


def test_models_that_share_rows_are_flagged() -> None:
    flags = [
        ho.bootstrap_search(
            Constant(), X, Y, {"says": says}, scheme=scheme, scoring="accuracy", n_bootstraps=3, random_state=0
        ).flags
        for scheme, says in [("models", [0, 1]), ("models", [0]), ("cvt", [0, 1])]
    ]
    assert [Flag.MODELS_SHARE_ROWS in each for each in flags] == [True, False, False]


def test_the_interval_is_of_percentiles() -> None:
    both, bound = (
        ho.bootstrap_search(
            Constant(), X, Y, {"says": [0, 1]}, scheme="models", scoring="accuracy", n_bootstraps=40,
            confidence_level=0.9, alternative=alternative, random_state=0,
        )
        for alternative in ("two-sided", "greater")
    )  # fmt: skip
    scores = np.sort(both.distribution)
    assert tuple(both.interval) == (order_statistic(scores, 0.05), order_statistic(scores, 0.95))
    assert tuple(bound.interval) == (order_statistic(scores, 0.1), 1.0)


def test_the_estimate_as_json_and_as_a_table(by_name: ho.Estimate) -> None:
    found, document = by_name, json.loads(json.dumps(by_name.to_dict(), allow_nan=False))
    assert document["method"] == "bootstrap_search"
    assert document["provenance"]["sources"] == ["paraschakis2024"]
    assert [each["number"] for each in document["bootstraps"]] == [0, 1, 2]
    assert found.to_frame()["out_of_bag_score"].tolist() == found.distribution.tolist()
    assert repr(found).startswith("Estimate(accuracy")
    assert found.provenance["training_rows"] == np.mean([len(set(each.drawn)) for each in found.bootstraps])


def unweighted(truth: np.ndarray, predicted: np.ndarray) -> float:
    return float(np.mean(truth == predicted))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"scheme": "both"}, "scheme must be one of cvt, models, got 'both'"),
        ({"scheme": "models", "cv": 3}, "takes no cv"),
        ({"scheme": "models", "drop": "bootstrap"}, "takes no drop"),
        ({"n_bootstraps": 0}, "n_bootstraps must be an integer of at least 1"),
        ({"confidence_level": 1.5}, "confidence_level"),
        ({"alternative": "more"}, "alternative must be one of"),
        ({"scheme": "models", "scoring": lambda model, X, y: 1.0}, "cannot be opened"),
        ({"aggregate": "pooled", "scoring": make_scorer(unweighted)}, "counts each row of a sample as often as"),
        ({"drop": "bootstrap", "scoring": make_scorer(unweighted)}, "drop counts each row of a sample as often as"),
    ],
    ids=["scheme", "cv", "drop", "B", "level", "alternative", "closed", "pooled", "dropped"],
)
def test_contradictory_settings_are_refused_before_fitting(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ho.bootstrap_search(Constant(), X, Y, {"says": [0, 1]}, **{"scoring": "accuracy", **settings})
    assert Constant.fits == 0


def test_classes_that_cannot_be_drawn_and_left_out_are_refused_before_fitting() -> None:
    rare = np.zeros(60, dtype=int)
    rare[0] = 1
    with pytest.raises(InputError, match="class 1 has 1 row"):
        ho.bootstrap_search(Constant(), X, rare, scheme="models", scoring="roc_auc")
    rare[1] = 1  # two rows: the search inside needs both, and the score one of them outside
    with pytest.raises(InputError, match=r"draw 2 rows of every class .* class 1 has 2 rows"):
        ho.bootstrap_search(Constant(), X, rare, {"says": [0, 1]}, cv=KFold(2), scoring="roc_auc")
    assert Constant.fits == 0


def test_a_scorer_that_cannot_be_opened_serves_the_direct_bootstrap(by_name: ho.Estimate) -> None:
    def scorer(model: Any, X: Any, y: Any) -> float:
        return float((model.predict(X) == y).mean())

    of_callable = ho.bootstrap_search(MODEL, X, Y, GRID, scoring=scorer, cv=3, n_bootstraps=3, random_state=0)
    assert of_callable.value == by_name.value


@pytest.mark.parametrize("scheme", ["cvt", "models"])
def test_a_search_that_is_always_right_has_an_interval_too(scheme: str) -> None:
    x = np.repeat([-1.0, 1.0], 15)[:, None] + np.linspace(0, 0.1, 30)[:, None]
    y = np.repeat([0, 1], 15)
    cv = {"cv": 3} if scheme == "cvt" else {}
    found = ho.bootstrap_search(
        MODEL, x, y, {"C": [1.0]}, scoring="accuracy", n_bootstraps=20, random_state=0, scheme=scheme, **cv
    )
    assert tuple(found.interval) == pytest.approx((0.05 ** (1 / 30), 1.0))
    assert Flag.NO_SPREAD in found.flags
