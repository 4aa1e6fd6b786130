"""The bias study: each protocol on matrices worked by hand and by plain loops, and what a study depends on."""

import sys
from math import comb, isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from heldout.dropping.loss_course import share_of_more_errors
from heldout.errors import InputError, StoreError
from heldout_papers import BiasSetting, BiasStudy, bias
from heldout_papers.bias.matrix import BiasMatrix, stratified
from heldout_papers.bias.predictions import RightOrWrong
from heldout_papers.bias.protocols import (
    PROTOCOLS,
    ProtocolEstimate,
    bbc,
    bced,
    cross_validation,
    nested,
    tibshirani,
)
from heldout_papers.bias.race import exact_shares, survivors

sys.path.insert(0, str(Path(__file__).parents[2] / "dropping"))
from race_on_matrix import race_on_matrix

SETTING = BiasSetting(60, 40, (9.0, 6.0), folds=10, n_bootstraps=50, protocols=tuple(PROTOCOLS))


def matrix(right: list[str], starts: list[int]) -> BiasMatrix:
    """A configuration a string, a character a row, folds apart: "11 01" was right, right; wrong, right."""
    mistakes = np.array([[letter == "0" for letter in text.replace(" ", "")] for text in right]).T
    truth = np.linspace(0.5, 0.9, len(right))
    setting = BiasSetting(len(mistakes), len(right), (9.0, 6.0), len(starts), 20, ("cv",))
    return BiasMatrix(RightOrWrong(mistakes), truth, np.array(starts), setting, seed=0)


def wrong(drawn: BiasMatrix) -> np.ndarray:
    """Of a matrix of right and wrong answers."""
    assert isinstance(drawn.predicted, RightOrWrong)
    return drawn.predicted.wrong


def test_four_rows_by_hand() -> None:
    # Right in each fold: 2 1, 0 2, 1 0, of 2 and 2.
    four = matrix(["11 10", "00 11", "10 00"], [0, 2])

    assert cross_validation(four) == ProtocolEstimate(3 / 4, 0)
    # Best of each fold: 1 and 1; the winner's: 1 and .5.
    assert tibshirani(four) == ProtocolEstimate(3 / 4 - (0 + 1 / 2) / 2, 0)
    # Chosen without the first fold: the second, right in none of its rows; without the second: the first, 1 of 2.
    assert nested(four) == ProtocolEstimate((0 + 1 / 2) / 2, 0)


def test_unequal_folds_by_hand() -> None:
    # Of 2 and 3 rows: 2 1, 1 2; both are right in 3 of 5, and the first of those that tie wins.
    five = matrix(["11 001", "01 110"], [0, 2])

    assert cross_validation(five) == ProtocolEstimate(3 / 5, 0)
    assert tibshirani(five) == ProtocolEstimate(pytest.approx((1 + 1 / 3) / 2 - (0 + 1 / 3) / 2), 0)
    assert nested(five) == ProtocolEstimate(pytest.approx((1 / 2 + 1 / 3) / 2), 0)


def test_tt_chooses_by_the_mean_of_folds_and_cv_by_all_rows() -> None:
    # All of the smaller fold, or nearly all of the larger.
    five = matrix(["11 000", "00 110", "00 111"], [0, 2])

    assert cross_validation(five) == ProtocolEstimate(3 / 5, 2)
    assert tibshirani(five) == ProtocolEstimate(0.0, 0)
    assert nested(five).winner == 2


def test_folds_are_as_equal_as_they_can_be() -> None:
    drawn = BiasMatrix.drawn(BiasSetting(23, 5, (9.0, 6.0), 10, 20, ("cv",)), 0, 0)

    assert set(np.diff(np.append(drawn.starts, 23)).tolist()) == {2, 3}


@pytest.mark.parametrize(("positive", "rows", "folds"), [(10, 20, 10), (13, 83, 10), (60, 67, 4), (4, 8, 4)])
def test_stratified_folds_hold_both_classes_as_evenly_as_they_go(positive: int, rows: int, folds: int) -> None:
    classes, starts = stratified(positive, rows, folds)
    parts = np.split(classes, starts[1:])
    ones = [int(part.sum()) for part in parts]
    zeros = [len(part) - int(part.sum()) for part in parts]

    assert (len(classes), int(classes.sum()), len(parts)) == (rows, positive, folds)
    assert 1 <= min(ones) and max(ones) - min(ones) <= 1
    assert 1 <= min(zeros) and max(zeros) - min(zeros) <= 1
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def bbc_by_loops(right: np.ndarray, counts: np.ndarray) -> float:
    """Algorithm 5, a bootstrap and a configuration at a time."""
    scores = []
    for count in counts.astype(int):
        in_bag = [sum(count[i] for i in range(len(count)) if right[i, j]) for j in range(right.shape[1])]
        chosen = in_bag.index(max(in_bag))
        outside = [bool(right[i, chosen]) for i in range(len(count)) if count[i] == 0]
        scores.append(sum(outside) / len(outside))
    return float(np.mean(scores))


@pytest.mark.parametrize("rows", [20, 23, 60])
def test_bbc_is_its_plain_loop(rows: int) -> None:
    for repetition in range(3):
        drawn = BiasMatrix.drawn(BiasSetting(rows, 12, (9.0, 6.0), 10, 50, ("bbc",)), 5, repetition)

        counts = drawn.counts

        assert (counts.sum(axis=1) == rows).all()
        assert (counts == 0).any(axis=1).all()
        assert bbc(drawn).estimate == pytest.approx(bbc_by_loops(~wrong(drawn), counts), abs=1e-12)
        assert bbc(drawn).winner == cross_validation(drawn).winner


def share_worse(n: int, worse: int, better: int) -> float:
    """The share of all bootstraps of n rows with more of the ``worse`` rows drawn than of the ``better``."""
    total = 0
    for w in range(n + 1):
        for b in range(min(w, n - w + 1)):
            ways = comb(n, w) * comb(n - w, b)
            total += ways * worse**w * better**b * (n - worse - better) ** (n - w - b)
    return total / n**n


def raced(drawn: BiasMatrix) -> tuple[list[int], float]:
    """Who survives by exact shares of all bootstraps, and how near any share came to the threshold."""
    alive, nearest = list(range(wrong(drawn).shape[1])), 1.0
    for end in drawn.starts[1:]:
        seen = wrong(drawn)[:end]
        leader = min(alive, key=lambda j: (int(seen[:, j].sum()), j))
        shares = {
            j: share_worse(
                len(seen), int((seen[:, j] & ~seen[:, leader]).sum()), int((~seen[:, j] & seen[:, leader]).sum())
            )
            for j in alive
        }
        nearest = min(nearest, *(abs(share - 0.99) for share in shares.values()))
        alive = [j for j in alive if shares[j] <= 0.99]
    return alive, nearest


@pytest.mark.parametrize(("rows", "folds"), [(60, 6), (20, 10), (23, 4)])
def test_bced_is_a_race_by_exact_shares_and_bbc_of_the_survivors(rows: int, folds: int) -> None:
    for repetition in range(6):
        drawn = BiasMatrix.drawn(BiasSetting(rows, 40, (9.0, 6.0), folds, 50, ("bced",)), 3, repetition)
        alive, nearest = raced(drawn)
        right = ~wrong(drawn)[:, alive]

        found = bced(drawn)

        assert nearest > 1e-9  # no share so near the threshold that rounding would decide
        assert 0 < len(alive) < 40
        assert found.winner == alive[int(right.sum(axis=0).argmax())]
        assert found.estimate == pytest.approx(bbc_by_loops(right, drawn.counts), abs=1e-12)


@pytest.mark.parametrize(("rows", "folds"), [(1000, 10), (180, 3)])
def test_with_more_rows_the_race_is_that_of_the_library(rows: int, folds: int) -> None:
    """Which has the same shares from 50 rows on, found another way."""
    drawn = BiasMatrix.drawn(BiasSetting(rows, 60, (9.0, 6.0), folds, 50, ("bced",)), 4, 0)
    fold_of_row = np.searchsorted(drawn.starts, np.arange(rows), side="right") - 1
    met = race_on_matrix(wrong(drawn), fold_of_row, threshold=0.99, min_predictions=1)

    assert survivors(wrong(drawn), drawn.starts, 0.99).tolist() == np.flatnonzero(met == folds).tolist()


@pytest.mark.parametrize("n", [1, 2, 7, 50])
def test_exact_shares_are_sums_of_whole_numbers(n: int) -> None:
    shares = exact_shares(n)

    for more, fewer in [(0, 0), (1, 0), (0, 1), (n, 0), (n // 2, n // 3), (n - n // 5, n // 5)]:
        assert shares[more, fewer] == pytest.approx(share_worse(n, more, fewer), abs=1e-12)
    assert np.isnan(shares[n, n])


def test_the_expansion_is_near_the_exact_shares_where_it_takes_over() -> None:
    near = [
        (more, fewer)
        for more in range(51)
        for fewer in range(51 - more)
        if 0.98 < exact_shares(50)[more, fewer] < 0.997
    ]
    more, fewer = np.array(near).T
    expansion = share_of_more_errors(np.array(50.0), more.astype(float), fewer.astype(float))

    assert len(near) > 20
    assert abs(expansion - exact_shares(50)[more, fewer]).max() < 3e-3


def test_predictions_are_right_with_their_true_probability() -> None:
    """Of 400 x 3000 predictions; six standard errors: a false alarm in less than 1 of 10^8."""
    drawn = BiasMatrix.drawn(BiasSetting(400, 3000, (9.0, 6.0), 10, 20, ("cv",)), 1, 0)
    right = (~wrong(drawn)).mean(axis=0)
    spread = np.sqrt((drawn.truth * (1 - drawn.truth)).sum() / 400) / 3000

    assert abs(right.mean() - drawn.truth.mean()) < 6 * spread
    assert abs(drawn.truth.mean() - 0.6) < 6 * np.sqrt(0.015 / 3000)
    # Rows are independent given the truth: a shared threshold would make every row's mean vary far more.
    assert (~wrong(drawn)).mean(axis=1).std() < 1.5 * 0.5 / np.sqrt(3000)


def small(**changed: Any) -> BiasStudy:
    asked: dict[str, Any] = {
        "rows": [20, 40], "configurations": 50, "beta": [(9, 6)], "repetitions": 30, "n_bootstraps": 50,
        "random_state": 3,
    }  # fmt: skip
    return bias(**(asked | changed))


def test_a_study_is_the_same_for_any_number_of_processes() -> None:
    assert small(n_jobs=2).to_frame(each=True).equals(small(n_jobs=1).to_frame(each=True))


def test_a_longer_study_begins_with_the_shorter() -> None:
    longer, shorter = small(), small(repetitions=7)

    for long, short in zip(longer.columns, shorter.columns, strict=True):
        assert all((long[name][:7] == short[name]).all() for name in short)


def test_protocols_and_other_settings_do_not_move_each_other() -> None:
    everything = small()
    one = small(rows=40, protocols="bbc")

    assert list(one.columns[0]) == ["bbc.estimate", "bbc.truth"]
    assert all((one.columns[0][name] == everything.columns[1][name]).all() for name in one.columns[0])


def test_another_seed_gives_other_matrices() -> None:
    assert (small().columns[0]["cv.estimate"] != small(random_state=4).columns[0]["cv.estimate"]).any()


def test_a_row_a_setting_and_protocol() -> None:
    found = small(beta=[(9, 6), (54, 6)], protocols=["cv", "tt"])
    rows, columns = found.rows(), found.columns[0]
    error = columns["cv.estimate"] - columns["cv.truth"]

    assert [(row["rows"], row["beta"], row["protocol"]) for row in rows] == [
        (20, "9,6", "cv"), (20, "9,6", "tt"), (40, "9,6", "cv"), (40, "9,6", "tt"),
        (20, "54,6", "cv"), (20, "54,6", "tt"), (40, "54,6", "cv"), (40, "54,6", "tt"),
    ]  # fmt: skip
    assert rows[0]["bias"] == pytest.approx(error.mean())
    assert rows[0]["standard_error"] == pytest.approx(error.std(ddof=1) / np.sqrt(30))
    assert rows[0]["estimate"] - rows[0]["truth"] == pytest.approx(rows[0]["bias"])
    assert len(found.to_frame(each=True)) == 8 * 30


def test_one_repetition_has_no_standard_error() -> None:
    assert isnan(small(repetitions=1).rows()[0]["standard_error"])


def test_an_interrupted_study_goes_on_to_the_same_numbers(tmp_path: Path) -> None:
    heard: list[int] = []

    def told(done: int, total: int, seconds: float) -> None:
        heard.append(done)
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        small(folder=tmp_path, told=told)
    kept = len(list(tmp_path.iterdir()))
    found = small(folder=tmp_path, told=lambda done, total, seconds: heard.append(done))
    other = small(folder=tmp_path, beta=[(14, 6)])

    assert kept == 2
    assert heard == [1, 2, 3, 4]
    assert found.rows() == small().rows()
    assert other.rows() == small(beta=[(14, 6)]).rows()


def test_a_damaged_file_of_a_study_is_one_sentence(tmp_path: Path) -> None:
    small(folder=tmp_path)
    victim = sorted(tmp_path.iterdir())[0]
    victim.write_bytes(victim.read_bytes()[:40])

    with pytest.raises(StoreError, match=r"cannot be read \(.*\); remove it, and the batch is repeated\.$"):
        small(folder=tmp_path)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"rows": 5}, "folds must be at most the number of rows, got `folds=10` and `rows=5`."),
        ({"rows": []}, "rows must be whole numbers from 2 on, got []."),
        ({"configurations": 1}, "configurations must be a whole number from 2 on, got 1."),
        ({"folds": 1}, "folds must be a whole number from 2 on, got 1."),
        ({"repetitions": 0}, "repetitions must be a whole number from 1 on, got 0."),
        ({"n_bootstraps": 0}, "n_bootstraps must be a whole number from 1 on, got 0."),
        (
            {"protocols": ["cv", "ncv"]},
            "protocols must be some of cv, tt, nested_cv, bbc, bced, got ['cv', 'ncv'].",
        ),
        ({"protocols": []}, "protocols must be some of cv, tt, nested_cv, bbc, bced, got []."),
        ({"beta": (9, 0)}, "beta must be pairs of numbers above 0, such as 9 and 6, got (9, 0)."),
        ({"beta": [9, 6, 3]}, "beta must be pairs of numbers above 0, such as 9 and 6, got [9, 6, 3]."),
        (
            {"metric": "auc"},
            "metric must be one of accuracy, roc_auc, mean_squared_error, got 'auc'.",
        ),
        (
            {"prevalence": 0.2},
            "`prevalence=0.2` is for `metric='roc_auc'`, whose rows have classes; leave it out.",
        ),
        (
            {"metric": "roc_auc", "prevalence": 1},
            "prevalence must be a number between 0 and 1, got 1.",
        ),
        (
            {"metric": "roc_auc", "prevalence": 0.2},
            "every fold must hold both classes, and of `rows=20` with `prevalence=0.2` only 4 are of the rarer "
            "one, fewer than `folds=10`; ask for more rows, or for fewer folds.",
        ),
        ({"beta": "wide"}, "beta must be pairs of numbers above 0, such as 9 and 6, got 'wide'."),
    ],
    ids=lambda value: "" if isinstance(value, str) else "-".join(value),
)
def test_what_cannot_be_studied_is_refused(asked: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError) as refused:
        small(**asked)

    assert str(refused.value) == sentence
