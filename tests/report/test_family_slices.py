"""Families and parameters of configurations, and the slices that they make."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from heldout.configurations import make_configurations
from heldout.report.entries import Facts
from heldout.report.exploration import slices_of
from heldout.report.ranking import (
    ConfigurationParts,
    best_of_families,
    parameters_of,
    parts_in_name,
    parts_of,
    rank_configurations,
)
from heldout.scales import scale_of


def ranked(parts: list[ConfigurationParts], scores: list[float]) -> tuple[Facts, ...]:
    names = [f"c{j}" for j in range(len(parts))]
    return rank_configurations(
        names, scale_of("roc_auc", True), fold_scores=np.array([scores, scores]), pooled=None,
        selected=np.full(len(parts), 1 / len(parts)), winner=0, failures={}, by_mean=True, parts=parts,
    ).shown  # fmt: skip


def test_parts_name_a_parameter_by_its_last_part_if_one_alone_has_it() -> None:
    pipe = make_pipeline(StandardScaler(), SVC())
    made = make_configurations(
        [
            ("svm", pipe, {"svc__C": [np.float64(0.5)], "svc__shrinking": [True]}),
            ("logistic", LogisticRegression(), {"C": [np.inf]}),
            ("two", make_pipeline(StandardScaler(), StandardScaler(), SVC()),
             {"standardscaler-1__with_mean": [True], "standardscaler-2__with_mean": [False]}),
        ]
    )  # fmt: skip
    svm, logistic, two = parts_of(made)
    assert svm == ConfigurationParts("svm", {"C": 0.5, "shrinking": True})
    assert logistic == ConfigurationParts("logistic", {"C": "inf"})
    assert two.parameters == {"standardscaler-1__with_mean": True, "standardscaler-2__with_mean": False}


@pytest.mark.parametrize("name", ["plain", "odd (", "knn (5)", "a (b) (c)"])
def test_names_of_another_form_are_families(name: str) -> None:
    assert parts_in_name(name) == ConfigurationParts(name)


def test_names_of_the_library_are_read_back() -> None:
    made = make_configurations(
        [("m", LogisticRegression(), {"C": [0.1], "solver": ["saga"], "warm_start": [True]})]
    )
    assert parts_in_name(made.names[0]) == parts_of(made)[0]


def test_a_slice_has_the_points_of_its_family_and_the_best_of_each_value() -> None:
    parts = [
        ConfigurationParts("a", {"C": 0.01, "k": 1}),
        ConfigurationParts("a", {"C": 1.0, "k": 1}),
        ConfigurationParts("a", {"C": 1.0, "k": 1}),
        ConfigurationParts("b", {"kernel": "rbf"}),
        ConfigurationParts("b", {"kernel": "poly"}),
        ConfigurationParts("b", {"kernel": None}),
    ]
    rows = ranked(parts, [0.6, 0.7, 0.8, 0.9, 0.5, np.nan])
    kernel, c = slices_of(rows)
    assert (kernel.family, kernel.axis.name, kernel.axis.levels) == ("b", "kernel", ("poly", "rbf"))
    assert kernel.axis.values.tolist() == [1, 0] and kernel.leaders == (1, 0)
    assert [row.score for row in kernel.configurations] == [0.9, 0.5]
    assert (c.axis.name, c.axis.values.tolist(), c.axis.is_logarithmic) == ("C", [1.0, 1.0, 0.01], True)
    assert [c.configurations[place].name for place in c.leaders] == ["c0", "c2"]
    assert c.reach == pytest.approx(0.2)
    families = best_of_families(rows)
    assert [(each.family, each.best.name, each.configurations) for each in families] == [
        ("b", "c3", 3),
        ("a", "c2", 3),
    ]
    assert families[0].selected == pytest.approx(0.5)


def test_many_values_have_the_best_of_each_eighth() -> None:
    values = np.random.default_rng(0).uniform(0, 1, 200)
    (found,) = slices_of(ranked([ConfigurationParts("a", {"x": float(v)}) for v in values], values.tolist()))
    assert not found.axis.is_logarithmic  # although they span decades
    assert found.axis.values[list(found.leaders)].tolist() == np.sort(values)[24::25].tolist()


def test_defaults_are_those_of_the_class_that_holds_the_parameter() -> None:
    found = {each.name: each.is_default for each in parameters_of(make_pipeline(StandardScaler(), SVC(C=2.0)))}
    assert found["svc__gamma"] and not found["svc__C"]
    assert found["standardscaler__with_mean"] and found["verbose"]


def test_without_two_of_a_model_there_are_no_families() -> None:
    rows = ranked(
        [ConfigurationParts("a"), ConfigurationParts("b", {"C": 1.0}), ConfigurationParts("c")], [0.5, 0.6, 0.7]
    )
    assert {row.family for row in rows} == {""} and len(best_of_families(rows)) == 1
    assert slices_of(rows) == ()
