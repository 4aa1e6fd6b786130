"""The names that commands check before anything is imported are those of the parts that the library has."""

from typing import get_args

import numpy as np
import pytest

import heldout as ho
from heldout.data import checks
from heldout.dropping import RULES as DROP_RULES
from heldout.imputation.settings import Order
from heldout.protocols.algorithms.protocol import Deploy
from heldout.protocols.validation.corrections import CORRECTIONS
from heldout.protocols.validation.intervals import IntervalKind
from heldout.readers.formats.recognition import FORMATS
from heldout.search.optuna.feedback import Feedback
from heldout.selection import RULES as SELECTION_RULES
from heldout.selection import rule_of
from heldout.selection.bootstrap_draws import BLOCK_KINDS
from heldout.spaces.regressions import MODELS

PAIRS = {
    "methods": (checks.METHODS, ho.estimates.METHODS),
    "selection": (checks.SELECTION_RULES, SELECTION_RULES),
    "dropping": (checks.DROP_RULES, DROP_RULES),
    "corrections": (checks.CORRECTIONS, CORRECTIONS),
    "regressions": (checks.REGRESSIONS, MODELS),
    "formats": (checks.FORMATS, FORMATS),
    "blocks": (checks.BLOCK_KINDS, BLOCK_KINDS),
    "intervals": (checks.VALIDATION_INTERVALS, get_args(IntervalKind)),
    "orders": (checks.IMPUTATION_ORDERS, get_args(Order)),
    "feedback": (checks.FEEDBACK, get_args(Feedback)),
    "compared": (sorted(checks.COMPARED_SCORES), sorted(get_args(Deploy))),
}


@pytest.mark.parametrize("kind", PAIRS)
def test_names_are_those_of_the_parts(kind: str) -> None:
    names, parts = PAIRS[kind]
    assert list(names) == list(parts)


@pytest.mark.parametrize("value", [0, -1, 1.0, "2", None, True, np.float64(3.0)])
def test_what_is_no_count_is_refused(value: object) -> None:
    with pytest.raises(ho.InputError, match="repeats must be an integer of at least 1, got ") as refused:
        checks.check_count("repeats", value)
    assert refused.value.argument == "repeats"
    checks.check_count("repeats", np.int64(1))


@pytest.mark.parametrize("level", [np.float32(0.9), np.float64(0.5), 0.95])
def test_levels_of_numpy_are_levels(level: float) -> None:
    checks.check_interval_settings(np.int32(10), level, "less")
    with pytest.raises(ho.InputError, match="confidence_level must lie between 0 and 1"):
        checks.check_interval_settings(10, 1 + level, "less")


def test_the_text_of_a_rule_with_a_number_of_numpy_makes_it_again() -> None:
    rule = ho.selection.Within(tolerance=np.float64(0.02))
    assert checks.call_text(rule) == "within(tolerance=0.02)"
    assert rule_of(checks.call_text(rule)) == rule
