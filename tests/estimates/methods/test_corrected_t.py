"""The corrected t interval by hand, by formula, for folds and for subsampling, and what it refuses."""

import numpy as np
import pytest
from scipy.stats import t
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, ShuffleSplit

import heldout as ho

RNG = np.random.default_rng(3)
SCORES = RNG.normal(0.8, 0.05, size=(10, 4))
N = 60
Y = np.resize([0, 1], N)
X = RNG.normal(size=(N, 4)) + 0.5 * Y[:, None]


def of(scores=SCORES, **more):
    return ho.estimate_from_scores(scores, greater_is_better=True, method="corrected_t", **more)


def interval(scores, ratio, level=0.95):
    """m ∓ t s √(1/J + n2/n1), written from the article's formula."""
    n, mean = len(scores), np.mean(scores)
    reach = t.ppf(0.5 + level / 2, n - 1) * np.std(scores, ddof=1) * np.sqrt(1 / n + ratio)
    return [mean - reach, mean + reach]


def test_two_folds_by_hand():
    """Scores .6 and .8: s² = .02; √(.02 · (1/2 + 1)) = .173205; t of one degree at .975 is 12.7062."""
    found = of(np.array([[0.6], [0.8]]))
    assert found.value == pytest.approx(0.7)
    assert found.standard_error == pytest.approx(0.1732051, abs=1e-7)
    assert list(found.interval) == pytest.approx([0.7 - 2.2007792, 0.7 + 2.2007792], abs=1e-6)


def test_k_folds_have_one_over_k_minus_one():
    best = int(SCORES.mean(axis=0).argmax())
    found = of()
    assert found.selected == best
    assert list(found.interval) == pytest.approx(interval(SCORES[:, best], 1 / 9), rel=1e-12)
    assert found.provenance["test_to_training_rows"] == pytest.approx(1 / 9)
    assert {"uncorrected", "selection_ignored"} <= set(found.flags)


def test_repeats_of_folds():
    found = of(SCORES[:, :1], repeats=np.repeat([0, 1], 5), confidence_level=0.9)
    assert list(found.interval) == pytest.approx(interval(SCORES[:, 0], 1 / 4, 0.9), rel=1e-12)
    assert not {"uncorrected", "selection_ignored"} & set(found.flags)


def test_subsampling_has_its_share():
    found = of(SCORES[:, :1], test_share=0.2)
    assert list(found.interval) == pytest.approx(interval(SCORES[:, 0], 0.2 / 0.8), rel=1e-12)


def test_one_sided_bounds_leave_the_better_side_open():
    found = of(SCORES[:, :1], alternative="greater", range=(0.0, 1.0)).interval
    low = interval(SCORES[:, 0], 1 / 9, level=0.9)[0]
    assert list(found) == pytest.approx([low, 1.0], rel=1e-12)


def test_undefined_splits_are_left_out():
    scores = SCORES[:, :1].copy()
    scores[3] = np.nan
    defined = np.delete(SCORES[:, 0], 3)
    assert list(of(scores).interval) == pytest.approx(interval(defined, 1 / 9), rel=1e-12)


@pytest.mark.parametrize("cv", [ho.protocols.repeated(5, 2), ho.protocols.repeated_hold_out(20, 0.25)])
def test_a_search_knows_its_parts(cv):
    search = ho.HeldOutSearchCV(
        LogisticRegression(), {"C": [0.01, 1.0]}, scoring="roc_auc", cv=cv, method="corrected_t", random_state=0
    ).fit(X, Y)
    found = search.estimate_
    splits = search.evaluation_.fold_scores["score"].values[:, search.best_index_]
    ratio = 1 / 4 if cv.get_n_splits() == 10 else 0.25 / 0.75
    assert list(found.interval) == pytest.approx(np.clip(interval(splits, ratio), 0, 1), rel=1e-9)


def test_the_scores_of_grid_search():
    of_folds = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=5).fit(X, Y)
    scores = [of_folds.cv_results_[f"split{k}_test_score"][of_folds.best_index_] for k in range(5)]
    found = ho.correct(of_folds, method="corrected_t")
    assert list(found.interval) == pytest.approx(np.clip(interval(scores, 1 / 4), 0, 1), rel=1e-9)
    drawn = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=ShuffleSplit(8, test_size=0.2, random_state=0))
    found = ho.correct(drawn.fit(X, Y), method="corrected_t", test_share=0.2)
    assert found.provenance["test_to_training_rows"] == pytest.approx(0.25)


def test_equal_scores_show_no_spread():
    with pytest.warns(ho.HeldoutWarning, match="all splits have the same score, which shows no spread"):
        found = of(np.full((5, 1), 0.75))
    assert found.value == 0.75 and np.isnan(list(found.interval)).all() and "no_bound" in found.flags


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"repeats": np.arange(10)}, "splits in repeats of one split, or of unequal numbers, do not tell"),
        ({"repeats": np.repeat([0, 1], [6, 4])}, "of unequal numbers"),
        ({"selection": "average_rank"}, None),
    ],
)
def test_what_it_needs_to_know(settings, said):
    if said is None:  # any rule that chooses one configuration will do
        assert of(**settings).value > 0.7
        return
    with pytest.raises(ho.InputError, match=said):
        of(**settings)


def test_a_hold_out_is_refused_before_it_is_fitted():
    cv = ho.protocols.hold_out()
    search = ho.HeldOutSearchCV(LogisticRegression(), {"C": [0.1, 1]}, cv=cv, method="corrected_t")
    with pytest.raises(ho.InputError, match="it needs two splits with a score, which show a spread, and here is 1"):
        search.fit(X, Y)
