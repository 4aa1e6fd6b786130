"""How each method arrives at its number, what it estimates, and what it is called."""

from __future__ import annotations

OVER_TRAINING_SETS = "the expected performance, over training sets of the size of a fold's training part,"
GIVEN_ONE_TRAINING_SET = "the performance on new rows, given the one training part that all models were fitted on,"
TRAINED_AS_THESE = "the performance on new rows, with models trained as those behind these predictions,"

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
QUANTITY_BBC_F = (
    "the expected performance, over training sets of the size of a fold's training part, of the whole search: "
    "tuning on about 63 % of the folds and then predicting folds that took no part in the choice"
)
QUANTITY_NESTED = (
    "the expected performance, over training sets of the size of an outer fold's training part, of the whole "
    "search: tuning on it, fitting the winner on all of it, and predicting new rows"
)
QUANTITY_NAIVE = (
    "the expected performance, over training sets of the size of a fold's training part, of the winner as if it "
    "had been chosen beforehand; the interval is of this score and knows nothing of the choice"
)
QUANTITY_WMC = (
    "the expected performance, over training sets of the size of a split's training part, of the procedure that "
    "picks the configuration of the least mean error"
)
QUANTITY_TWO_PART = (
    "the performance on new rows, given these training sets, of the configuration that was chosen without the rows "
    "it is scored on"
)
QUANTITY_FINALISTS = (
    "the performance on new rows, given these training sets, of the best of several finalists that were chosen "
    "without the rows they are scored on"
)
QUANTITY_NAMED = (
    "the performance on new rows, given these training sets, of the configuration that was named beforehand"
)
QUANTITY_HOEFFDING = (
    "the performance on new rows of the models that the training part gave, the chosen one among them: not of a "
    "model fitted again on more rows"
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

CHOSEN_ON_A_PART = (
    "A part of the rows chose the configuration, by the held-out predictions there, and the others scored it: rows "
    "that took no part in the choice."
)
FINALISTS_OF_A_PART = (
    "A part of the rows chose {finalists} finalists, by the held-out predictions there, and the others chose and "
    "scored the best of these."
)
NAMED_BEFOREHAND = "The configuration was named beforehand, and all rows scored it."
PAID_BY_SIDAK = "For the choice among the finalists each tail of it was made smaller (Šidák)."

METHOD_SENTENCES: dict[str, str] = {
    "cv": "The score is the winner's own cross-validated score: no correction was made for having chosen it.",
    "tt": (
        "In each fold the winner's score was compared with the best score that any configuration reached there. "
        "The mean of these differences is the optimism, and it was taken off the winner's cross-validated score."
    ),
    "bbc": (
        "The rows were resampled {bootstraps} times. Each time the selection was made anew on the drawn rows, from "
        "the held-out predictions that the search had made anyway, and what it chose was scored on the rows that "
        "were not drawn. The estimate is the mean of these scores, the interval lies between their "
        "percentiles, and no model was trained for it."
    ),
    "bbc_f": (
        "The folds were resampled {bootstraps} times. Each time the configuration with the best mean over the "
        "drawn folds was chosen anew and scored by its mean over the folds that were not drawn. The estimate is "
        "the mean of these scores, the interval lies between their percentiles, and no model was trained for it."
    ),
    "naive_bootstrap": (
        "The held-out predictions of the winner alone were resampled {bootstraps} times, and the interval lies "
        "between the percentiles of its score. That it was chosen for its score was not corrected."
    ),
    "nested_cv": (
        "The whole search was repeated once for each outer fold, without its rows, and the winner of each was "
        "fitted on all of the other rows and scored on those of the fold. The estimate is the mean of these "
        "scores: no row took part in choosing what it scored."
    ),
    "wmc": (
        "The estimate is the mean of the errors of all configurations, each weighted by the probability that it "
        "has the least mean error, which comes from a normal distribution fitted to the errors of the splits."
    ),
    "wmcs": (
        "The mean errors of all configurations were drawn together by the optimism that such a normal "
        "distribution gives the winner, and averaged, each weighted by the probability that it has the least."
    ),
    "delong": (
        "{parts} The interval is a normal one, its standard error from how each "
        "row ranks among those of the other class (DeLong)."
    ),
    "hanley_mcneil": (
        "{parts} The interval is a normal one, its standard error from the area "
        "itself and the sizes of the classes (Hanley and McNeil)."
    ),
    "tilting": (
        "{parts} The bound is the score at which, were the rows weighed towards "
        "worse, a score as good as the observed one would be just too rare: bootstrap tilting, which of an "
        "accuracy is a binomial bound by its mid-p value."
    ),
    "mabt": (
        "{parts} The bound is the score at which, were the rows weighed towards worse, so good a score "
        "of the best of as many correlated finalists would be just too rare: a tilted bootstrap, adjusted for "
        "the choice."
    ),
    "wilson": ("{parts} The interval is Wilson's for a count of right predictions."),
    "clopper_pearson": (
        "{parts} The interval is the one of Clopper and Pearson for a count of right predictions, which is exact "
        "where rows are independent."
    ),
    "hoeffding": (
        "The score is that of the best configuration on one development set. The interval holds for all "
        "configurations at once, whichever was chosen, by Hoeffding's inequality, and is wide for it."
    ),
    "ipl": (
        "Every configuration was trained on random parts of the rows, of several sizes, and tested on the other "
        "rows. The winner is the best at the largest size; its mean errors at all sizes were fitted by an inverse "
        "power law, and the estimate is that curve carried on to all rows."
    ),
    "bootstrap_search": (
        "The rows were drawn with replacement {bootstraps} times. Each time the whole search was run on the drawn "
        "rows, its winner was fitted on all of them and scored on the rows that were not drawn, which had no part "
        "in it. The estimate is the mean of these scores, and the interval lies between their percentiles."
    ),
    "bootstrap_search_models": (
        "The rows were drawn with replacement {bootstraps} times, and every configuration was fitted on each "
        "sample. For each sample a configuration was chosen by how the models of the other samples predicted the "
        "rows that it drew; that configuration's model of this sample was scored on the rows that were not drawn. "
        "The estimate is the mean of these scores, and the interval lies between their percentiles."
    ),
    "optimism": (
        "The rows were drawn with replacement {bootstraps} times, and the model was fitted on each sample as on "
        "all rows. By how much these models scored better on their own sample than on all rows, in the mean, is "
        "the optimism, and it was taken off the score that the model has on its own rows."
    ),
    "two_stage": (
        "The rows were drawn with replacement {bootstraps} times, each model was fitted on each sample, and the "
        "one of the best corrected score was chosen. It was then bootstrapped by as many new samples: by how much "
        "its models scored better on their own sample than on all rows, in the mean, is the optimism, and it was "
        "taken off the score that the model has on its own rows."
    ),
    "oob": (
        "The rows were drawn with replacement {bootstraps} times, the model was fitted on each sample, and each "
        "row was scored by the models whose samples left it out. No row took part in fitting what it scored."
    ),
    "632": (
        "The rows were drawn with replacement {bootstraps} times, and the model was fitted on each sample. The "
        "estimate is .368 times the score that the model has on its own rows, which flatters it, and .632 times "
        "that of the rows that the samples left out, whose models saw fewer different rows."
    ),
    "632+": (
        "The rows were drawn with replacement {bootstraps} times, and the model was fitted on each sample. The "
        "estimate lies between the score that the model has on its own rows and that of the rows that the samples "
        "left out, the nearer to the latter the more of the way from the first to a score without any information "
        "lies between the two."
    ),
}

CALIBRATED_INTERVAL = (
    "Rows that were not drawn are fewer than all rows and their scores spread wider, so the interval was drawn in "
    "towards the estimate (by a factor of {shrinkage:.2f}, less where rows are few). Its better end then went out "
    "by a third of the optimism, the most by which such an estimate is pessimistic."
)


SCALES_DIFFER = "The corrected score is on the scale of all rows, the uncorrected one is the mean over folds."
SCALES_MET = (
    "What that changes was measured on configurations that were not chosen for those rows, and subtracted: "
    "corrected and uncorrected score are on the scale of the mean over folds."
)
CONTROL = (
    "Without any choice, {metric} differs by {size} between all rows and the few that a bootstrap leaves out (mean "
    "over {choices} that the bootstraps chose); that is no optimism, and was subtracted."
)


def method_sentence(method: str, bootstraps: int | None, *, finalists: int = 1, named: bool = False) -> str:
    """How a method arrives at its number; empty for one that has no sentence yet.

    Parameters
    ----------
    finalists : int
        Of a two-part method: how many the first part of the rows sent on.
    named : bool
        Of a two-part method: whether there was no such part.
    """
    sentence = METHOD_SENTENCES.get(method, "")
    parts = NAMED_BEFOREHAND if named else CHOSEN_ON_A_PART if finalists == 1 else FINALISTS_OF_A_PART
    pays = f" {PAID_BY_SIDAK}" if finalists > 1 and method != "mabt" and "{parts}" in sentence else ""
    parts = parts.format(finalists=finalists)
    return sentence.format(bootstraps=f"{bootstraps or 0:,}", parts=parts) + pays


METHOD_NAMES: dict[str, str] = {
    "cv": "cross-validation of the winner",
    "tt": "the method of Tibshirani and Tibshirani",
    "bbc": "bootstrap bias-corrected cross-validation",
    "bbc_f": "bootstrap bias correction on folds",
    "naive_bootstrap": "the bootstrap of the winner alone",
    "nested_cv": "nested cross-validation",
    "wmc": "the weighted mean correction of Bernau and others",
    "wmcs": "the shrunken weighted mean correction of Bernau and others",
    "delong": "choosing on one part of the rows and scoring on the other (DeLong)",
    "hanley_mcneil": "choosing on one part of the rows and scoring on the other (Hanley and McNeil)",
    "tilting": "choosing on one part of the rows and scoring on the other (bootstrap tilting)",
    "mabt": "choosing finalists on one part of the rows and scoring them on the other (adjusted tilting)",
    "wilson": "choosing on one part of the rows and scoring on the other (Wilson)",
    "clopper_pearson": "choosing on one part of the rows and scoring on the other (Clopper and Pearson)",
    "hoeffding": "a bound for all configurations at once (Hoeffding)",
    "bootstrap_search": "the bootstrap of the whole search",
    "bootstrap_search_models": "the bootstrap of all models",
    "ipl": "the inverse power law of its learning curve",
    "optimism": "the optimism bootstrap",
    "two_stage": "the two-stage optimism bootstrap",
    "oob": "the out-of-bag bootstrap",
    "632": "the .632 bootstrap",
    "632+": "the .632+ bootstrap",
}


def method_name(method: str) -> str:
    """A method's name within a sentence."""
    return METHOD_NAMES.get(method, method.replace("_", " "))


METHOD_TITLES: dict[str, str] = {
    "cv": "Cross-validation of the winner",
    "tt": "Tibshirani and Tibshirani",
    "bbc": "Bootstrap bias correction",
    "bbc_f": "Bootstrap bias correction on folds",
    "naive_bootstrap": "Bootstrap of the winner alone",
    "nested_cv": "Nested cross-validation",
    "wmc": "Weighted mean correction",
    "wmcs": "Weighted mean correction, shrunken",
    "delong": "Two parts, DeLong",
    "hanley_mcneil": "Two parts, Hanley and McNeil",
    "tilting": "Two parts, bootstrap tilting",
    "mabt": "Two parts, tilting adjusted for finalists",
    "wilson": "Two parts, Wilson",
    "clopper_pearson": "Two parts, Clopper and Pearson",
    "hoeffding": "Hoeffding, all configurations at once",
    "bootstrap_search": "Bootstrap of the whole search",
    "bootstrap_search_models": "Bootstrap of all models",
    "ipl": "Inverse power law",
    "optimism": "Optimism bootstrap",
    "two_stage": "Two-stage optimism bootstrap",
    "oob": "Out-of-bag bootstrap",
    "632": ".632 bootstrap",
    "632+": ".632+ bootstrap",
}


def method_title(method: str) -> str:
    """A method's name as the head of a row; a name of the user's own as it is."""
    return METHOD_TITLES.get(method, method)


def quantity_given(quantity: str, n_splits: int | None) -> str:
    """The quantity, by how many splits made the predictions (None: not known).

    With a single one, as in a hold-out, there is no expectation over training sets.
    """
    if n_splits is None:
        return quantity.replace(OVER_TRAINING_SETS, TRAINED_AS_THESE)
    return quantity.replace(OVER_TRAINING_SETS, GIVEN_ONE_TRAINING_SET) if n_splits == 1 else quantity


def quantity_sentence(quantity: str, training_rows: float | None) -> str:
    """What a number estimates, from the noun phrase in its provenance."""
    size = "" if training_rows is None else f" Its models were trained on {training_rows:,.0f} rows."
    return f"It estimates {quantity}.{size}"


AGGREGATE_WORDS = {
    "folds": "mean over the folds",
    "pooled": "all held-out rows together",
    "within": "pairs of rows of one fold",
}
