"""The sentences of the report on a validation."""

from __future__ import annotations

from heldout._text import counted, number_text
from heldout.metrics.words import in_sentence
from heldout.protocols.words import method_words

INTERVAL_OF_VALIDATION_SENTENCES: dict[str, str] = {
    "location_shifted": (
        "The interval lies between percentiles of the scores that the models of the bootstraps have on their own "
        "samples, moved by as much as the score was corrected (Noma and others)."
    ),
    "double": (
        "The interval lies between percentiles of the corrected score: in every bootstrap the whole correction was "
        "computed anew, by bootstraps of its sample (Noma and others)."
    ),
    "percentile": "The interval lies between percentiles of the scores of the rows that the bootstraps left out.",
}
INTERVAL_OF_VALIDATION_WORDS: dict[str, str] = {
    "location_shifted": "shifted percentiles",
    "double": "double bootstrap",
    "percentile": "percentiles of the rows left out",
}
IMPUTATION_ORDERS: dict[str, str] = {
    "boot_mi": "each bootstrap sample anew, after it was drawn",
    "mi_boot": "once, before the samples were drawn",
    "naive": "once, before everything, and taken for data",
}


def validation_sentence(
    metric: str, apparent: float, value: float, optimism: float, method: str, bootstraps: int, decimals: int = 3
) -> str:
    """What the correction means, in few words for a reader who knows no statistics.

    Examples
    --------
    >>> validation_sentence("ROC AUC", 0.85, 0.8, 0.05, "optimism", 200, 2)[:74]
    'Scored on the rows that it was fitted on, the model has an ROC AUC of 0.85'
    """
    before, after, much = (number_text(number, decimals) for number in (apparent, value, optimism))
    article = "an" if metric[:1].lower() in "aeiou" or metric[:3] == "ROC" else "a"
    start = f"Scored on the rows that it was fitted on, the model has {article} {metric} of {before}"
    if method in ("optimism", "two_stage"):
        if optimism <= 0:
            return (
                f"{start}. Models fitted on {bootstraps:,} bootstrap samples did not look better on their own "
                f"sample than on all rows, and on new rows {after} is to be expected."
            )
        return (
            f"{start}. Models fitted on {bootstraps:,} bootstrap samples looked {much} better on their own "
            f"sample than on all rows; without this optimism it is {after}."
        )
    weighed = "" if method == "oob" else ", weighed with the first number"
    return f"{start}. By rows that the samples of such models left out{weighed}, it is {after} on new rows."


def no_validation_sentence(title: str, reason: str = "") -> str:
    """Where a headline has only the apparent score."""
    told = f" {reason}" if reason else ""
    return (
        f"No corrected {in_sentence(title)} was computed.{told} The apparent one is of the rows that the model was "
        "fitted on, which flatters it."
    )


def quotable_validation_sentence(
    title: str, value: str, interval: str, apparent: str, method: str, bootstraps: int, rows: int, model: str
) -> str:
    """The result as one may quote it."""
    return (
        f"{title} of {model}: {value}{interval}, corrected for optimism by {method_words(method).name} "
        f"({bootstraps:,} samples) from {apparent} apparent, on {counted_rows(rows)}."
    )


def counted_rows(rows: int) -> str:
    """'1 row', '1,200 rows'."""
    return f"{rows:,} {'row' if rows == 1 else 'rows'}"


def validation_table_sentence(method: str) -> str:
    """How to read the table that users of R's rms know."""
    read = (
        "Apparent is the score of the model on the rows that it was fitted on. In bootstrap and on original are "
        "means over the models of n bootstraps, on their own samples and on all rows; out of bag is on the rows "
        "that their samples left out. Optimism"
    )
    if method in ("optimism", "two_stage"):
        return f"{read} is by how much in bootstrap is better than on original; it is taken off the apparent score."
    made = " Corrected is .368 apparent + .632 out of bag." if method == "632" else ""
    return f"{read} is by how much the apparent score is better than the corrected one.{made}"


def candidates_sentence(title: str, n_models: int, *, two_stages: bool) -> str:
    """How to read the table of several models."""
    best = f"the best corrected {in_sentence(title)}"
    start = f"{n_models} models were bootstrapped on the same samples, and {best} chose"
    if two_stages:
        return f"{start} one. New samples then estimated it, and its score above is of those."
    return f"{start} one."


OPTIMISM_CAPTION = (
    "By how much each bootstrap's model looked better on its own sample than on all rows. The solid line is their "
    "mean, the optimism; the dotted one is none."
)
LEFT_OUT_CAPTION = (
    "By how much each bootstrap's model looked better on its own sample than on the rows that the sample left out. "
    "The solid line is their mean; the dotted one is no difference."
)


def optimism_summary(title: str, least: str, most: str, mean: str, bootstraps: int) -> str:
    """What the histogram of the optimism shows, for those who cannot see it."""
    return (
        f"Histogram of the optimism of the {in_sentence(title)} in {bootstraps:,} bootstraps, from {least} to "
        f"{most}, in the mean {mean}."
    )


def corrected_curves_sentence(method: str, level: float) -> str:
    """How the curves were corrected, and how their bands are to be read."""
    other = (
        ""
        if method in ("optimism", "two_stage")
        else f" So the curves are corrected by the optimism bootstrap, not by {method_words(method).name}, and may "
        "be more flattering than the score above."
    )
    return (
        "Every curve was drawn for the model of all rows (apparent, dashed), and for the model of each bootstrap "
        "on its own sample and on all rows. The mean difference of the latter two, point by point, was taken off "
        f"the first (corrected, solid).{other} Bands hold the middle {level * 100:.4g} % of the curves on own "
        "samples, moved as far. A model that is fitted to its sample hardly varies there, so that they are the "
        "least uncertainty to reckon with."
    )


CORRECTED_ROC_CAPTION = (
    "How many rows of the class are found (true positive rate) at the price of how many false alarms. The dotted "
    "diagonal is guessing."
)
CORRECTED_CALIBRATION_CAPTION = (
    "What was observed over what was predicted, smoothed; on the dotted diagonal they agree. Dots are groups of "
    "rows, uncorrected, and the bars count the predictions. Predictions are off the corrected line by {mean} in "
    "the mean, and nine in ten by less than {most}."
)
DECISION_CAPTION = (
    "What acting on rows above each threshold is worth, in true positives a row, where a false alarm costs as the "
    "threshold says. Acting on nobody is worth 0."
)


def imputation_sentence(n: int, order: str) -> str:
    """How missing values were dealt with."""
    return (
        f"Missing values were imputed {n} times, {IMPUTATION_ORDERS[order]}. A model was fitted on each "
        "completion, and these were pooled into one."
    )


def coefficients_sentence(n: int, level: float) -> str:
    """How to read pooled coefficients."""
    return (
        f"Coefficients of the model of all rows, pooled over {n} imputations by Rubin's rules, with "
        f'{level * 100:.4g} % intervals by Student\'s t. "Variance from missing" is the share of a '
        "coefficient's variance that is owed to missing values (λ), not the share of values that are missing."
    )


def failures_sentence(failed: int, total: int) -> str:
    """What became of replicates without a model."""
    return f"{failed:,} of {counted(total, 'bootstrap')} gave no model; they are left out of all means."
