"""Sentences of the report on a validation."""

from __future__ import annotations

from collections.abc import Sequence

from heldout._text import number_text
from heldout.metrics.named import in_sentence
from heldout.protocols.words import method_words

INTERVAL_OF_VALIDATION_SENTENCES: dict[str, str] = {
    "location_shifted": (
        "The ends of the interval are percentiles of the scores that the models of the bootstraps have on their "
        "own samples, shifted by the estimated optimism (Noma and others)."
    ),
    "double": (
        "The ends of the interval are percentiles of the corrected score: for every bootstrap sample the whole "
        "correction was computed again, with bootstraps of that sample (Noma and others)."
    ),
    "percentile": "The ends of the interval are percentiles of the scores on rows that the bootstraps left out.",
}
INTERVAL_OF_VALIDATION_WORDS: dict[str, str] = {
    "location_shifted": "shifted percentiles",
    "double": "double bootstrap",
    "percentile": "percentiles of the rows left out",
}
IMPUTATION_ORDERS: dict[str, str] = {
    "boot_mi": "in each bootstrap sample separately, after it was drawn",
    "mi_boot": "once, before the samples were drawn",
    "naive": "once, before everything else, and then treated as data",
}


def validation_sentence(
    metric: str, apparent: float, value: float, optimism: float, method: str, bootstraps: int, decimals: int = 3
) -> str:
    """What the correction means, for a reader who knows no statistics.

    Examples
    --------
    >>> validation_sentence("ROC AUC", 0.85, 0.8, 0.05, "optimism", 200, 2)[:62]
    'On the rows that it was fitted on, the model has an ROC AUC of'
    """
    before, after, much = (number_text(number, decimals) for number in (apparent, value, optimism))
    article = "an" if metric[:1].lower() in "aeiou" or metric[:3] == "ROC" else "a"
    start = f"On the rows that it was fitted on, the model has {article} {metric} of {before}"
    if method in ("optimism", "two_stage"):
        if optimism <= 0:
            return (
                f"{start}. Models fitted on {bootstraps:,} bootstrap samples did not look better on their own "
                f"sample than on all rows; the corrected score is {after}."
            )
        return (
            f"{start}. Models fitted on {bootstraps:,} bootstrap samples looked {much} better on their own "
            f"sample than on all rows; without this optimism it is {after}."
        )
    weighted = "" if method == "oob" else ", combined with the first number"
    return f"{start}. From rows that bootstrap samples left out{weighted}, the corrected score is {after}."


FORMULAS = {
    "oob": " Corrected is out of bag.",
    "632": " Corrected is .368 apparent + .632 out of bag.",
    "632+": (
        " Corrected is (1 - weight) × apparent + weight × out of bag; where out of bag is worse than no "
        "information, no information takes its place."
    ),
}
"""How the corrected score is made of other columns."""


SELECTED_ANEW = (
    "The p-values are pooled over the imputations. Every bootstrap selected anew, so that the optimism of the "
    "selection is subtracted too; the intervals of the coefficients ignore the selection."
)
ADJUSTED_SENTENCE = (
    "The optimism was adjusted by the double bootstrap: each sample's optimism was estimated by bootstraps of the "
    "sample alone, compared with what it is on all rows, and the mean difference was added."
)


def validation_table_sentence(methods: Sequence[str], *, adjusts: bool = False) -> str:
    """How to read the table that users of R's rms know; ``methods`` are those of its rows."""
    columns = (
        "Apparent is the score of the model on the rows that it was fitted on. The next columns are means over the "
        "models of n bootstraps: in bootstrap on their own samples, on original on all rows, and out of bag on the "
        "rows that their samples left out. Optimism"
    )
    if adjusts:
        return (
            f"{columns} is twice how much better in bootstrap is than on original, minus inner optimism (the same "
            "for bootstraps of each bootstrap); it is subtracted from apparent."
        )
    if {*methods} <= {"optimism", "two_stage"}:
        return f"{columns} is how much better in bootstrap is than on original; it is subtracted from apparent."
    # Rows say by which method they are, where there are several.
    of = {each: f" By {method_words(each).name}:" if len(methods) > 1 else "" for each in methods}
    formulas = "".join(of[each] + FORMULAS.get(each, "") for each in methods)
    return f"{columns} is how much better the apparent score is than the corrected one.{formulas}"


def candidates_sentence(title: str, n_models: int, *, two_stages: bool) -> str:
    """How to read the table of several models."""
    best = f"the best corrected {in_sentence(title)}"
    start = f"{n_models} models were bootstrapped on the same samples, and the one with {best} was selected."
    return f"{start} Its score above is from new samples." if two_stages else start


def corrected_curves_sentence(method: str, level: float, *, memorises: bool = False) -> str:
    """How the curves were corrected, and how to read their bands."""
    if memorises:
        return (
            "Every curve was computed for the model of all rows (apparent, dashed), which memorises its rows, and "
            "for the model of each bootstrap on the rows that its sample left out. The mean of the latter is the "
            f"corrected curve (solid), and bands contain the middle {level * 100:.4g} % of them."
        )
    other = (
        ""
        if method in ("optimism", "two_stage")
        else f" So the curves are corrected by the optimism bootstrap, not by {method_words(method).name}, and may "
        "be more optimistic than the score above."
    )
    return (
        "Every curve was computed for the model of all rows (apparent, dashed), and for the model of each "
        "bootstrap on its own sample and on all rows. The mean difference between the latter two was subtracted "
        f"from the first, point by point (corrected, solid).{other} Bands contain the middle {level * 100:.4g} % "
        "of the curves on own samples, shifted by the same difference. A model varies little on the sample it was "
        "fitted to, so the true uncertainty is larger than the bands."
    )


CORRECTED_ROC_CAPTION = (
    "The share of the class that is found (true positive rate) against the share of false alarms. The dotted "
    "diagonal is guessing."
)
CORRECTED_CALIBRATION_CAPTION = (
    "Observed against predicted values, smoothed; on the dotted diagonal they agree. Dots are groups of rows, "
    "uncorrected, and the bars count the predictions. The distance of predictions from the corrected line is "
    "{mean} on average, and less than {most} for nine in ten."
)
DECISION_CAPTION = (
    "The net benefit of acting on rows above each threshold, in true positives per row; the threshold sets the "
    "cost of a false alarm. Acting on no row has net benefit 0."
)


def imputation_sentence(n: int, order: str) -> str:
    """How missing values were imputed."""
    return (
        f"Missing values were imputed {n} times, {IMPUTATION_ORDERS[order]}. A model was fitted on each "
        "completion, and these models were pooled into one."
    )


POOLED_SENTENCE = (
    "Coefficients of the model of all rows, pooled over the imputations by Rubin's rules, with intervals by "
    "Student's t. \"Variance from missing\" is the share of a coefficient's variance that is due to missing values "
    "(λ), not the share of values that are missing."
)
RATIO_SENTENCE = " The intervals are those of the ratios."
