"""Which protocol and which method to use for one search, with the evidence."""

from heldout.advice.adviser import advise
from heldout.advice.recommendation import Recommendation, recommendation
from heldout.advice.result import Advice

__all__ = ["Advice", "Recommendation", "advise", "recommendation"]
