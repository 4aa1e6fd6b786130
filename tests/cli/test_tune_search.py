"""``heldout tune``: random searches, a choice of models, several metrics, weights, and the help by sections."""

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
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.model_selection import ParameterSampler

from heldout.cli.tune import command as tune_command

Command = Callable[..., Any]
Write = Callable[..., Path]

QUICK = ["--target", "outcome", "--n-jobs", "1", "--n-bootstraps", "20", "--cv", "3"]

pytestmark = pytest.mark.usefixtures("tiny_space")


def tune(command: Command, path: Path, *options: object) -> Any:
    ended = command("tune", path, *QUICK, *options)
    assert ended.code == 0, ended
    return ended


def test_a_random_search_draws_from_the_distributions_of_the_preset(command: Command, table: Write) -> None:
    from scipy.stats import loguniform

    path = table()
    ended = tune(command, path, "--search", "random", "--n-iter", "4", "--seed", "3", "--json")
    document = json.loads(ended.out)
    space = {"fit__C": loguniform(0.01, 1.0), "model": ["logistic"]}
    drawn = list(ParameterSampler(space, 4, random_state=3))
    assert "Plan: 4 configurations drawn at random (logistic) x 3 folds = 12 fits, seed 3." in ended.err
    assert document["n_configurations"] == 4 and document["winner"]["params"] in drawn

    again = json.loads(
        tune(command, path, "--search", "random", "--n-iter", "4", "--seed", "3", "--json", "--resume").out
    )
    assert again["n_fits_resumed"] == 12 and again["value"] == document["value"]


def test_without_a_number_sixty_are_drawn(command: Command, table: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("heldout.execution.executors.local.do_task", interrupted)
    ended = command("tune", table(), *QUICK, "--search", "random")
    assert ended.code == 130 and "Plan: 60 configurations drawn at random" in ended.out


def test_resuming_with_another_number_of_draws_says_so(command: Command, table: Write) -> None:
    path = table()
    tune(command, path, "--search", "random", "--n-iter", "2")
    ended = command("tune", path, *QUICK, "--search", "random", "--n-iter", "3", "--resume")
    assert ended.code == 2 and "--n-iter 2 then, 3 now; other configurations (2 then, 3 now)" in ended.last


def test_a_choice_of_models(command: Command, table: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.tree import DecisionTreeClassifier

    from heldout.spaces.presets import _on_scaled

    models = {"linear svm": LogisticRegression(), "cox": GaussianNB(), "boosting": DecisionTreeClassifier()}

    def three(name: str, X: Any, kind: Any) -> list[Any]:
        return [(name, _on_scaled(model)(X), {}) for name, model in models.items()]

    monkeypatch.setattr("heldout.spaces.preset", three)
    path = table()
    assert "2 configurations (linear svm, boosting)" in tune(command, path, "--models", "boosting, linear svm").out
    ended = command("tune", path, *QUICK, "--models", "boosting,forest", "--out", "other")
    assert ended.code == 2 and ended.last == (
        "Error: --models must name models of the preset quick (linear svm, cox, boosting), got 'forest'."
    )


@pytest.mark.draws_report
def test_several_metrics_are_each_estimated(command: Command, table: Write, tmp_path: Path) -> None:
    path = table()
    options = ["--metric", "roc_auc,accuracy", "--metric", "log_loss"]
    ended = tune(command, path, *options)
    assert (
        "Metrics: roc_auc, accuracy, log_loss; roc_auc chooses the winner, and each has its estimate." in ended.out
    )
    written = json.loads((tmp_path / "heldout-out" / "estimate.json").read_text())
    assert written["metric"] == "roc_auc" and list(written["estimates"]) == ["roc_auc", "accuracy", "log_loss"]
    lines = ended.out.splitlines()
    also = next(i for i, line in enumerate(lines) if line.startswith("also "))
    accuracy = written["estimates"]["accuracy"]
    words = lines[also].replace(",", "").split()
    assert words[:2] == ["also", "accuracy"] and float(words[2]) == pytest.approx(accuracy["value"], abs=5e-4)
    assert words[-2] == "uncorrected" and float(words[-1]) == pytest.approx(accuracy["uncorrected"], abs=5e-4)
    assert any(line.split()[:1] == ["neg_log_loss"] for line in lines[also + 1 :])

    content = json.loads((tmp_path / "heldout-out" / "report.json").read_text())
    assert [row["name"] for row in content["metrics"]] == ["roc_auc", "accuracy", "log_loss"]
    assert content["command"].count("--metric") == 2

    alone = json.loads(tune(command, path, "--metric", "roc_auc", "--out", "alone", "--json").out)
    assert alone["value"] == written["value"] and "estimates" not in alone


def test_the_first_metric_chooses(command: Command, table: Write) -> None:
    path = table()
    both = [
        json.loads(tune(command, path, "--metric", text, "--out", text[:3], "--json").out)
        for text in ("accuracy,roc_auc", "roc_auc,accuracy")
    ]
    assert [document["metric"] for document in both] == ["accuracy", "roc_auc"]
    assert both[0]["value"] == both[0]["estimates"]["accuracy"]["value"]


def test_weights_reach_fits_scores_and_files(
    command: Command, table: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = np.arange(60) % 7
    path = table(w=weights)
    document = json.loads(tune(command, path, "--weight", "w", "--metric", "accuracy,roc_auc", "--json").out)
    assert "w" not in document["columns"] and document["provenance"]["weighted"] is True

    frame = pd.read_parquet(tmp_path / "heldout-out" / "predictions.parquet")
    np.testing.assert_allclose(frame["weight"], weights / weights.mean())
    own = json.loads(command("estimate", "heldout-out/predictions.parquet", "--json").out)
    assert own["value"] == document["value"] and own["distribution"] == document["distribution"]
    predicted = frame.filter(like=document["selected_name"]).iloc[:, 0]
    by_fold = [
        accuracy_score(part["outcome"], predicted[part.index], sample_weight=part["weight"])
        for _, part in frame.groupby("fold")
    ]
    assert document["estimates"]["accuracy"]["uncorrected"] == pytest.approx(np.mean(by_fold))

    tune(command, table("u.csv"), "--metric", "accuracy,roc_auc", "--out", "u")
    of_fits = pd.read_parquet(tmp_path / "u" / "predictions.parquet")
    assert not frame.filter(like="logistic").equals(of_fits.filter(like="logistic"))


def test_fits_receive_the_weights(command: Command, table: Write, tmp_path: Path) -> None:
    """A model whose probability is the weighted share of the positive class."""
    (tmp_path / "share_of_weights.py").write_text(
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
    ended = tune(
        command, table(w=weights), "--weight", "w", "--space", "share_of_weights.py:space", "--metric", "log_loss"
    )
    assert "Left out near: the fit of these models takes no weights of rows." in ended.err
    frame = pd.read_parquet(tmp_path / "heldout-out" / "predictions.parquet")
    given = frame["outcome"] == "yes"
    for fold, part in frame.groupby("fold"):
        train = frame["fold"] != fold
        expected = np.average(given[train], weights=weights[train])
        np.testing.assert_allclose(part["share"], expected)


def test_equal_weights_change_nothing_and_that_is_said(command: Command, table: Write) -> None:
    path = table(w=2.5)
    weighted = tune(command, path, "--weight", "w", "--json")
    assert "Note: All weights in 'w' are equal, so they change nothing." in weighted.err
    plain = tune(command, path, "--json", "--out", "plain")
    assert json.loads(weighted.out)["distribution"] == json.loads(plain.out)["distribution"]


def test_all_together(command: Command, table: Write, tmp_path: Path) -> None:
    options = [
        "--search",
        "random",
        "--n-iter",
        "5",
        "--models",
        "logistic",
        "--weight",
        "site",
        "--drop",
        "bootstrap",
    ]
    options += ["--metric", "roc_auc,average_precision", "--aggregate", "pooled", "--repeats", "2"]
    document = json.loads(tune(command, table(), *options, "--json").out)
    assert document["provenance"]["aggregate"] == "pooled" and len(document["estimates"]) == 2
    frame = pd.read_parquet(tmp_path / "heldout-out" / "predictions.parquet")
    scores = frame.filter(like=document["selected_name"]).iloc[:, 0]
    of_repeats = [
        roc_auc_score(part["outcome"] == "yes", scores[part.index], sample_weight=part["weight"])
        for _, part in frame.groupby("repeat")
    ]
    assert document["uncorrected"] == pytest.approx(np.mean(of_repeats))


def test_the_help_shows_every_option_once_below_a_title(command: Command) -> None:
    text = command("tune", "--help").out
    options = [option for option in tune_command.params if isinstance(option, click.Option)]
    for option in options:
        assert text.count(f"\n  {', '.join(sorted(option.opts, key=len))} ") == 1, option.name
    titles = re.findall(r"^(\w.*):$", text, flags=re.MULTILINE)
    assert titles == [
        "The data", "What is tried", "How it is scored and chosen", "How good the winner is", "Running",
    ]  # fmt: skip


OPTUNA = ["--search", "optuna", "--n-trials", "5"]


def test_optuna_proposes_from_the_distributions_of_the_preset(command: Command, table: Write) -> None:
    pytest.importorskip("optuna")
    path = table()
    ended = tune(command, path, *OPTUNA, "--json")
    document = json.loads(ended.out)
    assert "Plan: 5 configurations proposed by Optuna (logistic) x 3 folds = 15 fits, seed 0." in ended.err
    assert document["n_configurations"] == 5 and "adaptive_search" in str(document["flags"])
    assert 0.01 <= document["winner"]["params"]["fit__C"] <= 1.0
    assert "15 of 15 done" in command("status", "heldout-out").out

    again = json.loads(tune(command, path, *OPTUNA, "--json", "--out", "again").out)
    other = json.loads(tune(command, path, *OPTUNA, "--json", "--out", "other", "--seed", "1").out)
    assert again["distribution"] == document["distribution"] and again["winner"] == document["winner"]
    assert other["winner"] != document["winner"]

    longer = json.loads(tune(command, path, *OPTUNA[:-1], "7", "--json", "--resume").out)
    assert (longer["n_fits_resumed"], longer["n_configurations"]) == (15, 7)


def test_optuna_weighs_rows_and_drops(command: Command, table: Write, tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    options = ["--weight", "site", "--drop", "bootstrap", "--batch-size", "2", "--metric", "roc_auc,accuracy"]
    document = json.loads(tune(command, table(), *OPTUNA, *options, "--json").out)
    assert document["provenance"]["weighted"] is True and len(document["estimates"]) == 2
    frame = pd.read_parquet(tmp_path / "heldout-out" / "predictions.parquet")
    scores = frame.filter(like=document["selected_name"]).iloc[:, 0]
    by_fold = [
        roc_auc_score(part["outcome"] == "yes", scores[part.index], sample_weight=part["weight"])
        for _, part in frame.groupby("fold")
    ]
    assert document["uncorrected"] == pytest.approx(np.mean(by_fold))


def test_optuna_with_an_estimate_of_samplers_that_have_not_seen_a_fold(
    command: Command, numbers: Path, tmp_path: Path
) -> None:
    pytest.importorskip("optuna")
    path, remedy = numbers, ["--feedback", "cross-fitted:2"]
    plain = json.loads(tune(command, path, *OPTUNA, "--json", "--out", "plain").out)
    ended = tune(command, path, *OPTUNA, *remedy, "--json")
    document = json.loads(ended.out)
    assert "cross_fitted" in str(document["flags"]) and "adaptive_search" not in str(document["flags"])
    assert document["winner"] == plain["winner"] and document["uncorrected"] == plain["uncorrected"]
    assert document["n_fits"] == plain["n_fits"] + 3 * 2 * 2 + 3  # 3 folds: 2 trials on 2 folds each, and 3 winners
    assert "searching without fold 2" in ended.err
    status = command("status", "heldout-out").out
    assert "15 of 15 done" in status
    assert "12 fits of 3 of its searches without a fold so far (finished)" in status
    again = json.loads(tune(command, path, *OPTUNA, *remedy, "--json", "--resume").out)
    assert again["n_fits_resumed"] == 15 + 12 and again["distribution"] == document["distribution"]

    (tmp_path / "heldout-out" / "run.db").unlink()
    refused = command("tune", path, *QUICK, *OPTUNA, *remedy)
    assert refused.code != 0 and "already holds a run" in refused.err


@pytest.fixture
def numbers(table: Write, bare_space: None) -> Path:
    return table(drop=["text"])


def test_optuna_leaves_out_each_fold_by_default(command: Command, numbers: Path, tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    options = [*OPTUNA[:-1], "37", "--timeout", "600"]
    ended = tune(command, numbers, *options)
    assert "at most 111 fits and 33 more for the corrected estimate, seed 0." in ended.out
    lines = [" ".join(line.split()) for line in ended.out.splitlines()]
    fits = lines.index("fits 144 done")
    assert lines[fits + 1] == "of 144 fits, 33 (23 %) were for the corrected estimate"
    written = json.loads((tmp_path / "heldout-out" / "estimate.json").read_text())
    assert "cross_fitted" in str(written["flags"])
    assert "further searches of" in (tmp_path / "heldout-out" / "methods.md").read_text()
    report = json.loads((tmp_path / "heldout-out" / "report.json").read_text())
    assert "of 144 fits, 33 (23 %) were for the corrected estimate" in str(report)
    plain = tune(command, numbers, *OPTUNA, "--feedback", "all", "--out", "all", "--json")
    assert "= 15 fits, seed 0." in plain.err
    assert json.loads(plain.out)["n_fits_for_estimate"] == 0
    assert "adaptive_search" in str(json.loads(plain.out)["flags"])


def test_optuna_stops_when_further_search_is_useless(command: Command, numbers: Path) -> None:
    pytest.importorskip("optuna")
    document = json.loads(tune(command, numbers, *OPTUNA[:-1], "60", "--stop-when-useless", "--json").out)
    assert 20 <= document["n_configurations"] < 60
    assert "stopped_when_useless" in str(document["flags"])


def test_numbers_of_draws_are_named_as_options(command: Command, table: Write) -> None:
    path = table("n.csv", y=np.arange(60) / 7, drop=["outcome"])  # the preset's grid of a regression has two values
    words = ["tune", path, "--target", "y", *QUICK[2:], "--search", "random", "--n-iter"]
    ended = command(*words, "9")
    assert ended.code == 0
    assert "only 2 configurations, fewer than --n-iter 9; all of them are searched, as in a grid." in ended.err
    ended = command(*words, "1000001", "--out", "b")
    assert ended.code == 2 and ended.last == (
        "Error: 1,000,001 configurations (--n-iter) are more than the 1,000,000 that heldout takes; use a smaller "
        "--n-iter."
    )


def test_without_optuna_the_extra_is_named(command: Command, table: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    ended = command("tune", table(), *QUICK, *OPTUNA)
    assert ended.code == 2 and "A search with Optuna needs" in ended.last and "optuna" in ended.last
