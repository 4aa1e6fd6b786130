"""``bootstrap_validate`` is a plain loop over bootstrap samples, done quickly."""

import html
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, roc_auc_score
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import heldout as ho
from heldout.data.task import truth_of
from heldout.errors import InputError
from heldout.flags import Flag
from heldout.imputation.pooled import PooledModel
from heldout.imputation.settings import Imputation
from heldout.metrics.base import Response
from heldout.protocols.drawn_rows import drawn_rows
from heldout.protocols.validation.arguments import ValidationArguments
from heldout.protocols.validation.estimate import Validation

N = 60
CANCER = load_breast_cancer()
X, Y = CANCER.data[:N, [1, 4, 8]], CANCER.target[:N]
NUMBERS = load_diabetes()
LOGISTIC = LogisticRegression(C=10.0)
TWO = [("logistic", LOGISTIC), ("tree", DecisionTreeClassifier(max_depth=1))]
HOLES = np.where(np.random.default_rng(1).random(X.shape) < 0.2, np.nan, X)


def validated(model: Any = LOGISTIC, x: Any = X, y: Any = Y, **settings: Any) -> Validation:
    return ho.bootstrap_validate(model, x, y, **{"n_bootstraps": 4, "random_state": 0, **settings})


def by_hand(found: Validation, model: Any, x: Any, y: Any, score: Any) -> np.ndarray:
    """(4, B): in bootstrap, on original, out of bag, apparent of every sample, by copies of rows."""
    rows, whole = [], clone(model).fit(x, y)
    for counts in found.replicates.counts:
        drawn, left = drawn_rows(counts), counts == 0
        fitted = clone(model).fit(x[drawn], y[drawn])
        parts = [(fitted, drawn), (fitted, slice(None)), (fitted, left), (whole, slice(None))]
        rows.append([score(each, x[part], y[part]) for each, part in parts])
    return np.array(rows).T


def area(model: Any, x: Any, y: Any) -> float:
    return float(roc_auc_score(y, model.predict_proba(x)[:, 1]))


def brier(model: Any, x: Any, y: Any) -> float:
    return float(brier_score_loss(y, model.predict_proba(x)[:, 1]))


class TestAgainstAPlainLoop:
    def test_a_classification(self) -> None:
        found = validated(metric=["roc_auc", "brier_score"])
        for name, score in (("roc_auc", area), ("brier_score", brier)):
            inside, original, left, apparent = by_hand(found, LOGISTIC, X, Y, score)
            row = found.rows[name]
            np.testing.assert_allclose(
                [row.apparent, row.in_bootstrap, row.on_original, row.out_of_bag],
                [apparent[0], inside.mean(), original.mean(), left.mean()],
                atol=1e-6,
            )
            optimism = (inside - original).mean()
            assert row.corrected == pytest.approx(apparent[0] - optimism, abs=1e-6)
            assert row.optimism == pytest.approx(optimism if name == "roc_auc" else -optimism, abs=1e-6)
            assert row.n_successful == 4
        assert found.n_fits == 6, "4 samples, all rows, and the model to deploy"

    def test_importance_weights_fit_and_score(self) -> None:
        weights = np.where(np.arange(N) % 3 == 0, 3.0, 1.0)
        found = validated(metric="brier_score", sample_weight=weights)
        differences = []
        for counts in found.replicates.counts:
            drawn = drawn_rows(counts)
            model = clone(LOGISTIC).fit(X[drawn], Y[drawn], sample_weight=weights[drawn])
            said = model.predict_proba(X)[:, 1]
            inside = brier_score_loss(Y[drawn], said[drawn], sample_weight=weights[drawn])
            differences.append(inside - brier_score_loss(Y, said, sample_weight=weights))
        whole = clone(LOGISTIC).fit(X, Y, sample_weight=weights)
        apparent = brier_score_loss(Y, whole.predict_proba(X)[:, 1], sample_weight=weights)
        assert found.value == pytest.approx(apparent - np.mean(differences), abs=1e-6)

    @pytest.mark.parametrize("order", ["boot_mi", "mi_boot", "naive"])
    def test_imputation_in_the_order_of_the_notes(self, order: Any) -> None:
        imputation = Imputation(2, order=order)
        found = validated(x=HOLES, metric="brier_score", imputation=imputation, n_bootstraps=3)
        truth, entropy = truth_of(Y), found.estimates["brier_score"].provenance["entropy"]
        trained = imputation.completed(HOLES, truth, entropy, "rows that train")
        evaluated = trained
        if order != "naive":
            evaluated = imputation.completed(HOLES, None, entropy, "rows that are evaluated")

        def said(tables: list[Any], rows: Any, asked: list[Any]) -> list[Any]:
            models = [clone(LOGISTIC).fit(table, Y[rows]) for table in tables]
            pooled = models if order == "naive" else [PooledModel(tuple(models))] * 2
            return [model.predict_proba(table)[:, 1] for model, table in zip(pooled, asked, strict=True)]

        def mean_brier(rows: Any, all_said: list[Any]) -> float:
            return float(np.mean([brier_score_loss(Y[rows], each) for each in all_said]))

        everybody, differences = np.arange(N), []
        for b, counts in enumerate(found.replicates.counts):
            drawn = drawn_rows(counts)
            tables = [table[drawn] for table in trained]
            if order == "boot_mi":
                tables = imputation.completed(HOLES[drawn], truth.rows(drawn), entropy, b + 1, 0)
            inside = mean_brier(drawn, said(tables, drawn, tables))
            differences.append(inside - mean_brier(everybody, said(tables, drawn, evaluated)))
        apparent = mean_brier(everybody, said(trained, everybody, trained))
        assert found.value == pytest.approx(apparent - np.mean(differences), abs=1e-6)
        assert (ho.Flag.NAIVE_IMPUTATION in found.flags) == (order == "naive")

    def test_two_stages(self) -> None:
        metrics = ["brier_score", "roc_auc"]
        found = validated(TWO, method="two_stage", metric=metrics, n_bootstraps=3, n_second_bootstraps=5)
        first = validated(TWO, metric=metrics, n_bootstraps=3)
        equal = validated(TWO, method="two_stage", metric=metrics, n_bootstraps=3)
        assert [each.rows for each in found.candidates] == [each.rows for each in first.candidates]
        assert not (first.replicates.counts == equal.replicates.counts).all(), "the second stage draws anew"
        assert (found.replicates.counts[:3] == equal.replicates.counts).all()
        assert found.n_fits == 2 * (1 + 3) + 5 + 1 and equal.n_fits == 2 * (1 + 3) + 3 + 1
        assert found.n_bootstraps == 3 and found.n_second_bootstraps == found.replicates.n_replicates == 5
        best = min(found.candidates, key=lambda each: each.rows["brier_score"].corrected)
        assert found.selected_name == best.name
        for name, score in (("brier_score", brier), ("roc_auc", area)):
            inside, original, _, apparent = by_hand(found, dict(TWO)[best.name], X, Y, score)
            optimism = (inside - original).mean()
            assert found.rows[name].corrected == pytest.approx(apparent[0] - optimism, abs=1e-6)
        assert found.to_dict()["n_second_bootstraps"] == 5
        assert found.estimates["brier_score"].provenance["n_second_bootstraps"] == 5
        assert ho.Flag.SELECTION_UNCORRECTED in found.flags

    @pytest.mark.parametrize("imputation", [None, 2])
    def test_the_count_of_fits_is_what_was_fitted(self, imputation: int | None) -> None:
        models = [("one", Counted(C=1.0)), ("two", Counted(C=9.0))]
        Counted.n_fits = 0
        found = validated(
            models, x=X if imputation is None else HOLES, method="two_stage", metric="brier_score",
            n_bootstraps=2, n_second_bootstraps=3, n_inner_bootstraps=2, adjust_optimism=True,
            imputation=imputation,
        )  # fmt: skip
        assert Counted.n_fits == (imputation or 1) * found.n_fits
        assert found.n_fits == 2 * (1 + 2) + 3 + 3 * 2 + 1


class Counted(LogisticRegression):
    n_fits: ClassVar[int] = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        type(self).n_fits += 1
        return super().fit(X, y, sample_weight)


class TestPromises:
    def test_the_same_for_any_number_of_jobs(self) -> None:
        one, two = (validated(DecisionTreeClassifier(), n_jobs=jobs, metric="brier_score") for jobs in (1, 2))
        assert one.to_dict() == two.to_dict()

    def test_the_seed_of_a_model_does_not_depend_on_the_number_of_bootstraps(self) -> None:
        tree = DecisionTreeClassifier(max_features=1, max_depth=2)
        settings: dict[str, Any] = {"metric": "brier_score", "method": "two_stage"}
        few, many = (validated([("a", tree), ("b", tree)], n_bootstraps=n, **settings) for n in (4, 7))
        said = [found.replicates.on_original[Response.PROBABILITIES] for found in (few, many)]
        assert (said[0] == said[1][:, :, :4]).all()

    def test_samples_of_a_sample_do_not_depend_on_their_number(self) -> None:
        few, many = (
            ValidationArguments(
                LOGISTIC, "brier_score", n_bootstraps=n, interval="double", n_inner_bootstraps=3, random_state=0
            ).plan(X, Y)
            for n in (4, 7)
        )
        assert (few.last.counts == many.last.counts[:4]).all()
        for some, more in zip(few.inner, many.inner[:4], strict=True):
            assert [split.place for split in some.splits] == [split.place for split in more.splits]
            assert (some.counts == more.counts).all()
        places = [split.place for split in many.work.folds.splits]
        assert len(set(places)) == len(places) == 1 + 7 + 7 * 3

    def test_groups_are_drawn_whole(self) -> None:
        groups = np.arange(N) // 4
        counts = validated(groups=groups, metric="roc_auc").replicates.counts.reshape(4, -1, 4)
        assert (counts == counts[:, :, :1]).all()

    def test_a_store_is_continued(self, tmp_path: Path) -> None:
        Counted.n_fits = 0
        model = Counted(C=10.0)
        first = validated(model, metric="brier_score", store=tmp_path / "other.db")
        assert Counted.n_fits == 6, "5 cells and the model to deploy"
        again = validated(model, metric="brier_score", store=tmp_path / "other.db")
        assert Counted.n_fits == 7
        assert again.to_dict() == first.to_dict()

    def test_other_rows_or_another_imputation_are_another_run(self, tmp_path: Path) -> None:
        settings: dict[str, Any] = {"metric": "brier_score", "n_bootstraps": 2}
        imputed = Imputation(2)
        given: list[dict[str, Any]] = [
            {"x": X},
            {"x": X + 1},
            {"x": HOLES, "imputation": imputed},
            {"x": HOLES, "imputation": Imputation(2, order="mi_boot")},
        ]
        for each in given:
            kept = validated(store=tmp_path / "run.db", **each, **settings)
            assert kept.to_dict() == validated(**each, **settings).to_dict()

    def test_the_model_is_the_one_of_the_apparent_score(self) -> None:
        found = validated(DecisionTreeClassifier(max_features=1), metric="brier_score")
        assert brier(found.model, X, Y) == found.rows["brier_score"].apparent

    def test_of_imputed_rows_the_model_is_pooled(self) -> None:
        found = validated(LogisticRegression(C=np.inf), HOLES, imputation=2, metric="brier_score", n_bootstraps=2)
        assert isinstance(found.model, PooledModel)
        assert found.coefficients is not None and len(found.coefficients.names) == 4

    def test_nothing_missing_is_flagged(self) -> None:
        found = validated(imputation=2, metric="brier_score")
        assert ho.Flag.NOTHING_MISSING in found.flags
        assert found.value == validated(metric="brier_score").value


class Unlucky(LogisticRegression):
    """Fails on some samples."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        n_distinct = len(np.unique(X[:, 0]))
        if n_distinct % 4 == 0 and n_distinct < 50:
            raise ValueError("no luck")
        return super().fit(X, y, sample_weight)


class Hopeless(LogisticRegression):
    fits: ClassVar[list[int]] = []

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        Hopeless.fits.append(len(X))
        raise ValueError("never")


class TestFailures:
    def test_they_are_counted_and_left_out(self) -> None:
        found = validated(Unlucky(C=10.0), metric="brier_score", n_bootstraps=12)
        assert 2 <= len(found.failures) < 10
        assert set(found.failures.values()) == {"ValueError: no luck"}
        assert found.rows["brier_score"].n_successful == 12 - len(found.failures)
        assert "no luck" in found.flags[ho.Flag.FAILED_REPLICATES]
        inside, original, _, apparent = by_hand(found, LOGISTIC, X, Y, brier)
        kept = found.replicates.kept
        assert found.value == pytest.approx(apparent[0] - (inside - original)[kept].mean(), abs=1e-6)

    def test_without_a_model_of_all_rows_there_is_nothing(self) -> None:
        with pytest.raises(InputError, match="no model could be fitted on all rows: Hopeless: ValueError: never"):
            validated(Hopeless(), metric="brier_score")

    def test_one_that_fails_is_no_candidate(self) -> None:
        Hopeless.fits.clear()
        found = validated([("hopeless", Hopeless()), ("logistic", LOGISTIC)], metric="brier_score")
        assert Hopeless.fits == [len(X)]  # not on the samples, of which nothing could come
        assert found.n_fits == 1 + 5 + 1
        assert found.selected_name == "logistic" and found.selected == 1
        assert found.candidates[0].reason == "ValueError: never"
        said = found.estimates["brier_score"].flags[ho.Flag.FAILED_CONFIGURATIONS]
        assert said.startswith("1 of 2") and "hopeless (ValueError: never)" in said
        assert ho.Flag.FAILED_CONFIGURATIONS not in validated(metric="brier_score").flags

    def test_if_all_bootstraps_fail_the_value_is_nan(self) -> None:
        found = validated(NeedsRows(50), metric="brier_score", n_bootstraps=3)
        assert np.isnan(found.value) and len(found.failures) == 3
        assert found.interval is None


class NeedsRows(LogisticRegression):
    def __init__(self, least: int, C: float = 10.0) -> None:
        super().__init__(C=C)
        self.least = least

    def fit(self, X: Any, y: Any) -> Any:
        if len(np.unique(X, axis=0)) < self.least:
            raise ValueError("too few rows")
        return super().fit(X, y)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        pytest.param({"method": "two_stage"}, "chooses among several models", id="two stages of one"),
        pytest.param({"method": "633"}, "method must be one of", id="method"),
        pytest.param({"metric": "r2"}, "does not fit a binary", id="metric of numbers"),
        pytest.param({"metric": []}, "at least one", id="no metric"),
        pytest.param({"metric": ["roc_auc", "roc_auc"]}, "twice", id="twice"),
        pytest.param({"n_bootstraps": 0}, "n_bootstraps", id="no bootstraps"),
        pytest.param({"interval": "percentile"}, "interval='percentile'", id="percentile of optimism"),
        pytest.param({"interval": "double", "n_inner_bootstraps": 1}, "n_inner_bootstraps", id="one inner"),
        pytest.param({"imputation": "mice"}, "imputation must be", id="imputation"),
        pytest.param({"n_second_bootstraps": 5}, "for `method='two_stage'`", id="a second stage of one"),
        pytest.param({"model": TWO, "method": "two_stage", "n_second_bootstraps": 1}, "at least 2, got 1", id="1"),
        pytest.param({"adjust_optimism": "yes"}, "must be True or False, got 'yes'", id="adjusts by a word"),
        pytest.param({"adjust_optimism": True, "method": "632"}, "subtracts no optimism", id="adjusts .632"),
        pytest.param({"adjust_optimism": True, "interval": "double"}, "not adjusted", id="adjusts an interval"),
        pytest.param({"model": []}, "got an empty one", id="no models"),
        pytest.param({"model": [LOGISTIC]}, "list of (name, estimator)", id="no names"),
        pytest.param({"model": LogisticRegression}, "must be an estimator", id="a class"),
        pytest.param({"model": {"a": LOGISTIC}}, "must be an estimator", id="a dict"),
        pytest.param({"model": [("a", LOGISTIC), ("b", 3)]}, "must be an estimator", id="a number of two"),
        pytest.param({"n_jobs": 0}, "n_jobs must be", id="no processes"),
        pytest.param({"store": 3}, "store must be the path", id="store"),
        pytest.param({"verbose": "yes"}, "verbose must be", id="verbose"),
        pytest.param({"model": DecisionTreeClassifier(), "y": np.zeros(N)}, "2 classes", id="one class"),
        pytest.param(
            {"model": [("a", LOGISTIC), ("b", DecisionTreeClassifier())], "metric": "calibration_slope"},
            "neither direction",
            id="chooses by a slope",
        ),
    ],
)
def test_bad_input_is_one_sentence(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as caught:
        validated(**settings)
    assert said in str(caught.value)


def test_a_notebook_shows_a_row_a_metric_and_every_remark_once() -> None:
    models = [("<b>", LOGISTIC), ("tree", DecisionTreeClassifier(max_depth=1))]
    found = validated(models, metric=["roc_auc", "calibration_slope"])
    shown = found._repr_html_()
    scores, models_beside, coefficients = shown.split("</table>")[:3]
    assert scores.count("<tr>") == models_beside.count("<tr>") == 3 and "<b>" not in shown
    assert "<caption>Coefficients of the model of all rows" in coefficients
    for estimate in found.estimates.values():
        assert all(shown.count(html.escape(remark)) == 1 for remark in estimate.flags.values())
    assert all(set(found.flags) < set(estimate.flags) for estimate in found.estimates.values())


def test_several_metrics_have_no_one_value() -> None:
    with pytest.raises(InputError, match="2 metrics"):
        _ = validated(metric=["roc_auc", "brier_score"]).value


def test_the_usual_metrics_are_those_that_the_model_offers() -> None:
    assert list(validated(LinearSVC()).rows) == ["roc_auc", "somers_d"]
    assert len(validated().rows) == 9


def test_a_penalty_is_set_against_the_weights_as_they_were_given() -> None:
    weights = np.random.default_rng(3).uniform(50, 500, size=N)
    model = LogisticRegression(C=1e-4, solver="newton-cholesky")
    found = validated(model, metric="brier_score", sample_weight=weights, n_bootstraps=4)
    whole = clone(model).fit(X, Y, sample_weight=weights)
    assert np.allclose(found.model.coef_, whole.coef_, rtol=1e-9)
    scores = found.replicates.scores(found.metrics["brier_score"])
    for b, counts in enumerate(found.replicates.counts):
        drawn = drawn_rows(counts)
        said = clone(model).fit(X[drawn], Y[drawn], sample_weight=weights[drawn]).predict_proba(X)[:, 1]
        for score, rows in ((scores.in_bootstrap, drawn), (scores.on_original, slice(None))):
            assert score[b] == pytest.approx(brier_score_loss(Y[rows], said[rows], sample_weight=weights[rows]))


def test_rows_left_out_are_scored_by_models_of_those_drawn() -> None:
    left_out, optimism = (validated(metric="brier_score", method=method) for method in ("oob", "optimism"))
    distinct = (left_out.replicates.counts > 0).sum(axis=1).mean()
    assert left_out.estimates["brier_score"].provenance["training_rows"] == pytest.approx(distinct)
    assert optimism.estimates["brier_score"].provenance["training_rows"] == N


def test_failures_in_samples_of_samples_are_flagged() -> None:
    """A sample itself holds 38 of 60 rows, and one of it about 29."""
    found = validated(NeedsRows(30), metric="brier_score", interval="double", n_inner_bootstraps=4)
    assert not found.failures
    assert "too few rows" in found.flags[Flag.FAILED_REPLICATES]


class TestFlagsOfWidth:
    def test_few_rows_a_column_are_flagged_beside_an_interval(self) -> None:
        found = validated(metric="brier_score")
        assert (
            "rows of the rarest class for each column"
            in found.estimates["brier_score"].flags[ho.Flag.FEW_ROWS_A_COLUMN]
        )
        without = validated(metric="brier_score", interval=None)
        assert ho.Flag.FEW_ROWS_A_COLUMN not in without.estimates["brier_score"].flags

    def test_many_are_not(self) -> None:
        x, y = CANCER.data[:, [1, 4]], CANCER.target
        found = validated(x=x, y=y, metric="brier_score")
        assert ho.Flag.FEW_ROWS_A_COLUMN not in found.estimates["brier_score"].flags


def test_metrics_that_fit_to_the_rows_left_out_are_flagged() -> None:
    asked = ["nagelkerke_r2", "nagelkerke_r2(recalibrated=False)", "ici", "brier_score"]
    flagged = {
        method: [name for name, found in validated(metric=asked, method=method).estimates.items()
                 if ho.Flag.FITS_TO_ITS_ROWS in found.flags]
        for method in ("oob", "optimism")
    }  # fmt: skip
    assert flagged == {"oob": ["nagelkerke_r2", "ici"], "optimism": []}
