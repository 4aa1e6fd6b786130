"""Numbers as text."""

from __future__ import annotations

from math import isinf, isnan


def number_text(value: float | None, decimals: int) -> str:
    """A number with a fixed count of decimals, or in few significant digits where that would not show it."""
    if value is None or isnan(value):
        return "–"
    if isinf(value):
        return "∞" if value > 0 else "−∞"
    if abs(value) >= 1e7:
        return f"{value:.3g}"
    if value and decimals and abs(value) < 0.5 * 10**-decimals:
        return f"{value:.1g}"
    return f"{value:,.{decimals}f}"


def counted(n: int, noun: str) -> str:
    """'1 row', '2 rows'."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
