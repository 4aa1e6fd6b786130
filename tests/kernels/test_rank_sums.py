from types import ModuleType

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from heldout.kernels import reference

Y = np.array([0, 0, 1, 1], dtype=bool)


def doubled_pairs(scores: np.ndarray, y: np.ndarray, weights: np.ndarray) -> int:
    """2U, pair by pair, in Python's integers."""
    total = 0
    for i in np.flatnonzero(y):
        for j in np.flatnonzero(~y):
            won = 2 * int(scores[i] > scores[j]) + int(scores[i] == scores[j])
            total += int(weights[i]) * int(weights[j]) * won
    return total


def test_by_hand(kernels: ModuleType) -> None:
    scores = np.array([[0.1, 5.0], [0.4, 5.0], [0.4, 5.0], [0.8, 5.0]])
    counts = np.array([[1, 1, 1, 1], [2, 0, 1, 1], [0, 3, 2, 0]], dtype=np.uint8)
    # Row 2 ties with row 1: pairs (2,0) won, (2,1) tied, (3,0) and (3,1) won.
    sums = kernels.RankSums(scores, Y, ~Y).all(counts)
    assert sums.dtype == np.int64
    assert sums.tolist() == [[7, 4], [8, 4], [6, 6]]
    assert kernels.RankSums(scores, Y, ~Y).selected(counts, np.array([0, 1, 0])).tolist() == [7, 4, 6]


@pytest.mark.parametrize(("decimals", "dtype"), [(0, np.uint8), (1, np.uint8), (12, np.uint8), (1, np.float64)])
def test_equals_scikit_learn(kernels: ModuleType, decimals: int, dtype: type) -> None:
    rng = np.random.default_rng(decimals)
    y = rng.random(60) < 0.3
    scores = np.round(rng.normal(size=(60, 2)) + y[:, None], decimals)
    weights = rng.integers(0, 4, size=(12, 60)).astype(dtype)
    weights = weights * rng.random(60) if dtype is np.float64 else weights
    sums = kernels.RankSums(scores, y, ~y).all(weights)
    assert sums.dtype == (np.float64 if dtype is np.float64 else np.int64)
    pairs = 2 * weights[:, y].sum(axis=1, dtype=float) * weights[:, ~y].sum(axis=1, dtype=float)
    expected = [[roc_auc_score(y, column, sample_weight=w) for column in scores.T] for w in weights]
    np.testing.assert_allclose(sums / pairs[:, None], expected, rtol=0, atol=1e-12)


def test_scores_that_differ_in_the_last_bit_are_not_tied(kernels: ModuleType) -> None:
    # In float32 they would be: an area of 1 would become one half.
    scores = np.array([[0.3], [0.3], [np.nextafter(0.3, 1)], [np.nextafter(0.3, 1)]])
    ones = np.ones((1, 4), dtype=np.uint8)
    assert kernels.RankSums(scores, Y, ~Y).all(ones).tolist() == [[8]]


def test_both_zeros_are_one_score(kernels: ModuleType) -> None:
    scores = np.array([[0.0], [-0.0], [-0.0], [0.0]])
    assert kernels.RankSums(scores, Y, ~Y).all(np.ones((1, 4), dtype=np.uint8)).tolist() == [[4]]


def test_one_class_alone_has_no_pairs(kernels: ModuleType) -> None:
    scores, counts = np.arange(8.0).reshape(4, 2), np.ones((3, 4), dtype=np.uint8)
    everyone, nobody = np.ones(4, dtype=bool), np.zeros(4, dtype=bool)
    for positive, negative in ((everyone, nobody), (nobody, everyone), (nobody, nobody)):
        assert not kernels.RankSums(scores, positive, negative).all(counts).any()


def test_rows_of_neither_class_are_left_out(kernels: ModuleType) -> None:
    rng = np.random.default_rng(0)
    code = rng.integers(0, 3, size=40)
    scores, counts = rng.normal(size=(40, 4)), rng.integers(0, 5, size=(9, 40), dtype=np.uint8)
    within = code != 1
    expected = kernels.RankSums(scores[within], code[within] == 2, code[within] == 0).all(counts[:, within])
    np.testing.assert_array_equal(kernels.RankSums(scores, code == 2, code == 0).all(counts), expected)


# Each makes another choice of integer widths in the compiled walk.
@pytest.mark.parametrize(
    ("n", "largest"),
    [
        pytest.param(30, 31, id="bytes"),
        pytest.param(30, 32, id="four doubled counts pass a byte"),
        pytest.param(300, 255, id="the largest counts"),
        pytest.param(1100, 31, id="a total above 16 bits"),
    ],
)
def test_counts_of_any_size_are_summed_exactly(kernels: ModuleType, n: int, largest: int) -> None:
    rng = np.random.default_rng(n + largest)
    y = rng.random(n) < 0.5
    scores = np.round(rng.normal(size=(n, 1)), 1)
    counts = np.full((2, n), largest, dtype=np.uint8)
    counts[1] = rng.integers(0, largest + 1, size=n)
    sums = kernels.RankSums(scores, y, ~y).all(counts)
    assert sums[:, 0].tolist() == [doubled_pairs(scores[:, 0], y, w) for w in counts]


@pytest.mark.parametrize(
    "column",
    [
        pytest.param(lambda rng, n: np.exp(rng.normal(scale=40, size=n)), id="heavy tail"),
        pytest.param(lambda rng, n: np.append(rng.random(n - 1), 1e300), id="an outlier"),
        pytest.param(lambda rng, n: np.append(rng.random(n - 2), [np.inf, -np.inf]), id="infinite"),
        pytest.param(lambda rng, n: rng.choice([-1e308, 1e308, 0.5, -0.0, 0.0], size=n), id="the widest range"),
        pytest.param(lambda rng, n: rng.integers(0, 9, size=n) * 5e-324, id="subnormal"),
        pytest.param(lambda rng, n: 1.0 - rng.random(n) * 1e-14, id="near one"),
        pytest.param(lambda rng, n: np.arange(float(n))[::-1], id="descending"),
    ],
)
@pytest.mark.parametrize("n", [40, 4500])
def test_any_spread_of_scores_is_ranked(kernels: ModuleType, column, n: int) -> None:
    rng = np.random.default_rng(n)
    y = rng.random(n) < 0.4
    scores = column(rng, n)[:, None]
    _, ranks = np.unique(scores[:, 0], return_inverse=True)
    ones = np.ones((1, n), dtype=np.uint8)
    below = np.sort(ranks[~y])
    expected = sum(
        int(np.searchsorted(below, ranks[y], side).sum()) for side in ("left", "right")
    )  # ties count half
    assert kernels.RankSums(scores, y, ~y).all(ones).tolist() == [[expected]]


def test_what_cannot_be_ranked_is_refused(kernels: ModuleType) -> None:
    scores, ones = np.arange(4.0)[:, None], np.ones((1, 4), dtype=np.uint8)
    holed = scores.copy()
    holed[2] = np.nan
    with pytest.raises(ValueError, match="accept NaN"):
        kernels.RankSums(holed, Y, ~Y)
    with pytest.raises(ValueError, match="both positive and negative"):
        kernels.RankSums(scores, Y, Y)
    sums = kernels.RankSums(scores, Y, ~Y)
    with pytest.raises(ValueError, match=r"shape \(L, 4\)"):
        sums.all(ones[:, :3])
    with pytest.raises(TypeError, match="int64"):
        sums.all(ones.astype(np.int64))
    for bad in (np.nan, np.inf, -1.0):
        with pytest.raises(ValueError, match="finite and not negative"):
            sums.all(np.full((1, 4), bad))
    for column in (-1, 1):
        with pytest.raises(IndexError, match="from 0 to 0"):
            sums.selected(ones, np.array([column]))
    with pytest.raises(ValueError, match="one per weighting"):
        sums.selected(ones, np.array([0, 0]))


@pytest.mark.parametrize("weighting", ["counts", "weights"])
def test_programs_that_are_not_kept_give_the_same_sums(
    kernels: ModuleType, weighting: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(5)
    y, scores = rng.random(50) < 0.4, np.round(rng.normal(size=(50, 6)), 1)
    counts = rng.integers(0, 4, size=(150, 50), dtype=np.uint8)
    weightings = counts if weighting == "counts" else counts * rng.random(50)
    columns = rng.integers(0, 6, size=150)
    kept = kernels.RankSums(scores, y, ~y)
    for most_steps in (0, 20):  # none, and those of the first column or two
        if kernels is not reference:  # NumPy has no programs
            monkeypatch.setattr("heldout.kernels.compiled.MOST_STEPS", most_steps)
        again = kernels.RankSums(scores, y, ~y)
        np.testing.assert_array_equal(again.all(weightings), kept.all(weightings))
        np.testing.assert_array_equal(again.selected(weightings, columns), kept.selected(weightings, columns))


@pytest.mark.parametrize("weighting", ["counts", "weights"])
def test_pairs_within_folds_are_those_of_each_fold(kernels: ModuleType, weighting: str) -> None:
    rng = np.random.default_rng(3)
    scores, code = np.round(rng.normal(size=(60, 4)), 1), rng.integers(0, 3, size=60)
    folds = rng.integers(0, 7, size=60) * 2  # codes without a row are no harm
    counts = rng.integers(0, 5, size=(20, 60), dtype=np.uint8)
    weights = counts if weighting == "counts" else counts * rng.random(60)
    expected = 0
    for fold in np.unique(folds):
        rows = np.flatnonzero(folds == fold)
        mine = kernels.RankSums(scores[rows], code[rows] == 1, code[rows] == 0)
        expected = expected + mine.all(np.ascontiguousarray(weights[:, rows]))
    sums = kernels.RankSums(scores, code == 1, code == 0, folds)
    np.testing.assert_allclose(sums.all(weights), expected, rtol=0 if weighting == "counts" else 1e-12)
    with pytest.raises(ValueError, match="folds must have shape"):
        kernels.RankSums(scores, code == 1, code == 0, folds[1:])
    with pytest.raises(ValueError, match="at least 0"):
        kernels.RankSums(scores, code == 1, code == 0, folds - 1)
