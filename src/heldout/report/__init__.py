"""The report: one self-contained HTML file about a finished search or an estimate."""

from heldout.report.content import ReportContent
from heldout.report.gathering import report_content
from heldout.report.gathering_estimate import estimate_content
from heldout.report.render import render_html, write_report

__all__ = ["ReportContent", "estimate_content", "render_html", "report_content", "write_report"]
