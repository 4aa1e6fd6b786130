"""Dropping in a search: who leaves is decided by the predictions alone, and nothing else of the search changes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flipping import Flipping, X, Y
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

import heldout as ho
from heldout.cli.result import search_rows
from heldout.dropping import Bootstrap, Racing, Standing, Verdict
from heldout.dropping.base import Course
from heldout.errors import HeldoutWarning, InputError
from heldout.flags import Flag
from heldout.report import facts

pytestmark = pytest.mark.filterwarnings("ignore:The rows look ordered")  # a column numbers them

N_FOLDS = 6
QUALITIES = [0.0, 0.05, 0.1, 0.2, 0.35, 0.45, 0.5, 0.0]


def grid() -> list[dict[str, list[Any]]]:
    return [{"share": [0.05 + share], "seed": [seed]} for seed, share in enumerate(QUALITIES)]


def search(**settings: Any) -> ho.HeldOutSearchCV:
    given = {"cv": N_FOLDS, "random_state": 1, "n_bootstraps": 100, "drop": "bootstrap"} | settings
    return ho.HeldOutSearchCV(Flipping(), grid(), **given)


def outcome(found: ho.HeldOutSearchCV) -> dict[str, Any]:
    """What does not depend on how it was run, to the last bit."""
    return {
        "best": found.best_index_,
        "value": found.estimate_.value.hex(),
        "barriers": found.evaluation_.barriers,
        "fits": (found.n_fits_, found.n_fits_saved_),
        "predictions": {name: array.tobytes() for name, array in found.predictions_.responses.items()},
        "table": {
            name: np.asarray(column, dtype=float).tobytes()
            for name, column in found.cv_results_.items()
            if "_time" not in name and not name.startswith(("param", "pooled"))
        },
    }


@pytest.fixture(scope="module")
def dropped() -> ho.HeldOutSearchCV:
    return search().fit(X, Y)


def test_losers_leave_and_are_not_fitted_again(dropped: ho.HeldOutSearchCV) -> None:
    assert dropped.n_fits_ + dropped.n_fits_saved_ == N_FOLDS * len(QUALITIES)
    assert dropped.n_fits_saved_ > 0
    met = dropped.cv_results_["n_splits_evaluated"]
    at = dropped.cv_results_["dropped_at_split"]
    assert met.sum() == dropped.n_fits_
    for j in range(len(QUALITIES)):
        scores = [dropped.cv_results_[f"split{k}_test_score"][j] for k in range(N_FOLDS)]
        assert np.isnan(scores).sum() == N_FOLDS - met[j]
        assert at[j] == (-1 if met[j] == N_FOLDS else met[j] - 1)
        assert (j in dropped.predictions_.dropped) == (met[j] < N_FOLDS)
        assert np.isnan(dropped.cv_results_["mean_test_score"][j]) == (met[j] < N_FOLDS)
    alive = np.flatnonzero(met == N_FOLDS)
    assert dropped.best_index_ in alive
    assert set(dropped.cv_results_["rank_test_score"][met < N_FOLDS]) == {len(alive) + 1}
    assert ho.Flag.DROPPED_CONFIGURATIONS in dropped.estimate_.flags


def test_who_leaves_is_what_a_plain_loop_over_the_complete_predictions_finds(dropped: ho.HeldOutSearchCV) -> None:
    complete = search(drop=None).fit(X, Y)
    labels = complete.predictions_.responses["labels"][:, :, 0]
    wrong = (labels != Y[:, None]).astype(float)
    folds = complete.predictions_.folds[:, 0]
    alive = list(range(len(QUALITIES)))
    for barrier in dropped.evaluation_.barriers:
        rows = folds < barrier.after
        assert barrier.n_before == len(alive) and barrier.n_rows == rows.sum()
        losses = wrong[rows][:, alive].mean(axis=0)
        leader = alive[int(losses.argmin())]
        leaving = {left.configuration: left.statistic for left in barrier.dropped}
        if barrier.n_rows >= 50:
            assert barrier.leader == leader
            rng = np.random.default_rng(barrier.after)
            drawn = rng.multinomial(rows.sum(), np.full(rows.sum(), 1 / rows.sum()), size=4000)
            bootstrapped = drawn @ wrong[rows]
            for j in alive:
                share = (bootstrapped[:, j] > bootstrapped[:, leader]).mean()
                # 1000 draws there, 4000 here: four standard errors of the difference at .99 are .014.
                assert (j in leaving) == (share > 0.99) or abs(share - 0.99) < 0.014
                if j in leaving:
                    assert leaving[j] == pytest.approx(share, abs=0.014)
        else:
            assert not leaving
        alive = [j for j in alive if j not in leaving]
    assert complete.best_index_ == dropped.best_index_


def test_another_rule_may_continue_a_run(dropped: ho.HeldOutSearchCV, tmp_path: Path) -> None:
    """What a store holds of those who left is not looked at; what it lacks of those who stay is done."""
    store = tmp_path / "run.db"
    complete = search(drop=None, store=store).fit(X, Y)
    again = search(store=store).fit(X, Y)
    assert outcome(again) == outcome(dropped)
    assert outcome(search(drop=None, store=store).fit(X, Y)) == outcome(complete)
    other = tmp_path / "other.db"
    assert outcome(search(store=other).fit(X, Y)) == outcome(dropped)
    assert outcome(search(drop=None, store=other).fit(X, Y)) == outcome(complete)


def test_nobody_leaves_before_enough_rows_are_predicted() -> None:
    found = search(drop=Bootstrap(min_predictions=121)).fit(X, Y)
    after = [barrier.after for barrier in found.evaluation_.barriers if barrier.dropped]
    assert min(after) == 5
    assert search(drop=Bootstrap(min_predictions=181)).fit(X, Y).n_fits_saved_ == 0


def test_failures_leave_at_the_first_barrier_and_stay_failures() -> None:
    with pytest.warns(HeldoutWarning, match="1 of 9 configurations failed"):
        found = ho.HeldOutSearchCV(
            Flipping(), [*grid(), {"fails": [True]}], cv=N_FOLDS, random_state=1, drop="bootstrap", n_bootstraps=50
        ).fit(X, Y)
    assert found.cv_results_["n_splits_evaluated"][8] == 1
    assert list(found.predictions_.failed) == [8]
    first = found.evaluation_.barriers[0].dropped
    assert [(left.configuration, left.reason) for left in first] == [(8, "it failed: ValueError: it was told to")]


class Everybody(Racing):
    """Would drop everybody."""

    name = "everybody"
    statistic_name = "nothing"
    sources = ()

    def unfit(self, metric: Any, course: Course) -> str | None:
        return "it is for rows that are alone" if course.grouped else None

    def judge(self, standing: Standing) -> Verdict:
        return Verdict(np.zeros(standing.n_configurations, dtype=bool), np.zeros(standing.n_configurations))


def test_the_leader_never_leaves() -> None:
    found = search(drop=Everybody(min_predictions=1)).fit(X, Y)
    assert found.n_fits_ == len(QUALITIES) + N_FOLDS - 1
    assert len(found.evaluation_.barriers[0].dropped) == len(QUALITIES) - 1
    assert 0 < found.evaluation_.barriers[0].risk < 1
    assert np.isfinite(found.estimate_.value)


class OfTheFirst(Everybody):
    """Keeps the first two for ever."""

    def judge(self, standing: Standing) -> Verdict:
        keep = np.arange(standing.n_configurations) < 2
        return Verdict(keep, np.zeros(len(keep)))


def test_ties_of_two_are_resolved_on_request() -> None:
    everybody = search(drop=OfTheFirst(min_predictions=1)).fit(X, Y)
    resolved = search(drop=OfTheFirst(min_predictions=1, resolve_ties_after=2)).fit(X, Y)
    assert (everybody.cv_results_["n_splits_evaluated"] == N_FOLDS).sum() >= 2
    (last,) = [barrier for barrier in resolved.evaluation_.barriers if barrier.n_before == 2 and barrier.dropped]
    assert last.after == 3 and "only two remained" in last.dropped[0].reason
    assert (resolved.cv_results_["n_splits_evaluated"] == N_FOLDS).sum() == 1


def test_shuffled_folds_change_the_order_and_not_the_predictions(dropped: ho.HeldOutSearchCV) -> None:
    shuffled = search(drop=Bootstrap(shuffle_folds=True), repeats=2).fit(X, Y)
    plain = search(repeats=2).fit(X, Y)
    stayed = set(range(8)) - set(shuffled.predictions_.dropped) - set(plain.predictions_.dropped)
    for response, array in plain.predictions_.responses.items():
        for j in stayed:
            np.testing.assert_array_equal(shuffled.predictions_.responses[response][:, j], array[:, j])
    at = shuffled.cv_results_["dropped_at_split"]
    for j in shuffled.predictions_.dropped:
        assert np.isfinite(shuffled.cv_results_[f"split{at[j]}_test_score"][j])


def test_later_repeats_are_judged_where_they_end() -> None:
    found = search(repeats=3, drop=Bootstrap(threshold=0.9)).fit(X, Y)
    after = [barrier.after for barrier in found.evaluation_.barriers]
    assert after == list(range(1, 3 * N_FOLDS))
    left = {barrier.after for barrier in found.evaluation_.barriers if barrier.dropped}
    assert left <= {*range(1, N_FOLDS + 1), 2 * N_FOLDS} and found.n_fits_saved_ > N_FOLDS


def test_groups_are_drawn_whole_at_barriers_too() -> None:
    groups = np.arange(180) // 3
    found = search(cv=GroupKFold(N_FOLDS)).fit(X, Y, groups=groups)
    assert found.n_fits_saved_ > 0
    with pytest.raises(InputError, match=r"`drop='everybody'` does not fit: it is for rows that are alone"):
        search(cv=GroupKFold(N_FOLDS), drop=Everybody()).fit(X, Y, groups=groups)


def test_what_cannot_be_judged_is_refused_before_fitting() -> None:
    with pytest.raises(InputError, match="cannot be opened"):
        search(scoring=lambda model, X, y: 0.5, method=None).fit(X, Y)
    with pytest.raises(InputError, match="a callable refit chooses only at the end"):
        search(refit=lambda results: 0).fit(X, Y)


def test_a_single_split_has_no_barrier() -> None:
    found = ho.HeldOutSearchCV(
        LogisticRegression(), {"C": [0.1, 1]}, cv=[(np.arange(100), np.arange(100, 180))], drop="bootstrap",
        n_bootstraps=50, random_state=0,
    ).fit(X, Y)  # fmt: skip
    assert not found.evaluation_.barriers and found.n_fits_ == 2


def test_a_rule_that_could_never_drop_says_so() -> None:
    """Before the last of six splits 5/6 of the rows are predicted."""
    n_before = len(Y) - len(Y) // N_FOLDS
    never = search(drop=Bootstrap(min_predictions=len(Y))).fit(X, Y)
    assert never.n_fits_saved_ == 0
    assert never.estimate_.flags[Flag.DROPPING_NEVER_APPLIED] == (
        f"Nothing could be dropped: min_predictions is {len(Y):,}, and {n_before:,} rows came before the last "
        "split."
    )
    race = facts(never.evaluation_)["race"]
    assert (race["could_drop"], race["min_predictions"], len(race["dropped"])) == (False, len(Y), 0)
    shown = dict(search_rows(never.evaluation_, {}, 0, seconds=1.0))
    assert shown["dropped"] == (
        f"none could be: the rule applies from {len(Y):,} predicted rows, and the last split came after "
        f"{n_before:,}"
    )
    could = search(drop=Bootstrap(min_predictions=n_before)).fit(X, Y)
    assert Flag.DROPPING_NEVER_APPLIED not in could.estimate_.flags
    assert "dropped" not in dict(search_rows(could.evaluation_, {}, 0, seconds=1.0)) or could.n_fits_saved_


def test_a_loss_outside_its_range_is_a_failure_of_its_configuration_alone() -> None:
    """Squared errors of up to .49 where .3 is declared: it is no candidate, and the race goes on without it."""
    y = np.linspace(0.9, 1.0, 200)
    seen: list[int] = []

    class Constant(DummyRegressor):  # type: ignore[misc]
        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            seen.append(len(X))
            return super().fit(X, y)

    models = [(str(c), Constant(strategy="constant", constant=c), {}) for c in (0.95, 0.3)]
    made = ho.HeldOutSearchCV(
        models, scoring="neg_mean_squared_error(most=0.3)", drop="hoeffding_race", cv=ho.protocols.k_folds(4)
    )
    with pytest.warns(HeldoutWarning, match=r"declares losses of at most 0\.3, and a row has 0\.4"):
        made.fit(y[:, None], y)
    assert made.best_index_ == 0 and "failed_configurations" in made.estimate_.flags
    assert len(seen) <= 9  # two models on four splits, and the winner on all rows
