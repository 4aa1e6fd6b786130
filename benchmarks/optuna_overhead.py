"""What a search with Optuna costs beside a hand-written loop: the same trials and folds, the estimate included.

    python benchmarks/optuna_overhead.py [--searches "small forests" ...] [--trials 60] [--rounds 5]

The loop asks the same sampler, seeded in the same way, scores with ``cross_val_score``, tells, and fits the best on
all rows. The two alternate, so that a machine that grows slower or faster hurts both; the figure is the median of
the ratios of neighbours, of the time of the processor, because both run in one process.
"""

import argparse
import statistics
import time
from typing import Any

import optuna
from optuna.distributions import FloatDistribution, IntDistribution
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from heldout._streams import numpy_seed
from heldout.search.optuna.search import HeldOutOptunaSearchCV

SEARCHES = {
    "logistic pipelines": (
        make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        {"logisticregression__C": FloatDistribution(1e-3, 1e2, log=True)},
    ),
    "small forests": (
        RandomForestClassifier(n_estimators=30, random_state=0),
        {
            "max_depth": IntDistribution(2, 10),
            "min_samples_leaf": IntDistribution(1, 16),
            "max_features": FloatDistribution(0.2, 0.8),
        },
    ),
}


def loop(estimator: Any, space: Any, n_trials: int, X: Any, y: Any) -> float:
    """The best score of the loop that users write."""
    study = optuna.create_study(direction="maximize")
    for number in range(n_trials):
        study.sampler._rng.rng.seed(numpy_seed(0, "trial", number))
        study.sampler._random_sampler._rng.rng.seed(numpy_seed(0, "trial", number))
        trial = study.ask(space)
        model = clone(estimator).set_params(**trial.params)
        study.tell(trial, cross_val_score(model, X, y, scoring="roc_auc", cv=5).mean())
    clone(estimator).set_params(**study.best_params).fit(X, y)
    return float(study.best_value)


def ours(estimator: Any, space: Any, n_trials: int, X: Any, y: Any) -> float:
    search = HeldOutOptunaSearchCV(
        estimator, space, n_trials=n_trials, scoring="roc_auc", cv=5, random_state=0, feedback="all"
    )
    return float(search.fit(X, y).best_score_)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--searches", nargs="+", default=list(SEARCHES), choices=SEARCHES)
    parser.add_argument("--trials", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    data = load_breast_cancer(return_X_y=True)
    for name in options.searches:
        times: dict[Any, list[float]] = {loop: [], ours: []}
        scores = {}
        for each_round in range(options.rounds + 1):
            for run in times:
                started = time.process_time()
                scores[run] = run(*SEARCHES[name], options.trials, *data)
                if each_round:  # the first loads the libraries
                    times[run].append(time.process_time() - started)
        assert abs(scores[loop] - scores[ours]) < 1e-12
        ratios = [mine / theirs for mine, theirs in zip(times[ours], times[loop], strict=True)]
        print(
            f"{name}: loop {statistics.median(times[loop]):.2f} s, HeldOutOptunaSearchCV "
            f"{statistics.median(times[ours]):.2f} s, ratio {statistics.median(ratios):.3f} (from "
            f"{min(ratios):.3f} to {max(ratios):.3f})",
            flush=True,
        )


if __name__ == "__main__":
    main()
