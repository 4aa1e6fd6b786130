"""Every declared metric keeps the contract of ``metrics/base.py``: scikit-learn's numbers under any counts.

Tables are small, with tied scores and all classes present; references are scikit-learn's functions on
``sample_weight=counts`` or, where they refuse weights or differ between versions, on repeated rows. References of
survival metrics are their definitions, pair by pair and time by time.
"""

import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import definitions
import numpy as np
import pytest
import sklearn
import sklearn.metrics as skm
from numpy.typing import NDArray
from sklearn.utils.fixes import parse_version

from heldout.data.task import TaskKind, Truth, truth_of
from heldout.metrics import (
    E90,
    ECI,
    ICI,
    CalibrationIntercept,
    CalibrationInterceptError,
    CohenKappa,
    Emax,
    ExpectedCalibrationError,
    FScore,
    NagelkerkeR2,
    PartialRocAuc,
    PinballLoss,
    SensitivityAtSpecificity,
)
from heldout.metrics.base import ByKind, Fused, Metric, Needs, Response, Statistic, at_times_of
from heldout.metrics.named import DECLARED as ALL_DECLARED
from heldout.metrics.survival import BrierAt, IntegratedBrier, RocAucAt

DECLARED = [metric for metric in ALL_DECLARED if metric.reads_truth]  # mean_score: tests/metrics/test_scores.py
N, C, L = 40, 4, 7
COMPARED = 1
"""Of the L draws this is compared with the references, which are slow; a draw does not depend on the others."""
TIMES = (1.0, 2.5, 3.0)
TENTHS, FIFTEENTHS = np.linspace(0, 1, 11)[1:-1], np.linspace(0, 1, 16)[1:-1]
NEW_BRIER = parse_version(sklearn.__version__) >= parse_version("1.7")


@dataclass(frozen=True)
class Table:
    """Truth, predictions of each response, and the same as scikit-learn wants them."""

    truth: Truth
    responses: dict[Response, NDArray[Any]]
    y: NDArray[Any]

    def column(self, response: Response, j: int) -> NDArray[Any]:
        predicted = self.responses[response][:, j]
        return self.truth.classes[predicted] if response is Response.LABELS else predicted


def table_of(kind: TaskKind, seed: int, labels: list[Any] | None = None, positive: int | None = None) -> Table:
    rng = np.random.default_rng(seed)
    if kind is TaskKind.REGRESSION:
        y = rng.normal(3, 2, N).round(2)
        predictions = (y[:, None] + rng.normal(0, np.linspace(0.5, 4, C), (N, C))).round(1)
        return Table(truth_of(y, kind), {Response.VALUES: predictions}, y)
    if kind is TaskKind.SURVIVAL:
        times = np.r_[0.5, 9.0, rng.integers(1, 8, N - 2) / 2]  # tied, events and censored ones
        y = np.rec.fromarrays([np.r_[True, False, rng.random(N - 2) < 0.6], times], names="seen,days").view(
            np.ndarray
        )
        risks = (rng.normal(size=(N, C)) - np.linspace(0, 1, C) * times[:, None]).round(1)
        survival = np.exp(-np.array(TIMES) * np.exp(risks[:, :, None] / 2)).round(2)
        truth = truth_of(y, kind)
        return Table(truth, {Response.RISK: risks, Response.SURVIVAL: survival}, truth.values)
    names = np.array(labels if labels is not None else list(range(2 if kind is TaskKind.BINARY else 4)))
    n_classes = len(names)
    codes = np.r_[np.arange(n_classes), rng.choice(n_classes, N - n_classes, p=_prevalence(n_classes))]
    truth = truth_of(names[codes], kind, classes=names)
    if positive is not None:
        truth = truth.with_positive(positive)
    pull = np.linspace(0.0, 2.0, C)[None, :, None]
    raw = rng.normal(size=(N, C, n_classes)).round(1) + pull * (codes[:, None] == np.arange(n_classes))[:, None]
    probabilities = np.exp(raw) / np.exp(raw).sum(axis=2, keepdims=True)
    predicted = raw.argmax(axis=2).astype(np.int32)
    predicted[:, 0] = n_classes - 1  # a constant predictor is among the columns
    probabilities[:, 0] = 1 / n_classes
    decision = raw - raw.mean(axis=2, keepdims=True)
    if kind is TaskKind.BINARY:
        probabilities, decision = (a[:, :, truth.positive].round(2) for a in (probabilities, decision))
    arrays = {
        Response.LABELS: predicted,
        Response.PROBABILITIES: probabilities,
        Response.DECISION: decision,
    }
    return Table(truth, arrays, names[codes])


def _prevalence(n_classes: int) -> NDArray[np.float64]:
    return np.arange(1, n_classes + 1) / np.arange(1, n_classes + 1).sum()


def bootstraps(seed: int, n: int = N) -> NDArray[np.uint8]:
    rng = np.random.default_rng(seed)
    return rng.multinomial(n, np.full(n, 1 / n), size=L).astype(np.uint8)


def defined(metric: Metric, truth: Truth, counts: NDArray[Any]) -> NDArray[Any]:
    """The lanes with a row of every class: what a bootstrap would draw for metrics that need them."""
    if truth.classes is None or metric.needs is Needs.ROW:
        return counts
    present = np.stack([counts[:, truth.values == k].any(axis=1) for k in range(truth.n_classes)], axis=1)
    assert present.all(axis=1).sum() >= L // 2
    return counts[present.all(axis=1)]


Reference = Callable[[Truth, NDArray[Any], NDArray[Any], NDArray[Any] | None], float]


def _plain(function: Callable[..., Any], **arguments: Any) -> Reference:
    return lambda truth, y, p, w: float(function(y, p, sample_weight=w, **arguments))


def _class_score(function: Callable[..., Any], average: str) -> Reference:
    def value(truth: Truth, y: Any, p: Any, w: Any) -> float:
        pos_label = truth.pos_label if average == "binary" else 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return float(function(y, p, sample_weight=w, average=average, pos_label=pos_label))

    return value


def _log_loss(truth: Truth, y: Any, p: Any, w: Any) -> float:
    return float(skm.log_loss(_indicator(truth, y, p), p, sample_weight=w, labels=_known(truth, p)))


def _brier(truth: Truth, y: Any, p: Any, w: Any) -> float:
    if p.ndim == 1:
        return float(skm.brier_score_loss(y == truth.pos_label, p, sample_weight=w))
    if not NEW_BRIER:
        losses = ((p - (y[:, None] == truth.classes)) ** 2).sum(axis=1)
        return float(np.average(losses, weights=w))
    codes = np.searchsorted(np.sort(truth.classes), y)
    order = np.argsort(truth.classes)
    return float(skm.brier_score_loss(codes, p[:, order], sample_weight=w, labels=np.arange(truth.n_classes)))


def _indicator(truth: Truth, y: Any, p: Any) -> Any:
    return (y == truth.pos_label).astype(int) if p.ndim == 1 else y


def _known(truth: Truth, p: Any) -> Any:
    return [0, 1] if p.ndim == 1 else truth.classes


def _roc_auc(**arguments: Any) -> Reference:
    def value(truth: Truth, y: Any, p: Any, w: Any) -> float:
        if p.ndim == 1:
            return float(skm.roc_auc_score(y == truth.pos_label, p, sample_weight=w))
        if arguments["multi_class"] == "ovo" and w is not None:  # refuses weights
            rows = np.repeat(np.arange(len(y)), w.astype(int))
            return float(skm.roc_auc_score(y[rows], p[rows], **arguments))
        return float(skm.roc_auc_score(y, p, sample_weight=w, **arguments))

    return value


def _average_precision(truth: Truth, y: Any, p: Any, w: Any) -> float:
    target = (y == truth.pos_label).astype(int) if p.ndim == 1 else y
    return float(skm.average_precision_score(target, p, sample_weight=w))


def _median(truth: Truth, y: Any, p: Any, w: Any) -> float:
    times = np.ones(len(y), int) if w is None else w.astype(int)
    return float(np.median(np.repeat(np.abs(y - p), times)))


def _balanced(truth: Truth, y: Any, p: Any, w: Any) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(skm.balanced_accuracy_score(y, p, sample_weight=w))


def _concordance(uno: bool) -> Reference:
    def value(truth: Truth, y: Any, p: Any, w: Any) -> float:
        weights = np.ones(len(y)) if w is None else w
        factors = [_not_censored(y, time) ** -2.0 if event and uno else 1.0 for event, time in y]
        won = total = 0.0
        for i, (event, time) in enumerate(y):
            for j, (other_event, other_time) in enumerate(y):
                if event and (other_time > time or (other_time == time and not other_event)):
                    pair = weights[i] * weights[j] * factors[i]
                    total += pair
                    won += pair * (1.0 if p[i] > p[j] else 0.5 if p[i] == p[j] else 0.0)
        return float(won / total)

    return value


def _not_censored(y: Any, until: float) -> float:
    """Kaplan and Meier's product over the censored times, of the rows still there after the events of that time."""
    probability = 1.0
    for time in np.unique(y["time"][~y["event"] & (y["time"] <= until)]):
        there = (y["time"] > time) | ((y["time"] == time) & ~y["event"])
        probability *= 1 - np.sum((y["time"] == time) & ~y["event"]) / there.sum()
    return probability


def _standing_for(y: Any, t: float) -> NDArray[np.float64]:
    """How many rows each of known outcome stands for."""
    known = [(event and time <= t) or time > t for event, time in y]
    return np.array([one / _not_censored(y, min(t, time)) for one, (_, time) in zip(known, y, strict=True)])


def _brier_at(truth: Truth, y: Any, p: Any, w: Any, k: int = 0) -> float:
    t = TIMES[k]
    return float(np.average(((y["time"] > t) - p[:, k]) ** 2 * _standing_for(y, t), weights=w))


def _area_at(truth: Truth, y: Any, p: Any, w: Any) -> float:
    weights = _weights(y, w) * _standing_for(y, TIMES[1])
    return float(skm.roc_auc_score(y["time"] <= TIMES[1], p, sample_weight=weights))


def _integrated_brier(truth: Truth, y: Any, p: Any, w: Any) -> float:
    scores = [_brier_at(truth, y, p, w, k) for k in range(len(TIMES))]
    areas = [(a + b) / 2 * step for a, b, step in zip(scores, scores[1:], np.diff(TIMES), strict=False)]
    return float(sum(areas) / (TIMES[-1] - TIMES[0]))


def _by_kind(of_classes: Callable[..., float], of_others: Callable[..., float]) -> Reference:
    def value(truth: Truth, y: Any, p: Any, w: Any) -> float:
        if not truth.kind.is_classification:
            return of_others(y, p, _weights(y, w))
        return of_classes((y == truth.pos_label).astype(int), p, _weights(y, w))

    return value


def _somers(truth: Truth, y: Any, p: Any, w: Any) -> float:
    share = _concordance(uno=False) if truth.kind is TaskKind.SURVIVAL else _roc_auc()
    return 2 * share(truth, y, p, w) - 1


def _slope(y: Any, p: Any, w: Any) -> float:
    return definitions.Cox(y, p, w).slope() if y.dtype.names else definitions.line(y, p, w)[1]


def _mean_residual(y: Any, p: Any, w: Any) -> float:
    return float(np.average(y - p, weights=w))


def _kappa(weights: str | None) -> Reference:
    return lambda truth, y, p, w: float(
        skm.cohen_kappa_score(y, p, labels=truth.classes, weights=weights, sample_weight=w)
    )


def _defined(definition: Callable[..., float]) -> Reference:
    """Of the positive class of a binary task."""
    return lambda truth, y, p, w: definition((y == truth.pos_label).astype(int), p, _weights(y, w))


def _weights(y: NDArray[Any], w: NDArray[Any] | None) -> NDArray[np.float64]:
    return np.ones(len(y)) if w is None else np.asarray(w, dtype=np.float64)


def _calibration_error(truth: Truth, y: Any, p: Any, w: Any, edges: Any = TENTHS) -> float:
    """Without edges, between quartiles of all rows."""
    said = p if p.ndim == 1 else p.max(axis=1)
    right = y == truth.pos_label if p.ndim == 1 else truth.classes[p.argmax(axis=1)] == y
    edges = np.percentile(said, [25, 50, 75]) if edges is None else edges
    return definitions.calibration_error(right.astype(int), said, _weights(y, w), edges)


def _partial_area(most: float) -> Reference:
    return lambda truth, y, p, w: float(skm.roc_auc_score(y == truth.pos_label, p, sample_weight=w, max_fpr=most))


def _logistic_distance(name: str) -> Reference:
    farthest = np.inf if name == "eci" else 1.0  # a curve may leave [0, 1], its distance ends there

    def distance(y: Any, p: Any, w: Any) -> float:
        return min(definitions.curve_distance(name, y, p, w, "logistic"), farthest)

    return _defined(distance)


def _joint_intercept(truth: Truth, y: Any, p: Any, w: Any) -> float:
    fit = _by_kind(lambda *rows: definitions.logistic_fit(*rows)[0], lambda *rows: definitions.line(*rows)[0])
    return fit(truth, y, p, w)


def _as_they_are(y: Any, p: Any, w: Any) -> float:
    """The share of the likelihood of risks with a slope of 1."""
    cox, total = definitions.Cox(y, p, w), w.sum()
    none, given = cox.value(0.0), cox.value(1.0)
    return float((1 - np.exp(2 * (none - given) / total)) / (1 - np.exp(2 * none / total)))


INDICES = ("likelihood_ratio", "discrimination_index", "unreliability_index", "quality_index")
"""Made of log-likelihoods, without a greatest value that all targets have."""


def _index(name: str) -> Reference:
    def of_probabilities(y: Any, p: Any, w: Any) -> float:
        return definitions.index(name, *definitions.likelihoods(y, p, w), w.sum())

    def of_risks(y: Any, p: Any, w: Any) -> float:
        cox = definitions.Cox(y, p, w)
        return definitions.index(name, *cox.likelihoods(), -2 * cox.value(0.0))

    return _by_kind(of_probabilities, of_risks)


def _mean_difference(truth: Truth, y: Any, p: Any, w: Any) -> float:
    weights = _weights(y, w)
    if truth.kind is not TaskKind.BINARY:
        return definitions.calibrated_difference(p, _slope(y, p, weights), weights)
    slope = definitions.logistic_fit((y == truth.pos_label).astype(int), p, weights)[1]
    return definitions.calibrated_difference(definitions.log_odds(p), slope, weights)


REFERENCES: dict[str, Reference] = {
    "accuracy": _plain(skm.accuracy_score),
    "zero_one_loss": _plain(skm.zero_one_loss),
    "balanced_accuracy": _balanced,
    "matthews_corrcoef": _plain(skm.matthews_corrcoef),
    **{
        stem + ("" if average == "binary" else f"_{average}"): _class_score(function, average)
        for stem, function in (
            ("f1", skm.f1_score),
            ("precision", skm.precision_score),
            ("recall", skm.recall_score),
        )
        for average in ("binary", "macro", "micro", "weighted")
    },
    "cohen_kappa": _kappa(None),
    "linear_weighted_kappa": _kappa("linear"),
    "quadratic_weighted_kappa": _kappa("quadratic"),
    "log_loss": _log_loss,
    "brier_score": _brier,
    "roc_auc": _roc_auc(),
    "roc_auc_ovr": _roc_auc(multi_class="ovr"),
    "roc_auc_ovr_weighted": _roc_auc(multi_class="ovr", average="weighted"),
    "roc_auc_ovo": _roc_auc(multi_class="ovo"),
    "roc_auc_ovo_weighted": _roc_auc(multi_class="ovo", average="weighted"),
    "average_precision": _average_precision,
    "partial_roc_auc": _partial_area(0.1),
    "sensitivity_at_specificity": _defined(partial(definitions.sensitivity_at, 0.9)),
    "expected_calibration_error": _calibration_error,
    "calibration_slope": _by_kind(lambda y, p, w: definitions.logistic_fit(y, p, w)[1], _slope),
    "calibration_slope_error": _by_kind(
        lambda y, p, w: abs(definitions.logistic_fit(y, p, w)[1] - 1),
        lambda y, p, w: abs(_slope(y, p, w) - 1),
    ),
    "calibration_intercept": _by_kind(definitions.intercept_given_slope, _mean_residual),
    "calibration_intercept_error": _by_kind(
        lambda y, p, w: abs(definitions.intercept_given_slope(y, p, w)),
        lambda y, p, w: abs(_mean_residual(y, p, w)),
    ),
    **{name: _defined(partial(definitions.curve_distance, name)) for name in definitions.DISTANCES},
    "somers_d": _somers,
    **{name: _index(name) for name in INDICES},
    "g_index": _mean_difference,
    "calibration_emax": _defined(definitions.calibration_emax),
    "nagelkerke_r2": _by_kind(definitions.nagelkerke, lambda y, p, w: definitions.Cox(y, p, w).r2(w.sum())),
    "mean_squared_error": _plain(skm.mean_squared_error),
    "root_mean_squared_error": _plain(skm.root_mean_squared_error),
    "mean_absolute_error": _plain(skm.mean_absolute_error),
    "median_absolute_error": _median,
    "mean_pinball_loss": _plain(skm.mean_pinball_loss),
    "r2": _plain(skm.r2_score),
    "spearman": lambda truth, y, p, w: definitions.spearman(y, p, _weights(y, w)),
    "concordance_index": _concordance(uno=False),
    "concordance_index_ipcw": _concordance(uno=True),
    "roc_auc_at": _area_at,
    "brier_score_at": _brier_at,
    "integrated_brier_score": _integrated_brier,
}
"""One a declared metric: (truth, y, predicted, weights) → scikit-learn's number."""

WITH_PARAMETERS: list[tuple[Metric, Reference]] = [
    *((SensitivityAtSpecificity(at), _defined(partial(definitions.sensitivity_at, at))) for at in (0, 0.8, 1)),
    *((PartialRocAuc(most), _partial_area(most)) for most in (0.02, 0.3, 0.999, 1)),
    (ExpectedCalibrationError(1), partial(_calibration_error, edges=np.array([]))),
    (ExpectedCalibrationError(15), partial(_calibration_error, edges=FIFTEENTHS)),
    (ExpectedCalibrationError(4, strategy="quantile"), partial(_calibration_error, edges=None)),
    *((metric("logistic"), _logistic_distance(metric().name)) for metric in (Emax, E90, ICI, ECI)),
    (NagelkerkeR2(recalibrated=False), _by_kind(partial(definitions.nagelkerke, recalibrated=False), _as_they_are)),
    (CalibrationIntercept(given_slope=False), _joint_intercept),
    (CalibrationInterceptError(given_slope=False), lambda *rows: abs(_joint_intercept(*rows))),
    *((PinballLoss(alpha), _plain(skm.mean_pinball_loss, alpha=alpha)) for alpha in (0, 0.1, 1)),
    *(
        (FScore(average, beta=beta), _class_score(partial(skm.fbeta_score, beta=beta), average))
        for average, beta in (("binary", 0), ("binary", 2), ("macro", 2), ("micro", 2), ("weighted", 0))
    ),
]
OF_PARAMETERS = {metric.name: reference for metric, reference in WITH_PARAMETERS}

AT_TIMES: dict[str, Metric] = {
    "roc_auc_at": RocAucAt(TIMES[1]),
    "brier_score_at": BrierAt(TIMES[0]),
    "integrated_brier_score": IntegratedBrier(TIMES),
}


def _read(metric: Metric, kind: TaskKind) -> tuple[Response, ...]:
    """What a metric reads in a kind of task."""
    return replace(metric, kind=kind).responses if isinstance(metric, ByKind) else metric.responses


CASES = [
    pytest.param(metric, kind, response, id=f"{metric.name}-{kind}-{response}")
    for metric in (*(AT_TIMES.get(one.name, one) for one in DECLARED), *(metric for metric, _ in WITH_PARAMETERS))
    for kind in sorted(metric.tasks)
    for response in metric.responses
    if response in table_of(kind, 0).responses
]

# One-vs-one refuses weights, and the weighted median differs between versions of scikit-learn.
UNWEIGHTED = [str(case.id) for case in CASES if re.search("median|roc_auc_ovo.*multiclass", str(case.id))]
COUNTED_AND_WEIGHTED = [
    pytest.param(*case.values, real, id=f"{case.id}-{'weights' if real else 'counts'}")
    for case in CASES
    for real in (False, True)
    if not real or case.id not in UNWEIGHTED
]


def assert_equal(ours: NDArray[Any], theirs: NDArray[Any]) -> None:
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


def predicted(table: Table, metric: Metric, response: Response) -> NDArray[Any]:
    """What the metric reads: of survival probabilities those at its own times."""
    return at_times_of(metric, table.responses[response], TIMES)


def expected(table: Table, metric: Metric, response: Response, counts: NDArray[Any] | None) -> NDArray[np.float64]:
    reference = OF_PARAMETERS.get(metric.name) or REFERENCES[metric.name.partition("(")[0]]
    weights = [None] if counts is None else list(counts.astype(np.float64))
    return np.array(
        [[reference(table.truth, table.y, table.column(response, j), w) for j in range(C)] for w in weights]
    )


def test_every_declared_metric_has_a_reference_and_every_reference_a_metric() -> None:
    assert {metric.name for metric in DECLARED} == set(REFERENCES)


@pytest.mark.parametrize(("metric", "kind", "response", "real"), COUNTED_AND_WEIGHTED)
def test_equals_scikit_learn(metric: Metric, kind: TaskKind, response: Response, real: bool) -> None:
    table = table_of(kind, 3 if real else 0)
    weights = np.random.default_rng(4).gamma(1.0, size=(L, N)) * bootstraps(5) if real else bootstraps(10)
    weights = defined(metric, table.truth, weights)
    bound = metric.statistic(table.truth, predicted(table, metric, response))
    theirs = expected(table, metric, response, weights[:COMPARED])
    assert_equal(bound.all(weights)[:COMPARED], theirs)
    columns = np.random.default_rng(0).integers(0, C, len(weights))
    assert_equal(bound.selected(weights, columns)[:COMPARED], theirs[np.arange(COMPARED), columns[:COMPARED]])


@pytest.mark.parametrize(("metric", "kind", "response"), CASES)
def test_a_count_of_one_is_no_weight_and_a_count_of_two_is_a_row_twice(
    metric: Metric, kind: TaskKind, response: Response
) -> None:
    table = table_of(kind, 6)
    predictions = predicted(table, metric, response)
    metric = metric.for_truth(table.truth)  # its censoring is of these rows, however often each counts
    bound = metric.statistic(table.truth, predictions)
    once = np.ones((1, N), dtype=np.uint8)
    assert_equal(bound.all(once), expected(table, metric, response, None))

    drawn = defined(metric, table.truth, bootstraps(8))
    assert_equal(bound.all(drawn.astype(np.float64)), bound.all(drawn))
    if "quantile" in metric.name:
        return  # its bins lie between quantiles of the rows, however often each counts
    counts = once.copy()
    counts[0, [0, 7, 11]] = 2
    rows = np.repeat(np.arange(N), counts[0])
    again = metric.statistic(table.truth.rows(rows), predictions[rows])
    repeated = again.all(np.ones((1, len(rows)), dtype=np.uint8))
    assert_equal(bound.all(counts), repeated)


@pytest.mark.parametrize(("metric", "kind", "response"), CASES)
def test_a_column_alone_under_one_draw_has_the_same_bits(
    metric: Metric, kind: TaskKind, response: Response
) -> None:
    table = table_of(kind, 9)
    predictions = predicted(table, metric, response)
    bound = metric.statistic(table.truth, predictions)
    columns, lanes = np.arange(L) % C, np.arange(L)
    for counts in (bootstraps(10), np.random.default_rng(11).gamma(1.0, size=(L, N))):
        together = bound.all(counts)
        np.testing.assert_array_equal(bound.selected(counts, columns), together[lanes, columns])
        np.testing.assert_array_equal(np.concatenate([bound.all(counts[[lane]]) for lane in lanes]), together)
    counts = bootstraps(22)
    together = bound.all(counts)
    for j in range(C):
        alone = metric.statistic(table.truth, predictions[:, j : j + 1])
        of_lanes = np.concatenate([alone.all(counts[[lane]]) for lane in lanes])
        np.testing.assert_array_equal(of_lanes[:, 0], together[:, j])


@pytest.mark.parametrize(("metric", "kind", "response"), CASES)
def test_values_are_in_range_and_the_perfect_model_reaches_its_best_end(
    metric: Metric, kind: TaskKind, response: Response
) -> None:
    """All right, and of labels and scores all wrong, where sums that round differ in their last bits."""
    table = table_of(kind, 12)
    perfect = at_times_of(metric, _perfect(table.truth, response), TIMES)
    wrong = {
        Response.LABELS: lambda: (perfect + 1) % max(table.truth.n_classes, 2),
        Response.DECISION: lambda: -perfect,
        Response.RISK: lambda: -perfect,
        Response.PROBABILITIES: lambda: np.roll(perfect, 1, axis=-1) if perfect.ndim == 3 else 1 - perfect,
    }
    ends = np.concatenate([perfect, wrong[response]()], axis=1) if response in wrong else perfect
    metric = metric.for_truth(table.truth)
    low, high = metric.range
    weights = np.random.default_rng(24).uniform(size=(150, N)) ** 4
    for given, weighed in (
        (ends, weights), (ends, bootstraps(25)), (predicted(table, metric, response), bootstraps(13)),
    ):  # fmt: skip
        values = metric.statistic(table.truth, given).all(weighed)
        known = values[~np.isnan(values)]
        assert (known >= low).all() and (known <= high).all()
    if "logistic" in metric.name or (metric.name.startswith("calibration_") and kind is not TaskKind.REGRESSION):
        return  # perfect predictions are separated by the truth: the fits have no maximum
    if metric.name.startswith("nagelkerke_r2") and kind is TaskKind.SURVIVAL:
        return  # of events at one time, no risks tell which came first
    if metric.name in (*INDICES, "g_index"):
        return  # the best is another number for each target, and a separated one has no slope
    best = metric.ideal
    if best is None:
        best = high if metric.greater_is_better else low
    of_perfect = metric.statistic(table.truth, perfect).all(np.ones((1, N), np.uint8))
    assert of_perfect[0, 0] == pytest.approx(best, abs=1e-12)


def _perfect(truth: Truth, response: Response) -> NDArray[Any]:
    if response in (Response.LABELS, Response.VALUES):
        return truth.values[:, None]
    if response is Response.RISK:
        return -truth.values["time"][:, None] - 0.25 * ~truth.values["event"][:, None]
    if response is Response.SURVIVAL:
        return (truth.values["time"][:, None] > np.array(TIMES)).astype(float)[:, None]
    sure = (truth.values[:, None] == np.arange(truth.n_classes)).astype(np.float64)
    return sure[:, None, :] if truth.kind is TaskKind.MULTICLASS else sure[:, truth.positive][:, None]


NAMES = {TaskKind.BINARY: ["b", "a"], TaskKind.MULTICLASS: ["ant", "bee", "cow", "dog"]}


@pytest.mark.parametrize(("metric", "kind", "response"), [case for case in CASES if case.values[1] in NAMES])
def test_labels_may_be_of_any_type_and_either_class_positive(
    metric: Metric, kind: TaskKind, response: Response
) -> None:
    table = table_of(kind, 14, NAMES[kind], positive=0 if kind is TaskKind.BINARY else None)
    counts = defined(metric, table.truth, bootstraps(15))[:1]
    bound = metric.statistic(table.truth, predicted(table, metric, response))
    assert_equal(bound.all(counts), expected(table, metric, response, counts))


def _bound(metric: Metric, kind: TaskKind, response: Response) -> Statistic:
    table = table_of(kind, 18)
    return metric.statistic(table.truth, predicted(table, metric, response))


FUSED_CASES = [case for case in CASES if isinstance(_bound(*case.values), Fused)]


@pytest.mark.parametrize(("metric", "kind", "response"), FUSED_CASES)
def test_the_fused_path_selects_in_the_bag_and_scores_out_of_it(
    metric: Metric, kind: TaskKind, response: Response
) -> None:
    bound = _bound(metric, kind, response)
    counts = defined(metric, table_of(kind, 18).truth, bootstraps(19))
    in_bag = bound.all(counts)
    columns = in_bag.argmax(axis=1) if metric.greater_is_better else in_bag.argmin(axis=1)
    left_out = (counts == 0).astype(np.uint8)
    assert isinstance(bound, Fused)
    found = bound.best_out_of_bag(counts)
    np.testing.assert_array_equal(found.columns, columns)
    np.testing.assert_array_equal(found.values, bound.selected(left_out, columns))


def test_which_metrics_have_the_fused_path() -> None:
    fused = {case.values[0].name.partition("(")[0] for case in FUSED_CASES}
    assert {metric.name for metric in DECLARED if metric.row_wise} < fused
    assert {"roc_auc", "root_mean_squared_error", "concordance_index"} <= fused
    assert not fused & {"r2", "f1", "matthews_corrcoef", "average_precision", "median_absolute_error"}


@pytest.mark.parametrize("rows", [7, 16, 40])
@pytest.mark.parametrize("n_bins", [3, 10, 15])
def test_rows_on_an_edge_between_quantiles_are_in_the_bins_of_scikit_learn(rows: int, n_bins: int) -> None:
    rng = np.random.default_rng(rows)
    y, p = np.arange(rows) % 2, rng.random((rows, C))
    found = ExpectedCalibrationError(n_bins, "quantile").statistic(truth_of(y), p)
    for j in range(C):
        edges = np.percentile(p[:, j], np.linspace(0, 1, n_bins + 1) * 100)[1:-1]
        expected = definitions.calibration_error(y, p[:, j], np.ones(rows), edges)
        assert found.all(np.ones((1, rows), dtype=np.uint8))[0, j] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
@pytest.mark.parametrize(("labels", "absent"), [([0, 1, 2, 3, 4], "keep"), (["e", "a", "d", "b", "c"], "skip")])
def test_kappa_of_an_ordered_scale_equals_scikit_learn(weights: Any, labels: list[Any], absent: Any) -> None:
    """Of the scale, 2 is predicted at most, and 4 neither occurs nor is predicted."""
    rng = np.random.default_rng(4)
    codes = rng.choice([0, 1, 3], N)
    p = np.where(rng.random((N, C)) < 0.5, codes[:, None], rng.integers(0, 3, (N, C)))
    p[:, 0] = codes  # 2 is a place of some columns' scales only
    names = np.array(labels)
    truth = truth_of(names[codes], TaskKind.MULTICLASS, classes=names)
    known = np.arange(5) if absent == "keep" else None
    for drawn in (bootstraps(26)[:3], np.random.default_rng(27).gamma(1.0, size=(3, N))):
        theirs = [
            [skm.cohen_kappa_score(codes, s, labels=known, weights=weights, sample_weight=w) for s in p.T]
            for w in drawn.astype(float)
        ]
        assert_equal(CohenKappa(weights, absent).statistic(truth, p).all(drawn), np.array(theirs))
