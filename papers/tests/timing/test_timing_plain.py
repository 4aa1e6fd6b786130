"""The plain code that is timed: it says what the library says, bootstrap by bootstrap."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import heldout as ho
from heldout._streams import stream
from heldout.selection.bootstrap_draws import Draws, always
from heldout_papers.timing.plain import auc, bbc_bound, bbc_f_bound, fold_scores, of_bootstrap, of_fold_bootstrap

RNG = np.random.default_rng(5)
Y = np.arange(40) % 2
SCORES = np.round(RNG.normal(size=(40, 6)) + 0.8 * Y[:, None], 1)  # rounded, so that some tie
FOLDS = np.arange(40) // 2 % 5
SEED = 11


def draws(n: int, domain: str, *place: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """The rows (or folds) that the library draws, and those that it leaves out."""
    drawing = Draws(stream(SEED, domain, *place), 50, np.arange(n), always, lambda counts: counts.any(axis=1))
    counts, _ = drawing.block(0, 50)
    return [(np.repeat(np.arange(n), each), np.flatnonzero(each == 0)) for each in counts]


def test_an_auc_is_scikit_learns() -> None:
    for j in range(SCORES.shape[1]):
        assert auc(Y, SCORES[:, j]) == pytest.approx(roc_auc_score(Y, SCORES[:, j]), abs=1e-12)


def test_a_bootstrap_of_rows_gives_the_librarys_number() -> None:
    asked = {"metric": "roc_auc", "method": "bbc", "response": "decision"}
    found = ho.estimate(Y, SCORES, n_bootstraps=50, random_state=SEED, **asked)
    plainly = [of_bootstrap(Y, SCORES, drawn, left_out) for drawn, left_out in draws(40, "draws")]

    assert np.allclose(found.distribution, plainly, atol=1e-12)


def test_a_bootstrap_of_folds_gives_the_librarys_number() -> None:
    found = ho.estimate(
        Y, SCORES, metric="roc_auc", method="bbc_f", folds=FOLDS, n_bootstraps=50, response="decision",
        random_state=SEED,
    )  # fmt: skip
    by_fold = fold_scores(Y, SCORES, FOLDS)
    plainly = [of_fold_bootstrap(by_fold, drawn, left_out) for drawn, left_out in draws(5, "fold draws", 0)]

    assert np.allclose(found.distribution, plainly, atol=1e-12)


def test_bounds_are_order_statistics_of_the_bootstraps() -> None:
    """With one configuration that is always right every bootstrap gives 1; with one always wrong, 0."""
    rng = np.random.default_rng(0)
    right = Y[:, None].astype(float)

    assert bbc_bound(Y, right, 20, 0.95, rng) == 1.0
    assert bbc_f_bound(Y, -right, FOLDS, 20, 0.95, rng) == 0.0


def test_the_bounds_agree_with_the_librarys_up_to_the_draws() -> None:
    """Of 2000 bootstraps the lower 5 % has a standard error of about .005 here: four of them are allowed."""
    rng = np.random.default_rng(1)
    for method, plainly in (
        ("bbc", bbc_bound(Y, SCORES, 2000, 0.95, rng)),
        ("bbc_f", bbc_f_bound(Y, SCORES, FOLDS, 2000, 0.95, rng)),
    ):
        found = ho.estimate(
            Y, SCORES, metric="roc_auc", method=method, folds=FOLDS if method == "bbc_f" else None,
            n_bootstraps=2000, alternative="greater", response="decision", random_state=SEED,
        )  # fmt: skip
        assert found.interval is not None
        assert plainly == pytest.approx(found.interval.low, abs=0.02), method
