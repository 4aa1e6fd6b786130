"""Submodels: one fit that contains the predictions of many configurations."""

from heldout.spaces.submodels.base import (
    ClosedForm,
    Exactness,
    SeparateFitsError,
    SubmodelFamily,
    Submodels,
    Subtransformers,
)
from heldout.spaces.submodels.registry import closed_form_of, family_of, register_submodels

__all__ = [
    "ClosedForm",
    "Exactness",
    "SeparateFitsError",
    "SubmodelFamily",
    "Submodels",
    "Subtransformers",
    "closed_form_of",
    "family_of",
    "register_submodels",
]
