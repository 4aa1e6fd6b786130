"""Plans of folds as ``--cv`` writes them."""

from __future__ import annotations

import pytest

from heldout.cli.tune_options import plan_named
from heldout.errors import InputError
from heldout.folds.plans import AutoFolds, BootstrapSamples, HoldOut, KFolds, LeaveOut, PairedHoldOut, Repeated


def test_each_plan_has_a_text() -> None:
    assert plan_named("10") == KFolds(10)
    assert plan_named(" loo ") == LeaveOut()
    assert plan_named("auto") == AutoFolds()
    assert plan_named("bootstrap:20") == BootstrapSamples(20)
    assert plan_named("holdout") == HoldOut()
    assert plan_named("holdout:0.3") == HoldOut(0.3)
    assert plan_named("holdout:1") == HoldOut(1)
    assert plan_named("repeated_holdout:20") == plan_named("repeated-holdout:20:.25") == Repeated(HoldOut(), 20)
    assert plan_named("paired_holdout") == plan_named("paired-holdout:15:.1:10") == PairedHoldOut()
    assert plan_named("paired_holdout:5:0.2") == PairedHoldOut(5, 0.2, 10)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1", "cv must be an integer of at least 2, got 1"),
        ("five", "cv must be a number of folds, auto, loo, holdout"),
        ("auto:3", "got 'auto:3'"),
        ("bootstrap", "got 'bootstrap'"),
        ("bootstrap:0", "times must be an integer of at least 1, got 0"),
        ("holdout:1.5", "test_share must lie between 0 and 1, or be a whole number of rows, got 1.5"),
        ("holdout:a", "got 'holdout:a'"),
        ("holdout:.2:3", "got 'holdout:.2:3'"),
        ("repeated_holdout", "got 'repeated_holdout'"),
        ("repeated_holdout:0", "times must be an integer of at least 1, got 0"),
        ("loo:3", "got 'loo:3'"),
        ("paired_holdout:5:0.2:2:1", "got 'paired_holdout:5:0.2:2:1'"),
        ("paired_holdout:5:0.6", "test_share must be below .5, got 0.6"),
    ],
)
def test_other_texts_are_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        plan_named(text)
