"""The report on a validation: the table as computed, the curves, what failed, and the page that shows them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawn import elements
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

import heldout as ho
from heldout.protocols.validation.estimate import Validation
from heldout.references import REFERENCES
from heldout.report import facts, render_html, write_report
from heldout.report.displays.base import embedded
from heldout.report.displays.curves import CalibrationDisplay, DecisionCurveDisplay, RocCurveDisplay
from heldout.report.displays.pages import OptimismDisplay
from heldout.report.entries import Facts, facts_of_json


def rows(n: int = 80) -> tuple[Any, Any]:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] + rng.normal(size=n) > 0, "ill", "well")


def validated(estimator: Any = None, **settings: Any) -> Validation:
    X, y = rows()
    asked: dict[str, Any] = {"metric": ["roc_auc", "brier_score"], "n_bootstraps": 20, "random_state": 0}
    return ho.bootstrap_validate(estimator or LogisticRegression(), X, y, **asked | settings)


@pytest.fixture(scope="module")
def validation() -> Validation:
    return validated()


@pytest.fixture(scope="module")
def content(validation: Validation) -> Facts:
    return facts(validation, title="people.csv", command="heldout validate people.csv")


@pytest.fixture(scope="module")
def page(content: Facts) -> str:
    return render_html(content)


class Moody(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Fails on samples whose first column has a mean above that of all rows by more than ``most``."""

    def __init__(self, most: float = 0.1) -> None:
        self.most = most

    def fit(self, X: Any, y: Any) -> Moody:
        if X[:, 0].mean() > rows()[0][:, 0].mean() + self.most:
            raise ValueError("too <much>")
        self.inside_ = LogisticRegression().fit(X, y)
        self.classes_ = self.inside_.classes_
        return self

    def predict(self, X: Any) -> Any:
        return self.inside_.predict(X)

    def predict_proba(self, X: Any) -> Any:
        return self.inside_.predict_proba(X)


# --- Content ------------------------------------------------------------------------------------------------


def test_the_table_holds_the_rows_of_the_validation(validation: Validation, content: Facts) -> None:
    assert [row.name for row in content.metrics] == ["roc_auc", "brier_score"]
    for shown, row in zip(content.metrics, validation.rows.values(), strict=True):
        for name in ("apparent", "in_bootstrap", "on_original", "out_of_bag", "optimism"):
            assert shown[name] == getattr(row, name)
        assert shown.value == row.corrected
        assert (shown.low, shown.high, shown.n) == (*row.interval, 20)
    assert "it is subtracted from apparent." in render_html(content)


def test_the_headline_is_of_the_first_metric(validation: Validation, content: Facts) -> None:
    head, estimate = content.headline, validation.estimates["roc_auc"]
    assert (head.value, head.uncorrected, head.optimism) == (
        estimate.value,
        estimate.uncorrected,
        estimate.optimism,
    )
    text = f"{estimate.value:.{head.metric.decimals}f}"
    assert text in head.sentence and text in head.quote
    assert "by the optimism bootstrap (20 samples)" in head.quote and "80 rows" in head.quote
    assert content.facts == {
        "Rows": "80 (ill: 50, well: 30)", "Positive class": "well", "Bootstraps": "20", "Fits": "22",
    }  # fmt: skip


def test_the_curves_are_those_of_the_validation(validation: Validation, content: Facts) -> None:
    (roc,), (calibration,), (decision,) = content.roc, content.calibration, content.decision
    found, line = validation.roc_curve(), validation.calibration_curve()
    assert f"{found.area_apparent:.3f}" == f"{validation.rows['roc_auc'].apparent:.3f}"
    assert roc.lines[0].label == f"apparent: area {found.area_apparent:.3f}"
    assert roc.lines[1].label.endswith(f"band: area {validation.rows['roc_auc'].corrected:.3f}")
    assert roc.lines[1].y == tuple(found.corrected) and calibration.lines[0].y == tuple(line.apparent)
    assert sum(calibration.histogram) == 80 and calibration.name == roc.name == decision.name == "well"
    digits = re.search(r"is (0\.\d+) on average, and less than (0\.\d+) for nine in ten", calibration.caption)
    assert digits is not None
    assert float(digits[1]) == pytest.approx(line.mean_absolute_error, rel=0.1)
    assert float(digits[2]) == pytest.approx(line.quantile_90, rel=0.1)
    assert {REFERENCES[key].doi for key in ("harrell2015", "fawcett2006", "vickers2006", "efron1983")} <= {
        work.doi for work in content.citations
    }


def test_the_optimism_is_that_of_the_table(validation: Validation, content: Facts) -> None:
    assert content.optimism is not None
    assert content.optimism.mean == pytest.approx(validation.rows["roc_auc"].optimism)
    assert sum(content.optimism.counts) == 20
    loss = facts(validated(metric="brier_score"))
    assert loss.optimism is not None and loss.optimism.mean == pytest.approx(loss.metrics[0].optimism)
    left_out = facts(validated(method="632", metric="roc_auc"))
    assert left_out.optimism is not None and not left_out.optimism.is_of_own_samples
    assert left_out.optimism.mean > content.optimism.mean
    assert "not by the .632 bootstrap" in render_html(left_out) and "not by" not in render_html(content)
    assert "Rows never left out" not in left_out.settings


def test_the_table_of_point632_plus_has_the_numbers_that_make_it() -> None:
    found = validated(method="632+", metric=["roc_auc", "brier_score"])
    content = facts(found)
    area, loss = content.metrics
    assert area.weight == found.rows["roc_auc"].weight and area.no_information == 0.5
    assert None not in (loss.value, loss.weight, loss.apparent, loss.out_of_bag, loss.no_information)
    bounded = min(loss.out_of_bag or 0, loss.no_information or 0)
    made = (1 - (loss.weight or 0)) * (loss.apparent or 0) + (loss.weight or 0) * bounded
    assert loss.value == pytest.approx(made)
    page = render_html(content)
    assert ">No information</th>" in page and 'data-label="weight"' in page
    assert "(1 - weight) × apparent" in page
    plain = render_html(facts(validated(method="632", metric="brier_score")))
    assert "No information" not in plain and ".368 apparent + .632 out of bag" in plain


def test_of_several_models_each_has_its_row() -> None:
    found = validated(
        [("logistic", LogisticRegression()), ("neighbours", KNeighborsClassifier(30))], method="two_stage"
    )
    content = facts(found)
    assert [(row.name, row.is_selected) for row in content.candidates] == [
        ("logistic", True), ("neighbours", False),
    ]  # fmt: skip
    first = found.candidates[0].rows["roc_auc"]
    assert content.candidates[0].value == first.corrected != found.rows["roc_auc"].corrected
    assert content.headline.value == found.rows["roc_auc"].corrected
    assert content.two_stages and "Its score above is from new samples" in render_html(content)
    assert any("chosen" in flag.text for flag in content.flags)
    assert '<span class="tag">chosen</span>' in render_html(content)


def test_bootstraps_that_failed_are_listed_by_message() -> None:
    found = validated(Moody(), metric="roc_auc")
    content = facts(found)
    (failure,) = content.failures
    assert 0 < len(found.failures) < 20
    assert failure.names == tuple(str(number + 1) for number in sorted(found.failures))
    assert "too <much>" in failure.message
    assert content.metrics[0].n == 20 - len(found.failures)
    page = render_html(content)
    assert f"{len(found.failures)} of 20 bootstraps gave no model" in page
    assert "too &lt;much&gt;" in page and "too <much>" not in page


def test_pooled_coefficients_have_their_table() -> None:
    X, y = rows()
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    found = ho.bootstrap_validate(
        LogisticRegression(C=np.inf), X, y, metric="roc_auc", n_bootstraps=3, imputation=2, random_state=0
    )
    content, pooled = facts(found), found.coefficients
    part = content.coefficients
    assert part is not None and pooled is not None
    assert "imputed 2 times, in each bootstrap sample separately" in render_html(content)
    assert [row[0] for row in part.rows] == list(pooled.names)
    columns = dict(zip(part.headings, list(zip(*part.rows, strict=True))[1:], strict=True))
    assert [float(value) for value in columns["value"]] == pytest.approx(pooled.values.tolist(), abs=5e-5)
    low, high = np.exp(pooled.intervals(0.95)[1])
    assert columns["interval (95%)"][:2] == ("", f"{low:.4f} to {high:.4f}")
    assert columns["df"][1] == f"{pooled.df[1]:.1f}"
    assert columns["variance from missing"][1] == f"{pooled.variance_from_missing[1]:.0%}"
    assert "not the share of values that are missing" in part.sentence
    page = render_html(content)
    assert '<th scope="col" role="columnheader">Variance from missing</th>' in page
    assert '<td role="cell" data-label="odds ratio"></td>' in page  # of the intercept


def test_a_regression_and_several_classes_have_their_curves() -> None:
    X, _ = rows()
    values = facts(
        ho.bootstrap_validate(LinearRegression(), X, 100 * X[:, 0], metric="r2", n_bootstraps=5, random_state=0)
    )
    (line,) = values.calibration
    assert not values.roc and not values.decision and line.name == ""
    assert line.ends[0] < -100 and line.ends[1] > 100
    classes = np.array(["red", "green", "blue"])[np.arange(80) % 3]
    several = facts(
        ho.bootstrap_validate(LogisticRegression(), X, classes, metric="log_loss", n_bootstraps=5, random_state=0)
    )
    assert [curve.name for curve in several.calibration] == ["blue", "green", "red"]
    assert [curve.name for curve in several.roc] == ["blue", "green", "red"] and not several.decision
    assert "Calibration" in render_html(values) and "ROC curve" not in render_html(values)


def test_survival_is_drawn_at_the_middle_of_its_times() -> None:
    rng = np.random.default_rng(0)
    X, _ = rows()
    time = rng.exponential(np.exp(-X[:, 0]))
    y = np.array(list(zip(time < 2, np.minimum(time, 2.0), strict=True)), dtype=[("event", bool), ("time", float)])
    found = ho.bootstrap_validate(
        ho.spaces.CoxRegression(),
        X,
        y,
        metric=["concordance_index", "integrated_brier_score(times=[0.5, 1, 1.5])"],
        n_bootstraps=5,
        random_state=0,
    )
    content = facts(found)
    for (curve,) in (content.calibration, content.decision):
        assert curve.name == "event by 1"
    assert not content.roc and content.facts["Rows"] == "80 (64 with the event)"


def test_numeric_labels_are_shown_as_classes() -> None:
    X, y = rows()
    found = ho.bootstrap_validate(
        LogisticRegression(), X, (y == "ill").astype(int), metric="roc_auc", n_bootstraps=5, random_state=0
    )
    assert facts(found).roc[0].name == "class 1"


def test_without_a_corrected_score_nothing_is_quoted(validation: Validation) -> None:
    estimate = replace(validation.estimates["roc_auc"], value=np.nan, interval=None, optimism=np.nan)
    head = facts(replace(validation, estimates={**validation.estimates, "roc_auc": estimate})).headline
    assert head.value is None and head.quote == ""
    assert head.sentence.startswith("No corrected ROC AUC was computed.")


# --- Page ---------------------------------------------------------------------------------------------------


def test_the_data_survive_json_and_give_the_same_page(content: Facts, page: str) -> None:
    again = facts_of_json(json.dumps(content.to_dict(), allow_nan=False))
    assert again.to_dict() == content.to_dict() and render_html(again) == page


def test_a_validation_is_written_as_it_is(validation: Validation, tmp_path: Path) -> None:
    page = write_report(validation, tmp_path / "validation.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and "Every metric" in page
    assert "http" not in re.sub(r"http(s://doi\.org|://www\.w3\.org|-equiv)", "", page)  # nothing is loaded


def test_all_sections_stand_in_order(page: str) -> None:
    headings = re.findall(r'<h2 id="\w+">([^<]*)</h2>', page)
    assert [each for each in headings if each != "Flagged"] == [
        "Every metric", "Curves", "The bootstrap", "Coefficients", "The model’s parameters",
        "How the number was computed", "For a paper", "To reproduce it",
    ]  # fmt: skip
    assert "heldout validate people.csv" in page
    ids = re.findall(r' id="([^"]*)"', page)
    assert len(ids) == len(set(ids))
    for reference in re.findall(r'aria-labelledby="([^"]*)"', page):
        assert set(reference.split()) <= set(ids)


# --- Pictures -----------------------------------------------------------------------------------------------


def test_apparent_is_dashed_and_corrected_solid(content: Facts) -> None:
    kinds = RocCurveDisplay, CalibrationDisplay, DecisionCurveDisplay
    for kind, (curve,) in zip(kinds, (content.roc, content.calibration, content.decision), strict=True):
        svg = embedded(kind(**curve), "k", "A curve")
        paths = elements(svg, "path")
        looks = {(node.get("stroke"), "stroke-dasharray" in node) for node in paths}
        assert ("var(--blue)", False) in looks and ("var(--vermillion)", True) in looks
        assert any(node.get("fill") == "var(--area)" for node in paths)  # the band
        texts = " ".join(node["text"] for node in elements(svg, "text"))
        assert "apparent" in texts and "corrected" in texts


def test_points_without_a_value_break_nothing(content: Facts) -> None:
    (curve,) = content.calibration
    apparent, line = curve.lines
    nowhere = Facts(line, y=(None,) * 50, low=(None,) * 50, high=(None,) * 50)
    partly = Facts(line, y=(None, *line.y[1:]), low=(None, *line.low[1:]))
    for changed in (nowhere, partly):
        svg = embedded(CalibrationDisplay(**{**curve, "lines": (apparent, changed)}), "k", "Calibration")
        assert "nan" not in svg.lower() and "null" not in svg


def test_the_mean_of_the_optimism_is_marked(content: Facts) -> None:
    assert content.optimism is not None
    svg = embedded(OptimismDisplay(Facts(content.optimism, mean=-0.02)), "k", "Optimism")
    assert any(node["text"].startswith("mean −0.02") for node in elements(svg, "text"))
