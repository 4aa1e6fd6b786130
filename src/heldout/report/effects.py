"""What a score means, in a sentence for a reader who knows no statistics."""

from __future__ import annotations

from heldout._text import number_text

_OF_TWO = {
    "roc_auc": "Of a row of class {positive} and one of class {negative}, the model ranks the right one higher in "
    "{hundred} of 100 such pairs.",
    "precision": "Of 100 rows that the model calls {positive}, {hundred} are.",
    "recall": "Of 100 rows of class {positive}, the model finds {hundred}.",
}
"""Of metrics of two classes."""
_OF_ANY = {
    "accuracy": "Of 100 new rows, the model gets {hundred} right.",
    "zero_one_loss": "Of 100 new rows, the model gets {hundred} wrong.",
    "balanced_accuracy": "Of 100 new rows of a class, the model gets {hundred} right, on average over the classes.",
    "concordance_index": "Of two rows of which one has the event first, the model expects the right one to have it "
    "first in {hundred} of 100 such pairs.",
    "mean_absolute_error": "On new rows, predictions are off by {number} on average.",
    "median_absolute_error": "On new rows, half of the predictions are off by less than {number}.",
    "root_mean_squared_error": "On new rows, predictions are typically off by {number}.",
    "r2": "On new rows, predictions explain {percent} of the variance of the target.",
}


def _of_hundred(share: float) -> str:
    """As a whole number; what is not quite all, or none, is not called so."""
    text = f"{100 * share:.0f}"
    if text == "100" and share < 1:
        return "more than 99"
    return "fewer than 1" if text == "0" and share > 0 else text


def effect_sentence(metric: str, value: float, classes: tuple[str, ...] = ()) -> str:
    """What the score of a model means; empty for metrics that no such sentence explains.

    ``classes``: the positive and the negative one of two, as words.

    Examples
    --------
    >>> effect_sentence("recall", 0.993, ("malignant", "benign"))
    'Of 100 rows of class malignant, the model finds 99.'
    >>> effect_sentence("accuracy", 0.932), effect_sentence("r2", -0.2)
    ('Of 100 new rows, the model gets 93 right.', '')
    """
    name = metric.removeprefix("neg_")
    sentence = _OF_ANY.get(name) or (_OF_TWO.get(name, "") if len(classes) == 2 else "")
    if not sentence or value < 0:
        return ""
    positive, negative = classes if len(classes) == 2 else ("", "")
    return sentence.format(
        hundred=_of_hundred(value),
        percent=f"{100 * value:.3g} %",
        number=number_text(value, 0) if value >= 1000 else f"{value:.3g}",
        positive=positive,
        negative=negative,
    )
