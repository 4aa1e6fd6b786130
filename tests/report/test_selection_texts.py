"""Every selection rule with every setting is told in every text: paragraph, card, report, JSON and terminal."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

import heldout as ho
from heldout.report.study import study

X, Y = make_classification(90, n_informative=2, random_state=0)
GRID = {"max_depth": [1, 2, 3], "min_samples_leaf": [1, 5]}
RULE = ho.selection.SelectionRule
TENTH = np.float64(0.1)


def by_depth(params: Any) -> int:
    return int(params["max_depth"])


COMPLEXITIES = [
    None,
    "measured",
    "max_depth",
    by_depth,
    [3, 1, 2, 6, 5, 4],
    np.arange(6.0),
    (1, 2, 3, 4, 5, np.inf),
]


class First(RULE):
    """Returns a plain integer."""

    name = "first"

    def __call__(self, table: Any) -> Any:
        return int(np.nanargmax(table.values[0, :, 0]))


@dataclass(frozen=True)
class Configured(RULE):
    """Has settings of many types."""

    numbers: Any = (1, 2.5)
    text: str = "words"
    nothing: Any = None
    function: Any = len
    number: Any = TENTH
    name = "configured"

    def __call__(self, table: Any) -> Any:
        return np.nanargmax(table.values[:, :, 0], axis=1)


def best_one(scores: Any) -> int:
    return int(np.nanargmax(scores))


def best_each(scores: Any) -> Any:
    return np.nanargmax(scores, axis=1)


RULES: list[Any] = [
    "best", "average_rank", "rank_over_repeats", ho.selection.Best(over_repeats="median"),
    *(ho.selection.OneStandardError(complexity) for complexity in COMPLEXITIES),
    ho.selection.Within(0.02), "within(tolerance=0.02, complexity='measured')",
    First(), Configured(), best_one, best_each, lambda scores: 0,
]  # fmt: skip


def search_by(rule: Any, grid: Any = GRID, **settings: Any) -> Any:
    tree = DecisionTreeClassifier(random_state=0)
    known = {"scoring": "roc_auc", "cv": 3, "n_bootstraps": 20, "random_state": 0}
    return ho.HeldOutSearchCV(tree, grid, selection=rule, **(known | settings)).fit(X, Y)


@pytest.mark.filterwarnings("ignore::heldout.HeldoutWarning")
@pytest.mark.parametrize("rule", RULES, ids=range(len(RULES)))
def test_every_rule_is_told(rule: Any) -> None:
    search = search_by(rule)
    text = search.methods_text().to_markdown()
    assert search.estimate_.selected_name.partition(" ")[2] in text
    assert "array(" not in text and "function " not in text
    card = ho.report_card(search)
    assert "corrected for the selection" in card and "<function" not in card
    assert np.isfinite(search.estimate_.value)
    json.dumps(search.estimate_.to_dict(), allow_nan=False)
    assert str(search.estimate_) and search.estimate_._repr_html_() and search._repr_html_()


@pytest.mark.filterwarnings("ignore::heldout.HeldoutWarning")
@pytest.mark.parametrize("rule", [ho.selection.Within(0.02, complexity="measured"), First()], ids=["within", "own"])
def test_the_report_is_drawn(tmp_path: Path, rule: Any) -> None:
    search_by(rule).report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert rule.name in page and page.rstrip().endswith("</html>")


@pytest.mark.filterwarnings("ignore")
def test_many_complexities_are_told_by_their_range() -> None:
    rule = ho.selection.Within(0.02, complexity="measured")
    search = search_by(rule, {"max_depth": [1, -2, *range(2, 10)]})
    settings = study(search.evaluation_)["selection"]["settings"]
    assert settings["tolerance"] == "0.02" and settings["complexity"].startswith("10 numbers from 2 to ")
    assert f"complexity={settings['complexity']}" in str(search.methods_text())


@pytest.mark.parametrize("rule", [best_one, First()], ids=["function", "class"])
def test_a_plain_integer_is_the_choice_of_one_resample(rule: Any) -> None:
    """Asked resample by resample, the rule chooses as the best score does, in every bootstrap."""
    one, each = (search_by(chosen, method="bbc") for chosen in (rule, best_each))
    assert one.best_index_ == each.best_index_
    assert one.estimate_.value == each.estimate_.value
    assert one.estimate_.selection_frequency.tolist() == each.estimate_.selection_frequency.tolist()


@pytest.mark.parametrize("returned", [0.0, True, "0", None, np.float64(1), [0.5]])
def test_other_scalars_are_refused(returned: Any) -> None:
    with pytest.raises(ho.InputError, match="must return an integer for each row of scores"):
        search_by(lambda scores: returned)


@pytest.mark.parametrize("number", [6, -1, 10**30])
def test_a_number_of_no_configuration_is_refused(number: int) -> None:
    with pytest.raises(ho.InputError, match="the selection rule 'callable <lambda>' failed on the scores"):
        search_by(lambda scores: number)


@pytest.mark.draws_report
def test_the_command_of_the_page_on_searches(command: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "trees.py").write_text(
        "from sklearn.model_selection import GridSearchCV\nfrom sklearn.tree import DecisionTreeClassifier\n"
        "trees = GridSearchCV(DecisionTreeClassifier(random_state=0), {'max_depth': [1, 2, 3]})\n",
        encoding="utf-8",
    )
    ended = command(
        "tune", "example:breast_cancer", "--target", "target", "--space", "trees.py:trees", "--cv", "3",
        "--selection", "within(tolerance=0.02, complexity='measured')", "--n-bootstraps", "50", "--n-jobs", "1",
        "--out", "out",
    )  # fmt: skip
    assert ended.code == 0, ended
    assert "complexity=2, " in (tmp_path / "out" / "methods.md").read_text(encoding="utf-8")
