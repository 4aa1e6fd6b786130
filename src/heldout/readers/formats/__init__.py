"""Formats of predictions, of which ``read_predictions`` reads any."""

from collections.abc import Sequence
from typing import Any

from heldout.data.checks import TASK_DRAWS, check_choice
from heldout.data.task import shortened
from heldout.errors import InputError
from heldout.readers.formats.recognition import format_of
from heldout.readers.formats.tool import Export
from heldout.readers.long_table import ColumnUses
from heldout.readers.prediction_table import PredictionTable


def read_predictions(
    source: Any,
    format: str = "auto",
    *,
    target: Any = None,
    event: str | None = None,
    fold: Any = None,
    repeat: str | None = None,
    row: str | None = None,
    configuration: str | Sequence[str] = (),
    prediction: str | Sequence[str] = (),
    group: Any = None,
    weight: Any = None,
    exclude: str | Sequence[str] = (),
    tasks: str | None = None,
) -> PredictionTable:
    """Read the held-out predictions that another tool made.

    Parameters
    ----------
    source : str, Path, data frame or object
        A file (CSV, Parquet, ARFF or R's), a table in memory, or an object: a mapping from names of configurations
        to arrays of scikit-learn's ``cross_val_predict``. If a tool writes a file or table per model: their folder,
        a list of them, or a mapping from names of models to them.
    format : str, default="auto"
        "auto" recognises the format by its columns, and raises an error if two fit. Otherwise a name: "caret",
        "tidymodels", "mlr3", "scikit_learn", "heldout" (the file of ``heldout tune``), "wide" (one column per
        configuration), "long" (one line per row and configuration), "weka", "h2o", "mljar", "autogluon", "orange",
        "openml" and "tabrepo"; and for evaluations of language models "lm_eval", "inspect", "helm", "promptfoo",
        "openai_evals", "evalstats" and "scores" (one column of scores per system, and no target).
    target : str or array-like of shape (N,), optional
        The column of true values. If the source has none: the values, or ``FILE:COL``, a column of a file with the
        rows in the same order. Not needed if the format has its own.
    event : str, optional
        For survival: the column that is 1 if the event was observed; the target then holds times.
    fold, group, weight : str or array-like of shape (N,), optional
        Columns; or arrays, for a wide table or for arrays that lack them.
    repeat, row : str, optional
        Columns with the number of the repeat, and with the row that a line predicts.
    configuration : str or list of str, default=()
        Columns that identify a configuration. For a long table that is not recognised: all of them, together with
        ``row``. For a recognised tool: further ones, such as a column that distinguishes combined exports.
    prediction : str or list of str, default=()
        Columns of predictions, in wide and long tables; by default all columns without another use.
    exclude : str or list of str, default=()
        Columns to ignore.
    tasks : "stratified" or "whole", optional
        For evaluations with several tasks, whose score is the mean over tasks. "stratified": bootstraps draw items
        within each task, so that the result is about these tasks. "whole": they draw whole tasks, so that it is
        about tasks of this kind.

    Returns
    -------
    PredictionTable
        With ``truth``, ``predictions``, ``folds``, ``groups``, ``sample_weight`` and ``source``, whose text is one
        line on what was recognised. ``ho.estimate(table, metric=...)``, ``ho.compare_estimates`` and
        ``ho.compare_configurations`` take it in place of ``y_true`` and ``predictions``. The positive class is the
        last of two in sorted order, unless you pass ``pos_label=`` there.

    Raises
    ------
    InputError
        When no format or two formats fit, a line occurs twice, or a column could have two uses.

    Examples
    --------
    >>> import pandas as pd, heldout as ho
    >>> lines = [(row, k) for row in range(1, 41) for k in (3, 5)]  # as write.csv(fit$pred) of caret has them
    >>> frame = pd.DataFrame(lines, columns=["rowIndex", "k"])
    >>> frame["obs"] = frame["rowIndex"] % 7
    >>> frame["pred"] = frame["obs"] + 0.1 * (frame["rowIndex"] % 3) * frame["k"]
    >>> frame["Resample"] = "Fold" + (frame["rowIndex"] % 5).astype(str)
    >>> table = ho.read_predictions(frame)
    >>> table.source.title, table.source.columns["configurations"], table.predictions.names
    ('fit$pred of caret', 'k', ('k=3', 'k=5'))
    >>> estimate = ho.estimate(table, metric="neg_mean_absolute_error", random_state=0)
    >>> estimate.selected_name, round(estimate.uncorrected, 3)
    ('k=3', -0.3)
    """
    uses = ColumnUses(
        target=target,
        event=event,
        fold=fold,
        repeat=repeat,
        row=row,
        group=group,
        weight=weight,
        configuration=_listed("configuration", configuration),
        predictions=_listed("prediction", prediction),
        exclude=_listed("exclude", exclude),
        tasks=tasks,
    )
    for name in ("event", "repeat", "row"):
        value = getattr(uses, name)
        if value is not None and not isinstance(value, str):
            raise InputError(f"{name} must be the name of a column, got {shortened(value)}.")
    if tasks is not None:
        check_choice("tasks", tasks, TASK_DRAWS)
    export = Export.of(source)
    return format_of(export, uses, format).read(export, uses)


def _listed(argument: str, names: Any) -> tuple[str, ...]:
    """The names of columns, one or several."""
    listed = [names] if isinstance(names, str) else names
    if not isinstance(listed, list | tuple) or not all(isinstance(name, str) for name in listed):
        raise InputError(f"{argument} must be the name of a column or a list of names, got {shortened(names)}.")
    return tuple(listed)
