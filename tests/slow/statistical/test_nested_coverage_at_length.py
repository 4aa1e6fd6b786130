"""How often the intervals of nested cross-validation hold what they estimate, where the truth is known.

What is estimated is the expected squared error of the search on the rows of an outer fold's training part (Nadeau &
Bengio) or on all of them (Bates, Hastie & Tibshirani); both are the means over the repetitions of the exact risk of
what was fitted. ``test_nested_coverage`` holds the simulation and the library equal.
"""

import numpy as np
from test_nested_coverage import MSE, data, scheme, search

from heldout.estimates.intervals import interval_around
from heldout.estimates.methods.corrected_t import nadeau_bengio
from heldout.protocols.nested.intervals import bates_hastie_tibshirani


def coverage(n: int, p: int, n_folds: int, repeats: int, times: int, level: float = 0.9) -> dict[str, float]:
    """Shares of repetitions in which the intervals hold what they estimate, and their mean widths."""
    intervals: dict[str, list[tuple[float, float]]] = {"nb one draw": [], "nb": [], "bates": [], "independent": []}
    outer_risks, whole_risks = [], []
    for repetition in range(times):
        rng = np.random.default_rng([n, p, n_folds, repetition])
        X, y, truth = data(rng, n, p)
        draws = [rng.permutation(np.arange(n) % n_folds) for _ in range(repeats)]
        outer, inner, risks = zip(*(scheme(X, y, folds, truth) for folds in draws), strict=True)
        scores = np.array([[values.mean() for values in repeat] for repeat in outer])
        bates = bates_hastie_tibshirani(outer, inner).spread
        rows = np.concatenate(outer[0])
        independent = bates._replace(center=rows.mean(), standard_error=rows.std(ddof=1) / np.sqrt(n))
        spreads = {
            "nb one draw": nadeau_bengio(scores[0], 1 / (n_folds - 1)),
            "nb": nadeau_bengio(scores.ravel(), 1 / (n_folds - 1)),
            "bates": bates,
            "independent": independent,
        }
        for name, spread in spreads.items():
            intervals[name].append(tuple(interval_around(spread, MSE, level, "two-sided")))
        outer_risks.append(np.mean(risks))
        whole_risks.append(1 + np.sum((search(X, y, draws[0], np.full(n, True)) - truth) ** 2))
    found = {}
    for name, ends in intervals.items():
        target = np.mean(whole_risks if name == "bates" else outer_risks)
        low, high = np.array(ends).T
        found[name] = float(np.mean((low <= target) & (target <= high)))
        found[f"{name} width"] = float(np.mean(high - low))
    return found


def test_both_intervals_cover_where_independent_rows_do_not() -> None:
    """90 % intervals, 400 repetitions; papers/pages/nested.md has the figures.

    Seen: .915 of Nadeau and Bengio from one draw of the folds, .858 from eight (scores of several draws are no
    more independent, and its degrees of freedom take them so), .935 of Bates, Hastie and Tibshirani, .78 of rows
    taken as independent. With a coverage of .90 a share below .855 comes by chance in fewer than 1 of 600 runs of
    other seeds; these are fixed.
    """
    found = coverage(40, 15, 5, repeats=8, times=400)
    assert found["nb one draw"] >= 0.855 and found["bates"] >= 0.855
    assert 0.82 <= found["nb"] < found["nb one draw"]
    assert found["independent"] < min(found["nb"], found["bates"]) - 0.05
