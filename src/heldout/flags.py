"""Flags: conditions that a reader of a number must know of, each with its sentence.

A sentence may hold named places that the raising code fills, and arguments such as ``{argument:cv=5}``, which the
command line prints as options.
"""

from __future__ import annotations

from ast import literal_eval
from enum import StrEnum
from typing import Any

from heldout._text import argument


class _Argument:
    """Formats ``name=value`` as an argument, and ``name=`` as one with any value."""

    def __format__(self, assignment: str) -> str:
        name, _, value = assignment.partition("=")
        return argument(name, literal_eval(value) if value else ...)


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
        "What has this score was chosen from {chosen_from} on the same predictions, so the score is optimistic: a "
        "corrected method (bbc) takes that out.",
    )
    FAILED_CONFIGURATIONS = (
        "failed_configurations",
        "{failed} of {total} configurations failed and were no candidates: {which}.",
    )
    DROPPED_CONFIGURATIONS = (
        "dropped_configurations",
        "{dropped} of {total} configurations were dropped early. The estimate replays the choice among the "
        "{remaining} that remained, on rows some of which were used to drop the others, so it is a little more "
        "optimistic than without dropping.",
    )
    DROPPING_REPLAYED = (
        "dropping_replayed",
        "{dropped} of {total} configurations were dropped early, and the dropping was repeated inside every "
        "bootstrap. What those would have predicted later is not known, so that each leaves a bootstrap at the "
        "latest when it left the search: a little of the optimism of dropping may remain.",
    )
    GROWING_TRAINING_SETS = (
        "growing_training_sets",
        "The models behind the predictions were trained on {least} to {most} of {total} rows, the more the later; "
        "the estimate is for their mean, {mean:.0f}.",
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
        "The search held groups out whole, but no {argument:groups=} was given here, so single rows are drawn: "
        "rows of a group look more informative than they are, and the interval is too narrow.",
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
        "({argument:aggregate='pooled'}) use all rows.",
    )
    OUT_OF_BAG_POOLED = (
        "out_of_bag_pooled",
        "A fold holds fewer than {fewest} rows of {what} ({least}), too few for {metric} on what a bootstrap "
        "leaves out of it, so the rows left out were scored together.",
    )
    NO_CONTROL = (
        "no_control",
        "What few rows do to {metric} could not be measured, as no bootstrap gives a finite score both of all rows "
        "and of those left out; nothing was subtracted for it.",
    )
    CONTROL_BEYOND_RANGE = (
        "control_beyond_range",
        "Subtracting what few rows do to {metric} carried the value outside its range, [{low}, {high}]; it is "
        "reported as it is.",
    )
    INCOMPARABLE_FOLDS = (
        "incomparable_folds",
        "The {metric} of {winner} is {within:.4g} within folds but {pooled:.4g} on all rows together: scores of "
        "different folds' models are not on one scale, so that comparing rows of different folds says little; "
        "{argument:aggregate='within'} counts pairs of rows of one fold only.",
    )
    SMALL_FOLDS = (
        "small_folds",
        "The {metric} of {winner} is {folds:.4g} as a mean over folds and {pooled:.4g} over all rows together: "
        "folds of {rows} rows change this metric whatever is chosen. Value and interval are about such means over "
        "folds; {argument:aggregate='pooled'} is about many rows.",
    )
    NOT_EXCHANGEABLE = (
        "not_exchangeable",
        "The folds follow the order of time; the bootstrap takes rows as exchangeable, which such rows may not be.",
    )
    TIED_WINNER = (
        "tied_winner",
        "{winner} and {other} have the same score but for a rounding error in its last bit: here the first of "
        "equal ones wins, while GridSearchCV goes by that bit and takes {other}.",
    )
    DYNAMIC_SEARCH = (
        "dynamic_search",
        "The search proposed or dropped configurations by what it had seen, and only {candidates} of them can be "
        "replayed: what such a search costs beyond that is not corrected.",
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
    CLIPPED_PROBABILITIES = (
        "clipped_probabilities",
        "{metric} replaces probabilities nearer to 0 or 1 than 2.2e-16 by that, so that this constant, not the "
        "model, sets what {clipped} of {total} predictions of {which} count. Smooth or calibrate probabilities of "
        "0 and 1 (trees and nearest neighbours give them), or use brier_score.",
    )
    FEW_ROWS_CARRY = (
        "few_rows_carry",
        "{metric} rests on few rows: the squared errors of {which} are as uneven as if {effective:.0f} of {total} "
        "rows made all of them (with normal errors a third of the rows). Value and interval depend on whether such "
        "rows happen to be in the sample; mean_absolute_error is steadier.",
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
    FEW_FOLDS = (
        "few_folds",
        "Only {folds} folds were drawn from{each}; with 5 folds, 95 % intervals of bbc_f covered 85 to 95 % in "
        "simulations of real fits (with 10 folds 91 to 99 %), and with fewer a bootstrap of folds says little.",
    )
    SELECTION_DIFFERS = (
        "selection_differs",
        "The bootstrap chose by {replayed}, while the winner was chosen by {chosen}: not quite the same rule.",
    )
    SELECTION_IGNORED = (
        "selection_ignored",
        "The interval resamples the winner alone, as if it had been named beforehand: it lies too far on the good "
        "side and covers less often than it says. It is a baseline; bbc replays the choice.",
    )
    STRATIFIED = (
        "stratified",
        "Bootstraps were drawn within classes, which holds the share of each class as it is in this sample: the "
        "interval is too narrow for metrics that depend on it (accuracy, F1, average precision, Brier score, log "
        "loss).",
    )
    UNSCORED_SPLITS = (
        "unscored_splits",
        "{unscored} of {total} splits hold no score of any configuration in the race; the means leave them out.",
    )
    SINGLE_ROW_FOLDS = (
        "single_row_folds",
        "Each fold holds one row, so the best of {candidates} configurations there is the best guess at one row: "
        "the correction of tt is far too strong (it can double the loss). Use larger folds, or method bbc.",
    )

    UNUSED_ROWS = (
        "unused_rows",
        "There was one candidate, so nothing was selected, and {unused} of {total} rows were set aside for a "
        "choice that was none; {argument:evaluation_share=1.0} uses all rows.",
    )
    BEST_OF_FINALISTS = (
        "best_of_finalists",
        "The value is the best of {finalists} finalists on the very rows that it was scored on, so it is "
        "optimistic; the bound pays for that choice, the value does not.",
    )
    OTHER_CONFIGURATION = (
        "other_configuration",
        "The estimate is of {selected}, {how}; the choice from all rows is {winner}.",
    )
    NO_BOUND = ("no_bound", "No bound: {reason}.")
    NO_SPREAD = (
        "no_spread",
        "Whatever rows are drawn, the winner's {metric} is {value:.4g}, so that bootstraps show no spread. The "
        "interval ends where {units} independent units (rows, pairs of rows, or folds){choice} would just "
        "happen to be alike.{endless}",
    )
    LITTLE_SPREAD = (
        "little_spread",
        "The winner's {metric}, {value:.4g}, stands as near to an end of its range as {missing:.2g} misses in "
        "{trials:.4g} trials, too few for bootstraps to show how many there could be: the interval was widened to "
        "{bound}.",
    )
    FOLDS_DEPENDENT = (
        "folds_dependent",
        "{models}, and the interval takes rows as independent: in simulations of cross-validation with real fits "
        "of 40 to 300 rows, 95 % intervals that do so covered 82 to 95 % where nothing was chosen; percentiles of "
        "bbc, which are wider, 91 to 99 %.",
    )
    SMALL_SECOND_PART = (
        "small_second_part",
        "The second part has {rows}, and with fewer than 10 the normal approximation is poor.",
    )
    FEW_EFFECTIVE_BOOTSTRAPS = (
        "few_effective_bootstraps",
        "The bound weighs {total} bootstraps so unevenly that it rests on about {effective:.0f}, and moves with "
        "the seed; {argument:n_bootstraps=10000} or more steadies it.",
    )
    TIED_FINALISTS = (
        "tied_finalists",
        "In {share:.0%} of the bootstraps a finalist reaches the best score that it has in any, so that the price "
        "of choosing among them is set at its highest: the bound is more conservative than its level, and falls as "
        "n_bootstraps grows; method '{instead}' may be tighter.",
    )
    DISTANCE_TO_BEST = (
        "distance_to_best",
        "Taken as one development set: with probability {level:g} all {total} configurations are as near to their "
        "scores as the two-sided interval says, and the chosen one is within {distance:.4g} of the best of them in "
        "{metric}.",
    )
    BINNED_SCORES = (
        "binned_scores",
        "Scores were sorted into bins, in choosing and in scoring: the mean {metric} of what was chosen lies "
        "within {bound:.2g} of the one of exact scores, and {certain:.0%} of the bootstraps choose as exact "
        "scores would for certain.",
    )
    SELECTION_UNCORRECTED = (
        "selection_uncorrected",
        "One configuration was chosen by its mean score over the inner folds of all outer ones, which together "
        "test the very rows that it is scored on: the score is optimistic, about as much as an uncorrected one. "
        "{argument:across='folds'} lets each outer fold choose for itself.",
    )
    FEW_REPEATS = (
        "few_repeats",
        "The width of the interval was measured on {repeats}, and is itself uncertain; its authors average over 50 "
        "or more ({argument:repeats=50}).",
    )
    MODELS_SHARE_ROWS = (
        "models_share_rows",
        "The rows that score a sample have trained the models of other samples, by which its configuration was "
        "chosen; where models memorise rows, some of the optimism stays. {argument:scheme='cvt'} keeps them apart.",
    )
    DISCONTINUOUS_METRIC = (
        "discontinuous_metric",
        "{metric} is of predicted labels, which jump from right to wrong: there the bootstrap often finds too "
        "little optimism, most of all where a model remembers its rows; {argument:method='632+'} is made for it.",
    )
    MORE_COLUMNS_THAN_ROWS = (
        "more_columns_than_rows",
        "There are {columns} columns and {rows} rows, so that a model may fit any of them: there the bootstrap "
        "often finds too little optimism; {argument:method='632+'} is made for it.",
    )
    FAILED_REPLICATES = (
        "failed_replicates",
        "{failed} of {total} bootstraps have no model, and the estimate rests on the others, which may be the "
        "easier ones; the first failed with: {why}",
    )
    NAIVE_IMPUTATION = (
        "naive_imputation",
        "Missing values were completed once, with the outcome, and then taken for data: what imputing adds to the "
        "optimism is not corrected. {argument:order='boot_mi'} completes every bootstrap anew.",
    )
    IMPUTED_BEFORE_DRAWING = (
        "imputed_before_drawing",
        "Missing values were completed before the bootstraps were drawn, so that rows of a sample were completed "
        "by rows that it left out: a little of the optimism may remain. {argument:order='boot_mi'} completes "
        "every bootstrap anew.",
    )
    OUTCOME_IN_EVALUATION = (
        "outcome_in_evaluation",
        "Rows were completed with their outcome where they were evaluated too, which is not known of new rows: the "
        "score is optimistic for deployment.",
    )
    NOTHING_MISSING = ("nothing_missing", "No value was missing, so that nothing was imputed.")
    FITS_TO_ITS_ROWS = (
        "fits_to_its_rows",
        "{metric} fits a curve to the very rows that it scores, and on the few that each sample leaves out it "
        "fits the more of their chance: {argument:method='{method}'} has it too high; "
        "{argument:method='optimism'} scores all rows.",
    )
    NEVER_LEFT_OUT = (
        "never_left_out",
        "{rows} {were} drawn by every bootstrap that has a model, so that no model predicts them unseen, and the "
        "out-of-bag score is without them; more bootstraps leave every row out.",
    )
    CONSTANT_APPARENT = (
        "constant_apparent",
        "No interval: models score (nearly) the same {metric} on their own samples whatever the sample, as a model "
        "does that is calibrated to its own rows or remembers them, so that its percentiles say nothing of new "
        "rows; {argument:interval='double'} corrects the score anew in every bootstrap.",
    )
    INTERVAL_OFF_CENTRE = (
        "interval_off_centre",
        "No interval: models look so much better in {metric} on their own samples, which hold rows twice, than "
        "this one on its rows that the shifted interval would not hold the corrected score; "
        "{argument:interval='double'} corrects the score anew in every bootstrap.",
    )
    FEW_ROWS_A_COLUMN = (
        "few_rows_a_column",
        "With {rows:.3g} {of} a column the interval holds the truth less often than it says: in simulations of 95 "
        "% intervals in 72 to 88 % of the studies with 5, and in 87 to 96 % with 20.",
    )
    OUT_OF_BAG_PERCENTILES = (
        "out_of_bag_percentiles",
        "The interval lies between the percentiles of scores of the rows that each bootstrap left out, about a "
        "third of all: they spread wider than the score itself, and so is the interval.",
    )

    CURVE_UNDEFINED = (
        "curve_undefined",
        "{points} of {total} points of the curve have no corrected value: no replicate reaches them.",
    )
    CURVE_BEYOND_RANGE = (
        "curve_beyond_range",
        "At {points} of {total} points the corrected curve lies outside [{low:g}, {high:g}], as differences of "
        "means may; the numbers are kept as they are, only a picture ends there.",
    )
    CURVE_NOT_MONOTONE = (
        "curve_not_monotone",
        "The corrected curve falls at {points} of its points, as differences of means may; it was not "
        "straightened.",
    )

    SELECTION_SMOOTHED = (
        "selection_smoothed",
        "The winner was chosen from {chosen_from} on the same rows that its curve is of: the curve smooths its "
        "luck over training sizes and leaves most of the optimism of the choice in; wmcs, bbc or nested take that "
        "out.",
    )
    CURVE_MISFIT = (
        "curve_misfit",
        "The winner's mean scores lie {residual:.2g} off its power law, {times:.1f} times their standard errors "
        "(root mean squares): the value is read from a curve that does not follow them.",
    )
    CURVE_FLAT = (
        "curve_flat",
        "The winner does not get better with more training rows, so its curve is flat, at the mean of all sizes.",
    )

    def filled(self, **places: Any) -> str:
        """The sentence with its places filled."""
        return self.sentence.format(argument=_Argument(), **places)
