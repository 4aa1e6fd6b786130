"""Boosting of linear classifiers: each step changes the weight of the one column that helps most.

This is functional gradient descent with least squares on one column at a time. Stopped early it gives a sparse,
shrunk linear classifier; with many steps it approaches the one with the least loss.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np
from scipy.special import expit, log_expit, softmax
from sklearn.utils.metaestimators import available_if

from heldout._types import Floats
from heldout.data.checks import check_count
from heldout.metrics.base import check_among
from heldout_papers.spaces.classifiers import Codes, LinearClassifier, check_number, rows_to_predict

Loss: TypeAlias = Literal["logistic", "hinge"]


class BoostedLinear(LinearClassifier):
    """Componentwise linear boosting (Buhlmann and Hothorn 2007), with the hinge loss of Wang (2011).

    With y in {-1, 1} and the score f, the loss of a row is log(1 + exp(-y f)), or max(0, 1 - y f). Each iteration
    regresses the negative gradient of the summed loss on every column by itself, with an intercept, and adds the
    best of these lines, times the learning rate, to the score. This is the linear learner of R's package bst.

    Parameters
    ----------
    loss : "logistic" or "hinge"
        Only "logistic" gives probabilities.
    n_iterations : int
        The parameter to tune: fewer iterations give sparser and more shrunk coefficients.
    learning_rate : float
        Above 0 and at most 1. A smaller rate needs more iterations and gives a finer path.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (1, p) and (1,), or (n_classes, p) and (n_classes,)
        With more than two classes each is compared with all others.
    losses_ : ndarray of shape (n_scores, n_iterations + 1)
        The mean loss before the first iteration and after each, for each row of ``coef_``.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (p,)
        Set if the training table names its columns.

    Notes
    -----
    The logistic score starts at the log odds, the hinge score at 0. Scaling a column changes only its own
    coefficient. A constant column has the coefficient 0. In bst each class's loss has by default the weight 1/2, so
    its steps are half as long as here at the same learning rate.

    Examples
    --------
    >>> X = np.array([[-1.0, 1.0], [0.0, -1.0], [0.0, -1.0], [1.0, 1.0]])
    >>> model = BoostedLinear(n_iterations=1, learning_rate=1.0).fit(X, [0, 0, 1, 1])
    >>> model.coef_, model.predict([[-2, 0], [2, 0]])
    (array([[0.5, 0. ]]), array([0, 1]))
    """

    sources: ClassVar[tuple[str, ...]] = ("buhlmann2007", "wang2011")

    def __init__(self, loss: Loss = "logistic", n_iterations: int = 100, learning_rate: float = 0.1) -> None:
        self.loss = loss
        self.n_iterations = n_iterations
        self.learning_rate = learning_rate

    def _check_parameters(self) -> None:
        check_among("loss", self.loss, ("logistic", "hinge"))
        check_count("n_iterations", self.n_iterations)
        check_number("learning_rate", self.learning_rate, 0.0, 1.0, above=True)

    def _fit_codes(self, X: Floats, codes: Codes) -> None:
        columns = _Columns.of(X)
        positive = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        paths = [
            _boosted(columns, np.where(codes == code, 1.0, -1.0), self.loss, self.n_iterations, self.learning_rate)
            for code in positive
        ]
        self.coef_ = np.array([path.coefficients for path in paths])
        self.intercept_ = np.array([path.at_means for path in paths]) - self.coef_ @ columns.means
        self.losses_ = np.array([path.losses for path in paths])
        self._steps = [path.steps for path in paths]
        self._centre = columns.means

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """Scores after each iteration, as ``decision_function`` gives them after the last (up to rounding).

        Yields
        ------
        ndarray of shape (n,) or (n, n_classes)
        """
        rows = rows_to_predict(self, X) - self._centre
        scores = np.tile([steps.begin for steps in self._steps], (len(rows), 1)).astype(np.float64)
        for iteration in range(self.n_iterations):
            for place, steps in enumerate(self._steps):
                column = steps.columns[iteration]
                scores[:, place] += steps.slopes[iteration] * rows[:, column] + steps.shifts[iteration]
            yield scores[:, 0].copy() if scores.shape[1] == 1 else scores.copy()

    @available_if(lambda self: self.loss == "logistic")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes; of more than two, each class's against all others, normalised to the sum 1.

        Returns
        -------
        ndarray of shape (n, n_classes)
        """
        return probabilities_of_scores(self.decision_function(X))


def probabilities_of_scores(scores: Floats) -> Floats:
    """(n, n_classes): probabilities from logistic scores, (n,) for two classes or (n, n_classes)."""
    if scores.ndim == 1:
        second = expit(scores)
        return np.column_stack([1 - second, second])
    return np.asarray(softmax(log_expit(scores), axis=1))


class _Columns(NamedTuple):
    """Columns centred and scaled to length 1; a constant one is 0."""

    unit: Floats
    means: Floats
    lengths: Floats

    @classmethod
    def of(cls, X: Floats) -> _Columns:
        means = X.mean(axis=0)
        # The mean of equal numbers may have a rounding error, which scaling would amplify.
        centred = np.where(X.min(axis=0) == X.max(axis=0), 0.0, X - means)
        lengths = np.sqrt((centred**2).sum(axis=0))
        lengths[lengths == 0] = 1.0
        return cls(centred / lengths, means, lengths)


class _Steps(NamedTuple):
    """The column that each iteration chose, its change of slope, and the shift of all rows."""

    begin: float
    columns: list[int]
    slopes: Floats
    shifts: list[float]


class _BoostedScore(NamedTuple):
    coefficients: Floats
    at_means: float
    """The score of a row of the columns' means."""
    losses: list[float]
    steps: _Steps


def _boosted(columns: _Columns, y: Floats, loss: Loss, n_iterations: int, learning_rate: float) -> _BoostedScore:
    unit = columns.unit
    positive = float((y > 0).mean())
    at_means = np.log(positive / (1 - positive)) if loss == "logistic" else 0.0
    coefficients = np.zeros(unit.shape[1])
    scores = np.full(len(y), at_means)
    losses = [_mean_loss(loss, y * scores)]
    begin, chosen, slopes_of_chosen, shifts = float(at_means), [], [], []
    for _ in range(n_iterations):
        margins = y * scores
        gradient = y * (expit(-margins) if loss == "logistic" else margins < 1)
        slopes = unit.T @ gradient
        best = int(np.abs(slopes).argmax())
        step, shift = learning_rate * slopes[best], learning_rate * gradient.mean()
        coefficients[best] += step
        at_means += shift
        scores += step * unit[:, best] + shift
        losses.append(_mean_loss(loss, y * scores))
        chosen.append(best)
        slopes_of_chosen.append(step)
        shifts.append(shift)
    steps = _Steps(begin, chosen, np.array(slopes_of_chosen) / columns.lengths[chosen], shifts)
    return _BoostedScore(coefficients / columns.lengths, float(at_means), losses, steps)


def _mean_loss(loss: Loss, margins: Floats) -> float:
    rows = -log_expit(margins) if loss == "logistic" else np.maximum(0.0, 1 - margins)
    return float(rows.mean())
