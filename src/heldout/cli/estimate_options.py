"""The options of ``heldout estimate``."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """What the user asked for; the fields are the options."""

    file: str
    target: str | None
    event: str | None
    fold: str | None
    repeat: str | None
    row: str | None
    group: str | None
    weight: str | None
    exclude: tuple[str, ...]
    prediction: tuple[str, ...]
    metric: str | None
    positive: str | None
    response: str
    threshold: float | None
    method: str
    candidates: str | None
    evaluation_share: float | None
    configuration: tuple[str, ...]
    fixed_configuration: str | None
    stratify: bool
    interval: str | None
    control: str | None
    selection: str
    aggregate: str | None
    n_bootstraps: int | None
    confidence_level: float | None
    alternative: str
    seed: int | None
    out_of_core: bool
    n_jobs: int | None
    out: str | None
    as_json: bool
    quiet: bool
