"""Searches and nested cross-validation that impute within every fit."""

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import uniform
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold

import heldout as ho
from heldout.data.task import truth_of
from heldout.errors import InputError
from heldout.imputation.chained import ChainedImputer
from heldout.imputation.imputed_model import ImputedModel
from heldout.imputation.settings import Imputation
from heldout.report import facts

N = 60
RNG = np.random.default_rng(5)
WHOLE = RNG.normal(size=(N, 3))
Y = (WHOLE[:, 0] + RNG.normal(size=N) > 0).astype(int)
X = np.where(RNG.random(WHOLE.shape) < 0.2, np.nan, WHOLE)
FOLDS = KFold(3)
GRID = {"C": [0.01, 10.0]}
SETTINGS: dict[str, Any] = {"scoring": "roc_auc", "cv": FOLDS, "random_state": 0, "n_bootstraps": 20}


def search(X: Any = X, y: Any = Y, **more: Any) -> Any:
    return ho.HeldOutSearchCV(LogisticRegression(), GRID, **{**SETTINGS, "imputation": 2, **more}).fit(X, y)


@pytest.fixture(scope="module")
def found() -> Any:
    """The usual search, whose models of all folds are kept; tests only read it."""
    return search(keep_models="all")


def probabilities(found: Any) -> np.ndarray:
    (response,) = found.predictions_.responses.values()
    return np.asarray(response)


def test_the_held_out_predictions_are_pooled_over_imputations_of_the_training_rows(found: Any) -> None:
    scores = []
    for fold, (train, test) in enumerate(FOLDS.split(X)):
        model = found.fold_models_.of(found.best_index_)[0, fold]
        completed = Imputation(2).completed(X[train], truth_of(Y[train]), model.random_state, "training rows")
        logits = []
        for table, member in zip(completed, model.pooled_.members, strict=True):
            own = LogisticRegression(**found.best_params_).fit(table, Y[train])
            np.testing.assert_allclose(member[-1].coef_, own.coef_, rtol=1e-6)
            whole = member[0].transform(X[test])
            assert (whole[~np.isnan(X[test])] == X[test][~np.isnan(X[test])]).all() and np.isfinite(whole).all()
            logits.append(own.decision_function(whole))
        held_out = probabilities(found)[test, found.best_index_, 0]
        mean = np.mean(logits, axis=0)
        assert np.allclose(held_out, mean, rtol=1e-5) or np.allclose(held_out, expit(mean), rtol=1e-5)
        scores.append(roc_auc_score(Y[test], mean))
    assert found.best_score_ == pytest.approx(np.mean(scores))
    assert found.best_params_.keys() == {"C"} and isinstance(found.best_estimator_, ImputedModel)
    assert found.predictions_.names == ("LogisticRegression (C=0.01)", "LogisticRegression (C=10)")
    assert np.isfinite(found.predict_proba(X)).all() and found.estimate_.interval is not None


def test_the_report_says_how_often_rows_were_imputed(found: Any) -> None:
    content = facts(found.evaluation_)
    assert content.settings["Imputations of every fit"] == "2"
    assert any("Multiple imputation" in work.text for work in content.citations)
    plain = facts(ho.HeldOutSearchCV(LogisticRegression(), GRID, **SETTINGS).fit(WHOLE, Y).evaluation_)
    assert "Imputations of every fit" not in plain.settings


def test_it_is_the_search_over_the_model_that_imputes(found: Any) -> None:
    by_hand = ho.HeldOutSearchCV(
        ImputedModel(LogisticRegression(), 2), {"estimator__C": GRID["C"]}, **SETTINGS
    ).fit(X, Y)
    np.testing.assert_array_equal(probabilities(found), probabilities(by_hand))
    assert found.corrected_score_ == by_hand.corrected_score_ and found.n_fits_ == 6


def test_a_fold_tells_the_others_nothing(found: Any) -> None:
    (_, test), *_ = FOLDS.split(X)
    flipped, moved = Y.copy(), X.copy()
    flipped[test] = 1 - flipped[test]
    moved[test[1:]] *= 100
    before = probabilities(found)[test]
    np.testing.assert_array_equal(probabilities(search(y=flipped))[test], before)
    np.testing.assert_array_equal(probabilities(search(X=moved))[test[0]], before[0])


def test_configurations_share_their_draws(found: Any) -> None:
    one, other = (found.fold_models_.of(j)[0, 0] for j in (0, 1))
    assert one.random_state == other.random_state


class Counted(ChainedImputer):
    n_fits: ClassVar[int] = 0

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        type(self).n_fits += 1
        return super().fit_transform(X, y)


class Overwrites(LogisticRegression):
    """Writes into the rows that it is fitted on."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        super().fit(X, y, sample_weight)
        X[:] = 0.0
        return self


def test_configurations_share_the_imputation_of_a_split(found: Any) -> None:
    Counted.n_fits = 0
    counted = search(imputation=Imputation(2, imputer=Counted()))
    # Two imputations for each of 3 splits and the last fit, each with the outcome and without it.
    assert Counted.n_fits == 2 * 2 * (3 + 1)
    np.testing.assert_array_equal(probabilities(counted), probabilities(found))
    alone = ho.HeldOutSearchCV(LogisticRegression(), {"C": GRID["C"][1:]}, imputation=2, **SETTINGS).fit(X, Y)
    np.testing.assert_array_equal(probabilities(alone)[:, 0], probabilities(found)[:, 1])
    odd = ho.HeldOutSearchCV(Overwrites(), GRID, imputation=2, **SETTINGS).fit(X, Y)
    np.testing.assert_array_equal(probabilities(odd), probabilities(found))


def test_a_random_search_and_a_list_of_models() -> None:
    drawn = ho.HeldOutRandomizedSearchCV(
        LogisticRegression(), {"C": uniform(0.1, 1)}, n_iter=1, imputation=2, **SETTINGS
    ).fit(X, Y)
    assert isinstance(drawn.best_estimator_, ImputedModel) and drawn.best_params_.keys() == {"C"}
    listed = ho.HeldOutSearchCV([("a", LogisticRegression(), {"C": [1.0, 2.0]})], imputation=2, **SETTINGS).fit(
        X, Y
    )
    assert listed.predictions_.names == ("a (C=1)", "a (C=2)")


def test_a_stored_search_continues_and_knows_its_imputation(tmp_path: Path, found: Any) -> None:
    store = tmp_path / "run.db"
    for _ in range(2):
        np.testing.assert_array_equal(probabilities(search(store=store)), probabilities(found))
    assert (probabilities(search(store=store, imputation=3)) != probabilities(found)).any()


def test_nested_cross_validation_imputes_within_every_fit() -> None:
    found = ho.nested_cv(
        LogisticRegression(), X, Y, GRID, scoring="roc_auc", cv=FOLDS, imputation=2, random_state=0
    )
    by_hand = ho.nested_cv(
        ImputedModel(LogisticRegression(), 2), X, Y, {"estimator__C": GRID["C"]}, scoring="roc_auc", cv=FOLDS,
        random_state=0,
    )  # fmt: skip
    assert found.value == by_hand.value and found.n_fits == 3 * 3 * 2 + 3 + 1
    assert found.provenance["n_imputations"] == 2 and "rubin1987" in found.provenance["sources"]
    with pytest.raises(InputError, match="`imputation=2`, and `imputation=3`"):
        ho.nested_cv(ho.HeldOutSearchCV(LogisticRegression(), GRID, imputation=2), X, Y, imputation=3)


@pytest.mark.parametrize(
    ("settings", "said", "argument"),
    [
        ({"imputation": Imputation(2, order="naive")}, "folds need `order='boot_mi'`", "imputation"),
        ({"imputation": Imputation(2, outcome_in_evaluation=True)}, "a model never receives it", "imputation"),
        ({"imputation": "mean"}, "must be a number of imputations", "imputation"),
        ({"imputation": 1}, "from 2 to 1000", "n_imputations"),
    ],
)
def test_bad_input_is_one_sentence(settings: dict[str, Any], said: str, argument: str) -> None:
    for call in (search, lambda **more: ho.nested_cv(LogisticRegression(), X, Y, GRID, **more)):
        with pytest.raises(InputError) as caught:
            call(**settings)
        assert said in str(caught.value) and caught.value.argument == argument


def test_early_stopping_is_refused() -> None:
    boosted = ho.HeldOutSearchCV(
        HistGradientBoostingClassifier(), {}, imputation=2, early_stopping=ho.inner_split(0.2)
    )
    with pytest.raises(InputError, match="early_stopping divides the training rows"):
        boosted.fit(X, Y)


def test_proposed_configurations_impute_too(found: Any) -> None:
    run = ho.open_search(X, Y, imputation=2, **SETTINGS)
    scores = [run.evaluate(LogisticRegression(C=value)) for value in GRID["C"]]
    proposed = run.finish()
    assert scores == pytest.approx(found.cv_results_["mean_test_score"], abs=1e-12)
    assert proposed.configurations.names == found.predictions_.names
    assert isinstance(proposed.model, ImputedModel)
