"""Plans of folds as ``--cv`` writes them."""

from heldout.cli.fold_options import plan_named
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
