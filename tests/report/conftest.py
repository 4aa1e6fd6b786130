"""A finished search made by hand: synthetic predictions, no model fitted."""

import sys
from collections.abc import Callable, Iterator

import pytest
from results_by_hand import evaluation_by_hand

from heldout.result import Evaluation

MakeEvaluation = Callable[..., Evaluation]


@pytest.fixture(autouse=True, scope="module")
def pictures(request: pytest.FixtureRequest) -> Iterator[None]:
    """Empty pictures in pages, of which they take most of the time: modules marked ``draws_report`` draw them."""
    with pytest.MonkeyPatch.context() as patch:
        if request.node.get_closest_marker("draws_report") is None:
            for module in ("render", "exploration"):
                patch.setattr(f"heldout.report.{module}.embedded", lambda *_, **__: "<svg></svg>")
        yield


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """Figures that a test drew are closed."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(scope="session")
def make_evaluation() -> MakeEvaluation:
    return evaluation_by_hand
