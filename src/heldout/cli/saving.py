"""The files of a finished run that other programs open: the model and the held-out predictions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heldout.errors import MissingExtraError

if TYPE_CHECKING:
    from heldout.cli.folder import OutputFolder
    from heldout.metrics.base import Metric
    from heldout.result import Evaluation

REVIEWED_TYPES = frozenset(
    {
        "_loss.CyHalfMultinomialLoss",
        "heldout.imputation.pooled.PooledModel",
        "heldout.spaces.cox.CoxRegression",
        "heldout.spaces.cox_statsmodels.StatsmodelsCox",
        "numpy.dtype",
        "sklearn._loss.link.IdentityLink",
        "sklearn._loss.link.Interval",
        "sklearn._loss.link.LogitLink",
        "sklearn._loss.link.MultinomialLogit",
        "sklearn._loss.loss.HalfBinomialLoss",
        "sklearn._loss.loss.HalfMultinomialLoss",
        "sklearn._loss.loss.HalfSquaredError",
        "sklearn.compose._column_transformer._RemainderColsList",
        "sklearn.ensemble._hist_gradient_boosting.binning._BinMapper",
        "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
        "sklearn.metrics._dist_metrics.EuclideanDistance64",
        "sklearn.metrics._dist_metrics.ManhattanDistance64",
        "sklearn.neighbors._kd_tree.KDTree",
        "sklearn.tree._tree.Tree",
    }
)
"""What the presets' models hold beyond the types that skops (0.11 to 0.16) trusts by itself; each only computes."""


def write_model(model: Any, folder: OutputFolder) -> tuple[Path, list[str]]:
    """``model.skops`` and, beside it, ``model.trusted.json``: the types to trust when it is loaded.

    Returns
    -------
    path : Path
    strangers : list of str
        Types that the model holds and that are not listed, because nobody has reviewed them.
    """
    try:
        from skops import io
    except ImportError:
        raise MissingExtraError("Saving the model", "app") from None
    path = folder.write("model.skops", lambda partial: io.dump(model, partial))
    asked = sorted(io.get_untrusted_types(file=path))
    folder.write_json("model.trusted.json", [name for name in asked if name in REVIEWED_TYPES])
    return path, [name for name in asked if name not in REVIEWED_TYPES]


def write_predictions(
    evaluation: Evaluation, metric: Metric, target: str, folder: OutputFolder, *, event: str | None = None
) -> Path:
    """``predictions.parquet``: what ``heldout estimate`` reads without being told a column."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from heldout.adapters.table_predictions_own import table_of_predictions

    frame, roles = table_of_predictions(evaluation.task, evaluation.predictions, metric, target, event)
    if evaluation.estimate is not None:
        provenance, interval = evaluation.estimate.provenance, evaluation.estimate.interval
        settings = {
            name: provenance[name] for name in ("aggregate", "entropy", "n_bootstraps") if name in provenance
        }
        if evaluation.estimate.method == "bbc":
            settings["interval"] = provenance["interval"]
        roles["settings"] = settings | ({"confidence_level": interval.confidence_level} if interval else {})
    arrow = pa.Table.from_pandas(frame, preserve_index=False)
    arrow = arrow.replace_schema_metadata({**(arrow.schema.metadata or {}), b"heldout": json.dumps(roles).encode()})
    return folder.write("predictions.parquet", lambda partial: pq.write_table(arrow, partial))
