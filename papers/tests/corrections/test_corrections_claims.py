"""The targets, each on rows that are worked out by hand."""

from typing import Any

import pandas as pd
import pytest
from corrections_rows import cell_row

from heldout.errors import InputError
from heldout_papers.corrections.claims import (
    CellRows,
    bias_ratio,
    corrections_claims,
    error_ratio,
    failing_cells,
)
from heldout_papers.engine.claims import Claim


def claim(rows: list[dict[str, Any]], words: str) -> Claim:
    (found,) = [one for one in corrections_claims(CellRows(tuple(rows))) if words in one.text]
    return found


def test_all_targets_can_be_reached() -> None:
    better = {
        "bias": -0.005, "rmse": 0.09, "rmse_ratio": 0.9, "coverage_95": 0.95, "width_ratio_95": 0.7,
        "seconds": 0.002,
    }  # fmt: skip
    rows = [cell_row("cv"), cell_row("bbc"), cell_row("mine", **better)]
    rows += [
        cell_row(name, kind="one", configurations=1, **more)
        for name, more in (("cv", {}), ("bbc", {}), ("mine", better))
    ]

    claims = corrections_claims(CellRows(tuple(rows)))

    assert len(claims) == 4 + 5 + 2 + 5
    assert all(one.holds for one in claims), [one for one in claims if not one.holds]
    assert [one.text.split(":")[0] for one in claims].count("bbc") == 5


def test_of_independent_columns_other_errors_are_asked() -> None:
    rows = [cell_row(name, part="independent", rmse_ratio=ratio) for name, ratio in (("bbc", 1.0), ("mine", 0.9))]

    average, nowhere = claim(rows, "on average over settings"), claim(rows, "in no setting above 1.05")

    assert (average.holds, average.ours, average.published) == (False, "0.900", "≤ 0.85")
    assert (nowhere.holds, nowhere.ours) == (True, "0.900 (accuracy, varied, N = 40, C = 57)")


def test_chance_leaves_a_claim_open() -> None:
    rows = [cell_row("bbc"), cell_row("mine", rmse_ratio=0.98, rmse_ratio_error=0.006)]

    assert claim(rows, "on average over cells").holds is None
    rows[1]["rmse_ratio_error"] = 0.004
    assert claim(rows, "on average over cells").holds is False


def test_a_bias_ratio_weighs_metrics_alike() -> None:
    # In units of bbc's error: .2 and .1 of it, beside .1 and .1.
    rows = [
        cell_row("bbc", metric="accuracy", bias=-0.02, rmse=0.1),
        cell_row("mine", metric="accuracy", bias=0.01, rmse=0.1),
        cell_row("bbc", metric="log_loss", bias=0.1, rmse=1.0),
        cell_row("mine", metric="log_loss", bias=-0.1, rmse=1.0),
    ]
    pairs = CellRows(tuple(rows)).pairs("mine")

    assert bias_ratio(pairs).value == pytest.approx((0.1 + 0.1) / (0.2 + 0.1))
    assert error_ratio(pairs).value == 1.0


def test_a_cell_fails_by_the_exact_test_over_all_cells() -> None:
    # With 3 cells p must be below .0167: P(X <= 364 | 400, .94) = .0108 and P(X <= 365) = .0174.
    good, edge, bad = (
        cell_row("bbc"),
        cell_row("bbc", coverage_95=365 / 400),
        cell_row("bbc", coverage_95=364 / 400),
    )

    assert failing_cells([good, edge, bad], "95") == (bad,)
    assert failing_cells([edge], "95") == (edge,)
    rows = [good | {"metric": "roc_auc"}, edge | {"metric": "log_loss"}, bad | {"metric": "r2"}]
    found = claim(rows, "covers less than 0.94 by its 95 % interval")
    assert (found.holds, found.ours) == (False, "1 cell")
    assert "1 of 3 cells are below: r2, varied, N = 40, C = 57: 0.910" in found.difference


def test_cells_with_few_rows_are_not_asked_to_cover() -> None:
    rows = [cell_row("bbc"), cell_row("bbc", rows=20, coverage_95=0.5)]

    assert claim(rows, "covers less than 0.94 by its 95 % interval").holds is True
    assert claim(rows, "95 % interval covers at least 0.945").ours == "0.960"


def test_an_estimate_without_an_interval_or_with_none_of_width_is_counted() -> None:
    rows = [cell_row("bbc", intervals_95=398, no_width_95=1)]
    found = claim(rows, "none of them without width")

    assert (found.holds, found.ours) == (False, "3")
    assert "of 400 estimates 2 have no interval, and 1 one without width" in found.difference


def test_few_repetitions_judge_nothing() -> None:
    rows = [cell_row(name, repetitions=99, intervals_95=99) for name in ("bbc", "mine")]

    assert corrections_claims(CellRows(tuple(rows))) == ()


def test_claims_follow_from_the_stored_cells() -> None:
    rows = (cell_row("bbc"), cell_row("mine"))
    frame = pd.DataFrame(rows)

    assert corrections_claims(CellRows.from_frame(frame)) == corrections_claims(CellRows(rows))
    with pytest.raises(InputError, match=r"^the table of cells of a test bed needs a column 'rmse'"):
        CellRows.from_frame(frame.drop(columns="rmse"))
    with pytest.raises(InputError, match=r"^the cells have no method 'tt' to compare with\.$"):
        CellRows.from_frame(frame, reference="tt")
