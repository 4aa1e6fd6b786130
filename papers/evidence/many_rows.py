"""Write many-rows.csv: intervals and optimism from the noise of a part of the rows, and of all rows.

``python papers/evidence/many_rows.py [TABLE.parquet]`` draws scores of five configurations of about the same skill
for 60 000, 200 000 and 1 000 000 rows, and estimates the best twice: with the noise of a part, and with that of all
rows. With a table of two classes (column ``target``) it adds the held-out predictions of a search, of which 5000
rows are the part. A cell that is in the file is not computed again.

The two estimates of a repetition are compared: the ratio of the widths of their intervals, and the difference of
their optimism as a share of half the width. Each mean is tested by Student's t at a level of 5 % divided by the
number of tests, so that the chance of any false alarm is at most 5 %.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import t as student
from sklearn.naive_bayes import GaussianNB

import heldout as ho

FILE = Path(__file__).with_name("many-rows.csv")
REPETITIONS = {60_000: 30, 200_000: 20, 1_000_000: 8}
METRICS = {"roc_auc": 0.5, "neg_log_loss": 0.5, "balanced_accuracy": 0.01}
"""And the share of the positive class."""
CONFIGURATIONS, BOOTSTRAPS = 5, 200
OF_TABLE, SEEDS = 5000, 30
ALARMS = 0.05


def scores(rng: np.random.Generator, n_rows: int, metric: str) -> tuple[Any, Any]:
    """A target, and the predictions of configurations that share half of the variance of their noise."""
    y = (rng.random(n_rows) < METRICS[metric]).astype(int)
    noise = np.float32(1.4) * rng.standard_normal((n_rows, CONFIGURATIONS + 1), dtype=np.float32)
    decisions = y[:, None] + noise[:, :1] + noise[:, 1:]
    if metric == "balanced_accuracy":
        return y, (decisions > 0.5).astype(int)
    return y, decisions if metric == "roc_auc" else expit((decisions.astype(float) - 0.5) / 4)


def differences(y: Any, predictions: Any, metric: str, seed: int, part: int) -> dict[str, float]:
    """The log of the ratio of widths, and the difference of optimism in half widths."""
    settings: dict[str, Any] = {"metric": metric, "n_bootstraps": BOOTSTRAPS, "random_state": seed}
    few, whole = (ho.estimate(y, predictions, n_rows_of_bootstrap=n, **settings) for n in (part, None))
    assert few.interval and whole.interval and ho.Flag.NOISE_OF_A_PART in few.flags
    widths = [one.interval.high - one.interval.low for one in (few, whole) if one.interval]
    return {
        "log_ratio": float(np.log(widths[0] / widths[1])),
        "optimism": 2 * (few.optimism - whole.optimism) / widths[1],
        "optimism_of_all": 2 * whole.optimism / widths[1],
    }


def of_simulation(n_rows: int, metric: str) -> Iterator[dict[str, float]]:
    for repetition in range(REPETITIONS[n_rows]):
        y, predictions = scores(np.random.default_rng([n_rows, repetition]), n_rows, metric)
        yield differences(y, predictions, metric, repetition, 50_000)


def of_table(path: Path, metric: str) -> Iterator[dict[str, float]]:
    table = pd.read_parquet(path)
    y, X = table.pop("target").to_numpy(), table.to_numpy(dtype=float)
    space = {"var_smoothing": np.logspace(-6, -1, CONFIGURATIONS)}
    search = ho.HeldOutSearchCV(GaussianNB(), space, scoring=metric, method=None, random_state=0).fit(X, y)
    (array,) = search.predictions_.responses.values()
    for seed in range(SEEDS):
        yield differences(y, array, metric, seed, OF_TABLE)


def summary(source: str, n_rows: int, metric: str, found: pd.DataFrame, n_tests: int) -> dict[str, Any]:
    """A line of the file: means, their standard errors, and whether a test gives an alarm."""
    mean, error = found.mean(), found.std(ddof=1) / np.sqrt(len(found))
    limit = student.ppf(1 - ALARMS / n_tests / 2, len(found) - 1)
    tested = ["log_ratio", "optimism"]
    return {
        "source": source,
        "rows": n_rows,
        "metric": metric,
        "repetitions": len(found),
        "ratio_of_widths": round(np.exp(mean["log_ratio"]), 4),
        "error_of_ratio": round(error["log_ratio"], 4),
        "optimism_of_all": round(mean["optimism_of_all"], 4),
        "difference_of_optimism": round(mean["optimism"], 4),
        "error_of_difference": round(error["optimism"], 4),
        "alarm": bool((np.abs(mean[tested] / error[tested]) > limit).any()),
    }


if __name__ == "__main__":
    lines = pd.read_csv(FILE).to_dict("records") if FILE.exists() else []
    cells: list[tuple[str, int, str, Any]] = [
        ("simulation", n, metric, of_simulation(n, metric)) for n in REPETITIONS for metric in METRICS
    ]
    for name in sys.argv[1:]:
        path = Path(name)
        cells.append(
            (path.stem, len(pd.read_parquet(path, columns=["target"])), "roc_auc", of_table(path, "roc_auc"))
        )
    n_tests = 2 * (len(REPETITIONS) * len(METRICS) + 1)
    for source, n_rows, metric, repetitions in cells:
        if (source, n_rows, metric) not in {(line["source"], line["rows"], line["metric"]) for line in lines}:
            lines.append(summary(source, n_rows, metric, pd.DataFrame(repetitions), n_tests))
            pd.DataFrame(lines).to_csv(FILE, index=False)
