"""How each protocol arrives at its number, what it estimates, and its titles; and those of every method by name."""

from collections.abc import Mapping

from heldout.estimates.base import MethodWords
from heldout.estimates.methods import METHODS
from heldout.estimates.types import Estimate

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
        "The whole search was repeated without each outer fold, its winner was scored on that fold, and the "
        "estimate was the mean of these scores.",
    ),
    "cross_fitting": MethodWords("Cross-fitting", "cross-fitting", ""),
    "bootstrap_search": MethodWords(
        "Bootstrap of the whole search",
        "the bootstrap of the whole search",
        "The whole search was repeated on {bootstraps} bootstrap samples of the data, each winner was scored "
        "on the data outside its sample, and the estimate was the mean of these scores with their percentiles "
        "as confidence limits.",
    ),
    "bootstrap_search_models": MethodWords(
        "Bootstrap of all models",
        "the bootstrap of all models",
        "All configurations were fitted on {bootstraps} bootstrap samples of the data, for each sample one was "
        "selected by the models of the other samples and scored on the data outside the sample, and the "
        "estimate was the mean of these scores with their percentiles as confidence limits.",
    ),
    "cross_fitted": MethodWords("Cross-fitted", "cross-fitting", ""),  # its flag has the numbers of the search
    "ipl": MethodWords(
        "Inverse power law",
        "the inverse power law of its learning curve",
        "The winner was the best configuration at the largest of several training sizes, and an inverse power "
        "law fitted to its mean errors at all sizes was extrapolated to all rows.",
    ),
    "optimism": MethodWords(
        "Optimism bootstrap",
        "the optimism bootstrap",
        "The model was refitted on {bootstraps} bootstrap samples, and the mean difference between its "
        "performance on its own sample and on the original data (the optimism) was subtracted from the "
        "apparent performance.",
    ),
    "two_stage": MethodWords(
        "Two-stage optimism bootstrap",
        "the two-stage optimism bootstrap",
        "The models were refitted on {bootstraps} bootstrap samples to choose the one with the best corrected "
        "performance, whose optimism was then estimated from new bootstrap samples.",
    ),
    "oob": MethodWords(
        "Out-of-bag bootstrap",
        "the out-of-bag bootstrap",
        "The model was refitted on {bootstraps} bootstrap samples and scored on the data outside its sample.",
    ),
    "632": MethodWords(
        ".632 bootstrap",
        "the .632 bootstrap",
        "The model was refitted on {bootstraps} bootstrap samples, and the estimate was .368 times the "
        "apparent performance plus .632 times the performance on the data outside the samples.",
    ),
    "632+": MethodWords(
        ".632+ bootstrap",
        "the .632+ bootstrap",
        "The model was refitted on {bootstraps} bootstrap samples, and the estimate was a weighted mean of the "
        "apparent performance and that on the data outside the samples, with more weight on the latter the "
        "more the model overfitted.",
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


def how_sentence(estimate: Estimate) -> str:
    """How the method of an estimate arrived at its number; empty for one of the user's own."""
    provenance, drawn = estimate.provenance, estimate.distribution
    how = method_words(estimate.method).sentence(
        provenance.get("n_bootstraps") if drawn is None else len(drawn),
        alone=provenance.get("n_candidates") == 1 and estimate.method in METHODS,
    )
    choosing, scoring = provenance.get("n_rows_choosing"), provenance.get("n_rows_evaluated")
    finalists = int(provenance.get("n_finalists", 1))
    if choosing is None or scoring is None:
        return how
    if choosing == 0:
        return f"The configuration had been named beforehand. {how}"
    chosen = "the configuration was selected" if finalists == 1 else f"{finalists} finalists were preselected"
    scored = "it was scored" if finalists == 1 else "the best of them was scored, with a correction for this choice"
    part = f"On {choosing:,} of the held-out predictions {chosen}, and on the other {scoring:,} {scored}."
    return f"{part} {how}"
