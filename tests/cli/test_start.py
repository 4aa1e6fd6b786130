"""Help, the version and a refused option answer at once: neither scikit-learn nor pandas is imported for them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from light_process import ends_of

import heldout as ho
from heldout import _defaults
from heldout.cli.group import COMMANDS
from heldout.data.task import TaskKind
from heldout.spaces import PRESETS, preset

TABLE = ("nowhere.csv", "--target", "y")


def test_help_and_the_version() -> None:
    lines = [["--version"], ["--help"], *([name, "--help"] for name in COMMANDS)]
    version, *helps = ends_of(*lines)
    assert version[0] == 0 and "scikit-learn" in version[1]
    assert {code for code, _ in helps} == {0} and all("Usage: " in text for _, text in helps)
    assert all(name in helps[0][1] for name in COMMANDS)


def test_refused_options() -> None:
    lines = [*([name, "--nothing"] for name in COMMANDS), ["nothing"], ["tune", "a.csv"], ["estimate"], ["status"]]
    lines += [["tune", *TABLE, "--repeats", "two"], ["compare", *TABLE, "--share", "some"]]
    lines += [[command, *TABLE, "--models", "forest,nothing"] for command in ("tune", "compare")]
    ends = ends_of(*lines)
    assert {code for code, _ in ends} == {2}
    assert all("--models must name models of the preset quick (logistic, ridge, " in text for _, text in ends[-2:])


WRONG = {
    ("tune", "compare", "estimate", "validate"): {
        "method": "magic", "alternative": "more", "confidence-level": "95", "n-jobs": "0", "seed": "-1",
    },
    ("tune", "compare", "estimate"): {"selection": "worst", "aggregate": "sums", "n-bootstraps": "0"},
    ("tune", "compare"): {
        "cv": "3x", "drop": "all", "inner": "1", "deploy": "some", "search": "magic", "n-iter": "0", "repeats": "0",
        "engine": "there", "fit-timeout": "0", "task": "ranking",
    },
    ("tune",): {
        "across": "both", "scheme": "one", "feedback": "some", "n-trials": "0", "batch-size": "0", "timeout": "0",
        "imputations": "1", "block-length": "0", "interval": "wide",
    },
    ("advise",): {
        "cv": "3x", "inner": "1", "n-iter": "0", "n-jobs": "0", "repeats": "0", "search": "optuna",
        "seconds": "nan", "seed": "-1", "task": "ranking",
    },
    ("estimate",): {"format": "magic", "response": "magic", "control": "maybe", "candidates": "all"},
    ("validate",): {
        "interval": "wide", "model": "magic", "imputation-order": "some", "task": "ranking", "n-bootstraps": "0",
    },
}  # fmt: skip
"""Wrong values of options, by the commands that have them."""


def test_a_wrong_value_is_refused_before_anything_heavy_is_imported() -> None:
    wrong = [
        (name, option, value)
        for names, values in WRONG.items()
        for option, value in values.items()
        for name in names
    ]
    ends = ends_of(*([name, *TABLE, f"--{option}", value] for name, option, value in wrong))
    for (name, option, value), (code, text) in zip(wrong, ends, strict=True):
        assert code == 2 and text.startswith(f"Error: --{option} "), f"heldout {name} --{option} {value}: {text}"


@pytest.mark.parametrize("name", PRESETS)
def test_the_models_of_a_preset_are_listed(name: str) -> None:
    made = set()
    for kind in TaskKind:
        if kind in (TaskKind.BINARY, TaskKind.MULTICLASS, TaskKind.REGRESSION, TaskKind.SURVIVAL):
            try:
                made |= {entry[0] for entry in preset(name, np.zeros((20, 3)), kind)}
            except ho.InputError:
                assert (name, kind) == ("boosted", TaskKind.SURVIVAL)
    listed = set(_defaults.MODELS_OF_PRESETS[name])
    assert made == listed or (name == "boosted" and "hist boosting" in made <= listed)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (
            "[('a', DummyClassifier()), ('b', DummyClassifier())]",
            "--models must name models of the space own.py:found",
        ),
        ("GridSearchCV([('a', DummyClassifier(), {})], {})", "--models must name models of the space own.py:found"),
        ("DummyClassifier()", "--models chooses among several models, and the space own.py:found is a single one"),
        ("lambda trial: DummyClassifier()", "--models chooses among several models, and the space own.py:found"),
        ("lambda X, y: [('a', DummyClassifier())]", "there is no file nowhere.csv"),
    ],
)
@pytest.mark.parametrize("name", ["tune", "compare"])
def test_models_of_a_space_are_checked_before_the_table(
    command: Callable[..., Any], tmp_path: Path, name: str, found: str, said: str
) -> None:
    imports = "from sklearn.dummy import DummyClassifier\nfrom sklearn.model_selection import GridSearchCV\n"
    (tmp_path / "own.py").write_text(f"{imports}found = {found}\n", encoding="utf-8")
    ended = command(name, *TABLE, "--space", "own.py:found", "--models", "c", "--search", "grid")
    assert (ended.code, ended.out) == (2, "") and ended.err.startswith(f"Error: {said}")


@pytest.mark.parametrize("model", ["ridge", "nothing.skops", "nowhere.py"])
def test_a_model_to_validate_is_checked_before_the_table(command: Callable[..., Any], model: str) -> None:
    ended = command("validate", *TABLE, "--model", model)
    assert ended.code == 2
    assert ended.err.startswith("Error: --model must be logistic, linear, cox, or a file (.py or .skops), got ")
