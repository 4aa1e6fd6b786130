"""From a table to a task: the target, its kind, and the columns to predict from.

Every guess comes with a sentence that explains it and names the option that overrides it.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from heldout._text import counted, is_one_of
from heldout._types import Array, Booleans, Floats
from heldout.data.checks import TASKS, check_choice
from heldout.data.task import (
    Task,
    TaskKind,
    Truth,
    check_told_apart,
    checked_weights,
    labels_text,
    shortened,
    survival_target,
    truth_of,
)
from heldout.errors import InputError
from heldout.readers import predictors
from heldout.readers.cells import DATE_PARTS, alike, as_categories, date_columns
from heldout.readers.columns import (
    check_complete,
    check_numbers,
    events_of_column,
    labels_of_column,
    place_of_class,
    quoted,
    reads_as_number,
    text_of,
)
from heldout.readers.csv_table import DECIMAL_COMMA, MISSING_TOKENS, NO_ANSWER, CellFormat
from heldout.readers.missing_codes import remarks_on_codes
from heldout.readers.tables import Table, missing_as_written
from heldout.spaces.preprocessing import column_kinds
from heldout.spaces.presets import MOST_CLASSES

CLASSIFICATION = "classification"
TRUE_VALUE = "its true value: leave these rows out"
"""The end of a sentence on missing values of a target."""

MOST_TIMES = 5
"""More times are those of a curve, and no columns of predictions."""

GREATEST = 1e38
"""Larger numbers are refused."""

DEFAULT_METRICS: Mapping[TaskKind, str] = {
    TaskKind.BINARY: "roc_auc",
    TaskKind.MULTICLASS: "accuracy",
    TaskKind.REGRESSION: "r2",
    TaskKind.SURVIVAL: "concordance_index",
}
"""Scorer names by task, for the reasons in notes/decisions/0006-command-line.md."""


@dataclass(frozen=True, eq=False)
class TableTask:
    """A task from a table, with the decisions made in reading it."""

    task: Task
    """``task.X`` is a DataFrame of the columns to predict from."""
    target: str
    why: str
    """A sentence: how the target was read, and why."""
    excluded: Mapping[str, str]
    """Columns that are not used, with the reason."""
    columns: Mapping[str, Any]
    """What was done to the columns, for the record: which were excluded and why, which hold categories, whether
    numbers have a decimal comma, and remarks on reading them.
    """
    event: str | None = None
    """The column of events of a survival task."""
    format: CellFormat = field(default_factory=CellFormat)
    """How the cells were read."""

    def note(self, times: Sequence[float]) -> dict[str, Any]:
        """What a model keeps, to read new tables alike; and a few times at which its survival was scored."""
        return {"format": asdict(self.format), "times": [*times] if len(times) <= MOST_TIMES else []}


def task_from_table(
    table: Table,
    target: str,
    *,
    event: str | None = None,
    event_value: str | None = None,
    kind: str | None = None,
    groups: str | None = None,
    weight: str | None = None,
    positive: str | None = None,
    keep: Sequence[str] = (),
    factor: Sequence[str] = (),
    date: Sequence[str] = (),
    date_parts: Sequence[str] = DATE_PARTS,
    alike_labels: str | None = None,
    drop_missing_target: bool = False,
) -> TableTask:
    """The task of predicting one column of a table from the others.

    All but ``event_value``, ``kind``, ``positive`` and the last two are names of columns. With ``event`` (0 and 1,
    or true and false) the target holds times to that event or to censoring, and the task is survival;
    ``event_value`` is the value, as text, that means the event in a column of others. ``kind`` is one of ``TASKS``,
    by default guessed from the values; ``positive`` is a class as text, by default the last in order. Columns in
    ``keep`` are predictors even if they look like row numbers, names or dates, or tell the target. Numbers in
    ``factor`` are codes of categories; a column in ``date`` becomes its ``date_parts``: year, month, and days since
    1970. Labels that differ in capitals or blanks only are refused, unless ``alike_labels`` is "merge" (they are
    one class, by its most frequent text) or "keep". ``drop_missing_target`` leaves out the rows without a target.

    Examples
    --------
    >>> from heldout.readers.tables import read_table
    >>> task = task_from_table(read_table("example:breast_cancer"), "target").task
    >>> task.truth.kind.value, task.truth.pos_label, task.X.shape
    ('binary', 'malignant', (569, 30))
    """
    if kind is not None:
        check_choice("task", kind, TASKS)
    uses = table.purposes({"the target": target, "the event": event, "the groups": groups, "the weights": weight})
    if drop_missing_target:
        table = _with_target(table, [name for name in (target, event) if name is not None])
    column = table.frame[target]
    group_column = None if groups is None else table.frame[groups]
    if group_column is not None:
        check_complete(group_column, "the groups", "its group: fill them in, or leave these rows out")
    weights = None if weight is None else _weights(table.frame[weight])
    if event is None and event_value is not None:
        raise InputError(
            f"`event_value={event_value!r}` is a value of the column of events; name it with `event=`, or leave it "
            "out."
        )
    if event is None and kind is None:
        _check_no_event(table, column, uses)
    if event is None and kind != "survival":
        check_complete(column, "the target", f"{TRUE_VALUE} (--drop-missing-target){_as_written(table, target)}")
        truth, why = _truth(_told_apart(column, alike_labels), target, kind, positive)
    else:
        truth, why = _survival(table, column, event, event_value, kind, positive)
    rest = table.frame.drop(columns=list(uses))
    for option, names in (("keep", keep), ("factor", factor), ("date", date)):
        for name in names:
            table.column(name, f"a column of --{option}")
            if name in uses:
                raise InputError(f"--{option} {name}: the column is {uses[name]}; name a predictor.")
    rest = _with_parts(rest, factor, date, date_parts)
    excluded = predictors.excluded_columns(rest, (*keep, *factor))
    excluded |= predictors.telling_columns(rest.drop(columns=[*keep], errors="ignore"), column, truth.kind)
    usable = rest.drop(columns=list(excluded))
    if not usable.shape[1]:
        reasons = ", ".join(f"{name!r} ({reason})" for name, reason in list(excluded.items())[:5])
        raise InputError(
            f"{table.name} has no usable column left to predict {target!r} from"
            + (f": {reasons}; add columns that differ between rows." if reasons else "; add predictor columns.")
        )
    for name in usable.select_dtypes("number").columns:
        _check_size(usable[name], f"column {name!r}")
    parts = []
    if date and len(date_parts) == 1:  # columns that depend on each other have no coefficients of their own
        parts = [f"{quoted(date)}: the days since 1970 alone, on which year and month depend."]
    columns = {
        "excluded": {str(name): reason.partition("; to use it")[0] for name, reason in excluded.items()},
        "categories": list(column_kinds(usable).categorical),
        "decimal_comma": DECIMAL_COMMA in table.remarks,
        "outcome": {"target": target, "event": event, "event_value": event_value},
        "remarks": [
            *table.remarks,
            *parts,
            *predictors.remarks_on_text(usable),
            *remarks_on_codes(usable),
            *remarks_on_codes(column.to_frame()),
        ],
    }
    return TableTask(
        Task(usable, truth, labels_of_column(group_column), weights), target, why, excluded, columns, event,
        table.format,
    )  # fmt: skip


def _survival(
    table: Table,
    time: Any,
    event: str | None,
    event_value: str | None,
    kind: str | None,
    positive: str | None,
) -> tuple[Truth, str]:
    if event is None:
        raise InputError(
            f"`task='survival'` needs the column of events at the times in {time.name!r}; name it with `event=`."
        )
    if not is_one_of(kind, (None, "survival")):
        raise InputError(f"`event={event!r}` is for times to an event, got `task={kind!r}`; leave one of them out.")
    if positive is not None:
        raise InputError(f"--positive {positive} needs a target of two classes, got a survival one.")
    column = table.frame[event]
    for each, what in ((time, "the target (times)"), (column, "the event")):
        check_complete(each, what, f"{TRUE_VALUE} (--drop-missing-target)")
    check_numbers(time, "the target (times)")
    truth = truth_of(survival_target((events_of_column(column, event_value), time.to_numpy())), TaskKind.SURVIVAL)
    events = counted(int(truth.values["event"].sum()), "event")
    meaning = "" if event_value is None else _meaning(column, truth.values["event"])
    return truth, (
        f"Target {time.name!r} holds times and {event!r} marks the events among them ({events} in "
        f"{counted(len(time), 'row')}{meaning}), so this is survival."
    )


def _meaning(column: Any, events: Booleans) -> str:
    """Which values of an event column mean what."""
    seen, censored = (quoted(sorted(column[rows].unique().tolist(), key=str)) for rows in (events, ~events))
    return f"; {seen} is the event" + (f", {censored} is censored" if censored else "")


def _with_target(table: Table, names: Sequence[str]) -> Table:
    """The rows that have a target, each with its number in the file, and a remark on the others."""
    present = table.frame[names].notna().all(axis=1)
    if present.all():
        return table
    first = int(present.idxmin()) + 1
    remark = (
        f"{counted(int((~present).sum()), 'row')} without a target left out (first: row {first}); the others are "
        "counted anew."
    )
    return replace(table, frame=table.frame[present].reset_index(drop=True), remarks=(*table.remarks, remark))


def _as_written(table: Table, target: str) -> str:
    """How to have the cells of a target as a class that were read as missing."""
    texts = missing_as_written(table, target) if table.frame[target].isna().any() else []
    texts = [text for text in texts if text in MISSING_TOKENS + NO_ANSWER]
    if not texts:
        return ""
    return f"; if the text {quoted(texts)} is a class, use --not-missing {shlex.quote(texts[0])}"


def _told_apart(column: Any, alike_labels: str | None) -> Any:
    """The labels of a target, in which those that look alike are one where this is wanted."""
    if column.dtype != object or not all(isinstance(value, str) for value in column):
        return column
    counts = column.value_counts()
    for labels in alike(sorted(counts.index)):
        if alike_labels is None:
            raise InputError(
                f"the target column {column.name!r} holds {quoted(labels)}, which differ in capitals or blanks "
                "only; use --alike-labels merge if they are one class, or --alike-labels keep if not."
            )
        if alike_labels == "merge":
            column = column.replace(labels, counts[labels].idxmax())
    return column


_OF_EVENT = re.compile(
    r"(^|[\W_])(event|status|fustat|died|dead|death|deceased|cens(or(ed|ing)?)?|relapsed?|recurrence)($|[\W_])",
    re.I,
)
_OF_TIME = re.compile(
    r"(^|[\W_])(time|days?|weeks?|months?|years?|survival|os|pfs|dfs|futime|follow[\W_]?up|duration|tte)($|[\W_])",
    re.I,
)


def _check_no_event(table: Table, time: Any, uses: Mapping[str, str]) -> None:
    """Refuse a target that looks like times beside a column that looks like their events."""
    is_amount = time.dtype.kind in "iuf" and _guessed_kind(time, "", time.nunique())[0] is TaskKind.REGRESSION
    if not is_amount or not _OF_TIME.search(str(time.name)):
        return
    for name in table.frame.columns:
        if name not in uses and _OF_EVENT.search(name) and {*table.frame[name].dropna()} <= {0, 1, 2}:
            raise InputError(
                f"{name!r} looks like the events at the times in {time.name!r}; use --event {shlex.quote(name)}, "
                "or if the times are amounts that are all known, --task regression."
            )


def _with_parts(frame: Any, factor: Sequence[str], date: Sequence[str], date_parts: Sequence[str]) -> Any:
    """The predictors with codes as categories, and each date as its parts."""
    frame = frame.copy(deep=False)
    for name in factor:
        frame[name] = as_categories(frame[name])
    for name in dict.fromkeys(date):
        for part, values in date_columns(frame.pop(name), date_parts).items():
            if part in frame.columns:
                raise InputError(f"--date {name} makes the column {part!r}, which the table has; rename that one.")
            frame[part] = values
    return frame


def _truth(column: Any, target: str, kind: str | None, positive: str | None) -> tuple[Truth, str]:
    stranger = predictors.neither_labels_nor_numbers(column)
    is_text = column.dtype.kind == "O"
    if stranger and not (is_text and kind == CLASSIFICATION):
        raise InputError(
            f"the target column {target!r} holds {stranger}; it must hold labels or numbers, for instance the days "
            f"since the first date{f', or use `task={CLASSIFICATION!r}` if they are labels' if is_text else ''}."
        )
    distinct = int(column.nunique())
    if distinct == 1:
        raise InputError(
            f"the target column {target!r} has one value in all {counted(len(column), 'row')}, "
            f"{shortened(column.iloc[0])}; there is nothing to predict: use a column with at least two."
        )
    if kind is None:
        wanted, evidence = _guessed_kind(column, target, distinct)
        other = CLASSIFICATION if wanted is TaskKind.REGRESSION else "regression"
        numeric = column.dtype.kind in "biuf"
        how = f"{evidence}, so this is {{kind}}" + (f" (to override: `task={other!r}`)" if numeric else "")
    else:
        wanted = TaskKind.MULTICLASS if kind == CLASSIFICATION else TaskKind(kind)
        strangers = [value for value in column.unique() if not reads_as_number(value)]
        if wanted is TaskKind.REGRESSION and strangers:
            raise InputError(
                f"`task={kind!r}` needs a target of numbers, but column {target!r} holds "
                f"{shortened(strangers[0])}; fix it, or use `task={CLASSIFICATION!r}`."
            )
        how = f"{distinct} distinct values, read as {{kind}} because of `task={kind!r}`"
    if wanted is TaskKind.REGRESSION and column.dtype.kind in "iuf":
        _check_size(column, f"the target column {target!r}")
    if wanted is not TaskKind.REGRESSION:
        remedy = "name the classes by text, or if they are amounts use `task='regression'`"
        check_told_apart(column.to_numpy(), f"the labels of the target column {target!r}", remedy)
    truth = truth_of(_values(column, wanted), wanted)
    if positive is not None:
        truth = truth.with_positive(code_of_text(truth, positive))
    else:
        truth = with_usual_positive(truth)
    return truth, f"Target {target!r} holds {how.format(kind=_kind_text(truth))}."


WORDS_FOR_NO = frozenset({
    "no", "n", "non", "not", "none", "never", "without", "false", "negative", "neg", "-", "control",
    "controls", "ctrl", "healthy", "normal", "good", "ok", "benign", "absent", "absence", "alive", "survived",
    "unaffected", "inactive", "legitimate", "legit", "ham", "nein", "kein", "keine", "nicht", "ohne", "falsch",
    "negativ", "kontrolle", "kontrollen", "gesund", "gut", "gutartig", "unauffällig", "lebend", "lebt",
    "überlebt",
})  # fmt: skip
"""What the class is called that is not the case; a label of several words is one if its first word is."""


def with_usual_positive(truth: Truth) -> Truth:
    """The target of two text labels with the one positive that is no word for no, if the other is such a word.

    Commands choose so where no class was named; else the last in sorted order is positive, as in scikit-learn.

    Examples
    --------
    >>> pairs = ["case", "control"], ["a", "b"], ["ja", "nein"]
    >>> [with_usual_positive(truth_of(labels)).pos_label for labels in pairs]
    ['case', 'b', 'ja']
    """
    if truth.kind is not TaskKind.BINARY or truth.classes is None:
        return truth
    denies = [isinstance(label, str) and _denies(label) for label in truth.classes.tolist()]
    return truth.with_positive(denies.index(False)) if sum(denies) == 1 else truth


def _denies(label: str) -> bool:
    words = label.strip().casefold().replace("_", " ").split()
    return bool(words) and (words[0] in WORDS_FOR_NO or words[0].split("-")[0] in WORDS_FOR_NO - {"-"})


def code_of_text(truth: Truth, label: str) -> int:
    """The code of the class in ``--positive``; ``1.0`` is the class 1 too."""
    if truth.kind is not TaskKind.BINARY or truth.classes is None:
        raise InputError(f"--positive {label} needs a target of two classes, got a {truth.kind.value} one.")
    code = place_of_class(label, truth.classes.tolist())
    if code is not None:
        return code
    raise InputError(f"--positive must be one of the classes {labels_text(truth.classes)}, got {label!r}.")


def _guessed_kind(column: Any, target: str, distinct: int) -> tuple[TaskKind, str]:
    """The kind of task (multiclass for any classification), and the reason in words."""
    if column.dtype.kind == "b":
        return TaskKind.MULTICLASS, "true and false"
    if column.dtype.kind not in "iuf":
        _check_not_numbers(column, target, distinct)
        return TaskKind.MULTICLASS, f"{distinct} different labels"
    if column.dtype.kind == "f" and not (column == column.round()).all():
        return TaskKind.REGRESSION, "numbers with decimals"
    if (distinct <= MOST_CLASSES and distinct * 5 <= len(column)) or distinct == 2:
        return TaskKind.MULTICLASS, f"whole numbers with only {distinct} different values"
    return TaskKind.REGRESSION, f"whole numbers with {distinct} different values"


def _check_not_numbers(column: Any, target: str, distinct: int) -> None:
    """Refuse amounts with a few typing errors: read as text, every row would be a class of its own."""
    if distinct <= MOST_CLASSES:
        return
    strangers = [value for value in column.unique() if not reads_as_number(value)]
    if len(strangers) <= distinct / 5:
        row = int((column == strangers[0]).to_numpy().argmax()) + 1 if strangers else 1
        example = strangers[0] if strangers else column.iloc[0]
        raise InputError(
            f"the target column {target!r} holds numbers except for {counted(len(strangers), 'value')} such as "
            f"{shortened(example)} (row {row}); fix or leave out these rows, or use `task={CLASSIFICATION!r}`."
        )


def _values(column: Any, kind: TaskKind) -> Array:
    if kind is not TaskKind.REGRESSION and column.dtype.kind == "f" and (column == column.round()).all():
        return column.to_numpy().astype(np.int64)
    if column.dtype.kind == "O" and all(isinstance(value, str) for value in column):
        return text_of(column)
    return np.asarray(column.to_numpy())


def _kind_text(truth: Truth) -> str:
    if truth.kind is TaskKind.BINARY:
        return f"binary classification (positive class {labels_text([truth.pos_label])})"
    if truth.kind is TaskKind.MULTICLASS:
        return f"{truth.n_classes}-class classification"
    return "regression"


def _check_size(column: Any, what: str) -> None:
    """Refuse infinities and numbers beyond float32, which forests cannot hold and other models cannot scale."""
    excess = np.abs(column.to_numpy(dtype=float, na_value=np.nan)) > GREATEST
    if excess.any():
        first = int(excess.argmax())
        raise InputError(
            f"{what} holds {counted(int(excess.sum()), 'number')} that no model accepts, infinite or beyond "
            f"±{GREATEST:.0e}: {column.iloc[first]!s} in row {first + 1} is the first; if they stand for missing "
            "values leave them empty, else scale them."
        )


def _weights(column: Any) -> Floats | None:
    """The weights of the rows with mean 1; None where all are equal."""
    check_complete(column, "the weights", "its weight: fill them in, or leave these rows out")
    check_numbers(column, "the weights")
    return checked_weights(column.to_numpy(), len(column))


def check_folds_fit(found: TableTask, n_folds: int) -> None:
    """Refuse more folds than the groups or the events can fill, and a class of one group, in words of the table."""
    task = found.task
    if task.groups is not None and len(np.unique(task.groups)) < n_folds:
        raise InputError(
            f"{n_folds} folds need at least {n_folds} groups, got {len(np.unique(task.groups))}; a fold would be "
            f"empty: use --cv {max(len(np.unique(task.groups)), 2)} or less, or gather more groups."
        )
    if task.truth.kind is TaskKind.SURVIVAL:
        events = int(task.truth.values["event"].sum())
        if events < 2:
            raise InputError(
                f"the target {found.target!r} has {counted(events, 'event')}, and folds need at least 2, one to "
                "train on and one to test; gather more rows with the event."
            )
    if task.truth.kind.is_classification and task.groups is not None:
        for code, label in enumerate(task.truth.classes if task.truth.classes is not None else ()):
            if (count := len(np.unique(task.groups[task.truth.values == code]))) < 2:
                raise InputError(
                    f"class {labels_text([label])} of {found.target!r} occurs in {count} group only, and so never "
                    "in training and test rows at once; gather more groups of it, or leave its rows out."
                )
