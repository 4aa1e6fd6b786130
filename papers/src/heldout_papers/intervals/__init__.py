"""How often one-sided intervals hold the truth, and how tight they are, where the truth is known."""

from heldout_papers.intervals.methods import METHODS, SELECTORS
from heldout_papers.intervals.on_tables import intervals_on_tables
from heldout_papers.intervals.setting import IntervalSetting
from heldout_papers.intervals.study import IntervalStudy, intervals
from heldout_papers.intervals.tables_result import IntervalsOnTables

__all__ = [
    "METHODS",
    "SELECTORS",
    "IntervalSetting",
    "IntervalStudy",
    "IntervalsOnTables",
    "intervals",
    "intervals_on_tables",
]
