"""What the library says of its arguments, in the words of the options."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import heldout as ho
from heldout.cli.option_words import in_options
from heldout.dropping import drop_rule_of
from heldout.estimates import METHODS
from heldout.execution.executors.from_joblib import check_fit_timeout


@pytest.mark.parametrize(
    "value", ["racing(threshold=0.5)", "cv=3", "x, or a rule of ho.dropping, got y"], ids=["rule", "cv", "words"]
)
def test_what_was_given_is_quoted_as_it_was_given(value: str) -> None:
    with pytest.raises(ho.InputError) as caught:
        drop_rule_of(value)
    assert in_options(str(caught.value)) == (
        "--drop must be one of never, bootstrap, hoeffding_race, paired, sequential, wilcoxon, with parameters as "
        f"in 'bootstrap(threshold=0.95)', got {value!r}."
    )


def test_what_python_alone_can_say_is_left_out() -> None:
    with pytest.raises(ho.InputError) as caught:
        check_fit_timeout(-1.0)
    assert in_options(str(caught.value)) == "--fit-timeout must be a number of seconds above 0, got -1.0."
    failed = "all 3 configurations failed; mend them, or use error_score='raise' to see the first error in full: no"
    assert in_options(failed) == "all 3 configurations failed; mend them: no"


def test_what_follows_a_value_is_translated_too() -> None:
    assert in_options("cv must be 5, got 'cv=3'; use cv=5") == "--cv must be 5, got 'cv=3'; use --cv 5"


def test_python_code_becomes_an_option_or_stays_whole() -> None:
    said = METHODS["wmc"]().unfit(SimpleNamespace(fold_scores=None, test_share=None))
    assert in_options(said).endswith(": search with heldout tune --cv repeated_holdout:50:0.2")
    assert in_options("use cv=ho.protocols.repeated_hold_out(50, 0.2), or method='bbc'.") == (
        "use --cv repeated_holdout:50:0.2, or --method bbc."
    )
    assert in_options("use cv=KFold(3) or cv=3") == "use cv=KFold(3) or --cv 3"
