"""The facts on outer folds are those of the estimate; what its page says is in ``page_texts.md``."""

from dataclasses import replace

from results_by_hand import nested as searched
from sklearn.neighbors import KNeighborsClassifier

import heldout as ho
from heldout.protocols import NestedEstimate
from heldout.report import facts
from heldout.report.entries import Facts
from heldout.report.render import render_html


def content_of(found: NestedEstimate) -> Facts:
    return facts(replace(found.evaluation, estimates={found.evaluation.refit_metric: found}))


def test_every_outer_fold_has_its_row_with_the_scores_of_the_estimate() -> None:
    found = searched(repeats=2)
    outer = content_of(found).outer

    assert [row.place for row in outer.folds[3:5]] == ["4 of repeat 1", "1 of repeat 2"]
    assert [row.outer for row in outer.folds] == [fold.score for fold in found.outer_folds]
    assert [row.inner for row in outer.folds] == [fold.inner_score for fold in found.outer_folds]
    assert {row.rows for row in outer.folds} == {20}
    assert "repeated 8 times (2 repeats)" in outer.how
    assert sum(row.wins for row in outer.chosen) == 8
    assert [row.is_deployed for row in outer.chosen].count(True) <= 1
    assert f"the commonest in {found.agreement.share:.0%}" in outer.agreement


def test_the_race_and_its_time_are_those_of_the_search_on_all_rows() -> None:
    found = searched(repeats=2, drop=ho.dropping.Bootstrap(min_predictions=20, threshold=0.5))
    alone = found.evaluation
    assert alone.n_fits < found.n_fits and alone.n_fits_saved < found.n_fits_saved
    content = content_of(
        replace(found, evaluation=replace(alone, n_fits=found.n_fits, n_fits_saved=found.n_fits_saved))
    )
    assert (content.race.fits, content.race.saved) == (alone.n_fits, alone.n_fits_saved)
    assert "This is the search on all rows; the other searches dropped separately." in render_html(content)
    labelled = content.facts
    assert labelled["Fits"] == f"{found.n_fits}, {found.n_fits_saved} saved"
    assert "Time of the search on all rows" in labelled and "Time of all fits" not in labelled


def test_a_search_by_itself_is_the_only_one() -> None:
    content = facts(searched(drop=ho.dropping.Bootstrap(min_predictions=20, threshold=0.5)).evaluation)
    assert content.race.is_one_search
    assert "Time of all fits" in content.facts


def test_the_record_of_a_search_prints_itself_in_a_line() -> None:
    record = searched().evaluation
    winner = record.configurations[record.winner].name
    line = f"Evaluation(4 configurations, {record.folds}, 16 fits (16 shared), winner {winner})"
    assert repr(record) == line
    found = ho.HeldOutSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, cv=4, random_state=0)
    found.fit(record.task.X, record.task.y)
    assert repr(found.evaluation_).endswith(f"8 fits (8 shared), {found.estimate_})")
