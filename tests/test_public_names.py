"""What ``import heldout`` offers: a snapshot, so that a name comes or goes only on purpose."""

import inspect
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import heldout
from heldout import _defaults
from heldout.estimates.comparison import MAIN
from heldout.estimates.of_search import Estimation

NAMES = [
    "Estimate", "Flag", "FoldScores", "HeldOutOptunaSearchCV", "HeldOutPredictions",
    "HeldOutRandomizedSearchCV", "HeldOutSearchCV", "HeldoutError", "HeldoutWarning", "InputError",
    "__version__", "advise", "bootstrap_search", "bootstrap_validate", "compare_algorithms",
    "compare_configurations", "compare_estimates", "correct", "dropping", "estimate", "estimate_from_scores",
    "estimates", "inner_split", "load_model", "log_to_mlflow", "metrics", "nested_cv", "open_search", "plots",
    "protocols", "read_predictions", "report_card", "rows_needed", "save_model", "selection", "spaces",
    "split_items", "studies",
]  # fmt: skip


def test_names_are_these() -> None:
    assert heldout.__all__ == NAMES
    assert dir(heldout) == sorted([*NAMES, "optuna"])  # a star import must not hide the package of this name
    assert heldout.optuna.__all__ == ["CrossFitting", "objective"]
    assert len(NAMES) <= 38


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_there(name: str) -> None:
    found = getattr(heldout, name)
    assert getattr(found, "__name__", name).rpartition(".")[2] == name or name == "__version__"


def test_unknown_names_are_refused() -> None:
    with pytest.raises(AttributeError, match="'heldout' has no attribute 'nonsense'"):
        heldout.nonsense  # noqa: B018


def test_the_import_loads_no_scikit_learn_and_a_search_without_a_run_file_no_sqlite() -> None:
    code = """if True:
    import sys, heldout
    assert not {"sklearn", "numpy"} & {*sys.modules}
    import heldout.search
    assert "heldout.execution.store.sqlite" not in sys.modules"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_default_method_is_one_decision() -> None:
    functions = (
        heldout.open_search, heldout.HeldOutSearchCV, heldout.HeldOutRandomizedSearchCV,
        heldout.HeldOutOptunaSearchCV, Estimation,
    )  # fmt: skip
    defaults = {inspect.signature(function).parameters["method"].default for function in functions}
    assert defaults == {MAIN, _defaults.METHOD} == {"shrinkage"}


def test_the_recommended_method_stands_with_the_estimates() -> None:
    from heldout import estimates
    from heldout.advice.recommendation import recommendation

    assert "recommendation" in estimates.__all__
    assert estimates.recommendation is recommendation
    assert "recommendation" in dir(estimates)
    with pytest.raises(ImportError, match="nonsense"):
        from heldout.estimates import nonsense  # noqa: F401


def test_the_store_of_run_files_is_imported_on_request() -> None:
    from heldout.execution import store
    from heldout.execution.store.sqlite import SQLiteStore

    assert store.SQLiteStore is SQLiteStore
    with pytest.raises(ImportError, match="nonsense"):
        from heldout.execution.store import nonsense  # noqa: F401


def test_a_class_name_occurs_once():
    """What a study keeps in files names its classes."""
    root = Path(__file__).parents[1]
    named = Counter(
        name
        for folder in (root / "src", root / "papers" / "src")
        for source in folder.rglob("*.py")
        for name in re.findall(r"^ *class ([A-Za-z]\w*)", source.read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert named["Estimate"] == 1
    assert {name for name, times in named.items() if times > 1} <= {"LikelihoodRatio", "Space"}
