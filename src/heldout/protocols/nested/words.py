"""Sentences on nested cross-validation: its outer folds, their choices, and its intervals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heldout.metrics.named import in_sentence

INTERVAL_SENTENCES: dict[str, str] = {
    "nadeau_bengio": (
        "The interval is that of Nadeau and Bengio, of the scores of the outer folds: Student's t, with a variance "
        "that is widened because the outer folds share training rows."
    ),
    "bootstrap": (
        "The interval is from bootstraps of the rows that the outer folds predicted. Their spread is widened "
        "because the models of the folds share training rows."
    ),
    "bates_hastie_tibshirani": (
        "The interval is that of Bates, Hastie and Tibshirani: searches that left two folds out measured by how "
        "much the scores of rows vary together, and how much better more training rows make the search; it lies "
        "around the score at all training rows, not around the estimate."
    ),
}
_OF_THE_TEST_PART = "of the rows of the test part, which took no part in training or selection."
INTERVAL_SENTENCES |= {
    "clopper_pearson": f"The interval is the exact binomial one (Clopper and Pearson) {_OF_THE_TEST_PART}",
    "delong": f"The interval is that of DeLong {_OF_THE_TEST_PART}",
    "naive_bootstrap": f"The interval lies between percentiles of the score under bootstraps {_OF_THE_TEST_PART}",
}
TEST_PART_WORDS = {
    "clopper_pearson": "Clopper and Pearson (exact binomial)",
    "delong": "DeLong",
    "naive_bootstrap": "bootstrap of rows",
}
INNER_WORDS = {
    "remaining": "the other outer folds, each in turn",
    "holdout": "one development set, of as many rows as an outer fold",
}
ACROSS_SENTENCE = (
    "The whole search was repeated once for each outer fold, without its rows. The one configuration with the best "
    "mean over the inner folds of all these searches was fitted on the rows that each outer fold left and scored "
    "on the fold. The score is the mean of these; the choice had seen the same rows."
)
ONE_SPLIT_SENTENCE = (
    "One part of the rows was held out for the estimate, and the search ran on the others. Its winner was fitted "
    "on all of these and scored once, on the part that was held out: no row took part in selecting what it scored."
)
ACROSS_WORDS = {"folds": "", "all": "one configuration for all outer folds"}
INTERVAL_WORDS = {
    "nadeau_bengio": "Nadeau and Bengio", "bates_hastie_tibshirani": "Bates, Hastie and Tibshirani",
    "test_part": "the rows of the test part", "bootstrap": "bootstrap of the rows that the outer folds predicted",
}  # fmt: skip


def nested_sentence(provenance: Mapping[str, Any]) -> str:
    """How the number was computed, where it was not by the usual nested cross-validation; empty where it was."""
    if provenance.get("n_outer_folds") == 1:
        return ONE_SPLIT_SENTENCE
    return ACROSS_SENTENCE if provenance.get("across") == "all" else ""


ALONE = "There is one configuration, so the folds choose nothing outside its own fits and need no inner score."
"""In place of how far the outer folds chose alike."""


def outer_folds_sentence(n_folds: int, n_repeats: int, *, one_for_all: bool = False, is_alone: bool = False) -> str:
    """How to read the table of outer folds; ``is_alone``: of one configuration."""
    repeats = "" if n_repeats == 1 else f" ({n_repeats} repeats)"
    if n_folds == 1:
        winner = "The configuration" if is_alone else "The winner of the search on the other rows"
        inner = (
            "" if is_alone else " The inner score is the one that the winner was chosen for, so it is flattering."
        )
        return f"There is one split. {winner} was fitted on all rows outside its test part and scored on it.{inner}"
    if is_alone:
        return (
            f"The configuration was fitted {n_folds:,} times{repeats}, each time without the rows of one outer "
            "fold, and scored on the fold."
        )
    fitted = (
        "The one configuration that was best over all inner folds was fitted on the other rows and scored on it"
        if one_for_all
        else "The winner was fitted on all of the other rows and scored on the fold"
    )
    flattering = (
        "Both scores are that configuration's, and both are optimistic: the inner folds of all outer folds, for "
        "which it "
        "was chosen, tested the same rows"
        if one_for_all
        else "The inner score is the one that the winner was chosen for, so it is flattering; the outer score is "
        "not"
    )
    return (
        f"The search was repeated {n_folds:,} times{repeats}, each time without the rows of one outer fold. "
        f"{fitted}. {flattering}."
    )


def agreement_sentence(
    share: float, n_chosen: int, n_folds: int, *, is_deployed: bool, one_for_all: bool = False
) -> str:
    """How far the outer folds chose alike, and what that means."""
    if n_chosen == 0:
        return "No outer fold found a winner."
    if n_folds == 1:
        return "One search made the choice." + (" The same configuration is deployed." if is_deployed else "")
    if n_chosen == 1:
        alike = f"All {n_folds:,} outer folds chose the same configuration"
        return f"{alike}, which is also the one that is deployed." if is_deployed else f"{alike}."
    differ = (
        f"The outer folds chose {n_chosen:,} different configurations, the commonest in {share:.0%} of them: the "
        "more they differ, the less the data can tell these apart."
    )
    if one_for_all:
        return f"{differ} What is deployed is the configuration that was best over all inner folds."
    return (
        f"{differ} The estimate is of the search as a whole, whichever it chooses; the configuration that is "
        "deployed is the winner of the search on all rows."
    )


def inner_against_outer_sentence(metric: str, inner: str, outer: str, *, one_for_all: bool = False) -> str:
    """The two mean scores side by side."""
    whose = "that configuration" if one_for_all else "the winners"
    return f"The mean {in_sentence(metric)} of {whose} was {inner} inside and {outer} outside."
