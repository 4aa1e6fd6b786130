"""Shrinkage discriminant analysis: linear discriminants that are stable with more columns than rows.

Class frequencies, variances and correlations are estimated by shrinkage with analytic intensities, so there is
nothing to tune. The same estimates give correlation-adjusted t-scores (CAT scores), which rank columns jointly.
"""

from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from scipy.special import expit, softmax

from heldout._types import Floats
from heldout.data.checks import is_number
from heldout.errors import InputError
from heldout_papers.spaces.classifiers import Codes, LinearClassifier
from heldout_papers.spaces.shrinkage import ShrunkCorrelation, shrunk_frequencies, shrunk_variances

Intensity: TypeAlias = float | Literal["auto"]


class ShrinkageDiscriminant(LinearClassifier):
    """Shrinkage discriminant analysis with CAT scores, as ``sda`` of R's package sda.

    Parameters
    ----------
    diagonal : bool
        Whether correlations are ignored (diagonal discriminant analysis), so CAT scores are t-scores.
    shrinkage : float in [0, 1] or "auto"
        How far correlations are shrunk towards 0. 0 is the plain estimate (with the pseudo-inverse if it has no
        inverse), "auto" the intensity with the least expected squared error (Schafer and Strimmer 2005).
    shrinkage_variances : float in [0, 1] or "auto"
        How far variances are shrunk towards their median (Opgen-Rhein and Strimmer 2007). Columns should then be on
        comparable scales.
    shrinkage_frequencies : float in [0, 1] or "auto"
        How far class frequencies are shrunk towards equal ones (Hausser and Strimmer 2009).

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (1, p) and (1,), or (n_classes, p) and (n_classes,)
        Of the log odds of the second class, or of each class's log posterior up to a common term.
    cat_scores_ : ndarray of shape (p, n_classes)
        Each column's correlation-adjusted t-score of each class's mean against that of all (Ahdesmaki and Strimmer
        2010). Larger = higher in that class than its correlations explain.
    feature_scores_ : ndarray of shape (p,)
        Their sum of squares: larger for columns that separate the classes better. For
        ``SelectFromModel(model, importance_getter="feature_scores_")``.
    means_ : ndarray of shape (n_classes, p)
    variances_ : ndarray of shape (p,)
        Variances within classes, shrunk.
    priors_ : ndarray of shape (n_classes,)
        Shrunk class frequencies.
    shrinkage_, shrinkage_variances_, shrinkage_frequencies_ : float
        The intensities used. ``shrinkage_`` is 1 when ``diagonal``.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (p,)
        Set if the training table names its columns.

    Notes
    -----
    A constant column has weight and scores of 0. A column that is constant within every class, differs between
    classes, and has no shrunk variance has no finite weight and is refused by name.

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [4.0, 1.0], [5.0, 2.0], [6.0, 0.0]])
    >>> model = ShrinkageDiscriminant(diagonal=True, shrinkage_variances=0).fit(X, ["a", "a", "a", "b", "b", "b"])
    >>> model.predict([[1, 1], [5, 1]]), model.coef_.round(3)
    (array(['a', 'b'], dtype='<U1'), array([[4. , 0.5]]))
    >>> model.feature_scores_.round(2)
    array([48. ,  0.5])
    """

    sources: ClassVar[tuple[str, ...]] = ("ahdesmaki2010", "schafer2005", "opgenrhein2007", "hausser2009")

    def __init__(
        self,
        diagonal: bool = False,
        shrinkage: Intensity = "auto",
        shrinkage_variances: Intensity = "auto",
        shrinkage_frequencies: Intensity = "auto",
    ) -> None:
        self.diagonal = diagonal
        self.shrinkage = shrinkage
        self.shrinkage_variances = shrinkage_variances
        self.shrinkage_frequencies = shrinkage_frequencies

    def _check_parameters(self) -> None:
        self._intensities()

    def _intensities(self) -> tuple[float | None, float | None, float | None]:
        """The intensities of correlations, variances and frequencies; None where it is to be estimated."""
        return (
            _intensity("shrinkage", self.shrinkage),
            _intensity("shrinkage_variances", self.shrinkage_variances),
            _intensity("shrinkage_frequencies", self.shrinkage_frequencies),
        )

    def _fit_codes(self, X: Floats, codes: Codes) -> None:
        correlations, of_variances, of_frequencies = self._intensities()
        n, n_classes = len(X), len(self.classes_)
        if n <= n_classes:
            raise InputError(f"a discriminant analysis needs more rows than classes, got {n} rows of {n_classes}.")
        counts = np.bincount(codes)
        self.means_, centred = _centred(X, codes, n_classes)
        self.priors_, self.shrinkage_frequencies_ = shrunk_frequencies(counts, of_frequencies)
        variances, self.shrinkage_variances_ = shrunk_variances(centred, of_variances)
        # The intensity is that of n - 1 degrees of freedom, as in sda; the variances themselves have n - n_classes.
        self.variances_ = variances * (n - 1) / (n - n_classes)
        overall = self.priors_ @ self.means_
        differences = np.where(self.means_.max(axis=0) > self.means_.min(axis=0), self.means_ - overall, 0.0)
        deviation = np.sqrt(self.variances_)
        self._check_spread(differences, deviation)
        deviation[deviation == 0] = 1.0  # constant columns, whose differences are 0
        scaled = (differences / deviation).T
        weights, scores = scaled, scaled / np.sqrt((1 - self.priors_) / self.priors_ / n)
        self.shrinkage_ = 1.0
        if not self.diagonal:
            correlation = ShrunkCorrelation.of(centred, correlations)
            self.shrinkage_ = correlation.intensity
            weights, scores = correlation.power(-1.0, weights), correlation.power(-0.5, scores)
        self.cat_scores_ = scores
        self.feature_scores_ = (scores**2).sum(axis=1)
        self._set_scores(weights.T / deviation, (self.means_ + overall) / 2)

    def predict_proba(self, X: Any) -> Floats:
        """Posterior probabilities of the classes, under normal columns with the same covariance in all classes.

        Returns
        -------
        ndarray of shape (n, n_classes)
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            second = expit(scores)
            return np.column_stack([1 - second, second])
        return np.asarray(softmax(scores, axis=1))

    def _set_scores(self, coef: Floats, between: Floats) -> None:
        intercept = np.log(self.priors_) - (coef * between).sum(axis=1)
        if len(coef) == 2:
            coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
        self.coef_, self.intercept_ = coef, intercept

    def _check_spread(self, differences: Floats, deviation: Floats) -> None:
        endless = (deviation == 0) & (differences != 0).any(axis=0)
        if endless.any():
            names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(len(deviation))])
            raise InputError(
                f"column {str(names[int(endless.argmax())])!r} is constant within every class and differs between "
                "them, so no finite weight is best; leave it out, or shrink its variance: shrinkage_variances "
                "above 0."
            )


def _centred(X: Floats, codes: Codes, n_classes: int) -> tuple[Floats, Floats]:
    """Each class's means, and the rows minus the means of their class: exactly 0 for a class with one value."""
    means = np.empty((n_classes, X.shape[1]))
    centred = np.empty_like(X)
    for code in range(n_classes):
        rows = X[codes == code]
        # The mean of equal numbers may have a rounding error, which scaling would amplify.
        one_value = rows.min(axis=0) == rows.max(axis=0)
        means[code] = np.where(one_value, rows[0], rows.mean(axis=0))
        centred[codes == code] = rows - means[code]
    return means, centred


def _intensity(parameter: str, value: Any) -> float | None:
    """A checked intensity; None for "auto"."""
    if isinstance(value, str) and value == "auto":
        return None
    if not (is_number(value) and 0 <= value <= 1):
        raise InputError(f"{parameter} must be a number from 0 to 1, or 'auto', got {value!r}.", argument=parameter)
    return float(value)
