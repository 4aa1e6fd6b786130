"""Bootstrap of the whole search: repeat it on resampled rows, and score it on the rows that were left out.

There are two schemes, with fits of their own and the same end.
"""

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import PredefinedSplit

from heldout import _defaults
from heldout._record import Record, TextTable, rows_table
from heldout._streams import stream
from heldout._types import Counts, Floats, Indices
from heldout.arguments.search import SearchArguments
from heldout.configurations import checked_entries
from heldout.data.checks import SCHEMES, check_choice, check_interval_settings
from heldout.data.task import Task
from heldout.dropping import strategy_of
from heldout.errors import InputError, reason_of
from heldout.estimates.base import Procedure, conclude
from heldout.estimates.bootstrap import flags_of_draws
from heldout.estimates.data_flags import flags_of_choice
from heldout.estimates.evidence import Candidates, Evidence
from heldout.estimates.from_matrix import gather
from heldout.estimates.intervals import bootstrap_interval
from heldout.estimates.least_width import with_least_width
from heldout.estimates.question import AnyAggregate, Scales, Settings
from heldout.estimates.types import Alternative, Estimate
from heldout.evaluate import evaluate
from heldout.execution.run import RunSettings
from heldout.execution.search import Search
from heldout.execution.sharing.groups import Share
from heldout.flags import Flag
from heldout.folds.plans import plan_of_cv
from heldout.folds.splits import Folds, Rows, Split, check_splits, listed_splits
from heldout.metrics.base import Metric
from heldout.protocols.branches import BranchedSearch, RepeatNumbers, folds_of_part, run_branches, table_of_search
from heldout.protocols.drawn_rows import Demands, DrawnRows, draw, drawn_rows
from heldout.protocols.words import QUANTITY_BOOTSTRAP_SEARCH
from heldout.result import Evaluation
from heldout.selection.base import NONE_CHOSEN
from heldout.selection.bootstrap_draws import out_of_bag
from heldout.spaces.procedure import procedure_of

MOST_SHOWN = 20
"""Configurations that a notebook lists."""


@dataclass(frozen=True, eq=False)
class SearchBootstrap(Record):
    """One bootstrap sample: the configuration chosen on it, and its score on the rows left out.

    Attributes
    ----------
    number : int
        b, from 0.
    selected : int or None
        The chosen configuration; None if none could be chosen.
    selected_name : str
        Its name; empty without one.
    in_bag_score : float
        The score by which it was chosen: cross-validated on the sample; with ``scheme="models"`` the score on the
        drawn rows by the models of other samples.
    out_of_bag_score : float
        The score of the model fitted on ``drawn``, on ``left_out``; the estimate is the mean of these scores.
    scores : mapping of str to float
        The same by every scorer, as the scorers return them (greater is better).
    drawn : ndarray of int
        The rows of the sample, in order, each as often as it was drawn.
    left_out : ndarray of int
    reason : str
        Why there is no score; empty if there is one.
    """

    number: int
    selected: int | None
    selected_name: str
    in_bag_score: float
    out_of_bag_score: float
    drawn: Indices
    left_out: Indices
    scores: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""

    _without = "drawn left_out"
    _more = "n_distinct_rows n_left_out"

    @property
    def n_distinct_rows(self) -> int:
        return len(np.unique(self.drawn))

    @property
    def n_left_out(self) -> int:
        return len(self.left_out)


@dataclass(frozen=True, eq=False, repr=False)
class SearchBootstrapEstimate(Estimate):
    """An estimate by a bootstrap of the whole search. ``selected`` is the configuration of ``model``.

    Attributes
    ----------
    scheme : "cvt" or "models"
    bootstraps : tuple of SearchBootstrap
    model : estimator or None
        The model to deploy: the winner of the search on all rows, fitted on all rows.
    evaluation : Evaluation or None
        The record of the search on all rows; with ``scheme="models"`` its splits are the bootstraps.
    n_fits, n_fits_saved : int
        All fits, refits included, and fits that dropping saved.
    """

    scheme: str = _defaults.SCHEME
    bootstraps: tuple[SearchBootstrap, ...] = ()
    model: Any = None
    evaluation: Evaluation | None = None
    n_fits: int = 0
    n_fits_saved: int = 0

    _without = "model evaluation"
    _columns = "bootstrap=number selected selected_name in_bag_score out_of_bag_score n_left_out reason"

    @property
    def _rows(self) -> tuple[SearchBootstrap, ...]:
        return self.bootstraps

    def tables(self) -> list[TextTable]:
        chosen = Counter(each.selected_name for each in self.bootstraps if each.selected is not None)
        rows = [{"configuration": name, "bootstraps": times} for name, times in chosen.most_common()]
        title = "chosen by the bootstraps"
        return [*super().tables(), rows_table(rows, "configuration bootstraps", title, most=MOST_SHOWN)]


@dataclass(frozen=True, eq=False)
class SearchSample:
    """One bootstrap sample of the rows, as a branch of the run."""

    number: int
    """b, from 0."""
    counts: Counts
    """(N,): how often each row was drawn."""
    inner: tuple[Split, ...]
    """The folds of the search on the sample; empty where there is one configuration."""
    refit: Split
    """Trains on the sample with its copies, tests the rows left out."""


def samples_of_search(
    task: Task,
    folds: Folds,
    drawn: DrawnRows,
    cv: Any,
    entropy: int,
    *,
    repeats: int = 1,
    classifier: bool = False,
    selects: bool = True,
) -> tuple[SearchSample, ...]:
    """Every sample with the folds of the search on it.

    - ``folds``: of the search on all rows; samples get other repeat numbers.
    - ``cv``: of the search on all rows. A list of splits (or ``PredefinedSplit``) is cut down to the drawn rows;
      anything else splits the distinct drawn rows.
    - ``selects``: whether there are configurations to select from, which takes folds.
    """
    numbers = RepeatNumbers(1 + max(folds.columns))
    samples = []
    for number, counts in enumerate(drawn.counts):
        distinct = np.flatnonzero(counts)
        inner: tuple[Split, ...] = ()
        if selects and divides_anew(cv):
            seed = stream(entropy, "inner folds", number)
            inner = numbers.renumbered(
                _divided(task, distinct, cv, seed, number, repeats, classifier).splits, distinct
            )
        elif selects:
            inner = numbers.renumbered(_cut_down(folds, counts, number))
        with_copies = tuple(
            replace(split, train=_copied(split.train, counts), test=_copied(split.test, counts)) for split in inner
        )
        refit = Split(next(numbers), 0, drawn_rows(counts), np.flatnonzero(out_of_bag(counts)))
        samples.append(SearchSample(number, counts, with_copies, refit))
    return tuple(samples)


def divides_anew(cv: Any) -> bool:
    """Whether ``cv`` can divide any rows; a list of splits, or ``PredefinedSplit``, knows one set of rows only."""
    cv = plan_of_cv(cv)
    if cv is None or isinstance(cv, int | np.integer):
        return True
    return hasattr(cv, "split") and not isinstance(cv, PredefinedSplit)


def _divided(task: Task, distinct: Rows, cv: Any, seed: int, number: int, repeats: int, classifier: bool) -> Folds:
    try:
        with warnings.catch_warnings():
            # scikit-learn warns of every sample whose rarest class has fewer rows than there are folds.
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            return folds_of_part(task, distinct, cv, seed, repeats=repeats, classifier=classifier)
    except InputError as error:
        raise InputError(
            f"bootstrap {number} drew {len(distinct)} of {task.n_rows} rows, which cannot be searched: "
            f"{reason_of(error)}; use fewer folds."
        ) from error


def _cut_down(folds: Folds, counts: Counts, number: int) -> list[Split]:
    """The splits of the search on all rows, on the drawn rows only; those without rows on a side are left out."""
    drawn = counts > 0
    cut = (
        replace(split, train=split.train[drawn[split.train]], test=split.test[drawn[split.test]])
        for split in folds.splits
    )
    kept = [split for split in cut if len(split.train) and len(split.test)]
    if not kept:
        raise InputError(f"bootstrap {number} drew no row that a split of cv tests; use a cv that tests more rows.")
    return kept


def _copied(rows: Rows, counts: Counts) -> Rows:
    return np.repeat(rows, counts[rows])


def folds_of_models(task: Task, drawn: DrawnRows) -> Folds:
    """A split a bootstrap, each a repeat: it trains on the sample and tests the rows left out."""
    splits = [
        Split(number, 0, drawn_rows(counts), np.flatnonzero(out_of_bag(counts)))
        for number, counts in enumerate(drawn.counts)
    ]
    return Folds(tuple(splits), task.n_rows, grouped=task.groups is not None)


_FEWER = "fewer bootstraps: 100 are usual"


CVT = Procedure("bootstrap_search", ("paraschakis2024",))
MODELS = Procedure("bootstrap_search_models", ("tsamardinos2018",))


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
        search = self.search
        _check_countable(search)
        check_splits(self.settings.n_bootstraps * search.folds.n_splits, search.task.n_rows, _FEWER)
        drawn = self._draw(copies_apart=2)
        samples = samples_of_search(
            search.task, search.folds, drawn, self.cv, search.entropy,
            repeats=self.repeats, classifier=self.classifier, selects=len(search.configurations) > 1,
        )  # fmt: skip
        searches = run_branches(search, samples, running, counts=[sample.counts for sample in samples])
        bootstraps = _bootstraps_of_searches(searches, samples)
        evaluation = searches.evaluation
        scores = evaluation.fold_scores[evaluation.refit_metric]
        evidence = table_of_search(
            search, self.settings, evaluation.winner, evaluation.predictions.out, evaluation.failures,
            scores.values, scores.repeat,
        )  # fmt: skip
        return self._concluded(
            CVT, evidence, searches.evaluation, bootstraps, drawn, searches.n_fits, searches.n_fits_saved
        )

    def run_models(self, running: RunSettings) -> SearchBootstrapEstimate:
        """All configurations on every sample, no folds inside."""
        _check_opened(self.search)
        check_splits(self.settings.n_bootstraps, self.search.task.n_rows, _FEWER)
        drawn = self._draw(copies_apart=1)
        search = replace(self.search, folds=folds_of_models(self.search.task, drawn))
        evaluation = evaluate(search, running)
        evidence, chosen, in_bag = _chosen_by_others(search, evaluation, drawn, self.settings)
        bootstraps = _bootstraps_of_models(evaluation, drawn, chosen, in_bag)
        n_fits = evaluation.n_fits + search.refit
        if evidence.was_selected:
            flags = {**evidence.flags, **Flag.MODELS_SHARE_ROWS.of()}
            evidence = replace(evidence, flags=flags)
        return self._concluded(MODELS, evidence, evaluation, bootstraps, drawn, n_fits, 0)

    def _draw(self, copies_apart: int) -> DrawnRows:
        search = self.search
        metrics = [metric for metric in search.scoring.metrics.values() if metric is not None]
        seed = stream(search.entropy, "draws")
        return draw(Demands(search.task, metrics, copies_apart), self.settings.n_bootstraps, seed)

    def _concluded(
        self,
        method: Procedure,
        evidence: Evidence,
        evaluation: Evaluation,
        bootstraps: Sequence[SearchBootstrap],
        drawn: DrawnRows,
        n_fits: int,
        n_fits_saved: int,
    ) -> SearchBootstrapEstimate:
        scores = np.array([each.out_of_bag_score for each in bootstraps])
        undefined = np.isnan(scores)
        # The first reason stands for all: most bootstraps fail for the same.
        why = next((f" ({each.reason})" for each in bootstraps if each.reason), "")
        flags = flags_of_draws(
            evidence, total=len(scores), undefined=int(undefined.sum()),
            why=why, redraws=drawn.redraws, needs=f"{evidence.metric.needs}, or rows of every class,",
        )  # fmt: skip
        value = float(scores[~undefined].mean()) if not undefined.all() else float("nan")
        if undefined.all():
            flags |= Flag.UNDEFINED.of(reason=f"no bootstrap has a score{why}")
        selected = [each.selected for each in bootstraps if each.selected is not None]
        frequency = np.bincount(selected, minlength=len(evidence.names)) / max(len(selected), 1)
        settings = self.settings
        reached = with_least_width(
            bootstrap_interval(scores, evidence.metric, settings),
            # Predictions are of the search on all rows, and these scores are of samples.
            evidence.table if isinstance(evidence, Candidates) else evidence,
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
        return concluded.extended(
            SearchBootstrapEstimate,
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


def _uncorrected(search: Search, evaluation: Evaluation) -> float:
    """The winner's score in the search on all rows."""
    name, winner = evaluation.refit_metric, evaluation.winner
    metric = evaluation.metrics[name]
    asked = search.estimation.aggregate
    whole = {} if metric is None else evaluation.whole_scores(Scales.of(asked, metric).value) or {}
    if name in whole:
        return float(whole[name][winner])
    scores = evaluation.fold_scores[name].values[:, winner]
    defined = scores[~np.isnan(scores)]
    return float(defined.mean()) if defined.size else float("nan")


def _bootstraps_of_searches(searches: BranchedSearch, samples: Sequence[SearchSample]) -> list[SearchBootstrap]:
    names = searches.evaluation.configurations.names
    return [
        SearchBootstrap(
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


def _check_countable(search: Search) -> None:
    """Refuse metrics without row weights if predictions of a sample are pooled: a row counts as often as drawn."""
    aggregate = search.estimation.scale_of_selection
    if aggregate == "folds" and search.drop is None:
        return
    setting = "drop" if aggregate == "folds" else f"`aggregate='{aggregate}'`"
    for name, metric in search.scoring.metrics.items():
        if metric is not None and not metric.takes_weights:
            raise InputError(
                f"{setting} counts each row of a sample as often as it was drawn, and the scorer '{name}' takes no "
                "sample_weight; use `aggregate='folds'` without drop, or a metric whose function accepts it."
            )


def _check_opened(search: Search) -> None:
    """Refuse what a choice on drawn rows cannot have: scorers that only return scores, and models of one search."""
    if search.estimation.rule.reads_models:
        raise InputError(
            "`scheme='models'` chooses from models of several samples, and the selection rule "
            f"'{search.estimation.rule.name}' counts in the models of one search; use `scheme='cvt'`."
        )
    read = [search.scoring.refit_metric]
    if search.estimation.rule.reads_all_metrics:
        read += list(search.scoring.metrics)
    closed = next((name for name in read if search.scoring.metrics.get(name) is None), None)
    if closed is not None:
        raise InputError(
            f"`scheme='models'` chooses by held-out predictions, but the scorer '{closed}' cannot be opened; use "
            "`scheme='cvt'`, or a scorer made by make_scorer."
        )


def _chosen_by_others(
    search: Search, evaluation: Evaluation, drawn: DrawnRows, settings: Settings
) -> tuple[Evidence, Indices, Floats]:
    """For each sample the configuration that is best on the rows that it drew, and its score there.

    A sample has no predictions for the rows that it drew, so rows weighted by how often it drew them are predicted
    by the models of other samples only.
    """
    task = search.task
    question = replace(evaluation.question(), aggregate="folds", settings=settings)
    evidence = gather(task.truth, evaluation.predictions, question)
    flags = dict(evidence.flags)
    if evidence.n_rows_used == task.n_rows:
        flags.pop(Flag.INCOMPLETE_PREDICTIONS, None)  # every sample predicts only the rows that it left out
    # The matrix holds only rows that all predicted, so counts must be of the same rows.
    counts = drawn.counts[:, evidence.used]
    columns = evidence.replay.choice(counts).columns
    in_bag = evidence.scores.selected(counts, np.maximum(columns, 0))
    none = columns == NONE_CHOSEN
    chosen = np.where(none, NONE_CHOSEN, evidence.candidates[np.maximum(columns, 0)])
    return replace(evidence, flags=flags), chosen, np.where(none, np.nan, in_bag)


def _bootstraps_of_models(
    evaluation: Evaluation, drawn: DrawnRows, chosen: Indices, in_bag: Floats
) -> list[SearchBootstrap]:
    names, values = evaluation.configurations.names, evaluation.fold_scores[evaluation.refit_metric].values
    cell_of = {(cell.key.configuration, cell.key.repeat): cell for cell in evaluation.cells}
    bootstraps = []
    for number, (split, j) in enumerate(zip(evaluation.folds.splits, chosen.tolist(), strict=True)):
        is_none = j == NONE_CHOSEN
        score = float("nan") if is_none else float(values[number, j])
        cell = None if is_none else cell_of[j, split.repeat]
        reason = "" if not np.isnan(score) else cell.message if cell is not None else "none could be chosen"
        bootstraps.append(
            SearchBootstrap(
                number=number,
                selected=None if is_none else j,
                selected_name="" if is_none else names[j],
                in_bag_score=float(in_bag[number]),
                out_of_bag_score=score,
                drawn=drawn_rows(drawn.counts[number]),
                left_out=split.test,
                scores={} if cell is None else cell.test_scores,
                reason=reason,
            )
        )
    return bootstraps


def bootstrap_search(
    estimator: Any,
    X: Any,
    y: Any,
    param_grid: Any = None,
    *,
    scheme: Literal["cvt", "models"] = _defaults.SCHEME,
    scoring: Any = None,
    pos_label: Any = None,
    cv: Any = None,
    n_bootstraps: int = _defaults.SEARCH_BOOTSTRAPS,
    aggregate: AnyAggregate = _defaults.AGGREGATE,
    selection: Any = _defaults.SELECTION,
    drop: Any = None,
    confidence_level: float = _defaults.LEVEL,
    alternative: Alternative = _defaults.ALTERNATIVE,
    groups: Any = None,
    sample_weight: Any = None,
    refit: Any = True,
    n_jobs: int | None = None,
    fit_timeout: float | None = None,
    share: Share = _defaults.SHARE,
    store: Any = None,
    random_state: Any = None,
    verbose: int = 0,
) -> SearchBootstrapEstimate:
    """Repeat a search on bootstrap samples of the rows, and score each on the rows that its sample left out.

    ``scheme="cvt"`` is the direct bootstrap (Paraschakis et al. 2024, section 2). For b = 1..B draw N rows with
    replacement, run the whole search on them (K folds; the copies of a row lie in one fold), fit its winner on the
    drawn rows with their copies, and score that model on the rows that were not drawn. Those rows selected nothing,
    so each score S_b is a score of the whole procedure. Value: the mean of S_1..S_B; interval: their percentiles.
    With C configurations this takes B (K C + 1) fits, and K C + 1 more for the search on all rows, whose winner is
    ``model``; with one configuration, such as a halving search, B + K + 1.

    ``scheme="models"`` (Tsamardinos et al. 2018, section 4) fits all C configurations on each sample, and predicts
    the rows left out: B C fits, and one more for ``model``, the configuration with the best mean score out of bag.
    The paper reports this best mean. It is optimistic, because the same rows select and score, and is
    ``uncorrected`` here. The value is the mean of B scores. For sample b, the models of the *other* samples predict
    the rows that b drew, the configuration with the best score on them is selected, and its model of sample b is
    scored on the rows that b left out. So the rows that score selected nothing, and no model saw them. But they
    trained models that took part in the selection, as with ``method="bbc"``: if models memorise rows, some optimism
    remains, which a flag reports (papers/pages/protocols.md has figures).

    The models of samples have seen about 63 % of the rows, so both values are pessimistic for a model trained on
    all rows, and the percentiles of scores on about 37 % of the rows are wider than the uncertainty of the value.

    Parameters
    ----------
    estimator : estimator, list of (name, estimator, grid), search, or function
        As in ``ho.HeldOutSearchCV``, or a search (of ``ho``, ``GridSearchCV`` or ``RandomizedSearchCV``), fitted or
        not; a random search draws once. The settings of a search apply to every argument left at its default here,
        except ``n_bootstraps``; an argument with another value than the search's is refused. Any other estimator
        that selects is one configuration, and every fit repeats its selection, as does any function of X and y
        that returns one fitted model (``ho.spaces.TuningProcedure``).
    X : array-like of shape (N, n_features)
    y : array-like of shape (N,)
    param_grid : dict or list of dict, optional
    scheme : {"cvt", "models"}, default="cvt"
        What is repeated on each sample: the whole search, or one fit per configuration.
    scoring, pos_label, cv, aggregate, selection, drop, refit, n_jobs, fit_timeout, \
share, verbose
        As in ``ho.HeldOutSearchCV``. ``cv`` makes the folds inside each sample: a splitter or an integer divides
        its distinct rows, and a list of splits is reduced to them. ``scheme="models"`` has no folds, and accepts
        neither ``cv`` nor ``drop``.
    store : str, path or Store, optional
        A file that keeps every finished fit; the same call continues where it stopped.
    n_bootstraps : int, default=100
        B, the number of samples.
    confidence_level : float, default=0.95
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
    groups : array-like of shape (N,), optional
        Drawn whole, and kept whole by the folds inside.
    sample_weight : array-like of shape (N,), optional
        Importance weights, for fits and scores.
    random_state : int, RandomState or Generator, optional
        Seeds the samples; bootstrap b is the same for any B.

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
    check_choice("scheme", scheme, SCHEMES)
    listed = cv if divides_anew(cv) or hasattr(cv, "split") else listed_splits(cv)
    if strategy_of(drop) is not None:
        raise InputError(
            f"`drop={drop!r}` plans its own splits, which samples cannot follow; use `drop='bootstrap'`."
        )
    estimator = procedure_of(estimator, y)
    arguments = SearchArguments(
        estimator, param_grid, scoring=scoring, cv=listed, aggregate=aggregate, selection=selection, drop=drop,
        confidence_level=confidence_level, alternative=alternative, refit=refit,
        n_jobs=n_jobs, fit_timeout=fit_timeout, share=share, store=store,
        random_state=random_state, verbose=verbose, pos_label=pos_label,
    ).with_search()  # fmt: skip
    if scheme == "models":
        _check_models(cv, drop)
        arguments = replace(arguments, cv=2, repeats=1, drop=None)  # other splits replace these
    search, running = arguments.search_on(X, y, groups, sample_weight), arguments.running()
    settings = replace(search.estimation, n_bootstraps=n_bootstraps).settings(search.entropy, arguments.n_jobs)
    plan = BootstrapPlan(search, settings, arguments.cv, arguments.repeats, _classifies(arguments.estimator))
    return plan.run_cvt(running) if scheme == "cvt" else plan.run_models(running)


def _check_models(cv: Any, drop: Any) -> None:
    for name, value in {"cv": cv, "drop": drop}.items():
        if value is not None:
            raise InputError(
                f"`scheme='models'` fits every configuration on each whole sample, so it takes no {name}, got "
                f"`{name}={value!r}`; leave it out, or use `scheme='cvt'`."
            )


def _classifies(estimator: Any) -> bool:
    model = checked_entries(estimator)[0][1] if isinstance(estimator, list | tuple) else estimator
    return bool(is_classifier(model))
