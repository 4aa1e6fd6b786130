"""``stop_when_width``: where a search stops, that nothing about running changes it, and what its result says."""

import json

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, TimeSeriesSplit
from sklearn.neighbors import KNeighborsClassifier

import heldout as ho
from heldout.errors import InputError
from heldout.execution.store import SQLiteStore
from heldout.flags import Flag

N = 300
RNG = np.random.default_rng(2)
X = RNG.normal(size=(N, 3))
Y = (X[:, 0] + RNG.normal(size=N) > 0).astype(int)
GRID = {"n_neighbors": [3, 15, 31]}


def search(width, **settings):
    known = {"scoring": "accuracy", "cv": KFold(10), "n_bootstraps": 60, "random_state": 4}
    return ho.HeldOutSearchCV(KNeighborsClassifier(), GRID, stop_when_width=width, **(known | settings))


def test_by_hand_it_stops_at_the_first_fold_whose_interval_is_tight():
    """The width after k folds is that of ``ho.estimate`` on the rows of the first k folds, of 30 rows each."""
    whole = search(None).fit(X, Y)
    assert Flag.STOPPED_EARLY not in whole.estimate_.flags
    widths = {}
    for k in range(2, 10):
        rows = np.arange(30 * k)
        labels = whole.predictions_.responses["labels"][rows, :, 0]
        found = ho.estimate(
            Y[rows], labels, metric="accuracy", folds=rows // 30, aggregate="folds", response="labels",
            n_bootstraps=60, random_state=4,
        )  # fmt: skip
        widths[k] = found.interval.high - found.interval.low
    most = 0.16
    at = next(k for k, width in widths.items() if width <= most)
    assert 2 < at < 9, widths
    made = search(most).fit(X, Y)
    barriers = made.evaluation_.barriers
    assert [barrier.width for barrier in barriers[1:]] == [widths[k] for k in range(2, at + 1)]
    assert barriers[0].width is None  # 30 rows are too few
    assert [barrier.stopped for barrier in barriers] == [False] * (at - 1) + [True]
    assert made.n_fits_ == 3 * at
    assert made.n_fits_saved_ == 3 * (10 - at)
    interval = made.confidence_interval_
    assert interval.high - interval.low == widths[at] <= most
    assert made.estimate_.n_rows_used == 30 * at
    assert made.estimate_.flags[Flag.STOPPED_EARLY].startswith(
        f"The search stopped after {at} of 10 folds because the 95 % interval was no wider than 0.16; it rests "
        f"on {30 * at} of 300 rows."
    )
    assert made.best_estimator_.n_samples_fit_ == N  # refitted on all rows
    assert made.cv_results_[f"split{at - 1}_test_score"].shape == (3,)
    assert f"split{at}_test_score" not in made.cv_results_


def test_a_width_that_is_never_reached_and_one_that_is_reached_at_once():
    never, whole = search(1e-6).fit(X, Y), search(None).fit(X, Y)
    assert never.estimate_.to_dict() == whole.estimate_.to_dict()
    assert never.n_fits_saved_ == 0
    assert search(0.999).fit(X, Y).n_splits_ == 2  # after one fold there are 30 rows, fewer than 50


@pytest.mark.parametrize("method", ["bbc", "bbc_f"])
def test_methods_with_an_interval(method):
    made = search(0.2, method=method).fit(X, Y)
    assert made.estimate_.method == method
    assert (made.confidence_interval_.high - made.confidence_interval_.low <= 0.2) == (made.n_splits_ < 10)


def test_repeats_are_judged_when_they_are_complete():
    made = search(0.12, cv=3, repeats=4, scoring="roc_auc").fit(X, Y)
    looked = [barrier.after for barrier in made.evaluation_.barriers if barrier.width is not None]
    assert set(looked) <= {1, 2, 3, 6, 9}
    assert made.n_splits_ in (*looked, 12)


def test_the_width_is_part_of_the_identity_of_a_run(tmp_path):
    store = SQLiteStore(tmp_path / "run.db", one_run=True)
    search(0.16, store=store).fit(X, Y)
    search(0.16, store=store).fit(X, Y)
    with pytest.raises(ho.HeldoutError, match=r"stop_when_width 0\.16 then, 0\.2 now"):
        search(0.2, store=store).fit(X, Y)
    with pytest.raises(ho.HeldoutError, match=r"stop_when_width 0\.16 then, not given now"):
        search(None, store=store).fit(X, Y)


def test_it_goes_with_dropping():
    made = search(0.16, drop="bootstrap(threshold=0.9)").fit(X, Y)
    assert made.evaluation_.barriers[-1].stopped
    assert Flag.STOPPED_EARLY in made.estimate_.flags
    from heldout.report import facts

    assert facts(made.evaluation_)["race"]["stopped"] is not None
    assert facts(search(0.16).fit(X, Y).evaluation_)["race"] is None


def test_a_random_search_has_it_too():
    made = ho.HeldOutRandomizedSearchCV(
        LogisticRegression(), {"C": [0.1, 1.0]}, n_iter=2, cv=10, n_bootstraps=50, random_state=0,
        stop_when_width=0.3,
    ).fit(X, Y)  # fmt: skip
    assert made.n_splits_ < 10


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"method": "cv"}, "cv has no interval"),
        ({"method": None}, "`method=None` has no interval"),
        ({"alternative": "greater"}, "an interval of `alternative='greater'` is open at one side"),
        ({"cv": TimeSeriesSplit(4)}, "folds that follow time do not stand for those after them"),
        ({"cv": [(np.arange(200), np.arange(200, 300))]}, "there is one split"),
        ({"refit": lambda results: 0}, "a callable refit chooses only at the end"),
        ({"drop": "sequential", "cv": None}, "`drop='sequential'` has an end of its own"),
    ],
    ids=["cv", "none", "one-sided", "time", "hold-out", "refit", "sequential"],
)
def test_what_cannot_stop_is_refused_before_the_first_fit(settings, says):
    with pytest.raises(InputError) as refused:
        search(0.1, **settings).fit(X, Y)
    assert str(refused.value) == f"`stop_when_width=0.1` does not fit: {says}; leave it out."


@pytest.mark.parametrize("width", [0, np.nan, "0.1", True])
def test_a_width_is_a_number_above_0(width):
    with pytest.raises(ValueError, match="stop_when_width"):
        search(width).fit(X, Y)


def test_protocols_refuse_a_search_that_stops():
    with pytest.raises(InputError, match="a protocol repeats it with all its folds"):
        ho.nested_cv(search(0.1), X, Y)


@pytest.mark.usefixtures("short_page")
def test_on_the_command_line(command, tmp_path):
    import pandas as pd

    frame = pd.DataFrame({f"x{j}": column for j, column in enumerate(X.T)}).assign(y=Y)
    frame.to_csv(tmp_path / "t.csv", index=False)
    arguments = [
        "tune", str(tmp_path / "t.csv"), "--target", "y", "--models", "logistic", "--metric", "accuracy",
        "--cv", "5", "--stop-when-width", "0.2", "--n-jobs", "1", "--n-bootstraps", "50",
        "--out", str(tmp_path / "out"),
    ]  # fmt: skip
    ran = command(*arguments, "--json")
    assert ran.code == 0, ran
    found = json.loads(ran.out)
    assert 2 <= found["stopped_after"] < 5
    assert found["interval"]["high"] - found["interval"]["low"] <= 0.2
    assert "stopped_early" in [each["flag"] for each in found["flags"]]
    shown = command(*arguments, "--resume")
    assert f"after {found['stopped_after']} of 5 splits: the interval is " in shown.out
    refused = command(*arguments, "--method", "nested", "--resume")
    assert refused.code == 2
    assert "--stop-when-width 0.2 stops a search early, and a protocol repeats it" in refused.err
    assert command(*arguments, "--method", "tt", "--resume").code == 2
