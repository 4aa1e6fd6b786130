"""What a method must reach on real searches of the judging half, as claims; the cells that fail are listed.

Targets are those that this project set itself before the runs. Cells with fewer than ten rows of the rarer class
are reported and not judged.
"""

from collections.abc import Callable, Sequence

from heldout._text import counted
from heldout_papers.corrections.claims import LEAST_FOR_ERRORS, CellRows, Row, where
from heldout_papers.corrections.designs import METRICS
from heldout_papers.corrections.tables_result import TablesStudy
from heldout_papers.engine.claims import Claim, verdict

LIMITS = dict.fromkeys(METRICS, 0.01) | dict.fromkeys(
    ("average_precision", "log_loss", "r2", "root_mean_squared_error", "mean_absolute_error"), 0.02
)
"""Of the size of a bias; of errors in standard deviations of the target, of log loss in those of row losses."""
LEAST_RARER, LEAST_ROWS = 10, 100
LOW, HIGH, FLOOR = 0.93, 0.98, 0.90
MOST_OUTSIDE = 0.1
"""Of all cells may cover less than ``LOW`` or more than ``HIGH``."""
SURE = 2.0


def reach_claims(study: TablesStudy | CellRows) -> tuple[Claim, ...]:
    """Every target that the cells of a run can judge, for each method but the reference and the oracle."""
    cells = CellRows(tuple(study.rows()), study.reference) if isinstance(study, TablesStudy) else study
    found: list[Claim] = []
    for method in cells.judged:
        rows = [row for row in cells.of(method) if is_judged(row)]
        found += [claim for claim in _claims(method, cells.reference, rows) if claim is not None]
    if isinstance(study, TablesStudy) and study.n_checks:
        found.append(_of_checks(study))
    return tuple(found)


def is_judged(row: Row) -> bool:
    """Whether a cell has the rows and the searches that a target is about."""
    enough = row["rarer"] == 0 or row["rarer"] >= LEAST_RARER
    return bool(enough and row["half"] == "judging" and row["repetitions"] >= LEAST_FOR_ERRORS)


def _claims(method: str, reference: str, rows: Sequence[Row]) -> list[Claim | None]:
    large = [row for row in rows if row["rows"] >= LEAST_ROWS]
    with_interval = [row for row in rows if row["intervals_95"] > 0]
    biases = [
        _claim(
            f"{method}: the size of its bias of {metric} is at most {limit:g} with {LEAST_ROWS} rows and more.",
            [row for row in large if row["metric"] == metric], is_biased, "bias", "+.3f",
        )
        for metric, limit in LIMITS.items()
    ]  # fmt: skip
    return [
        *biases,
        _claim(
            f"{method}: its 95 % interval covers {LOW:g} to {HIGH:g} in nine of ten cells.",
            with_interval, misses_level, "coverage_95", ".3f", MOST_OUTSIDE,
        ),
        _claim(
            f"{method}: its 95 % interval covers less than {FLOOR:g} in no cell.",
            with_interval, lambda row: row["coverage_95"] + SURE * row["coverage_95_error"] < FLOOR,
            "coverage_95", ".3f",
        ),
        _claim(
            f"{method}: its 95 % interval is on average no wider than {reference}'s.",
            with_interval, lambda row: row["width_ratio_95"] > 1, "width_ratio_95", ".2f",
        ),
    ]  # fmt: skip


def is_biased(row: Row) -> bool:
    """Whether a bias is beyond the limit of its metric, chance allowed for; few rows have no limit."""
    surely = abs(row["bias"]) - SURE * row["bias_error"]
    return bool(row["rows"] >= LEAST_ROWS and surely > LIMITS[row["metric"]])


def misses_level(row: Row) -> bool:
    """Whether a coverage is outside of its limits, chance allowed for."""
    chance = SURE * row["coverage_95_error"]
    return not LOW - chance <= row["coverage_95"] <= HIGH + chance


def _claim(
    text: str, rows: Sequence[Row], fails: Callable[[Row], bool], name: str, form: str, allowed: float = 0.0
) -> Claim | None:
    """A claim about all cells but a share that is allowed; None without cells."""
    if not rows:
        return None
    failing = [row for row in rows if fails(row)]
    shown = "; ".join(f"{where(row)}: {row[name]:{form}}" for row in failing)
    why = f"{len(failing)} of {len(rows)} cells fail{': ' if failing else ''}{shown}"
    found = verdict(len(failing) <= allowed * len(rows), why)
    return Claim(text, f"≤ {allowed:.0%}", counted(len(failing), "cell"), found.sentence, found.holds)


def _of_checks(study: TablesStudy) -> Claim:
    checks = study.checks
    different = [
        f"{design}, {half} {number}, {metric}"
        for design, half, number, metric, is_equal in zip(
            *(checks[name].tolist() for name in ("design", "half", "number", "metric", "is_equal")), strict=True
        )
        if not is_equal
    ]
    why = f"{len(different)} of {study.n_checks} searches differ"
    found = verdict(not different, why + (f": {'; '.join(different)}" if different else ""))
    text = "A search with one metric has the estimate of the kept predictions, to the bit."
    return Claim(text, "none", f"{len(different)}", found.sentence, found.holds)
