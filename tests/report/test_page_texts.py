"""What pages say, of results of every kind: the words and numbers of the sections stand in one file.

After a change ``HELDOUT_RENEW=yes pytest tests/report/test_page_texts.py`` writes ``page_texts.md`` anew; the
difference shows what readers will see. The numbers themselves are tested where they are computed.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from page_texts import sections_of
from races import RACES
from results_by_hand import (
    algorithms,
    all_methods,
    asked_of,
    evaluation_by_hand,
    model_validated,
    nested,
    rows_to_validate,
    with_imputations,
)
from sections import renew, sections_in
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier

import heldout as ho
from heldout.estimates.methods import answer, method_of
from heldout.execution.cells import CellKey, CellResult, CellState, CellTable, Saving
from heldout.flags import Flag
from heldout.report import facts, file_facts, render_html
from heldout.report.entries import Facts, facts_of_json
from heldout.report.render import card_of
from heldout.result import Evaluation

FILE = Path(__file__).with_name("page_texts.md")
search = evaluation_by_hand
MORE = ("neg_log_loss", "accuracy")
HOW = "How the number was computed"


def shared_fits() -> Evaluation:
    shared = {
        "steps": Saving(0.5, 2**20),
        "KNeighborsClassifier": Saving(None),
        "RandomForestClassifier": Saving(3.0),
        "SVC": Saving(-0.1),
    }
    cells = CellTable.empty(range(6), [(0, fold) for fold in range(4)])
    for j in range(6):
        for fold in range(4):
            cells.put((j, fold), CellResult(CellKey(j, 0, fold), CellState.DONE, shared=shared if j < 3 else {}))
    return replace(search(), cells=cells)


def changed_estimate(**changes: Any) -> Evaluation:
    made = search()
    return replace(made, estimates={"roc_auc": replace(made.estimate, **changes)})


def few_bootstraps_in_two_metrics() -> Evaluation:
    made = search(metrics=("roc_auc", *MORE))
    few = {Flag.FEW_BOOTSTRAPS: "Few."}
    own = {name: replace(each, flags=few if name in MORE else {}) for name, each in made.estimates.items()}
    return replace(made, estimates=own)


def of_file(method: Any, metric: str = "roc_auc", y: Any = None, **settings: Any) -> Facts:
    asked = asked_of(metric, y, **settings)
    method = method_of(method) if isinstance(method, str) else method
    return file_facts(answer(method, asked.evidence(method)), asked)


def without_folds() -> Facts:
    asked = asked_of()
    bare = replace(asked.predictions, folds=None, failed={0: "set aside"})
    return file_facts(answer(method_of("bbc"), asked.evidence(method_of("bbc"))), replace(asked, predictions=bare))


def survival_times() -> Any:
    return np.array([(row % 3 < 2, row + 1) for row in range(60)], dtype=[("event", bool), ("time", float)])


def without_a_corrected_score() -> Any:
    found = model_validated()
    estimate = replace(found.estimates["roc_auc"], value=np.nan, interval=None, optimism=np.nan)
    return replace(found, estimates={**found.estimates, "roc_auc": estimate})


class Moody(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Fails on samples whose first column has a mean well above that of all rows."""

    def fit(self, X: Any, y: Any) -> Any:
        if X[:, 0].mean() > rows_to_validate()[0][:, 0].mean() + 0.1:
            raise ValueError("too <much>")
        self.inside_ = LogisticRegression().fit(X, y)
        self.classes_ = self.inside_.classes_
        return self

    def predict(self, X: Any) -> Any:
        return self.inside_.predict(X)

    def predict_proba(self, X: Any) -> Any:
        return self.inside_.predict_proba(X)


TWO_MODELS = [("logistic", LogisticRegression()), ("neighbours", KNeighborsClassifier(30))]
EVERY_SECTION = ()
PAGES: dict[str, tuple[Callable[[], Any], tuple[str, ...]]] = {
    "a search": (
        lambda: search(metrics=("roc_auc", *MORE), failures={1: "boom"}, repeats=2),
        EVERY_SECTION,
    ),
    "a loss": (
        lambda: search("regression", ("neg_root_mean_squared_error",)),
        ("head", "The bootstrap", "Configurations", "Held-out predictions", HOW),
    ),
    "several classes": (
        lambda: search("multiclass", ("accuracy",), classes=("a", "b", "c")),
        ("head", "Held-out predictions"),
    ),
    "numbers as labels": (lambda: search(classes=(1, 3)), ("head",)),  # type: ignore[arg-type]
    "no estimate": (lambda: search(method=None), ("card", "head", HOW)),
    "cv": (lambda: search(method="cv"), ("card", "head", HOW)),
    "tt": (lambda: search("regression", ("r2",), method="tt"), ("head", HOW)),
    "one-sided": (lambda: search(alternative="greater"), ("head",)),
    "an open end": (
        lambda: search("regression", ("neg_mean_absolute_error",), alternative="less"),
        ("head", "The bootstrap"),
    ),
    "shared fits": (shared_fits, ("head", "Shared fits")),
    "shared fits of a protocol": (lambda: replace(shared_fits(), n_fits=120), ("head",)),
    "an estimate of another configuration": (
        lambda: changed_estimate(method="delong", selected=2, selected_name="model (C=3)"),
        ("head", HOW),
    ),
    "an undefined estimate": (
        lambda: changed_estimate(
            value=np.nan, optimism=np.nan, interval=None, flags={Flag.UNDEFINED: "No estimate: because."}
        ),
        ("head", "Flagged"),
    ),
    "a flag of two metrics": (few_bootstraps_in_two_metrics, ("Flagged",)),
    "of predictions": (lambda: of_file("bbc"), ("card", "head", "The bootstrap", "Configurations", HOW)),
    "of predictions without folds": (without_folds, ("head", "Configurations")),
    "by shrinkage": (lambda: of_file("shrinkage"), ("head", "The bootstrap", HOW)),
    "all methods": (all_methods, ("Other estimates", HOW)),
    "naive bootstrap": (lambda: of_file("naive_bootstrap"), ("head", HOW)),
    "bbc_f": (lambda: of_file("bbc_f"), ("head", HOW)),
    "delong": (lambda: of_file("delong"), ("head", HOW)),
    "named beforehand": (
        lambda: of_file(ho.estimates.DeLong(evaluation_share=1.0, configuration=2), aggregate="folds"),
        ("head", "Configurations", HOW),
    ),
    "a bound for all": (lambda: of_file(ho.estimates.Hoeffding(), "accuracy", folds=None), ("head", HOW)),
    "finalists by mabt": (lambda: of_file(ho.estimates.MABT(candidates=0.5), alternative="greater"), ("head", HOW)),
    "finalists by delong": (
        lambda: of_file(ho.estimates.DeLong(candidates=0.5), alternative="greater"),
        ("head", HOW),
    ),
    "an ensemble": (
        lambda: of_file("bbc", selection=ho.selection.TopK(3)),
        ("head", "Configurations", HOW),
    ),
    "survival": (lambda: of_file("bbc", "concordance_index", survival_times()), ("head",)),
    **RACES,
    "nested": (
        lambda: nested(repeats=2, interval="bates_hastie_tibshirani"),
        ("card", "head", "Outer folds", HOW),
    ),
    "nested, across all": (lambda: nested(across="all"), ("head", "Outer folds")),
    "nested losses": (
        lambda: nested(Ridge(), {"alpha": [0.1, 100.0]}, scoring="neg_mean_squared_error"),
        ("head", "Outer folds"),
    ),
    "nested, all agree": (
        lambda: nested(grid={"n_neighbors": [9], "weights": ["uniform", "uniform"]}),
        ("Outer folds",),
    ),
    "nested, one configuration": (lambda: nested(grid={"n_neighbors": [9]}), ("head", "Outer folds")),
    "nested, dropping": (
        lambda: nested(repeats=2, drop=ho.dropping.Bootstrap(min_predictions=20, threshold=0.5)),
        ("The race",),
    ),
    "algorithms": (algorithms, ("card", "head", "Algorithms", "Configurations")),
    "algorithms, nested": (lambda: algorithms(deploy="nested"), ("head", "Algorithms")),
    "a validation": (
        model_validated,
        ("card", "head", "Flagged", "Every metric", "Curves", "The bootstrap", "Coefficients", HOW),
    ),
    "a validation by .632": (
        lambda: model_validated(method="632", metric="brier_score"),
        ("head", "Every metric", "The bootstrap"),
    ),
    "a validation by .632+": (lambda: model_validated(method="632+"), ("head", "Every metric")),
    "a validation of two models": (
        lambda: model_validated(TWO_MODELS, method="two_stage"),
        ("head", "Flagged", "Models", "Every metric", HOW),
    ),
    "a validation of a regression": (
        lambda: model_validated(LinearRegression(), y="numbers", metric="r2"),
        ("head", "Curves"),
    ),
    "a validation of several classes": (
        lambda: model_validated(y="classes", metric="log_loss"),
        ("head", "Curves"),
    ),
    "a validation of labels 0 and 1": (lambda: model_validated(y="codes", metric="roc_auc"), ("Curves",)),
    "a validation of survival": (
        lambda: model_validated(
            ho.spaces.CoxRegression(), y="survival", metric=["concordance_index", "brier_score_at(time=1)"]
        ),
        ("head", "Curves"),
    ),
    "a validation with imputations": (with_imputations, ("head", "Coefficients", HOW)),
    "a validation without a corrected score": (without_a_corrected_score, ("head", HOW)),
    "a validation that fails at times": (
        lambda: model_validated(Moody(), metric="roc_auc"),
        ("head", "Every metric", "Bootstraps that failed"),
    ),
}


WRITTEN = sections_in(FILE)


@pytest.mark.filterwarnings("ignore::heldout.HeldoutWarning")
@pytest.mark.parametrize("name", PAGES)
def test_a_page_says_what_the_file_says(name: str) -> None:
    make, shown = PAGES[name]
    made = make()
    content = made if isinstance(made, Facts) else facts(made, title="data.csv", command="heldout tune data.csv")
    page = render_html(content)
    sections = sections_of(page) | (
        {"card": card_of(content).partition("### How to")[0]} if "card" in shown else {}
    )
    assert {*shown} <= {*sections}
    said = "\n".join(
        f"## {heading}\n{sections[heading]}\n" for heading in sections if heading in (shown or sections)
    )
    renew(FILE, WRITTEN, PAGES, name, said)
    assert said.strip() == WRITTEN[name].strip()
    again = facts_of_json(json.dumps(content.to_dict(), allow_nan=False))
    assert again.to_dict() == content.to_dict() and render_html(again) == page


def test_the_file_has_no_page_of_another_name() -> None:
    assert [*WRITTEN] == [*PAGES]
