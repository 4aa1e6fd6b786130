"""``ho.compare_estimates``: every method as alone, on the same draws; the others say why not."""

import json
import math
from typing import Any

import numpy as np
import pytest

import heldout as ho
from heldout.errors import InputError
from heldout.estimates import BBC, CV, METHODS, Coverage
from heldout.estimates.coverage import installed_bed

N, C = 120, 6


@pytest.fixture
def asked() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N)
    scores = y[:, None] * rng.random(C) + rng.random((N, C))
    return {
        "y_true": y,
        "predictions": scores,
        "metric": "roc_auc",
        "folds": np.arange(N) % 8,
        "n_bootstraps": 100,
        "random_state": 3,
    }


def test_each_estimate_is_that_of_the_method_alone_and_others_have_a_reason(
    asked: dict[str, Any],
) -> None:
    found = ho.compare_estimates(**asked)

    assert {"cv", "tt", "bbc"} <= set(found)
    for name, estimate in found.items():
        assert estimate.to_dict() == ho.estimate(**asked, method=name).to_dict(), name
    assert {*found.estimates, *found.refused} == set(METHODS)
    assert not set(found.estimates) & set(found.refused)
    assert list(found.estimates) == [name for name in METHODS if name in found]
    assert all(reason and not reason.endswith(".") for reason in found.refused.values())
    for name in found.refused:
        with pytest.raises(ho.InputError):
            ho.estimate(**asked, method=name)


def test_a_seed_that_is_drawn_is_the_same_for_all(asked: dict[str, Any]) -> None:
    found = ho.compare_estimates(**asked | {"random_state": None}, methods=["cv", "bbc"])

    assert len({estimate.provenance["entropy"] for estimate in found.values()}) == 1


def test_a_method_that_does_not_apply_has_a_reason_and_the_others_have_values(asked: dict[str, Any]) -> None:
    found = ho.compare_estimates(**asked | {"folds": None}, methods=["tt", "cv", "bbc"])

    assert list(found) == ["cv", "bbc"]
    assert found.refused == {"tt": "it compares scores fold by fold; give `folds=`, one label per row"}
    with pytest.raises(KeyError, match="tt does not apply: it compares scores fold by fold"):
        found["tt"]


def test_configured_methods_and_names_of_ones_own(asked: dict[str, Any]) -> None:
    named = ho.compare_estimates(**asked, methods={"plain": BBC(), "uncorrected": "cv"})

    assert list(named) == ["plain", "uncorrected"]
    assert named.main == "plain"
    assert named["plain"].to_dict() == ho.estimate(**asked, method="bbc").to_dict()


@pytest.mark.parametrize(
    ("methods", "said"),
    [
        ("bbc", "methods must be 'all' or a list of methods such as"),
        ([], "methods must be 'all' or a list"),
        (["bbc", BBC()], "methods holds 'bbc' twice"),
        (["bbc", "nonsense"], "method must be one of"),
    ],
)
def test_methods_that_cannot_be_compared_are_refused(asked: dict[str, Any], methods: Any, said: str) -> None:
    with pytest.raises(ho.InputError, match=said):
        ho.compare_estimates(**asked, methods=methods)


def test_where_none_applies_the_reason_is_raised(asked: dict[str, Any]) -> None:
    with pytest.raises(
        ho.InputError, match=r"^it compares scores fold by fold; give `folds=`, one label per row\.$"
    ):
        ho.compare_estimates(**asked | {"folds": None}, methods=["tt"])
    one_class = asked | {"y_true": np.eye(1, N, dtype=int)[0]}
    with pytest.raises(ho.InputError, match="class 1 has 1 row"):
        ho.compare_estimates(**one_class, methods=["bbc"])


def test_warnings_come_once_however_many_methods_say_them(asked: dict[str, Any]) -> None:
    asked["predictions"][:, 2] = np.inf

    with pytest.warns(ho.HeldoutWarning) as caught:
        ho.compare_estimates(**asked, methods=["cv", "bbc", "tt"])

    assert [str(warning.message) for warning in caught] == [
        "1 of 6 configurations failed and could not be selected: configuration 2 (it predicted an infinite value)."
    ]


def test_the_main_one_is_shrinkage_else_the_first_with_an_interval(asked: dict[str, Any]) -> None:
    found = ho.compare_estimates(**asked, methods=["cv", "tt", "bbc", "shrinkage"])

    assert found.main == "shrinkage"
    assert type(found)({"cv": found["cv"], "bbc": found["bbc"]}, {}).main == "bbc"
    assert type(found)({"cv": found["cv"], "tt": found["tt"]}, {}).main == "cv"
    assert type(found)({"cv": found["cv"], "other": found["bbc"]}, {}).main == "other"


def test_the_frame_has_a_row_a_method(asked: dict[str, Any]) -> None:
    found = ho.compare_estimates(**asked, methods=["cv", "bbc"])
    frame = found.to_frame()

    assert frame.columns.tolist() == [
        "method", "value", "low", "high", "coverage", "uncorrected", "optimism", "selected_name", "n_rows_used",
        "flags", "quantity",
    ]  # fmt: skip
    assert frame["method"].tolist() == ["cv", "bbc"]
    assert frame["value"].tolist() == [found["cv"].value, found["bbc"].value]
    assert math.isnan(frame["low"][0]) and frame["low"][1] == found["bbc"].interval.low
    assert frame["flags"][0] == "no_interval, uncorrected" and "whole search" in frame["quantity"][1]


def test_the_text_is_a_table(asked: dict[str, Any]) -> None:
    found = ho.compare_estimates(**asked | {"folds": None}, methods=["cv", "tt", "bbc"])
    lines = str(found).splitlines()

    assert lines[0] == f"roc_auc of {found['bbc'].selected_name}"
    assert lines[1].split() == ["method", "value", "interval", "(95%)", "uncorrected", "optimism", "note"]
    assert lines[2].split()[:3] == ["cv", f"{found['cv'].value:.3f}", "none"]
    assert lines[3].split()[:2] == [">bbc", f"{found['bbc'].value:.3f}"]
    assert lines[5].startswith("In 200 real searches on 100 rows (47 of the rarer class) with 10 configurations")
    assert lines[6].startswith("  of one estimator (ROC AUC)")
    assert lines[-2:] == [
        "tt does not apply: it compares scores fold by fold; give `folds=`, one label per",
        "  row",
    ]
    assert lines[1].index("interval") == lines[3].index(f"{found['bbc'].interval.low:.3f}")
    assert repr(found) == "Comparison(roc_auc: cv, bbc; 1 do not apply)"
    assert found._repr_html_().count("<tr") == 3


def test_json_holds_everything(asked: dict[str, Any]) -> None:
    found = ho.compare_estimates(**asked | {"folds": None}, methods=[CV(), "tt"])

    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert document == {
        "main": "cv",
        "estimates": {"cv": found["cv"].to_dict()},
        "refused": {"tt": "it compares scores fold by fold; give `folds=`, one label per row"},
    }


def test_the_coverage_beside_is_that_of_the_nearest_cell(asked: dict[str, Any]) -> None:
    found = ho.compare_estimates(**asked, methods=["cv", "bbc", "wald_cv", "tt"])
    cells = [cell for cell in installed_bed() if (cell.kind, cell.metric, cell.rows) == ("alike", "roc_auc", 100)]
    of_bbc = [cell for cell in cells if (cell.part, cell.method) == ("tables", "bbc")]
    bbc = max(of_bbc, key=lambda cell: cell.rarer)  # as many rows of each class as here

    assert set(found.coverage) == {"bbc", "wald_cv"}, "cv has no interval, and tt was not scored"
    assert found.coverage["bbc"] == found["bbc"].coverage == Coverage(bbc.coverage, bbc.coverage_error, bbc.where)
    frame = found.to_frame().set_index("method")
    assert frame["coverage"]["bbc"] == bbc.coverage and math.isnan(frame["coverage"]["tt"])
    for sentence, method in zip(found.coverage_sentences, ["bbc", "wald_cv"], strict=True):  # of other searches
        assert sentence.endswith(f"95% intervals covered: {method} {found.coverage[method].share:.3f}.")
        assert sentence in found.text(None) and sentence in found._repr_html_()


@pytest.mark.parametrize(
    ("method", "call"),
    [("NCV", "ho.nested_cv"), (".632+", "ho.bootstrap_validate"), ("Harrell", "ho.bootstrap_validate")],
)
def test_methods_that_need_new_fits_name_their_call(method: str, call: str) -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match=rf"needs the data and new fits: .*{call}"):
        ho.estimate(rng.integers(0, 2, 20), rng.random((20, 2)), metric="roc_auc", method=method)
