"""Which protocol to use for one search, with the evidence."""

from heldout.studies.advice.asking import advise
from heldout.studies.advice.result import Advice

__all__ = ["Advice", "advise"]
