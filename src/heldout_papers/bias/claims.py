"""What the article says of biases (section 6.1.1), and what a study of ours says of the same.

A claim is tested only where a study has all the settings that it is about; what it has beyond these is left out.
The article's numbers and figure are of accuracy with Be(9, 6). Of the other three distributions it says that they
are similar, so that there its sentences are tested without the numbers; and so they are of metrics that it does not
try.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from heldout_papers.bias.moments import BiasMoments
from heldout_papers.bias.seen import FIGURE, Beta, Means, Seen
from heldout_papers.bias.setting import ACCURACY, BETAS, CONFIGURATIONS, ROWS
from heldout_papers.bias.study import BiasStudy
from heldout_papers.bias.words import similar_claim
from heldout_papers.claims import Claim, beyond
from heldout_papers.claims_words import almost_difference, number_difference, order_difference, sign_difference

PUBLISHED_REPETITIONS = 500
OTHERS = tuple(beta for beta in BETAS if beta != FIGURE)
SMALL = tuple(n for n in ROWS if n <= 100)
ALMOST = 0.02
"""Up to where a mean bias is called almost none here; the article gives no number."""
SURE = 3.0
"""Standard errors from which on a bias is on one side of 0."""


def bias_claims(study: BiasStudy | BiasMoments) -> tuple[Claim, ...]:
    """Every claim that the settings of a study can test, in the order of the article.

    Examples
    --------
    >>> from heldout_papers.bias import bias
    >>> bias_claims(bias(40, 50, [(9, 6)], repetitions=2, n_bootstraps=20, random_state=0))
    ()
    """
    seen = Seen.of_study(study.moments() if isinstance(study, BiasStudy) else study)
    asked = _CLAIMS if seen.metric == ACCURACY else _WORDS
    return tuple(claim.tested(seen) for claim in asked if seen.has(claim.betas, claim.rows, claim.protocols))


@dataclass(frozen=True, kw_only=True)
class _About:
    """What every claim has: its words, and what it is about."""

    text: str
    protocols: tuple[str, ...]
    rows: tuple[int, ...] = ROWS
    betas: tuple[Beta, ...] = (FIGURE,)

    def means(self, seen: Seen, name: str | None = None, less: str | None = None) -> Means:
        return seen.means(name or self.protocols[0], self.rows, less, self.betas)


@dataclass(frozen=True, kw_only=True)
class _Sign(_About):
    """A bias is on one side of 0."""

    sign: int
    on_average: bool = False

    def tested(self, seen: Seen) -> Claim:
        means = self.means(seen)
        means = means.by_rows() if self.on_average else means
        signed = self.sign * means.values
        against = int((signed < -SURE * means.standard_errors).sum())
        where = "numbers of rows" if self.on_average and len(self.betas) == 1 else "settings"
        ends = f"{means.values.min():+.3f} to {means.values.max():+.3f}"
        said = sign_difference(int((signed > 0).sum()), signed.size, against, where)
        return Claim(self.text, "", ends, said, not against)


@dataclass(frozen=True, kw_only=True)
class _Number(_About):
    """A published number: the largest bias, or the largest or mean difference between two protocols."""

    published: float
    decimals: int
    worst: bool

    def tested(self, seen: Seen) -> Claim:
        means = self.means(seen, less=self.protocols[1] if len(self.protocols) > 1 else None)
        means = means if self.worst else means.whole()
        line, column = divmod(int(means.values.argmax()), means.values.shape[1])
        ours, spread = float(means.values[line, column]), float(means.spreads[line, column])
        # The greatest of many means is one that chance has raised.
        times = SURE if self.worst else 2.0
        chance = times * spread * float(np.sqrt(1 / means.repetitions + 1 / PUBLISHED_REPETITIONS))
        allowed = chance + 0.5 * 10**-self.decimals
        difference = ours - self.published
        return Claim(
            self.text,
            f"{self.published:.{self.decimals}f}",
            f"{ours:.4f} {means.where(line, column)}" if self.worst else f"{ours:.4f}",
            number_difference(difference, allowed, 4),
            abs(difference) <= allowed,
        )


@dataclass(frozen=True, kw_only=True)
class _Almost(_About):
    """Mean biases over C are nowhere far from 0."""

    def tested(self, seen: Seen) -> Claim:
        means = self.means(seen).by_rows()
        place = int(abs(means.values[:, 0]).argmax())
        ours, error = float(means.values[place, 0]), float(means.standard_errors[place, 0])
        holds = abs(ours) <= ALMOST + 2 * error
        return Claim(
            self.text,
            "",
            f"{ours:+.3f} at most {means.where(place)}",
            almost_difference(holds, ALMOST, 2 * error),
            holds,
        )


@dataclass(frozen=True)
class _Pair:
    """Two means, what each is of, and the standard error of their difference."""

    first: str
    less: float
    second: str
    more: float
    error: float


@dataclass(frozen=True, kw_only=True)
class _Order(_About):
    """One mean is less than another, by more than chance; what is compared is said by ``pair``."""

    pair: Callable[[_About, Seen], _Pair]

    def tested(self, seen: Seen) -> Claim:
        pair = self.pair(self, seen)
        ours = f"{pair.less:.4f} {pair.first}, {pair.more:.4f} {pair.second}"
        difference, chance = pair.more - pair.less, 2 * pair.error
        holds = beyond(difference, chance)
        return Claim(self.text, "", ours, order_difference(holds, difference, chance), holds)


def _with_rows(about: _About, seen: Seen) -> _Pair:
    """How large the bias is with the most rows, and with the fewest; by rows, over C and betas."""
    few, many = (seen.means(about.protocols[0], (rows,), betas=about.betas).whole() for rows in (ROWS[0], ROWS[-1]))
    ends = abs(float(many.values[0, 0])), abs(float(few.values[0, 0]))
    error = float(np.hypot(many.standard_errors[0, 0], few.standard_errors[0, 0]))
    return _Pair(f"with N = {ROWS[-1]}", ends[0], f"with N = {ROWS[0]}", ends[1], error)


def _with_configurations(about: _About, seen: Seen) -> _Pair:
    means = about.means(seen)
    few, many = float(means.values[:, 0].mean()), float(means.values[:, -1].mean())
    both = means.standard_errors[:, [0, -1]]
    error = float(np.sqrt((both**2).sum())) / len(both)
    return _Pair(f"with C = {CONFIGURATIONS[0]}", few, f"with C = {CONFIGURATIONS[-1]}", many, error)


def _sizes(about: _About, seen: Seen) -> _Pair:
    """The mean size of the bias of one protocol and of another, over all settings."""
    titles = {"bbc": "of BBC-CV", "bced": "of BCED-CV", "tt": "of TT"}
    less, more = about.protocols
    sizes, variances = [], []
    for place in product(about.betas, about.rows, CONFIGURATIONS):
        moments = seen.of[place]
        bias = {name: seen.combined(moments, {name: 1.0})[0] for name in (less, more)}
        sizes.append([abs(bias[less]), abs(bias[more])])
        signs = {more: float(np.sign(bias[more])), less: -float(np.sign(bias[less]))}
        variances.append(seen.combined(moments, signs)[1] ** 2)
    error = float(np.sqrt(sum(variances) / seen.repetitions)) / len(variances)
    means = np.mean(sizes, axis=0)
    return _Pair(titles[less], float(means[0]), titles[more], float(means[1]), error)


def _ranges(about: _About, seen: Seen) -> _Pair:
    """How far a bias varies over C, on average over rows: the most of the others, and the first protocol's."""
    ranges, errors = {}, {}
    for name in about.protocols:
        means = about.means(seen, name)
        ranges[name] = float(np.ptp(means.values, axis=1).mean())
        ends = np.stack([means.values.argmax(axis=1), means.values.argmin(axis=1)], axis=1)
        chance = np.take_along_axis(means.standard_errors, ends, axis=1)
        errors[name] = float(np.sqrt((chance**2).sum())) / len(chance)
    first, *others = about.protocols
    most = max(others, key=lambda name: ranges[name])
    error = float(np.hypot(errors[first], errors[most]))
    return _Pair("at most of the others", ranges[most], "of TT", ranges[first], error)


_CVT = (
    _Sign(text="CVT is optimistic in all settings.", protocols=("cv",), sign=1),
    _Order(text="The bias of CVT tends to 0 as the sample grows.", protocols=("cv",), pair=_with_rows),
    _Order(
        text="The bias of CVT grows with the number of configurations.",
        protocols=("cv",),
        pair=_with_configurations,
    ),
)
_TT = (
    _Sign(
        text="TT is optimistic on average for N of 20 and 40.",
        protocols=("tt",), rows=(20, 40), sign=1, on_average=True,
    ),
    _Sign(
        text="TT over-corrects on average for N of 60, 80 and 100.",
        protocols=("tt",), rows=(60, 80, 100), sign=-1, on_average=True,
    ),
    _Sign(text="TT is conservative for N of 500 and 1000.", protocols=("tt",), rows=(500, 1000), sign=-1),
)  # fmt: skip
_SENSITIVE = _Order(
    text="TT is highly sensitive to the number of configurations for N up to 100: its bias varies most.",
    protocols=("tt", "cv", "nested_cv", "bbc", "bced"),
    rows=SMALL,
    pair=_ranges,
)
_NCV = _Almost(text="NCV is almost unbiased for every N, on average over C.", protocols=("nested_cv",))
_BBC = _Sign(text="BBC-CV is conservative.", protocols=("bbc",), sign=-1)
_BBC_TO_0 = _Order(text="The bias of BBC-CV tends to 0 as the sample grows.", protocols=("bbc",), pair=_with_rows)
_BBC_AND_TT = (
    _Order(
        text="BBC-CV is less biased than TT for N up to 100 (mean size of the bias).",
        protocols=("bbc", "tt"), rows=SMALL, pair=_sizes,
    ),
    _Order(
        text="BBC-CV is less biased than TT overall (mean size of the bias).", protocols=("bbc", "tt"), pair=_sizes
    ),
)  # fmt: skip
_BCED = _Order(
    text="BCED-CV is less biased than BBC-CV (mean size of the bias).", protocols=("bced", "bbc"), pair=_sizes
)
_ALMOST = (
    _Almost(text="BBC-CV is almost unbiased, on average over C.", protocols=("bbc",)),
    _Almost(text="BCED-CV is almost unbiased, on average over C.", protocols=("bced",)),
)
_HIGHEST = _Number(
    text="The bias of CVT is as high as 0.17.", protocols=("cv",), published=0.17, decimals=2, worst=True
)
_BESIDE_NCV = tuple(
    _Number(
        text=f"NCV less {title}, {'worst case' if worst else 'mean'}.",
        protocols=("nested_cv", name), published=published, decimals=3, worst=worst,
    )
    for name, title, published, worst in (
        ("bbc", "BBC-CV", 0.013, False), ("bbc", "BBC-CV", 0.034, True),
        ("bced", "BCED-CV", 0.005, False), ("bced", "BCED-CV", 0.018, True),
    )
)  # fmt: skip
_WORDS: tuple[_Sign | _Order | _Almost, ...] = (
    *_CVT, *_TT, _SENSITIVE, _NCV, _BBC, _BBC_TO_0, *_BBC_AND_TT, _BCED, *_ALMOST,
)  # fmt: skip
_SIMILAR = tuple(
    replace(claim, text=similar_claim(claim.text), betas=OTHERS) for claim in (_CVT[0], *_TT, _NCV, _BBC, _BCED)
)
_CLAIMS: tuple[_Sign | _Number | _Order | _Almost, ...] = (
    _CVT[0], _HIGHEST, *_CVT[1:], *_TT, _SENSITIVE, _NCV, _BBC, _BBC_TO_0, *_BBC_AND_TT, *_BESIDE_NCV, _BCED,
    *_ALMOST, *_SIMILAR,
)  # fmt: skip
