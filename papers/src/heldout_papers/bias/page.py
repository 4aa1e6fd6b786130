"""The page of a bias study: the claims, a picture like the article's figure 1 for each beta, and tables."""

from collections.abc import Mapping, Sequence
from typing import Any

from heldout._text import counted
from heldout_papers.bias.claims import bias_claims
from heldout_papers.bias.protocols import TERMS
from heldout_papers.bias.setting import ACCURACY, METRICS, ROC_AUC
from heldout_papers.bias.study import BiasStudy
from heldout_papers.engine.claims import Mean, average
from heldout_papers.engine.page import ClaimsText, StudyPage, StudyTable, study_tables
from heldout_papers.engine.pictures import Ends, Frame, Line, Picture, PictureAxis, line_picture, line_summary

APART = 1.035
"""Lines stand beside each other on the logarithmic axis by this factor, so that their bars do not overlap."""
Row = Mapping[str, Any]

METRIC_TITLES = {"accuracy": "accuracy", "roc_auc": "ROC AUC", "mean_squared_error": "mean squared error"}
TRUTH_LABELS = {
    "accuracy": "true accuracies",
    "roc_auc": "true areas",
    "mean_squared_error": "true shares of variance explained",
}
MEAN_LABELS = {"accuracy": "mean accuracy", "roc_auc": "mean area", "mean_squared_error": "mean R²"}
"""What the mean of a Beta distribution is the mean of."""

_DROPPING = (
    "From the first fold on, BCED-CV drops every configuration that is worse than the current best in more than 99 "
    "% of the bootstraps of the rows so far"
)
_SAME = "With the same seed all protocols use the same matrices and the same bootstraps."
_DRAWN = f"{_DROPPING}, drawn with replacement as often as BBC draws. {_SAME}"
METHOD = {
    "accuracy": (
        "For every setting and repetition C configurations get true accuracies from a Beta distribution, and each "
        "of N x C held-out predictions is right with the probability of its configuration, independently of the "
        "others. A protocol selects a configuration and estimates its accuracy; its bias is the estimate less the "
        "true accuracy of its own choice, for NCV of the choice from all rows. Positive is flattering.",
        "The article describes one uniform number a row that all configurations share. Then the truly best is "
        "right wherever another is, and selection can err among ties only; the published figures follow from a "
        "number for each prediction, as here.",
        f"{_DROPPING}: from all bootstraps up to 50 rows, then from an expansion of that share, instead of 1000 "
        f"drawn bootstraps. {_SAME}",
    ),
    "roc_auc": (
        "For every setting and repetition C configurations get true areas from a Beta distribution. Their held-out "
        "scores are normal with standard deviation 1, with mean 0 in the rows of one class and, in those of the "
        "other, with the mean that gives the area, independently of each other. A protocol selects a configuration "
        "and estimates its area; its bias is the estimate less the true area of its own choice, for NCV of the "
        "choice from all rows. Positive is flattering.",
        "Every fold has rows of both classes, in proportions as equal as possible. CVT, NCV's choice, BBC-CV and "
        "BCED-CV use the area over the rows of all their folds together, TT and NCV's outer scores the area in "
        "each fold.",
        _DRAWN,
    ),
    "mean_squared_error": (
        "For every setting and repetition C configurations get true shares P of variance explained from a Beta "
        "distribution. Outcomes y are standard normal, and a prediction is P (y + e) with e of variance 1/P - 1, "
        "drawn for each row and configuration: 1 - P is its true mean squared error, and no calibration improves "
        "it. A protocol selects a configuration and estimates its error; its bias is the true error of its own "
        "choice, for NCV of the choice from all rows, less the estimate. Positive is flattering.",
        _DRAWN,
    ),
}


def bias_page(study: BiasStudy, *, command: str = "") -> StudyPage:
    """The content of the report."""
    moments = study.moments()
    rows, first = moments.rows(), study.settings[0]
    betas = list(dict.fromkeys(row["beta"] for row in rows))
    of_beta = [[row for row in rows if row["beta"] == beta] for beta in betas]
    biases = [row["bias"] for row in rows]
    ends = min(0.0, *biases), max(0.0, *biases) or 0.01
    positive = "" if first.prevalence is None else f", {first.prevalence:.3g} of the rows positive"
    tt, auc = "tt" in first.protocols, first.metric == ROC_AUC
    return StudyPage(
        name=study.name,
        title="How biased each protocol is",
        lead=_lead(study, rows),
        settings={
            "rows": [setting.rows for setting in study.settings],
            "configurations": [setting.configurations for setting in study.settings],
            "metric": METRIC_TITLES[first.metric] + positive,
            TRUTH_LABELS[first.metric]: "; ".join(f"Be({beta})" for beta in betas),
            "repetitions": study.repetitions,
            "folds": first.folds,
            "bootstraps": first.n_bootstraps,
        },
        claims=bias_claims(moments),
        tested=_tested(first.metric),
        pictures=[
            picture
            for n, part in enumerate(of_beta)
            for picture in _pictures(part, ends, first.metric, f"bias-{n}")
        ],
        glossary=dict(TERMS[name] for name in first.protocols),
        tables=[table for part in of_beta for table in _tables(part, first.metric)],
        method=METHOD[first.metric],
        sources=("tsamardinos2018", *["tibshirani2009"] * tt, *["paraschakis2024"] * auc),
        entropy=study.entropy,
        command=command,
    )


def _tested(metric: str) -> ClaimsText:
    needed = (
        "all numbers of configurations of the article, 50 to 2000, 10 folds, Be(9, 6) and 20 repetitions or more"
    )
    if metric != ACCURACY:
        rest = f" for {METRIC_TITLES[metric]} too, with Be(9, 6), 10 folds and C from 50 to 2000"
        return ClaimsText("of section 6.1.1, which are about accuracy,", needed, rest)
    return ClaimsText(
        "of section 6.1.1 that these settings can test",
        needed,
        ". All are for 10 folds and C from 50 to 2000, and for Be(9, 6) unless they say otherwise, like the "
        "article's figure 1",
    )


def _by_protocol(rows: Sequence[Row]) -> dict[str, dict[int, list[Mean]]]:
    """By the name and the number of rows: the bias with each C."""
    found: dict[str, dict[int, list[Mean]]] = {}
    for row in sorted(rows, key=lambda row: int(row["rows"])):
        of_size = found.setdefault(row["protocol"], {}).setdefault(row["rows"], [])
        of_size.append(Mean(row["bias"], row["standard_error"]))
    return found


def _pictures(rows: Sequence[Row], ends: Ends, metric: str, key: str) -> list[Picture]:
    """All protocols in one picture, and each in a picture of its own where C is varied, as the article has it."""
    together = _picture(rows, ends, metric, key)
    protocols = list(dict.fromkeys(row["protocol"] for row in rows))
    if len({row["configurations"] for row in rows}) < 2:
        return [together]
    of_each = ([row for row in rows if row["protocol"] == name] for name in protocols)
    return [together, *(_by_configurations(part, ends, metric, f"{key}-{n}") for n, part in enumerate(of_each))]


def _by_configurations(rows: Sequence[Row], ends: Ends, metric: str, key: str) -> Picture:
    """Mean bias of one protocol over the number of rows, a line for each number of configurations."""
    sizes = sorted({row["rows"] for row in rows})
    bias = {(row["configurations"], row["rows"]): float(row["bias"]) for row in rows}
    numbers = sorted({c for c, _ in bias})
    nan = float("nan")
    lines = [Line(f"{c:,} configurations", sizes, [bias.get((c, n), nan) for n in sizes]) for c in numbers]
    title, beta = TERMS[rows[0]["protocol"]].title, rows[0]["beta"]
    at, gap = (f"{sizes[0]:,}", f"{sizes[-1]:,} rows"), _gap(metric)
    return line_picture(
        f"{title} by configurations, {beta_title(beta, metric)} (figure 1)", lines,
        Frame(PictureAxis("rows", ",.0f", sizes, "log"), PictureAxis(gap, "+.2f", ends=ends), key, level=0.0),
        summary=line_summary(f"Mean bias of {title} for Be({beta})", lines, at, lambda found: f"{found:+.3f}"),
        caption=f"Mean of {gap} over the repetitions. 0 is unbiased, above it flatters.",
    )  # fmt: skip


def _gap(metric: str) -> str:
    return "estimate less truth" if METRICS[metric].greater_is_better else "truth less estimate"


def _picture(rows: Sequence[Row], ends: Ends, metric: str, key: str) -> Picture:
    """Mean bias over the number of rows, a line a protocol, with bars from the least to the greatest of any C."""
    found = _by_protocol(rows)
    sizes = list(next(iter(found.values())))
    lines = [
        Line.over(
            TERMS[name].title,
            [size * APART ** (n - (len(found) - 1) / 2) for size in sizes],
            [[mean.value for mean in means] for means in of_size.values()],
        )
        for n, (name, of_size) in enumerate(found.items())
    ]
    gap = _gap(metric)
    n_configurations = len({row["configurations"] for row in rows})
    over, bars = " over the repetitions", ""
    if n_configurations > 1:
        over = f", over the repetitions and {n_configurations} numbers of configurations"
        bars = " bars reach from the least to the greatest mean among these."
    beta, at = rows[0]["beta"], (f"{sizes[0]:,}", f"{sizes[-1]:,} rows")
    return line_picture(
        beta_title(beta, metric), lines,
        Frame(PictureAxis("rows", ",.0f", sizes, "log"), PictureAxis(gap, "+.2f", ends=ends), key, level=0.0),
        summary=line_summary(f"Mean bias for Be({beta})", lines, at, lambda bias: f"{bias:+.3f}"),
        caption=f"Mean of {gap}{over};{bars} 0 is unbiased, above it flatters.",
    )  # fmt: skip


def beta_title(beta: str, metric: str = ACCURACY) -> str:
    """A distribution with its mean."""
    a, b = (float(part) for part in beta.split(","))
    return f"Be({a:g}, {b:g}), {MEAN_LABELS[metric]} {a / (a + b):.2g}"


def _tables(rows: Sequence[Row], metric: str) -> list[StudyTable]:
    """Means over C with their standard errors."""
    found = _by_protocol(rows)
    cells = [
        (f"{n:,} rows", {TERMS[name].title: average(of_size[n]).text(4) for name, of_size in found.items()})
        for n in next(iter(found.values()))
    ]
    return study_tables(f"Mean bias with its standard error, {beta_title(rows[0]['beta'], metric)}", cells)


def _lead(study: BiasStudy, rows: Sequence[Row]) -> str:
    """The protocol with the greatest bias with the fewest rows."""
    least = min(row["rows"] for row in rows)
    found = {name: average(of_size[least]).value for name, of_size in _by_protocol(rows).items()}
    worst = max(found, key=lambda name: abs(found[name]))
    return (
        f"Over {counted(len(study.settings), 'setting')} of {counted(study.repetitions, 'repetition')} each, "
        f"{TERMS[worst].title} is the most biased: by {found[worst]:+.3f} on average with {least:,} rows."
    )
