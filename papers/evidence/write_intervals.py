"""Write every figure on intervals that the documentation has, from the runs that are kept.

``python papers/evidence/write_intervals.py`` fills the parts of the pages between ``<!-- figures: NAME -->`` and
``<!-- end of figures -->``. It reads the cells of the test bed and other runs in this folder, the coverage tables
that simulations print (``interval_tables.md``, ``interval_tables_kfold.md``, ``nested.md``), and
what the library itself recommends, whose figures it renews too. A test compares the pages with its output, so no
such figure is typed by hand.
"""

import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
from scipy.stats import binom

import heldout as ho
from heldout.advice.recommendation import CASES
from heldout_papers.corrections.advice_evidence import PLACE, cell_files, kept_cells, write_bed_evidence
from heldout_papers.corrections.reach import LEAST_ROWS as LEAST_FOR_BIAS
from heldout_papers.corrections.reach import is_biased, is_judged, misses_level
from heldout_papers.corrections.scores import ORACLE

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
DOCS, RECORDS = ROOT / "docs", ROOT / "papers" / "pages"
FROM_DOCS = "../papers/pages"
"""The way from a page of docs to the records."""
PAGES = (
    DOCS / "choose.md",
    RECORDS / "estimates.md",
    RECORDS / "intervals.md",
    RECORDS / "advice.md",
    RECORDS / "leaderboards.md",
    RECORDS / "study-corrections.md",
    ROOT / "notes" / "decisions" / "0018-which-method.md",
)
MARKED = re.compile(r"(<!-- figures: ([\w-]+) -->\n).*?(\n?<!-- end of figures -->)", flags=re.DOTALL)
LEAST_ROWS = 40
"""Cells with fewer rows are reported, but an interval is not asked to hold its level there."""
LEVEL, AT_LEAST, ERROR_RATE = 0.95, 0.94, 0.05
RECOMMENDED = CASES["choice"].method
TITLES = {
    "shrinkage": "`shrinkage`",
    "bbc": "`bbc`, percentiles (published)",
    "bbc(interval='sampling')": '`BBC(interval="sampling")`',
    "bbc(interval='calibrated')": '`BBC(interval="calibrated")`',
}
METRICS = {
    "accuracy": "accuracy",
    "roc_auc": "ROC AUC",
    "log_loss": "log loss",
    "root_mean_squared_error": "RMSE",
    "r2": "R²",
    "mean_squared_error": "squared error",
    "roc_auc_ovo": "AUC, three classes",
}


@cache
def bed() -> Any:
    """The cells of every kept run of the test bed, a row per cell and method."""
    found = kept_cells(HERE)
    return found[found["repetitions"] > 0].reset_index(drop=True)


# numbers


def share(value: float, decimals: int = 3) -> str:
    """'.953'."""
    if value != value:
        return "–"
    return f"{value:.{decimals}f}".removeprefix("0")


def signed(value: float, decimals: int = 3) -> str:
    """'+.012'."""
    if value != value:
        return "–"
    text = share(abs(value), decimals)
    return text if float(text) == 0 else ("+" if value > 0 else "−") + text


def span(values: Iterable[float], decimals: int = 3) -> str:
    """'.944 to .971'."""
    there = [value for value in values if value == value]
    if not there:
        return "–"
    low, high = share(min(there), decimals), share(max(there), decimals)
    return low if low == high else f"{low} to {high}"


def listed(items: Sequence[Any]) -> str:
    texts = [str(item) for item in items]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def paragraph(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), 120, break_long_words=False, break_on_hyphens=False)


# cells of the test bed


FAMILIES = {
    "accuracy, ROC AUC and log loss": ["accuracy", "roc_auc", "log_loss"],
    "R² and RMSE": ["r2", "root_mean_squared_error"],
}
"""Metrics of classes and of numbers, whose intervals cover differently."""


def cells(method: str | None = None, *, part: Any = None, **where: Any) -> pd.DataFrame:
    """Some rows of the test bed; a value or a list of values for each column."""
    found = bed()
    wanted = {"method": method, "part": part, **where}
    for column, values in wanted.items():
        if values is not None:
            found = found[found[column].isin(values if isinstance(values, list | tuple) else [values])]
    return found


def labels(part: str) -> list[str]:
    """The methods that have an interval in a part, those of ``TITLES`` first."""
    there = cells(part=part)
    known = [
        method
        for method in dict.fromkeys(there["method"])
        if method != "oracle" and there.loc[there["method"] == method, "intervals_95"].sum()
    ]
    return [name for name in TITLES if name in known] + [name for name in known if name not in TITLES]


def title_of(method: str) -> str:
    return TITLES.get(method, f"`{method}`")


def sizes(part: str) -> list[int]:
    return sorted(int(n) for n in cells(part=part)["rows"].unique())


def n_below(found: pd.DataFrame) -> int:
    """The cells of at least 40 rows whose coverage is below .94, by the one-sided binomial test at .05 / cells."""
    judged = found[(found["rows"] >= LEAST_ROWS) & (found["intervals_95"] > 0)]
    held = (judged["coverage_95"] * judged["intervals_95"]).round()
    return int((binom.cdf(held, judged["intervals_95"], AT_LEAST) < ERROR_RATE / max(len(judged), 1)).sum())


def coverage_and_width(found: pd.DataFrame) -> str:
    """'.944 to .971, 0.79'."""
    if not len(found) or not found["intervals_95"].sum():
        return "–"
    return f"{span(found['coverage_95'])}, {found['width_ratio_95'].mean():.2f}"


SEVERAL = ["alike", "varied"]


def covers(found: pd.DataFrame) -> str:
    """'.944 to .971, mean .955'."""
    return f"{span(found['coverage_95'])}, mean {share(found['coverage_95'].mean())}"


def covers_by_family(found: pd.DataFrame) -> str:
    """The same for metrics of classes, and of numbers."""
    parts = {title: found[found["metric"].isin(metrics)] for title, metrics in FAMILIES.items()}
    return "; ".join(f"{title}: {covers(one)}" for title, one in parts.items() if len(one))


def wide(found: pd.DataFrame) -> str:
    """'0.79'."""
    return f"{found['width_ratio_95'].mean():.2f}"


def wide_by_family(found: pd.DataFrame) -> str:
    return "; ".join(wide(found[found["metric"].isin(metrics)]) for metrics in FAMILIES.values())


SHARES = ["accuracy", "roc_auc"]
"""Metrics of one scale, whose biases can be averaged."""


def six_lines() -> str:
    """What a user has, what to ask, what it covers, how wide it is."""
    several, one = (cells(RECOMMENDED, part="tables", kind=kind) for kind in (SEVERAL, "one"))
    exact = cells(CASES["hold-out, one accuracy"].method, part="hold-out")
    held_out, scores = cells(RECOMMENDED, part="hold-out"), cells(CASES["fold scores"].method, part="tables")
    published = cells("bbc", part="tables")
    ten = [value for (k, _, _), values in fold_score_coverages().items() if k == "10" for value in values]
    five = f"; with 5 folds {covers(scores)}" if len(scores) else ""
    rows = [
        (
            "held-out predictions of a fixed search of several configurations",
            f'`ho.estimate(..., folds=folds, method="{RECOMMENDED}")`',
            covers_by_family(several),
            wide_by_family(several),
        ),
        (
            "K-fold predictions of one configuration, named before its predictions were seen",
            "the same",
            covers_by_family(one),
            wide_by_family(one),
        ),
        (
            "the rows of a hold-out or test set",
            "the same with `folds=np.zeros(len(y))`; for the accuracy of one configuration "
            "`method=ho.estimates.ClopperPearson(evaluation_share=1.0)`",
            f"{covers(held_out)}; Clopper and Pearson {covers(exact)}",
            f"{wide(held_out)}; {wide(exact)}",
        ),
        (
            "only the scores of folds, ten of them or more",
            '`ho.estimate_from_scores(..., method="bbc_f")`',
            f"{span(ten, 2)} with [10 folds](intervals.md#only-fold-scores){five}",
            wide(scores) if five else "",
        ),
        (
            "an adaptive search (Optuna, halving, an evolution)",
            "`ho.nested_cv(search, X, y)`, which repeats the search; "
            "[corrections leave a part of the optimism](#adaptive-searches)",
            "no run holds an adaptive search; as nested cross-validation of a fixed one, in the next line",
            "",
        ),
        (
            "a reader who requires nested cross-validation, or the published correction",
            "`ho.nested_cv(search, X, y)`, or `ho.estimate(..., method=ho.estimates.BBC(control=False))`",
            f"nested {nested_table()} at [a level of 90 %](nested.md); published: {covers_by_family(published)}",
            "1",
        ),
    ]
    reference = cells("bbc", part="tables", kind=SEVERAL)
    biases = [
        f"{signed(one['bias'].mean())} (mean size {share(one['bias'].abs().mean())})"
        for one in (found[found["metric"].isin(SHARES)] for found in (several, reference))
    ]
    most, error = int(several["configurations"].max()), several["rmse_ratio"].mean()
    note = (
        f"Coverages (the lowest and the highest cell, and the mean) are of searches of 1 to {most} "
        f"configurations on {listed(sizes('tables'))} rows of real tables, and of simulated hold-outs. Over "
        f"searches of several configurations by accuracy or ROC AUC `{RECOMMENDED}` has a mean bias of "
        f"{biases[0]}, `bbc` one of {biases[1]}; positive flatters. Over all metrics its root mean square error "
        f"is {error:.2f} of that of `bbc`."
    )
    head = ["you have", "ask", "its 95 % interval covers", "width, relative to the published"]
    return f"{table(head, rows)}\n\n{paragraph(note)}"


def choice_of_method() -> str:
    """What each method gives in real searches of several configurations, and what it costs."""
    rows = []
    for method in [name for name in labels("tables") if name != "oracle"]:
        found = cells(method, part="tables", kind=SEVERAL)
        by_family = [found[found["metric"].isin(metrics)] for metrics in FAMILIES.values()]
        rows.append(
            (
                title_of(method),
                signed(found.loc[found["metric"].isin(SHARES), "bias"].mean()),
                *(f"{share(one['coverage_95'].mean())} ({span(one['coverage_95'])})" for one in by_family),
                "none",
            )
        )
    rows.append(("`ho.nested_cv`, at a level of 90 %", "–", nested_table(), "–", "a search for each outer fold"))
    uncorrected = cells("cv", part="tables", kind=SEVERAL, metric=SHARES)["bias"].mean()
    note = (
        f"Real searches of several configurations on {listed(sizes('tables'))} rows "
        f"([corrections]({FROM_DOCS}/study-corrections.md)): mean bias of accuracy and ROC AUC, and mean coverage "
        "of 95 % intervals with the lowest and the highest cell. Positive bias flatters; of the uncorrected score "
        f"it is {signed(uncorrected)}. Nested cross-validation is of a run of its own "
        f"([nested]({FROM_DOCS}/nested.md))."
    )
    head = (
        "method",
        "bias of accuracy and ROC AUC",
        *(f"covers: {family}" for family in FAMILIES),
        "fits beyond the search",
    )
    return f"{table(head, rows)}\n\n{paragraph(note)}"


def of_searches() -> str:
    """Coverage and width of every interval in real searches."""
    n, parts = sizes("tables"), []
    head = ["interval", *(f"one, N = {rows}" for rows in n), *(f"several, N = {rows}" for rows in n)]
    for title, metrics in FAMILIES.items():
        lines = [
            [title_of(method)]
            + [
                coverage_and_width(cells(method, part="tables", metric=metrics, kind=kind, rows=rows))
                for kind in ("one", SEVERAL)
                for rows in n
            ]
            for method in labels("tables")
        ]
        parts.append(f"{title[0].upper()}{title[1:]}:\n\n{table(head, lines)}")
    return "\n\n".join(parts)


def of_searches_by_metric() -> str:
    """The recommended interval, by metric."""
    n, kinds = sizes("tables"), {"one": "one", "alike": "ten alike", "varied": "all, varied"}
    head = ["metric", *(f"{title}, N = {rows}" for title in kinds.values() for rows in n)]
    there = [metric for metric in METRICS if len(cells(RECOMMENDED, part="tables", metric=metric))]
    lines = [
        [METRICS[metric]]
        + [
            coverage_and_width(cells(RECOMMENDED, part="tables", metric=metric, kind=kind, rows=rows))
            for kind in kinds
            for rows in n
        ]
        for metric in there
    ]
    return table(head, lines)


SIMULATED = ("independent", "correlated")


def of_simulations() -> str:
    """Coverage and width on matrices with known truth: by kind, and by metric where all columns are independent."""
    kinds = list(dict.fromkeys(zip(cells(part=SIMULATED)["part"], cells(part=SIMULATED)["kind"], strict=True)))
    found = [name for name in TITLES if any(name in labels(part) for part in SIMULATED)]
    head = ["matrices", *(title_of(method) for method in found)]
    lines = []
    for part, kind in kinds:
        for small in (False, True):
            of = {m: cells(m, part=part, kind=kind) for m in found}
            mine = {m: one[(one["rows"] < LEAST_ROWS) == small] for m, one in of.items()}
            if any(len(one) for one in mine.values()):
                few = f", fewer than {LEAST_ROWS} rows" if small else ""
                lines.append([f"{part}, {kind}{few}", *(coverage_and_width(mine[m]) for m in found)])
    return table(head, lines)


def parts_of_bed() -> dict[str, dict[str, Any]]:
    """Which cells are summed up together; those of real searches by what kind of metric they have."""
    places: dict[str, dict[str, Any]] = {
        f"real searches, {title}": {"part": "tables", "metric": metrics} for title, metrics in FAMILIES.items()
    }
    places |= {part: {"part": part} for part in (*SIMULATED, "hold-out")}
    return {title: place for title, place in places.items() if len(cells(**place))}


def cells_below() -> str:
    """How many cells cover less than .94, and the mean coverage."""
    places = parts_of_bed()
    found = list(dict.fromkeys(method for place in places.values() for method in labels(place["part"])))

    def text(method: str, place: dict[str, Any]) -> str:
        mine = cells(method, **place)
        mine = mine[(mine["rows"] >= LEAST_ROWS) & (mine["intervals_95"] > 0)]
        return f"{n_below(mine)} of {len(mine)}, mean {share(mine['coverage_95'].mean())}" if len(mine) else "–"

    lines = ([title_of(method), *(text(method, place) for place in places.values())] for method in found)
    return table(["interval", *places], lines)


def of_hold_outs() -> str:
    """Coverage and width for the rows of a hold-out."""
    n = sizes("hold-out")
    head = ["interval", *(f"one, N = {rows}" for rows in n), *(f"best of 60, N = {rows}" for rows in n)]
    lines = [
        [title_of(method)]
        + [
            coverage_and_width(cells(method, part="hold-out", kind=kind, rows=rows))
            for kind in ("one", "varied")
            for rows in n
        ]
        for method in labels("hold-out")
    ]
    return table(head, lines)


def runs_text() -> str:
    """What was run."""
    parts = []
    for part, words in (
        ("tables", "searches on samples of real tables"),
        ("correlated", "matrices with the structure of real searches"),
        ("independent", "matrices of independent configurations"),
    ):
        mine = cells("bbc", part=part)
        if len(mine):
            n, least = len(mine), int(mine["repetitions"].min())
            most = int(mine["repetitions"].max())
            each = f"{least}" if least == most else f"{least} to {most}"
            parts.append(f"{n} cells of {words}, each with {each} repetitions")
    repetitions = cells("bbc", part="tables")["repetitions"].min()
    error = (LEVEL * (1 - LEVEL) / repetitions) ** 0.5
    return paragraph(
        f"{'; '.join(parts)}. A coverage of .95 in {int(repetitions)} repetitions has a standard error of "
        f"{share(error)}."
    )


def printed_recommendation() -> str:
    """What the library prints."""
    found = ho.estimates.recommendation("roc_auc", n_rows=120, n_configurations=40)
    return f"```text\n{found}\n```"


def decision() -> str:
    """The methods side by side."""
    rows = []
    for title, place in parts_of_bed().items():
        reference = cells("bbc", **place)
        for method in dict.fromkeys(cells(**place)["method"]):
            mine = cells(method, **place)
            judged = mine[(mine["rows"] >= LEAST_ROWS) & (mine["intervals_95"] > 0) & (method != "oracle")]
            several, one = judged[judged["configurations"] >= MANY], judged[judged["configurations"] == 1]
            # some methods have no value in some cells, so sizes of bias are compared where both have one
            both = mine.merge(reference, on=list(PLACE), suffixes=("", "_of_bbc"))
            rows.append(
                [
                    title,
                    title_of(method),
                    f"{both['bias'].abs().mean() / both['bias_of_bbc'].abs().mean():.2f}" if len(both) else "–",
                    f"{mine['rmse_ratio'].mean():.3f} (to {mine['rmse_ratio'].max():.2f})",
                    f"{share(judged['coverage_95'].mean())} (from {share(judged['coverage_95'].min())})"
                    if len(judged)
                    else "–",
                    f"{n_below(mine)} of {len(judged)}" if len(judged) else "–",
                    wide(several) if len(several) else "–",
                    wide(one) if len(one) else "–",
                ]
            )
    head = [
        "cells", "method", "mean size of bias ÷ bbc's", "error ÷ bbc's, mean (worst)", "coverage, mean (least)",
        f"cells below {share(AT_LEAST, 2)}", f"width ÷ bbc's, {MANY} and more", "width ÷ bbc's, one",
    ]  # fmt: skip
    return table(head, rows)


SIZES = {"one": "one", "ten": "ten alike", "all": "all"}


def judged_cells() -> pd.DataFrame:
    """The cells of every design that a target is about, a row a cell and method."""
    found = pd.read_parquet(HERE / "corrections-default.parquet")
    return found[[is_judged(row) for row in found.to_dict("records")]]


def of_designs() -> str:
    """What the default reaches in each design."""
    rows = []
    found = judged_cells()
    for design, part in found[found["method"] == RECOMMENDED].groupby("design", sort=False):
        records = part.to_dict("records")
        with_limit = int((part["rows"] >= LEAST_FOR_BIAS).sum())
        missed = sum(map(is_biased, records))
        rows.append(
            [
                f"`{design}`",
                str(int(part["repetitions"].max())),
                f"{missed} of {with_limit}" if with_limit else "–",
                f"{sum(map(misses_level, records))} of {len(part)}",
                covers(part),
                wide(part),
            ]
        )
    head = [
        "design", "searches", "cells biased beyond the limit", "cells that miss their level", "covers",
        "width ÷ bbc's",
    ]  # fmt: skip
    return table(head, rows)


def not_reached() -> str:
    """The cells that miss a target, beside what is known to be possible there."""
    found = judged_cells()
    of = {
        method: {tuple(row[name] for name in ("design", "size", "metric")): row for row in part.to_dict("records")}
        for method, part in found.groupby("method")
    }
    rows = []
    for place, row in of[RECOMMENDED].items():
        bias, level = is_biased(row), misses_level(row)
        if not (bias or level):
            continue
        design, size, metric = place
        rows.append(
            [
                f"`{design}`",
                metric.replace("_", " "),
                SIZES[size],
                f"{'**' * bias}{signed(row['bias'])}{'**' * bias} ± {share(2 * row['bias_error'])}",
                signed(of["bbc"][place]["bias"]),
                f"{'**' * level}{share(row['coverage_95'])}{'**' * level}",
                *(share(of[method][place]["rmse"]) for method in (RECOMMENDED, "bbc", ORACLE)),
            ]
        )
    head = [
        "design", "metric", "configurations", "bias ± 2 SE", "of bbc", "covers", "error", "of bbc", "of the oracle",
    ]  # fmt: skip
    return table(head, rows)


MANY = 10
"""Candidates from which on a search counts as one of many."""


# printed tables


def markdown_tables(page: Path) -> dict[str, list[list[str]]]:
    """The tables of a page, by the headings and lines of text that precede them."""
    found: dict[str, list[list[str]]] = {}
    section = label = ""
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("|"):
            cells_ = [cell.strip() for cell in line.strip("|").split("|")]
            if not all(re.fullmatch(r":?-+:?", cell) for cell in cells_):
                found.setdefault(f"{section}; {label}", []).append(cells_)
        elif line.startswith("#"):
            section, label = line.lstrip("# "), ""
        elif line.strip():
            label = line.strip().rstrip(":")
    return found


NAMES = (
    "bbc", "bbc calibrated", "bbc_f", "naive_bootstrap", "wilson", "clopper_pearson", "tilting", "mabt", "delong",
    "hanley_mcneil", "delong 10p",
)  # fmt: skip


def with_k_fold_fits() -> str:
    """The lowest and the highest coverage with ridge regressions."""
    ((_, rows),) = [
        (key, rows)
        for key, rows in markdown_tables(RECORDS / "interval_tables_kfold.md").items()
        if key.startswith("The lowest and the highest coverage")
    ]
    return table(rows[0], [row for row in rows[1:] if row[0] in NAMES])


def with_fold_scores() -> str:
    """The lowest and the highest coverage of ``bbc_f`` with ridge regressions, by the number of folds."""
    found = fold_score_coverages()
    columns = [(kind, n) for kind in ("one", "best of 10") for n in ("40", "100", "300")]
    head = ["", *(f"{kind}, N = {n}" for kind, n in columns)]
    return table(head, ([f"K = {k}", *(span(found[k, kind, n], 2) for kind, n in columns)] for k in ("5", "10")))


def fold_score_coverages() -> dict[tuple[str, str, str], list[float]]:
    """By K, candidates and N."""
    found: dict[tuple[str, str, str], list[float]] = {}
    for key, rows in markdown_tables(RECORDS / "interval_tables_kfold.md").items():
        for row in rows[1:]:
            for column, cell in zip(rows[0][1:], row[1:], strict=True):
                size = re.fullmatch(r"N=(\d+), K=(\d+)", column)
                if row[0] == "bbc_f" and size is not None:
                    kind = "best of 10" if "best of 10" in key else "one"
                    found.setdefault((size[2], kind, size[1]), []).extend(map(float, cell.split(" / ")))
    return found


def held(found: pd.DataFrame) -> float:
    return float(((found["low"] <= found["truth"]) & (found["truth"] <= found["high"])).mean())


WORLDS_OF_SYSTEMS = {
    "prompts": "prompts that are nearly alike",
    "models": "families of models",
    "ceiling": "nearly all answers right",
    "graded": "scores of 0, .1 … 1",
    "runs": "three runs of each item",
}


def of_leaderboards() -> str:
    """Bias, coverage and width of the score of the best of many systems."""
    answers = {"heldout": "heldout", "evalstats": "as evalstats", "plain": "mean ± 1.96 SE"}
    kept = pd.read_csv(HERE / "leaderboards.csv")
    kept = kept.sort_values(["items", "systems"], kind="stable")
    rows = []
    for (items, systems, world), found in kept.groupby(["items", "systems", "world"], sort=False):
        of = found.set_index("answer")
        row = [WORLDS_OF_SYSTEMS[world], f"{items:,} × {systems}", f"{of['leaderboards'].iloc[0]:,}"]
        for answer in answers:
            one = of.loc[answer]
            row.append(f"{signed(one['bias'])} ± {share(2 * one['error_of_bias'])}")
            row.append(f"{share(one['coverage'])}, {share(one['width'], 2)}")
        rows.append(row)
    parts = [part for name in answers.values() for part in (f"{name}: bias ± 2 SE", "covers, width")]
    return table(["world", "items × systems", "leaderboards", *parts], rows)


def width_at_50_items() -> str:
    """How much narrower intervals are where nothing was trained."""
    kept = pd.read_csv(HERE / "leaderboards.csv").pivot_table(
        index=["world", "items", "systems"], columns="answer", values="width", sort=False
    )
    both = kept.dropna(subset=["heldout, folds unknown"])
    ratios = both["heldout"] / both["heldout, folds unknown"]
    return f"{span(ratios.tolist(), 2)} times as wide"


def with_heavy_tails() -> str:
    """``bbc`` of R² where errors have heavy tails."""
    whose = {"target": "the target's", "model": "each model's own"}
    tails = {"t, 4": "t, 4 degrees of freedom"}
    rows = []
    for (tail, of), found in pd.read_parquet(HERE / "heavy-tails.parquet").groupby(["tail", "whose"], sort=False):
        flagged = float(found["flagged"].mean())
        rest = found[~found["flagged"]]
        few = len(rest) < FEWEST
        biases = [signed((found[name] - found["truth"]).mean(), 2) for name in ("uncorrected", "value")]
        shares = [share(held(found), 2), share(flagged, 2), "" if few else share(held(rest), 2)]
        rows.append([tails.get(tail, tail), whose[of], *biases, *shares])
    head = [
        "errors", "whose", "bias of the uncorrected score", "of `bbc`", "95 % interval covers", "flagged",
        "covers where not flagged",
    ]  # fmt: skip
    return table(head, rows)


FEWEST = 20
"""Samples that a share needs."""


def with_shifted_folds() -> str:
    """``bbc`` of an AUC where the scores of folds are shifted, by ways to one score."""
    found = pd.read_parquet(HERE / "within-folds.parquet").assign(truth=0.85)
    many = found[found["columns"] > 1]
    shifts = sorted(many["shift"].unique())
    ways = list(dict.fromkeys(many["aggregate"]))

    def text(way: str, shift: float) -> str:
        mine = many[(many["aggregate"] == way) & (many["shift"] == shift)]
        return f"{share(mine['value'].mean())}, {share(held(mine), 2)}"

    head = ["standard deviation of the shifts", *(f"{shift:g}" for shift in shifts)]
    return table(head, ([way, *(text(way, shift) for shift in shifts)] for way in ways))


def width_within_folds() -> str:
    """What pairs within folds cost for one configuration without shifts."""
    found = pd.read_parquet(HERE / "within-folds.parquet").assign(truth=0.85)
    texts = []
    for way in ("pooled", "within"):
        mine = found[(found["columns"] == 1) & (found["aggregate"] == way)]
        texts.append(f"{way} {share((mine['high'] - mine['low']).mean(), 2)} wide, covers {share(held(mine), 2)}")
    return paragraph(f"One configuration without shifts, 100 rows in 10 folds: {'; '.join(texts)}.")


def with_independent_rows() -> str:
    """The lowest and the highest coverage of all settings of independent rows, for each number of rows."""
    found: dict[tuple[str, str, str], list[float]] = {}
    for key, rows in markdown_tables(RECORDS / "interval_tables.md").items():
        size = re.search(r"N = (\d+), (two|one)-sided", key)
        if size is None or "10% positive" in key:
            continue
        for row in rows[1:]:
            if (size[2] == "one") != (row[0] in ("tilting", "mabt")):
                continue  # these have lower bounds only
            for column, cell in zip(rows[0][1:], row[1:], strict=True):
                number = re.match(r"(1\.0+|\.\d+)", cell)
                if number:
                    found.setdefault((row[0], size[1], column.split(",")[0]), []).append(float(number[1]))
    columns = [(n, c) for c in ("C=1", "C=10", "C=300") for n in ("40", "100", "500")]
    head = ["", *(f"{c.replace('=', ' = ')}, N = {n}" for n, c in columns)]
    lines = [[name, *(span(found.get((name, n, c), []), 2) for n, c in columns)] for name in NAMES]
    return table(head, lines)


def calibrated_and_percentiles() -> str:
    """Coverage of the calibrated interval, and its width relative to percentiles, by setting."""
    kinds = {
        "auc, P ~ Be(24, 6)": "AUC",
        "accuracy, P ~ Be(9, 6)": "accuracy",
        "squared error, 1 - P ~ Be(9, 6)": "squared error",
    }
    found: dict[tuple[str, str], dict[str, str]] = {}
    for key, rows in markdown_tables(RECORDS / "interval_tables.md").items():
        size = re.search(r"^(.*); N = (\d+), two-sided", key)
        if size is None or size[1] not in kinds:
            continue
        by_name = {row[0]: row[1:] for row in rows[1:]}
        for column, mine, other in zip(rows[0][1:], by_name["bbc calibrated"], by_name["bbc"], strict=True):
            coverage, width = re.findall(r"[\d.]+", mine)[:2]
            ratio = float(width) / float(re.findall(r"[\d.]+", other)[1])
            found.setdefault((kinds[size[1]], column), {})[size[2]] = f"{coverage} ({ratio:.2f})"
    sizes_ = ["40", "100", "500"]
    head = ["", *(f"N = {n}" for n in sizes_)]
    return table(
        head,
        (
            [f"{kind}, {column.replace('=', ' = ')}", *(of[n] for n in sizes_)]
            for (kind, column), of in found.items()
        ),
    )


def nested_table() -> str:
    """The coverages of two intervals of nested cross-validation."""
    ((_, rows),) = [
        (key, rows)
        for key, rows in markdown_tables(RECORDS / "nested.md").items()
        if rows[0][0] == "rows, repeats, simulations"
    ]
    columns = [n for n, name in enumerate(rows[0]) if name.startswith(("Nadeau-Bengio", "Bates-Hastie"))]
    return span((float(re.findall(r"\.\d+", row[n])[0]) for row in rows[1:] for n in columns), 2)


# pages

FIGURES: Mapping[str, Callable[[], str]] = {
    "six-lines": six_lines,
    "choice-of-method": choice_of_method,
    "runs": runs_text,
    "real-searches": of_searches,
    "real-searches-by-metric": of_searches_by_metric,
    "simulations": of_simulations,
    "cells-below": cells_below,
    "hold-outs": of_hold_outs,
    "recommendation": printed_recommendation,
    "decision": decision,
    "designs": of_designs,
    "not-reached": not_reached,
    "k-fold-fits": with_k_fold_fits,
    "fold-scores": with_fold_scores,
    "heavy-tails": with_heavy_tails,
    "leaderboards": of_leaderboards,
    "width-at-50-items": width_at_50_items,
    "shifted-folds": with_shifted_folds,
    "width-within-folds": width_within_folds,
    "independent-rows": with_independent_rows,
    "calibrated": calibrated_and_percentiles,
}


OF_BED = {
    "six-lines", "runs", "real-searches", "real-searches-by-metric", "simulations", "cells-below", "hold-outs",
    "recommendation", "decision", "choice-of-method", "designs", "not-reached",
}  # fmt: skip
"""Those that need runs of the test bed."""


def figure(name: str) -> str:
    return FIGURES[name]() if cell_files(HERE) or name not in OF_BED else "*(the run is not kept yet)*"


def filled(text: str) -> str:
    """A page with its figures."""
    return MARKED.sub(lambda found: f"{found[1]}{figure(found[2])}\n{found[3].strip()}", text)


if __name__ == "__main__":
    if cell_files(HERE):
        write_bed_evidence(HERE)  # first, because a page shows what the library says
    for each in PAGES:
        each.write_text(filled(each.read_text(encoding="utf-8")), encoding="utf-8")
