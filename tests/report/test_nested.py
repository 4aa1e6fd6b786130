"""The section on outer folds: who won where, how they did, and how far they agree."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier

import heldout as ho
from heldout.protocols import NestedEstimate
from heldout.report import facts
from heldout.report.entries import Facts, facts_of_json
from heldout.report.render import render_html


def searched(model: Any = None, grid: Any = None, **settings: Any) -> NestedEstimate:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] + rng.normal(size=80) > 0).astype(int)
    settings = {"cv": 4, "random_state": 0} | settings
    return ho.nested_cv(model or KNeighborsClassifier(), X, y, grid or {"n_neighbors": [1, 3, 9, 21]}, **settings)


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


def test_losses_are_shown_in_their_own_units() -> None:
    found = searched(Ridge(), {"alpha": [0.1, 100.0]}, scoring="neg_mean_squared_error")
    outer = content_of(found).outer
    assert all(row.outer > 0 for row in outer.folds) and "mean squared error" in outer.means.lower()


def test_the_page_shows_it_and_the_data_survive_json() -> None:
    content = content_of(searched(interval="bates_hastie_tibshirani"))
    page = render_html(content)
    assert '<h2 id="outer">Outer folds</h2>' in page and ">Configuration</th>" in page
    assert "The interval is that of Bates, Hastie and Tibshirani" in page
    assert "resampled rows" not in page  # nothing was
    again = facts_of_json(json.dumps(content.to_dict(), allow_nan=False))
    assert again.to_dict() == content.to_dict() and render_html(again) == page


@pytest.mark.parametrize("across", ["folds", "all"])
def test_the_deployed_configuration_is_named(across: str) -> None:
    content = content_of(searched(across=across))
    outer = content.outer
    assert (content.headline.label == "corrected") == (across == "folds")
    assert ("the choice had seen the same rows" in content.headline.sentence) == (across == "all")
    assert ("one configuration that was best over all inner folds" in outer.how) == (across == "all")
    assert [row.is_deployed for row in outer.inner_means] == (
        [True, False, False, False] if across == "all" else []
    )
    assert ("<h3>Mean inner scores</h3>" in render_html(content)) == (across == "all")


def test_agreement_of_all_folds_is_stated() -> None:
    only = content_of(searched(grid={"n_neighbors": [9], "weights": ["uniform", "uniform"]})).outer
    assert only.agreement == (
        "All 4 outer folds chose the same configuration, which is also the one that is deployed."
    )


def test_a_search_has_no_such_section() -> None:
    found = searched()
    assert facts(found.evaluation).outer is None


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


def test_one_configuration_has_no_inner_scores_and_no_choice_to_agree_on() -> None:
    content = content_of(searched(grid={"n_neighbors": [9]}))
    assert "The configuration was fitted 4 times, each time without" in content.outer.how
    assert "choose nothing outside its own fits" in content.outer.agreement and content.outer.means == ""
    assert {row.inner for row in content.outer.folds} == {None}
    section = render_html(content).split('<h2 id="outer">')[1].split("</section>")[0]
    assert "flattering" not in section and "nan" not in section
