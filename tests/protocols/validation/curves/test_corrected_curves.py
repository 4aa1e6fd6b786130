"""Corrected curves: worked by hand, and held to identities that they must keep."""

import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from heldout.data.task import truth_of
from heldout.errors import InputError
from heldout.flags import Flag
from heldout.metrics import metric_named
from heldout.metrics.base import Response
from heldout.protocols.validation import curves
from heldout.protocols.validation.corrections import Memorising
from heldout.protocols.validation.curves import calibration_curve, decision_curve, roc_curve, smoothed
from heldout.protocols.validation.replicates import Replicates

MakeReplicates = Callable[..., Replicates]

KINDS = ("binary", "multiclass", "regression")


def settings_of(kind: str) -> dict[str, object]:
    return {"of_class": "red"} if kind == "multiclass" else {}


# --- Calibration --------------------------------------------------------------------------------------------


def test_lines_are_kept_as_lines_and_corrected_by_their_distance() -> None:
    """Everybody's curve is a straight line, so that lowess is exact and the correction is arithmetic.

    The truth is .5 above twice what the model of all rows predicts. The one replicate predicts its own sample
    without error and all rows 1 too high, as it may where rows are completed anew.
    """
    x = np.arange(20.0)
    counts = np.full((1, 20), 1, dtype=np.uint8)
    replicates = Replicates(
        truth_of(2 * x + 0.5),
        counts,
        {Response.VALUES: x[:, None]},
        {Response.VALUES: (2 * x + 1.5)[:, None, None]},
        in_sample={Response.VALUES: [(2 * x + 0.5)[:, None]]},
    )
    curve = calibration_curve(replicates, at=[5.0, 10.0, 12.0])
    np.testing.assert_allclose(curve.apparent, [10.5, 20.5, 24.5])
    # In the sample the line is y = x, on all rows y = x - 1: the optimism is 1 everywhere.
    np.testing.assert_allclose(curve.corrected, curve.apparent - 1)
    np.testing.assert_allclose(curve.ideal, [5.0, 10.0, 12.0])
    # |x - (2 x - .5)| at the rows 5 .. 12, between the points.
    errors = np.abs(np.arange(5.0, 13.0) - (2 * np.arange(5.0, 13.0) - 0.5))
    assert curve.mean_absolute_error == pytest.approx(errors.mean())
    assert curve.mean_squared_error == pytest.approx((errors**2).mean())
    assert curve.quantile_90 == pytest.approx(np.quantile(errors, 0.9))


def test_the_smooth_line_ends_where_the_predictions_end() -> None:
    x, weights = np.arange(10.0), np.array([0.0, 1, 1, 1, 1, 1, 1, 1, 1, 0])
    line = smoothed(x, x, np.array([0.5, 1.0, 4.5, 8.0, 8.5]), weights)
    np.testing.assert_allclose(line, [np.nan, 1.0, 4.5, 8.0, np.nan])
    assert np.isnan(smoothed(x, x, np.array([4.5]), np.zeros(10))).all()


@pytest.mark.parametrize("kind", KINDS)
def test_a_replicate_that_drew_every_row_once_corrects_nothing(kind: str, make_replicates: MakeReplicates) -> None:
    made = make_replicates(kind)
    once = replace(made, counts=np.ones_like(made.counts))
    curve = calibration_curve(once, **settings_of(kind))
    known = curve.n_replicates > 0
    np.testing.assert_allclose(curve.corrected[known], curve.apparent[known], atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_corrected_is_apparent_less_the_mean_optimism(
    kind: str, make_replicates: MakeReplicates, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of B replicates as of each one alone."""
    made = make_replicates(kind, B=6)
    monkeypatch.setattr(curves, "memorising", lambda replicates: Memorising())  # one replicate alone may seem to
    points = calibration_curve(made, **settings_of(kind)).predicted[10:40:10]
    settings = {"at": points, **settings_of(kind)}
    curve = calibration_curve(made, **settings)
    response = next(iter(made.apparent))
    alone = [
        calibration_curve(
            replace(
                made,
                counts=made.counts[b : b + 1],
                on_original={response: made.on_original[response][:, :, b : b + 1]},
            ),
            **settings,
        )
        for b in range(6)
    ]
    assert all(each.n_replicates.min() == 1 for each in alone)
    np.testing.assert_allclose(curve.corrected, np.mean([each.corrected for each in alone], axis=0), atol=1e-12)
    assert (curve.low <= curve.high).all()


def test_copies_of_rows_say_the_same_as_their_completions(make_replicates: MakeReplicates) -> None:
    """H equal completions are one; and a sample read in its own order is a sample read by weights."""
    made = make_replicates("binary", B=5)
    response = Response.PROBABILITIES
    thrice = replace(
        made,
        apparent={response: np.repeat(made.apparent[response], 3, axis=1)},
        on_original={response: np.repeat(made.on_original[response], 3, axis=1)},
    )
    own = [np.repeat(made.on_original[response][:, :, b], made.counts[b], axis=0) for b in range(made.n_replicates)]
    listed = replace(made, in_sample={response: own})
    for measure in (calibration_curve, roc_curve, decision_curve):
        wanted = measure(made)
        for other in (measure(thrice), measure(listed)):
            np.testing.assert_allclose(other.apparent, wanted.apparent, atol=1e-12)
            np.testing.assert_allclose(other.corrected, wanted.corrected, atol=1e-9)


def test_failed_replicates_are_left_out(make_replicates: MakeReplicates) -> None:
    made = make_replicates("binary", B=5)
    said = made.on_original[Response.PROBABILITIES].copy()
    said[:, :, 2] = np.nan
    broken = replace(made, on_original={Response.PROBABILITIES: said}, failed={2: "no"})
    left = [0, 1, 3, 4]
    rest = replace(
        made,
        counts=made.counts[left],
        on_original={Response.PROBABILITIES: made.on_original[Response.PROBABILITIES][:, :, left]},
    )
    for measure in (calibration_curve, roc_curve, decision_curve):
        np.testing.assert_array_equal(measure(broken).corrected, measure(rest).corrected)
        assert measure(broken).n_replicates.max() == 4


def test_weights_of_two_count_as_two_rows(make_replicates: MakeReplicates) -> None:
    made = make_replicates("binary", B=4)
    weights = np.where(np.arange(80) % 3 == 0, 2.0, 1.0)
    rows = np.repeat(np.arange(80), weights.astype(int))
    response = Response.PROBABILITIES
    copied = Replicates(
        made.truth.rows(rows),
        made.counts[:, rows],
        {response: made.apparent[response][rows]},
        {response: made.on_original[response][rows]},
    )
    at = [0.3, 0.5, 0.7]
    weighed, wanted = (calibration_curve(each, at=at) for each in (replace(made, weights=weights), copied))
    np.testing.assert_allclose(weighed.corrected, wanted.corrected, atol=1e-9)
    weighed, wanted = (roc_curve(each) for each in (replace(made, weights=weights), copied))
    np.testing.assert_allclose(weighed.corrected, wanted.corrected, atol=1e-12)


def test_groups_hold_all_rows_in_order(make_replicates: MakeReplicates) -> None:
    made = make_replicates("binary", n=200)
    curve = calibration_curve(made)
    assert len(curve.groups) == 10 and sum(group.rows for group in curve.groups) == 200
    assert [group.predicted for group in curve.groups] == sorted(group.predicted for group in curve.groups)
    observed = sum(group.observed * group.rows for group in curve.groups) / 200
    assert observed == pytest.approx((made.truth.values == made.truth.positive).mean())


def test_points_that_no_sample_reaches_have_no_value_and_a_flag(make_replicates: MakeReplicates) -> None:
    curve = calibration_curve(make_replicates("binary"), at=[0.5, 0.9999])
    assert np.isfinite(curve.corrected[0]) and np.isnan(curve.corrected[1])
    assert curve.n_replicates[1] == 0
    assert Flag.CURVE_UNDEFINED in curve.flags and "1 of 2 points" in curve.flags[Flag.CURVE_UNDEFINED]


# --- ROC and net benefit ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["binary", "multiclass"])
def test_the_areas_are_those_of_the_metric_and_of_the_curve(kind: str, make_replicates: MakeReplicates) -> None:
    made = make_replicates(kind)
    curve = roc_curve(made, **settings_of(kind))
    grid = curve.false_positive_rate
    if kind == "binary":
        scores = made.scores(metric_named("roc_auc"))
        optimism = (scores.in_bootstrap - scores.on_original).mean()
        assert curve.area_apparent == pytest.approx(scores.apparent, abs=1e-12)
        assert curve.area_corrected == pytest.approx(scores.apparent - optimism, abs=1e-12)
    else:
        positive = made.truth.values == list(made.truth.classes).index("red")
        said = made.apparent[Response.PROBABILITIES][:, 0, list(made.truth.classes).index("red")]
        assert curve.area_apparent == pytest.approx(roc_auc_score(positive, said), abs=1e-12)
    # Areas under the 101 points are linear in the curves, and near those with all corners.
    assert np.trapezoid(curve.corrected, grid) == pytest.approx(curve.area_corrected, abs=0.01)
    assert (curve.corrected < curve.apparent).mean() > 0.9  # these models flatter themselves


def test_sensitivity_at_a_rate_is_the_best_there() -> None:
    """One negative above one of two positives: at a rate of 0 half of them are found, from .5 on all."""
    replicates = Replicates(
        truth_of(["no", "no", "yes", "yes"]),
        np.array([[0, 2, 1, 1]], dtype=np.uint8),
        {Response.DECISION: np.array([[1.0], [3.0], [2.0], [4.0]])},
        {Response.DECISION: np.array([1.0, 3.0, 2.0, 4.0])[:, None, None]},
    )
    curve = roc_curve(replicates)
    place = [0, 49, 50, 100]
    np.testing.assert_allclose(curve.apparent[place], [0.5, 0.5, 1.0, 1.0])
    # The sample has no row of the lowest score: 0.5 up to a rate of 1, which is .5 too low from .5 on.
    np.testing.assert_allclose(curve.corrected[place], [0.5, 0.5, 1.5, 1.0])
    assert Flag.CURVE_BEYOND_RANGE in curve.flags and Flag.CURVE_NOT_MONOTONE in curve.flags


def test_a_sample_without_a_class_gives_no_curve() -> None:
    replicates = Replicates(
        truth_of(["no", "no", "yes", "yes"]),
        np.array([[2, 2, 0, 0], [1, 1, 1, 1]], dtype=np.uint8),
        {Response.DECISION: np.array([[1.0], [3.0], [2.0], [4.0]])},
        {Response.DECISION: np.tile(np.array([1.0, 3.0, 2.0, 4.0])[:, None, None], 2)},
    )
    curve = roc_curve(replicates)
    assert set(curve.n_replicates.tolist()) == {1}
    np.testing.assert_allclose(curve.corrected, curve.apparent)


def test_net_benefit_by_hand(make_replicates: MakeReplicates) -> None:
    made = make_replicates("binary")
    curve = decision_curve(made, thresholds=[0.2, 0.5])
    positive = made.truth.values == made.truth.positive
    said = made.apparent[Response.PROBABILITIES][:, 0]
    for place, threshold in enumerate((0.2, 0.5)):
        acted = said >= threshold
        odds = threshold / (1 - threshold)
        wanted = ((acted & positive).sum() - (acted & ~positive).sum() * odds) / 80
        assert curve.apparent[place] == pytest.approx(wanted)
        assert curve.act_on_all[place] == pytest.approx(positive.mean() - (1 - positive.mean()) * odds)
    assert (curve.corrected < curve.apparent).all()
    all_of_them = decision_curve(made, thresholds=[1e-9])
    np.testing.assert_allclose(all_of_them.apparent, all_of_them.act_on_all, atol=1e-8)


# --- Survival -----------------------------------------------------------------------------------------------


def of_survival(made: Replicates, event: np.ndarray, time: np.ndarray, at: tuple[float, ...]) -> Replicates:
    """The same predictions as probabilities of the event until the last of several times."""
    response = Response.PROBABILITIES

    def survival(said: np.ndarray) -> np.ndarray:
        return np.stack([np.full_like(said, 0.9)] * (len(at) - 1) + [1 - said], axis=-1)

    return replace(
        made,
        truth=truth_of(list(zip(event, time, strict=True)), "survival"),
        apparent={Response.SURVIVAL: survival(made.apparent[response])},
        on_original={Response.SURVIVAL: survival(made.on_original[response])},
        times=at,
    )


def test_without_censoring_the_event_by_a_time_is_a_class(make_replicates: MakeReplicates) -> None:
    made = make_replicates("binary", B=5)
    well = made.truth.values == made.truth.positive
    survival = of_survival(made, np.ones(80, dtype=bool), np.where(well, 1.0, 9.0), (2.0, 5.0))
    for measure in (calibration_curve, decision_curve):
        wanted, found = measure(made), measure(survival, time=5.0)
        np.testing.assert_allclose(found.corrected, wanted.corrected, atol=1e-12)
        np.testing.assert_allclose((found.low, found.high), (wanted.low, wanted.high), atol=1e-12)
        assert found.name == "event by 5"


def test_a_single_time_need_not_be_passed(make_replicates: MakeReplicates) -> None:
    made = of_survival(make_replicates("binary"), np.ones(80, dtype=bool), np.arange(1.0, 81.0), (20.0,))
    for measure in (calibration_curve, decision_curve):
        np.testing.assert_array_equal(measure(made).corrected, measure(made, time=20.0).corrected)


def test_censored_rows_are_stood_for_by_the_others(make_replicates: MakeReplicates) -> None:
    """Rows censored at 3 weigh nothing at 5, and each row known until then 1 / G: here half of those left then."""
    made = make_replicates("binary", B=5)
    well = made.truth.values == made.truth.positive
    censored = ~well & (np.arange(80) % 4 == 0)
    time = np.where(well, 1.0, np.where(censored, 3.0, 9.0))
    found = calibration_curve(of_survival(made, ~censored, time, (2.0, 5.0)), time=5.0, at=[0.4, 0.6])
    # 40 rows without an event by 3, of which 20 are censored: those who stay stand for two.
    assert censored.sum() == 20
    weighed = replace(made, weights=np.where(well, 1.0, np.where(censored, 0.0, 2.0)))
    np.testing.assert_allclose(found.corrected, calibration_curve(weighed, at=[0.4, 0.6]).corrected, atol=1e-9)


def test_a_time_that_was_not_predicted_is_refused(make_replicates: MakeReplicates) -> None:
    made = of_survival(make_replicates("binary"), np.ones(80, dtype=bool), np.arange(1.0, 81.0), (2.0, 5.0))
    with pytest.raises(InputError, match=r"time must be one of .* 2\.0, 5\.0; got 4"):
        calibration_curve(made, time=4)
    with pytest.raises(InputError, match="a ROC curve is of a classification, this task is survival"):
        roc_curve(made)


# --- What is told and what is refused -----------------------------------------------------------------------


@pytest.mark.parametrize("measure", [calibration_curve, roc_curve, decision_curve])
def test_a_curve_as_a_table_as_json_and_as_text(measure: object, make_replicates: MakeReplicates) -> None:
    curve = measure(make_replicates("binary"))  # type: ignore[operator]
    frame = curve.to_frame()
    np.testing.assert_array_equal(frame["corrected"], curve.corrected)
    assert len(frame) == len(curve.apparent) and {"low", "high", "n_replicates"} <= set(frame.columns)
    told = json.loads(json.dumps(curve.to_dict(), allow_nan=False))
    assert told["name"] == "well" and len(told["apparent"]) == len(curve.apparent)
    assert curve._repr_html_().startswith("<table>") and "well" in repr(curve) + curve._repr_html_()


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        ("multiclass", {}, "of_class must say which of the 3 classes"),
        (
            "multiclass",
            {"of_class": "pink"},
            "of_class must be one of the classes 'blue', 'green', 'red', got 'pink'",
        ),
        ("binary", {"of_class": "ill"}, "predictions of a binary task are of its positive class 'well'"),
        ("binary", {"time": 3.0}, "`time=3.0` is for survival tasks, this one is binary"),
        ("regression", {"of_class": "a"}, "`of_class='a'` is for classes, this task is regression"),
        ("binary", {"at": [0.2, 0.1]}, "at must be increasing finite numbers"),
    ],
    ids=["no class", "no such class", "not the positive class", "time", "class of numbers", "at"],
)
def test_what_cannot_be_drawn_is_refused(
    kind: str, settings: dict[str, object], message: str, make_replicates: MakeReplicates
) -> None:
    with pytest.raises(InputError) as refused:
        calibration_curve(make_replicates(kind), **settings)  # type: ignore[arg-type]
    assert message in str(refused.value)


def test_predictions_that_were_not_recorded_are_named(make_replicates: MakeReplicates) -> None:
    made = make_replicates("binary")
    said = {Response.LABELS: np.zeros((80, 1), dtype=np.int32)}
    bare = replace(made, apparent=said, on_original={Response.LABELS: np.zeros((80, 1, 20), dtype=np.int32)})
    with pytest.raises(InputError, match=r"needs probabilities, and the validation recorded only labels"):
        calibration_curve(bare)
    with pytest.raises(InputError, match=r"needs decisions or probabilities"):
        roc_curve(bare)
    for measure in (roc_curve, decision_curve):
        with pytest.raises(InputError, match="regression"):
            measure(make_replicates("regression"))
    few = make_replicates("regression", n=10)
    with pytest.raises(InputError, match="more than 10 rows, got 10"):
        calibration_curve(few)
