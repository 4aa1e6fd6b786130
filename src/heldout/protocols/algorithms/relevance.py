"""Whether what the nested selection gains over the flat one is relevant (Wainer and Cawley 2021)."""

from dataclasses import dataclass

import numpy as np

from heldout._record import Record, json_number
from heldout._text import number_text
from heldout._types import Floats

ARTICLE, GIVEN = "article", "given"


@dataclass(frozen=True)
class Relevance(Record):
    """What the nested selection gains over the flat one, and the threshold from which a difference is relevant.

    Attributes
    ----------
    gain : float
        Nested score of the algorithm that nested scores select, minus the nested score of the one that flat scores
        select; 0 if they are the same, never negative.
    threshold : float
        Absolute differences above it are relevant.
    source : {"article", "given"}
        The rule of Wainer and Cawley, or the user's own number.
    is_relevant : bool or None
        None without a gain or a threshold.
    """

    gain: float
    threshold: float
    source: str
    is_relevant: bool | None

    def __str__(self) -> str:
        if self.is_relevant is None:
            return "Whether the nested selection gains anything is unknown, because a score is missing."
        verdict = "is relevant" if self.is_relevant else "is not relevant"
        return (
            f"The nested selection gains {score_text(self.gain)} over the flat one; the threshold is "
            f"{score_text(self.threshold)}, so this {verdict}."
        )


def relevance_of(
    flat: Floats, nested: Floats, by_flat: int | None, by_nested: int | None, threshold: float | None
) -> Relevance:
    """The gain of the nested selection, against a threshold.

    Wainer and Cawley (2021, section 2.1, equations 11 and 12) take, for each of the two algorithms selected, the
    error of the nested score against the score on future rows, and the smaller of the two errors. There are no
    future rows here. Appendix A (first alternative analysis) has a form without them, |nested - flat|, which
    is the default.

    - ``flat``, ``nested`` (A,): oriented, greater = better.
    - ``by_flat``, ``by_nested``: the algorithms that they select.
    - ``threshold``: the user's own; None for that of the article.

    Examples
    --------
    >>> relevance_of(np.array([0.90, 0.89]), np.array([0.80, 0.85]), 0, 1, None)  # the smaller of .10 and .04
    Relevance(gain=0.05, threshold=0.04, source='article', is_relevant=True)
    """
    source = ARTICLE if threshold is None else GIVEN
    if by_flat is None or by_nested is None:
        return Relevance(float("nan"), float("nan") if threshold is None else threshold, source, None)
    gain = _rounded(nested[by_nested] - nested[by_flat])
    if threshold is None:
        # The smaller of the two errors, as the article has it; a missing score leaves no threshold.
        errors = [abs(nested[each] - flat[each]) for each in (by_flat, by_nested)]
        threshold = _rounded(min(errors)) if not np.isnan(errors).any() else float("nan")
    return Relevance(gain, threshold, source, exceeds(gain, threshold))


def _rounded(value: float) -> float:
    """Without the last bits, in which equal means can differ."""
    return float(np.round(value, 14))


def exceeds(value: float, threshold: float) -> bool | None:
    return None if np.isnan(value) or np.isnan(threshold) else bool(abs(value) > threshold)


def score_text(value: float) -> str:
    return number_text(json_number(value), 4)
