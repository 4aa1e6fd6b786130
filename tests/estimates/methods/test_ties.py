"""``BBC(ties="average")``: an estimate that does not depend on the order of the candidates."""

from typing import Any

import numpy as np
import pytest

import heldout as ho
from heldout._streams import stream
from heldout.errors import InputError
from heldout.estimates import BBC
from heldout.kernels.dispatch import draw_units
from heldout.selection.base import NONE_CHOSEN, Choice, joined
from heldout.selection.best import of_all_tied

AVERAGE = BBC(ties="average")


def coin_flips(seed: int, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    return generator.integers(0, 2, 20), generator.integers(0, 2, (20, n_columns))


def estimate(y: np.ndarray, columns: np.ndarray, method: Any, **asked: Any) -> Any:
    asked = {"metric": "accuracy", "n_bootstraps": 300, "random_state": 7, **asked}
    return ho.estimate(y, columns, method=method, **asked)


def test_by_hand() -> None:
    y, columns = coin_flips(0, 50)
    found = estimate(y, columns, AVERAGE)
    correct = columns == y[:, None]
    entropy = found.provenance["entropy"]
    counts = draw_units(stream(entropy, "draws"), np.arange(300, dtype=np.uint64), 0, 20)
    scores, shares = [], np.zeros(50)
    for row in counts.astype(int):
        right = row @ correct  # right predictions among the drawn rows: whole numbers tie exactly
        tied = np.flatnonzero(right == right.max())
        scores.append(np.mean([correct[row == 0, j].mean() for j in tied]))
        shares[tied] += 1 / len(tied) / 300
    assert np.allclose(found.distribution, scores, rtol=0, atol=1e-12)
    assert np.allclose(found.selection_frequency, shares, rtol=0, atol=1e-12)
    assert found.value == pytest.approx(np.mean(scores), abs=1e-12)
    assert found.provenance["ties"] == "the scores of all that tie are averaged"


@pytest.mark.parametrize("metric", ["accuracy", "balanced_accuracy", "roc_auc"])
def test_the_order_does_not_matter(metric: str) -> None:
    y, columns = coin_flips(1, 50)
    one, other = (estimate(y, order, AVERAGE, metric=metric) for order in (columns, columns[:, ::-1]))
    assert one.value == pytest.approx(other.value, abs=1e-12)
    assert one.interval.low == pytest.approx(other.interval.low, abs=1e-12)
    first, last = (estimate(y, order, "bbc", metric=metric) for order in (columns, columns[:, ::-1]))
    assert abs(first.value - last.value) > 0.005
    # The default method depends on it by Monte-Carlo error only: of the noise of the winner, which is the first of
    # equal ones, and of its luck, which is measured on another hundred of the 300 bootstraps.
    default, reversed_ = (estimate(y, order, "shrinkage", metric=metric) for order in (columns, columns[:, ::-1]))
    assert default.value == pytest.approx(reversed_.value, abs=0.15 * abs(default.optimism))


def test_without_ties_nothing_changes() -> None:
    generator = np.random.default_rng(3)
    y, columns = generator.normal(size=30), generator.normal(size=(30, 8))
    asked = {"metric": "root_mean_squared_error"}
    one, other = (estimate(y, columns, method, **asked) for method in ("bbc", AVERAGE))
    # The control is the mean over all choices in every bootstrap, and not over one each.
    scores = [each.distribution + each.provenance["control_size"] for each in (one, other)]
    assert np.allclose(*scores, rtol=0, atol=1e-12)
    assert one.value == pytest.approx(other.value, abs=0.02)
    assert other.provenance["control_choices"] == one.provenance["control_choices"]


def test_other_rules_are_refused() -> None:
    y, columns = coin_flips(4, 5)
    with pytest.raises(InputError, match="averages candidates of the same best score, and the rule callable"):
        estimate(y, columns, AVERAGE, selection=lambda scores: scores.argmax(axis=1))
    with pytest.raises(InputError, match="ties must be one of first, average, got 'last'"):
        BBC(ties="last")  # type: ignore[arg-type]


def test_nothing_is_chosen_where_no_score_is_defined() -> None:
    choice = of_all_tied(np.array([[np.nan, np.nan], [np.nan, -np.inf], [0.3, 0.1 + 0.2]]))
    assert choice.columns.tolist() == [NONE_CHOSEN, 1, 0]
    assert choice.tied is not None
    assert choice.tied.tolist() == [[0, 0], [0, 1], [0.5, 0.5]]
    both = joined([choice, choice.of([2])])
    assert both.shares(2).tolist() == [0.25, 0.5]
    assert both.distinct().columns.tolist() == Choice(np.array([0, 1])).columns.tolist()


@pytest.mark.parametrize(
    "asked",
    [
        {"metric": "accuracy", "folds": np.arange(20) % 4, "aggregate": "folds"},
        {"metric": "accuracy", "sample_weight": 1.0 + np.arange(20) % 3},
        {"metric": "f1"},
    ],
    ids=["folds", "weights", "f1"],
)
def test_the_order_does_not_matter_where_a_control_is_subtracted(asked: dict[str, Any]) -> None:
    y, columns = coin_flips(5, 40)
    one, other = (estimate(y, order, AVERAGE, **asked) for order in (columns, columns[:, ::-1]))
    assert one.provenance["control_size"] is not None and one.provenance["control_choices"] > 10
    assert one.value == pytest.approx(other.value, abs=1e-12)
    assert one.interval.high == pytest.approx(other.interval.high, abs=1e-12)
