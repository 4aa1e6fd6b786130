"""The no-information rate against a table of all pairs, for every metric that there is."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from heldout.data.task import TaskKind, Truth, truth_of
from heldout.metrics import custom, metric_named
from heldout.metrics.base import Response
from heldout.metrics.named import DECLARED
from heldout.protocols.validation import corrections as module
from heldout.protocols.validation.corrections import no_information, over_pairs
from heldout.protocols.validation.replicates import Replicates

N = 14
RNG = np.random.default_rng(5)
CLASSES = np.arange(N) % 3


def one_of(truth: Truth, said: dict[Response, Any], **others: Any) -> Replicates:
    completed = {response: np.asarray(each)[:, None] for response, each in said.items()}
    return Replicates(truth, np.ones((1, truth.n_rows), dtype=np.uint8), completed, completed, **others)


def softmax(n: int, k: int) -> np.ndarray:
    raw = RNG.random((n, k)) + 0.05
    return raw / raw.sum(axis=1, keepdims=True)


BINARY = one_of(
    truth_of((np.arange(N) % 4 == 0).astype(int)),
    {
        Response.LABELS: RNG.integers(2, size=N),
        Response.PROBABILITIES: RNG.random(N).round(1),
        Response.DECISION: RNG.normal(size=N).round(1),
    },
)
MULTICLASS = one_of(
    truth_of(CLASSES),
    {
        Response.LABELS: RNG.integers(3, size=N),
        Response.PROBABILITIES: softmax(N, 3),
        Response.DECISION: RNG.normal(size=(N, 3)),
    },
)
NUMBERS = one_of(truth_of(RNG.normal(50, 2, N).round(1), "regression"), {Response.VALUES: RNG.normal(50, 1, N)})
OF_KIND = {TaskKind.BINARY: BINARY, TaskKind.MULTICLASS: MULTICLASS, TaskKind.REGRESSION: NUMBERS}
WEIGHTS = {"once": np.ones(N), "weighted": RNG.integers(1, 4, N).astype(float)}

OF_N_ROWS = ("likelihood_ratio", "discrimination_index", "unreliability_index", "quality_index", "g_index")
CASES = [
    (metric, kind)
    for metric in DECLARED
    for kind in OF_KIND
    if metric.reads_truth
    and metric.name not in OF_N_ROWS
    and kind in metric.tasks
    and metric.ideal is None
    and any(r in OF_KIND[kind].apparent for r in metric.responses)
]


def of_all_pairs(metric: Any, truth: Truth, said: np.ndarray, weights: np.ndarray) -> float:
    """A table with a row for each pair, each as often as it weighs."""
    i, j = np.divmod(np.arange(len(said) ** 2), len(said))
    times = (weights[i] * weights[j]).astype(np.uint8)
    return metric.statistic(truth.rows(i), said[j][:, None]).all(times[None, :])[0, 0]


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(("metric", "kind"), CASES, ids=[f"{metric.name}-{kind}" for metric, kind in CASES])
def test_it_is_the_metric_of_all_pairs(metric, kind, weights):
    replicates = OF_KIND[kind]
    metric = metric.for_truth(replicates.truth)
    said = replicates.apparent[replicates.response_of(metric)][:, 0]
    expected = of_all_pairs(metric, replicates.truth, said, WEIGHTS[weights])
    found = no_information(replace(replicates, weights=WEIGHTS[weights]), metric)
    assert found.value == pytest.approx(expected, rel=1e-9, abs=1e-12) and not found.reason


@pytest.mark.parametrize("name", OF_N_ROWS)
def test_metrics_that_depend_on_the_number_of_rows_have_no_rate(name):
    found = no_information(BINARY, metric_named(name).for_truth(BINARY.truth))
    assert np.isnan(found.value) and found.reason.endswith("which depends on the number of rows")


def test_closed_forms_are_those_of_the_article():
    p, q = BINARY.truth.values.mean(), BINARY.apparent[Response.LABELS].mean()
    assert no_information(BINARY, metric_named("zero_one_loss")).value == pytest.approx(p * (1 - q) + (1 - p) * q)
    assert no_information(BINARY, metric_named("roc_auc")).value == pytest.approx(0.5, abs=1e-15)
    given = BINARY.apparent[Response.PROBABILITIES]
    brier = (p * (1 - given) ** 2 + (1 - p) * given**2).mean()
    assert no_information(BINARY, metric_named("brier_score")).value == pytest.approx(brier)
    assert no_information(MULTICLASS, metric_named("matthews_corrcoef")).value == pytest.approx(0, abs=1e-12)
    assert no_information(NUMBERS, metric_named("spearman")).value == pytest.approx(0, abs=1e-12)


def survival(n: int = 24) -> tuple[Truth, np.ndarray]:
    time = RNG.exponential(4.0, n).round(1) + 0.1
    return truth_of(list(zip(RNG.random(n) < 0.6, time, strict=True)), "survival"), np.quantile(time, [0.3, 0.6])


def test_risks_that_know_nothing_order_half_of_the_pairs():
    truth, times = survival()
    replicates = one_of(truth, {Response.RISK: RNG.normal(size=24)})
    for metric in (metric_named("concordance_index"), metric_named(f"concordance_index_ipcw(tau={times[1]})")):
        assert no_information(replicates, metric.for_truth(truth)).value == 0.5
    said = replicates.apparent[Response.RISK][:, 0]
    harrell = of_all_pairs(metric_named("concordance_index"), truth, said, np.ones(24))
    assert harrell == pytest.approx(0.5, abs=1e-15)


def test_risks_whose_scale_counts_have_no_rate():
    truth, _ = survival()
    replicates = one_of(truth, {Response.RISK: RNG.normal(size=24)})
    assert no_information(replicates, metric_named("somers_d").for_truth(truth)).value == 0
    found = no_information(replicates, metric_named("nagelkerke_r2(recalibrated=False)").for_truth(truth))
    assert np.isnan(found.value) and "scale of risks" in found.reason


def test_survival_probabilities_are_given_to_all_rows(monkeypatch):
    truth, times = survival()
    metric = metric_named(f"integrated_brier_score(times={times.tolist()})").for_truth(truth)
    said = np.sort(RNG.random((24, 2)), axis=1)[:, ::-1]
    replicates = one_of(truth, {Response.SURVIVAL: said}, times=tuple(times))
    expected = of_all_pairs(metric, truth, said, np.ones(24))
    assert no_information(replicates, metric).value == pytest.approx(expected)
    monkeypatch.setattr(module, "AT_ONCE", 100)  # two predictions at a time
    assert no_information(replicates, metric).value == pytest.approx(expected)


def test_a_function_takes_the_table_itself():
    def worst(y_true: Any, y_pred: Any) -> float:
        return float(np.abs(y_true - y_pred).max())

    y, said = NUMBERS.truth.values, NUMBERS.apparent[Response.VALUES][:, 0]
    metric = custom(worst, greater_is_better=False, response="values", range=(0, np.inf))
    assert no_information(NUMBERS, metric).value == np.abs(y[:, None] - said).max()


def test_too_many_pairs_are_not_permuted_but_refused(monkeypatch):
    monkeypatch.setattr(module, "MOST_PAIRS", 100)
    found = no_information(NUMBERS, metric_named("median_absolute_error"))
    assert np.isnan(found.value) and "at most 10 rows" in found.reason
    assert np.isfinite(no_information(NUMBERS, metric_named("mean_absolute_error")).value)


def test_an_undefined_rate_has_a_reason():
    constant = one_of(NUMBERS.truth, {Response.VALUES: np.ones(N)})
    found = no_information(constant, metric_named("spearman"))
    assert np.isnan(found.value) and "undefined" in found.reason


def test_distances_far_from_zero_keep_their_digits():
    near = over_pairs(
        metric_named("mean_absolute_error"), Response.VALUES, NUMBERS.truth, np.arange(N) + 45.0, np.ones(N)
    )
    far = over_pairs(
        metric_named("mean_absolute_error"),
        Response.VALUES,
        truth_of(NUMBERS.truth.values + 2.0**40, "regression"),
        np.arange(N) + 45.0 + 2.0**40,
        np.ones(N),
    )
    assert far.value == pytest.approx(near.value, rel=1e-4)  # the sum itself rounds at 2**-13
