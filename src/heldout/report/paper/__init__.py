"""A result as a paragraph of the methods section: what was done, in sentences whose numbers come from the run."""

from heldout.report.paper.paragraph import (
    evaluation_of_protocol,
    methods_text,
    text_of_estimate,
    text_of_search,
    text_of_validation,
)

__all__ = ["evaluation_of_protocol", "methods_text", "text_of_estimate", "text_of_search", "text_of_validation"]
