"""Configurations: what a grid gives, and what they are recognised by."""

import functools
import hashlib
import json
import math
import re
from array import array
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special
from forked import Forked
from sklearn.base import BaseEstimator
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process.kernels import RBF
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics import accuracy_score, get_scorer
from sklearn.model_selection import KFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler
from sklearn.svm import SVC

from heldout.configurations import (
    Configurations,
    NotHashableError,
    canonical_form,
    estimators_within,
    make_configurations,
    source_of,
)
from heldout.errors import InputError
from heldout.metrics.named import scorer
from heldout.protocols import Imputation, k_folds
from heldout.protocols.validation.arguments import no_scores

PIPELINE = Pipeline([("scale", StandardScaler()), ("svc", SVC())])


def ids(estimator: Any, grid: Any = None) -> list[str]:
    return [key for key, _ in make_configurations(estimator, grid).identities()]


def test_a_grid_is_read_as_scikit_learn_reads_it() -> None:
    found = make_configurations(SVC(), [{"C": [1, 2], "gamma": [0.1]}, {"kernel": ["linear"]}])
    assert found.params == [{"C": 1, "gamma": 0.1}, {"C": 2, "gamma": 0.1}, {"kernel": "linear"}]
    assert [member.position for member in found] == [0, 1, 2]
    assert found.names == ("SVC (C=1, gamma=0.1)", "SVC (C=2, gamma=0.1)", "SVC (kernel=linear)")
    assert len(make_configurations(SVC())) == len(make_configurations(SVC(), {})) == 1
    assert make_configurations(SVC())[0].name == "SVC"


def test_a_list_of_estimators_names_its_models() -> None:
    found = make_configurations([("lr", LogisticRegression(), {"C": [1, 10]}), ("pipe", PIPELINE, {"svc__C": [3]})])
    assert found.params == [{"model": "lr", "C": 1}, {"model": "lr", "C": 10}, {"model": "pipe", "svc__C": 3}]
    assert found.names == ("lr (C=1)", "lr (C=10)", "pipe (C=3)")
    assert found[2].fresh().get_params()["svc__C"] == 3


def test_parameters_that_a_template_has_already_are_only_shown() -> None:
    found = Configurations.of([({"power": 2}, Ridge(alpha=100), None, True)])
    assert (found[0].name, found[0].fresh().alpha) == ("Ridge (power=2)", 100)
    assert found.identities() == make_configurations(Ridge(alpha=100)).identities()


def test_model_is_an_ordinary_parameter_of_a_single_estimator() -> None:
    class Wrapper(BaseEstimator):
        def __init__(self, model: str = "a") -> None:
            self.model = model

    (only,) = make_configurations(Wrapper(), {"model": ["b"]})
    assert only.fresh().model == "b"


def test_fresh_estimators_share_nothing() -> None:
    scaler = MinMaxScaler()
    (found,) = make_configurations(PIPELINE, {"scale": [scaler]})
    one, other = found.fresh(), found.fresh()
    assert one is not other and one.named_steps["scale"] is not scaler
    assert isinstance(one.named_steps["scale"], MinMaxScaler)
    assert isinstance(PIPELINE.named_steps["scale"], StandardScaler)
    assert found.name == "Pipeline (scale=MinMaxScaler)"


@pytest.mark.parametrize(
    ("estimator", "grid", "words"),
    [
        ([("a", Ridge())], None, r"must be a triple of name, estimator, and grid"),
        ([(Ridge(), "a", {})], None, r"must be a triple of name, estimator, and grid"),
        ([("a", Ridge(), {}), ("a", Ridge(), {})], None, "names must be distinct, got 'a' more than once"),
        ([("a", Ridge(), {})], {"alpha": [1]}, "has its own grids"),
        ([], None, "the list of estimators is empty"),
        ([("a", Ridge(), {}), ("b", RidgeClassifier(), {})], None, "'a' is a regressor and 'b' is a classifier"),
        (Ridge(), [], "no configurations"),
        (Ridge(), {"alpha": []}, "the parameter grid cannot be used"),
        (Ridge(), {"alpha": 3}, "the parameter grid cannot be used"),
        (Ridge(), 3, "the parameter grid cannot be used"),
    ],
)
def test_unusable_grids_are_refused(estimator: Any, grid: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        make_configurations(estimator, grid)


def test_ids_do_not_depend_on_position_or_on_how_parameters_are_set() -> None:
    forwards, backwards = ids(SVC(), {"C": [1, 2]}), ids(SVC(), {"C": [2, 1]})
    assert forwards == backwards[::-1]
    assert ids(SVC(C=2)) == ids(SVC(), {"C": [2]})
    assert ids(PIPELINE, {"svc__C": [2]}) == ids(PIPELINE, {"svc": [SVC(C=2)]})


def test_equal_configurations_are_distinguished_by_an_ordinal() -> None:
    # 1.0 is the default: the second is the first, said aloud.
    assert len(set(ids(SVC(), [{}, {"C": [1.0]}, {}]))) == 3


def test_ids_differ_where_anything_differs() -> None:
    grids: list[Any] = [
        {"C": [1, 1.0, True, 2]},
        {"class_weight": [None, "balanced", {0: 1.0, 1: 2.0}, {0: 2.0, 1: 1.0}]},
        {"gamma": ["scale", "auto", 0.1, np.float32(0.1)]},
    ]
    for grid in grids:
        assert len(set(ids(SVC(), grid))) == 4, grid


def test_ids_are_the_same_in_another_process() -> None:
    code = (
        "from sklearn.svm import SVC; from heldout.configurations import make_configurations;"
        "print(make_configurations(SVC(class_weight={1: 2, 0: 1}), {'C': [2]}).identities()[0][0])"
    )
    there, _ = Forked(code).communicate()  # of a process that has another seed of hashes
    assert [there.strip()] == ids(SVC(class_weight={0: 1, 1: 2}), {"C": [2]})


def scaled_by(factor: float) -> Callable[[Any], Any]:
    def scale(X: Any) -> Any:
        return factor * X

    return scale


def with_default(X: Any, factor: float = 2.0) -> Any:
    return factor * X


@pytest.mark.parametrize(
    ("value", "names"),
    [
        (k_folds(3), {"heldout.fold_plans.KFolds"}),
        (Imputation(5), {"heldout.imputation.settings.Imputation"}),
        (no_scores, {"heldout.protocols.validation.asked.no_scores"}),
        (
            scorer("spearman"),
            {"heldout.metrics.from_scorer.MetricFunction", "heldout.metrics.rank_correlation.Spearman"},
        ),
        (
            scorer("concordance_index"),
            {
                "heldout.metrics.survival_scorer.SurvivalScorer",
                "heldout.metrics.from_scorer.MetricFunction",
                "heldout.metrics.survival.ConcordanceIndex",
            },
        ),
    ],
)
def test_run_files_know_our_classes_by_the_names_of_version_0_1(value: Any, names: set[str]) -> None:
    assert set(re.findall(r'"(heldout\w*\.[\w.]+)"', json.dumps(canonical_form(value)))) == names


def test_the_source_of_the_scorer_of_validations_is_part_of_the_identity_of_stored_runs() -> None:
    text = json.dumps(canonical_form(no_scores), sort_keys=True)
    known = "ca84c5da7990b42d63107b4aabec58c1d4d6f22e13ee49f168417618945cad42"
    assert hashlib.sha256(text.encode()).hexdigest() == known


def test_functions_go_by_source_and_by_what_they_hold() -> None:
    assert canonical_form(scaled_by(2.0)) == canonical_form(scaled_by(2.0))
    assert canonical_form(scaled_by(2.0)) != canonical_form(scaled_by(3.0))
    partials = [functools.partial(with_default, factor=f) for f in (1.0, 2.0)]
    assert canonical_form(partials[0]) != canonical_form(partials[1])
    assert canonical_form(np.log1p) != canonical_form(np.log)
    assert len(set(ids(FunctionTransformer(), {"func": [np.log, np.log1p, with_default, None]}))) == 4


@pytest.mark.parametrize(
    "value", [KFold(3), RBF(2.0), get_scorer("roc_auc"), np.arange(3), {3, 1}, (1, [2.0, "x"])]
)
def test_canonical_forms_are_json_and_stable(value: Any) -> None:
    import copy

    form = canonical_form(value)
    assert json.dumps(form, sort_keys=True) == json.dumps(canonical_form(copy.deepcopy(value)), sort_keys=True)


def test_arrays_differ_by_type_shape_and_values() -> None:
    arrays = [np.arange(4), np.arange(4).reshape(2, 2), np.arange(4.0), np.arange(1, 5)]
    arrays += [np.array(each, dtype=object) for each in (["a", "b"], ["a", "c"], [["a", "b"]], [1, "b"])]
    assert len({json.dumps(canonical_form(array)) for array in arrays}) == len(arrays)
    assert canonical_form(arrays[4].copy()) == canonical_form(arrays[4])


def test_a_large_value_without_a_canonical_form_is_shortened() -> None:
    with pytest.raises(NotHashableError, match=r"of type array .*…$") as raised:
        canonical_form(array("d", range(200)))
    assert len(str(raised.value)) < 150


def test_what_has_no_canonical_form_is_refused() -> None:
    for value in (np.random.RandomState(0), np.array([object()]), (i for i in [])):
        with pytest.raises(NotHashableError, match="has no canonical form"):
            canonical_form(value)
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(NotHashableError, match="contains itself"):
        make_configurations(Ridge(), {"alpha": [loop]}).identities()


def test_estimators_within() -> None:
    found = make_configurations(PIPELINE, {"scale": [StandardScaler(), MinMaxScaler()]})
    assert set(estimators_within(found)) == {Pipeline, StandardScaler, SVC, MinMaxScaler}


def keyword_default(limit: float) -> Callable[[Any], Any]:
    def clip(X: Any, *, limit: float = limit) -> Any:
        return np.clip(X, -limit, limit)

    return clip


class Limit:
    __slots__ = ("limit",)

    def __init__(self, limit: float) -> None:
        self.limit = limit


class LimitWithName(Limit):
    """A class whose objects have slots and other attributes."""

    name = "limit"


class NamedPartial(functools.partial):  # type: ignore[type-arg]
    """Holds more than a partial."""


def named_partial(name: str) -> NamedPartial:
    made = NamedPartial(with_default, factor=1.0)
    made.name = name  # type: ignore[attr-defined]
    return made


def annotated_partial(text: str) -> Any:
    made = functools.partial(with_default)
    made.text = text  # type: ignore[attr-defined]
    return made


@pytest.mark.parametrize("make", [keyword_default, Limit, LimitWithName, named_partial, annotated_partial])
def test_forms_contain_what_the_source_does_not_show(make: Any) -> None:
    first, again, other = (json.dumps(canonical_form(make(value)), sort_keys=True) for value in ("a", "a", "b"))
    assert first == again != other


def test_a_partial_has_another_form_than_one_of_a_subclass() -> None:
    assert canonical_form(NamedPartial(abs)) != canonical_form(functools.partial(abs))


def test_functions_without_keyword_defaults_have_the_form_of_version_0_1() -> None:
    form = canonical_form(with_default)
    assert form["holds"] == [None, [{"float": (2.0).hex()}], []]
    assert len(canonical_form(accuracy_score)["holds"]) == 3  # scikit-learn's version speaks for its defaults


def typed_in(source: str) -> Any:
    """What a prompt without files defines: its source cannot be read."""
    names: dict[str, Any] = {"__name__": "__main__", "BaseEstimator": BaseEstimator}
    exec(source, names)
    return names["own"]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (typed_in("def own(X): return X"), "the source of __main__.own cannot be found"),
        (np.frompyfunc(with_default, 1, 1), "the source of .* cannot be found"),
        (FrozenEstimator(StandardScaler()), "a clone of it stays fitted"),
    ],
)
def test_what_cannot_be_read_is_refused(value: Any, reason: str) -> None:
    with pytest.raises(NotHashableError, match=reason):
        canonical_form(value)


def test_functions_of_compiled_modules_need_no_source() -> None:
    for function in (np.log, scipy.special.expit, math.sqrt, abs, str.lower, np.random.default_rng):
        assert canonical_form(function)["function"][1] == ""


def test_the_source_of_a_class() -> None:
    assert source_of(Limit).startswith("class Limit:")
    with pytest.raises(NotHashableError, match="cannot be found"):
        source_of(typed_in("class own(BaseEstimator): pass"))
