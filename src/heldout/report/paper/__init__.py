"""A result as a paragraph of the methods section: what was done, in sentences whose numbers come from the run."""

from heldout.report.paper.estimates import text_of_estimate
from heldout.report.paper.paragraph import methods_text
from heldout.report.paper.searches import evaluation_of_protocol, text_of_search
from heldout.report.paper.validations import text_of_validation

__all__ = ["evaluation_of_protocol", "methods_text", "text_of_estimate", "text_of_search", "text_of_validation"]
