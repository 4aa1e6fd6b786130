"""Text labels: scorers of one class take the class that ``pos_label`` names, in searches and protocols alike."""

import json
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from peers import cancer
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.svm import LinearSVC

import heldout as ho
from heldout.errors import InputError

X, NUMBERS = cancer(150, 4)
NUMBERS = 1 - NUMBERS
LABELS = np.where(NUMBERS == 1, "sick", "well")  # the positive class is not the last one in order
GRID = {"C": [0.01, 1.0]}

OF_ONE_CLASS = ["f1", "jaccard", "average_precision"]
OTHERS = ["roc_auc", "neg_log_loss", "d2_log_loss_score"]


def search(scoring: Any, **settings: Any) -> ho.HeldOutSearchCV:
    settings = {"cv": 2, "method": "cv", "random_state": 0, **settings}
    return ho.HeldOutSearchCV(LogisticRegression(), GRID, scoring=scoring, **settings)


@pytest.mark.parametrize("scoring", [*OF_ONE_CLASS, *OTHERS])
def test_a_named_class_is_that_of_the_class_1_of_numbers(scoring: str) -> None:
    theirs = GridSearchCV(LogisticRegression(), GRID, scoring=scoring, cv=2).fit(X, NUMBERS)
    numbers = search(scoring).fit(X, NUMBERS)
    labels = search(scoring, pos_label="sick").fit(X, LABELS)
    for name in ("split0_test_score", "mean_test_score"):
        np.testing.assert_allclose(labels.cv_results_[name], theirs.cv_results_[name], rtol=0, atol=1e-12)
    assert labels.estimate_.value == pytest.approx(numbers.estimate_.value, abs=1e-9)
    assert labels.score(X, LABELS) == pytest.approx(theirs.score(X, NUMBERS), abs=1e-12)


def test_everything_is_of_the_named_class() -> None:
    fitted = search("roc_auc", pos_label="sick").fit(X, LABELS)
    assert fitted.evaluation_.task.truth.pos_label == "sick"
    decisions = fitted.predictions_.responses["decision"][:, fitted.best_index_, 0]
    assert decisions[LABELS == "sick"].mean() > decisions[LABELS == "well"].mean()
    by_f1 = ho.estimate(LABELS, search("f1", pos_label="sick").fit(X, LABELS).predictions_)
    assert by_f1.provenance["pos_label"] == "sick"


@pytest.mark.parametrize("scoring", OF_ONE_CLASS)
def test_without_it_a_scorer_of_one_class_is_refused_before_anything_is_fitted(scoring: str) -> None:
    class NeverFitted(LogisticRegression):
        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            raise AssertionError("fitted")

    with pytest.raises(InputError, match=r"pos_label=.*'sick', 'well'"):
        ho.HeldOutSearchCV(NeverFitted(), GRID, scoring=scoring, error_score="raise").fit(X, LABELS)


def test_a_score_that_is_the_same_of_either_class_needs_no_name() -> None:
    scoring = "neg_brier_score"
    theirs = GridSearchCV(LogisticRegression(), GRID, scoring=scoring, cv=2).fit(X, NUMBERS)
    ours = search(scoring).fit(X, LABELS)
    np.testing.assert_allclose(
        ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-12
    )
    assert ours.score(X, LABELS) == pytest.approx(theirs.score(X, NUMBERS), abs=1e-12)


def test_a_scorer_keeps_the_class_that_it_names_and_a_contradiction_is_refused() -> None:
    of_well = make_scorer(f1_score, pos_label="well")
    alone = search(of_well).fit(X, LABELS)
    np.testing.assert_array_equal(
        alone.cv_results_["mean_test_score"],
        search("f1", pos_label="well").fit(X, LABELS).cv_results_["mean_test_score"],
    )
    same = search(of_well, pos_label="well").fit(X, LABELS)
    np.testing.assert_array_equal(alone.cv_results_["mean_test_score"], same.cv_results_["mean_test_score"])
    for scoring in (of_well, ho.metrics.FScore(pos_label="well"), {"f1": "f1", "other": of_well}):
        with pytest.raises(InputError, match=r"pos_label='well'.*pos_label='sick'") as error:
            search(scoring, pos_label="sick", refit=False).fit(X, LABELS)
        assert error.value.argument == "pos_label"


@pytest.mark.parametrize(
    ("estimator", "y", "pos_label", "message"),
    [
        (LogisticRegression(), LABELS, "ill", "one of the classes 'sick', 'well'"),
        (LogisticRegression(), np.arange(150) % 3, 1, "multiclass"),
        (Ridge(), X[:, 0], 1, "regression"),
    ],
)
def test_what_is_none_of_two_classes_is_refused(estimator: Any, y: Any, pos_label: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as error:
        ho.HeldOutSearchCV(estimator, {}, pos_label=pos_label).fit(X, y)
    assert error.value.argument == "pos_label"


def test_a_function_of_the_last_class_alone_is_refused_for_the_other() -> None:
    with pytest.raises(InputError, match=r"positive_likelihood_ratio.*'well'.*pos_label='sick'"):
        search("positive_likelihood_ratio", pos_label="sick").fit(X, LABELS)
    search("positive_likelihood_ratio", pos_label="well").fit(X, LABELS)


def last_class(y_true: Any, probability: Any) -> float:
    return float(np.mean(probability[y_true == "well"]) - np.mean(probability[y_true == "sick"]))


def test_a_function_that_knows_no_class_gets_what_scikit_learn_passes_it() -> None:
    scorer = make_scorer(last_class, response_method="predict_proba")
    fitted = search(scorer, pos_label="sick").fit(X, LABELS)
    theirs = GridSearchCV(LogisticRegression(), GRID, scoring=scorer, cv=2).fit(X, LABELS)
    np.testing.assert_allclose(fitted.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])
    assert fitted.evaluation_.pooled_scores["score"].min() > 0
    assert fitted.estimate_.value > 0


def test_decisions_of_a_model_without_probabilities_point_to_the_class() -> None:
    ours = ho.HeldOutSearchCV(
        LinearSVC(), GRID, scoring="average_precision", cv=2, pos_label="sick", n_bootstraps=20
    )
    theirs = GridSearchCV(LinearSVC(), GRID, scoring="average_precision", cv=2).fit(X, NUMBERS)
    ours.fit(X, LABELS)
    np.testing.assert_allclose(
        ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-9
    )


PROTOCOLS: dict[str, Callable[..., Any]] = {
    "bootstrap_search": lambda y, **named: ho.bootstrap_search(
        LogisticRegression(), X, y, GRID, scoring="f1", cv=2, n_bootstraps=2, random_state=0, **named
    ).value,
    "learning_curve": lambda y, **named: ho.protocols.learning_curve(
        LogisticRegression(), X, y, GRID, scoring="f1", n_subsamples=2, random_state=0, **named
    ).estimate.value,
    "compare_algorithms": lambda y, **named: ho.compare_algorithms(
        [("a", LogisticRegression(), GRID), ("b", LogisticRegression(), {"C": [9.0]})],
        X, y, scoring="f1", cv=3, n_bootstraps=20, random_state=0, **named,
    )["a"].nested,
    "advise": lambda y, **named: ho.advise(
        X, y, (LogisticRegression(), GRID), scoring="f1", seconds=0, random_state=0, **named
    ).costs[0].most,
    "open_search": lambda y, **named: open_search(y, **named),
    "validate": lambda y, **named: ho.bootstrap_validate(
        LogisticRegression(), X, y, metric="jaccard", n_bootstraps=4, random_state=0, **named
    ).value,
}  # fmt: skip
"""Each with the same question of the class 1 of numbers, or of a class of labels."""


def open_search(y: Any, **named: Any) -> float:
    run = ho.open_search(X, y, scoring="f1", cv=2, random_state=0, n_bootstraps=20, **named)
    value = run.evaluate(LogisticRegression())
    run.finish()
    return value


@pytest.mark.parametrize("name", PROTOCOLS)
def test_protocols_take_the_class_too(name: str) -> None:
    protocol = PROTOCOLS[name]
    found = protocol(LABELS, pos_label="sick")
    assert found == pytest.approx(protocol(NUMBERS), abs=1e-9) and not np.isnan(found)
    if name != "validate":  # its metrics by name are of the last class
        with pytest.raises(InputError, match="pos_label="):
            protocol(LABELS)


def test_optuna_takes_the_class_too() -> None:
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    space = {"C": optuna.distributions.FloatDistribution(0.01, 1.0)}
    settings: Any = {"n_trials": 3, "scoring": "f1", "cv": 2, "n_bootstraps": 20, "random_state": 0}
    numbers = ho.HeldOutOptunaSearchCV(LogisticRegression(), space, **settings).fit(X, NUMBERS)
    labels = ho.HeldOutOptunaSearchCV(LogisticRegression(), space, pos_label="sick", **settings)
    assert labels.fit(X, LABELS).best_score_ == pytest.approx(numbers.best_score_, abs=1e-12)
    of_labels = ho.optuna.objective(LogisticRegression(), X, LABELS, space, scoring="f1", cv=2, pos_label="sick")
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(of_labels, n_trials=1)
    assert study.best_value > 0.5
    of_labels.close()


def test_a_protocol_takes_the_class_of_the_search_and_refuses_another() -> None:
    of_search = search("f1", pos_label="sick", cv=3)
    by_search = ho.nested_cv(of_search, X, LABELS).value
    assert by_search == ho.nested_cv(search("f1", cv=3), X, LABELS, pos_label="sick").value
    with pytest.raises(InputError, match=r"pos_label='sick'.*pos_label='well'"):
        ho.nested_cv(of_search, X, LABELS, pos_label="well")


@pytest.mark.parametrize("metric", ["f1", "jaccard", "average_precision", "d2_log_loss_score"])
def test_estimates_of_arrays_by_name_are_of_the_class_too(metric: str) -> None:
    model = LogisticRegression().fit(X, NUMBERS)
    of_labels = metric in ("f1", "jaccard")
    numbers = model.predict(X) if of_labels else model.predict_proba(X)[:, 1]
    labels = np.where(numbers == 1, "sick", "well") if of_labels else numbers
    found = ho.estimate(LABELS, labels[:, None], metric=metric, method="cv", pos_label="sick").value
    assert found == pytest.approx(
        ho.estimate(NUMBERS, numbers[:, None], metric=metric, method="cv").value, abs=1e-12
    )


def test_a_stored_run_of_the_other_class_is_not_continued(tmp_path: Path) -> None:
    for named in ("sick", "well"):
        stored = search("roc_auc", pos_label=named, store=tmp_path / "run.db").fit(X, LABELS)
        decisions = stored.predictions_.responses["decision"]
        fresh = search("roc_auc", pos_label=named).fit(X, LABELS)
        np.testing.assert_array_equal(decisions, fresh.predictions_.responses["decision"])


METRICS = [
    (ho.metrics.FScore(), "f1"),
    (ho.metrics.SensitivityAtSpecificity(0.8), "sensitivity_at_specificity(specificity=0.8)"),
    (ho.metrics.NagelkerkeR2(), "nagelkerke_r2"),
]


@pytest.mark.parametrize(("metric", "name"), METRICS)
def test_a_metric_object_is_the_same_as_its_name_and_its_scorer(metric: Any, name: str) -> None:
    fitted = [search(one).fit(X, NUMBERS) for one in (metric, name, ho.metrics.scorer(metric))]
    for other in fitted[1:]:
        np.testing.assert_allclose(
            fitted[0].cv_results_["mean_test_score"], other.cv_results_["mean_test_score"], rtol=0, atol=1e-12
        )
        assert fitted[0].estimate_.value == pytest.approx(other.estimate_.value, abs=1e-12)
        assert fitted[0].score(X, NUMBERS) == pytest.approx(other.score(X, NUMBERS), abs=1e-12)
    labels = search(metric, pos_label="sick").fit(X, LABELS)
    np.testing.assert_allclose(
        labels.cv_results_["mean_test_score"], fitted[0].cv_results_["mean_test_score"], rtol=0, atol=1e-12
    )
    assert labels.score(X, LABELS) == pytest.approx(fitted[0].score(X, NUMBERS), abs=1e-9)


def test_metric_objects_in_lists_and_dicts() -> None:
    listed = search([ho.metrics.FScore(), "accuracy"], refit="f1", pos_label="sick").fit(X, LABELS)
    named = search({"f": ho.metrics.FScore(), "auc": "roc_auc"}, refit="f", pos_label="sick").fit(X, LABELS)
    assert list(listed.estimates_) == ["f1", "accuracy"] and list(named.estimates_) == ["f", "auc"]
    assert listed.best_score_ == named.best_score_ == listed.cv_results_["mean_test_f1"].max()
    assert ho.nested_cv(search(ho.metrics.RocAuc(), cv=3), X, LABELS).value > 0.8
    with pytest.raises(InputError, match="f1, f1") as error:
        search([ho.metrics.FScore(), ho.metrics.FScore(pos_label="well")], refit=False).fit(X, LABELS)
    assert error.value.argument == "scoring"


def test_the_parameters_of_an_estimator_hold_it() -> None:
    made = search(ho.metrics.FScore(beta=2), pos_label="sick")
    assert made.get_params()["pos_label"] == "sick" and "pos_label='sick'" in repr(made)
    copied = pickle.loads(pickle.dumps(clone(made).fit(X, LABELS)))
    assert copied.pos_label == "sick" and copied.scoring == ho.metrics.FScore(beta=2)
    assert copied.score(X, LABELS) == made.fit(X, LABELS).score(X, LABELS)
    assert made.set_params(pos_label="well").fit(X, LABELS).best_score_ != copied.best_score_
    with pytest.raises(ValueError, match="'pos_label' parameter of HeldOutSearchCV"):
        search("f1", pos_label=["sick"]).fit(X, LABELS)


def test_labels_that_are_numbers_or_answers() -> None:
    expected = search("f1").fit(X, NUMBERS).cv_results_["mean_test_score"]
    for y, named in ((NUMBERS + 1, 2), (-NUMBERS, -1), (NUMBERS == 1, True), (NUMBERS != 1, False)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = search("f1", pos_label=named).fit(X, y)
        np.testing.assert_allclose(found.cv_results_["mean_test_score"], expected, rtol=0, atol=1e-12)
    with pytest.raises(InputError, match=r"pos_label=1.*2, 3"):
        search("f1").fit(X, NUMBERS + 2)


def tuned(folder: Path, y: Any, metric: str, positive: str) -> Any:
    """estimate.json of ``heldout tune``."""
    pd = pytest.importorskip("pandas")
    pytest.importorskip("click")
    from heldout.cli import main

    folder.mkdir()
    pd.DataFrame(X, columns=list("abcd")).assign(state=y).to_csv(folder / "rows.csv", index=False)
    arguments = f"tune {folder / 'rows.csv'} --target state --positive {positive} --metric {metric} --quiet"
    arguments += f" --models logistic --cv 2 --n-bootstraps 10 --out {folder / 'run'} --task classification"
    with pytest.raises(SystemExit) as end:
        main(arguments.split())
    assert end.value.code == 0
    return json.loads((folder / "run" / "estimate.json").read_text())


@pytest.mark.usefixtures("short_page")
def test_the_command_line_scores_the_same_class(tmp_path: Path) -> None:
    metrics = "f1,jaccard,nagelkerke_r2"
    labels = tuned(tmp_path / "labels", LABELS, metrics, "sick")["estimates"]
    numbers = tuned(tmp_path / "numbers", NUMBERS, metrics, "1")["estimates"]
    assert list(labels) == list(numbers)
    for name, estimate in labels.items():
        assert estimate["value"] == pytest.approx(numbers[name]["value"], abs=1e-9)
        assert estimate["uncorrected"] == pytest.approx(numbers[name]["uncorrected"], abs=1e-9)
