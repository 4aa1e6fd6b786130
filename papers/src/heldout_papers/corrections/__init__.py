"""A test bed for corrections: any method of estimation is scored where the truth is known."""

from heldout_papers.corrections.matrix import BedCell, KnownMatrix
from heldout_papers.corrections.result import CorrectionsStudy
from heldout_papers.corrections.scores import score_methods
from heldout_papers.corrections.study import corrections
from heldout_papers.corrections.tables_result import TablesStudy

__all__ = ["BedCell", "CorrectionsStudy", "KnownMatrix", "TablesStudy", "corrections", "score_methods"]
