"""``heldout tune``: random searches, Optuna, a choice of models, several metrics, weights, and the help."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
import pytest
from scipy.stats import loguniform
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.model_selection import ParameterSampler

from heldout.cli.tune import command as tune_command

Run = Callable[..., Any]
Write = Callable[..., Path]
TUNE = "tune data.csv --target outcome --n-jobs 1 --n-bootstraps 20 --cv 2"
OPTUNA = f"{TUNE[:-1]}3 --search optuna --n-trials 5"

pytestmark = pytest.mark.usefixtures("tiny_space")


def predictions(folder: str = "heldout-out") -> pd.DataFrame:
    return pd.read_parquet(Path(folder) / "predictions.parquet")


def mean_score(frame: pd.DataFrame, of: str, score: Any, by: str, positive: str | None = "yes") -> float:
    """The weighted score of a configuration's predictions, the mean over folds or repeats."""
    predicted = frame.filter(like=of).iloc[:, 0]
    truth = frame["outcome"] if positive is None else frame["outcome"] == positive
    parts = [part.index for _, part in frame.groupby(by)]
    return float(np.mean([score(truth[i], predicted[i], sample_weight=frame["weight"][i]) for i in parts]))


def test_a_random_search_draws_from_the_distributions_of_the_preset(document: Run, table: Write) -> None:
    table()
    asked = f"{TUNE} --search random --n-iter 4 --seed 3"
    found = document(asked)
    drawn = list(ParameterSampler({"fit__C": loguniform(0.01, 1.0), "model": ["logistic"]}, 4, random_state=3))
    assert found["n_configurations"] == 4 and found["winner"]["params"] in drawn
    again = document(f"{asked} --resume")
    assert again["n_fits_resumed"] == 8 and again["value"] == found["value"]


def test_without_a_number_sixty_are_drawn(command: Run, table: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    table()
    monkeypatch.setattr("heldout.execution.executors.local.do_task", interrupted)
    ended = command(*f"{TUNE} --search random".split())
    assert ended.code == 130 and "Plan: 60 configurations drawn at random" in ended.out


def test_a_choice_of_models(run: Run, table: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.tree import DecisionTreeClassifier

    from heldout.spaces.presets import _on_scaled

    models = {"linear svm": LogisticRegression(), "cox": None, "boosting": DecisionTreeClassifier()}

    def three(name: str, X: Any, kind: Any) -> list[Any]:
        return [(name, _on_scaled(model)(X), {}) for name, model in models.items()]

    monkeypatch.setattr("heldout.spaces.preset", three)
    table()
    assert "2 configurations (linear svm, boosting)" in run(f"{TUNE} --models 'boosting, linear svm'").out


def test_several_metrics_are_each_estimated_and_the_first_chooses(document: Run, table: Write) -> None:
    table()
    names = ["roc_auc", "accuracy", "log_loss"]
    found = document(f"{TUNE} --metric roc_auc,accuracy --metric log_loss")
    assert found["metric"] == "roc_auc" and list(found["estimates"]) == names
    content = json.loads(Path("heldout-out/report.json").read_text())
    assert [row["name"] for row in content["metrics"]] == names and content["command"].count("--metric") == 2
    alone = document(f"{TUNE} --metric roc_auc --out alone")
    assert alone["value"] == found["value"] and "estimates" not in alone
    other = document(f"{TUNE} --metric accuracy,roc_auc --out other")
    assert other["metric"] == "accuracy" and other["value"] == other["estimates"]["accuracy"]["value"]


def test_weights_reach_fits_scores_and_files(document: Run, table: Write) -> None:
    weights = np.arange(60) % 7
    table(w=weights)
    found = document(f"{TUNE} --weight w --metric accuracy,roc_auc")
    assert "w" not in found["columns"] and found["provenance"]["weighted"] is True
    frame = predictions()
    np.testing.assert_allclose(frame["weight"], weights / weights.mean())
    own = document("estimate heldout-out/predictions.parquet")
    assert own["value"] == found["value"] and own["distribution"] == found["distribution"]
    by_fold = mean_score(frame, found["selected_name"], accuracy_score, "fold", None)
    assert found["estimates"]["accuracy"]["uncorrected"] == pytest.approx(by_fold)
    plain = document(f"{TUNE} --keep w --metric accuracy,roc_auc --out u")
    assert not frame.filter(like="logistic").equals(predictions("u").filter(like="logistic"))
    table(w=2.5)
    equal = document(f"{TUNE} --weight w --metric accuracy,roc_auc --out equal")
    unweighted = document(f"{TUNE} --metric accuracy,roc_auc --out plain")
    assert equal["distribution"] == unweighted["distribution"] != plain["distribution"]


def test_fits_receive_the_weights(run: Run, table: Write) -> None:
    """A model whose probability is the weighted share of the positive class."""
    Path("share_of_weights.py").write_text(
        "import numpy as np\n"
        "from sklearn.base import BaseEstimator, ClassifierMixin\n"
        "from sklearn.neighbors import KNeighborsClassifier\n"
        "from sklearn.pipeline import make_pipeline\n"
        "import heldout as ho\n"
        "class Share(ClassifierMixin, BaseEstimator):\n"
        "    def fit(self, X, y, sample_weight=None):\n"
        "        self.classes_ = np.unique(y)\n"
        "        self.share_ = np.average(y == 'yes', weights=sample_weight)\n"
        "        return self\n"
        "    def predict_proba(self, X):\n"
        "        return np.tile([1 - self.share_, self.share_], (len(X), 1))\n"
        "    def predict(self, X):\n"
        "        return self.classes_[self.predict_proba(X).argmax(axis=1)]\n"
        "def space(X, y):\n"
        "    prepare = ho.spaces.default_preprocessing(X)\n"
        "    models = {'share': Share(), 'near': KNeighborsClassifier()}\n"
        "    return [(name, make_pipeline(prepare, model)) for name, model in models.items()]\n"
    )
    weights = 1 + np.arange(60) % 3
    table(w=weights)
    ended = run(f"{TUNE} --weight w --space share_of_weights.py:space --metric log_loss")
    assert "Left out near: the fit of these models takes no weights of rows." in ended.err
    frame = predictions()
    for fold, part in frame.groupby("fold"):
        train = frame["fold"] != fold
        expected = np.average(frame["outcome"][train] == "yes", weights=weights[train])
        np.testing.assert_allclose(part["share"], expected)


def test_all_together(document: Run, table: Write) -> None:
    table()
    options = "--search random --n-iter 3 --models logistic --weight site --drop bootstrap --aggregate pooled"
    found = document(f"{TUNE} {options} --repeats 2 --metric roc_auc,average_precision")
    assert found["provenance"]["aggregate"] == "pooled" and len(found["estimates"]) == 2
    of_repeats = mean_score(predictions(), found["selected_name"], roc_auc_score, "repeat")
    assert found["uncorrected"] == pytest.approx(of_repeats)


def test_the_help_shows_every_option_once_below_a_title(run: Run) -> None:
    text = run("tune --help").out
    for option in tune_command.params:
        if isinstance(option, click.Option):
            assert text.count(f"\n  {', '.join(sorted(option.opts, key=len))} ") == 1, option.name
    titles = re.findall(r"^(\w.*):$", text, flags=re.MULTILINE)
    assert titles == [
        "The data", "What is tried", "How it is scored and chosen", "How good the winner is", "Running",
    ]  # fmt: skip


def test_optuna_proposes_from_the_distributions_of_the_preset(document: Run, run: Run, table: Write) -> None:
    pytest.importorskip("optuna")
    table()
    asked = f"{TUNE} --search optuna --n-trials 3"
    found = document(asked)
    assert found["n_configurations"] == 3 and "adaptive_search" in str(found["flags"])
    assert 0.01 <= found["winner"]["params"]["fit__C"] <= 1.0
    assert "6 of 6 done" in run("status heldout-out").out
    again, other = document(f"{asked} --out again"), document(f"{asked} --out other --seed 1")
    assert again["distribution"] == found["distribution"] and again["winner"] == found["winner"]
    assert other["winner"] != found["winner"]
    longer = document(f"{asked[:-1]}4 --resume")
    assert (longer["n_fits_resumed"], longer["n_configurations"]) == (6, 4)


def test_optuna_weighs_rows_and_drops(document: Run, table: Write) -> None:
    pytest.importorskip("optuna")
    table()
    found = document(f"{OPTUNA} --weight site --drop bootstrap --batch-size 2 --metric roc_auc,accuracy")
    assert found["provenance"]["weighted"] is True and len(found["estimates"]) == 2
    by_fold = mean_score(predictions(), found["selected_name"], roc_auc_score, "fold")
    assert found["uncorrected"] == pytest.approx(by_fold)


@pytest.fixture
def numbers(table: Write, bare_space: None) -> Path:
    return table(drop=["text"])


def test_optuna_with_an_estimate_of_samplers_that_have_not_seen_a_fold(
    refused: Run, document: Run, run: Run, numbers: Path
) -> None:
    pytest.importorskip("optuna")
    asked = f"{OPTUNA} --feedback cross-fitted:2"
    plain, found = document(f"{OPTUNA} --out plain"), document(asked)
    assert "cross_fitted" in str(found["flags"]) and "adaptive_search" not in str(found["flags"])
    assert found["winner"] == plain["winner"] and found["uncorrected"] == plain["uncorrected"]
    assert found["n_fits"] == plain["n_fits"] + 3 * 2 * 2 + 3  # 3 folds: 2 trials on 2 folds each, and 3 winners
    status = run("status heldout-out").out
    assert "15 of 15 done" in status
    assert "12 fits of 3 of its searches without a fold so far (finished)" in status
    again = document(f"{asked} --resume")
    assert again["n_fits_resumed"] == 15 + 12 and again["distribution"] == found["distribution"]
    Path("heldout-out/run.db").unlink()
    assert "already holds a run" in refused(asked)


def test_optuna_leaves_out_each_fold_by_default(document: Run, run: Run, numbers: Path) -> None:
    pytest.importorskip("optuna")
    ended = run(f"{OPTUNA[:-1]}37 --timeout 600")
    assert "at most 111 fits and 33 more for the corrected estimate, seed 0." in ended.out
    said = "of 144 fits, 33 (23 %) were for the corrected estimate"
    assert f"fits 144 done {said}" in " ".join(ended.out.split())
    assert "cross_fitted" in Path("heldout-out/estimate.json").read_text()
    assert "further searches of" in Path("heldout-out/methods.md").read_text()
    assert said in Path("heldout-out/report.json").read_text()
    plain = document(f"{OPTUNA} --feedback all --out all")
    assert plain["n_fits_for_estimate"] == 0 and "adaptive_search" in str(plain["flags"])


def test_optuna_stops_when_further_search_is_useless(document: Run, numbers: Path) -> None:
    pytest.importorskip("optuna")
    found = document(f"{OPTUNA[:-1]}60 --stop-when-useless")
    assert 20 <= found["n_configurations"] < 60
    assert "stopped_when_useless" in str(found["flags"])


def test_without_optuna_the_extra_is_named(refused: Run, table: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    table()
    monkeypatch.setitem(sys.modules, "optuna", None)
    ended = refused(OPTUNA)
    assert "A search with Optuna needs" in ended and "optuna" in ended
