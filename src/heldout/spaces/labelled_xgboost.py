"""XGBoost's classifier for any labels. The module needs the package xgboost."""

from __future__ import annotations

from typing import Any

import numpy as np
from xgboost import XGBClassifier


class LabelledXGBClassifier(XGBClassifier):  # type: ignore[misc]
    """``XGBClassifier``, which takes only the classes 0, 1, ..., for labels of any kind.

    Its parameters are those of ``XGBClassifier``.
    """

    def fit(
        self, X: Any, y: Any, *, sample_weight: Any = None, eval_set: Any = None, **params: Any
    ) -> LabelledXGBClassifier:
        """Fit to the codes of the labels."""
        labels, codes = np.unique(np.asarray(y), return_inverse=True)
        pairs = [(rows, np.searchsorted(labels, np.asarray(own))) for rows, own in eval_set or ()]
        self.__dict__.pop("labels_", None)
        super().fit(X, codes.reshape(-1), sample_weight=sample_weight, eval_set=pairs or None, **params)
        self.labels_ = labels
        return self

    def predict(self, X: Any, *, output_margin: bool = False, **params: Any) -> Any:
        """The labels, or with ``output_margin`` the decisions."""
        found = super().predict(X, output_margin=output_margin, **params)
        return found if output_margin else self.labels_[found]

    @property
    def classes_(self) -> Any:
        """The labels, in order; during ``fit`` their codes, which XGBoost compares with its target."""
        return self.labels_ if hasattr(self, "labels_") else np.arange(self.n_classes_)
