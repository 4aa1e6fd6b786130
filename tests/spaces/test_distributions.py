"""The presets with distributions: the models of the grids, every value drawn is one that the model takes."""

from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import ParameterSampler

from heldout.data.task import TaskKind
from heldout.spaces import quick, standard
from heldout.spaces.presets import PRESETS, preset

rng = np.random.default_rng(0)
X = rng.normal(size=(24, 3))
KINDS = [TaskKind.BINARY, TaskKind.MULTICLASS, TaskKind.REGRESSION, TaskKind.SURVIVAL]
CASES = [(name, kind) for name in PRESETS for kind in KINDS if (name, kind) != ("boosted", TaskKind.SURVIVAL)]


@pytest.mark.parametrize("name, kind", CASES)
def test_models_are_those_of_the_grids_and_distributions_reach_over_their_values(name: str, kind: TaskKind) -> None:
    grids, drawn = preset(name, X, kind), preset(name, X, kind, distributions=True)
    assert [(model, list(values)) for model, _, values in grids] == [
        (model, list(values)) for model, _, values in drawn
    ]
    for (model, _, of_grid), (_, _, values) in zip(grids, drawn, strict=True):
        for parameter, distribution in values.items():
            listed = [value for value in of_grid[parameter] if isinstance(value, int | float) and value > 0]
            ends = _ends(distribution)
            if listed and ends and "tree" != model:  # a tree without penalty is the end of a path
                assert ends[0] <= min(listed) * 1.01 and max(listed) <= ends[1] * 1.01, (model, parameter)


def _ends(distribution: Any) -> tuple[float, float] | None:
    if hasattr(distribution, "rvs"):
        return distribution.support()
    numbers = [value for value in distribution if isinstance(value, int | float)]
    return (min(numbers), max(numbers)) if numbers else None


@pytest.mark.parametrize("kind", [TaskKind.BINARY, TaskKind.REGRESSION])
def test_drawn_models_can_be_fitted(kind: TaskKind) -> None:
    y = np.arange(24) % 2 if kind is TaskKind.BINARY else X[:, 0]
    train = np.arange(12)  # two folds train on half the rows
    for name, model, distributions in preset("standard", X, kind, distributions=True):
        small = {key: [2] for key in distributions if key.endswith(("n_estimators", "max_iter"))}
        for params in ParameterSampler({**distributions, **small}, 3, random_state=0):
            if "n_neighbors" in str(params):
                assert params["fit__n_neighbors"] <= 8
            assert len(model.set_params(**params).fit(X[train], y[train]).predict(X)) == 24, name


def test_neighbours_of_few_rows() -> None:
    (entry,) = [e for e in preset("quick", X[:2], TaskKind.REGRESSION, distributions=True) if e[0] == "neighbours"]
    assert entry[2]["fit__n_neighbors"].support() == (1, 1)


def test_the_public_presets_have_distributions() -> None:
    for space in (quick, standard):
        (forest,) = [values for name, _, values in space(X, X[:, 0], distributions=True) if name == "forest"]
        assert len(forest["fit__min_samples_leaf"]) == 6
    (ridge,) = [values for name, _, values in quick(X, X[:, 0], distributions=True) if name == "ridge"]
    assert ridge["fit__alpha"].support() == (0.001, 10000.0)
