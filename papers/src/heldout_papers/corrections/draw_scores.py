"""Methods on draws of real searches, as users ask for them: by ``ho.estimate`` of the kept predictions.

A search remembers the question that made its predictions, so its own estimate is the same. One draw in fifty is
searched once more with a single metric, to compare the two to the bit.
"""

import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.errors import HeldoutWarning, InputError
from heldout.estimates.estimate import estimate
from heldout.estimates.types import Estimate
from heldout.predictions import HeldOutPredictions
from heldout_papers.corrections.designs import Design, Size, scorer_of, seed_of, tables_of
from heldout_papers.corrections.draws import DrawFolder, DrawSource, KeptDraw, sample, search_of
from heldout_papers.corrections.matrix import direction
from heldout_papers.corrections.scores import BedScoring
from heldout_papers.corrections.space import ALIKE, NAMED
from heldout_papers.engine.batches import Batch, Columns

CHECKED = 50
"""Of so many draws one is searched again with a single metric."""
ROW: Mapping[str, Any] = {
    "design": str, "half": str, "number": np.int32, "table": str, "size": str, "metric": str, "method": str,
    "value": np.float64, "low": np.float64, "high": np.float64, "truth": np.float64, "uncorrected": np.float64,
    "flags": str, "scale": np.float64, "rarer": np.int32, "configurations": np.int32, "seconds": np.float64,
}  # fmt: skip
"""What a method gave on a draw: in the metric's own units, with the unit in which errors are given as ``scale``."""
CHECK: Mapping[str, Any] = {
    "design": str, "half": str, "number": np.int32, "metric": str, "is_equal": np.bool_, "of_search": str,
    "of_predictions": str,
}  # fmt: skip


@dataclass(frozen=True)
class DrawSetting:
    """One draw, which is searched first if it is not kept.

    Attributes
    ----------
    source : DrawSource
    repetition : int
    searches : DrawFolder
    scoring : BedScoring
    metrics : tuple of str
    """

    source: DrawSource
    repetition: int
    searches: DrawFolder
    scoring: BedScoring
    metrics: tuple[str, ...]


def do_batch(batch: Batch[DrawSetting], entropy: int) -> Columns:
    """What every method gives on a draw, a row a size, metric and method; and the checks ``check.…``."""
    source, repetition = batch.setting.source, batch.setting.repetition
    kept = batch.setting.searches.kept(source, repetition)
    rows = [] if kept is None else list(scored_draw(batch.setting, kept))
    is_checked = repetition % CHECKED == 0 and source.tables
    checks = [check_of(source, repetition, kept)] if kept is not None and is_checked else []
    found = {name: np.array([row[name] for row in rows], dtype=kind) for name, kind in ROW.items()}
    return found | {
        f"check.{name}": np.array([row[name] for row in checks], dtype=kind) for name, kind in CHECK.items()
    }


def columns_of(source: DrawSource, repetition: int, kept: KeptDraw) -> dict[Size, NDArray[np.intp]]:
    """The configurations of each size of a search; those of one were named beforehand and take turns."""
    fitted = kept.fitted
    named = NAMED if source.design.kind != "survival" else (int(fitted[repetition % len(fitted)]),)
    turns = [named[(repetition + k) % len(named)] for k in range(len(named))]
    able = {
        "one": np.array([place for place in turns if place in fitted][:1], dtype=np.intp),
        "ten": fitted[fitted < ALIKE],
        "all": fitted,
    }
    return {size: able[size] for size in source.design.sizes if len(able[size])}


def scored_draw(setting: DrawSetting, kept: KeptDraw) -> Iterator[dict[str, Any]]:
    """The rows of a draw."""
    source, repetition, scoring, held = setting.source, setting.repetition, setting.scoring, kept.predictions
    place = {**_place(source, repetition), "table": str(kept.arrays["table"]), "rarer": kept.rarer}
    asked = [metric for metric in source.design.metrics if metric in setting.metrics]
    for size, columns in columns_of(source, repetition, kept).items():
        predictions = held.of(columns)
        for metric, (label, method) in product(asked, scoring.methods):
            row = place | {"size": size, "metric": metric, "method": label, "configurations": len(columns)}
            began = time.perf_counter()
            try:
                found = estimate_of(
                    kept, predictions, metric, method=method, n_bootstraps=scoring.n_bootstraps,
                    aggregate=scoring.aggregate,
                )  # fmt: skip
            except InputError as error:
                yield dict.fromkeys(ROW, np.nan) | row | {"flags": str(error)[:80]}
                continue
            low, high = found.interval or (np.nan, np.nan)
            yield row | {
                "value": found.value,
                "low": low,
                "high": high,
                "uncorrected": found.uncorrected,
                "seconds": time.perf_counter() - began,
                "flags": " ".join(map(str, found.flags)),
                "truth": kept.arrays[f"T_{metric}"][columns[found.selected]],
                "scale": _unit(kept, metric, int(columns[found.selected])),
            }


def _place(source: DrawSource, repetition: int) -> dict[str, Any]:
    return {"design": source.design.name, "half": source.half, "number": repetition}


def estimate_of(kept: KeptDraw, predictions: HeldOutPredictions, metric: str, **settings: Any) -> Estimate:
    """What ``ho.estimate`` says of some of a draw's predictions."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HeldoutWarning)
        seed = int(kept.arrays["seed"])
        return estimate(kept.y, predictions, metric=metric, random_state=seed, **kept.groups, **settings)


UNITS = {"log_loss": "sd_loss", "root_mean_squared_error": "sd", "mean_absolute_error": "sd"}
"""The deviation in which errors are given: of the winner's row losses, or of the target."""


def _unit(kept: KeptDraw, metric: str, winner: int) -> float:
    unit = kept.arrays.get(UNITS.get(metric, ""), np.array(1.0))
    return float(unit[winner] if unit.ndim else unit)


def check_of(source: DrawSource, repetition: int, kept: KeptDraw) -> dict[str, Any]:
    """Whether a search with one metric, by default, has the estimate of the kept predictions: winner and bits."""
    design = source.design
    metric = design.metrics[seed_of("check", design.name, source.half, repetition) % len(design.metrics)]
    drawn = sample(source, repetition)
    assert drawn is not None, "the draw is kept"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = search_of(design, drawn, scoring=scorer_of(metric))
    mine = estimate_of(kept, kept.predictions.of(kept.fitted), metric, aggregate="auto")
    of_search, of_predictions = (_bits(found, metric) for found in (search.estimate_, mine))
    said = {"metric": metric, "of_search": of_search, "of_predictions": of_predictions}
    return _place(source, repetition) | said | {"is_equal": of_search == of_predictions}


def _bits(found: Estimate, metric: str) -> str:
    """Winner, value and interval, such that more is better; every digit that tells two numbers apart."""
    sign = direction(found.metric) * direction(metric)
    numbers = [found.value, *sorted(sign * end for end in found.interval or ())]
    return f"{found.selected_name}: {sign * numbers[0]!r} {numbers[1:]!r}"


def draw_settings(
    designs: Sequence[Design], half: str, tables: Path | None, repetitions: int, *, folder: DrawFolder,
    scoring: BedScoring, metrics: tuple[str, ...],
) -> tuple[tuple[DrawSetting, ...], dict[str, str]]:  # fmt: skip
    """The settings of some designs, and why others have none."""
    settings: list[DrawSetting] = []
    left_out: dict[str, str] = {}
    for design in designs:
        paths = () if tables is None else tables_of(design, tables.absolute(), half)
        source = DrawSource(design, half, paths)
        numbers = [number for number in range(repetitions) if paths or folder.file(source, number).exists()]
        if set(metrics).isdisjoint(design.metrics):
            left_out[design.name] = f"it has no metric of {', '.join(metrics)}"
        elif not numbers:
            left_out[design.name] = f"its {half} half has no kept search, and no table with enough rows"
        else:
            settings += [DrawSetting(source, number, folder, scoring, metrics) for number in numbers]
    if not settings:
        why = "; ".join(f"{name}: {reason}" for name, reason in left_out.items())
        raise InputError(
            f"designs must have searches in {folder.path.name} or tables, got {why}.", argument="designs"
        )
    return tuple(settings), left_out


def joined(columns: Iterable[Columns], prefix: str = "") -> dict[str, NDArray[Any]]:
    """The columns of all draws together: those with a prefix, without it."""
    parts, names = list(columns), CHECK if prefix else ROW
    found = {name: np.concatenate([part[prefix + name] for part in parts]) for name in names}
    if not prefix and not len(found["value"]):
        raise InputError("no draw has a search; files NAME.none among the searches say why.", argument="designs")
    return found
