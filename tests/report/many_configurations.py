"""The content of a report on two thousand configurations, without a single fit."""

import numpy as np

from heldout.report.entries import Facts
from heldout.report.ranking import parts_in_name, rank_configurations


def with_many_configurations(content: Facts, number: int = 2000, splits: int = 10) -> Facts:
    """The same content with a ranking of so many random configurations of five families."""
    rng = np.random.default_rng(0)
    families = ("logistic regression", "nearest neighbours", "random forest", "gradient boosting", "kernel svm")
    names = [
        f"{families[j % 5]} (learning_rate={10 ** rng.uniform(-4, 0):.4g}, max_depth={rng.integers(1, 20)}, "
        f"max_features={rng.choice(['sqrt', 'log2', 'all'])}, C={10 ** rng.uniform(-3, 3):.4g})"
        for j in range(number)
    ]
    scores = rng.normal(0.8, 0.05, number) + rng.normal(0, 0.02, (splits, number))
    share = rng.dirichlet(np.full(number, 0.05))
    ranking = rank_configurations(
        names, content.headline.metric, fold_scores=scores, pooled=scores.mean(axis=0) - 0.003, selected=share,
        winner=int(scores.mean(axis=0).argmax()), failures={}, by_mean=True,
        parts=[parts_in_name(name) for name in names], train=scores.mean(axis=0) + 0.05,
    )  # fmt: skip
    return Facts(content, ranking=ranking)
