"""What a large search keeps: the predictions of all rows, or of those that its estimates read; the same numbers."""

import mmap

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import heldout as ho

SPACE = {"var_smoothing": [1e-3, 1e-1, 1.0]}


def rows_of(n_classes, scale=3):
    rng = np.random.default_rng(1)
    y = np.sort(rng.integers(n_classes, size=8000))[rng.permutation(8000)]
    return y[:, None] + rng.normal(scale=scale, size=(8000, 4)), y


def searched(keep, *, n_classes=2, scale=3, scoring="roc_auc", cv=3, **more):
    X, y = rows_of(n_classes, scale)
    settings = {"n_rows_of_bootstrap": 3000, "n_bootstraps": 100, "random_state": 0, **more}
    return ho.HeldOutSearchCV(GaussianNB(), SPACE, scoring=scoring, cv=cv, keep_predictions=keep, **settings).fit(
        X, y
    )


@pytest.fixture
def little_memory(monkeypatch):
    """Predictions that take more than a hundred bytes are too many."""
    monkeypatch.setattr("heldout.execution.kept_rows.MOST_KEPT", 100)


@pytest.fixture(scope="module")
def part():
    """A search that kept the predictions of some rows; tests only read it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("heldout.execution.kept_rows.MOST_KEPT", 100)
        return searched("auto")


@pytest.mark.parametrize(
    ("n_classes", "scoring", "method"),
    [(4, "neg_log_loss", "bbc"), (2, ["accuracy", "roc_auc"], "shrinkage")],
)
def test_numbers_are_the_same_whatever_is_kept(little_memory, n_classes, scoring, method):
    how = {"n_classes": n_classes, "scoring": scoring, "method": method}
    how |= {"refit": "accuracy"} if isinstance(scoring, list) else {}
    whole, few = searched(True, **how), searched("auto", **how)

    assert few.evaluation_.predictions.n_rows < whole.predictions_.n_rows == 8000
    assert few.best_score_ == whole.best_score_
    assert [one.to_dict() for one in few.estimates_.values()] == [
        one.to_dict() for one in whole.estimates_.values()
    ]


def test_predictions_that_were_not_kept_say_how_to_have_them(part):
    with pytest.raises(AttributeError, match=r"keep_predictions=True.*store"):
        _ = part.predictions_
    assert ho.estimate(part) is part.estimate_
    with pytest.raises(ho.InputError, match="keep_predictions=True"):
        ho.compare_estimates(part)


def test_few_predictions_are_kept():
    assert searched("auto").predictions_.n_rows == 8000


@pytest.mark.parametrize("more", [{"scoring": "f1"}, {"drop": "bootstrap"}, {"keep_models": "winner"}])
def test_all_are_kept_where_something_reads_them(little_memory, more):
    assert searched("auto", **more).predictions_.n_rows == 8000


@pytest.mark.usefixtures("page_of_words")
def test_a_report_is_of_the_rows_that_were_kept_and_their_fold_models_agree(part, tmp_path):
    pytest.importorskip("matplotlib")
    path = part.report(tmp_path / "report.html", X=rows_of(2)[0], importance="refit")

    page = path.read_text(encoding="utf-8")
    assert "8,000" in page and "Importance of the columns" in page


def test_few_errors_of_a_part_are_said(little_memory):
    kept = searched("auto", scoring="accuracy", scale=0.13)

    assert "keep_predictions=True" in kept.estimate_.flags["noise_of_a_part"]
    assert "noise_of_a_part" not in searched(True, scoring="accuracy", scale=0.13).estimate_.flags


def test_scorers_that_cannot_be_opened_count_all_rows(little_memory):
    scoring = {"auc": "roc_auc", "own": lambda model, X, y: model.score(X, y)}
    with pytest.warns(ho.HeldoutWarning, match="own: No estimate"):
        search = searched("auto", scoring=scoring, refit="auc")

    assert search.evaluation_.predictions.n_rows < 8000
    assert {one.n_rows_used for one in search.estimates_.values()} == {8000}


def test_large_predictions_of_a_store_are_in_a_file(monkeypatch, tmp_path):
    whole = searched(True, store=tmp_path / "memory.db")
    monkeypatch.setattr("heldout.execution.collect.MOST_IN_MEMORY", 100)
    mapped = searched("auto", store=tmp_path / "file.db")

    base = mapped.predictions_.for_metric(mapped.evaluation_.metrics["score"])
    while isinstance(base, np.ndarray):
        base = base.base
    assert isinstance(getattr(base, "obj", base), mmap.mmap)
    assert mapped.estimate_.to_dict() == whole.estimate_.to_dict()
