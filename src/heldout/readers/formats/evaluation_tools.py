"""What each tool for evaluations of language models writes; sources are their documentation and code.

- lm-evaluation-harness with ``--log_samples``: ``MODEL/samples_TASK_TIME.jsonl``, a line for each document and
  filter, with a field for each metric that ``metrics`` lists.
- Inspect: a log for each task and model, ``.json``, or ``.eval``, which its own package reads.
- HELM: ``RUN/per_instance_stats.json``, whose statistics have a name and a mean, beside ``run_spec.json``.
- promptfoo: the JSON of ``promptfoo eval --output``, with a result for each prompt, provider, test and repeat.
- OpenAI evals: a ``.jsonl`` log of events behind a line with the specification of the run.
- evalstats: a long table with columns of the prompt or model, input, run and score, which have several names.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from heldout.errors import InputError
from heldout.readers.formats.base import ColumnUses, Export
from heldout.readers.formats.evaluations import Evaluations, ScoredAnswer, system_of
from heldout.readers.text_lines import entry, json_lines, json_object, json_of, opening_lines


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
        return json_object(path)
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
            spec = json_object(beside) if beside.is_file() else {}
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
            results = entry(json_object(path), "results", "results") or ()
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
