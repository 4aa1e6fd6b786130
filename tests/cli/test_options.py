"""A wrong value of any option gives one sentence, which names the option and no argument of the library."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
import pytest

from heldout.cli import advise, estimate, tune, validate
from heldout.cli.options import options_by_argument

Command = Callable[..., Any]

WORK = {"n-jobs": "0", "seed": "-1", "out": " "}
FITS = WORK | {
    "confidence-level": "95", "alternative": "more", "engine": "there", "fit-timeout": "0", "metric": "magic",
    "task": "ranking", "target": "none", "event": "none", "groups": "none", "copies": "apart", "keep": "none",
    "positive": "maybe", "event-value": "2", "factor": "none", "date": "none", "missing": "none",
    "not-missing": "none", "alike-labels": "some",
}  # fmt: skip
TUNE = FITS | {
    "preset": "huge", "cv": "holdout:2.5", "deploy": "some", "repeats": "0",
    "drop": "bootstrap(threshold=5)", "aggregate": "sums",
    "share": "some", "stop-when-width": "0",
    "selection": "within(tolerance=-1)", "method": "magic", "inner": "1 --method nested",
    "across": "some --method nested", "interval": "wide", "scheme": "some --method bootstrap_search",
    "n-bootstraps": "0", "block-length": "0", "n-rows-of-bootstrap": "0",
    "weight": "none", "search": "magic", "n-iter": "0", "n-trials": "0", "timeout": "0", "batch-size": "0",
    "feedback": "some", "models": "magic", "space": "none.py:space", "imputations": "1",
}  # fmt: skip
ADVISE = {"seconds": "-1"} | {
    name: TUNE[name]
    for name in (
        "n-jobs", "seed", "metric", "task", "target", "event", "groups", "copies", "keep", "positive", "factor",
        "date", "missing", "not-missing", "alike-labels",
        "event-value", "weight", "preset", "models", "space", "search", "n-iter", "cv", "repeats",
    )
} | {"inner": "1"}  # fmt: skip
VALIDATE = FITS | {
    "model": "magic", "trust": "a.B", "time": "1", "predictor": "none", "method": "magic", "bootstraps": "0",
    "imputations": "1", "imputation-order": "some --imputations 5", "interval": "wide",
    "inner-bootstraps": "1 --interval double",
    "second-bootstraps": "1",
    "backward": "2 --imputations 2",
}  # fmt: skip
ESTIMATE = {
    "format": "magic", "target": "none", "event": "none", "fold": "none", "repeat": "none",
    "row": "none --repeat fold", "tasks": "some", "baseline": "none",
    "configuration": "none --row fold", "prediction": "none", "group": "none", "weight": "none", "exclude": "none",
    "metric": "magic", "positive": "maybe", "response": "magic", "threshold": "0.5", "method": "magic",
    "candidates": "all --method mabt", "evaluation-share": "2 --method mabt",
    "fixed-configuration": "none --method mabt",
    "interval": "wide", "control": "maybe", "ties": "last",
    "selection": "within(tolerance=-1)", "aggregate": "sums",
    "n-bootstraps": "0", "n-rows-of-bootstrap": "0", "block-length": "0", "confidence-level": "95",
    "alternative": "more", "seed": "-1", "n-jobs": "0", "out": " ",
}  # fmt: skip
COMMANDS = {
    "tune": (tune.command, TUNE),
    "validate": (validate.command, VALIDATE),
    "estimate": (estimate.command, ESTIMATE),
    "advise": (advise.command, ADVISE),
}
CASES = [(name, option, value) for name, (_, values) in COMMANDS.items() for option, value in values.items()]


@pytest.fixture
def data(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60), "y": rng.choice(["no", "yes"], 60)})
    frame.assign(fold=np.arange(60) % 5).to_csv(tmp_path / "estimate.csv", index=False)
    frame.to_csv(tmp_path / "data.csv", index=False)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_with_a_value_has_a_wrong_one(name: str) -> None:
    command, values = COMMANDS[name]
    options = [one for one in command.params if isinstance(one, click.Option) and not one.is_flag]
    assert {one.opts[0].removeprefix("--") for one in options} == set(values)


@pytest.mark.usefixtures("data", "tiny_space")
@pytest.mark.parametrize(("name", "option", "value"), CASES, ids=[f"{name} {option}" for name, option, _ in CASES])
def test_the_sentence_names_the_option(command: Command, name: str, option: str, value: str) -> None:
    first, *others = value.split(" --")
    words = [f"--{option}", first, *(word for other in others for word in f"--{other}".split(" "))]
    base = ["estimate", "estimate.csv"] if name == "estimate" else [name, "data.csv"]
    if option != "target":
        base += ["--target", "y"]
    if name == "estimate" and option not in ("fold", "repeat", "row", "configuration"):
        base += ["--fold", "fold"]
    ended = command(*base, *words)

    assert ended.code == 2, ended
    says_the_use = re.search(r"has no column 'none' to use as (the|a|one) ", ended.last)
    assert f"--{option}" in ended.last or says_the_use, ended.last
    arguments = "|".join(one for one in options_by_argument(COMMANDS[name][0]) if "_" in one)
    assert not re.search(rf"(?<![\w-])({arguments}|(cv|folds|groups|interval|method|aggregate)=)", ended.last), (
        ended.last
    )
