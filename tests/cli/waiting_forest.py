"""A forest that waits before each fit, in whatever process."""

import os
import time
from typing import Any

from sklearn.ensemble import RandomForestClassifier

SECONDS = "HELDOUT_TEST_SECONDS"


class WaitingForest(RandomForestClassifier):  # type: ignore[misc]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        time.sleep(float(os.environ.get(SECONDS, "0")))
        return super().fit(X, y, sample_weight)
