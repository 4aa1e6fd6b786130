"""The report: one self-contained HTML file about a finished search, an estimate or a validation."""

from heldout.report.content import ReportContent
from heldout.report.from_estimate import estimate_content
from heldout.report.from_search import comparison_content, report_content
from heldout.report.from_validation import validation_content
from heldout.report.render import render_html, write_learning_curve, write_report
from heldout.report.validation_content import ValidationContent

__all__ = [
    "ReportContent",
    "ValidationContent",
    "comparison_content",
    "estimate_content",
    "render_html",
    "report_content",
    "validation_content",
    "write_learning_curve",
    "write_report",
]
