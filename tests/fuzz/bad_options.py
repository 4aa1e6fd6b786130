"""Options of every command, with values of the right kind and of others."""

import importlib
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
from bad_run_files import copied
from bad_values import TEXTS, Generator, pick, some
from oracle import Case, command, fault_of_printed

from heldout.cli.group import COMMANDS

COUNTS = (
    "0", "1", "2", "3", "7", "-1", "1000000000", "1000000000000", "18446744073709551616", "1.5", "", "x", "²",
    "1e3",
)  # fmt: skip
SHARES = ("0", "1", "0.5", "0.95", "-0.1", "1.1", "nan", "inf", "-inf", "1e-300", "1e400", "", "x", "0,5")
WORDS = (
    "shrinkage", "bbc", "bbc_f", "cv", "tt", "all", "none", "nested", "bootstrap_search", "wmc", "delong", "mabt",
    "clopper_pearson", "naive_bootstrap", "hoeffding", "tilting", "best", "one_standard_error", "average_rank",
    "threshold", "greedy_ensemble", "percentile", "calibrated", "nadeau_bengio", "double", "location_shifted",
    "accuracy", "roc_auc", "r2", "f1", "log_loss", "neg_log_loss", "neg_mean_squared_error", "concordance_index",
    "brier_score", "mean_squared_error", "classification", "regression", "survival", "binary", "quick", "standard",
    "tsamardinos2018(n_trees=0)", "wainer_cawley2021(small=2)", "two-sided", "greater", "less", "pooled", "folds",
    "within", "bootstrap", "hoeffding_race", "paired", "wilcoxon", "sequential", "never", "holdout:0.25", "loo",
    "repeated_holdout:3:0.2", "paired_holdout:2:0.3:2", "paired_holdout:2:0.7", "paired_holdout:1000000000",
    "repeated_holdout:1000000000:0.5", "auto:3", "bootstrap:0", "bootstrap:1000000000", "holdout:nan", "holdout:2",
    "logistic", "linear", "cox", "forest", "a", "b", "y", "g", "time", "event", "fold", "w", "m1", "m2",
    "probabilities", "labels", "decision", "auto", "local", "threads", "tcp://", "optimism", "632", ".632", "632+",
    ".632+", "two_stage", "oob", "remaining", "holdout", "0", "1", "yes", "no", "0.1",
)  # fmt: skip
FIT = {
    "metric": ("accuracy", "roc_auc", "balanced_accuracy", "f1", "log_loss", "neg_log_loss", "r2",
    "brier_score", "mcc"),
    "method": ("shrinkage", "bbc", "bbc_f", "cv", "tt", "all", "naive_bootstrap", "delong", "wilson", "nested",
    "wald_cv", "corrected_t", "conservative_z", "locally_simultaneous", "zoom",
    "bootstrap_search", "none",
               "optimism", "632", "632plus", "oob", "two_stage"),
    "interval": ("percentile", "calibrated", "none", "nadeau_bengio", "test_part", "auto", "double",
    "location_shifted"),
    "selection": ("best", "one_standard_error", "average_rank", "within(tolerance=0.01)", "top_k(k=2)",
    "threshold"),
    "alternative": ("two-sided", "greater", "less"),
    "aggregate": ("pooled", "folds", "within"),
    "confidence_level": ("0.5", "0.9", "0.99"),
    "cv": ("2", "3", "holdout:0.25", "repeated_holdout:2:0.3", "loo", "paired_holdout:2:0.3:1", "auto",
           "bootstrap:2"),
    "drop": ("never", "bootstrap", "paired", "wilcoxon", "hoeffding_race", "sequential",
    "bootstrap(against='double', min_predictions=5)", "bootstrap(against='best_of_each', min_predictions=5)",
    "paired(pairs='all', looks='power_analysis', min_predictions=5)"),
    "stop_when_width": ("0.5", "0.01"),
    "block_length": ("auto", "3", "moving:2"),
    "fold": ("fold", "g"), "group": ("g",), "groups": ("g",), "weight": ("w",), "event": ("event",),
    "event_value": ("1", "true"),
    "repeat": ("fold",), "ties": ("first", "average"),
    "row": ("fold", "g"), "exclude": ("g", "w", "time", "m1"), "keep": ("a", "g"), "positive": ("0", "1"),
    "target": ("y", "a"),
    "configuration": ("m1", "m2"), "seed": ("0", "7"), "response": ("auto", "decision"), "threshold": ("0.5",),
    "n_bootstraps": ("2", "9"), "bootstraps": ("2", "3"), "repeats": ("1", "2"), "model": ("logistic",
    "linear", "cox"),
    "predictor": ("a", "b"), "task": ("classification", "regression"),
    "inner": ("remaining", "holdout", "2", "holdout:0.3"),
    "across": ("folds", "all"), "scheme": ("cvt", "models"), "deploy": ("all", "bounded"),
    "preset": ("quick", "standard"),
    "engine": ("local", "threads"),
    "n_jobs": ("1",), "candidates": ("best", "0.5"), "evaluation_share": ("0.3", "0.5"), "out": ("out",
    "new/out"),
    "time": ("1.5",), "imputations": ("2",), "backward": ("0.1", "0.5"), "n_inner_bootstraps": ("2",),
    "n_second_bootstraps": ("2", "3"),
    "destination": ("page.html",),
}  # fmt: skip
"""Values that an option can have on these tables, though not beside all others."""

PATHS = (
    "", " ", ".", "out", "t.csv", "nofile.csv", "nodir/out", "t.csv/out", "/dev/null", "/proc/1/x", "x" * 300,
    "x" * 5000,
)  # fmt: skip
BASE: dict[str, list[str]] = {
    "tune": ["t.csv", "--target", "y", "--n-bootstraps", "5", "--cv", "2", "--n-jobs", "1", "--out", "out"],
    "estimate": ["p.csv", "--target", "y", "--n-bootstraps", "5"],
    "validate": [
        "t.csv", "--target", "y", "--model", "logistic", "--n-bootstraps", "2", "--n-jobs", "1", "--out", "out"
    ],
    "status": ["out"],
    "report": ["out"],
}  # fmt: skip
NO_MORE_PROCESSES = ("0", "-0", "x", "nan", "")
"""Of ``--n-jobs`` and ``--fit-timeout``; a number that is allowed would start workers."""


def make(rng: Generator, folder: Path) -> Case:
    """A command whose table is healthy, and one to four of its options drawn."""
    n = 24
    y, a = np.arange(n) % 2, rng.normal(size=n)
    more = {"g": np.arange(n) // 4, "time": rng.random(n) + 0.1, "event": np.arange(n) % 3 > 0, "w": rng.random(n)}
    pd.DataFrame({"a": a + y, "b": rng.random(n), "y": y, **more}).to_csv(folder / "t.csv", index=False)
    predictions = pd.DataFrame({"m1": rng.random(n), "m2": (a + y - a.min()) / 9, "y": y, "fold": np.arange(n) % 4})
    predictions.assign(**more if rng.random() < 0.2 else {}).to_csv(folder / "p.csv", index=False)
    name = pick(rng, (*["tune"] * 3, *["estimate"] * 8, *["validate"] * 2, "status", "report"))
    if name in ("status", "report") and rng.random() < 0.5:
        copied(folder)
    arguments = [name, *BASE[name], *options_of(rng, _parameters(COMMANDS[name]))]
    if name in ("tune", "estimate", "validate"):
        arguments.append("--json")
    if rng.random() < 0.1:
        arguments[1] = pick(rng, PATHS)
    elif name == "estimate" and rng.random() < 0.1:
        copied(folder)
        arguments[1] = pick(rng, ("out", "out/run.db"))
    return Case(
        line_of(arguments), lambda: command(*arguments), fault_of_printed if "--json" in arguments else _nothing
    )


def _nothing(answer: Any) -> None:
    return None


def _parameters(module: str) -> list[click.Option]:
    return [p for p in importlib.import_module(module).command.params if isinstance(p, click.Option)]


def options_of(rng: Generator, parameters: list[click.Option]) -> list[str]:
    drawn: list[str] = []
    for option in some(rng, parameters, 1, 3):
        drawn.append(option.opts[0])
        if not option.is_flag:
            drawn.append(_value(rng, option))
    return drawn


def _value(rng: Generator, option: click.Option) -> str:
    if option.name in FIT and rng.random() < 0.65:
        return str(pick(rng, FIT[option.name]))
    if option.name in ("n_jobs", "fit_timeout"):
        return str(pick(rng, NO_MORE_PROCESSES))
    if option.name in ("out", "destination"):
        return str(pick(rng, PATHS))
    if rng.random() < 0.15:
        return str(pick(rng, TEXTS))
    pools: Any = {click.INT: COUNTS, click.FLOAT: SHARES}
    return str(pick(rng, pools.get(option.type, (*WORDS, *COUNTS))))


def line_of(arguments: list[str]) -> str:
    return " ".join(repr(a) if not a.isascii() or not a or " " in a else a[:80] for a in arguments)
