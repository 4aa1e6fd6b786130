"""Thresholds cut from scores, and the columns of labels that they make."""

import numpy as np
import pytest

from heldout.errors import InputError
from heldout.selection import threshold as module
from heldout.selection.threshold import Threshold, cuts_of, own_thresholds

NAN = np.nan


@pytest.mark.parametrize(
    "scores, most, expected",
    [
        ([0.2, 0.4, 0.4, 0.8, NAN], 10, [0.1, 0.3, 0.6, 1.0]),
        ([0.0, 1.0, 2.0, 6.0], 10, [-0.5, 0.5, 1.5, 4.0, 8.0]),
        ([0.2, 0.4, 0.4, 0.8], 4, [0.1, 0.3, 0.6, 1.0]),
        ([0.2, 0.4, 0.4, 0.8], 2, [0.1, 1.0]),
        ([0.2, 0.4, 0.4, 0.8], 1, [0.6]),
        ([0.2, 0.2], 10, [-0.3, 0.7]),
    ],
)
def test_thresholds_lie_between_scores_and_around_them(scores, most, expected):
    assert own_thresholds(np.array(scores), most) == pytest.approx(expected)


def test_of_many_those_at_even_shares_of_the_rows():
    scores = np.concatenate([np.zeros(90), np.arange(1, 11)])  # most rows tie
    found = own_thresholds(scores, 5)
    assert len(found) <= 5 and found[0] < 0 and found[-1] > 10
    assert np.unique([(scores > cut).sum() for cut in found]).size == len(found)


def test_neighbouring_floats_are_parted():
    low, high = 0.3, np.nextafter(0.3, 1)
    cut = own_thresholds(np.array([low, high]), 3)[1]
    assert not low > cut and high > cut


def test_labels_are_strictly_above_and_the_usual_cut_comes_first():
    scores = np.array([[[0.2], [-1.0]], [[0.5], [0.0]], [[0.9], [2.0]]])
    cuts = cuts_of(Threshold(n_thresholds=4), scores, positive=1)
    assert cuts.column.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert cuts.threshold[0] == pytest.approx(0.35) and cuts.threshold[4] == -0.5  # nearest to .5, and to 0
    labels = cuts.labels(scores)
    assert labels.shape == (3, 8, 1) and labels[:, 0, 0].tolist() == [0, 1, 1]
    fixed = cuts_of(Threshold([0.5, 0.2]), scores, positive=0)
    assert fixed.threshold.tolist() == [0.5, 0.2, 0.5, 0.2]
    assert fixed.labels(scores)[:, 0, 0].tolist() == [1, 1, 0]  # the positive class has code 0


def test_more_labels_than_are_held_are_refused_with_what_would_do(monkeypatch):
    monkeypatch.setattr(module, "MOST_LABELS", 100)
    scores = np.random.default_rng(0).random((10, 2, 1))
    with pytest.raises(
        InputError, match="220 labels, more than the 100 that are held; use n_thresholds of at most 5"
    ):
        cuts_of(Threshold(), scores, positive=1)
    assert len(cuts_of(Threshold(n_thresholds=5), scores, positive=1).threshold) == 10
    with pytest.raises(InputError, match="use fewer configurations"):
        cuts_of(Threshold([0.5]), np.zeros((60, 2, 1)), positive=1)
