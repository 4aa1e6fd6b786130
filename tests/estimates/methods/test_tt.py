"""tt where losses leave the floats."""

import numpy as np
import pytest

import heldout as ho


def test_losses_beyond_float64_in_every_fold_leave_nothing_to_compare() -> None:
    y = 1e200 * np.linspace(-1, 1, 20)
    with pytest.warns(ho.HeldoutWarning, match="of a fold is beyond what float64 holds"):
        found = ho.estimate(
            y, np.zeros((20, 3)), metric="mean_squared_error", method="tt", folds=np.arange(20) % 4, random_state=0
        )
    assert np.isnan(found.value)
    assert set(found.flags) == {"undefined"}  # and not one that calls NaN beyond the metric's range
