"""A result as a run of MLflow: what is logged, and where; in a store of MLflow itself where that is installed."""

import csv
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

import heldout as ho
from heldout.errors import MissingExtraError
from heldout.report.mlflow_run import scores_of
from heldout.result import Evaluation

Make = Callable[..., Evaluation]
FILES = {"methods.md", "card.md", "estimate.json", "configurations.csv"}


class RecordedClient:
    """MLflow's client, as far as it is used: it records what it is told."""

    def __init__(self, tracking_uri: str | None = None) -> None:
        self.uri, self.calls = tracking_uri, CALLS
        self.calls.append(("client", tracking_uri))

    def get_experiment_by_name(self, name: str) -> Any:
        return SimpleNamespace(experiment_id="7") if name == "known" else None

    def create_experiment(self, name: str) -> str:
        self.calls.append(("create_experiment", name))
        return "8"

    def create_run(self, experiment_id: str, run_name: str) -> Any:
        self.calls.append(("create_run", experiment_id, run_name))
        return SimpleNamespace(info=SimpleNamespace(run_id="new"))

    def log_param(self, run_id: str, key: str, value: str) -> None:
        self.calls.append(("param", run_id, key, value))

    def log_metric(self, run_id: str, key: str, value: float) -> None:
        self.calls.append(("metric", run_id, key, value))

    def set_tag(self, run_id: str, key: str, value: str) -> None:
        self.calls.append(("tag", run_id, key, value))

    def log_artifacts(self, run_id: str, folder: str) -> None:
        for path in Path(folder).iterdir():
            self.calls.append(("file", run_id, path.name, path.read_text(encoding="utf-8")))

    def set_terminated(self, run_id: str) -> None:
        self.calls.append(("end", run_id))


CALLS: list[tuple[Any, ...]] = []


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Calls to a module that stands for MLflow."""
    CALLS.clear()
    module, exceptions = ModuleType("mlflow"), ModuleType("mlflow.exceptions")
    exceptions.MlflowException = type("MlflowException", (Exception,), {})  # type: ignore[attr-defined]
    module.MlflowClient, module.active_run = RecordedClient, lambda: None  # type: ignore[attr-defined]
    module.get_tracking_uri = lambda: "the default"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "mlflow", module)
    monkeypatch.setitem(sys.modules, "mlflow.exceptions", exceptions)
    return CALLS


def of_kind(calls: list[tuple[Any, ...]], kind: str) -> dict[str, Any]:
    return {call[2]: call[3] for call in calls if call[0] == kind}


def test_what_is_logged(recorded: list[tuple[Any, ...]], make_evaluation: Make) -> None:
    made = make_evaluation(metrics=("roc_auc", "neg_log_loss"), failures={1: "no"})
    assert ho.log_to_mlflow(made, experiment="new one", tracking_uri="http://x", report=False) == "new"

    winner, estimate = made.configurations[made.winner], made.estimate
    assert recorded[:3] == [
        ("client", "http://x"),
        ("create_experiment", "new one"),
        ("create_run", "8", winner.name),
    ]
    assert recorded[-1] == ("end", "new")
    params, scores, files = (of_kind(recorded, kind) for kind in ("param", "metric", "file"))
    assert params["winner"] == winner.name and params["C"] == str(winner.params["C"]) and params["Seed"]
    assert scores["roc_auc_corrected"] == estimate.value and scores["roc_auc_uncorrected"] == estimate.uncorrected
    assert (scores["roc_auc_low"], scores["roc_auc_high"]) == tuple(estimate.interval)
    assert "neg_log_loss_corrected" in scores
    assert set(files) == FILES and files["card.md"] == ho.report_card(made)
    assert files["methods.md"] == made.methods_text().to_markdown()

    rows = list(csv.DictReader(files["configurations.csv"].splitlines()))
    assert [row["name"] for row in rows] == list(made.configurations.names)
    assert [row["status"] for row in rows].count("winner") == 1 and rows[1]["status"] == "failed"
    assert rows[1]["mean_roc_auc"] == "" and rows[1]["splits"] == "0"
    of_winner = made.fold_scores["roc_auc"].values[:, made.winner]
    assert float(rows[made.winner]["mean_roc_auc"]) == pytest.approx(of_winner.mean())


def test_an_active_run_is_used_and_stays_open(
    recorded: list[tuple[Any, ...]], make_evaluation: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    active = SimpleNamespace(info=SimpleNamespace(run_id="active"))
    monkeypatch.setattr(sys.modules["mlflow"], "active_run", lambda: active)
    assert ho.log_to_mlflow(make_evaluation(), report=False) == "active"
    assert not [call for call in recorded if call[0] in ("create_run", "end")]
    assert ho.log_to_mlflow(make_evaluation(), report=False, experiment="known") == "new"
    assert ("create_run", "7") in [call[:2] for call in recorded]


def test_a_store_that_refuses_is_named(
    recorded: list[tuple[Any, ...]], make_evaluation: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = sys.modules["mlflow.exceptions"].MlflowException("no such\n store")  # type: ignore[attr-defined]

    def refuse(*_: Any) -> None:
        raise error

    monkeypatch.setattr(RecordedClient, "log_param", refuse)
    with pytest.raises(ho.InputError, match=r"^MLflow could not log to http://x: no such store$"):
        ho.log_to_mlflow(make_evaluation(), tracking_uri="http://x", report=False)


def test_a_value_that_was_not_corrected_is_not_called_so(make_evaluation: Make) -> None:
    made = make_evaluation(method="cv")
    names = scores_of("a b%", made.estimate)
    assert "a b__value" in names and not [name for name in names if "corrected" in name.replace("uncorrected", "")]


def test_without_mlflow_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(MissingExtraError, match=r"^ho.log_to_mlflow needs packages of the extra 'mlflow'"):
        ho.log_to_mlflow(None)


@pytest.mark.skipif(importlib.util.find_spec("mlflow") is None, reason="the extra mlflow is not installed")
@pytest.mark.filterwarnings("ignore")
def test_in_a_store_of_mlflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    from mlflow import MlflowClient

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    search = ho.HeldOutSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5]}, cv=3, random_state=0).fit(X, y)
    uri = (tmp_path / "runs").as_uri()
    run_id = ho.log_to_mlflow(search, experiment="mine", tracking_uri=uri)
    client = MlflowClient(uri)
    run = client.get_run(run_id)
    assert run.info.status == "FINISHED" and run.data.params["n_neighbors"] == str(
        search.best_params_["n_neighbors"]
    )
    assert run.data.metrics["accuracy_corrected"] == pytest.approx(search.corrected_score_)
    assert {each.path for each in client.list_artifacts(run_id)} == FILES | {"report.html"}
