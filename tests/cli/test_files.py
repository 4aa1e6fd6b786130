"""Files that commands leave: of a saved model every type was reviewed, so that it loads without a question."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import ParameterGrid

from heldout.cli.files import OutputFolder, write_model
from heldout.data.task import TaskKind
from heldout.errors import InputError
from heldout.readers.saved_model import load_model
from heldout.spaces import preset


@pytest.mark.parametrize("kind", [TaskKind.BINARY, TaskKind.REGRESSION])
def test_every_type_of_the_presets_was_reviewed(kind: TaskKind, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=60), "t": rng.choice(["u", "v"], 60)})
    y = rng.normal(size=60) if kind is TaskKind.REGRESSION else rng.integers(0, 2, 60)

    for family, estimator, grid in preset("standard", X, kind):
        few = {name: 2 for name in ("fit__n_estimators", "fit__max_iter") if family in ("forest", "boosting")}
        known = estimator.get_params()
        params = {**next(iter(ParameterGrid(grid))), **{name: few[name] for name in few if name in known}}
        model = clone(estimator).set_params(**params).fit(X, y)
        path, strangers = write_model(model, OutputFolder(tmp_path))
        assert strangers == [], family
        np.testing.assert_array_equal(load_model(path).predict(X), model.predict(X))


class Unreviewed(DummyClassifier):  # type: ignore[misc]
    """A type that heldout has never seen."""


def test_other_types_are_named_and_not_trusted(tmp_path: Path) -> None:
    model = Unreviewed().fit([[0], [1]], [0, 1])

    _, strangers = write_model(model, OutputFolder(tmp_path))

    assert any(name.endswith("Unreviewed") for name in strangers)
    assert "Unreviewed" not in (tmp_path / "model.trusted.json").read_text()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_or_device_is_not_replaced_by_a_file(tmp_path: Path) -> None:
    """As root, a file written under another name and renamed would take the place of /dev/null itself."""
    os.mkfifo(tmp_path / "page.html")
    with pytest.raises(InputError, match=r"page\.html is a pipe or device, and cannot be replaced by a file"):
        OutputFolder(tmp_path).write("page.html", lambda path: path.write_text("page"))
    assert (tmp_path / "page.html").is_fifo() and len(list(tmp_path.iterdir())) == 1
