"""Rows in the order of time: the blocks in which their bootstraps are drawn, and what to know of those.

How much a row moves the winner's pooled score is, for any metric, the score on all rows less that without the row:
of a mean of losses it is the row's loss but for shift and scale. The automatic length of blocks is taken from the
autocorrelation of that. A mean over folds is no use for it: the effect of a row is then its loss less the mean of
its own fold, in which the slow part of the dependence is gone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from heldout._types import Floats
from heldout.errors import InputError
from heldout.estimates.block_length import AUTO, Blocks, automatic_length
from heldout.estimates.evidence import Candidates
from heldout.flags import Flag
from heldout.metrics.aggregate import AggregateScore
from heldout.selection.draws import BLOCK, RowBlocks

MOST_LEFT_OUT = 5000
"""Rows that are left out one by one, the last ones where there are more: the time grows with their product."""
MOST_FOREIGN = 1000
"""The same for a metric of the user's own, which may be slow."""
SOURCES_OF_KIND = {"stationary": ("politis1994",), "moving": ("kunsch1989",)}
SOURCES_OF_LENGTH = ("politis2004", "patton2009")
CHOSEN_AUTOMATICALLY = "automatic"
AS_PASSED = "as passed"


def check_without_groups(blocks: Blocks | None, groups: Any) -> None:
    """Refuse blocks of rows beside groups, which are drawn whole themselves."""
    if blocks is not None and groups is not None:
        raise InputError(
            f"`block_length={str(blocks)!r}` draws blocks of consecutive rows, and groups are drawn whole in any "
            "order of their rows; leave `block_length` out, or group stretches of time.",
            argument="block_length",
        )


def check_fits_rows(blocks: Blocks | None, n_rows: int) -> None:
    """Refuse blocks of more than half of the rows that are predicted."""
    if blocks is None or blocks.length == AUTO or blocks.length <= max(n_rows // 2, 1):
        return
    raise InputError(
        f"`block_length={blocks.length!r}` is more than half of the {n_rows} predicted rows, of which a bootstrap "
        f"draws some blocks and leaves out others; use at most {n_rows // 2}, or 'auto'.",
        argument="block_length",
    )


def wanted_blocks(blocks: Blocks | None, exchangeable: bool, *, grouped: bool) -> Blocks | None:
    """The blocks that are drawn: by default, of rows whose folds follow time, those of the automatic length."""
    return Blocks() if blocks is None and not exchangeable and not grouped else blocks


def in_blocks(evidence: Candidates, *, exchangeable: bool, pooled: Callable[[], AggregateScore]) -> Candidates:
    """The evidence with the blocks that its bootstraps draw; unchanged where rows or groups are drawn.

    ``pooled`` gives the score of the metric on all rows of a repeat, from which the automatic length is taken.
    """
    wanted = wanted_blocks(evidence.settings.blocks, exchangeable, grouped=evidence.grouped)
    if wanted is None:
        return evidence
    n_rows = len(evidence.scores.rows_of_weight)
    is_automatic = wanted.length == AUTO
    length = _automatic(evidence, wanted, pooled()) if wanted.length == AUTO else int(wanted.length)
    check_fits_rows(wanted, n_rows)
    source = CHOSEN_AUTOMATICALLY if is_automatic else AS_PASSED
    details = {
        "block_kind": wanted.kind,
        "block_length": length,
        "block_length_source": source,
        "block_sources": SOURCES_OF_KIND[wanted.kind] + (SOURCES_OF_LENGTH if is_automatic else ()),
    }
    evidence = replace(evidence, details={**evidence.details, **details})
    if length == 1 and not is_automatic:
        return evidence
    return replace(
        evidence,
        row_blocks=RowBlocks(length, wanted.kind),
        flags={**evidence.flags, Flag.ROW_BLOCKS: _sentence(wanted, length, n_rows)},
    )


def row_effects(evidence: Candidates, pooled: AggregateScore) -> Floats:
    """(m,): by how much each of the last m rows of weight moves the winner's pooled score.

    Their mean where it cannot be scored.
    """
    most = MOST_FOREIGN if pooled.metric.calls_foreign_code else MOST_LEFT_OUT
    rows = pooled.rows_of_weight[-most:]
    scores = [_without_each(evidence, pooled, rows[first : first + BLOCK]) for first in range(0, len(rows), BLOCK)]
    whole = evidence.scores_of_winner(np.ones((1, pooled.n_rows), dtype=np.uint8), pooled)
    effects = whole - np.concatenate(scores)
    finite = np.isfinite(effects)
    return np.where(finite, effects, effects[finite].mean() if finite.any() else 0.0)


def _without_each(evidence: Candidates, score: AggregateScore, rows: Any) -> Floats:
    """(len(rows),): the winner's score without each of the rows."""
    counts = np.ones((len(rows), score.n_rows), dtype=np.uint8)
    counts[np.arange(len(rows)), rows] = 0
    return evidence.scores_of_winner(counts, score)


def _automatic(evidence: Candidates, wanted: Blocks, pooled: AggregateScore) -> int:
    n_rows = len(pooled.rows_of_weight)
    if n_rows < 4:  # nothing shows in so few
        return 1
    length = automatic_length(row_effects(evidence, pooled), wanted.kind, n_rows)
    return min(max(math.ceil(length), 1), n_rows // 2)


def _sentence(wanted: Blocks, length: int, n_rows: int) -> str:
    of_length = "an average of " if wanted.kind == "stationary" and length > 1 else ""
    how = " (chosen by the autocorrelation of how rows move the score)" if wanted.length == AUTO else ""
    return Flag.ROW_BLOCKS.filled(
        kind=wanted.kind,
        length=f"{of_length}{length} row{'' if length == 1 else 's'}{how}",
        blocks=f"{n_rows / length:.0f}",
    )
