"""The estimate from a file of predictions, and what its report needs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from heldout.cli.options import OptionText, naming
from heldout.cli.saved_winner import SavedWinner

if TYPE_CHECKING:
    from heldout.cli.console import Console
    from heldout.cli.estimate_input import EstimateInput, EstimateOptions
    from heldout.cli.files import OutputFolder
    from heldout.estimates.base import Method
    from heldout.estimates.comparison import Comparison
    from heldout.estimates.inputs import Inputs
    from heldout.estimates.question import Aggregate
    from heldout.estimates.types import Alternative, Estimate
    from heldout.report import ReportContent


@dataclass(frozen=True, eq=False)
class FileEstimate:
    """The answer to a file of predictions, and what its report needs."""

    result: Estimate | Comparison
    """A ``Comparison`` for ``--method all``."""
    inputs: Inputs
    table: str
    saved: SavedWinner | None
    """The model that was saved beside the file."""

    @property
    def main(self) -> Estimate:
        """The estimate that the report is about."""
        from heldout.estimates.types import Estimate

        return self.result if isinstance(self.result, Estimate) else self.result[self.result.main]

    @property
    def comparison(self) -> Comparison | None:
        from heldout.estimates.comparison import Comparison

        return self.result if isinstance(self.result, Comparison) else None

    def content(self, command: str) -> ReportContent:
        """The content of the report."""
        from heldout.report import estimate_content

        return estimate_content(
            self.main,
            self.inputs,
            comparison=self.comparison,
            command=command,
            title=self.table,
        )


def estimate_file(options: EstimateOptions, console: Console, folder: OutputFolder | None = None) -> FileEstimate:
    """Read the file, and estimate; ``folder`` is where files will be written, if any."""
    from heldout.cli.estimate_input import read
    from heldout.cli.estimate_methods import check_names, methods_of_options

    check_names(options)
    with naming({"configuration": OptionText("--configuration", "COL")}):
        reading = read(options, console)
    methods = methods_of_options(options, reading)
    inputs = _inputs(options, reading, next(iter(methods.values())))
    if folder is not None:
        folder.check_writable()  # before the work that would be lost
    result, saved = _result(options, inputs, methods), SavedWinner.of(reading.roles, options.file)
    if saved is not None:
        result = _with_saved(result, saved, reading.metric, inputs.question.rule.name)
    return FileEstimate(result, inputs, reading.name, saved)


def _inputs(options: EstimateOptions, reading: EstimateInput, method: Method) -> Inputs:
    from heldout.estimates.inputs import read_inputs

    return read_inputs(
        reading.y_true,
        reading.held,
        metric=reading.metric,
        method=None if options.method == "all" else method,
        groups=reading.groups,
        sample_weight=reading.sample_weight,
        aggregate=cast("Aggregate | None", options.aggregate),
        selection=options.selection,
        threshold=reading.threshold,
        adaptive=options.adaptive,
        block_length=options.block_length,
        n_bootstraps=options.n_bootstraps,
        confidence_level=options.confidence_level,
        alternative=cast("Alternative | None", options.alternative),
        n_jobs=options.n_jobs,
        random_state=0 if options.seed is None and reading.held.remembered.entropy is None else options.seed,
    )


def _result(options: EstimateOptions, inputs: Inputs, methods: dict[str, Method]) -> Estimate | Comparison:
    """A ``Comparison`` for ``--method all``."""
    from heldout.estimates.comparison import compare, warn_of_all
    from heldout.estimates.inputs import warn_of
    from heldout.estimates.methods import answer

    if options.method == "all":
        comparison = compare(inputs, methods)
        warn_of_all(comparison, stacklevel=2)
        return comparison
    (method,) = methods.values()
    estimate = answer(method, inputs.evidence(method))
    warn_of(estimate, stacklevel=2)
    return estimate


def _with_saved(
    result: Estimate | Comparison, saved: SavedWinner, metric: str, selection: str
) -> Estimate | Comparison:
    """The result, with a flag on each estimate that is not of the saved model's configuration."""
    from heldout.estimates.types import Estimate

    if isinstance(result, Estimate):
        return saved.flagged(result, metric, selection)
    flagged = {name: saved.flagged(each, metric, selection) for name, each in result.estimates.items()}
    return replace(result, estimates=flagged)
