"""The bootstrap as a plan of folds, flat and nested."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier

import heldout as ho
from heldout.data.task import Task, truth_of
from heldout.errors import InputError
from heldout.folds.plans import bootstrap
from heldout.folds.splits import make_folds

X, Y = load_wine(return_X_y=True)
GRID = {"n_neighbors": [1, 5, 15]}


def test_samples_draw_all_rows_with_replacement() -> None:
    pairs = list(bootstrap(400, random_state=1).split(np.zeros((30, 1))))
    for train, test in pairs:
        assert len(train) == 30
        assert np.array_equal(np.setdiff1d(np.arange(30), train), test)
    # A row is left out with probability (1 - 1/30)^30 = .3617; the error of the mean share is about .004.
    left_out = np.mean([len(test) / 30 for _, test in pairs])
    assert abs(left_out - (29 / 30) ** 30) < 0.012
    drawn = np.mean([np.bincount(train, minlength=30) for train, _ in pairs], axis=0)
    assert np.allclose(drawn, 1, atol=0.2)


def test_groups_are_drawn_whole_and_classes_are_on_both_sides() -> None:
    groups = np.repeat(np.arange(8), 5)
    y = np.repeat([0, 0, 0, 0, 0, 1, 1, 0], 5)  # class 1 is in two groups
    task = Task(np.zeros((40, 1)), truth_of(y), groups)
    for split in make_folds(task, bootstrap(30), entropy=3).splits:
        counts = np.bincount(split.train, minlength=40).reshape(8, 5)
        assert (counts == counts[:, :1]).all()
        assert counts.sum() == 40
        assert set(y[split.train]) == set(y[split.test]) == {0, 1}


def test_a_flat_search_scores_each_sample_on_the_rows_left_out() -> None:
    search = ho.HeldOutSearchCV(
        KNeighborsClassifier(), GRID, cv=bootstrap(6, random_state=5), random_state=0, method="bbc"
    ).fit(X, Y)
    by_hand = [
        np.mean(
            [
                KNeighborsClassifier(n_neighbors=k).fit(X[train], Y[train]).score(X[test], Y[test])
                for train, test in bootstrap(6, random_state=5).split(X, Y)
            ]
        )
        for k in GRID["n_neighbors"]
    ]
    assert np.allclose(search.cv_results_["mean_test_score"], by_hand, rtol=0, atol=1e-12)
    assert search.n_fits_ == 6 * 3
    peer = GridSearchCV(KNeighborsClassifier(), GRID, cv=bootstrap(6, random_state=5)).fit(X, Y)
    assert np.allclose(peer.cv_results_["mean_test_score"], by_hand, rtol=0, atol=1e-12)
    by_correct = ho.correct(peer, method="corrected_t", test_share=0.37)
    assert by_correct.uncorrected == pytest.approx(max(by_hand), abs=1e-12)


def test_nested_keeps_the_copies_of_a_row_together() -> None:
    found = ho.nested_cv(KNeighborsClassifier(), X, Y, GRID, cv=bootstrap(4), inner=3, random_state=0)
    assert found.n_fits == 4 * (3 * 3 + 1) + 3 * 3 + 1
    assert len(found.outer_folds) == 4
    for fold in found.outer_folds:
        assert len(fold.training_rows) == len(Y)
        assert not set(fold.training_rows) & set(fold.test_rows)
        # One nearest neighbour would score 1 inside wherever a copy of the tested row trains.
        assert fold.inner_scores[0] < 0.9
    assert found.value == pytest.approx(np.mean([fold.score for fold in found.outer_folds]), abs=1e-12)


def test_nesting_with_the_remaining_samples_is_refused() -> None:
    with pytest.raises(InputError, match="`inner='remaining'` needs outer folds that test every row once"):
        ho.nested_cv(KNeighborsClassifier(), X, Y, GRID, cv=bootstrap(4))


def test_methods_of_subsampling_take_it() -> None:
    search = ho.HeldOutSearchCV(
        KNeighborsClassifier(), GRID, cv=bootstrap(20), random_state=0, method="corrected_t"
    ).fit(X, Y)
    low, high = search.confidence_interval_.low, search.confidence_interval_.high
    scores = [search.cv_results_[f"split{i}_test_score"][search.best_index_] for i in range(20)]
    assert low < np.mean(scores) < high
    assert high - low > 2 * 2.09 * np.std(scores, ddof=1) / np.sqrt(20)  # wider than that of independent samples


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(InputError, match="times must be an integer of at least 1, got 0"):
        bootstrap(0)
    one = Task(np.zeros((6, 1)), truth_of(np.arange(6.0) / 7), np.zeros(6))
    with pytest.raises(InputError, match="draws some groups and leaves out others, so it needs at least 2, got 1"):
        make_folds(one, bootstrap(2))
    with pytest.raises(InputError, match="20 bootstrap samples repeats twice"):
        ho.HeldOutSearchCV(KNeighborsClassifier(), cv=bootstrap(20), repeats=2).fit(X, Y)
