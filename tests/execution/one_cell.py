"""One configuration on one split."""

from __future__ import annotations

from heldout.configurations import Configuration
from heldout.execution.cells import CellResult
from heldout.execution.fit import CellContext
from heldout.execution.split_fits import SplitFits
from heldout.folds.splits import Split


def fit_cell(context: CellContext, configuration: Configuration, split: Split) -> CellResult:
    """Train and test it, and score it."""
    fits = SplitFits(context, {configuration.position: configuration}, split, (configuration.position,))
    (result,) = fits.scored(fits.results((configuration.position,)))
    return result
