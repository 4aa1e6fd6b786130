"""The corrections by hand, against plain loops, and what must hold of any replicates."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk

from heldout.data.task import truth_of
from heldout.errors import InputError
from heldout.flags import Flag
from heldout.metrics import metric_named
from heldout.metrics.base import Response
from heldout.protocols.validation.corrections import (
    CORRECTIONS,
    CorrectedScore,
    Optimism,
    OutOfBag,
    correction_named,
    weigh,
)
from heldout.protocols.validation.replicates import Replicates
from heldout.protocols.words import PROTOCOL_WORDS

FUNCTIONS: dict[str, tuple[Response, Callable[..., float]]] = {
    "accuracy": (Response.LABELS, sk.accuracy_score),
    "balanced_accuracy": (Response.LABELS, sk.balanced_accuracy_score),
    "f1": (Response.LABELS, sk.f1_score),
    "matthews_corrcoef": (Response.LABELS, sk.matthews_corrcoef),
    "brier_score": (Response.PROBABILITIES, sk.brier_score_loss),
    "log_loss": (Response.PROBABILITIES, sk.log_loss),
    "roc_auc": (Response.DECISION, sk.roc_auc_score),
    "average_precision": (Response.DECISION, sk.average_precision_score),
    "mean_squared_error": (Response.VALUES, sk.mean_squared_error),
    "root_mean_squared_error": (Response.VALUES, sk.root_mean_squared_error),
    "mean_absolute_error": (Response.VALUES, sk.mean_absolute_error),
    "median_absolute_error": (Response.VALUES, sk.median_absolute_error),
    "r2": (Response.VALUES, sk.r2_score),
}
BY_ROW = {
    "accuracy",
    "brier_score",
    "log_loss",
    "mean_squared_error",
    "root_mean_squared_error",
    "mean_absolute_error",
}


def corrected(name: str, replicates: Replicates, metric: Any) -> Any:
    metric = metric_named(metric) if isinstance(metric, str) else metric
    return correction_named(name).corrected(replicates, replicates.scores(metric))


def values(replicates: Replicates, metric: Any) -> list[float]:
    return [corrected(name, replicates, metric).value for name in CORRECTIONS]


def plain(replicates: Replicates, metric: str) -> list[float]:
    """All corrections with nothing but loops and scikit-learn's functions, in the order of CORRECTIONS."""
    response, score = FUNCTIONS[metric]
    greater, y = metric_named(metric).greater_is_better, replicates.truth.values
    said, own = replicates.on_original[response][:, 0], replicates.apparent[response][:, 0]
    n, apparent = len(y), score(y, own)
    optimism, by_replicate, of_row = [], [], {i: [] for i in range(n)}
    for b, counts in enumerate(replicates.counts):
        sample, rest = np.repeat(np.arange(n), counts), np.flatnonzero(counts == 0)
        optimism.append(score(y[sample], said[sample, b]) - score(y, said[:, b]))
        by_replicate.append(score(y[rest], said[rest, b]))
        for i in rest:
            if metric in BY_ROW:
                both = {"labels": [0, 1]} if metric == "log_loss" else {}
                error = score([y[i]], [said[i, b]], **both)
                of_row[i].append(error**2 if metric.startswith("root") else error)
    out_of_bag = np.mean(by_replicate)
    if metric in BY_ROW:
        out_of_bag = np.mean([np.mean(each) for each in of_row.values() if each])
        out_of_bag = np.sqrt(out_of_bag) if metric.startswith("root") else out_of_bag
    i, j = np.divmod(np.arange(n * n), n)
    gamma = score(y[i], own[j])
    error, away, none = ((1 - each) if greater else each for each in (apparent, out_of_bag, gamma))
    bounded = min(away, none)
    overfitting = (bounded - error) / (none - error) if away > error and none > error else 0.0
    w = 0.632 / (1 - 0.368 * overfitting)
    plus = (1 - w) * error + w * bounded
    return [
        apparent - np.mean(optimism),
        0.368 * apparent + 0.632 * out_of_bag,
        1 - plus if greater else plus,
        out_of_bag,
    ]


def test_four_rows_by_hand(made):
    # The model knows its own rows. Samples left out the last and the first row, and the models are wrong there.
    replicates = made(
        truth_of([0, 0, 1, 1]),
        Response.LABELS,
        counts=[[2, 1, 1, 0], [0, 1, 1, 2]],
        apparent=[0, 0, 1, 1],
        on_original=[[0, 1], [0, 0], [1, 1], [0, 1]],
    )
    # Errors: apparent 0, in the bag 0, on all rows 1/4; two rows were left out, and missed; half of 16 pairs agree.
    assert values(replicates, "zero_one_loss") == pytest.approx([0.25, 0.632, 0.5, 1.0], abs=1e-12)
    assert values(replicates, "accuracy") == pytest.approx([0.75, 0.368, 0.5, 0.0], abs=1e-12)

    found = corrected("632+", replicates, "zero_one_loss")
    assert found.provenance["no_information"] == 0.5
    assert (found.provenance["relative_overfitting"], found.provenance["weight"]) == (1.0, 1.0)
    assert found.provenance["as_published"] == pytest.approx(0.632 + 0.5 * 0.368)
    assert found.provenance["out_of_bag"] == 1.0 and found.provenance["apparent"] == 0.0
    assert found.flags[Flag.NEVER_LEFT_OUT].startswith("2 of 4 rows were drawn by every bootstrap")
    optimism = corrected("optimism", replicates, "zero_one_loss").provenance
    assert (optimism["optimism"], optimism["n"], optimism["monte_carlo_error"]) == (0.25, 2, 0.0)
    assert corrected("optimism", replicates, "accuracy").provenance["optimism"] == 0.25


@pytest.mark.parametrize("metric", FUNCTIONS)
def test_corrections_are_plain_loops(overfitted, metric):
    replicates = overfitted[FUNCTIONS[metric][0]]
    assert values(replicates, metric) == pytest.approx(plain(replicates, metric), rel=1e-10)


def test_a_row_counts_once_however_often_it_was_left_out(made):
    # Row 0 was left out by three of three, at a loss of 1; row 1 by one, at 9.
    replicates = made(
        truth_of([0.0, 0.0, 0.5], "regression"),
        Response.VALUES,
        counts=[[0, 1, 2], [0, 2, 1], [0, 0, 3]],
        apparent=[0.0, 0.0, 0.0],
        on_original=[[1.0, 1.0, 1.0], [5.0, 5.0, 9.0], [0.0, 0.0, 0.0]],
    )
    assert corrected("oob", replicates, "mean_absolute_error").value == pytest.approx((1 + 9) / 2)
    assert corrected("oob", replicates, "root_mean_squared_error").value == pytest.approx(np.sqrt((1 + 81) / 2))
    assert corrected("oob", replicates, "neg_root_mean_squared_error").value == pytest.approx(-np.sqrt(41))
    # Of the median there is no loss of a row: (1 + 1 + 5) / 3.
    assert corrected("oob", replicates, "median_absolute_error").value == pytest.approx(7 / 3)


@given(
    st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.floats(-5, 5), st.floats(0.1, 5)
)  # fmt: skip
def test_632_plus_lies_between_its_parts_and_keeps_their_scale(apparent, out_of_bag, gamma, shift, scale):
    found = weigh(apparent, out_of_bag, gamma)
    bounded = min(out_of_bag, gamma)
    assert min(apparent, bounded) - 1e-12 <= found.error <= max(apparent, bounded) + 1e-12
    assert 0 <= found.relative_overfitting <= 1 and 0.632 <= found.weight <= 1
    if out_of_bag <= gamma:
        assert found.error == pytest.approx(found.as_published, abs=1e-12)
    else:
        assert found.as_published - found.error == pytest.approx(0.632 * (out_of_bag - gamma), abs=1e-12)
    if out_of_bag <= apparent:
        assert found.error == pytest.approx(0.368 * apparent + 0.632 * bounded, abs=1e-12)
    if abs(gamma - apparent) > 1e-3:  # a difference that shifting does not lose
        moved = weigh(shift + scale * apparent, shift + scale * out_of_bag, shift + scale * gamma)
        assert moved.error == pytest.approx(shift + scale * found.error, abs=1e-6)


@pytest.mark.parametrize(
    ("score", "loss", "best"),
    [
        ("accuracy", "zero_one_loss", 1),
        ("neg_log_loss", "log_loss", 0),
        ("neg_root_mean_squared_error", "root_mean_squared_error", 0),
        ("neg_median_absolute_error", "median_absolute_error", 0),
    ],
)
def test_a_score_is_its_loss_mirrored(overfitted, score, loss, best):
    replicates = overfitted[metric_named(score).responses[0]]
    assert values(replicates, score) == pytest.approx([best - each for each in values(replicates, loss)], rel=1e-10)


@given(st.integers(0, 50), st.sampled_from(sorted(FUNCTIONS)))
def test_order_of_rows_and_replicates_is_nothing_and_weights_of_one_are_none(with_responses, seed, metric):
    response = FUNCTIONS[metric][0]
    replicates = with_responses(seed, n=20, n_replicates=6)[response]
    rng = np.random.default_rng(seed)
    rows, samples = rng.permutation(20), rng.permutation(6)
    moved = replace(
        replicates,
        truth=replicates.truth.rows(rows),
        counts=replicates.counts[samples][:, rows],
        apparent={response: replicates.apparent[response][rows]},
        on_original={response: replicates.on_original[response][rows][:, :, samples]},
    )
    expected = pytest.approx(values(replicates, metric), rel=1e-9, nan_ok=True)
    assert values(moved, metric) == expected
    assert values(replace(replicates, weights=np.ones(20)), metric) == expected


@pytest.mark.parametrize("metric", sorted(set(FUNCTIONS) - {"median_absolute_error"}))
def test_a_weight_of_two_is_two_such_rows(overfitted, metric):
    response = FUNCTIONS[metric][0]
    replicates = overfitted[response]
    times = np.random.default_rng(1).integers(1, 4, size=replicates.truth.n_rows)
    rows = np.repeat(np.arange(len(times)), times)
    several = replace(
        replicates,
        truth=replicates.truth.rows(rows),
        counts=replicates.counts[:, rows],
        apparent={response: replicates.apparent[response][rows]},
        on_original={response: replicates.on_original[response][rows]},
    )
    weighed = replace(replicates, weights=times.astype(float))
    assert values(weighed, metric) == pytest.approx(values(several, metric), rel=1e-9)


@pytest.mark.parametrize("metric", ["brier_score", "roc_auc", "accuracy", "r2"])
def test_replicates_without_a_score_never_enter(overfitted, metric):
    response = FUNCTIONS.get(metric)[0]
    replicates = overfitted[response]
    keep = np.array([b for b in range(12) if b not in (0, 5)])
    garbage = replicates.on_original[response].astype(float)
    garbage[:, :, [0, 5]] = np.nan
    garbage = garbage if response is not Response.LABELS else np.nan_to_num(garbage, nan=-7).astype(np.int32)
    some = replace(replicates, on_original={response: garbage}, failed={0: "no", 5: "not either"})
    without = replace(
        replicates,
        counts=replicates.counts[keep],
        on_original={response: replicates.on_original[response][:, :, keep]},
    )
    assert values(some, metric) == values(without, metric)
    assert corrected("optimism", some, metric).provenance["n"] == 10


def test_a_replicate_whose_metric_is_undefined_never_enters(overfitted):
    replicates, metric = overfitted[Response.DECISION], metric_named("roc_auc")
    scores = replicates.scores(metric)
    in_bootstrap, out_of_bag = scores.in_bootstrap.copy(), scores.out_of_bag.copy()
    in_bootstrap[3] = out_of_bag[7] = np.nan
    scores = replace(scores, in_bootstrap=in_bootstrap, out_of_bag=out_of_bag)
    used = np.delete(np.arange(12), 3)
    differences = (scores.in_bootstrap - scores.on_original)[used]
    assert Optimism().corrected(replicates, scores).value == pytest.approx(scores.apparent - differences.mean())
    found = OutOfBag().corrected(replicates, scores)
    assert found.value == pytest.approx(np.delete(scores.out_of_bag, [3, 7]).mean())
    assert "in 1 of 11 bootstraps (on the rows that they left out)" in found.flags[Flag.UNDEFINED_BOOTSTRAPS]


@pytest.mark.parametrize("name", CORRECTIONS)
def test_without_replicates_or_an_apparent_score_there_is_no_score(overfitted, name):
    replicates = overfitted[Response.DECISION]
    nobody = replace(replicates, failed=dict.fromkeys(range(12), "no"))
    found = corrected(name, nobody, "roc_auc")
    assert np.isnan(found.value) and "no bootstrap gave a score of roc_auc" in found.flags[Flag.UNDEFINED]
    scores = replace(replicates.scores(metric_named("roc_auc")), apparent=np.nan)
    found = correction_named(name).corrected(replicates, scores)
    assert np.isnan(found.value) == (name != "oob")
    assert name == "oob" or "undefined for the model fitted on all rows" in found.flags[Flag.UNDEFINED]


def test_where_no_row_is_left_out_the_value_is_undefined(made):
    everybody = made(truth_of([0, 1]), Response.PROBABILITIES, [[1, 1]], [0.2, 0.7], [[0.2], [0.7]])
    found = corrected("632+", everybody, "brier_score")
    assert np.isnan(found.value) and "none was left out" in found.flags[Flag.UNDEFINED]


@pytest.mark.parametrize("metric", ["brier_score", "roc_auc", "root_mean_squared_error"])
def test_completions_are_averaged(with_responses, metric):
    response = FUNCTIONS[metric][0]
    first, second = with_responses(1)[response], with_responses(2)[response]
    second = replace(second, truth=first.truth, counts=first.counts)

    def both(one: Replicates, other: Replicates) -> Replicates:
        joined = {
            name: {response: np.concatenate([getattr(each, name)[response] for each in (one, other)], axis=1)}
            for name in ("apparent", "on_original")
        }
        return replace(one, **joined)

    assert values(both(first, first), metric) == pytest.approx(values(first, metric), rel=1e-12)
    mixed = both(first, second)
    for name in ("optimism", "632", "oob"):  # of which every part is a mean
        each = [corrected(name, one, metric).value for one in (first, second)]
        assert corrected(name, mixed, metric).value == pytest.approx(np.mean(each), rel=1e-12)
    parts = [corrected("632+", one, metric).provenance["no_information"] for one in (first, second)]
    assert corrected("632+", mixed, metric).provenance["no_information"] == pytest.approx(np.mean(parts))


@pytest.mark.parametrize("metric", ["brier_score", "roc_auc", "accuracy", "mean_absolute_error"])
def test_what_samples_were_drawn_from_weighs_as_weights_do(overfitted, metric):
    replicates = overfitted[FUNCTIONS[metric][0]]
    times = np.random.default_rng(8).integers(0, 4, size=30).astype(np.uint8)
    drawn_from = replace(replicates, drawn_from=times)
    weighed = replace(replicates, weights=times.astype(float))
    for name in ("oob", "632", "632+"):  # nothing of which is on the rows of a sample, which say it themselves
        assert corrected(name, drawn_from, metric).value == pytest.approx(corrected(name, weighed, metric).value)


def test_labels_jump(overfitted):
    assert Flag.DISCONTINUOUS_METRIC in corrected("optimism", overfitted[Response.LABELS], "f1").flags
    assert "632+" in corrected("optimism", overfitted[Response.LABELS], "accuracy").flags["discontinuous_metric"]
    flags = corrected("optimism", overfitted[Response.PROBABILITIES], "brier_score").flags
    assert set(flags) <= {Flag.MEMORISES}
    assert Flag.DISCONTINUOUS_METRIC not in corrected("632+", overfitted[Response.LABELS], "accuracy").flags


@pytest.mark.parametrize("metric", ["calibration_slope", "calibration_intercept"])
def test_632_plus_needs_a_best_value(made, drawn, metric):
    rng = np.random.default_rng(2)
    said = rng.random((60, 5))
    replicates = made(
        truth_of(np.arange(60) % 2), Response.PROBABILITIES, drawn(60, 4, rng), said[:, 4], said[:, :4]
    )
    found = corrected("632+", replicates, metric)
    assert np.isnan(found.value) and "no best possible value" in found.flags[Flag.UNDEFINED]
    assert "method='optimism'" in found.flags[Flag.UNDEFINED]
    scores = replicates.scores(metric_named(metric))
    plain_weights = 0.368 * scores.apparent + 0.632 * scores.out_of_bag.mean()
    assert corrected("632", replicates, metric).value == pytest.approx(plain_weights, rel=1e-12)


def test_the_flag_on_rows_never_left_out_has_a_singular(made):
    replicates = made(truth_of([0.5, 1.5], "regression"), Response.VALUES, [[2, 0]], [1.0, 1.0], [[1.0], [1.0]])
    message = corrected("oob", replicates, "mean_squared_error").flags[Flag.NEVER_LEFT_OUT]
    assert message.startswith("1 of 2 rows was drawn")


@pytest.mark.parametrize("wrong", ["633", None, Optimism, 0.632, {"name": "632"}], ids=repr)
def test_other_methods_are_refused(wrong):
    with pytest.raises(InputError, match="method must be"):
        correction_named(wrong)


def test_an_object_is_a_correction_too():
    assert correction_named(OutOfBag()) == OutOfBag()


@pytest.mark.parametrize("name", CORRECTIONS)
def test_every_correction_is_put_into_words(name):
    assert correction_named(name).name == name
    assert name in PROTOCOL_WORDS


@pytest.mark.parametrize(("value", "moved"), [(0.5, 0.5), (0.0, 0.0), (1.0, 1.0), (1.2, 1.0), (-0.1, 0.0)])
def test_only_a_score_beyond_the_range_is_moved_and_flagged(value: float, moved: float) -> None:
    corrected = CorrectedScore(value).within(metric_named("accuracy"))
    assert corrected.value == moved
    assert list(corrected.flags) == ([] if value == moved else [Flag.CORRECTED_BEYOND_RANGE])
