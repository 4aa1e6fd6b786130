"""``ho.protocols.learning_curve``: what is fitted and chosen, failures, resuming, and its estimate."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import heldout as ho
from heldout.protocols.power_law import PowerLaw

X, Y = make_classification(n_samples=80, n_features=4, flip_y=0.2, random_state=0)
SIZES = (0.25, 0.5, 0.75)


def curve_of(estimator=None, grid=None, **settings):
    given = {"training_sizes": SIZES, "n_subsamples": 4, "random_state": 0} | settings
    if estimator is None:
        estimator, grid = KNeighborsClassifier(), {"n_neighbors": [1, 5]}
    return ho.protocols.learning_curve(estimator, X, Y, grid, **given)


class Failing(LogisticRegression):
    def fit(self, X, y):
        if self.C == 3.0 and len(y) == 40:
            raise ValueError("it does not converge")
        return super().fit(X, y)


def test_every_configuration_meets_every_subsample_of_every_size():
    curve = curve_of()
    assert curve.n_fits == 3 * 4 * 2 + 1
    assert curve.sizes.tolist() == [20.0, 40.0, 60.0] and curve.scores.shape == (3, 4, 2)
    assert len(curve.rows) == 6 and {point.n for point in curve.rows} == {4}
    assert curve.mean == pytest.approx(curve.scores.mean(axis=1))
    assert curve.standard_error == pytest.approx(curve.scores.std(axis=1, ddof=1) / 2)
    assert curve.model.n_neighbors == [1, 5][curve.winner] and curve.model.n_samples_fit_ == 80
    frame = curve.to_frame()
    assert list(frame.columns) == ["configuration", "name", "size", "mean", "standard_error", "n"]


def test_the_winner_is_the_best_at_the_largest_size_and_the_value_its_curve_at_all_rows():
    curve = curve_of()
    assert curve.winner == curve.mean[-1].argmax()
    assert curve.estimate.uncorrected == pytest.approx(curve.mean[-1, curve.winner])
    assert curve.estimate.value == pytest.approx(curve.at(80)[curve.winner])
    assert curve.estimate.value == pytest.approx(1 - float(curve.laws[curve.winner].at(80)))
    assert curve.estimate.interval is None and "no_interval" in curve.estimate.flags
    assert "selection_smoothed" in curve.estimate.flags
    assert curve.estimate.provenance["training_rows"] == 80
    assert curve.estimate.provenance["sources"] == ["ding2014"]


@pytest.mark.parametrize(("scoring", "best"), [("neg_mean_squared_error", 0.0), ("r2", 1.0)], ids=str)
def test_losses_and_scores_alike_are_distances_from_the_best(scoring, best):
    target = X[:, 0] + 0.1 * np.random.default_rng(0).normal(size=80)
    curve = ho.protocols.learning_curve(
        Ridge(), X, target, {"alpha": [0.1, 100.0]}, scoring=scoring, training_sizes=SIZES, n_subsamples=3,
        random_state=0,
    )  # fmt: skip
    assert curve.best_possible == best and curve.winner == 0
    law = curve.laws[0]
    sign = 1 if curve.greater_is_better else -1
    assert curve.estimate.value == pytest.approx(best - sign * float(law.at(80)))
    assert law.residual < 0.1 * float(law.at(20))
    assert "single_configuration" not in curve.estimate.flags


def test_a_closed_scorer_has_scores_and_no_curve():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        curve = curve_of(LogisticRegression(), {"C": [1.0]}, scoring=lambda model, X, y: model.score(X, y))
    assert np.isfinite(curve.mean).all() and curve.laws == (None,)
    assert np.isnan(curve.estimate.value)
    assert "best possible value of score is not known" in curve.estimate.flags["undefined"]
    assert curve.best_at(80) is None
    assert "single_configuration" in curve.estimate.flags and "selection_smoothed" not in curve.estimate.flags


def test_two_sizes_are_too_few_for_a_curve():
    curve = curve_of(training_sizes=(0.3, 0.6))
    assert np.isnan(curve.estimate.value) and curve.estimate.uncorrected == curve.mean[-1].max()
    assert "has scores at 2 training sizes" in curve.estimate.flags["undefined"]


def test_a_configuration_that_failed_anywhere_is_no_candidate():
    with pytest.warns(ho.HeldoutWarning, match="1 of 2 configurations failed"):
        curve = curve_of(Failing(), {"C": [3.0, 1.0]})
    assert curve.winner == 1 and curve.laws[0] is None and np.isnan(curve.mean[:, 0]).all()
    assert "does not converge" in curve.failures[0]
    assert "failed_configurations" in curve.estimate.flags
    assert {point.n for point in curve.rows if point.configuration == 0} == {0}


def test_all_that_fail_are_refused():
    with pytest.raises(ho.InputError, match="the only configuration failed"):
        curve_of(Failing(), {"C": [3.0]})


def test_it_is_the_same_for_any_number_of_workers():
    one, two = curve_of(n_jobs=1), curve_of(n_jobs=2)
    assert (one.scores == two.scores).all() and one.laws == two.laws


def test_a_run_that_is_done_is_not_done_again(tmp_path):
    path = tmp_path / "run.db"
    first = curve_of(Counted(), {"var_smoothing": [1e-9, 1e-2]}, store=path)
    Counted.fits = 0
    again = curve_of(Counted(), {"var_smoothing": [1e-9, 1e-2]}, store=path)
    assert Counted.fits == 1  # the model on all rows
    assert (first.scores == again.scores).all() and first.laws == again.laws


class Counted(GaussianNB):
    fits = 0

    def fit(self, X, y):
        type(self).fits += 1
        return super().fit(X, y)


def test_a_search_brings_its_settings():
    given = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5]}, scoring="roc_auc", cv=7)
    assert curve_of(given).metric == "roc_auc"
    settings = {"scoring": "roc_auc", "random_state": 4}
    fitted = ho.HeldOutSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5]}, **settings, method=None).fit(X, Y)
    by_parts = ho.protocols.learning_curve(
        KNeighborsClassifier(), X, Y, {"n_neighbors": [1, 5]}, **settings, n_subsamples=3
    )
    by_search = ho.protocols.learning_curve(fitted, X, Y, n_subsamples=3)
    assert by_search.estimate.to_dict() == by_parts.estimate.to_dict()
    assert (by_search.scores == by_parts.scores).all()
    with pytest.raises(ho.InputError, match="no configuration can be dropped"):
        curve_of(ho.HeldOutSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5]}, drop="bootstrap"))


@pytest.mark.parametrize("aggregate", ["pooled", "within"])
def test_of_splits_that_are_repeats_every_aggregate_chooses_alike(aggregate):
    search = ho.HeldOutSearchCV(
        KNeighborsClassifier(), {"n_neighbors": [1, 5]}, scoring="roc_auc", aggregate=aggregate, random_state=0
    )
    usual = curve_of(scoring="roc_auc")
    found = ho.protocols.learning_curve(search, X, Y, training_sizes=SIZES, n_subsamples=4)
    assert found.winner == usual.winner and found.estimate.value == usual.estimate.value
    assert found.estimate.provenance["aggregate"] == aggregate


def test_subsamples_are_counted():
    with pytest.raises(ho.InputError, match="n_subsamples must be an integer of at least 2, got 1"):
        curve_of(n_subsamples=1)


def test_the_best_by_the_curves_may_overtake_beyond_the_largest_size():
    curve = curve_of()
    slow, fast = PowerLaw(2.0, 0.5, 0.0), PowerLaw(0.0, 0.0, 0.24)  # equal at 69 rows
    crossed = type(curve)(**{**vars(curve), "laws": (slow, fast), "winner": 1})
    assert crossed.best_at(60) == 1 and crossed.best_at(80) == 0


def test_poor_and_flat_curves_are_flagged():
    from heldout.protocols.learning_curve import _flags_of_fit

    assert set(_flags_of_fit(PowerLaw(1.0, 0.5, 0.0, 0.02, 3.0))) == {"curve_misfit"}
    assert set(_flags_of_fit(PowerLaw(0.0, 0.0, 0.3, 0.02, 1.0))) == {"curve_flat"}
    assert _flags_of_fit(PowerLaw(1.0, 0.5, 0.0, 0.02, 1.9)) == {}
