"""The outcome as columns of numbers."""

import numpy as np

from heldout.data.task import truth_of
from heldout.imputation.settings import nelson_aalen, outcome_columns


def test_classes_are_coded_and_numbers_stay() -> None:
    assert outcome_columns(truth_of(["no", "yes", "no"])).tolist() == [[0.0], [1.0], [0.0]]
    assert outcome_columns(truth_of(["c", "a", "b"])).tolist() == [[0.0, 1.0], [0.0, 0.0], [1.0, 0.0]]
    assert outcome_columns(truth_of([0.5, -1.0], "regression")).tolist() == [[0.5], [-1.0]]


def test_nelson_aalen_with_ties_is_the_sum_written_out() -> None:
    rng = np.random.default_rng(3)
    time = rng.integers(1, 9, size=40).astype(float)
    event = rng.random(40) < 0.6
    expected = [
        sum(
            ((time == at) & event).sum() / (time >= at).sum()
            for at in sorted(set(time[event].tolist()))
            if at <= own
        )
        for own in time
    ]
    np.testing.assert_allclose(nelson_aalen(event, time), expected, rtol=1e-13)
    target = np.array(list(zip(event, time, strict=True)), dtype=[("event", bool), ("time", float)])
    found = outcome_columns(truth_of(target))
    assert found[:, 0].tolist() == event.astype(float).tolist()
    np.testing.assert_allclose(found[:, 1], expected, rtol=1e-13)
