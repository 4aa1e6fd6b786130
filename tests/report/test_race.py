"""The picture of a race, and the order of those that left; what its page says is in ``page_texts.md``."""

import re
from itertools import pairwise

import numpy as np
import pytest
from drawn import elements
from races import barrier, race, raced
from results_by_hand import evaluation_by_hand

from heldout.report import facts, render_html
from heldout.report.displays.base import embedded
from heldout.report.displays.pages import SplitsDisplay
from heldout.report.entries import Facts


def test_dropped_configurations_are_listed_last_first_with_their_scores_until_then() -> None:
    made = race()
    summary, values = facts(made).race, made.fold_scores["roc_auc"].values
    assert [(row.index, row.after) for row in summary.dropped[:1]] == [(2, 3)]
    assert summary.dropped[0].mean == pytest.approx(values[:3, 2].mean())
    assert summary.dropped[0].spread == pytest.approx(values[:3, 2].std())
    means = [row.mean for row in summary.dropped[1:]]
    assert means == sorted((values[:2, j].mean() for j in (0, 1, 5)), reverse=True)
    assert (summary.alive, summary.risk) == ((6, 6, 3, 2), pytest.approx(0.013))


def test_of_many_the_first_are_shown_and_the_others_are_folded() -> None:
    made = raced(evaluation_by_hand(configurations=40), barrier(1, 40, list(range(35))))
    page = render_html(facts(made))
    start = page.index("<summary>The other 15</summary>")
    assert page[start : page.index("</details>", start)].count("worse in 0.998") == 15


@pytest.mark.parametrize("splits", [2, 10, 100])
def test_the_bars_are_as_high_as_configurations_and_their_numbers_do_not_meet(splits: int) -> None:
    alive = tuple(max(200 - 3 * n, 20) for n in range(splits))
    summary = Facts(facts(race()).race, alive=alive, configurations=200)
    svg = embedded(SplitsDisplay(summary), "k", "Splits")
    bars = [node["d"] for node in elements(svg, "path") if node.get("fill") == "var(--sky)"]
    corners = [list(map(float, re.findall(r"[ML][\d.]+,([\d.]+)", d))) for d in bars[1:]]  # after the legend's
    heights = [max(ys) - min(ys) for ys in corners]
    assert np.allclose(np.array(heights) / heights[0], np.array(alive) / 200, atol=0.01)
    numbers = [node for node in elements(svg, "text") if node["fill"] == "var(--ink)" and node["text"].isdigit()]
    places = [float(node["x"]) for node in numbers]
    assert len(places) == (splits if splits < 11 else len(places)) > 1
    assert all(after - before > 22 for before, after in pairwise(places))
