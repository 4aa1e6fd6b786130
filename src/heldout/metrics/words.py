"""Metrics in words: their names for people, and what they measure."""

from __future__ import annotations

METRIC_WORDS: dict[str, tuple[str, str]] = {
    "accuracy": ("Accuracy", "The share of rows whose class was predicted."),
    "balanced_accuracy": ("Balanced accuracy", "The mean, over the classes, of the share of rows predicted right."),
    "f1": ("F1", "The harmonic mean of precision and recall for the positive class."),
    "f1_macro": ("F1, macro", "The harmonic mean of precision and recall, averaged over the classes."),
    "matthews_corrcoef": ("Matthews correlation", "The correlation of true and predicted classes: 0 is chance."),
    "cohen_kappa": (
        "Cohen's kappa",
        "The agreement of true and predicted classes beyond chance: 0 is chance, 1 full agreement.",
    ),
    "linear_weighted_kappa": (
        "Kappa, linear weights",
        "The agreement beyond chance where an error costs the places between the classes: 0 is chance.",
    ),
    "quadratic_weighted_kappa": (
        "Kappa, quadratic weights",
        "The agreement beyond chance where an error costs the squared places between the classes: 0 is chance.",
    ),
    "log_loss": ("Log loss", "The mean surprise, in nats, of the true class under the predicted probabilities."),
    "brier_score": ("Brier score", "The mean squared distance of predicted probabilities from what happened."),
    "roc_auc": (
        "ROC AUC",
        "The chance that a random row of the positive class is ranked above a random other row: 0.5 is guessing.",
    ),
    "roc_auc_ovr": ("ROC AUC, one-vs-rest", "The ROC AUC of each class against all others, averaged over classes."),
    "roc_auc_ovo": ("ROC AUC, one-vs-one", "The ROC AUC of each pair of classes, averaged over the pairs."),
    "partial_roc_auc": (
        "Partial ROC AUC",
        "The area under the beginning of the ROC curve, where false alarms are few, standardised: 0.5 is guessing.",
    ),
    "sensitivity_at_specificity": (
        "Sensitivity at a fixed specificity",
        "The share of the positive class that is found at the lowest threshold with few enough false alarms.",
    ),
    "expected_calibration_error": (
        "Expected calibration error",
        "The mean distance of predicted probabilities, in bins, from how often they came true.",
    ),
    "calibration_slope": (
        "Calibration slope",
        "How the log-odds of the positive class rise with those predicted: below 1 predictions are too extreme.",
    ),
    "calibration_slope_error": ("Calibration slope error", "The distance of the calibration slope from 1."),
    "calibration_intercept": (
        "Calibration intercept",
        "By how much predicted log-odds are too low on average: below 0 they are too high.",
    ),
    "calibration_intercept_error": (
        "Calibration intercept error",
        "The distance of the calibration intercept from 0.",
    ),
    "emax": (
        "Emax",
        "The greatest distance of a predicted probability from how often such predictions came true.",
    ),
    "e90": (
        "E90",
        "Nine tenths of the probabilities are closer than this to how often such predictions came true.",
    ),
    "ici": (
        "Integrated calibration index",
        "The mean distance of predicted probabilities from how often such predictions came true.",
    ),
    "eci": (
        "Estimated calibration index",
        "100 times the mean squared distance of predicted probabilities from how often they came true.",
    ),
    "somers_d": (
        "Somers' D",
        "The share of comparable pairs that are ordered right, less the share ordered wrong: 0 is guessing.",
    ),
    "nagelkerke_r2": (
        "Nagelkerke's R²",
        "The gain in likelihood over no predictions at all, as a share of the greatest possible: 0 is none.",
    ),
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
    "mean_pinball_loss": (
        "Mean pinball loss",
        "The mean distance of predicted quantiles from the truth, errors above and below weighing differently.",
    ),
    "spearman": ("Spearman correlation", "The correlation of the ranks of predictions and truth: 0 is none."),
    "r2": ("R²", "The share of the target's variance that is explained: 0 is what predicting the mean gives."),
    "concordance_index": (
        "Concordance index",
        "The chance that, of two comparable rows, the greater risk had the earlier event: 0.5 is guessing.",
    ),
    "concordance_index_ipcw": (
        "Concordance index, Uno's",
        "The share of pairs in which the row with the earlier event had the greater risk, weighted for censoring.",
    ),
    "roc_auc_at": (
        "ROC AUC at a time",
        "The chance that a row with an event until the time had a greater risk than one that was there after it.",
    ),
    "brier_score_at": (
        "Brier score at a time",
        "The mean squared distance of predicted survival from who was there at the time, weighted for censoring.",
    ),
    "integrated_brier_score": (
        "Integrated Brier score",
        "The mean squared distance of predicted survival from what happened, over time, weighted for censoring.",
    ),
}
_SAME_METRIC = {
    "brier_score_loss": "brier_score",
    "mcc": "matthews_corrcoef",
    "cohen_kappa_score": "cohen_kappa",
    "r2_score": "r2",
    "concordance_index_censored": "concordance_index",
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
    own, bracket, parameters = name.removeprefix("neg_").partition("(")
    title, definition = METRIC_WORDS.get(_SAME_METRIC.get(own, own), (own.replace("_", " "), ""))
    return (f"{title} {bracket}{parameters}" if bracket else title), definition


def in_sentence(title: str) -> str:
    """A metric's name within a sentence: small letters, except for abbreviations and names of people."""
    first = title.split(" ")[0]
    is_word = first[1:].isalpha() and first[1:].islower()
    return title[:1].lower() + title[1:] if is_word and first not in ("Brier", "Matthews", "Spearman") else title


def direction_sentence(greater_is_better: bool, ideal: float | None = None) -> str:
    """Which way is better, if not one value is best."""
    if ideal is not None:
        return f"{ideal:g} is best; neither direction is."
    return "Higher is better." if greater_is_better else "Lower is better."
