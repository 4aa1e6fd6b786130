"""``Estimate.coverage``: what such intervals covered, where something like it was measured, and nowhere else."""

import json
import math

import numpy as np
import pytest

import heldout as ho
from heldout.estimates import BBC, Coverage
from heldout.estimates.coverage import CellEvidence, installed_bed

N, C = 120, 6
RNG = np.random.default_rng(0)
Y = np.repeat([0, 1], [80, 40])
SCORES = 0.6 * Y[:, None] + RNG.random((N, C))
EVENTS = np.array([*zip(Y == 1, RNG.exponential(1.0, N), strict=True)], dtype=[("event", bool), ("time", float)])


def cell(metric="roc_auc", rows=100, rarer=40, n=10, method="shrinkage", part="tables", share=0.953, **figures):
    kind = "one" if n == 1 else "alike" if n == 10 else "varied"
    known = {
        "repetitions": 412, "bias": 0.0, "bias_error": 0.0, "rmse_ratio": 1.0, "rmse_ratio_error": 0.0,
        "intervals": 412, "coverage": share, "coverage_error": 0.0104, "width_ratio": 1.0, "bound_coverage": 0.97,
        "bound_coverage_error": 0.0081,
    }  # fmt: skip
    return CellEvidence(part, kind, metric, rows, rarer, n, method, **(known | figures))


def mean_of_positives(y, scores):
    return float(np.mean(scores[y == 1]))


@pytest.fixture
def bed(monkeypatch):
    def of(*cells):
        monkeypatch.setattr("heldout.estimates.coverage.installed_bed", lambda: cells)

    of(cell())
    return of


def estimate(y=Y, predictions=SCORES, **settings):
    known = {"metric": "roc_auc", "folds": np.arange(N) % 5, "n_bootstraps": 50, "random_state": 0}
    return ho.estimate(y, predictions, **(known | settings))


def test_the_measured_share_its_error_and_the_cell(bed):
    found = estimate().coverage

    where = (
        "412 real searches on 100 rows (40 of the rarer class) with 10 configurations of one estimator (ROC AUC)"
    )
    assert found == Coverage(0.953, 0.0104, where)
    assert str(found) == f"In {where}, 95.3 % of such intervals held the truth (± 1.0 %)."


def test_every_output_has_it(bed):
    found = estimate()

    assert json.loads(json.dumps(found.to_dict()))["coverage"] == {
        "share": 0.953, "standard_error": 0.0104, "cell": found.coverage.cell,
    }  # fmt: skip
    assert found.to_frame()["coverage"].tolist() == [0.953]
    assert str(found.coverage) in found._repr_html_()
    assert str(found.coverage) in ho.report_card(found)


@pytest.mark.parametrize(
    ("rows", "rarer", "known"),
    [(60, 20, True), (240, 80, True), (59, 20, False), (241, 80, False), (120, 81, False)],
)
def test_rows_of_the_sample_and_of_the_rarer_class_are_within_a_factor_of_two(bed, rows, rarer, known):
    bed(cell(rows=rows, rarer=rarer))

    assert (estimate().coverage is not None) is known


@pytest.mark.parametrize(
    "other",
    [cell("accuracy"), cell(method="bbc"), cell(n=1), cell(part="hold-out"), cell(share=math.nan)],
    ids=["metric", "method", "kind", "part", "no interval"],
)
def test_another_metric_method_or_kind_says_nothing(bed, other):
    bed(other)

    assert estimate().coverage is None


def test_the_nearest_number_of_configurations_counts_and_one_is_a_kind_of_its_own(bed):
    bed(*(cell(n=n, share=n / 1000) for n in (1, 10, 57, 200)))

    assert estimate().coverage.share == 0.010
    assert estimate(predictions=SCORES[:, np.arange(60) % C]).coverage.share == 0.057
    assert estimate(predictions=SCORES[:, np.arange(150) % C]).coverage.share == 0.200
    assert estimate(predictions=SCORES[:, :1]).coverage.share == 0.001


def test_only_intervals_that_were_measured(bed):
    assert estimate(alternative="greater").coverage.share == 0.97
    assert estimate(alternative="less").coverage is None
    assert estimate(confidence_level=0.9).coverage is None


@pytest.mark.parametrize(
    "settings",
    [
        {"groups": np.arange(N) // 2, "folds": np.arange(N) // 2 % 5},
        {"sample_weight": np.arange(N) + 1.0},
        {"adaptive": True},
        {"block_length": 5},
        {"selection": "one_standard_error"},
        {"method": BBC(control=False)},
        {
            "metric": ho.metrics.custom(
                mean_of_positives, name="roc_auc", greater_is_better=True, response="decision"
            )
        },
    ],
    ids=["groups", "weights", "adaptive", "blocks", "selection", "settings", "own metric"],
)
def test_nothing_was_measured_for_what_is_unlike_the_test_bed(bed, settings):
    assert estimate(**settings).coverage is None


def test_a_sign_does_not_matter_and_numbers_have_no_rarer_class(bed):
    bed(cell("root_mean_squared_error", rarer=0))
    found = estimate(np.sort(RNG.normal(size=N)), RNG.normal(size=(N, C)), metric="neg_root_mean_squared_error")

    assert found.coverage.cell.startswith("412 real searches on 100 rows with 10")


def test_events_count_in_place_of_the_rarer_class(bed):
    bed(cell("concordance_index", rarer=25), cell("concordance_index", rarer=15, share=0.5))
    found = estimate(EVENTS, RNG.random((N, C)), metric="concordance_index")

    assert (found.coverage.share, "100 rows (25 with an event)" in found.coverage.cell) == (0.953, True)


def test_a_hold_out_has_figures_of_hold_outs(bed):
    bed(cell(), cell(part="hold-out", n=60, share=0.94))

    assert estimate(folds=np.zeros(N, dtype=int)).coverage.share == 0.94


def test_the_installed_cells_are_whole():
    for one in installed_bed():
        assert 0 <= one.rarer <= one.rows, one
        assert (one.rarer == 0) == (one.metric in ("r2", "root_mean_squared_error", "mean_absolute_error")), one
        for alternative in ("two-sided", "greater"):
            found = one.coverage_of(alternative)
            assert found is None or 0 <= found.share <= 1, one
