"""Which protocol and which method to use for one search, with the evidence."""

from heldout.advice.adviser import Advice, advise
from heldout.advice.recommendation import Recommendation, recommendation

__all__ = ["Advice", "Recommendation", "advise", "recommendation"]
