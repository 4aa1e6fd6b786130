"""The calibration curve against ``calibrate`` of R's rms, on the very samples that R drew.

``data/calibration_rms.json`` was written by rms 6.5.0 under R 4.2: logistic and linear models of three columns, 90
rows, 8 samples. R draws a sample by ``sample(n, replace = TRUE)`` and nothing else, so the same seed gives them:

    set.seed(11); cal <- calibrate(lrm(y ~ a + b + c, d, x = TRUE, y = TRUE, tol = 1e-13), B = 8)
    set.seed(11); samples <- sapply(1:8, function(i) sample(90, replace = TRUE))

``on_original`` holds what ``lrm.fit`` (``lm.fit``) on each sample says of all rows, and ``errors`` what
``print(cal)`` says of the rows: mean absolute and mean squared error, and the .9 quantile of the absolute ones.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from heldout.data.task import truth_of
from heldout.metrics.base import Response
from heldout.protocols.validation.curves import calibration_curve
from heldout.protocols.validation.replicates import Replicates

GIVEN = json.loads((Path(__file__).parent / "data" / "calibration_rms.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("kind", ["logistic", "linear"])
def test_the_calibration_curve_is_that_of_rms(kind: str) -> None:
    given = {name: np.array(values, dtype=float) for name, values in GIVEN[kind].items()}
    n = len(given["y"])
    samples = given["samples"].astype(int).reshape(-1, n)
    response = Response.PROBABILITIES if kind == "logistic" else Response.VALUES
    replicates = Replicates(
        truth_of(given["y"].astype(int) if kind == "logistic" else given["y"]),
        np.stack([np.bincount(drawn, minlength=n) for drawn in samples]).astype(np.uint8),
        {response: given["apparent"][:, None]},
        {response: given["on_original"].reshape(-1, n).T[:, None, :]},
    )
    curve = calibration_curve(replicates)
    np.testing.assert_allclose(curve.predicted, given["predicted"], atol=1e-9)
    np.testing.assert_allclose(curve.apparent, given["curve"], atol=1e-9)
    np.testing.assert_allclose(curve.corrected, given["corrected"], atol=1e-9)
    np.testing.assert_array_equal(curve.n_replicates, given["n"])
    errors = [curve.mean_absolute_error, curve.mean_squared_error, curve.quantile_90]
    np.testing.assert_allclose(errors, given["errors"], atol=1e-9)
    # In the logistic case some replicates' predictions end before the grid does.
    assert (given["n"] < len(samples)).any() == (kind == "logistic")
