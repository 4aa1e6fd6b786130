"""Write the tables of pages on studies from the kept runs.

``python papers/evidence/write_studies.py`` is the command. A test compares the pages with its output, so that no
figure in these tables is typed by hand.
"""

import runpy
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from heldout_papers import AdaptiveStudy
from heldout_papers.adaptive.page import centre_tables, markdown_lines, varied_tables
from heldout_papers.engine.claims import answers_text
from heldout_papers.flat_vs_nested import FlatVsNestedStudy
from heldout_papers.flat_vs_nested.accuracies import Estimated, mean_ranks
from heldout_papers.flat_vs_nested.analysis import FULL
from heldout_papers.flat_vs_nested.claims import FLAT_RANKS, NESTED_RANKS, flat_vs_nested_claims
from heldout_papers.flat_vs_nested.means import AccuracyMeans
from heldout_papers.flat_vs_nested.page import comparison_tables
from heldout_papers.search import SearchStudy
from heldout_papers.search.claims import ALL, BBC, BBC10, BCED, CV, LARGE, NCV, SMALL, TT, search_claims
from heldout_papers.search.means import SearchMeans

HERE = Path(__file__).parent
FOLDER = HERE.parent / "pages"
PAGES = (
    HERE.parents[1] / "docs" / "understand" / "adaptive-searches.md",
    FOLDER / "adaptive-searches.md",
    FOLDER / "study-search.md",
    FOLDER / "study-flat-vs-nested.md",
)
intervals = runpy.run_path(str(HERE / "write_intervals.py"))
MARKED, listed, share, signed, table = (
    intervals[name] for name in ("MARKED", "listed", "share", "signed", "table")
)
PROTOCOLS = {CV: "CVT", TT: "TT", NCV: "NCV", BBC: "BBC-CV", BCED: "BCED-CV", BBC10: "BBC-CV, 10 repeats"}
"""The columns of tables of searches."""


def kept(file: str) -> pd.DataFrame:
    """The frame of a kept run."""
    return pd.read_parquet(HERE / file)


# Adaptive searches


def adaptive() -> AdaptiveStudy:
    """The study of the kept run."""
    return AdaptiveStudy.from_frame(kept("adaptive.parquet"))


WORLDS = {
    "noise": "noise: nothing can be learned",
    "signal": "signal, with many parameters",
    "smooth": "a smooth space whose best region a few trials miss",
}
"""Of the table for users: searches by TPE at the centre of the study."""


def adaptive_in_short() -> str:
    """The bias of each method after TPE."""
    study = adaptive()
    numbers = {
        one.world: number
        for number, one in enumerate(study.settings)
        if one.searcher == "tpe" and (one.rows, one.trials) == study.centre
    }
    methods = {"cv": "uncorrected", "bbc": "`bbc`", "shrinkage": "`shrinkage`", "cross_fitted": "cross-fitted"}
    rows = [
        (title, *(signed(study.summary(numbers[world], method)["bias"]) for method in methods))
        for world, title in WORLDS.items()
    ]
    return str(table(("", *methods.values()), rows))


# Searches on tables


def some_configurations() -> str:
    """The bias of each protocol by the number of rows; what dropping trains and loses; intervals; claims."""
    study = SearchStudy.from_frame(kept("search.parquet"))
    means = SearchMeans(study)
    biases = {n: [means.bias(entry, n) for entry in PROTOCOLS] for n in ALL}
    rows = [
        (f"{n}", *(f"{signed(bias.value)} ± {share(bias.error)}" for bias in of_n)) for n, of_n in biases.items()
    ]
    trained = {n: np.mean([study.of("models", BCED, place).mean() for place in means.places(n)]) for n in ALL}
    whole = study.of("models", CV, study.places[0]).max()
    few = [trained[n] for n in SMALL]
    changes = np.concatenate([study.of("truth", BCED, at) - study.of("truth", CV, at) for at in study.places])
    covered = {entry: [means.coverage(entry, n)[-2] for n in ALL] for entry in (BBC, BBC10)}
    narrower = [-means.narrowing(BBC10, BBC, n).value / means.width(BBC, n).value for n in ALL]
    judged = search_claims(study)
    repeats = next(claim.ours for claim in judged if claim.text.startswith("3 or 4 repeats"))
    once, ten = (f"{100 * min(each):.0f} to {100 * max(each):.0f} %" for each in covered.values())
    n_each = sum(len(study.of("truth", CV, place)) for place in means.places(LARGE))
    n_changes, change = np.count_nonzero(changes), signed(changes.mean())
    clear = {
        title: [n for n in ALL if abs(biases[n][place].value) > 2 * biases[n][place].error]
        for place, title in enumerate(PROTOCOLS.values())
    }
    places = listed([f"{title} with {listed(sizes)} rows" for title, sizes in clear.items() if sizes])
    sentences = (
        f"The mean is more than two standard errors from 0 for {places}; for no other.",
        f"BCED-CV trains {trained[LARGE]:.0f} of {whole:.0f} models with 500 rows, {min(few):.0f} to "
        f"{max(few):.0f} with fewer. Dropping changed the winner's AUC in {n_changes} of {len(changes)} "
        f"sub-samples, by {change} on average over all.",
        f"95 % intervals of BBC-CV hold the truth in {once} of the {n_each} sub-samples of a size, with ten "
        f"repeats in {ten}: they are narrower by {100 * min(narrower):.0f} to {100 * max(narrower):.0f} %.",
        f"Four repeats bring {repeats}.",
        f"Of {len(judged)} claims {answers_text(judged)}: [evidence](claims.md) says which.",
    )
    return "\n".join([table(["rows", *PROTOCOLS.values()], rows), "", *(f"- {each}" for each in sentences)])


def all_configurations() -> str:
    """Estimate less truth of each protocol by the number of rows, and what dropping saves."""
    frame = kept("search-full.parquet")
    frame["error"] = frame["estimate"] - frame["truth"]
    sizes = [(f"{n}", of_size) for n, of_size in frame.groupby("rows")]
    rows = []
    for name, of_size in [*sizes, ("all", frame)]:
        by = dict(tuple(of_size.groupby(["protocol", "repeats"])))
        errors = [by[entry.protocol, entry.repeats]["error"] for entry in PROTOCOLS]
        cells = [f"{signed(each.mean())} ± {share(each.sem())}" for each in errors]
        whole, dropping = by["cv", 1]["models"].to_numpy(), by["bced", 1]["models"].to_numpy()
        early, speed = by["bced", 1]["early"].median(), np.median(whole / dropping)
        rows.append([name, f"{len(whole)}", *cells, f"{early:.0%}", f"{speed:.1f}"])
    head = ["rows", "sub-samples", *PROTOCOLS.values(), "dropped", "speed-up"]
    return f"{table(head, rows)}\n\n{held_by_intervals(frame)}"


def held_by_intervals(frame: pd.DataFrame) -> str:
    """How many intervals hold the truth, and how often the winner that dropping leaves is another."""
    bbc = frame[frame["protocol"] == "bbc"]
    inside = (bbc["low_95"] <= bbc["truth"]) & (bbc["truth"] <= bbc["high_95"])
    once, ten = (int(inside[bbc["repeats"] == r].sum()) for r in (1, 10))
    first = frame[frame["repeats"] == 1].pivot(index=["table", "rows"], columns="protocol", values="truth")
    n, lost = len(first), first["cv"] - first["bced"]
    others = lost[lost != 0]
    changes = [f"{signed(-change)} on {name} with {size} rows" for (name, size), change in others.items()]
    return (
        f"95 % intervals of BBC-CV hold the truth in {once} of {n} sub-samples, with ten repeats in {ten}. "
        f"Dropping changed the truth of the winner in {len(others)} of {n}: {listed(changes)}."
    )


# Flat against nested


def accuracies(frame: pd.DataFrame) -> AccuracyMeans:
    """The accuracies of a frame."""
    study = FlatVsNestedStudy.from_frame(frame)
    return AccuracyMeans(study.accuracies, study.entropy)


def compared(frame: pd.DataFrame, analysis: str) -> list[tuple[str, ...]]:
    """The rows of a scenario's table, ours and the published."""
    means = accuracies(frame)
    (found,) = comparison_tables([means.row(scenario, analysis) for scenario in ("top3", "full")])
    return [tuple(cell.replace("-", "−") for cell in row) for row in found.rows]


HEAD = ("", "tables", "same choice", "p", "mean", "low", "high", "mean gain")


def both_grids() -> tuple[pd.DataFrame, pd.DataFrame]:
    """The accuracies of the small and of the published grids, on the same tables and with one half split."""
    full, small = kept("flat-full.parquet"), kept("flat-vs-nested.parquet")
    return small[small["table"].isin(full["table"]) & (small["repetition"] == 0)], full


def full_grids() -> str:
    """The published grids beside the small ones."""
    small, full = both_grids()
    rows = [
        (f"{name}, {grids}", *rest)
        for grids, frame in (("small grids", small), ("full grids", full))
        for name, *rest in compared(frame, "main")
        if "published" not in name
    ]
    rows += [row for row in compared(full, "main") if "published" in row[0]]
    return table(HEAD, rows)


def full_ranks() -> str:
    """Mean ranks by small and by full grids, and the published ones; and how many claims hold."""
    both = both_grids()
    grids = [accuracies(frame).accuracies for frame in both]
    by: tuple[tuple[Estimated, Mapping[str, float]], ...] = (("nested", NESTED_RANKS), ("flat", FLAT_RANKS))
    ranks = [[*(mean_ranks(each, name) for each in grids), published] for name, published in by]
    order = sorted(FULL, key=lambda name: ranks[0][1][name])
    rows = [(name, *(f"{each[name]:.1f}" for of_estimate in ranks for each in of_estimate)) for name in order]
    head = [f"by {name}, {of}" for name, _ in by for of in ("small grids", "full grids", "published")]
    judged = flat_vs_nested_claims(FlatVsNestedStudy.from_frame(both[1]))
    failing = [claim.text.removesuffix(".") for claim in judged if claim.holds is False]
    n_open = sum(claim.holds is None for claim in judged)
    counts = (
        f"Of the {len(judged)} claims that these tables can test, {len(judged) - n_open - len(failing)} hold, "
        f"{n_open} are left open by chance, and {len(failing)} do not hold: {'; '.join(failing) or 'none'}."
    )
    return f"{table(['algorithm', *head], rows)}\n\n{counts}"


def large_tables() -> str:
    """Table 3."""
    return table(HEAD, compared(kept("flat-large.parquet"), "large_tables"))


FIGURES: Mapping[str, Callable[[], Any]] = {
    "centre": lambda: "\n".join(markdown_lines(centre_tables(adaptive()))),
    "adaptive-in-short": adaptive_in_short,
    "varied": lambda: "\n".join(markdown_lines(varied_tables(adaptive()))),
    "some-configurations": some_configurations,
    "all-configurations": all_configurations,
    "full-grids": full_grids,
    "full-ranks": full_ranks,
    "large-tables": large_tables,
}


def filled(text: str) -> str:
    """A page with its figures."""
    return MARKED.sub(lambda found: f"{found[1]}{FIGURES[found[2]]()}\n{found[3].strip()}", text)


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")
