"""Order, selection shares, failures and families of the configurations, and slices through their parameters."""

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
    MOST_SHOWN,
    ConfigurationParts,
    best_of_families,
    parameters_of,
    parts_in_name,
    parts_of,
    rank_configurations,
    share_text,
)
from heldout.scales import Scale, scale_of

AUC, LOSS = scale_of("roc_auc", True), scale_of("log_loss", False)


def rank(scores: np.ndarray, scale: Scale = AUC, **changes: object) -> Facts:
    settings: dict[str, object] = {
        "fold_scores": scores, "pooled": None, "selected": None, "winner": 0, "failures": {}, "by_mean": True,
    } | changes  # fmt: skip
    names = [f"c{j}" for j in range(np.shape(scores)[1])]
    return rank_configurations(names, scale, **settings)  # type: ignore[arg-type]


def test_best_first_ties_by_index_and_spread_by_hand() -> None:
    ranking = rank(np.array([[0.5, 0.9, 0.7], [0.7, 0.5, 0.7]]))
    assert [(row.name, row.mean, row.spread) for row in ranking.shown] == [
        ("c1", pytest.approx(0.7), pytest.approx(0.2)),
        ("c2", pytest.approx(0.7), pytest.approx(0.0)),
        ("c0", pytest.approx(0.6), pytest.approx(0.1)),
    ]
    assert (ranking.low, ranking.high) == (0.5, 0.9)


def test_losses_rank_the_lowest_first_and_negated_ones_are_turned() -> None:
    losses = np.array([[0.5, 0.2, 0.9]])
    assert [row.name for row in rank(losses, LOSS).shown] == ["c1", "c0", "c2"]
    turned = rank(-losses, scale_of("neg_log_loss", True))
    assert [(row.name, row.mean) for row in turned.shown] == [("c1", 0.2), ("c0", 0.5), ("c2", 0.9)]
    assert all(row.spread is None for row in turned.shown)  # of a single fold score
    assert turned.ranked_by == "split"


def test_undefined_folds_are_left_out_and_nan_never_ranks_first() -> None:
    ranking = rank(np.array([[np.nan, 0.4, np.nan], [0.6, 0.4, np.nan]]))
    assert [(row.name, row.mean) for row in ranking.shown] == [("c0", 0.6), ("c1", 0.4), ("c2", None)]


def test_pooled_scores_rank_where_the_search_pooled() -> None:
    scores = np.array([[0.9, 0.1]])
    assert rank(scores, pooled=np.array([0.2, 0.8]), by_mean=False).shown[0].name == "c1"
    assert rank(scores, pooled=np.array([0.2, 0.8]), by_mean=True).shown[0].name == "c0"


def test_all_are_listed_and_of_very_many_the_rest_is_summed_up(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = np.linspace(1.0, 0.5, 40)[None, :]
    selected = np.full(40, 1 / 40)
    ranking = rank(scores, winner=35, selected=selected)
    assert [row.rank for row in ranking.shown] == [*range(1, 41)] and ranking.rest is None
    assert [row.rank for row in ranking.shown if not row.is_more] == [*range(1, MOST_SHOWN + 1), 36]
    monkeypatch.setattr("heldout.report.ranking.MOST_LISTED", 30)
    short = rank(scores, winner=35, selected=selected)
    assert [row.rank for row in short.shown] == [*range(1, 31), 36]
    assert (short.rest.n, short.rest.selected) == (9, pytest.approx(9 / 40))
    assert (short.rest.best, short.rest.worst) == (pytest.approx(0.615, abs=0.001), 0.5)
    monkeypatch.setattr("heldout.report.ranking.MOST_LETTERS", 25)
    assert len(rank(scores, selected=selected).shown) == MOST_SHOWN  # never fewer than are shown at first


def test_families_are_of_all_that_are_ranked_and_name_those_that_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heldout.report.ranking.MOST_LISTED", 20)
    parts = [ConfigurationParts(family) for family in "a" * 25 + "b" * 4 + "c"]
    ranking = rank(
        np.linspace(1.0, 0.5, 30)[None, :],
        selected=np.full(30, 1 / 30),
        parts=parts,
        dropped={28},
        failures={29: "no"},
    )
    assert [(each.family, each.best.name, each.configurations) for each in ranking.families] == [
        ("a", "c0", 25), ("b", "c25", 3),
    ]  # fmt: skip
    assert [each.selected for each in ranking.families] == pytest.approx([25 / 30, 3 / 30])
    assert [row.name for row in ranking.shown] == [*(f"c{j}" for j in range(20)), "c25"]
    assert ranking.families_out == ("c",)


def test_failures_are_no_candidates_and_stand_together_by_message() -> None:
    ranking = rank(np.array([[0.5, 0.9, 0.7, 0.6]]), failures={3: "no", 1: "no", 2: "other"})
    assert [row.name for row in ranking.shown] == ["c0"]
    assert [(failure.message, failure.names) for failure in ranking.failures] == [
        ("no", ("c1", "c3")), ("other", ("c2",)),
    ]  # fmt: skip


def test_columns_are_those_that_hold_something() -> None:
    assert rank(np.array([[0.5, 0.6]])).columns == ("mean",)
    both = rank(np.array([[0.5, 0.6], [0.5, 0.6]]), pooled=np.ones(2), selected=np.array([0.0, 1.0]))
    assert both.columns == ("mean", "spread", "pooled", "selected", "folds")


@pytest.mark.parametrize(("share", "text"), [(0, "0"), (0.001, "< 1 %"), (0.5, "50 %"), (1.0, "100 %")])
def test_share_text(share: float, text: str) -> None:
    assert share_text(share) == text


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
