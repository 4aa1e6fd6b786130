"""The file of a search's predictions holds its question too, whatever its name and the order of its lines."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn import config_context
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import fbeta_score, make_scorer
from sklearn.model_selection import GroupKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import heldout as ho
from heldout.errors import HeldoutWarning, InputError
from heldout.estimates import BBC
from heldout.readers.formats.own import table_of_predictions
from heldout.selection import OneStandardError, Within

N = 80
RNG = np.random.default_rng(11)
X = RNG.normal(size=(N, 3))
SIGNAL = X[:, 0] + RNG.normal(size=N)
TEXT = np.where(SIGNAL > 0.2, "ill", "well")
KNN = {"n_neighbors": [1, 5, 15, 30]}


def search_of(y: Any = TEXT, model: Any = None, grid: Any = None, fit: Any = None, **settings: Any) -> Any:
    model = model or (KNeighborsRegressor() if y is SIGNAL else KNeighborsClassifier())
    settings = {"n_bootstraps": 30, "random_state": 5, **settings}
    return ho.HeldOutSearchCV(model, grid or KNN, **settings).fit(X, y, **(fit or {}))


def written(search: Any, path: Path, change: Any = lambda table: table, **settings: Any) -> Path:
    """The file of a search, its lines moved; ``settings`` are changed in its metadata."""
    evaluation = search.evaluation_
    metric = evaluation.metrics[evaluation.refit_metric]
    frame, roles = table_of_predictions(evaluation.task, search.predictions_, metric, "outcome")
    roles["settings"] |= settings
    table = pa.Table.from_pandas(frame, preserve_index=False)
    table = table.replace_schema_metadata({b"heldout": json.dumps(roles).encode()})
    pq.write_table(change(table), path)
    return path


SEARCHES: dict[str, dict[str, Any]] = {
    "plain": {},
    "regression": {"y": SIGNAL, "scoring": "r2", "aggregate": "folds"},
    "pooled, two repeats": {"scoring": "roc_auc", "aggregate": "pooled", "repeats": 2},
    "pairs of a fold": {"scoring": "roc_auc", "aggregate": "within", "method": "bbc"},
    "one standard error": {"selection": "one_standard_error", "method": BBC(interval="calibrated")},
    "a tolerance": {"selection": Within(0.05), "alternative": "greater", "confidence_level": 0.9},
    "dropping": {"drop": "bootstrap"},
    "blocks": {"block_length": "stationary:4"},
    "groups": {"cv": GroupKFold(4), "fit": {"groups": np.arange(N) // 2}},
}


@pytest.mark.parametrize("settings", SEARCHES.values(), ids=SEARCHES)
def test_a_sorted_and_renamed_file_needs_no_keyword(settings: dict[str, Any], tmp_path: Path) -> None:
    search = search_of(**settings)
    renamed = written(search, tmp_path / "p.parquet", lambda table: table.sort_by([("row", "descending")]))
    table = ho.read_predictions(str(renamed.rename(tmp_path / "anything.parquet")))
    assert ho.estimate(table).to_dict() == search.estimate_.to_dict()
    assert ho.compare_configurations(table).winner == search.estimate_.selected_name
    compared = ho.compare_estimates(table, methods=[search.predictions_.question.method])
    assert compared[compared.main].value == search.estimate_.value
    with pytest.warns(HeldoutWarning, match=r"has `random_state=5`. With `random_state=6`"):
        ho.estimate(table, random_state=6)


def test_weights_of_a_file_are_those_of_the_search(tmp_path: Path) -> None:
    with config_context(enable_metadata_routing=True):
        model = LogisticRegression().set_fit_request(sample_weight=True)
        scorer = make_scorer(fbeta_score, beta=1, pos_label="well").set_score_request(sample_weight=True)
        fit = {"sample_weight": 1.0 + np.arange(N) % 3}
        search = search_of(model=model, grid={"C": [0.01, 1]}, scoring=scorer, fit=fit)
    table = ho.read_predictions(str(written(search, tmp_path / "p.parquet")))
    assert ho.estimate(table).to_dict() == search.estimate_.to_dict()


def test_a_rule_that_a_file_cannot_hold_is_named(tmp_path: Path) -> None:
    several = {"scoring": ["accuracy", "roc_auc"], "refit": "accuracy", "selection": "average_rank"}
    for settings in (several, {"selection": OneStandardError("n_neighbors")}, {"refit": lambda results: 3}):
        table = ho.read_predictions(str(written(search_of(**settings), tmp_path / "p.parquet")))
        with pytest.warns(HeldoutWarning, match="of which the file has no more than the name"):
            assert ho.estimate(table).provenance["selection"] == "best"


WRONG: list[dict[str, Any]] = [
    {"method": "x"}, {"method": "bbc(x=1)"}, {"selection": "top_k"}, {"selection": "within(tolerance=-1)"},
    {"aggregate": "x"}, {"alternative": "x"}, {"block_length": "x"}, {"winner": 4}, {"flags": ["x"]},
]  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_a_changed_question_is_read_or_refused(wrong: dict[str, Any], tmp_path: Path) -> None:
    path = written(search_of(), tmp_path / "p.parquet", **wrong)
    with pytest.raises(InputError, match=f"{next(iter(wrong))}.*heldout"):
        ho.read_predictions(str(path))


def test_the_flags_of_a_search_are_in_its_file(tmp_path: Path) -> None:
    search = search_of(stop_when_width=0.9, repeats=3)
    table = ho.read_predictions(str(written(search, tmp_path / "p.parquet", flags={"of another version": "x"})))
    assert ho.Flag.STOPPED_EARLY in search.estimate_.flags
    assert ho.Flag.STOPPED_EARLY not in ho.estimate(table).flags
    table = ho.read_predictions(str(written(search, tmp_path / "p.parquet")))
    assert ho.estimate(table).to_dict() == search.estimate_.to_dict()
