"""Sentences on learning curves."""

from __future__ import annotations

QUANTITY_IPL = (
    "the expected performance, over training sets of the size of all rows, of the winner as if it had been chosen "
    "beforehand, if its errors go on to follow the power law of its learning curve"
)


def caption(n_subsamples: int, n_drawn: int, n_configurations: int) -> str:
    """The caption of the picture."""
    which = "" if n_drawn == n_configurations else f" The best {n_drawn} of {n_configurations} are drawn."
    return (
        f"Dots are mean scores of {n_subsamples} subsamples of each size, with bars of one standard error; lines "
        f"are power laws through them, carried on to all rows (dotted), where the diamond is the estimate.{which}"
    )


def summary(
    metric: str, winner: str, means: tuple[str, str], sizes: tuple[float, float], value: str, n_rows: int
) -> str:
    """The text alternative of the picture."""
    end = f"; its curve reaches {value} at all {n_rows:,} rows" if value else ""
    return (
        f"{metric} of {winner} goes from {means[0]} with {sizes[0]:,.0f} training rows to {means[1]} with "
        f"{sizes[1]:,.0f}{end}."
    )
