"""What the article says of times (section 5, figure 3), and what a study of ours says of the same.

Each claim is tested of the library's own code and of plain code, as far as they were timed, and only where enough
was varied. Published figures are from the files of times beside the published code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from heldout_papers.claims import Claim
from heldout_papers.timing import words as words
from heldout_papers.timing.problem import PAIRS
from heldout_papers.timing.study import VARIED, TimingStudy

PUBLISHED: Mapping[tuple[int, int, int], tuple[float, float]] = MappingProxyType(
    {
        (50, 5, 3): (0.8004, 0.0295),
        (100, 5, 3): (0.8162, 0.0295),
        (250, 5, 3): (0.8698, 0.0296),
        (500, 5, 3): (0.9305, 0.0292),
        (1000, 5, 3): (1.1250, 0.0307),
        (5000, 5, 3): (2.4329, 0.0339),
        (10000, 5, 3): (4.1622, 0.0377),
        (500, 10, 3): (1.6319, 0.0379),
        (500, 20, 3): (3.0818, 0.0568),
        (500, 50, 3): (7.4250, 0.1146),
        (500, 100, 3): (14.6944, 0.2079),
        (500, 250, 3): (36.5463, 0.4911),
        (500, 5, 5): (0.9190, 0.0338),
        (500, 5, 10): (0.9335, 0.0489),
        (500, 5, 20): (0.9641, 0.0797),
        (500, 5, 30): (0.9935, 0.1107),
        (500, 5, 50): (1.0539, 0.1720),
    }
)
"""Median seconds of BBC and BBC-F, by rows, configurations and folds: github.com/kparaschakis/BBC_algorithm, folder
output/time_analysis (the setting that occurs in all three files is that of the file of folds)."""
SPREAD: Mapping[str, float] = MappingProxyType({"rows": 10.0, "configurations": 10.0, "folds": 5.0})
"""How many times as many there must be in the end as at first, for a claim about their growth."""
LEAST_REPETITIONS = 5
BAND = (5.0, 200.0)
"""One to two orders of magnitude, give or take a factor of two."""
SIMILAR = 0.3
"""Exponents of growth that differ by no more are called similar; the published ones differ by .22."""
NOT_AFFECTED = 2.0
"""A time that grows by no more than this factor is called not affected: in the published files BBC-F takes 1.28
times as long with 200 times the rows."""


@dataclass(frozen=True)
class Grown:
    """How a way's time grew over a panel.

    Attributes
    ----------
    size, seconds : float
        The greatest size by the least, and the time with it by that with the least.
    """

    size: float
    seconds: float

    @property
    def exponent(self) -> float:
        return float(np.log(self.seconds) / np.log(self.size))


def timing_claims(study: TimingStudy) -> tuple[Claim, ...]:
    """Every claim that a study can test, of each pair that it has timed."""
    panels = {what: study.varied(what) for what in VARIED}
    if study.repetitions < LEAST_REPETITIONS or any(_spread(study, what) < SPREAD[what] for what in VARIED):
        return ()
    places = sorted({place for panel in panels.values() for place in panel})
    return tuple(
        claim
        for pair in PAIRS
        if set(pair) <= set(study.settings[0].ways)
        for claim in _of_pair(study, pair, places)
    )


def _of_pair(study: TimingStudy, pair: tuple[str, str], places: list[int]) -> tuple[Claim, ...]:
    whose = words.PAIR_TITLES[pair[0]]
    bbc_c, bbc_f_c = (grown(study, "configurations", way) for way in pair)
    similar = abs(bbc_c.exponent - bbc_f_c.exponent) <= SIMILAR
    return (
        _faster(study, pair, places, whose),
        Claim(
            f"BBC and BBC-F scale alike with the number of configurations ({whose}).",
            "C to the power 0.94 and 0.73, from C = 5 to 250",
            f"{bbc_c.exponent:.2f} and {bbc_f_c.exponent:.2f}",
            words.slopes_difference(similar, bbc_c.exponent, bbc_f_c.exponent, SIMILAR),
            similar,
        ),
        _unaffected(
            study, pair[1], "rows", f"The time of BBC-F is not affected by the rows ({whose}).", "1.28 times"
        ),
        _unaffected(
            study,
            pair[0],
            "folds",
            f"The time of BBC is not affected by the number of folds ({whose}).",
            "1.13 times",
        ),
        _order(study, pair, places, whose),
    )


def _faster(study: TimingStudy, pair: tuple[str, str], places: list[int], whose: str) -> Claim:
    ratios = speed_ups(study, pair, places)
    in_band = int(((ratios >= BAND[0]) & (ratios <= BAND[1])).sum())
    slower = int((ratios < 1).sum())
    return Claim(
        f"BBC-F is consistently faster than BBC by 1-2 orders of magnitude ({whose}).",
        "6 to 110 times",
        f"{ratios.min():.3g} to {ratios.max():.3g} times",
        words.speed_difference(in_band, slower, len(ratios)),
        in_band == len(ratios),
    )


def _unaffected(study: TimingStudy, way: str, what: str, text: str, published: str) -> Claim:
    found = grown(study, what, way)
    holds = found.seconds <= NOT_AFFECTED
    return Claim(
        text,
        published,
        words.times_as_long(found.seconds),
        words.unaffected_difference(holds, found.seconds, found.size, NOT_AFFECTED, words.VARIED_TITLES[what]),
        holds,
    )


def _order(study: TimingStudy, pair: tuple[str, str], places: list[int], whose: str) -> Claim:
    expected = np.array([study.settings[place].rows / study.settings[place].folds for place in places])
    shares = speed_ups(study, pair, places) / expected
    within = int(((shares >= 0.1) & (shares <= 10)).sum())
    return Claim(
        f"The speed-up of BBC-F is in the order of N/K ({whose}).",
        "0.033 to 1.6 of N/K",
        f"{shares.min():.2g} to {shares.max():.2g} of N/K",
        words.order_of_ratio_difference(within, len(shares)),
        within == len(shares),
    )


def speed_ups(
    study: TimingStudy, pair: tuple[str, str], places: list[int]
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """(settings,): the median time of BBC by that of BBC-F."""
    return np.array([study.median(place, pair[0]) / study.median(place, pair[1]) for place in places])


def grown(study: TimingStudy, what: str, way: str) -> Grown:
    """From the least to the greatest size of a panel."""
    panel = study.varied(what)
    first, last = panel[0], panel[-1]
    size = getattr(study.settings[last], what) / getattr(study.settings[first], what)
    return Grown(float(size), study.median(last, way) / study.median(first, way))


def _spread(study: TimingStudy, what: str) -> float:
    sizes = [getattr(study.settings[place], what) for place in study.varied(what)]
    return float(max(sizes) / min(sizes)) if sizes else 0.0
