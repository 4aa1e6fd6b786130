"""Flags: conditions that a reader of a number must know, each with its sentence.

The raising code fills the places of a sentence, in which arguments stand in backquotes: ```cv=5```.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any


class Flag(StrEnum):
    """A condition that a reader of an estimate must know; ``flag.sentence`` explains it."""

    sentence: str

    def __new__(cls, value: str, sentence: str) -> Flag:
        member = str.__new__(cls, value)
        member._value_ = value
        member.sentence = sentence
        return member

    @property
    def heading(self) -> str:
        """The condition in a few words for people, such as "Failed configurations"."""
        return _HEADINGS.get(self.value, self.value.replace("_", " ").capitalize())

    UNCORRECTED = (
        "uncorrected",
        "The winner was selected from {chosen_from} by its score on these same predictions, so the score is "
        "optimistic; a corrected method (shrinkage) subtracts that.",
    )
    UPSIDE_DOWN = (
        "upside_down",
        "The scores rank rows of class {other} above those of class {positive}: the ROC AUC of the median "
        "configuration is {area:.3f}, at most {high:.3f} at 99 %. If they are scores of class {other}, say so with "
        "`pos_label=`.",
    )
    FAILED_CONFIGURATIONS = (
        "failed_configurations",
        "{failed} of {total} configurations failed and could not be selected: {which}.",
    )
    DROPPED_CONFIGURATIONS = (
        "dropped_configurations",
        "{dropped} of {total} configurations were dropped early. The estimate replays the selection among the "
        "{remaining} that remained, on rows some of which were used to drop the others, so it is a little more "
        "optimistic than without dropping.",
    )
    DROPPING_REPLAYED = (
        "dropping_replayed",
        "{dropped} of {total} configurations were dropped early, and every bootstrap repeated the dropping. Their "
        "later predictions are not known, so no bootstrap can keep such a configuration longer than the search "
        "did: a little of the optimism of dropping may remain.",
    )
    GROWING_TRAINING_SETS = (
        "growing_training_sets",
        "The models behind the predictions were trained on {least} to {most} of {total} rows, later ones on more; "
        "the estimate is for the mean of these sizes, {mean:.0f}.",
    )
    INCOMPLETE_PREDICTIONS = (
        "incomplete_predictions",
        "The estimate uses {used} of {total} rows{often}: those that every candidate predicted.",
    )
    NOISE_OF_A_PART = (
        "noise_of_a_part",
        "Value and uncorrected score are of all {total:,} rows. Their noise is that of a random part of {part:,}, "
        "scaled to all: with so many rows it is as good (`n_rows_of_bootstrap=None` draws from all).",
    )
    LITTLE_TO_CORRECT = (
        "little_to_correct",
        "With {total:,} rows there was next to nothing to correct: the estimated optimism, {optimism:.1g}, is less "
        "than a tenth of half the interval's width. What a search gives in its place are shared and dropped fits, "
        "and a run that can be continued.",
    )
    INCOMPLETE_CONFIGURATIONS = (
        "incomplete_configurations",
        "{lacking} of {total} configurations lack the predictions of whole folds, because their fits failed or a "
        "race dropped them, and could not be selected: {which}. If a race dropped them, the estimate is a little "
        "more optimistic than without it.",
    )
    ONE_CONFIGURATION_KEPT = (
        "one_configuration_kept",
        "{source} holds the predictions of one configuration. If it was the best of several, those of the others "
        "are missing: their selection cannot be replayed, and the score is as optimistic as any uncorrected one. "
        "{remedy}",
    )
    ROWS_NOT_HELD_OUT = (
        "rows_not_held_out",
        "{source} has no prediction of {missing} of {total} rows, which no resample held out (or which were left "
        "out of the file). The estimate is of the others.",
    )
    ROWS_OUT_OF_ORDER = (
        "rows_out_of_order",
        "{source} numbers its rows, and not in rising order, while its predictions have no such numbers: they were "
        "matched by position, which is right only where nobody sorted or shuffled the file.",
    )
    CLASSES_EXCHANGED = (
        "classes_exchanged",
        "The probabilities of {lacking} of {total} configurations rank the rows clearly the wrong way round "
        "({which}), while most rank them rightly, as where their columns of two classes were exchanged.",
    )
    LABELS_CONTRADICT_PROBABILITIES = (
        "labels_contradict_probabilities",
        "The labels and the probabilities of {lacking} of {total} configurations contradict each other ({which}): "
        "rows with a label do not have the greater probabilities of its class. Columns were exchanged, rows moved, "
        "or the two come from different fits, as those of support vector machines do; a score tells only of the "
        "one that its metric reads.",
    )
    FOLDS_UNKNOWN = (
        "folds_unknown",
        "{source} does not say in which fold a row was held out. Methods that compare fold by fold (tt, bbc_f) "
        "cannot be used, and whether the scores of different folds are on one scale cannot be checked.",
    )
    AVERAGED_REPEATS = (
        "averaged_repeats",
        "{source} holds the mean of each row's predictions over {what}. Such a mean often scores better than the "
        "single models behind it, and the folds and the spread between them are lost: {remedy}.",
    )
    DROPPING_NEVER_APPLIED = (
        "dropping_never_applied",
        "Nothing could be dropped: min_predictions is {least:,}, and {rows:,} rows came before the last split.",
    )
    STOPPED_EARLY = (
        "stopped_early",
        "The search stopped after {done} of {planned} because the {level} % interval was no wider than {width}; "
        "it rests on {rows} of {total} rows. In simulations 95 % intervals of such searches covered in 93 to 98 %.",
    )
    UNFINISHED_SEARCH = ("unfinished_search", "The search is unfinished. The estimate rests on {which}. {rest}")
    FEW_GROUPS = (
        "few_groups",
        "There are only {groups} groups to draw from; with fewer than 10 the interval is unreliable.",
    )
    GROUPS_NOT_GIVEN = (
        "groups_not_given",
        "The search held groups out whole, but `groups=` was not given here, so single rows are drawn: "
        "the interval takes rows of a group as independent and is too narrow.",
    )
    DEGENERATE_FOLDS = (
        "degenerate_folds",
        "{degenerate} of {total} folds lack {needs}. There {metric} has the value that scikit-learn gives by "
        "convention, and it counts in the mean; larger or stratified folds avoid this.",
    )
    UNDEFINED_FOLDS = (
        "undefined_folds",
        "{metric} is undefined in {undefined} of {total} folds (each needs {needs}): {which}. The mean "
        "leaves them out.",
    )
    MOSTLY_UNDEFINED_FOLDS = (
        "mostly_undefined_folds",
        "In the average bootstrap, {metric} is undefined in {share:.0%} of the folds, so the scores rest on the "
        "others; pooled scores (`aggregate='pooled'`) use all rows.",
    )
    OUT_OF_BAG_POOLED = (
        "out_of_bag_pooled",
        "Some fold has only {least} rows of {what}. A bootstrap leaves about a third of them out, too few to "
        "compute {metric} in that fold (at least {fewest} rows are needed), so the rows left out of all folds "
        "were scored together.",
    )
    NO_CONTROL = (
        "no_control",
        "{metric} may differ between few rows and many. This could not be measured, as no bootstrap gives a "
        "finite score both of all rows and of those left out, so nothing was subtracted for it.",
    )
    CONTROL_BEYOND_RANGE = (
        "control_beyond_range",
        "The value was corrected for how {metric} differs between few rows and many, and this carried it outside "
        "the range [{low}, {high}]; it is reported at the end of the range.",
    )
    INCOMPARABLE_FOLDS = (
        "incomparable_folds",
        "The {metric} of {winner} is {within:.4g} within folds but {pooled:.4g} on all rows together: the models "
        "of different folds score on different scales, so comparing rows of different folds says little. "
        "`aggregate='within'` counts only pairs of rows of the same fold.",
    )
    SCALE_OF_VALUE = (
        "scale_of_value",
        "Value, interval and uncorrected score are the {metric} of all held-out rows together. The mean over "
        "folds, by which configurations are compared (best_score_ in Python), is {folds:.4g}: {relation}{why}.",
    )
    SMALL_FOLDS = (
        "small_folds",
        "The {metric} of {winner} is {folds:.4g} as a mean over folds and {pooled:.4g} over all rows together, "
        "because folds of {rows} rows change this metric. Value and interval describe the mean over folds of this "
        "size; `aggregate='pooled'` describes the score of many rows.",
    )
    COPIED_ROWS = (
        "copied_rows",
        "{copies} of {total} held-out rows have the same predictors as a row of another fold; in such columns "
        "chance makes about {chance}. If these are copies, a model that memorises rows knows the answer, so the "
        "score is optimistic, and no method corrects this: groups='copies' (on the command line --copies "
        "together) holds them out together.",
    )
    SORTED_ROWS = (
        "sorted_rows",
        "The rows look ordered: the folds are stretches of the file, and they differ in {which} by more than "
        "chance. Models are therefore tested on other rows than those that trained them, and the score is not that "
        "of the model on rows like all of these. If the order means nothing, shuffle: "
        "`cv=ho.protocols.k_folds(5)`, or a splitter with shuffle=True. If it is time, keep it: TimeSeriesSplit, "
        "and `block_length='auto'`.",
    )
    ROWS_FOLLOW_TIME = (
        "rows_follow_time",
        "Errors of neighbouring rows are alike: in the order of the file those of the winner have an "
        "autocorrelation of {correlation:.2f}, by chance in fewer than 1 of 1000 files. If rows follow time, "
        "models of K folds were trained on neighbours of the rows that they predict, and the interval takes rows "
        "as independent, so both are too good: use TimeSeriesSplit, and `block_length='auto'`, which "
        "draws blocks of rows. If neighbours belong together, as rows of a patient do, give `groups=`.",
    )
    NOT_EXCHANGEABLE = (
        "not_exchangeable",
        "The folds follow the order of time, while the estimate takes rows (or folds, or groups) as exchangeable; "
        "the interval may be too narrow where rows depend on their time.",
    )
    ROW_BLOCKS = (
        "row_blocks",
        "Rows are taken as they follow each other in time, and bootstraps draw {kind} blocks of {length}. The "
        "interval is approximate: it covers less often than it says where there are few such blocks (about "
        "{blocks} here), or where rows depend on each other for longer than a block.",
    )
    TIED_WINNER = (
        "tied_winner",
        "{winner} and {other} have the same score except for a rounding error in its last bit. Here the first of "
        "equal ones wins; GridSearchCV compares that bit and takes {other}.",
    )
    SPLITS_UNKNOWN = (
        "splits_unknown",
        "Nothing says that all models were scored on the same splits: {unknown} came without indices. On different "
        "splits (a cv that shuffles without an integer random_state) models cannot be compared: a part of a "
        "difference is luck. Pass return_indices=True to cross_validate, and that is checked.",
    )
    ADAPTIVE_SEARCH = (
        "adaptive_search",
        "The search was adaptive: it proposed or dropped configurations because of scores on these same rows. The "
        "estimate replays the selection among {candidates}, but not how the search came to them, so part of the "
        "optimism remains.{size}{why} {ways}",
    )
    STOPPED_WHEN_USELESS = (
        "stopped_when_useless",
        "{reason} The stop depends on scores on these same rows, as the proposals do.",
    )
    CROSS_FITTED = (
        "cross_fitted",
        "The search was adaptive, and the estimate does not rest on its scores: {searches} further searches tried "
        "{each} each, none of which saw the rows of the fold that its winner predicts; {fits}. They are shorter "
        "than the search of the winner, so the estimate is rather pessimistic.",
    )
    SAMPLER_FITTED_FOLDS = (
        "sampler_fitted_folds",
        "The sampler seems to fit the folds: the searches without the rows of a fold score {inner} on the rows "
        "that they see, corrected for their choice, and their winners {outer} on the others, {residual} worse. The "
        "estimate does not rest on those scores, but the search of the winner is longer and fits its folds more: "
        "the winner may be no better than an early one. More rows or a smaller space help, more trials do not.",
    )
    TRAINING_SIZE_CORRECTED = (
        "training_size_corrected",
        "The value is of training on all {rows} rows: {shift} was added to that of models trained on about "
        "{trained}. This is {factor} of what the score gained from about {fewer} training rows to that many, the "
        "mean over what competed ({which}), by {fits} without two folds. Its standard error, {error}, is in the "
        "interval.",
    )
    TRAINING_SIZE_UNCORRECTED = (
        "training_size_uncorrected",
        "The value is of models trained on about {trained} rows, without the correction for training size that was "
        "asked for: {reason}.",
    )
    EARLY_STOPPING_ON_SCORED_ROWS = (
        "early_stopping_on_scored_rows",
        "Models stop early on rows that also score them: {scored} of the {total} rows that are passed for it are "
        "held-out rows of the search. The number of rounds is chosen for these rows, so the score is optimistic, "
        "and no method corrects this; `early_stopping=ho.inner_split(0.1)` stops each model on training rows of "
        "its own.",
    )
    THREADS_SEARCHED = (
        "threads_searched",
        "The search varies {names}, the number of threads of a fit, so fits are not held to one thread each: times "
        "and the last digits of predictions may depend on it.",
    )
    STOPPED_ON_PREDICTED_ROWS = (
        "stopped_on_predicted_rows",
        "{tool} stops the training of {which} by the score on the rows that the model then predicts. Scores of "
        "such models are optimistic, and no method corrects this.",
    )
    TT_BEYOND_RANGE = (
        "tt_beyond_range",
        "The correction carried the score outside the range of {metric}, [{low}, {high}]; it is reported "
        "unchanged.",
    )
    NOT_BETTER_THAN_GUESSING = (
        "not_better_than_guessing",
        "This is not clearly better than guessing: a model that predicts the same for every row has "
        "{metric} {constant}, and {what}.",
    )
    REVERSED_SCORER = (
        "reversed_scorer",
        "{metric} is better the {better} it is, and the scorer asks for the opposite: the configuration with the "
        "worst {metric} wins. greater_is_better of make_scorer says which way is better.",
    )
    NO_INTERVAL = ("no_interval", "The method {method} gives no confidence interval.")
    UNDEFINED = ("undefined", "No estimate: {reason}.")
    SELECTION_NOT_REPLAYABLE = (
        "selection_not_replayable",
        "No estimate: the selection rule failed when it was replayed on a bootstrap ({reason}), so the optimism "
        "of the selection cannot be measured.",
    )
    CLIPPED_PROBABILITIES = (
        "clipped_probabilities",
        "{metric} replaces probabilities closer than 2.2e-16 to 0 or 1 by that bound. For {clipped} of {total} "
        "predictions of {which} this constant, and not the model, sets the loss. Smooth or calibrate "
        "probabilities of 0 and 1 (trees and nearest neighbours give them), or use brier_score.",
    )
    CERTAIN_PREDICTIONS = (
        "certain_predictions",
        "Where {winner} predicts a probability of 0 or 1, it is right in every row of the sample. A new row in "
        "which it is wrong has a log loss of 36, so {share:.3g} of the optimism is for such rows.",
    )
    FEW_ROWS_CARRY = (
        "few_rows_carry",
        "{metric} rests on few rows: the squared errors of {which} are as uneven as if {effective:.0f} of {total} "
        "rows made all of them (with normal errors it would be a third of the rows). Value and interval depend on "
        "whether such rows happen to be in the sample; mean_absolute_error is steadier.",
    )
    FEW_BOOTSTRAPS = (
        "few_bootstraps",
        "With {total} bootstraps the ends of the interval depend on chance. Its level needs at least {wanted}, and "
        "1000 are usual.",
    )
    UNDEFINED_BOOTSTRAPS = (
        "undefined_bootstraps",
        "The metric has no finite value in {undefined} of {total} bootstraps{why}; the estimate leaves them out.",
    )
    SINGLE_CONFIGURATION = (
        "single_configuration",
        "There was one candidate, so nothing was selected outside its own fits, and there is no optimism of "
        "selection to correct.",
    )
    REDRAWN = (
        "redrawn",
        "{redraws} bootstraps lacked {needs} among the rows drawn or among those left out, and were drawn again.",
    )
    FEW_FOLDS = (
        "few_folds",
        "Only {folds} folds were drawn from{each}. In simulations of real fits, 95 % intervals of bbc_f covered "
        "85 to 95 % with 5 folds and 91 to 99 % with 10; with fewer than 5, a bootstrap of folds says little.",
    )
    SELECTION_DIFFERS = (
        "selection_differs",
        "The bootstrap selected by {replayed}, while the winner was selected by {chosen}: the two rules differ "
        "slightly.",
    )
    SELECTION_IGNORED = (
        "selection_ignored",
        "The interval is of the winner alone, as if it had been named beforehand. It is therefore shifted to "
        "the good side and covers less often than its level; it is a baseline, and bbc replays the selection.",
    )
    WEIGHTS_REACHED = (
        "weights_reached",
        "The weights reached {reached}, but not {others}, where every row counts once.",
    )
    STRATIFIED = (
        "stratified",
        "Bootstraps were drawn within classes, which keeps the share of each class as it is in this sample. For "
        "metrics that depend on that share (accuracy, F1, average precision, Brier score, log loss) the interval "
        "is too narrow.",
    )
    UNSCORED_SPLITS = (
        "unscored_splits",
        "{unscored} of {total} splits have no score of any candidate; the means leave them out.",
    )
    SINGLE_ROW_FOLDS = (
        "single_row_folds",
        "Each fold holds one row, so the best of {candidates} configurations in a fold is the best guess at one "
        "row: the correction of tt is far too strong (it can double the loss). Use larger folds, or method bbc.",
    )

    UNUSED_ROWS = (
        "unused_rows",
        "There was one candidate, so nothing was selected, and {unused} of {total} rows that were reserved for "
        "the selection were not used; `evaluation_share=1.0` uses all rows.",
    )
    BEST_OF_FINALISTS = (
        "best_of_finalists",
        "The value is the best score among {finalists} finalists, on the rows that selected it, so it is "
        "optimistic. The bound allows for this selection; the value does not.",
    )
    OTHER_CONFIGURATION = (
        "other_configuration",
        "The estimate is for {selected}, {how}; on all rows the rule selects {winner}.",
    )
    OTHER_MODEL = ("other_model", "The saved model is {model}, and this estimate is of {selected}: {why}.")
    NO_BOUND = ("no_bound", "No bound: {reason}.")
    NO_SPREAD = (
        "no_spread",
        "The winner's {metric} is {value:.4g} in every bootstrap, so the bootstraps show no spread. The interval "
        "therefore ends at the score at which {units} independent units (rows, pairs of rows, or folds){choice} "
        "could just still all be alike by chance, at the interval's level.{endless}",
    )
    FEW_OF_CLASS = (
        "few_of_class",
        "Class {label} has {units:.3g} independent rows. In real searches with fewer than 10 the value of metrics "
        "that look at classes was off by up to .07 on average, mostly too low, and intervals of 95 % held the "
        "truth in 85 to 100 % of the searches, depending on the metric; collect more rows of this class.",
    )
    ALIKE_CLASS = (
        "alike_class",
        "All {rows} rows of class {label} are predicted {result}. So few do not show how many others would be "
        "predicted otherwise, so the interval was widened to the {metric} with {share:.0%} of them otherwise.",
    )
    LITTLE_SPREAD = (
        "little_spread",
        "The winner's {metric}, {value:.4g}, is as close to an end of its range as {missing:.2g} errors in "
        "{trials:.0f} trials. With so few errors bootstraps cannot show how many there could be, so the interval "
        "was widened to {bound}.",
    )
    FOLDS_DEPENDENT = (
        "folds_dependent",
        "{models}, but the interval takes rows as independent. In simulations of cross-validation with real fits "
        "of 40 to 300 rows, such 95 % intervals covered 82 to 95 % without any selection; percentiles of bbc, "
        "which are wider, covered 91 to 99 %.",
    )
    SMALL_SECOND_PART = (
        "small_second_part",
        "The second part has {rows}; with fewer than 10 the normal approximation is poor.",
    )
    FEW_EFFECTIVE_BOOTSTRAPS = (
        "few_effective_bootstraps",
        "The weights of the {total} bootstraps are so uneven that the bound rests on about {effective:.0f} of "
        "them and changes with the seed; `n_bootstraps=10000` or more steadies it.",
    )
    TIED_FINALISTS = (
        "tied_finalists",
        "In {share:.0%} of the bootstraps a finalist reaches the best score that it has in any of them, so the "
        "allowance for selecting among the finalists takes its highest value. The bound is more conservative than "
        "its level and falls as `n_bootstraps=` grows; method '{instead}' may be tighter.",
    )
    DISTANCE_TO_BEST = (
        "distance_to_best",
        "With all rows taken as one development set: with probability {level:g} the {metric} of all {total} "
        "configurations is as near to their scores as the two-sided interval says, and that of the selected one "
        "is within {distance:.4g} of the best of them.",
    )
    SELECTION_UNCORRECTED = (
        "selection_uncorrected",
        "One configuration was selected by its mean score over the inner folds of all outer ones. Together these "
        "test the same rows that it is scored on, so the score is about as optimistic as an uncorrected one. With "
        "`across='folds'` each outer fold selects for itself.",
    )
    OTHER_CHOICE_DEPLOYED = (
        "other_choice_deployed",
        "Each outer fold chose by one development set, but the deployed model was chosen by all {folds} folds of "
        "the rows, a better choice than the one that was evaluated; `inner=5` deploys what it evaluates.",
    )
    FEW_REPEATS = (
        "few_repeats",
        "The width of the interval was measured on {repeats} only and is itself uncertain; its authors average "
        "over 50 or more (`repeats=50`).",
    )
    MODELS_SHARE_ROWS = (
        "models_share_rows",
        "A sample's configuration was selected by the models of other samples, which were trained on rows that "
        "later score it. Where models memorise rows, some of the optimism remains; `scheme='cvt'` keeps "
        "the two apart.",
    )
    DISCONTINUOUS_METRIC = (
        "discontinuous_metric",
        "{metric} reads predicted labels, which change from right to wrong at once. For such metrics the "
        "bootstrap often finds too little optimism, especially where a model memorises its rows; "
        "`method='632+'` is made for this case.",
    )
    MORE_COLUMNS_THAN_ROWS = (
        "more_columns_than_rows",
        "There are {columns} columns and {rows} rows, so a model may fit the rows perfectly. The bootstrap then "
        "often finds too little optimism; `method='632+'` is made for this case.",
    )
    FAILED_REPLICATES = (
        "failed_replicates",
        "{failed} of {total} bootstraps have no model. The estimate rests on the others, which may be the easier "
        "ones; the first failed with: {why}",
    )
    NAIVE_IMPUTATION = (
        "naive_imputation",
        "Missing values were completed once, with the outcome, and then treated as data: the optimism that the "
        "imputation adds is not corrected. `order='boot_mi'` completes every bootstrap anew.",
    )
    IMPUTED_BEFORE_DRAWING = (
        "imputed_before_drawing",
        "Missing values were completed before the bootstraps were drawn, so rows of a sample were completed with "
        "the help of rows that it left out: a little of the optimism may remain. `order='boot_mi'` "
        "completes every bootstrap anew.",
    )
    OUTCOME_IN_EVALUATION = (
        "outcome_in_evaluation",
        "Rows were completed with their outcome where they were evaluated too. The outcome of new rows is not "
        "known, so the score is optimistic for deployment.",
    )
    NOTHING_MISSING = ("nothing_missing", "No value was missing, so nothing was imputed.")
    FITS_TO_ITS_ROWS = (
        "fits_to_its_rows",
        "{metric} fits a curve to the rows that it scores, and the fewer the rows, the more the curve follows "
        "chance. The score of the rows that each sample leaves out is therefore too high with "
        "`method='{method}'`; `method='optimism'` scores all rows.",
    )
    NEVER_LEFT_OUT = (
        "never_left_out",
        "{rows} {were} drawn by every bootstrap that has a model, so no model predicts them unseen and the "
        "out-of-bag score leaves them out; with more bootstraps every row is left out by some.",
    )
    NO_COEFFICIENTS = (
        "no_coefficients",
        "The coefficients of the model cannot be shown: {why}",
    )
    CONSTANT_APPARENT = (
        "constant_apparent",
        "No interval: on its own sample every model has (nearly) the same {metric}, as happens with models that "
        "are calibrated to their own rows or memorise them. Percentiles of such scores say nothing about new "
        "rows; `interval='double'` corrects the score anew in every bootstrap.",
    )
    INTERVAL_OFF_CENTRE = (
        "interval_off_centre",
        "No interval: the bootstraps' scores are not around this model's {metric}, as where samples contain rows "
        "twice and models score better on copies, so the interval would not contain the corrected score{instead}.",
    )
    MEMORISES = (
        "memorises",
        "The model memorises its rows: its {score} is {own:.3g} on the samples that it was fitted on, and "
        "{left_out:.3g} on the rows that these left out. Such rows are right in every sample that holds them, so "
        "the optimism bootstrap subtracts too little; `method='auto'` corrects by .632+ instead, and by "
        "the rows left out where a metric has no score without information.",
    )
    FEW_ROWS_A_COLUMN = (
        "few_rows_a_column",
        "There are {rows:.3g} {of} for each column, and with so few the interval covers less often than its "
        "level: in simulations, 95 % intervals covered the truth in 72 to 88 % of the studies with 5 for each "
        "column, and in 87 to 96 % with 20.",
    )
    OUT_OF_BAG_PERCENTILES = (
        "out_of_bag_percentiles",
        "The interval lies between percentiles of the scores of rows that each bootstrap left out, about a third "
        "of all rows. These spread wider than the score itself, so the interval is too wide.",
    )

    CORRECTED_BEYOND_RANGE = (
        "corrected_beyond_range",
        "The correction gives {metric} {value}, outside the range [{low}, {high}], as a difference of means may; "
        "it is reported at the end of the range.",
    )
    CURVE_UNDEFINED = (
        "curve_undefined",
        "{points} of {total} points of the curve have no corrected value, because no bootstrap reaches them.",
    )
    CURVE_BEYOND_RANGE = (
        "curve_beyond_range",
        "At {points} of {total} points the corrected curve lies outside [{low:g}, {high:g}], as differences of "
        "means may. The numbers are reported unchanged; pictures end at these limits.",
    )
    CURVE_NOT_MONOTONE = (
        "curve_not_monotone",
        "The corrected curve falls at {points} of its points, as differences of means may; it was not smoothed.",
    )

    SELECTION_SMOOTHED = (
        "selection_smoothed",
        "The winner was selected from {chosen_from} on the same rows as its curve. The curve smooths its luck "
        "over training sizes but leaves most of the optimism of the selection in; wmcs, bbc or nested "
        "cross-validation subtract it.",
    )
    CURVE_MISFIT = (
        "curve_misfit",
        "The winner's mean scores are {residual:.2g} away from its power law, {times:.1f} times their standard "
        "errors (root mean squares): the value is read from a curve that does not follow them.",
    )
    CURVE_FLAT = ("curve_flat", "More training rows do not improve the winner: its curve is flat, at their mean.")

    def filled(self, **places: Any) -> str:
        """The sentence with its places filled."""
        return self.sentence.format(**places)

    def of(self, **places: Any) -> dict[Flag, str]:
        """The flag, with its sentence whose places are filled."""
        return {self: self.filled(**places)}


_HEADINGS = {
    "uncorrected": "Not corrected for selection",
    "upside_down": "Scores upside down",
    "incomparable_folds": "Folds on different scales",
    "scale_of_value": "Two scales of the score",
    "folds_unknown": "Folds not known",
    "groups_not_given": "Groups not used",
    "no_control": "No control for few rows",
    "memorises": "Model memorises its rows",
    "stratified": "Drawn within classes",
    "redrawn": "Samples drawn again",
    "training_size_corrected": "Corrected for training size",
    "training_size_uncorrected": "Not corrected for training size",
    "tt_beyond_range": "Corrected beyond the range",
    "no_spread": "Bootstraps without spread",
    "few_rows_carry": "Few rows carry the score",
}
"""Where the name of the flag says too little to people."""
