"""The estimate of a stored search at any time: of the folds that are complete for all remaining configurations."""

import json
import sqlite3
import time
from contextlib import closing, suppress

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyRegressor
from sklearn.metrics import make_scorer
from sklearn.model_selection import GroupKFold, KFold, TimeSeriesSplit

import heldout as ho
from heldout.errors import InputError, StoreError
from heldout.evaluate import evaluation_so_far
from heldout.execution.store import SQLiteStore
from heldout.execution.store.unfinished_search import search_so_far
from heldout.flags import Flag

N, C = 120, 4
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
GRID = {"skill": [0.2, 1.17, 1.2, 0.1]}
FITS = []
"""Counted, so that a search can be interrupted at one of them."""


class Rows(ClassifierMixin, BaseEstimator):
    """Scores that depend on the row and the skill alone; interrupted at fit number ``stop_at``."""

    def __init__(self, skill=1.0):
        self.skill = skill

    def fit(self, X, y, sample_weight=None):
        FITS.append(self.skill)
        if len(FITS) == Rows.stop_at:
            raise KeyboardInterrupt
        self.classes_ = np.unique(y)
        return self

    stop_at = 0

    def decision_function(self, X):
        return scores_of(X, self.skill)

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


class Risk(BaseEstimator):
    """The risk of an event is one of the columns."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y):
        self.columns_ = X.shape[1]
        return self

    def predict(self, X):
        return X[:, self.column]


def scores_of(table, skill):
    side = np.where(table[:, 2] > 0, 1.0, -1.0)
    return side * skill + table[:, 0] + 0.3 * skill * table[:, 1]


def share_right(y_true, y_pred):
    return float(np.mean(y_true == y_pred))


LABELS = np.where(X[:, 2] > 0, "yes", "no")


def search(store=None, **settings):
    known = {
        "scoring": "roc_auc",
        "cv": KFold(6),
        "n_bootstraps": 20,
        "random_state": 5,
        "share": False,
        "refit": False,
    }
    return ho.HeldOutSearchCV(Rows(), GRID, store=store, **(known | settings))


def interrupted(store, at, *, y=None, fit_params=None, **settings):
    """A run file whose search was interrupted at fit number ``at``."""
    FITS.clear()
    Rows.stop_at = at
    try:
        with pytest.raises(KeyboardInterrupt):
            search(store, **settings).fit(X, LABELS if y is None else y, **(fit_params or {}))
    finally:
        Rows.stop_at = 0
    return SQLiteStore(store)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.db"


@pytest.mark.parametrize(("aggregate", "skill"), [("folds", 1.17), ("pooled", 1.2)])
def test_by_hand_it_is_the_estimate_of_the_rows_of_the_complete_folds(path, aggregate, skill):
    """Fit 15 of 4 x 6 is in the fourth fold: three folds, or the rows 0 to 59, are complete."""
    store = interrupted(path, 15, aggregate=aggregate)
    found = ho.estimate(store)
    rows = np.arange(60)
    by_hand = ho.estimate(
        LABELS[rows], np.stack([scores_of(X[rows], skill) for skill in GRID["skill"]], axis=1), metric="roc_auc",
        folds=rows // 20, aggregate=aggregate, response="decision", n_bootstraps=20, random_state=5,
    )  # fmt: skip
    assert (found.value, found.uncorrected, found.interval) == (
        by_hand.value,
        by_hand.uncorrected,
        by_hand.interval,
    )
    assert found.selected_name == f"Rows (skill={skill})"
    assert found.n_rows_used == 60
    assert found.flags[Flag.UNFINISHED_SEARCH] == (
        "The search is unfinished. The estimate rests on 3 of 6 folds (60 of 120 rows), those that are complete "
        "for all 4 remaining configurations. Results on other folds are left out."
    )


@pytest.mark.parametrize(
    ("settings", "params"),
    [
        ({}, {}),
        ({"cv": GroupKFold(4)}, {"groups": np.arange(N) // 3}),
        ({"cv": 3, "repeats": 2}, {}),
        ({"cv": TimeSeriesSplit(4)}, {}),
        ({"cv": ho.protocols.repeated_hold_out(5, 0.3)}, {}),
        ({"aggregate": "within"}, {}),
        ({"method": "bbc_f"}, {}),
        ({"drop": "bootstrap(replay=True)", "method": "bbc"}, {}),
    ],
    ids=["resumed", "groups", "repeats", "time", "subsampling", "within", "folds", "replayed"],
)
def test_of_a_finished_search_it_is_its_own_estimate(path, settings, params):
    if not settings:
        interrupted(path, 15)
    whole = search(path, **settings).fit(X, LABELS, **params)
    found = ho.estimate(SQLiteStore(path))
    assert found.to_dict() == whole.estimate_.to_dict()
    assert Flag.UNFINISHED_SEARCH not in found.flags


def test_dropped_configurations_do_not_hold_a_fold_back(path):
    """Two are dropped after three folds; fit 4·3 + 2 + 2 is in the fifth fold, and four folds are complete."""
    rule = ho.dropping.Bootstrap(threshold=0.98, n_bootstraps=100)
    whole = search(drop=rule).fit(X, LABELS)
    at = {barrier.after: len(barrier.dropped) for barrier in whole.evaluation_.barriers}
    assert (at[1], at[2], at[3], at[4]) == (0, 0, 2, 0)
    store = interrupted(path, 4 * 3 + 2 + 2, drop=rule)
    found = ho.estimate(store)
    assert found.n_rows_used == 80
    assert "4 of 6 folds (80 of 120 rows)" in found.flags[Flag.UNFINISHED_SEARCH]
    assert "all 2 remaining configurations" in found.flags[Flag.UNFINISHED_SEARCH]
    assert "2 of 4 configurations were dropped" in found.flags[Flag.DROPPED_CONFIGURATIONS]
    search(path, drop=rule).fit(X, LABELS)
    assert ho.estimate(store).to_dict() == whole.estimate_.to_dict()


class Reader(Rows):
    """Each of its fits reads the estimate of the run that it is part of."""

    path, found = None, []

    def fit(self, X, y):
        time.sleep(0.03)  # results are acknowledged after each 50 ms of work
        with suppress(StoreError):
            Reader.found.append(ho.estimate(SQLiteStore(Reader.path)).n_rows_used)
        return super().fit(X, y)


def test_a_search_that_runs_can_be_read_and_goes_on(path):
    Reader.path, Reader.found = path, []
    made = search(path)
    made.estimator = Reader()
    made.fit(X, LABELS)
    assert Reader.found == sorted(Reader.found)
    assert {20, 40, 60, 80} <= set(Reader.found) <= {20, 40, 60, 80, 100, 120}
    assert ho.estimate(SQLiteStore(path)).to_dict() == made.estimate_.to_dict()


@pytest.mark.parametrize("at", [1, 4])
def test_without_a_complete_fold_it_is_one_sentence(path, at):
    store = interrupted(path, at)
    with pytest.raises(StoreError) as refused:
        ho.estimate(store)
    assert str(refused.value) == (
        f"the search in {path} does not have a fold that is complete for all 4 remaining configurations yet, so "
        "there is no estimate; try again when more fits are done (heldout status shows how many are)."
    )


def test_weights_are_kept(path):
    settings = {"scoring": "roc_auc", "cv": KFold(6), "n_bootstraps": 20, "random_state": 5}
    weights = np.resize([1.0, 2.0, 4.0], N)
    with ho.open_search(X, LABELS, sample_weight=weights, store=path, **settings) as run:
        for skill in GRID["skill"]:
            run.evaluate(Rows(skill))
        whole = run.finish().estimate
    found = ho.estimate(SQLiteStore(path))
    assert found.to_dict() == whole.to_dict()
    assert Flag.UNFINISHED_SEARCH not in found.flags


@pytest.mark.parametrize("kind", ["regression", "survival", "numbers as classes"])
def test_other_targets(path, kind):
    if kind == "regression":
        made = ho.HeldOutSearchCV(
            DummyRegressor(), {"strategy": ["mean", "median"]}, scoring="neg_mean_squared_error", cv=3, store=path,
            n_bootstraps=30, random_state=0,
        )  # fmt: skip
        made.fit(X, X[:, 0])
    elif kind == "survival":
        made = ho.HeldOutSearchCV(
            Risk(), {"column": [0, 1]}, scoring="concordance_index", cv=3, store=path, n_bootstraps=30,
            random_state=0,
        )  # fmt: skip
        made.fit(X, (np.resize([True, True, False], N), np.exp(X[:, 0])))
    else:
        made = search(path).fit(X, np.where(LABELS == "yes", 7, 3))
    assert ho.estimate(SQLiteStore(path)).to_dict() == made.estimate_.to_dict()


def test_several_metrics_and_a_method_with_settings(path):
    settings = {
        "scoring": ["roc_auc", "accuracy"], "refit": "roc_auc", "selection": "within(tolerance=0.02)",
        "method": ho.estimates.BBC(interval="calibrated"),
    }  # fmt: skip
    whole = search(path, **settings).fit(X, LABELS)
    stored = search_so_far(path)
    for name, estimate in stored.estimates().items():
        assert estimate.to_dict() == whole.estimates_[name].to_dict()
    again = evaluation_so_far(stored)
    assert again.winner == whole.best_index_
    assert again.provenance["fingerprint_of_rows"] == whole.evaluation_.provenance["fingerprint_of_rows"]
    assert again.provenance["fingerprint_of_folds"] == whole.evaluation_.provenance["fingerprint_of_folds"]
    assert [a for a, _ in again.configurations.identities()] == [
        a for a, _ in whole.evaluation_.configurations.identities()
    ]


def test_an_adaptive_search_counts_the_configurations_that_have_all_folds(path):
    with ho.open_search(
        X, LABELS, scoring="roc_auc", cv=KFold(6), n_bootstraps=20, random_state=5, store=path
    ) as run:
        for skill in GRID["skill"][:3]:
            run.evaluate(Rows(skill))
        FITS.clear()
        Rows.stop_at = 3
        with pytest.raises(KeyboardInterrupt):
            run.evaluate(Rows(2.5))
    Rows.stop_at = 0
    found = ho.estimate(SQLiteStore(path))
    assert Flag.ADAPTIVE_SEARCH in found.flags
    assert found.flags[Flag.UNFINISHED_SEARCH] == (
        "The search is unfinished. The estimate rests on 3 configurations with results on all 6 folds so far. What "
        "else will be proposed is not known."
    )
    by_hand = ho.estimate(
        LABELS, np.stack([scores_of(X, skill) for skill in GRID["skill"][:3]], axis=1), metric="roc_auc",
        folds=np.arange(N) // 20, aggregate="folds", response="decision", n_bootstraps=20, random_state=5,
    )  # fmt: skip
    assert found.value == by_hand.value


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"scoring": make_scorer(share_right)}, "the metric of the scorer 'score' is an object of your own"),
        ({"refit": lambda results: 0}, "the selection rule is an object of your own"),
        ({"method": None}, "`method=None`, so it has no estimate"),
        ({"selection": ho.selection.Within(0.1, complexity="skill")}, "the selection rule is an object"),
    ],
    ids=["metric", "callable", "none", "complexity"],
)
def test_what_a_run_file_does_not_hold_is_named(path, settings, says):
    store = interrupted(path, 20, **settings)
    with pytest.raises(StoreError, match=says):
        ho.estimate(store)


def test_a_strategy_has_its_estimate_at_its_end(path):
    """``sequential`` plans growing training parts, and chooses by its last three steps."""
    settings = {"drop": "sequential", "cv": None, "scoring": "accuracy"}
    store = interrupted(path, 10, **settings)
    with pytest.raises(StoreError, match="before its end: the rule 'sequential' chooses by its last steps"):
        ho.estimate(store)
    whole = search(path, **settings).fit(X, LABELS)
    assert ho.estimate(store).to_dict() == whole.estimate_.to_dict()


def test_a_protocol_has_no_estimate_of_part_of_its_fits(path):
    ho.nested_cv(Rows(), X, LABELS, param_grid=GRID, scoring="roc_auc", cv=3, store=path, random_state=0)
    with pytest.raises(StoreError, match="is of a protocol with fits of its own"):
        ho.estimate(SQLiteStore(path))


@pytest.mark.parametrize("setting", [{"metric": "roc_auc"}, {"predictions": X}, {"n_bootstraps": 7}], ids=str)
def test_settings_beside_a_store_are_refused(path, setting):
    with pytest.raises(InputError, match=f"so {next(iter(setting))} must be left out"):
        ho.estimate(SQLiteStore(path), **setting)


def test_what_is_no_store_and_no_target(path):
    with pytest.raises(StoreError, match="there is no run file"):
        ho.estimate(SQLiteStore(path))
    with pytest.raises(InputError, match="there is no run file 'none"):
        ho.estimate("none.db")
    with pytest.raises(InputError, match="metric must be given beside y_true"):
        ho.estimate(LABELS, X)


def test_a_changed_note_is_refused(path):
    interrupted(path, 20)
    for change in ("UPDATE search SET note = '{}'", "UPDATE search SET data = zeroblob(960)"):
        with closing(sqlite3.connect(path, isolation_level=None)) as file:
            file.execute(change)
        with pytest.raises(StoreError, match="is damaged"):
            ho.estimate(SQLiteStore(path))


def test_on_the_command_line(path, tmp_path, command, monkeypatch):
    monkeypatch.setattr("heldout.report.displays.svg.PageCanvas.body", lambda canvas: "")  # its words are read
    interrupted(path, 15)
    ran = command("estimate", path, "--json")
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    assert found["value"] == ho.estimate(SQLiteStore(path)).value
    assert "unfinished_search" in [each["flag"] for each in found["flags"]]
    assert "3 of 6 folds" in command("estimate", tmp_path).out
    refused = command("estimate", path, "--metric", "accuracy")
    assert refused.code == 2
    assert "--metric has no meaning for a run file" in refused.err
    drawn = command("report", tmp_path)
    assert drawn.code == 0, drawn.err
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "The search is unfinished. The estimate rests on 3 of 6 folds (60 of 120 rows)" in page
    assert 'id="methods-text">The search is unfinished.' in page and "No final model was fitted." in page
    assert not (tmp_path / "report.json").exists()  # so that a later call draws what is complete then
