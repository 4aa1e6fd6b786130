"""Options of every study, with values of the right kind and of others."""

import importlib
from pathlib import Path

import click
from bad_options import line_of, options_of
from bad_values import Generator, pick
from oracle import Case, command

from heldout_papers.cli import STUDIES

BASE = {
    "adaptive": ("--quick", "--repetitions", "1"),
    "bias": ("--rows", "20", "--configurations", "2", "--repetitions", "1", "--bootstraps", "3", "--beta", "9,6"),
    "corrections": ("--quick", "--repetitions", "1", "--bootstraps", "3", "--rows", "20", "--configurations", "2"),
    "search": ("tables", "--quick"),
    "intervals": ("--quick", "--repetitions", "1"),
    "intervals-on-tables": ("tables", "--quick"),
    "flat-vs-nested": ("tables", "--quick"),
    "timing": ("--quick", "--repetitions", "1"),
}
OUT_OF_RANGE = ("-1", "18446744073709551616")
"""Of ``--seed``, without which a study that needs no tables could run."""


def make(rng: Generator, folder: Path) -> Case:
    """Refusals only: whatever could run has a folder of tables that is not there, or an option out of range."""
    name = pick(rng, [*BASE, "bias"])
    study: click.Command = importlib.import_module(STUDIES[name]).command
    options = options_of(rng, [p for p in study.params if isinstance(p, click.Option)])
    if "tables" not in BASE[name]:
        options += ["--seed", pick(rng, OUT_OF_RANGE)]
    arguments = ["study", name, *BASE[name], *options]
    return Case(line_of(arguments), lambda: command(*arguments))
