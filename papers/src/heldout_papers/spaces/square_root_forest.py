"""A random forest that tries a multiple of sqrt(p) columns at each split, where p is the number of its columns.

After a selection p is known only when the forest is fitted, and scikit-learn's ``max_features`` takes a number, a
share or the square root itself.
"""

from typing import Any, ClassVar

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from heldout._types import Floats
from heldout.data.checks import check_count
from heldout_papers.spaces.classifiers import CodedClassifier, Codes, check_number, rows_to_predict


class SquareRootForest(CodedClassifier):
    """Random forest (Breiman 2001) with ``roots`` times sqrt(p) columns tried at each split.

    Parameters
    ----------
    n_trees : int, default=1000
    min_leaf : int, default=1
        The least number of rows in a leaf.
    roots : float, default=1.0
        The multiple of sqrt(p), rounded to a number from 1 to p.
    random_state : int, RandomState or None

    Attributes
    ----------
    forest_ : RandomForestClassifier
        Fitted to the positions of the classes in ``classes_``.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (p,)
        Set if the training table names its columns.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(60, 9))
    >>> SquareRootForest(20, roots=1.5, random_state=0).fit(X, X[:, 0] > 0).forest_.max_features
    4
    """

    sources: ClassVar[tuple[str, ...]] = ("breiman2001",)

    def __init__(
        self, n_trees: int = 1000, min_leaf: int = 1, roots: float = 1.0, random_state: Any = None
    ) -> None:
        self.n_trees = n_trees
        self.min_leaf = min_leaf
        self.roots = roots
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_count("n_trees", self.n_trees)
        check_count("min_leaf", self.min_leaf)
        check_number("roots", self.roots, 0.0, above=True)

    def _fit_codes(self, X: Floats, codes: Codes) -> None:
        self.forest_ = self.of_columns(X.shape[1]).fit(X, codes)

    def of_columns(self, p: int) -> RandomForestClassifier:
        """The unfitted forest for a table of p columns."""
        self._check_parameters()
        tried = int(np.clip(np.rint(self.roots * np.sqrt(p)), 1, p))
        return RandomForestClassifier(
            self.n_trees, min_samples_leaf=self.min_leaf, max_features=tried, random_state=self.random_state
        )

    def predict_proba(self, X: Any) -> Floats:
        """The mean over trees of the class shares in the leaf.

        Returns
        -------
        ndarray of shape (n, n_classes)
        """
        rows = rows_to_predict(self, X)
        return np.asarray(self.forest_.predict_proba(rows))

    def _scores(self, X: Any) -> Floats:
        return self.predict_proba(X)
