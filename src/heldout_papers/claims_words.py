"""How a figure of ours compares with what was published, in a sentence."""

from __future__ import annotations


def number_difference(difference: float, chance: float, decimals: int) -> str:
    """How far our number is from a published one, and whether that means anything.

    Parameters
    ----------
    difference : float
        Ours less the published.
    chance : float
        Half a unit of the published number's last digit, and two standard errors of both simulations, or three of a
        worst case.
    """
    agrees = abs(difference) <= chance
    what = "no more than" if agrees else "more than"
    verdict = "Agrees" if agrees else "Differs"
    return f"{verdict}: {difference:+.{decimals}f}, {what} rounding and chance explain (± {chance:.{decimals}f})."


def sign_difference(n_as_claimed: int, n_all: int, n_against: int, where: str) -> str:
    """In how many places a bias has the sign that is claimed."""
    if n_as_claimed == n_all:
        return f"Holds in all {n_all} {where}."
    among = f"Holds in {n_as_claimed} of {n_all} {where}"
    if not n_against:
        return f"{among}; in the others the bias is 0 as far as three standard errors can tell."
    return f"{among}; in {n_against} it is on the other side of 0 by more than three standard errors."


def order_difference(holds: bool | None, difference: float, chance: float) -> str:
    """Whether one number is less than another, as is claimed, and by how much.

    Parameters
    ----------
    difference : float
        By how much it is less.
    chance : float
        Two standard errors of that.
    """
    if holds is None:
        return (
            f"Cannot be told: they differ by {abs(difference):.4f}, no more than chance explains (± {chance:.4f})."
        )
    return f"{'Holds' if holds else 'Does not hold'}: they differ by {abs(difference):.4f} (± {chance:.4f})."


def almost_difference(holds: bool, allowed: float, chance: float) -> str:
    """Whether a bias is almost none; the article gives no number for that."""
    verdict = "Holds" if holds else "Does not hold"
    return f"{verdict}, where up to {allowed:g} counts as almost, give or take {chance:.3f} by chance."
