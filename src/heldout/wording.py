"""Every statistical sentence that heldout prints, in one place, so that all outputs say the same.

A ``Flag`` is a condition that a reader of a number must know of; its sentence may hold named places that the
raising code fills.
"""

from __future__ import annotations

from enum import StrEnum
from math import isfinite
from typing import Any


class Flag(StrEnum):
    """What a reader of an estimate must know. ``flag.sentence`` says it."""

    sentence: str

    def __new__(cls, value: str, sentence: str) -> Flag:
        member = str.__new__(cls, value)
        member._value_ = value
        member.sentence = sentence
        return member

    UNCORRECTED = (
        "uncorrected",
        "The score is the best of {candidates} configurations on the same predictions that chose it, so it is "
        "optimistic: a corrected method (bbc) takes that out.",
    )
    FAILED_CONFIGURATIONS = (
        "failed_configurations",
        "{failed} of {total} configurations failed and were no candidates: {which}.",
    )
    INCOMPLETE_PREDICTIONS = (
        "incomplete_predictions",
        "The estimate rests on {used} of {total} rows{often}: those predicted for every configuration in the race.",
    )
    FEW_GROUPS = (
        "few_groups",
        "Only {groups} groups were drawn from; with fewer than 10 the interval is unreliable.",
    )
    GROUPS_NOT_GIVEN = (
        "groups_not_given",
        "The search held groups out whole, but no groups= was given here, so single rows are drawn: rows of a "
        "group look more informative than they are, and the interval is too narrow.",
    )
    DEGENERATE_FOLDS = (
        "degenerate_folds",
        "{degenerate} of {total} folds lack {needs}, where {metric} has the value that scikit-learn gives by "
        "convention; larger or stratified folds mean more.",
    )
    UNDEFINED_FOLDS = (
        "undefined_folds",
        "{metric} is undefined in {undefined} of {total} folds (each needs {needs}); the mean leaves them out.",
    )
    MOSTLY_UNDEFINED_FOLDS = (
        "mostly_undefined_folds",
        "In the average bootstrap, {metric} is undefined in {share:.0%} of the folds; pooled scores "
        "(aggregate='pooled') use all rows.",
    )
    OUT_OF_BAG_POOLED = (
        "out_of_bag_pooled",
        "A fold holds fewer than {fewest} rows of {what} ({least}), too few for {metric} on what a bootstrap "
        "leaves out of it, so the rows left out were scored together: the corrected score is on the scale of "
        "all rows, the uncorrected one is the mean over folds.",
    )
    NOT_EXCHANGEABLE = (
        "not_exchangeable",
        "The folds follow the order of time; the bootstrap takes rows as exchangeable, which such rows may not be.",
    )
    TT_BEYOND_RANGE = (
        "tt_beyond_range",
        "The correction carried the score outside the range of {metric}, [{low}, {high}]; it is reported as it is.",
    )
    NO_INTERVAL = ("no_interval", "The method {method} gives no confidence interval.")
    UNDEFINED = ("undefined", "No estimate: {reason}.")
    SELECTION_NOT_REPLAYABLE = (
        "selection_not_replayable",
        "No estimate: the selection rule failed when it was replayed on a bootstrap ({reason}), so what selecting "
        "costs cannot be measured.",
    )
    FEW_BOOTSTRAPS = (
        "few_bootstraps",
        "With {total} bootstraps the interval ends at the most extreme of them; its level needs at least {wanted}, "
        "and 1000 are usual.",
    )
    UNDEFINED_BOOTSTRAPS = (
        "undefined_bootstraps",
        "The metric gave no finite value in {undefined} of {total} bootstraps{why}; the estimate leaves them out.",
    )
    SINGLE_CONFIGURATION = (
        "single_configuration",
        "There was one candidate, so nothing was selected and there is no selection optimism to correct.",
    )
    REDRAWN = (
        "redrawn",
        "{redraws} bootstrap draws lacked {needs} in or out of the bag and were drawn again.",
    )

    def filled(self, **places: Any) -> str:
        """The sentence with its places filled."""
        return self.sentence.format(**places)


QUANTITY_CV = (
    "the expected performance, over training sets of the size of a fold's training part, of the winner as if it "
    "had been chosen beforehand (what choosing it costs is left out of the definition)"
)
QUANTITY_TT = (
    "the expected performance, over training sets of the size of a fold's training part, of the winner of the "
    "search"
)
QUANTITY_BBC = (
    "the expected performance, over training sets of the size of a fold's training part, of the whole search: "
    "tuning on about 63 % distinct rows and then predicting rows that took no part in the choice"
)


def number_text(value: float | None, decimals: int) -> str:
    """A number with a fixed count of decimals, or in few significant digits where that would not show it."""
    if value is None or not isfinite(value):
        return "–"
    if abs(value) >= 1e7:
        return f"{value:.3g}"
    if value and decimals and abs(value) < 0.5 * 10**-decimals:
        return f"{value:.1g}"
    return f"{value:,.{decimals}f}"


def optimism_sentence(
    metric: str, uncorrected: float, value: float, optimism: float, candidates: int, decimals: int = 3
) -> str:
    """What the correction means, in one sentence for a reader who knows no statistics."""
    before, after = number_text(uncorrected, decimals), number_text(value, decimals)
    if candidates == 1:
        return f"One configuration was evaluated, so its {metric} of {before} owes nothing to selection."
    if optimism <= 0:
        return (
            f"Choosing the best of {candidates} configurations did not flatter its {metric}: {before} uncorrected, "
            f"{after} when the choice is replayed on resampled rows."
        )
    return (
        f"Choosing the best of {candidates} configurations made its {metric} look "
        f"{number_text(optimism, decimals)} better than it is likely to be: {before} uncorrected, "
        f"{after} after the correction."
    )


def scores_reversed_sentence(positive: str, other: str, option: str) -> str:
    """Where the whole interval of a ranking metric lies below guessing."""
    return (
        f"The whole interval lies below 0.5, which is guessing: the scores rank rows of class {other} above "
        f"those of class {positive}. If they are scores of class {other}, say --positive {option}."
    )


# --- The report ------------------------------------------------------------------------------------------

METRIC_WORDS: dict[str, tuple[str, str]] = {
    "accuracy": ("Accuracy", "The share of rows whose class was predicted."),
    "balanced_accuracy": ("Balanced accuracy", "The mean, over the classes, of the share of rows predicted right."),
    "f1": ("F1", "The harmonic mean of precision and recall for the positive class."),
    "f1_macro": ("F1, macro", "The harmonic mean of precision and recall, averaged over the classes."),
    "matthews_corrcoef": ("Matthews correlation", "The correlation of true and predicted classes: 0 is chance."),
    "log_loss": ("Log loss", "The mean surprise, in nats, of the true class under the predicted probabilities."),
    "brier_score": ("Brier score", "The mean squared distance of predicted probabilities from what happened."),
    "roc_auc": (
        "ROC AUC",
        "The chance that a random row of the positive class is ranked above a random other row: 0.5 is guessing.",
    ),
    "roc_auc_ovr": ("ROC AUC, one-vs-rest", "The ROC AUC of each class against all others, averaged over classes."),
    "roc_auc_ovo": ("ROC AUC, one-vs-one", "The ROC AUC of each pair of classes, averaged over the pairs."),
    "average_precision": ("Average precision", "The area under the curve of precision over recall."),
    "mean_squared_error": ("Mean squared error", "The mean squared distance of predictions from the truth."),
    "root_mean_squared_error": (
        "Root mean squared error",
        "The root of the mean squared distance of predictions from the truth, in the target's own units.",
    ),
    "mean_absolute_error": (
        "Mean absolute error",
        "The mean distance of predictions from the truth, in the target's own units.",
    ),
    "median_absolute_error": (
        "Median absolute error",
        "Half of the rows are predicted closer than this, in the target's own units.",
    ),
    "r2": ("R²", "The share of the target's variance that is explained: 0 is what predicting the mean gives."),
}
_SAME_METRIC = {
    "brier_score_loss": "brier_score",
    "mcc": "matthews_corrcoef",
    "r2_score": "r2",
    "roc_auc_score": "roc_auc",
    "accuracy_score": "accuracy",
    "balanced_accuracy_score": "balanced_accuracy",
    "f1_score": "f1",
    "average_precision_score": "average_precision",
    "roc_auc_ovr_weighted": "roc_auc_ovr",
    "roc_auc_ovo_weighted": "roc_auc_ovo",
}


def metric_words(name: str) -> tuple[str, str]:
    """A metric's name for people, and what it measures (empty for a metric of the user's own)."""
    own = name.removeprefix("neg_")
    return METRIC_WORDS.get(_SAME_METRIC.get(own, own), (own.replace("_", " "), ""))


def in_sentence(title: str) -> str:
    """A metric's name within a sentence: small letters, except for abbreviations and names of people."""
    first = title.split(" ")[0]
    is_word = first[1:].isalpha() and first[1:].islower()
    return title[:1].lower() + title[1:] if is_word and first not in ("Brier", "Matthews") else title


def direction_sentence(greater_is_better: bool) -> str:
    """Which way is better."""
    return "Higher is better." if greater_is_better else "Lower is better."


def interval_label(confidence_level: float, alternative: str) -> str:
    """What stands before the two ends of an interval."""
    sided = "" if alternative == "two-sided" else "one-sided "
    return f"{confidence_level * 100:.4g} % {sided}confidence interval"


def no_estimate_sentence(title: str) -> str:
    """Where a headline has only the uncorrected score."""
    return (
        f"No corrected {in_sentence(title)} was computed. The uncorrected one is the winner's own cross-validated "
        "score, which is optimistic when there was a choice."
    )


METHOD_SENTENCES: dict[str, str] = {
    "cv": "The score is the winner's own cross-validated score: no correction was made for having chosen it.",
    "tt": (
        "In each fold the winner's score was compared with the best score that any configuration reached there. "
        "The mean of these differences is the optimism, and it was taken off the winner's cross-validated score."
    ),
    "bbc": (
        "The rows were resampled {bootstraps} times. Each time the configuration that is best on the drawn rows "
        "was chosen anew, from the held-out predictions that the search had made anyway, and scored on the rows "
        "that were not drawn. The estimate is the mean of these scores, the interval lies between their "
        "percentiles, and no model was trained for it."
    ),
}


def method_sentence(method: str, bootstraps: int | None) -> str:
    """How a method arrives at its number; empty for one that has no sentence yet."""
    return METHOD_SENTENCES.get(method, "").format(bootstraps=f"{bootstraps or 0:,}")


def distribution_caption(bootstraps: int) -> str:
    """Under the histogram of the bootstrapped scores."""
    return (
        f"Scores of the chosen configuration on the rows left out of each of {bootstraps:,} bootstraps. The shaded "
        "band is the interval, the solid line the corrected score (their mean), the dashed line the uncorrected."
    )


def distribution_summary(title: str, value: str, low: str, high: str, uncorrected: str) -> str:
    """What the histogram shows, for those who cannot see it."""
    return (
        f"Histogram of the bootstrapped {in_sentence(title)}. The corrected score is {value}, the interval runs "
        f"from {low} to {high}, and the uncorrected score is {uncorrected}."
    )


def ranking_sentence(ranked_by: str, selection_known: bool) -> str:
    """How to read the ranking."""
    read = {
        "mean": "Ranked by the mean score over the folds, the spread beside it being the standard deviation.",
        "pooled": "Ranked by the score on all held-out rows together.",
    }[ranked_by]
    if not selection_known:
        return read
    return read + (
        " Selected is how often a configuration was chosen when the choice was replayed on resampled rows: shares "
        "that are spread widely say that the data could hardly tell the configurations apart."
    )


def rest_sentence(rest: int, best: str, worst: str, selected: str) -> str:
    """The configurations below the ranking, in one sentence."""
    subject = "One more configuration" if rest == 1 else f"{rest:,} more configurations"
    scored = f"scored {best}" if best == worst else f"scored from {best} to {worst}"
    return f"{subject} {scored}" + (f", selected in {selected} of the bootstraps." if selected else ".")


def held_out_sentence(name: str, repeats: int, drawn: int, total: int) -> str:
    """What the diagnostic figures rest on."""
    each = "a row is predicted" if repeats == 1 else f"in each of {repeats} repeats a row is predicted"
    sample = "" if drawn == total else f" The scatter plots draw {drawn:,} of the {total:,} rows."
    return (
        f"From the held-out predictions of {name}: {each} only by models that were not trained on it. These "
        f"pictures are not corrected for the choice, so they are as flattering as the uncorrected score.{sample}"
    )


NO_CALIBRATION = "No probabilities of the winner were kept, so there is no calibration to show."
ROC_CAPTION = (
    "How many rows of the positive class are found (true positive rate) at the price of how many false alarms, at "
    "every threshold. The dotted diagonal is guessing."
)
ROC_BY_CLASS_CAPTION = "Each class against all others, at every threshold. The dotted diagonal is guessing."
CALIBRATION_CAPTION = (
    "Rows in groups of equal size by predicted probability: what was predicted against what happened, with 95 % "
    "Wilson intervals. On the dotted diagonal a prediction of 30 % comes true 30 % of the time. The bars count the "
    "predictions."
)
FITTED_CAPTION = "The truth against the prediction; on the dotted diagonal they agree."
RESIDUAL_CAPTION = (
    "Truth minus prediction. The line joins the medians of groups of equal size: where it leaves the dotted zero, "
    "the model is off on the average."
)
CONFUSION_CAPTION = "Rows of each true class (down) by predicted class (across), and as a share of the true class."
CONFUSION_REPEATS = "Counts are means over the repeats."


def residual_sentence(half: str, most: str) -> str:
    """How far predictions are off."""
    return f"Half of the predictions are within {half} of the truth, and 95 % within {most}."


def several_metrics_sentence(refit_metric: str) -> str:
    """How to read a table of several metrics' estimates."""
    name = in_sentence(refit_metric)
    return (
        f"Every metric is estimated for the one configuration that {name} chose, and the choice by {name} is "
        "replayed in each bootstrap."
    )


def quotable_sentence(
    title: str, value: str, interval: str, method: str, configurations: int, folds: str, rows: int, name: str
) -> str:
    """The result as one may quote it."""
    chosen = (
        f"the only configuration evaluated, {name}"
        if configurations == 1
        else f"the configuration selected among {configurations:,}, {name}"
    )
    corrected = "uncorrected for selection"
    if method != "cv":
        corrected = f"corrected for selection by {method_name(method)}"
    return f"{title} of {chosen}: {value}{interval}, {corrected}, from {folds} of {rows:,} rows."


METHOD_NAMES: dict[str, str] = {
    "cv": "cross-validation of the winner",
    "tt": "the method of Tibshirani and Tibshirani",
    "bbc": "bootstrap bias-corrected cross-validation",
}


def method_name(method: str) -> str:
    """A method's name within a sentence."""
    return METHOD_NAMES.get(method, method.replace("_", " "))


def quantity_sentence(quantity: str, training_rows: float | None) -> str:
    """What a number estimates, from the noun phrase in its provenance."""
    size = "" if training_rows is None else f" Its models were trained on {training_rows:,.0f} rows."
    return f"It estimates {quantity}.{size}"


AGGREGATE_WORDS = {"folds": "mean over the folds", "pooled": "all held-out rows together"}
SELECTION_WORDS = {"best": "the best score wins"}
NO_CANDIDATE = "it lacks predictions that others have, and was no candidate"
NO_FINGERPRINT = "none: a parameter has no canonical form"
