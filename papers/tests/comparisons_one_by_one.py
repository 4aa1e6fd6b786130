"""The article's equations with plain loops and dictionaries: nothing of this is shared with what is tested."""

from itertools import pairwise
from statistics import mean, stdev

Measured = dict[tuple[str, int, str], dict[str, float]]
"""(table, repetition, algorithm): flat, nested and future accuracy; what failed is not there."""


def all_of(measured: Measured, place: int) -> list[str]:
    return sorted({str(key[place]) for key in measured})


def choice(measured: Measured, table: str, r: int, by: str) -> str:
    """f(i, r) or n(i, r): the first of the best in alphabetical order."""
    winner, highest = "", -1.0
    for a in all_of(measured, 2):
        accuracy = measured.get((table, r, a), {}).get(by, -2.0)
        if accuracy > highest + 1e-9:
            winner, highest = a, accuracy
    return winner


def repetition(
    measured: Measured, table: str, r: int, deltas: dict[tuple[str, int, str], float], instead: str = ""
) -> tuple[float, float, bool]:
    """Equations 7, 8 and 12."""
    n, f = choice(measured, table, r, "nested"), instead or choice(measured, table, r, "flat")
    gain = measured[table, r, n]["future"] - measured[table, r, f]["future"]
    return gain, min(deltas[table, r, n], deltas[table, r, f]), n == f


def errors(measured: Measured) -> dict[tuple[str, int, str], float]:
    """Equation 11."""
    return {key: abs(found["nested"] - found["future"]) for key, found in measured.items()}


def deviations(measured: Measured) -> dict[tuple[str, int, str], float]:
    """Appendix A's other threshold, that of its table for every repetition."""
    found = {}
    for table, r, a in measured:
        theirs = [one for key, one in measured.items() if (key[0], key[2]) == (table, a)]
        found[table, r, a] = min(stdev(one[what] for one in theirs) for what in ("nested", "flat", "future"))
    return found


Row = tuple[str, float, float, float]
"""Table, gain, threshold, share of same choices."""


def repetitions_of(measured: Measured, table: str) -> list[int]:
    return sorted({key[1] for key in measured if key[0] == table})


def by_table(measured: Measured, deltas: dict[tuple[str, int, str], float], instead: str = "") -> list[Row]:
    """Equations 9 and 13."""
    found = []
    for table in all_of(measured, 0):
        each = [repetition(measured, table, r, deltas, instead) for r in repetitions_of(measured, table)]
        found.append((table, mean(e[0] for e in each), mean(e[1] for e in each), mean(float(e[2]) for e in each)))
    return found


def each(measured: Measured) -> list[Row]:
    """The second alternative."""
    found = []
    for table in all_of(measured, 0):
        for r in repetitions_of(measured, table):
            gain, threshold, same = repetition(measured, table, r, errors(measured))
            found.append((table, gain, threshold, float(same)))
    return found


def averaged(measured: Measured, against: str) -> list[Row]:
    """The first alternative."""
    means: Measured = {}
    for table in all_of(measured, 0):
        for a in all_of(measured, 2):
            theirs = [one for key, one in measured.items() if (key[0], key[2]) == (table, a)]
            means[table, 0, a] = {what: mean(one[what] for one in theirs) for what in ("flat", "nested", "future")}
    deltas = {key: abs(one["nested"] - one[against]) for key, one in means.items()}
    return by_table(means, deltas)


def signed_rank_below(differences: list[float]) -> float:
    """Exact one-sided p-value: among all 2^n signs of the ranks, the share whose positive ranks sum to no more."""
    some = [d for d in differences if abs(d) > 1e-9]
    order = sorted(abs(d) for d in some)
    assert all(b - a > 1e-9 for a, b in pairwise(order)), "ties"
    positive = sum(order.index(abs(d)) + 1 for d in some if d > 0)
    ways = [1]
    for rank in range(1, len(some) + 1):
        longer = [0] * (len(ways) + rank)
        for total, count in enumerate(ways):
            longer[total] += count
            longer[total + rank] += count
        ways = longer
    return sum(ways[: positive + 1]) / sum(ways)


def ranks(measured: Measured, by: str) -> dict[str, float]:
    """Mean ranks, each tie as the mean of its places."""
    found: dict[str, list[float]] = {a: [] for a in all_of(measured, 2)}
    for table in all_of(measured, 0):
        for r in repetitions_of(measured, table):
            for a in found:
                mine = measured[table, r, a][by]
                others = [measured[table, r, b][by] for b in found if b != a]
                better = sum(one > mine + 1e-9 for one in others)
                tied = sum(abs(one - mine) <= 1e-9 for one in others)
                found[a].append(1 + better + tied / 2)
    return {a: mean(places) for a, places in found.items()}
