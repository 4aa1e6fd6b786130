"""Samplers that are seeded anew before each trial propose the same again."""

import warnings
from typing import Any

import optuna
import pytest
from optuna import samplers

from heldout.search.optuna.sampler import SeededSampler, fresh_sampler, quiet

SPACE = {
    "x": optuna.distributions.FloatDistribution(0, 1),
    "y": optuna.distributions.CategoricalDistribution(["a", "b", "c"]),
}


class Own(samplers.RandomSampler):
    """A sampler of a user."""


with quiet():
    SAMPLERS = {
        "random": samplers.RandomSampler(),
        "tpe": samplers.TPESampler(n_startup_trials=3),
        "independent tpe": samplers.TPESampler(n_startup_trials=3, multivariate=False),
        "tpe without liar": samplers.TPESampler(n_startup_trials=3, constant_liar=False),
        "groups": samplers.TPESampler(n_startup_trials=3, multivariate=True, group=True),
        "nsga2": samplers.NSGAIISampler(population_size=4),
        "nsga3": samplers.NSGAIIISampler(population_size=4),
        "sobol": samplers.QMCSampler(scramble=True),
        "halton": samplers.QMCSampler(qmc_type="halton"),
        "fixed": samplers.PartialFixedSampler({"y": "b"}, samplers.TPESampler(n_startup_trials=3)),
    }


def proposed(sampler: SeededSampler, number: int, *, batch: int = 1) -> list[dict[str, Any]]:
    """The parameters of the first trials of a study."""
    with quiet():
        study = optuna.create_study(direction="maximize", sampler=sampler.sampler)
        for first in range(0, number, batch):
            trials = []
            for place in range(first, first + batch):
                sampler.reseed(place)
                trials.append(study.ask(SPACE))
            for trial in trials:
                study.tell(trial, trial.params["x"] + (trial.params["y"] == "b"))
        return [trial.params for trial in study.trials]


@pytest.mark.parametrize("name", SAMPLERS)
@pytest.mark.parametrize("batch", [1, 3])
def test_proposals_repeat(name: str, batch: int) -> None:
    runs = [SeededSampler.of(fresh_sampler(SAMPLERS[name]), 7, entropy=7) for _ in range(2)]
    assert all(run.is_reproducible for run in runs)
    assert runs[0].identity == runs[1].identity
    first, second = (proposed(run, 12, batch=batch) for run in runs)
    assert first == second
    if name != "halton":  # which is not random
        other = SeededSampler.of(fresh_sampler(SAMPLERS[name]), 8, entropy=8)
        assert proposed(other, 12, batch=batch) != first


def test_an_evolution_strategy_repeats() -> None:
    pytest.importorskip("cmaes")
    space = {name: optuna.distributions.FloatDistribution(0, 1) for name in ("x", "z")}
    found = []
    for _ in range(2):
        sampler = SeededSampler.of(fresh_sampler(samplers.CmaEsSampler()), 7, entropy=7)
        with quiet():
            study = optuna.create_study(direction="maximize", sampler=sampler.sampler)
            for number in range(12):
                sampler.reseed(number)
                trial = study.ask(space)
                study.tell(trial, trial.params["x"] - trial.params["z"])
        found.append([trial.params for trial in study.trials])
    assert found[0] == found[1]


def test_a_seed_of_its_own_counts_without_a_random_state() -> None:
    def first(seed: int | None, random_state: int | None, entropy: int) -> dict[str, Any]:
        sampler = fresh_sampler(samplers.RandomSampler(seed=seed))
        return proposed(SeededSampler.of(sampler, random_state, entropy), 1)[0]

    assert first(3, None, 1) == first(3, None, 2) != first(4, None, 1)
    assert first(3, 1, 1) == first(4, 1, 1) == first(None, None, 1) != first(3, 2, 2)


def test_the_sampler_of_a_user_stays_unchanged() -> None:
    sampler = samplers.RandomSampler(seed=3)
    before = sampler._rng.rng.get_state()[1].tolist()
    proposed(SeededSampler.of(fresh_sampler(sampler), 1, 1), 3)
    assert sampler._rng.rng.get_state()[1].tolist() == before


def test_a_sampler_of_a_user_is_not_taken_as_reproducible() -> None:
    assert not SeededSampler.of(Own(), 1, 1).is_reproducible
    with warnings.catch_warnings(), quiet():
        fixed = samplers.PartialFixedSampler({"x": 1}, Own())
    assert not SeededSampler.of(fixed, 1, 1).is_reproducible


def test_the_identity_is_that_of_the_settings() -> None:
    def identity(sampler: Any) -> Any:
        return SeededSampler.of(sampler, 1, 1).identity

    used = samplers.TPESampler()
    proposed(SeededSampler.of(used, 1, 1), 12)
    assert identity(used) == identity(samplers.TPESampler()) == identity(samplers.TPESampler(seed=3))
    seeded = [SeededSampler.of(samplers.TPESampler(seed=seed), None, 1).identity for seed in (3, 4, None)]
    assert seeded[0] != seeded[1]
    assert seeded[2] == identity(used)
    assert identity(used) != identity(samplers.TPESampler(n_startup_trials=2))
    assert identity(used) != identity(samplers.RandomSampler())
