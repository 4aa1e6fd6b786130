"""From --metric to a scorer: what no model could be scored by is refused before one is fitted."""

import numpy as np
import pytest

from heldout.cli.tune_job import scorer_of
from heldout.data.task import Truth, truth_of
from heldout.errors import InputError

BINARY = truth_of(["no", "yes"] * 10)
SEVERAL = truth_of(["a", "b", "c"] * 10)
NUMBERS = truth_of(np.arange(20) / 7 - 2)


@pytest.mark.parametrize(
    ("name", "truth", "said"),
    [
        ("explained_variance", BINARY, "does not fit a binary target"),
        ("accuracy", NUMBERS, "'accuracy' does not fit a regression target"),
        ("roc_auc", SEVERAL, r"does not fit a multiclass target \(3 classes\)"),
        ("jaccard", SEVERAL, "--metric jaccard does not fit the multiclass target .*average='binary'"),
        ("f1_samples", BINARY, "--metric f1_samples does not fit the binary target .*multilabel"),
        ("neg_mean_squared_log_error", NUMBERS, "does not fit the regression target .*less than or equal to -1"),
    ],
)
def test_a_metric_that_does_not_fit_is_refused_by_name(name: str, truth: Truth, said: str) -> None:
    with pytest.raises(InputError, match=said):
        scorer_of(name, truth)


@pytest.mark.parametrize(
    ("name", "truth"),
    [
        ("jaccard", BINARY),
        ("positive_likelihood_ratio", BINARY),  # of perfect labels it is undefined, and still a metric
        ("top_k_accuracy", SEVERAL),
        ("jaccard_macro", SEVERAL),
        ("explained_variance", NUMBERS),
    ],
)
def test_a_metric_without_a_kernel_is_taken_where_it_fits(name: str, truth: Truth) -> None:
    assert callable(scorer_of(name, truth))
