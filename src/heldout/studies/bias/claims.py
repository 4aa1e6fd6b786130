"""What the article says of biases (section 6.1.1), and what a study of ours says of the same.

A claim is tested only where a study has all the settings that it is about; what it has beyond these is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from heldout.studies.bias.study import CONFIGURATIONS, ROWS, BiasStudy
from heldout.studies.claims import Claim
from heldout.wording.studies.claims import almost_difference, number_difference, order_difference, sign_difference

BETA, FOLDS = (9.0, 6.0), 10
"""Of the article's figure 1 and of the numbers that it gives beside it."""
PUBLISHED_REPETITIONS = 500
ALMOST = 0.02
"""Up to where a mean bias is called almost none here; the article gives no number."""
SURE = 3.0
"""Standard errors from which on a bias is on one side of 0."""
LEAST_REPETITIONS = 20
"""With fewer, standard errors are too uncertain themselves."""

Place = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Seen:
    """The part of a study that the article's figure is about: estimate less truth, a repetition an entry.

    Attributes
    ----------
    errors : dict of (N, C) to dict of protocol to ndarray of shape (repetitions,)
    """

    errors: dict[Place, dict[str, NDArray[np.float64]]]

    @classmethod
    def of(cls, study: BiasStudy) -> Seen:
        """What of a study is the article's."""
        return cls(
            {
                (setting.rows, setting.configurations): {
                    name: columns[f"{name}.estimate"] - columns[f"{name}.truth"] for name in setting.protocols
                }
                for setting, columns in zip(study.settings, study.columns, strict=True)
                if setting.beta == BETA and setting.folds == FOLDS
            }
        )

    def has(self, rows: tuple[int, ...], protocols: tuple[str, ...]) -> bool:
        """Whether a claim about these can be tested: with all C, and enough repetitions to know chance."""
        return all(
            name in self.errors.get(place, {}) and len(self.errors[place][name]) >= LEAST_REPETITIONS
            for place in product(rows, CONFIGURATIONS)
            for name in protocols
        )

    def means(self, name: str, rows: tuple[int, ...] = ROWS, less: str | None = None) -> Means:
        """The biases of a protocol, or how much more they are than those of another on the same matrices."""
        errors = np.array(
            [
                [self.errors[n, c][name] - (self.errors[n, c][less] if less else 0.0) for c in CONFIGURATIONS]
                for n in rows
            ]
        )
        return Means(errors.mean(axis=-1), errors.std(axis=-1, ddof=1), errors.shape[-1])


@dataclass(frozen=True, eq=False)
class Means:
    """Mean errors, all of shape (rows, C).

    Attributes
    ----------
    values : ndarray
    spreads : ndarray
        Standard deviations of one repetition (or of one for each of the C, where the values are means over them).
    repetitions : int
    """

    values: NDArray[np.float64]
    spreads: NDArray[np.float64]
    repetitions: int

    def by_rows(self) -> Means:
        """Means over C."""
        variance = (self.spreads**2).mean(axis=1, keepdims=True) / self.values.shape[1]
        return Means(self.values.mean(axis=1, keepdims=True), np.sqrt(variance), self.repetitions)

    @property
    def standard_errors(self) -> NDArray[np.float64]:
        return self.spreads / np.sqrt(self.repetitions)

    def chance(self, place: tuple[int, ...], times: float = 2.0) -> float:
        """Some standard errors of the difference between the published mean at a place and ours."""
        spread = float(self.spreads[place])
        return times * spread * float(np.sqrt(1 / self.repetitions + 1 / PUBLISHED_REPETITIONS))


def bias_claims(study: BiasStudy) -> tuple[Claim, ...]:
    """Every claim that the settings of a study can test, in the order of the article."""
    seen = Seen.of(study)
    return tuple(claim.tested(seen) for claim in _CLAIMS if seen.has(claim.rows, claim.protocols))


@dataclass(frozen=True)
class _Sign:
    """A bias is on one side of 0."""

    text: str
    protocol: str
    rows: tuple[int, ...]
    sign: int
    on_average: bool = False

    @property
    def protocols(self) -> tuple[str, ...]:
        return (self.protocol,)

    def tested(self, seen: Seen) -> Claim:
        means = seen.means(self.protocol, self.rows)
        means = means.by_rows() if self.on_average else means
        signed = self.sign * means.values
        against = int((signed < -SURE * means.standard_errors).sum())
        where = "numbers of rows" if self.on_average else "settings"
        ends = f"{means.values.min():+.3f} to {means.values.max():+.3f}"
        return Claim(
            self.text, "", ends, sign_difference(int((signed > 0).sum()), signed.size, against, where), not against
        )


@dataclass(frozen=True)
class _Number:
    """A published number: the largest bias, or the largest or mean difference between two protocols."""

    text: str
    protocol: str
    less: str | None
    published: float
    decimals: int
    worst: bool
    rows: tuple[int, ...] = ROWS

    @property
    def protocols(self) -> tuple[str, ...]:
        return (self.protocol,) if self.less is None else (self.protocol, self.less)

    def tested(self, seen: Seen) -> Claim:
        means = seen.means(self.protocol, self.rows, self.less)
        if self.worst:
            place = np.unravel_index(int(means.values.argmax()), means.values.shape)
            # The greatest of many means is one that chance has raised.
            ours, chance = float(means.values[place]), means.chance(tuple(int(p) for p in place), SURE)
            at = f" (N = {self.rows[place[0]]}, C = {CONFIGURATIONS[place[1]]})"
        else:
            variance = float((means.spreads**2).mean()) / means.values.size
            whole = Means(np.array([means.values.mean()]), np.array([np.sqrt(variance)]), means.repetitions)
            ours, chance, at = float(whole.values[0]), whole.chance((0,)), ""
        allowed = chance + 0.5 * 10**-self.decimals
        difference = ours - self.published
        return Claim(
            self.text,
            f"{self.published:.{self.decimals}f}",
            f"{ours:.4f}{at}",
            number_difference(difference, allowed, 4),
            abs(difference) <= allowed,
        )


@dataclass(frozen=True)
class _Almost:
    """Mean biases over C are nowhere far from 0."""

    text: str
    protocol: str
    rows: tuple[int, ...] = ROWS

    @property
    def protocols(self) -> tuple[str, ...]:
        return (self.protocol,)

    def tested(self, seen: Seen) -> Claim:
        means = seen.means(self.protocol, self.rows).by_rows()
        place = int(abs(means.values[:, 0]).argmax())
        ours, error = float(means.values[place, 0]), float(means.standard_errors[place, 0])
        holds = abs(ours) <= ALMOST + 2 * error
        return Claim(
            self.text,
            "",
            f"{ours:+.3f} at most (N = {self.rows[place]})",
            almost_difference(holds, ALMOST, 2 * error),
            holds,
        )


@dataclass(frozen=True)
class _Order:
    """One mean is less than another; what is compared is said by ``pair``."""

    text: str
    protocols: tuple[str, ...]
    pair: Callable[[Seen], tuple[str, float, str, float]]
    rows: tuple[int, ...] = ROWS

    def tested(self, seen: Seen) -> Claim:
        first, less, second, more = self.pair(seen)
        ours = f"{less:.4f} {first}, {more:.4f} {second}"
        return Claim(self.text, "", ours, order_difference(less < more, more - less), less < more)


def _by_rows(seen: Seen) -> tuple[str, float, str, float]:
    means = seen.means("cv").by_rows().values[:, 0]
    return f"with N = {ROWS[-1]}", float(means[-1]), f"with N = {ROWS[0]}", float(means[0])


def _by_configurations(seen: Seen) -> tuple[str, float, str, float]:
    means = seen.means("cv").values.mean(axis=0)
    return f"with C = {CONFIGURATIONS[0]}", float(means[0]), f"with C = {CONFIGURATIONS[-1]}", float(means[-1])


def _bced_and_bbc(seen: Seen) -> tuple[str, float, str, float]:
    bced, bbc = (float(abs(seen.means(name).values).mean()) for name in ("bced", "bbc"))
    return "of BCED-CV", bced, "of BBC-CV", bbc


_CLAIMS: tuple[_Sign | _Number | _Order | _Almost, ...] = (
    _Sign("CVT is optimistic in all settings.", "cv", ROWS, 1),
    _Number("The bias of CVT is as high as 0.17.", "cv", None, 0.17, 2, worst=True),
    _Order("The bias of CVT tends to 0 as the sample grows.", ("cv",), _by_rows),
    _Order("The bias of CVT grows with the number of configurations.", ("cv",), _by_configurations),
    _Sign("TT is optimistic on average for N of 20 and 40.", "tt", (20, 40), 1, on_average=True),
    _Sign("TT over-corrects on average for N of 60, 80 and 100.", "tt", (60, 80, 100), -1, on_average=True),
    _Sign("TT is conservative for N of 500 and 1000.", "tt", (500, 1000), -1),
    _Almost("NCV is almost unbiased for every N, on average over C.", "nested_cv"),
    _Sign("BBC-CV is conservative.", "bbc", ROWS, -1),
    _Number("NCV less BBC-CV, mean.", "nested_cv", "bbc", 0.013, 3, worst=False),
    _Number("NCV less BBC-CV, worst case.", "nested_cv", "bbc", 0.034, 3, worst=True),
    _Number("NCV less BCED-CV, mean.", "nested_cv", "bced", 0.005, 3, worst=False),
    _Number("NCV less BCED-CV, worst case.", "nested_cv", "bced", 0.018, 3, worst=True),
    _Order("BCED-CV is less biased than BBC-CV (mean size of the bias).", ("bced", "bbc"), _bced_and_bbc),
)
