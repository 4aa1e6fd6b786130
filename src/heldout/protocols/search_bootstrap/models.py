"""The scheme of models: each sample's configuration is chosen by the models of the other samples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from heldout._text import argument
from heldout.errors import InputError
from heldout.estimates.base import Evidence
from heldout.estimates.candidates import candidate_rows
from heldout.estimates.evidence import gather
from heldout.estimates.question import Question, Settings
from heldout.execution.search import Search
from heldout.flags import Flag
from heldout.protocols.draws import DrawnRows, drawn_rows
from heldout.protocols.search_bootstrap.estimate import Bootstrap
from heldout.result import Evaluation
from heldout.selection.base import NONE_CHOSEN


def check_opened(search: Search) -> None:
    """Refuse scorers that only return scores: a choice on drawn rows needs predictions."""
    read = [search.scoring.refit_metric]
    if search.estimation.rule.reads_all_metrics:
        read += list(search.scoring.metrics)
    closed = next((name for name in read if search.scoring.metrics.get(name) is None), None)
    if closed is not None:
        raise InputError(
            f"{argument('scheme', 'models')} chooses by held-out predictions, but the scorer '{closed}' cannot be "
            f"opened; use {argument('scheme', 'cvt')}, or a scorer made by make_scorer.",
            argument="scheme",
        )


def chosen_by_others(
    search: Search, evaluation: Evaluation, drawn: DrawnRows, settings: Settings
) -> tuple[Evidence, NDArray[np.intp], NDArray[np.float64]]:
    """For each sample the configuration that is best on the rows that it drew, and its score there.

    A sample has no predictions for the rows that it drew, so rows weighted by how often it drew them are predicted
    by the models of other samples only.
    """
    metric = evaluation.metrics[evaluation.refit_metric]
    assert metric is not None, "refused before fitting"
    task, rule = search.task, search.estimation.rule
    names = [evaluation.refit_metric]
    if rule.reads_all_metrics:
        names += [name for name in evaluation.metrics if name != evaluation.refit_metric]
    read = {name: found for name in names if (found := evaluation.metrics[name]) is not None}
    question = Question(
        metric, read, rule, "folds", settings, task.groups, task.sample_weight,
        search.configurations.params, evaluation.winner,
    )  # fmt: skip
    evidence = gather(task.truth, evaluation.predictions, question)
    assert evidence.matrix is not None, "the scorers were opened"
    used = candidate_rows(evaluation.predictions, list(read.values()), task.groups).used
    flags = dict(evidence.flags)
    if len(used) == task.n_rows:
        flags.pop(Flag.INCOMPLETE_PREDICTIONS, None)  # every sample predicts only the rows that it left out
    counts = drawn.counts[:, used]
    columns = evidence.matrix.replay.choice(counts).columns
    in_bag = evidence.matrix.scores.selected(counts, np.maximum(columns, 0))
    none = columns == NONE_CHOSEN
    chosen = np.where(none, NONE_CHOSEN, evidence.candidates[np.maximum(columns, 0)])
    return replace(evidence, flags=flags), chosen, np.where(none, np.nan, in_bag)


def bootstraps_of_models(
    evaluation: Evaluation, drawn: DrawnRows, chosen: NDArray[np.intp], in_bag: NDArray[np.float64]
) -> list[Bootstrap]:
    names, values = evaluation.configurations.names, evaluation.fold_scores[evaluation.refit_metric].values
    cell_of = {(cell.key.configuration, cell.key.repeat): cell for cell in evaluation.cells}
    bootstraps = []
    for number, (split, j) in enumerate(zip(evaluation.folds.splits, chosen.tolist(), strict=True)):
        is_none = j == NONE_CHOSEN
        score = float("nan") if is_none else float(values[number, j])
        cell = None if is_none else cell_of[j, split.repeat]
        reason = "" if not np.isnan(score) else cell.message if cell is not None else "none could be chosen"
        bootstraps.append(
            Bootstrap(
                number=number,
                selected=None if is_none else j,
                selected_name="" if is_none else names[j],
                in_bag_score=float(in_bag[number]),
                out_of_bag_score=score,
                drawn=drawn_rows(drawn.counts[number]),
                left_out=split.test,
                scores={} if cell is None else cell.test_scores,
                reason=reason,
            )
        )
    return bootstraps
