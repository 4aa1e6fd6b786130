"""The article's claims about biases (section 6.1.1), and how the results of a study judge them.

A claim is judged only where a study has all the settings that it is about; its other settings are not used. The
article's numbers and figure are for accuracy with Be(9, 6). For the other three distributions it says that the
results are similar, so their sentences are judged without the numbers; so are sentences about metrics that it does
not try.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

from heldout.kernels.reference import Floats
from heldout_papers.bias.moments import BiasMoments, Moments
from heldout_papers.bias.setting import ACCURACY, BETAS, CONFIGURATIONS, ROWS
from heldout_papers.bias.study import BiasStudy
from heldout_papers.engine.claims import (
    Claim,
    ClaimTest,
    ClaimVerdict,
    Finding,
    judged_claims,
    near,
    order,
    verdict,
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
Betas = tuple[Beta, ...]
Rows = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class MeanErrors:
    """Mean errors, with a line for each beta and number of rows and a column for each C."""

    values: Floats  # (lines, columns)
    # (lines, columns): standard deviations of one repetition (or of one for each of the C, where the values are
    # means over them)
    spreads: Floats
    repetitions: int
    lines: tuple[tuple[Beta, int], ...]

    def over_configurations(self) -> MeanErrors:
        """Means over C."""
        variance = (self.spreads**2).mean(axis=1, keepdims=True) / self.values.shape[1]
        return MeanErrors(self.values.mean(axis=1, keepdims=True), np.sqrt(variance), self.repetitions, self.lines)

    def over_all(self) -> MeanErrors:
        """The mean over lines and columns."""
        spread = np.sqrt(np.array([[(self.spreads**2).mean() / self.values.size]]))
        return MeanErrors(np.array([[self.values.mean()]]), spread, self.repetitions, self.lines[:1])

    @property
    def standard_errors(self) -> Floats:
        errors: Floats = self.spreads / np.sqrt(self.repetitions)
        return errors

    def place(self, line: int, column: int | None = None) -> str:
        """A place in words; with the distribution where it is not that of the figure."""
        beta, n = self.lines[line]
        parts = [] if beta == FIGURE else [f"Be({beta[0]:g}, {beta[1]:g})"]
        parts += [f"N = {n}"] if column is None else [f"N = {n}", f"C = {CONFIGURATIONS[column]}"]
        return f"({', '.join(parts)})"


@dataclass(frozen=True, eq=False)
class ErrorsOfFolds:
    """The settings of a study with as many folds as the article's."""

    moments: dict[tuple[Beta, int, int], Moments]
    protocols: tuple[str, ...]
    repetitions: int

    @classmethod
    def of_study(cls, study: BiasMoments) -> ErrorsOfFolds:
        found = {
            (setting.beta, setting.rows, setting.configurations): moments
            for setting, moments in zip(study.settings, study.of, strict=True)
            if setting.folds == FOLDS
        }
        return cls(found, study.settings[0].protocols, study.repetitions)

    def has(self, part: _BiasPart) -> bool:
        """Whether all settings of a claim are there, with every C, and enough repetitions to know chance."""
        return (
            self.repetitions >= LEAST_REPETITIONS
            and set(part.protocols) <= set(self.protocols)
            and all(place in self.moments for place in product(part.betas, part.rows, CONFIGURATIONS))
        )

    def means(self, weights: dict[str, float], rows: Rows, betas: Betas) -> MeanErrors:
        """Of a weighted sum of protocols' errors on the same matrices."""
        lines = tuple(product(betas, rows))
        values = np.array(
            [[self.combined(self.moments[beta, n, c], weights) for c in CONFIGURATIONS] for beta, n in lines]
        )
        return MeanErrors(values[..., 0], values[..., 1], self.repetitions, lines)

    def combined(self, moments: Moments, weights: dict[str, float]) -> tuple[float, float]:
        """The mean of a weighted sum of protocols' errors, and its standard deviation on one matrix."""
        w = np.array([weights.get(name, 0.0) for name in self.protocols])
        return float(w @ moments.bias), float(np.sqrt(max(0.0, w @ moments.covariance @ w)))


@dataclass(frozen=True)
class _BiasPart:
    """Protocols, rows and betas that a claim is about."""

    protocols: tuple[str, ...]
    rows: Rows
    betas: Betas

    def means(self, errors: ErrorsOfFolds, name: str | None = None, rows: Rows | None = None) -> MeanErrors:
        return errors.means({name or self.protocols[0]: 1.0}, rows or self.rows, self.betas)


Judge = Callable[[_BiasPart, ErrorsOfFolds], Finding]


@dataclass(frozen=True)
class _BiasClaim:
    """A row of the table of claims."""

    text: str
    judge: Judge
    protocols: tuple[str, ...]
    rows: Rows = ROWS

    def test(self, betas: Betas = (FIGURE,), prefix: str = "") -> ClaimTest[ErrorsOfFolds]:
        part = _BiasPart(self.protocols, self.rows, betas)
        return ClaimTest(
            prefix + self.text, lambda errors: self.judge(part, errors), lambda errors: errors.has(part)
        )


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
    return judged_claims(tests, ErrorsOfFolds.of_study(moments))


def _sign(sign: int, *, on_average: bool = False) -> Judge:
    """A bias is on one side of 0."""

    def judge(part: _BiasPart, errors: ErrorsOfFolds) -> Finding:
        means = part.means(errors)
        means = means.over_configurations() if on_average else means
        signed = sign * means.values
        against = int((signed < -SURE * means.standard_errors).sum())
        where = "numbers of rows" if on_average and len(part.betas) == 1 else "settings"
        sentence = _sign_sentence(int((signed > 0).sum()), signed.size, against, where)
        ends = f"{means.values.min():+.3f} to {means.values.max():+.3f}"
        return Finding(ends, ClaimVerdict(not against, sentence))

    return judge


def _sign_sentence(n_as_claimed: int, n_all: int, n_against: int, where: str) -> str:
    if n_as_claimed == n_all:
        return f"Holds in all {n_all} {where}."
    among = f"Holds in {n_as_claimed} of {n_all} {where}"
    if not n_against:
        return f"{among}; in the others the bias is within three standard errors of 0."
    return f"{among}; in {n_against} it is on the other side of 0 by more than three standard errors."


def _number(published: float, decimals: int, *, worst: bool) -> Judge:
    """A published number: the largest bias, or the largest or mean difference between two protocols."""

    def judge(part: _BiasPart, errors: ErrorsOfFolds) -> Finding:
        weights = dict(zip(part.protocols, (1.0, -1.0), strict=False))
        means = errors.means(weights, part.rows, part.betas)
        means = means if worst else means.over_all()
        line, column = divmod(int(means.values.argmax()), means.values.shape[1])
        ours, spread = float(means.values[line, column]), float(means.spreads[line, column])
        # Chance raises the greatest of many means.
        times = SURE if worst else 2.0
        chance = times * spread * float(np.sqrt(1 / means.repetitions + 1 / PUBLISHED_REPETITIONS))
        where = f" {means.place(line, column)}" if worst else ""
        return near(ours, published, chance, decimals, shown=4, where=where)

    return judge


def _almost_unbiased(part: _BiasPart, errors: ErrorsOfFolds) -> Finding:
    """Mean biases over C are nowhere far from 0."""
    means = part.means(errors).over_configurations()
    place = int(abs(means.values[:, 0]).argmax())
    ours, chance = float(means.values[place, 0]), 2 * float(means.standard_errors[place, 0])
    why = f"up to {ALMOST:g} counts as almost, give or take {chance:.3f} by chance"
    return Finding(f"{ours:+.3f} at most {means.place(place)}", verdict(abs(ours) <= ALMOST + chance, why))


def _ordered(less: tuple[float, str], more: tuple[float, str], error: float) -> Finding:
    """One mean is less than another; ``error`` is the standard error of their difference."""
    ours = f"{less[0]:.4f} {less[1]}, {more[0]:.4f} {more[1]}"
    return Finding(ours, order(more[0] - less[0], 2 * error))


def _less_with_rows(part: _BiasPart, errors: ErrorsOfFolds) -> Finding:
    """The size of the bias with the most rows, and with the fewest; over C and betas."""
    few, many = (part.means(errors, rows=(rows,)).over_all() for rows in (ROWS[0], ROWS[-1]))
    least, most = abs(float(many.values[0, 0])), abs(float(few.values[0, 0]))
    error = float(np.hypot(many.standard_errors[0, 0], few.standard_errors[0, 0]))
    return _ordered((least, f"with N = {ROWS[-1]}"), (most, f"with N = {ROWS[0]}"), error)


def _more_with_configurations(part: _BiasPart, errors: ErrorsOfFolds) -> Finding:
    means = part.means(errors)
    few, many = float(means.values[:, 0].mean()), float(means.values[:, -1].mean())
    both = means.standard_errors[:, [0, -1]]
    error = float(np.sqrt((both**2).sum())) / len(both)
    return _ordered((few, f"with C = {CONFIGURATIONS[0]}"), (many, f"with C = {CONFIGURATIONS[-1]}"), error)


def _smaller_than(part: _BiasPart, errors: ErrorsOfFolds) -> Finding:
    """The mean size of the bias of the first protocol and of the second, over all settings."""
    titles = {"bbc": "of BBC-CV", "bced": "of BCED-CV", "tt": "of TT"}
    less, more = part.protocols
    sizes, variances = [], []
    for place in product(part.betas, part.rows, CONFIGURATIONS):
        moments = errors.moments[place]
        bias = {name: errors.combined(moments, {name: 1.0})[0] for name in (less, more)}
        sizes.append([abs(bias[less]), abs(bias[more])])
        signs = {more: float(np.sign(bias[more])), less: -float(np.sign(bias[less]))}
        variances.append(errors.combined(moments, signs)[1] ** 2)
    error = float(np.sqrt(sum(variances) / errors.repetitions)) / len(variances)
    means = np.mean(sizes, axis=0)
    return _ordered((float(means[0]), titles[less]), (float(means[1]), titles[more]), error)


def _varies_most(part: _BiasPart, errors: ErrorsOfFolds) -> Finding:
    """The range of a bias over C, on average over rows: the widest of the others, and that of the first
    protocol.
    """
    ranges, standard_errors = {}, {}
    for name in part.protocols:
        means = part.means(errors, name)
        ranges[name] = float(np.ptp(means.values, axis=1).mean())
        ends = np.stack([means.values.argmax(axis=1), means.values.argmin(axis=1)], axis=1)
        chance = np.take_along_axis(means.standard_errors, ends, axis=1)
        standard_errors[name] = float(np.sqrt((chance**2).sum())) / len(chance)
    first, *others = part.protocols
    most = max(others, key=lambda name: ranges[name])
    error = float(np.hypot(standard_errors[first], standard_errors[most]))
    return _ordered((ranges[most], "at most of the others"), (ranges[first], "of TT"), error)


_CVT = (
    _BiasClaim("CVT is optimistic in all settings.", _sign(1), ("cv",)),
    _BiasClaim("The bias of CVT tends to 0 as the sample grows.", _less_with_rows, ("cv",)),
    _BiasClaim("The bias of CVT grows with the number of configurations.", _more_with_configurations, ("cv",)),
)
_TT = (
    _BiasClaim("TT is optimistic on average for N of 20 and 40.", _sign(1, on_average=True), ("tt",), (20, 40)),
    _BiasClaim(
        "TT over-corrects on average for N of 60, 80 and 100.", _sign(-1, on_average=True), ("tt",), (60, 80, 100)
    ),
    _BiasClaim("TT is conservative for N of 500 and 1000.", _sign(-1), ("tt",), (500, 1000)),
)
_VARIES_MOST = _BiasClaim(
    "TT is highly sensitive to the number of configurations for N up to 100: its bias varies most.",
    _varies_most, ("tt", "cv", "nested_cv", "bbc", "bced"), SMALL,
)  # fmt: skip
_NCV = _BiasClaim("NCV is almost unbiased for every N, on average over C.", _almost_unbiased, ("nested_cv",))
_BBC = _BiasClaim("BBC-CV is conservative.", _sign(-1), ("bbc",))
_BBC_BIAS = (
    _BiasClaim("The bias of BBC-CV tends to 0 as the sample grows.", _less_with_rows, ("bbc",)),
    _BiasClaim(
        "BBC-CV is less biased than TT for N up to 100 (mean size of the bias).",
        _smaller_than, ("bbc", "tt"), SMALL,
    ),
    _BiasClaim("BBC-CV is less biased than TT overall (mean size of the bias).", _smaller_than, ("bbc", "tt")),
)  # fmt: skip
_BCED = _BiasClaim("BCED-CV is less biased than BBC-CV (mean size of the bias).", _smaller_than, ("bced", "bbc"))
_ALMOST = (
    _BiasClaim("BBC-CV is almost unbiased, on average over C.", _almost_unbiased, ("bbc",)),
    _BiasClaim("BCED-CV is almost unbiased, on average over C.", _almost_unbiased, ("bced",)),
)
_HIGHEST = _BiasClaim("The bias of CVT is as high as 0.17.", _number(0.17, 2, worst=True), ("cv",))
_BESIDE_NCV = (
    _BiasClaim("NCV less BBC-CV, mean.", _number(0.013, 3, worst=False), ("nested_cv", "bbc")),
    _BiasClaim("NCV less BBC-CV, worst case.", _number(0.034, 3, worst=True), ("nested_cv", "bbc")),
    _BiasClaim("NCV less BCED-CV, mean.", _number(0.005, 3, worst=False), ("nested_cv", "bced")),
    _BiasClaim("NCV less BCED-CV, worst case.", _number(0.018, 3, worst=True), ("nested_cv", "bced")),
)
_PREFIX = "Similarly for Be(14, 6), Be(24, 6) and Be(54, 6): "

_TESTS = (
    *(
        claim.test()
        for claim in (
            _CVT[0], _HIGHEST, *_CVT[1:], *_TT, _VARIES_MOST, _NCV, _BBC, *_BBC_BIAS, *_BESIDE_NCV, _BCED, *_ALMOST,
        )
    ),
    *(claim.test(SIMILAR, _PREFIX) for claim in (_CVT[0], *_TT, _NCV, _BBC, _BCED)),
)  # fmt: skip
_TESTS_OF_OTHER_METRICS = tuple(
    claim.test() for claim in (*_CVT, *_TT, _VARIES_MOST, _NCV, _BBC, *_BBC_BIAS, _BCED, *_ALMOST)
)
