"""What must be reached on real searches, each on rows that are worked out by hand; and the cells of a run."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from corrections_rows import cell_row

from heldout.errors import InputError
from heldout_papers.corrections import TablesStudy
from heldout_papers.corrections.claims import CellRows
from heldout_papers.corrections.reach import reach_claims
from heldout_papers.engine.claims import Claim


def row(method: str = "mine", **values: Any) -> dict[str, Any]:
    usual = {"half": "judging", "design": "b100", "size": "all", "rarer": 50, "rows": 100, "bias": 0.009}
    errors = {"bias_error": 0.002, "coverage_95": 0.95, "coverage_95_error": 0.01, "width_ratio_95": 0.9}
    return cell_row(method) | usual | errors | values


def claims(*rows: dict[str, Any]) -> tuple[Claim, ...]:
    return reach_claims(CellRows((row("bbc"), *rows)))


def test_a_method_that_reaches_all() -> None:
    bias, most, nowhere, width = claims(row())

    assert bias.text == "mine: the size of its bias of accuracy is at most 0.01 with 100 rows and more."
    assert all(one.holds for one in (bias, most, nowhere, width))
    assert width.text == "mine: its 95 % interval is on average no wider than bbc's."


@pytest.mark.parametrize(
    ("values", "place", "shown"),
    [
        ({"bias": -0.016}, 0, "b100, accuracy, varied, N = 100, C = 57: -0.016"),
        ({"bias": 0.026, "metric": "r2"}, 0, "b100, r2, varied, N = 100, C = 57: +0.026"),
        ({"coverage_95": 0.905}, 1, "b100, accuracy, varied, N = 100, C = 57: 0.905"),
        ({"coverage_95": 1.0, "coverage_95_error": 0.005}, 1, "b100, accuracy, varied, N = 100, C = 57: 1.000"),
        ({"coverage_95": 0.875}, 2, "b100, accuracy, varied, N = 100, C = 57: 0.875"),
        ({"width_ratio_95": 1.01}, 3, "b100, accuracy, varied, N = 100, C = 57: 1.01"),
    ],
)
def test_cells_that_fail_are_listed(values: dict[str, Any], place: int, shown: str) -> None:
    found = claims(row(**values))[place]

    assert (found.holds, found.ours) == (False, "1 cell")
    assert found.difference == f"Does not hold: 1 of 1 cells fail: {shown}."


@pytest.mark.parametrize(
    ("values", "place"),
    [
        ({"bias": 0.0135}, 0),
        ({"bias": 0.5, "rows": 40}, None),
        ({"coverage_95": 0.911}, 1),
        ({"coverage_95": 0.999, "coverage_95_error": 0.01}, 1),
        ({"coverage_95": 0.881}, 2),
    ],
)
def test_two_standard_errors_are_chance(values: dict[str, Any], place: int | None) -> None:
    found = claims(row(**values))

    assert len(found) == (3 if place is None else 4)
    assert found[place or 0].holds


def test_a_tenth_of_the_cells_may_cover_too_little() -> None:
    good, bad = row(), row(coverage_95=0.89)

    assert claims(*[row("bbc")] * 9, *[good] * 9, bad)[1].holds
    assert not claims(*[row("bbc")] * 8, *[good] * 8, bad)[1].holds


@pytest.mark.parametrize("values", [{"rarer": 9}, {"half": "choosing"}, {"repetitions": 99}])
def test_cells_that_are_not_judged(values: dict[str, Any]) -> None:
    assert claims(row(**values)) == ()
    assert len(claims(row(rarer=0))) == 4


def frame(**columns: Any) -> pd.DataFrame:
    """Two draws of a cell and two methods."""
    usual = {
        "design": "b40", "half": "judging", "number": [0, 0, 1, 1], "table": "a", "size": "all",
        "metric": "log_loss", "method": ["mine", "bbc"] * 2, "value": [0.5, 0.6, 0.7, 0.8], "low": 0.4, "high": 0.8,
        "truth": [0.6, 0.6, 0.9, 0.9], "uncorrected": [0.4, 0.4, 0.6, 0.6], "flags": "",
        "scale": [1.0, 1.0, 3.0, 3.0], "rarer": [19, 19, 22, 22], "configurations": [57, 57, 50, 50],
        "seconds": 0.1,
    }  # fmt: skip
    return pd.DataFrame({**usual, **columns})


def test_log_losses_are_divided_by_the_mean_deviation_of_the_cell() -> None:
    mine, bbc, oracle = TablesStudy.from_frame(frame()).rows()

    assert mine["bias"] == pytest.approx((0.1 + 0.2) / 2 / 2)  # too small a loss flatters
    assert bbc["bias"] == pytest.approx((0.0 + 0.1) / 2 / 2)
    assert mine["rmse_ratio"] == pytest.approx(np.sqrt((0.01 + 0.04) / 0.01))
    assert mine["coverage_95"] == 0.5
    assert mine["width_95"] == pytest.approx(0.4 / 2)
    assert (mine["rarer"], mine["configurations"], mine["rows"], mine["kind"]) == (20, 53, 40, "varied")
    # Scores of both winners are .2 and .3 too small: .25 on average, and .05 is left.
    assert oracle["bias"] == pytest.approx(0, abs=1e-12)
    assert oracle["rmse"] == pytest.approx(0.05 / 2)
    assert oracle["width_95"] == pytest.approx(0.95 * 0.1 / 2)


def test_errors_of_numbers_are_in_deviations_of_the_target() -> None:
    found = TablesStudy.from_frame(
        frame(design="r40", metric="mean_absolute_error", scale=2.0, truth=[1, 1, 90, 90])
    )

    assert found.rows()[0]["bias"] == pytest.approx((0.25 + 2 - 0.35) / 2)
    assert found.rows()[0]["catastrophes"] == 1


def test_an_interval_without_end_is_wide_and_not_left_out() -> None:
    found = TablesStudy.from_frame(frame(high=[0.8, 0.8, np.inf, 0.8]))

    assert found.rows()[0]["width_95"] == pytest.approx((0.4 + 49.6) / 2 / 2)


def test_a_frame_that_lacks_something_is_refused() -> None:
    with pytest.raises(InputError, match="needs a column 'scale'"):
        TablesStudy.from_frame(frame().drop(columns="scale"))
    with pytest.raises(InputError, match=r"^cell judging b40 all log_loss lacks a method that others have\.$"):
        TablesStudy.from_frame(frame().iloc[:-1]).rows()


def test_rows_of_a_frame_are_those_of_the_study() -> None:
    found = TablesStudy.from_frame(frame())

    pd.testing.assert_frame_equal(found.to_frame(each=True), frame(), check_dtype=False)
    assert list(found.repetition_rows()) == frame().to_dict("records")
    assert len(found.to_frame()) == 3
