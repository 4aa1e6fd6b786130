"""Bootstrap of the whole search: repeat it on resampled rows, and score it on the rows that were left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import numpy as np
from sklearn.base import is_classifier

from heldout._random import stream
from heldout._text import argument
from heldout.arguments import SearchArguments
from heldout.configurations import checked_entries
from heldout.dropping import strategy_of
from heldout.errors import InputError
from heldout.estimates.base import Evidence, MethodDeclaration, conclude, flags_of_choice
from heldout.estimates.bootstraps.rows import flags_of_draws
from heldout.estimates.candidates import FEW_GROUPS, failed_sentence
from heldout.estimates.evidence import build_evidence
from heldout.estimates.intervals import bootstrap_interval
from heldout.estimates.methods.least_width import with_least_width
from heldout.estimates.question import Aggregate, Settings, check_interval_settings
from heldout.estimates.types import Alternative, Estimate
from heldout.evaluate import evaluate
from heldout.execution.run import RunSettings
from heldout.execution.search import Search
from heldout.flags import Flag
from heldout.folds.splits import check_splits, listed_splits
from heldout.kernels.blocks import effective_threads
from heldout.metrics.base import Metric
from heldout.metrics.opaque import OpaqueMetric
from heldout.protocols.branches import BranchedSearch, run_branches
from heldout.protocols.draws import Demands, DrawnRows, draw
from heldout.protocols.search_bootstrap.estimate import Bootstrap, SearchBootstrapEstimate
from heldout.protocols.search_bootstrap.models import bootstraps_of_models, check_opened, chosen_by_others
from heldout.protocols.search_bootstrap.samples import Sample, divides_anew, folds_of_models, samples_of_search
from heldout.protocols.words import QUANTITY_BOOTSTRAP_SEARCH
from heldout.result import Evaluation

SCHEMES = ("cvt", "models")


def bootstrap_search(
    estimator: Any,
    X: Any,
    y: Any,
    param_grid: Any = None,
    *,
    scheme: Literal["cvt", "models"] = "cvt",
    scoring: Any = None,
    cv: Any = None,
    n_bootstraps: int = 100,
    aggregate: Aggregate = "folds",
    selection: Any = "best",
    drop: Any = None,
    confidence_level: float = 0.95,
    alternative: Alternative = "two-sided",
    groups: Any = None,
    sample_weight: Any = None,
    refit: Any = True,
    error_score: float | Literal["raise"] = np.nan,
    n_jobs: int | None = None,
    pre_dispatch: int | str = "2*n_jobs",
    fit_timeout: float | None = None,
    store: Any = None,
    random_state: Any = None,
    verbose: int = 0,
) -> SearchBootstrapEstimate:
    """Repeat a search on bootstrap samples of the rows, and score each on the rows that its sample left out.

    ``scheme="cvt"``, the direct bootstrap (Paraschakis et al. 2024, section 2). For b = 1..B draw N rows with
    replacement, run the whole search on them (K folds; the copies of a row lie in one fold), fit its winner on the
    drawn rows with their copies, and score that model on the rows that were not drawn. These chose nothing, so each
    score S_b is one of the whole procedure. Value: the mean of S_1..S_B; interval: their percentiles. With C
    configurations it takes B (K C + 1) fits, and K C + 1 more for the search on all rows, whose winner is what
    ``model`` holds.

    ``scheme="models"`` (Tsamardinos et al. 2018, section 4). All C configurations are fitted on each sample and
    predict the rows left out: B C fits, and one for ``model``, the configuration of the best mean score out of bag.
    The paper reports that best mean, which is optimistic again: the rows that choose are the rows that score. Here
    it is ``uncorrected``. The value is the mean of S_b, where S_b is the score, on the rows that sample b left out,
    of the model of sample b and the configuration j_b; and j_b is the best on the rows that b *drew* (as often as
    it drew them), as the models of the other samples predicted them. No row that scores took part in the choice,
    and none is predicted by a model that saw it. But rows that score have trained models that chose, as with
    ``method="bbc"``: if models memorise rows, some of the optimism remains, and a flag says so (docs/protocols.md
    has figures).

    A model of a sample has seen about 63 % of the rows, so both are pessimistic for one trained on all of them, and
    the percentiles of scores on about 37 % of the rows are wider than the uncertainty of the value.

    Parameters
    ----------
    estimator : estimator, list of (name, estimator, grid), or search
        As ``ho.HeldOutSearchCV`` takes them, or such a search (or ``GridSearchCV``), fitted or not. Its settings
        hold for every argument that is at its default here, except ``n_bootstraps``; a part that differs from that
        of the search is refused.
    X : array-like of shape (N, n_features)
    y : array-like of shape (N,)
    param_grid : dict or list of dict, optional
    scheme : {"cvt", "models"}, default="cvt"
    scoring, cv, aggregate, selection, drop, refit, error_score, n_jobs, pre_dispatch, fit_timeout, store
        As in ``ho.HeldOutSearchCV``. ``cv`` is of the searches inside: a splitter or an integer divides the
        distinct rows of each sample, a list of splits is cut down to them. With ``scheme="models"`` there are no
        folds, and neither ``cv`` nor ``drop`` is taken.
    n_bootstraps : int, default=100
        B.
    confidence_level : float, default=0.95
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
    groups : array-like of shape (N,), optional
        DrawnRows whole, and kept whole by the folds inside.
    sample_weight : array-like of shape (N,), optional
        Importance weights, for fits and scores.
    random_state : int, RandomState or Generator, optional
        Bootstrap b does not depend on B.

    Returns
    -------
    SearchBootstrapEstimate
        With ``bootstraps``, ``model``, ``evaluation`` and ``n_fits``.

    Raises
    ------
    InputError
        When settings do not go together, a class is too small to be drawn and left out, or every configuration
        failed on all rows.

    References
    ----------
    Tsamardinos, Greasidou and Borboudakis (2018), section 4; Paraschakis et al. (2024), section 2.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> found = bootstrap_search(
    ...     KNeighborsClassifier(), X, y, {"n_neighbors": [1, 15]}, cv=3, n_bootstraps=20, random_state=0
    ... )
    >>> found.n_fits  # 20 (3 · 2 + 1) + 3 · 2 + 1
    147
    >>> print(f"{found.value:.2f}", len(found.bootstraps), found.model)
    0.95 20 KNeighborsClassifier(n_neighbors=1)
    """
    check_interval_settings(n_bootstraps, confidence_level, alternative)
    if scheme not in SCHEMES:
        raise InputError(f"scheme must be 'cvt' or 'models', got {scheme!r}.", argument="scheme")
    listed = cv if divides_anew(cv) or hasattr(cv, "split") else listed_splits(cv)
    if strategy_of(drop) is not None:
        raise InputError(
            f"{argument('drop', drop)} plans its own splits, which samples cannot follow; use "
            f"{argument('drop', 'bootstrap')}.",
            argument="drop",
        )
    arguments = SearchArguments(
        estimator, param_grid, scoring=scoring, cv=listed, aggregate=aggregate, selection=selection, drop=drop,
        confidence_level=confidence_level, alternative=alternative, refit=refit, error_score=error_score,
        n_jobs=n_jobs, pre_dispatch=pre_dispatch, fit_timeout=fit_timeout, store=store, random_state=random_state,
        verbose=verbose,
    ).with_search()  # fmt: skip
    if scheme == "models":
        _check_models(cv, drop)
        arguments = replace(arguments, cv=2, repeats=1, drop=None)  # other splits replace these
    search, running = arguments.search_on(X, y, groups, sample_weight), arguments.running()
    settings = Settings(
        n_bootstraps,
        arguments.confidence_level,
        arguments.alternative,
        search.entropy,
        effective_threads(arguments.n_jobs),
    )
    plan = BootstrapPlan(search, settings, arguments.cv, arguments.repeats, _classifies(arguments.estimator))
    return plan.run_cvt(running) if scheme == "cvt" else plan.run_models(running)


_FEWER = "fewer bootstraps: 100 are usual"


def _check_models(cv: Any, drop: Any) -> None:
    for name, value in {"cv": cv, "drop": drop}.items():
        if value is not None:
            raise InputError(
                f"{argument('scheme', 'models')} fits every configuration on each whole sample, so it takes no "
                f"{name}, got {name}={value!r}; leave it out, or use {argument('scheme', 'cvt')}.",
                argument="scheme",
            )


def _check_countable(search: Search) -> None:
    """Refuse metrics without row weights if predictions of a sample are pooled: a row counts as often as drawn."""
    aggregate = search.estimation.aggregate
    if aggregate == "folds" and search.drop is None:
        return
    setting = "drop" if aggregate == "folds" else f"aggregate='{aggregate}'"
    for name, metric in search.scoring.metrics.items():
        if metric is not None and not metric.takes_weights:
            raise InputError(
                f"{setting} counts each row of a sample as often as it was drawn, and the scorer '{name}' takes no "
                f"sample_weight; use {argument('aggregate', 'folds')} without drop, or a metric whose function "
                "accepts it."
            )


def _classifies(estimator: Any) -> bool:
    model = checked_entries(estimator)[0][1] if isinstance(estimator, list | tuple) else estimator
    return bool(is_classifier(model))


@dataclass(frozen=True)
class BootstrapOfSearch(MethodDeclaration):
    """The method, as an estimate names it."""

    name: str = "bootstrap_search"
    sources: tuple[str, ...] = ()


CVT = BootstrapOfSearch("bootstrap_search", ("paraschakis2024",))
MODELS = BootstrapOfSearch("bootstrap_search_models", ("tsamardinos2018",))


@dataclass(frozen=True, eq=False)
class BootstrapPlan:
    """A search to bootstrap: all settings before the first fit.

    ``cv``, ``repeats``: of the search on all rows; they split the samples too.
    """

    search: Search
    """On all rows."""
    settings: Settings
    cv: Any = None
    repeats: int = 1
    classifier: bool = False

    def run_cvt(self, running: RunSettings) -> SearchBootstrapEstimate:
        """The direct bootstrap."""
        search = self.search
        _check_countable(search)
        check_splits(self.settings.n_bootstraps * search.folds.n_splits, search.task.n_rows, _FEWER)
        drawn = self._draw(copies_apart=2)
        samples = samples_of_search(
            search.task, search.folds, drawn, self.cv, search.entropy,
            repeats=self.repeats, classifier=self.classifier,
        )  # fmt: skip
        searches = run_branches(search, samples, running, counts=[sample.counts for sample in samples])
        bootstraps = _of_searches(searches, samples)
        evidence = _evidence(search, searches.evaluation, self.settings)
        return self._concluded(
            CVT, evidence, searches.evaluation, bootstraps, drawn, searches.n_fits, searches.n_fits_saved
        )

    def run_models(self, running: RunSettings) -> SearchBootstrapEstimate:
        """All configurations on every sample, no folds inside."""
        check_opened(self.search)
        check_splits(self.settings.n_bootstraps, self.search.task.n_rows, _FEWER)
        drawn = self._draw(copies_apart=1)
        search = replace(self.search, folds=folds_of_models(self.search.task, drawn))
        evaluation = evaluate(search, running)
        evidence, chosen, in_bag = chosen_by_others(search, evaluation, drawn, self.settings)
        bootstraps = bootstraps_of_models(evaluation, drawn, chosen, in_bag)
        n_fits = evaluation.n_fits + search.refit
        if evidence.was_selected:
            flags = {**evidence.flags, Flag.MODELS_SHARE_ROWS: Flag.MODELS_SHARE_ROWS.filled()}
            evidence = replace(evidence, flags=flags)
        return self._concluded(MODELS, evidence, evaluation, bootstraps, drawn, n_fits, 0)

    def _draw(self, copies_apart: int) -> DrawnRows:
        search = self.search
        metrics = [metric for metric in search.scoring.metrics.values() if metric is not None]
        seed = stream(search.entropy, "draws")
        return draw(Demands(search.task, metrics, copies_apart), self.settings.n_bootstraps, seed)

    def _concluded(
        self,
        method: BootstrapOfSearch,
        evidence: Evidence,
        evaluation: Evaluation,
        bootstraps: Sequence[Bootstrap],
        drawn: DrawnRows,
        n_fits: int,
        n_fits_saved: int,
    ) -> SearchBootstrapEstimate:
        scores = np.array([each.out_of_bag_score for each in bootstraps])
        undefined = np.isnan(scores)
        why = next((f" ({each.reason})" for each in bootstraps if each.reason), "")
        flags = flags_of_draws(
            evidence, total=len(scores), undefined=int(undefined.sum()),
            why=why, redraws=drawn.redraws, needs=_needs(evidence),
        )  # fmt: skip
        value = float(scores[~undefined].mean()) if not undefined.all() else float("nan")
        if undefined.all():
            flags[Flag.UNDEFINED] = Flag.UNDEFINED.filled(reason=f"no bootstrap has a score{why}")
        selected = [each.selected for each in bootstraps if each.selected is not None]
        frequency = np.bincount(selected, minlength=len(evidence.names)) / max(len(selected), 1)
        settings = self.settings
        reached = with_least_width(
            bootstrap_interval(scores, evidence.metric, settings),
            replace(evidence, matrix=None),  # it is of the search on all rows, and these scores are of samples
            value=value,
            units=self._units(evidence.metric),
        )
        concluded = conclude(
            evidence, method, value,
            uncorrected=_uncorrected(self.search, evaluation),
            interval=reached.interval,
            distribution=scores,
            selection_frequency=frequency,
            flags={**flags_of_choice(evidence), **flags, **reached.flags},
            provenance={
                "quantity": QUANTITY_BOOTSTRAP_SEARCH,
                "n_bootstraps": settings.n_bootstraps,
                "n_redraws": drawn.redraws,
                "training_rows": float(np.count_nonzero(drawn.counts, axis=1).mean()),
            },
        )  # fmt: skip
        return SearchBootstrapEstimate(
            **{field.name: getattr(concluded, field.name) for field in fields(Estimate)},
            scheme="cvt" if method is CVT else "models",
            bootstraps=tuple(bootstraps),
            model=evaluation.model,
            evaluation=evaluation,
            n_fits=n_fits,
            n_fits_saved=n_fits_saved,
        )

    def _units(self, metric: Metric) -> float:
        """The number of independent units of a score: groups, rows, or rows of the smallest class."""
        task = self.search.task
        if task.groups is not None:
            return float(len(np.unique(task.groups)))
        few = not metric.row_wise and task.truth.classes is not None
        return float(task.truth.class_counts().min() if few else task.n_rows)


def _needs(evidence: Evidence) -> str:
    return f"{evidence.metric.needs}, or rows of every class,"


def _uncorrected(search: Search, evaluation: Evaluation) -> float:
    """The winner's score in the search on all rows."""
    name, winner = evaluation.refit_metric, evaluation.winner
    whole = evaluation.whole_scores(search.estimation.aggregate) or {}
    if name in whole:
        return float(whole[name][winner])
    scores = evaluation.fold_scores[name].values[:, winner]
    defined = scores[~np.isnan(scores)]
    return float(defined.mean()) if defined.size else float("nan")


def _of_searches(searches: BranchedSearch, samples: Sequence[Sample]) -> list[Bootstrap]:
    names = searches.evaluation.configurations.names
    return [
        Bootstrap(
            number=sample.number,
            selected=chosen.winner,
            selected_name="" if chosen.winner is None else names[chosen.winner],
            in_bag_score=float("nan") if chosen.winner is None else float(chosen.scores[chosen.winner]),
            out_of_bag_score=tested.score,
            drawn=sample.refit.train,
            left_out=sample.refit.test,
            scores=tested.scores,
            reason=tested.reason,
        )
        for sample, chosen, tested in zip(samples, searches.chosen, searches.tested, strict=True)
    ]


def _evidence(search: Search, evaluation: Evaluation, settings: Settings) -> Evidence:
    """The evidence of the search on all rows, for an estimate that reads no predictions."""
    task, name = search.task, evaluation.refit_metric
    metric = evaluation.metrics[name] or OpaqueMetric(name)
    names = evaluation.configurations.names
    candidates = np.array([j for j in range(len(names)) if j not in evaluation.predictions.out], dtype=np.intp)
    flags = _flags_of_rows(search)
    if evaluation.failures:
        flags[Flag.FAILED_CONFIGURATIONS] = failed_sentence(names, evaluation.failures)
    scores = evaluation.fold_scores[name]
    return build_evidence(
        metric,
        names,
        candidates,
        evaluation.winner,
        settings,
        selection=search.estimation.rule.name,
        aggregate=search.estimation.aggregate,
        n_rows_used=task.n_rows,
        fold_scores=scores.values[:, candidates],
        repeat_of_split=scores.repeat,
        flags=flags,
        provenance={
            "task": str(task.truth.kind),
            "n_rows": task.n_rows,
            "grouped": task.groups is not None,
            "weighted": task.sample_weight is not None,
        },
    )


def _flags_of_rows(search: Search) -> dict[Flag, str]:
    flags: dict[Flag, str] = {}
    if search.task.groups is not None and (n_groups := len(np.unique(search.task.groups))) < FEW_GROUPS:
        flags[Flag.FEW_GROUPS] = Flag.FEW_GROUPS.filled(groups=n_groups)
    if not search.folds.exchangeable:
        flags[Flag.NOT_EXCHANGEABLE] = Flag.NOT_EXCHANGEABLE.filled()
    return flags
