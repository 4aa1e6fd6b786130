"""What keeps the tests of ``heldout study`` short: pictures are drawn in one of them, fits are of small models."""

from typing import Any

import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from heldout_papers.flat_vs_nested import study


@pytest.fixture(autouse=True)
def pictures_of_quick_studies_only(request: pytest.FixtureRequest) -> None:
    """Pages hold empty pictures, except in the test of every study with ``--quick``."""
    if request.module.__name__ != "test_study_quick":
        request.getfixturevalue("without_pictures")


@pytest.fixture
def small_top3(monkeypatch: pytest.MonkeyPatch) -> None:
    """Models that are fitted in no time have the names of the three algorithms; for studies in this process."""
    models = {
        "rf": (DecisionTreeClassifier(), {"max_depth": [1, 3]}),
        "svmRadial": (KNeighborsClassifier(), {"n_neighbors": [1, 3]}),
        "gbm": (GaussianNB(), {}),
    }

    def top3(X: Any, y: Any, *, small: bool) -> list[Any]:
        assert small
        return [(name, *entry) for name, entry in models.items()]

    monkeypatch.setattr(study, "wainer_cawley2021", top3)
