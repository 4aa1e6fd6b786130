"""Which method and interval are recommended, for which case, and with which figures."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

import heldout as ho
from heldout.advice.adviser import advice_on
from heldout.advice.problem import problem_of
from heldout.advice.recommendation import CASES, Situation, recommended
from heldout.data.task import TaskKind
from heldout.errors import InputError
from heldout.estimates import METHODS
from heldout.estimates.coverage import CellEvidence, bed_from_csv, metric_in_bed, nearest_cell
from heldout.estimates.methods import method_of
from heldout.metrics.named import DECLARED, metric_named


def line(method="shrinkage", *, rows=100, kind="varied", metric="accuracy", part="tables", coverage=0.95, **other):
    known = {
        "repetitions": 400, "bias": -0.004, "bias_error": 0.002, "rmse_ratio": 0.9, "rmse_ratio_error": 0.02,
        "intervals": 400, "coverage": coverage, "coverage_error": 0.011, "width_ratio": 0.8,
        "bound_coverage": 0.96, "bound_coverage_error": 0.01,
    }  # fmt: skip
    configurations = {"one": 1, "alike": 10, "varied": 57}[kind]
    return CellEvidence(part, kind, metric, rows, rows // 2, configurations, method, **(known | other))


BED = [
    line(method, rows=rows, kind=kind, metric=metric, bias=-rows / 1e4)
    for metric in ("accuracy", "roc_auc", "log_loss", "root_mean_squared_error", "r2")
    for rows in (40, 100, 300)
    for kind in ("one", "alike", "varied")
    for method in ("bbc", "shrinkage", "bbc_f")
]


def of(metric="accuracy", *, n_rows=100, n_configurations=57, bed=BED, **settings):
    return recommended(Situation(metric_named(metric), n_rows, n_configurations, **settings), bed)


@pytest.mark.parametrize(
    ("settings", "case"),
    [
        ({}, "choice"),
        ({"n_configurations": 1}, "one"),
        ({"folds": 1}, "hold-out"),
        ({"folds": 1, "n_configurations": 1}, "hold-out, one accuracy"),
        ({"folds": 1, "n_configurations": 1, "metric": "roc_auc"}, "hold-out"),
        ({"only_scores": True}, "fold scores"),
        ({"only_scores": True, "n_configurations": 1}, "fold scores of one"),
        ({"only_scores": True, "adaptive": True}, "adaptive"),
        ({"adaptive": True, "demand": "nested_cv"}, "nested"),
        ({"demand": "bbc"}, "published"),
    ],
)
def test_every_case_is_found(settings, case):
    found = of(**settings)

    assert (found.case, found.method) == (case, CASES[case].method)
    assert found.sentences[0].startswith(f"For {CASES[case].have}, use {CASES[case].method}.")


def test_every_method_that_is_recommended_exists():
    for case in CASES.values():
        if case.method == "nested_cv":
            assert case.labels == () and hasattr(ho, "nested_cv")
            continue
        label = case.labels[0]
        assert label.partition("(")[0] in METHODS
        assert method_of(label.partition("(")[0]).name in case.ask.lower().replace(
            "clopperpearson", "clopper_pearson"
        )


def test_every_call_answers():
    rng = np.random.default_rng(0)
    y, folds = np.arange(60) % 2, np.arange(60) % 10
    for name in ("choice", "one", "hold-out", "hold-out, one accuracy", "published"):
        columns = 1 if name in ("one", "hold-out, one accuracy") else 4
        predictions = y[:, None] ^ (rng.random((60, columns)) < 0.3)
        code = CASES[name].ask.format(metric="accuracy").replace('"accuracy"', '"accuracy", response="labels"')
        found = eval(code, {"ho": ho, "np": np, "y": y, "predictions": predictions, "folds": folds})
        assert found.interval is not None
        assert not any(flag.name == "FOLDS_DEPENDENT" for flag in found.flags)
    for name, columns in (("fold scores", 4), ("fold scores of one", 1)):
        found = eval(CASES[name].ask, {"ho": ho, "scores": rng.random((10, columns))})
        assert found.interval is not None and ho.Flag.UNCORRECTED not in found.flags


@pytest.mark.parametrize(("n_rows", "rows"), [(2, 40), (60, 40), (70, 100), (100, 100), (174, 300), (10**6, 300)])
def test_the_nearest_cell_in_rows_counts(n_rows, rows):
    found = of(n_rows=n_rows)

    assert found.figures == line(rows=rows, bias=-rows / 1e4)
    assert found.reference == line("bbc", rows=rows, bias=-rows / 1e4)
    assert any("the nearest cell of the test bed has" in text for text in found.warnings) == (n_rows in (2, 10**6))


def test_the_kind_of_candidates_is_that_of_the_search():
    assert of(n_configurations=1).figures.kind == "one"
    assert of(alike=True).figures.kind == "alike"
    assert of().figures.kind == "varied"
    holding_out = [line(kind="varied", part="hold-out", metric="roc_auc")]
    assert of("roc_auc", folds=1, alike=True, bed=holding_out).figures.part == "hold-out"


def test_the_sentence_has_the_figures_of_the_cell():
    (_, figures) = of().sentences

    assert figures == (
        "In 400 real searches on 100 rows (50 of the rarer class) with 57 configurations of several estimators "
        "(accuracy) its 95% interval covers .950 ± .011 and is 0.80 times as wide as that of bbc's percentiles, "
        "which covers .950 ± .011. Its bias is −0.010 ± 0.002 (bbc −0.010 ± 0.002), its root mean square error "
        "0.90 ± 0.02 times that of bbc; a positive bias flatters."
    )
    assert of(demand="bbc").sentences[1].endswith("covers .950 ± .011. Its bias is −0.010 ± 0.002; a positive bias "
                                                  "flatters.")  # fmt: skip


def test_it_warns_where_the_figures_may_not_hold():
    assert of().warnings == ()
    assert of("neg_log_loss").warnings == ()
    assert "has no f1: the figures are those of accuracy" in of("f1").warnings[0]
    low = [line(coverage=0.90), line("bbc", coverage=0.93)]
    assert "the interval covers .900 (bbc's percentiles .930), less than its level" in of(bed=low).warnings[0]
    wider = [
        line("corrected_t", coverage=0.95, width_ratio=width, rows=rows) for width, rows in ((1.5, 100), (1, 40))
    ]
    assert "corrected_t covers .950 there, at 1.50 times the width" in of(bed=[low[0], *wider]).warnings[0]
    poor = [line(coverage=0.8), line("bbc", coverage=0.85)]
    assert "No method of the test bed holds its level there" in of(bed=poor).warnings[0]
    assert of(bed=[line(coverage=0.93)]).warnings == (), "chance explains it"
    assert "With 5 folds, fewer than 10" in of(only_scores=True).warnings[0]
    assert of(only_scores=True, folds=10).warnings == ()


def test_without_evidence_there_are_no_figures():
    found = of(bed=[])

    assert (found.figures, found.reference, len(found.sentences), found.warnings, found.rows()) == (
        None, None, 1, (), [],
    )  # fmt: skip
    assert repr(found) == f"Recommendation('shrinkage' for {CASES['choice'].have})"


def test_the_result_is_shown_in_every_form():
    found = of("roc_auc")

    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert document["figures"]["coverage"] == 0.95
    assert document["reference"]["method"] == "bbc"
    assert list(found.to_frame()["method"]) == ["shrinkage", "bbc"]
    assert found.ask in str(found) and all(len(text) <= 110 for text in str(found).splitlines())
    assert "covers .950 ± .011" in repr(found)
    assert "method=&quot;shrinkage&quot;" in found._repr_html_()
    assert len(of("roc_auc", demand="bbc").rows()) == 1


@pytest.mark.parametrize("metric", DECLARED, ids=lambda metric: metric.name)
def test_every_metric_is_like_one_of_the_test_bed(metric):
    assert metric_in_bed(metric) in ("accuracy", "roc_auc", "log_loss", "root_mean_squared_error", "r2")


def test_a_metric_of_the_test_bed_is_like_itself():
    for name in ("accuracy", "roc_auc", "log_loss", "root_mean_squared_error", "r2"):
        assert metric_in_bed(metric_named(name)) == name
    assert metric_in_bed(None, TaskKind.REGRESSION) == "root_mean_squared_error"
    assert metric_in_bed(None, TaskKind.BINARY) == "accuracy"


def test_an_empty_cell_is_nan():
    text = (
        "part,kind,metric,rows,rarer,configurations,method,repetitions,bias,bias_error,rmse_ratio,rmse_ratio_error,"
    )
    text += "intervals,coverage,coverage_error,width_ratio,bound_coverage,bound_coverage_error\n"
    (found,) = bed_from_csv(text + "tables,one,r2,40,,1,cv,400,0.01,0.001,0.9,0.01,0,,,,,\n")

    assert math.isnan(found.coverage) and found.rarer == 0 and not found.covers_too_little
    place = {"part": "tables", "kind": "one", "metric": "r2", "n_rows": 50}
    assert nearest_cell([found], ["bbc", "cv"], **place) is found
    assert nearest_cell([found], ["bbc"], **place) is None


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"n_rows": 1}, "n_rows must be an integer of at least 2, got 1"),
        ({"n_configurations": 0}, "n_configurations must be an integer of at least 1, got 0"),
        ({"n_configurations": 2.5}, "got 2.5"),
        ({"folds": True}, "folds must be an integer of at least 1, got True"),
        ({"adaptive": "yes"}, "adaptive must be True or False, got 'yes'"),
        ({"demand": "cv"}, "demand must be one of nested_cv, bbc, or None, got 'cv'"),
    ],
)
def test_wrong_arguments_are_refused(settings, match):
    with pytest.raises(InputError, match=match):
        ho.estimates.recommendation("accuracy", **{"n_rows": 100, "n_configurations": 3, **settings})
    with pytest.raises(InputError, match="nonsense"):
        ho.estimates.recommendation("nonsense", n_rows=100, n_configurations=3)


def advised(configurations, **settings):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    checked = {"scoring": None, "cv": 5, "inner": None, "groups": None, "n_jobs": None, "random_state": 0}
    adaptive = settings.pop("adaptive", False)
    problem = problem_of(X, np.arange(90) % 2, configurations, **(checked | settings))
    return advice_on(problem, 0.0, evidence=(), adaptive=adaptive, bed=BED)


def test_the_advice_on_a_search_recommends_for_what_it_will_leave():
    several = [
        ("lr", LogisticRegression(), {"C": [1, 2]}),
        ("knn", KNeighborsClassifier(), {"n_neighbors": [1, 3]}),
    ]
    found = advised(several)

    assert (found.recommendation.case, found.recommendation.figures.kind) == ("choice", "varied")
    assert set(found.recommendation.sentences) <= set(found.sentences)
    assert found.to_dict()["recommendation"]["method"] == "shrinkage"
    assert advised(several[:1]).recommendation.figures.kind == "alike"
    assert advised(LogisticRegression()).recommendation.case == "one"
    assert advised(several, adaptive=True).recommendation.case == "adaptive"
    assert advised(several, scoring=lambda model, X, y: 0.5).recommendation.case == "fold scores"
    assert advised(several, cv=[(np.arange(60), np.arange(60, 90))]).recommendation.case == "hold-out"
    in_groups = advised(several, groups=np.arange(90) // 2).recommendation
    assert (in_groups.n_rows, in_groups.figures.rows) == (45, 40)
    with pytest.raises(InputError, match="adaptive must be True or False"):
        ho.advise(np.zeros((9, 1)), np.arange(9) % 2, LogisticRegression(), adaptive=1)
