"""Coverage where real K-fold fits predict the rows (papers/pages/interval_tables_kfold.md)."""

import numpy as np
import pytest
from fold_dependence_simulation import (
    BETA,
    TRUTHS,
    Coverage,
    KFoldSetting,
    asked_of,
    expected,
    fit,
    performance,
    simulate_folds,
)
from fold_dependence_tables import document
from scipy.stats import binom
from sklearn.metrics import accuracy_score, mean_squared_error, roc_auc_score

FALSE_ALARM = 1e-4


def covers(found, truth, level=0.95):
    hits = round(found.held[truth] * found.repetitions)
    return binom.cdf(hits, found.repetitions, level) > FALSE_ALARM


@pytest.mark.parametrize("kind", ["accuracy", "auc", "squared error"])
def test_the_truth_of_a_model_is_its_score_on_many_new_rows(kind):
    """A score of 200 000 rows has a standard error of at most .0015 (of squared errors .008); three are allowed."""
    rng = np.random.default_rng(0)
    coefficients = BETA[:, None] * [1.0, 0.6] + rng.normal(scale=0.2, size=(10, 2))
    x = rng.normal(size=(200_000, 10))
    z = x @ BETA + rng.normal(size=len(x))
    score = {
        "accuracy": lambda p: accuracy_score(z > 0, p > 0),
        "auc": lambda p: roc_auc_score(z > 0, p),
        "squared error": lambda p: mean_squared_error(z, p),
    }[kind]
    found = [score(x @ column) for column in coefficients.T]
    assert performance(kind, coefficients) == pytest.approx(found, abs=0.03 if kind == "squared error" else 0.005)


def test_folds_are_predicted_by_models_that_did_not_see_them():
    found = fit(KFoldSetting("squared error", 60, 5, 10), np.random.default_rng(0))
    assert found.predictions.shape == (60, 10) and set(found.truth) == {"models", "refit"}
    assert np.bincount(found.fold).tolist() == [12] * 5
    # The mean held-out error is that of the models, within six standard errors of 60 squared errors.
    errors = (found.predictions - found.y[:, None]) ** 2
    assert errors.mean(axis=0) == pytest.approx(found.truth["models"], abs=6 * errors.std(axis=0).max() / 60**0.5)


def test_a_hold_out_is_covered_at_its_level():
    setting = KFoldSetting("accuracy", 60, 1)
    asked = {name: asked_of(setting)[name] for name in ("clopper_pearson", "bbc", "bbc calibrated")}
    found = simulate_folds(setting, 80, asked=asked, n_bootstraps=100)
    assert all(covers(each, "models") for each in found.values())


def test_intervals_of_independent_rows_fall_short_where_folds_share_training_rows():
    """What the flag ``folds_dependent`` says; bbc's percentiles are wide enough. 1000 repetitions, two minutes."""
    setting = KFoldSetting("accuracy", 40, 10)
    asked = {name: asked_of(setting)[name] for name in ("clopper_pearson", "wilson", "bbc calibrated", "bbc")}
    found = simulate_folds(setting, 1000, asked=asked, n_bootstraps=300)
    for name in ("clopper_pearson", "wilson", "bbc calibrated"):
        assert not covers(found[name], "models") and found[name].held["models"] > 0.85
    assert all(covers(found["bbc"], truth) for truth in TRUTHS)


def test_the_expected_performance_lies_among_those_of_samples():
    setting = KFoldSetting("accuracy", 40, 5)
    assert 0.6 < expected(setting, draws=50)[0] < 0.75


def test_the_page_is_set_from_coverages():
    held = dict(zip(TRUTHS, (0.95, 0.9, 1.0), strict=True))
    results = [
        (KFoldSetting("accuracy", 40, 5), {"bbc": Coverage(10, held), "mabt": Coverage(9, held)}),
        (KFoldSetting("accuracy", 40, 1), {"bbc": Coverage(10, held)}),
    ]
    page = document(results, 10, 100)
    assert "| bbc | .95 / .90 / 1.00 |" in page and "| mabt | .95 / .90 / 1.00° |" in page
    assert "| bbc | .90 to 1.00 | none |" in page
