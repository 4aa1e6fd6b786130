"""Rules of weights on hand-worked libraries, and the averages that they choose among."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import heldout as ho
from heldout.data.task import truth_of
from heldout.metrics import metric_named
from heldout.metrics.aggregate import aggregate_score
from heldout.selection import Choice, GreedyEnsemble, TopK
from heldout.selection.base import joined, of_weights
from heldout.selection.ensembles import Averages, weigh

NAN = np.nan


class Errors:
    """A library of error vectors: the score of an average is minus its mean square."""

    def __init__(self, *columns):
        self.columns = np.array(columns, dtype=float).T
        self.scores = -(self.columns**2).mean(axis=0)
        self.asked = []

    def with_one_more(self, members, candidates):
        self.asked.append((members.tolist(), candidates.tolist()))
        sums = self.columns[:, members].sum(axis=1, keepdims=True) + self.columns[:, candidates]
        return -((sums / (len(members) + 1)) ** 2).mean(axis=0)


def test_top_k_shares_the_weight_among_the_best():
    library = Errors([3, 3], [1, 1], [NAN, 1], [2, 2], [1, -1])
    assert TopK(2).weigh(library).tolist() == [0, 0.5, 0, 0, 0.5]
    assert TopK(1).weigh(library).tolist() == [0, 1, 0, 0, 0]  # of equal ones the first
    assert TopK(9).weigh(library) == pytest.approx([0.25, 0.25, 0, 0.25, 0.25])
    assert TopK(2).weigh(Errors([NAN], [NAN])).tolist() == [0, 0]


def test_greedy_adds_what_cancels_the_errors():
    #  errors 1, 1 | 3, -1 | -2, -2: the first alone is 1; with the last (-.5, -.5) it is .25; again the first: 0
    library = Errors([1, 1], [3, -1], [-2, -2])
    assert GreedyEnsemble(rounds=3).weigh(library) == pytest.approx([2 / 3, 0, 1 / 3])
    assert library.asked[0] == ([0], [0, 1, 2])
    assert library.asked[1] == ([0, 2], [0, 1, 2])


def test_greedy_ends_at_its_best_round():
    library = Errors([1, 1], [1, 1.1])  # nothing helps: the first alone is the best
    assert GreedyEnsemble(rounds=3).weigh(library).tolist() == [1, 0]
    worse = Errors([1, 0], [-1, 0.1])  # after one each (0, .05) all rounds are worse
    assert GreedyEnsemble(rounds=3).weigh(worse).tolist() == [0.5, 0.5]


def test_greedy_chooses_among_the_best_only():
    library = Errors(*([1, 1 + j / 100] for j in range(60)), [NAN, 0])
    GreedyEnsemble(rounds=2).weigh(library)
    assert library.asked[0] == ([0], list(range(50)))
    assert GreedyEnsemble(rounds=1).weigh(Errors([NAN], [NAN])).tolist() == [0, 0]


def test_a_choice_stands_for_columns_or_weights():
    chosen = of_weights(np.array([[0.25, 0.75], [0.0, 0.0], [0.5, 0.5]]))
    assert chosen.columns.tolist() == [1, -1, 0]
    assert chosen.shares(2).tolist() == [0.25, pytest.approx(1.25 / 3)]
    columns = Choice(np.array([1, -1, 1, 0]))
    assert columns.shares(3).tolist() == [0.25, 0.5, 0]
    assert joined([columns, columns]).columns.tolist() == [1, -1, 1, 0] * 2
    assert joined([chosen, chosen]).weights.shape == (6, 2)
    assert Choice(np.array([2])).repeated(3).columns.tolist() == [2, 2, 2]


def test_equal_averages_tie_and_probabilities_stay_probabilities():
    predictions = np.array([[0.1, 0.2], [0.3, 0.0], [1.0, 1.0]])[:, :, None]
    averages = Averages(predictions, are_probabilities=True)
    halves = averages.of_weights(np.array([[0.5, 0.5], [1.0, 0.0]]))[:, :, 0]
    assert halves[0, 0] == halves[1, 0]  # .1 + .2 is not .3
    assert halves[:, 1].tolist() == pytest.approx([0.1, 0.3, 1.0])
    tenths = Averages(np.ones((1, 10, 1)), are_probabilities=True).of_weights(np.full((1, 10), 0.1))
    assert tenths.max() <= 1


def bound(name, y, predictions):
    truth = truth_of(y)
    segments = np.zeros((len(y), 1), dtype=np.int32)
    return aggregate_score(metric_named(name), truth, predictions, segments)


@pytest.mark.parametrize("name", ["mean_squared_error", "root_mean_squared_error", "neg_mean_absolute_error", "r2"])
def test_weights_are_chosen_under_each_weighting(name):
    y = np.array([0.5, 1.5, 2.5])
    predictions = (y[:, None] + np.array([[1.0, 0.1, -1.0], [1.0, 0.2, -1.0], [1.0, 4.0, -1.0]]))[:, :, None]
    score = bound(name, y, predictions)
    averages = Averages(predictions, are_probabilities=False)
    counts = np.array([[1, 1, 1], [2, 1, 0]], dtype=np.uint8)
    chosen = weigh(GreedyEnsemble(2), score, averages, counts[:1])
    assert chosen.weights.tolist() == [[0.5, 0, 0.5]]  # they cancel
    assert averages.score(score, chosen, counts[:1])[0] == pytest.approx(1.0 if name == "r2" else 0.0, abs=1e-12)
    if name != "r2":  # without the third row, where it is wrong, the second alone is good
        assert weigh(TopK(1), score, averages, counts).weights[1].tolist() == [0, 1, 0]


def test_an_infinite_loss_never_wins_and_spoils_no_sum():
    y = np.array([0.5, 1.5, 2.5])
    predictions = np.stack([y + 1, y + np.array([0, 0, 1e200])], axis=1)[:, :, None]
    score = bound("mean_squared_error", y, predictions)
    averages = Averages(predictions, are_probabilities=False)
    chosen = weigh(GreedyEnsemble(2), score, averages, np.array([[1, 1, 1], [2, 1, 0]], dtype=np.uint8))
    assert chosen.weights.tolist() == [[1, 0], [0, 1]]


def test_a_model_without_probabilities_is_named_as_such() -> None:
    """It has predicted every row, but decision values have no average with probabilities."""
    X, y = (of_all[:120] for of_all in load_breast_cancer(return_X_y=True))
    tree = DecisionTreeClassifier(random_state=0)
    models = [("svm", LinearSVC(), {"C": [1e-3]}), ("tree", tree, {"max_depth": [1, 3]})]
    search = ho.HeldOutSearchCV(models, scoring="roc_auc", cv=3, n_bootstraps=20, random_state=0).fit(X, y)
    with pytest.warns(ho.HeldoutWarning, match=r"svm \(C=0.001\) \(it gave decision, and no response that is read"):
        found = ho.estimate(y, search.predictions_, metric="roc_auc", selection="top_k(k=2)", n_bootstraps=20)
    assert ho.Flag.FAILED_CONFIGURATIONS in found.flags
