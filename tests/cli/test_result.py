"""The lines that end a command: digits as many as the interval allows, the same in every line."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import heldout as ho
from heldout.cli.result import estimate_rows, search_rows
from heldout.dropping.base import Dropped
from heldout.execution.cells import SharedFits


@pytest.fixture
def estimate() -> ho.Estimate:
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    scores = y[:, None] + rng.normal(size=(400, 3))
    return ho.estimate(y, scores, metric="roc_auc", random_state=0, n_bootstraps=100)


def test_every_number_has_the_digits_of_the_report(estimate: ho.Estimate) -> None:
    rows = dict(estimate_rows(estimate))

    assert rows["corrected"] == f"{estimate.value:.3f}" and rows["metric"] == "roc_auc by shrinkage"
    assert rows["interval (95%)"] == f"{estimate.interval.low:.3f} to {estimate.interval.high:.3f}"
    assert list(rows)[:2] == ["corrected", "interval (95%)"]
    assert rows["uncorrected"] == f"{estimate.uncorrected:.3f}"
    assert rows["optimism"].startswith(f"{estimate.optimism:.3f}"[:4])


def test_what_was_named_beforehand_is_not_called_corrected() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    method = ho.estimates.DeLong(evaluation_share=1.0, configuration=1)
    rows = dict(estimate_rows(ho.estimate(y, rng.random((60, 3)), metric="roc_auc", method=method, random_state=0)))

    assert (
        rows["metric"].endswith(" by delong")
        and "value" in rows
        and "corrected" not in rows
        and float(rows["optimism"]) == 0
    )


def searched(estimate: ho.Estimate, n_configurations: int, **found: Any) -> dict[str, Any]:
    """The lines on a search with so many configurations, of which the first won."""
    nothing: dict[str, Any] = {
        "shared_fits": {}, "estimates": {}, "failures": {}, "seconds": {}, "dropped": {}, "provenance": {},
        "barriers": (), "part_for_estimate": "", "n_fits_saved": 0,
    }  # fmt: skip
    configurations = [SimpleNamespace(name="abcdefghi"[j]) for j in range(n_configurations)]
    search: Any = SimpleNamespace(
        winner=0, configurations=configurations, **nothing | {"estimate": estimate, **found}
    )
    return dict(search_rows(search, {}, 0, seconds=1.0))


@pytest.mark.parametrize("selected", [0, 1])
def test_a_search_says_when_its_estimate_is_of_another_configuration(estimate: ho.Estimate, selected: int) -> None:
    found = replace(estimate, selected=selected, selected_name="ab"[selected])
    rows = searched(found, 2, n_fits=2)
    assert rows["winner"] == "a" and rows.get("estimate of") == (None if selected == 0 else "b")


@pytest.mark.parametrize(
    ("left", "words"),
    [
        ({}, None),
        ({1: 2}, "1 of 9 configurations, after 2 splits"),
        ({1: 2, 2: 2, 3: 4}, "3 of 9 configurations: 2 after 2, 1 after 4 splits"),
        ({1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 9}, "6 of 9 configurations, after 1 to 9 splits"),
    ],
)  # fmt: skip
def test_a_search_says_how_many_were_dropped_and_when_apart_from_those_that_failed(
    estimate: ho.Estimate, left: dict[int, int], words: str | None
) -> None:
    gone = {j: Dropped(j, after, 0.999, "worse") for j, after in left.items()}
    dropped = gone | {8: Dropped(8, 1, float("nan"), "no")}
    rows = searched(estimate, 9, n_fits=20, n_fits_saved=25, failures={8: "no"}, dropped=dropped)
    assert rows["fits"] == "20 done, 25 saved by dropping, 1 configuration failed"
    assert rows.get("dropped") == words


def test_a_search_says_what_sharing_saved(estimate: ho.Estimate) -> None:
    shared = {
        "steps": SharedFits(1600, 75.0, 2**31),
        "SVC": SharedFits(40, None, 0),
        "Forest": SharedFits(9, 8.0, 0),
    }
    found = replace(estimate, selected=0)
    fits = {"n_fits": 8000, "n_fits_of_search": 2000, "is_one_search": False, "n_fits_shared": 1600}
    rows = searched(found, 1, shared_fits=shared, **fits)
    assert rows["fits"] == "8,000 done"
    words = (
        "in the search on all rows 1,600 of 2,000 fits, whose common work was done once: at least 1 min 23 s and "
        "2.0 GB less than alone"
    )
    assert rows["shared"] == words
