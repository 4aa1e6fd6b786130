"""``ho.log_to_mlflow``: a result as a run of MLflow, with its report and texts."""

from __future__ import annotations

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
from heldout._text import printable
from heldout._types import Floats
from heldout._version import __version__
from heldout.errors import InputError, MissingExtraError, text_of
from heldout.estimates.types import Estimate, is_uncorrected, optimism_beyond_rounding, was_named
from heldout.protocols.algorithms.comparison import AlgorithmComparison
from heldout.protocols.validation.estimate import Validation
from heldout.report.card import card_of
from heldout.report.entries import Facts
from heldout.report.facts import evaluation_of_result, facts
from heldout.report.render import write_report
from heldout.result import Evaluation
from heldout.scales import plain


def configurations_csv(evaluation: Evaluation) -> str:
    """A row a configuration, as CSV.

    Its number, name, parameters (as JSON) and status; on how many splits it was scored; the mean and the standard
    deviation over these splits of every scorer, in its own direction; and the share of bootstraps that selected it.
    """
    estimate, n = evaluation.estimate, len(evaluation.configurations)
    frequency = None if estimate is None else estimate.selection_frequency
    columns: dict[str, list[Any]] = {
        "configuration": list(range(n)),
        "name": list(evaluation.configurations.names),
        "params": [
            json.dumps({key: _plain(value) for key, value in each.items()})
            for each in evaluation.configurations.params
        ],
        "status": [_status(evaluation, place) for place in range(n)],
        "splits": np.isfinite(evaluation.fold_scores[evaluation.refit_metric].values).sum(axis=0).tolist(),
    }
    for name, scores in evaluation.fold_scores.items():
        columns[f"mean_{name}"] = [_number(np.mean, column) for column in scores.values.T]
        columns[f"sd_{name}"] = [_number(np.std, column) for column in scores.values.T]
    if frequency is not None:
        columns["selected"] = frequency.tolist()
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return out.getvalue()


def _plain(value: Any) -> Any:
    """A value as JSON has it, and any other as text."""
    return value if value is None or isinstance(value, bool | int | float | str) else plain(value)


def _number(of: Any, scores: Floats) -> Any:
    """A number of the scores that are known; an empty cell where there are none."""
    known = scores[np.isfinite(scores)]
    return float(of(known)) if known.size else ""


def _status(evaluation: Evaluation, place: int) -> str:
    if place in evaluation.failures or place in evaluation.predictions.failed:
        return "failed"
    if place in evaluation.predictions.dropped:
        return "dropped"
    return "winner" if place == evaluation.winner else "compared"


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
    content = facts(search)
    with tempfile.TemporaryDirectory() as folder:
        files = _written(search, content, Path(folder), report=report)
        try:
            active = mlflow.active_run() if experiment is None and tracking_uri is None else None
            client = mlflow.MlflowClient(tracking_uri)
            run_id = active.info.run_id if active is not None else _new_run(client, experiment, content)
            _log(client, run_id, search, content, files)
            if active is None:
                client.set_terminated(run_id)  # without this the run would show as running
        except MlflowException as error:
            reason = text_of(error)
            raise InputError(
                f"MLflow could not log to {tracking_uri or mlflow.get_tracking_uri()}: {reason}",
                argument="tracking_uri",
            ) from error
    return str(run_id)


def _new_run(client: Any, experiment: str | None, content: Facts) -> str:
    """The id of a new run with the winner's name, in an experiment, which is made if there is none of this name."""
    experiment_id = "0"  # MLflow's default
    if experiment is not None:
        found = client.get_experiment_by_name(experiment)
        experiment_id = client.create_experiment(experiment) if found is None else found.experiment_id
    run = client.create_run(experiment_id, run_name=content.headline.winner)
    return str(run.info.run_id)


def _log(client: Any, run_id: str, search: Any, content: Facts, files: list[Path]) -> None:
    for key, value in _params(content):
        client.log_param(run_id, key, value)
    for name, estimate in estimates_in(search).items():
        for key, number in scores_of(name, estimate).items():
            client.log_metric(run_id, key, number)
    client.set_tag(run_id, "heldout.version", __version__)
    flags = dict.fromkeys(flag.value for estimate in estimates_in(search).values() for flag in estimate.flags)
    if flags:
        client.set_tag(run_id, "heldout.flags", ", ".join(flags))
    for path in files:
        client.log_artifact(run_id, str(path))


def estimates_in(result: Any) -> Mapping[str, Estimate]:
    """The estimates of a result by the name of the metric, or of the algorithm that they are of."""
    if isinstance(result, Validation):
        return result.estimates
    if isinstance(result, AlgorithmComparison):
        alone = {each.name: each.corrected for each in result.algorithms if each.corrected is not None}
        return {result.metric: result.overall} | alone
    evaluation = evaluation_of_result(result)
    if evaluation is not None:
        # scikit-learn calls a single scorer "score"
        return {each.metric if name == "score" else name: each for name, each in evaluation.estimates.items()}
    return {result.metric: result} if isinstance(result, Estimate) else {}


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
    interval, key = estimate.interval, _key(name)
    corrected = not (estimate.method == "cv" or is_uncorrected(estimate) or was_named(estimate))
    numbers = {
        f"{key}_{'corrected' if corrected else 'value'}": estimate.value,
        f"{key}_low": math.nan if interval is None else interval.low,
        f"{key}_high": math.nan if interval is None else interval.high,
        f"{key}_uncorrected": estimate.uncorrected,
        f"{key}_optimism": optimism_beyond_rounding(estimate),
    }
    return {name: float(number) for name, number in numbers.items() if math.isfinite(number)}


def _params(content: Facts) -> list[tuple[str, str]]:
    """The winner, its parameters that were searched, and the settings, as MLflow takes them."""
    pairs = [
        ("winner", content.headline.winner),
        ("metric", content.headline.metric.title),
        ("method", content.headline.method),
        *((parameter.name, parameter.text) for parameter in content.parameters if parameter.searched),
        *content.settings.items(),
        *content.facts.items(),
        *content.reproduction.items(),
    ]
    taken = {_key(name): _short(printable(text)) for name, text in reversed(pairs) if text}
    return list(reversed(taken.items()))


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _key(name: str) -> str:
    """A name with the characters that MLflow takes."""
    return re.sub(r"[^\w\-. /]", "_", name)


def _written(search: Any, content: Facts, folder: Path, *, report: bool) -> list[Path]:
    """The files of a run."""
    estimates = {name: estimate.to_dict() for name, estimate in estimates_in(search).items()}
    texts = {
        "methods.md": content.methods_text.to_markdown(),
        "card.md": card_of(content),
        "estimate.json": json.dumps(json_safe(estimates), indent=1, allow_nan=False),
    }
    evaluation = evaluation_of_result(search)
    if evaluation is not None:
        texts["configurations.csv"] = configurations_csv(evaluation)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    paths = [folder / name for name in texts]
    if report and content.kind != "estimate":
        paths.append(write_report(content, folder / "report.html"))
    return paths
