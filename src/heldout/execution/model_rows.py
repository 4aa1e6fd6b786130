"""The rows that arrive at a pipeline's model."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator


class RowsOfModel(BaseEstimator):  # type: ignore[misc]
    """Stands in the place of a pipeline's model, and keeps the rows that arrive there."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> RowsOfModel:
        """Keep the training rows."""
        self.X, self.y, self.fit_params = X, y, fit_params
        return self

    def predict(self, X: Any) -> Any:
        """Keep the test rows."""
        self.X_test = X
        return X

    def get_metadata_routing(self) -> Any:
        """That of the model."""
        return self.model.get_metadata_routing()

    def __sklearn_tags__(self) -> Any:
        return self.model.__sklearn_tags__()

    def __sklearn_is_fitted__(self) -> bool:
        return True
