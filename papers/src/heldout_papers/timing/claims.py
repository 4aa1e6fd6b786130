"""The article's claims about times (section 5, figure 3), and how the results of a study judge them.

Each claim is judged for the library's own code and for plain code, as far as they were timed, and only where enough
was varied. Published figures are from the files of times beside the published code.
"""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from heldout_papers.engine.claims import Claim, ClaimTest, ClaimVerdict, Finding, judged_claims, verdict
from heldout_papers.timing.problem import PAIRS
from heldout_papers.timing.study import VARIED, TimingStudy

PUBLISHED: Mapping[tuple[int, int, int], tuple[float, float]] = MappingProxyType(
    {
        (50, 5, 3): (0.8004, 0.0295), (100, 5, 3): (0.8162, 0.0295), (250, 5, 3): (0.8698, 0.0296),
        (500, 5, 3): (0.9305, 0.0292), (1000, 5, 3): (1.1250, 0.0307), (5000, 5, 3): (2.4329, 0.0339),
        (10000, 5, 3): (4.1622, 0.0377), (500, 10, 3): (1.6319, 0.0379), (500, 20, 3): (3.0818, 0.0568),
        (500, 50, 3): (7.4250, 0.1146), (500, 100, 3): (14.6944, 0.2079), (500, 250, 3): (36.5463, 0.4911),
        (500, 5, 5): (0.9190, 0.0338), (500, 5, 10): (0.9335, 0.0489), (500, 5, 20): (0.9641, 0.0797),
        (500, 5, 30): (0.9935, 0.1107), (500, 5, 50): (1.0539, 0.1720),
    }
)  # fmt: skip
"""Median seconds of BBC and BBC-F, by rows, configurations and folds: github.com/kparaschakis/BBC_algorithm, folder
output/time_analysis (the setting that occurs in all three files is that of the file of folds)."""
SPREAD: Mapping[str, float] = MappingProxyType({"rows": 10.0, "configurations": 10.0, "folds": 5.0})
"""The factor between the least and the greatest size that a claim about growth needs."""
LEAST_REPETITIONS = 5
BAND = (5.0, 200.0)
"""One to two orders of magnitude, give or take a factor of two."""
SIMILAR = 0.3
"""Exponents of growth that differ by no more count as similar; the published ones differ by .22."""
NOT_AFFECTED = 2.0
"""A time that grows by no more than this factor counts as not affected: in the published files BBC-F takes 1.28
times as long with 200 times the rows."""
CODE_TITLES = {"bbc": "heldout's code", "plain_bbc": "plain code"}
"""Whose BBC and BBC-F are compared, by the name of the first."""

Pair = tuple[str, str]


def timing_claims(study: TimingStudy) -> tuple[Claim, ...]:
    """Every claim that a study can test, for each pair that it has timed."""
    return tuple(claim for pair in PAIRS for claim in judged_claims(_tests(pair), study))


def _tests(pair: Pair) -> list[ClaimTest[TimingStudy]]:
    bbc, bbc_f = pair
    table: tuple[tuple[str, Callable[[TimingStudy], Finding]], ...] = (
        ("BBC-F is consistently faster than BBC by 1-2 orders of magnitude", partial(_faster, pair)),
        ("BBC and BBC-F scale alike with the number of configurations", partial(_scale_alike, pair)),
        ("The time of BBC-F is not affected by the rows", partial(_unaffected, bbc_f, "rows", "1.28 times")),
        (
            "The time of BBC is not affected by the number of folds",
            partial(_unaffected, bbc, "folds", "1.13 times"),
        ),
        ("The speed-up of BBC-F is in the order of N/K", partial(_in_order_of_ratio, pair)),
    )
    title = CODE_TITLES[bbc]
    return [ClaimTest(f"{text} ({title}).", partial(_has_varied, pair), find) for text, find in table]


def _has_varied(pair: Pair, study: TimingStudy) -> bool:
    """Whether both ways were timed, often enough, and every size was varied widely enough."""
    timed = set(pair) <= set(study.settings[0].ways) and study.repetitions >= LEAST_REPETITIONS
    sizes = {what: study.sizes(what) for what in VARIED}
    return timed and all(of and max(of) / min(of) >= SPREAD[what] for what, of in sizes.items())


def _faster(pair: Pair, study: TimingStudy) -> Finding:
    ratios = _speed_ups(study, pair)
    in_band = int(((ratios >= BAND[0]) & (ratios <= BAND[1])).sum())
    slower = int((ratios < 1).sum())
    among = f"BBC-F is 10 to 100 times as fast, give or take a factor of 2, in {in_band} of {len(ratios)} settings"
    sentence = f"{among}, and slower in {slower}." if slower else f"{among}, and faster in all."
    ours = f"{ratios.min():.3g} to {ratios.max():.3g} times"
    return Finding(ours, ClaimVerdict(in_band == len(ratios), sentence), "6 to 110 times")


def _growth(study: TimingStudy, what: str, way: str) -> tuple[float, float]:
    """The greatest size by the least, and the time with it by that with the least."""
    panel, sizes = study.varied(what), study.sizes(what)
    return sizes[-1] / sizes[0], study.median(panel[-1], way) / study.median(panel[0], way)


def _scale_alike(pair: Pair, study: TimingStudy) -> Finding:
    grown = [_growth(study, "configurations", way) for way in pair]
    first, second = (float(np.log(seconds) / np.log(size)) for size, seconds in grown)
    gap = abs(first - second)
    why = f"the exponents differ by {gap:.2f}, where up to {SIMILAR:g} counts as similar"
    published = "C to the power 0.94 and 0.73, from C = 5 to 250"
    return Finding(f"{first:.2f} and {second:.2f}", verdict(gap <= SIMILAR, why), published)


def _unaffected(way: str, what: str, published: str, study: TimingStudy) -> Finding:
    size, seconds = _growth(study, what, way)
    times = f"{seconds:.3g} times"
    takes = f"with {size:.3g} times the {what} it takes {times} as long"
    why = f"{takes}, where up to {NOT_AFFECTED:g} times counts as not affected"
    return Finding(times, verdict(seconds <= NOT_AFFECTED, why), published)


def _in_order_of_ratio(pair: Pair, study: TimingStudy) -> Finding:
    settings = [study.settings[place] for place in _places(study)]
    shares = _speed_ups(study, pair) / np.array([setting.rows / setting.folds for setting in settings])
    within = int(((shares >= 0.1) & (shares <= 10)).sum())
    sentence = f"Within a factor of 10 of N/K in {within} of {len(shares)} settings."
    ours = f"{shares.min():.2g} to {shares.max():.2g} of N/K"
    return Finding(ours, ClaimVerdict(within == len(shares), sentence), "0.033 to 1.6 of N/K")


def _places(study: TimingStudy) -> list[int]:
    """The settings of all panels."""
    return sorted({place for what in VARIED for place in study.varied(what)})


def _speed_ups(study: TimingStudy, pair: Pair) -> NDArray[np.float64]:
    """(settings,): the median time of BBC by that of BBC-F."""
    return np.array([study.median(place, pair[0]) / study.median(place, pair[1]) for place in _places(study)])
