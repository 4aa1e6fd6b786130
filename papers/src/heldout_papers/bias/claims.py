"""The article's claims about biases (section 6.1.1), and how the results of a study judge them.

A claim is judged only where a study has all the settings that it is about; its other settings are not used. The
article's numbers and figure are for accuracy with Be(9, 6). For the other three distributions it says that the
results are similar, so their sentences are judged without the numbers; so are sentences about metrics that it does
not try.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from heldout_papers.bias.moments import BiasMoments, Moments
from heldout_papers.bias.protocols import TERMS
from heldout_papers.bias.setting import ACCURACY, BETAS, CONFIGURATIONS, ROWS
from heldout_papers.bias.study import BiasStudy
from heldout_papers.engine.claims import (
    AtMost,
    Claim,
    ClaimTest,
    ClaimVerdict,
    Finding,
    Judge,
    Mean,
    Near,
    Ordered,
    apart,
    average,
    judged_claims,
)

FOLDS, PUBLISHED_REPETITIONS = 10, 500
LEAST_REPETITIONS = 20
"""With fewer, standard errors are too uncertain themselves."""
FIGURE = (9.0, 6.0)
"""The distribution of the article's figure 1 and of the numbers beside it."""
SIMILAR = tuple(beta for beta in BETAS if beta != FIGURE)
SMALL = tuple(n for n in ROWS if n <= 100)
ALMOST = 0.02
"""The largest mean bias that counts as almost none here; the article gives no number."""
SURE = 3.0
"""Standard errors from which on a bias is on one side of 0."""

Beta = tuple[float, float]


@dataclass(frozen=True, eq=False)
class TenFoldErrors:
    """Mean errors of the settings with as many folds as the article's, and the part of them of one claim."""

    moments: Mapping[tuple[Beta, int, int], Moments]
    studied: tuple[str, ...]  # The protocols of the study
    repetitions: int
    # What the claim is about
    protocols: tuple[str, ...] = ()
    rows: tuple[int, ...] = ()
    betas: tuple[Beta, ...] = ()

    @classmethod
    def of_study(cls, study: BiasMoments) -> TenFoldErrors:
        found = {
            (setting.beta, setting.rows, setting.configurations): moments
            for setting, moments in zip(study.settings, study.of, strict=True)
            if setting.folds == FOLDS
        }
        return cls(found, study.settings[0].protocols, study.repetitions)

    @property
    def are_enough(self) -> bool:
        """Whether all settings of the claim are there, with every C, and enough repetitions to know chance."""
        return (
            self.repetitions >= LEAST_REPETITIONS
            and set(self.protocols) <= set(self.studied)
            and all(place in self.moments for place in product(self.betas, self.rows, CONFIGURATIONS))
        )

    def mean(self, weights: Mapping[str, float], beta: Beta, rows: int, c: int) -> Mean:
        """Of a weighted sum of protocols' errors on the same matrices."""
        moments = self.moments[beta, rows, c]
        w = np.array([weights.get(name, 0.0) for name in self.studied])
        spread = float(np.sqrt(max(0.0, w @ moments.covariance @ w)))
        where = f"{_place(beta, rows)}, C = {c}"
        return Mean(float(w @ moments.bias), spread / float(np.sqrt(self.repetitions)), self.repetitions, where)

    def biases(self, protocol: str = "") -> list[list[Mean]]:
        """Of the first protocol by default: a line for each beta and number of rows, with one for each C."""
        weights = {protocol or self.protocols[0]: 1.0}
        lines = product(self.betas, self.rows)
        return [[self.mean(weights, *line, c) for c in CONFIGURATIONS] for line in lines]

    def over_configurations(self) -> list[Mean]:
        """Means over C."""
        lines = product(self.betas, self.rows)
        return [average(line).at(_place(*place)) for place, line in zip(lines, self.biases(), strict=True)]

    def differences(self) -> list[Mean]:
        """The errors of the first protocol less those of the second; those of a single one."""
        weights = dict(zip(self.protocols, (1.0, -1.0), strict=False))
        return [self.mean(weights, *place) for place in product(self.betas, self.rows, CONFIGURATIONS)]


def _place(beta: Beta, rows: int) -> str:
    """With the distribution where it is not that of the figure."""
    return f"N = {rows}" if beta == FIGURE else f"Be({beta[0]:g}, {beta[1]:g}), N = {rows}"


@dataclass(frozen=True)
class BiasClaim:
    """A row of the table of claims."""

    text: str
    protocols: tuple[str, ...]
    number: Callable[[TenFoldErrors], Any]
    judge: Judge
    rows: tuple[int, ...] = ROWS
    is_similar: bool = False  # Whether the article says so of the other three distributions too

    def test(self, betas: tuple[Beta, ...] = (FIGURE,), prefix: str = "") -> ClaimTest[TenFoldErrors]:
        def part(errors: TenFoldErrors) -> TenFoldErrors:
            return replace(errors, protocols=self.protocols, rows=self.rows, betas=betas)

        text = prefix + self.text
        return ClaimTest(text, lambda all_: part(all_).are_enough, lambda all_: self.number(part(all_)), self.judge)


def bias_claims(study: BiasStudy | BiasMoments) -> tuple[Claim, ...]:
    """Every claim that the settings of a study can test, in the order of the article.

    Examples
    --------
    >>> from heldout_papers.bias import bias
    >>> bias_claims(bias(40, 50, [(9, 6)], repetitions=2, n_bootstraps=20, random_state=0))
    ()
    """
    moments = study.moments() if isinstance(study, BiasStudy) else study
    tests = _TESTS if moments.settings[0].metric == ACCURACY else _TESTS_OF_OTHER_METRICS
    return judged_claims(tests, TenFoldErrors.of_study(moments))


@dataclass(frozen=True)
class _Side:
    """A bias is on one side of 0."""

    sign: int

    def finding(self, number: tuple[Sequence[Mean], str]) -> Finding:
        means, places = number
        signed = [-mean if self.sign < 0 else mean for mean in means]
        so = sum(mean.value > 0 for mean in signed)
        against = sum(mean.is_below(SURE) for mean in signed)
        values = [mean.value for mean in means]
        sentence = _side_sentence(so, len(means), against, places)
        return Finding(f"{min(values):+.3f} to {max(values):+.3f}", ClaimVerdict(not against, sentence))


def _side_sentence(n_as_claimed: int, n_all: int, n_against: int, places: str) -> str:
    if n_as_claimed == n_all:
        return f"Holds in all {n_all} {places}."
    among = f"Holds in {n_as_claimed} of {n_all} {places}"
    if not n_against:
        return f"{among}; in the others the bias is within three standard errors of 0."
    return f"{among}; in {n_against} it is on the other side of 0 by more than three standard errors."


def _everywhere(part: TenFoldErrors) -> tuple[list[Mean], str]:
    return part.differences(), "settings"


def _on_average(part: TenFoldErrors) -> tuple[list[Mean], str]:
    return part.over_configurations(), "numbers of rows" if len(part.betas) == 1 else "settings"


def _worst(part: TenFoldErrors) -> Mean:
    return max(part.differences(), key=lambda mean: mean.value)


def _less_with_rows(part: TenFoldErrors) -> tuple[Mean, Mean, Mean]:
    """The size of the bias with the most rows, and with the fewest; over C and betas."""
    few, many = (abs(average(replace(part, rows=(rows,)).differences())) for rows in (ROWS[0], ROWS[-1]))
    return apart(many.at(f"with N = {ROWS[-1]}"), few.at(f"with N = {ROWS[0]}"))


def _more_with_configurations(part: TenFoldErrors) -> tuple[Mean, Mean, Mean]:
    few, many = (average(line[c] for line in part.biases()) for c in (0, -1))
    return apart(few.at(f"with C = {CONFIGURATIONS[0]}"), many.at(f"with C = {CONFIGURATIONS[-1]}"))


def _mean_sizes(part: TenFoldErrors) -> tuple[Mean, Mean, Mean]:
    """The mean size of the bias of the first protocol and of the second, over all settings."""
    less, more = part.protocols
    sizes: list[tuple[Mean, Mean, Mean]] = []
    for place in product(part.betas, part.rows, CONFIGURATIONS):
        first, second = (part.mean({name: 1.0}, *place) for name in part.protocols)
        signs = {more: float(np.sign(second.value)), less: -float(np.sign(first.value))}
        sizes.append((abs(first), abs(second), part.mean(signs, *place)))
    first, second, gap = (average(means) for means in zip(*sizes, strict=True))
    return first.at(f"of {TERMS[less].title}"), second.at(f"of {TERMS[more].title}"), gap


def _ranges(part: TenFoldErrors) -> tuple[Mean, Mean, Mean]:
    """The range of a bias over C, on average over rows: the widest of the others, and that of TT."""

    def value(mean: Mean) -> float:
        return mean.value

    first, *others = (
        average(max(line, key=value) - min(line, key=value) for line in part.biases(name))
        for name in part.protocols
    )
    return apart(max(others, key=value).at("at most of the others"), first.at("of TT"))


_ALMOST = AtMost(ALMOST, word="counts as almost", decimals=3, is_open=False)


def _mean_difference(part: TenFoldErrors) -> Mean:
    return average(part.differences())


def _near(published: float, decimals: int, sure: float = 2.0) -> Near:
    return Near(published, decimals, PUBLISHED_REPETITIONS, shown=4, sure=sure)


_CLAIMS = (
    BiasClaim("CVT is optimistic in all settings.", ("cv",), _everywhere, _Side(1), is_similar=True),
    # Chance raises the greatest of many means.
    BiasClaim("The bias of CVT is as high as 0.17.", ("cv",), _worst, _near(0.17, 2, SURE)),
    BiasClaim("The bias of CVT tends to 0 as the sample grows.", ("cv",), _less_with_rows, Ordered()),
    BiasClaim(
        "The bias of CVT grows with the number of configurations.", ("cv",), _more_with_configurations, Ordered()
    ),
    BiasClaim(
        "TT is optimistic on average for N of 20 and 40.",
        ("tt",), _on_average, _Side(1), (20, 40), is_similar=True,
    ),
    BiasClaim(
        "TT over-corrects on average for N of 60, 80 and 100.",
        ("tt",), _on_average, _Side(-1), (60, 80, 100), is_similar=True,
    ),
    BiasClaim(
        "TT is conservative for N of 500 and 1000.", ("tt",), _everywhere, _Side(-1), (500, 1000), is_similar=True
    ),
    BiasClaim(
        "TT is highly sensitive to the number of configurations for N up to 100: its bias varies most.",
        ("tt", "cv", "nested_cv", "bbc", "bced"), _ranges, Ordered(), SMALL,
    ),
    BiasClaim(
        "NCV is almost unbiased for every N, on average over C.",
        ("nested_cv",), TenFoldErrors.over_configurations, _ALMOST, is_similar=True,
    ),
    BiasClaim("BBC-CV is conservative.", ("bbc",), _everywhere, _Side(-1), is_similar=True),
    BiasClaim("The bias of BBC-CV tends to 0 as the sample grows.", ("bbc",), _less_with_rows, Ordered()),
    BiasClaim(
        "BBC-CV is less biased than TT for N up to 100 (mean size of the bias).",
        ("bbc", "tt"), _mean_sizes, Ordered(), SMALL,
    ),
    BiasClaim(
        "BBC-CV is less biased than TT overall (mean size of the bias).", ("bbc", "tt"), _mean_sizes, Ordered()
    ),
    BiasClaim("NCV less BBC-CV, mean.", ("nested_cv", "bbc"), _mean_difference, _near(0.013, 3)),
    BiasClaim("NCV less BBC-CV, worst case.", ("nested_cv", "bbc"), _worst, _near(0.034, 3, SURE)),
    BiasClaim("NCV less BCED-CV, mean.", ("nested_cv", "bced"), _mean_difference, _near(0.005, 3)),
    BiasClaim("NCV less BCED-CV, worst case.", ("nested_cv", "bced"), _worst, _near(0.018, 3, SURE)),
    BiasClaim(
        "BCED-CV is less biased than BBC-CV (mean size of the bias).",
        ("bced", "bbc"), _mean_sizes, Ordered(), is_similar=True,
    ),
    BiasClaim(
        "BBC-CV is almost unbiased, on average over C.", ("bbc",), TenFoldErrors.over_configurations, _ALMOST
    ),
    BiasClaim(
        "BCED-CV is almost unbiased, on average over C.", ("bced",), TenFoldErrors.over_configurations, _ALMOST
    ),
)  # fmt: skip
_PREFIX = "Similarly for Be(14, 6), Be(24, 6) and Be(54, 6): "
_TESTS = (
    *(claim.test() for claim in _CLAIMS),
    *(claim.test(SIMILAR, _PREFIX) for claim in _CLAIMS if claim.is_similar),
)
_TESTS_OF_OTHER_METRICS = tuple(claim.test() for claim in _CLAIMS if not isinstance(claim.judge, Near))
