"""bbc with the concordance index against a plain transcription of the article's pseudo-code, on the same draws.

Draws are made by ``numpy.random.Philox`` as the specification says; the index counts pairs of repeated rows one by
one (Tsamardinos et al. 2018, algorithm 5).
"""

import numpy as np
import pytest
from twins import key_by_definition, rows_by_definition

import heldout as ho

SEED, N, C, B = 20260901, 40, 4, 25


def index(y: np.ndarray, risks: np.ndarray, rows: np.ndarray, factor: np.ndarray) -> float:
    """Of rows that may recur; NaN without a comparable pair."""
    won = total = 0.0
    for i in rows:
        for j in rows:
            later = y["time"][j] > y["time"][i] or (y["time"][j] == y["time"][i] and not y["event"][j])
            if y["event"][i] and later:
                total += factor[i]
                won += factor[i] * (1.0 if risks[i] > risks[j] else 0.5 if risks[i] == risks[j] else 0.0)
    return won / total if total else np.nan


def not_censored(y: np.ndarray) -> np.ndarray:
    """G at the time of each row."""
    found = np.ones(N)
    for row, until in enumerate(y["time"]):
        for time in np.unique(y["time"][~y["event"] & (y["time"] <= until)]):
            lost = np.sum((y["time"] == time) & ~y["event"])
            found[row] *= 1 - lost / (lost + np.sum(y["time"] > time))
    return found


@pytest.mark.parametrize("events", [0.6, 0.15], ids=["most seen", "few seen, so that draws are drawn again"])
@pytest.mark.parametrize("metric", ["concordance_index", "concordance_index_ipcw"])
def test_bbc_equals_algorithm_5(metric: str, events: float) -> None:
    rng = np.random.default_rng(5)
    y = np.empty(N, dtype=[("event", "?"), ("time", "f8")])
    y["time"], y["event"] = rng.integers(1, 15, N) / 2, rng.random(N) < events
    y[0] = (False, 9.0)
    risks = np.round(rng.normal(size=(N, C)) - 0.2 * y["time"][:, None], 1)
    factor = np.ones(N) if metric == "concordance_index" else np.where(y["event"], not_censored(y), 1.0) ** -2.0

    expected, redrawn = [], 0
    for b in range(B):
        for attempt in range(1000):
            inside = rows_by_definition(key_by_definition(SEED, "draws"), b, attempt, N)
            outside = np.setdiff1d(np.arange(N), inside)
            if not np.isnan(index(y, risks[:, 0], inside, factor) + index(y, risks[:, 0], outside, factor)):
                break
            redrawn += 1
        in_bag = [index(y, risks[:, j], inside, factor) for j in range(C)]
        expected.append(index(y, risks[:, int(np.argmax(np.round(in_bag, 12)))], outside, factor))

    published = ho.estimates.BBC(control=False)
    found = ho.estimate(y, risks, metric=metric, n_bootstraps=B, random_state=SEED, method=published)
    np.testing.assert_allclose(found.distribution, expected, rtol=0, atol=1e-12)
    assert found.value == pytest.approx(np.mean(expected), abs=1e-12)
    assert found.provenance["redrawn"] == redrawn
    assert (redrawn > 0) == (events < 0.5)
