"""The content of reports: what is said of which result, and nothing that is not there."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import heldout as ho
from heldout.data.task import truth_of
from heldout.estimates.comparison import compare, methods_of
from heldout.estimates.inputs import read_inputs
from heldout.estimates.methods import answer, method_of
from heldout.estimates.methods.bbc import BBC
from heldout.execution.cells import CellKey, CellResult, CellState, CellTable, Saving
from heldout.metrics import metric_named
from heldout.references import REFERENCES
from heldout.report import facts, file_facts, render_html
from heldout.report.entries import Facts
from heldout.report.headline import distribution_of
from heldout.report.labels import _moment, positive_text, rows_text
from heldout.result import Evaluation
from heldout.scales import scale_of

Make = Callable[..., Evaluation]


def labels(content: Facts) -> dict[str, str]:
    return {**content.facts, **content.settings, **content.reproduction}


def test_the_headline_is_the_estimate(make_evaluation: Make) -> None:
    evaluation = make_evaluation()
    estimate = evaluation.estimate
    assert estimate is not None and estimate.interval is not None
    head = facts(evaluation).headline
    assert (head.value, head.uncorrected, head.optimism) == (
        estimate.value,
        estimate.uncorrected,
        estimate.optimism,
    )
    assert (head.low, head.high) == (estimate.interval.low, estimate.interval.high)
    assert head.interval_label == "95 % confidence interval"
    assert head.label == "corrected"
    assert head.winner == evaluation.configurations.names[evaluation.winner]
    assert "6 configurations" in head.sentence


def test_an_estimate_of_another_configuration_than_the_winner_names_it(make_evaluation: Make) -> None:
    evaluation = make_evaluation()
    estimate = evaluation.estimate
    assert estimate is not None
    other = (evaluation.winner + 1) % 6
    name = evaluation.configurations.names[other]
    chose_itself = replace(estimate, method="delong", selected=other, selected_name=name)
    head = facts(replace(evaluation, estimates={"roc_auc": chose_itself})).headline

    assert head.winner == name and f"selected among 6, {name}:" in head.quote


def test_facts_count_what_was_done(make_evaluation: Make) -> None:
    content = facts(make_evaluation(failures={1: "boom"}, repeats=2), command="heldout tune x.csv")
    said = labels(content)
    assert said["Rows"] == "120 (ill: 60, well: 60)"
    assert said["Positive class"] == "well"
    assert said["Configurations"] == "6, 1 failed"
    assert said["Folds"] == "2 × 4 folds"
    assert said["Fits"] == "48"
    assert said["Bootstraps"] == "200"
    assert said["Seed"] == "11"
    assert content.command == "heldout tune x.csv"
    assert "5 configurations" in content.headline.sentence


def test_shared_fits_are_counted_by_what_they_shared(make_evaluation: Make) -> None:
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
    evaluation = replace(make_evaluation(), cells=cells)
    content = facts(evaluation)
    assert (
        labels(content)["Shared fits"]
        == "12 of 24 fits, whose common work was done once: at least 41 s and 12.0 MB less than alone"
    )
    assert [(row.name, row.fits, row.seconds, row.n_bytes) for row in content.shared] == [
        ("Equal steps", 12, "6 s", "12.0 MB"),
        ("KNeighborsClassifier", 12, "not estimated", "–"),
        ("RandomForestClassifier", 12, "about 36 s", "–"),
        ("SVC", 12, "none", "–"),
    ]
    assert "not estimated" in render_html(content)
    of_protocol = facts(replace(evaluation, n_fits=120))
    assert labels(of_protocol)["Shared fits of the search on all rows"].startswith("12 of 24 fits")
    assert not facts(make_evaluation()).shared and "Shared fits" not in render_html(facts(make_evaluation()))


def test_numeric_labels_are_distinct_from_counts() -> None:
    assert rows_text(truth_of([3, 1, 3, 3])) == "4 (class 1: 1, class 3: 3)"
    assert rows_text(truth_of(["u", "v", "u"])) == "3 (u: 2, v: 1)"


def test_moments_are_written_for_people() -> None:
    assert _moment("2026-01-02T03:04:05+00:00") == "2026-01-02 03:04:05 UTC"
    assert _moment("heldout tune x.csv") == "heldout tune x.csv"


def test_fingerprints_are_the_parts_own(make_evaluation: Make) -> None:
    evaluation = make_evaluation()
    said = labels(facts(evaluation))
    assert said["Fingerprint of rows"] == evaluation.task.fingerprint()
    assert said["Fingerprint of folds"] == evaluation.folds.fingerprint()
    assert len(said["Fingerprint of configurations"]) == 64


def test_fingerprints_in_provenance_are_not_repeated(make_evaluation: Make) -> None:
    evaluation = replace(make_evaluation(), provenance={"fingerprint_of_rows": "abc"})
    assert facts(evaluation).reproduction["Fingerprint of rows"] == "abc"


def test_versions_are_shown(make_evaluation: Make) -> None:
    assert f"heldout {ho.__version__}" in labels(facts(make_evaluation()))["Versions"]


def test_ranking_is_the_searchs_own(make_evaluation: Make) -> None:
    evaluation = make_evaluation()
    estimate, ranking = evaluation.estimate, facts(evaluation).ranking
    assert estimate is not None and estimate.selection_frequency is not None and ranking is not None
    first = ranking.shown[0]
    assert (first.index, first.is_winner) == (evaluation.winner, True)
    assert first.mean == pytest.approx(evaluation.fold_scores["roc_auc"].values[:, evaluation.winner].mean())
    assert first.pooled == evaluation.pooled_scores["roc_auc"][evaluation.winner]
    shares = [row.selected for row in ranking.shown if row.selected is not None]
    assert sum(shares) == pytest.approx(1.0)
    assert shares[0] == estimate.selection_frequency[evaluation.winner]


def test_parameters_in_full_what_the_search_set_first(make_evaluation: Make) -> None:
    parameters = facts(make_evaluation()).parameters
    assert [(p.name, p.text) for p in parameters if p.searched] == [("model", "model"), ("C", "5.0")]
    others = {p.name: p.text for p in parameters if not p.searched}
    assert others["max_iter"] == "100"
    assert "C" not in others


def test_negated_losses_are_shown_in_their_own_units(make_evaluation: Make) -> None:
    evaluation = make_evaluation("regression", ("neg_root_mean_squared_error",))
    estimate = evaluation.estimate
    assert estimate is not None and estimate.interval is not None
    content = facts(evaluation)
    head = content.headline
    assert (head.value, head.low, head.high) == (
        -estimate.value, -estimate.interval.high, -estimate.interval.low,
    )  # fmt: skip
    assert head.optimism == estimate.optimism
    assert head.direction == "Lower is better."
    assert content.distribution is not None and min(content.distribution.edges) > 0
    assert content.ranking is not None
    means = [row.mean for row in content.ranking.shown if row.mean is not None]
    assert means == sorted(means)
    assert all(row.spread is not None and row.spread >= 0 for row in content.ranking.shown)


def test_a_metric_of_the_other_class_is_named_beside_the_class_of_the_curves() -> None:
    truth = truth_of(["ill", "well", "well"], pos_label="ill")
    f1 = metric_named("f1")
    assert positive_text(truth, [f1, None]) == "ill"
    assert positive_text(truth, [f1, replace(f1, pos_label="well")]) == "of the curves and tables ill, of f1 well"


def test_an_open_end_is_infinite(make_evaluation: Make) -> None:
    losses = make_evaluation("regression", ("neg_mean_absolute_error",), alternative="less")
    content = facts(losses)
    low, high = content.headline.interval_text.split(" to ")
    assert float(low) > 0 and high == "∞"
    assert f"{low} to ∞" in render_html(content)


def test_one_sided_intervals_say_so(make_evaluation: Make) -> None:
    head = facts(make_evaluation(alternative="greater")).headline
    assert head.interval_label == "95 % one-sided confidence interval"
    assert head.high == 1.0


def test_several_metrics_each_with_its_estimate(make_evaluation: Make) -> None:
    evaluation = make_evaluation(metrics=("roc_auc", "neg_log_loss", "accuracy"))
    rows = {row.name: row for row in facts(evaluation).metrics}
    assert [name for name, row in rows.items() if row.chose] == ["roc_auc"]
    assert rows["neg_log_loss"].value == -evaluation.estimates["neg_log_loss"].value
    assert rows["neg_log_loss"].metric.greater_is_better is False
    assert facts(make_evaluation()).metrics == ()


def test_no_estimate_leaves_the_uncorrected_score(make_evaluation: Make) -> None:
    evaluation = make_evaluation(method=None)
    content = facts(evaluation)
    assert content.headline.value is None
    assert content.headline.uncorrected == pytest.approx(
        evaluation.fold_scores["roc_auc"].values[:, evaluation.winner].mean()
    )
    assert (content.distribution, content.method, content.flags) == (None, (), ())
    assert content.headline.sentence.startswith("No corrected ROC AUC")


def test_an_undefined_estimate_is_no_number(make_evaluation: Make) -> None:
    evaluation = make_evaluation()
    estimate = evaluation.estimate
    assert estimate is not None
    flagged = dict.fromkeys([_flag("undefined")], "No estimate: because.")
    undefined = replace(estimate, value=float("nan"), optimism=float("nan"), interval=None, flags=flagged)
    content = facts(replace(evaluation, estimates={"roc_auc": undefined}))
    assert (content.headline.value, content.distribution) == (None, None)
    assert [flag.text for flag in content.flags] == ["No estimate: because."]
    json.dumps(content.to_dict(), allow_nan=False)


def _flag(value: str) -> Any:
    from heldout.flags import Flag

    return Flag(value)


@pytest.mark.parametrize("method", ["cv", "tt"])
def test_methods_without_interval_or_distribution(make_evaluation: Make, method: str) -> None:
    content = facts(make_evaluation(method=method))
    assert content.headline.interval_text == ""
    assert content.distribution is None
    assert (content.headline.label == "corrected") == (method == "tt")
    assert content.method[0].endswith(".")


def test_only_the_sources_that_were_used_are_cited(make_evaluation: Make) -> None:
    evaluation = make_evaluation("regression", ("r2",), method="tt")
    assert evaluation.estimate is not None
    used = {REFERENCES[key].doi for key in evaluation.estimate.provenance["sources"]}
    assert {work.doi for work in facts(evaluation).citations} == used
    with_calibration = {work.doi for work in facts(make_evaluation()).citations}
    assert REFERENCES["wilson1927"].doi in with_calibration


@pytest.mark.parametrize(
    ("kind", "metric", "classes"),
    [("binary", "roc_auc", ("a", "b")), ("multiclass", "accuracy", ("a", "b", "c")), ("regression", "r2", ("a",))],
)
def test_content_is_plain_and_repeatable(
    make_evaluation: Make, kind: str, metric: str, classes: tuple[str, ...]
) -> None:
    first, second = (
        json.dumps(facts(make_evaluation(kind, (metric,), classes=classes)).to_dict(), allow_nan=False)
        for _ in range(2)
    )
    assert first == second
    held = json.loads(first)["diagnostics"]
    drawn = {name for name in ("roc", "calibration", "confusion", "residuals") if held[name]}
    assert (
        drawn
        == {
            "binary": {"roc", "calibration", "confusion"},
            "multiclass": {"roc", "confusion"},
            "regression": {"residuals"},
        }[kind]
    )


def test_histogram_counts_every_bootstrap_even_of_a_constant_score(make_evaluation: Make) -> None:
    estimate = make_evaluation().estimate
    assert estimate is not None
    scale = scale_of("roc_auc", True, estimate)
    whole = distribution_of(estimate, scale)
    constant = distribution_of(replace(estimate, distribution=np.full(50, 0.75), value=0.75), scale)
    assert whole is not None and sum(whole.counts) == 200
    assert constant is not None and sum(constant.counts) == 50


def test_a_bare_estimate_gives_what_predictions_allow(make_evaluation: Make) -> None:
    evaluation = make_evaluation()
    truth, predictions = evaluation.task.truth, evaluation.predictions
    shares = predictions.responses[next(r for r in predictions.responses if r == "probabilities")]
    asked = read_inputs(
        truth.labels(), shares, metric="roc_auc", folds=predictions.folds, n_bootstraps=100, random_state=1
    )
    estimate = answer(BBC(), asked.evidence(BBC()))
    content = file_facts(estimate, asked, title="a file")
    assert content.title == "a file"
    assert content.headline.value == estimate.value
    assert content.ranking is not None
    assert content.ranking.columns == ("mean", "spread", "pooled", "selected", "folds")
    assert content.ranking.shown[0].pooled == pytest.approx(estimate.uncorrected)
    assert content.parameters == ()
    assert "Fits" not in labels(content)
    assert content.methods == () and content.refused == {} and content.methods_sentence == ""
    without_folds = replace(asked.predictions, folds=None, failed={0: "set aside"})
    bare = file_facts(estimate, replace(asked, predictions=without_folds))
    assert bare.ranking is not None
    assert bare.ranking.columns == ("pooled", "selected")
    assert bare.ranking.failures[0].message == "set aside"


def asked_of(metric: str = "roc_auc", y: Any = None, **settings: Any) -> Any:
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 90) if y is None else y
    position = np.asarray(y["time"] if np.asarray(y).dtype.names else y, dtype=float)
    scores = 1 / (1 + np.exp(-position[:, None] / position.std() - rng.normal(size=(len(y), 5))))
    asked = {"folds": np.arange(len(y)) % 6, "n_bootstraps": 100, "random_state": 1, **settings}
    return read_inputs(y, scores, metric=metric, **asked)


def test_a_comparison_explains_and_cites_each_method() -> None:
    asked = asked_of()
    comparison = compare(asked, methods_of("all"))
    content = file_facts(comparison["shrinkage"], asked, comparison=comparison)

    assert [row.name for row in content.methods] == list(comparison)
    assert [row.name for row in content.methods if row.is_main] == ["shrinkage"]
    for row in content.methods:
        found = comparison[row.name]
        assert row.value == found.value and row.uncorrected == found.uncorrected
        assert (row.low, row.high) == (tuple(found.interval) if found.interval else (None, None))
        assert row.winner == ("" if found.selected == comparison["shrinkage"].selected else found.selected_name)
        assert len(row.how) == 2 and row.title != row.name
    assert list(content.refused.values()) == [
        f"{reason[0].upper()}{reason[1:]}." for reason in comparison.refused.values()
    ]
    used = {key for found in comparison.values() for key in found.provenance["sources"]}
    assert {work.doi for work in content.citations} >= {REFERENCES[key].doi for key in used}
    assert "the one by shrinkage" in content.methods_sentence
    json.dumps(content.to_dict(), allow_nan=False)


@pytest.mark.parametrize("method", ["naive_bootstrap", "bbc_f", "delong"])
def test_headlines_say_whether_the_number_is_corrected(method: str) -> None:
    asked = asked_of()
    estimate = answer(method_of(method), asked.evidence(method_of(method)))
    head = file_facts(estimate, asked).headline

    assert (head.label == "corrected") == (method != "naive_bootstrap")
    assert ("uncorrected for selection" in head.quote) == (method == "naive_bootstrap")
    assert ("was not corrected" in head.sentence) == (method == "naive_bootstrap")


def content_by(method: Any, metric: str = "roc_auc", **settings: Any) -> Facts:
    asked = asked_of(metric, **settings)
    return file_facts(answer(method, asked.evidence(method)), asked)


@pytest.mark.parametrize("method", ["shrinkage", "bbc"])
def test_the_picture_of_the_bootstraps_says_what_is_drawn(method: str) -> None:
    page = render_html(content_by(method_of(method)))

    assert "the corrected score (their mean)" in page
    assert ("what chance added to that of the chosen configuration" in page) == (method == "shrinkage")
    assert ("The ends of the interval are not percentiles of these scores" in page) == (method == "shrinkage")


def test_what_was_named_beforehand_owes_nothing_to_selection() -> None:
    content = content_by(ho.estimates.DeLong(evaluation_share=1.0, configuration=2), aggregate="folds")
    head = content.headline

    assert head.value == head.uncorrected and head.optimism == 0
    assert (head.label, head.label == "corrected") == ("named beforehand", False)
    assert head.sentence.startswith(
        "The configuration was named before its predictions were seen, so selection cannot have made its ROC AUC of"
    )
    assert head.quote.startswith("ROC AUC of configuration 2, named beforehand among 5 configurations:")
    assert "with no selection to correct for" in head.quote and "selected" not in head.quote
    said = labels(content)
    assert "Rows that choose" not in said and "Sent on to them" not in said and said["Rows that score"] == "90"
    page = render_html(content)
    assert "of the named model</h1>" in page and '<span class="tag">winner' not in page


def test_a_bound_for_all_configurations_corrects_no_value() -> None:
    content = content_by(ho.estimates.Hoeffding(), "accuracy", folds=None)
    head = content.headline

    assert head.label == "uncorrected"
    assert "took no part" not in head.sentence and head.sentence == content.method[0]
    assert "uncorrected for selection, with an interval that holds for all configurations at once" in head.quote


@pytest.mark.parametrize("method", [ho.estimates.MABT, ho.estimates.DeLong, ho.estimates.Tilting])
def test_the_best_of_finalists_is_not_called_corrected(method: Any) -> None:
    content = content_by(method(candidates=0.5), alternative="greater")
    head = content.headline

    assert head.sentence.startswith("Of 5 configurations, 3 finalists were selected on one part of the rows,")
    assert "the value is still optimistic" in head.sentence and "no part in the choice" not in head.sentence
    assert ", the choice among 3 finalists in the interval only," in head.quote
    assert "3 finalists were preselected" in content.method[0]
    sources = "".join(citation.text for citation in content.citations)
    assert ("Šidák" in sources) == (method is not ho.estimates.MABT)


def test_every_setting_has_a_label_and_words_of_its_own() -> None:
    for method in map(method_of, ("delong", "bbc_f", "naive_bootstrap", "tt")):
        said = content_by(method).settings
        assert not [label for label in said if label.startswith("N ") or label in ("Level for each", "Unit")]
        assert not {"pooled", "folds", "best"} & set(said.values())


def test_an_ensemble_has_members_and_no_pictures_of_one_of_them() -> None:
    asked = asked_of(selection=ho.selection.TopK(3))
    estimate = answer(BBC(), asked.evidence(BBC()))
    content = file_facts(estimate, asked)

    assert content.diagnostics is None
    assert content.ranking is not None and not any(row.is_winner for row in content.ranking.shown)
    assert labels(content)["Weights"].count("configuration ") == 3
    assert content.headline.quote.startswith("ROC AUC of the ensemble of 3 configurations selected among 5:")
    assert content.headline.sentence.startswith("Building an ensemble from 5 configurations")
    assert content.ranking.weighs and "mean weight in ensembles built on resampled rows." in render_html(content)


def test_facts_of_survival_count_the_events() -> None:
    y = np.array([(event, time) for event, time in zip([True, True, False] * 20, range(1, 61), strict=True)],
                 dtype=[("event", bool), ("time", float)])  # fmt: skip
    asked = asked_of("concordance_index", y)
    content = file_facts(answer(BBC(), asked.evidence(BBC())), asked)

    assert labels(content)["Rows"] == "60 (40 with the event)"
    assert content.diagnostics is None or content.diagnostics.roc == ()


def test_a_flag_of_two_further_metrics_is_said_of_both(make_evaluation: Make) -> None:
    evaluation = make_evaluation(metrics=("roc_auc", "accuracy", "neg_log_loss"))
    few = {_flag("few_bootstraps"): "Few."}
    own = {"roc_auc": {}, "accuracy": few, "neg_log_loss": few}
    estimates = {name: replace(estimate, flags=own[name]) for name, estimate in evaluation.estimates.items()}
    shown = [flag.text for flag in facts(replace(evaluation, estimates=estimates)).flags]
    assert shown == ["accuracy: Few.", "neg_log_loss: Few."]
