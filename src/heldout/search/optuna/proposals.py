"""The proposals of a study: whole batches of its trials, told their scores in order."""

import copy
import itertools
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from heldout._streams import RandomState
from heldout._text import counted
from heldout.configurations import Configuration
from heldout.data.task import shortened
from heldout.errors import HeldoutWarning, InputError, StoreError, text_of
from heldout.execution.adaptive import ProposalScore
from heldout.search.optuna.feedback import MOST_SHARE
from heldout.search.optuna.regret import UselessSearch
from heldout.search.optuna.sampler import SeededSampler, fresh_sampler, optuna_package, quiet
from heldout.search.optuna.space import Space, checked_proposal


class FailedTrialsWarning(HeldoutWarning):
    """Some trials proposed nothing that can be fitted."""


@dataclass(frozen=True, kw_only=True)
class StudySettings:
    """How a study searches; ``HeldOutOptunaSearchCV`` describes each."""

    n_trials: int | None
    timeout: float | None = None
    batch_size: int | None = None
    sampler: Any = None
    study: Any = None
    feedback: Any = "auto"
    stop_when_useless: bool = False
    callbacks: Sequence[Callable[[Any, Any], None]] | None = None
    random_state: RandomState = None


class StudyProposals:
    """The trials of a study as proposals.

    Parameters
    ----------
    space : Space
    settings : StudySettings
        Its trials are those that are asked, the ones that propose nothing included.
    entropy : int
        Seeds the sampler, if it has no seed of its own.
    enough : int, optional
        With so many trials the search leaves part of its time to the searches without the rows of a fold.
    fewest : int, default=1
        Trials below which a search that its timeout ended is none.
    useless : UselessSearch, optional
        Decides after each batch whether further ones are useless.
    """

    def __init__(
        self,
        space: Space,
        settings: StudySettings,
        entropy: int,
        *,
        enough: int | None = None,
        fewest: int = 1,
        useless: UselessSearch | None = None,
    ) -> None:
        self.study = study_of(settings.study, settings.sampler)
        self._space = space
        self._sampler = SeededSampler.of(self.study.sampler, settings.random_state, entropy)
        self._n_trials, self._batch_size = settings.n_trials or sys.maxsize, settings.batch_size or 1
        self._timeout, self._callbacks = settings.timeout, tuple(settings.callbacks or ())
        self._enough, self._fewest, self._useless = enough, fewest, useless
        self.stop_reason = ""
        """Why the search stopped before its last trial; empty if it did not."""
        self._started = time.monotonic()
        self._asked: set[int] = set()
        """The numbers of the trials of this search."""
        self._is_stopped = False
        self._open: list[Any] = []
        self._known: list[Any] = []
        self._is_told = False
        self._failures: dict[int, str] = {}

    @property
    def identity(self) -> Any:
        """What decides the proposals; not their number, so that a run can be continued with more."""
        return {"space": self._space.identity, "sampler": self._sampler.identity, "batch_size": self._batch_size}

    def trial_of(self, position: int) -> Any:
        """The finished trial of a configuration."""
        trials = (self.study.trials[number] for number in sorted(self._asked))
        return next(trial for trial in trials if trial.user_attrs.get("configuration") == position)

    @property
    def n_asked(self) -> int:
        """The trials so far, those that proposed nothing included."""
        return len(self._asked)

    @property
    def shortage(self) -> str:
        """Why they ended before there was a search; empty if there was one."""
        if self.n_asked >= self._fewest or self.seconds_left() != 0:
            return ""
        return f"the timeout left it {counted(self.n_asked, 'trial')}, of at least {self._fewest}"

    def seconds_left(self) -> float | None:
        """Of the timeout; None without one."""
        return None if self._timeout is None else max(self._timeout - (time.monotonic() - self._started), 0.0)

    def resume(self, notes: Sequence[str]) -> None:
        """Propose again what was proposed before.

        Trials that a user's study still knows are repeated, and not told again. A sampler that can be seeded
        proposes the others again anyway; for another the notes wait in the study.
        """
        self._known = _known_trials(self.study, notes)
        _warn_of_earlier(self.study, {trial.number for trial in self._known})
        if self._sampler.is_reproducible:
            return
        # Proposals that were told before are known; the others are asked for again, in their order.
        wanted = [_params_of(note) for note in notes[len(self._known) : self._n_trials] if note]
        waiting = _waiting_params(self.study)  # of a run that was killed
        with quiet():
            for params in wanted:
                if params in waiting:
                    waiting.remove(params)
                else:
                    self.study.enqueue_trial(params)

    def next_batch(self) -> list[Configuration]:
        """The proposals of the next trials; empty when the search is over."""
        while not self._is_over():
            # The last batch is shorter, so that no more trials are asked than planned.
            number = min(self._batch_size, self._n_trials - self.n_asked)
            asked = [self._asked_trial() for _ in range(number)]
            # A batch may consist of failures alone; then the next is asked, and the search is not over.
            found = [proposal for proposal in asked if proposal is not None]
            if found:
                return found
        self._check_proposed()
        return []

    def take(self, scores: Sequence[ProposalScore]) -> None:
        """Tell the trials of the last batch their scores, in order."""
        # A copy of the list, as telling a trial removes it.
        for trial, score in zip(list(self._open), scores, strict=True):
            if _is_finished(trial):
                self._open.remove(trial)
                continue
            report_scores(trial, score)
            if score.dropped:
                self._tell(trial, state="PRUNED")
            elif np.isnan(score.value):
                self._tell(trial, state="FAIL")
            else:
                self._tell(trial, float(score.value))
        self._is_told = True
        useless = self._useless
        if useless is not None and self.n_asked < self._n_trials and useless.is_reached(self.study, self._asked):
            self._is_stopped = True
            limit = self._n_trials if self._n_trials < sys.maxsize else None
            self.stop_reason = useless.sentence(self.n_asked, limit)

    def close(self) -> None:
        """Fail the trials that were asked and never told a score, as after an interruption."""
        self._callbacks = ()
        for trial in [each for each in self._open if not _is_finished(each)]:
            self._tell(trial, state="FAIL")

    def warn_of_failures(self) -> None:
        """Warn of trials that proposed nothing that can be fitted."""
        if self._failures:
            warnings.warn(
                f"{len(self._failures)} of {counted(self.n_asked, 'trial')} proposed nothing that can be fitted: "
                f"{_listed(self._failures)}",
                FailedTrialsWarning,
                stacklevel=3,
            )

    @contextmanager
    def _stoppable(self) -> Iterator[None]:
        """``study.stop()`` ends the search: Optuna allows it only within ``study.optimize``."""
        # Samplers that have tried everything call it.
        self.study.stop = partial(setattr, self, "_is_stopped", True)
        try:
            yield
        finally:
            vars(self.study).pop("stop", None)

    def _is_over(self) -> bool:
        return self._is_stopped or self.n_asked >= self._n_trials or self._is_late()

    def _is_late(self) -> bool:
        left = self.seconds_left()
        if left is None or self._timeout is None:
            return False
        # The rest of the time is for the searches beside this one, if it has enough trials.
        if self._enough is not None and left <= self._timeout * (1 - 1 / (1 + MOST_SHARE)):
            if self.n_asked >= self._enough:
                return True
            self._enough = None  # too few for searches beside it, so that all the time is its own
        return left == 0

    def _asked_trial(self) -> Configuration | None:
        """The proposal of the next trial; None if it proposed nothing that can be fitted."""
        if self._known:
            return self._repeated(self._known.pop(0))
        with quiet(), self._stoppable():
            # By the number of trials, so that a resumed study proposes what it would have proposed.
            self._sampler.reseed(len(self.study.get_trials(deepcopy=False)))
            trial = self._new_trial()
            try:
                proposal = checked_proposal(self._space.proposal(trial))
            except optuna_package().TrialPruned:
                self._tell(trial, state="PRUNED")
                return None
            except Exception as error:
                reason = text_of(error)
                is_ours = isinstance(error, InputError)
                self._failures[trial.number] = reason if is_ours else f"{type(error).__name__}: {reason}"
                trial.set_user_attr("failure", self._failures[trial.number])
                self._tell(trial, state="FAIL")
                return None
        return replace(proposal, note=_note(trial.params))

    def _new_trial(self) -> Any:
        try:
            trial = self.study.ask()
            self._asked.add(trial.number)
            self._open.append(trial)
            _ = trial.relative_params  # here an error is the sampler's, further on the user's
        except ImportError as error:
            needed = f"the package {error.name}" if error.name else "a package"
            raise InputError(
                f"sampler needs {needed} for its proposals, which is not installed, got "
                f"{shortened(self._sampler.sampler)}; install it, or use another sampler.",
                argument="sampler",
            ) from error
        return trial

    def _repeated(self, trial: Any) -> Configuration:
        self._asked.add(trial.number)
        self._open.append(trial)
        # The parameters as they were: asked again, a sampler could propose others.
        fixed = optuna_package().trial.FixedTrial(trial.params, trial.number)
        return replace(self._space.proposal(fixed), note=_note(trial.params))

    def _tell(self, trial: Any, value: float | None = None, *, state: str = "COMPLETE") -> None:
        with quiet(), self._stoppable():  # a sampler that has proposed everything stops the study
            record = self.study.tell(trial, value, state=optuna_package().trial.TrialState[state])
            self._open.remove(trial)
            # A copy, as callbacks may change what they get.
            for callback in self._callbacks:
                callback(self.study, copy.deepcopy(record))

    def _check_proposed(self) -> None:
        if self._is_told:
            return
        if self.n_asked == 0:
            raise InputError(
                f"the timeout of {self._timeout:g} seconds was over before the first trial began; give more time.",
                argument="timeout",
            )
        n = counted(self.n_asked, "trial")
        why = _listed(self._failures) or "suggest pruned them"
        raise InputError(f"none of {n} proposed anything that can be fitted: {why}.")


def report_scores(trial: Any, score: ProposalScore) -> None:
    """Write the result of a configuration into its trial: its position, the score of each split, any failure."""
    for name, value in {"configuration": score.position, **score.columns}.items():
        trial.set_user_attr(name, value)
    for step, of_fold in enumerate(score.fold_scores):
        trial.report(of_fold, step)
    if score.dropped:
        trial.set_user_attr("dropped", score.dropped)
    elif np.isnan(score.value):
        trial.set_user_attr("failure", score.failure or "no score")


def checked_study(study: Any) -> Any:
    """A user's study, which must maximize one score.

    Raises InputError when it does not.
    """
    optuna = optuna_package()
    if not isinstance(study, optuna.Study):
        raise InputError(
            "study must be an Optuna study, such as optuna.create_study(direction='maximize'), got "
            f"{shortened(study)}."
        )
    check_direction(study)
    return study


def check_direction(study: Any) -> None:
    """Refuse a study that does not maximize one score."""
    if len(study.directions) != 1:
        raise InputError(
            f"study must have one direction, got {len(study.directions)}; scorers beside the first need none."
        )
    if study.direction.name != "MAXIMIZE":
        raise InputError(
            "study must maximize, as greater scores are better (losses are negative), got one that minimizes; "
            "create it with direction='maximize'."
        )


def study_of(study: Any, sampler: Any) -> Any:
    """The study of a search: a new one that maximizes, or the user's.

    Raises InputError when both are given, or the study does not maximize one score.
    """
    if study is not None and sampler is not None:
        raise InputError(
            "study has a sampler of its own; leave sampler out, or make the study with it.", argument="study"
        )
    if study is not None:
        return checked_study(study)
    optuna = optuna_package()
    if sampler is not None and not isinstance(sampler, optuna.samplers.BaseSampler):
        raise InputError(
            f"sampler must be a sampler of Optuna, such as optuna.samplers.TPESampler(), got {shortened(sampler)}."
        )
    with quiet():
        return optuna.create_study(
            direction="maximize", sampler=fresh_sampler(sampler), pruner=optuna.pruners.NopPruner()
        )


def _is_finished(trial: Any) -> bool:
    """Whether it is the record of a trial, and not one that waits for its score."""
    return isinstance(trial, optuna_package().trial.FrozenTrial)


def _finished(study: Any) -> list[Any]:
    return [trial for trial in study.get_trials(deepcopy=False) if trial.state.is_finished()]


def _waiting_params(study: Any) -> list[Any]:
    """The parameters of trials that are enqueued in a study."""
    state = optuna_package().trial.TrialState.WAITING
    return [trial.system_attrs.get("fixed_params") for trial in study.get_trials(deepcopy=False, states=(state,))]


def _known_trials(study: Any, notes: Sequence[str]) -> list[Any]:
    """Finished trials of a study with a note, in the order of their configurations, as far as these go.

    A place may have two notes: one of a trial that was interrupted, and one of the trial that came in its place.
    """
    noted = set(filter(None, notes))
    of_places = {
        trial.user_attrs["configuration"]: trial
        for trial in _finished(study)
        if "configuration" in trial.user_attrs and _note(trial.params) in noted
    }
    # Up to the first gap: what comes after it was proposed with other knowledge.
    return [of_places[place] for place in itertools.takewhile(of_places.__contains__, range(len(notes)))]


def _warn_of_earlier(study: Any, known: set[int]) -> None:
    earlier = sum(trial.state.name != "FAIL" and trial.number not in known for trial in _finished(study))
    if earlier:
        warnings.warn(
            f"the study has {counted(earlier, 'trial')} of before, from which its sampler learns but which have no "
            "held-out predictions here; winner and estimate are of this search's own trials.",
            HeldoutWarning,
            stacklevel=4,
        )


def _listed(failures: dict[int, str]) -> str:
    """Each reason with its trials."""
    reasons: dict[str, list[int]] = {}
    for number, why in failures.items():
        reasons.setdefault(why.rstrip("."), []).append(number)
    listed = [
        f"{counted(len(trials), 'trial') if len(trials) > 1 else f'trial {trials[0]}'}: {why}"
        for why, trials in reasons.items()
    ]
    return "; ".join(listed[:5]) + (f"; and {len(listed) - 5} more" if len(listed) > 5 else "")


def _params_of(note: str) -> dict[str, Any]:
    """The parameters of a note; raises StoreError when it is none."""
    try:
        params = json.loads(note)
    except (ValueError, RecursionError):
        params = None
    if not isinstance(params, dict):
        raise StoreError(
            f"the run file is damaged (the note on a configuration must be its parameters, got {shortened(note)}) "
            "and cannot be resumed; restore a copy of it, or move it away and start again."
        )
    return params


def _note(params: dict[str, Any]) -> str:
    """The parameters as JSON; empty where that has no form for them."""
    try:
        return json.dumps(params)
    except (TypeError, ValueError):
        return ""
