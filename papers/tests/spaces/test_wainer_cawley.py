"""The space of twelve families: what it holds, and that all of it can be fitted on any table."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import ParameterGrid

import heldout as ho
from heldout.configurations import make_configurations
from heldout.spaces import wainer_cawley2021
from heldout_papers.spaces.wainer_cawley import FULL, TOP3

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {
        "amount": np.where(RNG.random(60) < 0.1, np.nan, RNG.normal(size=60)),
        "colour": RNG.choice(["red", "green", "blue"], 60),
        "constant": 1.0,
    }
)
Y = np.where(RNG.random(60) < 0.4, "ill", "well")


@pytest.mark.parametrize("small", [True, False])
def test_every_family_has_one_to_three_parameters(small: bool) -> None:
    space = wainer_cawley2021(TABLE, Y, small=small)
    assert tuple(name for name, _, _ in space) == FULL
    assert set(TOP3) <= set(FULL)
    sizes = {name: len(ParameterGrid(grid)) for name, _, grid in space}
    assert min(sizes.values()) >= 4 and max(sizes.values()) <= 40
    # As the article says: boosted trees have three, and one more than the other two of the best three.
    tuned = {name: len(grid) for name, _, grid in space}
    assert set(tuned.values()) == {1, 2, 3}
    assert (tuned["gbm"], tuned["rf"], tuned["svmRadial"]) == (3, 2, 2)
    assert max(tuned, key=tuned.__getitem__) == "gbm"


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # nnet stops after 100 iterations
def test_the_first_configuration_of_each_family_can_be_searched() -> None:
    space = [(name, model, {key: values[:1] for key, values in grid.items()}) for name, model, grid in
             wainer_cawley2021(TABLE, Y, small=True)]  # fmt: skip
    search = ho.HeldOutSearchCV(space, cv=3, scoring="accuracy", method="cv", random_state=0)
    search.fit(TABLE, Y)
    assert len(make_configurations(space)) == 12
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_units_follow_the_table() -> None:
    grids = {name: grid for name, _, grid in wainer_cawley2021(TABLE, Y)}
    # amount, its indicator of gaps, constant, and three colours.
    np.testing.assert_allclose(grids["svmRadial"]["fit__gamma"], np.array([1 / 64, 1 / 16, 1 / 4, 1, 4]) / 6)
    np.testing.assert_allclose(grids["rf"]["fit__max_features"], np.array([0.5, 1, 2]) / np.sqrt(6), atol=5e-4)
    assert grids["knn"]["fit__n_neighbors"] == [1, 3, 5, 7, 9, 11, 15]  # of 60 rows
    few = {name: grid for name, _, grid in wainer_cawley2021(TABLE[["amount"]][:2], Y[:2])}
    assert few["knn"]["fit__n_neighbors"] == [1]
    assert max(few["rf"]["fit__max_features"]) == 1.0
