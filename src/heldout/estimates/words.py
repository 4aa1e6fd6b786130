"""Words that methods share: what their classes say of themselves, and the sentences of quantities and scales."""

from __future__ import annotations

from dataclasses import dataclass

OVER_TRAINING_SETS = "the expected performance, over training sets of the size of a fold's training part,"
GIVEN_ONE_TRAINING_SET = "the performance on new rows, given the one training part that all models were fitted on,"
TRAINED_AS_THESE = "the performance on new rows, with models trained as those behind these predictions,"


@dataclass(frozen=True)
class MethodWords:
    """A method in words.

    Attributes
    ----------
    title : str
        The head of a row or section.
    name : str
        Within a sentence.
    how : str
        How the method arrives at its number, with a place ``{bootstraps}`` where it draws some; empty for a method
        of the user's own.
    """

    title: str
    name: str
    how: str

    def sentence(self, bootstraps: int | None, *, finalists: int = 1, named: bool = False) -> str:
        """How the method arrives at its number.

        Parameters
        ----------
        finalists : int
            Of a two-part method: how many configurations the first part of the rows passed on.
        named : bool
            Of a two-part method: whether the configuration was named beforehand, so that there was no first part.
        """
        return self.how.format(bootstraps=f"{bootstraps or 0:,}")


CALIBRATED_INTERVAL = (
    "Rows that were not drawn are fewer than all rows, so their scores spread wider. The interval was therefore "
    "narrowed towards the estimate (by a factor of {shrinkage:.2f}, less where rows are few). Its better end was "
    "then moved out by a third of the optimism, which is the most by which such an estimate is pessimistic."
)
SCALES_DIFFER = "The corrected score is on the scale of all rows, the uncorrected one is the mean over folds."
SCALES_MET = (
    "What that changes was measured on configurations that were not chosen for those rows, and subtracted: "
    "corrected and uncorrected score are on the scale of the mean over folds."
)
CONTROL = (
    "Without any choice, {metric} differs by {size} between all rows and the few that a bootstrap leaves out (mean "
    "over {choices} that the bootstraps chose); that is no optimism, and was subtracted."
)


def quantity_given(quantity: str, n_splits: int | None) -> str:
    """The quantity, by how many splits made the predictions (None: not known).

    With a single one, as in a hold-out, there is no expectation over training sets.
    """
    if n_splits is None:
        return quantity.replace(OVER_TRAINING_SETS, TRAINED_AS_THESE)
    return quantity.replace(OVER_TRAINING_SETS, GIVEN_ONE_TRAINING_SET) if n_splits == 1 else quantity


def quantity_sentence(quantity: str, training_rows: float | None) -> str:
    """What a number estimates, from the noun phrase in its provenance."""
    size = "" if training_rows is None else f" Its models were trained on {training_rows:,.0f} rows."
    return f"It estimates {quantity}.{size}"


AGGREGATE_WORDS = {
    "folds": "mean over the folds",
    "pooled": "all held-out rows together",
    "within": "pairs of rows of one fold",
}
