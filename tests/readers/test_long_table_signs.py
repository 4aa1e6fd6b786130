"""Signs of a long table are found where it is one, and nowhere else."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from heldout.errors import InputError
from heldout.readers.columns import columns_of_classes, texts_of_classes
from heldout.readers.formats.plain import check_no_setting, check_uses
from heldout.readers.prediction_columns import check_no_probabilities_of_classes

RNG = np.random.default_rng(0)
N = 40
Y = RNG.integers(0, 2, N)


def copied(k: int, order: str) -> tuple[pd.DataFrame, pd.Series]:
    """Lines of N rows for each of k penalties."""
    frame = pd.DataFrame({"penalty": np.repeat(np.arange(k) / 10, N), "p": RNG.random(k * N), "y": np.tile(Y, k)})
    if order == "by row":
        frame = frame.assign(row=np.tile(np.arange(N), k)).sort_values("row", kind="stable").reset_index(drop=True)
    return frame[["penalty", "p"]], frame["y"]


@pytest.mark.parametrize("order", ["by configuration", "by row"])
def test_a_setting_divides_the_lines_into_copies(order: str) -> None:
    predictions, target = copied(3, order)

    with pytest.raises(InputError, match="the same rows once for each of the 3 values of column 'penalty'"):
        check_no_setting(predictions, target)
    check_no_setting(predictions[["p"]], target)


def test_numbers_tell_the_copies_in_any_order() -> None:
    y = pd.Series(np.tile(RNG.normal(size=N), 3))
    order = RNG.permutation(len(y))
    frame = pd.DataFrame({"k": np.repeat([1, 2, 3], N)}).iloc[order].reset_index(drop=True)

    with pytest.raises(InputError, match="of column 'k'"):
        check_no_setting(frame, y.iloc[order].reset_index(drop=True))


@pytest.mark.parametrize(
    "column",
    [Y, 1 - Y, np.zeros(N), RNG.integers(0, 2, N), np.where(RNG.random(N) < 0.5, 0.3, 0.7), np.full(N, np.nan)],
    ids=["right", "wrong", "constant", "labels", "two scores", "missing"],
)
def test_predictions_of_few_values_are_no_settings(column: Any) -> None:
    check_no_setting(pd.DataFrame({"m": column}), pd.Series(Y))


def test_sorted_rows_that_alternate_between_two_scores_are_predictions() -> None:
    target = pd.Series(np.repeat([0, 1], N // 2))

    check_no_setting(pd.DataFrame({"m": np.tile([0.2, 0.8], N // 2)}), target)


def shares(k: int) -> pd.DataFrame:
    return pd.DataFrame(RNG.dirichlet(np.ones(k), N), columns=[f"m{j}" for j in range(k)])


@pytest.mark.parametrize(
    ("predictions", "classes"),
    [
        (shares(2), ["a", "b"]),
        (shares(3), ["a", "b", "c"]),
        (shares(2).round(2), ["a", "b"]),
        (pd.concat([shares(2)["m0"].rename("first"), shares(2)], axis=1), ["a", "b"]),
        (shares(2).set_axis([".pred_a", ".pred_b"], axis=1).assign(x=0.5)[[".pred_a", "x", ".pred_b"]], ["a", "b"]),
    ],
    ids=["two", "three", "rounded", "beside another", "by name"],
)
def test_columns_that_sum_to_one_are_classes(predictions: pd.DataFrame, classes: list[str]) -> None:
    with pytest.raises(InputError, match=r"sum to 1 in every row, as the probabilities of the target's classes"):
        check_no_probabilities_of_classes(predictions, classes)


@pytest.mark.parametrize(
    ("predictions", "classes"),
    [
        (pd.DataFrame(RNG.random((N, 4)), columns=list("abcd")), ["a", "b"]),
        (pd.DataFrame({"never": np.zeros(N), "always": np.ones(N)}), ["a", "b"]),
        (pd.DataFrame({"m": 1.0 * Y, "n": 1.0 - Y}), ["a", "b"]),
        (pd.DataFrame({"m": RNG.normal(size=N)}).assign(n=lambda it: 1 - it["m"]), ["a", "b"]),
        (shares(3), ["a", "b"]),
        (shares(2).assign(m0=lambda it: it["m0"].where(it.index > 0, 0.5)), ["a", "b"]),
    ],
    ids=["scores", "constants", "labels", "no probabilities", "other number", "but for a row"],
)
def test_columns_that_do_not_are_configurations(predictions: pd.DataFrame, classes: list[str]) -> None:
    check_no_probabilities_of_classes(predictions, classes)


def test_columns_that_identify_lines_cannot_be_excluded() -> None:
    frame = pd.DataFrame(
        {".config": ["a", "b"], ".row": [1, 1], "penalty": [0.1, 0.2], "rep": [1, 2], "row": [3, 4]}
    )

    with pytest.raises(InputError, match=r"'\.config' distinguishes 2 configurations, .* --configuration \.config"):
        check_uses(frame, [".config"], None)
    with pytest.raises(InputError, match=r"'\.row' holds 1 in several lines, .* --row \.row"):
        check_uses(frame, [".row"], None)
    with pytest.raises(InputError, match=r"--repeat penalty: the column holds 0\.1, which is not the number"):
        check_uses(frame, [], "penalty")
    check_uses(frame, ["row", "penalty", ".row"], "rep")


def test_columns_are_of_classes_by_their_names() -> None:
    assert columns_of_classes(["A", "B", "k"], ["A", "B"]) == [{"A": "A", "B": "B"}]
    assert columns_of_classes(["prob.no", "prob.yes"], ["no", "yes"]) == [{"prob.no": "no", "prob.yes": "yes"}]
    assert columns_of_classes(["p0", "p1"], ["0", "1"]) == [{"p0": "0", "p1": "1"}]
    assert columns_of_classes([".pred_TRUE", ".pred_FALSE"], ["False", "True"]) == [
        {".pred_FALSE": "False", ".pred_TRUE": "True"}
    ]
    assert columns_of_classes([".pred_A", "k"], ["A", "B"]) == columns_of_classes(["A"], ["A"]) == []
    assert texts_of_classes(pd.Series([0.5, 1.0])) == texts_of_classes(pd.Series(range(60))) == []
    assert texts_of_classes(pd.Series([1, 0, 1])) == ["0", "1"]
