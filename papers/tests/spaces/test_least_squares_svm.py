"""The least-squares machine by hand, and the space of one length scale against many."""

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import null_space
from sklearn.datasets import load_iris

from heldout.errors import InputError
from heldout.spaces import LeastSquaresSVM, cawley_talbot2010

X, Y = load_iris(return_X_y=True)
TWO = Y[:100]


def test_two_rows_by_hand() -> None:
    """K = [[1, e], [e, 1]] with e = exp(-1/2). alpha = (-a, a), b = 0, and (1 - e + 1 / C) a = 1."""
    e, cost = np.exp(-0.5), 4.0
    model = LeastSquaresSVM(length_scales=2.0, C=cost).fit([[0.0], [2.0]], [0, 1])
    a = 1 / (1 - e + 1 / cost)
    np.testing.assert_allclose(model.dual_coef_, [[-a, a]])
    assert model.intercept_ == pytest.approx([0.0])
    half = np.exp(-((3.0 / 2.0) ** 2) / 2)
    assert model.decision_function([[3.0]]) == pytest.approx([a * np.exp(-0.125) - a * half])


def test_the_solution_minimises_the_regularised_squares() -> None:
    """w'w + C sum (y - w'phi - b)², the weights written by alpha: its gradient is 0, in alpha and in b."""
    rows, target = X[:100:5, :2], np.where(TWO[::5] == 1, 1.0, -1.0)
    model = LeastSquaresSVM(length_scales=0.7, C=3.0).fit(rows, TWO[::5])
    kernel = np.exp(-0.5 * ((rows[:, None] - rows[None]) ** 2).sum(axis=2) / 0.49)
    alpha, b = model.dual_coef_[0], model.intercept_[0]
    errors = target - kernel @ alpha - b
    np.testing.assert_allclose(kernel @ (alpha - 3.0 * errors), 0, atol=1e-9)
    assert errors.sum() == pytest.approx(0, abs=1e-9)
    assert null_space(kernel).shape[1] < len(rows)


def test_a_length_scale_a_column_is_a_scaling_of_the_columns() -> None:
    scales = [0.5, 2.0, 1.0, np.inf]
    some = LeastSquaresSVM(length_scales=scales, C=10.0).fit(X, Y)
    plain = LeastSquaresSVM(C=10.0).fit(X[:, :3] / scales[:3], Y)
    np.testing.assert_allclose(some.decision_function(X), plain.decision_function(X[:, :3] / scales[:3]))
    equal = LeastSquaresSVM(length_scales=[0.8] * 4).fit(X, Y)
    np.testing.assert_array_equal(
        equal.decision_function(X), LeastSquaresSVM(length_scales=0.8).fit(X, Y).decision_function(X)
    )


@pytest.mark.parametrize("scales", [0.0, -1.0, np.nan, [], [1.0, 0.0], [[1.0]], "wide"], ids=str)
def test_other_length_scales_are_refused(scales: object) -> None:
    with pytest.raises(InputError, match="length_scales must be a number above 0, or one for each column, got"):
        LeastSquaresSVM(length_scales=scales).fit(X, Y)  # type: ignore[arg-type]


def test_too_few_length_scales_are_refused() -> None:
    with pytest.raises(InputError, match="a number for each of the 4 columns, got 2"):
        LeastSquaresSVM(length_scales=[1.0, 2.0]).fit(X, Y)


def test_the_space_with_many_length_scales_holds_the_one_with_one() -> None:
    (few, model, grid), (many, _, more) = cawley_talbot2010(X, Y, n_draws=7)
    assert (few, many) == ("lssvm", "lssvmARD")
    assert more["fit__length_scales"][: len(grid["fit__length_scales"])] == grid["fit__length_scales"]
    drawn = more["fit__length_scales"][5:]
    assert [len(one) for one in drawn] == [4] * 7
    assert grid["fit__length_scales"] == [0.5, 1.0, 2.0, 4.0, 8.0]  # the root of 4 columns is 2
    assert cawley_talbot2010(X[:20], Y[:20], n_draws=7)[1][2] == more
    assert model.set_params(fit__C=10.0, fit__length_scales=2.0).fit(X, Y).score(X, Y) > 0.9


def test_a_part_of_the_rows_has_as_many_columns_as_all() -> None:
    frame = pd.DataFrame(
        {
            "number": [1.0, np.nan, 3.0, 4.0, 5.0, 6.0],
            "text": ["a", "b", None, "a", "a", "c"],
            "flag": [True, False, True, True, True, True],
        }
    )
    (_, model, _), (_, wide, grid) = cawley_talbot2010(frame, n_draws=2)
    assert len(grid["fit__length_scales"][-1]) == 1 + 4 + 2
    part = frame.iloc[[0, 2, 3, 4]]  # without b and c, without False, and without the gap
    assert model[:-1].fit(part).transform(frame).shape == (6, 7)
    wide.set_params(fit__length_scales=grid["fit__length_scales"][-1]).fit(part, [0, 1, 0, 1]).predict(frame)
