"""One configuration on one split."""

from dataclasses import replace

from heldout.configurations import Configuration
from heldout.execution.cells import CellResult
from heldout.execution.fit import Work
from heldout.execution.split_fits import SplitFits
from heldout.folds.splits import Split


def fit_cell(work: Work, configuration: Configuration, split: Split) -> CellResult:
    """Train and test it, and score it."""
    work = replace(work, configurations={configuration.position: configuration})  # type: ignore[arg-type]
    fits = SplitFits(work, split, (configuration.position,))
    (result,) = fits.scored(fits.results((configuration.position,)))
    return result
