import numpy as np
import pytest

from heldout.errors import InputError
from heldout.references import REFERENCES
from heldout.selection import NONE_CHOSEN, SELECTION_WORDS, RankOverRepeats, ScoreTable

NAN = np.nan


def chosen(repeats, last=None, values=None):
    scores = np.array(repeats, dtype=float)
    held = ~np.isnan(scores).all(axis=1)
    means = scores[held].mean(axis=0) if values is None else np.array(values)
    table = ScoreTable(means[None, :, None], ["score"], repeat_scores=scores[None, :, :, None])
    return RankOverRepeats(last)(table).tolist()


@pytest.mark.parametrize(
    "repeats, winner",
    [
        ([[0.9, 0.5, 0.1], [0.2, 0.3, 0.1], [0.2, 0.3, 0.1]], 1),  # ranks 1.67, 1.33, 3; the mean is the first's
        ([[0.5, 0.5, 0.4], [0.5, 0.4, 0.5]], 0),  # ranks (1.5, 1.5, 3), (1.5, 3, 1.5)
        ([[0.4, 0.5, 0.5], [0.3, 0.2, 0.2]], 0),  # all of rank 2: the first
        ([[NAN, 0.5, 0.6], [0.9, 0.7, 0.5], [0.9, 0.7, 0.6]], 1),  # the first is no candidate, and takes no rank
        ([[NAN, NAN, NAN], [0.1, 0.2, 0.3]], 2),  # a repeat in which the metric is undefined does not count
        ([[-np.inf, NAN], [-np.inf, 0.5]], 0),
        ([[0.1, NAN], [NAN, 0.1]], NONE_CHOSEN),
    ],
    ids=["ranks", "shared", "first", "no candidate", "undefined", "infinite", "none"],
)
def test_least_mean_rank_wins(repeats, winner):
    assert chosen(repeats) == [winner]


def test_only_the_last_repeats_count_on_request():
    repeats = [[0.9, 0.1], [0.9, 0.1], [0.9, 0.1], [0.1, 0.2]]
    assert [chosen(repeats, last) for last in (None, 4, 3, 1)] == [[0], [0], [0], [1]]
    assert chosen([[NAN, 0.1], [0.3, 0.2]], last=1, values=[0.3, 0.15]) == [0]


def test_what_has_no_score_as_a_whole_is_no_candidate():
    assert chosen([[0.9, 0.1, 0.2], [0.9, 0.1, 0.2]], values=[NAN, 0.1, 0.2]) == [2]


def test_rounding_errors_break_no_ties():
    assert chosen([[0.3, 0.1 + 0.2, 0.0], [0.2, 0.2, 0.0]]) == [0]


def test_with_one_repeat_the_best_score_wins():
    table = ScoreTable(np.array([[[0.1], [0.7], [0.7]]]), ["score"])
    assert RankOverRepeats()(table).tolist() == [1]


def test_every_resample_is_chosen_for_alone():
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 4, (50, 4, 6)) / 4
    table = ScoreTable(scores.mean(axis=1)[:, :, None], ["score"], repeat_scores=scores[..., None])
    assert RankOverRepeats()(table).tolist() == [chosen(each)[0] for each in scores]


@pytest.mark.parametrize("last", [0, -1, 1.5, True, "2"])
def test_last_must_be_a_number_of_repeats(last):
    with pytest.raises(InputError, match="last must be an integer of at least 1"):
        RankOverRepeats(last)


def test_it_has_words_and_a_source():
    assert RankOverRepeats.name in SELECTION_WORDS
    assert set(RankOverRepeats.sources) <= set(REFERENCES)
