"""Evaluations of language models: a score for each system, item and run. Systems are the configurations.

A tool yields ``ScoredAnswer``s, one for each score of an answer; the rest is the same for all tools. The items of
several tasks count so that their score is the mean over tasks. Nothing was trained on other items, so there are no
folds.
"""

import json
import math
import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from heldout._text import counted
from heldout.data.task import shortened
from heldout.errors import InputError
from heldout.estimates.methods.shrinkage import Shrinkage
from heldout.metrics.row_losses import MeanScore
from heldout.predictions import SearchQuestion
from heldout.readers.columns import check_numbers, first_no_number, quoted
from heldout.readers.formats.tool import Export, Tool
from heldout.readers.long_table import ColumnUses, ResponseColumns, natural_order
from heldout.readers.tables import Table
from heldout.readers.text_lines import entry, json_lines, json_of, opening_lines

LOSSES = re.compile(
    r"(?:^|[^a-z])(?:perplexity|bits_per_byte|brier|loss|ter|wer|cer|error|errors|mse|rmse|mae|nll|toxicity)(?:$|[^a-z])"
)
"""Words in the names of scores of which less is better."""
PART, BEST = "(part)", "(best)"
"""Columns that tables of scores get; a system may be called part or best."""


class ScoredAnswer(NamedTuple):
    """A score of one system's answer to one item in one run."""

    system: str
    task: str
    item: Any
    run: Any
    metric: str
    score: float
    data: Mapping[str, Any]
    """What the tool keeps of the item, such as the document that it is about."""
    content: str = ""
    """What is the same wherever the item is the same, such as a hash of it; empty where the tool has none."""


class Evaluations(Tool):
    """The files of a tool, in a folder or any of its folders, or one of them."""

    needs = ("system", "task", "item", "run", "score", "content")
    columns: ClassVar = {"row": ("item",), "repeat": ("run",)}
    free = ("predictions",)
    finds_target = True
    files: ClassVar[tuple[str, ...]] = ()
    """Patterns of the names of its files."""
    prefers: ClassVar[tuple[str, ...]] = ()
    """Of the scores of a task, the first of these is read, or else the first that there is."""

    def recognises(self, export: Export, uses: ColumnUses) -> bool:
        return any(self.wrote(path) for path in self.paths(export))

    def paths(self, export: Export) -> list[Path]:
        """The files that may be of the tool."""
        if export.path is None:
            return []
        if not export.path.is_dir():
            return [export.path] if any(export.path.match(pattern) for pattern in self.files) else []
        found = {path for pattern in self.files for path in export.path.rglob(pattern)}
        hidden = {path for path in found if any(part.startswith(".") for part in path.parts[-3:])}
        return sorted(found - hidden)

    def wrote(self, path: Path) -> bool:
        """Whether a file of such a name is the tool's."""
        return True

    @abstractmethod
    def answers(self, export: Export) -> Iterator[ScoredAnswer]:
        """All scores of all answers."""

    def tables(self, export: Export, uses: ColumnUses) -> tuple[dict[str, Table], ColumnUses]:
        import pandas as pd

        frame = pd.DataFrame.from_records(list(self.answers(export)), columns=ScoredAnswer._fields)
        if frame.empty:
            raise InputError(f"{export.name} holds no scores of {self.title} ({self.signs}).")
        frame, unscored = _scored(frame)
        systems = frame["system"].unique()
        frame, remarks = self._of_one_score(frame, uses)
        _check_tasks(frame, systems)
        frame, more = _of_equal_runs(frame)
        more = [*unscored, *more]
        if isinstance(uses.group, str):
            frame[uses.group] = _in_data(frame, uses.group)
        if frame["task"].nunique() > 1:
            frame["weight"] = 1 / frame.groupby("task")["item"].transform("nunique")
            frame["item"] = frame["task"] + "/" + frame["item"].astype(str)
            if uses.tasks == "whole":
                uses = replace(uses, group="task")
            elif uses.group is not None:  # drawn within tasks, so a group is of one
                frame[uses.group] = frame["task"] + "/" + frame[uses.group].astype(str)
            about = "tasks of their kind" if uses.tasks == "whole" else "these tasks"
            more.append(
                f"The score is the mean over {frame['task'].nunique()} tasks, and is about {about} (`tasks=`)."
            )
        best = frame.assign(**{PART: "all", BEST: MeanScore().range[1]})
        table = Table(export.name, best.drop(columns=["metric", "data"]), (*remarks, *more))
        return {"": table}, replace(uses, predictions=())

    def roles(self, export: Export, table: Table, uses: ColumnUses) -> ColumnUses:
        stratified = table.frame["task"].nunique() > 1 and uses.tasks != "whole"
        return uses.with_roles(
            target="task" if stratified else BEST,
            of_classes=stratified,
            configuration=("system",),
            fold=(PART,),
            values="score",
            weight="weight" if "weight" in table.frame else uses.weight,
            attributes=("content",),
            shown={},
            question=SearchQuestion(
                metric=MeanScore(), method=Shrinkage(stratify=True) if stratified else None, of_search=False
            ),
        )

    def _of_one_score(self, frame: Any, uses: ColumnUses) -> tuple[Any, list[str]]:
        """The lines of one score for each task, and what was chosen where there are several."""
        import pandas as pd

        chosen, remarks = [], []
        for task, lines in frame.groupby("task", sort=False):
            known = list(dict.fromkeys(lines["metric"]))
            named = [name for name in uses.predictions if name in known]
            usual = [name for name in self.prefers if name in known]
            own = named or usual or [name for name in known if not _is_loss(name)]
            if (uses.predictions and not named) or not own or _is_loss(own[0]):
                raise InputError(
                    f"task {task} has the scores {quoted(known, 8)}; name one of which more is better with "
                    "`prediction=`.",
                    argument="prediction",
                )
            chosen.append(lines[lines["metric"] == own[0]])
            if not named and len(known) > 1:
                others = quoted([name for name in known if name != own[0]], 5)
                remarks.append(f"Task {task}: {own[0]!r} is the score (there is {others} too; `prediction=`).")
        return pd.concat(chosen, ignore_index=True), remarks


class Scores(Tool):
    """Scores without true values: a column for each system, or a line for each item and system."""

    name = "scores"
    title = "a table of scores without true values"
    signs = "its name"
    columns: ClassVar = {"target": (BEST,)}
    free = ("predictions", "repeat", "configuration")

    def recognises(self, export: Export, uses: ColumnUses) -> bool:
        return False

    def tables(self, export: Export, uses: ColumnUses) -> tuple[dict[str, Table], ColumnUses]:
        table = export.table_with()
        names = self._named(table, uses)
        if uses.configuration and len(names) != 1:
            raise InputError(
                f"{table.name} has a line for each item and system; name its one column of scores with "
                f"`prediction=` (there is {quoted(names) or 'none'}).",
                argument="prediction",
            )
        graded = {name: _graded(table.frame[name], is_named=bool(uses.predictions)) for name in names}
        frame = table.frame.assign(**graded, **{PART: "all", BEST: MeanScore().range[1]})
        return {"": replace(table, frame=frame)}, replace(uses, predictions=tuple(names))

    def roles(self, export: Export, table: Table, uses: ColumnUses) -> ColumnUses:
        is_long = bool(uses.configuration)
        return uses.with_roles(
            fold=(PART,),
            values=uses.predictions[0] if is_long else None,
            heads={} if is_long else {name: ResponseColumns(values=name) for name in uses.predictions},
            shown={},
            question=SearchQuestion(metric=MeanScore(), of_search=False),
        )

    def _named(self, table: Table, uses: ColumnUses) -> list[str]:
        """The columns of scores: those that the user names, or all that have no other use."""
        if uses.predictions:
            return list(uses.predictions)
        left = uses.others(table)
        if not uses.configuration:
            return left
        return [name for name in left if table.frame[name].dtype.kind in "biuf"]


_WORDS = {
    **dict.fromkeys(("true", "right", "correct", "yes", "pass", "passed"), 1.0),
    **dict.fromkeys(("false", "wrong", "incorrect", "no", "fail", "failed"), 0.0),
}
"""What says of an answer whether it is right."""


def _graded(column: Any, *, is_named: bool) -> Any:
    """Scores as numbers, where the column has numbers or says right and wrong in words."""
    if column.dtype.kind in "iuf":
        return column
    graded = column.astype(str).str.strip().str.lower().map(_WORDS)
    if (graded.notna() | column.isna()).all():
        return graded
    first = first_no_number(column.where(graded.isna()))
    if first is not None and not is_named:
        raise InputError(
            f"column {column.name!r} holds {shortened(column.iloc[first])} in row {first + 1}, which is no score "
            f"(a number, or right and wrong); name the item of a line with `row={column.name!r}`, leave a column "
            f"out with `exclude={column.name!r}`, or name the columns of scores with `prediction=`.",
            argument="exclude",
        )
    check_numbers(column, "the scores")
    return column


def _scored(frame: Any) -> tuple[Any, list[str]]:
    """The lines with a score, and how many answers have none; a task without any is refused."""
    absent = frame["score"].isna()
    whole = frame.groupby(["task", "metric"])["score"].transform("count") == 0
    tasks = set(frame["task"])
    if empty := sorted(tasks - set(frame.loc[~absent, "task"])):
        raise InputError(f"task {empty[0]} has no score that is a number; leave it out, or score its answers.")
    counts = frame[absent & ~whole].groupby(["task", "metric"], sort=False).size()
    remarks = [
        f"Task {task}: {counted(int(number), 'answer')} without {metric!r}; items that lack it everywhere are out."
        for (task, metric), number in counts.items()
    ]
    return frame[~absent].reset_index(drop=True), remarks


def _is_loss(name: str) -> bool:
    return bool(LOSSES.search(name.lower()))


def _of_equal_runs(frame: Any) -> tuple[Any, list[str]]:
    """The lines with runs numbered from 1, as many of each system and task as the least has."""
    labels = list(dict.fromkeys(frame["run"]))
    place = {labels[number]: rank for rank, number in enumerate(natural_order(labels))}
    order = frame["run"].map(place)
    cells = [frame["system"], frame["task"]]
    frame = frame.assign(run=order.groupby(cells).rank(method="dense").astype(int))
    of_cell = frame.groupby(["system", "task"], sort=False)["run"].max()
    fewest = int(of_cell.min())
    if of_cell.max() == fewest:
        return frame, []
    system, task = of_cell.idxmax()
    remark = (
        f"{system} has {counted(int(of_cell.max()), 'run')} of {task} and others have {fewest}; the first "
        f"{counted(fewest, 'run')} of each are read."
    )
    return frame[frame["run"] <= fewest].reset_index(drop=True), [remark]


def _check_tasks(frame: Any, systems: Iterable[str]) -> None:
    """Refuse systems that lack the score of a task, which others have."""
    cells = {*zip(frame["system"], frame["task"], strict=True)}
    for task, metric in dict(zip(frame["task"], frame["metric"], strict=True)).items():
        for system in systems:
            if (system, task) not in cells:
                raise InputError(
                    f"system {system} has no {metric!r} of task {task}, which others have; give the scores of "
                    "every system for every task, leave the task out, or name a score that all have with "
                    "`prediction=`.",
                    argument="prediction",
                )


def _in_data(frame: Any, name: str) -> Any:
    """What the tool keeps of each item under a name."""
    if name in frame:
        return frame[name]
    values = [data.get(name) for data in frame["data"]]
    if any(value is None or isinstance(value, dict | list) for value in values):
        known = dict.fromkeys(key for data in frame["data"].head(100) for key in data)
        raise InputError(
            f"group must be something that is kept of every item, got {name!r}; there is {quoted([*known], 8)}."
        )
    return values


def system_of(path: Path, root: Path) -> str:
    """The folder of a file below the root, which is named after the system; the root's own name for files in it."""
    below = path.parent.relative_to(root).as_posix() if root.is_dir() else "."
    return path.resolve().parent.name if below == "." else below


class LmEvalHarness(Evaluations):
    """The ``samples_TASK_TIME.jsonl`` of one or many folders, which are named after the models."""

    name = "lm_eval"
    title = "samples of lm-evaluation-harness"
    signs = "files samples_TASK_TIME.jsonl"
    files = ("samples_*.jsonl",)
    _NAME = re.compile(r"samples_(?P<task>.+?)(?:_(?P<time>\d{4}-\d\d-\d\dT[\d.\-]+))?")

    def answers(self, export: Export) -> Iterator[ScoredAnswer]:
        assert export.path is not None, "it has paths"
        for path in self.paths(export):
            name = self._NAME.fullmatch(path.stem)
            assert name is not None, "the pattern of files begins so"
            lines = json_lines(path)
            filters = {line.get("filter") for line in lines}
            for line in lines:
                suffix = f",{line['filter']}" if len(filters) > 1 else ""
                about = system_of(path, export.path), name["task"], line.get("doc_id"), name["time"]
                document = line.get("doc")
                data = document if isinstance(document, dict) else {}
                for metric in line.get("metrics", ()):
                    score = number(line.get(metric))
                    yield ScoredAnswer(*about, metric + suffix, score, data, str(line.get("doc_hash", "")))


class Inspect(Evaluations):
    """Logs of one or many tasks and models."""

    name = "inspect"
    title = "logs of Inspect"
    signs = "logs of tasks and models, .json or .eval"
    files = ("*.json", "*.eval")
    _GRADES: ClassVar = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}

    def wrote(self, path: Path) -> bool:
        return path.suffix == ".eval" or bool(re.search(r'"eval"\s*:\s*\{', "\n".join(opening_lines(path))))

    def answers(self, export: Export) -> Iterator[ScoredAnswer]:
        paths = [path for path in self.paths(export) if self.wrote(path)]
        logs = {path: _inspect_log(path) for path in paths}
        for path, log in logs.items():
            if log.get("status", "success") != "success":
                raise InputError(f"{path} is of a run with status {log['status']}; leave it out, or repeat it.")
        systems = _names_with_settings({path: log.get("eval", {}) for path, log in logs.items()})
        for path, log in logs.items():
            task = str(entry(log, "eval", "task"))
            for sample in log.get("samples") or ():
                run = (str(entry(log, "eval", "created")), sample.get("epoch", 1))
                for scorer, score in (sample.get("scores") or {}).items():
                    value = entry(score, "value")
                    parts = value if isinstance(value, dict) else {"": value}
                    for part, graded in parts.items():
                        is_text = isinstance(graded, str)
                        grade = self._GRADES.get(graded, math.nan) if is_text else number(graded)
                        metric = f"{scorer}/{part}" if part else scorer
                        data = sample.get("metadata") or {}
                        yield ScoredAnswer(systems[path], task, sample.get("id"), run, metric, grade, data)


def _inspect_log(path: Path) -> dict[str, Any]:
    if path.suffix == ".json":
        return json_of(path)
    try:
        from inspect_ai.log import read_eval_log
    except ImportError:
        raise InputError(
            f"{path} is read by the package inspect_ai, which is not installed; install it, or write the log as "
            "JSON with `inspect log convert --to json`."
        ) from None
    log: dict[str, Any] = read_eval_log(str(path)).model_dump(mode="json")
    return log


def _names_with_settings(runs: Mapping[Path, Mapping[str, Any]]) -> dict[Path, str]:
    """The model of each log, with those of its settings in which its logs of one task differ."""
    settings: dict[Path, dict[str, str]] = {}
    for path, run in runs.items():
        given = {"solver": run.get("solver"), **(run.get("task_args") or {}), **(run.get("solver_args") or {})}
        given |= {**(run.get("model_args") or {}), **(run.get("model_generate_config") or {})}
        settings[path] = {key: json.dumps(value).strip('"') for key, value in given.items()}
    names = {}
    for path, run in runs.items():
        alike = [
            settings[other]
            for other, its in runs.items()
            if (its.get("model"), its.get("task")) == (run.get("model"), run.get("task"))
        ]
        differ = [key for key, value in settings[path].items() if any(its.get(key) != value for its in alike)]
        text = ", ".join(f"{key}={settings[path][key]}" for key in differ)
        names[path] = f"{run.get('model')} ({text})" if text else str(run.get("model"))
    return names


class Helm(Evaluations):
    """The folder of a run, or of many."""

    name = "helm"
    title = "per-instance statistics of HELM"
    signs = "files RUN/per_instance_stats.json"
    files = ("per_instance_stats.json",)
    prefers = ("exact_match", "quasi_exact_match", "prefix_exact_match", "f1_score", "rouge_l", "pass")
    _MODEL = re.compile(r"(?:^|[,:])model=([^,]+)")

    def answers(self, export: Export) -> Iterator[ScoredAnswer]:
        for path in self.paths(export):
            run, beside = path.resolve().parent.name, path.with_name("run_spec.json")
            named = self._MODEL.search(run)
            spec = json_of(beside) if beside.is_file() else {}
            system = entry(spec, "adapter_spec", "model") or (named[1] if named else run)
            task = self._MODEL.sub("", run).strip(",:")
            for line in json_of(path, list):
                if line.get("perturbation"):  # a changed item, beside the item itself
                    continue
                for stat in line.get("stats", ()):
                    about = system, task, line.get("instance_id"), line.get("train_trial_index", 0)
                    yield ScoredAnswer(*about, str(entry(stat, "name", "name")), number(stat.get("mean")), {})


_NO_ANSWER = 2
"""promptfoo's reason of a failure that is no wrong answer but an error, as of a provider."""


class Promptfoo(Evaluations):
    """A file with all prompts and providers, or a folder of such files."""

    name = "promptfoo"
    title = "output of promptfoo"
    signs = "JSON with results, prompts and providers"
    files = ("*.json",)
    prefers = ("score",)

    def wrote(self, path: Path) -> bool:
        start = "\n".join(opening_lines(path))
        return '"evalId"' in start or bool(re.search(r'^\s*\{\s*"results"\s*:\s*\{\s*"version"', start))

    def answers(self, export: Export) -> Iterator[ScoredAnswer]:
        for path in filter(self.wrote, self.paths(export)):
            results = entry(json_of(path), "results", "results") or ()
            several = len({entry(result, "prompt", "label") for result in results}) > 1
            places: dict[str, set[Any]] = {}
            for result in results:
                places.setdefault(self._system(result, several), set()).add(result.get("promptIdx"))
            seen: dict[tuple[str, str], int] = {}
            for result in results:
                system = self._system(result, several)
                if len(places[system]) > 1:  # of one name, with another configuration
                    system = f"{system} #{result.get('promptIdx')}"
                # Repeats of a test are tests of their own, with the same variables and assertions.
                test = [result.get("vars"), entry(result, "testCase", "assert")]
                item = json.dumps(test, sort_keys=True, ensure_ascii=False)
                run = seen[system, item] = seen.get((system, item), 0) + 1
                failed = result.get("failureReason") == _NO_ANSWER
                for metric in ("score", "success"):
                    score = math.nan if failed else number(result.get(metric))
                    yield ScoredAnswer(system, "all", item, run, metric, score, result.get("vars") or {})

    @staticmethod
    def _system(result: Mapping[str, Any], several: bool) -> str:
        """The provider of a result, and the prompt where there are several."""
        provider = result.get("provider")
        provider = str(entry(provider, "label") or entry(provider, "id") or provider)
        return f"{provider}: {entry(result, 'prompt', 'label')}" if several else provider


class OpenAIEvals(Evaluations):
    """The log of a run, or a folder of logs."""

    name = "openai_evals"
    title = "logs of OpenAI evals"
    signs = 'files .jsonl whose first line is {"spec": …}'
    files = ("*.jsonl",)

    def wrote(self, path: Path) -> bool:
        return bool(re.match(r'\s*\{\s*"spec"\s*:', "\n".join(opening_lines(path))))

    def answers(self, export: Export) -> Iterator[ScoredAnswer]:
        for path in filter(self.wrote, self.paths(export)):
            first, *events = json_lines(path)
            spec = first["spec"]
            system = " + ".join(spec.get("completion_fns") or [str(spec.get("model_name"))])
            task = str(spec.get("eval_name"))
            for event in events:
                if event.get("type") in ("match", "metrics"):
                    scores = event.get("data") or {}
                    item = str(event.get("sample_id")).removeprefix(f"{task}.")
                    for metric in ("correct",) if event["type"] == "match" else scores:
                        yield ScoredAnswer(
                            system, task, item, spec.get("run_id"), metric, number(scores.get(metric)), {}
                        )


class Evalstats(Evaluations):
    """A table, or a folder with none but such tables."""

    name = "evalstats"
    title = "a long table of scores, as evalstats reads"
    signs = "columns of a prompt or model, an input and a score"
    files = ("*.csv", "*.parquet")
    _ALIASES: ClassVar = {
        "template": ("template", "prompt", "prompt_template"),
        "model": ("model", "model_label", "model_name"),
        "input": ("input", "example", "item", "id", "input_label"),
        "score": ("score", "value", "result", "metric"),
        "run": ("run", "seed", "repeat", "run_id", "trial"),
        "evaluator": ("evaluator", "eval", "judge", "criterion", "metric_name"),
    }

    def recognises(self, export: Export, uses: ColumnUses) -> bool:
        if uses.target is not None:
            return False
        parts = [export] if export.path is None else [Export.of(path) for path in self.paths(export)]
        return bool(parts) and all(self._is_long(part) for part in parts)

    def _columns(self, export: Export) -> dict[str, str]:
        """The column of each use that the table has one for."""
        names = {name.lower().strip(): name for name in map(str, export.columns)}
        found = {
            use: [names[name] for name in names_of if name in names] for use, names_of in self._ALIASES.items()
        }
        return {use: columns[0] for use, columns in found.items() if columns}

    def _is_long(self, export: Export) -> bool:
        found = self._columns(export)
        return {"input", "score"} <= found.keys() and not found.keys().isdisjoint(("template", "model"))

    def answers(self, export: Export) -> Iterator[ScoredAnswer]:
        parts = [export] if export.path is None else [Export.of(path) for path in self.paths(export)]
        for part in parts:
            if not self._is_long(part):
                raise InputError(f"{part.name} is not {self.title}: it lacks {self.signs}.", argument="format")
            use, frame = self._columns(part), part.table_with().frame
            systems = [frame[use[name]].astype(str) for name in ("model", "template") if name in use]
            system = systems[0] if len(systems) == 1 else systems[0] + ": " + systems[1]
            runs = frame[use["run"]] if "run" in use else ["1"] * len(frame)
            scores = frame[use["evaluator"]].astype(str) if "evaluator" in use else ["score"] * len(frame)
            rest = frame.drop(columns=list(use.values())).to_dict("records")
            columns = system, frame[use["input"]], runs, scores, frame[use["score"]], rest
            for name, item, run, metric, value, data in zip(*columns, strict=True):
                yield ScoredAnswer(name, "all", item, run, metric, number(value), data)


def number(value: Any) -> float:
    """A score: a number, or whether it is right; NaN of anything else."""
    import numpy as np

    return float(value) if isinstance(value, int | float | np.number | np.bool_) else math.nan
