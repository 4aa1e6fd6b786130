"""The page of a bias study: the claims, a picture like the article's figure 1 for each beta, and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from heldout._text import counted
from heldout_papers.bias.claims import bias_claims
from heldout_papers.bias.setting import ACCURACY, METRICS, ROC_AUC, BiasSetting
from heldout_papers.bias.study import BiasStudy
from heldout_papers.engine.claims import Claim, claims_sentence
from heldout_papers.engine.page import StudyPage, StudyTable, listed
from heldout_papers.engine.pictures import Ends, Frame, Line, Picture, PictureAxis, line_picture, line_summary

APART = 1.035
"""Lines stand beside each other on the logarithmic axis by this factor, so that their bars do not overlap."""
Row = Mapping[str, Any]

PROTOCOL_TITLES = {"cv": "CVT", "tt": "TT", "nested_cv": "NCV", "bbc": "BBC-CV", "bced": "BCED-CV"}
"""The article's names."""
PROTOCOLS_EXPLAINED = {
    "cv": "the winner's own cross-validated score",
    "tt": "that score less the mean over folds of how far the winner is behind the best of the fold (Tibshirani)",
    "nested_cv": "nested cross-validation: each fold scores the best of the other folds",
    "bbc": "bootstrap bias corrected: each bootstrap scores the best on its rows on the rows that it left out",
    "bced": "the same for the configurations that early dropping keeps",
}
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
    rows, claims = moments.rows(), bias_claims(moments)
    betas = list(dict.fromkeys(row["beta"] for row in rows))
    of_beta = [[row for row in rows if row["beta"] == beta] for beta in betas]
    first, ends = study.settings[0], _ends(rows)
    return StudyPage(
        name="bias",
        title="How biased each protocol is",
        lead=_lead(study, rows),
        facts={
            "rows": listed([setting.rows for setting in study.settings]),
            "configurations": listed([setting.configurations for setting in study.settings]),
            "metric": METRIC_TITLES[first.metric] + _prevalence(first),
            TRUTH_LABELS[first.metric]: "; ".join(f"Be({beta})" for beta in betas),
            "repetitions": f"{study.repetitions:,}",
            "folds": f"{first.folds}",
            "bootstraps": f"{first.n_bootstraps:,}",
        },
        claims_sentence=_claims_sentence(claims, first.metric),
        claims=claims,
        pictures=tuple(_picture(part, ends, first.metric, f"bias-{n}") for n, part in enumerate(of_beta)),
        glossary={PROTOCOL_TITLES[name]: PROTOCOLS_EXPLAINED[name] for name in first.protocols},
        tables=tuple(_table(part, first.metric) for part in of_beta),
        method=METHOD[first.metric],
        sources=_sources(first),
        entropy=study.entropy,
        command=command,
    )


def _claims_sentence(claims: Sequence[Claim], metric: str) -> str:
    needed = (
        "all numbers of configurations of the article, 50 to 2000, 10 folds, Be(9, 6) and 20 repetitions or more"
    )
    if metric != ACCURACY:
        rest = f" for {METRIC_TITLES[metric]} too, with Be(9, 6), 10 folds and C from 50 to 2000"
        return claims_sentence(claims, "of section 6.1.1, which are about accuracy,", rest, needed)
    rest = (
        ". All are for 10 folds and C from 50 to 2000, and for Be(9, 6) unless they say otherwise, like the "
        "article's figure 1"
    )
    return claims_sentence(claims, "of section 6.1.1 that these settings can test", rest, needed)


def _picture(rows: Sequence[Row], ends: Ends, metric: str, key: str) -> Picture:
    """Mean bias over the number of rows, a line a protocol, with bars from the least to the greatest of any C."""
    sizes = sorted({row["rows"] for row in rows})
    names = list(dict.fromkeys(row["protocol"] for row in rows))
    lines = [_line(rows, name, sizes, APART ** (n - (len(names) - 1) / 2)) for n, name in enumerate(names)]
    gap = "estimate less truth" if METRICS[metric].greater_is_better else "truth less estimate"
    n_configurations = len({row["configurations"] for row in rows})
    unbiased = "0 is unbiased, above it flatters."
    caption = f"Mean of {gap} over the repetitions; {unbiased}"
    if n_configurations > 1:
        caption = (
            f"Mean of {gap}, over the repetitions and {n_configurations} numbers of configurations; bars "
            f"reach from the least to the greatest mean among these. {unbiased}"
        )
    beta, at = rows[0]["beta"], (f"{sizes[0]:,}", f"{sizes[-1]:,} rows")
    return line_picture(
        beta_title(beta, metric), lines,
        Frame(PictureAxis("rows", ",d", sizes, "log"), PictureAxis(gap, "+.2f", ends=ends), key, level=0.0),
        summary=line_summary(f"Mean bias for Be({beta})", lines, at, lambda bias: f"{bias:+.3f}"),
        caption=caption,
    )  # fmt: skip


def _line(rows: Sequence[Row], name: str, sizes: Sequence[int], factor: float) -> Line:
    of_size = [[row["bias"] for row in rows if row["protocol"] == name and row["rows"] == n] for n in sizes]
    return Line(
        PROTOCOL_TITLES[name],
        [n * factor for n in sizes],
        [float(np.mean(biases)) for biases in of_size],
        [min(biases) for biases in of_size],
        [max(biases) for biases in of_size],
    )


def beta_title(beta: str, metric: str = ACCURACY) -> str:
    """A distribution with its mean."""
    a, b = (float(part) for part in beta.split(","))
    return f"Be({a:g}, {b:g}), {MEAN_LABELS[metric]} {a / (a + b):.2g}"


def _prevalence(setting: BiasSetting) -> str:
    return "" if setting.prevalence is None else f", {setting.prevalence:.3g} of the rows positive"


def _sources(setting: BiasSetting) -> tuple[str, ...]:
    tt = ("tibshirani2009",) if "tt" in setting.protocols else ()
    return ("tsamardinos2018", *tt, *(("paraschakis2024",) if setting.metric == ROC_AUC else ()))


def _ends(rows: Sequence[Row]) -> Ends:
    biases = [row["bias"] for row in rows]
    return min(0.0, *biases), max(0.0, *biases) or 0.01


def _table(rows: Sequence[Row], metric: str) -> StudyTable:
    """Means over C with their standard errors."""
    names = list(dict.fromkeys(row["protocol"] for row in rows))
    body = []
    for n in sorted({row["rows"] for row in rows}):
        cells = [f"{n:,} rows"]
        for name in names:
            mine = [row for row in rows if row["rows"] == n and row["protocol"] == name]
            error = float(np.sqrt(sum(row["standard_error"] ** 2 for row in mine))) / len(mine)
            chance = f" ± {error:.4f}" if np.isfinite(error) else ""
            cells.append(f"{np.mean([row['bias'] for row in mine]):+.4f}{chance}")
        body.append(tuple(cells))
    head = ("", *(PROTOCOL_TITLES[name] for name in names))
    title = f"Mean bias with its standard error, {beta_title(rows[0]['beta'], metric)}"
    return StudyTable(title, head, tuple(body))


def _lead(study: BiasStudy, rows: Sequence[Row]) -> str:
    """The protocol with the greatest bias with the fewest rows."""
    least = min(row["rows"] for row in rows)
    means = {
        name: float(np.mean([row["bias"] for row in rows if row["protocol"] == name and row["rows"] == least]))
        for name in study.settings[0].protocols
    }
    worst = max(means, key=lambda name: abs(means[name]))
    return (
        f"Over {counted(len(study.settings), 'setting')} of {counted(study.repetitions, 'repetition')} each, "
        f"{PROTOCOL_TITLES[worst]} is the most biased: by {means[worst]:+.3f} on average with {least:,} rows."
    )
