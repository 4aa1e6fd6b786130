"""What was done to arrive at a result, as plain facts, and the methods text, whose templates read these alone."""

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
from sklearn.impute import SimpleImputer

from heldout._record import json_safe
from heldout._registry import registered
from heldout._streams import DrawnSeed
from heldout.configurations import Configuration, Configurations
from heldout.data.task import TaskKind, Truth
from heldout.dropping.base import RULE_TITLES
from heldout.errors import InputError
from heldout.estimates.methods import METHODS
from heldout.estimates.ordered_rows import SOURCES_OF_KIND, SOURCES_OF_LENGTH
from heldout.estimates.types import Estimate, decimals_for, is_uncorrected
from heldout.execution.store.unfinished_search import StoredConfiguration
from heldout.folds.splits import Folds
from heldout.imputation.backward import BackwardSelection
from heldout.imputation.imputed_model import member_of
from heldout.imputation.settings import Imputation
from heldout.methods_text import MethodsText
from heldout.metrics.base import Metric
from heldout.metrics.named import in_sentence, metric_named, metric_words
from heldout.protocols.algorithms.comparison import AlgorithmComparison
from heldout.protocols.nested.estimate import NestedEstimate
from heldout.protocols.search_bootstrap import SearchBootstrapEstimate
from heldout.protocols.validation.estimate import Validation
from heldout.protocols.words import how_sentence, method_words
from heldout.references import bibtex_of
from heldout.report.displays.race import sources_of
from heldout.report.labels import setting_text
from heldout.report.templating import filled
from heldout.result import Evaluation
from heldout.scales import plain, scale_of_estimate
from heldout.selection import RULES, SELECTION_WORDS

PARTS = ("data", "configurations", "folds", "dropping", "selection", "model", "validation", "comparison")
IN_UNITS_OF_THE_OUTCOME = ("mean_absolute_error", "median_absolute_error", "root_mean_squared_error")
MOST_VALUES = 4
"""Values of a parameter that are listed one by one."""


def study(result: Evaluation | Estimate | Validation | AlgorithmComparison) -> dict[str, Any]:
    """What was done, as values of JSON.

    Returns
    -------
    dict
        The ``PARTS``, each None where a result has no such part; the ``estimate`` of the metric that decides and
        those of ``others``; ``software`` with versions, and the ``seed``.
    """
    if isinstance(result, Validation):
        facts = _of_validation(result)
    elif isinstance(result, AlgorithmComparison):
        record = record_of_deployed(result)
        facts = {**_of_search(record, record.estimate), "comparison": _comparison(result)}
    elif isinstance(result, Evaluation):
        facts = _of_search(result, result.estimate)
    elif (repeated := evaluation_of_protocol(result)) is not None:
        facts = _of_search(repeated, result)
    else:
        facts = _of_predictions(result)
    safe: dict[str, Any] = json_safe({**dict.fromkeys(PARTS), **facts})
    return safe


def evaluation_of_protocol(result: object) -> Evaluation | None:
    """The search on all rows that a protocol repeated; None of any other result."""
    return result.evaluation if isinstance(result, NestedEstimate | SearchBootstrapEstimate) else None


OF_DEPLOYED = "best of the deployed algorithm"
"""The rule by which the winner was selected, where another algorithm has a better flat score."""


def record_of_deployed(comparison: AlgorithmComparison) -> Evaluation:
    """The record of all algorithms, with the estimate of the deployed configuration among all of theirs."""
    record, estimate = comparison.evaluation, comparison.overall
    if comparison.deployed != comparison.selections.flat:  # then it is not the best of all flat scores
        record = record.with_provenance(selection=OF_DEPLOYED)
        estimate = replace(estimate, provenance={**estimate.provenance, "selection": OF_DEPLOYED})
    return replace(
        record,
        estimates={record.refit_metric: estimate},
        n_fits=comparison.n_fits,
        n_fits_saved=comparison.n_fits_saved,
        barriers=(),  # of several races, one an algorithm
    )


def _of_search(evaluation: Evaluation, estimate: Estimate | None) -> dict[str, Any]:
    provenance, task, name = evaluation.provenance, evaluation.task, evaluation.refit_metric
    record: Mapping[str, Any] = {} if estimate is None else estimate.provenance
    winner, metric = evaluation.configurations[evaluation.winner], evaluation.metrics.get(name)
    failed = {**evaluation.predictions.failed, **evaluation.failures}
    dropped = set(evaluation.predictions.dropped) - set(failed)
    kind = "" if winner.model else type(winner.template).__name__  # a pipeline is named after its last step
    others = [each for key, each in evaluation.estimates.items() if key != name]
    tested = evaluation.folds.splits[0].n_training_rows if provenance.get("deploy") == "bounded" else None
    return {
        "data": _data(
            task.truth,
            predictors=provenance.get("n_columns"),
            missing=provenance.get("missing"),
            imputations=provenance.get("n_imputations"),
            groups=None if task.groups is None else len(np.unique(task.groups)),
            weighted=task.sample_weight is not None,
            columns=provenance.get("columns", record.get("columns")),
        ),
        "configurations": _configurations(evaluation.configurations, provenance.get("configurations_from")),
        "folds": _folds(evaluation.folds, task.truth, provenance.get("n_splits_planned")),
        "dropping": _dropping(evaluation, len(dropped)),
        "selection": _selection(
            {**record, **provenance},
            estimate.metric if estimate is not None else name if metric is None else metric.name,
            evaluation.fold_scores.get(name) if metric is None else metric,
            candidates=len(evaluation.configurations) - len(failed) - len(dropped),
            failed=len(failed),
            winner=winner.name.replace(kind, _classes(winner.template)[-1], 1) if kind else winner.name,
        ),
        "model": {"rows": None if evaluation.model is None else task.n_rows, "tested": tested},
        **_estimates([] if estimate is None else [estimate, *others], provenance, winner.template),
        "unseeded": [] if provenance.get("seeds_models") else _unseeded(winner.template),
    }


def _of_predictions(estimate: Estimate) -> dict[str, Any]:
    """Of an estimate from predictions or scores alone."""
    provenance = estimate.provenance
    chosen_on = provenance.get("winner_chosen_on", provenance.get("aggregate"))
    return {
        "selection": _selection(
            {**provenance, "aggregate": chosen_on},
            estimate.metric,
            _metric(estimate),
            candidates=int(provenance.get("n_candidates", 1)),
            failed=0,
            winner=estimate.selected_name,
        ),
        **_estimates([estimate], provenance, None),
    }


def _of_validation(validation: Validation) -> dict[str, Any]:
    estimates, settings = list(validation.estimates.values()), validation.settings
    provenance, number = estimates[0].provenance, validation.replicates.n_completions
    model = member_of(validation.model)
    is_imputed = settings.get("imputation") and number > 1
    return {
        "data": _data(
            validation.replicates.truth,
            predictors=getattr(model, "n_features_in_", None),
            missing=settings.get("missing"),
            imputations=None,
            groups=True if provenance.get("grouped") else None,
            weighted=bool(provenance.get("weighted")),
            columns=provenance.get("columns"),
        ),
        "model": {"rows": estimates[0].n_rows_used, "tested": None},
        "validation": {
            **_model(model),
            "name": validation.selected_name,
            "candidates": len(validation.candidates),
            "methods": {name: method_words(name).sentence(validation.n_bootstraps) for name in validation.methods},
            "filled": None if is_imputed or not (settings.get("missing") or {}).get("values") else _filled(model),
            "imputation": {"number": number, "order": settings["imputation"]["order"]} if is_imputed else None,
            "failed": len(validation.failures),
        },
        **_estimates(estimates, provenance, model),
    }


def _comparison(comparison: AlgorithmComparison) -> dict[str, Any]:
    scale = scale_of_estimate(comparison.overall)[0]
    return {
        "folds": comparison.n_folds,
        "nested": {each.name: scale.shown(each.nested) for each in comparison.algorithms},
        "differences": [each.to_dict() for each in comparison.differences],
        "deployed": comparison.deployed,
        "is_corrected": comparison.is_corrected,
        "sources": comparison.sources,
    }


def _data(truth: Truth, **more: Any) -> dict[str, Any]:
    kind, values = truth.kind, truth.values
    counts = [] if truth.classes is None else truth.class_counts().tolist()
    return {
        "rows": truth.n_rows,
        "outcome": kind.value,
        "classes": [
            {"label": str(truth.label_of(code)), "rows": n, "is_positive": code == truth.positive}
            for code, n in enumerate(counts)
        ],
        "events": int(values["event"].sum()) if kind is TaskKind.SURVIVAL else None,
        "range": [float(values.min()), float(values.max())] if kind is TaskKind.REGRESSION else None,
        **more,
    }


def _configurations(configurations: Configurations, origin: str | None) -> dict[str, Any]:
    families: dict[str, list[Configuration]] = {}
    for each in configurations:
        if not isinstance(each, StoredConfiguration):  # a run file has names, and no estimators
            families.setdefault(each.family, []).append(each)
    described = [
        {
            **_model(members[0].template),
            "name": members[0].model,
            "number": len(members),
            "parameters": _parameters(members),
        }
        for members in families.values()
    ]
    return {"number": len(configurations), "origin": origin, "families": described}


def _parameters(members: Sequence[Configuration]) -> list[dict[str, Any]]:
    """The parameters that were set, with their values, or with both ends of many numbers."""
    values: dict[str, dict[str, Any]] = {}
    for each in members:
        for name, value in each.own_params.items():
            values.setdefault(name.rpartition("__")[2], {}).setdefault(_value(value), value)
    parameters = []
    for name, texts in values.items():
        are_numbers = all(isinstance(value, Real) and not isinstance(value, bool) for value in texts.values())
        shown = sorted(texts, key=lambda text: texts[text]) if are_numbers else list(texts)
        if len(texts) > MOST_VALUES:
            shown = [shown[0], shown[-1]] if are_numbers else []
        parameters.append({"name": name, "number": len(texts), "values": shown})
    return parameters


def _value(value: Any) -> str:
    if hasattr(value, "get_params"):
        return _classes(value)[-1]
    return f"{value:.4g}" if isinstance(value, float) else plain(value)


def _model(estimator: Any) -> dict[str, Any]:
    *steps, last = _classes(estimator)
    return {"model": last, "steps": list(dict.fromkeys(steps))}


def _classes(estimator: Any) -> list[str]:
    """The classes of all parts of an estimator in the order in which they work."""
    for name in ("steps", "transformers", "transformer_list"):  # in a row, or side by side
        if isinstance(entries := getattr(estimator, name, None), list | tuple):
            parts = [entry[1] for entry in entries if hasattr(entry[1], "get_params")]
            return [kind for part in parts for kind in _classes(part)] or [type(estimator).__name__]
    kind = type(estimator).__name__
    inner = estimator.get_params(deep=False).get("estimator") if hasattr(estimator, "get_params") else None
    return [f"{kind} of {_classes(inner)[-1]}" if hasattr(inner, "get_params") else kind]


def _folds(folds: Folds, truth: Truth, planned: int | None) -> dict[str, Any]:
    sizes = [split.n_training_rows for split in folds.splits]
    kinds = {
        "leave-one-out": folds.leaves_one_out,
        "bootstrap": any(split.has_copies for split in folds.splits),
        "hold-out": folds.n_splits == 1,
        "random splits": folds.test_share is not None,
        "folds": folds.is_partition and folds.n_splits % folds.n_repeats == 0,
        "splits": True,
    }
    return {
        "kind": next(kind for kind, holds in kinds.items() if holds),
        "splits": folds.n_splits,
        "planned": planned or folds.n_splits,
        "repeats": folds.n_repeats,
        "training_rows": [min(sizes), max(sizes)],
        "test_rows": len(folds.splits[0].test),
        "test_share": folds.test_share,
        "rows_tested": len(np.unique(np.concatenate([split.test for split in folds.splits]))),
        "stratified": _is_stratified(folds, truth),
        "grouped": folds.grouped,
        "ordered": not folds.exchangeable,
    }


def _is_stratified(folds: Folds, truth: Truth) -> bool:
    """Whether the test folds of a repeat have equally many rows of each class, to a row."""
    if truth.classes is None or not folds.is_partition or folds.leaves_one_out or folds.n_splits == 1:
        return False
    counts: dict[int, list[Any]] = {}
    for split in folds.splits:
        of_fold = np.bincount(truth.values[split.test], minlength=truth.n_classes)
        counts.setdefault(split.repeat, []).append(of_fold)
    return all(bool((np.ptp(repeat, axis=0) <= 1).all()) for repeat in counts.values())


def _dropping(evaluation: Evaluation, number: int) -> dict[str, Any] | None:
    settings = dict(evaluation.provenance.get("drop") or {})
    rule = str(settings.pop("rule", ""))
    return None if not rule else {
        "rule": rule,
        "title": RULE_TITLES.get(rule, rule),
        "settings": settings,
        "dropped": number,
        "sources": sources_of(evaluation),
    }  # fmt: skip


def _selection(record: Mapping[str, Any], metric: str, declared: Any, **more: Any) -> dict[str, Any]:
    """``declared``: what knows the direction of the metric; None where that is not known."""
    rule, settings = str(record.get("selection", "best")), dict(record.get("selection_settings") or {})
    best = "best"
    if metric.startswith("neg_"):  # scikit-learn's scores, which are shown as the losses that they are
        best = "lowest"
    elif declared is not None and getattr(declared, "ideal", None) is None:
        best = "highest" if declared.greater_is_better else "lowest"
    return {
        "rule": rule,
        "definition": SELECTION_WORDS.get(rule),
        "settings": {name: setting_text(value) for name, value in settings.items() if value is not False},
        "metric": in_sentence(metric_words(metric)[0]),
        "best": best,
        "scale": record.get("aggregate", "folds"),
        "sources": RULES[rule]().sources if rule in RULES else (),
        **more,
    }


def _estimates(estimates: Sequence[Estimate], provenance: Mapping[str, Any], model: Any) -> dict[str, Any]:
    """The estimates, and what computed them: the packages, those of the model included, and the seed."""
    packages = ("heldout", *(type(part).__module__.partition(".")[0] for part in _parts(model)))
    loaded = {name: getattr(sys.modules.get(name), "__version__", "") for name in packages if name not in _UNLISTED}
    versions = {"heldout": "", **loaded, "scikit-learn": "", "numpy": "", "python": ""}
    seed = provenance.get("entropy")
    described = [_estimate(each) for each in estimates]
    return {
        "estimate": described[0] if described else None,
        "others": described[1:],
        "software": {name: text for name, text in {**versions, **provenance.get("versions", {})}.items() if text},
        "seed": None if seed is None else str(int(seed)),
        "seed_was_drawn": isinstance(seed, DrawnSeed),
        "unseeded": [],
    }


_UNLISTED = {"sklearn", "heldout_papers", "numpy", "builtins", "__main__"}
"""Modules whose versions are listed anyway, or that have none."""


def _parts(model: Any) -> list[Any]:
    """An estimator and all estimators inside it."""
    deep = model.get_params(deep=True).values() if hasattr(model, "get_params") else ()
    return [part for part in (model, *deep) if hasattr(part, "get_params")]


def _filled(model: Any) -> str | None:
    """What an imputer inside a model puts for a missing number; None without one."""
    strategies = [part.strategy for part in _parts(model) if isinstance(part, SimpleImputer)]
    return next((name for name in strategies if name in ("mean", "median")), None)


def _unseeded(model: Any) -> list[str]:
    """The classes of the parts that can take a seed and have none."""
    parts = [(type(part).__name__, part.get_params(deep=False)) for part in _parts(model)]
    return list(dict.fromkeys(name for name, params in parts if params.get("random_state", 0) is None))


def _estimate(estimate: Estimate) -> dict[str, Any]:
    scale, interval, provenance = scale_of_estimate(estimate)[0], estimate.interval, estimate.provenance
    low, high = scale.closed_ends(interval)
    width = 0.0 if interval is None else interval.high - interval.low
    metric = _metric(estimate)
    return {
        "metric": in_sentence(scale.title),
        "is_in_units_of_the_outcome": estimate.metric.removeprefix("neg_") in IN_UNITS_OF_THE_OUTCOME,
        "value": scale.shown(_without_rounding(estimate.value)),
        "low": low,
        "high": high,
        "level": None if interval is None else interval.confidence_level,
        "uncorrected": scale.shown(_without_rounding(estimate.uncorrected)),
        "is_corrected": not is_uncorrected(estimate),
        "decimals": min(scale.decimals, max(decimals_for(width), 3)),  # an article has three, as a rule
        "method": estimate.method,
        "name": method_words(estimate.method).name,
        "how": how_sentence(estimate),
        "selected": estimate.selected_name,
        "rows": estimate.n_rows_used,
        "of_scores": metric is not None and not metric.reads_truth,
        "bootstraps": None if estimate.distribution is None else provenance.get("n_bootstraps"),
        "settings": {**provenance},
        "flags": {flag.value: sentence for flag, sentence in estimate.flags.items()},
        "sources": _sources(estimate),
    }


def _without_rounding(value: float) -> float:
    """0 for a number that is zero up to rounding."""
    return 0.0 if abs(value) < ZERO else value


def _metric(estimate: Estimate) -> Metric | None:
    """Its metric; None for one of the user's own."""
    try:
        return metric_named(estimate.metric)
    except InputError:
        return None


def _sources(estimate: Estimate) -> dict[str, list[str]]:
    """The works that an estimate rests on, by what they define."""
    keys, rule = estimate.provenance.get("sources", ()), str(estimate.provenance.get("selection"))
    metric = _metric(estimate)
    uses: dict[str, set[str]] = {
        "metric": set(() if metric is None else metric.sources),
        "rule": set(RULES[rule]().sources if rule in RULES else ()),
        "blocks": {*SOURCES_OF_LENGTH, *(key for works in SOURCES_OF_KIND.values() for key in works)},
        "imputation": set(Imputation(selection=BackwardSelection()).sources),
        "random_numbers": {"salmon2011"},
    }
    of_method = set(METHODS[estimate.method]().sources if estimate.method in METHODS else ())
    elsewhere = set().union(*uses.values()) - (of_method - uses["random_numbers"])
    by_use = {use: [key for key in keys if key in works] for use, works in uses.items()}
    return {**by_use, "method": [key for key in keys if key not in elsewhere]}


_MINUS = re.compile(r"(?<![\w=.\-–])-(?=\d)")
_MINUS_OF = {"latex": "$-$"}
"""The sign of a number; of a value of a parameter it stays as it is typed."""
ZERO = 1e-9
"""Smaller numbers are zeros up to rounding."""


@registered("methods text")
def methods_text(result: Evaluation | Estimate | Validation | AlgorithmComparison) -> MethodsText:
    """The paragraph for the methods section of an article."""
    return text_of(study(result))


def text_of(study: Mapping[str, Any]) -> MethodsText:
    """The paragraph from the facts of a study: the templates filled once for each form."""
    keys = dict[str, None]()
    forms = {
        form: filled("methods_text.jinja", {**study, "cited": keys}, form) for form in ("text", "latex", "markdown")
    }
    lines = {name: _MINUS.sub(_MINUS_OF.get(name, "−"), " ".join(text.split())) for name, text in forms.items()}
    return MethodsText(**lines, keys=tuple(keys), bibtex=bibtex_of(keys))
