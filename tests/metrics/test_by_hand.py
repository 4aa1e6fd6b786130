"""Values worked by hand and degenerate cases of metrics on labels, probabilities and scores."""

from math import log, nan, sqrt
from typing import Any

import numpy as np
import pytest
import sklearn.metrics as skm
from sklearn.exceptions import UndefinedMetricWarning

from heldout.data.task import truth_of
from heldout.errors import InputError
from heldout.kernels.lowess import Lowess
from heldout.metrics import (
    E90,
    ECI,
    ICI,
    CalibrationIntercept,
    CalibrationInterceptError,
    CalibrationSlope,
    CalibrationSlopeError,
    CohenKappa,
    Emax,
    ExpectedCalibrationError,
    NagelkerkeR2,
    PartialRocAuc,
    SensitivityAtSpecificity,
)
from heldout.metrics.base import Metric, Needs
from heldout.metrics.calibration import _Kept
from heldout.metrics.classification import (
    Accuracy,
    BalancedAccuracy,
    Brier,
    FScore,
    LogLoss,
    MatthewsCorrelation,
    Precision,
    Recall,
    ZeroOneLoss,
)
from heldout.metrics.ranking import AveragePrecision, RocAuc, RocAucOneVsOne, RocAucOneVsRest

EPS = np.finfo(np.float64).eps
FAR = -np.log(EPS)
"""Log-odds of 1 are this, of 0 its negative."""


def value(metric: Metric, y: Any, given: Any, counts: Any = None, **how: Any) -> float:
    """Of one column. Numbers that are all whole are counts."""
    truth = truth_of(y, **how)
    weights = np.array([np.ones(truth.n_rows, dtype=int) if counts is None else counts])
    if weights.dtype.kind == "i":
        weights = weights.astype(np.uint8)
    bound = metric.statistic(truth, np.asarray(given)[:, None])
    found = bound.all(weights)
    np.testing.assert_array_equal(bound.selected(weights, np.array([0])), found[:, 0])
    return float(found[0, 0])


LABELS = [0, 0, 0, 1, 1], [0, 1, 1, 1, 0]
"""TN 1, FP 2, TP 1, FN 1."""
ONLY_NEGATIVES = [2, 1, 0, 0, 0]
THREE = [0, 0, 1, 1, 2, 2], [0, 0, 1, 2, 0, 2]
"""Confusion [[2, 0, 0], [0, 1, 1], [1, 0, 1]]."""
ILL = ["ill", "well", "well"], [0, 0, 1]
NINES = [0, 1] * 24 + [1]
"""49 rows: 49 · (1/49) is not 1 in floating point."""

OF_LABELS = [
    (Accuracy(), *LABELS, None, 2 / 5),
    (ZeroOneLoss(), *LABELS, None, 3 / 5),
    (BalancedAccuracy(), *LABELS, None, (1 / 3 + 1 / 2) / 2),
    (Precision(), *LABELS, None, 1 / 3),
    (Recall(), *LABELS, None, 1 / 2),
    (FScore(), *LABELS, None, 2 / 5),  # 2·1 / (2·1 + 2 + 1)
    (FScore(beta=2.0), *LABELS, None, 5 / 11),  # 5·1 / (5·1 + 2 + 4·1)
    (FScore("macro"), *LABELS, None, (2 / 5 + 2 / 5) / 2),  # class 0: 2·1 / (2·1 + 1 + 2)
    (Precision("macro"), *LABELS, None, (1 / 2 + 1 / 3) / 2),
    (Recall("weighted"), *LABELS, None, (3 * (1 / 3) + 2 * (1 / 2)) / 5),
    (FScore("micro"), *LABELS, None, 2 / 5),
    (MatthewsCorrelation(), *LABELS, None, (1 * 1 - 2 * 1) / sqrt(3 * 2 * 2 * 3)),
    # c = 4, s = 6, t = (2, 2, 2), p = (3, 1, 2).
    (MatthewsCorrelation(), *THREE, None, (4 * 6 - (6 + 2 + 4)) / sqrt((36 - (9 + 1 + 4)) * (36 - 12))),
    # Of a class of its own: ill has TP 1, FP 1; well TP 1, FP 0, FN 1.
    (FScore(pos_label="ill"), *ILL, None, 2 / 3),
    (FScore(), *ILL, None, 2 / 3),
    (Recall(), *ILL, None, 1 / 2),
    (Recall(pos_label="ill"), *ILL, None, 1),
    # 0 / 0 is 0, as in scikit-learn.
    (FScore(), LABELS[0], [0] * 5, None, 0),
    (FScore(), LABELS[0], [0] * 5, ONLY_NEGATIVES, 0),
    (Precision(), LABELS[0], [0] * 5, None, 0),
    (Recall(), *LABELS, ONLY_NEGATIVES, 0),
    (MatthewsCorrelation(), LABELS[0], [1] * 5, None, 0),
    (MatthewsCorrelation(), *LABELS, ONLY_NEGATIVES, 0),
    # Over the classes that are present: of two 0s and one 0 one draw of the first is right.
    (BalancedAccuracy(), *LABELS, ONLY_NEGATIVES, 2 / 3),
]

KAPPA = [0, 0, 0, 1, 1], [0, 0, 1, 1, 0]
SCALE = [0, 0, 1, 2], [0, 2, 1, 1]
ONE_CLASS = [0, 1, 2, 2, 2]
OF_SCALES = [
    # Agreement 3 of 5; by chance (3·2 + 2·3) / 25. Of two classes the weights change nothing.
    *((CohenKappa(weights), *KAPPA, None, (3 / 5 - 13 / 25) / (1 - 13 / 25)) for weights in (None, "linear")),
    # Shares (2, 1, 1) and (1, 2, 1) of 4: distances by chance, of the 16 pairs.
    (CohenKappa("linear"), *SCALE, None, 1 - (3 / 4) / ((2 * (2 + 2) + (1 + 1) + (2 + 2)) / 16)),
    (CohenKappa("quadratic"), *SCALE, None, 1 - (5 / 4) / ((2 * (2 + 4) + (1 + 1) + (4 + 2)) / 16)),
    # One class throughout has no kappa.
    *(
        (CohenKappa(weights), ONE_CLASS, predicted, counts, kappa)
        for weights in (None, "linear", "quadratic")
        for counts in ([0, 0, 3, 1, 2], [0.0, 0.0, 0.9, 0.7, 0.22])
        for predicted, kappa in ((ONE_CLASS, nan), ([0, 1, 2, 2, 1], 0))
    ),
    (CohenKappa(), ONE_CLASS, ONE_CLASS, [0] * 5, nan),
]

SHORT = [[0.25, 0.25, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 0.5]]
CHANCES = [[0.5, 0.25, 0.25], [0.125, 0.125, 0.75], [0.0, 0.5, 0.5]]
BRIER = ((0.25 + 2 * 0.0625) + (2 * 0.015625 + 0.0625) + (0.25 + 0.25)) / 3
OF_PROBABILITIES = [
    (LogLoss(), [0, 1], [0.25, 0.5], None, -(log(0.75) + log(0.5)) / 2),
    (Brier(), [0, 1], [0.25, 0.5], None, (0.25**2 + 0.5**2) / 2),
    (Brier(scale_by_half=False), [0, 1], [0.25, 0.5], None, 0.25**2 + 0.5**2),
    (LogLoss(), [0, 2, 1], CHANCES, None, -(log(0.5) + log(0.75) + log(0.5)) / 3),
    (Brier(), [0, 2, 1], CHANCES, None, BRIER),
    (Brier(scale_by_half=True), [0, 2, 1], CHANCES, None, BRIER / 2),
    # Clipped at the eps of float64, and never renormalised.
    (LogLoss(), [0, 1], [1.0, 0.0], None, -log(EPS)),
    (LogLoss(), [0, 1], [0.0, 1.0], None, -log(1 - EPS)),
    (LogLoss(), [0, 1, 2], SHORT, None, -(log(0.25) + 2 * log(0.5)) / 3),
]

RANKED = [0, 0, 1, 1], [0.1, 0.4, 0.4, 0.8]
PER_CLASS = [0, 1, 2, 2], [[0.6, 0.3, 0.1], [0.5, 0.2, 0.3], [0.2, 0.5, 0.3], [0.1, 0.1, 0.8]]
PAIRS = [(1 + 0) / 2, (1 + 1) / 2, (1 / 2 + 3 / 4) / 2]
"""0|1 1 and 1|0 0; 0|2 1 and 2|0 1; 1|2 (.2 against .5 .1) 1/2 and 2|1 (.3 .8 against .3) 3/4."""
ROC = [0, 0, 0, 0, 0, 1, 1, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.7, 0.35, 0.4, 0.8, 0.9]
AREA, CHANCE = 0.2 * 0.5 + 0.2 * (0.5 + 0.75) / 2, 0.4**2 / 2
"""Height 1/2 up to .2, then from 1/2 to 3/4 over the tie that ends at .4."""
OF_SCORES = [
    # Positive .4 and .8 against negative .1 and .4: right, tie, right, right, whatever the labels are.
    (RocAuc(), *RANKED, None, 3.5 / 4),
    *((RocAuc(), y, RANKED[1], None, 3.5 / 4) for y in (list("nnpp"), [1, 1, 2, 2], [-1, -1, 1, 1])),
    (RocAuc(), [False, False, True, True], RANKED[1], None, 3.5 / 4),
    (RocAuc(), *RANKED, [1, 1, 0, 0], nan),
    # Against the rest: class 0 3/3; class 1 (.2 against .3 .5 .1) 1/3; class 2 (.3 .8 against .1 .3) 3.5/4.
    (RocAucOneVsRest(), *PER_CLASS, None, (1 + 1 / 3 + 0.875) / 3),
    (RocAucOneVsRest("weighted"), *PER_CLASS, None, (1 * 1 + 1 / 3 + 2 * 0.875) / 4),
    (RocAucOneVsOne(), *PER_CLASS, None, sum(PAIRS) / 3),
    (RocAucOneVsOne("weighted"), *PER_CLASS, None, (2 * PAIRS[0] + 3 * PAIRS[1] + 3 * PAIRS[2]) / 8),
    # Descending: .8 (positive: precision 1, recall 1/2), .4 (negative), .35 (positive: precision 2/3).
    (AveragePrecision(), RANKED[0], [0.1, 0.4, 0.35, 0.8], None, 1 / 2 + (1 / 2) * (2 / 3)),
    (AveragePrecision(), [0, 1, 0, 1], np.zeros(4), None, 0.5),  # tied rows enter together, whatever their order
    (AveragePrecision(), *RANKED, [1, 1, 0, 0], 0),  # as in scikit-learn
    (AveragePrecision(), *RANKED, [0, 0, 0, 0], nan),
    # .9 and .8 are above all negatives; the next positives come with the negatives of .7 and of .4.
    *((SensitivityAtSpecificity(at), *ROC, None, 2 / 4) for at in (1.0, 0.9, 0.8, 0.61)),
    *((SensitivityAtSpecificity(at), *ROC, None, 1) for at in (0.6, 0.0)),
    # Tied rows are called positive together.
    *((SensitivityAtSpecificity(at), ROC[0], [0.5] * 9, None, found) for at, found in ((0.5, 0), (0.0, 1))),
    (PartialRocAuc(0.4), *ROC, None, 0.5 * (1 + (AREA - CHANCE) / (0.4 - CHANCE))),
    *((PartialRocAuc(most), ROC[0], [0.5] * 9, None, 0.5) for most in (0.05, 0.5, 1)),
    *((PartialRocAuc(most), ROC[0], ROC[0], None, 1) for most in (0.05, 1)),
    (PartialRocAuc(0.1), ROC[0], np.negative(ROC[0]), None, PartialRocAuc(0.1).range[0]),
    *(
        (metric, *ROC, counts, nan)
        for metric in (SensitivityAtSpecificity(), PartialRocAuc())
        for counts in ([1] * 5 + [0] * 4, [0] * 5 + [1] * 4)
    ),
]


def groups(*shares: tuple[float, int, int]) -> tuple[list[int], list[float]]:
    """Rows given a probability, of which some are positive and some not."""
    y = [label for _, ones, zeros in shares for label in [1] * ones + [0] * zeros]
    return y, [p for p, ones, zeros in shares for _ in range(ones + zeros)]


BINNED = [0, 1, 1, 1, 0], [0.2, 0.2, 0.9, 1.0, 0.0]
FLAT = groups((0.1, 1, 3), (0.9, 3, 1))
"""Said: log-odds of -log(9) and log(9). Happened: -log(3) and log(3)."""
LOW = groups((0.25, 2, 2), (0.75, 9, 1))
"""Said: -log(3) and log(3). Happened: 0 and log(9): too low by log(3) both times."""
SEPARATED = [0, 0, 1, 1], [0.1, 0.4, 0.4, 0.8]
QUANTILES = ExpectedCalibrationError(2, strategy="quantile")
OF_CALIBRATION = [
    # Bins: (.2, .2) off by .3 on average, (.9) and (1.0) together by .05, (0) by nothing.
    (ExpectedCalibrationError(), *BINNED, None, (2 * 0.3 + 2 * 0.05) / 5),
    (ExpectedCalibrationError(1), *BINNED, None, abs(3 / 5 - 2.3 / 5)),
    # An edge belongs to the bin below.
    (ExpectedCalibrationError(2), [0, 1, 1, 1], [0.5, 0.25, 0.75, 0.75], None, (0.25 + 0.5) / 4),
    # Bins between quantiles stay while rows are drawn.
    (QUANTILES, [0, 1, 0, 1], [0.1, 0.2, 0.3, 0.9], None, (abs(1 - 0.3) + abs(1 - 1.2)) / 4),
    (QUANTILES, [0, 1, 0, 1], [0.1, 0.2, 0.3, 0.9], [3, 0, 1, 0], (0.3 + 0.3) / 4),
    (CalibrationSlope(), *FLAT, None, 0.5),
    (CalibrationIntercept(), *FLAT, None, 0),
    (CalibrationSlopeError(), *FLAT, None, 0.5),
    (CalibrationSlope(), *LOW, None, 1),
    (CalibrationIntercept(), *LOW, None, log(3)),
    (CalibrationIntercept(given_slope=False), *LOW, None, log(3)),
    (CalibrationInterceptError(), *LOW, None, log(3)),
    # The error is a distance: said log(3) and -log(3), happened 0 and -log(9).
    (CalibrationIntercept(), *groups((0.75, 2, 2), (0.25, 1, 9)), None, -log(3)),
    (CalibrationInterceptError(), *groups((0.75, 2, 2), (0.25, 1, 9)), None, log(3)),
    # Zero and one are clipped, with one row of four on the wrong side each.
    (CalibrationSlope(), *groups((0.0, 1, 3), (1.0, 3, 1)), None, log(3) / log(2.0**52 - 1)),
    # There is no slope where the classes are separated.
    *((metric, *SEPARATED, None, nan) for metric in (CalibrationSlope(), CalibrationSlopeError())),
    (CalibrationSlope(), SEPARATED[0], [0.5] * 4, None, nan),
    (CalibrationIntercept(), SEPARATED[0], [0.5] * 4, None, 0),
]

DISTANCES = [Emax, ICI, E90, ECI]
STEPS = [1, 0, 0, 0, 1, 1, 1, 0], [0.1] * 4 + [0.9] * 4
"""The curve goes through .25 at .1 and .75 at .9, which is also the logistic regression."""
FAR_GROUP = [1, 0, 1, 0], [0.4, 0.4, 0.7, 0.7]
"""At distances .1 and .2 from their shares."""
OF_CURVES = [
    *(
        (metric(smoother), *STEPS, None, distance)
        for smoother in ("lowess", "logistic")
        for metric, distance in zip(DISTANCES, (0.15, 0.15, 0.15, 2.25), strict=True)
    ),
    # Nine tenths by weight: the further group is a tenth of the rows, or more.
    (E90(), *FAR_GROUP, [9.0, 9.0, 1.0, 1.0], 0.1),
    (E90(), *FAR_GROUP, [8.9, 8.9, 1.1, 1.1], 0.2),
    # One probability for all is as far off as the prevalence.
    *(
        (metric(), [0, 1, 1, 1], [0.5] * 4, None, distance)
        for metric, distance in zip(DISTANCES, (0.25, 0.25, 0.25, 6.25), strict=True)
    ),
    # Rows of one class have no regression, separated ones neither.
    *(
        (metric("logistic"), y, [0.2, 0.5, 0.8], counts, nan)
        for metric in DISTANCES
        for y, counts in (([0, 1, 1], [0, 1, 1]), ([0, 0, 1], None), ([0, 1, 1], [0.0, 0.0, 0.0]))
    ),
    (ICI(), [0, 1, 1], [0.2, 0.5, 0.8], [0.0, 0.0, 0.0], nan),
]

GAINED = np.exp(2 * (8 * log(0.5) - 2 * log(0.25) - 6 * log(0.75)) / 8)
"""Shares of 1/4 and 3/4 in two groups of four: a log-likelihood of 2 log(1/4) + 6 log(3/4)."""
TOLD = [1, 0, 0, 0, 1, 1, 1, 0], [0.25] * 4 + [0.75] * 4
LEFT, NONE = 2 * log(0.5), 2 * log(0.4) + 3 * log(0.6)
"""In doubt between two rows at .2, one of each: log(1/4) is left of 5 rows."""
DOUBT = (1 - np.exp(2 * (NONE - LEFT) / 5)) / (1 - np.exp(2 * NONE / 5))
STEEP = 1 / (1 + np.exp(-np.array([-30, 0, 0, 30, 30])))
OF_LIKELIHOOD = [
    (NagelkerkeR2(), TOLD[0], [0.4] * 4 + [0.6] * 4, None, (1 - GAINED) / (1 - 0.25)),
    (NagelkerkeR2(), TOLD[0], [0.75] * 4 + [0.25] * 4, None, (1 - GAINED) / (1 - 0.25)),  # its sign goes unseen
    (NagelkerkeR2(recalibrated=False), *TOLD, None, (1 - GAINED) / (1 - 0.25)),
    (NagelkerkeR2(recalibrated=False), TOLD[0], [0.5] * 8, None, 0),
    *((NagelkerkeR2(), y, [0.1, 0.2, 0.3, 0.4], None, 1) for y in ([0, 0, 1, 1], [1, 1, 0, 0])),
    (NagelkerkeR2(), [0, 0, 1, 1, 1], [0.1, 0.2, 0.2, 0.3, 0.4], None, DOUBT),
    (NagelkerkeR2(recalibrated=False), [0, 0, 1, 1, 1], STEEP, None, DOUBT),
    (NagelkerkeR2(), [0, 1, 1], [0.4, 0.4, 0.4], None, 0),
    *((NagelkerkeR2(), [0, 1, 1], [0.1, 0.2, 0.3], counts, nan) for counts in ([0, 1, 2], [0.0, 0.0, 0.0])),
]


def check(metric: Metric, y: Any, given: Any, counts: Any, by_hand: float, **how: Any) -> None:
    found = value(metric, y, given, counts, **how)
    assert found == pytest.approx(by_hand, rel=1e-12, abs=0 if by_hand else 1e-14, nan_ok=True)


def name_of(part: Any) -> str:
    return str(getattr(part, "name", ""))


CASES = [*OF_LABELS, *OF_PROBABILITIES, *OF_SCORES, *OF_CALIBRATION, *OF_CURVES, *OF_LIKELIHOOD]


@pytest.mark.parametrize("case", CASES, ids=lambda case: name_of(case[0]))
def test_values_worked_by_hand(case: Any) -> None:
    check(*case)


@pytest.mark.parametrize("case", OF_SCALES, ids=lambda case: name_of(case[0]))
def test_agreement_worked_by_hand(case: Any) -> None:
    check(*case, kind="multiclass")


def test_shares_are_exact_at_their_ends() -> None:
    assert value(Accuracy(), NINES, NINES) == 1.0
    assert value(Accuracy(), NINES, [1 - label for label in NINES]) == 0.0
    # In float32 all four scores are equal and the area would be .5.
    assert value(RocAuc(), RANKED[0], [1e3, 1e3 + 1e-9, 1e3 + 2e-9, 1e3 + 3e-9]) == 1.0


def test_a_class_that_is_absent_keeps_its_place_on_the_scale() -> None:
    y, predicted, how = [0, 0, 2, 3], [0, 2, 2, 3], {"kind": "multiclass", "classes": [0, 1, 2, 3]}
    # The one error costs 4 or 1; what 16 pairs cost by chance is written out.
    keep, skip = 1 - 4 * 4 / (2 * (2 * 4 + 9) + (4 + 1) + (9 + 2)), 1 - 4 / (2 * (2 + 4) + (1 + 1) + (4 + 2))
    assert value(CohenKappa("quadratic"), y, predicted, **how) == pytest.approx(keep)
    assert value(CohenKappa("quadratic", "skip"), y, predicted, **how) == pytest.approx(skip)


def test_a_constant_predictor_is_0_under_real_weights_too() -> None:
    # Sums of real weights round; a hit counted as "all less misses" would leave 1e-17 of a hit and MCC 1e-8.
    weights = np.random.default_rng(0).gamma(1.0, size=(50, 5))
    for metric in (MatthewsCorrelation(), Precision(), FScore()):
        bound = metric.statistic(truth_of(LABELS[0]), np.zeros((5, 1), dtype=np.int32))
        np.testing.assert_array_equal(bound.all(weights), 0)


def test_a_constant_predictor_has_area_one_half_under_any_draw() -> None:
    counts = np.random.default_rng(0).integers(1, 9, size=(30, 4)).astype(np.uint8)
    constant = RocAuc().statistic(truth_of([0, 1, 0, 1]), np.full((4, 1), 0.3))
    np.testing.assert_array_equal(constant.all(counts), 0.5)
    for metric in (RocAucOneVsRest(), RocAucOneVsOne(), RocAucOneVsRest("weighted")):
        bound = metric.statistic(truth_of([0, 1, 2, 1]), np.full((4, 1, 3), 1 / 3))
        np.testing.assert_allclose(bound.all(counts), 0.5, rtol=1e-15)


def test_macro_f1_is_over_the_labels_that_occur_in_the_truth_or_in_the_column() -> None:
    truth = truth_of(["a", "a", "b", "b"], classes=["a", "b", "c"])
    columns = np.array([[0, 0], [0, 2], [1, 1], [1, 1]], dtype=np.int32)
    bound = FScore("macro").statistic(truth, columns)
    np.testing.assert_allclose(bound.all(np.ones((1, 4), np.uint8)), [[1.0, (2 / 3 + 1 + 0) / 3]])


def test_the_positive_class_of_a_metric_or_of_the_target_turns_the_scores() -> None:
    assert value(RocAuc(), RANKED[0], np.negative(RANKED[1]), pos_label=0) == 0.875
    y, scores = np.array([1, 2, 1, 2, 1]), np.array([0.1, 0.4, 0.35, 0.8, 0.4])
    found = value(AveragePrecision(pos_label=1), y, scores)
    assert found == pytest.approx(skm.average_precision_score(y, -scores, pos_label=1))
    # Where the task's positive class is that class already, nothing turns.
    assert value(AveragePrecision(pos_label=1), y, -scores, pos_label=1) == found
    assert value(FScore(pos_label="ill"), *ILL, pos_label="ill") == pytest.approx(2 / 3)


def test_a_class_without_weight_leaves_the_weighted_mean_and_spoils_the_plain_one() -> None:
    # As in scikit-learn, which sets the score of a part of weight 0 to 0.
    y, counts = np.array([0, 1, 2, 2, 0, 1]), [1, 1, 0, 0, 2, 1]
    given = np.random.default_rng(1).dirichlet(np.ones(3), size=6)
    with pytest.warns(UndefinedMetricWarning):
        theirs = skm.roc_auc_score(
            y, given, multi_class="ovr", average="weighted", sample_weight=np.array(counts, dtype=float)
        )
    assert value(RocAucOneVsRest("weighted"), y, given, counts) == pytest.approx(theirs)
    assert np.isnan(value(RocAucOneVsRest(), y, given, counts))
    assert np.isnan(value(RocAucOneVsOne("weighted"), y, given, counts))


def test_the_calibration_error_of_several_classes_is_of_the_greatest_probability() -> None:
    given = [[0.7, 0.2, 0.1], [0.1, 0.1, 0.8], [0.4, 0.35, 0.25]]
    # Right with .7, wrong with .8, right with .4: the first two in bins of their own too.
    found = value(ExpectedCalibrationError(), ["a", "b", "a"], given, classes=["a", "b", "c"])
    assert found == pytest.approx((0.3 + 0.8 + 0.6) / 3)


def test_the_calibration_error_is_the_same_of_either_class() -> None:
    rng = np.random.default_rng(0)
    y, given = rng.integers(0, 2, 50), rng.random(50)
    one = value(ExpectedCalibrationError(), y, given, pos_label=1)
    assert value(ExpectedCalibrationError(), y, 1 - given, pos_label=0) == pytest.approx(one, abs=1e-14)


@pytest.mark.parametrize(
    ("y", "given"), [([1, 1, 1, 0], [0.5, 0.5, 0.5, 0.0]), ([1, 1, 0, 1], [0.5, 0.0, 0.5, 0.5])]
)
def test_a_flat_likelihood_has_its_maximum_all_the_same(y: list[int], given: list[float]) -> None:
    """A certain prediction leaves so little curvature that rounding moves the last step about.

    Of log-odds 0 and -e = log(eps / (1 - eps)) the score is 3 / (1 + exp(a)) - 1 / (1 + exp(e - a)) in the first,
    and 2 / (1 + exp(a)) + 1 / (1 + exp(a - e)) - 1 / (1 + exp(-a)) in the second: nothing at a = (e + log(3)) / 2.
    """
    assert value(CalibrationIntercept(), y, given) == pytest.approx((FAR + np.log(3)) / 2, abs=1e-5)


@pytest.mark.parametrize("metric", DISTANCES, ids=lambda metric: metric().name)
def test_rows_of_one_class_have_a_curve_but_no_regression(metric: type[Any]) -> None:
    assert value(metric(), [1, 1, 1], [0.2, 0.5, 0.8], classes=[0, 1]) > 0.1
    for without in (metric("logistic"), NagelkerkeR2()):
        assert np.isnan(value(without, [1, 1, 1], [0.2, 0.5, 0.8], classes=[0, 1]))
    assert metric().needs is Needs.ROW and metric("logistic").needs is Needs.EVERY_CLASS


def test_metrics_of_one_curve_compute_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(20)
    given = rng.random((40, 2))
    truth = truth_of((rng.random(40) < given[:, 0]).astype(int), classes=[0, 1])
    counts = rng.integers(0, 3, size=(5, 40)).astype(np.uint8)
    curves: list[int] = []
    at_rows = Lowess.at_rows
    monkeypatch.setattr(Lowess, "at_rows", lambda self, weights: curves.append(1) or at_rows(self, weights))

    together = [metric().statistic(truth, given).all(counts) for metric in DISTANCES]
    assert len(curves) == 10  # 5 weightings of 2 columns, and not for each of the metrics
    monkeypatch.setattr("heldout.metrics.calibration.KEPT", _Kept(3))  # too few to be of use
    for metric, values in zip(DISTANCES, together, strict=True):
        alone = metric().statistic(truth, given).all(counts)
        np.testing.assert_array_equal(alone, values)
    assert len(curves) == 50


def test_the_gain_in_likelihood_knows_no_scale_of_weights_and_no_bottom() -> None:
    y, given, w = [0, 1, 1, 0, 1], [0.1, 0.6, 0.3, 0.5, 0.9], np.array([0.3, 1.2, 0.7, 2.0, 0.4])
    for metric in (NagelkerkeR2(), NagelkerkeR2(recalibrated=False)):
        assert value(metric, y, given, 100 * w) == pytest.approx(value(metric, y, given, w))
    assert value(NagelkerkeR2(recalibrated=False), TOLD[0], [1 - p for p in TOLD[1]]) < -1


@pytest.mark.parametrize(
    ("metric", "name"),
    [
        (SensitivityAtSpecificity(), "sensitivity_at_specificity"),
        (SensitivityAtSpecificity(0.95), "sensitivity_at_specificity(specificity=0.95)"),
        (PartialRocAuc(0.2), "partial_roc_auc(max_fpr=0.2)"),
        (Emax("logistic"), "emax(smoother='logistic')"),
        (CohenKappa(), "cohen_kappa"),
        (CohenKappa("linear"), "linear_weighted_kappa"),
    ],
    ids=lambda p: p if isinstance(p, str) else "",
)
def test_names_say_what_is_not_usual(metric: Metric, name: str) -> None:
    assert metric.name == name


def test_titles_say_the_weights_and_ranges_the_task() -> None:
    assert (CohenKappa().title, CohenKappa("linear").title) == ("Cohen's kappa", "Kappa, linear weights")
    assert Brier().for_truth(truth_of([0, 1])).range == (0.0, 1.0)
    assert Brier().for_truth(truth_of([0, 1, 2])).range == (0.0, 2.0)


DECISIONS = "needs probabilities from 0 to 1, got values from -2 to 3"
OF_CHANCES = [LogLoss(), Brier(), CalibrationSlope(), CalibrationIntercept(), ExpectedCalibrationError(), ICI()]
SPECIFICITY, MOST = "specificity must be a number from 0 to 1, got", "max_fpr must be a number above 0"
REFUSED: list[tuple[Any, str]] = [
    *((lambda m=m: value(m, [0, 1], [-2.0, 3.0]), f"'{m.name}' {DECISIONS}") for m in OF_CHANCES),
    (lambda: FScore(pos_label=1).for_truth(truth_of(ILL[0])), r"`pos_label=1`, but the classes are 'ill', 'well'"),
    (lambda: CohenKappa("square"), "weights must be one of None, 'linear', 'quadratic', got 'square'"),
    (lambda: Emax("spline"), "smoother must be one of 'lowess', 'logistic', got 'spline'"),
    (lambda: ExpectedCalibrationError(0), "n_bins must be an integer of at least 1, got 0"),
    (lambda: ExpectedCalibrationError(2.5), "n_bins must be an integer of at least"),
    (lambda: ExpectedCalibrationError(True), "n_bins must be an integer of at least"),
    (lambda: ExpectedCalibrationError(strategy="equal"), "strategy must be one of 'uniform', 'quantile', got 'eq"),
    *((lambda w=w: SensitivityAtSpecificity(w), SPECIFICITY) for w in (-0.1, 1.5, np.nan, "high", None, True)),
    *((lambda w=w: PartialRocAuc(w), MOST) for w in (-0.1, 1.5, np.nan, "high", None, True)),
]  # fmt: skip


@pytest.mark.parametrize(("call", "sentence"), REFUSED)
def test_parameters_and_predictions_without_a_meaning_have_their_sentence(call: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        call()
