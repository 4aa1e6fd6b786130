"""Write docs/evidence/summary.md and its pictures from the kept runs. ``python papers/evidence/write_summary.py``

The text is papers/evidence/summary.template: each ``{name}`` is a number that ``figures`` computes. A test compares
the page with the output.
"""

import re
import runpy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from heldout_papers.bias import BiasMoments
from heldout_papers.flat_vs_nested import FlatVsNestedStudy

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "evidence" / "summary.md"
TEMPLATE, PICTURES = HERE / "summary.template", PAGE.parent / "pictures"
COLOURS = {
    "cv": "#D55E00",
    "bbc": "#009E73",
    "shrinkage": "#0072B2",
    "cross_fitted": "#CC79A7",
    "nested": "#000000",
}
TITLES = {"cv": "uncorrected", "cross_fitted": "cross-fitted", "nested": "nested cross-validation"}
FEW, TRIALS = 60, 200
"""Rows and trials of the adaptive searches that the text quotes."""
MAIN_CLAIMS = {
    "bias.parquet": (
        "The bias of CVT is as high as 0.17.",
        "NCV less BBC-CV, mean.",
        "NCV less BBC-CV, worst case.",
    ),
    "intervals.parquet": (
        "BBC happens to always return non-rejected estimates.",
        "NB fails to produce accurate intervals, as it ignores the winner's curse.",
        "The other methods often produce significantly different intervals.",
    ),
    "intervals-tables.parquet": ("BBC happens to always return non-rejected estimates (real tables).",),
    "flat-vs-nested.parquet": (
        "Flat and nested choose the same, top 3 (table 2).",
        "The gain of nested over flat is irrelevant: |gain| is below its threshold, full (table 2).",
    ),
    "flat-large.parquet": ("Flat and nested choose the same, full (table 3).",),
}
"""Those of the table in section 3, by the file of the run."""

intervals = runpy.run_path(str(HERE / "write_intervals.py"))
cells, share, signed, span = (intervals[name] for name in ("cells", "share", "signed", "span"))
SEVERAL, SHARES = intervals["SEVERAL"], intervals["SHARES"]
BY_METHOD = ["world", "searcher", "method"]


def biases() -> pd.DataFrame:
    """The mean bias of each protocol by rows and Beta distribution, in the article's simulations of accuracy."""
    found = BiasMoments.from_frame(pd.read_parquet(HERE / "bias.parquet")).to_frame()
    return found.assign(beta=found["beta"].astype(str))


def searches_on_few_rows() -> pd.DataFrame:
    """The adaptive searches at the centre of the study, with the bias of each."""
    found = pd.read_parquet(HERE / "adaptive.parquet")
    found = found[(found["rows"] == FEW) & (found["trials"] == TRIALS)]
    return found.assign(bias=found["value"] - found["truth"])


def adaptive() -> pd.DataFrame:
    """The bias of each method in adaptive searches on few rows, by world and searcher."""
    return searches_on_few_rows().groupby(BY_METHOD, observed=True)["bias"].mean().unstack()


def adaptive_error() -> float:
    """The mean standard error of these biases."""
    return float(searches_on_few_rows().groupby(BY_METHOD, observed=True)["bias"].sem().mean())


def dropping() -> pd.DataFrame:
    """The share of fits of each rule and how often it kept the winner, over both searches."""
    found = pd.read_csv(HERE / "dropping.csv")
    return found.groupby("rule")[["share_of_fits", "same_winner"]].mean()


def author_and_year(article: Any) -> tuple[str, str]:
    """'Wainer', '2021'."""
    return article.title.partition(" ")[0].rstrip(","), article.title.partition("(")[2].partition(")")[0]


def counted_runs(article: Any) -> list[Any]:
    """The runs that test claims of the article."""
    return [run for run in article.runs if run.is_counted]


def main_claims(articles: Any, judged: Mapping[str, Sequence[Any]]) -> str:
    """A table of the claims that an article is about; ``judged`` are the counted claims, by the file of the run."""
    rows = []
    for article in articles:
        for run in counted_runs(article):
            found = {claim.text: claim for claim in judged[run.file]}
            for one in (found[text] for text in MAIN_CLAIMS.get(run.file, ())):
                text = one.text.replace("|", "\\|")
                rows.append((" ".join(author_and_year(article)), text, one.published or "–", one.ours, one.answer))
    return str(intervals["table"](("article", "claim", "published", "ours", "holds"), rows))


def counts_by_article(articles: Any, judged: Mapping[str, Sequence[Any]]) -> str:
    """'72 of 84 of Tsamardinos et al. (2018), ...'."""
    texts = []
    for article in articles:
        claims = [claim for run in counted_runs(article) for claim in judged[run.file]]
        author, year = author_and_year(article)
        texts.append(f"{sum(claim.holds is True for claim in claims)} of {len(claims)} of {author} et al. ({year})")
    return str(intervals["listed"](texts)).replace("Wainer et al.", "Wainer and Cawley")


def benchmark() -> tuple[str, str]:
    """Seconds of heldout and of a loop over scikit-learn, of 1000 bootstraps of 766 configurations on 500 rows."""
    text = (HERE.parents[1] / "benchmarks" / "README.md").read_text(encoding="utf-8")
    part = text.split("| N = 500, C = 766, B = 1000 |")[1]
    ours, loop = (
        re.search(rf"^\| {name} \| ([\d.]+) \|", part, flags=re.MULTILINE)
        for name in ("heldout, AUC", "loop over `roc_auc_score`")
    )
    assert ours is not None and loop is not None
    return ours[1], loop[1]


def times() -> pd.Series:
    """Median seconds by rows, configurations, folds and way."""
    found = pd.read_parquet(HERE / "timing.parquet")
    return found.groupby(["way", "rows", "configurations", "folds"], observed=True)["seconds"].median()


def larger_runs() -> dict[str, Any]:
    """What runs nearer to the articles' scale give."""
    study = FlatVsNestedStudy.from_frame(pd.read_parquet(HERE / "flat-large.parquet"))
    full = study.to_frame().set_index(["scenario", "analysis"]).loc["full", "large_tables"]
    searched = pd.read_parquet(HERE / "search-full.parquet", columns=["table", "rows", "subsample"])
    return {
        "n_large": int(full["n_tables"]),
        "same_large": f"{100 * full['same_choice']:.0f}",
        "mean_large": signed(full["mean"], 4),
        "n_full": len(searched.drop_duplicates()),
    }


def figures() -> dict[str, Any]:
    """Every number of the text."""
    written = runpy.run_path(str(HERE / "write.py"))
    articles = written["ARTICLES"]
    judged = {run.file: run.read_claims() for article in articles for run in counted_runs(article)}
    claims = [claim for of_run in judged.values() for claim in of_run]
    reasons = [
        written["REASONS"][file][claim.text] for file in judged for claim in judged[file] if claim.holds is False
    ]
    simulated, kept, searched = biases(), adaptive(), dropping()
    nine = simulated[simulated["beta"] == "9,6"].groupby(["protocol", "rows"], observed=True)["bias"].mean()
    real = {name: cells(name, part="tables", kind=SEVERAL, metric=SHARES) for name in ("cv", "bbc", "shrinkage")}
    many = {name: cells(name, part="independent", metric=SHARES) for name in ("cv", "bbc", "shrinkage")}
    classes, numbers = intervals["FAMILIES"].values()
    covered = {
        name: cells("shrinkage", part="tables", metric=metrics)["coverage_95"]
        for name, metrics in (("classes", classes), ("numbers", numbers))
    }
    samplers = kept.drop(index=[("noise", name) for name in ("random", "halving")]).loc["noise"]
    tables = kept.loc[["mozilla4", "phoneme", "spambase", "sylvine"]]
    seconds, (kernel, loop) = times(), benchmark()
    counts = written["_counts"](claims)
    plain, ours = (seconds[way, 500, 250, 3] for way in ("plain_bbc", "bbc"))
    return {
        "n_claims": len(claims),
        "main_claims": main_claims(articles, judged),
        "by_article": counts_by_article(articles, judged),
        "kernel_milliseconds": f"{1000 * float(kernel):.1f}",
        "loop_seconds": loop,
        **counts,
        "untested": f", {n_untested} not tested" if (n_untested := counts["n_untested"]) else "",
        **{
            f"n_{kind.lower()}": sum(reason.startswith(kind) for reason in reasons)
            for kind in ("Scale", "Definition", "Article", "Unexplained")
        },
        "adaptive_error": share(adaptive_error(), 2),
        **{f"{name}_{rows}": signed(nine[name, rows]) for name in ("cv", "bbc", "tt") for rows in (20, 100, 1000)},
        **{f"real_bias_{name}": signed(found["bias"].mean()) for name, found in real.items()},
        **{f"many_bias_{name}": signed(found["bias"].mean()) for name, found in many.items()},
        "real_error": f"{real['shrinkage']['rmse_ratio'].mean():.2f}",
        "many_error": f"{many['shrinkage']['rmse_ratio'].mean():.2f}",
        "width": f"{cells('shrinkage', part='tables', kind=SEVERAL)['width_ratio_95'].mean():.2f}",
        "covers_classes": f"{share(covered['classes'].mean())} ({span(covered['classes'])} by cell)",
        "covers_numbers": f"{share(covered['numbers'].mean())} ({span(covered['numbers'])} by cell)",
        "n_cells": len(cells("shrinkage", part="tables")),
        "least": int(cells("shrinkage", part="tables")["repetitions"].min()),
        "most": int(cells("shrinkage", part="tables")["repetitions"].max()),
        "noise_bbc": span(samplers["bbc"], 2),
        "noise_cv": span(samplers["cv"], 2),
        "noise_cross_fitted": " to ".join(signed(samplers["cross_fitted"].agg(end)) for end in ("min", "max")),
        "tables_bbc": f"{signed(tables['bbc'].min())} to {signed(tables['bbc'].max())}",
        "dropped_fits": f"{100 * (1 - searched.loc['bootstrap', 'share_of_fits']):.0f}",
        "dropped_same": f"{100 * searched.loc['bootstrap', 'same_winner']:.0f}",
        "sequential_fits": f"{100 * (1 - searched.loc['sequential', 'share_of_fits']):.0f}",
        "sequential_same": f"{100 * searched.loc['sequential', 'same_winner']:.0f}",
        "plain_seconds": f"{plain:.2f}",
        "our_milliseconds": f"{1000 * ours:.1f}",
        "times_as_fast": f"{plain / ours:.0f}",
        **larger_runs(),
    }  # fmt: skip


def page() -> str:
    """The whole page."""
    return TEMPLATE.read_text(encoding="utf-8").format(**figures())


def draw() -> None:
    """The four pictures."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot as plt

    PICTURES.mkdir(exist_ok=True)

    def save(figure: Any, name: str) -> None:
        figure.savefig(PICTURES / f"summary-{name}.png", dpi=110, metadata={"Software": None})
        plt.close(figure)

    found = biases()
    nine = found[found["beta"] == "9,6"].groupby(["protocol", "rows"], observed=True)["bias"].mean().unstack(0)
    figure, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
    for name, style in {"cv": "s-", "tt": "^:", "bbc": "o-", "nested_cv": "D--"}.items():
        ax.plot(
            nine.index,
            nine[name],
            style,
            color=COLOURS.get(name, "#666666"),
            label=TITLES.get(name.removesuffix("_cv"), name),
        )
    ax.axhline(0, color="black", linewidth=0.8)
    ax.set(xscale="log", xlabel="rows", ylabel="mean bias of accuracy")
    ax.set_xticks([20, 40, 60, 100, 500, 1000], ["20", "40", "60", "100", "500", "1000"])
    ax.minorticks_off()
    ax.legend(frameon=False)
    save(figure, "bias")

    figure, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
    for place, name in enumerate(["bbc", "shrinkage"]):
        for metrics, marker in zip(intervals["FAMILIES"].values(), "ox", strict=True):
            held = cells(name, part="tables", metric=metrics)
            rows = held["rows"] * (1 + 0.06 * (2 * place - 1))
            title = f"{name}, {'classes' if marker == 'o' else 'numbers'}"
            ax.plot(rows, held["coverage_95"], marker, color=COLOURS[name], alpha=0.7, label=title)
    ax.axhline(0.95, color="black", linewidth=0.8)
    ax.set(xscale="log", xlabel="rows", ylabel="coverage, a point a cell", ylim=(0.74, 1.0))
    ax.set_xticks([40, 100, 300], ["40", "100", "300"])
    ax.minorticks_off()
    ax.legend(frameon=False, ncols=2)
    save(figure, "coverage")

    kept = adaptive()[["cv", "shrinkage", "bbc", "cross_fitted"]]
    figure, ax = plt.subplots(figsize=(7, 5), layout="constrained")
    for name in kept.columns:
        ax.plot(kept[name], range(len(kept)), "o", color=COLOURS[name], label=TITLES.get(name, name))
    ax.axvline(0, color="black", linewidth=0.8)
    ax.set(
        yticks=range(len(kept)), yticklabels=[f"{world}, {how}" for world, how in kept.index], xlabel="mean bias"
    )
    ax.invert_yaxis()
    ax.legend(frameon=False)
    save(figure, "adaptive")

    searched = dropping().sort_values("share_of_fits")
    figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
    ax.barh(searched.index, 100 * searched["share_of_fits"], color="#0072B2")
    for place, same in enumerate(searched["same_winner"]):
        ax.text(101, place, f"{100 * same:.0f} %", va="center")
    ax.set(
        xlim=(0, 110), xlabel="fits, in % of those without dropping; at the right, how often the winner is the same"
    )
    save(figure, "dropping")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    draw()
