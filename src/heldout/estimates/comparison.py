"""``ho.compare_estimates``: every method's answer to one question, side by side, and why the others have none.

The question is read and checked once; methods that choose the winner in the same aggregate share the evidence, and
all of them share the draws.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from heldout import _defaults
from heldout._record import Record, TextTable, cells, frame_of, rows_table
from heldout._streams import RandomState
from heldout.errors import InputError, reason_of
from heldout.estimates.base import Method
from heldout.estimates.coverage import LEVEL
from heldout.estimates.input_arrays import ResponseName
from heldout.estimates.inputs import Inputs, read_inputs, warn_of
from heldout.estimates.methods import METHODS, estimate_by, method_of, unfit
from heldout.estimates.question import AnyAggregate, BlockLength
from heldout.estimates.types import Alternative, Coverage, Estimate, decimals_of
from heldout.flags import Flag

MAIN = _defaults.METHOD
"""The method whose row is marked where it applies and a search had no other; else the first with an interval."""

SEEN_IN_THE_ROW = (Flag.NO_INTERVAL, Flag.OTHER_CONFIGURATION)
"""Flags that need no note where interval and winner are shown."""


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Record, Mapping[str, Estimate]):
    """The estimates of several methods: a mapping from the method's name to its ``Estimate``.

    Attributes
    ----------
    estimates : mapping of str to Estimate
        In the order of ``ho.estimates.METHODS``, or of the list given.
    refused : mapping of str to str
        The other methods, and why each does not apply.
    preferred : str
        The method to report if it applies: that of the search that made the predictions, or the default.
    """

    estimates: Mapping[str, Estimate]
    refused: Mapping[str, str]
    preferred: str = MAIN

    def __getitem__(self, name: str) -> Estimate:
        if name in self.refused:
            raise KeyError(f"{name} does not apply: {self.refused[name]}")
        return self.estimates[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)

    @property
    def main(self) -> str:
        """The method to report unless there is a reason for another."""
        if self.preferred in self.estimates:
            return self.preferred
        with_interval = (name for name, estimate in self.estimates.items() if estimate.interval is not None)
        # A comparison holds at least one estimate: ``compare`` refuses otherwise.
        return next(with_interval, next(iter(self.estimates)))

    @property
    def notes(self) -> dict[str, str]:
        """What is particular to each estimate, in few words: its own flags, and a winner that is another."""
        main = self.estimates[self.main]
        said = [set(estimate.flags) for estimate in self.estimates.values()]
        # A flag that every row has says nothing of a method; with one row alone nothing is common.
        common = set.intersection(*said) if len(said) > 1 else set()
        notes = {}
        for name, estimate in self.estimates.items():
            rest = [flag for flag in estimate.flags if flag not in common and flag not in SEEN_IN_THE_ROW]
            words = [flag.value.replace("_", " ") for flag in rest]
            if estimate.selected != main.selected:
                words.append(f"of {estimate.selected_name}")
            notes[name] = ", ".join(words)
        return notes

    @property
    def coverage(self) -> dict[str, Coverage]:
        """What intervals of the methods covered where the truth is known, of those for which it was measured."""
        by_method = {name: estimate.coverage for name, estimate in self.estimates.items()}
        return {name: coverage for name, coverage in by_method.items() if coverage is not None}

    @property
    def coverage_sentences(self) -> list[str]:
        """What intervals covered, a sentence a cell of the test bed."""
        sentences = []
        for cell in dict.fromkeys(coverage.cell for coverage in self.coverage.values()):
            of_cell = {name: coverage for name, coverage in self.coverage.items() if coverage.cell == cell}
            shares = ", ".join(f"{name} {coverage.share:.3f}" for name, coverage in of_cell.items())
            sentences.append(f"In {cell}, {LEVEL:.0%} intervals covered: {shares}.")
        return sentences

    _without = "preferred"
    _more = "main"
    _columns = "value interval coverage=coverage.share uncorrected optimism selected_name n_rows_used flags"

    def to_frame(self) -> Any:
        """A pandas DataFrame with one row per method (pandas comes with the extra ``app``)."""
        rows = [
            {"method": name, **cells(one, self._columns), "quantity": one.provenance.get("quantity", "")}
            for name, one in self.estimates.items()
        ]
        return frame_of(rows, "Comparison.to_frame")

    def tables(self) -> list[TextTable]:
        main, notes = self.estimates[self.main], self.notes
        rows = [{"name": name, "of": one, "note": notes[name]} for name, one in self.estimates.items()]
        shown = rows_table(
            rows,
            "method=name value=of.value interval=of.interval uncorrected=of.uncorrected optimism=of.optimism note",
            f"{main.metric} of {main.selected_name}",
            [
                *self.coverage_sentences,
                *(f"{self.main}: {sentence}" for sentence in main.flags.values()),
                *(f"{name} does not apply: {reason}" for name, reason in self.refused.items()),
            ],
            decimals_of(main),
            main=list(self.estimates).index(self.main),
        )
        return [shown]

    # The names alone: a whole estimate a method would fill a screen.
    def __repr__(self) -> str:
        rest = f"; {len(self.refused)} do not apply" if self.refused else ""
        return f"Comparison({self.estimates[self.main].metric}: {', '.join(self.estimates)}{rest})"

    def __str__(self) -> str:
        return self.text()


def compare_estimates(
    y_true: Any,
    predictions: Any = None,
    *,
    metric: Any = None,
    methods: Any = "all",
    folds: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    aggregate: AnyAggregate | None = None,
    selection: Any = None,
    n_bootstraps: int | None = None,
    confidence_level: float | None = None,
    alternative: Alternative | None = None,
    classes: Any = None,
    pos_label: Any = None,
    response: ResponseName = _defaults.RESPONSE,
    threshold: float | None = None,
    adaptive: bool = False,
    block_length: BlockLength = None,
    n_rows_of_bootstrap: int | Literal["auto"] | None = "auto",
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> Comparison:
    """Estimate the performance of the best of C configurations by every method that applies.

    All methods answer the same question with the same draws. A method that gives only a lower bound is excluded
    unless ``alternative`` is "greater".

    Parameters
    ----------
    methods : "all", list of names and configured methods, or mapping, default="all"
        The methods to compare. To compare two settings of one method, pass a mapping from your names to methods.
    y_true, predictions, metric, folds, ... :
        As in ``ho.estimate``; the result of ``ho.read_predictions``, or a fitted search, replaces the first two.

    Returns
    -------
    Comparison
        A mapping from the method's name to its ``Estimate``; ``refused`` holds the reasons why others do not apply.

    Raises
    ------
    InputError
        When the input cannot be used, or no method applies.

    Warns
    -----
    HeldoutWarning
        When configurations failed, or a method has no estimate; the flags say so too.

    Examples
    --------
    >>> import numpy as np, heldout as ho
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 200)
    >>> guesses = rng.random((200, 50))  # 50 configurations that know nothing
    >>> found = ho.compare_estimates(y, guesses, metric="roc_auc", methods=["cv", "bbc", "tt"], random_state=0)
    >>> found["cv"].value > 0.55, found["bbc"].value < 0.55, found.refused
    (True, True, {'tt': 'it compares scores fold by fold; give `folds=`, one label per row'})
    """
    chosen = methods_of(methods)
    inputs = read_inputs(
        y_true, predictions, metric=metric, folds=folds, groups=groups, sample_weight=sample_weight,
        aggregate=aggregate, selection=selection, n_bootstraps=n_bootstraps, confidence_level=confidence_level,
        alternative=alternative, classes=classes, pos_label=pos_label, response=response, threshold=threshold,
        adaptive=adaptive, block_length=block_length, n_rows_of_bootstrap=n_rows_of_bootstrap,
        random_state=random_state, n_jobs=n_jobs,
    )  # fmt: skip
    if methods == "all" and inputs.method is not None:  # with the settings that it had in the search
        chosen[inputs.method.name] = inputs.method
    comparison = compare(inputs, chosen)
    warn_of(*comparison.values(), stacklevel=2)
    return comparison


def methods_of(methods: Any) -> dict[str, Method]:
    """The methods to compare by the names of their rows."""
    if isinstance(methods, str) and methods == "all":
        return {name: make() for name, make in METHODS.items()}
    if isinstance(methods, Mapping):
        return {str(name): method_of(method) for name, method in methods.items()}
    if isinstance(methods, str) or not isinstance(methods, Sequence) or not methods:
        raise InputError(
            f"methods must be 'all' or a list of methods such as ['cv', 'bbc'], got {methods!r}; the names are "
            f"{', '.join(METHODS)}."
        )
    by_name: dict[str, Method] = {}
    for method in map(method_of, methods):
        if method.name in by_name:
            raise InputError(
                f"methods holds '{method.name}' twice; name each by a mapping, such as "
                f"{{'{method.name}': ..., 'another {method.name}': ...}}.",
                argument="methods",
            )
        by_name[method.name] = method
    return by_name


def compare(inputs: Inputs, methods: Mapping[str, Method]) -> Comparison:
    estimates: dict[str, Estimate] = {}
    refused: dict[str, str] = {}
    # A method that does not fit costs its own row only; the others still answer.
    for name, method in methods.items():
        try:
            evidence = inputs.evidence(method)
            reason = unfit(method, evidence)
            if reason is None:
                estimates[name] = estimate_by(method, evidence)
        except InputError as error:
            reason = reason_of(error)
        if reason is not None:
            refused[name] = reason
    if not estimates:
        # One reason for all is a fault of the question, which is said as a single method would say it.
        reasons = list(dict.fromkeys(refused.values()))
        if len(reasons) == 1:
            raise InputError(f"{reasons[0]}.")
        why = "; ".join(f"{name}: {reason}" for name, reason in refused.items())
        raise InputError(f"no method applies: {why}.")
    return Comparison(estimates, refused, MAIN if inputs.method is None else inputs.method.name)
