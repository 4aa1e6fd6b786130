"""What dropping does to the estimate, where the truth is known (Tsamardinos et al. 2018, sections 5 and 6.1).

C configurations have true accuracies P_j ~ Beta(a, b); predictions are right with probability P_j, independently.
Ten folds are met one after another, and the bootstrap rule drops from ``min_predictions`` rows on. The bias of a
protocol is its estimate less the true accuracy of its winner:

    bbc         nobody is dropped;
    after       bbc on those who survived;
    replayed    ... with the dropping repeated in every bootstrap, as it can be after a search: those who left are
                forced out where they left;
    complete    ... on a complete matrix, so that nothing is forced.

    python tests/slow/statistical/dropping_bias_simulation.py        prints the table of papers/pages/dropping.md
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np

import heldout as ho
from heldout.dropping.replay import DroppingHistory
from heldout.estimates.dropping_replay import with_dropping_replayed
from heldout.estimates.inputs import read_inputs
from heldout.estimates.methods import answer, method_of
from heldout.metrics.base import Response
from heldout.predictions import HeldOutPredictions

sys.path.insert(0, str(Path(__file__).parents[2] / "dropping"))
from race_on_matrix import race_on_matrix

PROTOCOLS = ("bbc", "after", "replayed", "complete")
FOLDS = 10


def predictions_of(labels: np.ndarray, folds: np.ndarray, met: np.ndarray | None = None) -> HeldOutPredictions:
    """Labels (N, C), of those who were dropped only until then."""
    names = tuple(f"c{j}" for j in range(labels.shape[1]))
    if met is not None:
        labels = np.where(folds[:, None] < met, labels, -1)
    gone = {} if met is None else {int(j): "it was behind" for j in np.flatnonzero(met < FOLDS)}
    return HeldOutPredictions(
        {Response.LABELS: labels[:, :, None].astype(np.int32)}, names, folds[:, None].astype(np.int32),
        np.array([0, 1]), 1, dropped=gone,
    )  # fmt: skip


def estimates_of(
    y: np.ndarray, labels: np.ndarray, folds: np.ndarray, *, min_predictions: int, n_bootstraps: int, seed: int
) -> tuple[dict[str, Any], np.ndarray]:
    """The four estimates, and how many folds each configuration met."""
    met = race_on_matrix(labels != y[:, None], folds, min_predictions=min_predictions)
    rule = ho.dropping.Bootstrap(min_predictions=min_predictions, replay=True)
    order = tuple((0, fold) for fold in range(FOLDS))
    left = {int(j): int(met[j]) for j in np.flatnonzero(met < FOLDS)}
    bbc, found = method_of("bbc"), {}
    settings: dict[str, Any] = {"metric": "accuracy", "random_state": seed, "n_bootstraps": n_bootstraps}
    for name, held in (("bbc", predictions_of(labels, folds)), ("after", predictions_of(labels, folds, met))):
        asked = read_inputs(y, held, **settings)
        evidence = asked.evidence(bbc)
        found[name] = answer(bbc, evidence)
        history = DroppingHistory(rule, order, {} if name == "bbc" else left)
        raced = with_dropping_replayed(evidence, asked.truth, held, asked.question, history)
        found["complete" if name == "bbc" else "replayed"] = answer(bbc, raced)
    return found, met


def biases(
    rows: int,
    configurations: int,
    repetitions: int,
    *,
    beta: tuple[int, int] = (9, 6),
    min_predictions: int = 1,
    n_bootstraps: int = 200,
) -> dict[str, np.ndarray]:
    """Estimate less truth of each protocol, (repetitions,) each; and the share of fits saved, as "saved"."""
    rng = np.random.default_rng([rows, configurations, *beta])
    folds = np.arange(rows) % FOLDS
    y = np.arange(rows) // FOLDS % 2
    values: dict[str, list[float]] = {name: [] for name in (*PROTOCOLS, "saved")}
    for seed in range(repetitions):
        truth = rng.beta(*beta, configurations)
        right = rng.random((rows, configurations)) < truth
        labels = np.where(right, y[:, None], 1 - y[:, None])
        found, met = estimates_of(
            y, labels, folds, min_predictions=min_predictions, n_bootstraps=n_bootstraps, seed=seed
        )
        winner_of = {**dict.fromkeys(PROTOCOLS, found["after"].selected), "bbc": found["bbc"].selected}
        for name in PROTOCOLS:
            values[name].append(found[name].value - truth[winner_of[name]])
        values["saved"].append(1 - float(met.mean()) / FOLDS)
    return {name: np.array(each) for name, each in values.items()}


def main(repetitions: int = 300) -> None:
    """Print a row a setting."""
    print("| N | C | drops from | fits saved | bbc | after | replayed | complete |")
    print("|---|---|---|---|---|---|---|---|")
    for rows, min_predictions in ((60, 1), (100, 1), (100, 50), (500, 50)):
        for configurations in (100, 500):
            found = biases(rows, configurations, repetitions, min_predictions=min_predictions)
            cells = [f"{found['saved'].mean():.0%}"]
            for name in PROTOCOLS:
                error = found[name].std(ddof=1) / np.sqrt(repetitions)
                cells.append(f"{found[name].mean():+.4f} ± {error:.4f}")
            print(f"| {rows} | {configurations} | {min_predictions} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
