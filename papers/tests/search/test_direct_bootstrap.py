"""The direct bootstrap of a search, against a plain loop."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KNeighborsClassifier
from small_spaces import of_table

from heldout.errors import InputError
from heldout_papers import SearchStudy, search
from heldout_papers.search.direct_bootstrap import _sample, direct_bootstrap
from heldout_papers.search.fits import RowFits
from heldout_papers.search.protocols import cross_validation
from heldout_papers.search.result import DIRECT, RepeatedProtocol

from .conftest import N_FOLDS, rows_of, searched

ENTRIES: list[Any] = [
    ("logistic", LogisticRegression(), {"C": [0.001, 1.0]}),
    ("knn", KNeighborsClassifier(), {"n_neighbors": [1, 7]}),
]
MODELS = [LogisticRegression(C=0.001), LogisticRegression(C=1.0), KNeighborsClassifier(1), KNeighborsClassifier(7)]


def scored(model: Any, X: Any, y: Any, train: Any, test: Any) -> Any:
    fitted = clone(model).fit(X[train], y[train])
    if hasattr(fitted, "decision_function"):
        return fitted.decision_function(X[test])
    return fitted.predict_proba(X[test])[:, 1]


def test_every_sample_is_searched_and_scored_on_the_rows_left_out() -> None:
    X, y = rows_of(60, 4)
    X = np.nan_to_num(X)
    found = searched(X, y, ENTRIES)
    labels = found.folds.labels[:, 0]
    result = direct_bootstrap(found.subsample, RowFits(found.work), 3)

    by_hand = []
    for number in range(3):
        drawn, left_out = _sample(found.subsample, number)
        assert sorted({*drawn, *left_out}) == list(range(60)) and len(drawn) == 60
        pooled = np.zeros((60, 4))
        for fold in range(N_FOLDS):
            inside = labels[drawn] == fold
            for j, model in enumerate(MODELS):
                pooled[inside, j] = scored(model, X, y, drawn[~inside], drawn[inside])
        winner = int(np.argmax([roc_auc_score(y[drawn], pooled[:, j]) for j in range(4)]))
        by_hand.append(roc_auc_score(y[left_out], scored(MODELS[winner], X, y, drawn, left_out)))
    assert result.estimate == pytest.approx(np.mean(by_hand))
    assert min(by_hand) - 1e-9 <= result.low[-1] <= result.estimate <= result.high[-1] <= max(by_hand) + 1e-9
    assert result.winner == cross_validation(found.subsample).winner
    assert result.models == 3 * (4 * N_FOLDS + 1) + 4 * N_FOLDS + 1


@pytest.mark.usefixtures("without_pictures")
def test_a_study_has_it_where_samples_are_asked_for(tables: Path) -> None:
    how: dict[str, Any] = {
        "names": ["first"], "rows": 30, "subsamples": 1, "space": of_table, "folds": 3, "repeats": 1,
        "n_bootstraps": 20, "random_state": 7, "n_jobs": 1,
    }  # fmt: skip
    without, study = search(tables, **how), search(tables, **how, samples=3)

    assert study.protocols == (*without.protocols, DIRECT)
    row = next(one for one in study.rows() if one["protocol"] == "direct_bootstrap")
    assert row["subsamples"] == 1 and 0 < row["width"] and row["truth"] > 0.3
    cv = RepeatedProtocol("cv")
    for protocol in without.protocols:
        assert np.array_equal(
            study.of("estimate", protocol, study.places[0]), without.of("estimate", protocol, study.places[0])
        )
    assert np.array_equal(study.of("winner", DIRECT, study.places[0]), study.of("winner", cv, study.places[0]))
    assert SearchStudy.from_frame(study.to_frame(each=True)).protocols == study.protocols
    heads = {head for table in study.page().tables for head in table.head}
    assert "direct bootstrap" in heads
    with pytest.raises(InputError, match="samples must be a whole number from 0 on, got -1"):
        search.job(tables, **how, samples=-1)
