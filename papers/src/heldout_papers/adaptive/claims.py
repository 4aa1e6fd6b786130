"""The claims of heldout's documentation on adaptive searches, and how results judge them."""

from functools import partial

from heldout_papers.adaptive.study import AdaptiveStudy
from heldout_papers.engine.claims import Above, AtMost, Claim, ClaimTest, Mean, judged_claims

LEAST_REPETITIONS = 10


def bias_of(study: AdaptiveStudy, world: str, searcher: str, method: str) -> Mean:
    """The bias at the centre; NaN where it was not studied."""
    place = study.place(world, searcher)
    if place is None:
        return Mean(float("nan"), float("nan"), 0, world)
    found = study.summary(place, method)
    return Mean(found["bias"], found["standard_error"], int(found["n"]), world)


def _studied(pairs: tuple[tuple[str, str], ...], study: AdaptiveStudy) -> bool:
    enough = study.repetitions >= LEAST_REPETITIONS
    return enough and all(study.place(world, searcher) is not None for world, searcher in pairs)


TESTS: tuple[ClaimTest[AdaptiveStudy], ...] = (
    ClaimTest(
        "After TPE, bbc flatters on noise.",
        partial(_studied, (("noise", "tpe"),)),
        lambda study: bias_of(study, "noise", "tpe", "bbc"),
        Above(),
    ),
    ClaimTest(
        "After TPE, shrinkage flatters on noise.",
        partial(_studied, (("noise", "tpe"),)),
        lambda study: bias_of(study, "noise", "tpe", "shrinkage"),
        Above(),
    ),
    ClaimTest(
        "After TPE, bbc flatters more on noise than after a random search.",
        partial(_studied, (("noise", "tpe"), ("noise", "random"))),
        lambda study: bias_of(study, "noise", "tpe", "bbc") - bias_of(study, "noise", "random", "bbc"),
        Above(),
    ),
    ClaimTest(
        "The cross-fitted estimate is within .03 of the truth on noise.",
        partial(_studied, (("noise", "tpe"),)),
        lambda study: [bias_of(study, "noise", "tpe", "cross_fitted")],
        AtMost(0.03),
    ),
    ClaimTest(
        "The cross-fitted estimate is within .03 of the truth where there is a signal.",
        partial(_studied, (("signal", "tpe"), ("smooth", "tpe"))),
        lambda study: [bias_of(study, world, "tpe", "cross_fitted") for world in ("signal", "smooth")],
        AtMost(0.03),
    ),
)


def adaptive_claims(study: AdaptiveStudy) -> tuple[Claim, ...]:
    """Those that the study can judge."""
    return judged_claims(TESTS, study)
