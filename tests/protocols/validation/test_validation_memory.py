"""A validation that would not fit in memory is refused before a sample is drawn; what a run file holds is known."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from heldout.data.limits import Memory
from heldout.errors import InputError
from heldout.execution.plan import BYTES_A_CELL
from heldout.protocols import Imputation, bootstrap_validate
from heldout.protocols.validation.arguments import ValidationArguments
from heldout.protocols.validation.plan import bytes_recorded

X = np.random.default_rng(5).normal(size=(40, 2))
Y = (X[:, 0] > 0).astype(int)
HOLES = np.where(X > 1.5, np.nan, X)


@pytest.mark.parametrize(
    ("settings", "table", "n_bytes"),
    [
        ({"metric": "brier_score"}, X, 21 * 40 * 8),
        # Decisions, which the area reads, and the probabilities that curves are drawn from.
        ({"metric": "roc_auc"}, X, 21 * 40 * 16),
        ({"metric": "brier_score", "interval": "double", "n_inner_bootstraps": 3}, X, (21 + 60) * 40 * 8),
        # Each of 3 completions says something of all rows, and of those that were drawn.
        ({"metric": "brier_score", "imputation": Imputation(3)}, HOLES, 21 * 80 * 3 * 8),
    ],
    ids=["plain", "two responses", "double", "imputed"],
)
def test_bytes_of_a_run_file(settings: dict[str, Any], table: np.ndarray, n_bytes: int) -> None:
    plan = ValidationArguments(LogisticRegression(), n_bootstraps=20, random_state=0, **settings).plan(table, Y)
    assert bytes_recorded(plan) == n_bytes


def test_what_does_not_fit_is_refused_before_anything_is_drawn(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    n_bootstraps = 5 * 10**6
    monkeypatch.setattr("heldout.data.limits.memory_there", lambda: Memory(2**30, "this machine's 1.0 GiB"))
    with pytest.raises(InputError, match=r"5,000,002 fits on 40 rows need .* use a store, fewer bootstraps"):
        bootstrap_validate(LinearRegression(), X, X[:, 1], n_bootstraps=n_bootstraps, random_state=0)
    with pytest.raises(InputError, match=r"use fewer bootstraps"):
        bootstrap_validate(
            LinearRegression(), X, X[:, 1], n_bootstraps=n_bootstraps, random_state=0, store=tmp_path / "run.db"
        )


def test_a_store_takes_what_the_fits_say(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    models = [(str(number), LinearRegression()) for number in range(6)]
    settings: dict[str, Any] = {"metric": "r2", "n_bootstraps": 10, "random_state": 0}
    # 6 models: 66 fits on 40 rows. Drawn 1, kept 8, and of one model at a time gathered 16 and scored 64 bytes.
    needed = 66 * (40 * (1 + 8) + BYTES_A_CELL) + 10 * 40 * (16 + 64)
    monkeypatch.setattr(
        "heldout.data.limits.memory_there", lambda: Memory(2 * needed - 1, "this machine's few bytes")
    )
    with pytest.raises(InputError, match="use a store"):
        bootstrap_validate(models, X, X[:, 1], **settings)
    bootstrap_validate(models, X, X[:, 1], **settings, store=tmp_path / "run.db")
    monkeypatch.setattr("heldout.data.limits.memory_there", lambda: Memory(2 * needed, "this machine's few bytes"))
    bootstrap_validate(models, X, X[:, 1], **settings)
