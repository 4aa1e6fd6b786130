"""The files of a finished run that other programs open: the model and the held-out predictions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heldout.errors import MissingExtraError

if TYPE_CHECKING:
    from heldout.cli.folder import OutputFolder
    from heldout.metrics.base import Metric
    from heldout.result import Evaluation


def write_model(model: Any, folder: OutputFolder) -> tuple[Path, list[str]]:
    """``model.skops`` and, for reading only, ``model.trusted.json``: the reviewed types that it holds.

    Returns
    -------
    path : Path
    strangers : list of str
        Types that the model holds and that nobody has reviewed.
    """
    from heldout.readers.reviewed_types import REVIEWED_TYPES
    from heldout.readers.saved_model import CACHE, names_a_cache, types_to_trust

    try:
        from skops import io
    except ImportError:
        raise MissingExtraError("Saving the model", "app") from None
    path = folder.write("model.skops", lambda partial: io.dump(model, partial))
    asked = types_to_trust(path.read_bytes(), path)
    folder.write_json("model.trusted.json", [name for name in asked if name in REVIEWED_TYPES])
    strangers = [name for name in asked if name not in REVIEWED_TYPES]
    return path, [*strangers, CACHE] if names_a_cache(model) else strangers


def note_on_strangers(strangers: Sequence[str]) -> str:
    """What to say of a saved model that holds types that nobody has reviewed."""
    return (
        f"model.skops holds types that heldout has not reviewed: {', '.join(strangers)}; to load it, review each "
        f"and call ho.load_model(path, trust={list(strangers)})."
    )


def write_predictions(
    evaluation: Evaluation, metric: Metric, target: str, folder: OutputFolder, *, event: str | None = None
) -> Path:
    """``predictions.parquet``: what ``heldout estimate`` reads without being told a column."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from heldout.readers.own_table import table_of_predictions

    frame, roles = table_of_predictions(evaluation.task, evaluation.predictions, metric, target, event)
    if evaluation.estimate is not None:
        provenance, interval = evaluation.estimate.provenance, evaluation.estimate.interval
        settings = {
            name: provenance[name] for name in ("aggregate", "entropy", "n_bootstraps") if name in provenance
        }
        if evaluation.estimate.method == "bbc" and "interval" in provenance:  # not where there is no value
            settings["interval"] = provenance["interval"]
        roles["settings"] = settings | ({"confidence_level": interval.confidence_level} if interval else {})
    arrow = pa.Table.from_pandas(frame, preserve_index=False)
    arrow = arrow.replace_schema_metadata({**(arrow.schema.metadata or {}), b"heldout": json.dumps(roles).encode()})
    return folder.write("predictions.parquet", lambda partial: pq.write_table(arrow, partial))
