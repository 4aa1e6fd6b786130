"""What is decided at a barrier of a race: which configurations are dropped, and who leads."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from heldout._streams import stream
from heldout._types import Booleans, Floats, Indices
from heldout.data.task import Task
from heldout.dropping.base import Barrier, Dropped, DropRule, Standing, Verdict, judged_after
from heldout.errors import HeldoutError, InputError
from heldout.estimates.from_matrix import gather
from heldout.estimates.question import Question, Settings
from heldout.execution.collect import RaceResults
from heldout.execution.plan import Race
from heldout.execution.search import Search
from heldout.metrics.base import quiet_if_foreign
from heldout.metrics.row_losses import LossOutsideRangeError
from heldout.selection.base import metrics_read
from heldout.selection.bootstrap_draws import Draws, UndefinedDrawsError, always

N_BOOTSTRAPS = 1000


@dataclass(frozen=True, eq=False)
class BarrierJudge:
    """Judges a race at its barriers."""

    search: Search
    rule: DropRule
    """Of the search."""
    race: Race
    task: Task
    """Whose rows may have other weights than in the search."""
    params: Sequence[dict[str, object]]
    entropy: int
    n_threads: int = 1

    @cached_property
    def judged(self) -> Booleans:
        """(splits - 1,): the barriers of the race at which the rule applies."""
        return judged_after([split.repeat for split in self.race.splits])

    def __call__(self, found: RaceResults, remaining: Sequence[int]) -> Barrier:
        """The record of a barrier that all remaining configurations have reached."""
        splits = found.splits
        nothing = unjudged_barrier(found, remaining)
        failed = {j: found.failures[j] for j in remaining if j in found.failures}
        if len(failed) == len(remaining):
            return nothing
        place = splits[-1].place
        failures = [Dropped(j, len(splits), float("nan"), f"it failed: {why}", place) for j, why in failed.items()]
        racing = [j for j in remaining if j not in failed]
        barrier = replace(nothing, leader=racing[0], dropped=tuple(failures))
        if len(racing) == 1 or nothing.n_rows < self.rule.min_predictions or not self.judged[len(splits) - 1]:
            return barrier
        try:
            return self._judged_barrier(barrier, found)
        except LossOutsideRangeError:
            raise  # more rows do not change that
        except (InputError, UndefinedDrawsError):
            # Too few rows so far: they lack a class or an event.
            return barrier

    def _judged_barrier(self, barrier: Barrier, found: RaceResults) -> Barrier:
        standing, columns = self._standing(found)
        with quiet_if_foreign([score.metric for score in standing.replay.scores]):
            verdict = _checked(self.rule.judge(standing), standing.n_configurations, self.rule)
            keep = verdict.keep.copy()
            keep[standing.leader] = True
            name, statistic = self.rule.statistic_name, verdict.statistic
            reasons = {int(c): f"{name} was {statistic[c]:.3g}" for c in np.flatnonzero(~keep)}
            behind = self._behind_of_two(standing, found.barriers)
            if behind is not None and keep[behind]:
                reasons[behind] = (
                    f"only two remained, and it was behind for {self.rule.resolve_ties_after} more splits"
                )
            risk = _risk(standing, list(reasons))
        dropped = [
            Dropped(int(columns[c]), barrier.after, float(verdict.statistic[c]), why, found.splits[-1].place)
            for c, why in sorted(reasons.items())
        ]
        needed: dict[int, float] = {}
        if verdict.folds_needed is not None:
            others = [c for c in range(len(columns)) if c not in reasons and c != standing.leader]
            needed = {int(columns[c]): float(verdict.folds_needed[c]) for c in others}
        return replace(
            barrier,
            judged=True,
            leader=int(columns[standing.leader]),
            dropped=(*barrier.dropped, *dropped),
            risk=risk,
            folds_needed=needed,
            stopped=verdict.stop,
            noted={} if verdict.noted is None else dict(zip(columns.tolist(), verdict.noted.tolist(), strict=True)),
        )

    def _standing(self, found: RaceResults) -> tuple[Standing, np.ndarray]:
        """The standing of the race, and the configuration behind each column."""
        metrics, rule = self.search.scoring.metrics, self.search.rule
        read = metrics_read(rule, metrics, found.refit_metric)
        opened = {name: metric for name in read if (metric := metrics.get(name)) is not None}
        reported = opened[found.refit_metric]
        task = self.task
        question = Question(
            reported,
            opened,
            rule,
            self.search.aggregate_so_far,
            Settings(),
            task.groups,
            task.sample_weight,
            self.params,
        )
        evidence = gather(task.truth, found.predictions, question)
        place = {split.place: row for row, split in enumerate(found.folds.splits)}
        rows = [place[split.place] for split in found.splits]
        scores = found.fold_scores[found.refit_metric].oriented()[rows][:, evidence.candidates]
        draws = Draws(
            seed=stream(self.entropy, "dropping", found.splits[-1].repeat, len(rows)),
            n_bootstraps=N_BOOTSTRAPS,
            unit_of_row=evidence.unit_of_row,
            defined_in_bag=evidence.replay.defined,
            defined_out_of_bag=always,
        )
        standing = Standing(
            truth=evidence.truth,
            replay=evidence.replay,
            fold_scores=scores,
            leader=evidence.winner_column,
            draws=draws,
            unit_of_row=evidence.unit_of_row,
            n_started=len(self.params),
            n_barriers=int(self.judged.sum()),
            n_folds=self.race.n_folds,
            n_threads=self.n_threads,
            predictions=evidence.predictions,
            noted=_notes(found.barriers, evidence.candidates),
        )
        return standing, evidence.candidates

    def _behind_of_two(self, standing: Standing, passed: Sequence[Barrier]) -> int | None:
        """The worse of the last two columns, if only they remain since ``resolve_ties_after`` barriers."""
        if self.rule.resolve_ties_after is None or standing.n_configurations != 2:
            return None
        alone = 0
        for earlier in reversed(passed):
            if earlier.n_before - len(earlier.dropped) != 2:
                break
            alone += 1
        return 1 - standing.leader if alone >= self.rule.resolve_ties_after else None


def _checked(verdict: Any, n_configurations: int, rule: DropRule) -> Verdict:
    """What a rule returned, refused where it is no verdict on each configuration."""
    found = [np.asarray(each) for each in verdict[:2]] if isinstance(verdict, Verdict) else []
    if not found or found[0].dtype != bool or {each.shape for each in found} != {(n_configurations,)}:
        got = " and ".join(f"{each.dtype} of shape {each.shape}" for each in found) or repr(verdict)
        raise HeldoutError(  # no InputError, which says here that rows are too few
            f"judge of `drop={rule.name!r}` must return a Verdict with a bool and a number for each of the "
            f"{n_configurations} remaining configurations, got {got}."
        )
    return cast("Verdict", verdict)


def unjudged_barrier(found: RaceResults, remaining: Sequence[int]) -> Barrier:
    """The record of a barrier at which no rule applies; the first is the leader, as one always remains."""
    splits = found.splits
    rows = np.unique(np.concatenate([split.test for split in splits]))
    return Barrier(len(splits), len(rows), len(remaining), leader=remaining[0], judged=False)


def _notes(barriers: Sequence[Barrier], columns: Indices) -> Floats:
    """(barriers so far, A): the notes of the rule on the remaining configurations."""
    rows = [[barrier.noted.get(int(each), np.nan) for each in columns] for barrier in barriers]
    return np.array(rows, dtype=np.float64).reshape(-1, len(columns))


def _risk(standing: Standing, dropped: Sequence[int]) -> float:
    """The share of bootstraps of the rows so far in which the selection rule chooses a dropped one."""
    if not dropped:
        return 0.0
    chosen = np.concatenate(
        [
            standing.replay.choose(standing.draws.block(first, min(first + 256, standing.draws.n_bootstraps))[0])
            for first in range(0, standing.draws.n_bootstraps, 256)
        ]
    )
    return float(np.isin(chosen, dropped).mean())
