"""What is said of learning curves."""

from __future__ import annotations

QUANTITY_IPL = (
    "the expected performance, over training sets of the size of all rows, of the winner as if it had been chosen "
    "beforehand, if its errors go on to follow the power law of its learning curve"
)
