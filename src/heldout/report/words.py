"""Sentences of the report, some of which the command line prints too."""

from __future__ import annotations

from collections.abc import Sequence

from heldout import _defaults
from heldout._text import number_text
from heldout.dropping.words import last_one_sentence
from heldout.metrics.named import in_sentence
from heldout.protocols.words import method_words

_CHOOSING = {
    "best": "Choosing the best of",
    "top_k": "Building an ensemble from",
    "greedy_ensemble": "Building an ensemble from",
    "threshold": "Tuning the decision threshold of",
}
_AFTER = {
    "shrinkage": "after the correction",
    "bbc": "when the choice is replayed on resampled rows",
    "bbc_f": "when the choice is replayed on resampled folds",
    "tt": "after the correction",
    "nested_cv": "when the whole search is repeated without the rows that score it",
    "cross_fitted": "when a shorter search is repeated without the rows that score it",
}


NEGLIGIBLE = 0.05
"""Of the width of the interval: a smaller optimism changes nothing that one would report."""


def optimism_sentence(
    metric: str,
    uncorrected: float,
    value: float,
    optimism: float,
    candidates: int,
    decimals: int = 3,
    method: str = _defaults.METHOD,
    selection: str = _defaults.SELECTION,
    finalists: int = 1,
    dropped: int = 0,
    width: float = 0.0,
) -> str:
    """What the correction means, for a reader who knows no statistics.

    One sentence where the optimism is less than ``NEGLIGIBLE`` of the ``width`` of the interval.

    A two-part method selects among ``finalists`` on the rows that give the value. The configurations that the
    search ``dropped`` early are no candidates.
    """
    configurations = "1 configuration" if candidates == 1 else f"{candidates} configurations"
    if dropped:
        configurations += f" ({dropped:,} more {'was' if dropped == 1 else 'were'} dropped early)"
    choice = f"{_CHOOSING.get(selection, 'Choosing among')} {configurations}"
    before, after = number_text(uncorrected, decimals), number_text(value, decimals)
    if candidates == 1 and dropped and selection != "threshold":
        return last_one_sentence(metric, after, dropped)
    if candidates == 1 and selection != "threshold":
        return (
            f"One configuration was evaluated, so selection cannot have made its {metric} of {before} optimistic."
        )
    if finalists > 1:
        return (
            f"Of {configurations}, {finalists} finalists were selected on one part of the rows, and the {metric} "
            f"of the best of them is {after} on the others ({before} on all rows, uncorrected). The best one was "
            "selected there too, so the value is still optimistic; only the interval allows for that."
        )
    if optimism <= 0:
        return (
            f"{choice} did not make its {metric} optimistic: {before} uncorrected, {after} "
            f"{_AFTER.get(method, 'on rows that were not used for the choice')}."
        )
    if optimism < NEGLIGIBLE * width:
        return (
            f"There is nothing to correct here: {choice[0].lower()}{choice[1:]} changed its {metric} by "
            f"{number_text(optimism, decimals)}, far less than the interval is wide."
        )
    if before == after:
        return f"{choice} hardly made its {metric} optimistic: {before} before and after the correction."
    return (
        f"{choice} made its {metric} look {number_text(optimism, decimals)} better than it is likely to be: "
        f"{before} uncorrected, {after} after the correction."
    )


def named_sentence(metric: str, value: float, decimals: int = 3) -> str:
    """The sentence on a configuration that was named beforehand."""
    return (
        "The configuration was named before its predictions were seen, so selection cannot have made its "
        f"{metric} of {number_text(value, decimals)} optimistic."
    )


def level_and_sides(confidence_level: float, alternative: str) -> str:
    """The text before the two ends of an interval."""
    sided = "" if alternative == "two-sided" else "one-sided "
    return f"{confidence_level * 100:.4g} % {sided}confidence interval"


def no_estimate_sentence(title: str) -> str:
    """For a headline that has only the uncorrected score."""
    return (
        f"No corrected {in_sentence(title)} was computed. The uncorrected one is the winner's own cross-validated "
        "score, which is optimistic if there was a choice."
    )


_DISTRIBUTIONS = {
    "shrinkage": (
        "The winner's score, less what chance added to that of the chosen configuration in each of {bootstraps} "
        "bootstraps."
    ),
    "bbc": "Scores of the chosen configuration on the rows left out of each of {bootstraps} bootstraps.",
    "bbc_f": "Mean scores of the chosen configuration over the folds left out of each of {bootstraps} bootstraps.",
    "naive_bootstrap": "Scores of the winner on each of {bootstraps} bootstraps; the choice was not replayed.",
}

_NO_PERCENTILES = (
    " The ends of the interval are not percentiles of these scores: it also allows for folds that share training "
    "rows, and for an optimism that is itself estimated."
)


def distribution_caption(bootstraps: int, method: str = _defaults.METHOD) -> str:
    """The caption of the histogram of bootstrapped scores."""
    known = _DISTRIBUTIONS.get(method, "Scores of each of {bootstraps} bootstraps.")
    line = "the corrected score (their mean)" if method in ("shrinkage", "bbc", "bbc_f") else "the estimate"
    more = _NO_PERCENTILES if method == "shrinkage" else ""
    return (
        f"{known.format(bootstraps=f'{bootstraps:,}')} The shaded band is the interval, the solid line {line}, the "
        f"dashed line the uncorrected.{more}"
    )


def distribution_label(bootstraps: int, method: str) -> str:
    """What the bootstrapped scores are, in the key of a figure."""
    what = {
        "shrinkage": "score less what chance added",
        "bbc": "score on rows left out",
        "bbc_f": "score on folds left out",
        "naive_bootstrap": "score of the winner",
    }.get(method, "score")
    return f"{what}, in each of {bootstraps:,} bootstraps"


def ranking_sentence(ranked_by: str, selection_known: bool, *, weighs: bool = False) -> str:
    """How to read the ranking; with ``weighs`` the rule selects weights of the configurations."""
    read = {
        "split": "Ranked by the score on the held-out rows of the only split.",
        "mean": "Ranked by the mean score over the folds; SD is the standard deviation of its scores in the folds.",
        "pooled": "Ranked by the score on all held-out rows together.",
        "within": "Ranked by the score on pairs of rows in the same fold.",
    }[ranked_by]
    if not selection_known:
        return read
    if weighs:
        return f"{read} Selected is a configuration's mean weight in ensembles built on resampled rows."
    return read + (
        " Selected is how often a configuration was chosen when the choice was replayed in the bootstraps: if the "
        "shares are spread over many configurations, the data hardly distinguish them."
    )


def rest_sentence(rest: int, best: str, worst: str, selected: str, *, weighs: bool = False) -> str:
    """The configurations that the ranking does not list, in one sentence."""
    subject = "One more configuration" if rest == 1 else f"{rest:,} more configurations"
    scored = f"scored {best}" if best == worst else f"scored from {best} to {worst}"
    taken = f"with {selected} of the weight" if weighs else f"selected in {selected} of the bootstraps"
    return f"{subject} {scored}" + (f", {taken}." if selected else ".")


SHARED_SENTENCE = (
    "Work that several fits need was done once. The time of equal steps was measured when they were fitted; all "
    "other times are estimated from the fit that served several. A fit that shared several things is in each row."
)


def held_out_sentence(name: str, repeats: int, drawn: int, total: int) -> str:
    """The predictions behind the diagnostic figures."""
    each = "a row is predicted" if repeats == 1 else f"in each of {repeats} repeats a row is predicted"
    sample = "" if drawn == total else f" The scatter plots draw {drawn:,} of the {total:,} rows."
    return (
        f"From the held-out predictions of {name}: {each} only by models that were not trained on it. These "
        f"pictures are not corrected for the choice, so they are as optimistic as the uncorrected score.{sample}"
    )


ROC_CAPTION = (
    "The share of the positive class that is found (true positive rate) against the share of false alarms, at "
    "every threshold. The dotted diagonal is guessing."
)
ROC_BY_CLASS_CAPTION = "Each class against all others, at every threshold. The dotted diagonal is guessing."
PRECISION_CAPTION = (
    "Of the rows that are called positive the share that is (precision) against the share of the positive class "
    "that is found (recall), at every threshold. The dotted line is guessing."
)
PRECISION_BY_CLASS_CAPTION = "Precision and recall of each class against all others, at every threshold."
CALIBRATION_CAPTION = (
    "Rows in groups of equal size by predicted probability: the predicted against the observed share, with 95 % "
    "Wilson intervals. On the dotted diagonal a prediction of 30 % comes true 30 % of the time. The bars count the "
    "predictions."
)
FITTED_CAPTION = "The truth against the prediction; on the dotted diagonal they agree."
RESIDUAL_CAPTION = (
    "Truth minus prediction. The line connects the medians of groups of equal size: where it leaves the dotted "
    "zero, the model is wrong on average."
)
CONFUSION_CAPTION = "Rows of each true class (down) by predicted class (across), and as a share of the true class."
CONFUSION_REPEATS = "Counts are means over the repeats."


def residual_sentence(half: str, most: str) -> str:
    """The size of the residuals."""
    return f"Half of the predictions are within {half} of the truth, and 95 % within {most}."


def several_methods_sentence(title: str, main: str) -> str:
    """How to read a table of several methods' estimates."""
    return (
        f"The {in_sentence(title)} of the selected configuration by every method that applies, all on the same "
        f"predictions; this report is about the one by {method_words(main).name}. The methods estimate different "
        "quantities, explained below: choose one before looking at the numbers."
    )


def coverage_paragraph(sentences: Sequence[str]) -> str:
    """What intervals of several methods covered where the truth is known; nothing where nobody knows."""
    if not sentences:
        return ""
    return " ".join(["How often intervals held the truth was measured where it is known.", *sentences])


def reason_sentence(reason: str) -> str:
    """The reason why a method does not apply, as a whole sentence."""
    return f"{reason[:1].upper()}{reason[1:].rstrip('.')}."


def several_metrics_sentence(refit_metric: str) -> str:
    """How to read a table of several metrics' estimates."""
    name = in_sentence(refit_metric)
    return (
        f"Every metric is estimated for the one configuration that {name} selected, and the selection by {name} is "
        "replayed in each bootstrap."
    )


def quotable_sentence(
    title: str,
    value: str,
    interval: str,
    method: str,
    configurations: int,
    folds: str,
    rows: int,
    name: str,
    *,
    ensemble: bool = False,
    is_corrected: bool = True,
    finalists: int = 1,
    named: bool = False,
    dropped: int = 0,
) -> str:
    """The result as a sentence to quote; ``configurations`` are the candidates, ``dropped`` come in addition."""
    early = f" (another {dropped:,} dropped early)" if dropped else ""
    chosen = (
        f"{name}, named beforehand among {configurations:,} configurations"
        if named and configurations > 1
        else f"the only configuration evaluated, {name}"
        if configurations == 1 and not dropped
        else f"the {name if ensemble else 'configuration'} selected among {configurations:,}{early}"
        + ("" if ensemble else f", {name}")
    )
    corrected = "uncorrected for selection"
    if named:
        corrected = "with no selection to correct for"
    elif is_corrected:
        corrected = f"corrected for selection by {method_words(method).name}"
        if finalists > 1:
            corrected += f", the choice among {finalists} finalists in the interval only"
    elif method == "hoeffding":
        corrected += ", with an interval that holds for all configurations at once (Hoeffding)"
    return f"{title} of {chosen}: {value}{interval}, {corrected}, from {folds} of {rows:,} rows."


NO_CANDIDATE = "it lacks predictions that others have, so it was not a candidate"
NO_FINGERPRINT = "none: a parameter has no canonical form"
