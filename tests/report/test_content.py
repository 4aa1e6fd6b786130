"""What pages do not show of the facts, and facts beside other values; what they show is in ``page_texts.md``."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from races import race

import heldout as ho
from heldout.data.task import truth_of
from heldout.metrics import metric_named
from heldout.references import REFERENCES
from heldout.report import facts
from heldout.report.headline import distribution_of
from heldout.report.labels import _moment, positive_text
from heldout.result import Evaluation
from heldout.scales import scale_of

Make = Callable[..., Evaluation]


def test_moments_are_written_for_people() -> None:
    assert _moment("2026-01-02T03:04:05+00:00") == "2026-01-02 03:04:05 UTC"
    assert _moment("heldout tune x.csv") == "heldout tune x.csv"


def test_fingerprints_and_versions_are_those_of_the_parts(make_evaluation: Make) -> None:
    evaluation = make_evaluation()
    said = facts(evaluation).reproduction
    assert said["Fingerprint of rows"] == evaluation.task.fingerprint()
    assert said["Fingerprint of folds"] == evaluation.folds.fingerprint()
    assert len(said["Fingerprint of configurations"]) == 64
    assert f"heldout {ho.__version__}" in said["Versions"]
    known = facts(replace(evaluation, provenance={"fingerprint_of_rows": "abc"}))
    assert known.reproduction["Fingerprint of rows"] == "abc"


def test_parameters_in_full_what_the_search_set_first(make_evaluation: Make) -> None:
    parameters = facts(make_evaluation()).parameters
    assert [(p.name, p.text) for p in parameters if p.searched] == [("model", "model"), ("C", "5.0")]
    others = {p.name: p.text for p in parameters if not p.searched}
    assert others["max_iter"] == "100" and "C" not in others


def test_the_numbers_are_those_of_the_search(make_evaluation: Make) -> None:
    evaluation = make_evaluation()
    estimate, content = evaluation.estimate, facts(evaluation)
    assert estimate is not None and estimate.interval is not None and estimate.selection_frequency is not None
    head, first = content.headline, content.ranking.shown[0]
    numbers = (head.value, head.uncorrected, head.optimism, head.low, head.high)
    assert numbers == (estimate.value, estimate.uncorrected, estimate.optimism, *estimate.interval)
    assert first.pooled == evaluation.pooled_scores["roc_auc"][evaluation.winner]
    assert first.selected == estimate.selection_frequency[evaluation.winner]


def test_a_metric_of_the_other_class_is_named_beside_the_class_of_the_curves() -> None:
    truth = truth_of(["ill", "well", "well"], pos_label="ill")
    f1: Any = metric_named("f1")
    assert positive_text(truth, [f1, None]) == "ill"
    assert positive_text(truth, [f1, replace(f1, pos_label="well")]) == "of the curves and tables ill, of f1 well"


def test_only_the_sources_that_were_used_are_cited(make_evaluation: Make) -> None:
    evaluation = make_evaluation("regression", ("r2",), method="tt")
    assert evaluation.estimate is not None
    used = {REFERENCES[key].doi for key in evaluation.estimate.provenance["sources"]}
    assert {work.doi for work in facts(evaluation).citations} == used
    of_the_rule = {work.doi for work in facts(replace(race(), estimates={})).citations}
    assert REFERENCES["tsamardinos2018"].doi in of_the_rule


def test_histogram_counts_every_bootstrap_even_of_a_constant_score(make_evaluation: Make) -> None:
    estimate = make_evaluation().estimate
    assert estimate is not None
    scale = scale_of("roc_auc", True, estimate)
    whole = distribution_of(estimate, scale)
    constant = distribution_of(replace(estimate, distribution=np.full(50, 0.75), value=0.75), scale)
    assert whole is not None and sum(whole.counts) == 200
    assert constant is not None and sum(constant.counts) == 50


@pytest.mark.parametrize(
    ("kind", "metric", "classes", "drawn"),
    [
        ("binary", "roc_auc", ("a", "b"), {"roc", "calibration", "confusion"}),
        ("multiclass", "accuracy", ("a", "b", "c"), {"roc", "confusion"}),
        ("regression", "r2", ("a",), {"residuals"}),
    ],
)
def test_pictures_are_those_of_the_kind_of_task(
    make_evaluation: Make, kind: str, metric: str, classes: tuple[str, ...], drawn: set[str]
) -> None:
    held = facts(make_evaluation(kind, (metric,), classes=classes)).diagnostics
    assert {name for name in ("roc", "calibration", "confusion", "residuals") if held[name]} == drawn
