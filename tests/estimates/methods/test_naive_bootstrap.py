"""The bootstrap of the winner alone: what it shares with bbc and what it leaves out; draws within classes."""

import numpy as np
import pytest

import heldout as ho
from heldout.estimates import BBC, NaiveBootstrap
from heldout.estimates.bootstrap import draws_of
from heldout.estimates.inputs import read_inputs

RNG = np.random.default_rng(6)
Y = RNG.permutation(np.repeat([0, 1], [70, 30]))
SCORES = RNG.normal(size=(100, 12)) + 0.8 * Y[:, None]
FOLDS = np.arange(100) % 5


def of(method="naive_bootstrap", **settings):
    settings = {"metric": "roc_auc", "method": method, "random_state": 0, "n_bootstraps": 200} | settings
    return ho.estimate(Y, SCORES, **settings)


def test_the_value_is_the_winners_score_and_is_flagged():
    found, plain = of(), of("cv")
    assert found.value == found.uncorrected == plain.value and found.optimism == 0
    assert found.interval.low < found.value < found.interval.high
    assert found.standard_error == pytest.approx(found.distribution.std(ddof=1))
    assert {ho.Flag.UNCORRECTED, ho.Flag.SELECTION_IGNORED} <= set(found.flags)
    assert found.provenance["unit"] == "rows"
    assert "uncorrected" in found.provenance["value"]


def test_one_configuration_ignores_no_selection():
    found = ho.estimate(Y, SCORES[:, :1], metric="roc_auc", method="naive_bootstrap", random_state=0)
    assert not {ho.Flag.UNCORRECTED, ho.Flag.SELECTION_IGNORED} & set(found.flags)


def test_folds_need_two_and_say_when_they_are_few():
    with pytest.raises(ho.InputError, match=r"'naive_bootstrap' does not fit: .*give `folds=`"):
        of(NaiveBootstrap(unit="folds"))
    found = of(NaiveBootstrap(unit="folds"), folds=FOLDS % 3)
    assert {ho.Flag.FEW_FOLDS, ho.Flag.SELECTION_IGNORED} <= set(found.flags)
    assert found.provenance["unit"] == "folds"


def test_settings_of_no_meaning_are_refused():
    with pytest.raises(ho.InputError, match="unit must be one of rows, folds, got 'columns'"):
        NaiveBootstrap(unit="columns")
    with pytest.raises(ho.InputError, match="`stratify=True` draws rows within classes"):
        NaiveBootstrap(unit="folds", stratify=True)


METHODS = pytest.mark.parametrize(
    "method", [BBC(stratify=True), NaiveBootstrap(stratify=True)], ids=lambda m: m.name
)


@METHODS
def test_stratified_draws_keep_the_classes(method):
    asked = read_inputs(Y, SCORES, metric="roc_auc", random_state=5, n_bootstraps=80)
    evidence = asked.evidence(method)
    counts, _ = draws_of(evidence, stratify=True).block(0, 80)
    assert (counts[:, Y == 1].sum(axis=1) == 30).all() and (counts[:, Y == 0].sum(axis=1) == 70).all()
    found = of(method)
    assert found.provenance["stratified"] is True
    assert "within classes" in found.flags[ho.Flag.STRATIFIED]
    assert found.flags[ho.Flag.STRATIFIED].count("accuracy, F1, average precision, Brier score, log loss") == 1
    assert not np.array_equal(found.distribution, of(type(method)()).distribution)


@METHODS
def test_a_class_of_one_row_cannot_be_stratified(method):
    y = np.array([1] + [0] * 29)
    with pytest.raises(ho.InputError, match="class 1 has 1 row, and a bootstrap needs at least 2"):
        ho.estimate(y, SCORES[:30], metric="roc_auc", method=method)


@METHODS
def test_a_regression_has_no_strata(method):
    with pytest.raises(ho.InputError, match="draws within classes, and a regression has none; leave it out"):
        ho.estimate(RNG.normal(size=100), SCORES, metric="mean_squared_error", method=method)


@METHODS
def test_groups_must_be_of_one_class_to_be_stratified(method):
    with pytest.raises(ho.InputError, match="a group contains rows of the classes 0"):
        of(method, groups=np.arange(100) // 10)
    of_one_class = np.where(Y == 1, np.cumsum(Y) // 3, 100 + np.cumsum(1 - Y) // 3)
    assert ho.Flag.STRATIFIED in of(method, groups=of_one_class).flags


def test_stratified_threads_and_prefixes_change_nothing():
    one, four = (of(BBC(stratify=True), n_jobs=jobs, n_bootstraps=600) for jobs in (1, 4))
    np.testing.assert_array_equal(one.distribution, four.distribution)
    np.testing.assert_array_equal(one.distribution[:200], of(BBC(stratify=True)).distribution)


def test_a_spread_beyond_float64_is_none():
    y = 1e80 * RNG.normal(size=40)
    found = ho.estimate(y, np.zeros((40, 2)), metric="mean_squared_error", method="naive_bootstrap", random_state=0)
    assert np.isfinite([found.value, *found.interval]).all() and found.standard_error is None


@pytest.mark.parametrize("make", [BBC, NaiveBootstrap], ids=["bbc", "naive_bootstrap"])
def test_stratify_is_true_or_false(make):
    with pytest.raises(ho.InputError, match="stratify must be True or False, got 'no'"):
        make(stratify="no")
