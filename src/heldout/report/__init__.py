"""The report: one self-contained HTML file about a finished search, an estimate or a validation."""

from heldout.report.facts import facts, file_facts
from heldout.report.render import render_html, write_learning_curve, write_report

__all__ = ["facts", "file_facts", "render_html", "write_learning_curve", "write_report"]
