"""What a report says of a race: who left when and why, what that saved, and that nobody failed by it."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from drawn import elements

from heldout.cli.report import read_content
from heldout.dropping.base import Barrier, Dropped
from heldout.dropping.bootstrap import Bootstrap
from heldout.predictions import FoldScores
from heldout.references import REFERENCES
from heldout.report import facts, render_html
from heldout.report.displays.base import embedded
from heldout.report.displays.pages import SplitsDisplay
from heldout.report.entries import Facts
from heldout.result import Evaluation

Make = Callable[..., Evaluation]
BECAUSE = f"{Bootstrap.statistic_name} 0.998"


def raced(evaluation: Evaluation, barriers: tuple[Barrier, ...], **provenance: Any) -> Evaluation:
    """The search as if these had left: without their later scores, and with the fits that this saves."""
    gone = {left.configuration: left for barrier in barriers for left in barrier.dropped}
    scores = {}
    for name, known in evaluation.fold_scores.items():
        values = known.values.copy()
        for configuration, left in gone.items():
            values[left.after :, configuration] = np.nan
        scores[name] = FoldScores(values, known.greater_is_better, known.repeat)
    planned = evaluation.folds.n_splits
    saved = sum(planned - left.after for left in gone.values())
    out = {j: left.reason for j, left in gone.items() if j not in evaluation.failures}
    drop = {"rule": "bootstrap", "threshold": 0.99, "min_predictions": 50}
    return replace(
        evaluation,
        fold_scores=scores,
        predictions=replace(evaluation.predictions, dropped=out),
        barriers=barriers,
        n_fits=evaluation.n_fits - saved,
        n_fits_saved=saved,
        provenance={"drop": drop, "n_splits_planned": planned, **provenance},
    )


def barrier(after: int, before: int, leaving: list[int], risk: float = 0.0, **more: Any) -> Barrier:
    dropped = tuple(Dropped(j, after, 0.998, BECAUSE) for j in leaving)
    return Barrier(after, 30 * after, before, leader=4, dropped=dropped, risk=risk, **more)


@pytest.fixture(scope="module")
def race(make_evaluation: Make) -> Evaluation:
    """Six configurations on four splits: one is not judged at first, three leave after the second."""
    barriers = (barrier(1, 6, []), barrier(2, 6, [0, 1, 5], 0.012), barrier(3, 3, [2], 0.001))
    return raced(make_evaluation(), barriers)


@pytest.fixture(scope="module")
def page(race: Evaluation) -> str:
    return render_html(facts(race))


def summary_of(evaluation: Evaluation) -> Facts:
    summary = facts(evaluation).race
    assert summary is not None
    return summary


def test_without_barriers_there_is_no_race(make_evaluation: Make) -> None:
    content = facts(make_evaluation())
    assert content.race is None
    assert "The race" not in render_html(content)


def test_every_barrier_with_a_dropped_configuration_is_listed(race: Evaluation) -> None:
    summary = summary_of(race)
    leader = race.configurations.names[4]
    assert [
        (b.after, b.rows, b.before, b.dropped, b.failed, b.go_on, b.leader, b.risk) for b in summary.barriers
    ] == [
        (2, 60, 6, 3, 0, 3, leader, 0.012),
        (3, 90, 3, 1, 0, 2, leader, 0.001),
    ]
    assert (summary.quiet, summary.quiet_before_minimum, summary.min_predictions) == (1, 1, 50)
    assert summary.alive == (6, 6, 3, 2)
    assert (summary.fits, summary.saved) == (17, 7)


def test_the_probability_that_the_best_was_dropped_is_the_sum_with_what_it_is_worth(race: Evaluation) -> None:
    summary = summary_of(race)
    assert summary.risk == pytest.approx(0.013)
    page = render_html(facts(race))
    assert "among those dropped is 1.3 %, summed over the splits." in page and "does not anticipate" in page
    assert "After one more split none was dropped: fewer than 50 rows had been predicted by then." in page


def test_a_sum_of_shares_is_no_probability_above_one(make_evaluation: Make) -> None:
    made = raced(make_evaluation(), (barrier(1, 6, [0, 1], 0.7), barrier(2, 4, [2, 5], 0.6)))
    assert summary_of(made).risk == 1.0 and "among those dropped is 100.0 %" in render_html(facts(made))


def test_an_unknown_share_is_reported_as_missing(make_evaluation: Make) -> None:
    made = raced(make_evaluation(), (barrier(1, 6, [0], float("nan")), barrier(2, 5, [1], 0.02)))
    summary = summary_of(made)
    assert (summary.barriers[0].risk, summary.risk) == (None, pytest.approx(0.02))
    assert "2.0 %, summed over the splits (without 1 at which it is unknown)" in render_html(facts(made))


def test_dropped_configurations_are_listed_last_first_with_the_reason(race: Evaluation) -> None:
    rows = summary_of(race).dropped
    values = race.fold_scores["roc_auc"].values
    assert [row.after for row in rows] == [3, 2, 2, 2]
    assert rows[0].index == 2
    assert {row.why for row in rows} == {"worse in 0.998 of the bootstraps"}
    assert rows[0].mean == pytest.approx(values[:3, 2].mean())
    assert rows[0].spread == pytest.approx(values[:3, 2].std())
    means = [row.mean for row in rows[1:]]
    assert means == sorted((values[:2, j].mean() for j in (0, 1, 5)), reverse=True)


def test_of_a_loss_the_smaller_mean_comes_first(make_evaluation: Make) -> None:
    searched = make_evaluation("regression", ("neg_mean_absolute_error",))
    rows = summary_of(raced(searched, (barrier(2, 6, [0, 1, 2, 3]),))).dropped
    means = [row.mean for row in rows if row.mean is not None]
    assert len(means) == 4 and means == sorted(means) and means[0] > 0


def test_a_reason_of_another_kind_is_shown_unchanged(make_evaluation: Make) -> None:
    tie = Dropped(3, 2, 0.6, "only two remained, and it was behind for 2 more splits")
    made = raced(make_evaluation(), (Barrier(2, 60, 6, 4, (tie,), 0.1),))
    assert summary_of(made).dropped[0].why == tie.reason


def test_dropped_configurations_are_neither_ranked_nor_failed(race: Evaluation) -> None:
    content = facts(race)
    assert content.ranking is not None
    assert {row.index for row in content.ranking.shown} == {3, 4}
    assert content.ranking.failures == ()
    labelled = content.facts
    assert labelled["Configurations"] == "6, 4 dropped"
    assert labelled["Fits"] == "17, 7 saved"
    settings = content.settings
    assert settings["Dropping"] == "bootstrap (threshold 0.99, min_predictions 50)"


def test_failed_configurations_were_not_dropped(make_evaluation: Make) -> None:
    searched = make_evaluation(failures={1: "ValueError: no"})
    failed = Dropped(1, 1, float("nan"), "it failed: ValueError: no")
    worse = Dropped(0, 1, 1.0, BECAUSE.replace("0.998", "1"))
    content = facts(raced(searched, (Barrier(1, 60, 6, 4, (failed, worse), 0.0),)))
    assert content.race is not None and content.ranking is not None
    row = content.race.barriers[0]
    assert (row.dropped, row.failed, row.go_on) == (1, 1, 4)
    assert [(left.index, left.why) for left in content.race.dropped] == [(0, "worse in every bootstrap")]
    assert [failure.message for failure in content.ranking.failures] == ["ValueError: no"]
    labelled = content.facts
    assert labelled["Configurations"] == "6, 1 dropped, 1 failed"


def test_with_failures_only_there_is_no_probability(make_evaluation: Make) -> None:
    failed = Dropped(1, 1, float("nan"), "it failed: no")
    summary = summary_of(raced(make_evaluation(failures={1: "no"}), (Barrier(1, 60, 6, 4, (failed,)),)))
    assert (summary.risk, summary.barriers[0].risk, summary.dropped) == (None, None, ())


def test_the_headline_counts_those_left_and_names_those_dropped(race: Evaluation) -> None:
    head = facts(race).headline
    assert "of 2 configurations (4 more were dropped early)" in head.sentence
    assert "selected among 2 (another 4 dropped early)" in head.quote


def test_the_headline_names_the_only_configuration_left(make_evaluation: Make) -> None:
    made = raced(make_evaluation(), (barrier(2, 6, [0, 1, 2, 3, 5]),))
    head = facts(made).headline
    assert head.sentence.startswith("All 5 others were dropped, so")
    assert "cannot have made" not in head.sentence and "only configuration" not in head.quote


def test_none_dropped_and_a_search_that_stopped_early(make_evaluation: Make) -> None:
    searched = make_evaluation()
    nobody = raced(searched, (barrier(1, 6, []), barrier(2, 6, [])))
    page = render_html(facts(nobody))
    assert "The rule was applied 2 times, and no configuration was far enough behind: every fit was made." in page
    never = raced(searched, (barrier(1, 6, [], judged=False),))  # 30 rows, and it is asked from 50 on
    assert "The rule could not drop any: it applies once 50 rows are predicted" in render_html(facts(never))
    unknown = raced(searched, (barrier(2, 6, [], judged=False),))
    assert "The rule was never applied, because" in render_html(facts(unknown))
    assert (summary_of(nobody).stopped, summary_of(nobody).risk) == (None, None)
    ended = raced(searched, (barrier(1, 6, [0]), barrier(2, 5, [], stopped=True)), n_splits_planned=8)
    sentence = (
        "After 2 of 8 splits the rule found no more differences, and the race ended for the 5 configurations."
    )
    assert sentence in render_html(facts(ended))
    assert summary_of(ended).alive == (6, 5, 0, 0, 0, 0, 0, 0)
    texts = facts(ended).facts
    assert texts["Folds"] == "4 of 8 splits"


def test_splits_needed_are_listed_nearest_first(make_evaluation: Make) -> None:
    needed = {1: 7.0, 2: float("inf"), 3: 2.0, 5: float("nan")}
    made = raced(make_evaluation(), (barrier(3, 6, [0], folds_needed=needed),))
    summary = summary_of(made)
    names = made.configurations.names
    assert [(row.name, row.folds) for row in summary.needed.nearest] == [(names[3], 2), (names[1], 7)]
    page = render_html(facts(made))
    assert "For the one other no number of splits is enough." in page
    assert "<dd>2 more</dd>" in page and "<dd>7 more</dd>" in page


def test_the_rule_is_cited(race: Evaluation) -> None:
    dois = {work.doi for work in facts(replace(race, estimates={})).citations}
    assert REFERENCES["tsamardinos2018"].doi in dois


def test_the_page_holds_the_race_and_every_name(page: str) -> None:
    for text in ("The race", "Dropped", "worse in 0.998 of the bootstraps", "7 of 24, 29 %", "1.3 %"):
        assert text in page
    assert "Failed" not in page
    assert "The other" not in page


def test_of_many_the_first_are_shown_and_the_others_are_there(make_evaluation: Make) -> None:
    made = raced(make_evaluation(configurations=40), (barrier(1, 40, list(range(35))),))
    page = render_html(facts(made))
    start = page.index("<summary>The other 15</summary>")
    hidden = page[start : page.index("</details>", start)]
    assert hidden.count("worse in 0.998") == 15
    assert page.count("worse in 0.998") == 35


def test_the_content_comes_back_from_json(race: Evaluation, page: str, tmp_path: Any) -> None:
    content = facts(race)
    path = tmp_path / "report.json"
    path.write_text(json.dumps(content.to_dict(), allow_nan=False), encoding="utf-8")
    assert render_html(read_content(path)) == page


@pytest.mark.parametrize("splits", [2, 10, 100])
def test_the_bars_are_as_high_as_configurations_and_their_numbers_do_not_meet(
    race: Evaluation, splits: int
) -> None:
    alive = tuple(max(200 - 3 * n, 20) for n in range(splits))
    summary = Facts(summary_of(race), alive=alive, configurations=200)
    svg = embedded(SplitsDisplay(summary), "k", "Splits")
    bars = [node["d"] for node in elements(svg, "path") if node.get("fill") == "var(--sky)"][
        1:
    ]  # after the legend's
    corners = [list(map(float, re.findall(r"[ML][\d.]+,([\d.]+)", d))) for d in bars]
    heights = [max(ys) - min(ys) for ys in corners]
    assert np.allclose(np.array(heights) / heights[0], np.array(alive) / 200, atol=0.01)
    numbers = [node for node in elements(svg, "text") if node["fill"] == "var(--ink)" and node["text"].isdigit()]
    places = [float(node["x"]) for node in numbers]
    assert len(places) == (splits if splits < 11 else len(places)) > 1
    assert all(after - before > 22 for before, after in pairwise(places))
