"""The selection on fold scores: what a rule is shown of the drawn folds, and what it makes of gaps and ties."""

from dataclasses import dataclass, field

import numpy as np

from heldout.selection import NONE_CHOSEN, Best, ScoreTable
from heldout.selection.replay import FoldReplay, drawn

SCORES = np.array([[0.9, 0.5, 0.1], [0.6, 0.8, 0.2], [0.6, 0.6, 0.9]])[:, :, None]


@dataclass
class Spy:
    """Chooses the first configuration and keeps what it was shown."""

    reads_fold_scores: bool = False
    reads_all_metrics: bool = True
    reads_repeats: bool = False
    name: str = "spy"
    shown: list[ScoreTable] = field(default_factory=list)

    def __call__(self, table: ScoreTable) -> np.ndarray:
        self.shown.append(table)
        return np.zeros(table.n_resamples, dtype=np.intp)


def replay(rule=None, scores=SCORES, candidates=(0, 1, 2), n_configurations=3, repeats=(0, 0, 0)) -> FoldReplay:
    return FoldReplay(
        rule or Best(),
        scores,
        np.array(candidates),
        [{} for _ in range(n_configurations)],
        [f"metric {m}" for m in range(scores.shape[2])],
        np.array(repeats),
    )


def counts(*rows: list[int]) -> np.ndarray:
    return np.array(rows, dtype=np.uint8)


def test_the_best_mean_of_the_drawn_folds_is_chosen() -> None:
    # Means by hand: all folds (.7, .633, .4); folds 1 1 2 (.6, .733, .433); fold 2 alone (.6, .6, .9).
    assert replay().choose(counts([1, 1, 1], [0, 2, 1], [0, 0, 3])).tolist() == [0, 1, 2]


def test_equal_means_tie_in_spite_of_their_last_bits() -> None:
    scores = np.array([[0.8, 0.9], [0.9, 0.8], [0.1, 0.1]])[:, :, None]
    tied = replay(scores=scores, candidates=(0, 1), n_configurations=2)
    assert tied.choose(counts([1, 1, 1], [1, 1, 0])).tolist() == [0, 0]


def test_a_gap_is_left_out_of_the_mean_and_never_wins() -> None:
    scores = SCORES.copy()
    scores[0, 0] = np.nan  # the first configuration has .6 on average then, where it has a score
    assert replay(scores=scores).choose(counts([1, 1, 1], [3, 0, 0])).tolist() == [1, 1]
    scores[0] = np.nan
    assert replay(scores=scores).choose(counts([3, 0, 0])).tolist() == [NONE_CHOSEN]
    assert replay(scores=scores).defined(counts([3, 0, 0], [2, 1, 0])).tolist() == [False, True]


def test_an_infinitely_bad_fold_is_the_worst_and_not_absent() -> None:
    scores = SCORES.copy()
    scores[0, 0] = -np.inf
    assert replay(scores=scores).choose(counts([1, 1, 1], [0, 0, 3])).tolist() == [1, 2]


def test_candidates_have_the_places_of_their_configurations() -> None:
    spy = Spy()
    chosen = replay(spy, candidates=(1, 2, 4), n_configurations=5).choose(counts([1, 1, 1]))
    assert chosen.tolist() == [NONE_CHOSEN]  # configuration 0 is no candidate
    np.testing.assert_allclose(spy.shown[0].values[0, :, 0], [np.nan, 0.7, 1.9 / 3, np.nan, 0.4])


def test_a_rule_is_shown_the_folds_as_often_as_they_were_drawn() -> None:
    spy = Spy(reads_fold_scores=True)
    replay(spy).choose(counts([0, 2, 1]))
    np.testing.assert_array_equal(spy.shown[0].fold_scores[0], SCORES[[1, 1, 2]])
    assert spy.shown[0].repeat_scores is None
    plain = Spy()
    replay(plain).choose(counts([0, 2, 1]))
    assert plain.shown[0].fold_scores is None


def test_several_metrics_are_shown_in_their_order() -> None:
    spy = Spy()
    replay(spy, scores=np.concatenate([SCORES, 1 - SCORES], axis=2)).choose(counts([1, 1, 1]))
    np.testing.assert_allclose(spy.shown[0].values[0, :, 1], 1 - spy.shown[0].values[0, :, 0])
    assert list(spy.shown[0].metrics) == ["metric 0", "metric 1"]


def test_the_repeats_are_shown_to_a_rule_that_reads_them() -> None:
    spy = Spy(reads_repeats=True)
    whole = replay(spy, repeats=(5, 5, 7))
    whole.choose(counts([1, 1, 1]))
    np.testing.assert_allclose(spy.shown[0].repeat_scores[0, :, :, 0], [[0.75, 0.65, 0.15], [0.6, 0.6, 0.9]])
    whole.of(np.array([0, 1])).choose(counts([2, 0]))
    assert spy.shown[1].repeat_scores is None
    np.testing.assert_allclose(spy.shown[1].values[0, :, 0], [0.9, 0.5, 0.1])


def test_drawn_numbers_are_counted_back() -> None:
    rng = np.random.default_rng(1)
    lanes = rng.multinomial(6, [1 / 6] * 6, size=20).astype(np.uint8)
    assert [np.bincount(row, minlength=6).tolist() for row in drawn(lanes)] == lanes.tolist()


def test_losses_near_the_end_of_floats_are_averaged_too() -> None:
    scores = np.array([[-1e308, -1.6e308], [-1.7e308, -1.7e308], [-1.7e308, -1.5e308]])[:, :, None]
    spy = Spy()
    huge = replay(spy, scores=scores, candidates=(0, 1), n_configurations=2)
    huge.choose(counts([1, 1, 1]))
    np.testing.assert_allclose(spy.shown[0].values[0, :, 0], [-4.4 / 3 * 1e308, -1.6e308], rtol=1e-12)
