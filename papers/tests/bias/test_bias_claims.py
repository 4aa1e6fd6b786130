"""What a study says of the article's claims: which can be tested, and when they hold."""

from itertools import product

import numpy as np
import pytest

from heldout.errors import InputError
from heldout_papers import BiasSetting, BiasStudy
from heldout_papers.bias import BiasMoments
from heldout_papers.bias.claims import bias_claims
from heldout_papers.bias.protocols import PROTOCOLS
from heldout_papers.bias.setting import BETAS, CONFIGURATIONS, ROWS
from heldout_papers.engine.claims import Claim

AS_PUBLISHED = {"nested_cv": 0.0, "bbc": -0.013, "bced": -0.005}


def study(
    rows: tuple[int, ...] = ROWS,
    configurations: tuple[int, ...] = CONFIGURATIONS,
    beta: tuple[float, float] | None = (9.0, 6.0),
    folds: int = 10,
    protocols: tuple[str, ...] = tuple(PROTOCOLS),
    repetitions: int = 20,
    noise: float = 1e-6,
    metric: str = "accuracy",
    **biases: float,
) -> BiasStudy:
    """With these biases at every setting; those of cv and tt are the article's in kind unless told.

    Without a beta, of all that are the article's.
    """
    settings, columns = [], []
    for pair, n, c in product(BETAS if beta is None else [beta], rows, configurations):
        told = {"cv": 3.4 / n * (0.5 + c / 4000), "tt": 0.05 if n < 50 else -0.02, **AS_PUBLISHED, **biases}
        settings.append(BiasSetting(n, c, pair, folds, 10, protocols, metric))
        sign = settings[-1].flattering
        wobble = noise * np.resize([1.0, -1.0], repetitions)
        columns.append(
            {f"{name}.estimate": 0.7 + sign * told[name] + wobble for name in protocols}
            | {f"{name}.truth": np.full(repetitions, 0.7) for name in protocols}
        )
    return BiasStudy(tuple(settings), repetitions, tuple(columns), 0)


def claim(found: tuple[Claim, ...], start: str) -> Claim:
    return next(one for one in found if one.text.startswith(start))


def test_numbers_stand_beside_the_published_ones() -> None:
    found = bias_claims(study())

    assert claim(found, "NCV less BBC-CV, mean") == Claim(
        "NCV less BBC-CV, mean.", "0.013", "0.0130",
        "Agrees: +0.0000, no more than rounding and chance explain (±\u00a00.0005).", True,
    )  # fmt: skip
    assert claim(found, "NCV less BBC-CV, worst") == Claim(
        "NCV less BBC-CV, worst case.", "0.034", "0.0130 (N = 20, C = 50)",
        "Differs: -0.0210, more than rounding and chance explain (±\u00a00.0005).", False,
    )  # fmt: skip
    assert claim(found, "The bias of CVT is as high").ours == "0.1700 (N = 20, C = 2000)"
    assert all(
        claim(found, start).holds for start in ("CVT is", "The bias of CVT", "TT is", "TT over", "BBC-CV is")
    )


def test_chance_excuses_what_it_can_and_no_more() -> None:
    """Standard deviation .04 a repetition, 49 settings: two standard errors of the mean's difference are .0026."""
    exact = claim(bias_claims(study(bbc=-0.018)), "NCV less BBC-CV, mean")
    # The noise of one protocol only: it would cancel in a difference on the same matrices.
    noisy = study(bbc=-0.018, noise=0.04)
    for columns in noisy.columns:
        columns["nested_cv.estimate"][:] = 0.7  # type: ignore[index]
    noisy_claim = claim(bias_claims(noisy), "NCV less BBC-CV, mean")
    spread = 0.04 * np.sqrt(20 / 19)
    allowed = 0.0005 + 2 * spread / 7 * np.sqrt(1 / 20 + 1 / 500)

    assert not exact.holds
    assert noisy_claim.holds == (allowed > 0.005)
    assert noisy_claim.difference.endswith(f"(±\u00a0{allowed:.4f}).")


def test_a_bias_on_the_other_side_is_told() -> None:
    found = bias_claims(study(bbc=0.004))

    assert claim(found, "BBC-CV is conservative") == Claim(
        "BBC-CV is conservative.", "", "+0.004 to +0.004",
        "Holds in 0 of 49 settings; in 49 it is on the other side of 0 by more than three standard errors.", False,
    )  # fmt: skip


def test_no_bias_that_could_be_told_from_none_is_no_contradiction() -> None:
    found = claim(bias_claims(study(bbc=1e-4, noise=0.01)), "BBC-CV is conservative")

    assert found.holds
    assert found.difference == (
        "Holds in 0 of 49 settings; in the others the bias is within three standard errors of 0."
    )


def test_what_is_reversed_does_not_hold() -> None:
    found = bias_claims(study(cv=0.1, tt=0.05, nested_cv=-0.03, bced=-0.02))

    assert not claim(found, "The bias of CVT tends").holds
    assert not claim(found, "TT over-corrects").holds
    assert not claim(found, "NCV is almost").holds
    assert not claim(found, "BCED-CV is less").holds


def test_an_error_flatters_where_it_is_less_than_the_truth() -> None:
    found = bias_claims(study(metric="mean_squared_error"))

    assert claim(found, "CVT is optimistic").ours == "+0.002 to +0.170"
    assert claim(found, "BBC-CV is conservative").holds
    assert not any(one.published for one in found)


def test_less_by_chance_is_no_order() -> None:
    """Noise of one protocol only, as that of both would cancel: .3 a repetition, 49 settings of 20 repetitions."""
    noisy = study(bbc=-0.0055, bced=-0.005)
    for columns in noisy.columns:
        columns["bced.estimate"][:] += 0.3 * np.resize([1.0, -1.0], 20)  # type: ignore[index]
    found = claim(bias_claims(noisy), "BCED-CV is less")
    chance = 2 * 0.3 * np.sqrt(20 / 19) / np.sqrt(20) / 7

    assert not found.holds
    assert found.difference == (
        f"Open: the difference is +0.0005, no more than chance explains (±\u00a0{chance:.4f})."
    )


def test_the_others_are_said_to_be_similar() -> None:
    found = [one for one in bias_claims(study(beta=None)) if one.text.startswith("Similarly for Be(14, 6)")]

    assert len(found) == 7
    assert found[0].text.endswith(": CVT is optimistic in all settings.")
    assert found[0].difference == "Holds in all 147 settings."
    assert found[-3].ours == "+0.000 at most (Be(14, 6), N = 20)"


def test_claims_are_made_again_from_what_is_kept() -> None:
    whole = study(beta=None, noise=0.03)
    kept = BiasMoments.from_frame(whole.moments().to_frame())

    assert bias_claims(kept) == bias_claims(whole)
    assert kept.rows() == whole.rows()
    assert kept.settings == whole.settings


def test_moments_without_a_column_are_refused() -> None:
    frame = study(rows=(20,)).moments().to_frame()

    with pytest.raises(InputError, match=r"^the table of the moments of a bias study needs a column 'truth'"):
        BiasMoments.from_frame(frame.drop(columns="truth"))


@pytest.mark.parametrize(
    ("changed", "n_claims"),
    [
        pytest.param({}, 20, id="the figure"),
        pytest.param({"beta": None}, 27, id="all of the article"),
        pytest.param({"rows": (20, 40)}, 1, id="few rows"),
        pytest.param({"rows": (*ROWS, 30)}, 20, id="more rows"),
        pytest.param({"metric": "roc_auc"}, 15, id="areas"),
        pytest.param({"metric": "mean_squared_error", "beta": None}, 15, id="errors"),
        pytest.param({"configurations": (50, 2000)}, 0, id="few configurations"),
        pytest.param({"beta": (14.0, 6.0)}, 0, id="another beta"),
        pytest.param({"folds": 5}, 0, id="other folds"),
        pytest.param({"protocols": ("cv", "bbc")}, 7, id="two protocols"),
        pytest.param({"repetitions": 19}, 0, id="too few repetitions"),
    ],
)
def test_only_what_can_be_tested_is_claimed(changed: dict[str, object], n_claims: int) -> None:
    assert len(bias_claims(study(**changed))) == n_claims  # type: ignore[arg-type]
