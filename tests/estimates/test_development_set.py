"""The bound of a development set before there is data: by hand, and equal to what method "hoeffding" reports."""

import math
from typing import Any

import numpy as np
import pytest

import heldout as ho
from heldout.estimates.training_size import distance_to_best, rows_needed


def test_by_hand() -> None:
    assert ho.rows_needed(0.1, 0.05, candidates=100) == math.ceil(200 * math.log(4000)) == 1659
    assert rows_needed(0.2, 0.1, candidates=1, width=2) == math.ceil(200 * math.log(20)) == 600
    assert distance_to_best(200, 0.1, candidates=5) == pytest.approx(math.sqrt(2 * math.log(100) / 200), rel=1e-14)


@pytest.mark.parametrize("epsilon", [0.01, 0.07, 0.5])
def test_they_are_inverse(epsilon: float) -> None:
    n = rows_needed(epsilon, candidates=37)
    assert distance_to_best(n, candidates=37) <= epsilon < distance_to_best(n - 1, candidates=37)


def test_it_is_what_hoeffding_reports() -> None:
    y = np.tile([0, 1], 50)
    found = ho.estimate(y, np.column_stack([y, 1 - y]), metric="accuracy", method="hoeffding")
    assert found.provenance["distance_to_best"] == distance_to_best(100, 1 - 0.95, candidates=2)


@pytest.mark.parametrize(
    ("wrong", "argument"),
    [({"epsilon": math.nan}, "epsilon"), ({"epsilon": 0}, "epsilon"), ({"epsilon": 1e-300}, "epsilon"),
     ({"delta": 1}, "delta"), ({"candidates": 2.5}, "candidates"), ({"width": math.inf}, "width")],
)  # fmt: skip
def test_refusals_name_the_argument(wrong: dict[str, Any], argument: str) -> None:
    with pytest.raises(ho.InputError, match=f"{argument}") as refusal:
        rows_needed(**({"epsilon": 0.1, "candidates": 3} | wrong))
    assert refusal.value.argument == argument
