"""A draw: a real search on a sample of a table, and what each configuration is worth on the rest of the table.

One search with several metrics gives the held-out predictions that all of them read. Every configuration is then
fitted on the whole sample and scored on the rest, by a second search whose only test fold that is. Draws are kept,
a file each, so that any method can be scored on them.
"""

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout._sklearn import rows_at
from heldout.errors import StoreError
from heldout.estimates.inputs import read_inputs
from heldout.estimates.methods.cv import CV
from heldout.metrics.base import Response
from heldout.predictions import HeldOutPredictions
from heldout.search.grid import HeldOutSearchCV
from heldout_papers.corrections.designs import Design, arrays_of, sample_of, scorer_of, seed_of
from heldout_papers.corrections.distribution import Floats

MOST_REST = 6000
"""Rows of the rest on which truths are computed, or more where a sample is large."""
TOO_FEW = "no sample"
"""The reason of a draw that has none, because no sample holds enough of each class."""


@dataclass(frozen=True)
class DrawSource:
    """Where the draws of a design and half come from: repetition r is on table r mod T of its T tables."""

    design: Design
    half: str
    tables: tuple[Path, ...]

    def place(self, repetition: int) -> tuple[Path, int]:
        """The table of a repetition, and the number of its draw from that table."""
        return self.tables[repetition % len(self.tables)], repetition // len(self.tables)


@dataclass(frozen=True)
class Sample:
    """The rows that are searched, and those that tell the truth.

    Attributes
    ----------
    X, y : columns and target of the sample, and then of the rest
    rows : int
        Of the sample.
    groups : ndarray of shape (rows,), or None
    seed : int
        Of the search.
    """

    X: Any
    y: NDArray[Any]
    rows: int
    groups: NDArray[np.intp] | None
    seed: int

    @property
    def of_search(self) -> tuple[Any, NDArray[Any]]:
        return rows_at(self.X, np.arange(self.rows)), self.y[: self.rows]

    @property
    def rest(self) -> NDArray[Any]:
        return self.y[self.rows :]


def sample(source: DrawSource, repetition: int) -> Sample | None:
    """The sample of a repetition; None where there is none."""
    design, (path, number) = source.design, source.place(repetition)
    X, y = arrays_of(path, design.kind)
    place = design.name, path.stem, number
    rng = np.random.default_rng(seed_of("rows", *place))
    drawn = sample_of(design, X, y, rng)
    if drawn is None:
        return None
    rows, groups = drawn
    others = np.setdiff1d(np.arange(len(y)), rows)
    rest = rng.permutation(others)[: max(MOST_REST, 9 * design.rows)]
    both = np.r_[rows, rest]
    return Sample(rows_at(X, both), y[both], design.rows, groups, seed_of("search", *place) % 2**32)


def search_of(design: Design, drawn: Sample, **settings: Any) -> Any:
    """The search of a sample, as users call it."""
    X, y = drawn.of_search
    fit = {} if drawn.groups is None else {"groups": drawn.groups}
    search = HeldOutSearchCV(
        design.entries(X, y), cv=design.cv, repeats=design.repeats, random_state=drawn.seed, **settings
    )
    return search.fit(X, y, **fit)


def draw(source: DrawSource, repetition: int) -> dict[str, NDArray[Any]] | None:
    """The arrays of a draw: target, folds, predictions (``P_labels``), true scores (``T_accuracy``) and more."""
    design, drawn = source.design, sample(source, repetition)
    if drawn is None:
        return None
    scoring: Any = [scorer_of(metric) for metric in design.metrics]
    refit = {"refit": scoring[0]} if len(scoring) > 1 else {}
    scoring = scoring if len(scoring) > 1 else scoring[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        began = time.perf_counter()
        search = search_of(design, drawn, scoring=scoring, method=None, **refit)
        seconds = time.perf_counter() - began
        whole = HeldOutSearchCV(
            design.entries(*drawn.of_search),
            cv=[(np.arange(drawn.rows), np.arange(drawn.rows, len(drawn.y)))],
            scoring=scoring,
            method=None,
            random_state=drawn.seed,
            refit=False,
        ).fit(drawn.X, drawn.y)
        truths = _truths(design, drawn, _of_rest(whole.predictions_, drawn.rows))
    held = search.predictions_
    predictions = {f"P_{response.value}": array for response, array in held.responses.items()}
    if "P_labels" in predictions:
        predictions["P_labels"] = predictions["P_labels"].astype(np.int8)
    return {
        "y": drawn.of_search[1],
        "folds": held.folds,
        "names": np.array(held.names),
        "failed": np.array(sorted(held.failed), dtype=int),
        "seed": np.array(drawn.seed),
        "seconds": np.array(seconds),
        "table": np.array(source.place(repetition)[0].stem),
        **predictions,
        **truths,
        **({} if drawn.groups is None else {"groups": drawn.groups}),
    }


def _of_rest(found: HeldOutPredictions, n_rows: int) -> HeldOutPredictions:
    rest = {response: array[n_rows:] for response, array in found.responses.items()}
    return HeldOutPredictions(
        rest, found.names, classes=found.classes, positive=found.positive, failed=found.failed
    )


def _truths(design: Design, drawn: Sample, predictions: HeldOutPredictions) -> dict[str, NDArray[Any]]:
    """(C,) scores of every metric on the rest, NaN where a fit failed, and the unit in which errors are given."""
    weights = _weights(design, drawn)
    found: dict[str, NDArray[Any]] = {}
    for metric in design.metrics:
        inputs = read_inputs(drawn.rest, predictions, metric=metric, sample_weight=weights, aggregate="pooled")
        evidence = inputs.evidence(CV())
        scores = np.full(len(predictions.names), np.nan)
        scores[evidence.candidates] = evidence.scores.observed()
        found[f"T_{metric}"] = scores
    if design.kind == "number":
        found["sd"] = np.array(np.std(drawn.rest))
    if design.kind in ("binary", "three"):
        probabilities = predictions.responses[Response.PROBABILITIES]
        found["sd_loss"] = _deviation_of_losses(drawn.rest, probabilities[:, :, 0], weights)
    return found


def _weights(design: Design, drawn: Sample) -> Floats | None:
    """Of the rows of the rest, whose shares of the two classes differ from those of the design."""
    if design.kind != "binary" or design.has_groups:
        return None
    share = drawn.rest.mean()
    return np.where(drawn.rest == 1, design.prevalence / share, (1 - design.prevalence) / (1 - share))


def _deviation_of_losses(y: NDArray[Any], probabilities: Floats, weights: Floats | None) -> Floats:
    """(C,): the standard deviation of rows' logarithmic losses."""
    if probabilities.ndim == 2:
        of_truth = np.where(y[:, None] == 1, probabilities, 1 - probabilities)
    else:
        of_truth = np.take_along_axis(probabilities, y[:, None, None], axis=2)[:, :, 0]
    losses = -np.log(np.clip(of_truth, 2.22e-16, 1))
    weights = np.ones(len(losses)) if weights is None else weights
    mean = np.average(losses, axis=0, weights=weights)
    return np.asarray(np.sqrt(np.average((losses - mean) ** 2, axis=0, weights=weights)))


@dataclass(frozen=True, eq=False)
class KeptDraw:
    """A draw that was read from its file."""

    arrays: Mapping[str, NDArray[Any]]

    @property
    def y(self) -> NDArray[Any]:
        return self.arrays["y"]

    @property
    def groups(self) -> dict[str, Any]:
        """The groups, as an argument of ``ho.estimate``."""
        return {"groups": self.arrays["groups"]} if "groups" in self.arrays else {}

    @property
    def predictions(self) -> HeldOutPredictions:
        """Of all configurations, as the search left them."""
        responses = {r: self.arrays[f"P_{r.value}"] for r in Response if f"P_{r.value}" in self.arrays}
        of_classes: dict[str, Any] = {}
        if Response.LABELS in responses:
            responses[Response.LABELS] = responses[Response.LABELS].astype(np.intp)
            classes = np.unique(self.y)
            of_classes = {"classes": classes, "positive": 1 if len(classes) == 2 else None}
        return HeldOutPredictions(
            responses,
            tuple(map(str, self.arrays["names"])),
            folds=self.arrays["folds"],
            failed={int(place): "failed" for place in self.arrays["failed"]},
            grouped="groups" in self.arrays,
            **of_classes,
        )

    @property
    def fitted(self) -> NDArray[np.intp]:
        """The configurations that did not fail."""
        return np.setdiff1d(np.arange(len(self.arrays["names"])), self.arrays["failed"])

    @property
    def rarer(self) -> int:
        """Rows of the rarest class or with an event; 0 of numbers."""
        if self.y.dtype.names:
            return int(self.y["event"].sum())
        return int(np.bincount(self.y).min()) if "P_labels" in self.arrays else 0


@dataclass(frozen=True)
class DrawFolder:
    """A folder of draws: ``b100/judging_0007.npz``, or ``….none`` with the reason why there is no such draw."""

    path: Path

    def file(self, source: DrawSource, repetition: int) -> Path:
        return self.path / source.design.name / f"{source.half}_{repetition:04d}.npz"

    def kept(self, source: DrawSource, repetition: int) -> KeptDraw | None:
        """A draw, made first if it is not kept and there are tables; None where there is no such draw."""
        file = self.file(source, repetition)
        if not file.exists() and not file.with_suffix(".none").exists() and source.tables:
            self._keep(file, source, repetition)
        if not file.exists():
            return None
        with file.open("rb") as opened, np.load(opened, allow_pickle=False) as found:
            return KeptDraw({name: found[name] for name in found.files})

    def _keep(self, file: Path, source: DrawSource, repetition: int) -> None:
        """Write a draw under a temporary name, then give it its own: it is there whole or not at all."""
        partial, arrays, reason = file.with_name(f".{file.stem}.partial.npz"), None, TOO_FEW
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            try:
                arrays = draw(source, repetition)
            except ValueError as error:
                reason = str(error)
            if arrays is None:
                file.with_suffix(".none").write_text(reason, encoding="utf-8")
                return
            try:
                np.savez_compressed(partial, **arrays)  # type: ignore[arg-type]
                partial.replace(file)
            finally:
                partial.unlink(missing_ok=True)
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            raise StoreError(f"the folder of searches, {self.path}, cannot be written to ({why}).") from None
