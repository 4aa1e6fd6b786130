"""What the validation of a model says of itself."""

from __future__ import annotations

TWO_STAGE_UNCORRECTED = (
    "The model was chosen from {total} models by its corrected score on these rows, and a new bootstrap of the "
    "chosen one does not take back what choosing adds: the score is a little optimistic. A search over the models, "
    "passed as the model, repeats the choice in every bootstrap."
)
CHOSEN_UNCORRECTED = (
    "The model was chosen from {total} models by the very scores that are reported here, so the best of them is a "
    "little optimistic. A search over the models, passed as the model, repeats the choice in every bootstrap."
)
