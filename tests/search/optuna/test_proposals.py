"""A study's trials as proposals: asked in batches, told in order."""

import json
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import optuna
import pytest
from optuna.trial import TrialState
from sklearn.linear_model import Ridge

from heldout.configurations import Configuration
from heldout.errors import HeldoutWarning, InputError, StoreError
from heldout.execution.adaptive import ProposalScore
from heldout.search.optuna.proposals import FailedTrialsWarning, StudyProposals, StudySettings, study_of
from heldout.search.optuna.sampler import quiet
from heldout.search.optuna.space import space_of

SPACE = {"alpha": optuna.distributions.FloatDistribution(0, 10), "fit_intercept": [True, False]}


class OwnSampler(optuna.samplers.RandomSampler):
    """A sampler of a user, whose draws heldout does not know."""


def proposals(space: Any = SPACE, *, study: Any = None, sampler: Any = None, **settings: Any) -> StudyProposals:
    of_study = StudySettings(study=study, sampler=sampler, random_state=3, **{"n_trials": 6, **settings})
    return StudyProposals(space_of(Ridge(), space), of_study, 3)


def score_of(proposal: Configuration, position: int) -> ProposalScore:
    """Of a run without any fit."""
    folds = tuple(-((proposal.params["alpha"] - best) ** 2) for best in (2.0, 3.0))
    return ProposalScore(position, float(np.mean(folds)), folds)


def run(asked: StudyProposals, notes: Sequence[str] = ()) -> list[Configuration]:
    """All proposals, each scored."""
    asked.resume(notes)
    found: list[Configuration] = []
    while batch := asked.next_batch():
        asked.take([score_of(proposal, len(found) + place) for place, proposal in enumerate(batch)])
        found += batch
    return found


def test_batches_are_asked_whole() -> None:
    asked = proposals(n_trials=7, batch_size=3)
    sizes = []
    while batch := asked.next_batch():
        assert [trial.state for trial in asked.study.trials[-len(batch) :]] == [TrialState.RUNNING] * len(batch)
        sizes.append(len(batch))
        asked.take([score_of(proposal, 0) for proposal in batch])
    assert sizes == [3, 3, 1]


def test_failed_and_dropped_trials_are_told_so() -> None:
    asked = proposals(n_trials=3)
    for outcome in ({"failure": "ValueError: no"}, {"dropped": "worse"}, {}):
        asked.next_batch()
        asked.take([ProposalScore(0, np.nan, (1.0,), **outcome)])
    failed, dropped, unscored = asked.study.trials
    assert (failed.state, failed.user_attrs["failure"]) == (TrialState.FAIL, "ValueError: no")
    assert (dropped.state, dropped.user_attrs["dropped"]) == (TrialState.PRUNED, "worse")
    assert dropped.intermediate_values == {0: 1.0}
    assert (unscored.state, unscored.user_attrs["failure"]) == (TrialState.FAIL, "no score")


def suggest_some(trial: Any) -> Any:
    """Every second trial raises, returns something else, or cannot be made."""
    alpha = trial.suggest_float("alpha", 0, 10)
    if trial.number == 1:
        raise RuntimeError("out of order")
    if trial.number == 3:
        return None
    return {"beta" if trial.number == 5 else "alpha": alpha}


@pytest.mark.parametrize("batch_size", [1, 6])
def test_trials_that_propose_nothing_fail_and_the_search_goes_on(batch_size: int) -> None:
    asked = proposals(suggest_some, batch_size=batch_size)
    assert len(run(asked)) == 3
    states = [trial.state.name for trial in asked.study.trials]
    assert states == ["COMPLETE", "FAIL"] * 3
    assert asked.study.trials[1].user_attrs["failure"] == "RuntimeError: out of order"
    with pytest.warns(FailedTrialsWarning, match="3 of 6 trials proposed nothing .* trial 1: RuntimeError: out of"):
        asked.warn_of_failures()


def test_a_trial_that_prunes_itself_is_no_failure() -> None:
    def suggest(trial: Any) -> Any:
        if trial.number == 0:
            raise optuna.TrialPruned
        return {"alpha": trial.suggest_float("alpha", 0, 10)}

    asked = proposals(suggest)
    assert len(run(asked)) == 5
    with warnings.catch_warnings():
        asked.warn_of_failures()
    assert asked.study.trials[0].state == TrialState.PRUNED


def test_an_error_of_the_sampler_is_raised() -> None:
    class Broken(optuna.samplers.RandomSampler):
        def sample_relative(self, *args: Any) -> Any:
            raise RuntimeError("broken")

    asked = proposals(sampler=Broken())
    with pytest.raises(RuntimeError, match="broken"):
        asked.next_batch()
    asked.close()
    assert [trial.state.name for trial in asked.study.trials] == ["FAIL"]


def test_a_grid_ends_when_it_is_exhausted() -> None:
    with warnings.catch_warnings():
        sampler = optuna.samplers.GridSampler({"alpha": [1, 2], "fit_intercept": [True, False]})
        found = run(proposals({"alpha": [1, 2], "fit_intercept": [True, False]}, sampler=sampler, n_trials=50))
    assert sorted((one.params["alpha"], one.params["fit_intercept"]) for one in found) == [
        (1, False), (1, True), (2, False), (2, True),
    ]  # fmt: skip


def test_no_batch_begins_after_the_timeout() -> None:
    asked = proposals(timeout=1e-9)
    with pytest.raises(InputError, match="the timeout of 1e-09 seconds was over before the first trial began"):
        asked.next_batch()
    asked = proposals(timeout=1e9)
    asked.next_batch()
    asked._started -= 2e9  # as if so long had passed
    asked.take([ProposalScore(0, 1.0, (1.0,))])
    assert asked.next_batch() == []


def test_a_seeded_sampler_needs_no_notes_and_one_of_a_user_does() -> None:
    notes = [json.dumps({"alpha": float(place), "fit_intercept": True}) for place in range(3)]
    assert [one.params for one in run(proposals(), notes)] == [one.params for one in run(proposals())]
    found = run(proposals(sampler=OwnSampler()), notes)
    assert [one.params["alpha"] for one in found[:3]] == [0.0, 1.0, 2.0]
    assert len(found) == 6
    first = run(proposals(sampler=OwnSampler()))
    again = run(proposals(sampler=OwnSampler(seed=99)), [one.note for one in first])
    assert [one.params for one in again] == [one.params for one in first]


def test_trials_that_a_study_and_a_store_know_are_repeated() -> None:
    with quiet():
        study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler())
    first = run(proposals(study=study, n_trials=4))
    notes = [proposal.note for proposal in first]
    again = run(proposals(study=study, n_trials=6), notes)  # without a warning
    assert [one.params for one in again[:4]] == [one.params for one in first]
    assert len(study.trials) == 6
    others = [*notes[:2], json.dumps({"alpha": 99.0}), notes[3]]
    with pytest.warns(HeldoutWarning, match="the study has 4 trials of before"):
        run(proposals(study=study, n_trials=3), others)
    assert len(study.trials) == 7


def test_a_trial_in_place_of_an_interrupted_one_is_known() -> None:
    with quiet():
        study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler())
    notes = [proposal.note for proposal in run(proposals(study=study, n_trials=4))]
    both = [notes[0], json.dumps({"alpha": 99.0, "fit_intercept": True}), *notes[1:]]
    again = run(proposals(study=study, n_trials=5), both)  # without a warning
    assert [proposal.note for proposal in again[:4]] == notes
    assert len(study.trials) == 5


def test_notes_that_wait_in_a_study_already_are_not_enqueued_again() -> None:
    with quiet():
        study = optuna.create_study(direction="maximize", sampler=OwnSampler())
    notes = [json.dumps({"alpha": float(alpha), "fit_intercept": True}) for alpha in range(4)]
    killed = proposals(study=study)
    killed.resume(notes)
    killed.next_batch()
    killed.close()
    run(proposals(study=study), notes)
    complete = [trial.params["alpha"] for trial in study.trials if trial.state == TrialState.COMPLETE]
    assert sorted(complete[:4]) == [0, 1, 2, 3]
    assert len(set(complete)) == 6


def test_pruning_by_the_function_itself_proposes_nothing() -> None:
    def suggest(trial: Any) -> Any:
        raise optuna.TrialPruned

    with pytest.raises(
        InputError, match="none of 6 trials proposed anything that can be fitted: suggest pruned them"
    ):
        run(proposals(suggest))


@pytest.mark.parametrize(
    ("study", "sampler", "sentence"),
    [
        ("minimize", None, "study must maximize, as greater scores are better"),
        ("mine", None, r"study must be an Optuna study, .* got 'mine'"),
        (["maximize", "minimize"], None, "study must have one direction, got 2"),
        ("maximize", optuna.samplers.RandomSampler(), "study has a sampler of its own; leave sampler out"),
        (None, "tpe", "sampler must be a sampler of Optuna, .* got 'tpe'"),
    ],
)
def test_studies_and_samplers_that_do_not_fit_are_refused(study: Any, sampler: Any, sentence: str) -> None:
    if study not in (None, "mine"):
        named = {"direction": study} if isinstance(study, str) else {"directions": study}
        with quiet():
            study = optuna.create_study(**named)
    with pytest.raises(InputError, match=sentence):
        study_of(study, sampler)


def test_optuna_says_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    level = optuna.logging.get_verbosity()
    run(proposals())
    assert capfd.readouterr() == ("", "")
    assert optuna.logging.get_verbosity() == level


@pytest.mark.parametrize("note", ['{"alpha', "[1]", "3", "[" * 100_000])
def test_a_damaged_note_is_refused(note: str) -> None:
    with pytest.raises(StoreError, match=r"the run file is damaged .the note on a configuration must be its param"):
        proposals(sampler=OwnSampler()).resume(['{"alpha": 1.0, "fit_intercept": true}', note])


def test_no_more_notes_wait_than_trials_are_asked() -> None:
    notes = [json.dumps({"alpha": float(alpha), "fit_intercept": True}) for alpha in range(5)]
    asked = proposals(sampler=OwnSampler(), n_trials=3)
    run(asked, notes)
    assert [(trial.state, trial.params["alpha"]) for trial in asked.study.trials] == [
        (TrialState.COMPLETE, float(alpha)) for alpha in range(3)
    ]


class NeedyTrialSampler(optuna.samplers.RandomSampler):
    """A sampler that imports a package at its first proposal, as Optuna's Gaussian process does."""

    def infer_relative_search_space(self, study: Any, trial: Any) -> dict[str, Any]:
        import a_package_that_nobody_has  # type: ignore[import-not-found]

        return {"alpha": a_package_that_nobody_has}


def test_a_sampler_without_its_package_is_refused() -> None:
    with pytest.raises(InputError, match=r"sampler needs the package a_package_that_nobody_has .* install it, or"):
        run(proposals(sampler=NeedyTrialSampler()))
