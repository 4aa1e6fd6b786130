"""Intervals of corrected scores: by hand, in both directions, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import heldout as ho
from heldout.data.checks import VALIDATION_INTERVALS
from heldout.data.task import truth_of
from heldout.errors import InputError
from heldout.flags import Flag
from heldout.metrics import metric_named
from heldout.metrics.base import Response
from heldout.protocols.validation.corrections import CORRECTIONS
from heldout.protocols.validation.intervals import hardly_varies, interval_kind, interval_of
from heldout.protocols.validation.replicates import Replicates, ReplicateScores
from heldout.report.facts import INTERVAL_WORDS
from heldout.report.templating import sentences

B = 200
OWN = np.random.default_rng(0).permutation(np.linspace(0.701, 0.9, B))  # .701, .702, ... .900
AREAS = ReplicateScores(metric_named("roc_auc"), 0.8, OWN, OWN - 0.1, OWN - 0.2)
LOSSES = ReplicateScores(metric_named("brier_score"), 0.8, OWN, OWN + 0.1, OWN + 0.2)


def ends(kind, scores, corrected, alternative="two-sided", **others):
    return list(interval_of(kind, scores, corrected, 0.95, alternative, **others).interval)


def test_apparent_percentiles_move_by_what_the_score_was_corrected():
    # Of 200 the 5th and the 195th, less .8 - .75.
    assert ends("location_shifted", AREAS, 0.75) == pytest.approx([0.705 - 0.05, 0.895 - 0.05])
    assert ends("location_shifted", AREAS, 0.8) == pytest.approx([0.705, 0.895])
    # A loss is corrected upward, and so goes its interval.
    assert ends("location_shifted", LOSSES, 0.9) == pytest.approx([0.705 + 0.1, 0.895 + 0.1])


def test_one_side_stays_open_at_the_better_end():
    assert ends("location_shifted", AREAS, 0.75, "greater") == pytest.approx([0.71 - 0.05, 1.0])
    assert ends("location_shifted", AREAS, 0.75, "less") == pytest.approx([0.0, 0.89 - 0.05])
    assert ends("location_shifted", LOSSES, 0.9, "greater") == pytest.approx([0.0, 0.89 + 0.1])


def test_scores_of_rows_left_out_have_percentiles_and_are_called_wide():
    found = interval_of("percentile", AREAS, 0.6, 0.95, "two-sided")
    assert list(found.interval) == pytest.approx([0.505, 0.695])
    assert Flag.OUT_OF_BAG_PERCENTILES in found.flags


def test_double_scores_have_percentiles():
    assert ends("double", AREAS, 0.6, doubles=OWN - 0.2) == pytest.approx([0.505, 0.695])
    some = np.where(np.arange(B) < 100, np.nan, np.linspace(0, 1, B))
    found = interval_of("double", AREAS, 0.75, 0.95, "two-sided", doubles=some)
    assert list(found.interval) == list(np.linspace(0, 1, B)[[102, 197]])
    assert "100 of 200" in found.flags[Flag.UNDEFINED_BOOTSTRAPS]
    nothing = interval_of("double", AREAS, 0.75, 0.95, "two-sided", doubles=np.full(B, np.nan))
    assert nothing.interval is None and Flag.NO_BOUND in nothing.flags
    with pytest.raises(InputError, match="doubles="):
        interval_of("double", AREAS, 0.75, 0.95, "two-sided")


def test_replicates_without_a_score_never_enter():
    own, everywhere = OWN.copy(), AREAS.on_original.copy()
    own[:3], everywhere[3:6] = np.nan, np.nan
    left = replace(AREAS, in_bootstrap=own, on_original=everywhere)
    cut = replace(AREAS, in_bootstrap=OWN[6:], on_original=AREAS.on_original[6:], out_of_bag=AREAS.out_of_bag[6:])
    for kind, corrected in (("location_shifted", 0.75), ("percentile", 0.6)):
        assert ends(kind, left, corrected) == ends(kind, cut, corrected)


def test_no_score_or_no_wish_is_no_interval():
    assert interval_of(None, AREAS, 0.75, 0.95, "two-sided") == (None, {})
    found = interval_of("location_shifted", AREAS, float("nan"), 0.95, "two-sided")
    assert found.interval is None and "no corrected score" in found.flags[Flag.NO_BOUND]


def test_few_bootstraps_are_flagged():
    few = ReplicateScores(AREAS.metric, 0.8, OWN[:30], OWN[:30] - 0.1, OWN[:30] - 0.2)
    found = interval_of("location_shifted", few, 0.75, 0.95, "two-sided")
    assert "at least 40" in found.flags[Flag.FEW_BOOTSTRAPS]
    assert Flag.FEW_BOOTSTRAPS not in interval_of("location_shifted", few, 0.75, 0.9, "two-sided").flags


def fits(model, response, n=120, n_replicates=40):
    """Replicates of real fits on a noisy table."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(n, 4))
    y = (X @ [1, 0.5, 0, 0] + rng.logistic(size=n) > 0).astype(int)
    counts = np.stack([np.bincount(rng.integers(n, size=n), minlength=n) for _ in range(n_replicates)])

    def said(rows):
        fitted = model.fit(X[rows], y[rows])
        return fitted.predict_proba(X)[:, 1] if response is Response.PROBABILITIES else fitted.predict(X)

    everywhere = np.stack([said(np.repeat(np.arange(n), each)) for each in counts], axis=1)
    truth, own = truth_of(y), said(np.arange(n))
    return Replicates(truth, counts.astype(np.uint8), {response: own[:, None]}, {response: everywhere[:, None]})


@pytest.mark.parametrize(
    ("model", "metric", "constant"),
    [
        (LogisticRegression(C=1e8), "calibration_slope", True),  # with the solver's own tolerance
        (LogisticRegression(C=1e8), "calibration_intercept", True),
        (LogisticRegression(C=1e8), "calibration_slope_error", True),
        (LogisticRegression(C=1e8), "brier_score", False),
        (LogisticRegression(C=1e8), "roc_auc", False),
        (LogisticRegression(C=0.01), "calibration_slope", False),  # above 1, by how much depends on the sample
        (KNeighborsClassifier(1), "accuracy", True),
        (KNeighborsClassifier(15), "accuracy", False),
    ],
    ids=lambda value: str(value).replace("0.01", ".01"),
)
def test_what_fitting_holds_constant_has_no_shifted_interval(model, metric, constant):
    metric = metric_named(metric)
    scores = fits(model, metric.responses[0]).scores(metric)
    corrected = scores.apparent - 0.05 * (1 if metric.greater_is_better else -1)
    found = interval_of("location_shifted", scores, corrected, 0.95, "two-sided")
    assert (found.interval is None) == constant == (Flag.CONSTANT_APPARENT in found.flags)
    assert interval_of("double", scores, 0.8, 0.95, "two-sided", doubles=OWN).interval is not None


def test_a_few_wild_fits_do_not_hide_a_constant():
    slopes = np.ones(B) + 1e-5 * np.random.default_rng(0).normal(size=B)
    slopes[:4] = 5.0
    assert hardly_varies(slopes, OWN)
    assert not hardly_varies(np.array([]), np.array([]))
    assert hardly_varies(np.full(5, 0.5), np.full(5, 0.5))


def test_words_for_intervals():
    assert [interval_kind("auto", name) for name in CORRECTIONS] == [*["location_shifted"] * 3, "percentile"]
    assert [interval_kind(None, name) for name in CORRECTIONS] == [None] * 4
    assert [interval_kind(kind, "oob") for kind in VALIDATION_INTERVALS] == list(VALIDATION_INTERVALS)
    assert set(INTERVAL_WORDS) == set(VALIDATION_INTERVALS)
    for kind in VALIDATION_INTERVALS:
        values = {"methods": [], "is_adjusted": False, "interval": kind, "quantity": ""}
        (sentence,) = sentences("sentences/validation_method.jinja", values)
        assert sentence.startswith("The ends of the interval are percentiles of")
    with pytest.raises(InputError, match=r"'632'` is corrected once .* use `interval='location_shifted'`"):
        interval_kind("percentile", "632")
    with pytest.raises(InputError, match="interval must be one of auto, location_shifted"):
        interval_kind("bca", "632")


def test_an_interval_that_would_not_hold_the_value_is_none() -> None:
    """Models that look far better on copies than on as many rows: shifted by .1, all percentiles are above .8."""
    inside = np.linspace(0.93, 0.97, 40)
    scores = ReplicateScores(metric_named("roc_auc"), 0.9, inside, inside - 0.1, inside - 0.3)
    found = interval_of("location_shifted", scores, 0.8, 0.95, "two-sided")
    assert found.interval is None
    assert "`interval='double'`" in found.flags[Flag.INTERVAL_OFF_CENTRE]
    centred = ReplicateScores(metric_named("roc_auc"), 0.95, inside, inside - 0.1, inside - 0.3)
    assert interval_of("location_shifted", centred, 0.85, 0.95, "two-sided").interval is not None


def test_no_kind_of_interval_leaves_its_value_out_or_the_range_of_its_metric() -> None:
    area, spread = metric_named("roc_auc"), np.linspace(0.9, 1.0, 40)
    scores = ReplicateScores(area, 0.97, spread, spread - 0.05, spread - 0.1)
    assert interval_of("location_shifted", scores, 0.96, 0.95, "two-sided").interval.high < 0.99
    high = interval_of("location_shifted", scores, 0.99, 0.95, "two-sided").interval
    assert high.high == 1.0 and 0.99 in high, "the percentiles end at 1.02"
    excluded = interval_of("double", scores, 0.8, 0.95, "two-sided", doubles=spread)
    assert excluded.interval is None and "`interval='double'`" not in excluded.flags[Flag.INTERVAL_OFF_CENTRE]
    greatest = metric_named("emax")
    scores = ReplicateScores(greatest, 0.4, spread, spread + 0.1, spread + 0.2)
    assert interval_of("double", scores, 0.9, 0.95, "two-sided", doubles=2 * spread - 0.9).interval.high == 1.0


@pytest.mark.parametrize("kind", ["percentile", "double"])
def test_bootstraps_that_all_agree_show_no_spread(kind):
    same = np.ones(B)
    scores = ReplicateScores(metric_named("roc_auc"), 1.0, same, same, same)
    found = interval_of(kind, scores, 1.0, 0.95, "two-sided", doubles=same)
    assert found.interval is None and "all bootstraps gave the same roc_auc" in found.flags[Flag.NO_BOUND]


def test_noise_of_imputations_does_not_make_an_interval_of_a_score_that_fitting_fixes():
    """With many gaps the slopes on own samples vary more than a tenth of those on all rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = rng.random(120) < 1 / (1 + np.exp(-2 * X[:, 0]))
    X[rng.random(X.shape) < 0.5] = np.nan
    model = LogisticRegression(C=1e300, solver="newton-cholesky")
    found = ho.bootstrap_validate(
        model, X, y, metric=["calibration_slope", "roc_auc"], imputation=2, n_bootstraps=40, random_state=0
    )
    scores = found.replicates.scores(found.metrics["calibration_slope"])
    assert not hardly_varies(scores.in_bootstrap, scores.on_original)
    slope = found.estimates["calibration_slope"]
    assert slope.interval is None and Flag.CONSTANT_APPARENT in slope.flags
    assert found.estimates["roc_auc"].interval is not None
    assert found.coefficients is not None


def test_imputed_models_say_why_they_have_no_coefficients():
    """A column twice, in every completion."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    X = np.column_stack([X, X[:, 0] + 1])
    X[::5, 1] = np.nan
    y = X[:, 0] + rng.normal(size=60)
    for model, why in (
        (LinearRegression(), "the columns depend on each other"),
        (Ridge(alpha=2.0), "the penalty (alpha=2.0) shrinks them by design"),
        (KNeighborsRegressor(15), None),
    ):
        found = ho.bootstrap_validate(model, X, y, metric="r2", imputation=2, n_bootstraps=4, random_state=0)
        assert found.coefficients is None
        said = found.flags.get(Flag.NO_COEFFICIENTS)
        assert said is why or said.startswith(f"The coefficients of the model cannot be shown: {why}")
