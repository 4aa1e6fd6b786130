"""Metrics: what they are (``base``), which there are, and how they become a configuration's score."""

from heldout.metrics.base import Metric, Needs, Response
from heldout.metrics.custom import custom
from heldout.metrics.named import all_names, check_fits, metric_named

__all__ = ["Metric", "Needs", "Response", "all_names", "check_fits", "custom", "metric_named"]
