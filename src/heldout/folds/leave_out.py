"""Leave-one-out: every row, or every group, is tested by itself."""

from __future__ import annotations

from dataclasses import dataclass

from sklearn.model_selection import LeaveOneGroupOut, LeaveOneOut

from heldout.folds.plans import FoldPlan, Splitter


@dataclass(frozen=True)
class LeaveOut(FoldPlan):
    """Leave-one-out: every row is tested by itself; with groups, every group.

    Examples
    --------
    >>> LeaveOut().get_n_splits([[0]] * 12), LeaveOut().get_n_splits([[0]] * 4, groups=[0, 0, 1, 1])
    (12, 2)
    """

    @property
    def words(self) -> str:
        return "leave-one-out"

    @property
    def is_shuffled(self) -> bool:
        return False

    def of_round(self, seed: int, *, stratified: bool, grouped: bool) -> Splitter:
        return LeaveOneGroupOut() if grouped else LeaveOneOut()


def leave_one_out() -> FoldPlan:
    """Every row tested by itself; with groups, every group.

    Metrics that need several rows (AUC, R²) are undefined in such a fold: use it with ``aggregate="pooled"``.

    Returns
    -------
    FoldPlan
        For ``cv=`` of searches and protocols.

    Examples
    --------
    >>> leave_one_out().words
    'leave-one-out'
    """
    return LeaveOut()
