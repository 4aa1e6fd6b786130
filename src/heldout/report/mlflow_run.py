"""``ho.log_to_mlflow``: a result as a run of MLflow, with its report and texts."""

import csv
import io
import json
import math
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from heldout._record import json_safe
from heldout._text import cut, printable
from heldout._version import __version__
from heldout.errors import InputError, MissingExtraError, text_of
from heldout.estimates.types import Estimate, optimism_beyond_rounding
from heldout.protocols.algorithms.comparison import AlgorithmComparison
from heldout.protocols.validation.estimate import Validation
from heldout.report.facts import evaluation_of_result, facts
from heldout.report.headline import label_of
from heldout.report.render import card_of, write_report
from heldout.result import Evaluation
from heldout.scales import plain


def configurations_csv(evaluation: Evaluation) -> str:
    """A row a configuration, as CSV.

    Its number, name, parameters (as JSON) and status; on how many splits it was scored; the mean and the standard
    deviation over these splits of every scorer, in its own direction; and the share of bootstraps that selected it.
    """
    estimate, configurations = evaluation.estimate, evaluation.configurations
    # What comes last counts: a winner of a search can be dropped, and a failed configuration is nothing else.
    status = dict.fromkeys(range(len(configurations)), "compared") | {evaluation.winner: "winner"}
    status |= dict.fromkeys(evaluation.predictions.dropped, "dropped")
    status |= dict.fromkeys((*evaluation.failures, *evaluation.predictions.failed), "failed")
    columns: dict[str, Any] = {"configuration": status, "name": configurations.names}
    columns["params"] = [json.dumps(dict(params), default=plain) for params in configurations.params]
    columns["status"] = status.values()
    columns["splits"] = np.isfinite(evaluation.fold_scores[evaluation.refit_metric].values).sum(axis=0).tolist()
    for name, scores in evaluation.fold_scores.items():
        known = np.ma.masked_invalid(scores.values)
        columns[f"mean_{name}"], columns[f"sd_{name}"] = known.mean(axis=0).tolist(), known.std(axis=0).tolist()
    if estimate is not None and estimate.selection_frequency is not None:
        columns["selected"] = estimate.selection_frequency.tolist()
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([columns, *zip(*columns.values(), strict=True)])
    return text.getvalue()


_LONGEST = 500
"""Characters of a parameter that every store of MLflow takes."""


def log_to_mlflow(
    search: Any,
    *,
    experiment: str | None = None,
    tracking_uri: str | None = None,
    report: bool = True,
) -> str:
    """Log a result to MLflow.

    Parameters are the winner's and the settings of the search. Scores are the corrected one, the ends of its
    interval, the uncorrected one and the optimism, of every scorer, in its own units. Files are configurations.csv
    (a row a configuration), estimate.json, methods.md (``methods_text``), card.md (``ho.report_card``) and
    report.html.

    Parameters
    ----------
    search : fitted search, Evaluation, Estimate, NestedEstimate, Validation or AlgorithmComparison
    experiment : str, optional
        The name of the experiment, which is made if there is none; by default MLflow's own.
    tracking_uri : str, optional
        Where MLflow keeps runs: the address of a server, ``sqlite:///mlflow.db`` (needs the package ``mlflow``
        itself), or ``file:`` and a folder; by default what MLflow is set to.
    report : bool, default=True
        Whether to draw report.html too, with the extra ``app``.

    Returns
    -------
    str
        The id of the run. If a run is active and neither an experiment nor an address is given, it is that one,
        and it stays active.

    Raises
    ------
    InputError
        When there is nothing to log, or MLflow cannot write there.
    MissingExtraError
        Without the extra ``mlflow``, or without ``app`` for the report.

    Examples
    --------
    >>> import heldout as ho
    >>> run = ho.log_to_mlflow(search, experiment="heart", tracking_uri="http://127.0.0.1:5000")  # doctest: +SKIP
    """
    try:
        import mlflow
        from mlflow.exceptions import MlflowException
    except ImportError:
        raise MissingExtraError("ho.log_to_mlflow", "mlflow") from None
    content, evaluation, estimates = facts(search), evaluation_of_result(search), estimates_in(search)
    files = {
        "methods.md": content.methods_text.to_markdown(),
        "card.md": card_of(content),
        "estimate.json": json.dumps(json_safe(estimates), indent=1, allow_nan=False),
        **({} if evaluation is None else {"configurations.csv": configurations_csv(evaluation)}),
    }
    searched = {row.name: row.text for row in content.parameters if row.searched}
    head = content.headline
    named = {"method": head.method, "metric": head.metric.title, "winner": head.winner}
    params = {**content.reproduction, **content.facts, **content.settings, **searched, **named}
    flags = ", ".join(dict.fromkeys(flag.flag for flag in content.flags))
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            Path(folder, name).write_text(text, encoding="utf-8", newline="\n")
        if report and content.kind != "estimate":
            write_report(content, Path(folder, "report.html"))
        try:
            active = mlflow.active_run() if experiment is None and tracking_uri is None else None
            client = mlflow.MlflowClient(tracking_uri)
            known = None if experiment is None else client.get_experiment_by_name(experiment)
            if experiment is not None and known is None:
                place = client.create_experiment(experiment)
            else:
                place = "0" if known is None else known.experiment_id  # the first one is MLflow's default
            run = active or client.create_run(str(place), run_name=head.winner)
            run_id = str(run.info.run_id)
            for key, text in params.items():
                if text:
                    client.log_param(run_id, _key(key), cut(printable(text), _LONGEST))
            for name, estimate in estimates.items():
                for key, number in scores_of(name, estimate).items():
                    client.log_metric(run_id, key, number)
            for name, text in {"version": __version__, "flags": flags}.items():
                client.set_tag(run_id, f"heldout.{name}", text)
            client.log_artifacts(run_id, folder)
            if active is None:
                client.set_terminated(run_id)  # without this the run would show as running
        except MlflowException as error:
            raise InputError(
                f"MLflow could not log to {tracking_uri or mlflow.get_tracking_uri()}: {text_of(error)}",
                argument="tracking_uri",
            ) from error
    return run_id


def estimates_in(result: Any) -> Mapping[str, Estimate]:
    """The estimates of a result by the name of the metric, or of the algorithm that they are of."""
    if isinstance(result, Validation):
        return result.estimates
    if isinstance(result, AlgorithmComparison):
        alone = {each.name: each.corrected for each in result.algorithms if each.corrected is not None}
        return {result.metric: result.overall} | alone
    evaluation = evaluation_of_result(result)
    if evaluation is None:
        return {result.metric: result}
    # scikit-learn calls a single scorer "score"
    return {each.metric if name == "score" else name: each for name, each in evaluation.estimates.items()}


def scores_of(name: str, estimate: Estimate) -> dict[str, float]:
    """The numbers of an estimate by the names they have in MLflow, in the metric's own direction and units.

    What is not finite is left out. A value that was not corrected is not called so.

    Examples
    --------
    >>> import numpy as np, heldout as ho
    >>> rng = np.random.default_rng(0)
    >>> estimate = ho.estimate(rng.integers(0, 2, 99), rng.random((99, 3)), metric="roc_auc", random_state=0)
    >>> list(scores_of("roc_auc", estimate))
    ['roc_auc_corrected', 'roc_auc_low', 'roc_auc_high', 'roc_auc_uncorrected', 'roc_auc_optimism']
    """
    numbers = {"corrected" if label_of(estimate) == "corrected" else "value": estimate.value}
    if estimate.interval is not None:
        numbers |= {"low": estimate.interval.low, "high": estimate.interval.high}
    numbers |= {"uncorrected": estimate.uncorrected, "optimism": optimism_beyond_rounding(estimate)}
    return {_key(f"{name}_{what}"): float(number) for what, number in numbers.items() if math.isfinite(number)}


def _key(name: str) -> str:
    """A name with the characters that MLflow takes."""
    return re.sub(r"[^\w\-. /]", "_", name)
