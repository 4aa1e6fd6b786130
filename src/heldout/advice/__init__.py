"""Which protocol to use for one search, with the evidence."""

from heldout.advice.adviser import advise
from heldout.advice.result import Advice

__all__ = ["Advice", "advise"]
