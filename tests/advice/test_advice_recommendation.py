"""Which method and interval are recommended, for which case, and with which figures."""

import json
import math

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

import heldout as ho
from heldout.advice.recommendation import CASES
from heldout.errors import InputError
from heldout.estimates import METHODS
from heldout.estimates.coverage import CellEvidence, from_csv, metric_in_bed, nearest_cell
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


@pytest.fixture(autouse=True)
def bed(monkeypatch):
    """A bed of a few cells; a test can have others."""

    def has(cells):
        monkeypatch.setattr("heldout.estimates.coverage.installed_bed", lambda: cells)

    has(BED)
    return has


def of(metric="accuracy", *, n_rows=100, n_configurations=57, **settings):
    return ho.estimates.recommendation(metric, n_rows=n_rows, n_configurations=n_configurations, **settings)


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
    assert found.sentences[0] == f"For {CASES[case].have}, use {CASES[case].method}."


def test_every_method_that_is_recommended_exists():
    for case in CASES.values():
        name = case.method.partition("(")[0]
        assert name == "nested_cv" or name in METHODS
        name = name if name == "nested_cv" else method_of(name).name
        assert name.replace("_", "") in case.ask.lower().replace("_", "")


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


def test_the_kind_of_candidates_is_that_of_the_search(bed):
    assert of(n_configurations=1).figures.kind == "one"
    assert of(alike=True).figures.kind == "alike"
    assert of().figures.kind == "varied"
    bed([line(kind="varied", part="hold-out", metric="roc_auc")])
    assert of("roc_auc", folds=1, alike=True).figures.part == "hold-out"


def test_the_sentences_have_the_figures_of_the_cell():
    assert of().sentences[2:] == (
        "In 400 real searches on 100 rows (50 of the rarer class) with 57 configurations of several estimators "
        "(accuracy) its 95% interval covers 0.950 ± 0.011, and its bias is −0.010 ± 0.002; a positive bias "
        "flatters.",
        "There bbc's percentiles cover 0.950 ± 0.011, with a bias of −0.010 ± 0.002; the interval of shrinkage is "
        "0.80 times as wide, and its root mean square error 0.90 ± 0.02 times as large.",
    )
    assert len(of(demand="bbc").sentences) == 3, "bbc is not compared with itself"


def test_it_warns_where_the_figures_may_not_hold(bed):
    assert of().warnings == ()
    assert of("neg_log_loss").warnings == ()
    assert "has no f1; the figures are those of accuracy" in of("f1").warnings[0]
    assert "5 folds covers less than its level, which needs 10 folds" in of(only_scores=True).warnings[0]
    assert of(only_scores=True, folds=10).warnings == ()
    low = [line(coverage=0.90), line("bbc", coverage=0.93)]
    bed(low)
    assert "the interval covers 0.900, less than its level" in of().warnings[0]
    wider = [
        line("corrected_t", coverage=0.95, width_ratio=width, rows=rows) for width, rows in ((1.5, 100), (1, 40))
    ]
    bed([low[0], *wider])
    assert "corrected_t covers 0.950 there, at 1.50 times the width" in of().warnings[0]
    bed([line(coverage=0.8), line("bbc", coverage=0.85)])
    assert "No method of the test bed holds its level there" in of().warnings[0]
    bed([line(coverage=0.93)])
    assert of().warnings == (), "chance explains it"


def test_without_evidence_there_are_no_figures(bed):
    bed([])
    found = of()

    assert (found.figures, found.reference, len(found.sentences), found.warnings) == (None, None, 2, ())
    assert found.to_frame().empty
    assert repr(found) == f"Recommendation('shrinkage' for {CASES['choice'].have})"


def test_of_a_scorer_that_cannot_be_opened_there_are_no_figures():
    found = of(None, only_scores=True, n_configurations=1)
    assert (found.metric, found.method, found.figures) == (None, "corrected_t", None)


def test_the_result_is_shown_in_every_form():
    found = of("roc_auc")

    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert document["figures"]["coverage"] == 0.95
    assert document["reference"]["method"] == "bbc"
    assert list(found.to_frame()["method"]) == ["shrinkage", "bbc"]
    assert found.ask in str(found) and all(len(text) <= 80 for text in str(found).splitlines())
    assert "covers 0.950" in repr(found)
    assert "method=&quot;shrinkage&quot;" in found._repr_html_()
    assert len(of("roc_auc", demand="bbc").to_frame()) == 1


@pytest.mark.parametrize("metric", DECLARED, ids=lambda metric: metric.name)
def test_every_metric_is_like_one_of_the_test_bed(metric):
    assert metric_in_bed(metric) in ("accuracy", "roc_auc", "log_loss", "root_mean_squared_error", "r2")


def test_a_metric_of_the_test_bed_is_like_itself():
    for name in ("accuracy", "roc_auc", "log_loss", "root_mean_squared_error", "r2"):
        assert metric_in_bed(metric_named(name)) == name


def test_an_empty_cell_is_nan():
    text = (
        "part,kind,metric,rows,rarer,configurations,method,repetitions,bias,bias_error,rmse_ratio,rmse_ratio_error,"
    )
    text += "intervals,coverage,coverage_error,width_ratio,bound_coverage,bound_coverage_error\n"
    (found,) = from_csv(CellEvidence, text + "tables,one,r2,40,,1,cv,400,0.01,0.001,0.9,0.01,0,,,,,\n")

    assert math.isnan(found.coverage) and found.rarer == 0 and not found.covers_too_little
    place = {"part": "tables", "kind": "one", "metric": "r2", "n_rows": 50}
    assert nearest_cell([found], "cv", **place) is found
    assert nearest_cell([found], "bbc", **place) is None


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
    X = np.random.default_rng(0).normal(size=(90, 3))
    return ho.advise(X, np.arange(90) % 2, configurations, **{"seconds": 0, "random_state": 0, **settings})


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
        advised(several, adaptive=1)
