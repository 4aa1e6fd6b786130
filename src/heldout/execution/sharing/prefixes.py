"""The leading steps of pipelines on one split, each fitted and applied once.

``Prefixes`` is the memory of every pipeline that is fitted on the split. scikit-learn's own code runs the pipelines
and asks this memory for each step; so the numbers are those of separate fits to the last bit.

An ``Account`` says what shared steps cost, and what sharing them saves: each reader is charged an equal part of
every output. The parts of all readers add up to the seconds that were really spent, and their savings to what
separate fits would have spent beyond that. A step takes as long in a separate fit as it took here.
"""

from __future__ import annotations

import functools
import math
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from heldout.configurations import is_cloned
from heldout.execution.cells import Saving
from heldout.execution.sharing import steps
from heldout.execution.sharing.groups import FitGroup
from heldout.spaces.submodels import Subtransformers

STEPS = "steps"
"""What configurations share that begin with equal steps."""


@dataclass(eq=False)
class StepOutput:
    """Rows behind a step.

    Attributes
    ----------
    rows : array-like
    seconds : float
        In which they were made.
    alone : float or None
        The same in a separate fit, which makes everything before it too; None if unknown.
    """

    rows: Any = None
    seconds: float = 0.0
    alone: float | None = 0.0


@dataclass(eq=False)
class Account:
    """The steps that some configurations read together, and what that saves each of them.

    Attributes
    ----------
    n_readers : int
        How many configurations.
    spent : float
        Seconds in which steps were made now, for these configurations and others.
    share : float
        Their part of the seconds of all steps that they read, made now or before.
    alone : float
        Seconds of the same steps in a separate fit of one of them.
    savings : dict of str to Saving
        Of each of them, by what is shared.
    """

    n_readers: int = 1
    spent: float = 0.0
    share: float = 0.0
    alone: float = 0.0
    savings: dict[str, Saving] = field(default_factory=dict)

    @property
    def ahead(self) -> float:
        """Seconds that each of them spent beyond its part, for others."""
        return (self.spent - self.share) / self.n_readers

    def read(self, what: str, output: StepOutput, n_users: int, n_bytes: int, again: float | None = None) -> None:
        """Charge each reader an equal part of an output.

        ``again``: the seconds in which it was made again for these readers, who are charged all of them.
        """
        charged = output.seconds / n_users + (again or 0.0) / self.n_readers
        part = 1 / n_users + (again is not None) / self.n_readers
        self.share += charged * self.n_readers
        self.alone += charged if output.alone is None else output.alone
        before = self.savings.get(what, Saving(0.0))
        seconds = None
        if before.seconds is not None and output.alone is not None:
            seconds = before.seconds + output.alone - charged
        self.savings[what] = Saving(seconds, before.n_bytes + n_bytes * (1 - part))


def saving_of_group(seconds: float, cost: float | None, n: int) -> Saving:
    """What one of n configurations saved whose fits were made in one; ``cost``: of its own, as a part of that one.

    >>> saving_of_group(8.0, 0.5, 4)
    Saving(seconds=2.0, n_bytes=0.0)
    """
    return Saving(None if cost is None else seconds * (cost - 1 / n))


class Stopwatch:
    """Measures laps: steps that were made meanwhile count by the readers' part of them."""

    def __init__(self, account: Account) -> None:
        self._account = account
        self._then = self._now()

    def lap(self) -> float:
        """Seconds since the last lap."""
        before, self._then = self._then, self._now()
        return self._then - before

    def _now(self) -> float:
        return time.perf_counter() - self._account.spent + self._account.share


_TEST = ""


@dataclass(eq=False)
class FittedStep:
    """A fitted step with its output: of the training rows, and of other rows by their key. Or why it failed.

    ``what``: the class of the group whose fit it comes from, or "steps".
    """

    fitted: Any = None
    train: StepOutput = field(default_factory=StepOutput)
    what: str = STEPS
    outputs: dict[str, StepOutput] = field(default_factory=dict)
    error: Exception | None = None
    n_bytes: int = 0
    is_read: bool = False


class Prefixes:
    """The fitted steps of one split.

    Parameters
    ----------
    X, y, X_test : array-like
        The training rows and the test rows.
    chains : sequence of StepChain
        Of the configurations that will be fitted here. Steps that only one of them has are not kept.
    groups : mapping of str to FitGroup
        Steps that one fit serves, by the key of each.
    most_bytes : int or None
        When the outputs exceed it, those of the steps that were not used for longest are forgotten. They are
        computed again when they are needed.

    Raises
    ------
    UnknownContainerError
        When the rows are in a container whose contents a step could change for the others.
    """

    location = None
    """scikit-learn's sign of a memory that takes the step itself, not a clone of it."""

    def __init__(
        self,
        X: Any,
        y: Any,
        X_test: Any,
        chains: Sequence[steps.StepChain],
        groups: Mapping[str, FitGroup],
        most_bytes: int | None,
    ) -> None:
        self.y = self._y = y
        # Read-only, so that a step that changes its rows in place is seen and gets a copy.
        self._X, self._X_test = steps.protected(X), steps.protected(X_test)
        self._n_users = Counter(step.key for chain in chains for step in chain.steps)
        self._groups = groups
        self._most_bytes = math.inf if most_bytes is None else most_bytes
        self._n_bytes = 0
        self._made: set[str] = set()  # keys of all outputs, also of those that were forgotten
        self._steps: OrderedDict[str, FittedStep] = OrderedDict()
        self._members: dict[int, tuple[Any, steps.ChainStep]] = {}  # transformers of the present model, by id
        self._known: dict[int, tuple[Any, str]] = {}  # test rows behind some step, by id, with their keys
        self._last = ""  # the step whose reader, the model, may change its rows
        self._read: str | None = None  # the rows that a step with branches is applied to
        self.account = Account()

    def rows_for(self, model: Any, chain: steps.StepChain, account: Account | None = None) -> tuple[Any, Any]:
        """Training and test rows for an unfitted model, whose steps from now on come from here.

        Parameters
        ----------
        model : estimator
            A fresh one of the configuration.
        chain : StepChain
            Of the same configuration.
        account : Account, optional
            Receives what the model reads.
        """
        self._members, self._known, self.account = {}, {}, account or Account()
        self.y = steps.own_copy(self._y)  # some models scale their target in place
        members = [(step, steps.member_at(model, step.path)) for step in chain.steps]
        for step, member in members:
            if is_cloned(member):  # else it is an object of the user
                # With the member, as an id alone may come back for another object.
                self._members[id(member)] = (member, step)
            if type(member) is Pipeline and member.memory is None:
                member.memory = self
        for step, member in members:
            # A branch that only one configuration has gains nothing from being kept.
            if step.is_branch and is_cloned(member) and self._n_users[step.key] > 1:
                _replace(steps.member_at(model, step.path[:-1]), step.path[-1], SharedBranch(member, self, step))
        if chain.steps:
            model.memory = self
        self._last = chain.keys[-1] if chain.steps and chain.changes_rows else ""
        own = chain.changes_rows and not chain.steps
        X_test = steps.own_copy(self._X_test) if own else steps.for_reader(self._X_test)
        self._known[id(X_test)] = (X_test, _TEST)
        return steps.own_copy(self._X) if own else steps.for_reader(self._X), X_test

    def cache(self, function: Callable[..., Any], **_: Any) -> Callable[..., Any]:
        """See ``joblib.Memory.cache``: pipelines fit their steps by what it returns."""

        @functools.wraps(function)
        def fitted_step(transformer: Any, X: Any, y: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
            def fit(rows: Any) -> tuple[Any, Any]:
                return function(transformer, rows, y, *args, **kwargs)

            _, step = self._members.get(id(transformer), (None, None))
            # Another target, as a stack fits its parts on folds, has nothing to do with the shared steps.
            if step is None or y is not self.y:
                return fit(X)
            params = kwargs.get("params") or {}
            return self.fitted(step, X, fit, transformer if not any(params.values()) else None)

        return fitted_step

    def fitted(
        self, step: steps.ChainStep, X: Any, fit: Callable[[Any], tuple[Any, Any]], transformer: Any = None
    ) -> tuple[Any, Any]:
        """Training rows behind a step, and the fitted step, as ``fit(X)`` gives them.

        Parameters
        ----------
        transformer : transformer, optional
            The unfitted step, where its ``fit`` receives nothing but rows.
        """
        group = None if transformer is None else self._groups.get(step.key)
        # Read once: kept, it would only take memory.
        if self._n_users[step.key] < 2 and group is None:
            output, fitted = _on_own_rows(fit, X, may_change=step.changes_rows)
            self._remember(step, fitted)
            return self._passed(output, step), fitted
        again = None
        if step.key not in self._steps and group is not None:
            again = self._fit_group(group, step.key, transformer, X)
        if step.key not in self._steps:
            found, again = self._fit_once(step, X, fit)
        else:
            found = self._steps[step.key]
        if step.key in self._steps:
            self._steps.move_to_end(step.key)
            rows = self._read_rows(step, found.what, found.train, again)
        else:
            rows = found.train.rows
            self.account.share += found.train.seconds
        # The same exception for every configuration, without the traceback of the first.
        if found.error is not None:
            raise found.error.with_traceback(None)
        if not found.is_read:
            found.is_read = True
            self._remember(step, found.fitted)
        return rows, found.fitted

    def applied(self, step: steps.ChainStep, transform: Callable[[Any], Any], X: Any, rows: str | None) -> Any:
        """Rows behind a fitted step, as ``transform(X)`` gives them; ``rows`` is the key of X."""
        found = self._steps.get(step.key)
        if found is None or rows is None:
            with self._reading(rows):
                return self._passed(_on_own_rows(transform, X, may_change=step.changes_rows), step)
        again = None
        if rows not in found.outputs:
            with self._reading(rows), self._timed(step) as output:
                output.rows = _on_own_rows(transform, X, may_change=step.changes_rows)
            try:
                kept = steps.apart_from(output.rows, X)
            # What cannot be protected from its readers is not shared.
            except steps.UnknownContainerError:
                self.account.share += output.seconds
                return output.rows
            again = self._made_again([f"{step.key} of {rows}"], output.seconds)
            found.outputs[rows] = output
            output.rows = kept
            if self._steps.get(step.key) is found:  # else it was forgotten meanwhile
                self._count(found, steps.size_of(kept))
        given = self._read_rows(step, found.what, found.outputs[rows], again)
        self._known[id(given)] = (given, rows + step.key)
        return given

    @property
    def rows_read(self) -> str | None:
        """The key of the rows that a step with branches is being applied to; None for rows without a key."""
        return self._read

    def _read_rows(self, step: steps.ChainStep, what: str, output: StepOutput, again: float | None) -> Any:
        """An output for one reader; ``again``: the seconds in which what was forgotten was made again for it."""
        given = None if output.rows is None else self._given(output.rows, step)  # None: its fit failed
        n_bytes = steps.size_of(given) if given is output.rows else 0  # a copy saves none
        self.account.read(what, output, self._n_users[step.key], n_bytes, again)
        return given

    def _made_again(self, keys: Sequence[str], seconds: float) -> float | None:
        """The seconds in which outputs were made, if one of them was made before; else None."""
        known = not self._made.isdisjoint(keys)
        self._made.update(keys)
        return seconds if known else None

    def _given(self, rows: Any, step: steps.ChainStep) -> Any:
        return steps.own_copy(rows) if step.key == self._last else steps.for_reader(rows)

    def _passed(self, rows: Any, step: steps.ChainStep) -> Any:
        """Rows that are not kept; a step may have returned the read-only ones that it was given."""
        read_only = isinstance(rows, np.ndarray) and not rows.flags.writeable
        return steps.own_copy(rows) if read_only and step.key == self._last else rows

    def _fit_group(self, group: FitGroup, wanted: str, transformer: Any, X: Any) -> float | None:
        """Fit all steps of a group at once, if it serves them; returns the seconds if it did so before."""
        part, watch = group.part(key for key in group.members if self._n_users[key]), Stopwatch(Account())
        try:
            submodels = part.family.fit_many(clone(transformer), part.values, steps.for_reader(X), self.y)
            fitting = watch.lap()
            many = cast(Subtransformers, submodels).fit_transform_many()
        except Exception:
            # A group that failed once is not asked again; its steps are fitted one by one.
            self._groups = {key: other for key, other in self._groups.items() if other is not group}
            return None
        applying = watch.lap()
        self.account.spent += fitting + applying
        answered = dict(zip(part.members, many, strict=True))
        costs = dict(zip(part.members, part.family.costs(part.values), strict=True))
        kept = {key: answer for key, answer in answered.items() if answer is not None and self._n_users[key]}
        for key in sorted(kept, key=wanted.__eq__):  # the wanted one last, so that it is not forgotten at once
            rows, fitted = kept[key]
            cost = costs[key]
            alone = None if cost is None else cost * fitting + applying / len(answered)
            train = StepOutput(rows, (fitting + applying) / len(kept), alone)
            self._keep(key, FittedStep(fitted, train, part.family.type.__name__), X)
        return self._made_again(list(kept), fitting + applying)

    def _fit_once(
        self, step: steps.ChainStep, X: Any, fit: Callable[[Any], Any]
    ) -> tuple[FittedStep, float | None]:
        """A fitted step, and the seconds if it was fitted before."""
        found, target = FittedStep(), np.asarray(self.y).tobytes()
        with self._timed(step) as found.train:
            try:
                found.train.rows, found.fitted = _on_own_rows(fit, X, may_change=step.changes_rows)
            except Exception as error:
                found.error = error
        if np.asarray(self.y).tobytes() == target:  # else each of its users must see the target changed
            self._keep(step.key, found, X)
        return found, self._made_again([step.key], found.train.seconds)

    @contextmanager
    def _timed(self, step: steps.ChainStep) -> Iterator[StepOutput]:
        """An output that is made inside, with its seconds; shared steps inside the step are parts of it."""
        # Shared steps within a shared step have accounts of their own, so no second is counted twice.
        output, outer = StepOutput(), self.account
        inner = self.account = Account(self._n_users[step.key])
        started = time.perf_counter()
        try:
            yield output
        finally:
            seconds, self.account = time.perf_counter() - started, outer
            outer.spent += seconds
            output.seconds = seconds - inner.spent + inner.share
            output.alone = seconds - inner.spent + inner.alone

    def _keep(self, key: str, found: FittedStep, X: Any) -> None:
        if found.error is None:
            try:
                found.train.rows = steps.apart_from(found.train.rows, X)
            except steps.UnknownContainerError:
                return
        replaced = self._steps.pop(key, None)  # by another fit of its whole group
        self._n_bytes -= 0 if replaced is None else replaced.n_bytes
        self._steps[key] = found
        self._count(found, steps.size_of(found.train.rows))

    def _remember(self, step: steps.ChainStep, fitted: Any) -> None:
        """Have a fitted step give its output for the test rows from here."""
        transform = fitted.transform

        def applied(X: Any, **params: Any) -> Any:
            _, rows = self._known.get(id(X), (None, None))
            return transform(X, **params) if params else self.applied(step, transform, X, rows)

        fitted.transform = applied

    def _count(self, found: FittedStep, n_bytes: int) -> None:
        found.n_bytes += n_bytes
        self._n_bytes += n_bytes
        # The last one stays, as it is about to be read.
        while self._n_bytes > self._most_bytes and len(self._steps) > 1:
            _, forgotten = self._steps.popitem(last=False)
            self._n_bytes -= forgotten.n_bytes

    @contextmanager
    def _reading(self, rows: str | None) -> Iterator[None]:
        before, self._read = self._read, rows
        try:
            yield
        finally:
            self._read = before

    def __deepcopy__(self, memo: Any) -> Prefixes:
        return self


class SharedBranch(BaseEstimator):  # type: ignore[misc]
    """A transformer beside others, whose fit and output are shared."""

    def __init__(self, transformer: Any, prefixes: Prefixes, step: steps.ChainStep) -> None:
        self.transformer = transformer
        self.prefixes = prefixes
        self.step = step

    def fit(self, X: Any, y: Any = None, **params: Any) -> SharedBranch:
        """Fit it alone."""
        self.transformer.fit(X, y, **params)
        return self

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any:
        """The training rows behind it."""

        def fit(rows: Any) -> tuple[Any, Any]:
            if hasattr(self.transformer, "fit_transform"):
                return self.transformer.fit_transform(rows, y, **params), self.transformer
            return self.transformer.fit(rows, y, **params).transform(rows), self.transformer

        if not params and y is self.prefixes.y:
            output, self.transformer = self.prefixes.fitted(self.step, X, fit, self.transformer)
            return output
        self.transformer = clone(self.transformer)  # that of a copied model: others read the present one
        return _on_own_rows(fit, X, may_change=self.step.changes_rows)[0]

    def transform(self, X: Any) -> Any:
        """Other rows behind it."""
        return self.prefixes.applied(self.step, self.transformer.transform, X, self.prefixes.rows_read)

    def get_metadata_routing(self) -> Any:
        """That of the transformer."""
        return self.transformer.get_metadata_routing()

    def __sklearn_clone__(self) -> SharedBranch:
        return SharedBranch(self.transformer, self.prefixes, self.step)

    def __sklearn_tags__(self) -> Any:
        return self.transformer.__sklearn_tags__()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "transformer":
            raise AttributeError(name)
        return getattr(self.transformer, name)


def _replace(parent: Any, name: str, branch: SharedBranch) -> None:
    """Put a branch in the place of the transformer of that name."""
    if type(parent) is ColumnTransformer:
        parent.transformers = [
            (each, branch if each == name else part, columns) for each, part, columns in parent.transformers
        ]
    else:
        parent.transformer_list = [
            (each, branch if each == name else part) for each, part in parent.transformer_list
        ]


def _on_own_rows(function: Callable[[Any], Any], X: Any, *, may_change: bool) -> Any:
    """``function(X)``, with a copy of X where it may change its rows, or did not take rows that are read-only."""
    try:
        return function(steps.own_copy(X) if may_change else X)
    except Exception:
        if may_change or getattr(getattr(X, "flags", None), "writeable", True):
            raise
        return function(steps.own_copy(X))
