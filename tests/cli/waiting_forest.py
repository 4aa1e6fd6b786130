"""A space of few fits that wait where they are told to, in whatever process."""

import os
import time
from typing import Any

from sklearn.ensemble import RandomForestClassifier

from heldout.spaces.presets import _on_unscaled

SECONDS = "HELDOUT_TEST_SECONDS"


class WaitingForest(RandomForestClassifier):  # type: ignore[misc]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        time.sleep(float(os.environ.get(SECONDS, "0")))
        return super().fit(X, y, sample_weight)


def tune_it(name: str, X: Any, kind: Any) -> list[Any]:
    """In place of a preset."""
    return [("forest", _on_unscaled(WaitingForest(10))(X), {"fit__min_samples_leaf": [1, 2, 3, 4]})]
