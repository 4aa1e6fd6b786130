"""Estimates of rows that follow time: which blocks are drawn, by which methods, and what is said of them."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, TimeSeriesSplit

import heldout as ho
from heldout.errors import InputError
from heldout.estimates.inputs import read_inputs
from heldout.estimates.methods import method_of
from heldout.estimates.ordered_rows import row_effects
from heldout.metrics.base import Response

N = 120
RNG = np.random.default_rng(3)
NOISE = RNG.normal(size=(N, 6))
for t in range(1, N):
    NOISE[t] += 0.7 * NOISE[t - 1]
Y = RNG.normal(size=N)
PREDICTIONS = Y[:, None] + NOISE
LABELS = (NOISE[:, 0] + RNG.normal(size=N) > 0).astype(int)
SCORES = NOISE + 0.3 * LABELS[:, None]
DRAWING = ("bbc", "shrinkage", "naive_bootstrap", "locally_simultaneous", "zoom")
ASKED = {"metric": "mean_absolute_error", "n_bootstraps": 200, "random_state": 1}


def test_how_rows_move_a_mean_is_their_losses_but_for_shift_and_scale():
    evidence = read_inputs(Y, PREDICTIONS, metric="mean_absolute_error").evidence(method_of("bbc"))
    losses = np.abs(NOISE[:, evidence.winner])

    assert row_effects(evidence, evidence.scores) == pytest.approx((losses - losses.mean()) / (N - 1), abs=1e-14)


def test_how_rows_move_an_area():
    evidence = read_inputs(LABELS, SCORES, metric="roc_auc").evidence(method_of("bbc"))
    effects = row_effects(evidence, evidence.scores)
    keep = np.arange(N) != 17
    winner = SCORES[:, evidence.winner]
    areas = [
        float((np.sign(s[y == 1][:, None] - s[y == 0]) / 2 + 0.5).mean())
        for s, y in ((winner, LABELS), (winner[keep], LABELS[keep]))
    ]

    assert effects[17] == pytest.approx(areas[0] - areas[1], abs=1e-14)


@pytest.mark.parametrize("method", DRAWING)
def test_every_method_that_draws_rows_draws_blocks(method):
    single = ho.estimate(Y, PREDICTIONS, method=method, **ASKED)
    blocks = ho.estimate(Y, PREDICTIONS, method=method, block_length=10, **ASKED)

    assert blocks.uncorrected == single.uncorrected
    assert blocks.interval != single.interval
    order = np.random.default_rng(0).permutation(N)
    shuffled = ho.estimate(Y[order], PREDICTIONS[order], method=method, block_length=10, **ASKED)
    assert shuffled.interval != blocks.interval
    assert "block_length" not in single.provenance
    said = {name: value for name, value in blocks.provenance.items() if name.startswith("block")}
    assert said == {"block_kind": "moving", "block_length": 10, "block_length_source": "as passed"}
    assert "kunsch1989" in blocks.provenance["sources"]
    assert "politis2004" not in blocks.provenance["sources"]
    assert ho.Flag.ROW_BLOCKS in blocks.flags
    of_one_row = ho.estimate(Y, PREDICTIONS, method=method, block_length=1, **ASKED)
    assert (of_one_row.value, of_one_row.interval) == (single.value, single.interval)
    assert ho.Flag.ROW_BLOCKS not in of_one_row.flags


@pytest.mark.parametrize("size", [2, 30])
def test_the_automatic_length_is_of_the_losses_however_small_the_folds(size):
    """A row less the mean of its own small fold would have lost the slow part of the dependence."""
    folds = np.arange(N) // size
    losses = np.abs(NOISE[:, :1])
    found = ho.estimate(
        Y, PREDICTIONS[:, :1], folds=folds, aggregate="folds", method="bbc", block_length="auto", **ASKED
    )
    assert found.provenance["block_length"] == np.ceil(ho.estimates.automatic_length(losses[:, 0])) > 1


def test_rows_of_no_weight_take_no_part_in_the_length():
    weight = np.repeat([0.0, 1.0], [N // 2, N - N // 2])
    whole, part = (
        ho.estimate(
            Y[rows], PREDICTIONS[rows, :1], method="bbc", block_length="auto", sample_weight=weights, **ASKED
        ).provenance["block_length"]
        for rows, weights in ((slice(None), weight), (slice(N // 2, None), None))
    )
    assert whole == part
    with pytest.raises(InputError, match=f"is more than half of the {N - N // 2} predicted rows"):
        ho.estimate(Y, PREDICTIONS, method="bbc", block_length=N // 3, sample_weight=weight, **ASKED)


def test_the_automatic_length_is_the_same_as_when_it_is_passed():
    automatic = ho.estimate(Y, PREDICTIONS, method="bbc", block_length="stationary:auto", **ASKED)
    length = automatic.provenance["block_length"]
    passed = ho.estimate(
        Y, PREDICTIONS, method="bbc", block_length=ho.estimates.Blocks(length, "stationary"), **ASKED
    )
    evidence = read_inputs(Y, PREDICTIONS, metric="mean_absolute_error").evidence(method_of("bbc"))

    assert (
        length == np.ceil(ho.estimates.automatic_length(row_effects(evidence, evidence.scores), "stationary")) > 1
    )
    assert (passed.value, passed.interval) == (automatic.value, automatic.interval)
    assert {"politis1994", "politis2004", "patton2009"} <= set(automatic.provenance["sources"])
    assert "chosen by the autocorrelation" in automatic.flags[ho.Flag.ROW_BLOCKS]


@pytest.mark.parametrize(("kind", "metric"), [("moving", "mean_absolute_error"), ("stationary", "r2")])
def test_threads_change_no_bit(kind, metric):
    asked = {"metric": metric, "block_length": f"{kind}:8", "n_bootstraps": 600, "random_state": 2, "method": "bbc"}
    one, two = (ho.estimate(Y, PREDICTIONS, n_jobs=n_jobs, **asked) for n_jobs in (1, 2))

    assert one.to_dict() == two.to_dict()


def test_only_blocks_that_leave_out_every_row_as_often_need_no_control():
    asked = ASKED | {"method": "bbc"}
    stationary = ho.estimate(Y, PREDICTIONS, block_length="stationary:8", **asked)
    moving = ho.estimate(Y, PREDICTIONS, block_length=8, **asked)

    assert stationary.provenance["control_size"] is None
    assert moving.provenance["control_size"] is not None


@pytest.mark.parametrize("method", ["wald_cv", "cv", "tt", "bbc_f"])
def test_methods_that_draw_no_rows_refuse_blocks(method):
    with pytest.raises(InputError, match="draws no rows, so that `block_length='moving:5'` would do nothing"):
        ho.estimate(Y, PREDICTIONS, method=method, block_length=5, folds=np.arange(N) % 4, **ASKED)


def test_a_comparison_of_methods_gives_the_reason():
    found = ho.compare_estimates(Y, PREDICTIONS, methods=["bbc", "wald_cv"], block_length=5, **ASKED)

    assert list(found) == ["bbc"]
    assert "draws no rows" in found.refused["wald_cv"]
    assert not found.coverage  # measured on independent rows


def test_configurations_are_compared_in_blocks():
    single = ho.compare_configurations(Y, PREDICTIONS, **ASKED).difference(0, 1)
    blocks = ho.compare_configurations(Y, PREDICTIONS, block_length=10, **ASKED).difference(0, 1)

    assert blocks.uncorrected == single.uncorrected
    assert blocks.distribution.std() > single.distribution.std()


def test_refused():
    with pytest.raises(InputError, match="more than half of the 120 predicted rows"):
        ho.estimate(Y, PREDICTIONS, block_length=61, **ASKED)
    with pytest.raises(InputError, match="groups are drawn whole"):
        ho.estimate(Y, PREDICTIONS, block_length=5, groups=np.arange(N) // 4, **ASKED)
    with pytest.raises(InputError, match="`stratify=True` draws rows within classes, and blocks"):
        ho.estimate(LABELS, SCORES, metric="roc_auc", method=ho.estimates.BBC(stratify=True), block_length=5)


def test_a_function_of_the_user_has_an_automatic_length():
    error = ho.metrics.custom(
        lambda y, p, sample_weight=None: float(np.average(np.abs(y - p), weights=sample_weight)), name="error",
        response="values", greater_is_better=False,
    )  # fmt: skip
    asked = ASKED | {"metric": error, "n_bootstraps": 20, "method": "naive_bootstrap"}
    own = ho.estimate(Y, PREDICTIONS, block_length="auto", **asked)
    known = ho.estimate(Y, PREDICTIONS, method="naive_bootstrap", block_length="auto", **ASKED)

    assert own.provenance["block_length"] == known.provenance["block_length"]


# -- searches ----------------------------------------------------------------------------------------

X = np.column_stack([NOISE, RNG.normal(size=(N, 2))])
TARGET = X @ np.linspace(1, -1, 8) + NOISE[::-1, 0]


def searched(cv, **settings):
    known = {"scoring": "neg_mean_absolute_error", "n_bootstraps": 100, "random_state": 0}
    return ho.HeldOutSearchCV(Ridge(), {"alpha": [0.1, 10.0, 1000.0]}, cv=cv, **(known | settings)).fit(X, TARGET)


def test_folds_that_follow_time_have_blocks_by_default():
    found = searched(TimeSeriesSplit(4)).estimate_

    assert ho.Flag.ROW_BLOCKS in found.flags
    assert ho.Flag.NOT_EXCHANGEABLE not in found.flags
    assert found.provenance["block_length_source"] == "automatic"
    same = searched(TimeSeriesSplit(4), block_length="auto").estimate_
    assert (same.value, same.interval) == (found.value, found.interval)
    single = searched(TimeSeriesSplit(4), block_length=1).estimate_
    assert ho.Flag.NOT_EXCHANGEABLE in single.flags
    assert ho.Flag.ROW_BLOCKS not in single.flags


def test_shuffled_folds_have_blocks_where_the_user_says_so():
    folds = KFold(4, shuffle=True, random_state=0)

    assert ho.Flag.ROW_BLOCKS not in searched(folds).estimate_.flags
    assert searched(folds, block_length="stationary:6").estimate_.provenance["block_length"] == 6


def test_a_method_that_draws_no_rows_keeps_the_warning():
    found = searched(TimeSeriesSplit(4), method="wald_cv").estimate_

    assert ho.Flag.NOT_EXCHANGEABLE in found.flags
    assert ho.Flag.ROW_BLOCKS not in found.flags
    assert "block_length" not in found.provenance
    assert "kunsch1989" not in found.provenance["sources"]


def test_groups_are_the_blocks_where_there_are_groups():
    groups = np.arange(N) // 6
    months = [(np.arange(6 * k), np.arange(6 * k, 6 * k + 24)) for k in (8, 12, 16)]
    search = ho.HeldOutSearchCV(
        Ridge(), {"alpha": [0.1, 10.0]}, cv=months, scoring="neg_mean_absolute_error", n_bootstraps=100
    )
    found = search.fit(X, TARGET, groups=groups).estimate_

    assert found.provenance["grouped"]
    assert "block_length" not in found.provenance
    assert ho.Flag.NOT_EXCHANGEABLE in found.flags
    with pytest.raises(InputError, match="groups are drawn whole"):
        search.set_params(block_length=4).fit(X, TARGET, groups=groups)


def origins(horizon, step=1, first=60):
    return [(np.arange(at), np.arange(at, at + horizon)) for at in range(first, N - horizon + 1, step)]


def test_forecasts_of_a_row_from_several_origins_are_kept_apart():
    search = searched(origins(5))
    held = search.predictions_

    assert held.n_repeats == 5
    tested = (held.folds >= 0).sum(axis=1)
    assert tested[:60].sum() == 0
    assert tested[64:116].tolist() == [5] * 52
    for repeat, fold in ((0, 0), (2, 3), (4, 1)):
        rows = np.flatnonzero(held.folds[:, repeat] == fold)
        assert rows.tolist() == list(range(rows[0], rows[0] + 5))  # one window
        own = Ridge(alpha=search.best_params_["alpha"]).fit(X[: rows[0]], TARGET[: rows[0]]).predict(X[rows])
        assert held.responses[Response.VALUES][rows, search.best_index_, repeat] == pytest.approx(own, abs=1e-9)
    assert search.best_score_ == pytest.approx(search.cv_results_["mean_test_score"].max(), abs=1e-12)
    assert search.estimate_.n_rows_used == 60


def test_windows_without_common_rows_make_one_repeat():
    assert searched(origins(5, step=5)).predictions_.n_repeats == 1
    assert searched(origins(5, step=2)).predictions_.n_repeats == 3


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"block_length": 0}, "at least 1"),
        ({"block_length": "weekly"}, "at least 1"),
        ({"block_length": 5, "method": "cv"}, "draws no rows"),
        ({"block_length": 5, "method": None}, "for an estimate, and none is made"),
        ({"block_length": 90}, "more than half of the 96 predicted rows"),
    ],
)
def test_a_search_refuses_blocks_before_the_first_fit(settings, says):
    with pytest.raises(InputError, match=says) as caught:
        searched(TimeSeriesSplit(4), **settings)

    assert caught.value.argument == "block_length"


def test_the_estimate_from_a_run_file_draws_the_same_blocks(tmp_path):
    search = searched(TimeSeriesSplit(4), block_length="moving:7", store=tmp_path / "run.db")

    read = ho.estimate(tmp_path / "run.db")

    assert read.interval == search.estimate_.interval
    assert read.provenance["block_length"] == 7
    text = str(search.methods_text())
    assert "blocks of 7 consecutive observations (moving-block bootstrap) (Künsch, 1989)" in text


def test_strata_are_refused_before_the_first_fit_and_drawn_in_single_rows():
    search = ho.HeldOutSearchCV(
        LogisticRegression(), {"C": [0.1, 1.0]}, scoring="roc_auc", cv=TimeSeriesSplit(3), n_bootstraps=50,
        method=ho.estimates.BBC(stratify=True), random_state=0,
    )  # fmt: skip

    with pytest.raises(InputError, match="`stratify=True` draws rows within classes, and blocks"):
        search.fit(SCORES, LABELS)
    assert ho.Flag.STRATIFIED in search.set_params(block_length=1).fit(SCORES, LABELS).estimate_.flags


def test_a_search_that_stops_early_has_no_stretches_of_rows():
    with pytest.raises(InputError, match="the rows of the folds so far are no stretches of time"):
        searched(KFold(4, shuffle=True, random_state=0), stop_when_width=0.1, block_length=6)


def test_every_search_takes_it():
    drawn = ho.HeldOutRandomizedSearchCV(
        Ridge(), {"alpha": [0.1, 1.0, 10.0]}, n_iter=2, cv=TimeSeriesSplit(3), n_bootstraps=50,
        scoring="neg_mean_absolute_error", block_length=6, random_state=0,
    ).fit(X, TARGET)  # fmt: skip
    run = ho.open_search(
        X, TARGET, cv=TimeSeriesSplit(3), scoring="neg_mean_absolute_error", block_length=6, n_bootstraps=50,
        random_state=0,
    )  # fmt: skip
    run.evaluate(Ridge(1.0))
    run.evaluate(Ridge(100.0))

    assert drawn.estimate_.provenance["block_length"] == 6
    assert run.finish().estimate.provenance["block_length"] == 6


def test_a_study_is_corrected_in_blocks():
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    objective = ho.optuna.objective(
        Ridge(), X, TARGET, {"alpha": optuna.distributions.FloatDistribution(0.1, 10.0)}, cv=TimeSeriesSplit(3),
        scoring="neg_mean_absolute_error", random_state=0,
    )  # fmt: skip
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(objective, n_trials=3)

    assert ho.correct(study, n_bootstraps=50).provenance["block_length_source"] == "automatic"
    assert ho.correct(study, n_bootstraps=50, block_length=6).provenance["block_length"] == 6
    with pytest.raises(InputError, match="draws no rows"):
        ho.correct(study, n_bootstraps=50, block_length=6, method="cv")


def test_blocks_are_as_long_as_the_winner_asks_where_another_configuration_has_no_score():
    def error(y, predicted):
        if predicted.max() > 50:
            raise ValueError("too large")
        return np.abs(y - predicted).mean()

    metric = ho.metrics.custom(error, greater_is_better=False, response="values")
    asked = {"metric": metric, "method": "bbc", "n_bootstraps": 5, "block_length": "auto", "random_state": 1}
    alone = ho.estimate(Y, PREDICTIONS[:, :3], **asked)
    with pytest.warns(ho.HeldoutWarning, match="1 of 4 configurations failed"):
        beside = ho.estimate(Y, np.column_stack([Y + 100, PREDICTIONS[:, :3]]), **asked)
    assert beside.provenance["block_length"] == alone.provenance["block_length"] > 1
