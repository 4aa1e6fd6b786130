"""How each protocol arrives at its number, what it estimates, and its titles; and those of every method by name."""

from __future__ import annotations

from collections.abc import Mapping

from heldout.estimates.base import MethodWords
from heldout.estimates.methods import METHODS

QUANTITY_NESTED = (
    "the expected performance, over training sets of the size of an outer fold's training part, of the whole "
    "search: tuning on it, fitting the winner on all of it, and predicting new rows"
)
QUANTITY_ONE_SPLIT = (
    "the performance on new rows of one model: of the configuration that the training part selected, fitted on all "
    "rows of that part"
)
QUANTITY_BOOTSTRAP_SEARCH = (
    "the expected performance of the whole search, the choice among configurations included, over samples drawn "
    "with replacement from such rows: each holds about 63 % of them"
)
QUANTITY_OPTIMISM = (
    "the expected performance on new rows, over training sets of as many rows as these, of models made as this one "
    "was; what was done by hand before is not repeated and not corrected"
)
QUANTITY_OUT_OF_BAG = (
    "the expected performance on new rows, over samples drawn with replacement from such rows, of models made as "
    "this one was: each sample holds about 63 % of the rows, so that it is a little too low where more rows help"
)
QUANTITY_POINT632 = (
    "the expected performance on new rows, over training sets of as many rows as these, of models made as this one "
    "was, from models that saw about 63 % of the rows"
)
QUANTITY_IPL = (
    "the expected performance, over training sets of the size of all rows, of the winner as if it had been chosen "
    "beforehand, if its errors continue to follow the power law of its learning curve"
)

PROTOCOL_WORDS: Mapping[str, MethodWords] = {
    "nested_cv": MethodWords(
        "Nested cross-validation",
        "nested cross-validation",
        (
            "The whole search was repeated once for each outer fold, without its rows. The winner of each search "
            "was fitted on all other rows and scored on those of the fold. The estimate is the mean of these "
            "scores: no row took part in selecting what it scored."
        ),
    ),
    "cross_fitting": MethodWords(
        "Cross-fitting",
        "cross-fitting of the search",
        "",
        tested="docs/understand/adaptive-searches.md",
    ),
    "bootstrap_search": MethodWords(
        "Bootstrap of the whole search",
        "the bootstrap of the whole search",
        (
            "The rows were drawn with replacement {bootstraps} times. Each time the whole search was run on the "
            "drawn rows, its winner was fitted on all of them and scored on the rows that were not drawn, which "
            "had no part in it. The estimate is the mean of these scores, and the interval lies between their "
            "percentiles."
        ),
    ),
    "bootstrap_search_models": MethodWords(
        "Bootstrap of all models",
        "the bootstrap of all models",
        (
            "The rows were drawn with replacement {bootstraps} times, and every configuration was fitted on each "
            "sample. For each sample a configuration was chosen by how the models of the other samples predicted "
            "the rows that it drew; that configuration's model of this sample was scored on the rows that were not "
            "drawn. The estimate is the mean of these scores, and the interval lies between their percentiles."
        ),
    ),
    "cross_fitted": MethodWords(
        "Cross-fitted",
        "searches without the rows that score them",
        "",  # its flag says it, with the numbers of the search
    ),
    "ipl": MethodWords(
        "Inverse power law",
        "the inverse power law of its learning curve",
        (
            "Every configuration was trained on random parts of the rows, of several sizes, and tested on the "
            "other rows. The winner is the best at the largest size; its mean errors at all sizes were fitted by "
            "an inverse power law, and the estimate is that curve carried on to all rows."
        ),
    ),
    "optimism": MethodWords(
        "Optimism bootstrap",
        "the optimism bootstrap",
        (
            "The rows were drawn with replacement {bootstraps} times, and the model was fitted on each sample as "
            "on all rows. By how much these models scored better on their own sample than on all rows, in the "
            "mean, is the optimism, and it was subtracted from the score that the model has on its own rows."
        ),
    ),
    "two_stage": MethodWords(
        "Two-stage optimism bootstrap",
        "the two-stage optimism bootstrap",
        (
            "The rows were drawn with replacement {bootstraps} times, each model was fitted on each sample, and "
            "the one of the best corrected score was chosen. It was then bootstrapped by new samples: by "
            "how much its models scored better on their own sample than on all rows, in the mean, is the optimism, "
            "and it was subtracted from the score that the model has on its own rows."
        ),
    ),
    "oob": MethodWords(
        "Out-of-bag bootstrap",
        "the out-of-bag bootstrap",
        (
            "The rows were drawn with replacement {bootstraps} times, the model was fitted on each sample, and "
            "each row was scored by the models whose samples left it out. No row took part in fitting what it "
            "scored."
        ),
    ),
    "632": MethodWords(
        ".632 bootstrap",
        "the .632 bootstrap",
        (
            "The rows were drawn with replacement {bootstraps} times, and the model was fitted on each sample. The "
            "estimate is .368 times the score that the model has on its own rows, which flatters it, and .632 "
            "times that of the rows that the samples left out, whose models saw fewer different rows."
        ),
    ),
    "632+": MethodWords(
        ".632+ bootstrap",
        "the .632+ bootstrap",
        (
            "The rows were drawn with replacement {bootstraps} times, and the model was fitted on each sample. The "
            "estimate lies between the score that the model has on its own rows and that of the rows that the "
            "samples left out, the nearer to the latter the more of the way from the first to a score without any "
            "information lies between the two."
        ),
    ),
}


def frequency_sentence(shares: Mapping[str, float]) -> str:
    """How often the bootstraps kept each term, the commonest first.

    Examples
    --------
    >>> frequency_sentence({"noise": 0.125, "age": 1.0})
    'Kept in the bootstraps: age 100%, noise 12%.'
    """
    ordered = sorted(shares.items(), key=lambda item: -item[1])
    return f"Kept in the bootstraps: {', '.join(f'{name} {share:.0%}' for name, share in ordered)}."


def method_words(name: str) -> MethodWords:
    """The words of a method or protocol; of a method of the user's own just its name."""
    if name in METHODS:
        return METHODS[name]().words
    return PROTOCOL_WORDS.get(name) or MethodWords(name, name.replace("_", " "), "")
